"""Localization as arrays: where a robot is, from what it measures. No world, no state, no XML; a chapter in small parts.

A particle filter is put together from
    motion.py       where particles may be after the odometry has moved: on two wheels, or in any direction
    field.py        how probable a scan is from each of them: the likelihood field, a look-up for each beam
    beams.py        the same by the beam model, which casts each beam through the map
    resampling.py   low variance, the effective number of particles, and how many are enough (KLD)
    recovery.py     random particles as soon as scans become less probable than they were
    clusters.py     from a cloud of particles to a few hypotheses
Other beliefs
    kalman.py       the extended Kalman filter: predict, correct, and whether its covariances are true (NEES)
    ranges.py       ranges to beacons: radial Gaussians, and a search for their most probable place without a prior

All arrays have any leading axes, such as (worlds, robots). Random numbers begin at `starts` (...), which the caller gives:
`draws(seed, shape)` in a script, `view.noise.starts(use)` in an estimator; so a result does not depend on how many filters run
together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.noise import starts_of, world_key


def draws(seed: int, shape: tuple[int, ...] = (), step: int = 0, use: int = 0) -> Any:
    """Where the random numbers of filters (...) begin, for a script: others for each filter, step and use."""
    out = np.empty((1, int(np.prod(shape, dtype=np.int64))), np.uint64)
    starts_of(np.array([world_key(seed, 0)]), np.array([step], np.int64), 0, use, out)
    return out.reshape(shape)


__all__ = ["draws"]
