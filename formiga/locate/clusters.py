"""From a cloud of particles to a few hypotheses: clusters of bins that touch, each with its pose, covariance and weight.

    found = hypotheses(particles, weights, count)       # poses (..., H, 3), the heaviest first
"""

from __future__ import annotations

from math import atan2, cos, floor, pi, sin
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formiga.geometry import wrapped
from formiga.kernels import kernel
from formiga.locate.checked import cloud, counted, weighed
from formiga.locate.resampling import Bins, cell_of, hash_size, refuse_none, slot_of
from formiga.units import DEG

Floats = NDArray[np.float64]
CELLS = Bins(1.0, 30.0 * DEG)
LIGHTEST = 0.02        # share of the weight below which a cluster is dropped


class Hypotheses(NamedTuple):
    """Where the robot may be; rows beyond `count` are empty, with weight 0."""

    pose: Floats           # (..., H, 3)
    covariance: Floats     # (..., H, 3, 3)
    weight: Floats         # (..., H) shares of the whole weight, the heaviest first
    count: Any             # (...)


def hypotheses(particles: Any, weights: Any, count: Any = None, bins: Bins = CELLS, lightest: float = LIGHTEST,
               most: int = 8) -> Hypotheses:
    """Clusters of particles (..., P, 3) with weights (..., P): connected bins, in which any particle is.

    Bins touch if they differ by at most one in column, row and heading, which goes round. Poses are weighted means, headings
    circular ones. Clusters below the share `lightest` are dropped, but never all; at most `most` are told, the heaviest first.
    A k-d tree of density splits at different places; the clusters are those that a person would draw, too.
    """
    flat, lead = cloud(particles)
    F, P = flat.shape[:2]
    refuse_none(bins)
    pose, covariance, weight = np.zeros((F, most, 3)), np.zeros((F, most, 3, 3)), np.zeros((F, most))
    told = np.zeros(F, np.int64)
    cluster_all(flat, weighed(weights, lead, P), counted(count, lead, P), float(bins.length), float(bins.angle), lightest, pose,
                covariance, weight, told)
    return Hypotheses(pose.reshape(*lead, most, 3), covariance.reshape(*lead, most, 3, 3), weight.reshape(*lead, most),
                      told.reshape(lead))


def spread(found: Hypotheses) -> Floats:
    """The mean distance (...) between the places of two hypotheses, over all pairs; 0 if there is one.

        p = mean over pairs j < l of |place_j - place_l|
    """
    H = found.pose.shape[-2]
    place = found.pose[..., :2]
    away = np.linalg.norm(place[..., :, None, :] - place[..., None, :, :], axis=-1)
    there = np.arange(H) < np.asarray(found.count)[..., None]
    pair = there[..., :, None] & there[..., None, :] & (np.arange(H)[:, None] < np.arange(H))
    pairs = pair.sum(axis=(-2, -1))
    return np.asarray(np.where(pair, away, 0.0).sum(axis=(-2, -1)) / np.maximum(pairs, 1))


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel(allocates=True)
def cluster_all(particles, weights, count, length, angle, lightest, pose, covariance, weight, told):
    """`hypotheses` for filters (F, P, 3)."""
    P, most = particles.shape[1], weight.shape[1]
    turns = max(1, int(floor(2.0 * pi / angle + 0.5)))
    table = np.empty((hash_size(P), 4), np.int64)        # of bins: column, row, heading, number
    bins, parent, of = np.empty((P, 3), np.int64), np.empty(P, np.int64), np.empty(P, np.int64)
    sums = np.empty((P, 5))                              # of clusters: weight, w x, w y, w cos, w sin
    rank, place = np.empty(most, np.int64), np.empty(P, np.int64)     # cluster of each hypothesis, hypothesis of each cluster
    for f in range(particles.shape[0]):
        table[:, 2] = -1
        occupied = 0
        for p in range(count[f]):
            x, y, t = cell_of(particles[f, p, 0], particles[f, p, 1], particles[f, p, 2], length, turns)
            slot = slot_of(table, x, y, t)
            if table[slot, 2] < 0:
                table[slot, 0], table[slot, 1], table[slot, 2], table[slot, 3] = x, y, t, occupied
                bins[occupied, 0], bins[occupied, 1], bins[occupied, 2] = x, y, t
                parent[occupied] = occupied
                occupied += 1
            of[p] = table[slot, 3]
        join_neighbours(table, bins, parent, occupied, turns)
        sums[:occupied] = 0.0
        whole = 0.0
        for p in range(count[f]):
            k, w = root(parent, of[p]), weights[f, p]
            whole += w
            sums[k, 0] += w
            sums[k, 1] += w * particles[f, p, 0]
            sums[k, 2] += w * particles[f, p, 1]
            sums[k, 3] += w * cos(particles[f, p, 2])
            sums[k, 4] += w * sin(particles[f, p, 2])
        told[f] = heaviest(sums, parent, occupied, whole, lightest, rank, most)
        place[:occupied] = -1
        for h in range(told[f]):
            k = rank[h]
            place[k] = h
            weight[f, h] = sums[k, 0] / whole
            pose[f, h, 0], pose[f, h, 1] = sums[k, 1] / sums[k, 0], sums[k, 2] / sums[k, 0]
            pose[f, h, 2] = atan2(sums[k, 4], sums[k, 3])
        for p in range(count[f]):
            k = root(parent, of[p])
            if place[k] >= 0:
                add_square(particles, f, p, place[k], weights[f, p] / sums[k, 0], pose, covariance)


@kernel()
def add_square(particles, f, p, h, share, pose, covariance):
    """Add one particle's share of the covariance of hypothesis h."""
    dx, dy = particles[f, p, 0] - pose[f, h, 0], particles[f, p, 1] - pose[f, h, 1]
    dt = wrapped(particles[f, p, 2] - pose[f, h, 2])
    covariance[f, h, 0, 0] += share * dx * dx
    covariance[f, h, 0, 1] += share * dx * dy
    covariance[f, h, 1, 0] += share * dx * dy
    covariance[f, h, 1, 1] += share * dy * dy
    covariance[f, h, 0, 2] += share * dx * dt
    covariance[f, h, 2, 0] += share * dx * dt
    covariance[f, h, 1, 2] += share * dy * dt
    covariance[f, h, 2, 1] += share * dy * dt
    covariance[f, h, 2, 2] += share * dt * dt


@kernel()
def join_neighbours(table, bins, parent, occupied, turns):
    """Put bins that touch into one cluster: a forest in which the root of a bin is the smallest number of its cluster."""
    for k in range(occupied):
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                for dt in range(-1, 2):
                    t = (bins[k, 2] + dt + turns) % turns
                    slot = slot_of(table, bins[k, 0] + dx, bins[k, 1] + dy, t)
                    if table[slot, 2] >= 0:
                        one, other = root(parent, k), root(parent, table[slot, 3])
                        parent[max(one, other)] = min(one, other)


@kernel()
def root(parent, k):
    """The number of the cluster of bin k; the way there is halved for the next time."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


@kernel()
def heaviest(sums, parent, occupied, whole, lightest, rank, most):
    """Put the numbers of the heaviest clusters into rank, in order; returns how many."""
    told = 0
    for k in range(occupied):
        if parent[k] != k or not sums[k, 0] > 0.0:
            continue
        place = told
        while place > 0 and sums[k, 0] > sums[rank[place - 1], 0]:
            place -= 1
        if place < most:
            for h in range(min(told, most - 1), place, -1):
                rank[h] = rank[h - 1]
            rank[place] = k
            told = min(told + 1, most)
    while told > 1 and sums[rank[told - 1], 0] < lightest * whole:
        told -= 1
    return told


__all__ = ["Hypotheses", "hypotheses", "spread"]
