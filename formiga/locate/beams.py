"""The beam model: how probable each measured distance is, given the distance that the map has along that beam.

Slower than the likelihood field, since each beam of each particle is cast through the map, but it knows that walls hide what is
behind them. [Thrun, Burgard & Fox 2005, section 6.3]
"""

from __future__ import annotations

from math import erf, exp, inf, log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.kernels import kernel
from formiga.locate.checked import cloud, counted
from formiga.locate.field import SMALLEST, Mixture
from formiga.map.grid import Grid
from formiga.map.rays import cast

Floats = NDArray[np.float64]


def log_weights(particles: Any, distances: Any, angles: Any, grid: Grid, mixture: Mixture, count: Any = None) -> Floats:
    """Log weight (..., P) of particles (..., P, 3) for distances (..., B) along angles (B,) from the heading.

        log w = sum_k log p(z_k | z*_k),   z*: cast through the map, at most the reach
    NaN is no measurement, and the reach or more the measurement that nothing was met. count (...): as in the likelihood field.
    """
    flat, lead = cloud(particles)
    P, angles = flat.shape[1], np.asarray(angles, np.float64).reshape(-1)
    many = counted(count, lead, P)
    true = np.minimum(cast(grid, flat[:, :many.max(initial=0)], angles, mixture.reach), mixture.reach)
    measured = np.array(np.broadcast_to(distances, (*lead, len(angles))), np.float64).reshape(len(flat), len(angles))
    out = np.empty(flat.shape[:2])
    weigh_all(true, many, measured, *terms(mixture), out)
    return out.reshape(*lead, P)


def probability(measured: Any, true: Any, mixture: Mixture) -> Floats:
    """p(z | z*) of one distance, in 1/m below the reach; at the reach itself also the share `most`, as probability.

        z_hit eta N(z; z*, sigma) + z_short eta' lambda exp(-lambda z) [z <= z*] + z_rand / reach,   z < reach
        z_max                                                                                        z >= reach
                                                                        [Thrun, Burgard & Fox 2005, eqs. 6.4-6.11]
    eta, eta': so that the hit integrates to 1 over what can be measured, and the short over what is nearer than the wall.
    """
    z, expected = (np.array(each, np.float64) for each in np.broadcast_arrays(measured, true))
    out = np.empty(z.shape)
    probability_all(z.reshape(-1), expected.reshape(-1), *terms(mixture), out.reshape(-1))
    return out


def terms(mixture: Mixture) -> tuple[float, float, float, float, float, float, float]:
    """A mixture as the numbers that kernels take."""
    return (mixture.hit, mixture.short, mixture.random, mixture.most, mixture.sigma, mixture.decay, mixture.reach)


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel()
def one(z, true, hit, short, random, most, sigma, decay, reach):
    """`probability` of one distance."""
    if z >= reach:
        return most
    inside = 0.5 * (erf((reach - true) / (sqrt(2.0) * sigma)) + erf(true / (sqrt(2.0) * sigma)))
    p = random / reach
    p += hit * exp(-0.5 * ((z - true) / sigma) ** 2) / (sqrt(2.0 * pi) * sigma * max(inside, SMALLEST))
    if z <= true:
        p += short * decay * exp(-decay * z) / max(1.0 - exp(-decay * true), SMALLEST)
    return p


@kernel()
def probability_all(z, true, hit, short, random, most, sigma, decay, reach, out):
    """`one` for each of many."""
    for k in range(z.shape[0]):
        out[k] = one(z[k], true[k], hit, short, random, most, sigma, decay, reach)


@kernel()
def weigh_all(true, count, measured, hit, short, random, most, sigma, decay, reach, out):
    """Log weights out (F, P) from distances by the map (F, P, B) and measured ones (F, B)."""
    for f in range(true.shape[0]):
        out[f, count[f]:] = -inf
        for p in range(count[f]):
            total = 0.0
            for b in range(true.shape[2]):
                if measured[f, b] == measured[f, b]:
                    total += log(max(SMALLEST, one(measured[f, b], true[f, p, b], hit, short, random, most, sigma, decay,
                                                   reach)))
            out[f, p] = total


__all__ = ["log_weights", "probability"]
