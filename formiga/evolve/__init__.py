"""Controllers that are bred. A search is an element of role 'search': it proposes genotypes and is told their fitness.

    search.py, genetic.py, cma_es.py   who lives and who has children
    checkpoint.py                      the file from which an evolution goes on
    crew.py                            who evaluates: this process, its cores, or a cluster
"""

from formiga.evolve.cma_es import CmaEs
from formiga.evolve.genetic import Genetic
from formiga.evolve.search import Course, Search

__all__ = ["CmaEs", "Course", "Genetic", "Search"]
