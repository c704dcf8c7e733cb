"""What is asked of runs: which rovers are right, when rovers began to track, and how often they were certain and wrong."""

from __future__ import annotations

import numpy as np

from formiga.state import Floats
from formiga.studies.three_state.machine import TRACKING
from formiga.studies.three_state.runs import RIGHT, Changed, Course

CONVERGED = 2.5                    # m, mean error of a team
WRONG, AFTER = 5.0, 200            # m, s: a rover that tracks with a larger error, later than that, is falsely certain


def switches(course: Course) -> tuple[Floats, Floats]:
    """First and last time (W, N) at which each rover began to track, s; NaN for one that never did."""
    tracks = course.state == TRACKING
    begins = tracks & ~np.roll(tracks, 1, axis=1)
    begins[:, 0] = tracks[:, 0]
    time = np.arange(tracks.shape[1])[None, :, None]
    ever = begins.any(axis=1)
    first = np.where(begins, time, np.inf).min(axis=1)
    last = np.where(begins, time, -np.inf).max(axis=1)
    return np.where(ever, first, np.nan), np.where(ever, last, np.nan)


def last_of_all(course: Course) -> float:
    """When the last rover of a team began to track for the last time, s; mean over the runs in which one ever did."""
    last = switches(course)[1]
    return float(np.nanmax(last[np.isfinite(last).any(axis=1)], axis=1).mean())


def right(course: Course) -> float:
    """The share of runs at whose end all rovers are right."""
    return float((course.error[:, -1] < RIGHT).all(axis=1).mean())


def false_certainty(course: Course) -> float:
    """The share of tracking rovers that are wrong, over all samples after the start."""
    tracks, wrong = course.state[:, AFTER:] == TRACKING, course.error[:, AFTER:] > WRONG
    return float((tracks & wrong).sum() / max(1, tracks.sum()))


def converged(course: Course) -> float:
    """When the mean error of a team first falls below CONVERGED, s, mean over runs."""
    below = course.error.mean(axis=2) < CONVERGED
    return float(np.where(below.any(axis=1), below.argmax(axis=1), below.shape[1]).mean())


def settled(each: Changed) -> Floats:
    """Errors (T, N) of the rovers that were right when the lift began, while they are tracking; NaN else."""
    return np.where((each.before < RIGHT) & (each.state == TRACKING), each.error, np.nan)


__all__ = ["CONVERGED", "WRONG", "converged", "false_certainty", "last_of_all", "right", "settled", "switches"]
