"""An evolution from its first generation, or from where it was left, to its champion.

    outcome = evolve("avoid-out", world, seed=7, jobs=2)
    outcome.champion.genes

Everything that is needed to go on is in the folder after every generation. The result depends on the world and the seed
alone: not on jobs, on a cluster, or on how often it was interrupted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from formiga.control.neural import learner
from formiga.errors import FormigaError, WorldError
from formiga.evolve import champion as champions
from formiga.evolve.checkpoint import FILE, CheckpointError, Evolution, begin
from formiga.evolve.checkpoint import resume as read
from formiga.evolve.genetic import Genetic
from formiga.evolve.search import refuse_too_many
from formiga.evolve.trials import attempt_all, runs_in_threads, seed_for
from formiga.pool import Pool, pool
from formiga.record.format import embed
from formiga.rollout import genes, rollout
from formiga.score import plan
from formiga.world.elements import where
from formiga.world.model import World
from formiga.world.nodes import LARGEST_FILE
from formiga.world.shipped import Given, world_of
from formiga.world.writer import to_text

MOST_GENES = LARGEST_FILE // 25  # a gene takes up to 25 characters of the champion's file


@dataclass(frozen=True)
class Report:
    """What a person wants to know after a generation; and, with no speed yet, before the first."""

    generation: int              # so many are done
    generations: int
    best: list[float]            # of every generation since the first
    mean: list[float]
    evaluations_per_s: float     # trials of one genotype
    seconds_left: float


@dataclass(frozen=True)
class Outcome:
    """What came out of an evolution."""

    evolution: Evolution
    champion: champions.Champion
    summary: dict[str, Any]
    interrupted: bool


def evolve(folder: str | os.PathLike[str], world: Given | None = None, seed: int | None = None, *,
           generations: int | None = None, population: int | None = None, trials: int | None = None, jobs: int = 1,
           cluster: str | None = None, resume: bool = False, test: int = champions.TESTING,
           progress: Callable[[Report], None] = lambda report: None, stop: Callable[[], bool] = lambda: False) -> Outcome:
    """Evolve a world's network into a folder, or go on with the evolution that is there (`resume`).

    world: a World, the name of a shipped one, or a file. stop is asked after every generation; the champion so far is then
    kept as at the end. test: trials of the champion at the end. Workers get the code of the user's own elements with their
    tasks, whether it is in a file, an imported module or the script that calls this.
    """
    if world is not None:
        world = world_of(world)
    if resume:
        evolution = read(folder, generations)
        if world is not None:
            _refuse_another(evolution, prepared(world, generations, population, trials))
        for name, asked, begun in (("seed", seed, evolution.seed), ("population", population, evolution.search.population),
                                   ("trials", trials, evolution.search.trials)):
            if asked not in (None, begun):
                raise CheckpointError(f"{evolution.file}: it was begun with {name} {begun}, and cannot go on with {asked}.")
        if evolution.generation > evolution.search.generations:
            raise CheckpointError(f"{evolution.file}: {evolution.generation} generations are done already; "
                                  f"{evolution.search.generations} are fewer.")
    elif world is None:
        raise FormigaError("there is no world to evolve; name one, or a folder to resume.")
    else:
        world, size = checked(world, generations, population, trials)
        taken = [name for name in champions.FILES if os.path.lexists(os.path.join(folder, name))]
        if taken and not os.path.lexists(os.path.join(folder, FILE)):  # else there is an evolution, and `begin` says so
            raise CheckpointError(f"{os.path.join(folder, taken[0])}: is there already, and would be overwritten; choose "
                                  "another folder.")
        with pool(1, cluster):  # nothing is begun for a cluster that is not there
            evolution = begin(folder, world, size, seed or 0)
    threads = runs_in_threads(evolution.world, evolution.search.group or "")
    with pool(jobs, cluster, threads=threads) as workers:
        try:
            interrupted = _run(evolution, workers, progress, stop)
        except BaseException:
            if evolution.generation == 0:  # nothing to go on with
                Path(evolution.file).unlink(missing_ok=True)
            raise
        winner = champions.choose(evolution, workers, test)
    return Outcome(evolution, winner, champions.keep(Path(evolution.file).parent, evolution, winner), interrupted)


def _run(evolution: Evolution, workers: Pool, progress: Callable[[Report], None], stop: Callable[[], bool]) -> bool:
    """The generations that are left; whether `stop` said so before they were done."""
    search = evolution.search
    best, mean = ([float(value) for value in each] for each in (evolution.table().max(axis=1, initial=float("-inf")),
                                                               evolution.table().sum(axis=1) / search.population))
    began, first = time.perf_counter(), evolution.generation
    progress(Report(first, search.generations, best, mean, 0.0, 0.0))
    while not evolution.done:
        clock = time.perf_counter()
        tried = attempt_all(workers, evolution.world, evolution.ask(), seed_for(evolution.seed, "train", evolution.generation),
                            search.trials, search.seconds, search.group or "")
        fitness = tried.fitness.mean(axis=1)
        evolution.tell(fitness, crash_rate=tried.crash_rate.mean(axis=1), speed=tried.speed.mean(axis=1),
                       lasted=tried.lasted.mean(axis=1))
        best.append(float(fitness.max()))
        mean.append(float(fitness.mean()))
        now = time.perf_counter()
        if evolution.generation == first + 1:  # the first one may have had to compile
            began, first = now, evolution.generation
        each = (now - began) / max(1, evolution.generation - first) or now - clock
        progress(Report(evolution.generation, search.generations, best, mean, search.population * search.trials / (now - clock),
                        each * (search.generations - evolution.generation)))
        if stop():
            return not evolution.done
    return False


def checked(world: World, generations: int | None = None, population: int | None = None,
            trials: int | None = None) -> tuple[World, int]:
    """The world as it is evolved, and how many genes its network has; WorldError if it cannot be evolved."""
    world = prepared(world, generations, population, trials)
    size = genes(world, learner(world, world.search.group or ""))
    if size > MOST_GENES:
        raise WorldError(f"a network with {size} genes is too large to be kept in a file; it may have {MOST_GENES}.")
    refuse_too_many(world.search, size)
    return world, size


def check(world: World) -> None:
    """Say what `evolve` would say about a world: all its checks, and one step of one genotype without genes of its own."""
    world, size = checked(world)
    rollout(world, np.zeros((1, size)), seconds=world.dt, group=world.search.group or "", compiled=False)


def prepared(world: World, generations: int | None = None, population: int | None = None, trials: int | None = None) -> World:
    """The world as it is evolved: its search changed as asked, its network without the genes of an earlier evolution."""
    search = world.search if world.search is not None else Genetic()
    group = learner(world, search.group or "")
    if not world.fitness:
        raise WorldError(f"{where(world.search or world)}world '{world.name}' does not say what is good; give it at least one "
                         "<fitness of=\"...\"/>.")
    asked = {"generations": generations, "population": population, "trials": trials}
    search = replace(search, **{name: value for name, value in asked.items() if value is not None})
    world = champions.with_genotype(replace(world, search=search), group.name, None)
    plan(world, learner(world, search.group or ""))
    return world


def _refuse_another(evolution: Evolution, world: World) -> None:
    """Whether a folder's evolution is of this world, but for the number of generations."""
    same = replace(world, search=replace(world.search, generations=evolution.search.generations))
    if to_text(embed(same)[0]) != to_text(embed(evolution.world)[0]):
        raise CheckpointError(f"{evolution.file}: it was evolved in another world, or with other settings, than those that are "
                              "given now; leave them out to go on, or choose another folder.")


__all__ = ["Outcome", "Report", "evolve", "prepared"]
