"""Covariance matrix adaptation. [Hansen 2016, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772]

The strategy itself is the library `cmaes` [Nomura & Shibata 2024, arXiv:2402.01373].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.errors import FormigaError
from formiga.evolve.search import Course, Floats, Search, best_first, numbers_of, reflect
from formiga.world.elements import element, number, where

MOST_NUMBERS = 250_000_000  # that the update of the covariance needs at once: 2 GB
POINT = 1e-12               # a cloud of this width is one


@element("cma_es", role="search")
@dataclass(frozen=True)
class CmaEs(Search):
    """A Gaussian cloud of genotypes that moves, stretches and shrinks towards the better ones."""

    sigma: float = number(0.5, above=0.0, most=10.0, doc="standard deviation of the first generation")

    def start(self, size: int, seed: int) -> Cloud:
        """A new course with `size` genes for each genotype."""
        return Cloud(self, size, seed)


class Cloud(Course):
    """A CMA-ES under way.

    The cloud itself knows no borders: it is folded into [-1, 1] like the mutants of <genetic>, so a best gene at a border
    is the top of a hill. Clipping would make a plain outside, on which the cloud grows without end; drawing again until
    all genes are inside takes for ever with many genes (100 genes at sigma 0.5: one draw in 105).
    """

    search: CmaEs
    _unfolded: Floats

    def _first(self) -> Floats:
        from cmaes import CMA

        if self.search.population * self.size**2 > MOST_NUMBERS:
            raise FormigaError(f"{where(self.search)}<cma_es> with {self.size} genes and a population of "
                               f"{self.search.population} needs more than {MOST_NUMBERS * 8 >> 30} GB; lower 'population', or "
                               "take <genetic>.")
        with np.errstate(divide="ignore"):  # of two or three genotypes, one is the parent: no rank-mu update, and 1/0
            self._cma = CMA(mean=np.zeros(self.size), sigma=self.search.sigma, population_size=self.search.population)
        return self._sample(0)

    def _next(self, fitness: Floats) -> Floats:
        """The next population; the same one again when the cloud has shrunk to a point, and there is no more to find."""
        before = self._unfolded
        if np.ptp(before, axis=0).max() < POINT:
            return self._population
        try:
            with np.errstate(all="ignore"):
                self._cma.tell([(before[i], float(place)) for place, i in enumerate(best_first(fitness))])
                population = self._sample(self.generation + 1)
            if np.isfinite(population).all():
                return population
        except (np.linalg.LinAlgError, AssertionError):  # a cloud without width in some direction
            pass
        self._unfolded = before
        return self._population

    def _sample(self, generation: int) -> Floats:
        # The library draws from a generator of its own, which starts anew from our numbers in every generation.
        self._cma.reseed_rng(int(numbers_of(self.seed, generation).integers(2**32)))
        self._unfolded = np.array([self._cma.ask() for _ in range(self.search.population)])
        return reflect(self._unfolded)
