"""The generational algorithm of evolutionary robotics. [Nolfi & Floreano 2000, "Evolutionary Robotics", ch. 2]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formiga.errors import WorldError
from formiga.evolve.search import Course, Floats, Search, best_first, numbers_of, reflect
from formiga.world.elements import choice, element, integer, number


@element("genetic", role="search")
@dataclass(frozen=True)
class Genetic(Search):
    """Real-valued genes, selection, Gaussian mutation, uniform crossover, an elite that is copied unchanged.

    tournament: a parent is the best of a few drawn at random, with replacement.
    truncation: the best share of the population are parents, and all have the same number of children.
    """

    selection: str = choice("tournament", options=("tournament", "truncation"))
    tournament: int = integer(3, least=1, most=1000, doc="how many are drawn; 1: no selection")
    parents: float = number(0.2, above=0.0, most=1.0, doc="share of the population that truncation keeps as parents")
    elite: int = integer(1, least=0, doc="how many of the best are copied unchanged")
    mutation: float = number(0.1, least=0.0, most=2.0, doc="standard deviation of what is added to a gene")
    rate: float = number(1.0, least=0.0, most=1.0, doc="probability that a gene mutates")
    crossover: float = number(0.0, least=0.0, most=1.0, doc="probability that a child has two parents")

    def __post_init__(self) -> None:
        if self.elite >= self.population:
            raise WorldError(f"<genetic> elite: {self.elite} of a population of {self.population} leave no child; it must "
                             "be less than 'population'.")

    def start(self, size: int, seed: int) -> Generations:
        """A new course with `size` genes for each genotype."""
        return Generations(self, size, seed)


class Generations(Course):
    """A genetic search under way."""

    search: Genetic

    def _first(self) -> Floats:
        return numbers_of(self.seed, 0).uniform(-1.0, 1.0, (self.search.population, self.size))

    def _next(self, fitness: Floats) -> Floats:
        search, random = self.search, numbers_of(self.seed, self.generation + 1)
        ranking = best_first(fitness)
        children = search.population - search.elite
        mothers, fathers = self._select(ranking, children, random)
        born = cross(self._population[mothers], self._population[fathers], search.crossover, random)
        born = mutate(born, search.mutation, search.rate, random)
        return np.concatenate([self._population[ranking[:search.elite]], born])

    def _select(self, ranking: NDArray[np.intp], children: int, random: np.random.Generator) -> list[NDArray[np.intp]]:
        if self.search.selection == "truncation":
            kept = max(1, round(self.search.parents * len(ranking)))
            return [ranking[np.arange(children) % kept], ranking[random.integers(kept, size=children)]]
        # The place in the ranking decides a tournament, so that ties do not depend on which was drawn first.
        drawn = random.integers(len(ranking), size=(2, self.search.tournament, children))
        return [ranking[places.min(axis=0)] for places in drawn]


def cross(mothers: Floats, fathers: Floats, probability: float, random: np.random.Generator) -> Floats:
    """Uniform crossover: with this probability, each gene of a child comes from either parent; else all from the mother."""
    two = random.random((len(mothers), 1)) < probability
    return np.where(two & (random.random(mothers.shape) < 0.5), fathers, mothers)


def mutate(genes: Floats, sigma: float, rate: float, random: np.random.Generator) -> Floats:
    """Add a Gaussian number to each gene that mutates; what leaves [-1, 1] is reflected at the border."""
    chosen = random.random(genes.shape) < rate
    return reflect(genes + np.where(chosen, sigma * random.standard_normal(genes.shape), 0.0))
