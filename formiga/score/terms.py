"""The terms of fitness: what one robot did in one step, from 0 to 1, in a word each. `<fitness of="...">` names them.

A term is a small kernel; `value` finds it by its number. To add one: write it, give it a number and a line in TERMS.
"""

from __future__ import annotations

from math import cos, sin, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.switches import is_on
from formiga.geometry import lattice_index
from formiga.kernels import kernel

SPEED, STRAIGHTNESS, CLEARANCE, CRASHES, AGGREGATION, DISPERSION, LIGHT, COVERAGE = range(8)
TERMS = {
    "speed": (SPEED, "forward speed, in top speeds; 0 when driving backwards. Of robots without a drive, such as on legs: the "
                     "true speed ahead in m/s, below 0 backwards"),
    "straightness": (STRAIGHTNESS, "1 - |turn rate|, in the largest turn rate; of robots without a drive in rad/s"),
    "clearance": (CLEARANCE, "1 - the largest reading of <proximity>, in full readings"),
    "crashes": (CRASHES, "1 in a step with a crash; give it a negative weight"),
    "aggregation": (AGGREGATION, "1 - distance to the centre of the group, in half diagonals of the arena"),
    "dispersion": (DISPERSION, "distance to the nearest of the group, in sqrt(area / robots), at most 1"),
    "light": (LIGHT, "how bright the lamps make the place where the robot is, without shadows"),
    "coverage": (COVERAGE, "share of the arena's 16 x 16 cells in which a robot of the group has been"),
}
GRID = 16  # cells of `coverage` along each side of the arena


class Facts(NamedTuple):
    """What terms look at: the state after the step, and the readings that it was decided on."""

    position: Any      # (W, N, 2)
    wheels: Any        # (W, N, D) channels of the drives, as they turned
    twist: Any         # (W, N, 3) what they gave, for robots that have not two wheels
    two_wheels: bool   # whether the group has them
    driven: bool       # whether it has a drive; else it moves as its joints make it
    velocity: Any      # (W, N, 3) true, m/s m/s rad/s
    heading: Any       # (W, N)
    crashed: Any       # (W, N)
    near: Any          # (W, n, B) readings of <proximity>
    full: float        # the reading that counts as one
    top: float         # m/s, top speed of a wheel's rim; without two wheels, of the robot ahead
    turn: float        # rad/s, largest turning rate
    radius: float      # of a robot
    first: int         # robots first .. last are the group
    last: int
    lamps: Any         # (L, 4) x y z intensity, those that are on at some time
    switches: Any      # when they are on
    step: Any          # (W,)
    x0: float          # of the arena
    y0: float
    width: float
    depth: float
    centre: Any        # (2,) working memory: the group's centre
    visited: Any       # (W, GRID, GRID) where a robot has been
    share: Any         # (W,) of the grid that was visited


@kernel(inline="always")
def speed(w, i, facts):
    """max(0, (left + right) / 2 top)   [digest of S1: forward speed / 8 cm/s]; of other drives max(0, vx / top)

    A body on legs sways. If its way back did not count, swaying on the spot would pay; so without a drive it is v . ahead.
    """
    if facts.two_wheels:
        return max(0.0, 0.5 * (facts.wheels[w, i, 0] + facts.wheels[w, i, 1]) / facts.top)
    if facts.driven:
        return max(0.0, facts.twist[w, i, 0] / facts.top)
    ahead = facts.heading[w, i]
    return facts.velocity[w, i, 0] * cos(ahead) + facts.velocity[w, i, 1] * sin(ahead)


@kernel(inline="always")
def straightness(w, i, facts):
    """1 - |right - left| / 2 top   [digest of S1: 1 - |turn| / 1.684 rad/s, which is 2 top / wheel base];
    of other drives 1 - |turning rate| / the largest one; without a drive 1 - |turning rate| / 1 rad/s"""
    if facts.two_wheels:
        return 1.0 - min(1.0, abs(facts.wheels[w, i, 1] - facts.wheels[w, i, 0]) / (2.0 * facts.top))
    if facts.driven:
        return 1.0 - min(1.0, abs(facts.twist[w, i, 2]) / facts.turn)
    return 1.0 - min(1.0, abs(facts.velocity[w, i, 2]))


@kernel(inline="always")
def clearance(w, i, facts):
    """1 - largest reading / full   [digest of S1: 1 - largest IR / 40]"""
    largest = 0.0
    for b in range(facts.near.shape[2]):
        largest = max(largest, facts.near[w, i - facts.first, b])
    return 1.0 - min(1.0, largest / facts.full)


@kernel(inline="always")
def crashes(w, i, facts):
    """1 if the robot touched something in this step."""
    return 1.0 if facts.crashed[w, i] else 0.0


@kernel(inline="always")
def aggregation(w, i, facts):
    """1 - |p - centre| / half diagonal"""
    dx, dy = facts.position[w, i, 0] - facts.centre[0], facts.position[w, i, 1] - facts.centre[1]
    half = 0.5 * sqrt(facts.width * facts.width + facts.depth * facts.depth)
    return 1.0 - min(1.0, sqrt(dx * dx + dy * dy) / half)


@kernel(inline="always")
def dispersion(w, i, facts):
    """min(1, nearest / sqrt(area / robots))"""
    nearest = np.inf
    for j in range(facts.first, facts.last):
        if j != i:
            dx = facts.position[w, j, 0] - facts.position[w, i, 0]
            dy = facts.position[w, j, 1] - facts.position[w, i, 1]
            nearest = min(nearest, dx * dx + dy * dy)
    return min(1.0, sqrt(nearest / (facts.width * facts.depth / (facts.last - facts.first))))


@kernel(inline="always")
def light(w, i, facts):
    """tanh(x / 2), x = sum over lamps of intensity / max(distance over the floor, radius)^2"""
    x = 0.0
    for n in range(facts.lamps.shape[0]):
        if not is_on(n, facts.step[w], facts.switches):
            continue
        dx, dy = facts.lamps[n, 0] - facts.position[w, i, 0], facts.lamps[n, 1] - facts.position[w, i, 1]
        x += facts.lamps[n, 3] / max(dx * dx + dy * dy, facts.radius * facts.radius)
    return tanh(0.5 * x)


@kernel(inline="always")
def coverage(w, i, facts):
    """The visited share of the arena, the same for all robots: early visits count for longer."""
    return facts.share[w]


@kernel(inline="always")
def value(term, w, i, facts):
    """The term of that number, for robot i of world w."""
    if term == SPEED:
        return speed(w, i, facts)
    if term == STRAIGHTNESS:
        return straightness(w, i, facts)
    if term == CLEARANCE:
        return clearance(w, i, facts)
    if term == CRASHES:
        return crashes(w, i, facts)
    if term == AGGREGATION:
        return aggregation(w, i, facts)
    if term == DISPERSION:
        return dispersion(w, i, facts)
    if term == LIGHT:
        return light(w, i, facts)
    return coverage(w, i, facts)


@kernel(inline="always")
def look_around(w, uses, facts):
    """What terms need of the whole group, once a step: its centre, and where it has been."""
    if uses[AGGREGATION]:
        x, y = 0.0, 0.0
        for i in range(facts.first, facts.last):
            x, y = x + facts.position[w, i, 0], y + facts.position[w, i, 1]
        facts.centre[0], facts.centre[1] = x / (facts.last - facts.first), y / (facts.last - facts.first)
    if uses[COVERAGE]:
        for i in range(facts.first, facts.last):
            c = lattice_index((facts.position[w, i, 0] - facts.x0) / facts.width * GRID, GRID)
            r = lattice_index((facts.position[w, i, 1] - facts.y0) / facts.depth * GRID, GRID)
            if not facts.visited[w, r, c]:
                facts.visited[w, r, c] = True
                facts.share[w] += 1.0 / (GRID * GRID)
