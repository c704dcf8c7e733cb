"""How far each cell of a grid is from the nearest wall: the distance field of planners and of likelihood fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.map.grid import Grid


def distances(grid: Grid, unknown: bool = False) -> Any:
    """(rows, columns) in m, from the middle of each cell to that of the nearest occupied one; infinity if there is none.

    unknown: cells of which nothing is known count as occupied, too. Exact, not in steps along the axes.
    """
    from scipy.ndimage import distance_transform_edt  # a fifth of a second

    taken = grid.occupied | grid.unknown if unknown else grid.occupied
    if not taken.any():
        return np.full(grid.shape, np.inf)
    return np.asarray(distance_transform_edt(~taken, sampling=grid.resolution), np.float64)


__all__ = ["distances"]
