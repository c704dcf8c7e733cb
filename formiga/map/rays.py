"""Beams over a grid, from any poses: how far it is from each to the first occupied cell.

    distance = cast(grid, poses, angles, reach)      # (..., 3) x y heading, (B,) rad -> (..., B) m

A beam goes from cell to cell in the order in which it enters them [Amanatides & Woo 1987, "A fast voxel traversal algorithm
for ray tracing"], so no cell is missed however large the reach is. In the open it leaves whole squares of free cells at once:
the largest towards each of four directions are found once for a map.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, floor, sin
from typing import Any

import numpy as np

from formiga.kernels import kernel
from formiga.map.grid import Grid

LARGEST = 255        # cells along the side of a square: a byte holds it


def cast(grid: Grid, poses: Any, angles: Any, reach: float, unknown: bool = False) -> Any:
    """Distances (..., B) in m from poses (..., 3) of x, y and heading, along beams at angles (B,) from the heading.

    0 from inside an occupied cell, infinity where nothing is within reach. Beyond the grid all is free. unknown: cells of which
    nothing is known end a beam, too.
    """
    given = np.asarray(poses, np.float64)
    if given.shape[-1:] != (3,):
        raise ValueError(f"poses must be an array (..., 3) of x, y and heading, not of the shape {given.shape}")
    local = np.ascontiguousarray(grid.local_of(given[..., :2]).reshape(-1, 2))
    heading = np.ascontiguousarray((given[..., 2] - grid.yaw).reshape(-1))
    bearings = np.ascontiguousarray(angles, np.float64).reshape(-1)
    out = np.empty((len(local), len(bearings)))
    cast_cells(clearance(grid, unknown), local, heading, bearings, reach / grid.resolution, grid.resolution, out)
    return out.reshape(*given.shape[:-1], len(bearings))


def clearance(grid: Grid, unknown: bool = False) -> Any:
    """(4, rows, columns): the side, up to LARGEST, of the largest square of free cells that has each cell at a corner and lies
    towards +x +y, -x +y, +x -y or -x -y of it; 0 for occupied cells.

    It is kept with a grid whose cells cannot be written (`grid.cells.setflags(write=False)`, as those from files are); for
    others it is found anew each time.
    """
    return _clearance(grid, unknown) if grid.cells.flags.writeable else _kept(grid, unknown)


def _clearance(grid: Grid, unknown: bool) -> Any:
    taken = grid.occupied | grid.unknown if unknown else grid.occupied
    out = np.empty((4, *grid.shape), np.uint8)
    for quadrant in range(4):
        rows, columns = slice(None, None, -1 if quadrant >= 2 else 1), slice(None, None, -1 if quadrant % 2 else 1)
        squares(np.ascontiguousarray(taken[rows, columns]), out[quadrant][rows, columns])
    return out


_kept = lru_cache(maxsize=32)(_clearance)


@kernel()
def squares(taken, out):
    """The largest free square towards +x +y of each cell: one more than the least of its three neighbours there.

    Beyond the grid all is free, but no square is larger than LARGEST.
    """
    rows, columns = taken.shape
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            least = LARGEST - 1
            if row + 1 < rows:
                least = min(least, int(out[row + 1, column]))
            if column + 1 < columns:
                least = min(least, int(out[row, column + 1]))
            if row + 1 < rows and column + 1 < columns:
                least = min(least, int(out[row + 1, column + 1]))
            out[row, column] = 0 if taken[row, column] else least + 1


@kernel()
def cast_cells(clear, place, heading, angles, reach, resolution, out):
    """Distances out (P, B), times resolution, from places (P, 2) with headings (P,), over cells with a `clearance` (4, rows,
    columns); in units of cells."""
    for p in range(place.shape[0]):
        for b in range(angles.shape[0]):
            away = along_cells(clear, place[p, 0], place[p, 1], cos(heading[p] + angles[b]), sin(heading[p] + angles[b]), reach)
            out[p, b] = away * resolution


@kernel()
def along_cells(clear, x, y, ux, uy, reach):
    """Distance from (x, y) along the unit vector u to the first cell without clearance; infinity if it is beyond reach, or if
    these are not numbers.

    From a cell with clearance k towards u, all cells of the square with k cells along each side are free. The beam enters the
    next cell where it leaves that square, through the side that it meets first.
    """
    _, rows, columns = clear.shape
    if not (abs(x) < np.inf and abs(y) < np.inf and abs(ux) <= 1.0 and abs(uy) <= 1.0):
        return np.inf
    first, last = 0.0, reach                                       # the part of the beam that is on the grid
    if ux != 0.0:
        first, last = max(first, min(-x / ux, (columns - x) / ux)), min(last, max(-x / ux, (columns - x) / ux))
    elif not 0.0 <= x < columns:
        return np.inf
    if uy != 0.0:
        first, last = max(first, min(-y / uy, (rows - y) / uy)), min(last, max(-y / uy, (rows - y) / uy))
    elif not 0.0 <= y < rows:
        return np.inf
    if not first <= last:
        return np.inf
    column = min(columns - 1, max(0, int(floor(x + first * ux))))
    row = min(rows - 1, max(0, int(floor(y + first * uy))))
    per_x, per_y = (1.0 / ux if ux != 0.0 else np.inf), (1.0 / uy if uy != 0.0 else np.inf)
    right, up = ux > 0.0, uy > 0.0
    quadrant = (0 if right else 1) + (0 if up else 2)
    entered = first
    k = int(clear[quadrant, row, column])
    while k > 0:
        side_x, side_y = (column + k if right else column - k + 1), (row + k if up else row - k + 1)
        leaves_x = (side_x - x) * per_x if ux != 0.0 else np.inf
        leaves_y = (side_y - y) * per_y if uy != 0.0 else np.inf
        if leaves_x < leaves_y:
            entered, beside = leaves_x, int(floor(y + leaves_x * uy))
            column = side_x if right else side_x - 1
            row = min(side_y - 1, max(row, beside)) if up else min(row, max(side_y, beside))
        else:
            entered, beside = leaves_y, int(floor(x + leaves_y * ux))
            row = side_y if up else side_y - 1
            column = min(side_x - 1, max(column, beside)) if right else min(column, max(side_x, beside))
        if entered > reach or column < 0 or column >= columns or row < 0 or row >= rows:
            return np.inf
        k = int(clear[quadrant, row, column])
    return max(0.0, entered)


__all__ = ["cast", "cast_cells", "clearance"]
