"""What the laboratory asks of a drive."""

from __future__ import annotations

from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from formiga.units import CM

Floats = NDArray[np.float64]


class Drive(Protocol):
    """A class that inherits this has to say `channels`, `limits`, `fastest`, `twist` and `steer`; the rest has defaults."""

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
ASKED = (*SAID, "rolls", "lags", "rates", "wheel_radius", "motor_noise", "holonomic")


def missing(drive: Any) -> str:
    """What an object lacks to be a drive, or has in the wrong number; nothing if it is one."""
    for name in ASKED:
        if not hasattr(drive, name) or (name in SAID and getattr(type(drive), name, None) is vars(Drive)[name]):
            return f"it has no '{name}'"
    names = drive.channels
    if not (isinstance(names, tuple) and names and all(isinstance(name, str) for name in names)
            and len(set(names)) == len(names)):
        return "'channels' must be a tuple of names, each another one"
    for name in ("limits", "rolls", "lags", "rates"):
        if np.shape(getattr(drive, name)) != (len(names),):
            return f"'{name}' must have one value for each of its {len(names)} channels"
    if not all(0.0 <= limit < inf for limit in drive.limits) or not 0.0 <= drive.fastest < inf:
        return "'limits' and 'fastest' must be finite numbers, none below 0"
    if not (all(lag >= 0.0 for lag in drive.lags) and all(rate > 0.0 for rate in drive.rates)):
        return "'lags' must not be below 0, and 'rates' must be above 0"
    if np.shape(drive.twist(np.zeros((1, len(names))))) != (1, 3):
        return f"'twist' must give (..., 3) for channels (..., {len(names)})"
    return ""


def tops(drive: Drive) -> tuple[float, float]:
    """The largest speed ahead, m/s, and the largest turning rate, rad/s, that a driver can ask for."""
    def asked(ahead: float, turn: float) -> Floats:
        return np.abs(drive.twist(np.array(drive.steer(ahead, 0.0, turn), np.float64)))

    return float(asked(1.0, 0.0)[0]), float(max(asked(0.0, 1.0)[2], asked(1.0, 1.0)[2]))


def cut(share: float) -> float:
    """A share between -1 and 1."""
    return max(-1.0, min(1.0, share))


__all__ = ["Drive", "Floats", "cut", "missing", "tops"]
