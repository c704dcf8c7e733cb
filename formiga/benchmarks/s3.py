"""The four speed tables of the swarm-bot simulator [Tran-Dinh 2005, tables 5.1 to 5.4], in space, on one core.

5.1 robots without sensors drive at random; 5.2 the same in one formation in which each robot but the last grips the next; 5.3
robots stand still and their proximity sensors measure, by three techniques; 5.4 the same for light and sound sensors. All have
s-bots at distances of 30 cm (in 5.2 of 13.5 cm, gripper to ring), four walls, control periods of 0.1 s, and 1000 of them count:
100 s. 5.1 and 5.2 are measured with robots that slide and with robots on wheels. The thesis had more than 100 seeds on an
Athlon XP 2800+.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from math import ceil, inf, log, pi, sqrt
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from formiga.loop import Simulation
from formiga.sense.light import Light
from formiga.sense.microphone import Microphone
from formiga.sense.proximity import Proximity
from formiga.state import Floats
from formiga.units import CM
from formiga.world.contract import joint_names
from formiga.world.elements import profiled
from formiga.world.ground import Physics
from formiga.world.model import Arena, Cylinder, Group, Lamp, World
from formiga.world.placement import At, Grid
from formiga.world.robots.sbot import SBot
from formiga.world.sources import Speaker

FRAMES, DT = 1000, 0.1
BASES = ("sliding", "wheels")     # of tables 5.1 and 5.2; the thesis simulated contacts with the floor, as wheels have them
SEEDS, FULL_SEEDS = 3, 10
BUDGET = 0.08                     # s of a quick run that one seed of one cell may take
TICK = 1e-6                       # s that count as at least spent: the clock of a processor may go in steps of 10 ms
WARM_UP = 3                       # frames before the clock starts
HOLD = 10                         # frames that wheel speeds are held: a second
SPACING, JOINED = 30 * CM, 13.5 * CM
OBSTACLES, RADIUS, TALL = 24, 6 * CM, 40 * CM
UNBREAKABLE = 1e6                 # N: a formation that pulls itself apart would be another table
SOLVERS, TECHNIQUES, WAVES = ("direct", "iterative", "auto"), ("ray", "sampling", "shadow"), ("light", "sound")

# [Tran-Dinh 2005, tables 5.1 to 5.4]: mean seconds for 100 s
THESIS: dict[str, dict[str, dict[int, float]]] = {
    "5.1": {
        "direct": {1: 0.08638, 2: 0.16606, 4: 0.32694, 8: 0.65303, 16: 1.40601, 32: 4.16268, 64: 15.0444, 128: 52.1648},
        "iterative": {1: 0.41086, 2: 0.81016, 4: 1.62109, 8: 3.25002, 16: 6.50322, 32: 13.1822, 64: 27.4801, 128: 57.5374}},
    "5.2": {
        "direct": {1: 0.08638, 2: 0.41023, 4: 2.72198, 6: 8.90234, 8: 24.8694, 12: 75.4717},
        "iterative": {1: 0.41086, 2: 0.84053, 4: 1.73786, 6: 2.61219, 8: 3.49186, 12: 5.26593, 16: 7.06165, 20: 8.88494,
                      25: 11.0939}},
    "5.3": {
        "ray": {1: 0.17729, 2: 0.22601, 4: 0.33981, 8: 0.57722, 16: 1.34214, 32: 4.04531, 64: 12.8800},
        "sampling": {1: 0.17282, 2: 0.19191, 4: 0.22606, 8: 0.30498, 16: 0.47401, 32: 1.09081, 64: 3.16847},
        "shadow": {1: 0.15556, 2: 0.17658, 4: 0.21904, 8: 0.30375, 16: 0.54493, 32: 1.55296, 64: 3.63465}},
    "5.4": {
        "light": {1: 0.24113, 2: 0.35754, 4: 0.55386, 8: 1.11743, 16: 2.85470, 32: 7.78998, 64: 27.5786},
        "sound": {1: 0.14983, 2: 0.16325, 4: 0.18549, 8: 0.23658, 16: 0.36204, 32: 0.73499, 64: 2.16282}},
}
SIZES = {"5.1": (1, 2, 4, 8, 16, 32, 64, 128), "5.2": (1, 2, 4, 6, 8, 12, 16, 20, 25, 36, 64, 121),
         "5.3": (1, 2, 4, 8, 16, 32, 64), "5.4": (1, 2, 4, 8, 16, 32, 64)}
TITLES = {"5.1": "free robots that drive at random", "5.2": "one formation that drives at random",
          "5.3": f"proximity; robots stand still among {OBSTACLES} obstacles",
          "5.4": f"light and sound; robots stand still among {OBSTACLES} sources"}
NAMES = {"direct": "worldstep", "iterative": "quickstep"}   # what the thesis calls ours
DENSEST, FULL_DENSEST = 25, 64    # connected robots that the direct solver is tried with: its time grows with their cube
NOTES = (
    "Seconds are processor time for 100 s, mean and standard deviation over the seeds; ratio: 100 s over that.",
    "direct: Newton's method with dense matrices, iterative: conjugate gradients, auto: Newton's method with sparse matrices. "
    "The thesis's are worldstep (direct) and quickstep (iterative) of ODE, with steps of 0.1 s on an Athlon XP 2800+. "
    "Formations above 25 robots, and direct ones above 12, are not in the thesis: it ran out of memory.",
)


class Target(NamedTuple):
    """What is asked for, and what came out."""

    what: str
    needed: str
    ours: float | None
    met: bool | None


def run(full: bool = False, sizes: dict[str, tuple[int, ...]] | None = None, budget: float | None = None,
        seeds: int | None = None) -> dict[str, Any]:
    """All rows, printed as the thesis's four tables; then which targets are met."""
    sizes = sizes or SIZES
    budget = budget if budget is not None else inf if full else BUDGET
    seeds = seeds or (FULL_SEEDS if full else SEEDS)
    rows: list[dict[str, Any]] = []
    for table, numbers in sizes.items():
        techniques = {"5.1": SOLVERS, "5.2": SOLVERS, "5.3": TECHNIQUES, "5.4": WAVES}[table]
        for base in BASES if techniques is SOLVERS else BASES[:1]:
            found = [cell(table, robots, technique, seeds, budget, base) for robots in numbers for technique in techniques
                     if not (table == "5.2" and technique == "direct" and robots > (FULL_DENSEST if full else DENSEST))]
            _print(table, techniques, found, seeds, base)
            rows += found
    goals = targets(rows)
    grown = {f"{table} {technique}, {base}": exponent(rows, table, technique, base)
             for table in ("5.1", "5.2") for base in BASES for technique in SOLVERS}
    console = _console()
    for goal in goals:
        if goal.ours is not None:
            verdict = "met" if goal.met else "MISSED"
            console.print(f"{goal.what}: {goal.needed}, ours {goal.ours:.3g}: {verdict}", highlight=False)
    powers = ", ".join(f"{name} {power:.2f}" for name, power in grown.items() if power is not None)
    for note in (*([f"Exponents of growth from 16 robots on: {powers}."] if powers else []), *NOTES):
        console.print(note, highlight=False)
    return {"rows": rows, "summary": {"exponents": grown, "targets": [goal._asdict() for goal in goals], "seeds": seeds}}


def _console() -> Console:
    console = Console()
    if not console.is_terminal:
        console.width = 132  # a file or a pipe has no width of its own
    return console


def _print(table: str, techniques: tuple[str, ...], rows: list[dict[str, Any]], seeds: int, base: str) -> None:
    """One table in the thesis's form: a line for each number of robots, its columns beside ours."""
    found = {(row["robots"], row["technique"]): row for row in rows}
    run = [row["frames"] for row in rows if not row["failed"]] or [0]
    frames = f"all {FRAMES} frames" if min(run) == FRAMES else f"{min(run)} to {max(run)} of {FRAMES} frames, scaled"
    moves = {"sliding": ", sliding", "wheels": ", on wheels"}[base] if techniques is SOLVERS else ""
    title = f"{table}: {TITLES[table]}{moves}; {seeds} seeds, {frames}"
    shown = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    known = [name for name in techniques if name in THESIS[table]]
    rated = known if techniques is SOLVERS else []  # its other tables have seconds only
    for heading in ("robots", *(f"{name}\ns" for name in techniques), *(f"{name}\nratio" for name in techniques),
                    *(f"thesis\n{NAMES.get(name, name)}" for name in known), *("thesis\nratio" for _ in rated)):
        shown.add_column(heading, justify="right", no_wrap=True)
    for robots in dict.fromkeys(row["robots"] for row in rows):
        line = [found.get((robots, name)) for name in techniques]
        thesis = [THESIS[table][name].get(robots) for name in known]
        shown.add_row(str(robots), *(_seconds(row) for row in line),
                      *(f"{row['ratio']:.0f}" if row and row["ratio"] else "" for row in line),
                      *(f"{took:.3f}" if took else "" for took in thesis),
                      *(f"{FRAMES * DT / took:.4g}" if took else "" for took in thesis[: len(rated)]))
    _console().print(shown)


def _seconds(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return "explodes" if row["failed"] else f"{row['seconds']:.3f} +-{row['spread']:.3f}"


# -- one cell ---------------------------------------------------------------------------------------------------------------
def cell(table: str, robots: int, technique: str, seeds: int, budget: float, base: str = BASES[0]) -> dict[str, Any]:
    """A row: seconds that 100 s take, over the seeds; none if the motion exploded.

    `frames`: how many of the 1000 were run by the seed that ran fewest. `cores`: processor time over time on the clock.
    """
    if table in ("5.1", "5.2"):
        world, drives = (free if table == "5.1" else joined)(robots, technique, base)
    else:
        world, drives = (looking if table == "5.3" else listening)(robots, technique)
    simulation = Simulation(world)
    row: dict[str, Any] = {"table": table, "robots": robots, "technique": technique, "base": base, "seconds": None,
                           "ratio": None, "published": THESIS[table].get(technique, {}).get(robots), "spread": None,
                           "seeds": seeds,
                           "frames": 0, "cores": None, "failed": None}
    took, frames, busy = [], [], 0.0
    for seed in range(seeds):
        simulation.reset(seed=seed)
        if table == "5.2":
            grip(simulation)
        speeds = drawn(seed, robots) if drives else np.zeros((1, 1, robots, 2))
        advance(simulation, speeds, 0, WARM_UP)
        clock, began, done = time.perf_counter(), time.process_time(), 0
        while done < FRAMES and (done == 0 or time.process_time() - began < budget):
            count = FRAMES
            if budget < inf:  # begin with one frame, then at most as many as have been run
                spent = max(time.process_time() - began, TICK)
                count = 1 if done == 0 else max(1, min(done, int(done * (budget / spent - 1.0))))
            count = min(count, FRAMES - done)
            advance(simulation, speeds, done, count)
            done += count
        if simulation.state.done.any():  # it exploded; what follows is no motion, and its time means nothing
            return row | {"failed": "the motion exploded"}
        spent = max(time.process_time() - began, TICK)
        busy = max(busy, spent / (time.perf_counter() - clock))
        took.append(spent * FRAMES / done)
        frames.append(done)
    seconds = mean(took)
    return row | {"seconds": seconds, "ratio": FRAMES * DT / seconds, "spread": stdev(took) if seeds > 1 else 0.0,
                  "frames": min(frames), "cores": busy}


def advance(simulation: Simulation, speeds: Floats, first: int, count: int) -> None:
    """Frames of the laboratory, driven from outside."""
    for k in range(first, first + count):
        simulation.step({"swarm": speeds[k // HOLD % len(speeds)]})


def drawn(seed: int, robots: int) -> Floats:
    """Wheel speeds (seconds, 1, robots, 2), uniform, new every second."""
    top = SBot().top_speed
    return np.random.default_rng(seed).uniform(-top, top, (ceil(FRAMES / HOLD), 1, robots, 2))


def grip(simulation: Simulation) -> None:
    """Close all grippers but the last one's."""
    grip_of = joint_names(simulation.world.groups[0].robot).index("grip")
    simulation.state.joint_command[:, :-1, grip_of] = 1.0


# -- worlds -----------------------------------------------------------------------------------------------------------------
def _world(robots: int, side: float, place: tuple[Any, ...], things: tuple[Any, ...] = (), sensors: tuple[Any, ...] = (),
           solver: str = "auto", **robot: Any) -> World:
    group = Group(robot=SBot(**robot), count=robots, name="swarm", place=place, sensors=sensors)
    walls = Arena(width=side, depth=side, height=TALL)
    return World(name="s3", engine="spatial", dt=DT, things=(walls, *things), groups=(group,),
                 settings=(Physics(solver=solver),))


def free(robots: int, solver: str, base: str = BASES[0]) -> tuple[World, bool]:
    """5.1: a grid of 30 cm with walls around."""
    return _world(robots, SPACING * (ceil(sqrt(robots)) + 1), (Grid(spacing=SPACING),), solver=solver, base=base), True


def joined(robots: int, solver: str, base: str = BASES[0]) -> tuple[World, bool]:
    """5.2: rows of a compact block, forwards and backwards, each robot facing the next one. There is room to move."""
    columns = ceil(sqrt(robots))
    cells = [(k % columns if k // columns % 2 == 0 else columns - 1 - k % columns, k // columns) for k in range(robots)]
    middle = (columns - 1) / 2
    place = []
    for here, there in zip(cells, [*cells[1:], cells[-1]], strict=True):
        heading = pi / 2 if there[1] > here[1] else pi if there[0] < here[0] else 0.0
        place.append(At(x=JOINED * (here[0] - middle), y=JOINED * (here[1] - middle), heading=heading))
    return _world(robots, JOINED * columns + 2.0, tuple(place), solver=solver, base=base, grip_force=UNBREAKABLE), True


def looking(robots: int, technique: str) -> tuple[World, bool]:
    """5.3: obstacles in the middle of the grid's cells."""
    things = tuple(Cylinder(x=x, y=y, radius=RADIUS, height=TALL, name=f"post{k}") for k, (x, y) in enumerate(_between()))
    return _world(robots, 3.0, (_aside(robots),), things, (profiled(Proximity, "s3", technique=technique),)), False


def listening(robots: int, wave: str) -> tuple[World, bool]:
    """5.4: lamps or speakers instead of the obstacles."""
    make: Callable[..., Any] = Lamp if wave == "light" else Speaker
    things = tuple(make(x=x, y=y, z=30 * CM, intensity=0.25, name=f"source{k}") for k, (x, y) in enumerate(_between()))
    sensor = Light(of="lamps") if wave == "light" else Microphone()
    return _world(robots, 3.0, (_aside(robots),), things, (sensor,)), False


def _aside(robots: int) -> Grid:
    """A grid whose robots stand beside the middles of cells, also if it has an odd number of rows or columns."""
    columns = ceil(sqrt(robots))
    rows = ceil(robots / columns)
    return Grid(spacing=SPACING, x=0.5 * SPACING * (columns % 2), y=0.5 * SPACING * (rows % 2))


def _between() -> list[tuple[float, float]]:
    """24 places in the middle of cells of a grid of 8 x 8, spread evenly."""
    cells = [(x, y) for y in range(7) for x in range(7)]
    return [(SPACING * (cells[k][0] - 3), SPACING * (cells[k][1] - 3)) for k in range(0, 2 * OBSTACLES, 2)]


# -- what is asked for --------------------------------------------------------------------------------------------------------
def exponent(rows: list[dict[str, Any]], table: str, technique: str, base: str = BASES[0], least: int = 16,
             most: int = 128) -> float | None:
    """Slope of log seconds over log robots, fitted from `least` to `most` robots; None without two of them."""
    points = [(log(row["robots"]), log(row["seconds"])) for row in rows if not row["failed"]
              and (row["table"], row["technique"], row["base"]) == (table, technique, base) and least <= row["robots"] <= most]
    if len(points) < 2:
        return None
    robots, seconds = np.array(points).T
    return float(np.polyfit(robots, seconds, 1)[0])


def targets(rows: list[dict[str, Any]]) -> list[Target]:
    """The promises of speed; None where a row is absent."""
    def find(table: str, robots: int, technique: str, what: str, base: str = BASES[0]) -> float | None:
        return next((float(row[what]) for row in rows if not row["failed"] and
                     (row["table"], row["robots"], row["technique"], row["base"]) == (table, robots, technique, base)), None)

    goals = []
    for robots, least in ((16, 150.0), (64, 40.0), (128, 15.0)):
        ratio = find("5.1", robots, "direct", "ratio", "wheels")
        goals.append(Target(f"{robots} free robots on wheels, direct: ratio", f">= {least:g}", ratio,
                            None if ratio is None else ratio >= least))
    for what, table, robots, least in (("16 free robots, auto", "5.1", 16, 150.0), ("128 free robots, auto", "5.1", 128, 20.0),
                                       ("25 connected robots, auto", "5.2", 25, 40.0)):
        ratio = find(table, robots, "auto", "ratio")
        goals.append(Target(f"{what}: ratio", f">= {least:g}", ratio, None if ratio is None else ratio >= least))
    for technique in TECHNIQUES:
        ours = find("5.3", 64, technique, "seconds")
        times = None if ours is None else THESIS["5.3"][technique][64] / ours
        goals.append(Target(f"proximity of 64 robots by {technique}: times as fast as the thesis", ">= 10", times,
                            None if times is None else times >= 10.0))
    for what, table, technique, most in (("free", "5.1", "auto", 1.2), ("connected", "5.2", "auto", 1.4),
                                         ("connected", "5.2", "iterative", 1.4)):
        power = exponent(rows, table, technique)
        goals.append(Target(f"{what}, {technique}: exponent of growth from 16 robots on", f"< {most:g}", power,
                            None if power is None else power < most))
    return goals


def main() -> None:
    """Some cells of the tables as JSON, for callers that want them from another process: 5.1/16/auto 5.1/16/auto/wheels"""
    ask = argparse.ArgumentParser(description=main.__doc__)
    ask.add_argument("cells", nargs="+")
    ask.add_argument("--seeds", type=int, default=SEEDS)
    ask.add_argument("--budget", type=float, default=inf)
    given = ask.parse_args()
    cells = [each.split("/") for each in given.cells]
    print(json.dumps([cell(table, int(robots), technique, given.seeds, given.budget, *base)
                      for table, robots, technique, *base in cells]))


if __name__ == "__main__":
    main()
