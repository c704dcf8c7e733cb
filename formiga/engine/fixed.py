"""What stands still, as arrays: walls become segments, round obstacles discs, and a table says who is near a place."""

from __future__ import annotations

from math import ceil, cos, floor, sin, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from formiga.errors import WorldError
from formiga.geometry import lattice_index, nearest_on_segment
from formiga.noise import channel, stream, unit, world_key
from formiga.world.elements import where
from formiga.world.model import Arena, Cylinder, Cylinders, Polygon, Rectangle, Wall, World


class Fixed(NamedTuple):
    """Segments and discs that never move."""

    segments: Any      # (S, 4) x0 y0 x1 y1
    discs: Any         # (C, 3) x y radius


class Region(NamedTuple):
    """A rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float


class Near(NamedTuple):
    """For each cell of a lattice, the fixed things within `radius` of any of its points.

    Item k < S is segment k, else disc k - S; each list ascends. The lattice reaches `radius` beyond everything, so a
    place outside of it has nothing near, and may look into the nearest border cell without missing anything.
    """

    x0: float
    y0: float
    size: float
    columns: int
    rows: int
    start: Any         # (cells + 1,) where each cell's list begins in `items`
    items: Any
    radius: float


def flatten(world: World) -> Fixed:
    """The world's walls as segments and its round obstacles as discs."""
    segments: list[tuple[float, float, float, float]] = []
    discs: list[tuple[float, float, float]] = []
    for thing in world.things:
        if isinstance(thing, Arena) and thing.walls:
            segments += _outline(_corners(thing.x, thing.y, thing.width, thing.depth, 0.0))
        elif isinstance(thing, Wall):
            points = list(zip(thing.points[::2], thing.points[1::2], strict=True))
            segments += [(*a, *b) for a, b in zip(points, points[1:], strict=False)]
        elif isinstance(thing, Rectangle):
            segments += _outline(_corners(thing.x, thing.y, thing.width, thing.depth, thing.heading))
        elif isinstance(thing, Polygon):
            segments += _outline(list(zip(thing.points[::2], thing.points[1::2], strict=True)))
        elif isinstance(thing, Cylinder):
            discs.append((thing.x, thing.y, thing.radius))
    fixed = Fixed(np.array(segments).reshape(-1, 4), np.array(discs).reshape(-1, 3))
    for thing in world.things:
        if isinstance(thing, Cylinders):
            fixed = fixed._replace(discs=_scatter_discs(world, thing, fixed))
    return fixed


def _corners(x: float, y: float, width: float, depth: float, heading: float) -> list[tuple[float, float]]:
    c, s = cos(heading), sin(heading)
    half = [(width / 2, depth / 2), (-width / 2, depth / 2), (-width / 2, -depth / 2), (width / 2, -depth / 2)]
    return [(x + c * a - s * b, y + s * a + c * b) for a, b in half]


def _outline(points: list[tuple[float, float]]) -> list[tuple[float, float, float, float]]:
    return [(*a, *b) for a, b in zip(points, points[1:] + points[:1], strict=True)]


def extent(world: World, fixed: Fixed) -> Region:
    """The arena, or the box around everything that stands still (1 m around the origin if nothing does)."""
    arena = world.arena
    if arena:
        return Region(arena.x - arena.width / 2, arena.y - arena.depth / 2, arena.x + arena.width / 2, arena.y + arena.depth / 2)
    xs = np.concatenate([fixed.segments[:, 0], fixed.segments[:, 2], fixed.discs[:, 0] - fixed.discs[:, 2],
                         fixed.discs[:, 0] + fixed.discs[:, 2]])
    ys = np.concatenate([fixed.segments[:, 1], fixed.segments[:, 3], fixed.discs[:, 1] - fixed.discs[:, 2],
                         fixed.discs[:, 1] + fixed.discs[:, 2]])
    if len(xs) == 0:
        return Region(-1.0, -1.0, 1.0, 1.0)
    return Region(float(xs.min()), float(ys.min()), float(xs.max()), float(ys.max()))


# -- the table ------------------------------------------------------------------------------------------------------
def near_table(fixed: Fixed, radius: float) -> Near:
    """The table for one search radius. Cells are about as wide as the radius, and at most 1024 x 1024."""
    S, C = len(fixed.segments), len(fixed.discs)
    if S + C == 0:
        return Near(0.0, 0.0, 1.0, 1, 1, np.zeros(2, np.int64), np.zeros(1, np.int32), radius)
    low = np.concatenate([np.minimum(fixed.segments[:, :2], fixed.segments[:, 2:]), fixed.discs[:, :2] - fixed.discs[:, 2:]])
    high = np.concatenate([np.maximum(fixed.segments[:, :2], fixed.segments[:, 2:]), fixed.discs[:, :2] + fixed.discs[:, 2:]])
    x0, y0 = low.min(axis=0) - radius
    width, depth = high.max(axis=0) + radius - (x0, y0)
    size = max(radius, width / 1024, depth / 1024)
    columns, rows = max(1, ceil(width / size)), max(1, ceil(depth / size))
    count = np.zeros(columns * rows, np.int64)
    _list_near(fixed.segments, fixed.discs, low, high, x0, y0, size, columns, rows, radius, count, np.zeros(1, np.int64),
               np.zeros(1, np.int32), False)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    items = np.empty(max(1, start[-1]), np.int32)
    _list_near(fixed.segments, fixed.discs, low, high, x0, y0, size, columns, rows, radius, count, start.copy(), items, True)
    return Near(float(x0), float(y0), float(size), columns, rows, start, items, radius)


@njit(cache=True)
def _list_near(segments, discs, low, high, x0, y0, size, columns, rows, radius, count, cursor, items, write):
    """Visit every (thing, cell) within `radius`; count them, or write the thing into the cell's list."""
    S = segments.shape[0]
    half = 0.5 * sqrt(2.0) * size
    for k in range(S + discs.shape[0]):
        c0 = max(0, int(floor((low[k, 0] - radius - x0) / size)))
        c1 = min(columns - 1, int(floor((high[k, 0] + radius - x0) / size)))
        r0 = max(0, int(floor((low[k, 1] - radius - y0) / size)))
        r1 = min(rows - 1, int(floor((high[k, 1] + radius - y0) / size)))
        for r in range(r0, r1 + 1):
            for c in range(c0, c1 + 1):
                mx, my = x0 + (c + 0.5) * size, y0 + (r + 0.5) * size
                if k < S:
                    qx, qy = nearest_on_segment(mx, my, segments[k, 0], segments[k, 1], segments[k, 2], segments[k, 3])
                    gap = sqrt((mx - qx) ** 2 + (my - qy) ** 2)
                else:
                    gap = sqrt((mx - discs[k - S, 0]) ** 2 + (my - discs[k - S, 1]) ** 2) - discs[k - S, 2]
                if gap > radius + half * (1.0 + 1e-9):
                    continue
                if write:
                    items[cursor[r * columns + c]] = k
                    cursor[r * columns + c] += 1
                else:
                    count[r * columns + c] += 1


@njit(cache=True, nogil=True)
def gap_to_fixed(x, y, segments, discs, near):
    """Distance from a point to the nearest fixed thing within the table's radius; infinity if there is none.

    Negative inside a disc.
    """
    c = lattice_index((x - near.x0) / near.size, near.columns)
    r = lattice_index((y - near.y0) / near.size, near.rows)
    cell = r * near.columns + c
    best = np.inf
    S = segments.shape[0]
    for n in range(near.start[cell], near.start[cell + 1]):
        k = near.items[n]
        if k < S:
            qx, qy = nearest_on_segment(x, y, segments[k, 0], segments[k, 1], segments[k, 2], segments[k, 3])
            gap = sqrt((x - qx) ** 2 + (y - qy) ** 2)
        else:
            gap = sqrt((x - discs[k - S, 0]) ** 2 + (y - discs[k - S, 1]) ** 2) - discs[k - S, 2]
        best = min(best, gap)
    return best


# -- scattered obstacles --------------------------------------------------------------------------------------------
TRIES = 2000


def _scatter_discs(world: World, thing: Cylinders, fixed: Fixed) -> Any:
    """`fixed.discs` with those of a <cylinders> behind them."""
    if world.arena is None:
        raise WorldError(f"{where(thing)}<cylinders> are scattered over the arena, and this world has no <arena>.")
    region = extent(world, fixed)
    near = near_table(fixed, thing.radius + thing.gap)
    discs = np.empty((thing.count, 3))
    placed = _throw_discs(thing.count, thing.radius, thing.gap, thing.seed, channel("cylinders", thing.name), region,
                          fixed.segments, fixed.discs, near, discs)
    if placed < thing.count:
        raise WorldError(f"{where(thing)}{thing.count} cylinders of radius {thing.radius:g} m do not fit in "
                         f"{region.x1 - region.x0:g} m x {region.y1 - region.y0:g} m; placed {placed}. "
                         "Enlarge <arena> or lower 'count'.")
    return np.concatenate([fixed.discs, discs])


@njit(cache=True)
def _throw_discs(count, radius, gap, seed, channel, region, segments, discs, near, out):
    side = 2.0 * radius + gap
    columns = max(1, min(2048, int((region.x1 - region.x0) / side)))
    rows = max(1, min(2048, int((region.y1 - region.y0) / side)))
    head = np.full(columns * rows, -1, np.int64)  # linked lists of the discs in each cell
    after = np.empty(count, np.int64)
    key = world_key(seed, 0)
    for i in range(count):
        start = stream(key, i, 0, channel)
        found = False
        for k in range(TRIES):
            x = region.x0 + unit(start, 2 * k) * (region.x1 - region.x0)
            y = region.y0 + unit(start, 2 * k + 1) * (region.y1 - region.y0)
            if gap_to_fixed(x, y, segments, discs, near) < radius + gap:
                continue
            c = lattice_index((x - region.x0) / (region.x1 - region.x0) * columns, columns)
            r = lattice_index((y - region.y0) / (region.y1 - region.y0) * rows, rows)
            free = True
            for rr in range(max(0, r - 1), min(rows, r + 2)):
                for cc in range(max(0, c - 1), min(columns, c + 2)):
                    j = head[rr * columns + cc]
                    while j >= 0 and free:
                        free = (out[j, 0] - x) ** 2 + (out[j, 1] - y) ** 2 >= side * side
                        j = after[j]
            if free:
                out[i, 0], out[i, 1], out[i, 2] = x, y, radius
                after[i] = head[r * columns + c]
                head[r * columns + c] = i
                found = True
                break
        if not found:
            return i
    return count

