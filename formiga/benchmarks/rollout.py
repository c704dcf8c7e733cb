"""One generation of an evolution: every genotype in the same trials, all steps in one compiled loop.

S1's s-bots with a perceptron, rewarded for driving fast, straight and clear of things. The genotypes are random, as in
generation 0: the worst there is, for most robots push against a wall or each other in a great share of their steps.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

from formiga.benchmarks import cpp, swarmod
from formiga.benchmarks.measure import TOLERANCE, show, timed
from formiga.control.neural import Perceptron
from formiga.loop import Simulation
from formiga.rollout import genes, rollout
from formiga.score import Fitness
from formiga.state import Floats
from formiga.world.model import World

ROBOTS = (1, 16)                           # in each world: a row for each, on one thread and on two
GENOTYPES, TRIALS, STEPS = 100, 10, 1_000
QUICK = {16: 2}                            # trials that the quick form really runs, so that it takes less than a minute
REPEATS, FULL_REPEATS = 2, 5               # the best of so many
TARGET = {1: 2.0, 16: 20.0}                # s for the generation, on one core
SPEED_UP = 1.7                             # of two cores, at least
CHECK = 150                                # steps after which ours and C++ are compared; later, a last bit may grow
SEED = 1
COLUMNS = (
    ("robots", "robots", "{:,}"), ("threads", "threads", "{}"), ("generation_s", "s", "{:.2f}"),
    ("target_s", "target", "< {:g} s"), ("millions", "M/s", "{:.2f}"), ("cpp_ratio", "ours/\nC++", "{:.2f}"),
    ("agrees", "agrees", "{}"), ("crash_rate", "crash\nrate", "{:.1%}"), ("cores", "cores", "{:.2f}"),
)


def world(robots: int) -> World:
    """S1's arena, as in the bench `swarmod`, with a network instead of the rule."""
    plain = swarmod.world(robots)
    group = replace(plain.groups[0], controller=Perceptron())
    fitness = (Fitness("speed straightness clearance"), Fitness("crashes", -1.0))
    return replace(plain, name="rollout", groups=(group,), fitness=fitness)


def population(world: World, genotypes: int) -> Floats:
    """Random genotypes (G, genes), the same in every run."""
    return np.random.default_rng(SEED).uniform(-1.0, 1.0, (genotypes, genes(world, world.groups[0])))


def run(full: bool = False) -> dict[str, Any]:
    """The rows, printed as a table, and how much faster two threads are."""
    rows, notes, summary = [], [], {}
    for count in ROBOTS:
        label = f"{count} robot{'s' if count > 1 else ''}"
        trials = TRIALS if full else min(TRIALS, QUICK.get(count, TRIALS))
        one, two = measure(world(count), GENOTYPES, trials, STEPS, FULL_REPEATS if full else REPEATS)
        rows += [one, two]
        faster = one["seconds"] / two["seconds"]
        summary[f"two_threads_{count}"] = faster
        notes.append(f"{label}, two threads: {faster:.2f} x one, with {two['cores']:.2f} cores busy (target: {SPEED_UP} x).")
        if trials < TRIALS:
            notes.append(f"{label}: {TRIALS / trials:g} x the time of {trials} trial{'s' if trials > 1 else ''}; "
                         f"--full runs all {TRIALS}.")
    cores = os.cpu_count() or 1
    notes.append("M/s: millions of robot-steps a second.")
    notes.append(f"This machine has {cores} core{'s' if cores > 1 else ''}"
                 + (", so two threads cannot gain." if cores == 1 else "; two threads gain only what others leave of them."))
    title = f"rollout: {GENOTYPES} random genotypes x {TRIALS} trials x {STEPS:,} steps"
    show(title, rows, notes, COLUMNS)
    return {"rows": rows, "summary": summary}


def measure(world: World, genotypes: int, trials: int, steps: int, repeats: int) -> list[dict[str, Any]]:
    """Two rows: on one thread, and on two.

    `seconds` is the best whole call of `rollout`, with building and placing; `generation_s` the same for all TRIALS;
    `cores` is processor time over clock time meanwhile, so less than the threads means that others were at work, or that
    one thread had more to do. `cpp_ratio` is the speed on one thread over that of the C++ twin, which does the same steps
    and is not charged for building; all take turns. `difference` is the largest between the two: see `apart`.
    """
    tried = population(world, genotypes)
    rollout(world, tried[:2], SEED, 1, world.dt, threads=2)  # compile
    fixed = {"robots": world.robots, "genotypes": genotypes, "trials": trials, "steps": steps, "seconds": float("inf")}
    absent = dict.fromkeys(("target_s", "cpp_ratio", "agrees", "difference"))
    rows: list[dict[str, Any]] = [{**fixed, **absent, "threads": threads} for threads in (1, 2)]
    theirs = []
    for _ in range(repeats):
        for row in rows:
            row |= min(row, roll(world, tried, trials, steps, row["threads"]), key=lambda found: found["seconds"])
        if cpp.compiler():
            theirs.append(timed(cpp.Plain(start(world, tried, trials)).steps, steps))
    for row in rows:
        row["robot_steps_per_s"] = world.robots * genotypes * trials * steps / row["seconds"]
        row["generation_s"] = row["seconds"] * TRIALS / trials
    if theirs:
        difference = apart(world, tried, trials, min(CHECK, steps))
        rows[0] |= {"cpp_ratio": min(theirs) / rows[0]["seconds"], "agrees": difference <= TOLERANCE, "difference": difference}
    rows[0]["target_s"] = TARGET.get(world.robots)
    return rows


def roll(world: World, genotypes: Floats, trials: int, steps: int, threads: int) -> dict[str, Any]:
    """Try all genotypes: how long it took, how many cores were busy meanwhile, and how often robots crashed."""
    began, busy = time.perf_counter(), time.process_time()
    tried = rollout(world, genotypes, SEED, trials, steps * world.dt, threads=threads)
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    return {"seconds": seconds, "cores": busy / seconds, "crash_rate": float(tried.crash_rate.mean())}


def apart(world: World, genotypes: Floats, trials: int, steps: int) -> float:
    """The largest difference between ours and C++ after so many steps, of a coordinate (m), a heading (rad) or a fitness;
    infinite if a crash was counted differently.

    The poses are those of the readable loop: it gives the same bits as the compiled rollout, which tells only the fitness.
    """
    lab = start(world, genotypes, trials)
    twin = cpp.Plain(lab)
    twin.steps(steps)
    for _ in range(steps):
        lab.step()
    position, heading, crashes, total = twin.read()
    if not np.array_equal(crashes, lab.state.crashes):
        return float("inf")
    fitness = rollout(world, genotypes, SEED, trials, steps * world.dt).fitness.ravel()
    both = ((position, lab.state.position), (heading, lab.state.heading), (total / steps, fitness))
    return float(max(np.abs(theirs - ours).max() for theirs, ours in both))


def start(world: World, genotypes: Floats, trials: int) -> Simulation:
    """The worlds of a rollout, before their first step."""
    each = {world.groups[0].name: np.repeat(genotypes, trials, axis=0)}
    return Simulation(world, SEED, trials, copies=len(genotypes), genotypes=each)
