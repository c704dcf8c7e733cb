"""The champion: the best genotype of the last generations, measured on starts that evolution never used."""

from __future__ import annotations

import base64
import copy
import json
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from formiga import runs
from formiga.control.neural import genotype as genotypes
from formiga.control.neural import learner
from formiga.evolve.checkpoint import Evolution
from formiga.evolve.figure import draw
from formiga.evolve.search import Floats, best_first
from formiga.evolve.trials import Tried, attempt_all, seed_for
from formiga.files import whole_file, write_whole
from formiga.pool import Pool
from formiga.record.format import embed
from formiga.record.recorder import Recorder
from formiga.world.elements import of
from formiga.world.model import World
from formiga.world.reader import read
from formiga.world.writer import to_text

CANDIDATES = 10      # the best of each of the last generations
CHOOSING = 20        # trials in which the champion is chosen among them
TESTING = 100        # trials in which it is then measured; other seeds again

GENOTYPE, WORLD, REPLAY, FIGURE, SUMMARY = "champion.json", "champion.xml", "champion.parquet", "fitness.png", "summary.json"
FILES = (GENOTYPE, WORLD, REPLAY, FIGURE, SUMMARY)


@dataclass(frozen=True)
class Champion:
    """The winner, and what it did in the test."""

    genes: Floats
    generation: int
    individual: int
    tested: Tried          # (1, trials)

    def summary(self) -> dict[str, Any]:
        """Means over the test's trials, each with its 95 % confidence interval."""
        found: dict[str, Any] = {"generation": self.generation, "individual": self.individual,
                                 "trials": int(self.tested.fitness.size)}
        for name in Tried.__dataclass_fields__:
            mean, half = interval(getattr(self.tested, name)[0])
            low, high = (0.0, 1.0) if name in ("crash_rate", "lasted") else (-math.inf, math.inf)  # a share is no more
            found[name] = {"mean": mean, "low": max(low, mean - half), "high": min(high, mean + half)}
        return found


def interval(values: Floats) -> tuple[float, float]:
    """Mean, and half the width of its 95 % confidence interval (Student's t)."""
    from scipy import stats

    n = len(values)
    half = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / math.sqrt(n) if n > 1 else 0.0
    return float(values.mean()), float(half)


def choose(evolution: Evolution, pool: Pool, trials: int = TESTING) -> Champion:
    """Try the best of each of the last generations on new starts, and test the best of those on others.

    The best of a generation is in part the luckiest. So neither the choice nor the test goes by starts that were used
    before.
    """
    world, search, seed = evolution.world, evolution.search, evolution.seed
    candidates = last_best(evolution)
    genes = np.array([each for _, _, each in candidates])
    chosen = attempt_all(pool, world, genes, seed_for(seed, "choose"), CHOOSING, search.seconds, search.group or "")
    generation, individual, best = candidates[best_first(chosen.fitness.mean(axis=1))[0]]
    tested = attempt_all(pool, world, best[None, :], seed_for(seed, "test"), trials, search.seconds, search.group or "")
    return Champion(best, generation, individual, tested)


def last_best(evolution: Evolution) -> list[tuple[int, int, Floats]]:
    """(generation, individual, genes) of the best of each of the last generations."""
    fitness, course = evolution.table(), evolution.search.start(evolution.size, evolution.seed)
    found = []
    for generation, told in enumerate(fitness):
        if generation >= len(fitness) - CANDIDATES:
            best = int(best_first(told)[0])
            found.append((generation, best, course.ask()[best]))
        course.tell(told)
    return found


def keep(folder: Path, evolution: Evolution, champion: Champion) -> dict[str, Any]:
    """Write everything about the champion into the folder; returns the summary."""
    world, seed = evolution.world, evolution.seed
    group = learner(world, evolution.search.group or "")
    about = {"world": world.name, "seed": seed, "generation": champion.generation,
             "fitness": champion.summary()["fitness"]["mean"]}
    genotypes.write(folder / GENOTYPE, genotypes.Genotype(of(group.controller).tag, champion.genes, about))
    packed, files = embed(world)  # other files that the world names come along, so that the folder can go anywhere
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        with whole_file(folder / name) as beside:
            beside.write_bytes(base64.b64decode(content))
    write_whole(folder / WORLD, to_text(with_genotype(packed, group.name, GENOTYPE)))
    draw(evolution, folder / FIGURE)
    summary = {
        "world": world.name, "seed": seed, "generations": evolution.generation, "asked": evolution.search.generations,
        "population": evolution.search.population, "trials": evolution.search.trials, "genes": evolution.size,
        "champion": champion.summary(),
        "best": [float(value) for value in evolution.table().max(axis=1)],
        "mean": [float(value) for value in evolution.table().mean(axis=1)],
        "files": {name: os.fspath(folder / file) for name, file in
                  (("genotype", GENOTYPE), ("world", WORLD), ("replay", REPLAY), ("figure", FIGURE),
                   ("table", evolution.file.name))},
    }
    write_whole(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    runnable, test = read(folder / WORLD), seed_for(seed, "test")
    with Recorder(folder / REPLAY, runnable, test) as record:
        runs.simulate(runnable, evolution.search.seconds, test, record=record)
    return summary


def with_genotype(world: World, name: str, file: str | None) -> World:
    """The world with another genotype file for the network of a group, or with none."""
    def changed(group: Any) -> Any:
        if group.name != name:
            return group
        network = copy.copy(group.controller)
        object.__setattr__(network, "genotype", file)  # not replace(): the file is named, not opened
        network.__dict__.pop("stored", None)
        return replace(group, controller=network)

    return replace(world, groups=tuple(map(changed, world.groups)))
