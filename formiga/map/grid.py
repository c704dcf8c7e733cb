"""The occupancy grid: what is known of each cell of the floor, and where the cells are."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

OCCUPIED, FREE, UNKNOWN = 100, 0, -1     # as in ROS's nav_msgs/OccupancyGrid


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells (rows, columns) of OCCUPIED, FREE or UNKNOWN; the first row has the smallest y, in the grid's own frame.

    (x, y) is the outer corner of the first cell and `yaw` the direction of its rows, in the world. A point p of the world has
    the row and column of floor(R(-yaw) (p - (x, y)) / resolution), columns along the grid's x.
    """

    cells: Any               # (rows, columns) int8
    resolution: float        # m, the side of a cell
    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.cells.shape
        return rows, columns

    @property
    def occupied(self) -> Any:
        """(rows, columns) whether each cell is."""
        return self.cells == OCCUPIED

    @property
    def free(self) -> Any:
        """(rows, columns) whether each cell is."""
        return self.cells == FREE

    @property
    def unknown(self) -> Any:
        """(rows, columns) whether each cell is."""
        return self.cells == UNKNOWN

    @property
    def corners(self) -> Any:
        """The corners of the whole grid (4, 2) in the world, counter-clockwise from (x, y)."""
        rows, columns = self.shape
        return self.world_of(np.array([(0.0, 0.0), (columns, 0.0), (columns, rows), (0.0, rows)]))

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the whole grid in the world."""
        x, y = self.corners.mean(axis=0)
        return float(x), float(y)

    def world_of(self, points: Any) -> Any:
        """Points (..., 2) of the world, of points in units of cells: (0, 0) is the corner (x, y)."""
        x, y = np.moveaxis(np.asarray(points, np.float64) * self.resolution, -1, 0)
        c, s = cos(self.yaw), sin(self.yaw)
        return np.stack([self.x + c * x - s * y, self.y + s * x + c * y], axis=-1)

    def local_of(self, points: Any) -> Any:
        """The inverse: points (..., 2) of the world in units of cells."""
        x, y = np.moveaxis(np.asarray(points, np.float64) - (self.x, self.y), -1, 0)
        c, s = cos(self.yaw), sin(self.yaw)
        return np.stack([c * x + s * y, c * y - s * x], axis=-1) / self.resolution

    def cell_of(self, points: Any) -> Any:
        """Row and column (..., 2) of the cells that hold points (..., 2) of the world; they may lie beyond the grid."""
        return np.floor(self.local_of(points))[..., ::-1].astype(np.int64)

    def centre_of(self, cells: Any) -> Any:
        """The middles (..., 2), in the world, of cells (..., 2) given as row and column."""
        return self.world_of(np.asarray(cells, np.float64)[..., ::-1] + 0.5)

    def at(self, points: Any) -> Any:
        """What is known of points (..., 2) of the world: nothing (UNKNOWN) beyond the grid."""
        cell, (rows, columns) = self.cell_of(points), self.shape
        row, column = cell[..., 0], cell[..., 1]
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        return np.where(inside, self.cells[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)], np.int8(UNKNOWN))


def trinary(grey: Any, occupied: float, free: float, negate: bool = False, raw: bool = False) -> Any:
    """Cells (rows, columns) from an image (rows, columns) of brightness 0 to 1, whose first row is the top.

        p = 1 - brightness; occupied if p > occupied_thresh, free if p < free_thresh, else unknown   [ROS map_server]
    negate: bright is occupied. raw: the pixel itself is 100 p, and above 100 it is unknown.
    """
    value = np.flipud(grey)
    if raw:
        percent = np.round(255.0 * (1.0 - value if negate else value))
        probability = np.where(percent <= 100.0, percent / 100.0, 0.5 * (occupied + free))
    else:
        probability = value if negate else 1.0 - value
    cells = np.full(value.shape, UNKNOWN, np.int8)
    cells[probability > occupied] = OCCUPIED
    cells[probability < free] = FREE
    return cells


__all__ = ["FREE", "Grid", "OCCUPIED", "UNKNOWN", "trinary"]
