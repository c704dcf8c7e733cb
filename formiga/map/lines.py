"""A map of straight walls along x and y, each seen from one side alone: what a robot needs that knows its blocks and its room.

    lines = lines_of(boxes, room=(-1.0, -0.75, 1.0, 0.75))
    distance, wall = expected(lines, poses, sensors, reach)

A horizontal wall is (y, xmin, xmax) and whether it is seen from bottom to top, a vertical one (x, ymin, ymax) and whether it is
seen from left to right [Goncalves et al. 2009, section on map and ray prediction]. So the far side of a block is never
taken for its near side, and only half of the walls are tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.geometry import TINY
from formiga.kernels import kernel
from formiga.map.grid import Grid
from formiga.map.walls import runs


@dataclass(frozen=True, eq=False)
class Lines:
    """Walls along the axes: rows `upright`, `at`, `low`, `high`, `ahead`. The order of rows is the number of a wall."""

    upright: Any     # (S,) whether it is vertical: x = at, y from low to high; else y = at, x from low to high
    at: Any          # (S,) m
    low: Any         # (S,) m
    high: Any        # (S,) m
    ahead: Any       # (S,) whether it is seen along the positive axis: from left to right, or from bottom to top

    def __len__(self) -> int:
        return len(self.at)

    @property
    def normals(self) -> Any:
        """Unit vectors (S, 2) towards the side from which each wall is seen."""
        sign = np.where(self.ahead, -1.0, 1.0)
        return np.where(self.upright[:, None], np.column_stack([sign, 0.0 * sign]), np.column_stack([0.0 * sign, sign]))

    @property
    def ends(self) -> Any:
        """Both ends (S, 4) of each wall: x0 y0 x1 y1."""
        upright = np.column_stack([self.at, self.low, self.at, self.high])
        return np.where(self.upright[:, None], upright, np.column_stack([self.low, self.at, self.high, self.at]))


def lines_of(boxes: Any = (), room: Any = None) -> Lines:
    """The four sides of each of the boxes (K, 4), x0 y0 x1 y1, seen from outside; and of a room (4,), seen from inside."""
    for what, given in (("boxes", boxes), ("a room", () if room is None else room)):
        if np.size(given) and np.shape(given)[-1] != 4:
            raise ValueError(f"{what} must be x0 y0 x1 y1, four numbers, not of the shape {np.shape(given)}")
    rows = [(x0, y0, x1, y1, True) for x0, y0, x1, y1 in np.asarray(boxes, np.float64).reshape(-1, 4)]
    if room is not None:
        rows.append((*np.asarray(room, np.float64).reshape(4), False))
    sides = []
    for x0, y0, x1, y1, outside in rows:
        if not (x0 < x1 and y0 < y1):
            raise ValueError(f"a box is x0 y0 x1 y1 with x0 < x1 and y0 < y1, not {x0:g} {y0:g} {x1:g} {y1:g}")
        sides += [(True, x0, y0, y1, outside), (True, x1, y0, y1, not outside),
                  (False, y0, x0, x1, outside), (False, y1, x0, x1, not outside)]
    return _lines(sides)


def lines_of_grid(grid: Grid) -> Lines:
    """The edges between occupied cells and others as walls, each in its longest run; the grid must not be turned."""
    if grid.yaw != 0.0:
        raise ValueError("a map of lines along the axes needs a grid whose rows lie along x")
    padded = np.pad(np.asarray(grid.occupied, np.int8), 1)
    sides = []
    for upright, change, x, y in ((False, np.diff(padded, axis=0)[:, 1:-1], grid.y, grid.x),
                                  (True, np.diff(padded, axis=1)[1:-1].T, grid.x, grid.y)):
        for ahead in (True, False):       # free to occupied along the axis: seen along it
            at, low, high = runs(change == (1 if ahead else -1))
            size = grid.resolution
            sides += [(upright, x + size * a, y + size * first, y + size * last, ahead)
                      for a, first, last in zip(at, low, high, strict=True)]
    return _lines(sides)


def expected(lines: Lines, poses: Any, sensors: Any, reach: float) -> tuple[Any, Any]:
    """What sensors (S, 3), x y angle in the robot's frame, see from poses (..., 3): distances (..., S), and numbers of walls.

        (xs, ys) = R(heading) (x, y) + robot,   phi = heading + angle                          [Goncalves et al. 2009, (6)-(8)]
        vertical:   d = (at - xs) / cos phi,  low <= ys + d sin phi <= high;   horizontal likewise
    In m. The nearest wall that is seen from this side; infinity and -1 if none is within reach.
    """
    poses, sensors = np.ascontiguousarray(poses, np.float64), np.ascontiguousarray(sensors, np.float64)
    for what, given in (("poses", poses), ("sensors", sensors)):
        if given.shape[-1] != 3:
            raise ValueError(f"{what} must be an array (..., 3) of x, y and an angle, not of the shape {given.shape}")
    sensors = sensors.reshape(-1, 3)
    flat = poses.reshape(-1, 3)
    distance, wall = np.empty((len(flat), len(sensors))), np.empty((len(flat), len(sensors)), np.int64)
    expect_all(lines.upright, lines.at, lines.low, lines.high, lines.ahead, flat, sensors, float(reach), distance, wall)
    shape = (*poses.shape[:-1], len(sensors))
    return distance.reshape(shape), wall.reshape(shape)


@kernel()
def expect_all(upright, at, low, high, ahead, poses, sensors, reach, distance, wall):
    """`expected` for poses (P, 3), into distance and wall (P, S)."""
    for p in range(poses.shape[0]):
        c, s = np.cos(poses[p, 2]), np.sin(poses[p, 2])
        for k in range(sensors.shape[0]):
            x = poses[p, 0] + c * sensors[k, 0] - s * sensors[k, 1]
            y = poses[p, 1] + s * sensors[k, 0] + c * sensors[k, 1]
            ux, uy = np.cos(poses[p, 2] + sensors[k, 2]), np.sin(poses[p, 2] + sensors[k, 2])
            nearest, found = reach, -1
            for each in range(at.shape[0]):
                across, along = (ux, uy) if upright[each] else (uy, ux)
                if (across > 0.0) != ahead[each] or abs(across) < TINY:
                    continue
                here, beside = (x, y) if upright[each] else (y, x)
                d = (at[each] - here) / across
                if 0.0 < d <= nearest and low[each] <= beside + d * along <= high[each]:
                    nearest, found = d, each
            distance[p, k], wall[p, k] = (nearest if found >= 0 else np.inf), found


def _lines(sides: list[Any]) -> Lines:
    upright, at, low, high, ahead = zip(*sides, strict=True) if sides else ((), (), (), (), ())
    return Lines(np.array(upright, np.bool_), np.array(at, np.float64), np.array(low, np.float64), np.array(high, np.float64),
                 np.array(ahead, np.bool_))


__all__ = ["Lines", "expected", "lines_of", "lines_of_grid"]
