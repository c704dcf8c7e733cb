"""How far each cell of a grid is from the nearest wall: the distance field of planners and of likelihood fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.map.grid import Grid


def distances(grid: Grid, unknown: bool = False, surface: bool = False) -> Any:
    """(rows, columns) in m, from the middle of each cell to that of the nearest occupied one; infinity if there is none.

    unknown: cells of which nothing is known count as occupied, too. surface: only occupied cells beside one that is not count,
    so it grows towards the inside of a block as it does outside; what is beyond the grid makes no surface. Exact, not in steps
    along the axes.
    """
    from scipy.ndimage import distance_transform_edt  # a fifth of a second

    taken = grid.occupied | grid.unknown if unknown else grid.occupied
    if surface:
        taken = _surface(taken)
    if not taken.any():
        return np.full(grid.shape, np.inf)
    return np.asarray(distance_transform_edt(~taken, sampling=grid.resolution), np.float64)


def _surface(taken: Any) -> Any:
    """The taken cells that share a side with one that is not."""
    open = ~np.pad(taken, 1, mode="edge")
    return taken & (open[:-2, 1:-1] | open[2:, 1:-1] | open[1:-1, :-2] | open[1:-1, 2:])


__all__ = ["distances"]
