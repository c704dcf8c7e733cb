"""A course that a robot goes round by the clock: it is led, not steered by what it believes."""

from __future__ import annotations

import numpy as np

from formiga.kernels import kernel
from formiga.state import Floats

MOST = 10_000_000      # steps of one round, each a row of a table


def course(points: tuple[float, ...], top_speed: float, dt: float) -> Floats:
    """Places (M, 2) at the steps of one round through corners x0 y0 x1 y1 ..., closed by itself.

        v(t) = 4 v_max (t/T)(1 - t/T),   T = 1.5 L / v_max,   s(t) = L (3 (t/T)^2 - 2 (t/T)^3)   on each straight of length L
    ValueError if there is no way to go, or a round takes more than MOST steps.
    """
    corners = np.reshape(points, (-1, 2))
    after = np.roll(corners, -1, axis=0)
    lasts = 1.5 * np.linalg.norm(after - corners, axis=1) / top_speed
    if not lasts.sum() > 0.0:
        raise ValueError("all of them are the same place")
    if lasts.sum() > MOST * dt:
        raise ValueError(f"a round takes {lasts.sum():g} s at {top_speed:g} m/s; at most {MOST:,} steps of {dt:g} s")
    steps = max(1, round(lasts.sum() / dt))
    ends = np.cumsum(lasts) * (steps * dt / lasts.sum())
    time = dt * np.arange(steps)
    straight = np.searchsorted(ends, time + 1e-9, side="right")
    lasts, begins = np.diff(ends, prepend=0.0)[straight], np.concatenate([[0.0], ends])[straight]
    share = np.clip((time - begins) / lasts, 0.0, 1.0)[:, None]
    return np.asarray(corners[straight] + (3.0 * share**2 - 2.0 * share**3) * (after - corners)[straight])


@kernel()
def rounds_world(w, step, table, drive):
    """Orders drive (W, n, D) of world w from a table (M, D) of one round."""
    row = step[w] % table.shape[0]
    for i in range(drive.shape[1]):
        for c in range(drive.shape[2]):
            drive[w, i, c] = table[row, c]


__all__ = ["course", "rounds_world"]
