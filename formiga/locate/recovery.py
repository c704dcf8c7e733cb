"""Recovery from being lost: random particles, as many as the scan is less probable than it used to be; or where others say.

    share = recovery.watch(slow, fast, mean_weight)          # of the particles that are to be drawn anew
    recovery.scatter(others, 1.0, starts, grid)              # anywhere; kld_resample(..., share, others) lets them in
    recovery.gather(particles, count, places, known, 0.5, starts)     # the rest of them around reported places
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.kernels import kernel
from formiga.locate.checked import cloud_to_change, counted, started
from formiga.map.grid import Grid
from formiga.noise import gaussian, unit

Floats = NDArray[np.float64]
SLOW, FAST = 0.01, 0.1     # of the two averages, for each scan


def likeness(log_weights: Any, weights: Any, beams: Any) -> Floats:
    """How probable a scan is (...), on average over the particles and for each of its beams.

        w_avg = (sum_p w_p exp(log_p))^(1 / B)
    log_weights (..., P), the weights (..., P) that the particles had before, which add up to 1, and the number of beams (...)
    that count: the root makes scans of many and of few beams comparable, and keeps a single scan from deciding all. NaN of a
    scan without any: it tells nothing.
    """
    log, share = np.asarray(log_weights, np.float64), np.asarray(weights, np.float64)
    top = log.max(axis=-1)
    safe = np.where(np.isfinite(top), top, 0.0)
    mean = (share * np.exp(log - safe[..., None])).sum(axis=-1)
    with np.errstate(divide="ignore"):
        known = np.asarray(beams) > 0
        return np.where(known, np.exp((safe + np.log(mean)) / np.maximum(beams, 1)), np.nan)


def watch(slow: Any, fast: Any, now: Any, rates: tuple[float, float] = (SLOW, FAST), patience: float = 1.0) -> Floats:
    """The share (...) of random particles that the next resampling needs.

        w_slow += a_slow (w_avg - w_slow),   w_fast += a_fast (w_avg - w_fast),   share = max(0, 1 - nu w_fast / w_slow)
                                                   [Thrun, Burgard & Fox 2005, table 8.3; nu: Gutmann & Fox 2002]
    patience: nu, above 1 if a scan must be that many times less probable than usual before any particle is drawn anew.
    slow, fast (...): the averages, changed in place; 0 at the start, when the first value counts at once. NaN is no value.
    """
    now = np.asarray(now, np.float64)
    told, new = ~np.isnan(now), slow == 0.0
    slow += np.where(told, np.where(new, now, rates[0] * (now - slow)), 0.0)
    fast += np.where(told, np.where(new, now, rates[1] * (now - fast)), 0.0)
    return np.where(slow > 0.0, np.maximum(0.0, 1.0 - patience * fast / np.where(slow > 0.0, slow, 1.0)), 0.0)


def scatter(particles: Any, share: Any, starts: Any, grid: Grid, count: Any = None, free: Any = None) -> None:
    """Draw each of the particles (..., P, 3) with a probability `share` (...) anew: anywhere on the free cells of a map.

    Any heading is as probable. count (...): only so many of the particles; starts (...): of random numbers; free (K, 2): rows
    and columns of the free cells, if they were found before.
    """
    free = np.argwhere(grid.free) if free is None else free
    if not len(free):
        raise ValueError("the map has no free cell")
    flat, lead = cloud_to_change(particles)
    many = counted(count, lead, flat.shape[1])
    scatter_all(flat, many, np.array(np.broadcast_to(share, lead), np.float64).reshape(-1), started(starts, lead), free,
                float(grid.x), float(grid.y), float(grid.yaw), float(grid.resolution))


def gather(particles: Any, count: Any, places: Any, known: Any, sigma: float, starts: Any) -> Any:
    """Draw the particles beyond the first `count` (...) of particles (..., P, 3) around places (..., R, 2), shared equally.

    Each coordinate is normal with the standard deviation sigma; any heading is as probable. known (..., R): which places count;
    where none does, nothing is drawn. Returns which place (..., P) each was drawn around, -1 for the others.
    """
    flat, lead = cloud_to_change(particles)
    many = counted(count, lead, flat.shape[1])
    where, valid = np.asarray(places, np.float64), np.asarray(known, np.bool_)
    if not valid.ndim or where.shape != (*valid.shape, 2) or valid.shape[:-1] != lead:
        raise ValueError(f"places must be (..., R, 2) and known (..., R), with the leading axes {lead}, not {where.shape} and "
                         f"{valid.shape}")
    if not (0.0 <= sigma < np.inf and np.isfinite(where[valid]).all()):
        raise ValueError("places that count must be finite numbers, and sigma finite and at least 0")
    R, drawn = valid.shape[-1], np.full(flat.shape[:2], -1)
    around, counts = where.reshape(len(flat), R, 2), valid.reshape(len(flat), R)
    gather_all(flat, many, np.ascontiguousarray(around), np.ascontiguousarray(counts), float(sigma), started(starts, lead),
               drawn)
    return drawn.reshape(*lead, flat.shape[1])


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel()
def gather_all(particles, count, places, known, sigma, starts, drawn):
    """`gather` for filters (F, P, 3) and places (F, R, 2), of which known (F, R) count."""
    for f in range(particles.shape[0]):
        which, some = 0, False
        for r in range(known.shape[1]):
            some |= known[f, r]
        if not some:
            continue
        for p in range(count[f], particles.shape[1]):
            while not known[f, which]:
                which = (which + 1) % known.shape[1]
            particles[f, p, 0] = places[f, which, 0] + gaussian(starts[f], 3 * p, sigma)
            particles[f, p, 1] = places[f, which, 1] + gaussian(starts[f], 3 * p + 1, sigma)
            particles[f, p, 2] = np.pi * (2.0 * unit(starts[f], 6 * p + 4) - 1.0)
            drawn[f, p] = which
            which = (which + 1) % known.shape[1]


@kernel()
def scatter_all(particles, count, share, starts, free, x, y, yaw, resolution):
    """`scatter` for filters (F, P, 3), over free cells (K, 2) of row and column."""
    c, s = np.cos(yaw), np.sin(yaw)
    for f in range(particles.shape[0]):
        if share[f] <= 0.0:
            continue
        for p in range(count[f]):
            if unit(starts[f], 5 * p) < share[f]:
                k = min(free.shape[0] - 1, int(unit(starts[f], 5 * p + 1) * free.shape[0]))
                a = (free[k, 1] + unit(starts[f], 5 * p + 2)) * resolution
                b = (free[k, 0] + unit(starts[f], 5 * p + 3)) * resolution
                particles[f, p, 0], particles[f, p, 1] = x + c * a - s * b, y + s * a + c * b
                particles[f, p, 2] = np.pi * (2.0 * unit(starts[f], 5 * p + 4) - 1.0)


__all__ = ["gather", "likeness", "scatter", "watch"]
