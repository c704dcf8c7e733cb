"""Means over seeds, with their intervals of confidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from formiga.errors import FormigaError


class Interval(NamedTuple):
    """A mean and the ends of its interval of confidence; NaN ends where a single run says nothing about the spread."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def interval(runs: Any, level: float = 0.95, axis: int = 0) -> Interval:
    """Mean over independent runs, and Student's interval around it: mean -+ t s / sqrt(n), with n - 1 degrees of freedom.

    Runs that are NaN are left out, each for itself.
    """
    if not isinstance(level, int | float) or not 0.0 < level < 1.0:
        raise FormigaError(f"a level of {level!r} cannot be; it is between 0 and 1, such as 0.95.")
    values = np.asarray(runs, np.float64)
    there = np.isfinite(values)
    count = there.sum(axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, values, 0.0).sum(axis) / count
        off = np.where(there, values - np.expand_dims(mean, axis), 0.0)
        error = np.sqrt((off**2).sum(axis) / (count - 1) / count)
        half = np.where(count > 1, stats.t.ppf(0.5 + 0.5 * level, np.maximum(count - 1, 1)) * error, np.nan)
    return Interval(mean, mean - half, mean + half)


__all__ = ["Interval", "interval"]
