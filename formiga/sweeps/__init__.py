"""Sweeps: a grid of parameters and seeds -> one tidy table with a row for each run, and a plot with intervals.

    swept = formiga.sweep("corral", {"robots": [10, 20, 30]}, seeds=30, out="corral-sweep")
    swept.frame().groupby("robots").contact_rate.mean()

grid.py counts the points and makes them, trial.py runs a point, journal.py keeps what is done, table.py makes the table of it,
and run.py puts them together.
"""

from formiga.sweeps.grid import Grid, SweepError, read_settings
from formiga.sweeps.run import sweep
from formiga.sweeps.table import Sweep

__all__ = ["Grid", "Sweep", "SweepError", "read_settings", "sweep"]
