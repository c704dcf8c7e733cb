"""Robot soccer, three against three, side by side with VMAS football [Bettini et al. 2022].

Ours twice: the laboratory, `Simulation.step`, with all six robots driven from outside; and what a learner calls, the
single-agent environment, with observations, rewards, five robots that wander, and episodes that start again. One control step
is 25 ms, in substeps of at most 5 ms. VMAS plays its own scenario `football` with six agents that are all driven from outside.
All take random actions, drawn beforehand and held for a while; all have one core and take turns in one process. Every block of
ours is the same game, played again, so that the best one is the least disturbed and not the easiest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

import formiga
from formiga.benchmarks.measure import show
from formiga.errors import MissingExtra
from formiga.loop import Simulation
from formiga.soccer import league

WORLDS = (1, 1_000)
PLAYERS, DT = 3, 0.025
BLOCK, BLOCKS = 0.3, 7            # s, about, of a timed block; of each, the best of so many
WARM_UP, LONGEST = 40, 1_200      # steps before the clock starts; and after that at most, so that the ball is still in play
HOLD, DRAWN = 8, 64               # steps that an action is held; sets of actions, taken in turn
TARGETS = {("lab", 1): 20_000, ("lab", 1_000): 100_000, ("env", 1): 8_000}
RATIO = 3                         # times as fast as VMAS, in the laboratory, with 1,000 worlds
COLUMNS = (
    ("what", "", "{}"), ("worlds", "worlds", "{:,}"), ("world_steps_per_s", "world-\nsteps/s", "{:,.0f}"),
    ("target", "at\nleast", "{:,}"), ("contact_rate", "contact\nrate", "{:.1%}"),
    ("vmas_world_steps_per_s", "VMAS", "{:,.0f}"), ("vmas_ratio", "ours/\nVMAS", "{:.1f}"),
    ("vmas_target", "at\nleast", "{:g}"), ("kept", "kept", "{}"), ("cores", "cores", "{:.2f}"),
)
NOTES = (
    "lab: Simulation.step; env: the single-agent environment, and its vector form. contact rate: robot-steps in which a robot "
    "touches another or the board. at least: what is promised on a core that has nothing else to do; kept: whether it is.",
    "A world-step is one control step of a game with six robots. Ours is 25 ms in substeps of at most 5 ms, of squares with "
    "masses, motors and impacts. VMAS's is 0.1 s in two substeps, of discs that slide in any direction, and forces that push "
    "apart what overlaps. Its step also makes observations and rewards, as our env does and our lab does not.",
)


class Side(Protocol):
    """Something that can be played in blocks."""

    warm_up: int

    def begin(self) -> None:
        """Before a block: back to the start."""

    def play(self, first: int, count: int) -> None:
        """So many steps of every world."""

    def contacts(self) -> float | None:
        """The share of robot-steps of this block in which a robot touched another or the board, if that is known."""


def run(full: bool = False) -> dict[str, Any]:
    """The rows, printed as a table."""
    notes: list[str] = []
    rows = [row for worlds in WORLDS for row in measure(worlds, notes, BLOCK, BLOCKS * (3 if full else 1))]
    show(f"soccer: {PLAYERS} against {PLAYERS}, all driven, random actions, one core", rows, [*dict.fromkeys(notes), *NOTES],
         COLUMNS)
    return {"rows": rows}


def measure(worlds: int, notes: list[str], block: float, blocks: int) -> list[dict[str, Any]]:
    """Two rows, lab and env: world-steps a second of the best block; what is not installed is None.

    `cores` is processor time over clock time while ours ran: 1 is one core.
    """
    sides: dict[str, Side] = {}
    makers: dict[str, Callable[[int], Side]] = {"lab": Laboratory, "env": Environment, "vmas": Football}
    for name, make in makers.items():
        try:
            sides[name] = make(worlds)
        except MissingExtra as missing:
            notes.append(str(missing))
    steps = {name: _steps_in(block, side) for name, side in sides.items()}
    clock, busy = dict.fromkeys(sides, float("inf")), dict.fromkeys(sides, 0.0)
    for _ in range(blocks):
        for name, side in sides.items():
            took, cores = _block(side, steps[name])
            if took < clock[name]:
                clock[name], busy[name] = took, cores
    speed = {name: worlds * steps[name] / clock[name] for name in sides}
    theirs = speed.get("vmas")
    rows = []
    for name in ("lab", "env"):
        ours = speed.get(name)
        ratio, promised = ours / theirs if ours and theirs else None, TARGETS.get((name, worlds))
        of_vmas = RATIO if theirs and (name, worlds) == ("lab", WORLDS[-1]) else None
        rows.append({
            "what": name, "worlds": worlds, "agents": 2 * PLAYERS, "world_steps_per_s": ours,
            "target": promised, "contact_rate": sides[name].contacts() if name in sides else None,
            "vmas_world_steps_per_s": theirs, "vmas_ratio": ratio, "vmas_target": of_vmas,
            "kept": kept((ours, promised), (ratio, of_vmas)), "cores": busy.get(name)})
    return rows


def kept(*pairs: tuple[float | None, float | None]) -> bool | None:
    """Whether all speeds (measured, promised) are what was promised; None if nothing is promised of what was measured."""
    judged = [found >= promised for found, promised in pairs if found is not None and promised is not None]
    return all(judged) if judged else None


def _block(side: Side, count: int) -> tuple[float, float]:
    """Seconds that so many steps take, from the start and after the warm-up; and how many cores were busy."""
    side.begin()
    side.play(0, side.warm_up)
    began, busy = time.perf_counter(), time.process_time()
    side.play(side.warm_up, count)
    took = time.perf_counter() - began
    return took, (time.process_time() - busy) / took


def _steps_in(block: float, side: Side) -> int:
    """How many steps take about that long, within reason."""
    count = 2
    while (took := _block(side, count)[0]) < 0.2 * block and count < LONGEST:
        count *= 2
    return min(LONGEST, max(1, round(count * block / took)))


# -- programs --------------------------------------------------------------------------------------------------------
class Laboratory:
    """The simulation itself."""

    def __init__(self, worlds: int) -> None:
        self.lab, self.warm_up = Simulation(league.world(PLAYERS, dt=DT), worlds=worlds), WARM_UP
        top = self.lab.world.groups[0].robot.top_speed
        self.drawn = np.random.default_rng(0).uniform(-top, top, (DRAWN, 2, worlds, PLAYERS, 2))

    def begin(self) -> None:
        """Kick-off."""
        self.lab.reset()

    def play(self, first: int, count: int) -> None:
        """Steps from outside, through the public interface."""
        lab, drawn = self.lab, self.drawn
        for k in range(first, first + count):
            blue, yellow = drawn[k // HOLD % DRAWN]
            lab.step({"blue": blue, "yellow": yellow})

    def contacts(self) -> float | None:
        """Since the kick-off."""
        state = self.lab.state
        return float(state.crashes.sum() / (state.step.sum() * self.lab.world.robots))


class Environment:
    """What a learner calls: `gymnasium.Env` for one world, `gymnasium.vector.VectorEnv` for more."""

    def __init__(self, worlds: int) -> None:
        self.env = formiga.make_env("soccer") if worlds == 1 else formiga.make_vector_env("soccer", worlds)
        shape = (DRAWN, 2) if worlds == 1 else (DRAWN, worlds, 2)
        self.drawn = np.random.default_rng(0).uniform(-1.0, 1.0, shape).astype(np.float32)
        self.warm_up = WARM_UP
        self.play = self._one if worlds == 1 else self._many

    def begin(self) -> None:
        """The first episodes of a seed."""
        self.env.reset(seed=0)

    def _one(self, first: int, count: int) -> None:
        env, drawn = self.env, self.drawn
        for k in range(first, first + count):
            _, _, ended, late, _ = env.step(drawn[k // HOLD % DRAWN])
            if ended or late:
                env.reset()

    def _many(self, first: int, count: int) -> None:
        env, drawn = self.env, self.drawn
        for k in range(first, first + count):
            env.step(drawn[k // HOLD % DRAWN])  # worlds start again by themselves

    def contacts(self) -> float | None:
        """A world that starts again has forgotten them."""
        return None


class Football:
    """VMAS's scenario, with agents instead of its own red team."""

    def __init__(self, worlds: int) -> None:
        try:
            import torch
            import vmas
        except ImportError as wrong:
            raise MissingExtra("VMAS is not installed: pip install 'formiga[bench]'") from wrong
        torch.set_num_threads(1)
        self.warm_up = 1  # nothing to get going
        self.env = vmas.make_env("football", worlds, seed=0, n_blue_agents=PLAYERS, n_red_agents=PLAYERS, ai_blue_agents=False,
                                 ai_red_agents=False)
        self.drawn = [[2.0 * torch.rand(worlds, 2) - 1.0 for _ in range(2 * PLAYERS)] for _ in range(DRAWN)]

    def begin(self) -> None:
        """It goes on: what a step costs does not depend on the game."""

    def play(self, first: int, count: int) -> None:
        """Steps with an action for each agent."""
        for k in range(first, first + count):
            self.env.step(self.drawn[k // HOLD % DRAWN])

    def contacts(self) -> float | None:
        """It does not say."""
        return None
