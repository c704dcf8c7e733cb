"""A car: the rear axle drives, the front wheels steer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, pi

import numpy as np

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.drives.contract import Drive, Floats, cut


@dataclass(frozen=True)
class Steered(Drive):
    """The bicycle model: both front wheels as one in the middle, which does not slip. [LaValle 2006, section 13.1.2.1]

        vx = v,  vy = 0,  turning rate = v tan(delta)/length
    v: speed of the middle of the rear axle, which is the robot's own point; delta: angle of the front wheel, positive to the
    left. So it drives a circle of radius length/tan(delta). Speed and angle follow their orders u with lags T and the angle
    with a limited rate; they change at the beginning of a step and are held through it:

        v <- v + (u - v)(1 - exp(-dt/T)),   |change of delta| <= rate dt
    """

    length: float                   # m between the rear and the front axle
    top_speed: float                # m/s
    top_steering: float             # rad, the largest angle to either side
    speed_lag: float = 0.0          # s
    steering_lag: float = 0.0       # s
    steering_rate: float = inf      # rad/s
    wheel_radius: float = 2.0 * CM
    motor_noise: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.length < inf:
            raise WorldError(f"the length between the axles must be above 0 m, not {self.length:g} m.")
        if not 0.0 < self.top_steering < 0.5 * pi:
            raise WorldError("the largest steering angle must be above 0 and below 90 degrees, at which a car would only turn "
                             f"on the spot; it is {self.top_steering * 180.0 / pi:g} degrees.")
        if not (self.speed_lag >= 0.0 and self.steering_lag >= 0.0 and self.steering_rate > 0.0):
            raise WorldError("lags must not be below 0, and the steering rate must be above 0.")

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """Speed of the rear axle, m/s, and the angle of the front wheel, rad."""
        return "speed", "steering"

    @cached_property
    def limits(self) -> tuple[float, ...]:
        """m/s and rad."""
        return self.top_speed, self.top_steering

    @property
    def rolls(self) -> tuple[bool, ...]:
        """The rear wheels roll; the steering angle is an angle."""
        return True, False

    @property
    def lags(self) -> tuple[float, ...]:
        """s."""
        return self.speed_lag, self.steering_lag

    @property
    def rates(self) -> tuple[float, ...]:
        """rad/s for the angle."""
        return inf, self.steering_rate

    @property
    def fastest(self) -> float:
        """m/s."""
        return self.top_speed

    def twist(self, channels: Floats) -> Floats:
        """vx, vy, turning rate (..., 3)."""
        speed, angle = channels[..., 0], channels[..., 1]
        return np.stack([speed, np.zeros_like(speed), speed * np.tan(angle) / self.length], axis=-1)

    def follow(self, twist: Floats) -> Floats:
        """Speed and angle (..., 2) of a twist (..., 3); straight ahead if vx is 0: it cannot turn on the spot.

            v = vx,  delta = atan(length omega / vx)
        """
        speed, rate = twist[..., 0], twist[..., 2]
        moves = speed != 0.0
        angle = np.arctan(np.where(moves, self.length * rate / np.where(moves, speed, 1.0), 0.0))
        return np.stack([speed, angle], axis=-1)

    def steer(self, ahead: float, aside: float, turn: float) -> tuple[float, ...]:
        """Pedal and steering wheel: it cannot go aside, nor turn on the spot; backwards, the wheel turns it the other way."""
        return self.top_speed * cut(ahead), self.top_steering * cut(turn)


__all__ = ["Steered"]
