"""What one evaluation is: a few genotypes, all in the same trials. It runs here, in another process or on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.control.neural import learner
from formiga.evolve.search import Floats
from formiga.noise import channel, stream, world_key
from formiga.pool import Pool
from formiga.rollout import lacking, rollout
from formiga.world.model import World
from formiga.world.own import own_mistakes, pack, unpack

TASKS = 4            # for each worker, so that none waits long for the slowest
CLUSTER_TASKS = 32   # where the number of workers is unknown


@dataclass(frozen=True)
class Tried:
    """What genotypes did: all (genotypes, trials)."""

    fitness: Floats
    crash_rate: Floats   # share of robot-steps with a crash
    speed: Floats        # mean of the wheels' speed forward, in top speeds
    lasted: Floats       # share of the trial before the world ended


@dataclass(frozen=True)
class Task:
    """All that a worker needs to know."""

    world: World | bytes     # bytes for another process, with the code of the user's own elements
    genotypes: Floats
    seed: int
    trials: int
    seconds: float | None
    group: str


def attempt(task: Task) -> Tried:
    """Carry out a task. What the user's own code raises is a FormigaError with its file and line, wherever it runs."""
    with own_mistakes():
        world: World = unpack(task.world) if isinstance(task.world, bytes) else task.world  # never from a file
        done = rollout(world, task.genotypes, task.seed, task.trials, task.seconds, group=task.group)
    return Tried(done.fitness, done.crash_rate, done.speed, done.steps / done.asked)


def attempt_all(pool: Pool, world: World, genotypes: Floats, seed: int, trials: int, seconds: float | None = None,
                group: str = "") -> Tried:
    """Try genotypes (G, size) in the same trials, shared out over a pool; the result does not depend on how."""
    parts = min(len(genotypes), CLUSTER_TASKS if pool.size is None else 1 if pool.size == 1 else TASKS * pool.size)
    there = pack(world) if pool.elsewhere else world
    tasks = [Task(there, part, seed, trials, seconds, group) for part in np.array_split(genotypes, parts)]
    done = pool.map(attempt, tasks)
    return Tried(*(np.concatenate([getattr(each, name) for each in done]) for name in Tried.__dataclass_fields__))


def runs_in_threads(world: World, group: str) -> bool:
    """Whether threads can share the work: compiled rollouts let go of Python's lock, the readable loop does not."""
    return not lacking(world, learner(world, group))


def seed_for(seed: int, purpose: str, number: int = 0) -> int:
    """The seed of the trials of one generation, or of another purpose: they never share a start."""
    start: Any = stream(world_key(seed, 0), number, 0, channel("evolve", purpose))
    return int(start) >> 1
