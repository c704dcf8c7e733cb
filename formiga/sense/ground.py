"""Short beams that look down: is there a floor under the robot's edge?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from formiga.engine.beams import directions
from formiga.state import Floats
from formiga.units import CM, DEG
from formiga.world.elements import element, length, name, number, numbers

if TYPE_CHECKING:
    from formiga.sense import Scene


@element("ground", role="sensor")
@dataclass(frozen=True)
class Ground:
    """Sensors that look down, for holes and edges: 1 - d / reach of the floor below each, 0 where there is none in reach.

    The thesis has four, always by rays and of very short range, and gives no places; these are ours. On a flat floor they read
    1 - height / reach. In the plane there is nothing but the floor.
    """

    angles: tuple[float, ...] = numbers(tuple(a * DEG for a in (45, 135, -135, -45)), unit="rad",
                                        doc="counter-clockwise from the heading")
    out: float = length(4.0 * CM, least=0.0, doc="sensor from the robot's centre")
    height: float = length(1.0 * CM, above=0.0, doc="sensor above the floor")
    reach: float = length(3.0 * CM, above=0.0, doc="measured from the sensor")
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

    def read(self, scene: Scene) -> Floats:
        """Readings (W, n, sensors) from 0 to 1."""
        down = np.tile([0.0, 0.0, -1.0], (len(self.angles), 1))
        near = 1.0 - np.minimum(1.0, scene.rays(self.places, down, self.reach) / self.reach)
        if self.noise > 0.0:
            near = np.clip(near * (1.0 + scene.noise.uniform(-self.noise, self.noise, len(self.angles))), 0.0, 1.0)
        return near
