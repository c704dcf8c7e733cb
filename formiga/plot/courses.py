"""A quantity over time: the mean over worlds and seeds, and its interval of confidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.plot.intervals import interval
from formiga.plot.look import PALETTE, look, new_axes
from formiga.plot.quantities import Quantity, course, name_of


def over_time(data: Any, quantity: Quantity, axes: Any = None, *, group: str | None = None, level: float = 0.95,
              label: str | None = None, unit: str | None = None, colour: str | None = None, each: bool = False) -> Any:
    """The mean of a quantity over worlds and runs, with Student's interval of that level around it. Returns the axes.

    data: a run, a recording or the path of one; several of them, with other seeds; or a table with a column `time`, one of the
    quantity and some of `seed`, `run`, `world`, which tell its runs apart.
    quantity: 'x', 'y', 'heading', 'left', 'right', 'crashed', 'alive' or 'speed'; the name of a metric; that of a sensor or an
    estimator that gives one number, or 'scanner[3]' for one of several; 'readings:NAME' where names are alike; or a function of
    the poses, as `Recording.poses` gives them, that returns numbers (steps, worlds).
    A sample is one world of one run: what its robots have, or those of `group`, is averaged first. each: draws samples, too.
    Called again on the same axes it adds a line, with its label in the legend.
    """
    found = course(data, quantity, group)
    new = axes is None
    if new:
        with look():
            axes = new_axes()
    colour = colour or PALETTE[len([line for line in axes.lines if line.get_gid() == MEAN]) % len(PALETTE)]
    mean, low, high = interval(found.samples, level, axis=1)
    if each:
        axes.plot(found.time, found.samples, color=colour, lw=0.5, alpha=0.3, zorder=1.5)
    if np.isfinite(low).any():
        axes.fill_between(found.time, low, high, color=colour, alpha=0.22, lw=0, zorder=1.8)
    axes.plot(found.time, mean, color=colour, lw=1.2, label=label, gid=MEAN, zorder=2.5)
    unit = found.unit if unit is None else unit
    name = name_of(quantity)
    axes.set(xlabel="time (s)", ylabel=f"{name} ({unit})" if unit else name)
    ends = [line.get_xdata() for line in axes.lines]
    axes.set_xlim(min(np.min(x) for x in ends), max(np.max(x) for x in ends))
    if label is not None:
        with look():
            axes.legend()
    return axes


MEAN = "formiga-mean"      # what marks the lines that are means

__all__ = ["over_time"]
