"""Range scanners: 181 beams that reach 30 m, among as many walls as a building has."""

from __future__ import annotations

import time
from math import cos, inf, sin
from typing import Any

import numpy as np

from formiga.benchmarks.measure import Columns, show, timed
from formiga.loop import Simulation
from formiga.sense.scanner import Scanner
from formiga.units import CM
from formiga.world.model import Arena, Group, Wall, World
from formiga.world.robots.disc import Disc

SIZES = ((181, 5_000, 1, 0.0), (181, 5_000, 20, 0.0), (181, 5_000, 20, 1.0 * CM), (181, 500, 20, 0.0), (361, 5_000, 20, 0.0))
FULL = (*SIZES, (181, 50_000, 20, 0.0), (181, 5_000, 200, 0.0))   # beams, walls, robots, noise in m
SIDE = 60.0            # m, of the arena
REACH = 30.0           # m
BLOCK = 0.25           # s, about, that a timed block takes
COLUMNS: Columns = (
    ("beams", "beams", "{:,}"), ("walls", "walls", "{:,}"), ("robots", "robots", "{:,}"), ("noise", "noise\n(m)", "{:g}"),
    ("robot_steps_per_s", "robot-\nsteps/s", "{:,.0f}"),
    ("every_wall_robot_steps_per_s", "every\nwall", "{:,.0f}"), ("ratio", "ratio", "{:.1f}"), ("agrees", "same\nbits", "{}"),
)


def world(beams: int, walls: int, robots: int, noise: float) -> World:
    """Walls of 0.2 to 1 m at random places of an arena, and robots between them that stand still."""
    rng = np.random.default_rng(walls)
    chain = []
    for x, y, angle, length in rng.uniform((-0.5, -0.5, 0.0, 0.2), (0.5, 0.5, 6.28, 1.0), (walls, 4)):
        chain.append(Wall(points=(SIDE * x, SIDE * y, SIDE * x + length * cos(angle), SIDE * y + length * sin(angle))))
    scanner = Scanner(beams=beams, reach=REACH, noise=noise)
    robot = Disc(radius=10.0 * CM, wheel_base=15.0 * CM, top_speed=0.3)
    return World(name="scanner", things=(Arena(width=SIDE + 2.0, depth=SIDE + 2.0), *chain),
                 groups=(Group(robot=robot, count=robots, sensors=(scanner,)),))


def run(full: bool = False, sizes: tuple[tuple[int, int, int, float], ...] | None = None) -> dict[str, Any]:
    """The rows, printed as a table."""
    rows = [measure(*size) for size in sizes or (FULL if full else SIZES)]
    show(f"scanner: beams of {REACH:g} m in {SIDE:g} m x {SIDE:g} m, one core; the best of several blocks of steps", rows,
         ["Every wall: each beam tries all walls within reach, as short ones do."], COLUMNS)
    return {"rows": rows}


def together(simulation: Simulation, steps: int) -> None:
    """So many steps in one compiled call."""
    assert simulation.advance(steps)


def measure(beams: int, walls: int, robots: int, noise: float, blocks: int = 5) -> dict[str, Any]:
    """One row. Both ways take turns, in one process; they must read the same."""
    given = world(beams, walls, robots, noise)
    ours, plain = Simulation(given), Simulation(given)
    plain.model.walk_from = inf  # type: ignore[attr-defined]  # of the planar engine's own Model
    group, sensor = given.groups[0].name, given.groups[0].sensors[0].name
    same = np.array_equal(ours.readings[group][sensor], plain.readings[group][sensor])
    best: list[tuple[Simulation, int, list[float]]] = []
    for simulation in (ours, plain):
        together(simulation, 2)
        steps, took = 1, timed(together, simulation, 1)
        while took < 0.2 * BLOCK:
            steps *= 2
            took = timed(together, simulation, steps)
        best.append((simulation, max(1, round(steps * BLOCK / took)), [inf]))
    began = time.process_time()
    for _ in range(blocks):
        for simulation, steps, seconds in best:
            seconds.append(timed(together, simulation, steps) / steps)
    fast, slow = (robots / min(seconds) for _, _, seconds in best)
    return {"beams": beams, "walls": walls, "robots": robots, "noise": noise, "reach": REACH, "robot_steps_per_s": fast,
            "every_wall_robot_steps_per_s": slow, "ratio": fast / slow, "agrees": same, "seconds": time.process_time() - began}
