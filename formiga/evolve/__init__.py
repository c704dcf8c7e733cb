"""Controllers that are bred. A search is an element of role 'search': it proposes genotypes and is told their fitness.

    search.py, genetic.py, cma_es.py   selection, and how new genotypes are made
    trials.py                          what one evaluation is
    checkpoint.py                      the file from which an evolution goes on
    champion.py, figure.py             the best genotype, and how good it is on unseen starts
    run.py                             all of it together: `evolve(folder, world)`, on a pool of workers (formiga/pool.py)
"""

from formiga.evolve.cma_es import CmaEs
from formiga.evolve.genetic import Genetic
from formiga.evolve.run import Outcome, Report, check, evolve
from formiga.evolve.search import Course, Search

__all__ = ["CmaEs", "Course", "Genetic", "Outcome", "Report", "Search", "check", "evolve"]
