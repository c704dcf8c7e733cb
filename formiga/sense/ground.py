"""Short beams that look down: is there a floor under the robot's edge, and how is it painted?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from formiga.engine.beams import directions
from formiga.sense.floor import colours, grey, paint
from formiga.state import Floats
from formiga.units import CM, DEG
from formiga.world.elements import choice, colour, element, length, name, number, numbers

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("ground", role="sensor")
@dataclass(frozen=True)
class Ground:
    """Sensors that look down: how far the floor is, or how it is painted.

    distance  1 - d / reach of the floor below each sensor, for holes and edges. On a flat floor that is 1 - height / reach
    grey      its grey value, from 0 (black) to 1 (white): 0.299 red + 0.587 green + 0.114 blue
    colour    its red, green and blue, each from 0 to 1
    All of them are 0 where there is no floor in reach. The paint is that of the <zone>s that are on; where two overlap, the one
    that stands later in the file covers the other. In the plane there is nothing but the floor.

    The thesis has four, always by rays and of very short range, and gives no places; these are ours.
    """

    angles: tuple[float, ...] = numbers(tuple(a * DEG for a in (45, 135, -135, -45)), unit="rad",
                                        doc="counter-clockwise from the heading")
    out: float = length(4.0 * CM, least=0.0, doc="sensor from the robot's centre")
    height: float = length(1.0 * CM, above=0.0, doc="sensor above the floor")
    reach: float = length(3.0 * CM, above=0.0, doc="measured from the sensor")
    reads: str = choice("distance", options=("distance", "grey", "colour"))
    bare: str = colour("#ffffff", doc="the floor where there is no <zone>")
    noise: float = number(0.05, least=0.0, doc="half-width of the multiplicative error")
    name: str = name("ground")

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return 1.0

    @cached_property
    def places(self) -> Floats:
        """Where the sensors are (B, 3), in the robot's frame."""
        return np.column_stack([self.out * directions(self.angles), np.full(len(self.angles), self.height)])

    def read(self, scene: SensorView) -> Floats:
        """Readings (W, n, sensors), or (W, n, sensors, 3) of colours, from 0 to 1."""
        down = np.tile([0.0, 0.0, -1.0], (len(self.angles), 1))
        distance = scene.rays(self.places, down, self.reach)
        if self.reads == "distance":
            reading = 1.0 - np.minimum(1.0, distance / self.reach)
        else:
            reading = self._paint(scene, distance)
        if self.noise > 0.0:
            width = reading[0, 0].size
            error = 1.0 + scene.noise.uniform(-self.noise, self.noise, width)
            reading = np.clip(reading * error.reshape(reading.shape), 0.0, 1.0)
        return reading

    def _paint(self, scene: SensorView, distance: Floats) -> Floats:
        """Grey values or colours of the floor where each beam meets it."""
        there = np.isfinite(distance)
        end = self.places - np.where(there, distance, 0.0)[..., None] * (0.0, 0.0, 1.0)
        seen = colours(scene.once("paint", paint), scene.place(end)[..., :2], self.bare) * there[..., None]
        return seen if self.reads == "colour" else grey(seen)
