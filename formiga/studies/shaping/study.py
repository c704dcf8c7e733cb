"""Fault-tolerant localization from ranges to radio tags, scenario by scenario. `formiga study shaping`

The paper prints one long run of each scenario. Here each is so many seeds, that is, draws of the tags' true places, of the
faulty ones and of all noise; a seed is the same in all scenarios. Rows that compare with the paper are of the method as it
describes it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from formiga.locate.ranges import normalizer, radial, run_of_bad_luck, search
from formiga.sense.beacon_ranges import ANSWERS, FACTOR
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.harness import Pool, Row, at_least, at_most, counted, definition, mean_row, reported
from formiga.studies.shaping import published, runs
from formiga.studies.shaping.method import FAULT
from formiga.studies.shaping.runs import FIFO, KALMAN, KEEPS_OUT, PAPER, PARTICLES, RARE, STRICT, UNJUDGED, Outcome, Task, Track

DT = 0.05                   # s, between interrogations
ANSWER = 0.95               # probability of an answer, p_A
PAIRS = ((3.0, 0.5), (3.0, 1.0), (0.5, 1.0), (8.0, 1.02))    # ranges and deviations, m, for which eq. 1 is integrated
ABOUT = 0.15                # of a published value: how far one run's layout alone moves means and deviations, in trials
MEANS = {"nominal": 0.04, "p_A 0.8": 0.04, "p_A 0.6": 0.05, "sigma_tag 0.3": 0.05, "sigma_tag 0.4": 0.07}    # m, tolerances
SPREADS = {"nominal": 0.03}
SHARE = 0.9                 # of the runs in which a claim about each run must hold
DIVERGED, RETURN = 2.0, 40  # m; estimates (20 s): an error above it for longer is a catastrophic failure
BACK, WAIT = 1.5, 1.0       # m, s: after a kidnap the error is below it again, within so long


@dataclass(frozen=True)
class Size:
    """How much is run."""

    seeds: int
    laps: float        # of 510 m, for each scenario
    kidnaps: int       # in each run, one a lap
    filters: float     # laps, of the comparison with filters


QUICK = Size(seeds=2, laps=0.5, kidnaps=1, filters=0.25)
FULL = Size(seeds=10, laps=10.0, kidnaps=10, filters=1.0)


class Study(harness.Study):
    """All scenarios, then what is said of several of them."""

    def __init__(self) -> None:
        self.size = QUICK
        self.outcomes: dict[str, Outcome] = {}

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """Laws of the parts, the published table, then judgement, faults, kidnaps and speed."""
        self.size = FULL if full else QUICK
        self.runs = self.size.seeds
        yield from unit_mass()
        yield exact()
        yield from definitions()
        self.outcomes = dict(zip(runs.SCENARIOS, workers.map(runs.perform, list(self.tasks())), strict=True))
        for name, outcome in self.outcomes.items():
            yield from compared(name, outcome)
        yield from orders(self.outcomes)
        yield from judgement(self.outcomes)
        yield from silence(self.outcomes)
        yield from blamed(self.outcomes)
        yield from misplaced(self.size)
        yield from kidnapped(self.size, workers)
        yield from failures(self.outcomes)
        yield from filters(self.size, workers)
        yield at_most("one estimate of 40 readings, one core (s)", published.SECONDS.values["one estimate (s)"],
                      min(one_estimate() for _ in range(5)), where=published.SECONDS.where)

    def tasks(self) -> Iterator[Task]:
        """One for each scenario."""
        for scenario in runs.SCENARIOS.values():
            yield Task(scenario.params, scenario.forms, self.size.seeds, estimates_in(self.size.laps))

    def figures(self) -> dict[str, harness.Draw]:
        """The table, and judgement at work."""
        return {"shaping": self.figure}

    def figure(self, path: Path) -> None:
        """Mean errors of all runs beside the paper's; and errors along the way with power boost."""
        with harness.canvas(path, 1, 2, (11.0, 4.6)) as (_, (table, way)):
            names = list(self.outcomes)
            for place, name in enumerate(names):
                harness.dots(table, place, means(self.outcomes[name].tracks[PAPER]).tolist(), color="#0072b2", alpha=0.7, ms=4)
            table.plot(range(len(names)), [published.MEAN.values[name] for name in names], "_", ms=18, mew=2.0, color="#d55e00",
                       label="paper")
            table.plot([], [], "o", ms=4, color="#0072b2", label="ours, a dot for each seed")
            table.set_xticks(range(len(names)), names, rotation=40, ha="right")
            table.set(title="Mean error by scenario", ylabel="m", ylim=(0.0, None))
            table.legend(frameon=False)
            tracks = self.outcomes["boost"].tracks
            seconds = DT * runs.STEPS * np.arange(1, len(tracks[PAPER].error[0]) + 1)
            shown = seconds <= 380.0
            for form, colour in ((UNJUDGED, "#d55e00"), (PAPER, "#0072b2")):
                way.plot(seconds[shown], tracks[form].error[0][shown], lw=0.8, color=colour,
                         label={UNJUDGED: "every estimate taken", PAPER: "judged, else dead reckoning"}[form])
            way.set(title="Power boost of one tag in 20, the first seed", xlabel="s", ylabel="error (m)", ylim=(0.0, None))
            way.legend(frameon=False)


# -- the parts ------------------------------------------------------------------------------------------------------------
def unit_mass() -> Iterator[Row]:
    """The density of eq. 1 with the reconstructed normalizers, integrated shell by shell."""
    from scipy.integrate import quad

    for dimensions, words in ((2, "in the plane"), (3, "in space")):
        def shell(far: float, r: float, s: float, n: int = dimensions) -> float:
            area = (2.0 * np.pi * far, 4.0 * np.pi * far * far)[n - 2]
            return float(radial(far * np.eye(n)[0], np.zeros(n), r, s)) * area

        off = [abs(quad(shell, 0.0, r + 12.0 * s, args=(r, s), points=(r,), limit=200)[0] - 1.0) for r, s in PAIRS]
        yield at_most(f"radial Gaussian {words}: |integral - 1|, largest of {len(PAIRS)}", 1e-6, max(off),
                      note=f"with eta = {float(normalizer(3.0, 1.0, dimensions)):.6g} for 3 m with a deviation of 1 m")


def exact() -> Row:
    """Without any noise, shifted readings of half a second fit one place exactly: the truth."""
    clean: runs.Params = {"sigma": 0.0, "slip": 0.0, "misplaced": 0.0, "answer": 1.0}
    outcome = runs.perform(Task(clean, (PAPER,), 1, runs.LAP // runs.STEPS))
    return at_most("no noise at all: largest error on a lap (m)", 0.01, float(outcome.tracks[PAPER].error.max()))


def definitions() -> Iterator[Row]:
    """What is set as Table I and the text have it."""
    where = "Table I and text"
    for claim, value in (("side of the squares of tags (m)", 5.0), ("reading range (m)", 8.0), ("range deviation (m)", 1.0),
                         ("interrogation period (s)", DT), ("estimation period (s)", DT * runs.STEPS),
                         ("readings in the buffer", 40), ("tags in use", 4), ("odometry deviation, share of the way", 0.05),
                         ("top speed (m/s)", 1.0)):
        yield definition(claim, value, where)


# -- the published table --------------------------------------------------------------------------------------------------
def compared(name: str, outcome: Outcome) -> Iterator[Row]:
    """Mean, deviation and maximum of one scenario, against the paper's single run."""
    track, values = outcome.tracks[PAPER], (published.MEAN.values[name], published.SPREAD.values[name])
    note = BETTER if name in ("single silence", "extensive silence") else LONG_TAIL if name in ("boost", "deficit") else ""
    yield mean_row(f"{name}: mean error (m)", values[0], means(track).tolist(), MEANS.get(name, ABOUT * values[0]),
                   where=published.MEAN.where, note=note)
    yield mean_row(f"{name}: standard deviation of the error (m)", values[1], track.error.std(axis=1).tolist(),
                   SPREADS.get(name, ABOUT * values[1]), where=published.SPREAD.where, note=note)
    highest = track.error.max(axis=1)
    yield reported(f"{name}: largest error of a run, median and largest (m); paper {published.LARGEST.values[name]:g}",
                   f"{np.median(highest):.2f}, {highest.max():.2f}", origin="published")
    if FIFO in outcome.tracks:
        yield reported(f"{name}: mean error with a FIFO of 40 instead (m); paper {values[0]:g}",
                       float(means(outcome.tracks[FIFO]).mean()), origin="published")
    if name == "nominal":
        yield at_least(f"nominal: of {counted(len(highest), 'run')}, those with errors below 1.6 m throughout",
                       len(highest), int((highest < 1.6).sum()), note="a maximum of thousands of draws")
        yield reported("nominal: share of estimates that are reliable", float(track.reliable.mean()))


BETTER = ("ours is better: the other tags and odometry of 5 % a step bridge what is left out; the paper does not say which "
          "tags were silent, nor whether others take their places")
LONG_TAIL = ("at times wrong ranges fit a wrong place, and the judgement lets it pass; its threshold is not printed, and the "
             "paper's run is one layout")


def orders(outcomes: dict[str, Outcome]) -> Iterator[Row]:
    """What grows with what."""
    series = [means(outcomes[name].tracks[PAPER]) for name in ("nominal", "p_A 0.8", "p_A 0.6")]
    rising = (series[0] < series[1]) & (series[1] < series[2])
    yield at_least(f"missing reads: of {counted(len(rising))}, those whose mean error rises from p_A 0.95 to 0.8 to 0.6",
                   most_of(rising), int(rising.sum()))
    averages = [float(means(outcomes[name].tracks[PAPER]).mean()) for name in ("nominal", "sigma_tag 0.3", "sigma_tag 0.4")]
    yield Row("misplaced tags: mean error rises from sigma_tag 0.2 to 0.3 to 0.4", True, averages == sorted(averages),
              origin="law", note="the same seeds in all")


def judgement(outcomes: dict[str, Outcome]) -> Iterator[Row]:
    """Wrong ranges, with judgement and without."""
    for name, limit in (("boost", 0.6), ("deficit", 0.45)):
        for form in (PAPER, KEEPS_OUT):
            words = "alarmed tags kept out (ours)" if form == KEEPS_OUT else "judged"
            yield at_most(f"{name}, {words}: mean error (m)", limit, float(means(outcomes[name].tracks[form]).mean()))
        yield reported(f"{name}, unjudged: mean error (m)", float(means(outcomes[name].tracks[UNJUDGED]).mean()))
        strict = outcomes[name].tracks[STRICT]
        yield reported(f"{name}, judged by J/N < 1.0: mean error (m); paper {published.MEAN.values[name]:g}",
                       float(means(strict).mean()), origin="published", note=STRICTER)
        yield reported(f"{name}, judged by J/N < 1.0: standard deviation (m); paper {published.SPREAD.values[name]:g}",
                       float(strict.error.std(axis=1).mean()), origin="published", note=STRICTER)
    boost = {form: float(means(outcomes["boost"].tracks[form]).mean()) for form in (PAPER, UNJUDGED)}
    yield at_least("boost: mean error unjudged, in judged ones", 1.4, boost[UNJUDGED] / boost[PAPER])
    rare, usual = outcomes["nominal"].tracks[RARE], outcomes["nominal"].tracks[PAPER]
    yield reported("nominal, judged by J/N < 0.75: share of estimates that are reliable; below 0.3 for the next row",
                   float(rare.reliable.mean()))
    yield at_most("nominal, judged by J/N < 0.75: mean error, in usual ones", 1.0 + ABOUT,
                  float(means(rare).mean() / means(usual).mean()), where=published.RARELY.where)
    yield Row("boost is worse than deficit", True, boost[PAPER] > float(means(outcomes["deficit"].tracks[PAPER]).mean()),
              origin="published", where=published.MEAN.where)


STRICTER = "to show what the threshold does, which is not printed: a stricter one comes nearer to the paper's values"


# -- fault vectors --------------------------------------------------------------------------------------------------------
def silence(outcomes: dict[str, Outcome]) -> Iterator[Row]:
    """Silent tags, and what is said of the others."""
    for name in ("single silence", "extensive silence"):
        outcome = outcomes[name]
        track, dead = outcome.tracks[PAPER], outcome.truth[..., ANSWERS] == 0.0
        near, flagged = dead & passed_of(outcome), track.faults[..., FAULT.mute] > 0.0
        highest = track.error.max(axis=1)
        yield at_most(f"{name}: mean error, at most (m)", 0.45, float(means(track).mean()))
        yield at_least(f"{name}: of {counted(len(highest), 'run')}, those with errors below 2 m throughout",
                       most_of(highest), int((highest < DIVERGED).sum()))
        yield Row(f"{name}: silent tags flagged, of {int(near.sum())} that the path came near", int(near.sum()),
                  int((near & flagged).sum()), where=published.SILENCE.where)
        expected = 4.0 * ANSWER * runs.STEPS * track.error.size * float(run_of_bad_luck(ANSWER, 5))
        yield Row(f"{name}: answering tags ever flagged, in {counted(len(highest), 'run')}",
                  published.SILENCE.values["false alarms"], int(((track.faults[..., FAULT.ever_mute] > 0.0) & ~dead).sum()),
                  expected + 3.0 * sqrt(expected), where=published.SILENCE.where, note=CHANCE)
    yield reported(f"silence: the same, expected of chance in {counted(len(highest), 'run')} at the threshold of 1e-6",
                   expected, note=CHANCE)


CHANCE = ("a healthy tag misses five answers in a row with a chance of 3e-7, and there are four such chances in each "
          "interrogation: a long run has some false alarms; the tolerance is their expected number and three deviations")


def blamed(outcomes: dict[str, Outcome]) -> Iterator[Row]:
    """Tags with wrong ranges, by the paper's count and by ours."""
    for name, form in product(("boost", "deficit"), (PAPER, KEEPS_OUT)):
        words = "all tags of an estimate blamed" if form == PAPER else "the worst one blamed, then kept out (ours)"
        outcome = outcomes[name]
        wrong, ever = outcome.truth[..., FACTOR] != 1.0, outcome.tracks[form].faults[..., FAULT.ever_wrong] > 0.0
        near = wrong & passed_of(outcome)
        yield reported(f"{name}, {words}: faulty tags ever flagged, of {int(near.sum())} near the path",
                       int((near & ever).sum()))
        yield reported(f"{name}, {words}: healthy tags ever flagged, in {counted(len(ever), 'run')}",
                       int((ever & ~wrong).sum()))


def misplaced(size: Size) -> Iterator[Row]:
    """One tag that hangs at the place of its neighbour."""
    tag, forms = runs.MISPLACED[0], (PAPER, KEEPS_OUT)
    estimates = estimates_in(min(size.laps, 1.0))
    outcome = runs.perform(Task({"moved": " ".join(map(str, runs.MISPLACED))}, forms, size.seeds, estimates))
    for form in forms:
        ever = outcome.tracks[form].faults[..., FAULT.ever_wrong] > 0.0
        claim = "a tag at its neighbour's place" + ("" if form == PAPER else ", the worst one blamed (ours)")
        yield at_least(f"{claim}: of {counted(size.seeds, 'run')}, flagged in", most_of(ever), int(ever[:, tag].sum()))
        yield reported(f"{claim}: other tags flagged, in all runs", int(ever.sum() - ever[:, tag].sum()))


# -- kidnaps and failures -------------------------------------------------------------------------------------------------
def kidnapped(size: Size, workers: Pool) -> Iterator[Row]:
    """Neither ranges nor odometry for a minute, in which the robot moves on."""
    lap = DT * runs.LAP * size.laps / size.kidnaps
    spans = runs.kidnaps(size.kidnaps, lap, runs.SEED)
    task = Task({"blackout": " ".join(map(str, spans))}, (PAPER, FIFO), size.seeds, estimates_in(size.laps))
    (outcome,) = workers.map(runs.perform, [task])
    for form in (PAPER, FIFO):
        back, wrong = runs.recoveries(outcome.tracks[form].error, spans[1::2], DT, BACK, WAIT)
        words = "" if form == PAPER else ", FIFO"
        yield at_least(f"kidnaps{words}: share with an error below {BACK:g} m again within {WAIT:g} s, of {back.size}", 0.95,
                       float(back.mean()), where=published.KIDNAP.where)
        yield reported(f"kidnaps{words}: estimates that are still wrong, mean; paper 1", float(wrong.mean()),
                       origin="published")


def failures(outcomes: dict[str, Outcome]) -> Iterator[Row]:
    """Whether it ever diverges, and the paper's bound on all errors."""
    away = max(runs.longest(np.where(runs.faulty_near(outcome), 0.0, outcome.tracks[PAPER].error), DIVERGED)
               for outcome in outcomes.values())
    yield at_most(f"all scenarios: longest time with an error above {DIVERGED:g} m, no faulty tag being near (s)", 0.5 * RETURN,
                  0.5 * away, note="longer would be a catastrophic failure")
    longest = max(runs.longest(outcome.tracks[PAPER].error, DIVERGED) for outcome in outcomes.values())
    yield reported(f"all scenarios: longest time with an error above {DIVERGED:g} m anywhere (s)", 0.5 * longest)
    below = [int((outcome.tracks[PAPER].error.max(axis=1) < DIVERGED).sum()) for outcome in outcomes.values()]
    number = sum(len(outcome.tracks[PAPER].error) for outcome in outcomes.values())
    yield Row(f"all scenarios: of {number} runs, those with errors below 2 m throughout", number, sum(below),
              where=published.BOUND.where, note=LONG_TAIL)


# -- beside the paper -----------------------------------------------------------------------------------------------------
def filters(size: Size, workers: Pool) -> Iterator[Row]:
    """Filters that remember, on the same readings."""
    names = ("nominal", "boost")
    forms = (PAPER, KALMAN, PARTICLES)
    tasks = [Task(runs.SCENARIOS[name].params, forms, size.seeds, estimates_in(size.filters)) for name in names]
    found = workers.map(runs.perform, tasks)
    for name, outcome in zip(names, found, strict=True):
        for form, words in ((PAPER, "probabilistic shaping"), (KALMAN, "extended Kalman filter, told its start (ours)"),
                            (PARTICLES, "1,000 particles, from anywhere (ours)")):
            yield reported(f"{name}, first {size.filters * 510.0:g} m, {words}: mean error (m)",
                           float(means(outcome.tracks[form]).mean()))


def one_estimate(repeats: int = 20) -> float:
    """Seconds of one estimate on one core: the circular search over 40 readings of four tags, with the paper's steps."""
    tags = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])
    centres = np.tile(tags, (10, 1))
    ranges = np.linalg.norm(centres - (2.2, 2.9), axis=1) + np.sin(np.arange(40.0))
    search(centres, ranges, np.full(40, 1.04))      # compiled before the clock starts
    begin = time.perf_counter()
    for _ in range(repeats):
        search(centres, ranges, np.full(40, 1.04))
    return (time.perf_counter() - begin) / repeats


# -- numbers of a track ---------------------------------------------------------------------------------------------------
def means(track: Track) -> Floats:
    """Mean error of each run (W,), m: of every delivered position, dead reckoning included."""
    return np.asarray(track.error.mean(axis=1))


def most_of(each: Any) -> int:
    """In how many of the runs a claim about each run must hold."""
    return ceil(SHARE * len(each))


def estimates_in(laps: float) -> int:
    """In so many laps."""
    return round(laps * runs.LAP / runs.STEPS)


def passed_of(outcome: Outcome) -> Any:
    """Which beacons (1, K) the path came near to."""
    return runs.passed(outcome)[None]
