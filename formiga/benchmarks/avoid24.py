"""AVOID-24, the common speed scenario: see `formiga/worlds/avoid24.xml`, which other simulators were measured on, too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import formiga
from formiga.benchmarks.measure import measure, show
from formiga.world.model import World

SIZES = ((1, 128), (1, 1_024), (1, 10_000), (256, 16))  # (worlds, robots in each)
FULL = (*SIZES, (1, 100_000))
CROWD = 10_000                                          # the robots of the memory and start-up figures


def world(robots: int) -> World:
    """The shipped world, with so many robots."""
    return formiga.read_world("avoid24", robots=robots)


def run(full: bool = False, sizes: tuple[tuple[int, int], ...] | None = None, starts: bool = True) -> dict[str, Any]:
    """The rows, and the figures that are not of one row; printed as a table and a few lines."""
    sizes = sizes or (FULL if full else SIZES)
    rows = [measure(world(robots), worlds, blocks=21 if full else 7) for worlds, robots in sizes]
    cost = {row["robots"]: row["ns_per_robot_step"] for row in rows if row["worlds"] == 1}
    summary: dict[str, Any] = {}
    notes = []
    if {128, CROWD} <= cost.keys():
        summary["cost_of_a_robot_10000_to_128"] = cost[CROWD] / cost[128]
        notes.append(f"A robot among {CROWD:,} costs {cost[CROWD] / cost[128]:.2f} times one among 128.")
    if starts:
        summary |= start_twice()
        for row in rows:
            if row["robots"] == CROWD:
                row["memory_mb"] = summary["memory_mb"]
        if summary["memory_mb"]:  # 0: unknown
            notes.append(f"{CROWD:,} robots need {summary['memory_mb']:.0f} MB at most, not counting the second process that "
                         "helps to compile.")
        notes.append(f"Their first step ends {summary['cold_start_s']:.1f} s after the start when kernels must be "
                     f"compiled, {summary['cached_start_s']:.2f} s from then on.")
    show("avoid24: 24 beams, no noise, one core; the best of several blocks of steps", rows, notes)
    return {"rows": rows, "summary": summary}


def start_twice() -> dict[str, Any]:
    """Two fresh processes: the first finds no compiled kernel, the second finds them all.

    Seconds from the start of the process to the end of its first step; and the larger of the two peaks of memory.
    """
    with tempfile.TemporaryDirectory(prefix="formiga-kernels-") as kernels:
        cold, compiling = start(CROWD, kernels)
        cached, running = start(CROWD, kernels)
    return {"cold_start_s": cold, "cached_start_s": cached, "memory_mb": max(compiling, running),
            "memory_cached_mb": running}


def start(robots: int, kernels: str | None) -> tuple[float, float]:
    """(seconds to the first step, MB at the peak) of a fresh process; `kernels`: where it keeps what it compiles."""
    command = [sys.executable, "-m", "formiga.benchmarks.first_step", str(robots)]
    around = os.environ | ({"NUMBA_CACHE_DIR": kernels} if kernels else {})
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=around) as child:
        assert child.stdout is not None
        child.stdout.readline()  # it has taken its first step
        seconds = time.perf_counter() - began
        rest = child.stdout.read()
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with {child.returncode}; its output is above.")
    return seconds, json.loads(rest)["memory_mb"]
