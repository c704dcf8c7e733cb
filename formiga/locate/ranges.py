"""Where am I, from ranges to beacons alone? The product of radial Gaussians, and a search for its maximum that needs no prior.

    belief of one range:   p(x | z_k) = exp(-(|x - x_k| - r_k)^2 / (2 sigma_k^2)) / eta_k
    of all of them:        p(x | z) = eta exp(-J(x) / 2),   J(x) = sum_k (|x - x_k| - r_k)^2 / sigma_k^2
                                   [probabilistic shaping, ROBOTICA 2009, eqs. 1-8; of 5 to 8 the print is lost]
Rows are readings: centre x_k of a beacon, range r_k, variance sigma_k^2. A reading with a number that is not finite is none.
"""

from __future__ import annotations

from math import ceil, cos, inf, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formiga.kernels import kernel
from formiga.units import DEG

Floats = NDArray[np.float64]
STEP, TURN = 0.25, 3.0 * DEG     # m between circles, and between the places on one
WIDTH = 4.0                      # standard deviations: beyond them a radial Gaussian is next to nothing
NEAREST = 0.05                   # m, the smallest circle
MOST_PLACES = 20_000_000         # on all circles about one reading: half a gigabyte
POLISH = 6                       # steps of Gauss and Newton


class Fix(NamedTuple):
    """The most probable place, and how sure it is."""

    place: Floats     # (..., 2) m; NaN without any reading
    cost: Floats      # (...) J there
    rival: Floats     # (...) the least J of all places of the search that are farther from it than `apart`; inf: none


def normalizer(radius: Any, sigma: Any, dimensions: int = 2) -> Floats:
    """eta: the integral of exp(-(|x| - r)^2 / (2 sigma^2)) over the plane, or over space.

        plane  2 pi [ sigma^2 exp(-r^2/(2 sigma^2)) + r sigma sqrt(pi/2) (1 + erf(r/(sigma sqrt 2))) ]
        space  4 pi [ (r^2 + sigma^2) sigma sqrt(pi/2) (1 + erf(r/(sigma sqrt 2))) + r sigma^2 exp(-r^2/(2 sigma^2)) ]
    The paper's are lost; these are the integrals in polar and in spherical coordinates.
    """
    from scipy.special import erf

    if dimensions not in (2, 3):
        raise ValueError(f"a radial Gaussian has 2 or 3 dimensions, not {dimensions}")
    r, s = np.asarray(radius, np.float64), np.asarray(sigma, np.float64)
    edge = np.exp(-(r ** 2) / (2.0 * s ** 2))
    body = s * sqrt(0.5 * pi) * (1.0 + erf(r / (s * sqrt(2.0))))
    if dimensions == 2:
        return np.asarray(2.0 * pi * (s ** 2 * edge + r * body))
    return np.asarray(4.0 * pi * ((r ** 2 + s ** 2) * body + r * s ** 2 * edge))


def radial(points: Any, centre: Any, radius: Any, sigma: Any) -> Floats:
    """The density (...) of points (..., 2) or (..., 3) given one range: eq. 1."""
    points = np.asarray(points, np.float64)
    off = np.linalg.norm(points - centre, axis=-1) - radius
    return np.asarray(np.exp(-0.5 * (off / sigma) ** 2) / normalizer(radius, sigma, points.shape[-1]))


def cost(places: Any, centres: Any, ranges: Any, variances: Any) -> Floats:
    """J (...) at places (..., D), of readings (..., N, D), (..., N), (..., N)."""
    off = np.linalg.norm(np.asarray(places, np.float64)[..., None, :] - centres, axis=-1) - ranges
    return np.nansum(off ** 2 / variances, axis=-1)


def shift(centres: Any, variances: Any, way: Any, share: float) -> tuple[Floats, Floats]:
    """The readings after the robot has moved by a way (..., D) that is wrong by a share of it on each axis: eq. 3.

        x_k <- x_k + way,   sigma_k^2 <- sigma_k^2 + (share |way|)^2
    The beacon moves along with the robot, so that its old range is still true.
    """
    way = np.asarray(way, np.float64)
    grown = (share * np.linalg.norm(way, axis=-1)) ** 2
    return np.asarray(centres + way[..., None, :]), np.asarray(variances + grown[..., None])


def search(centres: Any, ranges: Any, variances: Any, about: Any = None, *, step: float = STEP, turn: float = TURN,
           polish: int = POLISH, apart: float = 2.0) -> Fix:
    """The circular search: all places on circles about one beacon, as far apart as `step` and `turn`; the best is polished.

    centres (..., N, 2), ranges (..., N), variances (..., N). about (...): the reading whose circles are tried, which must
    contain the maximum; default: the last one of each row. polish: steps of Gauss and Newton, each taken only if J falls.
    """
    centres = np.ascontiguousarray(centres, np.float64)
    if centres.ndim < 2 or centres.shape[-1] != 2:
        raise ValueError(f"centres must be an array (..., N, 2) of x and y, not of the shape {centres.shape}")
    if not (0.0 < step < inf and 0.0 < turn < inf):
        raise ValueError(f"step and turn must be above 0, not {step} m and {turn} rad")
    lead, N = centres.shape[:-2], centres.shape[-2]
    F = int(np.prod(lead, dtype=np.int64))
    rows = [np.array(np.broadcast_to(each, (*lead, N)), np.float64).reshape(F, N) for each in (ranges, variances)]
    flat = centres.reshape(F, N, 2)
    known = np.isfinite(rows[0]) & np.isfinite(rows[1]) & np.isfinite(flat).all(axis=-1)
    if (rows[1][known] <= 0.0).any():
        raise ValueError("variances must be above 0")
    rows[0][~known] = np.nan
    if about is None:
        about = np.where(known.any(axis=-1), N - 1 - np.argmax(known[:, ::-1], axis=-1), 0).reshape(lead) if N else 0
    chosen, turns = np.array(np.broadcast_to(about, lead), np.int64).reshape(F), max(1, round(2.0 * pi / turn))
    if N and not ((chosen >= 0) & (chosen < N)).all():
        raise ValueError(f"about must be numbers of readings, from 0 to {N - 1}")
    widest = rows[1][np.arange(F), chosen][known[np.arange(F), chosen]].max(initial=0.0) if N else 0.0
    if (places := (2.0 * WIDTH * sqrt(widest) / step + 2.0) * turns) > MOST_PLACES:
        raise ValueError(f"a reading with a standard deviation of {sqrt(widest):g} m has {places:.2g} places on its circles, "
                         f"more than {MOST_PLACES:,}; enlarge step or turn, or search about another one")
    place, least, rival = np.empty((F, 2)), np.empty(F), np.empty(F)
    search_all(flat, *rows, chosen, step, turns, polish, apart, place, least, rival)
    return Fix(place.reshape(*lead, 2), least.reshape(lead), rival.reshape(lead))


def run_of_bad_luck(probability: Any, times: Any) -> Floats:
    """(1 - p)^k: how probable it is that something which succeeds with probability p fails k times in a row."""
    return np.asarray((1.0 - np.asarray(probability, np.float64)) ** times)


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel(allocates=True)
def search_all(centres, ranges, variances, about, step, turns, polish, apart, place, least, rival):
    """`search` for filters (F, N, 2), (F, N), (F, N), with circles about the reading `about` (F,); into the last three."""
    ux, uy = np.empty(turns), np.empty(turns)
    for a in range(turns):
        ux[a], uy[a] = cos(2.0 * pi * a / turns), sin(2.0 * pi * a / turns)
    for f in range(centres.shape[0]):
        c = about[f]
        if ranges.shape[1] == 0 or ranges[f, c] != ranges[f, c]:
            place[f, 0] = place[f, 1] = np.nan
            least[f] = rival[f] = np.inf
            continue
        width = WIDTH * sqrt(variances[f, c])
        inner, outer = max(NEAREST, ranges[f, c] - width), max(NEAREST, ranges[f, c] + width)
        circles = int(ceil((outer - inner) / step - 1e-9)) + 1
        x, y, J = np.empty(circles * turns), np.empty(circles * turns), np.zeros(circles * turns)
        for k in range(circles):
            radius = min(outer, inner + k * step)
            for a in range(turns):
                x[k * turns + a] = centres[f, c, 0] + radius * ux[a]
                y[k * turns + a] = centres[f, c, 1] + radius * uy[a]
        for n in range(ranges.shape[1]):
            if ranges[f, n] == ranges[f, n]:
                add_reading(centres[f, n, 0], centres[f, n, 1], ranges[f, n], 1.0 / variances[f, n], x, y, J)
        best = np.argmin(J)
        px, py, low = polished(f, x[best], y[best], J[best], centres, ranges, variances, polish)
        place[f, 0], place[f, 1], least[f], rival[f] = px, py, low, np.inf
        for k in range(J.shape[0]):
            if J[k] < rival[f] and (x[k] - px) ** 2 + (y[k] - py) ** 2 > apart * apart:
                rival[f] = J[k]


@kernel()
def add_reading(cx, cy, radius, weight, x, y, J):
    """Add one reading's share of J at all places; a loop over places alone becomes vector code."""
    for k in range(J.shape[0]):
        off = sqrt((x[k] - cx) * (x[k] - cx) + (y[k] - cy) * (y[k] - cy)) - radius
        J[k] += weight * off * off


@kernel()
def polished(f, x, y, low, centres, ranges, variances, steps):
    """A place after so many steps of Gauss and Newton on J, (A^T W A) d = -A^T W e; a step that does not lower J ends it."""
    for _ in range(steps):
        xx, xy, yy, gx, gy = 0.0, 0.0, 0.0, 0.0, 0.0
        for n in range(ranges.shape[1]):
            if ranges[f, n] == ranges[f, n]:
                dx, dy = x - centres[f, n, 0], y - centres[f, n, 1]
                away = max(sqrt(dx * dx + dy * dy), 1e-9)
                ax, ay, off, weight = dx / away, dy / away, away - ranges[f, n], 1.0 / variances[f, n]
                xx, xy, yy = xx + weight * ax * ax, xy + weight * ax * ay, yy + weight * ay * ay
                gx, gy = gx + weight * ax * off, gy + weight * ay * off
        det = xx * yy - xy * xy
        if det <= 1e-12 * (xx + yy) * (xx + yy):   # all beacons lie in one direction
            break
        nx, ny = x - (yy * gx - xy * gy) / det, y - (xx * gy - xy * gx) / det
        there = 0.0
        for n in range(ranges.shape[1]):
            if ranges[f, n] == ranges[f, n]:
                off = sqrt((nx - centres[f, n, 0]) ** 2 + (ny - centres[f, n, 1]) ** 2) - ranges[f, n]
                there += off * off / variances[f, n]
        if not there < low:
            break
        x, y, low = nx, ny, there
    return x, y, low


__all__ = ["Fix", "cost", "normalizer", "radial", "run_of_bad_luck", "search", "shift"]
