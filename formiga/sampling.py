"""A virtual bench: a proximity sensor before a wall, sampled as the real s-bot was. `formiga sample`

    records      distances x headings x heights, so many samples of each                [TR section 3.1, draft section IV.2]
    surface      their means over samples, sensors and heights, by distance and angle                 3D -> 2D
    curve        its means over angles, by distance along the beam                                     2D -> 1D
    fit          of the curve: a polynomial, which the texts turn into their table, and an exponential

The robot stands before the face of a straight wall and is turned; nothing moves while its sensors are read. Distances of a plan
count from the robot's centre, those of a surface from the sensors' ring.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from formiga.engine.beams import SENSOR_HEIGHT
from formiga.errors import FormigaError, suggest
from formiga.files import write_whole
from formiga.loop import Simulation
from formiga.sense.proximity import Proximity
from formiga.state import Floats
from formiga.units import CM
from formiga.world.model import Contact, Group, Rectangle, World
from formiga.world.mount import CHASSIS
from formiga.world.placement import At
from formiga.world.shipped import Given, world_of

THICK, LONG = 0.1, 20.0  # m, of the wall; longer than anything that a ring of sensors reaches
MOST = 200_000           # robots that are read at once
DEGREE = 8               # of the polynomial: the texts' last term is o(d^8), and 8 is the report's top exponent


@dataclass(frozen=True)
class Plan:
    """Where a sensor is sampled; without anything given, as the texts did it. [TR table 1, draft table 2]"""

    distances: tuple[float, ...] = tuple(CM * d for d in range(8, 34))  # m, of the robot's centre from the wall; ascending
    turns: int = 36                                                     # headings, from -180 deg on in equal steps
    heights: tuple[float, ...] = (10.0 * CM,)                           # m, of the wall; several need the spatial engine
    samples: int = 100                                                  # of each

    def __post_init__(self) -> None:
        for what, values in (("distances", self.distances), ("heights", self.heights)):
            if not values or not all(isfinite(each) and each > 0.0 for each in values) or list(values) != sorted(set(values)):
                raise FormigaError(f"{what}: must be lengths above 0 that ascend.")
        if len(self.distances) < 2 or self.turns < 4 or self.samples < 1:
            raise FormigaError("a campaign needs at least 2 distances, 4 turns and 1 sample of each.")


@dataclass(frozen=True)
class Records:
    """What was read: the means and standard deviations of the samples, (heights, distances, headings, sensors)."""

    plan: Plan
    sensor: Proximity
    mean: Floats
    spread: Floats

    @property
    def headings(self) -> Floats:
        """Of the robot (M,); 0 faces the wall."""
        return np.linspace(-np.pi, np.pi, self.plan.turns, endpoint=False, dtype=np.float64)

    @property
    def angles(self) -> Floats:
        """Where the nearest point of the wall is, (M, S) rad counter-clockwise from each sensor's axis, from -pi to below pi.

            Phi(m, n) = theta_0 + (m - 1) dtheta + beta_n                        [TR eq. 1; here with the sign turned]
        """
        facing = self.headings[:, None] + np.array(self.sensor.angles)
        return np.asarray((np.pi - facing) % (2.0 * np.pi) - np.pi)

    @property
    def gaps(self) -> Floats:
        """(D,) m from the sensors' ring to the wall."""
        return np.array(self.plan.distances) - self.sensor.mount

    @property
    def along(self) -> Floats:
        """(D, M, S) m from each sensor to the wall along its beam; infinity where it looks away.

            read = d / cos(Phi) - R                                              [TR eq. 2, whose Psi is Phi + pi/2]
        """
        cosine = np.cos(self.angles)
        with np.errstate(divide="ignore"):
            return np.where(cosine > 1e-9, np.array(self.plan.distances)[:, None, None] / np.maximum(cosine, 1e-9)
                            - self.sensor.mount, np.inf)


@dataclass(frozen=True)
class Curve:
    """Readings against the distance along the beam (K,), and how much they differ from angle to angle."""

    distance: Floats  # m
    reading: Floats
    spread: Floats    # standard deviation over the angles


@dataclass(frozen=True)
class Fit:
    """Both curves of the texts, fitted to a sampled one by least squares."""

    polynomial: tuple[float, ...]             # c0 .. c8: reading against centimetres, as the texts print it
    exponential: tuple[float, float, float]   # peak, decay (m), floor: peak exp(-d / decay) + floor
    polynomial_error: float                   # root mean square, in readings
    exponential_error: float

    def polynomial_at(self, distance: Floats) -> Floats:
        """Readings of the polynomial at some distances (m)."""
        return np.asarray(np.polynomial.polynomial.polyval(np.asarray(distance) / CM, self.polynomial))

    def exponential_at(self, distance: Floats) -> Floats:
        """Readings of the exponential at some distances (m)."""
        peak, decay, floor = self.exponential
        return np.asarray(peak * np.exp(-np.asarray(distance) / decay) + floor)


# -- the records ------------------------------------------------------------------------------------------------------
def sample(world: Given, plan: Plan | None = None, sensor: str | None = None, *, seed: int = 0, engine: str | None = None,
           progress: Callable[[float], None] | None = None, stop: Callable[[], bool] | None = None) -> Records:
    """Sample a <proximity> of a world's robot before a wall; sensor: its name, or group.name; default: the first there is.

    The robot, the sensor with its noise, and the engine are the world's; all else that stands in it is left out. `stop` is
    called before each distance; if it returns True, a KeyboardInterrupt is raised.
    """
    world, plan = world_of(world), plan or Plan()
    group, chosen = find(world, sensor)
    engine = engine or world.engine
    _refuse(group, chosen, plan, engine)
    if engine == "spatial" and chosen.z is None:  # so that its beams are rays in space, which pass above what is low
        chosen = replace(chosen, z=SENSOR_HEIGHT * group.robot.height)
    shape = len(plan.heights), len(plan.distances), plan.turns, len(chosen.angles)
    mean, spread = np.empty(shape), np.empty(shape)
    first = 0
    for h, height in enumerate(plan.heights):
        wall = Rectangle(THICK / 2, 0.0, THICK, LONG, height=height)
        alone = World(name="bench", dt=world.dt, engine=engine, contact=Contact(model="none"), things=(wall,),
                      groups=(Group(group.robot, 1, group.name, (At(-1.0, 0.0, 0.0),), (chosen,)),))
        for d, distance in enumerate(plan.distances):
            if stop is not None and stop():
                raise KeyboardInterrupt
            mean[h, d], spread[h, d] = _at(alone, distance, plan, seed, first)
            first += plan.turns * plan.samples  # worlds of their own, so that no two samples share their noise
            if progress is not None:
                progress((h * shape[1] + d + 1) / (shape[0] * shape[1]))
    return Records(plan, chosen, mean, spread)


def _at(world: World, distance: float, plan: Plan, seed: int, first: int) -> tuple[Floats, Floats]:
    """Means and standard deviations (headings, sensors) at one distance."""
    group = world.groups[0]
    headings = np.linspace(-np.pi, np.pi, plan.turns, endpoint=False)
    each = max(1, MOST // plan.samples)  # headings at once
    means, spreads = [], []
    for begin in range(0, plan.turns, each):
        some = np.repeat(headings[begin:begin + each], plan.samples)[:, None]
        place = np.tile([-distance, 0.0], (len(some), 1, 1))
        lab = Simulation(world, seed, len(some), first_world=first + begin * plan.samples, start=(place, some))
        read = lab.readings[group.name][group.sensors[0].name][:, 0].reshape(-1, plan.samples, len(group.sensors[0].angles))
        means.append(read.mean(axis=1))
        spreads.append(read.std(axis=1))
    return np.concatenate(means), np.concatenate(spreads)


def find(world: World, sensor: str | None = None) -> tuple[Group, Proximity]:
    """A <proximity> of a world by its name, or by group.name, and the group that carries it."""
    known = {f"{group.name}.{each.name}": (group, each) for group in world.groups for each in group.sensors
             if isinstance(each, Proximity)}
    for name, found in known.items():
        if sensor is None or sensor in (name, name.split(".", 1)[1]):
            return found
    if sensor is None:
        raise FormigaError(f"world '{world.name}' has no <proximity> that could be sampled.")
    raise FormigaError(f"world '{world.name}' has no <proximity> '{sensor}'.{suggest(sensor, known)} "
                       f"It has: {', '.join(known) or 'none'}.")


def _refuse(group: Group, sensor: Proximity, plan: Plan, engine: str) -> None:
    """Refuse what the bench cannot sample."""
    if sensor.on != CHASSIS or any((sensor.x, sensor.y, sensor.yaw, sensor.roll, sensor.pitch)):
        raise FormigaError(f"{group.name}.{sensor.name} sits off the robot's axis; the bench turns a ring around it.")
    if plan.distances[0] <= max(group.robot.radius, sensor.mount):
        raise FormigaError(f"distances: at {plan.distances[0]:g} m from its centre to the wall, a robot of radius "
                           f"{group.robot.radius:g} m with sensors at {sensor.mount:g} m would stand in it.")
    if len(plan.heights) > 1 and engine != "spatial":
        raise FormigaError("heights: the plane has none; --engine spatial has.")
    if engine == "spatial" and sensor.technique in ("moving", "shadow", "sampling"):
        raise FormigaError(f"technique '{sensor.technique}' works in the plane of the sensors; in space take ray or cone.")


# -- 3D -> 2D -> 1D ---------------------------------------------------------------------------------------------------
def surface(records: Records) -> tuple[Floats, Floats, Floats]:
    """Distances from the ring to the wall (D,), angles (M,) and mean readings (D, M): over samples, heights, and all sensors
    whose angle falls into the interval around one of M angles. This is what technique `sampling` looks up."""
    plan, step = records.plan, 2.0 * np.pi / records.plan.turns
    interval = np.rint((records.angles + np.pi) / step).astype(int) % plan.turns
    readings = records.mean.mean(axis=0).reshape(len(plan.distances), -1)
    count = np.bincount(interval.ravel(), minlength=plan.turns)
    if not count.all():
        raise FormigaError(f"turns: {plan.turns} headings leave angles that no sensor was turned to; take fewer.")
    total = np.array([np.bincount(interval.ravel(), row, plan.turns) for row in readings])
    return records.gaps, records.headings, total / count


def curve(records: Records) -> Curve:
    """Mean readings by the distance along the beam, in intervals as wide as a step of the plan's distances.

    Readings of sensors that face the wall are clustered into intervals of distance and angle; then the angles of each distance
    are averaged. [TR section 3.1; draft, sections IV.2 and IV.3]
    """
    plan = records.plan
    wide, turn = float(np.diff(plan.distances).min()), 2.0 * np.pi / plan.turns
    along, angle = records.along, np.broadcast_to(records.angles, records.along.shape)
    kept = along <= records.gaps[-1] + 0.5 * wide
    row = np.rint((along[kept] - records.gaps[0]) / wide).astype(int)
    column = np.rint((angle[kept] + np.pi) / turn).astype(int)
    cells, which = np.unique(np.stack([row, column]), axis=1, return_inverse=True)
    many = np.bincount(which.ravel())
    reading = np.bincount(which.ravel(), records.mean.mean(axis=0)[kept]) / many
    distance = np.bincount(which.ravel(), along[kept]) / many
    rows = np.unique(cells[0])
    at = [cells[0] == each for each in rows]
    return Curve(*(np.array([float(take(values[chosen])) for chosen in at])
                   for take, values in ((np.mean, distance), (np.mean, reading), (np.std, reading))))


def fit(sampled: Curve, reach: float) -> Fit:
    """Both curves of the texts, by least squares over the distances within reach.

        c0 + c1 d + ... + c8 d^8                       linear least squares                          [TR eq. 3]
        peak exp(-d / decay) + floor                   Levenberg-Marquardt                           [TR Fig. 8c, draft Fig. 13]
    A floor below 0 would make readings negative; if it comes out so, the exponential is fitted again without one.
    """
    from scipy.optimize import curve_fit

    within = sampled.distance <= reach
    d, reading = sampled.distance[within] / CM, sampled.reading[within]
    if len(d) < 4:
        raise FormigaError(f"only {len(d)} of the sampled distances are within the reach of {reach:g} m; a fit needs 4.")
    polynomial = np.polynomial.Polynomial.fit(d, reading, min(DEGREE, len(d) - 2))

    def model(d: Floats, peak: float, decay: float, floor: float = 0.0) -> Floats:
        return np.asarray(peak * np.exp(-d / decay) + floor)

    begin = [max(float(np.ptp(reading)), 1e-9), float(np.ptp(d)) / 3.0, float(reading.min())]
    try:
        found = curve_fit(model, d, reading, begin, method="lm", maxfev=10_000)[0]
        if found[2] < 0.0 or found[1] <= 0.0:
            found = np.array([*curve_fit(model, d, reading, begin[:2], method="lm", maxfev=10_000)[0], 0.0])
    except RuntimeError as wrong:
        raise FormigaError("no exponential fits the samples: the readings do not fall with the distance.") from wrong
    peak, decay, floor = (float(value) for value in found)
    errors = [float(np.sqrt(np.mean((each - reading) ** 2))) for each in (polynomial(d), model(d, peak, decay, floor))]
    return Fit(tuple(float(c) for c in polynomial.convert().coef), (peak, decay * CM, floor), *errors)


# -- files ------------------------------------------------------------------------------------------------------------
FILES = ("records.csv", "surface.csv", "curve.csv", "polynomial.csv", "exponential.csv", "fit.json")


def write(records: Records, folder: Path) -> tuple[Curve, Fit]:
    """Write records, surface, curve and both fits into a folder, each file whole or not at all; <proximity> reads the CSV files
    but for the records. Returns the curve and its fit."""
    sampled = curve(records)
    fitted = fit(sampled, records.sensor.reach)
    gaps, angles, readings = surface(records)
    near = np.arange(sampled.distance[0], records.sensor.reach + 1e-9, 0.001)
    texts = {
        "records.csv": _records(records),
        "surface.csv": _csv("distance in m,angle in rad,reading",
                            ((gap, angle, readings[g, a]) for g, gap in enumerate(gaps) for a, angle in enumerate(angles))),
        "curve.csv": _csv("distance in m,reading", zip(sampled.distance, sampled.reading, strict=True)),
        "polynomial.csv": _csv("distance in m,reading", zip(near, fitted.polynomial_at(near), strict=True)),
        "exponential.csv": _csv("distance in m,reading", zip(near, fitted.exponential_at(near), strict=True)),
        "fit.json": json.dumps(_facts(records, sampled, fitted), indent=1) + "\n",
    }
    for name in FILES:
        write_whole(folder / name, texts[name])
    return sampled, fitted


def _csv(heading: str, rows: Any) -> str:
    return "\n".join([heading, *(",".join(f"{value:.9g}" for value in row) for row in rows)]) + "\n"


def _records(records: Records) -> str:
    plan, angles, along = records.plan, records.angles, records.along
    rows = ((height, distance, heading, n, angles[m, n], along[d, m, n], records.mean[h, d, m, n], records.spread[h, d, m, n])
            for h, height in enumerate(plan.heights) for d, distance in enumerate(plan.distances)
            for m, heading in enumerate(records.headings) for n in range(angles.shape[1]))
    return _csv("height in m,centre to wall in m,heading in rad,sensor,angle in rad,along the beam in m,mean,"
                "standard deviation", rows)


def _facts(records: Records, sampled: Curve, fitted: Fit) -> dict[str, Any]:
    peak, decay, floor = fitted.exponential
    return {
        "samples": int(records.mean.size * records.plan.samples),
        "curve": [{"distance": float(d), "reading": float(reading), "spread_over_angles": float(spread)}
                  for d, reading, spread in zip(sampled.distance, sampled.reading, sampled.spread, strict=True)],
        "polynomial": {"coefficients_per_cm": list(fitted.polynomial), "rms_error": fitted.polynomial_error},
        "exponential": {"peak": peak, "decay": decay, "floor": floor, "rms_error": fitted.exponential_error},
    }


__all__ = ["FILES", "Curve", "Fit", "Plan", "Records", "curve", "find", "fit", "sample", "surface", "write"]
