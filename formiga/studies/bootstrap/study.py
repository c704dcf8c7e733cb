"""Evolution from a pack, under two contact policies, judged in one common test. `formiga study bootstrap`

Training fitness cannot be compared between policies: the same driving scores differently. So the best genotype of a
generation is taken out and tried again under the same conditions: a spaced start, `stop`, the same unseen trials.
Every number follows from SEED, on any number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from formiga.evolve.search import best_first
from formiga.rollout import genes, rollout
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.bootstrap import published
from formiga.studies.harness import Pool, Row, reported
from formiga.units import CM
from formiga.world.model import World
from formiga.world.placement import Scatter

SEED = 8
POLICIES = ("reposition", "stop")
LEVEL = 0.05            # of each one-sided test
DECISIVE = 10           # evolutionary runs of a policy; with fewer, nothing is decided
TEST_TRIALS = 20
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

    survival: float           # s, of a trial in generation 0, in the mean
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

    def figures(self) -> dict[str, harness.Draw]:
        """Generation 0 and the common test."""
        return {"bootstrap": self.figure}

    def figure(self, path: Path) -> None:
        """Survival in generation 0, and the common test: each run a dot, a box for its policy."""
        panels: list[tuple[str, str, Any]] = [("Generation 0: survival", "mean survival (s)", lambda outcome: outcome.survival)]
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
            survival, early = float(tried.steps.mean()) * world.dt, float((tried.steps < tried.asked).mean())
        fitness = tried.fitness.mean(axis=1)
        if generation in budget.judged:
            champions.append(genotypes[best_first(fitness)[0]])
        course.tell(fitness)
    judged = rollout(common_test(), np.array(champions), seed_of(), TEST_TRIALS)
    return Outcome(survival, early, judged.fitness.mean(axis=1), judged.steps.mean(axis=1) * world.dt,
                   judged.speed.mean(axis=1))


# -- what they say --------------------------------------------------------------------------------------------------
def generation_0(outcomes: dict[str, list[Outcome]]) -> Iterator[Row]:
    """The certain part: robots that are moved apart survive longer."""
    ours, theirs = (float(np.mean([outcome.survival for outcome in outcomes[policy]])) for policy in POLICIES)
    yield Row("generation 0: mean survival (s), longer under reposition than under stop", f"> {theirs:.4g}", ours,
              origin="law", verdict="met" if ours > theirs else "missed")
    for policy in POLICIES:
        yield reported(f"generation 0: share of trials ended by crashes, {policy}",
                       float(np.mean([outcome.early for outcome in outcomes[policy]])))


def comparison(generation: int, ours: Sequence[float], theirs: Sequence[float]) -> Iterator[Row]:
    """The claim itself, with the numbers that it was decided by; ours are fitnesses under reposition, theirs under stop."""
    winner, p = decide(ours, theirs)
    few = len(ours) < DECISIVE
    yield Row(f"generation {generation}: evolves better from a pack (Mann-Whitney, p < {LEVEL:g})",
              published.BETTER_START.values["evolves better from a pack"], f"{len(ours)} runs: too few" if few else winner,
              where=published.BETTER_START.where, note=published.BETTER_START.note,
              verdict="reported" if few else {"reposition": "met", "stop": "missed"}.get(winner, "reported"))
    yield reported(f"generation {generation}: p-value of 'reposition is better'", p)
    for policy, fitness in zip(POLICIES, (ours, theirs), strict=True):
        yield reported(f"generation {generation}: median fitness in the test, {policy}", float(np.median(fitness)))
    yield reported(f"generation {generation}: share of pairs of runs that reposition wins",
                   float(mannwhitneyu(ours, theirs).statistic) / (len(ours) * len(theirs)))


def decide(ours: Sequence[float], theirs: Sequence[float]) -> tuple[str, float]:
    """The better policy, or 'neither' at LEVEL; and the p-value of 'reposition is better'."""
    better, worse = (float(mannwhitneyu(ours, theirs, alternative=way).pvalue) for way in ("greater", "less"))
    return "reposition" if better < LEVEL else "stop" if worse < LEVEL else "neither", better
