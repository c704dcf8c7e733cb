"""Runs of the laboratory's own filter in batches of worlds, and what is measured of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.geometry import wrap
from formiga.locate.kalman import nees
from formiga.loop import Simulation
from formiga.sense.sharp import Sharp, distance_of
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.migration import elements, pairs
from formiga.world.model import Arena, Contact, Group, Wall, World
from formiga.world.placement import At
from formiga.world.robots.omni import Omni

SECONDS = 34.0         # two laps take 32 s
TRACK = "rover/belief"
TILTED = np.radians(40.0)   # largest angle between a pair and its wall


@dataclass
class Runs:
    """Of one batch: T steps of W worlds."""

    clock: Floats          # (T,) s
    truth: Floats          # (T, W, 3)
    belief: Floats         # (T, W, 3)
    covariance: Floats     # (T, W, 3, 3)
    measured: Floats       # (T, W, 6) pose by the walls alone, and variances
    places: Floats         # (W,) of the course that were reached

    def first(self, worlds: int) -> Runs:
        """The first so many of its worlds."""
        return Runs(self.clock, self.truth[:, :worlds], self.belief[:, :worlds], self.covariance[:, :worlds],
                    self.measured[:, :worlds], self.places[:worlds])

    @property
    def error(self) -> Floats:
        """(T, W, 3)."""
        off = self.belief - self.truth
        off[..., 2] = wrap(off[..., 2])
        return np.asarray(off)

    @property
    def xy(self) -> Floats:
        """Root mean square of the error in place (W,), m."""
        return rms(np.hypot(self.error[..., 0], self.error[..., 1]))

    @property
    def heading(self) -> Floats:
        """The same of the heading, rad."""
        return rms(self.error[..., 2])

    @property
    def at_end(self) -> Floats:
        """Error in place at the end (W,), m."""
        return np.asarray(np.hypot(*self.error[-1, :, :2].T))

    @property
    def nees(self) -> Floats:
        """Normalized estimation error squared (T, W); 3 is ideal."""
        return nees(self.belief, self.truth, self.covariance)

    @property
    def inside(self) -> Floats:
        """Share (3,) of steps in which the error of a component is within 3 sigma."""
        sigma = np.sqrt(np.einsum("twii->twi", self.covariance))
        return np.asarray((np.abs(self.error) <= 3.0 * sigma).mean(axis=(0, 1)))

    @property
    def walls_alone(self) -> tuple[Floats, float]:
        """Error in place (W,), root mean square, of what the walls alone say, where they say x and y; share of such steps."""
        usable = (self.measured[..., 3:5] < pairs.UNKNOWN).all(axis=-1)
        off = np.where(usable, np.hypot(*np.moveaxis(self.measured[..., :2] - self.truth[..., :2], -1, 0)), np.nan)
        return np.sqrt(np.nanmean(off**2, axis=0)), float(usable.mean())

    @property
    def usable(self) -> Floats:
        """Share (3,) of steps in which the walls say x, y, heading."""
        return np.asarray((self.measured[..., 3:] < pairs.UNKNOWN).mean(axis=(0, 1)))


def world_of(file: str = "world.xml", **parameters: str | float) -> World:
    """A world of the study."""
    _ = elements                                # registers its tags
    return harness.world("migration", parameters, file)


def looking(angles: Sequence[float], half: float = 0.06) -> World:
    """The world with pairs of sensors that look along other angles."""
    world = world_of()
    rover = world.groups[0]
    twice = np.repeat(np.asarray(angles, np.float64), 2)
    side = np.tile((half, -half), len(angles))
    places = np.column_stack([-side * np.sin(twice), side * np.cos(twice)]).ravel()
    sensors = tuple(replace(each, angles=tuple(twice.tolist()), places=tuple(places.tolist()))
                    if isinstance(each, Sharp) else each for each in rover.sensors)
    return replace(world, groups=(replace(rover, sensors=sensors),))


def rms(values: Any) -> Floats:
    """Root mean square over the first axis."""
    return np.asarray(np.sqrt(np.mean(np.square(values), axis=0)))


def course(seed: int, worlds: int, world: World | None = None, seconds: float = SECONDS) -> Runs:
    """Two laps of the laboratory's own filter, in so many worlds at once; world: instead of `world.xml`."""
    lab = Simulation(world or world_of(), seed, worlds)
    found: dict[str, list[Any]] = {name: [] for name in ("clock", "truth", "belief", "covariance", "measured")}
    for step in range(round(seconds / lab.world.dt)):
        found["belief"].append(lab.readings["rover"]["belief"][:, 0, :3].copy())
        found["clock"].append(step * lab.world.dt)
        found["truth"].append(np.column_stack([lab.state.position[:, 0], lab.state.heading[:, 0]]))
        for name in ("covariance", "measured"):
            found[name].append(lab.state.memory[TRACK, name][:, 0].copy())
        lab.step()
    places = lab.state.memory["rover/<controller>", "at"][:, 0]
    return Runs(places=places, **{name: np.array(each) for name, each in found.items()})


def apart(path: Any, other: Any) -> Floats:
    """Distance (T,) from each place of a path (T, 2) to the nearest place of another one."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(np.asarray(other)[:, :2]).query(np.asarray(path)[:, :2])[0])


# -- the sensor, as an industrial robot would measure it --------------------------------------------------------------------
def identify(distances: Any, samples: int, repeats: int, seed: int) -> Floats:
    """Voltages (D, repeats * samples) of one sensor at distances (D,) from a wall: its robot stands in front of it."""
    distances = np.asarray(distances, np.float64)
    sensor = Sharp(angles=(0.0,), reach=1.1)
    group = Group(Omni(), 1, "rig", (At(0.0, 0.0, 0.0),), (sensor,))
    world = World(dt=0.04, contact=Contact("none"), things=(Wall((0.0, -1.0, 0.0, 1.0)),), groups=(group,))
    place = np.zeros((len(distances) * repeats, 1, 2))
    place[:, 0, 0] = -np.repeat(distances, repeats)
    lab = Simulation(world, seed, len(place), start=(place, np.zeros(place.shape[:2])))
    volts = []
    for _ in range(samples):
        volts.append(lab.readings["rig"][sensor.name][:, 0, 0].copy())
        lab.step()
    return np.stack(volts, axis=-1).reshape(len(distances), repeats * samples)


def line_fit(distances: Any, volts: Floats) -> tuple[float, float]:
    """k1 and k2 of 1/v = k1 + k2 d, by least squares with the weights that the spread of the samples gives."""
    inverse = 1.0 / volts
    k2, k1 = np.polyfit(distances, inverse.mean(axis=1), 1, w=1.0 / inverse.std(axis=1, ddof=1))
    return float(k1), float(k2)


def variances(volts: Floats) -> Floats:
    """Sample variance (D,) of the measured distance."""
    return np.asarray(distance_of(volts).var(axis=1, ddof=1))


# -- the formulas of a pair -------------------------------------------------------------------------------------------------
def pair_errors(count: int, seed: int) -> tuple[float, float, int]:
    """Largest errors of heading (rad) and of x or y (m) from exact sensors at random poses in the arena, by the engine's own
    beams; and how many pairs were used."""
    world = world_of()
    rover = world.groups[0]
    given = next(sensor for sensor in rover.sensors if isinstance(sensor, Sharp))
    exact = Sharp(given.angles, given.places, "distance", spread=0.0, spread_per_m=0.0, steps=0, samples=1, reach=5.0)
    estimator = next(each for each in rover.estimators if isinstance(each, elements.WallPairs))
    group = Group(rover.robot, 1, "rover", (At(0.0, 0.0, 0.0),), (exact,))
    bench = World(dt=0.04, contact=Contact("none"), things=world.things, groups=(group,))
    arena = next(thing for thing in world.things if isinstance(thing, Arena))
    rng = np.random.default_rng(seed)
    pose = rng.uniform(-0.5, 0.5, (count, 3)) * (arena.width - 0.4, arena.depth - 0.4, 2.0 * np.pi)
    free = (np.abs(pose[:, 0]) > 0.42) | (np.abs(pose[:, 1]) > 0.32)            # not in the block
    pose = pose[free]
    lab = Simulation(bench, 0, len(pose), start=(pose[:, None, :2], pose[:, None, 2]))
    distance = lab.readings["rover"][exact.name][:, 0]
    sight = pairs.look(pairs.pairs_of(exact.seats), estimator.lines, pose, distance, np.full(distance.shape, 1e-6), 5.0)
    placed = sight.place_variance < pairs.UNKNOWN
    direction = pose[:, 2:] + pairs.pairs_of(exact.seats).angles - np.where(sight.upright, 0.0, 0.5 * np.pi)
    used = placed & (np.abs(wrap(2.0 * direction)) / 2.0 <= TILTED)          # twice: to the wall, or away from it
    off = np.where(sight.upright, sight.place - pose[:, :1], sight.place - pose[:, 1:2])
    turned = wrap(sight.heading - pose[:, 2:])
    return float(np.abs(turned[used]).max()), float(np.abs(off[used]).max()), int(used.sum())


__all__ = ["SECONDS", "Runs", "apart", "course", "identify", "line_fit", "looking", "pair_errors", "rms", "variances",
           "world_of"]
