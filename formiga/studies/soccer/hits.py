"""Acceptance 1: single hits by whole control steps of the laboratory, beside two methods that know nothing of eq. 21.

Chipmunk is another program, which brings the same bodies to touch in steps of a microsecond and solves for its contacts by
iteration; it is asked where it is installed. Springs are another model, which the paper names beside its own: at each end of
the contact a stiff spring, weaker on the way in than on the way out, pushes both bodies apart while they overlap.

    in: f = k d;  out: f = k/eps^2 (d - d_max (1 - eps^2)), never less than 0               [Walton & Braun 1986]
The work that it gives back is eps^2 of what it took.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import cos, inf, pi, radians, sin, sqrt
from typing import NamedTuple

import numpy as np

from formiga.engine.above.outline import inertia
from formiga.loop import Simulation
from formiga.state import Movable
from formiga.studies.harness import Row, at_most, without
from formiga.studies.soccer.bench import HELD, drive, lab, touches
from formiga.studies.soccer.reconstructed import MASS, SIDE
from formiga.world.model import Block, Wall
from formiga.world.movables import rectangle
from formiga.world.robots import MiroSot

CHIPMUNK = "Chipmunk, by pymunk"
GAP = 0.003            # m between the bodies at the start, in the laboratory
NEAR = 1e-4            # and in Chipmunk, whose steps are shorter
TICK = 1e-6            # s, its step
STIFF = 1e10           # N/m: a spring is in touch for some microseconds, in which nothing turns
SLICES = 500           # steps of the springs from touch to the deepest point
SQUARE = rectangle(SIDE, SIDE)
BROAD = rectangle(sqrt(2.0 * SIDE**2 - 0.08**2), 0.08)     # as heavy to turn as the square, and 8 cm broad


class Hit(NamedTuple):
    """A, to the left, at `speed` along x; B, a second square or a wall, which comes at `closing`."""

    name: str
    eps: float
    points: tuple[tuple[float, float], ...]  # of the contact, seen from the middle of A
    speed: float = 1.0
    closing: float = 0.0
    aside: float | None = 0.0            # how far the middle of B is beside A's; None: a wall
    outline: tuple[tuple[float, float], ...] = SQUARE
    turned: float = 0.0                  # A's heading


def corner(turned: float) -> tuple[float, float]:
    """The foremost corner of a square that is turned, from its middle."""
    return max((cos(turned) * x - sin(turned) * y, sin(turned) * x + cos(turned) * y) for x, y in SQUARE)


FLUSH = ((SIDE / 2, SIDE / 2), (SIDE / 2, 0.03 - SIDE / 2))   # where two squares that are 3 cm aside lie along each other
END = "the end of a wall 3.75 cm beside its middle"
HITS = (
    *(Hit(f"offset hit, eps {eps:g}", eps, FLUSH, aside=0.03) for eps in (0.5, 0.0, 1.0)),
    Hit("offset hit of Fig. 7, row 2", MiroSot().restitution, FLUSH, speed=0.9, aside=0.03),
    Hit("head-on, eps 1", 1.0, ((SIDE / 2, SIDE / 2), (SIDE / 2, -SIDE / 2)), closing=1.0),
    Hit(f"into {END}, eps 0.5", 0.5, ((BROAD[0][0], SIDE / 2),), aside=None, outline=BROAD),
    *(Hit(f"a square's corner into a wall, turned by {degrees} deg, eps 0.5", 0.5, (corner(radians(degrees)),), aside=None,
          turned=radians(degrees)) for degrees in (10, 30)),
)


# -- the laboratory -----------------------------------------------------------------------------------------------------------
def by_lab(hit: Hit) -> dict[str, float]:
    """A whole control step that brings them to touch. Squares that meet squares are robots, whose motors hold their speed."""
    wall_at = hit.points[0][0] + GAP
    if hit.turned:
        block = Block(0.0, 0.0, hit.turned, SIDE, SIDE, mass=MASS, friction=0.0, wall_restitution=hit.eps)
        simulation = lab(Wall((wall_at, -1.0, wall_at, 1.0)), block, dt=0.005)
        movable = simulation.state.movables[0, 0]
        movable[Movable.VX] = hit.speed
        simulation.step()
        return {"j": _impulse(simulation), "v_a": float(movable[Movable.VX]), "omega_a": float(movable[Movable.SPIN])}
    robot = MiroSot(points=tuple(value for point in hit.outline for value in point), mass=MASS, restitution=hit.eps,
                    wall_restitution=hit.eps, motor_lag=HELD)
    if hit.aside is None:
        y = hit.points[0][1]
        simulation = lab(Wall((wall_at, y, 1.0, y)), robots=((robot, (0.0, 0.0, 0.0)),), dt=0.005)
    else:
        simulation = lab(robots=((robot, (0.0, 0.0, 0.0)), (robot, (SIDE + GAP, hit.aside, 0.0))), dt=0.005)
    state = simulation.state
    state.velocity[0, :, 0] = (hit.speed, -hit.closing)[:state.velocity.shape[1]]
    drive(simulation, *(0.0,) * state.velocity.shape[1])
    ahead = state.velocity[0, :, 0] * np.cos(state.heading[0]) + state.velocity[0, :, 1] * np.sin(state.heading[0])
    found = {"j": _impulse(simulation)}
    for name, v, omega in zip("ab", ahead, state.velocity[0, :, 2]):
        found |= {f"v_{name}": float(v), f"omega_{name}": float(omega)}
    return found


def _impulse(simulation: Simulation) -> float:
    found = touches(simulation)
    return float(found[0, 4]) if len(found) == 1 else float("nan")


# -- the other methods --------------------------------------------------------------------------------------------------------
def by_chipmunk(hit: Hit) -> dict[str, float]:
    """The same by another program."""
    import pymunk

    space = pymunk.Space(threaded=False)
    space.iterations, space.collision_slop, space.collision_bias = 300, 0.0, 1.0
    moment = inertia(list(SQUARE), MASS)
    starts = [(0.0, 0.0, hit.turned, hit.speed)]
    starts += [] if hit.aside is None else [(SIDE + NEAR, hit.aside, 0.0, -hit.closing)]
    bodies: list[pymunk.Body] = []
    shapes: list[pymunk.Shape] = []
    for x, y, heading, speed in starts:
        body = pymunk.Body(MASS, moment)
        body.position, body.angle, body.velocity = (x, y), heading, (speed, 0.0)
        bodies.append(body)
        shapes.append(pymunk.Poly(body, list(hit.outline)))
    if hit.aside is None:
        (x, y), = hit.points
        ends = ((x + NEAR, -1.0), (x + NEAR, 1.0)) if hit.turned else ((x + NEAR, y), (1.0, y))
        shapes.append(pymunk.Segment(space.static_body, *ends, 0.0))
    for shape in shapes:
        shape.elasticity, shape.friction = sqrt(hit.eps), 0.0     # of two, their product counts
    space.add(*bodies, *shapes)
    for _ in range(round(2.0 * NEAR / (hit.speed + hit.closing) / TICK)):
        space.step(TICK)
    found = {"j": MASS * (hit.speed - bodies[0].velocity[0])}
    for name, body in zip("ab", bodies):
        found |= {f"v_{name}": body.velocity[0], f"omega_{name}": body.angular_velocity}
    return found


@cache
def by_springs(hit: Hit) -> dict[str, float]:
    """The same by forces in time: leapfrog steps from the first touch until no spring pushes any more."""
    wall = hit.aside is None
    moment = inertia(list(SQUARE), MASS)
    place = np.array([(0.0, 0.0), (SIDE, hit.aside or 0.0)])
    mass, turns = np.array([MASS, inf if wall else MASS]), np.array([moment, inf if wall else moment])
    arm = np.array(hit.points)[None] - place[:, None]          # (2, points, 2)
    push = np.array([-1.0, 1.0])
    speed, spin = np.array([hit.speed, -hit.closing]), np.zeros(2)
    shift, angle = np.zeros(2), np.zeros(2)
    deepest = np.zeros(len(hit.points))
    hardest = STIFF / max(hit.eps**2, 1e-2)
    h = 0.5 * pi * sqrt(0.2 * MASS / hardest) / SLICES
    rate, turning = np.zeros(2), np.zeros(2)
    while True:
        speed, spin = speed + 0.5 * h * rate, spin + 0.5 * h * turning
        shift, angle = shift + h * speed, angle + h * spin
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        x, y = c * arm[..., 0] - s * arm[..., 1], s * arm[..., 0] + c * arm[..., 1]
        reach = shift[:, None] + x - arm[..., 0]
        deep = reach[0] - reach[1]
        deepest = np.maximum(deepest, deep)
        out = STIFF / hit.eps**2 * (deep - deepest * (1.0 - hit.eps**2)) if hit.eps > 0.0 else np.zeros_like(deep)
        force = np.maximum(np.where(deep >= deepest, STIFF * deep, out), 0.0)
        rate = push * force.sum() / mass
        turning = -push * (y * force).sum(-1) / turns          # r x f, with f along x
        speed, spin = speed + 0.5 * h * rate, spin + 0.5 * h * turning
        if not force.any():
            break
    found = {"j": float(MASS * (hit.speed - speed[0]))}
    for name, v, omega in zip("ab"[:1 if wall else 2], speed, spin):
        found |= {f"v_{name}": float(v), f"omega_{name}": float(omega)}
    return found


# -- rows ---------------------------------------------------------------------------------------------------------------------
def unlike(one: dict[str, float], other: dict[str, float]) -> float:
    """The largest difference of any speed, m/s; spins as the speed of a point half a side away."""
    return max(abs(value - other[what]) * (SIDE / 2 if what.startswith("omega") else 1.0)
               for what, value in one.items() if what != "j")


def rows() -> Iterator[Row]:
    """Acceptance 1, first half."""
    asked = True
    for hit in HITS:
        ours, close = by_lab(hit), 2e-11 if hit.eps > 0.0 else 5e-4
        try:
            theirs = by_chipmunk(hit)
        except ImportError:
            asked = False
        else:
            for what, unit in (("j", "N s"), ("v_a", "m/s"), ("omega_a", "rad/s")):
                span = max(abs(theirs[what]), 1.0)
                yield Row(f"{hit.name}: {what} ({unit})", theirs[what], ours[what], close * span, "measured", CHIPMUNK,
                          "Without a bounce Chipmunk's bodies stay in touch, and turn, until they are asked.")
            if hit.aside is not None:
                yield at_most(f"{hit.name}: any speed of both, differs from Chipmunk's by (m/s)", close, unlike(ours, theirs),
                              "measured", where=CHIPMUNK)
        yield at_most(f"{hit.name}: any speed, differs from that of contact springs by (m/s)", 2e-4,
                      unlike(ours, by_springs(hit)), note="Springs take some microseconds, in which the bodies turn a little.")
    if not asked:
        yield without("pymunk", "single hits: as another program has them")
