"""Acceptance 1 to 5: laws of impacts, separation, the ball, motors; each measured on the laboratory itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, cos, exp, hypot, pi, radians, sin
from math import degrees as degrees_of
from typing import Any

import numpy as np

from formiga.engine.above.outlines import Corners, with_normals
from formiga.engine.planar.impulse.bodies import INVERSE_INERTIA, INVERSE_MASS, MARKS, MOVING, SPIN, VX, X, Y, bodies
from formiga.engine.planar.impulse.impact import collide
from formiga.engine.planar.impulse.parts import meet
from formiga.state import Movable
from formiga.studies.harness import Row, at_most, definition, without
from formiga.studies.soccer import reconstructed
from formiga.studies.soccer.bench import drive, lab
from formiga.studies.soccer.overlap import polygons_depth, square
from formiga.studies.soccer.reconstructed import BALL, SIDE
from formiga.world.elements import profiled
from formiga.world.model import Ball, Block, Contact, Wall, World
from formiga.world.movables import GRAVITY
from formiga.world.robots import MiroSot

LAW, RECONSTRUCTED, MEASURED = "law", "reconstructed", "measured"
FREE = np.ones((40, MARKS), np.int64)   # bodies that no tyres hold: they slip


# -- 1: impulses ------------------------------------------------------------------------------------------------------
def random_impacts(count: int, seed: int = 1) -> dict[str, float]:
    """The largest violation of each identity, by random contacts of random free boxes."""
    rng = np.random.default_rng(seed)
    blocks = tuple(Block(0.0, 0.0, width=rng.uniform(0.02, 0.1), depth=rng.uniform(0.02, 0.1), mass=rng.uniform(0.1, 2.0),
                         name=f"b{k}") for k in range(40))
    table = bodies(World(contact=Contact("impulse"), things=blocks))
    worst = dict.fromkeys(("momentum", "angular momentum", "restitution", "energy loss"), 0.0)
    done = 0
    while done < count:
        pair = rng.choice(40, 2, replace=False)
        mass, moment = 1.0 / table.fact[pair, INVERSE_MASS], 1.0 / table.fact[pair, INVERSE_INERTIA]
        moving = np.zeros((40, MOVING))
        moving[:, VX:SPIN + 1] = rng.normal(0.0, 1.0, (40, 3)) * (1.0, 1.0, 10.0)
        moving[:, X:Y + 1], p = rng.uniform(-0.05, 0.05, (40, 2)), rng.uniform(-0.05, 0.05, 2)
        angle, eps = rng.uniform(0.0, 2.0 * pi), rng.uniform()
        n, place = np.array([cos(angle), sin(angle)]), moving[pair, X:Y + 1]
        arm = (p - place) @ (n[1], -n[0])                   # r x n
        early = moving[pair, VX:SPIN + 1]
        v = closing(early, n, arm)
        if v >= 0.0:
            continue
        collide(*pair, *n, *p, eps, 0.0, table.fact, moving, FREE)
        late = moving[pair, VX:SPIN + 1]
        K = (1.0 / mass + arm**2 / moment).sum()
        before, then = sums(early, mass, moment, place), sums(late, mass, moment, place)
        found = {"momentum": np.abs(then[:2] - before[:2]).max(), "angular momentum": abs(then[2] - before[2]),
                 "restitution": abs(closing(late, n, arm) + eps * v),
                 "energy loss": abs(before[3] - then[3] - 0.5 * (1.0 - eps**2) * v**2 / K)}
        worst = {what: max(worst[what], float(value)) for what, value in found.items()}
        done += 1
    return worst


def closing(speed: Any, n: Any, arm: Any) -> float:
    """v_rel of two bodies, speed (2, 3), along n."""
    along = speed[:, :2] @ n + arm * speed[:, 2]
    return float(along[0] - along[1])


def sums(speed: Any, mass: Any, moment: Any, place: Any) -> Any:
    """Momentum (x, y), angular momentum about the origin, and kinetic energy of two bodies."""
    vx, vy, spin = speed.T
    return np.array([(mass * vx).sum(), (mass * vy).sum(), (mass * (place[:, 0] * vy - place[:, 1] * vx) + moment * spin).sum(),
                     0.5 * (mass * (vx**2 + vy**2) + moment * spin**2).sum()])


def identities(count: int) -> Iterator[Row]:
    """Acceptance 1, second half: laws of mechanics, of the kernel that gives the impulse."""
    for what, value in random_impacts(count).items():
        yield at_most(f"{count} random impacts: {what}, largest error", 2e-14, value, note="rounding")


# -- 2: separation ------------------------------------------------------------------------------------------------------
def random_squares(count: int, seed: int = 2) -> tuple[Any, Any, Any]:
    """Corners (count, 4, 2) of both squares of random pairs, and the engine's gap between them; negative: they overlap."""
    rng = np.random.default_rng(seed)
    one, other = (square(rng.uniform(-0.06, 0.06, (count, 2)), rng.uniform(0.0, 2.0 * pi, count), SIDE / 2) for _ in range(2))
    rows = np.array([row for corners in (*one, *other) for row in with_normals([tuple(corner) for corner in corners])])
    table = Corners(4 * np.arange(2 * count + 1), np.zeros(2 * count), rows)
    return one, other, np.array([meet(k, count + k, table).gap for k in range(count)])


def separation(count: int) -> Iterator[Row]:
    """Acceptance 2. Shapely is optional: without it, only our own plain rule is asked."""
    one, other, gap = random_squares(count)
    deep = polygons_depth(one, other)
    yield at_most(f"{count} pairs of squares: overlap against every axis in plain numpy (m)", 2e-6,
                  float(np.abs(np.maximum(-gap, 0.0) - deep).max()), note="of two sides that are equal to 1 um, A's is taken")
    try:
        import shapely
    except ImportError:
        yield without("shapely", f"{count} pairs of squares: verdicts that shapely sees otherwise")
        return
    area = shapely.area(shapely.intersection(shapely.polygons(one), shapely.polygons(other)))
    clear = (area > 1e-9) | (area == 0.0)
    yield Row(f"{count} pairs of squares: verdicts that shapely sees otherwise", 0,
              int(((gap < 0.0) != (area > 1e-9))[clear].sum()), origin=LAW)


# -- 3, 4: the ball -------------------------------------------------------------------------------------------------------
def rolled(bearing: float = 0.0, dt: float = 0.033, **ball: Any) -> tuple[float, float, float]:
    """(time, x, y) of a ball from 1 m/s until it is slower than its `slow`."""
    simulation = lab(Ball(vx=cos(bearing), vy=sin(bearing), **{"viscous": 0.0, **BALL, **ball}), dt=dt)
    movables, time = simulation.state.movables[0, 0], 0.0
    while hypot(*movables[Movable.VELOCITY]) > Ball().slow:
        simulation.step()
        time += dt
    return time, float(movables[Movable.X]), float(movables[Movable.Y])


def rolled_around(directions: int) -> Any:
    """The way (directions,) of balls that start at 1 m/s in so many directions, after 10 s: all stand."""
    simulation = lab(Ball(viscous=0.0, mass=BALL["mass"], rolling=BALL["rolling"]), worlds=directions)
    movables, bearing = simulation.state.movables[:, 0], 2.0 * pi * np.arange(directions) / directions
    movables[:, Movable.VX], movables[:, Movable.VY] = np.cos(bearing), np.sin(bearing)
    for _ in range(round(10.0 / 0.033)):
        simulation.step()
    return np.hypot(*movables[:, Movable.PLACE].T)


def integrated(bearing: float = 0.0, viscous: float = 0.0, law: str = "vector") -> tuple[float, float, float]:
    """The same by a general solver of differential equations, from eq. 8 and 9 as they stand, m + J/R^2 and all."""
    from scipy.integrate import solve_ivp

    ball = Ball(viscous=viscous, mass=BALL["mass"], rolling=BALL["rolling"])
    heavy = ball.mass + 0.4 * ball.mass * ball.radius**2 / ball.radius**2
    dry = ball.rolling * ball.mass * GRAVITY

    def change(_: float, at: Any) -> Any:
        v = at[2:]
        fast = np.abs(v) if law == "per_axis" else np.hypot(*v)
        return np.concatenate([v, -(ball.viscous * v + dry * v / np.maximum(fast, ball.slow)) / heavy])

    def slow(_: float, at: Any) -> float:
        return float(np.hypot(*at[2:]) - ball.slow)

    slow.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(change, (0.0, 60.0), [0.0, 0.0, cos(bearing), sin(bearing)], "LSODA", events=slow, rtol=1e-9, atol=1e-12)
    return float(found.t[-1]), float(found.y[0, -1]), float(found.y[1, -1])


def ball_rolls() -> Iterator[Row]:
    """Acceptance 3: the closed forms of the laboratory beside a general solver."""
    tick = 0.001
    cases: tuple[tuple[str, float, dict[str, Any]], ...] = (
        ("dry friction only", 0.0, {}), ("dry and viscous friction", 0.0, {"viscous": 0.01}),
        ("law of each axis, at 45 deg", 45.0, {"law": "per_axis"}), ("law of each axis, at 20 deg", 20.0, {"law": "per_axis"}))
    for name, degrees, law in cases:
        ours, theirs = rolled(radians(degrees), tick, **law), integrated(radians(degrees), **law)
        yield Row(f"ball, {name}: time to stop (s)", theirs[0], ours[0], 1.01 * tick, RECONSTRUCTED, reconstructed.EQ8,
                  "The laboratory is asked every millisecond.")
        yield Row(f"ball, {name}: way to stop (m)", hypot(*theirs[1:]), hypot(*ours[1:]), 1.01 * tick * Ball().slow,
                  RECONSTRUCTED, reconstructed.EQ8, "A millisecond at 1 mm/s.")
        if degrees:
            expected, mine = (degrees_of(atan2(y, x)) for _, x, y in (theirs, ours))
            yield Row(f"ball, {name}: bearing at the end (deg)", expected, mine, 1e-5, RECONSTRUCTED, reconstructed.EQ8)
    ways = rolled_around(36)
    yield at_most("ball, vector law: spread of the way over 36 directions (%)", 1e-11, 100.0 * (ways.max() / ways.min() - 1.0))


def bounced(degrees: float, factor: float) -> tuple[float, float]:
    """(along, across) of a ball's speed after it has hit a wall at so many degrees from the wall, without friction."""
    angle = radians(degrees)
    ball = Ball(x=-0.05, vx=sin(angle), vy=cos(angle), rolling=0.0, viscous=0.0, wall_restitution=factor)
    simulation = lab(Wall((0.0, -2.0, 0.0, 2.0)), ball)
    for _ in range(6):
        simulation.step()
    vx, vy = simulation.state.movables[0, 0, Movable.VELOCITY]
    return float(vy), float(-vx)


def ball_bounces() -> Iterator[Row]:
    """Acceptance 4."""
    factor = Ball().wall_restitution
    for degrees in (30, 45, 60):
        along, across = bounced(degrees, factor)
        angle = radians(degrees)
        yield Row(f"ball into a wall at {degrees} deg: speed along it (m/s)", cos(angle), along, 1e-12, LAW)
        yield Row(f"ball into a wall at {degrees} deg: speed away from it (m/s)", factor * sin(angle), across, 1e-12, LAW)


# -- 5: motors ------------------------------------------------------------------------------------------------------------
def motors() -> Iterator[Row]:
    """Acceptance 5."""
    robot = MiroSot()
    simulation = lab(robots=((robot, (0.0, 0.0, 0.0)),), dt=robot.motor_lag / 6.0)
    for _ in range(6):
        drive(simulation, 1.0)
    reached = float(simulation.state.drive[0, 0, 0])
    yield Row("wheels after the time constant T: share of the order", 1.0 - exp(-1.0), reached, 1e-12, LAW)
    for v, omega in ((0.5, 0.0), (0.0, 5.0), (0.6, -4.0)):
        simulation = lab(robots=((robot, (0.0, 0.0, 0.0)),))
        half = 0.5 * omega * robot.wheel_base
        for _ in range(60):
            drive(simulation, (v - half, v + half))
        vx, vy, spin = simulation.state.velocity[0, 0]
        yield at_most(f"ordered ({v:g} m/s, {omega:g} rad/s): largest error in the steady state", 1e-13,
                      max(abs(hypot(vx, vy) - v), abs(spin - omega)))


# -- the preset of another simulator ----------------------------------------------------------------------------------------
def slid() -> float:
    """Speed (m/s) of the preset's ball 0.1 s after it is launched at 1 m/s and does not roll yet."""
    simulation = lab(profiled(Ball, "firasim", vx=1.0), dt=0.02)
    for _ in range(5):
        simulation.step()
    return float(simulation.state.movables[0, 0, Movable.VX])


def as_firasim() -> Iterator[Row]:
    """The preset `firasim` has its constants from that program. What they do not give is how fast a ball is that slid first."""
    found = reconstructed.FIRASIM
    for what, value in found.values.items():
        yield definition(f"FIRASim, measured: {what}", value, found.where)
    what, theirs, tolerance = reconstructed.FIRASIM_SLID
    yield Row(f"FIRASim, measured: {what}", theirs, slid(), tolerance, MEASURED, found.where)
