"""Teams that find themselves in a building that looks the same after half a turn. `formiga study three_state`

In the order of the paper: the building, one rover alone, six rovers, the size of the team, the machine without its state in
between, a fork lift, and a kidnapping. The runs of a team are the same in all experiments: run k has the same starts and noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.map.grid import Grid
from formiga.map.rays import cast
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.harness import Pool, Row, at_least, at_most, counted, definition, reported
from formiga.studies.three_state import published, runs
from formiga.studies.three_state.machine import TRACKING
from formiga.studies.three_state.runs import RIGHT, Changed, Course, Lift, Team, joined, teams
from formiga.studies.three_state.tracks import (
    CONVERGED,
    WRONG,
    converged,
    false_certainty,
    last_of_all,
    right,
    settled,
    switches,
)

SIZES = (1, 3, 4, 5, 6, 7)         # rovers
OCCUPANCIES = (0.9, 0.8, 0.7, 0.6, 0.5)
KIDNAPPED, AGAIN = 750.0, 1.0      # s; m, that the error falls below again


@dataclass(frozen=True)
class Size:
    """How much is run."""

    runs: int          # of six rovers
    others: int        # of other teams and machines
    lifts: int         # for each occupancy
    kidnaps: int
    seconds: float


QUICK = Size(runs=1, others=0, lifts=0, kidnaps=0, seconds=300.0)
FULL = Size(runs=100, others=30, lifts=5, kidnaps=20, seconds=runs.SECONDS)


class Study(harness.Study):
    """The rows, and what the figure needs."""

    def __init__(self) -> None:
        self.six: Course | None = None
        self.sizes: dict[int, Course] = {}
        self.two: Course | None = None
        self.changes: dict[float, list[Changed]] = {}

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """In the order of the paper."""
        size = FULL if full else QUICK
        self.runs = size.runs
        yield from definitions()
        yield from building()
        self.six = together(workers, teams(6, size.runs, seconds=size.seconds))
        yield from convergence(self.six)
        if full:
            yield from alone(together(workers, teams(1, size.others, symmetric=True)))
            yield from final(self.six)
            self.two = together(workers, teams(6, size.others, machine="two"))
            yield from machines(first_of(self.six, size.others), self.two)
            yield from as_printed(together(workers, teams(6, size.others, machine="printed")))
            six = first_of(self.six, size.others)
            self.sizes = {number: six if number == 6 else together(workers, teams(number, size.others)) for number in SIZES}
            yield from team_sizes(self.sizes)
            lifts = [Lift(occupancy, run) for occupancy in OCCUPANCIES for run in range(size.lifts)]
            for lift, changed in zip(lifts, workers.map(runs.change, lifts), strict=True):
                self.changes.setdefault(lift.occupancy, []).append(changed)
            yield from map_changes(self.changes)
            yield from kidnaps(together(workers, teams(6, size.kidnaps, kidnap=KIDNAPPED)))

    def figures(self) -> dict[str, harness.Draw]:
        """Errors and switches; the sizes of teams and the fork lift in the full form."""
        from formiga.studies.three_state.figure import draw

        assert self.six is not None
        six = self.six
        return {"three_state": lambda path: draw(path, six, self.sizes, self.two, self.changes)}


def together(workers: Pool, tasks: list[Team]) -> Course:
    """All runs of these tasks."""
    return joined(workers.map(runs.perform, tasks))


def first_of(course: Course, number: int) -> Course:
    """The first so many runs of it."""
    return Course(*(getattr(course, name)[:number] for name in Course.__dataclass_fields__))


# -- what is taken from the text, and the building -----------------------------------------------------------------------------
def definitions() -> Iterator[Row]:
    """Numbers that are taken as they are."""
    building, lift = "Section III", "Section III.C"
    for claim, value, where in (
            ("building: width (m)", runs.SIZE[0], building), ("building: depth (m)", runs.SIZE[1], building),
            ("blocks: width (m)", runs.BLOCK[0], building), ("blocks: depth (m)", runs.BLOCK[1], building),
            ("corridors (m)", runs.CORRIDOR, building), ("duration (s)", runs.SECONDS, "Section III.A"),
            ("fork lift: speed (m/s)", runs.LIFT_SPEED, lift), ("fork lift: time of an operation (s)", runs.HANDLING, lift)):
        yield definition(claim, value, where)


def grid_of(piece: bool) -> Grid:
    """The map of the world, with or without what breaks its symmetry."""
    return runs.world_of(Team(1, symmetric=not piece)).map("map")


def building(poses: int = 2000) -> Iterator[Row]:
    """The map that the rovers have, against the geometry; and what half a turn changes."""
    same, plain = grid_of(True), grid_of(False)
    for grid, words, piece in ((plain, "without its irregularity", False), (same, "as it is", True)):
        off = int((grid.occupied != runs.plan(piece)).sum())
        yield at_most(f"building {words}: cells of the map that differ from the geometry", 0, off)
    yield Row("building without its irregularity: free area (m^2)", 2800.0, float(plain.free.sum() * plain.resolution**2), 1e-6,
              origin="reconstructed", note="80 x 65 - 12 x 20 x 10")
    taken = plain.occupied
    others = [int((taken != image).sum()) for image in (taken[::-1], taken[:, ::-1])]
    yield Row("building without its irregularity: the same after half a turn", True, bool((taken == taken[::-1, ::-1]).all()),
              origin="law", note=f"its mirror images are the same, too ({others[0]} and {others[1]} cells differ), but scans "
                                 "see them mirrored")
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 181)
    where = runs.somewhere(plain, poses, harness.seed_of(runs.SEED, 1))
    ours, image = (cast(plain, each, angles, 32.0) for each in (where, runs.turned(where)))
    yield at_most(f"building without its irregularity: scans at {poses:,} poses and their images, largest difference (m)",
                  1e-6, largest(ours, image))
    ours, image = (cast(same, each, angles, 32.0) for each in (where, runs.turned(where)))
    differ = np.abs(np.minimum(ours, 32.0) - np.minimum(image, 32.0)) > 1e-6
    longer = [ends_in_piece(each, angles, far) for each, far in ((where, ours), (runs.turned(where), image))]
    yield at_most("building as it is: beams that differ from those of the image although neither meets the irregularity",
                  0, int((differ & ~longer[0] & ~longer[1]).sum()))
    share = float(differ.any(axis=1).mean())
    yield Row("building as it is: the irregularity is seen from some poses, and not from most", True, 0.0 < share < 0.5,
              origin="law")
    yield reported("building as it is: share of the poses from which it is seen, there or at the image", share)


def largest(one: Floats, other: Floats) -> float:
    """The largest difference of two scans, of which a beam that meets nothing has the reach."""
    return float(np.abs(np.minimum(one, 32.0) - np.minimum(other, 32.0)).max())


def ends_in_piece(poses: Floats, angles: Floats, far: Floats) -> Any:
    """Which beams (P, B) pass through what is missing in the upper left corner: the beams that are stopped there otherwise."""
    x0, x1, y0, y1 = runs.PIECE
    ux, uy = np.cos(poses[:, 2, None] + angles), np.sin(poses[:, 2, None] + angles)
    with np.errstate(divide="ignore", invalid="ignore"):
        ax, bx = (x0 - poses[:, 0, None]) / ux, (x1 - poses[:, 0, None]) / ux
        ay, by = (y0 - poses[:, 1, None]) / uy, (y1 - poses[:, 1, None]) / uy
    enter = np.maximum(np.minimum(ax, bx), np.minimum(ay, by))
    leave = np.minimum(np.maximum(ax, bx), np.maximum(ay, by))
    return (enter <= leave + 1e-9) & (leave >= 0.0) & (enter <= np.minimum(far, 32.0) + 1e-6)


# -- experiment 1 -----------------------------------------------------------------------------------------------------------
def convergence(course: Course) -> Iterator[Row]:
    """Six rovers find themselves: also the quick form asks this."""
    words = f"6 rovers, {counted(len(course.error), 'run')} of {course.error.shape[1]} s"
    begin, end = (float(course.error[:, at].mean()) for at in (0, -1))
    yield Row(f"{words}: the mean error at the end is less than half of that at the start", True, end < 0.5 * begin,
              origin="law")
    yield reported(f"{words}: mean error at the end (m)", end)
    yield reported(f"{words}: share of the rovers that are tracking at the end",
                   float((course.state[:, -1] == TRACKING).mean()))


def alone(course: Course) -> Iterator[Row]:
    """One rover where nothing tells it from its image: it can only guess."""
    yield Row(f"1 rover, building without its irregularity, {counted(len(course.error), 'run')}: share that is right", 0.5,
              right(course), 0.2, origin="law", note="a guess between two images; 0.09 is its standard deviation in 30 runs")


def final(course: Course) -> Iterator[Row]:
    """Errors at the end, and how long the machine bounces."""
    words, end = f"6 rovers, {counted(len(course.error), 'run')}", course.error[:, -1]
    yield at_most(f"{words}: mean error after 1750 s (m)", published.FINAL.values["error (m)"], float(end.mean()), "published",
                  where=published.FINAL.where, note=LOST)
    yield at_most(f"{words}: the same, as is expected of unknown thresholds (m)", 1.0, float(end.mean()), note=LOST)
    yield at_most(f"{words}: median error after 1750 s (m)", 0.4, float(np.median(end)), "published",
                  where=published.FINAL.where)
    begin, last = switches(course)
    yield at_most(f"{words}: from a rover's first to its last switch to tracking, mean (s)", 400.0,
                  float(np.nanmean(last - begin)), "published", where=published.BOUNCE.where, note="paper: about 180 s")
    yield reported(f"{words}: first switch to tracking, mean over rovers (s)", float(np.nanmean(begin)))
    yield reported(f"{words}: last switch to tracking, mean over rovers (s)", float(np.nanmean(last)))
    time = int(published.SETTLED.values["time (s)"])
    yield reported(f"{words}: share of the rovers that are tracking after {time} s; paper: all",
                   float((course.state[:, time] == TRACKING).mean()), origin="published")


LOST = "a rover that believes in its image is 60 m off, so one in a hundred of them adds 0.6 m to the mean"


# -- with two states, and as it is printed ----------------------------------------------------------------------------------
def machines(three: Course, two: Course) -> Iterator[Row]:
    """The same runs with three states and with two."""
    words = f"6 rovers, {counted(len(two.error), 'run')}"
    with_three, with_two = (last_of_all(each) for each in (three, two))
    yield at_least(f"{words}: last switch to tracking of a team, SMCL by 3SMCL", 1.3, with_two / with_three, "published",
                   where=published.RATIO.where, note="paper: about 2; it does not describe SMCL, and ours is 3SMCL without the "
                                                     "state in between")
    yield reported(f"{words}: the same with three states (s)", with_three)
    yield reported(f"{words}: the same with two (s)", with_two)
    for course, name in ((three, "three"), (two, "two")):
        yield reported(f"{words}: first switch of a rover with {name} states, mean (s)",
                       float(np.nanmean(switches(course)[0])))
    certain = [false_certainty(each) for each in (three, two)]
    yield Row(f"{words}: rovers are falsely certain less often with three states than with two", True, certain[0] < certain[1],
              origin="law")
    yield reported(f"{words}: share of samples with a rover falsely certain, three states", certain[0])
    yield reported(f"{words}: the same with two", certain[1])
    yield reported(f"{words}: share of runs in which all are right, two states", right(two))


def as_printed(course: Course) -> Iterator[Row]:
    """Algorithm 1 with its two errors."""
    words = f"6 rovers, {counted(len(course.error), 'run')}, transitions as printed"
    begin, last = switches(course)
    yield reported(f"{words}: share of runs in which all are right", right(course))
    yield reported(f"{words}: from a rover's first to its last switch to tracking, mean (s)", float(np.nanmean(last - begin)))


# -- experiment 2 -----------------------------------------------------------------------------------------------------------
def team_sizes(courses: dict[int, Course]) -> Iterator[Row]:
    """Table I and figure 5."""
    found = {number: right(course) for number, course in courses.items()}
    for number, share in found.items():
        claim = f"{counted(number, 'rover')}, {counted(len(courses[number].error), 'run')}: share in which all are right"
        paper = published.SUCCESS.values[number]
        if number < 4:
            yield Row(claim, paper, share, {1: 0.15, 3: 0.16}[number], where=published.SUCCESS.where,
                      note=published.SUCCESS.note)
        else:
            yield Row(claim, paper, share, 2.0 / 30.0 + 1e-9, where=published.SUCCESS.where,
                      note="at most 2 failures in 30; " + published.SUCCESS.note)
    yield Row("more rovers, more often right: 1 < 3 <= 4 rovers", True, found[1] < found[3] <= found[4], origin="law",
              where=published.SUCCESS.where)
    four = float(courses[4].error[:, 1000].mean())
    yield at_most("4 rovers: mean error after 1000 s (m)", 5.0, four, "published", where=published.FOUR.where,
                  note="paper: 2.5 m")
    times = {number: converged(course) for number, course in courses.items()}
    yield Row(f"7 rovers are not slower than 4 to a mean error below {CONVERGED:g} m", True,
              times[7] <= times[4] and times[7] < courses[7].error.shape[1], origin="law", where="Section III.B",
              note="means of 30 runs, each with a standard error of 70 s: beyond four rovers, more make no visible "
                   "difference")
    for number, time in times.items():
        yield reported(f"{counted(number, 'rover')}: mean time to a team's error below {CONVERGED:g} m, or the duration of "
                       "runs without it (s)", time)
    for number, course in courses.items():
        yield reported(f"{counted(number, 'rover')}: share of single rovers that are right at the end",
                       float((course.error[:, -1] < RIGHT).mean()))


# -- experiment 3 -----------------------------------------------------------------------------------------------------------
def map_changes(changes: dict[float, list[Changed]]) -> Iterator[Row]:
    """Errors in tracking while the building changes and the map does not."""
    every = [each for some in changes.values() for each in some]
    words = f"fork lift, {counted(len(every), 'run')}"
    inside = np.concatenate([settled(each)[np.isfinite(settled(each))] for each in every])
    yield at_most(f"{words}: mean error in tracking (m)", 0.8, float(inside.mean()), "published", where=published.CHANGES.where,
                  note="paper: 0.5 m; of the rovers that were right when it began. Reports of a teammate that is wrong make a "
                       "rover undecided, and some then follow it: tens of metres for minutes, 4 % of all samples")
    yield at_most(f"{words}: 95 % of the errors in tracking are below (m)", 1.5, float(np.percentile(inside, 95.0)),
                  "published", where=published.CHANGES.where, note="paper: none above 1.2 m")
    largest = published.CHANGES.values["largest error (m)"]
    yield reported(f"{words}: share of the errors in tracking up to {largest:g} m; paper: all",
                   float((inside <= largest).mean()), origin="published")
    yield reported(f"{words}: mean of these errors (m)", float(inside[inside <= largest].mean()))
    lost = [bool((np.nan_to_num(settled(each)) > WRONG).any()) for each in every]
    yield reported(f"{words}: runs in which a rover that was right is off by more than {WRONG:g} m in tracking", sum(lost))
    yield reported(f"{words}: mean error of the same rovers when it began (m); paper 0.3",
                   float(np.concatenate([each.before[each.before < RIGHT] for each in every]).mean()), origin="published")
    for occupancy, some in changes.items():
        values = np.concatenate([settled(each)[np.isfinite(settled(each))] for each in some])
        yield reported(f"{words}: mean error, down to {occupancy:.0%} of the blocks (m)", float(values.mean()))
    yield reported(f"{words}: least share of the blocks that was left", float(min(each.left for each in every)))
    yield reported(f"{words}: share of the rovers that were right when it began",
                   float(np.mean([each.before < RIGHT for each in every])))
    yield reported(f"{words}: time at which all rovers are tracking, at most {runs.LATEST:g} (s); paper about 600",
                   float(np.mean([each.began for each in every])), origin="published")


# -- a kidnapping -------------------------------------------------------------------------------------------------------------
def kidnaps(course: Course, instants: int = 10) -> Iterator[Row]:
    """One rover that tracks is carried elsewhere."""
    taken = np.flatnonzero(course.kidnapped >= 0)
    words = f"kidnapping, {counted(len(taken), 'run')} with a rover that tracks and is right"
    after = course.error[taken, round(KIDNAPPED):, course.kidnapped[taken]]
    reports = course.reports[taken]
    yield at_least(f"{words}: share that leaves tracking within {instants} further reports, or hears no more", 0.95,
                   float((reports <= instants + 1).mean()),
                   note=f"the {instants + 1}th counts, too: a change of the state takes more than {instants} instants")
    yield at_least(f"{words}: share that is within {AGAIN:g} m again 1000 s later", 0.8, float((after[:, -1] < AGAIN).mean()))
    yield reported(f"{words}: how far it is carried, mean (m)", float(course.carried[taken].mean()))
    yield reported(f"{words}: reports until it leaves tracking, mean", float(reports.mean()))
