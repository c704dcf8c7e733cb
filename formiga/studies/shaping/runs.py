"""Runs of the scenarios of the paper: several seeds at a time, several forms of the method on the same readings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from formiga.loop import Simulation
from formiga.sense.beacon_ranges import ANSWERS, FACTOR, table_of, true_beacons
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.shaping.elements import RangeKalman, RangeParticles, Shaping
from formiga.studies.shaping.method import FIX
from formiga.world.beacons import beacons_of
from formiga.world.model import World

Params = dict[str, str | float]      # of the world

SEED = 5
STEPS = 10              # interrogations from one estimate to the next
LAP = 15_300            # steps of one round of 510 m
SILENT_AREA = "75 76 77 84 85 86"      # the beacons of two squares that share an edge: x 40..45, y 15..25
MISPLACED = (40, 0.0, 5.0)             # a beacon beside an aisle that hangs at its neighbour's place: number, and m off the map
KIDNAP = 60.0                          # s
FAULTLESS: Params = {"scaled": 0.0, "silent": 0.0}

# Forms of the method. PAPER is as the paper describes it. The world's own, KEEPS_OUT, blames the beacon that fits worst, not
# all of an unreliable estimate, and leaves beacons with an alarm out: both are ours.
PAPER, KEEPS_OUT, FIFO, UNJUDGED, KALMAN, PARTICLES = "paper", "keeps out", "fifo", "unjudged", "kalman", "particles"
STRICT, RARE = "strict", "rare"      # with other thresholds of the judgement
PLAIN: dict[str, Any] = {"exclude": False, "blame": "all"}
CHANGES: dict[str, dict[str, Any]] = {PAPER: PLAIN, KEEPS_OUT: {}, FIFO: PLAIN | {"collect": "fifo"},
                                      UNJUDGED: PLAIN | {"judge": False}, STRICT: PLAIN | {"threshold": 1.0},
                                      RARE: PLAIN | {"threshold": 0.75}}


@dataclass(frozen=True)
class Scenario:
    """A set of faults, and the forms of the method that are tried in it."""

    params: Params = field(default_factory=dict)
    forms: tuple[str, ...] = (PAPER, FIFO)


SCENARIOS = {
    "nominal": Scenario({}, (PAPER, FIFO, RARE)),
    "p_A 0.8": Scenario({"answer": 0.8}),
    "p_A 0.6": Scenario({"answer": 0.6}),
    "boost": Scenario({"scaled": 0.05, "factor": 0.5}, (PAPER, KEEPS_OUT, FIFO, UNJUDGED, STRICT)),
    "deficit": Scenario({"scaled": 0.05, "factor": 2.0}, (PAPER, KEEPS_OUT, UNJUDGED, STRICT)),
    "single silence": Scenario({"silent": 0.05}),
    "extensive silence": Scenario({"mute": SILENT_AREA}),
    "sigma_tag 0.3": Scenario({"misplaced": 0.3}),
    "sigma_tag 0.4": Scenario({"misplaced": 0.4}),
}


@dataclass(frozen=True)
class Task:
    """So many worlds of one scenario, for so many estimates."""

    params: Params
    forms: tuple[str, ...]
    worlds: int
    estimates: int
    seed: int = SEED


@dataclass(frozen=True)
class Track:
    """What one form of the method delivered."""

    error: Floats        # (W, E) m, of the delivered position at each estimate
    reliable: Any        # (W, E) bool
    faults: Floats       # (W, K, columns of FAULT) at the end; none of a filter


@dataclass(frozen=True)
class Outcome:
    """Of one task. What is true is known to the study alone."""

    tracks: dict[str, Track]
    path: Floats         # (E, 2) m, where the robot was at each estimate, the same in all worlds
    places: Floats       # (K, 2) m, of the beacons on the map
    truth: Floats        # (W, K, 4) true x, y, factor, whether it answers


def world_of(params: Params, forms: tuple[str, ...] = (KEEPS_OUT,)) -> World:
    """The world of the study with these faults, and no others; its robot carries all these forms of the method."""
    world = harness.world("shaping", FAULTLESS | params)
    group = world.groups[0]
    own: Shaping = group.estimators[0]
    filters = {KALMAN: RangeKalman(name=KALMAN), PARTICLES: RangeParticles(name=PARTICLES)}
    made = tuple(filters[form] if form in filters else replace(own, name=form.replace(" ", "_"), **CHANGES[form])
                 for form in forms)
    return replace(world, groups=(replace(group, estimators=made),))


def perform(task: Task) -> Outcome:
    """Let all worlds run; at the end of each period the delivered positions are compared with the true one of that moment."""
    world = world_of(task.params, task.forms)
    simulation = Simulation(world, task.seed, task.worlds)
    errors = {form: np.empty((task.worlds, task.estimates)) for form in task.forms}
    reliable = {form: np.ones((task.worlds, task.estimates), np.bool_) for form in task.forms}
    path = np.empty((task.estimates, 2))
    for e in range(task.estimates):
        simulation.advance(STEPS - 1)
        true = simulation.state.position[:, 0].copy()     # when the last interrogation of the period is made
        simulation.advance(1)
        path[e] = true[0]
        for form in task.forms:
            belief = remembered(simulation, form, "belief" if form in (KALMAN, PARTICLES) else "fix")
            errors[form][:, e] = np.hypot(*(belief[:, :2] - true).T)
            if form not in (KALMAN, PARTICLES):
                reliable[form][:, e] = belief[:, FIX.reliable] > 0.0
    table = table_of(beacons_of(world, "beacons"))
    tracks = {form: Track(errors[form], reliable[form], np.empty(0) if form in (KALMAN, PARTICLES)
                          else remembered(simulation, form, "faults")) for form in task.forms}
    return Outcome(tracks, path, table.places, true_beacons(table, simulation.state.key)[:, 0])


def remembered(simulation: Simulation, form: str, name: str) -> Floats:
    """What the robot of each world remembers, (W, ...)."""
    return np.array(simulation.state.memory[f"robot/{form.replace(' ', '_')}", name][:, 0])


# -- what is asked of outcomes --------------------------------------------------------------------------------------------
def passed(outcome: Outcome, within: float = 5.0, spare: int = 40) -> Any:
    """Which beacons (K,) the path came near to, its last `spare` estimates left out."""
    away = np.linalg.norm(outcome.path[: max(1, len(outcome.path) - spare), None] - outcome.places, axis=-1)
    return away.min(axis=0) <= within


def faulty_near(outcome: Outcome, count: int = 4) -> Any:
    """Whether (W, E) a faulty beacon is, or seems to be, among the nearest ones: the place is in a faulty area."""
    faulty = (outcome.truth[..., FACTOR] != 1.0) | (outcome.truth[..., ANSWERS] == 0.0)
    found = np.zeros((len(faulty), len(outcome.path)), np.bool_)
    for w, truth in enumerate(outcome.truth):
        away = np.linalg.norm(outcome.path[:, None] - truth[:, :2], axis=-1)
        for seen in (away, away * truth[:, FACTOR]):
            found[w] |= faulty[w][np.argpartition(seen, count, axis=1)[:, :count]].any(axis=1)
    return found


def longest(error: Floats, bound: float) -> int:
    """The most consecutive estimates of any world with an error above a bound."""
    most = 0
    for row in np.atleast_2d(error) > bound:
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
        most = max([most, *(edges[1::2] - edges[::2]).tolist()])
    return most


def kidnaps(laps: int, lap: float, seed: int) -> list[float]:
    """From when until when nothing is read: once in each lap, at a random time, for KIDNAP seconds."""
    draw = np.random.default_rng(harness.seed_of(seed, 1))
    starts = [k * lap + draw.uniform(0.05 * lap, 0.9 * lap - KIDNAP) for k in range(laps)]
    return [float(round(each, 2)) for start in starts for each in (start, start + KIDNAP)]


def recoveries(error: Floats, ends: list[float], dt: float, bound: float, wait: float) -> tuple[Any, Any]:
    """Of each world and kidnap: whether the error of the last estimate within `wait` seconds of the first reading is below a
    bound; and how many estimates after it were not, before the first that was."""
    at = dt * (STEPS * (np.arange(error.shape[1]) + 1) - 1)       # s, of each estimate
    back, wrong = [], []
    for end in ends:
        after = np.flatnonzero(at >= end - 1e-9)
        timely = after[at[after] <= end + wait + 1e-9]
        if len(timely):
            back.append(error[:, timely[-1]] < bound)
            wrong.append((error[:, after] < bound).argmax(axis=1))
    return np.array(back), np.array(wrong)


__all__ = ["FIFO", "KALMAN", "KEEPS_OUT", "KIDNAP", "LAP", "MISPLACED", "PAPER", "PARTICLES", "RARE", "SCENARIOS", "SEED",
           "STEPS", "STRICT", "UNJUDGED", "Outcome", "Params", "Scenario", "Task", "Track", "faulty_near", "kidnaps",
           "longest", "passed", "perform", "recoveries", "world_of"]
