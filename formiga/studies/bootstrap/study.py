"""Evolution from a pack, under two contact policies, judged in one common test. `formiga study bootstrap`

Training fitness cannot be compared between policies: the same driving scores differently. So the best genotype of a
generation is taken out and tried again under the same conditions: a spaced start, `stop`, the same unseen trials.
Every number follows from SEED, on any number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import mannwhitneyu, wilcoxon

from formiga.evolve.search import best_first
from formiga.loop import Simulation
from formiga.rollout import genes, rollout
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.bootstrap import published
from formiga.studies.harness import Pool, Row, reported
from formiga.units import CM
from formiga.world.model import Contact, World
from formiga.world.placement import Scatter

SEED = 8
POLICIES = ("reposition", "stop")
LEVEL = 0.05            # of each one-sided test
DECISIVE = 10           # evolutionary runs of a policy; with fewer, nothing is decided
TEST_TRIALS = 20
DRIVES = 0.02           # of top speed; slower than this a robot stands or turns
CROWDS = (5, 10, 15)    # robots, for the claim that more of them fare worse
SPACED = Scatter(gap=6.0 * CM)  # at least 12 cm from rim to rim, and 9 cm to a wall


@dataclass(frozen=True)
class Budget:
    """The budget of each policy."""

    runs: int
    population: int
    trials: int
    judged: tuple[int, ...]  # generations whose best genotype is tested; the first is generation 0


QUICK = Budget(runs=3, population=20, trials=2, judged=(5,))
FULL = Budget(runs=DECISIVE, population=50, trials=5, judged=(5, 30))


@dataclass(frozen=True)
class Outcome:
    """Of one evolutionary run."""

    survival: Floats          # (population,) s, of a trial in generation 0, in the mean
    early: float              # share of the trials of generation 0 that the crash limit ended
    fitness: Floats           # (judged,) of the best, in the common test
    lasted: Floats            # (judged,) s, the same
    speed: Floats             # (judged,) in top speeds, the same


class Study(harness.Study):
    """The runs, and what they say."""

    def __init__(self) -> None:
        self.runs = 0
        self.budget = QUICK
        self.outcomes: dict[str, list[Outcome]] = {policy: [] for policy in POLICIES}

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """Evolve, a row for each run as it ends; then the claims."""
        self.budget = FULL if full else QUICK
        self.runs = self.budget.runs
        judged = ", ".join(map(str, self.budget.judged))
        yield from stopped(genotypes_of_generation_0(100 if full else 20))
        yield from crowds(genotypes_of_generation_0(500 if full else 50), 4)
        yield from trap(genotypes_of_generation_0(500 if full else 50), 5)
        evolve((POLICIES[0], 0, Budget(runs=1, population=2, trials=1, judged=(0,))))  # compiles once, not in every process
        at_once = workers.size or self.runs  # of each policy
        for first in range(0, self.runs, at_once):
            tasks = [(policy, run, self.budget) for run in range(first, min(first + at_once, self.runs)) for policy in POLICIES]
            for (policy, run, _), outcome in zip(tasks, workers.map(evolve, tasks), strict=True):
                self.outcomes[policy].append(outcome)
                yield reported(f"{policy}, run {run + 1}: fitness in the common test, generation {judged}",
                               [round(float(fitness), 4) for fitness in outcome.fitness])
        yield from generation_0(self.outcomes)
        for at, generation in enumerate(self.budget.judged):
            yield from comparison(generation, *([float(outcome.fitness[at]) for outcome in self.outcomes[policy]]
                                                for policy in POLICIES))
            for what, name in (("survival (s)", "lasted"), ("speed (of top speed)", "speed")):
                for policy in POLICIES:
                    yield reported(f"generation {generation}: median {what} in the test, {policy}",
                                   float(np.median([getattr(outcome, name)[at] for outcome in self.outcomes[policy]])))
            for policy in POLICIES:
                speeds = [abs(float(outcome.speed[at])) for outcome in self.outcomes[policy]]
                yield reported(f"generation {generation}: slowest and fastest run in the test (of top speed), {policy}",
                               [round(min(speeds), 3), round(max(speeds), 3)])

    def figures(self) -> dict[str, harness.Draw]:
        """Generation 0 and the common test."""
        return {"bootstrap": self.figure}

    def figure(self, path: Path) -> None:
        """Survival in generation 0, and the common test: each run a dot, a box for its policy."""
        panels: list[tuple[str, str, Any]] = [("Generation 0: survival", "mean survival (s)",
                                               lambda outcome: outcome.survival.mean())]
        panels += [(f"Common test, best of generation {generation}", "fitness", lambda outcome, at=at: outcome.fitness[at])
                   for at, generation in enumerate(self.budget.judged)]
        with harness.canvas(path, 1, len(panels), (4.8 * len(panels), 4.4)) as (_, axes):
            for panel, (title, label, take) in zip(axes, panels, strict=True):
                samples = [[take(outcome) for outcome in self.outcomes[policy]] for policy in POLICIES]
                panel.boxplot(samples, widths=0.5, showfliers=False, medianprops={"color": "black"})
                for place, (sample, colour) in enumerate(zip(samples, ("#0072b2", "#d55e00"), strict=True), 1):
                    harness.dots(panel, place, sample, color=colour, alpha=0.75)
                panel.set_xticks((1, 2), POLICIES)
                panel.set(title=title, ylabel=label)


# -- one evolutionary run -------------------------------------------------------------------------------------------
def arena(policy: str, **parameters: str | float) -> World:
    """The study's world file."""
    return harness.world("bootstrap", {"policy": policy, **parameters})


def common_test() -> World:
    """The common test: a spaced start, and robots that crash stay where they are."""
    world = arena("stop")
    return replace(world, groups=(replace(world.groups[0], place=(SPACED,)),))


def seed_of(*key: int) -> int:
    """An independent seed for each key. The common test has the empty one."""
    return harness.seed_of(SEED, *key)


def evolve(task: tuple[str, int, Budget]) -> Outcome:
    """One run. Its genes and its starts are its own, so that the samples of a policy are independent of the other's."""
    policy, run, budget = task
    world = arena(policy, population=budget.population, trials=budget.trials)
    key = (POLICIES.index(policy), run)
    course = world.search.start(genes(world, world.groups[0]), seed_of(*key))
    champions = []
    for generation in range(max(budget.judged) + 1):
        genotypes = course.ask()
        tried = rollout(world, genotypes, seed_of(*key, generation), budget.trials)
        if generation == 0:
            survival, early = tried.steps.mean(axis=1) * world.dt, float((tried.steps < tried.asked).mean())
        fitness = tried.fitness.mean(axis=1)
        if generation in budget.judged:
            champions.append(genotypes[best_first(fitness)[0]])
        course.tell(fitness)
    judged = rollout(common_test(), np.array(champions), seed_of(), TEST_TRIALS)
    return Outcome(survival, early, judged.fitness.mean(axis=1), judged.steps.mean(axis=1) * world.dt,
                   judged.speed.mean(axis=1))


# -- what they say --------------------------------------------------------------------------------------------------
def generation_0(outcomes: dict[str, list[Outcome]]) -> Iterator[Row]:
    """Before any evolution: robots that are moved apart survive longer. A policy's sample are all genotypes of its runs."""
    reposition, stop = (np.concatenate([outcome.survival for outcome in outcomes[policy]]) for policy in POLICIES)
    winner, p = decide(reposition, stop)
    yield Row(f"generation 0: survives longer (Mann-Whitney over genotypes, p < {LEVEL:g})",
              published.LONGER_LIFE.values["survives longer"], winner, where=published.LONGER_LIFE.where)
    yield reported("generation 0: p-value of 'reposition survives longer'", p)
    for policy, survival in zip(POLICIES, (reposition, stop), strict=True):
        yield reported(f"generation 0: mean survival (s), {policy}", float(survival.mean()))
    for policy in POLICIES:
        yield reported(f"generation 0: share of trials ended by crashes, {policy}",
                       float(np.mean([outcome.early for outcome in outcomes[policy]])))


def genotypes_of_generation_0(count: int) -> Floats:
    """As many random genotypes as a search with this population begins with, for the rows without evolution."""
    world = arena("stop", population=count)
    return np.asarray(world.search.start(genes(world, world.groups[0]), seed_of(2)).ask())


def stopped(genotypes: Floats) -> Iterator[Row]:
    """How long a trial lasts under `stop`, from geometry alone.

    The draft: a robot that is kept in the collided position collides "at each time step", which ends the simulation after the
    given number of crashes. So a trial ends crash_limit - 1 steps after the first step in which any two centres come nearer
    than two safety radii, or one comes nearer than one to a wall. That step is found by watching the centres of the same
    controller with contacts switched off, by `scipy.spatial`, and not by the contact code.
    """
    world = arena("stop")
    trials = rollout(world, genotypes, seed_of(3), 1)
    predicted = np.minimum(first_collisions(world, genotypes, seed_of(3)) + world.contact.crash_limit - 1, trials.asked)
    yield Row(f"stop: of {len(genotypes)} trials, those that last as long as the first collision of their robots' centres says",
              len(genotypes), int((trials.steps[:, 0] == predicted).sum()), where=published.EACH_STEP.where)


def first_collisions(world: World, genotypes: Floats, seed: int) -> Any:
    """The first step (genotypes,) in which robots that nothing stops collide."""
    safety, half = world.groups[0].robot.radius + world.groups[0].robot.clearance, 0.5 * world.things[0].width
    free, steps = replace(world, contact=Contact(model="none")), round(world.seconds / world.dt)
    found = np.full(len(genotypes), steps + 1)
    for number, genotype in enumerate(genotypes):
        lab = Simulation(free, seed, genotypes={free.groups[0].name: genotype})
        for step in range(1, steps + 1):
            lab.step()
            centres = lab.state.position[0]
            if pdist(centres).min() < 2.0 * safety or np.abs(centres).max() > half - safety:
                found[number] = step
                break
    return found


def crowds(genotypes: Floats, trials: int) -> Iterator[Row]:
    """The draft's two conditions of the bootstrap problem: many robots, and packed ones. The same genotypes in each set-up."""
    world = arena("stop")
    lived = {robots: rollout(replace(world, groups=(replace(world.groups[0], count=robots),)), genotypes, seed_of(4, robots),
                             trials).steps.mean(axis=1) * world.dt for robots in CROWDS}
    spaced = rollout(common_test(), genotypes, seed_of(5), trials).steps.mean(axis=1) * world.dt
    for few, many in pairwise(CROWDS):
        yield from shorter(f"stop, packed: {many} robots survive shorter than {few}", lived[many], lived[few],
                           published.MORE_ROBOTS)
    yield from shorter("stop, 15 robots: they survive shorter packed than spaced", lived[15], spaced, published.PACKED)
    for label, survival in (*((f"{robots} robots, packed", lived[robots]) for robots in CROWDS), ("15 robots, spaced", spaced)):
        yield reported(f"stop, {label}: mean survival (s)", float(survival.mean()))


def trap(genotypes: Floats, trials: int) -> Iterator[Row]:
    """What random genotypes that drive ahead score in a pack; to stand still scores 0."""
    for policy in POLICIES:
        tried = rollout(arena(policy), genotypes, seed_of(6), trials)
        fitness = tried.fitness.mean(axis=1)[tried.speed.mean(axis=1) > DRIVES]
        claim = f"{policy}: random genotypes that drive ahead at more than {100 * DRIVES:g} % of top speed"
        yield reported(f"{claim}, of {len(genotypes)}", len(fitness))
        if len(fitness):
            yield reported(f"{claim}: highest fitness", float(fitness.max()))
            yield reported(f"{claim}: share above 0", float((fitness > 0.0).mean()))


def shorter(claim: str, ours: Floats, others: Floats, paper: harness.Published) -> Iterator[Row]:
    """Whether the same genotypes survive shorter in one set-up than in another: paired, one-sided."""
    p = float(wilcoxon(ours, others, alternative="less").pvalue)
    yield Row(f"{claim} (Wilcoxon over genotypes, p < {LEVEL:g})", paper.values["survives shorter"], p < LEVEL,
              where=paper.where, note=f"p = {p:.2g}")


def comparison(generation: int, reposition: Sequence[float], stop: Sequence[float]) -> Iterator[Row]:
    """The claim itself, with the numbers that it was decided by; fitnesses under either policy."""
    winner, p = decide(reposition, stop)
    few = len(reposition) < DECISIVE
    yield Row(f"generation {generation}: evolves better from a pack (Mann-Whitney, p < {LEVEL:g})",
              published.BETTER_START.values["evolves better from a pack"],
              f"{len(reposition)} runs: too few" if few else winner, where=published.BETTER_START.where,
              note=published.BETTER_START.note,
              verdict="reported" if few else {"reposition": "met", "stop": "missed"}.get(winner, "reported"))
    yield reported(f"generation {generation}: p-value of 'reposition is better'", p)
    for policy, fitness in zip(POLICIES, (reposition, stop), strict=True):
        yield reported(f"generation {generation}: median fitness in the test, {policy}", float(np.median(fitness)))
    yield reported(f"generation {generation}: share of pairs of runs that reposition wins",
                   float(mannwhitneyu(reposition, stop).statistic) / (len(reposition) * len(stop)))


def decide(reposition: Sequence[float] | Floats, stop: Sequence[float] | Floats) -> tuple[str, float]:
    """The better policy, or 'neither' at LEVEL; and the p-value of 'reposition is better'."""
    better, worse = (float(mannwhitneyu(reposition, stop, alternative=way).pvalue) for way in ("greater", "less"))
    return "reposition" if better < LEVEL else "stop" if worse < LEVEL else "neither", better
