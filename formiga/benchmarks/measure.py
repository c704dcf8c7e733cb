"""How a speed is measured: ours and the C++ twin take turns, from the same start, in the same process."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from formiga.benchmarks import cpp
from formiga.loop import Simulation
from formiga.world.model import World

WARM_UP = 100      # steps before the clock starts; after them, both are compared
TOLERANCE = 1e-6   # m and rad; more than this is not the same work
BLOCK = 0.15       # s, about, that a timed block takes

Columns = tuple[tuple[str, str, str], ...]
COLUMNS: Columns = (  # field, heading, form; those that are absent from all rows are left out
    ("robots", "robots", "{:,}"), ("worlds", "worlds", "{:,}"), ("millions", "M robot-\nsteps/s", "{:.2f}"),
    ("ns_per_robot_step", "ns\neach", "{:.0f}"), ("cpp_millions", "C++\nM/s", "{:.2f}"),
    ("cpp_ratio", "ours/\nC++", "{:.2f}"), ("agrees", "agrees", "{}"), ("contact_rate", "contact\nrate", "{:.2%}"),
    ("cores", "cores", "{:.2f}"),
)


def measure(world: World, worlds: int, blocks: int = 7, block: float = BLOCK, warm_up: int = WARM_UP,
            twin: type[cpp.Plain] = cpp.Plain, compare: Callable[..., float] | None = None,
            more: Callable[[Simulation], dict[str, Any]] | None = None) -> dict[str, Any]:
    """One row: the speed of `worlds` copies of a world, stepped from Python, and of the C++ twin if it can be had.

    Both figures are of the best block: on a machine with other work, that is the one least disturbed. `cores` is
    processor time over clock time while ours ran: 1 is one core. `difference` is the largest between ours and C++, of
    any coordinate (m) or heading (rad), after the warm-up; the two `agree` if it is tiny.

    twin: class of the C++ twin; compare(simulation, twin): their difference, default `apart`; more: further fields of the row.
    """
    simulation = Simulation(world, worlds=worlds)
    plain = twin(simulation) if cpp.compiler() else None
    advance(simulation, warm_up)
    difference = None
    if plain:
        plain.steps(warm_up)
        difference = (compare or apart)(simulation, plain)
    trial = 2
    while (took := timed(advance, simulation, trial)) < 0.2 * block:
        trial *= 2
    steps = max(1, round(trial * block / took))
    crashes, busy = int(simulation.state.crashes.sum()), 0.0
    ours, of_cpp = [], []
    for _ in range(blocks):
        began = time.process_time()
        ours.append(timed(advance, simulation, steps))
        busy += time.process_time() - began
        if plain:
            of_cpp.append(timed(plain.steps, steps))
    robot_steps = world.robots * worlds * steps
    return {
        "robots": world.robots, "worlds": worlds, "robot_steps_per_s": robot_steps / min(ours),
        "median_robot_steps_per_s": robot_steps / median(ours), "ns_per_robot_step": 1e9 * min(ours) / robot_steps,
        "contact_rate": (int(simulation.state.crashes.sum()) - crashes) / (robot_steps * blocks),
        "cpp_ratio": min(of_cpp) / min(ours) if plain else None,
        "cpp_robot_steps_per_s": robot_steps / min(of_cpp) if plain else None,
        "agrees": None if difference is None else difference <= TOLERANCE, "difference": difference,
        "cores": busy / sum(ours), "memory_mb": None,
        **(more(simulation) if more else {}),
    }


def advance(simulation: Simulation, steps: int) -> None:
    """The loop, driven from Python."""
    for _ in range(steps):
        simulation.step()


def apart(simulation: Simulation, twin: cpp.Plain) -> float:
    """The largest difference of any coordinate or heading; infinite if a crash was counted differently."""
    position, heading, crashes, _ = twin.read()
    if not np.array_equal(crashes, simulation.state.crashes):
        return float("inf")
    state = simulation.state
    return float(max(np.abs(position - state.position).max(), np.abs(heading - state.heading).max()))


def timed(what: Callable[..., None], *given: Any) -> float:
    """Seconds on the clock that a call takes."""
    began = time.perf_counter()
    what(*given)
    return time.perf_counter() - began


def show(title: str, rows: list[dict[str, Any]], notes: list[str], columns: Columns = COLUMNS) -> None:
    """Print the table, then the notes, a line each."""
    table = Table(title=title, title_justify="left")
    shown = [column for column in columns if any(_value(row, column[0]) is not None for row in rows)]
    for _, heading, _ in shown:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*(_text(_value(row, name), form) for name, _, form in shown))
    console = Console()
    console.print(table)
    if cpp.compiler() is None and any(name == "cpp_ratio" for name, _, _ in columns):
        notes = [*notes, "There is no g++ here, so there is no C++ to compare with."]
    for note in notes:
        console.print(note, highlight=False, markup=False)


def _value(row: dict[str, Any], name: str) -> Any:
    if name.endswith("millions"):
        whole = row[name.replace("millions", "robot_steps_per_s")]
        return None if whole is None else whole / 1e6
    return row[name]


def _text(value: Any, form: str) -> str:
    if value is None:
        return ""
    return ("yes" if value else "NO") if isinstance(value, bool) else form.format(value)
