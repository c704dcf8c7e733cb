"""A robot on three omnidirectional wheels at 0, 120 and 240 degrees: its kinematics, and what its filter needs of them.

All arrays have any leading axes. V (..., 3) are rim speeds in m/s; heading is theta.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import numpy as np

from formiga.state import Floats

L = 0.09                  # m, of the wheels from the middle  [SimTwo, the authors' simulator: its omni3 file]
WHEEL_RADIUS = 0.04       # m  [the same]
SUB_STEPS = 4             # of the numerical integration over one control period: ours
SHARE, FLOOR = 0.10, 0.005  # and m/s: standard deviation of a rim speed is 0.10 |V| + 0.005: ours
SIN, COS = sin(pi / 3.0), cos(pi / 3.0)


def wheels_of(twist: Any, heading: Any, distance: float = L) -> Floats:
    """Rim speeds (..., 3) of velocities Vx, Vy, omega (..., 3) in the frame of the world.

        V1 = -sin(theta) Vx        + cos(theta) Vy        + L omega                            [Goncalves et al. 2009, eq. 13]
        V2 = -sin(pi/3 - theta) Vx - cos(pi/3 - theta) Vy + L omega
        V3 =  sin(pi/3 + theta) Vx - cos(pi/3 + theta) Vy + L omega
    """
    (vx, vy, turn), heading = np.moveaxis(np.asarray(twist, np.float64), -1, 0), np.asarray(heading, np.float64)
    below, above = pi / 3.0 - heading, pi / 3.0 + heading
    return np.stack([-np.sin(heading) * vx + np.cos(heading) * vy + distance * turn,
                     -np.sin(below) * vx - np.cos(below) * vy + distance * turn,
                     np.sin(above) * vx - np.cos(above) * vy + distance * turn], axis=-1)


def inverse(heading: Any, distance: float = L) -> Floats:
    """J (..., 3, 3): Vx, Vy, omega = J V.

        vx' = (V3 - V2) / (2 sin(pi/3)),  vy' = (2 V1 - V2 - V3) / (2 (1 + cos(pi/3))),  omega = (V1 + V2 + V3) / (3 L)
        Vx = cos(theta) vx' - sin(theta) vy',  Vy = sin(theta) vx' + cos(theta) vy'
    Reconstructed: the text's own inverse cannot be read.
    """
    heading = np.asarray(heading, np.float64)
    c, s, ahead, aside = np.cos(heading), np.sin(heading), 0.5 / SIN, 0.5 / (1.0 + COS)
    out = np.empty((*heading.shape, 3, 3))
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = -2.0 * aside * s, -ahead * c + aside * s, ahead * c + aside * s
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = 2.0 * aside * c, -ahead * s - aside * c, ahead * s - aside * c
    out[..., 2, :] = 1.0 / (3.0 * distance)
    return out


def twist_of(wheels: Any, heading: Any, distance: float = L) -> Floats:
    """Vx, Vy, omega (..., 3) of rim speeds (..., 3)."""
    return np.asarray(np.einsum("...ij,...j->...i", inverse(heading, distance), np.asarray(wheels, np.float64)))


def moved(pose: Any, wheels: Any, period: float, distance: float = L, steps: int = SUB_STEPS) -> Floats:
    """Poses (..., 3) after a time with constant rim speeds, by Euler's method in so many steps."""
    pose = np.array(pose, np.float64)
    for _ in range(steps):
        pose = pose + (period / steps) * twist_of(wheels, pose[..., 2], distance)
    return pose


def rate_jacobian(wheels: Any, heading: Any) -> Floats:
    """A (..., 3, 3): how the velocities change with the pose. All but A13 and A23 is 0.

        A13 = -sin(theta)/(2 sin(pi/3)) (V3 - V2) + cos(theta)/(2 (1 + cos(pi/3))) (V2 + V3 - 2 V1)
        A23 =  cos(theta)/(2 sin(pi/3)) (V3 - V2) + sin(theta)/(2 (1 + cos(pi/3))) (V2 + V3 - 2 V1)
                                                    [Goncalves et al. 2009, eq. 15; the wheel speeds are reconstructed]
    """
    (v1, v2, v3), heading = np.moveaxis(np.asarray(wheels, np.float64), -1, 0), np.asarray(heading, np.float64)
    c, s = np.cos(heading), np.sin(heading)
    ahead, aside = (v3 - v2) / (2.0 * SIN), (v2 + v3 - 2.0 * v1) / (2.0 * (1.0 + COS))
    out = np.zeros((*np.broadcast_shapes(c.shape, v1.shape), 3, 3))
    out[..., 0, 2], out[..., 1, 2] = -s * ahead + c * aside, c * ahead + s * aside
    return out


def transition(wheels: Any, heading: Any, period: float) -> Floats:
    """Phi = exp(A T) = I + A T: A squared is 0.                                      [Goncalves et al. 2009, eq. 16, 17]"""
    return np.asarray(np.eye(3) + period * rate_jacobian(wheels, heading))


def motion_noise(wheels: Any, heading: Any, period: float, distance: float = L) -> Floats:
    """Q = J diag(((0.10 |V_i| + 0.005) T)^2) J^T (..., 3, 3): ours, the text does not say it."""
    sigma = (SHARE * np.abs(np.asarray(wheels, np.float64)) + FLOOR) * period
    spread = inverse(heading, distance) * sigma[..., None, :]
    return np.asarray(spread @ np.swapaxes(spread, -1, -2))


__all__ = ["L", "WHEEL_RADIUS", "inverse", "motion_noise", "moved", "rate_jacobian", "transition", "twist_of", "wheels_of"]
