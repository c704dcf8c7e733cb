"""What stands still, as nodes of a scene: the floor, walls, obstacles, lamps, zones, the ground in space.

Things that are alike are one batch of instances. Which class is drawn how stands in one table, DRAWN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import atan2, hypot, pi
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.fixed import Region
from formiga.engine.flatten import extent, flatten, plan_of
from formiga.view import ground, pitch
from formiga.view.bodies import bulb, by_class, is_on, post
from formiga.view.mesh import Mesh, box, drum, plate, prism, rgb, together
from formiga.view.nodes import Batch, Nodes, as_light
from formiga.view.palette import TRIGGER, UNLIT, Palette
from formiga.view.pointer import anchor_of
from formiga.view.skins import tiled
from formiga.world.beacons import Beacons
from formiga.world.floor import Floor
from formiga.world.ground import Hole, Platform, Ramp, Terrain
from formiga.world.looks.outlines import circle, rectangle
from formiga.world.maps import Map
from formiga.world.model import Arena, Cylinder, Cylinders, Field, Lamp, Polygon, Rectangle, Wall, World, Zone
from formiga.world.solids import Trigger
from formiga.world.textures import read_texture

THICK = 0.012                   # m, of a wall; in the simulation it has none
GLASS, KERB = 0.16, 0.04        # m: the wall of an arena that is higher would hide the robots: glass above a kerb
FLAT = 0.002                    # m, of an obstacle that is switched off
MOST_LIGHTS = 4                 # lamps that throw light; each one costs the browser time, and the others still glow
GLOW = ((1.35, 0.25), (1.8, 0.14), (2.4, 0.08), (3.2, 0.04))   # spheres around a bulb: their sizes in bulbs, and opacities
BOX, ROUND = box(-0.5, 0.5, -0.5, 0.5, 0.0, 1.0), drum(1.0, 0.0, 1.0, 40)


class Style(NamedTuple):
    """How a batch of things is drawn."""

    mesh: Mesh = BOX
    draggable: bool = True
    pick: bool = True
    opacity: float | None = None
    shadow: bool = True
    ground: bool = False


BATCHES = {
    "arena": Style(draggable=False, shadow=False),
    "glass": Style(draggable=False, pick=False, opacity=0.16, shadow=False),
    "walls": Style(),
    "boxes": Style(),
    "plans": Style(draggable=False),  # a <map> is a building: nothing to push aside by mistake
    "rounds": Style(ROUND),
    "ramps": Style(ground.WEDGE, shadow=False, ground=True),
    "platforms": Style(shadow=False, ground=True),
    "field": Style(ROUND, draggable=False),  # scattered by their seed: no place of their own to drag
    "beacons": Style(ROUND, draggable=False, shadow=False),
}


class Things:
    """Draws all things of a world that stand still."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    def build(self, world: World, region: Region, palette: Palette) -> None:
        """All nodes that this world needs."""
        self.world, self.region, self.palette = world, region, palette
        self._batches = {name: Batch() for name in BATCHES}
        self._fields = scattered(world, flatten(world).shapes)
        lamps = [index for index, thing in enumerate(world.things) if isinstance(thing, Lamp) and shines(thing)]
        self._throwing = set(lamps[:MOST_LIGHTS])
        self._floor()
        for index, thing in enumerate(world.things):
            draw = by_class(DRAWN, thing)
            if draw is not None:
                draw(self, index, thing)
        for name, style in BATCHES.items():
            self.nodes.instances(name, style.mesh, self._batches[name], *style[1:])

    # -- the floor ------------------------------------------------------------------------------------------------------
    def _floor(self) -> None:
        """A sheet, and lines on it every 10 cm (1 m in a large world): within an arena's walls, or all over an open one."""
        colours, region, world, arena = self.palette, self.region, self.world, self.world.arena
        size = (region.x1 - region.x0, region.y1 - region.y0)
        deep = max(0.0005, 8e-6 * max(size) ** 2)  # the lines lie above it by what a depth buffer can tell from that far
        middle = (0.5 * (region.x0 + region.x1), 0.5 * (region.y0 + region.y1), -deep)
        pits, lined = ground.holes(world), (arena.width, arena.depth) if arena and arena.walls else size
        if pits:
            self.nodes.body("floor", (region, pits), ground.floor(world, region), colours.floor, (0.0, 0.0, -deep), flat=True)
        else:
            self.nodes.body("floor", size, plate(rectangle(*size)), colours.floor, middle, flat=True)
        if (world.pitch and not arena) or any(isinstance(thing, Terrain) for thing in world.things):
            return
        step = 0.1 if max((arena.width, arena.depth) if arena else size) < 7.0 else 1.0
        if pits:
            points = ground.lines(world, extent(world, flatten(world)) if arena else region, step)
            self.nodes.keep("lines", (points.tobytes(), colours), lambda path: self.nodes.api.add_line_segments(
                path, points, as_light(np.broadcast_to(rgb(colours.cells), points.shape)), thickness=0.0025))
            return
        self.nodes.keep("grid", (lined, colours), lambda path: self.nodes.api.add_grid(
            path, *lined, cell_size=step, section_size=10.0 * step, cell_color=rgb(colours.cells), cell_thickness=0.8,
            section_color=rgb(colours.metres), section_thickness=1.0, shadow_opacity=0.0, fade_distance=1e4,
        )).position = (*middle[:2], 0.0)

    def _tiles(self, index: int, thing: Floor) -> None:
        """A picture over the floor, under its lines."""
        key = self.region, ground.holes(self.world), thing.tile, read_texture(thing.texture).png
        self.nodes.painted("tiles", key, tiled(self.world, self.region, thing), (0.0, 0.0, 0.0002), ground=True)

    # -- walls and obstacles: one that is switched off lies flat, so that it can be found and switched on again -----------
    def _colour(self, thing: Any, colour: str) -> str:
        return colour if is_on(thing) else self.palette.off

    def _arena(self, index: int, arena: Arena) -> None:
        if not arena.walls:
            return
        height, colour, rim = arena.height, self.palette.wall, self._batches["arena"]
        low = height if height <= GLASS else KERB
        for x, y, heading, long in sides(arena):
            rim.add(index, (x, y, 0.0), heading, (long, THICK, low), colour)
            if low < height:
                self._batches["glass"].add(index, (x, y, low), heading, (long, 0.5 * THICK, height - low), colour)
                rim.add(index, (x, y, height), heading, (long, 0.5 * THICK, 0.004), colour)

    def _wall(self, index: int, wall: Wall) -> None:
        for (x0, y0), (x1, y1) in pairwise(np.reshape(wall.points, (-1, 2)).tolist()):
            self._batches["walls"].add(index, (0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0), atan2(y1 - y0, x1 - x0),
                                       (hypot(x1 - x0, y1 - y0) + THICK, THICK, _height(wall)),
                                       self._colour(wall, self.palette.wall))

    def _rectangle(self, index: int, thing: Rectangle) -> None:
        self._batches["boxes"].add(index, (thing.x, thing.y, 0.0), thing.heading, (thing.width, thing.depth, _height(thing)),
                                   self._colour(thing, self.palette.box))

    def _map(self, index: int, thing: Map) -> None:
        """The blocks that its occupied cells make."""
        yaw, high, colour = thing.grid.yaw, _height(thing), self._colour(thing, thing.colour)
        for one, right, opposite, _ in plan_of(thing).blocks:
            x, y = 0.5 * (one + opposite)
            size = hypot(*(right - one)), hypot(*(opposite - right)), high
            self._batches["plans"].add(index, (x, y, 0.0), yaw, size, colour)

    def _polygon(self, index: int, thing: Polygon) -> None:
        x, y = anchor_of(thing)
        outline, height = (np.reshape(thing.points, (-1, 2)) - (x, y)).round(9).tobytes(), _height(thing)
        self.nodes.body(f"polygon/{index}", (outline, height), prism_of(outline, height), self._colour(thing, self.palette.box),
                        (x, y, 0.0), thing=index)

    def _cylinder(self, index: int, thing: Cylinder) -> None:
        self._batches["rounds"].add(index, (thing.x, thing.y, 0.0), 0.0, (thing.radius, thing.radius, _height(thing)),
                                    self._colour(thing, self.palette.round))

    def _cylinders(self, index: int, thing: Cylinders) -> None:
        for x, y in self._fields.get(index, ()):
            self._batches["field"].add(index, (x, y, 0.0), 0.0, (thing.radius, thing.radius, _height(thing)),
                                       self._colour(thing, self.palette.round))

    # -- the ground -------------------------------------------------------------------------------------------------------
    def _ramp(self, index: int, thing: Ramp) -> None:
        self._batches["ramps"].add(index, (thing.x, thing.y, 0.0), thing.heading, (thing.width, thing.depth, thing.height),
                                   thing.colour)

    def _platform(self, index: int, thing: Platform) -> None:
        self._batches["platforms"].add(index, (thing.x, thing.y, 0.0), thing.heading, (thing.width, thing.depth, thing.height),
                                       thing.colour)

    def _terrain(self, index: int, thing: Terrain) -> None:
        self.nodes.painted(f"terrain/{index}", thing, ground.hills(thing), (thing.x, thing.y, 0.0), index, ground=True)

    def _hole(self, index: int, thing: Hole) -> None:
        key = thing.width, thing.depth, thing.deep, self.palette.floor
        self.nodes.painted(f"hole/{index}", key, ground.pit(thing, self.palette.floor), (thing.x, thing.y, 0.0), index,
                           ground=True)

    # -- zones, lamps, a field of soccer ------------------------------------------------------------------------------------
    def _zone(self, index: int, thing: Zone) -> None:
        """Painted on the floor: later ones over earlier ones."""
        outline = circle(thing.radius, 64) if thing.radius > 0.0 else rectangle(thing.width, thing.depth)
        self.nodes.body(f"zone/{index}", outline.tobytes(), plate(outline), thing.colour,
                        (thing.x, thing.y, 0.001 + 0.0001 * (index % 30)), thing.heading, index,
                        opacity=0.75 if thing.on else 0.12, flat=True)

    def _trigger(self, index: int, thing: Trigger) -> None:
        """A pale zone that a look or a click passes through, with an edge around its foot."""
        a, b = thing.width / 2, thing.depth / 2
        size, place, thin = (thing.width, thing.depth, thing.height), (thing.x, thing.y, thing.z), 0.006
        colour = self._colour(thing, TRIGGER)
        self.nodes.body(f"trigger/{index}/zone", size, box(-a, a, -b, b, 0.0, thing.height), colour, place,
                        opacity=0.13 if thing.on else 0.05, draggable=False, shadow=False)
        edges = [box(*edge, 0.0, thin) for edge in ((-a, a, -b, thin - b), (-a, a, b - thin, b), (-a, thin - a, -b, b),
                                                    (a - thin, a, -b, b))]
        self.nodes.body(f"trigger/{index}/edge", size, together(*edges), colour, place, thing=index, shadow=False)

    def _pitch(self, index: int, field: Field) -> None:
        """The field of robot soccer: a dark floor with lines, a board around, and goals in the colours of their defenders."""
        self.nodes.body("pitch/floor", field, pitch.floor(field), field.colour, (0.0, 0.0, 0.0005), flat=True)
        teams = {group.name: group.robot.colour for group in self.world.groups}
        for team, side in zip(field.GROUPS, (-1.0, 1.0), strict=True):
            if team in teams:
                self.nodes.body(f"pitch/{team}", field, pitch.goal(field, side), teams[team], (0.0, 0.0, 0.001), opacity=0.35,
                                flat=True)
        self.nodes.body("pitch/lines", field, pitch.paint(field), field.line_colour, (0.0, 0.0, 0.0015), flat=True)
        self.nodes.body("pitch/board", field, pitch.board(field, THICK), self.palette.board, (0.0, 0.0, 0.0), thing=index,
                        draggable=False)

    def _lamp(self, index: int, lamp: Lamp) -> None:
        """A post with a bulb; if it shines, a glow around it, and light on what is near."""
        name, place, lit = f"lamp/{index}", (lamp.x, lamp.y, lamp.z), shines(lamp)
        colour = glow_of(lamp.colour) if lit else UNLIT
        self.nodes.painted(f"{name}/post", lamp.z, post(lamp.z), (lamp.x, lamp.y, 0.0), index)
        self.nodes.painted(f"{name}/bulb", colour, bulb(colour), place, index, glow=lit)
        for size, opacity in GLOW if lit else ():
            self.nodes.painted(f"{name}/glow{size}", colour, bulb(colour, size), place, glow=True, opacity=opacity)
        if index in self._throwing:
            strength = min(4.0, max(0.1, 4.0 * lamp.intensity))
            self.nodes.keep(f"{name}/light", (lamp.colour, strength), lambda path: self.nodes.api.add_light_point(
                path, color=rgb(lamp.colour), intensity=strength, distance=4.0, decay=1.6)).position = place


    def _beacons(self, index: int, thing: Beacons) -> None:
        """A post at each nominal place."""
        for x, y in thing.places.tolist():
            self._batches["beacons"].add(index, (x, y, 0.0), 0.0, (thing.radius, thing.radius, _height(thing)),
                                         self._colour(thing, thing.colour))


DRAWN: dict[type, Callable[[Things, int, Any], None]] = {
    Arena: Things._arena, Wall: Things._wall, Rectangle: Things._rectangle, Polygon: Things._polygon,
    Cylinder: Things._cylinder, Cylinders: Things._cylinders, Ramp: Things._ramp, Platform: Things._platform,
    Terrain: Things._terrain, Hole: Things._hole, Zone: Things._zone, Trigger: Things._trigger, Field: Things._pitch,
    Lamp: Things._lamp, Map: Things._map, Floor: Things._tiles, Beacons: Things._beacons,
}


def _height(thing: Any) -> float:
    return float(thing.height) if is_on(thing) else FLAT


@lru_cache(maxsize=256)
def prism_of(outline: bytes, height: float) -> Mesh:
    """Cutting an outline into triangles takes a while, and a drag needs the same one many times."""
    return prism(np.frombuffer(outline).reshape(-1, 2), 0.0, height)


def shines(lamp: Lamp) -> bool:
    """Whether it gives light."""
    return lamp.on and lamp.intensity > 0.0


def glow_of(colour: str) -> str:
    """The colour of a shining bulb: a whitish one is drawn yellow, as it would not stand out from the background."""
    white = max(0.0, 1.0 - (max(rgb(colour)) - min(rgb(colour))) / 96.0)
    mixed = ((1.0 - white) * own + white * yellow for own, yellow in zip(rgb(colour), rgb("#ffcc33"), strict=True))
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


def sides(arena: Arena) -> list[tuple[float, float, float, float]]:
    """x, y, heading and length of the four walls; their inner faces are the lines that robots meet."""
    x, y = 0.5 * (arena.width + THICK), 0.5 * (arena.depth + THICK)
    return [(arena.x, arena.y + y, 0.0, arena.width + 2.0 * THICK), (arena.x, arena.y - y, 0.0, arena.width + 2.0 * THICK),
            (arena.x + x, arena.y, 0.5 * pi, arena.depth), (arena.x - x, arena.y, 0.5 * pi, arena.depth)]


def scattered(world: World, shapes: Any) -> dict[int, Any]:
    """For each <cylinders>, its centres: the last shapes of the flattened world are those of all <cylinders>, in order."""
    fields = {index: thing.count for index, thing in enumerate(world.things) if isinstance(thing, Cylinders) and thing.on}
    ends = len(shapes) - sum(fields.values()) + np.cumsum(list(fields.values()), dtype=int)
    return {index: shapes[end - count:end, :2].tolist() for (index, count), end in zip(fields.items(), ends)}


__all__ = ["BATCHES", "DRAWN", "THICK", "Things", "glow_of", "scattered", "sides"]
