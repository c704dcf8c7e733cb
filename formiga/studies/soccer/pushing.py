"""Acceptance 6 and 7: no penetration, nothing passes through anything, pushing; and the ball that is held at a board."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, pi
from typing import Any

import numpy as np

from formiga.engine.planar.impulse.bodies import SUBSTEPS
from formiga.loop import Simulation
from formiga.soccer import league
from formiga.state import Movable
from formiga.studies.harness import Row, at_least, at_most, reported
from formiga.studies.soccer.bench import drive, lab, touches
from formiga.studies.soccer.overlap import depths
from formiga.studies.soccer.reconstructed import MASS, SIDE
from formiga.world.model import Ball, Block, Puck, Wall
from formiga.world.movables import GRAVITY
from formiga.world.robots import Disc, MiroSot

LAW = "law"
LEFT = 0.1             # mm: an overlap that may be left, as the manual says
FAST = (1.0, 10.0, 100.0)  # m/s


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
    worst["too crowded"] = float(state.unresolved.sum())
    return worst


def no_penetration(seconds: float, seeds: int) -> Iterator[Row]:
    """Acceptance 6, measured by plain numpy that does not ask the engine."""
    worst = random_driving(seconds, seeds)
    name = f"random driving, {seeds} games of {seconds:g} s"
    for what in ("robot and robot", "robot and board", "ball and robot", "ball and board"):
        yield at_most(f"{name}: deepest overlap of {what} after any step (mm)", LEFT, 1e3 * worst[what])
    yield Row(f"{name}: steps that are counted as too crowded", 0, int(worst["too crowded"]), origin=LAW)
    yield Row(f"{name}: steps with a ball or a robot outside", 0, int(worst["outside"]), origin=LAW)
    yield Row(f"{name}: steps with anything that is not a number", 0, int(worst["not numbers"]), origin=LAW)


# -- nothing passes through anything ----------------------------------------------------------------------------------------
def flown(speed: float, worlds: int = 60, steps: int = 10) -> dict[str, float]:
    """Steps in which a ball or a square is outside of its room of 1 m, or has passed the other in a corridor; and steps that
    are counted as not finished."""
    rng = np.random.default_rng(int(speed))
    ball = Ball(wall_restitution=1.0, restitution=1.0, rolling=0.0, viscous=0.0, felt=True, name="a")
    block = Block(0.0, 0.0, width=SIDE, depth=SIDE, friction=0.0, wall_restitution=1.0, name="b")
    room = lab(Wall((-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5, -0.5, -0.5)), ball, block, worlds=worlds)
    lane = lab(Wall((-9.0, 0.04, 9.0, 0.04)), Wall((-9.0, -0.04, 9.0, -0.04)), ball, block, worlds=worlds)
    bearing = rng.uniform(0.0, 2.0 * pi, (worlds, 2))
    movables = room.state.movables
    movables[..., Movable.PLACE] = np.stack([(-0.25, 0.25) + rng.uniform(-0.1, 0.1, (worlds, 2)),
                                             rng.uniform(-0.4, 0.4, (worlds, 2))], axis=-1)
    movables[..., Movable.VX], movables[..., Movable.VY] = speed * np.cos(bearing), speed * np.sin(bearing)
    pair = lane.state.movables
    pair[:, 0, Movable.X], pair[:, 1, Movable.X] = -rng.uniform(0.1, 2.0, worlds), rng.uniform(0.1, 2.0, worlds)
    pair[:, 0, Movable.VX], pair[:, 1, Movable.VX] = speed, -speed
    outside = passed = 0
    for _ in range(steps):
        room.step()
        lane.step()
        outside += int((np.abs(movables[..., Movable.PLACE]) > 0.5).any(-1).sum())
        passed += int((pair[:, 0, Movable.X] > pair[:, 1, Movable.X]).sum())
    return {"outside": outside, "passed": passed, "lost": int(room.state.unresolved.sum() + lane.state.unresolved.sum())}


def tunnelling() -> Iterator[Row]:
    """A step of 33 ms takes a ball at 100 m/s 150 radii far."""
    for speed in FAST:
        found, name = flown(speed), f"ball and square at {speed:g} m/s, 60 x 10 steps"
        yield Row(f"{name}: outside of a closed room", 0, found["outside"], origin=LAW)
        yield Row(f"{name}: past each other in a corridor", 0, found["passed"], origin=LAW)
        yield reported(f"{name}: of 1200 steps, counted as not finished", found["lost"],
                       note="A ball that a square hits is up to three times as fast: then a control period ends early.")


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
        yield at_most(f"{name}: furthest from their place (mm)", 1.0, 1e3 * found["moved"],
                      note="the first bounce, and half of the 0.5 mm within which bodies touch")
        yield at_most(f"{name}: substeps of a step, growth after the first ten", 0.0, found["substeps"])
        yield at_most(f"{name}: largest growth of the kinetic energy after contact (J)", 2e-17, found["energy"])
        yield at_most(f"{name}: turned (deg)", 1e-3, float(np.degrees(found["turned"])))
        yield reported(f"{name}: most substeps of any step", int(found["most"]))


def shoved(robot: Any, mass: float, friction: float, substep: float, seconds: float = 3.0) -> float:
    """Speed (m/s) of a puck on the floor that a robot has driven against at 0.3 m/s for so long."""
    puck = Puck(robot.radius + 0.1002, 0.0, 0.1, mass, friction=friction)
    simulation = lab(puck, robots=((robot, (0.0, 0.0, 0.0)),), dt=0.02, substep=substep)
    for _ in range(round(seconds / 0.02)):
        drive(simulation, 0.3)
    return float(simulation.state.movables[0, 0, Movable.VX])


def substeps() -> Iterator[Row]:
    """A push is what forces and masses make it, with substeps of 20 ms as with 0.2 ms: the closed forms of both cases."""
    tyres = Disc(radius=0.05, wheel_base=0.08, top_speed=1.0, mass=MASS)
    lagging = MiroSot(shape="circle", side=0.1, mass=MASS)
    cases = (("tyres (0.6 m g = 2.9 N) against 5 kg that resist with 14.7 N", tyres, 5.0, 0.0),
             ("tyres (2.9 N) against 0.5 kg that resist with 1.5 N", tyres, MASS, 0.3),
             ("motors with a lag against 0.5 kg that resist with 1.5 N", lagging, MASS,
              0.3 - 0.3 * GRAVITY * lagging.motor_lag))
    for name, robot, mass, expected in cases:
        for substep in (0.02, 0.005, 0.001, 0.0002):
            yield Row(f"0.5 kg at 0.3 m/s, {name}, substeps of {1e3 * substep:g} ms: speed (m/s)", expected,
                      shoved(robot, mass, 0.3, substep), 1e-11, LAW)


def held_ball(friction: float, speed: float = 1.3, board: bool = True) -> float:
    """Fastest (m/s) that a ball gets in 1.5 s in which a robot holds it against a board, or against a second that comes from
    the other side, 1 mm off the robot's middle."""
    radius = Ball().radius
    apart = SIDE / 2 + radius + 0.02
    wall = (Wall((radius + 0.001, -1.0, radius + 0.001, 1.0)),) if board else ()
    robots = ((MiroSot(), (-apart, 0.0, 0.0)), (MiroSot(), (apart, 0.0, pi)))[:1 if board else 2]
    simulation = lab(Ball(y=0.001), *wall, robots=robots, friction=friction)
    fastest = 0.0
    for _ in range(45):
        drive(simulation, *(speed for _ in robots))
        fastest = max(fastest, hypot(*simulation.state.movables[0, 0, Movable.VELOCITY]))
    return fastest


def captured() -> Iterator[Row]:
    """A ball between a robot and a board: the paper's bodies are frictionless, and let it go."""
    name = "a ball held at a board 1 mm off the middle of a robot that drives at 1.3 m/s: fastest"
    yield at_least(f"{name}, frictionless as in the paper (m/s)", 1.0, held_ball(0.0),
                   note="It is squeezed out as fast as the robot turns: what contact friction is there for.")
    yield at_most(f"{name}, with friction 0.2 (m/s)", 0.05, held_ball(0.2))
    name = "a ball 1 mm off the middle of two robots that drive at each other at 1.3 m/s: fastest"
    yield reported(f"{name}, with friction 0.2 (m/s)", held_ball(0.2, board=False),
                   note="Both turn away, until they are a wedge that friction does not hold.")
