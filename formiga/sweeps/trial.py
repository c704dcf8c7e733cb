"""One task of a sweep: a point of the grid, and some of its runs as the worlds of one batch; here or in another process.

World k of the batch is run k of the point: its noise and its start depend on the seed and on k alone, so neither the batch nor
where it runs changes a bit. Run k starts from the same random numbers at every point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga import measures
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.rollout import advance
from formiga.runs import steps_in
from formiga.state import Floats
from formiga.sweeps.grid import SweepError
from formiga.world.model import World
from formiga.world.own import own_mistakes, pack, unpack

ROBOT_STEPS = 5_000_000    # of a task: seconds in the plane, a minute or so in space; and what is lost when it is interrupted
ROBOTS = 200_000           # of a batch, in all its worlds
BLOCK = 200_000            # robot-steps between two questions whether to stop

COMPLETE, EARLY, EXPLODED = ENDINGS = ("complete", "early", "exploded")   # how a run ended, by its number


@dataclass(frozen=True)
class Conditions:
    """What is the same for all runs of a sweep."""

    seed: int
    seconds: float | None                       # None: as the world says
    engine: str | None                          # None: as the world says
    measures: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """All that a worker needs to know."""

    point: int
    name: str                                   # of the point, in messages
    first: int                                  # run; and so many from there on
    count: int
    given: bytes | tuple[World, dict[str, measures.Measure]]  # bytes for another process, with code of the user's own
    conditions: Conditions


@dataclass(frozen=True)
class Done:
    """What came of a task: for each run its numbers."""

    point: int
    first: int
    values: Floats                              # (runs, measures)
    seconds: Floats                             # (runs,) of simulated time
    ended: Any                                  # (runs,) places in ENDINGS


class Stopped(Exception):
    """The sweep is to end in the middle of a task."""


def packed(world: World, own: dict[str, measures.Measure], elsewhere: bool) -> Any:
    """A world and the user's own measures, as a task carries them."""
    return pack((world, own), own.values()) if elsewhere else (world, own)


def perform(task: Task, stop: Callable[[], bool] = lambda: False) -> Done:
    """Carry out a task. What goes wrong is a FormigaError that names the point, wherever it runs."""
    try:
        with own_mistakes():
            world, own = unpack(task.given) if isinstance(task.given, bytes) else task.given  # never from a file
            for name, function in own.items():
                measures.know(name, function)
            return _run(world, task, stop)
    except FormigaError as wrong:
        raise SweepError(f"{task.name}: {wrong}" if task.name else str(wrong)) from wrong


def _run(world: World, task: Task, stop: Callable[[], bool]) -> Done:
    asked = task.conditions
    steps = steps_in(world, asked.seconds)
    with Simulation(world, asked.seed, task.count, asked.engine, task.first) as lab:
        return _carried_out(lab, task, steps, stop)


def _carried_out(lab: Simulation, task: Task, steps: int, stop: Callable[[], bool]) -> Done:
    names = task.conditions.measures
    score = measures.add_up(lab, steps) if "fitness" in names else None
    whole = _advance(lab, steps, stop) if score is None else advance(lab, score.group, score, steps, stop=stop)
    if not whole:
        raise Stopped
    for group, why in lab.programs.failures().items() if lab.programs is not None else ():
        raise SweepError(f"{group}: {why}, so its robots stood still; these runs do not count.")
    state = lab.state
    state.drive[state.done] = 0.0  # whether or not a block of steps went on after a world had ended
    ended = np.where(state.done, ENDINGS.index(EARLY), ENDINGS.index(COMPLETE))
    for event in lab.log.exploded:
        ended[event.world - task.first] = ENDINGS.index(EXPLODED)
    values = np.array([measures.taken(name, lab) for name in names]).reshape(len(names), task.count).T
    return Done(task.point, task.first, values, np.asarray(state.step * lab.world.dt, np.float64), ended)


def _advance(lab: Simulation, steps: int, stop: Callable[[], bool]) -> bool:
    """Take so many steps; false if `stop` said so before."""
    block = max(1, BLOCK // max(1, lab.state.worlds * lab.world.robots))
    for taken in range(0, steps, block):
        if stop():
            return False
        count = min(block, steps - taken)
        if not lab.advance(count):
            for _ in range(count):
                if stop():
                    return False
                lab.step()
        if lab.state.done.all():
            break
    return True


def runs_at_once(world: World, steps: int, robots: int = ROBOTS, robot_steps: int = ROBOT_STEPS) -> int:
    """How many runs of a world one task may have."""
    return max(1, min(robots // max(1, world.robots), robot_steps // max(1, steps * world.robots)))


__all__ = ["ENDINGS", "Conditions", "Done", "Stopped", "Task", "packed", "perform", "runs_at_once"]
