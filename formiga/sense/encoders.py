"""Wheel encoders: how far the wheels turned."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.state import Floats
from formiga.world.contract import channels
from formiga.world.elements import element, integer, name

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("encoders", role="sensor")
@dataclass(frozen=True)
class Encoders:
    """Angle of each wheel since the start, in whole ticks.

    One for each channel of the drive: left and right of a differential one. A channel that is an angle, such as the steering of
    a car, reads as it is. In space wheels that roll read the angle of their joint; in the plane the way that they rolled.
    """

    ticks: int = integer(0, least=0, doc="per turn of a wheel; 0: exact")
    name: str = name("encoders")

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """A wheel turns without end; a channel that is an angle stays within its limit."""
        if robot.drive is None:
            return -inf, inf
        most = np.where(robot.drive.rolls, inf, robot.drive.limits)
        return -most, most

    def read(self, scene: SensorView) -> Floats:
        """Angles (W, n, D) in rad."""
        return in_ticks(scene.state.wheel_angle[:, scene.robots, : channels(scene.group.robot)], self.ticks)


def in_ticks(angle: Floats, ticks: int) -> Floats:
    """Angles rounded down to whole ticks."""
    return angle.copy() if ticks == 0 else np.floor(angle * (ticks / (2.0 * pi))) * (2.0 * pi / ticks)
