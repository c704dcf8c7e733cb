"""The same program on a simulator and on a robot. `formiga study migration`

The filter's claims run in the laboratory itself, in batches of worlds; what is claimed of programs runs in processes. Every
number follows from SEED.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formiga.geometry import wrap
from formiga.sense.sharp import variance_of, voltage_of
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.harness import Pool, Row, at_least, at_most, counted, definition, reported
from formiga.studies.migration import kinematics, processes, published, trials
from formiga.studies.migration.processes import Course, Trial
from formiga.units import CM, DEG, MM

SEED = 16
SEEDS = 20                                  # of the digest's claims
MANY = 100                                  # beside them for the gates: a median of 20, of which a few get lost, says little
LEAST_RUNS = 19                             # of these that must be good
DISTANCES = np.linspace(0.07, 1.0, 20)      # m
SAMPLES, REPEATS = 256, 16                  # robot samples at a distance, as the text has them; and so many times over
BOX = {"x": 0.0, "y": -0.71, "width": 0.30, "depth": 0.08}   # m, unmapped: on the first straight
OTHER_BOXES = {"at the far wall": BOX | {"y": 0.71}, "at the right wall": {"x": 0.96, "y": 0.0, "width": 0.08, "depth": 0.30}}
HARDER = 10                                 # runs on a robot with inertia
LOST = 0.05                                 # share of datagrams, each way
KILLED_AT = tuple(4.0 + 0.71 * k for k in range(8))          # s
SLOW = 0.03                                 # m/s: a tenth of the robot's speed
ROUND = 1e-9
FEW = "without gates some runs get lost and others do not, so a median of 20 says little; that of 100 seeds is above 3"


class Study(harness.Study):
    """The rows, and what the figures need."""

    def __init__(self) -> None:
        self.runs = SEEDS
        self.filter: Any = None
        self.simulated: list[Course] = []
        self.real: list[Course] = []
        self.volts: Any = None

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """In the order of the digest's list of acceptance; definitions first."""
        yield from definitions()
        yield from arithmetic()
        self.volts = trials.identify(DISTANCES, SAMPLES, REPEATS, seed_of(1))
        yield from sensor(self.volts)
        yield from pairs()
        many = trials.course(seed_of(2), MANY)
        self.filter = many.first(SEEDS)           # the same bits as a batch of so many
        yield from localization(self.filter)
        yield from ablations(self.filter, trials.course(seed_of(2), SEEDS, trials.world_of(use="odometry")))
        if full:
            yield other_pairs()
        yield from gates(many, full)
        yield from self.migration(SEEDS if full else 2, workers)
        yield from faults(SEEDS if full else 1, KILLED_AT if full else KILLED_AT[:1], workers)

    def migration(self, runs: int, workers: Pool) -> Iterator[Row]:
        """The Remote on both plants."""
        self.simulated = processes.on_simulator(seed_of(2), runs, trials.SECONDS)
        self.real = workers.map(real, [Trial(seed_of(3, run)) for run in range(runs)])
        yield same_belief(self.filter, self.simulated)
        yield from migrated(self.simulated, self.real)
        if runs >= HARDER:
            slipping = workers.map(real, [Trial(seed_of(7, run), contact="impulse") for run in range(HARDER)])
            yield from harder(self.simulated, slipping)

    def figures(self) -> dict[str, harness.Draw]:
        """Paths, errors and the sensor."""
        from formiga.studies.migration.figure import draw

        return {"migration": lambda path: draw(path, self.simulated[0], self.real[0], DISTANCES, self.volts)}


def seed_of(*key: int) -> int:
    """An independent seed for each key."""
    return harness.seed_of(SEED, *key)


def real(trial: Trial) -> Course:
    """Two laps of the robot."""
    return processes.on_robot(trial, trials.SECONDS + 2.0)


# -- what the text fixes ----------------------------------------------------------------------------------------------------
def definitions() -> Iterator[Row]:
    """Numbers that are taken as they are."""
    for claim, paper in (("sensor:", published.FIT), ("sensor:", published.SAMPLES), ("sensor: range", published.RANGE),
                         ("gates:", published.GATES), ("control:", published.PERIOD)):
        for key, value in paper.values.items():
            yield definition(f"{claim} {key}", value, paper.where)


# -- 1 ------------------------------------------------------------------------------------------------------------------------
def arithmetic() -> Iterator[Row]:
    """Kinematics against a numeric inverse, Jacobian against finite differences; in random cases."""
    cases, step = 1000, 1e-5
    rng = np.random.default_rng(seed_of(0))
    heading, wheels = rng.uniform(-np.pi, np.pi, cases), rng.uniform(-0.5, 0.5, (cases, 3))
    matrix = np.stack([kinematics.wheels_of(each, heading) for each in np.eye(3)], axis=-1)     # (13)
    inverse = float(np.abs(np.linalg.inv(matrix) - kinematics.inverse(heading)).max())
    yield at_most(f"kinematics: inverse of (13) against a numeric one, {cases:,} cases", 1e-8, inverse, "reconstructed",
                  where="eq. 13; its inverse cannot be read")
    slope = (kinematics.twist_of(wheels, heading + step) - kinematics.twist_of(wheels, heading - step)) / (2.0 * step)
    jacobian = float(np.abs(slope - kinematics.rate_jacobian(wheels, heading)[..., 2]).max())
    yield at_most(f"kinematics: Jacobian (15) against finite differences, {cases:,} cases", 1e-8, jacobian, "reconstructed",
                  where="eq. 15, whose wheel speeds are lost")


# -- 2 ------------------------------------------------------------------------------------------------------------------------
def sensor(volts: Floats) -> Iterator[Row]:
    """The identification, as the industrial robot made it, of the laboratory's sensor."""
    k1, k2 = trials.line_fit(DISTANCES, volts[:, :SAMPLES])
    (paper1, paper2), (least, growth) = published.FIT.values.values(), published.NOISE.values.values()
    yield Row(f"sensor: k1 (1/V) from {SAMPLES} samples at {len(DISTANCES)} distances", paper1, k1, 0.03 * paper1, "law")
    yield Row(f"sensor: k2 (1/(V m)) from {SAMPLES} samples at {len(DISTANCES)} distances", paper2, k2, 0.01 * paper2, "law")
    known = (least + growth * DISTANCES) * (paper2 * DISTANCES + paper1) ** 4 / paper2**2        # eq. 4, 5
    off = np.abs(trials.variances(volts) / known - 1.0)
    yield at_most(f"sensor: variance of d against (5), worst of {len(DISTANCES)} distances, {REPEATS * SAMPLES:,} samples each",
                  0.2, float(off.max()), where="eq. 5")
    few = np.abs(trials.variances(volts[:, :SAMPLES]) / known - 1.0)
    within = int((few <= 0.2).sum())
    yield reported(f"sensor: the same with {SAMPLES} samples: distances within 20 %, of {len(DISTANCES)}", within,
                   note="256 samples know a variance to 9 % (1 sigma)")
    yield reported("sensor: standard deviation of d at 10 cm, 50 cm, 1 m (mm)",
                   [round(float(np.sqrt(variance_of(d)) / MM), 2) for d in (0.1, 0.5, 1.0)])
    divider = float(voltage_of(0.1)) / published.VOLTS.values["10 cm"]
    yield reported("sensor: share of the voltage that its divider leaves, from the text's 2.33 V at 10 cm", divider)
    yield Row("sensor: voltage in front of that divider at 7 cm, the maximum (V)", published.VOLTS.values["7 cm, the maximum"],
              float(voltage_of(0.07)) / divider, published.VOLTS.tolerance, where=published.VOLTS.where,
              note=published.VOLTS.note)


# -- 3 ------------------------------------------------------------------------------------------------------------------------
def pairs() -> Iterator[Row]:
    """The formulas, with exact sensors at random poses."""
    heading, place, used = trials.pair_errors(2000, seed_of(4))
    claim = f"pairs: largest error with exact sensors, {used:,} pairs tilted by up to 40 degrees"
    yield at_most(f"{claim}: heading (rad)", 1e-9, heading, where="eq. 9")
    yield at_most(f"{claim}: x or y (m)", 1e-9, place, where="eq. 10")


# -- 4, 5 ---------------------------------------------------------------------------------------------------------------------
def localization(runs: trials.Runs) -> Iterator[Row]:
    """Two laps in the simulator."""
    good = (runs.xy <= 20.0 * MM) & (runs.heading <= np.radians(1.5))
    done = int((runs.places == processes.places()).sum())
    yield at_least(f"filter: runs with an error (RMS) of at most 20 mm and 1.5 degrees, of {SEEDS}", LEAST_RUNS,
                   int(good.sum()))
    yield Row(f"filter: runs that end their two laps, of {SEEDS}", SEEDS, done, origin="law")
    yield reported("filter: error in place (mm RMS), median and worst run",
                   [round(float(each) / MM, 1) for each in (np.median(runs.xy), runs.xy.max())])
    yield reported("filter: error of the heading (degrees RMS), median and worst run",
                   [round(float(np.degrees(each)), 2) for each in (np.median(runs.heading), runs.heading.max())])
    yield reported("filter: steps in which the walls say x, y, heading (%)",
                   [round(100.0 * float(each)) for each in runs.usable])
    mean = float(runs.nees.mean())
    yield Row("filter: mean NEES (3 is ideal)", "1.5 to 6", mean, origin="law",
              verdict="met" if 1.5 <= mean <= 6.0 else "missed")
    for what, share in zip(("x", "y", "heading"), runs.inside, strict=True):
        yield at_least(f"filter: steps with an error of {what} within 3 sigma (%)", 97.0, 100.0 * float(share))


# -- 8, and the end of 4 ------------------------------------------------------------------------------------------------------
def ablations(runs: trials.Runs, odometry: trials.Runs) -> Iterator[Row]:
    """Less than the whole filter."""
    yield at_least(f"odometry alone: error in place at the end, times that of the filter (medians of {SEEDS})", 5.0,
                   float(np.median(odometry.at_end) / np.median(runs.at_end)))
    alone, share = runs.walls_alone
    ours, walls, wheels = (float(np.median(each)) / MM for each in (runs.xy, alone, odometry.xy))
    yield reported("ablations: median error in place (mm RMS): filter, walls alone where they say x and y, odometry alone",
                   [round(ours, 1), round(walls, 1), round(wheels, 1)])
    yield Row("ablations: the filter is better than the walls alone", True, ours < walls, origin="law",
              note=f"they say x and y in {100.0 * share:.0f} % of steps")
    yield Row("ablations: the filter is better than odometry alone", True, ours < wheels, origin="law")


def other_pairs() -> Row:
    """Pairs that look along 0 and 120 degrees to both sides: the text shows only the one ahead."""
    runs = trials.course(seed_of(2), SEEDS, trials.looking((0.0, 120.0 * DEG, -120.0 * DEG)))
    return reported("filter: with pairs at 0 and 120 degrees, error in place (mm RMS), median and worst run",
                    [round(float(each) / MM, 1) for each in (np.median(runs.xy), runs.xy.max())])


# -- 7 ------------------------------------------------------------------------------------------------------------------------
def gates(runs: trials.Runs, full: bool) -> Iterator[Row]:
    """An unmapped box 30 x 8 cm at a wall, with and without the gates."""
    def boxed(gated: str, box: dict[str, float]) -> Floats:
        return trials.course(seed_of(2), MANY, trials.world_of("box.xml", gates=gated, **box)).xy

    def times(xy: Floats, seeds: int = MANY) -> float:
        return float(np.median(xy[:seeds]) / np.median(runs.xy[:seeds]))

    gated, open_ = boxed("true", BOX), boxed("false", BOX)
    yield at_most(f"gates: median error in place with an unmapped box, times that without it ({counted(SEEDS)})", 1.5,
                  times(gated, SEEDS))
    yield at_least(f"gates: the same without gates ({counted(SEEDS)})", 3.0, times(open_, SEEDS), note=FEW)
    yield reported(f"gates: the same of {counted(MANY)}, with and without gates",
                   [round(times(gated), 2), round(times(open_), 2)])
    for where, box in OTHER_BOXES.items() if full else ():
        yield reported(f"gates: the box {where}, with and without gates ({counted(MANY)})",
                       [round(times(boxed(each, box)), 2) for each in ("true", "false")])


# -- 6 ------------------------------------------------------------------------------------------------------------------------
def same_belief(runs: trials.Runs, courses: list[Course]) -> Row:
    """The Remote has arithmetic of its own, in plain Python; with the same seeds it must believe what the laboratory's filter
    does."""
    steps = min(len(runs.clock), *(len(course.log) for course in courses))
    off = [course.log[:steps, processes.POSE] - runs.belief[:steps, w] for w, course in enumerate(courses)]
    largest = max(float(np.abs(np.column_stack([each[:, :2], wrap(each[:, 2])])).max()) for each in off)
    return at_most("Remote: largest difference between its beliefs and those of the laboratory's filter, "
                   f"{counted(len(courses), 'run')} (m, rad)", 1e-6, largest,
                   note="two programs, the same equations; the log has nine digits")


def migrated(simulated: list[Course], real: list[Course]) -> Iterator[Row]:
    """The claim itself."""
    runs, sha = len(real), processes.hash_of(processes.REMOTE)
    same = all(course.sha == sha for course in (*simulated, *real))
    yield Row("migration: the Remote is the same file on the simulator and on the robot",
              published.UNCHANGED.values["the same file"], same, where=published.UNCHANGED.where, note=f"SHA-256 {sha[:12]}...")
    yield Row(f"migration: runs on the simulator that end their course, of {runs}", runs, ended(simulated), origin="law")
    yield Row(f"migration: runs on the robot that end their course, of {runs}", runs, ended(real), origin="law")
    deviation = [float(trials.apart(one.truth, other.truth).mean()) / MM for one, other in zip(real, simulated, strict=True)]
    yield at_most(f"migration: the path on the robot is from that on the simulator (mm, mean), worst of {counted(runs, 'run')}",
                  50.0, max(deviation), where=published.SIMILAR.where, note=published.SIMILAR.note)
    ours, theirs = ([error_of(course) for course in each] for each in (simulated, real))
    times = float(np.median([each[0] for each in theirs]) / np.median([each[0] for each in ours]))
    yield at_most(f"migration: error in place on the robot, times that on the simulator (medians of {counted(runs, 'run')})",
                  2.0, times)
    for name, found in (("simulator", ours), ("robot", theirs)):
        place, heading, consistent = (float(np.median(each)) for each in zip(*found, strict=True))
        yield reported(f"migration: on the {name}, error in place (mm RMS), of the heading (degrees RMS), NEES; medians",
                       [round(place / MM, 1), round(float(np.degrees(heading)), 2), round(consistent, 2)])
    yield reported("migration: on the robot, error in place as the camera sees it (mm RMS), median",
                   float(np.median([seen(course) for course in real])) / MM)


def harder(simulated: list[Course], real: list[Course]) -> Iterator[Row]:
    """A third plant, which the digest does not ask for."""
    claim = "harder: a robot with inertia and tyres that slip (impulse, friction 0.4):"
    yield Row(f"{claim} runs that end their course, of {len(real)}", len(real), ended(real), origin="law")
    place, heading, _ = (float(np.median(each)) for each in zip(*(error_of(course) for course in real), strict=True))
    yield reported(f"{claim} error in place (mm RMS) and of the heading (degrees RMS), medians",
                   [round(place / MM, 1), round(float(np.degrees(heading)), 2)])
    yield reported(f"{claim} error in place, times that on the simulator",
                   place / float(np.median([error_of(course)[0] for course in simulated])))


def ended(courses: list[Course]) -> int:
    """How many came to the end of their course, and were there."""
    last = np.array([-0.65, -0.475])
    return sum(course.completed and float(np.hypot(*(course.truth[-1, :2] - last))) < 6.0 * CM for course in courses)


def error_of(course: Course) -> tuple[float, float, float]:
    """Errors (RMS) in place and of the heading, mean NEES."""
    error, covariance = course.errors
    square = np.einsum("ki,kij,kj->k", error, np.linalg.inv(covariance), error)
    return float(trials.rms(np.hypot(error[:, 0], error[:, 1]))), float(trials.rms(error[:, 2])), float(square.mean())


def seen(course: Course) -> float:
    """Error in place against the camera, which is late and noisy."""
    off = course.log[:, processes.POSE] - course.log[:, processes.EYE]
    return float(np.sqrt(np.nanmean(off[:, 0] ** 2 + off[:, 1] ** 2)))


# -- 9 ------------------------------------------------------------------------------------------------------------------------
def faults(runs: int, kills: tuple[float, ...], workers: Pool) -> Iterator[Row]:
    """Datagrams that are lost, and a Remote that is killed."""
    lossy = workers.map(real, [Trial(seed_of(5, run), LOST) for run in range(runs)])
    yield Row(f"faults: runs on the robot that end their course with 5 % lost datagrams each way, of {runs}", runs,
              ended(lossy), origin="law")
    stops = workers.map(stopped, [Trial(seed_of(6, k), kill=kill) for k, kill in enumerate(kills)])
    silent, slow, way = (max(each) for each in zip(*stops, strict=True))
    claim = f"faults: Remote killed, longest of {counted(len(kills), 'run')}:"
    yield at_most(f"{claim} until the wheels are ordered to stand (s)", 0.3, silent)
    yield at_most(f"{claim} until the robot is slower than a tenth of its speed, 3 cm/s (s)", 0.3, slow,
                  note="0.2 s without an answer, then motors with a time constant of 50 ms")
    yield reported(f"{claim} way of the robot (mm)", round(way / MM, 1))


def stopped(trial: Trial) -> tuple[float, float, float]:
    """After its Remote was killed: s until its orders are 0, s until it is slower than SLOW, m that it went."""
    assert trial.kill is not None
    course = processes.on_robot(trial, trial.kill + 1.0)
    speed = np.hypot(*(np.diff(course.truth[:, :2], axis=0) / np.diff(course.clock)[:, None]).T)
    ordered, fast = np.abs(course.orders).max(axis=1) > 0.0, speed > SLOW
    dead = course.clock >= trial.kill - ROUND
    way = float(np.hypot(*np.diff(course.truth[dead][:, :2], axis=0).T).sum())
    after = [round(float(course.clock[: len(each)][each].max()) + 0.01 - trial.kill, 3) for each in (ordered, fast)]
    return after[0], after[1], way


__all__ = ["SEED", "Study"]
