"""The scene as bodies of MuJoCo: the ground, walls and obstacles, what lies about; and what all of it is made of."""

from __future__ import annotations

from math import atan2, hypot, log, pi, sqrt
from typing import Any

import mujoco
import numpy as np

from formiga.engine.fixed import Fixed
from formiga.engine.flatten import Plan, flatten, plan_of
from formiga.engine.ground import floor_tiles, terrain_heights, wedge
from formiga.engine.parts import Part
from formiga.engine.spatial.robots import BODY, GROUND, LYING, SHELL, SMOOTH, WHEEL, box, cylinder, free, priority, rgba, sphere
from formiga.errors import WorldError, suggest
from formiga.geometry import about_z
from formiga.units import CM, MM
from formiga.world.elements import where
from formiga.world.ground import Hole, Platform, Ramp, Terrain
from formiga.world.maps import Map
from formiga.world.model import Rectangle, World
from formiga.world.movables import Ball, Block, Puck
from formiga.world.solids import Material, Touch

THICK = 4.0 * MM         # of walls inside
OUTER = 0.2              # m, of the arena's, outwards: nothing is pushed through to the other side
BOARD = 5.0 * CM         # of a field's, outwards
GIVES = 0.95 * 0.05 / 3  # a load rests at d (1 - d) g tau^2, d = 0.95; at a third of that on a cone of friction
BOUNCE = 6               # steps that a contact lasts that bounces
MOST_BLOCKS = 5_000      # of a <map>, as boxes
FAR = 20.0               # m, that the floor goes on around everything
GROUND_GROUP = 1         # of geoms that are the ground; group 2 is not seen by rays
ON_GROUND = {"contype": GROUND, "conaffinity": WHEEL, "group": GROUND_GROUP, "rgba": (0.72, 0.66, 0.55, 1.0)}
STANDS = {"contype": BODY | LYING, "conaffinity": BODY, "rgba": (0.85, 0.86, 0.88, 1.0)}
LIES = {"contype": BODY | WHEEL | LYING, "conaffinity": BODY | GROUND | LYING}
PLAIN = (Material(name="plain", friction=0.6), Material(name="ground", friction=1.0))


class Materials:
    """What the things of a world are made of, as attributes of geoms."""

    def __init__(self, world: World, step: float, gravity: float) -> None:
        self._step, self._gravity = step, max(gravity, 1e-3)
        self.known = {each.name: each for each in PLAIN}
        own = [thing for thing in world.things if isinstance(thing, Material)]
        for number, each in enumerate(own):
            if each.name in {other.name for other in own[:number]}:
                raise WorldError(f"{where(each)}second material '{each.name}'. Give each its own name.")
            self.known[each.name] = each
        self.touches = [thing for thing in world.things if isinstance(thing, Touch)]
        for touch in self.touches:
            for name in (touch.one, touch.other):
                self._find(touch, name)
        self.geoms: dict[str, list[str]] = {}

    def _find(self, thing: Any, name: str) -> Material:
        if name not in self.known:
            raise WorldError(f"{where(thing)}there is no material '{name}'.{suggest(name, self.known)} "
                             f"There are: {', '.join(self.known)}.")
        return self.known[name]

    def of(self, thing: Any, geom: str) -> dict[str, Any]:
        """How a geom of that name rubs and bounces; it is remembered for pairs. A floor (None) is of `ground`."""
        material = self._find(thing, thing.material) if thing is not None else self.known["ground"]
        self.geoms.setdefault(material.name, []).append(geom)
        return {"name": geom, "friction": (material.friction, 0, 0), "priority": priority(material.friction),
                "solref": self.solref(material.restitution, material.softness), "condim": 3}

    def solref(self, restitution: float, softness: float) -> tuple[float, float]:
        """Time constant and damping ratio of a contact: a spring that gives by `softness` under the weight, and a damper that
        leaves `restitution` of a speed.

            zeta = -ln e / sqrt(pi^2 + ln^2 e),   omega = 1 / (tau zeta) <= pi / (BOUNCE h)
        MuJoCo's spring swings at omega; one that is faster than the steps h can follow gains energy, so a bounce takes BOUNCE
        of them at least, and a bouncing thing is soft.
        """
        hard = max(2.0 * self._step, sqrt(softness / (GIVES * self._gravity)))
        if restitution <= 0.0:
            return hard, 1.0
        lost = -log(min(restitution, 0.99))
        damping = lost / sqrt(pi**2 + lost**2)
        return max(hard, BOUNCE * self._step / (pi * damping)), damping

    def pairs(self, spec: Any) -> None:
        """Contact parameters for every two geoms whose materials have a <touch>."""
        for touch in self.touches:
            for one in self.geoms.get(touch.one, []):
                for other in self.geoms.get(touch.other, []):
                    if one < other or touch.one != touch.other:
                        spec.add_pair(geomname1=one, geomname2=other, condim=3,
                                      friction=(touch.friction, touch.friction, 0.005, 1e-4, 1e-4),
                                      solref=self.solref(touch.restitution, touch.softness))


# -- what stands still ------------------------------------------------------------------------------------------------------
def add_ground(spec: Any, world: World, materials: Materials, region: Any) -> None:
    """The floor, or what is there instead."""
    holes = [thing for thing in world.things if isinstance(thing, Hole)]
    terrains = [thing for thing in world.things if isinstance(thing, Terrain)]
    if len(terrains) > 1 or (terrains and holes):
        second = (terrains[1:] or holes)[0]
        raise WorldError(f"{where(second)}a world has one <terrain>, or holes in a flat floor, not both.")
    plane = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": (0, 0, 1.0), **ON_GROUND}
    if holes:
        if any(hole.deep != holes[0].deep for hole in holes):
            raise WorldError(f"{where(holes[-1])}<hole> deep: all holes of a world are equally deep.")
        floor = floor_tiles(world, region.x0 - FAR, region.y0 - FAR, region.x1 + FAR, region.y1 + FAR)
        deep = holes[0].deep
        for k, (x0, y0, x1, y1) in enumerate(floor):
            spec.worldbody.add_geom(type=box, size=((x1 - x0) / 2, (y1 - y0) / 2, deep / 2),
                                    pos=((x0 + x1) / 2, (y0 + y1) / 2, -deep / 2), **ON_GROUND,
                                    **materials.of(None, f"floor{k}"))
        spec.worldbody.add_geom(pos=(0, 0, -deep), **plane, **materials.of(None, "bottom"))
    else:
        spec.worldbody.add_geom(**plane, **materials.of(None, "floor"))
    for terrain in terrains:
        height = terrain_heights(terrain)
        low, range_ = float(height.min()), max(float(np.ptp(height)), 1e-6)  # MuJoCo stretches whatever it is given to 0..1
        spec.add_hfield(name="terrain", nrow=height.shape[0], ncol=height.shape[1], userdata=height.ravel(),
                        size=(terrain.width / 2, terrain.depth / 2, range_, 0.1))
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="terrain", pos=(terrain.x, terrain.y, low),
                                **ON_GROUND, **materials.of(terrain, "terrain"))
    for index, thing in enumerate(world.things):
        if isinstance(thing, Ramp):
            spec.add_mesh(name=f"ramp{index}", uservert=wedge(thing).ravel())
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"ramp{index}", pos=(thing.x, thing.y, 0),
                                    quat=about_z(thing.heading), **ON_GROUND, **materials.of(thing, f"ramp{index}"))
        elif isinstance(thing, Platform):
            spec.worldbody.add_geom(type=box, size=(thing.width / 2, thing.depth / 2, thing.height / 2),
                                    pos=(thing.x, thing.y, thing.height / 2), quat=about_z(thing.heading),
                                    **ON_GROUND, **materials.of(thing, f"platform{index}"))


def add_walls(spec: Any, world: World, fixed: Fixed) -> None:
    """Walls and obstacles. Those around the arena or a field are thick on the outside, so that fast things stay inside."""
    how = {"friction": (SHELL, 0, 0), "priority": priority(SHELL), "condim": 3, **STANDS}
    boxes = {edge: thing for thing in world.things if isinstance(thing, Rectangle) and thing.on for edge in _edges(thing)}
    outside = _outside(world)
    plans = [(thing, plan_of(thing)) for thing in world.things if isinstance(thing, Map) and thing.on]
    _refuse_blocks(plans)
    hidden = {_edge(*wall) for _, plan in plans for wall in plan.walls.tolist()}
    for k, ((x0, y0, x1, y1, radius), height) in enumerate(zip(fixed.shapes, fixed.heights, strict=True)):
        edge = _edge(x0, y0, x1, y1)
        if radius > 0.0:
            spec.worldbody.add_geom(name=f"fixed{k}", type=cylinder, size=(radius, height / 2, 0),
                                    pos=(x0, y0, height / 2), **how)
        elif edge not in boxes and edge not in hidden:
            nx, ny, thick = outside.get(edge, (0.0, 0.0, THICK))
            centre = (x0 + x1) / 2 + nx * thick / 2, (y0 + y1) / 2 + ny * thick / 2, height / 2
            spec.worldbody.add_geom(name=f"fixed{k}", type=box, pos=centre, quat=about_z(atan2(y1 - y0, x1 - x0)),
                                    size=(hypot(x1 - x0, y1 - y0) / 2 + THICK / 2, thick / 2, height / 2), **how)
    for k, thing in enumerate(dict.fromkeys(boxes.values())):
        spec.worldbody.add_geom(name=f"box{k}", type=box, size=(thing.width / 2, thing.depth / 2, thing.height / 2),
                                pos=(thing.x, thing.y, thing.height / 2), quat=about_z(thing.heading), **how)
    for number, (floor, plan) in enumerate(plans):
        turn = about_z(floor.grid.yaw)
        for k, (one, right, opposite, _) in enumerate(plan.blocks):
            middle, long, deep = (one + opposite) / 2, np.hypot(*(right - one)), np.hypot(*(opposite - right))
            spec.worldbody.add_geom(name=f"map{number}/{k}", type=box, size=(long / 2, deep / 2, floor.height / 2),
                                    pos=(*middle, floor.height / 2), quat=turn, **how)


def _refuse_blocks(plans: list[tuple[Map, Plan]]) -> None:
    for thing, plan in plans:
        if len(plan.blocks) > MOST_BLOCKS:
            raise WorldError(f"{where(thing)}<map> in space its walls would be {len(plan.blocks):,} boxes; at most "
                             f"{MOST_BLOCKS:,} can be. Straighten its walls along the image's axes, or make it coarser.")


def _edge(x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
    """A segment as a key: rounded, so that the same edge is found again."""
    return tuple(round(float(value), 9) for value in (x0, y0, x1, y1))


def _edges(thing: Any) -> list[tuple[float, ...]]:
    return [_edge(*shape[:4]) for shape in flatten(World(things=(thing,))).shapes]


def _outside(world: World) -> dict[tuple[float, ...], tuple[float, float, float]]:
    """The edges of the arena and of a field: the way outwards, and how thick the wall is there."""
    found = {}
    for thing, thick in ((world.arena, OUTER), (world.pitch, BOARD)):
        edges = _edges(thing) if thing is not None and thing.walls else []
        area = sum(x0 * y1 - x1 * y0 for x0, y0, x1, y1 in edges)
        for edge in edges:
            x0, y0, x1, y1 = edge
            turn = (1.0 if area > 0.0 else -1.0) / max(hypot(x1 - x0, y1 - y0), 1e-12)
            found[edge] = (y1 - y0) * turn, (x0 - x1) * turn, thick
    return found


# -- what lies about --------------------------------------------------------------------------------------------------------
def add_movables(spec: Any, world: World, materials: Materials) -> list[tuple[str, Part]]:
    """Balls, pucks and blocks, free to move. Their names, in the order of `world.movables`."""
    names = []
    for thing in world.movables:
        index = world.things.index(thing)
        name, high = f"movable{index}", 2.0 * thing.radius if isinstance(thing, Ball) else thing.height
        body = spec.worldbody.add_body(name=name)
        body.add_joint(name=name, type=free)
        friction = thing.friction
        how = {"mass": thing.mass, "friction": (friction, 0, 0), "priority": priority(friction), "condim": 3,
               "rgba": rgba(thing.colour), **LIES}
        if isinstance(thing, Ball):
            body.add_geom(type=sphere, size=(thing.radius, 0, 0), **{  # its origin is its middle: it rolls
                **how, "friction": (0.6, 0.005, thing.rolling * thing.radius), "condim": 6, "priority": SMOOTH,
                "solref": materials.solref(thing.wall_restitution, 0.0)})
        elif isinstance(thing, Puck):
            body.add_geom(type=cylinder, size=(thing.radius, high / 2, 0), pos=(0, 0, high / 2), **how)
        else:
            _prism(spec, body, thing, name, high, how)
        names.append((name, Part(-1, index, "body")))
    return names


def _prism(spec: Any, body: Any, thing: Block, name: str, high: float, how: dict[str, Any]) -> None:
    if thing.points is None:
        body.add_geom(type=box, size=(thing.width / 2, thing.depth / 2, high / 2), pos=(0, 0, high / 2), **how)
        return
    corners = np.array(thing.outline)
    spec.add_mesh(name=name, uservert=np.concatenate([np.column_stack([corners, np.full(len(corners), z)])
                                                      for z in (0.0, high)]).ravel())
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, **how)  # its convex hull


__all__ = ["Materials", "add_ground", "add_movables", "add_walls"]
