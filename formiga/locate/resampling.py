"""Resampling: particles that weigh much become several, others none; and how many are enough.

    weights = normalized(log_weights)                       # (..., P); or reweigh(weights, log_weights), of weights before
    if effective(weights) < P / 2: chosen = low_variance(weights, unit numbers)
    count = kld_resample(particles, weights, count, starts, Bins(...), KLD(...), least, most)
"""

from __future__ import annotations

from math import ceil, exp, floor, inf, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formiga.geometry import wrapped
from formiga.kernels import kernel
from formiga.locate.checked import cloud, cloud_to_change, counted, started, weighed
from formiga.noise import unit
from formiga.units import DEG

Floats = NDArray[np.float64]
GOLDEN = 0.5 * (sqrt(5.0) - 1.0)       # strides of this share of a circle cover it evenly, however many there are
PRIME_X, PRIME_Y, PRIME_T = 73856093, 19349663, 83492791     # of a hash of cells [Teschner et al. 2003]


class Bins(NamedTuple):
    """The cells in which poses are counted."""

    length: float = 1.0          # m
    angle: float = 15.0 * DEG    # rad


class KLD(NamedTuple):
    """How well the particles are to stand for the true distribution."""

    epsilon: float = 0.05        # largest Kullback-Leibler distance ...
    quantile: float = 2.3263478740408408     # ... which holds with a probability of 99 %: z_{1 - delta}, delta = 0.01


def normalized(log: Any) -> Floats:
    """Weights (..., P) that add up to 1, from their logarithms; NaN weighs nothing, and all are alike where none is finite."""
    log = np.asarray(log, np.float64)
    log = np.where(np.isnan(log), -np.inf, log)
    top = log.max(axis=-1, keepdims=True)
    lost = ~np.isfinite(top)
    weights = np.where(lost, 1.0, np.exp(log - np.where(lost, 0.0, top)))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def effective(weights: Any) -> Floats:
    """The effective number of particles (...): 1 / sum w^2, of weights (..., P) that add up to 1. [Liu 1996]"""
    return np.asarray(1.0 / (np.asarray(weights, np.float64) ** 2).sum(axis=-1))


def reweigh(weights: Any, log: Any, count: Any = None) -> Floats:
    """Multiply weights (..., P), in place, by what a scan says of each particle, exp(log) (..., P), and divide by their sum.

    The same as normalized(log + log(weights)), but of the first `count` (...) particles alone; the others weigh 0. Returns the
    effective number of particles (...).
    """
    if not (isinstance(weights, np.ndarray) and weights.ndim and weights.dtype == np.float64 and weights.flags.c_contiguous
            and weights.flags.writeable):
        raise ValueError("weights are changed in place: they must be an array of float64 without gaps that can be written")
    lead, P = weights.shape[:-1], weights.shape[-1]
    given = weighed(log, lead, P)
    enough = np.empty(len(given))
    reweigh_all(weights.reshape(len(given), P), given, counted(count, lead, P), enough)
    return enough.reshape(lead)


def low_variance(weights: Any, first: Any, size: int | None = None) -> Any:
    """Which particles (..., size) survive: equal strides through the weights (..., P), from one random number (...) in [0, 1).

    A particle of weight w is chosen floor or ceil of `size` w times. [Thrun, Burgard & Fox 2005, table 4.4]
    """
    weights = np.asarray(weights, np.float64)
    lead, P = weights.shape[:-1], weights.shape[-1]
    size = P if size is None else size
    flat = weighed(weights, lead, P)
    if not weigh_something(flat, np.full(len(flat), P)):
        raise ValueError(NO_WEIGHTS)
    out = np.empty((len(flat), size), np.int64)
    starts = np.ascontiguousarray(np.broadcast_to(first, lead), np.float64).reshape(-1)
    low_variance_all(flat, starts, out)
    return out.reshape(*lead, size)


RULE = KLD()
NO_WEIGHTS = "weights must be numbers of at least 0 with a finite sum above 0; `normalized` makes such of logarithms"


def kld_bound(bins: Any, rule: KLD = RULE) -> Any:
    """How many particles are enough for a distribution that occupies so many bins.

        n = (k-1)/(2 epsilon) (1 - 2/(9(k-1)) + sqrt(2/(9(k-1))) z_{1-delta})^3                  [Fox 2003, eq. 13]
    """
    k = np.asarray(bins, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = 2.0 / (9.0 * (k - 1.0))
        n = (k - 1.0) / (2.0 * rule.epsilon) * (1.0 - a + np.sqrt(a) * rule.quantile) ** 3
    return np.where(k > 1.0, np.ceil(np.nan_to_num(n)), 1.0).astype(np.int64)


def kld_resample(particles: Any, weights: Any, count: Any, starts: Any, bins: Bins, rule: KLD, least: int, most: int,
                 share: Any = 0.0, others: Any = None) -> Any:
    """Resample particles (..., P, 3) in place, as many as are enough; returns how many (...), from least to most.

    Particles are drawn until there are as many as `kld_bound` asks for the bins that they occupy [Fox 2003, table 1]. The draws
    are strides of the golden section through the weights (..., P): however many are drawn, they are spread nearly as evenly as
    equal strides. count (...): how many there were; starts (...): of random numbers.

    others (..., P, 3): with a probability `share` (...) particle n is instead number n of these, such as random poses. They
    occupy bins like all others, so a filter that is lost becomes as large as its search needs.
    """
    flat, lead = cloud_to_change(particles)
    P = flat.shape[1]
    refuse_none(bins)
    if not (rule.epsilon > 0.0 and rule.quantile >= 0.0):
        raise ValueError(f"epsilon must be above 0 and the quantile at least 0, not {rule.epsilon} and {rule.quantile}")
    if not 1 <= least <= most <= P:
        raise ValueError(f"there is room for {P} particles; least and most must be between, not {least} and {most}")
    many, heavy = counted(count, lead, P, least=1), weighed(weights, lead, P)
    if not weigh_something(heavy, many):
        raise ValueError(NO_WEIGHTS)
    given = (flat, heavy, many, started(starts, lead), float(bins.length), float(bins.angle), float(rule.epsilon),
             float(rule.quantile), least, most)
    if others is None:
        kld_all(*given)
    else:
        fresh, _ = cloud(np.broadcast_to(others, particles.shape))
        kld_mixed(*given, np.array(np.broadcast_to(share, lead), np.float64).reshape(-1), fresh)
    return many.reshape(lead)


def refuse_none(bins: Bins) -> None:
    """ValueError if poses cannot be counted in these bins."""
    if not (0.0 < bins.length < inf and 0.0 < bins.angle < inf):
        raise ValueError(f"bins must have a length and an angle above 0, not {bins.length} m and {bins.angle} rad")


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel()
def reweigh_all(weights, log, count, enough):
    """`reweigh` for filters (F, P)."""
    for f in range(weights.shape[0]):
        weights[f, count[f]:] = 0.0
        top = -inf
        for p in range(count[f]):
            if weights[f, p] > 0.0:
                top = max(top, log[f, p])          # NaN is not larger
        total = 0.0
        for p in range(count[f]):
            if weights[f, p] > 0.0 and log[f, p] == log[f, p]:
                weights[f, p] *= exp(log[f, p] - top)
            else:
                weights[f, p] = 0.0
            total += weights[f, p]
        if not 0.0 < total < inf:                  # lost: nothing is possible, or something is certain beyond measure
            weights[f, :count[f]] = 1.0
            total = float(count[f])
        squares = 0.0
        for p in range(count[f]):
            weights[f, p] /= total
            squares += weights[f, p] ** 2
        enough[f] = 1.0 / squares if squares > 0.0 else 0.0


@kernel()
def low_variance_all(weights, first, out):
    """`low_variance` for filters (F, P), into out (F, M)."""
    size = out.shape[1]
    for f in range(weights.shape[0]):
        total = 0.0
        for p in range(weights.shape[1]):
            total += weights[f, p]
        edge, p = weights[f, 0], 0
        for m in range(size):
            stride = total * (m + first[f]) / size
            while stride >= edge and p < weights.shape[1] - 1:
                p += 1
                edge += weights[f, p]
            out[f, m] = p


@kernel()
def weigh_something(weights, count):
    """Whether the first `count` (F,) of weights (F, P) are numbers of at least 0, with a finite sum above 0."""
    for f in range(weights.shape[0]):
        total = 0.0
        for p in range(count[f]):
            if not weights[f, p] >= 0.0:
                return False
            total += weights[f, p]
        if not 0.0 < total < inf:
            return False
    return True


@kernel(allocates=True)
def kld_all(particles, weights, count, starts, length, angle, epsilon, quantile, least, most):
    """`kld_resample` for filters (F, P, 3), without others; count (F,) becomes the new one."""
    none = np.zeros(particles.shape[0])
    kld_mixed(particles, weights, count, starts, length, angle, epsilon, quantile, least, most, none, particles)


@kernel(allocates=True)
def kld_mixed(particles, weights, count, starts, length, angle, epsilon, quantile, least, most, share, others):
    """The same with a share (F,) of others (F, P, 3)."""
    P = particles.shape[1]
    before, edges = np.empty((P, 3)), np.empty(P)
    turns = max(1, int(floor(2.0 * pi / angle + 0.5)))
    table = np.empty((hash_size(most), 3), np.int64)
    for f in range(particles.shape[0]):
        total = 0.0
        for p in range(count[f]):
            before[p] = particles[f, p]
            total += weights[f, p]
            edges[p] = total
        table[:, 2] = -1
        at, occupied, enough, n = unit(starts[f], 0), 0, 1, 0
        while n < most and (n < least or n < enough):
            if share[f] > 0.0 and unit(starts[f], 1 + n) < share[f]:
                particles[f, n] = others[f, n]
            else:
                particles[f, n] = before[first_above(edges, count[f], at * total)]
                at += GOLDEN
                at -= floor(at)
            x, y, t = cell_of(particles[f, n, 0], particles[f, n, 1], particles[f, n, 2], length, turns)
            slot = slot_of(table, x, y, t)
            if table[slot, 2] < 0:
                table[slot, 0], table[slot, 1], table[slot, 2] = x, y, t
                occupied += 1
                enough = enough_for(occupied, epsilon, quantile)
            n += 1
        count[f] = n


@kernel()
def enough_for(k, epsilon, quantile):
    """`kld_bound` of one number of bins."""
    if k <= 1:
        return 1
    a = 2.0 / (9.0 * (k - 1.0))
    return int(ceil((k - 1.0) / (2.0 * epsilon) * (1.0 - a + sqrt(a) * quantile) ** 3))


@kernel()
def first_above(edges, count, at):
    """The first particle whose share of the sums `edges` is above `at`, by halving."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if edges[middle] > at:
            high = middle
        else:
            low = middle + 1
    return low


@kernel()
def cell_of(x, y, heading, length, turns):
    """The bin of a pose: column, row, and which of `turns` headings."""
    t = int(floor((wrapped(heading) + pi) * turns / (2.0 * pi)))
    return int(floor(x / length)), int(floor(y / length)), min(turns - 1, max(0, t))


@kernel()
def hash_size(most):
    """A power of two that leaves half of a hash table empty."""
    size = 16
    while size < 2 * most:
        size *= 2
    return size


@kernel()
def slot_of(table, x, y, t):
    """Where a bin is, or is to be put, in a hash table (size, 3 or more) of bins, whose empty rows have t < 0."""
    mask = table.shape[0] - 1
    slot = ((x * PRIME_X) ^ (y * PRIME_Y) ^ (t * PRIME_T)) & mask
    while table[slot, 2] >= 0 and not (table[slot, 0] == x and table[slot, 1] == y and table[slot, 2] == t):
        slot = (slot + 1) & mask
    return slot


__all__ = ["Bins", "KLD", "effective", "kld_bound", "kld_resample", "low_variance", "normalized", "reweigh"]
