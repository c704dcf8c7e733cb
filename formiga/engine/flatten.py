"""The walls and obstacles of a world description, as what kernels take."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.fixed import Fixed, Region, boxes, inside_solid, near_table
from formiga.engine.rejection import place_discs
from formiga.engine.switches import ever_on
from formiga.errors import WorldError
from formiga.map.grid import Grid
from formiga.map.walls import from_walls, rectangles, segments
from formiga.noise import channel, world_key
from formiga.world.elements import where
from formiga.world.maps import Map
from formiga.world.model import Arena, Cylinder, Cylinders, Field, Lamp, Polygon, Rectangle, Wall, World

Shape = tuple[float, float, float, float, float, float]  # x0 y0 x1 y1 radius height
MOST_WALLS = 200_000  # straight ones of a <map>, and rectangles that its cells are taken together to


def flatten(world: World) -> Fixed:
    """The world's walls and obstacles as capsules; what is off is not among them.

    Only scattered obstacles go round what is off, too, so that switching a thing moves no other.
    """
    everything = _capsules(world.things)
    fixed = everything if all(thing.on for thing in world.things) else _capsules([thing for thing in world.things if thing.on])
    scattered = [thing for thing in world.things if isinstance(thing, Cylinders)]
    while scattered and not scattered[-1].on:
        scattered.pop()  # nothing has to avoid it
    for thing in scattered:
        discs = _scattered(world, thing, everything)
        everything = _with(everything, discs, thing.height)
        fixed = _with(fixed, discs, thing.height) if thing.on else fixed
    return fixed


def _capsules(things: Iterable[Any]) -> Fixed:
    """Everything that says itself where it stands."""
    shapes: list[Shape] = []
    solids: list[list[Shape]] = []
    filled: list[list[Shape]] = []  # blocks of maps: one cannot be inside them, but what is met are the walls around them
    for thing in things:
        if isinstance(thing, Arena) and thing.walls:
            shapes += _outline(_corners(thing.x, thing.y, thing.width, thing.depth, 0.0), thing.height)
        elif isinstance(thing, Field):
            _refuse_misfit(thing)
            shapes += _outline(thing.board, thing.height)
        elif isinstance(thing, Wall):
            points = _points(thing.points)
            shapes += [(*a, *b, 0.0, thing.height) for a, b in pairwise(points)]
        elif isinstance(thing, Rectangle):
            corners = _corners(thing.x, thing.y, thing.width, thing.depth, thing.heading)
            solids.append(_outline(corners, thing.height))
        elif isinstance(thing, Polygon):
            solids.append(_outline(_points(thing.points), thing.height))
        elif isinstance(thing, Cylinder):
            shapes.append((thing.x, thing.y, thing.x, thing.y, thing.radius, thing.height))
        elif isinstance(thing, Map):
            plan = plan_of(thing)
            shapes += [(*wall, 0.0, thing.height) for wall in plan.walls.tolist()]
            filled += [_outline(block, thing.height) for block in plan.blocks.tolist()]
    shapes += [edge for solid in solids for edge in solid]
    outlines = [(*edge[:4], float(number)) for number, solid in enumerate([*solids, *filled]) for edge in solid]
    table = np.array(shapes).reshape(-1, 6)
    return Fixed(table[:, :5].copy(), table[:, 5].copy(), np.array(outlines).reshape(-1, 5))


class Plan(NamedTuple):
    """The walls of a <map>, in the world."""

    walls: Any     # (S, 4) x0 y0 x1 y1: the outlines of its solid cells
    blocks: Any    # (R, 4, 2) corners of rectangles that cover these cells, counter-clockwise


def plan_of(thing: Map) -> Plan:
    """The walls of a map; WorldError if they are too many."""
    return _plan(thing, thing.grid)


@lru_cache(maxsize=32)
def _plan(thing: Map, grid: Grid) -> Plan:
    solid = grid.occupied | grid.unknown if thing.unknown == "wall" else grid.occupied
    edges = segments(solid)
    _refuse_many(thing, edges, "straight walls")
    return Plan(grid.world_of(edges.reshape(-1, 2, 2)).reshape(-1, 4), _blocks(thing, grid, solid))


def _blocks(thing: Map, grid: Grid, cells: Any) -> Any:
    """Rectangles that cover some cells: their corners (R, 4, 2), counter-clockwise."""
    found = rectangles(cells)
    _refuse_many(thing, found, "separate patches")
    return grid.world_of(found[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2))


def _refuse_many(thing: Map, parts: Any, what: str) -> None:
    if len(parts) > MOST_WALLS:
        raise WorldError(f"{where(thing)}<map> its cells have {len(parts):,} {what}; at most {MOST_WALLS:,} can be. Is it a "
                         "floor plan, in two colours?")


def not_on_maps(world: World, fixed: Fixed) -> Fixed:
    """The same, and as solid all cells of maps of which nothing is known, so that robots are not put there by chance; in a
    world without an arena also all that is beyond its map."""
    plans = [thing for thing in world.things if isinstance(thing, Map)]
    solids = [_outline(block, 0.0) for thing in plans if thing.on for block in _unknown(thing, thing.grid).tolist()]
    if world.arena is None and len(plans) == 1:
        x0, y0, x1, y1 = extent(world, fixed)
        around = [(x0 - 1.0, y0 - 1.0), (x1 + 1.0, y0 - 1.0), (x1 + 1.0, y1 + 1.0), (x0 - 1.0, y1 + 1.0)]
        solids.append(_outline(around, 0.0) + _outline(plans[0].grid.corners.tolist(), 0.0))  # a ring: in one, not in both
    if not solids:
        return fixed
    number = fixed.outlines[-1, 4] + 1.0 if len(fixed.outlines) else 0.0
    edges = [(*edge[:4], number + k) for k, solid in enumerate(solids) for edge in solid]
    return Fixed(fixed.shapes, fixed.heights, np.concatenate([fixed.outlines, np.array(edges)]))


@lru_cache(maxsize=8)
def _unknown(thing: Map, grid: Grid) -> Any:
    return _blocks(thing, grid, grid.unknown)


def _refuse_misfit(field: Field) -> None:
    if field.goal_width + 2 * field.corner > field.width or 2 * field.corner > field.length:
        raise WorldError(f"{where(field)}<field> a goal of {field.goal_width:g} m and two corners of {field.corner:g} m do not "
                         f"fit into {field.length:g} m x {field.width:g} m.")


def _with(fixed: Fixed, discs: Any, height: float) -> Fixed:
    return Fixed(np.concatenate([fixed.shapes, discs]), np.concatenate([fixed.heights, np.full(len(discs), height)]),
                 fixed.outlines)


def lamps(world: World) -> list[Lamp]:
    """The lamps that shine at some time. One under the roof of a solid obstacle never does."""
    lit = [lamp for lamp in world.things if isinstance(lamp, Lamp) and ever_on(lamp) and lamp.intensity > 0.0]
    solids = [(thing.height, _capsules([thing]).outlines) for thing in (world.things if lit else ())
              if isinstance(thing, Rectangle | Polygon | Map) and thing.on]
    return [lamp for lamp in lit if not any(lamp.z < roof and inside_solid(lamp.x, lamp.y, solid) for roof, solid in solids)]


def _points(flat: tuple[float, ...]) -> list[tuple[float, float]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _corners(x: float, y: float, width: float, depth: float, heading: float) -> list[tuple[float, float]]:
    c, s = cos(heading), sin(heading)
    half = [(width / 2, depth / 2), (-width / 2, depth / 2), (-width / 2, -depth / 2), (width / 2, -depth / 2)]
    return [(x + c * a - s * b, y + s * a + c * b) for a, b in half]


def _outline(points: list[tuple[float, float]], height: float) -> list[Shape]:
    return [(*a, *b, 0.0, height) for a, b in pairwise([*points, points[0]])]


def extent(world: World, fixed: Fixed) -> Region:
    """The arena, or the box around maps and everything that stands still (1 m around the origin if there is nothing)."""
    arena = world.arena
    if arena:
        return Region(arena.x - arena.width / 2, arena.y - arena.depth / 2,
                      arena.x + arena.width / 2, arena.y + arena.depth / 2)
    low, high = boxes(fixed)
    plans = [thing.grid.corners for thing in world.things if isinstance(thing, Map)]
    low, high = np.concatenate([low, *plans]), np.concatenate([high, *plans])
    if len(low) == 0:
        return Region(-1.0, -1.0, 1.0, 1.0)
    return Region(*(float(v) for v in (*low.min(axis=0), *high.max(axis=0))))


def as_grid(world: World, resolution: float) -> Grid:
    """All walls and obstacles of any world as a grid, over the region of the world: the map that a robot in it could have."""
    fixed = flatten(world)
    return from_walls(fixed.shapes, fixed.outlines, extent(world, fixed), resolution)


def _scattered(world: World, thing: Cylinders, fixed: Fixed) -> Any:
    """The shapes of a <cylinders>."""
    if world.arena is None:
        raise WorldError(f"{where(thing)}<cylinders> are scattered over the arena, and this world has no <arena>.")
    region = extent(world, fixed)
    centre = np.empty((1, thing.count, 2))
    radius = np.full(thing.count, thing.radius)
    keys = np.array([world_key(thing.seed, 0)], np.uint64)
    failed, placed = place_discs(keys, channel("cylinders", thing.name), 0, thing.count, np.zeros(thing.count, np.bool_),
                                 radius, radius, thing.gap, 0.0, region, fixed.shapes, fixed.outlines,
                                 near_table(fixed, thing.radius + thing.gap), centre)
    if failed >= 0:
        raise WorldError(f"{where(thing)}{thing.count} cylinders of radius {thing.radius:g} m do not fit in "
                         f"{region.x1 - region.x0:g} m x {region.y1 - region.y0:g} m; placed {placed}. "
                         "Enlarge <arena> or lower 'count'.")
    return np.concatenate([centre[0], centre[0], radius[:, None]], axis=1)
