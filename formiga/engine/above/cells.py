"""The cell list of the robots: a search looks only at those in the cells within its reach.

One lattice per world, filled by a counting sort. The robots of a row of cells are neighbours in memory, so a search
reads one run per row. The list keeps a copy of the positions it was made from: `fill` compares, and does the work only
if a robot moved, so it may be called before every use and is always right, even if a user moved a robot by hand.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.fixed import Region
from formiga.geometry import lattice_index
from formiga.kernels import kernel


class Cells(NamedTuple):
    """Lattice and lists. Places outside the lattice belong to the nearest border cell, which keeps the order of
    places, so a search over a range of cells misses no robot."""

    x0: float
    y0: float
    size: float
    columns: int
    rows: int
    start: Any       # (W, cells + 1) where each cell begins in `order`
    order: Any       # (W, N) robots, cell by cell, ascending inside a cell
    x: Any           # (W, N) their places, in the same order
    y: Any
    cell: Any        # (N,) working memory of `fill_world`


def make(worlds: int, robots: int, region: Region, contact_range: float) -> Cells:
    """An empty list. Cells hold half a robot on average, but are never narrower than the range of contact."""
    width, depth = region.x1 - region.x0, region.y1 - region.y0
    size = max(contact_range, sqrt(0.5 * width * depth / max(1, robots)), width / 4096, depth / 4096) or 1.0
    columns, rows = max(1, ceil(width / size)), max(1, ceil(depth / size))
    start = np.zeros((worlds, columns * rows + 1), np.int32)
    order = np.tile(np.arange(robots, dtype=np.int32), (worlds, 1))
    nowhere = np.full((worlds, robots), np.nan)
    return Cells(float(region.x0), float(region.y0), float(size), columns, rows, start, order, nowhere, nowhere.copy(),
                 np.empty(robots, np.int32))


@kernel()
def around(x, y, reach, cells):
    """Columns c0..c1 and rows r0..r1 of the cells that hold all robots within `reach` of (x, y)."""
    inverse = 1.0 / cells.size
    return (lattice_index((x - reach - cells.x0) * inverse, cells.columns),
            lattice_index((x + reach - cells.x0) * inverse, cells.columns),
            lattice_index((y - reach - cells.y0) * inverse, cells.rows),
            lattice_index((y + reach - cells.y0) * inverse, cells.rows))


@kernel()
def row_of(y, cells):
    """The row that holds y."""
    return lattice_index((y - cells.y0) * (1.0 / cells.size), cells.rows)


@kernel()
def fill_world(w, position, cells):
    """Bring one world's list up to date."""
    order, sx, sy, start, cell_of = cells.order, cells.x, cells.y, cells.start, cells.cell
    x0, y0, size, columns, rows = cells.x0, cells.y0, cells.size, cells.columns, cells.rows
    N = position.shape[1]
    fresh = True
    for n in range(N):
        i = order[w, n]
        if position[w, i, 0] != sx[w, n] or position[w, i, 1] != sy[w, n]:
            fresh = False
            break
    if fresh:
        return
    inverse = 1.0 / size
    count = columns * rows
    for c in range(count + 1):
        start[w, c] = 0
    for i in range(N):
        c = lattice_index((position[w, i, 0] - x0) * inverse, columns)
        r = lattice_index((position[w, i, 1] - y0) * inverse, rows)
        cell_of[i] = r * columns + c
        start[w, cell_of[i] + 1] += 1
    for c in range(count):
        start[w, c + 1] += start[w, c]
    for i in range(N):  # start[c] walks to the end of its cell ...
        n = start[w, cell_of[i]]
        start[w, cell_of[i]] = n + 1
        order[w, n] = i
        sx[w, n] = position[w, i, 0]
        sy[w, n] = position[w, i, 1]
    for c in range(count, 0, -1):  # ... which is where the next one begins
        start[w, c] = start[w, c - 1]
    start[w, 0] = 0


@kernel()
def fill(position, cells):
    """Bring the lists of all worlds up to date."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
