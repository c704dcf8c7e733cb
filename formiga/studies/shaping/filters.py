"""Two filters that remember, to compare probabilistic shaping with on the same readings: their kernels. Additions of the
laboratory: the paper names them as future work and has no numbers for them."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from formiga.kernels import kernel
from formiga.locate.motion import normals
from formiga.locate.resampling import low_variance_all
from formiga.noise import stream, unit
from formiga.studies.shaping.method import move_by

HARD = 5.0     # standard deviations, beyond which a range is as improbable for a particle as there


@kernel()
def next_least(w, i, ranges, floor):
    """The beacon with the least range above `floor`; -1: none."""
    best, least = -1, np.inf
    for k in range(ranges.shape[2]):
        if floor < ranges[w, i, k] < least:
            best, least = k, ranges[w, i, k]
    return best


@kernel()
def kalman_world(w, step, start, ranges, moved, places, sigma, share, tags, belief, out):
    """Beliefs of world w: (W, n, 7), x y heading xx xy yy turn."""
    for i in range(out.shape[1]):
        b = belief[w, i]
        if step[w] == 0:
            b[0], b[1], b[2] = start[w, i, 0], start[w, i, 1], start[w, i, 2]
            b[3], b[4], b[5] = sigma * sigma, 0.0, sigma * sigma
        dx, dy, turn = move_by(w, i, moved, b[2])
        grown = share * share * (dx * dx + dy * dy)
        b[0], b[1], b[2], b[3], b[5] = b[0] + dx, b[1] + dy, b[2] + turn, b[3] + grown, b[5] + grown
        floor = -1.0
        for _ in range(tags):
            k = next_least(w, i, ranges, floor)
            if k < 0:
                break
            floor = ranges[w, i, k]
            ex, ey = b[0] - places[k, 0], b[1] - places[k, 1]
            away = max(sqrt(ex * ex + ey * ey), 1e-6)
            hx, hy = ex / away, ey / away
            px, py = b[3] * hx + b[4] * hy, b[4] * hx + b[5] * hy       # P H^T
            total = hx * px + hy * py + sigma * sigma
            off = floor - away
            b[0], b[1] = b[0] + px / total * off, b[1] + py / total * off
            b[3], b[4], b[5] = b[3] - px * px / total, b[4] - px * py / total, b[5] - py * py / total
        for c in range(7):
            out[w, i, c] = b[c] if c < 6 else 0.0


@kernel(allocates=True)
def particles_world(w, start, ranges, moved, places, sigma, share, jitter, tags, keys, steps, first, channel, cloud, heading,
                    belief, weights, chosen, offset, out):
    """Beliefs of world w: mean and covariance of cloud (W, n, P, 3)."""
    P = cloud.shape[2]
    for i in range(out.shape[1]):
        numbers = stream(keys[w], first + i, steps[w], channel)
        if steps[w] == 0:
            scatter(w, i, places, numbers, cloud)
            heading[w, i, 0] = start[w, i, 2]
        dx, dy, turn = move_by(w, i, moved, heading[w, i, 0])
        heading[w, i, 0] += turn
        error = sqrt(share * share * (dx * dx + dy * dy) + jitter * jitter)
        for p in range(P):
            one, other = normals(numbers, P + p)
            cloud[w, i, p, 0] += dx + error * one
            cloud[w, i, p, 1] += dy + error * other
        floor, total = -1.0, 0.0
        for _ in range(tags):
            k = next_least(w, i, ranges, floor)
            if k < 0:
                break
            floor = ranges[w, i, k]
            for p in range(P):
                ex, ey = cloud[w, i, p, 0] - places[k, 0], cloud[w, i, p, 1] - places[k, 1]
                off = min(abs(sqrt(ex * ex + ey * ey) - floor) / sigma, HARD)
                cloud[w, i, p, 2] *= exp(-0.5 * off * off)
        for p in range(P):
            total += cloud[w, i, p, 2]
        for p in range(P):
            cloud[w, i, p, 2] = cloud[w, i, p, 2] / total if total > 0.0 else 1.0 / P
        moments(w, i, cloud, heading, belief)
        for c in range(7):
            out[w, i, c] = belief[w, i, c]
        renew(w, i, unit(numbers, 0), cloud, weights, chosen, offset)


@kernel()
def scatter(w, i, places, numbers, cloud):
    """Particles anywhere in the box around all beacons (K, 2)."""
    low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
    for k in range(places.shape[0]):
        low_x, high_x = min(low_x, places[k, 0]), max(high_x, places[k, 0])
        low_y, high_y = min(low_y, places[k, 1]), max(high_y, places[k, 1])
    P = cloud.shape[2]
    for p in range(P):
        cloud[w, i, p, 0] = low_x + (high_x - low_x) * unit(numbers, 4 * P + 2 * p)
        cloud[w, i, p, 1] = low_y + (high_y - low_y) * unit(numbers, 4 * P + 2 * p + 1)
        cloud[w, i, p, 2] = 1.0 / P


@kernel()
def moments(w, i, cloud, heading, out):
    """Mean and covariance of the particles, as a belief."""
    for c in range(7):
        out[w, i, c] = 0.0
    for p in range(cloud.shape[2]):
        out[w, i, 0] += cloud[w, i, p, 2] * cloud[w, i, p, 0]
        out[w, i, 1] += cloud[w, i, p, 2] * cloud[w, i, p, 1]
    out[w, i, 2] = heading[w, i, 0]
    for p in range(cloud.shape[2]):
        ex, ey = cloud[w, i, p, 0] - out[w, i, 0], cloud[w, i, p, 1] - out[w, i, 1]
        out[w, i, 3] += cloud[w, i, p, 2] * ex * ex
        out[w, i, 4] += cloud[w, i, p, 2] * ex * ey
        out[w, i, 5] += cloud[w, i, p, 2] * ey * ey


@kernel(allocates=True)
def renew(w, i, at, cloud, weights, chosen, offset):
    """Resample with low variance if fewer than half of the particles count: 1 / sum w^2 < P / 2."""
    P, squares = cloud.shape[2], 0.0
    for p in range(P):
        weights[w, 0, p] = cloud[w, i, p, 2]
        squares += cloud[w, i, p, 2] ** 2
    if squares * P < 2.0:
        return
    offset[w, 0] = at
    low_variance_all(weights[w], offset[w], chosen[w])
    before = cloud[w, i].copy()
    for p in range(P):
        cloud[w, i, p, 0], cloud[w, i, p, 1] = before[chosen[w, 0, p], 0], before[chosen[w, 0, p], 1]
        cloud[w, i, p, 2] = 1.0 / P


__all__ = ["kalman_world", "particles_world"]
