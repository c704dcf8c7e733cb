"""The plain twins of `formiga.map`: every cell, every beam, one after another."""

import numpy as np


def cast(grid, pose, angles, reach):
    """Distances (B,) from one pose: the nearest of the boxes of all occupied cells, each by its slabs."""
    (x, y), heading = grid.local_of(np.array(pose[:2])), pose[2] - grid.yaw
    out = np.full(len(angles), np.inf)
    for b, angle in enumerate(angles):
        u = np.array([np.cos(heading + angle), np.sin(heading + angle)])
        for row, column in np.argwhere(grid.occupied):
            with np.errstate(divide="ignore", invalid="ignore"):
                one, other = (np.array([column, row]) - (x, y)) / u, (np.array([column + 1, row + 1]) - (x, y)) / u
            enters, leaves = np.minimum(one, other).max(), np.maximum(one, other).min()
            if enters < leaves and leaves > 0.0:
                out[b] = min(out[b], max(0.0, enters) * grid.resolution)
    return np.where(out <= reach, out, np.inf)


def distances(grid, unknown=False, surface=False):
    """From the middle of each cell to that of the nearest occupied one, by trying all; or to the nearest on a surface."""
    walls, (rows, columns) = grid.occupied | (unknown & grid.unknown), grid.shape
    taken = np.argwhere(walls)
    if surface:
        beside = [[(r + dr, c + dc) for dr, dc in ((-1, 0), (1, 0), (0, -1), (0, 1))] for r, c in taken]
        taken = taken[[any(0 <= r < rows and 0 <= c < columns and not walls[r, c] for r, c in each) for each in beside]]
    if not len(taken):
        return np.full(grid.shape, np.inf)
    return np.array([[np.hypot(*(taken - (r, c)).T).min(initial=np.inf) * grid.resolution for c in range(columns)]
                     for r in range(rows)])


def boundary(mask):
    """The set of unit edges between a true cell and another, as (x, y, whether it is upright)."""
    padded, found = np.pad(mask, 1), set()
    for row in range(padded.shape[0] - 1):
        for column in range(padded.shape[1] - 1):
            if padded[row + 1, column] != padded[row, column]:
                found.add((column - 1, row, False))
            if padded[row, column + 1] != padded[row, column]:
                found.add((column, row - 1, True))
    return found
