"""What the laboratory asks of a drive."""

from __future__ import annotations

from math import inf
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from formiga.units import CM

Floats = NDArray[np.float64]


class Drive(Protocol):
    """A class that inherits this has to say `channels`, `limits`, `fastest`, `twist` and `steer`; the rest has defaults.

    `follow` is the inverse of `twist`.
    """

    wheel_radius: float = 2.0 * CM    # m, that turns rim speeds into wheel angles, for encoders
    motor_noise: float = 0.0          # each channel x (1 + U(-a, a))
    holonomic: bool = False           # whether it can go aside; with <contact model="impulse"/> it can be pushed aside, too

    @property
    def channels(self) -> tuple[str, ...]:
        """A name for each number that it takes."""
        ...

    @property
    def limits(self) -> tuple[float, ...]:
        """The largest size of each; orders beyond it are cut."""
        ...

    @property
    def fastest(self) -> float:
        """m/s: the robot's own point, its origin, goes no faster."""
        ...

    def twist(self, channels: Floats) -> Floats:
        """vx, vy, turning rate (..., 3) that the channels (..., D) give; proportional to the channels that are rim speeds."""
        ...

    def steer(self, ahead: float, aside: float, turn: float) -> tuple[float, ...]:
        """Channels for wanted shares of the top speeds, each from -1 to 1: ahead, to the left, turning left."""
        ...

    def follow(self, twist: Floats) -> Floats:
        """Channels (..., D) for a wanted vx, vy, turning rate (..., 3): what `twist` turns back into it, as nearly as it can.

        As `twist` is proportional to rim speeds, it is a matrix J (3, D), and the channels are those of the least squares:

            u = J^+ (vx, vy, omega)
        A drive with angles among its channels has to say it itself; without that it follows shares of its top speeds, as
        `steer` has them. Limits are not looked at: see `within`.
        """
        twist = np.asarray(twist, np.float64)
        if all(self.rolls):
            jacobian = np.asarray(self.twist(np.eye(len(self.channels))), np.float64)  # (D, 3): the twist of each channel alone
            return np.asarray(twist @ np.linalg.pinv(jacobian))
        ahead, turn = tops(self)
        rows = [self.steer(vx / ahead if ahead else 0.0, 0.0, rate / turn if turn else 0.0)
                for vx, _, rate in twist.reshape(-1, 3)]
        return np.array(rows, np.float64).reshape(*twist.shape[:-1], len(self.channels))

    @property
    def rolls(self) -> tuple[bool, ...]:
        """Which channels are rim speeds in m/s of a wheel that rolls; the others are angles in rad."""
        return tuple(True for _ in self.channels)

    @property
    def lags(self) -> tuple[float, ...]:
        """s, time constant with which each channel follows its order; 0: at once."""
        return tuple(0.0 for _ in self.channels)

    @property
    def rates(self) -> tuple[float, ...]:
        """The largest change of each channel in a second."""
        return tuple(inf for _ in self.channels)


SAID = ("channels", "limits", "fastest", "twist", "steer")  # what `Drive` has no value for
OTHERS = ("rolls", "lags", "rates", "wheel_radius", "motor_noise", "holonomic", "follow")


def missing(drive: Any) -> str:
    """What an object lacks to be a drive, or has in the wrong number; nothing if it is one."""
    if isinstance(drive, type):
        return "it is a class, and not an object of it"
    for name in SAID:
        if not hasattr(drive, name) or getattr(type(drive), name, None) is vars(Drive)[name]:
            return f"it has no '{name}'"
    names = drive.channels
    if not (isinstance(names, tuple) and names and all(isinstance(name, str) for name in names)
            and len(set(names)) == len(names)):
        return "'channels' must be a tuple of names, each another one"
    for name in OTHERS:
        if not hasattr(drive, name):
            return f"it has no '{name}'"
    for name in ("limits", "rolls", "lags", "rates"):
        if np.shape(getattr(drive, name)) != (len(names),):
            return f"'{name}' must have one value for each of its {len(names)} channels"
    return _wrong_number(drive) or _wrong_twist(drive)


def _wrong_number(drive: Drive) -> str:
    given = (*drive.limits, *drive.lags, *drive.rates, drive.fastest, drive.wheel_radius, drive.motor_noise)
    if not all(isinstance(value, Real) for value in given):
        return "'limits', 'lags', 'rates', 'fastest', 'wheel_radius' and 'motor_noise' must be numbers"
    if not all(0.0 <= limit < inf for limit in drive.limits) or not 0.0 <= drive.fastest < inf:
        return "'limits' and 'fastest' must be finite numbers, none below 0"
    if not (all(0.0 <= lag < inf for lag in drive.lags) and all(rate > 0.0 for rate in drive.rates)):
        return "'lags' must not be below 0, nor infinite, and 'rates' must be above 0"
    if not 0.0 < drive.wheel_radius < inf or not 0.0 <= drive.motor_noise <= 1.0:
        return "'wheel_radius' must be above 0 m, and 'motor_noise' from 0 to 1"
    return ""


def _wrong_twist(drive: Drive) -> str:
    """Whether it takes arrays of any shape, and steers with as many numbers as it has channels."""
    count = len(drive.channels)
    for shape in ((1, count), (2, 1, count)):
        twist = np.asarray(drive.twist(np.zeros(shape)))
        if twist.shape != (*shape[:-1], 3) or twist.dtype.kind not in "iuf" or not np.isfinite(twist).all():
            return f"'twist' must give finite numbers (..., 3) for channels (..., {count})"
    steered = np.asarray(drive.steer(0.5, 0.0, 0.0))
    if steered.shape != (count,) or steered.dtype.kind not in "iuf" or not np.isfinite(steered).all():
        return f"'steer' must give a finite number for each of its {count} channels"
    return ""


def tops(drive: Drive) -> tuple[float, float]:
    """The largest speed ahead, m/s, and the largest turning rate, rad/s, that a driver can ask for."""
    def asked(ahead: float, turn: float) -> Floats:
        return np.abs(drive.twist(np.array(drive.steer(ahead, 0.0, turn), np.float64)))

    return float(asked(1.0, 0.0)[0]), float(max(asked(0.0, 1.0)[2], asked(1.0, 1.0)[2]))


def within(drive: Drive, channels: Floats) -> Floats:
    """Channels (..., D) within the drive's limits: angles are cut, and rim speeds are slowed down together, so that the robot
    drives the same curve."""
    limits, rolls = np.array(drive.limits), np.array(drive.rolls)
    angles = np.clip(channels, -limits, limits)
    if not rolls.any():
        return np.asarray(angles)
    over = np.abs(channels[..., rolls]) / np.maximum(limits[rolls], 1e-300)
    return np.where(rolls, channels / np.maximum(1.0, over.max(axis=-1, keepdims=True)), angles)


def cut(share: float) -> float:
    """A share between -1 and 1."""
    return max(-1.0, min(1.0, share))


__all__ = ["Drive", "Floats", "cut", "missing", "tops", "within"]
