"""What the kernels of filters take for granted: arrays of the right shape, and counts within them. ValueError if they are not.

A kernel reads and writes where it is told to; a count beyond the particles, or one start of random numbers for four filters,
would bring it beside the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cloud(particles: Any) -> tuple[Floats, tuple[int, ...]]:
    """Particles (..., P, 3) as filters (F, P, 3), to be read; and the leading axes."""
    given = np.asarray(particles, np.float64)
    lead = _lead(given)
    return np.ascontiguousarray(given).reshape(_size(lead), *given.shape[-2:]), lead


def cloud_to_change(particles: Any) -> tuple[Floats, tuple[int, ...]]:
    """The same as a view, to be changed in place."""
    if not (isinstance(particles, np.ndarray) and particles.dtype == np.float64 and particles.flags.writeable):
        kind = f"{particles.dtype} {particles.shape}" if isinstance(particles, np.ndarray) else type(particles).__name__
        raise ValueError(f"particles are changed in place: they must be an array of float64 that can be written, not {kind}")
    lead = _lead(particles)
    flat = particles.reshape(_size(lead), *particles.shape[-2:])
    if flat.size and not np.may_share_memory(flat, particles):
        raise ValueError("particles must be an array without gaps, since they are changed in place")
    return flat, lead


def counted(count: Any, lead: tuple[int, ...], P: int, least: int = 0) -> NDArray[np.int64]:
    """How many particles of each filter count (F,): one number for all, or an array of the leading axes; None: all P."""
    if count is None:
        return np.full(_size(lead), P, np.int64)
    given = np.asarray(count)
    if given.dtype.kind not in "iu" or given.shape not in ((), lead):
        raise ValueError(f"count must be a whole number, or an array of them of the shape {lead}, not {given.dtype} of the "
                         f"shape {given.shape}")
    if given.size and not least <= given.min() <= given.max() <= P:
        raise ValueError(f"count must be from {least} to {P}, the particles that there are, not {given.min()} to {given.max()}")
    return np.array(np.broadcast_to(given, lead), np.int64).reshape(-1)


def started(starts: Any, lead: tuple[int, ...]) -> NDArray[np.uint64]:
    """Where the random numbers of each filter begin (F,); one start for several filters would move all alike."""
    given = np.asarray(starts)
    if given.dtype.kind not in "iu" or given.shape != lead:
        raise ValueError(f"starts must be whole numbers of the shape {lead}, one for each filter, as draws(seed, {lead}) gives "
                         f"them, not {given.dtype} of the shape {given.shape}")
    return np.ascontiguousarray(given, np.uint64).reshape(-1)


def weighed(weights: Any, lead: tuple[int, ...], P: int) -> Floats:
    """Weights (..., P) of each filter's particles as (F, P)."""
    given = np.asarray(weights, np.float64)
    if given.shape != (*lead, P):
        raise ValueError(f"weights must have the shape {(*lead, P)}, one for each particle, not {given.shape}")
    return np.ascontiguousarray(given).reshape(_size(lead), P)


def _lead(particles: Any) -> tuple[int, ...]:
    if particles.ndim < 2 or particles.shape[-1] != 3:
        raise ValueError(f"particles must be an array (..., P, 3) of x, y and heading, not of the shape {particles.shape}")
    return tuple(particles.shape[:-2])


def _size(lead: tuple[int, ...]) -> int:
    return int(np.prod(lead, dtype=np.int64))


__all__ = ["cloud", "cloud_to_change", "counted", "started", "weighed"]
