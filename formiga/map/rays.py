"""Beams over a grid, from any poses: how far it is from each to the first occupied cell.

    distance = cast(grid, poses, angles, reach)      # (..., 3) x y heading, (B,) rad -> (..., B) m

A beam walks from cell to cell in the order in which it enters them [Amanatides & Woo 1987, "A fast voxel traversal algorithm
for ray tracing"], so no cell is missed however large the reach is.
"""

from __future__ import annotations

from math import cos, floor, sin
from typing import Any

import numpy as np

from formiga.kernels import kernel
from formiga.map.grid import Grid


def cast(grid: Grid, poses: Any, angles: Any, reach: float, unknown: bool = False) -> Any:
    """Distances (..., B) in m from poses (..., 3) of x, y and heading, along beams at angles (B,) from the heading.

    0 from inside an occupied cell, infinity where nothing is within reach. Beyond the grid all is free. unknown: cells of which
    nothing is known end a beam, too.
    """
    given = np.asarray(poses, np.float64)
    if given.shape[-1:] != (3,):
        raise ValueError(f"poses must be an array (..., 3) of x, y and heading, not of the shape {given.shape}")
    taken = np.ascontiguousarray(grid.occupied | grid.unknown if unknown else grid.occupied)
    local = np.ascontiguousarray(grid.local_of(given[..., :2]).reshape(-1, 2))
    heading = np.ascontiguousarray((given[..., 2] - grid.yaw).reshape(-1))
    bearings = np.ascontiguousarray(angles, np.float64).reshape(-1)
    out = np.empty((len(local), len(bearings)))
    cast_cells(taken, local, heading, bearings, reach / grid.resolution, grid.resolution, out)
    return out.reshape(*given.shape[:-1], len(bearings))


@kernel()
def cast_cells(taken, place, heading, angles, reach, resolution, out):
    """Distances out (P, B), times resolution, from places (P, 2) with headings (P,), to taken (rows, columns) cells; in units
    of cells."""
    for p in range(place.shape[0]):
        for b in range(angles.shape[0]):
            away = along_cells(taken, place[p, 0], place[p, 1], cos(heading[p] + angles[b]), sin(heading[p] + angles[b]), reach)
            out[p, b] = away * resolution


@kernel()
def along_cells(taken, x, y, ux, uy, reach):
    """Distance from (x, y) along the unit vector u to the first taken cell; infinity if it is beyond reach, or if
    these are not numbers."""
    rows, columns = taken.shape
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
    right, up = (1 if ux > 0.0 else -1), (1 if uy > 0.0 else -1)
    next_x = (column + (ux > 0.0) - x) / ux if ux != 0.0 else np.inf
    next_y = (row + (uy > 0.0) - y) / uy if uy != 0.0 else np.inf
    step_x, step_y, entered = abs(1.0 / ux), abs(1.0 / uy), first
    while not taken[row, column]:
        if next_x < next_y:
            entered, column, next_x = next_x, column + right, next_x + step_x
        else:
            entered, row, next_y = next_y, row + up, next_y + step_y
        if entered > reach or column < 0 or column >= columns or row < 0 or row >= rows:
            return np.inf
    return max(0.0, entered)


__all__ = ["cast", "cast_cells"]
