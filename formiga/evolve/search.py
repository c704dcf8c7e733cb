"""What every search has in common: its attributes, and the course that it takes.

A course is a function of the search's attributes, the number of genes, the seed and the fitness that it was told. The
random numbers of a generation are keyed by (seed, generation), so no generator has a state that would have to be saved:
a caller that tells the same fitness again is asked the same populations again, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.errors import FormigaError, whole
from formiga.world.elements import duration, integer, name, where

Floats = NDArray[np.float64]

MOST_GENES = 100_000_000  # of a whole population: 800 MB


@dataclass(frozen=True)
class Search:
    """How a controller is evolved. Genes are numbers in [-1, 1]; fitness is maximised."""

    population: int = integer(50, least=2, most=100_000, doc="genotypes of a generation")
    generations: int = integer(50, least=1)
    trials: int = integer(10, least=1, doc="evaluations of each genotype")
    seconds: float | None = duration(None, above=0.0, doc="length of a trial; default: the world's")
    group: str | None = name(None, doc="which group evolves; default: the only one with a neural controller")

    def start(self, size: int, seed: int) -> Course:
        """A new course with `size` genes for each genotype."""
        raise NotImplementedError


class Course:
    """A search under way: ask for a population, tell its fitness, and so on. A child class says what `_next` is."""

    def __init__(self, search: Search, size: int, seed: int) -> None:
        self.search, self.generation = search, 0  # the generation that is asked now
        self.size, self.seed = whole("genes:", size, 1, MOST_GENES), whole("seed", seed, 0, 2**63 - 1)
        refuse_too_many(search, self.size)
        self._population = self._first()

    def ask(self) -> Floats:
        """The population to be evaluated now, (population, size). It stays the same until its fitness is told."""
        return self._population.copy()

    def tell(self, fitness: Any) -> None:
        """The fitness (population,) of the genotypes that were asked, the more the better."""
        told = check_fitness(fitness, self.search.population, self.generation)
        self._population = self._next(told)
        self.generation += 1

    def _first(self) -> Floats:
        raise NotImplementedError

    def _next(self, fitness: Floats) -> Floats:
        raise NotImplementedError


def refuse_too_many(search: Search, size: int) -> None:
    """Complain about a population that would fill the memory."""
    if search.population * size > MOST_GENES:
        raise FormigaError(f"{where(search)}{search.population} genotypes of {size} genes are more than {MOST_GENES} "
                           "numbers; lower 'population'.")


def check_fitness(given: Any, population: int, generation: int, what: str = "fitness") -> Floats:
    """One finite number for each genotype, or a clear complaint."""
    try:
        values = np.array(given, np.float64)
    except (TypeError, ValueError) as wrong:
        raise FormigaError(f"the {what} of generation {generation} is not an array of numbers.") from wrong
    if values.shape != (population,):
        raise FormigaError(f"the {what} of generation {generation} must have the shape ({population},), not {values.shape}.")
    if strange := np.flatnonzero(~np.isfinite(values)).tolist():
        raise FormigaError(f"the {what} of individual {strange[0]} in generation {generation} is {values[strange[0]]}; "
                           "it must be a finite number.")
    return values


def numbers_of(seed: int, generation: int) -> np.random.Generator:
    """The random numbers of one generation."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, generation], np.uint64)))


def best_first(fitness: Floats) -> NDArray[np.intp]:
    """Indices by falling fitness; of equals, the one with the lower index is first."""
    return np.argsort(-fitness, kind="stable")


def reflect(genes: Floats) -> Floats:
    """Fold the line into [-1, 1], as a mirror at each border would; what is inside stays, bit for bit."""
    folded = 1.0 - np.abs(np.mod(genes + 1.0, 4.0) - 2.0)
    return np.where(np.abs(genes) <= 1.0, genes, folded)
