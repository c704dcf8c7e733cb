"""The figure: errors of six rovers, of teams of other sizes, switches to tracking, and errors while a fork lift works."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from formiga.studies import harness
from formiga.studies.harness import counted
from formiga.studies.three_state.runs import Changed, Course
from formiga.studies.three_state.tracks import settled, switches

FIRST, LAST = "#009e73", "#d55e00"


def draw(path: Path, six: Course, sizes: dict[int, Course], two: Course | None, changes: dict[float, list[Changed]]) -> None:
    """The paper's figures 2, 5, 3 with 4, and 6; without the experiments of the full form the first alone."""
    side = 2 if sizes else 1
    with harness.canvas(path, side, side, (10.5, 7.0) if sizes else (6.4, 4.2)) as (_, axes):
        panels = np.atleast_1d(axes).reshape(-1)
        team(panels[0], six)
        if sizes:
            by_size(panels[1], sizes)
            by_machine(panels[2], {"3SMCL": sizes[6]} | ({"SMCL": two} if two else {}))
            while_it_works(panels[3], changes)


def team(panel: Any, six: Course) -> None:
    """Mean error of each rover over all runs, and of all."""
    each = six.error.mean(axis=0)
    panel.plot(each, color="#56b4e9", lw=0.7)
    panel.plot(each.mean(axis=1), color="#0072b2", lw=1.8, label=f"all six, {counted(len(six.error), 'run')}")
    panel.set(title="Mean error of each of six rovers", xlabel="s", ylabel="m", ylim=(0.0, None))
    panel.legend(frameon=False)


def by_size(panel: Any, sizes: dict[int, Course]) -> None:
    """Mean error of teams."""
    for number, course in sizes.items():
        panel.plot(course.error.mean(axis=(0, 2)), lw=1.2, label=f"{number}")
    panel.set(title="Mean error by size of the team", xlabel="s", ylabel="m", ylim=(0.0, None))
    panel.legend(frameon=False, title="rovers", ncols=2)


def by_machine(panel: Any, courses: dict[str, Course]) -> None:
    """First and last switch of each rover, with their means."""
    for place, course in enumerate(courses.values()):
        for offset, times, colour in zip((-0.17, 0.17), switches(course), (FIRST, LAST), strict=True):
            found = times[np.isfinite(times)]
            panel.plot([place + offset] * len(found), found, ".", ms=3, color=colour, alpha=0.3)
            panel.plot([place + offset - 0.1, place + offset + 0.1], [found.mean()] * 2, color=colour, lw=2.0)
    for words, colour in (("first switch of a rover", FIRST), ("last", LAST)):
        panel.plot([], [], color=colour, lw=2.0, label=words)
    panel.set_xticks(range(len(courses)), list(courses))
    panel.set(title="Switches to tracking in the same 30 runs; strokes are means", ylabel="s", ylim=(0.0, None))
    panel.legend(frameon=False)


def while_it_works(panel: Any, changes: dict[float, list[Changed]]) -> None:
    """Mean error of the rovers that were right when the lift began."""
    for occupancy, some in changes.items():
        panel.plot(mean_of(settled(each) for each in some), lw=1.0, label=f"{occupancy:.0%}")
    panel.set(title="Mean error while a fork lift works", xlabel="s since it began", ylabel="m", ylim=(0.0, None))
    panel.legend(frameon=False, title="blocks left", ncols=2)


def mean_of(errors: Iterable[Any]) -> Any:
    """The mean (T,) of the numbers in arrays (T, N) that are numbers."""
    both = np.concatenate(list(errors), axis=1)
    known = np.isfinite(both)
    return np.where(known, both, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
