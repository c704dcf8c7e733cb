"""A microphone: how loud it is, and not where from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formiga.sense.falloff import Sources, received, sources
from formiga.state import Floats
from formiga.world.elements import element, name, number, of
from formiga.world.model import World
from formiga.world.sources import Speaker

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("microphone", role="sensor")
@dataclass(frozen=True)
class Microphone:
    """One microphone on top of the robot; it hears every <speaker> and every other robot with a <loudspeaker>.

    The chain of one reading [Swarm-bot 3D simulator]:
        x = sum over the sources of intensity / distance^2 -> y = 2 / (1 + exp(-x)) - 1 -> x (1 + U(-a, a)) -> cut to 0..1
    It hears the same from all sides; nothing stops or reflects a sound, and a robot does not hear itself. With a `frequency` it
    hears only sources in a band of some `width` around it. The distance is never taken as less than the robot's radius.
    """

    frequency: float | None = number(None, above=0.0, doc="Hz, the middle of the band that it hears; default: all")
    width: float = number(100.0, least=0.0, doc="Hz, of that band, its ends included")
    noise: float = number(0.05, least=0.0, doc="half-width of the multiplicative error")
    name: str = name("microphone")

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return 1.0

    def read(self, scene: SensorView) -> Floats:
        """Loudness (W, n, 1) from 0 to 1."""
        x = received(scene.state, scene.robots, scene.once(f"{scene.owner}/sounds", self.sounds))
        loud = np.tanh(0.5 * x)
        if self.noise > 0.0:
            loud = np.clip(loud * (1.0 + scene.noise.uniform(-self.noise, self.noise)), 0.0, 1.0)
        return loud

    def hears(self, frequency: float) -> bool:
        """Whether a sound lies in its band."""
        return self.frequency is None or abs(frequency - self.frequency) <= 0.5 * self.width

    def sounds(self, world: World) -> Sources:
        """The sources that it hears."""
        still = [(thing.x, thing.y, thing.z, thing.intensity) for thing in world.things
                 if isinstance(thing, Speaker) and thing.on and self.hears(thing.frequency)]
        moving = [(robot, part.intensity) for group, robots in zip(world.groups, world.slices, strict=True)
                  for part in group.actuators if of(part).tag == "loudspeaker" and self.hears(part.frequency)
                  for robot in range(robots.start, robots.stop)]
        return sources(world, still, moving)
