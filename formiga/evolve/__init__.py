"""Controllers that are bred. A search is an element of role 'search': it proposes genotypes and is told their fitness.

    search.py, genetic.py, cma_es.py   who lives and who has children
    trials.py                          what one evaluation is
    crew.py                            who evaluates: this process, its cores, or a cluster
    checkpoint.py                      the file from which an evolution goes on
    champion.py, figure.py             who won, and how good it really is
    run.py                             all of it together: `evolve(folder, world)`
"""

from formiga.evolve.cma_es import CmaEs
from formiga.evolve.genetic import Genetic
from formiga.evolve.run import Outcome, Report, check, evolve
from formiga.evolve.search import Course, Search

__all__ = ["CmaEs", "Course", "Genetic", "Outcome", "Report", "Search", "check", "evolve"]
