"""Two wheels on one axis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.drives.contract import Drive, Floats, cut


@dataclass(frozen=True)
class Differential(Drive):
    """Two wheels on one axis, each with its own speed. [Vicentini & Tuci 2006, eq. 4]

        vx = (left + right)/2,  vy = 0,  turning rate = (right - left)/base
    The robot's own point is midway between the wheels.
    """

    wheel_base: float               # m between the two wheels
    top_speed: float                # m/s of a wheel's rim
    wheel_radius: float = 2.0 * CM
    motor_noise: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.wheel_base < inf:
            raise WorldError(f"the distance between two wheels must be above 0 m, not {self.wheel_base:g} m.")

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """Rim speeds, m/s."""
        return "left", "right"

    @cached_property
    def limits(self) -> tuple[float, ...]:
        """m/s."""
        return self.top_speed, self.top_speed

    @property
    def fastest(self) -> float:
        """Straight on, m/s."""
        return self.top_speed

    def twist(self, channels: Floats) -> Floats:
        """vx, vy, turning rate (..., 3)."""
        left, right = channels[..., 0], channels[..., 1]
        return np.stack([0.5 * (left + right), np.zeros_like(left), (right - left) / self.wheel_base], axis=-1)

    def follow(self, twist: Floats) -> Floats:
        """Rim speeds (..., 2) of a twist (..., 3); it cannot go aside.

            left = vx - omega base/2,  right = vx + omega base/2
        """
        ahead, turn = twist[..., 0], 0.5 * self.wheel_base * twist[..., 2]
        return np.stack([ahead - turn, ahead + turn], axis=-1)

    def steer(self, ahead: float, aside: float, turn: float) -> tuple[float, ...]:
        """It cannot go aside."""
        return tuple(self.top_speed * cut(share) for share in (ahead - turn, ahead + turn))


__all__ = ["Differential"]
