"""A batch of worlds that differ against a batch of copies of one world: what it costs to give each world its own numbers.

The whole call of `simulate` counts: reading, building, placing, all steps. Both take turns in this process, on one core, and
processor time is measured; `goal` is the most that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from formiga.benchmarks.measure import Columns, show
from formiga.lab import simulate
from formiga.world.shipped import world_file

WORLDS, SECONDS = 1_000, 60.0
GOAL = 1.5                      # times the time of copies, at most
CASES = (  # what differs, what is written in corral.xml, what stands there instead, from, to
    ("radii of an obstacle", 'radius="8cm"', 'radius="${p}"', 0.03, 0.1),
    ("gains of the controller", "<braitenberg/>", '<braitenberg gain="${p}"/>', 1.0, 6.0),
)
COLUMNS: Columns = (("what", "what differs", "{}"), ("worlds", "worlds", "{:,}"), ("copies", "copies\ns", "{:.2f}"),
                    ("differing", "differing\ns", "{:.2f}"), ("ratio", "times the\ntime of copies", "{:.2f}"))


def run(full: bool = False) -> dict[str, Any]:
    """The rows; printed as a table."""
    with TemporaryDirectory(prefix="formiga-") as folder:
        rows = [_row(Path(folder), *case, 3 if full else 1) for case in CASES]
    notes = [f"{row['what']}: {row['ratio']:.2f} times the time of copies, more than {GOAL:g}."
             for row in rows if row["ratio"] > GOAL]
    show(f"differ: corral, 20 robots, {WORLDS:,} worlds, {SECONDS:g} s simulated, one core; processor time of the whole call"
         + ("; the best of three turns" if full else ""), rows, notes, COLUMNS)
    return {"rows": rows}


def _row(folder: Path, what: str, written: str, instead: str, low: float, high: float, turns: int) -> dict[str, Any]:
    text = Path(world_file("corral")).read_text()
    if text.count(written) != 1:
        raise RuntimeError(f"corral.xml does not have {written} once, as `bench differ` expects.")
    value = np.random.default_rng(1).uniform(low, high, WORLDS)
    file = folder / "differ.xml"
    file.write_text(text.replace(written, instead).replace("<arena", f'<param name="p" value="{low}"/><arena', 1))
    for params in ({"p": value[:2]}, {"p": low}):
        simulate(file, 1.0, params=params, threads=1)  # compiles
    copies, differing = [], []
    for _ in range(turns):
        copies.append(_busy(lambda: simulate(file, SECONDS, worlds=WORLDS, threads=1)))
        differing.append(_busy(lambda: simulate(file, SECONDS, params={"p": value}, threads=1)))
    return {"what": what, "robots": 20, "worlds": WORLDS, "seconds": SECONDS, "copies": min(copies),
            "differing": min(differing), "ratio": min(differing) / min(copies), "goal": GOAL}


def _busy(what: Callable[[], Any]) -> float:
    """Seconds of processor time that a call takes."""
    began = time.process_time()
    what()
    return time.process_time() - began
