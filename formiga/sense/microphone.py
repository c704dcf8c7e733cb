"""A microphone: how loud it is, at what frequency, and not where from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.engine.switches import ever_on
from formiga.sense import table
from formiga.sense.falloff import EVERY, Sources, received, sources
from formiga.state import Floats
from formiga.world.elements import choice, element, file, name, number, of
from formiga.world.model import World
from formiga.world.mount import Carried
from formiga.world.sources import Speaker

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("microphone", role="sensor")
@dataclass(frozen=True)
class Microphone(Carried):
    """One microphone on top of the robot; it hears every <speaker> and every other robot with a <loudspeaker>.

    The chain of one reading [Swarm-bot 3D simulator]:
        x = sum over the sources of intensity / distance^2 -> y = 2 / (1 + exp(-x)) - 1 -> x (1 + U(-a, a)) -> cut to 0..1
    It hears the same from all sides; nothing stops or reflects a sound, and a robot does not hear itself. With a `frequency` it
    hears only sources in a band of some `width` around it. The distance is never taken as less than the robot's radius.

    With `samples` a source adds what was measured at its distance and angle instead, as for <light>; the angle counts from x
    of the part that carries the microphone.
    """

    frequency: float | None = number(None, above=0.0, doc="Hz, the middle of the band that it hears; default: all")
    width: float = number(100.0, least=0.0, doc="Hz, of that band, its ends included")
    noise: float = number(0.05, least=0.0, doc="half-width of the multiplicative error")
    name: str = name("microphone")
    reads: str = choice("loudness", options=("loudness", "both"),
                        doc="both: a second number, the frequency in Hz of the source that is loudest there; 0 in silence")
    samples: str | None = file(None, doc=f"your own table instead of the inverse square: {table.DESCRIBED}")
    sampled_intensity: float = number(0.25, above=0.0, doc="of the source that was sampled, in m^2")

    @property
    def full(self) -> float:
        """The loudness that counts as one."""
        return 1.0

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """Loudness from 0 to 1, and any frequency."""
        return (0.0, 1.0) if self.reads == "loudness" else (np.zeros(2), np.array([1.0, inf]))

    def prepare(self) -> None:
        """Read the samples, if there are any, and complain now if they are no table."""
        _ = self.table

    @cached_property
    def table(self) -> tuple[Floats, float, float] | None:
        """The samples, their largest distance, and the intensity of what was sampled."""
        return None if self.samples is None else (*table.by_distance_and_angle(self.samples), self.sampled_intensity)

    @property
    def band(self) -> tuple[float, float]:
        """The lowest and the highest frequency that it hears, Hz."""
        return EVERY if self.frequency is None else (self.frequency - 0.5 * self.width, self.frequency + 0.5 * self.width)

    def read(self, scene: SensorView) -> Floats:
        """Loudness (W, n, 1) from 0 to 1; or (W, n, 2) with a frequency in Hz."""
        heard = received(scene, scene.once(f"{scene.owner}/sounds", self.sounds), self.band, self.on,
                         self.reads == "both")
        loud = np.tanh(0.5 * heard[..., :1])
        if self.noise > 0.0:
            loud = np.clip(loud * (1.0 + scene.noise.uniform(-self.noise, self.noise)), 0.0, 1.0)
        return loud if self.reads == "loudness" else np.concatenate([loud, heard[..., 1:]], axis=-1)

    def sounds(self, world: World) -> Sources:
        """All sources of sound."""
        still = [thing for thing in world.things if isinstance(thing, Speaker) and ever_on(thing)]
        moving = [(robot, number, part.intensity, part.frequency)
                  for group, robots in zip(world.groups, world.slices, strict=True)
                  for number, part in enumerate(part for part in group.actuators if of(part).tag == "loudspeaker")
                  for robot in range(robots.start, robots.stop)]
        return sources(world, still, [(thing.intensity, thing.frequency) for thing in still], moving, self.table)
