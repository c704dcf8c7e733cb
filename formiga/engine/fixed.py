"""What stands still, as arrays: walls become segments, round obstacles discs, and a table says who is near a place."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, cos, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.errors import WorldError
from formiga.geometry import lattice_index, nearest_on_segment
from formiga.kernels import kernel
from formiga.noise import channel, stream, unit, world_key
from formiga.world.elements import where
from formiga.world.model import Arena, Cylinder, Cylinders, Polygon, Rectangle, Wall, World


@dataclass(frozen=True)
class Fixed:
    """Everything that never moves, as capsules: a segment and a radius around it.

    A wall is a capsule of radius 0, a round obstacle one of length 0, so one formula serves both.
    """

    shapes: Any        # (K, 5) x0 y0 x1 y1 radius
    outlines: Any      # (E, 5) x0 y0 x1 y1 number: the edges of solid obstacles, one obstacle after another

    @property
    def segments(self) -> Any:
        """The walls (S, 4): x0 y0 x1 y1."""
        return self.shapes[self.shapes[:, 4] == 0.0, :4]

    @property
    def discs(self) -> Any:
        """The round obstacles (C, 3): x y radius."""
        return self.shapes[self.shapes[:, 4] > 0.0][:, [0, 1, 4]]


class Region(NamedTuple):
    """A rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float


class Near(NamedTuple):
    """For each cell of a lattice, the fixed things within `radius` of any of its points.

    Each list ascends. The lattice reaches `radius` beyond everything, so a place outside of it has nothing near, and may
    look into the nearest border cell without missing anything.
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
    """The world's walls and obstacles as capsules."""
    shapes: list[tuple[float, float, float, float, float]] = []
    solids: list[list[tuple[float, float, float, float, float]]] = []
    for thing in world.things:
        if isinstance(thing, Arena) and thing.walls:
            shapes += _outline(_corners(thing.x, thing.y, thing.width, thing.depth, 0.0))
        elif isinstance(thing, Wall):
            points = _points(thing.points)
            shapes += [(*a, *b, 0.0) for a, b in pairwise(points)]
        elif isinstance(thing, Rectangle):
            solids.append(_outline(_corners(thing.x, thing.y, thing.width, thing.depth, thing.heading)))
        elif isinstance(thing, Polygon):
            solids.append(_outline(_points(thing.points)))
        elif isinstance(thing, Cylinder):
            shapes.append((thing.x, thing.y, thing.x, thing.y, thing.radius))
    shapes += [edge for solid in solids for edge in solid]
    outlines = [(*edge[:4], float(number)) for number, solid in enumerate(solids) for edge in solid]
    fixed = Fixed(np.array(shapes).reshape(-1, 5), np.array(outlines).reshape(-1, 5))
    for thing in world.things:
        if isinstance(thing, Cylinders):
            fixed = Fixed(np.concatenate([fixed.shapes, _scattered(world, thing, fixed)]), fixed.outlines)
    return fixed


def _points(flat: tuple[float, ...]) -> list[tuple[float, float]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _corners(x: float, y: float, width: float, depth: float, heading: float) -> list[tuple[float, float]]:
    c, s = cos(heading), sin(heading)
    half = [(width / 2, depth / 2), (-width / 2, depth / 2), (-width / 2, -depth / 2), (width / 2, -depth / 2)]
    return [(x + c * a - s * b, y + s * a + c * b) for a, b in half]


def _outline(points: list[tuple[float, float]]) -> list[tuple[float, float, float, float, float]]:
    return [(*a, *b, 0.0) for a, b in pairwise([*points, points[0]])]


def extent(world: World, fixed: Fixed) -> Region:
    """The arena, or the box around everything that stands still (1 m around the origin if nothing does)."""
    arena = world.arena
    if arena:
        return Region(arena.x - arena.width / 2, arena.y - arena.depth / 2,
                      arena.x + arena.width / 2, arena.y + arena.depth / 2)
    if len(fixed.shapes) == 0:
        return Region(-1.0, -1.0, 1.0, 1.0)
    low, high = _boxes(fixed)
    return Region(*(float(v) for v in (*low.min(axis=0), *high.max(axis=0))))


def _boxes(fixed: Fixed) -> tuple[Any, Any]:
    """Lower left and upper right corners (K, 2) of the boxes around the shapes."""
    one, other, radius = fixed.shapes[:, :2], fixed.shapes[:, 2:4], fixed.shapes[:, 4:]
    return np.minimum(one, other) - radius, np.maximum(one, other) + radius


# -- the table ------------------------------------------------------------------------------------------------------
def near_table(fixed: Fixed, radius: float) -> Near:
    """The table for one search radius. Cells are about as wide as the radius, and at most 1024 x 1024."""
    if len(fixed.shapes) == 0:
        return Near(0.0, 0.0, 1.0, 1, 1, np.zeros(2, np.int64), np.zeros(1, np.int32), radius)
    low, high = _boxes(fixed)
    x0, y0 = low.min(axis=0) - radius
    width, depth = high.max(axis=0) + radius - (x0, y0)
    size = max(radius, width / 1024, depth / 1024)
    columns, rows = max(1, ceil(width / size)), max(1, ceil(depth / size))
    count = np.zeros(columns * rows, np.int64)
    _list_near(fixed.shapes, x0, y0, size, columns, rows, radius, count, np.zeros(1, np.int32), False)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    items = np.empty(max(1, start[-1]), np.int32)
    _list_near(fixed.shapes, x0, y0, size, columns, rows, radius, start.copy(), items, True)
    return Near(float(x0), float(y0), float(size), columns, rows, start, items, radius)


@kernel()
def _list_near(shapes, x0, y0, size, columns, rows, radius, cursor, items, write):
    """Visit every (shape, cell) within `radius`: write the shape at the cell's cursor, if asked to, and advance it."""
    half = 0.5 * sqrt(2.0) * size * (1.0 + 1e-9)
    for k in range(shapes.shape[0]):
        ax, ay, bx, by, reach = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4] + radius
        c0 = lattice_index((min(ax, bx) - reach - x0) / size, columns)
        c1 = lattice_index((max(ax, bx) + reach - x0) / size, columns)
        r0 = lattice_index((min(ay, by) - reach - y0) / size, rows)
        r1 = lattice_index((max(ay, by) + reach - y0) / size, rows)
        for r in range(r0, r1 + 1):
            for c in range(c0, c1 + 1):
                mx, my = x0 + (c + 0.5) * size, y0 + (r + 0.5) * size
                qx, qy = nearest_on_segment(mx, my, ax, ay, bx, by)
                if sqrt((mx - qx) ** 2 + (my - qy) ** 2) <= reach + half:
                    if write:
                        items[cursor[r * columns + c]] = k
                    cursor[r * columns + c] += 1


@kernel()
def near_cell(x, y, near):
    """The cell of the table that holds (x, y)."""
    return (lattice_index((y - near.y0) / near.size, near.rows) * near.columns
            + lattice_index((x - near.x0) / near.size, near.columns))


@kernel()
def gap_to_fixed(x, y, shapes, near):
    """Distance from a point to the nearest fixed thing within the table's radius; infinity if there is none.

    Negative inside a round obstacle.
    """
    cell = near_cell(x, y, near)
    best = np.inf
    for n in range(near.start[cell], near.start[cell + 1]):
        k = near.items[n]
        qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
        best = min(best, sqrt((x - qx) ** 2 + (y - qy) ** 2) - shapes[k, 4])
    return best


@kernel()
def inside_solid(x, y, outlines):
    """Whether a point lies inside a solid obstacle: a line to the right of it crosses the outline an odd number of times."""
    odd, number = False, -1.0
    for e in range(outlines.shape[0]):
        if outlines[e, 4] != number:
            if odd:
                return True
            number = outlines[e, 4]
        ax, ay, bx, by = outlines[e, 0], outlines[e, 1], outlines[e, 2], outlines[e, 3]
        if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
            odd = not odd
    return odd


# -- darts: put discs where there is room ---------------------------------------------------------------------------
TRIES = 2000       # darts for one disc before we say that it does not fit


@kernel()
def throw(keys, channel, first, last, radius, safety, gap, reach, region, shapes, outlines, near, position):
    """Throw darts for discs first..last of every world; position (W, N, 2) already holds those before.

    With reach > 0 each disc lands next to an earlier one: rim to rim more than `gap` from all, less than `reach` from it.
    Otherwise anywhere in the region, with `gap` between collision circles. Returns (world that failed or -1, discs placed).
    """
    width, depth = region.x1 - region.x0, region.y1 - region.y0
    widest = 0.0
    for i in range(last):
        widest = max(widest, safety[i])
    side = 2.0 * widest + gap  # nobody further away can be in the way
    columns, rows = max(1, min(2048, int(width / side))), max(1, min(2048, int(depth / side)))
    head = np.empty(columns * rows, np.int64)  # linked lists of the discs in each cell
    after = np.empty(last, np.int64)
    for w in range(keys.shape[0]):
        head[:] = -1
        for i in range(last):
            found = i < first  # earlier groups stand already
            x, y = position[w, i, 0], position[w, i, 1]
            start = stream(keys[w], i, 0, channel)
            for k in range(0 if found else TRIES):
                if reach > 0.0 and i > first:  # next to somebody
                    j = first + int(unit(start, 3 * k) * (i - first))
                    distance = radius[i] + radius[j] + gap + unit(start, 3 * k + 1) * (reach - gap)
                    bearing = 2.0 * pi * unit(start, 3 * k + 2)
                    x, y = position[w, j, 0] + distance * cos(bearing), position[w, j, 1] + distance * sin(bearing)
                    if not (region.x0 <= x <= region.x1 and region.y0 <= y <= region.y1):
                        continue
                else:
                    x, y = region.x0 + unit(start, 3 * k) * width, region.y0 + unit(start, 3 * k + 1) * depth
                keep = safety[i] + (0.0 if reach > 0.0 else gap)
                if gap_to_fixed(x, y, shapes, near) <= keep or inside_solid(x, y, outlines):
                    continue
                c = lattice_index((x - region.x0) / width * columns, columns)
                r = lattice_index((y - region.y0) / depth * rows, rows)
                found = True
                for rr in range(max(0, r - 1), min(rows, r + 2)):
                    for cc in range(max(0, c - 1), min(columns, c + 2)):
                        j = head[rr * columns + cc]
                        while j >= 0 and found:
                            keep = safety[i] + safety[j] + gap
                            if reach > 0.0:
                                keep = max(safety[i] + safety[j], radius[i] + radius[j] + gap)
                            found = (position[w, j, 0] - x) ** 2 + (position[w, j, 1] - y) ** 2 > keep * keep
                            j = after[j]
                if found:
                    break
            if not found:
                return w, i - first
            position[w, i, 0], position[w, i, 1] = x, y
            cell = (lattice_index((y - region.y0) / depth * rows, rows) * columns
                    + lattice_index((x - region.x0) / width * columns, columns))
            after[i] = head[cell]
            head[cell] = i
    return -1, last - first


def _scattered(world: World, thing: Cylinders, fixed: Fixed) -> Any:
    """The shapes of a <cylinders>."""
    if world.arena is None:
        raise WorldError(f"{where(thing)}<cylinders> are scattered over the arena, and this world has no <arena>.")
    region = extent(world, fixed)
    centre = np.empty((1, thing.count, 2))
    radius = np.full(thing.count, thing.radius)
    keys = np.array([world_key(thing.seed, 0)], np.uint64)
    failed, placed = throw(keys, channel("cylinders", thing.name), 0, thing.count, radius, radius, thing.gap, 0.0, region,
                           fixed.shapes, fixed.outlines, near_table(fixed, thing.radius + thing.gap), centre)
    if failed >= 0:
        raise WorldError(f"{where(thing)}{thing.count} cylinders of radius {thing.radius:g} m do not fit in "
                         f"{region.x1 - region.x0:g} m x {region.y1 - region.y0:g} m; placed {placed}. "
                         "Enlarge <arena> or lower 'count'.")
    return np.concatenate([centre[0], centre[0], radius[:, None]], axis=1)
