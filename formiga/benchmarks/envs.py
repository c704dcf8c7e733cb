"""Steps of a learning environment, side by side with VMAS [Bettini et al. 2022, "VMAS: a vectorized multi-agent simulator"].

The task is the shipped world `avoid`: four robots with 15 beams each, four walls and a post. In VMAS's own tasks lidars see
no walls, so `vmas_avoid.py` builds the same one for it, with the cheaper choice wherever the two simulators differ. Ours is
what a learner calls, `formiga.make_vector_env`: checked actions, observations in single precision, rewards, and worlds that
start again when an episode is over. Both take random actions, drawn beforehand; both have one core and take turns in one
process. (VMAS is made for graphics cards as well; this says nothing about those.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import formiga
from formiga.benchmarks.measure import show, timed
from formiga.errors import MissingExtra

WORLDS = (1, 64, 1_024)
AGENTS, BEAMS = 4, 15
BLOCK, BLOCKS = 0.3, 5    # s, about, of a timed block; of each, the best of so many
DRAWN = 16                # sets of actions, taken in turn
TARGET = 20               # times as fast as VMAS
COLUMNS = (
    ("worlds", "worlds", "{:,}"), ("agents", "agents", "{}"), ("ours", "ours, robot-\nsteps/s", "{:,.0f}"),
    ("vmas", "VMAS, robot-\nsteps/s", "{:,.0f}"), ("ratio", "ours/\nVMAS", "{:.1f}"), ("target", "target", ">= {:g}"),
)

Steps = Callable[[int], None]  # takes so many steps of every world


def run(full: bool = False) -> dict[str, Any]:
    """The rows, printed as a table."""
    notes: list[str] = []
    rows = [measure(worlds, notes, BLOCK, BLOCKS * (4 if full else 1)) for worlds in WORLDS]
    show(f"envs: {AGENTS} robots with {BEAMS} beams, random actions, one core", rows, list(dict.fromkeys(notes)), COLUMNS)
    return {"rows": rows}


def measure(worlds: int, notes: list[str], block: float, blocks: int) -> dict[str, Any]:
    """One row: robot-steps a second of the best block of each; what is not installed is None, and leaves a note."""
    sides: dict[str, Steps] = {}
    for name, make in (("ours", ours), ("vmas", theirs)):
        try:
            sides[name] = make(worlds)
        except MissingExtra as missing:
            notes.append(str(missing))
    steps = {name: _steps_in(block, side) for name, side in sides.items()}
    best: dict[str, float] = {}
    for _ in range(blocks):
        for name, side in sides.items():
            speed = AGENTS * worlds * steps[name] / timed(side, steps[name])
            best[name] = max(speed, best.get(name, 0.0))
    found = {"ours": best.get("ours"), "vmas": best.get("vmas")}
    ratio = best["ours"] / best["vmas"] if len(best) == 2 else None
    return {"worlds": worlds, "agents": AGENTS, **found, "ratio": ratio, "target": TARGET if ratio else None}


def ours(worlds: int) -> Steps:
    """The shipped world, as a learner gets it."""
    env = formiga.make_vector_env("avoid", num_envs=worlds, robots=AGENTS)
    env.reset(seed=0)
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (DRAWN, worlds, 2 * AGENTS)).astype(np.float32)

    def steps(count: int) -> None:
        for k in range(count):
            env.step(drawn[k % DRAWN])

    return steps


def theirs(worlds: int) -> Steps:
    """The same task in VMAS."""
    try:
        import torch

        from formiga.benchmarks.vmas_avoid import make
    except ImportError as wrong:
        raise MissingExtra("VMAS is not installed: pip install 'formiga[bench]'") from wrong
    env = make(worlds, AGENTS, BEAMS)
    drawn = [[2.0 * torch.rand(worlds, 2) - 1.0 for _ in range(AGENTS)] for _ in range(DRAWN)]

    def steps(count: int) -> None:
        for k in range(count):
            env.step(drawn[k % DRAWN])

    return steps


def _steps_in(block: float, side: Steps) -> int:
    """How many steps take about that long."""
    side(2)  # compile, and fill the caches
    count = 1
    while (took := timed(side, count)) < 0.2 * block:
        count *= 2
    return max(1, round(count * block / took))
