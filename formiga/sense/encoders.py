"""What the wheels say: how far they turned, and where that would have brought the robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.engine.drives import glide
from formiga.errors import WorldError
from formiga.geometry import arc
from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.contract import channels
from formiga.world.drives import Differential
from formiga.world.elements import element, integer, name, where

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("encoders", role="sensor")
@dataclass(frozen=True)
class Encoders:
    """Angle of each wheel since the start, in whole ticks.

    One for each channel of the drive: left and right of a differential one. A channel that is an angle, such as the steering of
    a car, reads as it is.
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


@element("odometry", role="sensor")
@dataclass(frozen=True)
class Odometry:
    """Pose reckoned from the wheels alone: true at the start, then it drifts with slip, collisions and ticks."""

    ticks: int = integer(0, least=0, doc="per turn of a wheel; 0: exact")
    name: str = name("odometry")

    def read(self, scene: SensorView) -> Floats:
        """Poses (W, n, 3): x, y in m, heading in rad."""
        state, robots, robot = scene.state, scene.robots, scene.group.robot
        here = np.concatenate([state.position[:, robots], state.heading[:, robots, None]], axis=-1)
        pose = scene.memory("pose", here)
        drive = robot.drive
        if drive is None:
            raise WorldError(f"{where(self)}<odometry> reckons from wheels; the robots of '{scene.group.name}' have no drive.")
        angle = in_ticks(state.wheel_angle[:, robots, : len(drive.channels)], self.ticks)
        last = scene.memory("angle", angle)
        if isinstance(drive, Differential):
            reckon(pose, (angle - last) * drive.wheel_radius, drive.wheel_base)
        else:  # the twist of ways instead of speeds is a way, too
            ways = np.where(drive.rolls, (angle - last) * drive.wheel_radius, angle)
            reckon_twist(pose, np.ascontiguousarray(drive.twist(ways)))
        last[...] = angle
        return pose.copy()


def in_ticks(angle: Floats, ticks: int) -> Floats:
    """Angles rounded down to whole ticks."""
    return angle.copy() if ticks == 0 else np.floor(angle * (ticks / (2.0 * pi))) * (2.0 * pi / ticks)


@kernel()
def reckon(pose, rolled, base):
    """Advance poses (W, n, 3) by how far each wheel rolled (W, n, 2), along the arc of `drive`."""
    for w in range(pose.shape[0]):
        for i in range(pose.shape[1]):
            dx, dy, turn = arc(pose[w, i, 2], rolled[w, i, 0], rolled[w, i, 1], base, 1.0)
            pose[w, i, 0] += dx
            pose[w, i, 1] += dy
            pose[w, i, 2] += turn


@kernel()
def reckon_twist(pose, twist):
    """The same by twists (W, n, 3) that were held for one unit of time."""
    for w in range(pose.shape[0]):
        for i in range(pose.shape[1]):
            dx, dy, turn = glide(pose[w, i, 2], twist[w, i, 0], twist[w, i, 1], twist[w, i, 2], 1.0)
            pose[w, i, 0] += dx
            pose[w, i, 1] += dy
            pose[w, i, 2] += turn
