"""The walls and obstacles of a world description, as what kernels take."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import cos, sin
from typing import Any

import numpy as np

from formiga.engine.fixed import Fixed, Region, boxes, inside_solid, near_table
from formiga.engine.rejection import place_discs
from formiga.errors import WorldError
from formiga.noise import channel, world_key
from formiga.world.elements import where
from formiga.world.model import Arena, Cylinder, Cylinders, Field, Lamp, Polygon, Rectangle, Wall, World

Shape = tuple[float, float, float, float, float, float]  # x0 y0 x1 y1 radius height


def flatten(world: World) -> Fixed:
    """The world's walls and obstacles as capsules; what is off is not among them.

    Only scattered obstacles go round what is off, too, so that switching a thing moves no other.
    """
    everything = _capsules(world.things)
    fixed = _capsules([thing for thing in world.things if thing.on])
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
    shapes += [edge for solid in solids for edge in solid]
    outlines = [(*edge[:4], float(number)) for number, solid in enumerate(solids) for edge in solid]
    table = np.array(shapes).reshape(-1, 6)
    return Fixed(table[:, :5].copy(), table[:, 5].copy(), np.array(outlines).reshape(-1, 5))


def _refuse_misfit(field: Field) -> None:
    if field.goal_width + 2 * field.corner > field.width or 2 * field.corner > field.length:
        raise WorldError(f"{where(field)}<field> a goal of {field.goal_width:g} m and two corners of {field.corner:g} m do not "
                         f"fit into {field.length:g} m x {field.width:g} m.")


def _with(fixed: Fixed, discs: Any, height: float) -> Fixed:
    return Fixed(np.concatenate([fixed.shapes, discs]), np.concatenate([fixed.heights, np.full(len(discs), height)]),
                 fixed.outlines)


def lamps(world: World) -> Any:
    """The lamps that shine, (L, 4): x y z intensity. One under the roof of a solid obstacle does not."""
    solids = [(thing.height, flatten(World(things=(thing,))).outlines) for thing in world.things
              if isinstance(thing, Rectangle | Polygon) and thing.on]
    shining = [lamp for lamp in world.things if isinstance(lamp, Lamp) and lamp.on and lamp.intensity > 0.0
               and not any(lamp.z < roof and inside_solid(lamp.x, lamp.y, solid) for roof, solid in solids)]
    return np.array([(lamp.x, lamp.y, lamp.z, lamp.intensity) for lamp in shining]).reshape(-1, 4)


def _points(flat: tuple[float, ...]) -> list[tuple[float, float]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _corners(x: float, y: float, width: float, depth: float, heading: float) -> list[tuple[float, float]]:
    c, s = cos(heading), sin(heading)
    half = [(width / 2, depth / 2), (-width / 2, depth / 2), (-width / 2, -depth / 2), (width / 2, -depth / 2)]
    return [(x + c * a - s * b, y + s * a + c * b) for a, b in half]


def _outline(points: list[tuple[float, float]], height: float) -> list[Shape]:
    return [(*a, *b, 0.0, height) for a, b in pairwise([*points, points[0]])]


def extent(world: World, fixed: Fixed) -> Region:
    """The arena, or the box around everything that stands still (1 m around the origin if nothing does)."""
    arena = world.arena
    if arena:
        return Region(arena.x - arena.width / 2, arena.y - arena.depth / 2,
                      arena.x + arena.width / 2, arena.y + arena.depth / 2)
    if len(fixed.shapes) == 0:
        return Region(-1.0, -1.0, 1.0, 1.0)
    low, high = boxes(fixed)
    return Region(*(float(v) for v in (*low.min(axis=0), *high.max(axis=0))))


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
