"""What moves a robot over the floor, as a description: its channels, their limits, and the twist that they give.

Orders for a drive are one number for each channel. `act/` cuts them at the limits and adds the motors' noise, an engine carries
them out. A twist is vx, vy in m/s and the turning rate in rad/s, in the robot's frame, x ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from formiga.units import CM

Floats = NDArray[np.float64]


class Drive(Protocol):
    """What the laboratory asks of a drive."""

    @property
    def channels(self) -> tuple[str, ...]:
        """A name for each number that it takes."""
        ...

    @property
    def limits(self) -> tuple[float, ...]:
        """The largest size of each; orders beyond it are cut."""
        ...

    @property
    def wheel_radius(self) -> float:
        """m, that turns rim speeds into wheel angles, for encoders."""
        ...

    @property
    def motor_noise(self) -> float:
        """Each channel x (1 + U(-a, a))."""
        ...

    def twist(self, channels: Floats) -> Floats:
        """vx, vy, turning rate (..., 3) that the channels (..., D) give."""
        ...

    def steer(self, ahead: float, aside: float, turn: float) -> tuple[float, ...]:
        """Channels for a driver who wants shares of the top speeds, each from -1 to 1: ahead, to the left, turning left."""
        ...


@dataclass(frozen=True)
class Differential:
    """Two wheels on one axis, each with its own speed. [Vicentini & Tuci 2006, eq. 4]

        vx = (left + right)/2,  vy = 0,  turning rate = (right - left)/base
    """

    wheel_base: float               # m between the two wheels
    top_speed: float                # m/s of a wheel's rim
    wheel_radius: float = 2.0 * CM
    motor_noise: float = 0.0

    @property
    def channels(self) -> tuple[str, ...]:
        """Rim speeds, m/s."""
        return "left", "right"

    @property
    def limits(self) -> tuple[float, ...]:
        """m/s."""
        return self.top_speed, self.top_speed

    def twist(self, channels: Floats) -> Floats:
        """vx, vy, turning rate (..., 3)."""
        left, right = channels[..., 0], channels[..., 1]
        return np.stack([0.5 * (left + right), np.zeros_like(left), (right - left) / self.wheel_base], axis=-1)

    def steer(self, ahead: float, aside: float, turn: float) -> tuple[float, ...]:
        """It cannot go aside."""
        return tuple(self.top_speed * max(-1.0, min(1.0, share)) for share in (ahead - turn, ahead + turn))


__all__ = ["Differential", "Drive"]
