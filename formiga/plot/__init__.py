"""Figures for publications, from runs, recordings and tables.

    from formiga import plot

    axes = plot.trajectories(run)
    plot.save(axes, "ways.pdf")

Each function draws on matplotlib axes, its own or those that it is given, and returns them: what a figure needs beyond that is
matplotlib's, which is loaded when something is drawn.
"""

from formiga.plot.courses import over_time
from formiga.plot.heat import visits
from formiga.plot.look import PALETTE, look, save
from formiga.plot.paths import trajectories

__all__ = ["PALETTE", "look", "over_time", "save", "trajectories", "visits"]
