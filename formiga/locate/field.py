"""The likelihood field: how probable a scan is from each particle, by how far its end points are from the nearest wall.

    field = likelihood_field(grid, Mixture(sigma=0.2, reach=32.0))
    weights = log_weights(particles, ends, field)                # (..., P, 3), (..., B, 2) -> (..., P)

The map's distances are turned into probabilities once, so a beam of a particle costs one look-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, exp, hypot, inf, log, pi, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.kernels import kernel
from formiga.locate.checked import cloud, counted
from formiga.map.distances import distances
from formiga.map.grid import Grid

Floats = NDArray[np.float64]
TOGETHER = 8           # factors, from one logarithm to the next; each is above 1e-12 and below 1e12
SMALLEST = 1e-12       # a probability that takes part in a product


@dataclass(frozen=True)
class Mixture:
    """What a beam may have met. [Thrun, Burgard & Fox 2005, section 6.3.1]

    The shares of hit, short and random are of all beams; they need not add up to 1, since weights are relative.
    """

    hit: float = 0.9           # a wall of the map, with a Gaussian error
    short: float = 0.0         # something nearer that is not in the map, such as a teammate
    random: float = 0.1        # anything, evenly up to the reach
    most: float = 0.0          # nothing: the reach itself; the beam model alone knows it
    sigma: float = 0.2         # m, standard deviation of a hit
    decay: float = 1.0         # 1/m, of what is short: lambda
    reach: float = 30.0        # m

    def __post_init__(self) -> None:
        shares = self.hit, self.short, self.random, self.most
        if not all(0.0 <= share < inf for share in shares) or self.hit + self.short + self.random <= 0.0:
            raise ValueError("the shares of a mixture must be finite and not negative, nor all 0")
        if not (0.0 < self.sigma < inf and 0.0 < self.decay < inf and 0.0 < self.reach < inf):
            raise ValueError("sigma, decay and reach of a mixture must be above 0")


@dataclass(frozen=True, eq=False)
class LikelihoodField:
    """z_hit N(distance to the nearest wall; 0, sigma) of each cell of a map."""

    hit: Any               # (rows, columns) float32; 1/m
    grid: Grid
    mixture: Mixture


def likelihood_field(grid: Grid, mixture: Mixture) -> LikelihoodField:
    """Made once for each map. Cells of which nothing is known are no walls.

    The distance is that to the surface of what is occupied: no beam ends deep inside a block.
    """
    density = mixture.hit / (sqrt(2.0 * pi) * mixture.sigma)
    hit = density * np.exp(-0.5 * (distances(grid, surface=True) / mixture.sigma) ** 2)
    return LikelihoodField(hit.astype(np.float32), grid, mixture)


def log_weights(particles: Any, ends: Any, field: LikelihoodField, count: Any = None) -> Floats:
    """Log weight (..., P) of particles (..., P, 3) for end points (..., B, 2) in the robot's frame; NaN: no return.

        log w = sum_k log( z_hit N(d_k; 0, sigma) + z_short lambda exp(-lambda r_k) + z_rand / reach )
                                    [Thrun, Burgard & Fox 2005, table 6.3; the short term as in their section 6.3.1]
    d_k: from the end point of beam k, seen from the particle, to the nearest wall; beyond the map that is far. r_k: its length.
    Without a short term a long scan whose beams met teammates would kill the particles at the right place. count (...): of the
    particles that count; the others weigh -infinity.
    """
    flat, lead = cloud(particles)
    P, shape = flat.shape[1], np.shape(ends)[-2:]
    if len(shape) != 2 or shape[1] != 2:
        raise ValueError(f"end points must be an array (..., B, 2) of x and y, not of the shape {np.shape(ends)}")
    scans = np.array(np.broadcast_to(ends, (*lead, *shape)), np.float64).reshape(len(flat), *shape)
    many = counted(count, lead, P)
    out = np.empty(flat.shape[:2])
    weigh_all(flat, many, scans, field.hit, *placed(field.grid), *shares(field.mixture), out)
    return out.reshape(*lead, P)


def placed(grid: Grid) -> tuple[float, float, float, float]:
    """Where a grid lies, for kernels: x, y, yaw, resolution."""
    return float(grid.x), float(grid.y), float(grid.yaw), float(grid.resolution)


def shares(mixture: Mixture) -> tuple[float, float, float]:
    """What a mixture adds to a hit, for kernels: short lambda, lambda, and what is random, 1/m."""
    return mixture.short * mixture.decay, mixture.decay, mixture.random / mixture.reach


def end_points(distances: Any, angles: Any, reach: float, mount: float = 0.0) -> Floats:
    """End points (..., B, 2) of a scan's distances (..., B) at angles (B,) in the robot's frame; NaN where nothing was met
    within reach. mount: of the beams' origins from the middle."""
    far = np.asarray(distances, np.float64)
    length = np.where(far < reach, far + mount, np.nan)[..., None]
    return np.asarray(length * np.stack([np.cos(angles), np.sin(angles)], axis=-1))


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel(allocates=True)
def weigh_all(particles, count, ends, hit, x, y, yaw, resolution, short, decay, random, out):
    """`log_weights` for filters (F, P, 3) with scans (F, B, 2), into out (F, P)."""
    scaled, floors = np.empty((ends.shape[1], 2)), np.empty(ends.shape[1])
    for f in range(particles.shape[0]):
        beams = 0
        for b in range(ends.shape[1]):
            if ends[f, b, 0] == ends[f, b, 0] and ends[f, b, 1] == ends[f, b, 1]:
                scaled[beams, 0], scaled[beams, 1] = ends[f, b, 0] / resolution, ends[f, b, 1] / resolution
                floors[beams] = max(SMALLEST, short * exp(-decay * hypot(ends[f, b, 0], ends[f, b, 1])) + random)
                beams += 1
        weigh(particles[f], count[f], scaled[:beams], floors[:beams], hit, x, y, yaw, resolution, out[f])


@kernel()
def weigh(particles, count, ends, floors, hit, x, y, yaw, resolution, out):
    """One filter's particles (P, 3) for end points (B, 2) in units of cells; probabilities are multiplied, a few at a time."""
    rows, columns = hit.shape
    c0, s0 = cos(yaw), sin(yaw)
    out[count:] = -inf
    for p in range(count):
        dx, dy, heading = (particles[p, 0] - x) / resolution, (particles[p, 1] - y) / resolution, particles[p, 2] - yaw
        px, py, c, s = c0 * dx + s0 * dy, c0 * dy - s0 * dx, cos(heading), sin(heading)
        total, product = 0.0, 1.0
        for b in range(ends.shape[0]):
            ex, ey = px + c * ends[b, 0] - s * ends[b, 1], py + s * ends[b, 0] + c * ends[b, 1]
            if 0.0 <= ex < columns and 0.0 <= ey < rows:
                product *= floors[b] + hit[int(ey), int(ex)]
            else:
                product *= floors[b]
            if b % TOGETHER == TOGETHER - 1:
                total, product = total + log(product), 1.0
        out[p] = total + log(product)


__all__ = ["LikelihoodField", "Mixture", "end_points", "likelihood_field", "log_weights"]
