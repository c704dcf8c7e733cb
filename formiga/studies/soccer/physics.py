"""Acceptance 1 to 8: impacts, separation, the ball, motors, no penetration, pushing; each measured on the laboratory itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, exp, hypot, pi, radians, sin
from typing import Any

import numpy as np

from formiga.engine.above.outlines import Corners, with_normals
from formiga.engine.planar.impulse.bodies import (
    COS,
    INVERSE_INERTIA,
    INVERSE_MASS,
    MARKS,
    MOVING,
    SPIN,
    SUBSTEPS,
    VX,
    X,
    Y,
    bodies,
)
from formiga.engine.planar.impulse.impact import collide
from formiga.engine.planar.impulse.parts import meet
from formiga.loop import Simulation
from formiga.soccer import league
from formiga.state import Movable
from formiga.studies.harness import Row, at_most, reported
from formiga.studies.soccer import reconstructed
from formiga.studies.soccer.bench import HELD, drive, lab, touches
from formiga.studies.soccer.overlap import depths, polygons_depth, square
from formiga.studies.soccer.reconstructed import BALL, MASS, SIDE
from formiga.world.elements import profiled
from formiga.world.model import Ball, Block, Contact, Wall, World
from formiga.world.movables import rectangle
from formiga.world.robots import MiroSot

LAW, RECONSTRUCTED, MEASURED = "law", "reconstructed", "measured"
FREE = np.ones((40, MARKS), np.int64)   # bodies that no tyres hold: they slip


# -- 1: impulses ------------------------------------------------------------------------------------------------------
def squares(count: int) -> Any:
    """The engine's table of so many free squares of 7.5 cm and 0.5 kg."""
    blocks = tuple(Block(0.0, 0.0, width=SIDE, depth=SIDE, mass=MASS, name=f"b{k}") for k in range(count))
    return bodies(World(contact=Contact("impulse"), things=blocks))


def kernel_case(eps: float, other: tuple[float, float], p: tuple[float, float], closing: float = 0.0) -> dict[str, float]:
    """One call of the impulse kernel: A at the origin at 1 m/s, B at `other` at -`closing`, contact at p, n = (-1, 0)."""
    moving = np.zeros((2, MOVING))
    moving[1, [X, Y]], moving[:, COS], moving[:, VX] = other, 1.0, (1.0, -closing)
    j = collide(0, 1, -1.0, 0.0, *p, eps, squares(2).fact, moving, FREE)
    return {"j": j, "v_a": moving[0, VX], "v_b": moving[1, VX], "omega_a": moving[0, SPIN], "omega_b": moving[1, SPIN]}


def kernel_wall(eps: float, p: tuple[float, float]) -> dict[str, float]:
    """The same against something fixed."""
    moving = np.zeros((1, MOVING))
    moving[0, COS] = moving[0, VX] = 1.0
    j = collide(0, -1, -1.0, 0.0, *p, eps, squares(1).fact, moving, FREE)
    return {"j": j, "v_a": moving[0, VX], "omega_a": moving[0, SPIN]}


def step_case(eps: float, aside: float, closing: float = 0.0, gap: float = 0.003) -> dict[str, float]:
    """A whole control step: robots that are `gap` apart are brought to touch. Speeds are along the heading."""
    robot = MiroSot(side=SIDE, mass=MASS, restitution=eps, motor_lag=HELD)
    simulation = lab(robots=((robot, (0.0, 0.0, 0.0)), (robot, (SIDE + gap, aside, 0.0))), dt=0.005)
    simulation.state.velocity[0, :, 0] = 1.0, -closing
    drive(simulation, 0.0, 0.0)
    return after(simulation)


def step_wall(eps: float, gap: float = 0.003) -> dict[str, float]:
    """The end of a wall hits a robot 3.75 cm beside its middle. Only r x n counts: so the robot is a box of the square's mass
    and inertia that is 8 cm broad, and is hit there, not grazed."""
    broad = 0.08
    deep = (2.0 * SIDE**2 - broad**2) ** 0.5
    outline = tuple(value for corner in rectangle(deep, broad) for value in corner)
    robot = MiroSot(points=outline, mass=MASS, wall_restitution=eps, motor_lag=HELD)
    simulation = lab(Wall((0.5 * deep + gap, SIDE / 2, 1.0, SIDE / 2)), robots=((robot, (0.0, 0.0, 0.0)),), dt=0.005)
    simulation.state.velocity[0, 0, 0] = 1.0
    drive(simulation, 0.0)
    return after(simulation)


def after(simulation: Simulation) -> dict[str, float]:
    """What the table shows: impulse, speeds ahead, spins."""
    state, found = simulation.state, touches(simulation)
    ahead = state.velocity[0, :, 0] * np.cos(state.heading[0]) + state.velocity[0, :, 1] * np.sin(state.heading[0])
    row = {"j": float(found[0, 4]) if len(found) == 1 else float("nan")}
    for name, v, omega in zip("ab", ahead, state.velocity[0, :, 2]):
        row |= {f"v_{name}": float(v), f"omega_{name}": float(omega)}
    return row


def impulse_table() -> Iterator[Row]:
    """Acceptance 1, first half."""
    cases = [(f"offset hit, eps {eps:g}", expected, kernel_case(eps, (SIDE, 0.03), (SIDE / 2, 0.015)), step_case(eps, 0.03))
             for eps, expected in reconstructed.OFFSET.items()]
    cases.append(("head-on, eps 1", reconstructed.HEAD_ON, kernel_case(1.0, (SIDE, 0.0), (SIDE / 2, 0.0), 1.0),
                  step_case(1.0, 0.0, 1.0)))
    cases.append(("corner into a wall, eps 0.5", reconstructed.CORNER, kernel_wall(0.5, (SIDE / 2, SIDE / 2)), step_wall(0.5)))
    for name, expected, kernel, step in cases:
        for what, value in expected.items():
            yield Row(f"{name}: {what}, by a whole step", value, float(step[what]), reconstructed.TABLE_TOLERANCE,
                      RECONSTRUCTED, reconstructed.EQ21)
        worst = max(abs(kernel[what] - value) for what, value in expected.items())
        yield at_most(f"{name}: largest difference of the kernel alone", reconstructed.TABLE_TOLERANCE, worst, RECONSTRUCTED,
                      where=reconstructed.EQ21)


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
        collide(*pair, *n, *p, eps, table.fact, moving, FREE)
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
    """Acceptance 1, second half."""
    for what, value in random_impacts(count).items():
        yield at_most(f"{count} random impacts: {what}, largest error", 1e-10, value)


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
        yield reported(f"{count} pairs of squares: verdicts that shapely sees otherwise", "shapely is not installed")
        return
    area = shapely.area(shapely.intersection(shapely.polygons(one), shapely.polygons(other)))
    clear = (area > 1e-9) | (area == 0.0)
    yield Row(f"{count} pairs of squares: verdicts that shapely sees otherwise", 0,
              int(((gap < 0.0) != (area > 1e-9))[clear].sum()), origin=LAW)


# -- 3, 4: the ball -------------------------------------------------------------------------------------------------------
def rolled(bearing: float = 0.0, dt: float = 0.033, **ball: Any) -> tuple[float, float, float, float]:
    """(deceleration in the first step, time, x, y) of a ball from 1 m/s until it is slower than its `slow`."""
    given = {"viscous": 0.0, **BALL, **ball}
    simulation = lab(Ball(vx=cos(bearing), vy=sin(bearing), **given), dt=dt)
    movables = simulation.state.movables[0, 0]
    simulation.step()
    first, time = (1.0 - hypot(*movables[Movable.VELOCITY])) / dt, dt
    while hypot(*movables[Movable.VELOCITY]) > 1e-3:
        simulation.step()
        time += dt
    return first, time, float(movables[Movable.X]), float(movables[Movable.Y])


def ball_rolls() -> Iterator[Row]:
    """Acceptance 3."""
    slowing, time, way, _ = rolled()
    for what, mine in zip(reconstructed.DRY, (slowing, time, way), strict=True):
        expected = reconstructed.DRY[what]
        yield Row(f"ball, dry friction only: {what}", expected, mine, 0.005 * expected, RECONSTRUCTED, reconstructed.EQ8)
    _, time, way, _ = rolled(viscous=0.01)
    for what, mine in zip(reconstructed.VISCOUS, (time, way), strict=True):
        expected = reconstructed.VISCOUS[what]
        yield Row(f"ball, dry and viscous friction: {what}", expected, mine, 0.005 * expected, RECONSTRUCTED, reconstructed.EQ8)
    ways = [hypot(*rolled(radians(10.0 * k))[2:]) for k in range(36)]
    yield at_most("ball, vector law: spread of the way over 36 directions (%)", 0.1, 100.0 * (max(ways) / min(ways) - 1.0))
    yield Row("ball, law of each axis: way at 45 deg (m)", reconstructed.PER_AXIS_45,
              hypot(*rolled(pi / 4, law="per_axis")[2:]), 0.01 * reconstructed.PER_AXIS_45, RECONSTRUCTED, reconstructed.EQ8)
    _, _, x, y = rolled(radians(20.0), law="per_axis")
    ours = hypot(x, y), np.degrees(np.arctan2(y, x))
    for (what, expected), mine in zip(reconstructed.PER_AXIS_20.items(), ours, strict=True):
        yield Row(f"ball, law of each axis, launched at 20 deg: {what}", expected, float(mine), 0.01 * expected, RECONSTRUCTED,
                  reconstructed.EQ8)


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
    yield Row("wheels after the time constant T: share of the order", 1.0 - exp(-1.0), reached, 1e-6, LAW)
    for v, omega in ((0.5, 0.0), (0.0, 5.0), (0.6, -4.0)):
        simulation = lab(robots=((robot, (0.0, 0.0, 0.0)),))
        half = 0.5 * omega * robot.wheel_base
        for _ in range(60):
            drive(simulation, (v - half, v + half))
        vx, vy, spin = simulation.state.velocity[0, 0]
        yield at_most(f"ordered ({v:g} m/s, {omega:g} rad/s): largest error in the steady state", 1e-6,
                      max(abs(hypot(vx, vy) - v), abs(spin - omega)))


# -- 6: no penetration ------------------------------------------------------------------------------------------------------
class Restless:
    """Orders (W, 6, 2) for random driving: each robot keeps its mood for a while: anywhere, at the ball, backwards at it."""

    def __init__(self, worlds: int, top: float, seed: int = 0) -> None:
        self._rng, self._top, self._shape = np.random.default_rng(seed), top, (worlds, 6)
        self._mood, self._wild = np.zeros(self._shape, np.int64), np.zeros((*self._shape, 2))
        self._count = 0

    def orders(self, simulation: Simulation) -> Any:
        """The next."""
        rng, top, state = self._rng, self._top, simulation.state
        if self._count % 90 == 0:
            self._mood = rng.integers(0, 3, self._shape)
        if self._count % 15 == 0:
            self._wild = top * (rng.uniform(-1.0, 1.0, (*self._shape, 1)) + rng.uniform(-0.3, 0.3, (*self._shape, 2)))
        self._count += 1
        way = state.movables[:, :1, Movable.PLACE] - state.position
        turn = np.arctan2(way[..., 1], way[..., 0]) - state.heading
        turn = (turn + pi) % (2.0 * pi) - pi
        chase = top * np.stack([1.0 - turn, 1.0 + turn], axis=-1)
        mood = self._mood[..., None]
        return np.select([mood == 1, mood == 2], [chase, -chase[..., ::-1]], self._wild).clip(-top, top)


def random_driving(seconds: float, seeds: int) -> dict[str, float]:
    """The deepest overlap of each kind (m) after any control step, steps with a robot outside, steps without numbers."""
    world = league.world()
    simulation = Simulation(world, 0, seeds)
    restless = Restless(seeds, world.groups[0].robot.top_speed)
    worst: dict[str, float] = {"outside": 0.0, "not numbers": 0.0}
    state = simulation.state
    for _ in range(round(seconds / world.dt)):
        wheels = restless.orders(simulation)
        simulation.step({"blue": wheels[:, :3], "yellow": wheels[:, 3:]})
        found = depths(simulation)
        worst["outside"] += float(found.pop("outside").sum())
        parts = (state.position, state.heading, state.velocity, state.movables)
        worst["not numbers"] += float(not all(np.isfinite(part).all() for part in parts))
        for what, value in found.items():
            worst[what] = max(worst.get(what, 0.0), float(value.max()))
    return worst


def no_penetration(seconds: float, seeds: int) -> Iterator[Row]:
    """Acceptance 6, measured by plain numpy that does not ask the engine."""
    worst = random_driving(seconds, seeds)
    name = f"random driving, {seeds} games of {seconds:g} s"
    for what in ("robot and robot", "robot and board", "ball and robot", "ball and board"):
        yield at_most(f"{name}: deepest overlap of {what} after any step (mm)", 1.0, 1e3 * worst[what])
    yield Row(f"{name}: steps with a ball or a robot outside", 0, int(worst["outside"]), origin=LAW)
    yield Row(f"{name}: steps with anything that is not a number", 0, int(worst["not numbers"]), origin=LAW)


# -- 7: pushing -------------------------------------------------------------------------------------------------------------
def pushed(speed: float, seconds: float = 10.0) -> dict[str, float]:
    """Two robots drive at each other from 20 cm and go on pushing: what happens from their first contact on."""
    simulation = lab(robots=((MiroSot(), (-0.1375, 0.0, 0.0)), (MiroSot(), (0.1375, 0.0, pi))))
    state = simulation.state
    substeps: list[int] = []
    energy: list[float] = []
    places: list[Any] = []
    while len(energy) < seconds / 0.033:
        drive(simulation, speed, speed)
        if energy or len(touches(simulation)):
            substeps.append(int(state.scratch.bodies.count[SUBSTEPS]))
            energy.append(float((state.velocity[0] ** 2 @ (0.5 * MASS, 0.5 * MASS, MASS * SIDE**2 / 12.0)).sum()))
            places.append(state.position[0].copy())
    first = 10  # steps until the bounces are over
    return {"moved": float(np.abs(np.array(places) - [(-SIDE / 2, 0.0), (SIDE / 2, 0.0)]).max()),
            "substeps": float(max(substeps[first:]) - max(substeps[:first])), "most": float(max(substeps)),
            "energy": float(max(np.diff(energy))),
            "turned": float(max(abs(state.heading[0, 0]), abs(state.heading[0, 1] - pi)))}


def pushing() -> Iterator[Row]:
    """Acceptance 7."""
    for speed in (0.3, 1.3):
        found, name = pushed(speed), f"two robots push head-on at {speed:g} m/s for 10 s"
        yield at_most(f"{name}: furthest from their place (mm)", 5.0, 1e3 * found["moved"])
        yield at_most(f"{name}: substeps of a step, growth after the first ten", 0.0, found["substeps"])
        yield at_most(f"{name}: largest growth of the kinetic energy after contact (J)", 1e-9, found["energy"])
        yield at_most(f"{name}: turned (deg)", 0.1, float(np.degrees(found["turned"])))
        yield reported(f"{name}: most substeps of any step", int(found["most"]))


# -- the preset of another simulator ----------------------------------------------------------------------------------------
def firasim() -> dict[str, float]:
    """Our preset's steady states, in the order of reconstructed.FIRASIM."""
    robot = profiled(MiroSot, "firasim")
    mine = []
    for left, right in ((20.0, 20.0), (-10.0, 10.0)):
        simulation = lab(robots=((robot, (0.0, 0.0, 0.0)),), dt=0.016)
        for _ in range(120):
            drive(simulation, (left * robot.wheel_radius, right * robot.wheel_radius))
        vx, vy, spin = simulation.state.velocity[0, 0]
        mine.append(float(spin) if left < 0.0 else hypot(vx, vy))
    simulation = lab(profiled(Ball, "firasim", vx=1.0), dt=0.02)
    speeds = []
    for _ in range(55):
        simulation.step()
        speeds.append(float(simulation.state.movables[0, 0, Movable.VX]))
    mine += [(speeds[4] - speeds[-1]) / (50 * 0.02), speeds[4]]
    ball = profiled(Ball, "firasim", vx=1.0)
    simulation = lab(Wall((0.3, -1.0, 0.3, 1.0)), ball, dt=0.002)
    speed = 1.0
    while not len(touches(simulation)):  # it rolls by then
        speed = float(simulation.state.movables[0, 0, Movable.VX])
        simulation.step()
    mine.append(float(touches(simulation)[0, 4]) / ball.mass / speed - 1.0)  # before its spin acts on it again
    return dict(zip(reconstructed.FIRASIM.values, mine, strict=True))


def as_firasim() -> Iterator[Row]:
    """The preset `firasim` beside the program that it is named after."""
    mine = firasim()
    for what, (theirs, tolerance) in reconstructed.FIRASIM.values.items():
        yield Row(f"FIRASim, measured: {what}", theirs, mine[what], tolerance, MEASURED, reconstructed.FIRASIM.where)
