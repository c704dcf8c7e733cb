"""Acceptance 4: the shapes of the thesis's speed tables, by cells of `formiga bench s3` that run in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from math import log, nan
from typing import Any

from formiga.studies.harness import Row

CELLS: dict[str, dict[int, tuple[str, ...]]] = {  # of the quick form: only what the claims need
    "5.1": {16: ("direct", "iterative", "auto"), 32: ("direct", "iterative", "auto"), 64: ("direct", "iterative", "auto")},
    "5.2": {8: ("direct", "iterative", "auto"), 25: ("direct", "iterative", "auto")},
    "5.3": {64: ("ray", "sampling", "shadow")},
    "5.4": {8: ("light", "sound"), 64: ("light", "sound")},
}
Seconds = dict[tuple[str, int, str], float]


def measure(full: bool) -> tuple[Seconds, Seconds]:
    """Seconds for 100 s: (table, robots, technique) -> mean over seeds, ours and the thesis's."""
    cells = [f"{table}/{robots}/{name}" for table, rows in CELLS.items() for robots, names in rows.items() for name in names]
    one = {library: "1" for library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}
    asked = ["--seeds", "10"] if full else ["--seeds", "1", "--budget", "0.05"]
    done = subprocess.run([sys.executable, "-m", "formiga.benchmarks.s3", *asked, *cells], env=os.environ | one, check=True,
                          stdout=subprocess.PIPE, text=True, process_group=0)  # Ctrl-C is for this process, which ends it
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    ours, thesis = ({(row["table"], row["robots"], row["technique"]): row[what] if row[what] else nan for row in rows}
                    for what in ("seconds", "published"))
    return ours, thesis


def shapes(took: Seconds, full: bool) -> Iterator[Row]:
    """What must be faster than what. Quick runs are too short to decide it, and only report."""

    def claim(text: str, holds: bool, shown: str, note: str = "") -> Row:
        return Row(text, "yes", f"{'yes' if holds else 'no'}: {shown}", origin="law", note=note,
                   verdict=("met" if holds else "missed") if full else "reported")

    def pair(table: str, robots: int, one: str, other: str) -> tuple[bool, str]:
        a, b = took[table, robots, one], took[table, robots, other]
        return a < b, f"{a:.2f}, {b:.2f} s"

    free = [took["5.1", robots, "direct"] for robots in (16, 32, 64)]
    yield claim("5.1: time grows with the robots (16, 32, 64; direct)", free == sorted(free),
                " ".join(f"{each:.2f}" for each in free))
    for robots in (16, 32, 64):
        yield claim(f"5.1: {robots} free robots, direct faster than iterative", *pair("5.1", robots, "direct", "iterative"),
                    note="Ours slide, with hardly any contacts: there is little to solve, by either solver.")
    for robots in (8, 25):
        yield claim(f"5.2: {robots} connected robots, iterative faster than direct",
                    *pair("5.2", robots, "iterative", "direct"),
                    note="Ours slide, with 4 degrees of freedom and no contact with the floor: dense matrices stay small.")
    power = log(took["5.2", 25, "iterative"] / took["5.2", 8, "iterative"]) / log(25 / 8)
    yield claim("5.2: exponent of iterative from 8 to 25 robots below 1.5", power < 1.5, f"{power:.2f}")
    slowest = max(("ray", "sampling", "shadow"), key=lambda name: took["5.3", 64, name])
    yield claim("5.3: at 64 robots rays are the slowest, before sampling and shadow", slowest == "ray",
                " ".join(f"{took['5.3', 64, name]:.2f}" for name in ("ray", "sampling", "shadow")) + " s",
                note="Our rays walk cells of a grid, at a fraction of a microsecond each; shadows fill 360 bins.")
    for robots in (8, 64):
        yield claim(f"5.4: {robots} robots, sound faster than light", *pair("5.4", robots, "sound", "light"),
                    note="With few robots both take less time than the rest of a step, and the difference is noise.")
    for table, robots, name in (("5.1", 64, "auto"), ("5.2", 25, "iterative")):
        ratio = 100.0 / took[table, robots, name]
        yield claim(f"{table}: real-time ratio of {robots} robots, {name}, above 1", ratio > 1.0, f"{ratio:.0f}")
