"""The scene as bodies of MuJoCo: the ground, walls and obstacles, what lies about."""

from __future__ import annotations

from math import atan2, hypot
from typing import Any

import mujoco
import numpy as np

from formiga.engine.fixed import Fixed
from formiga.engine.flatten import Plan, flatten, plan_of
from formiga.engine.ground import floor_tiles, terrain_heights, wedge
from formiga.engine.parts import Part
from formiga.engine.spatial.materials import Materials
from formiga.engine.spatial.robots import BODY, GROUND, LOOSE, LYING, WHEEL, box, cylinder, free, rgba, sphere
from formiga.errors import WorldError
from formiga.geometry import about_z
from formiga.units import CM, MM
from formiga.world.elements import where
from formiga.world.ground import Hole, Platform, Ramp, Terrain
from formiga.world.maps import Map
from formiga.world.model import Cylinders, Rectangle, World
from formiga.world.movables import Ball, Block, Puck

THICK = 4.0 * MM         # of walls inside
OUTER = 0.2              # m, of the arena's, outwards: nothing is pushed through to the other side
BOARD = 5.0 * CM         # of a field's, outwards
PIVOTING = 5.0 * MM      # of a ball that spins on the spot: lever of its torque
MOST_BLOCKS = 5_000      # of a <map>, as boxes
FAR = 20.0               # m, that the floor goes on around everything
GROUND_GROUP = 1         # of geoms that are the ground; group 2 is not seen by rays
ON_GROUND = {"contype": GROUND, "conaffinity": WHEEL, "group": GROUND_GROUP, "rgba": (0.72, 0.66, 0.55, 1.0)}
STANDS = {"contype": BODY | LYING, "conaffinity": BODY, "rgba": (0.85, 0.86, 0.88, 1.0)}
LIES = {"contype": BODY | WHEEL | LYING | LOOSE, "conaffinity": BODY | GROUND | LYING}


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
                                    **materials.of(world, f"floor{k}", "ground", True))
        spec.worldbody.add_geom(pos=(0, 0, -deep), **plane, **materials.of(world, "bottom", "ground", True))
    else:
        spec.worldbody.add_geom(**plane, **materials.of(world, "floor", "ground", True))
    for terrain in terrains:
        height = terrain_heights(terrain)
        low, range_ = float(height.min()), max(float(np.ptp(height)), 1e-6)  # MuJoCo stretches whatever it is given to 0..1
        spec.add_hfield(name="terrain", nrow=height.shape[0], ncol=height.shape[1], userdata=height.ravel(),
                        size=(terrain.width / 2, terrain.depth / 2, range_, 0.1))
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="terrain", pos=(terrain.x, terrain.y, low),
                                **ON_GROUND, **materials.of(terrain, "terrain", terrain.material, True))
    for index, thing in enumerate(world.things):
        if isinstance(thing, Ramp):
            spec.add_mesh(name=f"ramp{index}", uservert=wedge(thing).ravel())
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"ramp{index}", pos=(thing.x, thing.y, 0),
                                    quat=about_z(thing.heading), **ON_GROUND,
                                    **materials.of(thing, f"ramp{index}", thing.material, True))
        elif isinstance(thing, Platform):
            spec.worldbody.add_geom(type=box, size=(thing.width / 2, thing.depth / 2, thing.height / 2),
                                    pos=(thing.x, thing.y, thing.height / 2), quat=about_z(thing.heading),
                                    **ON_GROUND, **materials.of(thing, f"platform{index}", thing.material, True))


def add_walls(spec: Any, world: World, fixed: Fixed, materials: Materials) -> None:
    """Walls and obstacles. Those around the arena or a field are thick on the outside, so that fast things stay inside."""
    made_of = _made_of(world, fixed)

    def how(thing: Any, geom: str) -> dict[str, Any]:
        name = thing.material if thing is not None else None
        return materials.of(thing or world, geom, name or "shell", True) | STANDS

    boxes = {edge: thing for thing in world.things if isinstance(thing, Rectangle) and thing.on for edge in _edges(thing)}
    outside = _outside(world)
    plans = [(thing, plan_of(thing)) for thing in world.things if isinstance(thing, Map) and thing.on]
    _refuse_blocks(plans)
    hidden = {_edge(*wall) for _, plan in plans for wall in plan.walls.tolist()}
    for k, ((x0, y0, x1, y1, radius), height) in enumerate(zip(fixed.shapes, fixed.heights, strict=True)):
        edge = _edge(x0, y0, x1, y1)
        if radius > 0.0:
            spec.worldbody.add_geom(type=cylinder, size=(radius, height / 2, 0), pos=(x0, y0, height / 2),
                                    **how(made_of.get(k), f"fixed{k}"))
        elif edge not in boxes and edge not in hidden:
            nx, ny, thick = outside.get(edge, (0.0, 0.0, THICK))
            centre = (x0 + x1) / 2 + nx * thick / 2, (y0 + y1) / 2 + ny * thick / 2, height / 2
            spec.worldbody.add_geom(type=box, pos=centre, quat=about_z(atan2(y1 - y0, x1 - x0)),
                                    size=(hypot(x1 - x0, y1 - y0) / 2 + THICK / 2, thick / 2, height / 2),
                                    **how(made_of.get(k), f"fixed{k}"))
    for k, thing in enumerate(dict.fromkeys(boxes.values())):
        spec.worldbody.add_geom(type=box, size=(thing.width / 2, thing.depth / 2, thing.height / 2),
                                pos=(thing.x, thing.y, thing.height / 2), quat=about_z(thing.heading), **how(thing, f"box{k}"))
    for number, (floor, plan) in enumerate(plans):
        turn = about_z(floor.grid.yaw)
        for k, (one, right, opposite, _) in enumerate(plan.blocks):
            middle, long, deep = (one + opposite) / 2, np.hypot(*(right - one)), np.hypot(*(opposite - right))
            spec.worldbody.add_geom(type=box, size=(long / 2, deep / 2, floor.height / 2),
                                    pos=(*middle, floor.height / 2), quat=turn, **how(floor, f"map{number}/{k}"))


def _made_of(world: World, fixed: Fixed) -> dict[int, Any]:
    """Which thing each row of fixed.shapes belongs to, of those things that say what they are made of."""
    things = [thing for thing in world.things if thing.material and thing.on and not thing.SPATIAL]
    if not things:
        return {}
    found: dict[int, Any] = {}
    edges = {edge: thing for thing in things if not isinstance(thing, Cylinders) for edge in _edges(thing)}
    scattered = [thing for thing in world.things if isinstance(thing, Cylinders) and thing.on]
    first = len(fixed.shapes) - sum(thing.count for thing in scattered)  # they are the last ones, in their order
    for k, shape in enumerate(fixed.shapes[:first]):
        if (thing := edges.get(_edge(*shape[:4]))) is not None:
            found[k] = thing
    for thing in scattered:
        found |= {k: thing for k in range(first, first + thing.count) if thing.material}
        first += thing.count
    return found


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
        friction = thing.sliding if isinstance(thing, Ball) else thing.friction
        how = {"mass": thing.mass, "rgba": rgba(thing.colour), **LIES, **materials.body(thing, name, thing.material, friction)}
        if isinstance(thing, Ball):  # its origin is its middle: it rolls
            body.add_geom(type=sphere, size=(thing.radius, 0, 0),
                          **{**how, "condim": 4 if how["friction"][0] else 1, "friction": (how["friction"][0], PIVOTING, 0)})
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


__all__ = ["add_ground", "add_movables", "add_walls"]
