"""Acceptance 2 and 3: light and sound, and three ways to look for obstacles, in space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import pi
from typing import Any

import numpy as np

from formiga.errors import WorldError
from formiga.geometry import wrap
from formiga.loop import Simulation
from formiga.sense.light import Light
from formiga.sense.microphone import Microphone
from formiga.sense.proximity import Proximity
from formiga.state import Floats
from formiga.studies.harness import Row, at_most, definition, reported
from formiga.studies.swarmbot3d import published
from formiga.studies.swarmbot3d.scene import world
from formiga.units import CM
from formiga.world.elements import profiled
from formiga.world.ground import Terrain
from formiga.world.model import Cylinder, Lamp, Wall
from formiga.world.robots.sbot import SBot
from formiga.world.sources import Speaker

LAW = "law"
POSES = 50
ALIKE = 0.15      # of full scale [digest, acceptance 3]
BETWEEN = 0.02    # the same for rays: at most 5 degrees beside the nearest point of such a post, 3.4 mm or 0.017 at full reach
HIGH = SBot().height
EXACT = "the nearest point in the cone"
TECHNIQUES = {"ray (5 rays)": "cone", "sampling": "sampling", "shadow": "shadow"}


# -- 2: light and sound -----------------------------------------------------------------------------------------------------
def bright(things: tuple[Any, ...]) -> tuple[float, float]:
    """What an s-bot at the origin sees straight ahead, and what it hears; without noise."""
    sensors = (Light(angles=(0.0,), of="lamps", noise=0.0), Microphone(noise=0.0))
    lab = Simulation(world([(0.0, 0.0, 0.0)], things, sensors=sensors))
    readings = lab.readings["r"]
    return float(readings["light"][0, 0, 0]), float(readings["microphone"][0, 0, 0])


def light_and_sound() -> Iterator[Row]:
    """The sum of all sources, then the sigmoid; a wall hides a lamp and not a sound."""
    yield definition("light and sound: y of the sum x of intensity / distance^2", "2 / (1 + exp(-x)) - 1", published.SIGMOID)
    for what, make in (("light", lamp), ("sound", speaker)):
        yield from sums(what, make, 0 if what == "light" else 1)
    wall = Wall(points=(0.5, -1.0, 0.5, 1.0), height=40 * CM)
    seen, heard = bright((Lamp(x=1.0, y=0.0, z=30 * CM), Speaker(x=1.0, y=0.0, z=30 * CM), wall))
    _, open_air = bright((Lamp(x=1.0, y=0.0, z=30 * CM), Speaker(x=1.0, y=0.0, z=30 * CM)))
    yield Row("light behind a wall", 0.0, seen, 0.0, LAW)
    yield Row("sound behind a wall: as without it", open_air, heard, 0.0, LAW)


def lamp(distance: float, intensity: float, name: str = "a") -> Lamp:
    """A lamp straight ahead of the robot, at the height of its light sensors."""
    return Lamp(x=distance, y=0.0, z=HIGH, intensity=intensity, name=name)


def speaker(distance: float, intensity: float, name: str = "a") -> Speaker:
    """A speaker beside the robot, at the height of its microphone."""
    return Speaker(x=0.0, y=distance, z=HIGH, intensity=intensity, name=name)


def sums(what: str, make: Callable[..., Any], which: int) -> Iterator[Row]:
    """Laws that the readings must keep, of which none uses the sigmoid's equation."""
    def reading(*sources: Any) -> float:
        return bright(sources)[which]

    alone, far = reading(make(0.5, 0.25)), reading(make(1.0, 1.0))
    yield Row(f"{what}: twice as far and four times as strong reads the same", alone, far, 1e-12, LAW)
    both = reading(make(0.5, 0.25), make(1.0, 2.0, "b"))
    yield Row(f"{what}: two sources read as one of their sum", reading(make(0.5, 0.75)), both, 1e-12, LAW)
    each = [reading(make(0.5, 0.25)), reading(make(1.0, 2.0))]
    yield Row(f"{what}: two sources read less than their readings' sum: the sum saturates, not each", True,
              bool(max(each) < both < sum(each)), origin=LAW)
    dim = [reading(make(1.0, x)) / x for x in (1e-3, 2e-3)]
    yield Row(f"{what}: a dim source reads half of x [Fig. 3.2, slope at 0]", 0.5, 2.0 * dim[0] - dim[1], 1e-5, LAW)
    yield Row(f"{what}: a glaring one reads 1 [Fig. 3.2, its limit]", 1.0, reading(make(0.5, 25.0)), 1e-6, LAW)


# -- 3: techniques ----------------------------------------------------------------------------------------------------------
def looks(technique: str, poses: Floats, things: tuple[Any, ...]) -> Floats:
    """Readings (poses, 15) of the thesis's ring, without noise, from places and headings (poses, 3), each in its own world."""
    sensor = profiled(Proximity, "s3", technique=technique, noise=(0.0,))
    lab = Simulation(world([(1.0, 1.0, 0.0)], things, sensors=(sensor,)), worlds=len(poses),
                     start=(poses[:, None, :2], poses[:, None, 2]))
    return np.asarray(lab.readings["r"]["proximity"][:, 0], np.float64)


def nearest_in_cone(poses: Floats, radius: float, sensor: Proximity) -> Floats:
    """Readings (poses, 15) by trigonometry, without rays: what is nearest of a post at the origin inside each sensor's cone.

    With D from the sensor to the post's middle and d = max(0, |bearing| - cone / 2):
        distance = D cos d - sqrt(radius^2 - D^2 sin^2 d), none if D sin d > radius;  reading = 1 - distance / reach
    """
    axis = poses[:, 2:] + np.array(sensor.angles)
    x, y = poses[:, :1] + sensor.mount * np.cos(axis), poses[:, 1:2] + sensor.mount * np.sin(axis)
    away, bearing = np.hypot(x, y), wrap(np.arctan2(-y, -x) - axis)
    aside = np.maximum(0.0, np.abs(bearing) - 0.5 * sensor.cone)
    square = radius**2 - (away * np.sin(aside)) ** 2
    distance = away * np.cos(aside) - np.sqrt(np.maximum(0.0, square))
    seen = (square >= 0.0) & (aside < 0.5 * pi) & (distance <= sensor.reach)
    return np.where(seen, 1.0 - distance / sensor.reach, 0.0)


def techniques() -> Iterator[Row]:
    """One post in the open, 50 places and headings, 15 sensors: three techniques beside what trigonometry says, and two that
    share nothing beside each other. (Samples are generated from the five rays, so these two agree by construction.)"""
    draw, radius = np.random.default_rng(0), 6 * CM
    away, bearing = draw.uniform(12.5, 25.0, POSES) * CM, draw.uniform(-pi, pi, POSES)
    poses = np.stack([away * np.cos(bearing), away * np.sin(bearing), draw.uniform(-pi, pi, POSES)], axis=-1)
    post = (Cylinder(x=0.0, y=0.0, radius=radius, height=40 * CM),)
    every = {name: looks(technique, poses, post) for name, technique in TECHNIQUES.items()}
    every[EXACT] = nearest_in_cone(poses, radius, profiled(Proximity, "s3"))
    for one, other in (*((name, EXACT) for name in TECHNIQUES), ("sampling", "shadow")):
        apart, most = np.abs(every[one] - every[other]), ALIKE if "shadow" in (one, other) else BETWEEN
        yield at_most(f"{one} and {other}, {POSES} poses at a post: mean difference where one sees it", most,
                      float(apart[(every[one] > 0) | (every[other] > 0)].mean()))
        yield at_most("    of the strongest sensor, at most", most,
                      float(np.abs(every[one].max(1) - every[other].max(1)).max()))
        yield reported("    of any sensor, at most", float(apart.max()),
                       note="At the edge of a cone five rays leave gaps, and shadows count less there (cos^2).")
    yield from on_terrain()


def on_terrain() -> Iterator[Row]:
    """Hills: only rays know them."""
    hills = (Terrain(width=2.0, depth=2.0, amplitude=4 * CM, seed=1), Cylinder(x=0.2, y=0.0, radius=6 * CM, height=40 * CM))
    pose = np.array([[0.0, 0.0, 0.6]])
    seen = looks("ray", pose, hills)
    yield Row("on terrain: rays see a post 8 cm away", True, bool(seen.max() > 0.3), origin=LAW)
    for technique in ("sampling", "shadow"):
        try:
            looks(technique, pose, hills)
            says = "works"
        except WorldError:
            says = "refused"
        yield Row(f"on terrain: {technique}", "refused", says, origin=LAW)
