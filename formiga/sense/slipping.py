"""Encoders of wheels that slip, and whose radii are not quite the ones that are known."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.errors import WorldError
from formiga.sense.encoders import in_ticks
from formiga.state import Floats
from formiga.world.contract import channels
from formiga.world.elements import element, integer, name, number, where

if TYPE_CHECKING:
    from formiga.sense import SensorView

LEAST_SCALE = 0.1        # a wheel whose drawn error would turn it backwards rolls at a tenth instead


@element("slipping_encoders", role="sensor")
@dataclass(frozen=True)
class SlippingEncoders:
    """Angle of each wheel since the start, of which a part was slip: what odometry has to live with.

    The way of a rim over the floor is what its encoder counted, times

        1 + systematic g + slip g_k
    with g one normal number for each wheel of a run, and g_k a new one in each step. The robot moves as it is ordered, so the
    encoder is what is wrong. A channel that is an angle reads as it is.
    """

    systematic: float = number(0.0, least=0.0, doc="standard deviation of a wheel's constant error, as a share of its way")
    slip: float = number(0.0, least=0.0, doc="standard deviation of the error in one step, as a share of the way of this step")
    ticks: int = integer(0, least=0, doc="per turn of a wheel; 0: exact")
    name: str = name("encoders")

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """Without end."""
        return -inf, inf

    def read(self, scene: SensorView) -> Floats:
        """Angles (W, n, D) in rad."""
        drive = scene.group.robot.drive
        if drive is None:
            raise WorldError(f"{where(self)}<slipping_encoders> counts turns of wheels; the robots of '{scene.group.name}' "
                             "have no drive.")
        count = channels(scene.group.robot)
        angle = scene.state.wheel_angle[:, scene.robots, :count]
        last, counted = scene.memory("angle", angle), scene.memory("counted", angle)
        own = scene.memory("own", 1.0 + scene.noise.normal(self.systematic, count, "systematic"))
        scale = np.maximum(own + scene.noise.normal(self.slip, count, "slip"), LEAST_SCALE)
        counted += np.where(drive.rolls, (angle - last) / scale, angle - last)
        last[...] = angle
        return in_ticks(counted, self.ticks)


__all__ = ["SlippingEncoders"]
