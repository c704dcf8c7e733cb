"""Turns in space, as quaternions w x y z."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np


def upright(heading: float) -> Any:
    """A turn about the vertical, as w x y z."""
    return np.array([np.cos(0.5 * heading), 0.0, 0.0, np.sin(0.5 * heading)])


def yaw(quaternion: Any) -> Any:
    """The heading of a turn (..., 4): where it points the x axis, seen from above."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion), -1, 0)
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def turned(roll: float, pitch: float, yaw: float) -> Any:
    """About x, then about y, then about z, all of the world, as w x y z."""
    turn = np.empty(4)
    mujoco.mju_euler2Quat(turn, np.array([yaw, pitch, roll]), "zyx")
    return turn


def into(frame: Any, vector: Any) -> Any:
    """A vector of the world in a turned frame."""
    return turn(back(frame), vector)


def relative(frame: Any, turned_by: Any) -> Any:
    """A turn of the world in a turned frame."""
    out = np.empty(4)
    mujoco.mju_mulQuat(out, back(frame), turned_by)
    return out


def turn(quaternion: Any, vector: Any) -> Any:
    """A vector after a turn."""
    out = np.empty(3)
    mujoco.mju_rotVecQuat(out, np.asarray(vector, np.float64), quaternion)
    return out


def back(quaternion: Any) -> Any:
    """The turn the other way."""
    out = np.empty(4)
    mujoco.mju_negQuat(out, quaternion)
    return out


def at(pose: Any, local: Any) -> Any:
    """A point of a body, whose pose is x y z and a quaternion, in the world."""
    return pose[:3] + turn(pose[3:], local)
