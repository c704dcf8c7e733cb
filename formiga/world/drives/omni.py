"""Wheels with rollers, which pull along one direction and slip freely across it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isfinite, pi

import numpy as np

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.drives.contract import Drive, Floats, cut

FEWEST, MOST = 3, 32       # wheels
CORNERS = 12               # wheels up to which the top speed is the exact one
SINGULAR = 1e-6            # smallest share of the weakest direction of the wheels in the strongest one


@dataclass(frozen=True)
class Omni(Drive):
    """Three or more omnidirectional wheels; each is told the speed of its rim.

        u_k = vx cos b_k + vy sin b_k + d sin(b_k - a_k) omega        [Siegwart & Nourbakhsh 2004, section 3.2: Swedish wheel
                                                                       with rollers at 90 degrees to its plane]
    Wheel k stands at the angle a_k, at the distance d from the robot's own point, and rolls towards b_k; both angles from
    straight ahead, counter-clockwise. Without `directions` it rolls along the circle: b_k = a_k + 90 degrees, so

        u_k = -vx sin a_k + vy cos a_k + d omega
    With the rows of these equations as the matrix J (n, 3), the wheels give the twist  J^+ u,  J^+ the pseudo-inverse: exact
    for three wheels; with more, orders that no twist can fulfil slip, and the twist is the one with the least squares of slip.
    """

    angles: tuple[float, ...]                   # rad, where the wheels stand
    distance: float                             # m, of the wheels from the robot's own point
    top_speed: float                            # m/s of a wheel's rim
    directions: tuple[float, ...] | None = None  # rad, where each wheel rolls; None: along the circle
    wheel_radius: float = 2.0 * CM
    motor_noise: float = 0.0
    lag: float = 0.0                            # s, of the motors
    holonomic: bool = True

    def __post_init__(self) -> None:
        count = len(self.angles)
        if not FEWEST <= count <= MOST:
            raise WorldError(f"an omnidirectional drive has {FEWEST} to {MOST} wheels, not {count}: fewer leave a direction "
                             "free.")
        if self.directions is not None and len(self.directions) != count:
            raise WorldError(f"there are {len(self.directions)} directions for {count} wheels.")
        if not (isfinite(self.distance) and self.distance > 0.0 and self.top_speed > 0.0):
            raise WorldError("the wheels of an omnidirectional drive need a distance and a top speed above 0.")
        if not all(map(isfinite, (*self.angles, *(self.directions or ())))):
            raise WorldError("the angles and directions of wheels must be finite numbers, in rad.")
        size = np.linalg.svd(self.jacobian / (1.0, 1.0, self.distance), compute_uv=False)  # without units
        if size[2] < SINGULAR * size[0]:
            raise WorldError("these wheels leave a direction free: no speeds of theirs would move the robot along it, or turn "
                             "it. Spread their angles or their directions.")

    @cached_property
    def jacobian(self) -> Floats:
        """J (n, 3): rim speeds from a twist."""
        a = np.array(self.angles, np.float64)
        b = a + 0.5 * pi if self.directions is None else np.array(self.directions, np.float64)
        return np.column_stack([np.cos(b), np.sin(b), self.distance * np.sin(b - a)])

    @cached_property
    def inverse(self) -> Floats:
        """J^+ (3, n): a twist from rim speeds."""
        return np.asarray(np.linalg.pinv(self.jacobian), np.float64)

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """Rim speeds, m/s, in the order of `angles`."""
        return tuple(f"wheel{k}" for k in range(len(self.angles)))

    @cached_property
    def limits(self) -> tuple[float, ...]:
        """m/s."""
        return (self.top_speed,) * len(self.angles)

    @property
    def lags(self) -> tuple[float, ...]:
        """s, the same for all wheels."""
        return (self.lag,) * len(self.angles)

    @cached_property
    def fastest(self) -> float:
        """In the best direction: at a corner of the box of all orders. With many wheels a bound."""
        if len(self.angles) > CORNERS:
            return self.top_speed * float(np.linalg.norm(self.inverse[:2], axis=0).sum())
        corners = np.array([(1.0, *rest) for rest in product((-1.0, 1.0), repeat=len(self.angles) - 1)])
        return self.top_speed * float(np.linalg.norm(corners @ self.inverse[:2].T, axis=1).max())

    def twist(self, channels: Floats) -> Floats:
        """vx, vy, turning rate (..., 3)."""
        return np.asarray(channels @ self.inverse.T)

    def follow(self, twist: Floats) -> Floats:
        """Rim speeds (..., n) of a twist (..., 3): u = J (vx, vy, omega)."""
        return np.asarray(twist @ self.jacobian.T)

    def steer(self, ahead: float, aside: float, turn: float) -> tuple[float, ...]:
        """Each share is one of the top speed in that direction alone; together they are cut so that no wheel is too fast."""
        top = self.top_speed / np.abs(self.jacobian).max(axis=0)
        rims = self.jacobian @ (top * (cut(ahead), cut(aside), cut(turn)))
        rims *= min(1.0, self.top_speed / max(float(np.abs(rims).max()), 1e-300))
        return tuple(map(float, rims))


__all__ = ["Omni"]
