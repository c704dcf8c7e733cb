"""What stands still, for kernels: capsules, and a table that says which of them are near a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.geometry import lattice_index, nearest_on_segment
from formiga.kernels import kernel


@dataclass(frozen=True)
class Fixed:
    """Everything that never moves, as capsules: a segment and a radius around it.

    A wall is a capsule of radius 0, a round obstacle one of length 0, so one formula serves both.
    """

    shapes: Any        # (K, 5) x0 y0 x1 y1 radius
    heights: Any       # (K,) m, how high each stands; light passes above
    outlines: Any = field(default_factory=lambda: np.empty((0, 5)))  # (E, 5) x0 y0 x1 y1 number: edges of solid obstacles

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

    @property
    def area(self) -> float:
        """m^2."""
        return (self.x1 - self.x0) * (self.y1 - self.y0)


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


class Solids(NamedTuple):
    """Solid obstacles, and for each cell of a coarse lattice those whose boxes are within a radius of any of its points."""

    x0: float
    y0: float
    size: float
    columns: int
    rows: int
    start: Any         # (cells + 1,) where each cell's list begins in `items`
    items: Any         # numbers of solids
    table: Any         # (S, 6) box x0 y0 x1 y1, and its edges: first and last + 1
    edges: Any         # (E, 4) x0 y0 x1 y1


class Sight(NamedTuple):
    """What beams may meet, and the solid obstacles that they may start in.

    For short beams: what is near a robot's centre. For long ones, that walk from cell to cell: what is in a cell.
    """

    near: Near
    solids: Solids
    walks: bool = False      # see above/walk.py
    furthest: float = 0.0    # m, of the origins of beams that walk, from the robot's centre


# -- the table ------------------------------------------------------------------------------------------------------
def boxes(fixed: Fixed) -> tuple[Any, Any]:
    """Lower left and upper right corners (K, 2) of the boxes around the shapes."""
    one, other, radius = fixed.shapes[:, :2], fixed.shapes[:, 2:4], fixed.shapes[:, 4:]
    return np.minimum(one, other) - radius, np.maximum(one, other) + radius


def near_table(fixed: Fixed, radius: float, size: float | None = None) -> Near:
    """The table for one search radius. Cells are about as wide as the radius, or `size`, and at most 1024 x 1024."""
    if len(fixed.shapes) == 0:
        return Near(0.0, 0.0, 1.0, 1, 1, np.zeros(2, np.int64), np.zeros(1, np.int32), radius)
    low, high = boxes(fixed)
    x0, y0 = low.min(axis=0) - radius
    width, depth = high.max(axis=0) + radius - (x0, y0)
    size = max(radius if size is None else size, width / 1024, depth / 1024) or 1.0
    columns, rows = max(1, ceil(width / size)), max(1, ceil(depth / size))
    count = np.zeros(columns * rows, np.int64)
    _list_near(fixed.shapes, x0, y0, size, columns, rows, radius, count, np.zeros(1, np.int32), False)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    items = np.empty(max(1, start[-1]), np.int32)
    _list_near(fixed.shapes, x0, y0, size, columns, rows, radius, start.copy(), items, True)
    return Near(float(x0), float(y0), float(size), columns, rows, start, items, radius)


def near_tables(fixed: Sequence[Fixed], radius: float) -> list[Near]:
    """`near_table` of many sets of things, in a few calls for all of them."""
    counts = {len(each.shapes) for each in fixed}
    if len(counts) > 1 or 0 in counts:
        return [near_table(each, radius) for each in fixed]
    shapes = np.stack([each.shapes for each in fixed])
    one, other, around = shapes[..., :2], shapes[..., 2:4], shapes[..., 4:]
    low = (np.minimum(one, other) - around).min(axis=1) - radius
    width, depth = ((np.maximum(one, other) + around).max(axis=1) + radius - low).T
    size = np.maximum(np.maximum(radius, width / 1024), depth / 1024)
    size[size == 0.0] = 1.0
    columns, rows = (np.maximum(1, np.ceil(side / size)).astype(np.int64) for side in (width, depth))
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(columns * rows + 1)])  # of each table in `start`
    start = np.zeros(first[-1], np.int64)
    lattices = low[:, 0].copy(), low[:, 1].copy(), size, columns, rows
    _list_each(shapes, *lattices, radius, first, start, np.zeros(0, np.int64), np.zeros(1, np.int32), False)
    total = np.zeros(len(fixed) + 1, np.int64)                                      # of each table in `items`
    for k in range(len(fixed)):
        begins = start[first[k]:first[k + 1]]
        begins[1:] = np.cumsum(begins[:-1])
        begins[0] = 0
        total[k + 1] = total[k] + max(1, begins[-1])
    items = np.zeros(total[-1], np.int32)
    _list_each(shapes, *lattices, radius, first, start.copy(), total, items, True)
    x0, y0 = low.T.tolist()
    return [Near(x0[k], y0[k], float(size[k]), int(columns[k]), int(rows[k]), start[first[k]:first[k + 1]],
                 items[total[k]:total[k + 1]], radius) for k in range(len(fixed))]


@kernel()
def _list_each(shapes, x0, y0, size, columns, rows, radius, first, cursor, total, items, write):
    """`_list_near` for many tables: cursors of the cells of table k begin at first[k], items at total[k]."""
    for k in range(shapes.shape[0]):
        own = items[total[k]:total[k + 1]] if write else items
        _list_near(shapes[k], x0[k], y0[k], size[k], columns[k], rows[k], radius, cursor[first[k]:first[k + 1]], own, write)


def sight_table(fixed: Fixed, radius: float) -> Sight:
    """The same with the solid obstacles."""
    return Sight(near_table(fixed, radius), solids_table(fixed.outlines, radius))


def solids_table(outlines: Any, radius: float) -> Solids:
    """The table of solid obstacles for one search radius. At most 32 x 32 cells, since a box may cover all of them."""
    if len(outlines) == 0:
        return Solids(0.0, 0.0, 1.0, 1, 1, np.zeros(2, np.int64), np.zeros(1, np.int32), np.zeros((0, 6)), np.zeros((0, 4)))
    first = np.flatnonzero(np.diff(outlines[:, 4], prepend=np.nan) != 0.0)
    last = np.append(first[1:], len(outlines))
    low, high = np.minimum.reduceat(outlines[:, :2], first), np.maximum.reduceat(outlines[:, :2], first)
    x0, y0 = low.min(axis=0) - radius
    width, depth = high.max(axis=0) + radius - (x0, y0)
    size = max(radius, width / 32, depth / 32) or 1.0
    columns, rows = max(1, ceil(width / size)), max(1, ceil(depth / size))
    table = np.column_stack([low, high, first, last])
    count = np.zeros(columns * rows, np.int64)
    _list_boxes(table, x0, y0, size, columns, rows, radius, count, np.zeros(1, np.int32), False)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    items = np.empty(max(1, start[-1]), np.int32)
    _list_boxes(table, x0, y0, size, columns, rows, radius, start.copy(), items, True)
    return Solids(float(x0), float(y0), float(size), columns, rows, start, items, table, outlines[:, :4].copy())


@kernel()
def _list_boxes(table, x0, y0, size, columns, rows, radius, cursor, items, write):
    """Visit every (solid, cell) within `radius`, as `_list_near` does."""
    for k in range(table.shape[0]):
        c0 = lattice_index((table[k, 0] - radius - x0) / size, columns)
        c1 = lattice_index((table[k, 2] + radius - x0) / size, columns)
        r0 = lattice_index((table[k, 1] - radius - y0) / size, rows)
        r1 = lattice_index((table[k, 3] + radius - y0) / size, rows)
        for r in range(r0, r1 + 1):
            for c in range(c0, c1 + 1):
                if write:
                    items[cursor[r * columns + c]] = k
                cursor[r * columns + c] += 1


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
def within(x, y, k, solids):
    """Whether a point lies inside solid k: a line to the right of it crosses the outline an odd number of times."""
    table, edges, odd = solids.table, solids.edges, False
    if x < table[k, 0] or y < table[k, 1] or x > table[k, 2] or y > table[k, 3]:
        return False
    for e in range(int(table[k, 4]), int(table[k, 5])):
        ax, ay, bx, by = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
        if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
            odd = not odd
    return odd


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
