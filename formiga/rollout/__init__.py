"""Many genotypes, each in the same trials, as fast as it goes: what evolution asks of a laboratory.

    tried = rollout(world, genotypes, seed=1, trials=10)
    tried.fitness                                   # (genotypes, trials)

Where everything in the world has a kernel, all steps of all trials run in one compiled call; otherwise through `loop.py`. Both
give the same bits, whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from formiga.compiled import refuse_orders, stages_of
from formiga.control.neural import Network, learner
from formiga.errors import WorldError, whole
from formiga.kernels.program import Program
from formiga.loop import Simulation
from formiga.runs import steps_in
from formiga.score import Score
from formiga.state import Floats
from formiga.world.drives import Differential, tops
from formiga.world.elements import where
from formiga.world.model import Group, World

SHARDS = 8             # for each thread, so that none waits long for the last
ROBOT_STEPS = 500_000  # of one call into the kernel: about a second
AT_A_TIME = 1_000_000  # robots, in all worlds of a thread, unless one genotype alone needs more: 1 GB or so


@dataclass(frozen=True)
class Rollout:
    """What came of it; every array is (genotypes, trials)."""

    fitness: Floats
    steps: Any                 # taken before the trial ended
    crashes: Any               # added up over the robots: steps with a crash, unless <contact> counts objects
    speed: Floats              # mean forward speed over all robots and steps, in top speeds; that of a wheel that stands is 0.
    #                            Without a drive: the straight way from start to end over the time, m/s
    robots: int
    asked: int                 # steps of a whole trial

    @property
    def crash_rate(self) -> Floats:
        """Crashes in a robot-step: the share of robot-steps with one, unless <contact> counts objects."""
        return np.asarray(self.crashes / np.maximum(1, self.steps * self.robots))


def genes(world: World, group: Group) -> int:
    """How many genes the network of a group has in this world."""
    network: Network = group.controller
    outputs = len(network.shares(group))  # says if there is nothing to order
    network.refuse_unknown(group)
    readings = Simulation(world).readings[group.name]
    inputs = sum(len(scale.one) for scale in network.scales(group, [readings[name] for name in network.sensors]))
    size = network.size(inputs, outputs)
    network.express(np.zeros((1, size)), inputs, world.dt)  # says what is wrong with it
    return size


def lacking(world: World, group: Group) -> str:
    """What keeps the rollouts of this world from one compiled call, or nothing."""
    network: Network = group.controller
    genotypes = {} if network.genotype is not None else {group.name: np.zeros(genes(world, group))}
    lab = Simulation(world, genotypes=genotypes)
    score = Score(world, lab.engine, lab.model, lab.state, group)
    parts = stages_of(world, lab.engine, lab.model, lab.state)
    if found := score.lacking or parts.lacking:
        return found
    return "" if score.stages(parts.readings[group.name]) is not None else "a term of the fitness"


def rollout(world: World, genotypes: Any, seed: int = 0, trials: int = 1, seconds: float | None = None, *,
            group: str = "", threads: int | None = 1, compiled: bool = True) -> Rollout:
    """Try every genotype (G, size) in the same `trials` worlds of that seed.

    compiled=False: through the readable loop, as a test does. threads: shares out genotypes; None: all cores.
    """
    chosen = learner(world, group)
    given = np.ascontiguousarray(genotypes, np.float64)
    if given.ndim != 2 or len(given) == 0 or not (np.abs(given) <= 1.0).all():
        raise WorldError(f"genotypes must be numbers from -1 to 1 (genotypes, genes); these have the shape {given.shape}.")
    whole("trials:", trials, 1, 2**31)
    if not world.fitness:
        raise WorldError(f"{where(world.search or world)}world '{world.name}' does not say what is good; give it at least one "
                         "<fitness of=\"...\"/>.")
    steps = steps_in(world, seconds)
    parts = min(os.cpu_count() or 1 if threads is None else whole("threads:", threads, 1, 4096), len(given))
    several = parts * SHARDS if parts > 1 else 1  # genotypes differ: those that crash take longer
    several = min(len(given), max(several, -(-len(given) * trials * world.robots // AT_A_TIME)))
    edges = [len(given) * part // several for part in range(several + 1)]
    shards = [given[first:last] for first, last in pairwise(edges)]
    attempt = partial(_attempt, world, chosen, seed=seed, trials=trials, steps=steps, compiled=compiled)
    if parts == 1:
        done = [attempt(shard) for shard in shards]
    else:
        with ThreadPoolExecutor(parts) as pool:
            done = list(pool.map(attempt, shards))
    fitness, taken, crashes, speed = (np.concatenate(each) for each in zip(*done, strict=True))
    return Rollout(fitness, taken, crashes, speed, chosen.count, steps)


Tried = tuple[Any, Any, Any, Any]  # fitness, steps, crashes, speed, each (genotypes, trials)


def _attempt(world: World, group: Group, genotypes: Floats, seed: int, trials: int, steps: int, compiled: bool) -> Tried:
    """Every genotype in all trials: in one compiled call, or step by step through the loop."""
    lab = Simulation(world, seed, trials, copies=len(genotypes), genotypes={group.name: np.repeat(genotypes, trials, axis=0)},
                     compiled=compiled)
    score = Score(world, lab.engine, lab.model, lab.state, group)
    start = lab.state.position.copy()
    advance(lab, group, score, steps, compiled)
    return _tried(lab, group, score, start, len(genotypes), steps)


def advance(lab: Simulation, group: Group, score: Score, steps: int, compiled: bool = True,
            stop: Callable[[], bool] = lambda: False) -> bool:
    """Take so many steps and add up the score of a group: in compiled calls, or step by step through the loop.

    stop: asked now and then; true ends it there. Whether all steps were taken, or all worlds ended before.
    """
    world = lab.world
    parts = stages_of(world, lab.engine, lab.model, lab.state) if compiled and not score.lacking else None
    scoring = score.stages(parts.readings[group.name]) if parts is not None and not parts.lacking else None
    if parts is not None and scoring is not None:
        program = Program([*parts.step, *scoring], lab.state.worlds, world.robots)
        block = max(1, ROBOT_STEPS // max(1, lab.state.worlds * world.robots))
        for taken in range(0, steps, block):  # between two calls Python hears signals
            if stop():
                return False
            if not program.run(0, lab.state.worlds, min(block, steps - taken)):
                score.refuse(program.stopped)
                refuse_orders(world, lab.state, program.stopped, parts.orders, parts.readings)
        return True
    for _ in range(steps):
        running = ~lab.state.done
        if not running.any():
            break
        if stop():
            return False
        score.see(lab.readings[group.name])
        lab.step()
        score.add(running)
    return True


def _tried(lab: Simulation, group: Group, score: Score, start: Floats, genotypes: int, steps: int) -> Tried:
    state, robots = lab.state, score.robots
    drive, each_step = group.robot.drive, lab.world.dt * np.maximum(1, state.step)
    if isinstance(drive, Differential):
        turned = state.wheel_angle[:, robots].sum(axis=(1, 2)) * drive.wheel_radius  # both wheels' ways, all robots
        speed = turned / (2.0 * group.count * drive.top_speed * each_step)
    elif drive is None:
        way = state.position[:, robots] - start[:, robots]
        speed = np.hypot(way[..., 0], way[..., 1]).mean(axis=1) / each_step
    else:  # wheels that roll, as the twist that their mean speeds give; an angle as it is now
        rolls = np.array(drive.rolls)
        angle = state.wheel_angle[:, robots, : len(rolls)]
        ways = np.where(rolls, angle * drive.wheel_radius, angle)
        speed = drive.twist(ways)[..., 0].mean(axis=1) / (tops(drive)[0] * each_step)
    each: list[Any] = [score.total / steps, state.step, state.crashes[:, robots].sum(axis=1), speed]
    return tuple(array.reshape(genotypes, -1) for array in each)


__all__ = ["Rollout", "advance", "genes", "lacking", "rollout"]
