"""What the motors of a drive make of the numbers that they are given: cut at their limits, with noise."""

from __future__ import annotations

import numpy as np

from formiga.kernels import kernel
from formiga.noise import channel, either, stream

MOTORS = channel("motors")


@kernel()
def order_world(w, ordered, first, limits, noise, key, step, drive):
    """The motors of one group, as a stage that decides: 0, or 2 + the first robot whose order is not a finite number."""
    bad = motors_world(w, ordered, first, limits, noise, key, step, drive)
    return 0 if bad < 0 else 2 + bad


@kernel()
def stand_world(w, first, last, drive):
    """Robots first .. last - 1 have no orders: they stand still."""
    for i in range(first, last):
        for k in range(drive.shape[2]):
            drive[w, i, k] = 0.0


@kernel()
def running_world(w, done, drive):
    """A stage that decides: 1 where the world has ended, whose robots then stand still."""
    if done[w]:
        for i in range(drive.shape[1]):
            for k in range(drive.shape[2]):
                drive[w, i, k] = 0.0
        return 1
    return 0


@kernel()
def drive_motors(ordered, first, limits, noise, key, step, drive):
    """Fill drive (W, N, D) for one group from its orders (W, n, len(limits)). Returns the first robot whose order is not
    finite, or -1."""
    for w in range(ordered.shape[0]):
        bad = motors_world(w, ordered, first, limits, noise, key, step, drive)
        if bad >= 0:
            return bad
    return -1


@kernel(inline="always")
def motors_world(w, ordered, first, limits, noise, key, step, drive):
    """The same for one world."""
    bad = -1
    for i in range(ordered.shape[1]):
        for k in range(len(limits)):  # a tuple, so its length is known when this is compiled
            value = ordered[w, i, k]
            if not np.isfinite(value) and bad < 0:
                bad = i
            value = min(limits[k], max(-limits[k], value))
            if noise > 0.0:
                value *= 1.0 + either(stream(key[w], first + i, step[w], MOTORS), k, noise)
            drive[w, first + i, k] = value
    return bad
