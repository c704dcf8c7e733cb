"""Acceptance 2 and 3: light and sound, and three ways to look for obstacles, in space."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sqrt
from typing import Any

import numpy as np

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.light import Light
from formiga.sense.microphone import Microphone
from formiga.sense.proximity import Proximity
from formiga.state import Floats
from formiga.studies.harness import Row, at_most, reported
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
ALIKE = 0.15      # of full scale
HIGH = SBot().height
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
    for x, expected in published.SIGMOID.values.items():
        lamps = tuple(Lamp(x=sqrt(k), y=0.0, z=HIGH, intensity=0.5 * k * x, name=f"lamp{k}") for k in (1, 2))
        sounds = tuple(Speaker(x=0.0, y=sqrt(k), z=HIGH, intensity=0.5 * k * x, name=f"speaker{k}") for k in (1, 2))
        seen, heard = bright((*lamps, *sounds))
        for what, ours in (("light", seen), ("sound", heard)):
            yield Row(f"{what}: reading of two sources with x = {x} together", expected, ours, published.SIGMOID.tolerance,
                      where=published.SIGMOID.where)
    near = [bright((Lamp(x=d, y=0.0, z=HIGH, intensity=0.25), Speaker(x=d, y=0.0, z=HIGH, intensity=0.25))) for d in (0.5, 1.0)]
    power = [float(np.log(np.arctanh(near[0][k]) / np.arctanh(near[1][k])) / np.log(2.0)) for k in (0, 1)]
    yield Row("light: falls with this power of the distance", 2.0, power[0], 1e-6, LAW)
    yield Row("sound: falls with this power of the distance", 2.0, power[1], 1e-6, LAW)
    wall = Wall(points=(0.5, -1.0, 0.5, 1.0), height=40 * CM)
    seen, heard = bright((Lamp(x=1.0, y=0.0, z=30 * CM), Speaker(x=1.0, y=0.0, z=30 * CM), wall))
    _, open_air = bright((Lamp(x=1.0, y=0.0, z=30 * CM), Speaker(x=1.0, y=0.0, z=30 * CM)))
    yield Row("light behind a wall", 0.0, seen, 0.0, LAW)
    yield Row("sound behind a wall: as without it", open_air, heard, 0.0, LAW)


# -- 3: techniques ----------------------------------------------------------------------------------------------------------
def looks(technique: str, poses: Floats, things: tuple[Any, ...]) -> Floats:
    """Readings (poses, 15) of the thesis's ring, without noise, from places and headings (poses, 3), each in its own world."""
    sensor = profiled(Proximity, "s3", technique=technique, noise=(0.0,))
    lab = Simulation(world([(1.0, 1.0, 0.0)], things, sensors=(sensor,)), worlds=len(poses),
                     start=(poses[:, None, :2], poses[:, None, 2]))
    return np.asarray(lab.readings["r"]["proximity"][:, 0], np.float64)


def techniques() -> Iterator[Row]:
    """One post in the open, 50 places and headings: 15 sensors, three techniques."""
    draw = np.random.default_rng(0)
    away, bearing = draw.uniform(12.5, 25.0, POSES) * CM, draw.uniform(-pi, pi, POSES)
    poses = np.stack([away * np.cos(bearing), away * np.sin(bearing), draw.uniform(-pi, pi, POSES)], axis=-1)
    post = (Cylinder(x=0.0, y=0.0, radius=6 * CM, height=40 * CM),)
    every = {name: looks(technique, poses, post) for name, technique in TECHNIQUES.items()}
    names = list(every)
    for i, one in enumerate(names):
        for other in names[i + 1:]:
            apart = np.abs(every[one] - every[other])
            yield at_most(f"{one} and {other}, {POSES} poses at a post: mean difference where one sees it", ALIKE,
                          float(apart[(every[one] > 0) | (every[other] > 0)].mean()))
            yield at_most("    of the strongest sensor, at most", ALIKE,
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
