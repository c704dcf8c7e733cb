"""Occupied cells as walls: straight runs of their edges, and rectangles; and walls as occupied cells.

An edge between an occupied cell and another is a part of a wall, so a wall that was drawn into an image is met at most half a
cell from where it was drawn. Outlines are closed, also at the border of the grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.geometry import nearest_on_segment
from formiga.kernels import kernel
from formiga.map.grid import FREE, OCCUPIED, Grid


def segments(mask: Any) -> Any:
    """The outlines of the cells that are true in mask (rows, columns), as few straight segments (S, 4): x0 y0 x1 y1 in units of
    cells. All edges between a true cell and another, each in the longest run that it is a part of."""
    padded = np.pad(np.asarray(mask, np.bool_), 1)
    level = padded[1:, 1:-1] != padded[:-1, 1:-1]          # (rows + 1, columns) edges along x
    upright = (padded[1:-1, 1:] != padded[1:-1, :-1]).T    # (columns + 1, rows) edges along y
    y, x0, x1 = runs(level)
    x, y0, y1 = runs(upright)
    return np.concatenate([np.column_stack([x0, y, x1, y]), np.column_stack([x, y0, x, y1])]).astype(np.float64)


def runs(mask: Any) -> tuple[Any, Any, Any]:
    """The runs of true cells in each row of a mask: row, first column, and the column after the last one."""
    padded = np.pad(np.asarray(mask, np.int8), ((0, 0), (1, 1)))
    change = np.diff(padded, axis=1)
    row, first = np.nonzero(change == 1)
    return row, first, np.nonzero(change == -1)[1]


def rectangles(mask: Any) -> Any:
    """The cells that are true in mask as rectangles (R, 4), x0 y0 x1 y1 in units of cells, which cover each of them once.

    Equal runs of neighbouring rows are one rectangle; of rows and columns, those that give fewer.
    """
    level, upright = _stacked(mask), _stacked(np.asarray(mask).T)[:, [1, 0, 3, 2]]
    return level if len(level) <= len(upright) else upright


def _stacked(mask: Any) -> Any:
    row, first, last = runs(mask)
    order = np.lexsort((row, last, first))                 # equal runs, row by row
    row, first, last = row[order], first[order], last[order]
    new = np.ones(len(row), np.bool_)
    new[1:] = (first[1:] != first[:-1]) | (last[1:] != last[:-1]) | (row[1:] != row[:-1] + 1)
    begin = np.flatnonzero(new)
    end = np.append(begin, len(row))[1:] - 1
    return np.column_stack([first[begin], row[begin], last[begin], row[end] + 1]).astype(np.float64)


def fill(outlines: Any, shape: tuple[int, int]) -> Any:
    """The inverse of `segments`: the cells (rows, columns) whose middles an odd number of walls (S, 4) separates from the left
    side. Walls in units of cells, from closed outlines."""
    rows, columns = shape
    x0, y0, x1, y1 = np.asarray(outlines, np.float64).reshape(-1, 4).T
    crossed = np.zeros((rows, columns + 1), np.int64)
    for ax, ay, bx, by in zip(x0, y0, x1, y1, strict=True):
        low, high = min(ay, by), max(ay, by)
        r = np.arange(max(0, int(np.ceil(low - 0.5))), min(rows, int(np.ceil(high - 0.5))))   # rows with low <= middle < high
        if len(r):
            x = ax + (r + 0.5 - ay) / (by - ay) * (bx - ax)
            crossed[r, np.clip(np.ceil(x - 0.5), 0, columns).astype(np.int64)] += 1
    return np.cumsum(crossed, axis=1)[:, :columns] % 2 == 1


def from_walls(shapes: Any, solids: Any, region: tuple[float, float, float, float], resolution: float) -> Grid:
    """The grid of a region x0 y0 x1 y1 with walls and obstacles: shapes (K, 5) of x0 y0 x1 y1 radius, and the outlines of
    solid ones (E, 5) of x0 y0 x1 y1 and a number, as `engine.fixed.Fixed` has them.

    A cell is occupied if a wall passes through it, or if its middle is in something.
    """
    x0, y0, x1, y1 = region
    rows, columns = (max(1, int(np.ceil((high - low) / resolution - 1e-9))) for low, high in ((y0, y1), (x0, x1)))
    mask = np.zeros((rows, columns), np.bool_)
    scaled = (np.asarray(shapes, np.float64).reshape(-1, 5) - (x0, y0, x0, y0, 0.0)) / resolution
    _draw(scaled, mask)
    edges = np.asarray(solids, np.float64).reshape(-1, 5)
    for number in np.unique(edges[:, 4]):
        mask |= fill((edges[edges[:, 4] == number, :4] - (x0, y0, x0, y0)) / resolution, (rows, columns))
    return Grid(np.where(mask, OCCUPIED, FREE).astype(np.int8), resolution, x0, y0)


@kernel()
def _draw(shapes, mask):
    """Mark the cells that capsules (K, 5) pass through or along, or whose middles they hold; in units of cells."""
    rows, columns = mask.shape
    for k in range(shapes.shape[0]):
        ax, ay, bx, by, radius = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4]
        bottom, top = int(np.ceil(min(ay, by) - radius)) - 1, int(np.floor(max(ay, by) + radius))
        left, right = int(np.ceil(min(ax, bx) - radius)) - 1, int(np.floor(max(ax, bx) + radius))
        for row in range(max(0, bottom), min(rows, top + 1)):
            low, high = 0.0, 1.0                           # the part of the segment in this row
            if ay != by:
                one, other = (row - ay) / (by - ay), (row + 1 - ay) / (by - ay)
                low, high = max(0.0, min(one, other)), min(1.0, max(one, other))
            elif not row <= ay <= row + 1:
                low, high = 1.0, 0.0
            first, last = ax + low * (bx - ax), ax + high * (bx - ax)
            for column in range(max(0, left), min(columns, right + 1)):
                through = low <= high and min(first, last) <= column + 1 and max(first, last) >= column
                if not through:
                    qx, qy = nearest_on_segment(column + 0.5, row + 0.5, ax, ay, bx, by)
                    through = (qx - column - 0.5) ** 2 + (qy - row - 0.5) ** 2 < radius * radius
                if through:
                    mask[row, column] = True


__all__ = ["fill", "from_walls", "rectangles", "runs", "segments"]
