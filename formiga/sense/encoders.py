"""What the wheels tell: how far they turned, and where that would have brought the robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from formiga.geometry import arc
from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.elements import element, integer, name

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("encoders", role="sensor")
@dataclass(frozen=True)
class Encoders:
    """Angle of the left and the right wheel since the start, in whole ticks."""

    ticks: int = integer(0, least=0, doc="per turn of a wheel; 0: exact")
    name: str = name("encoders")

    def read(self, scene: SensorView) -> Floats:
        """Angles (W, n, 2) in rad."""
        return in_ticks(scene.state.wheel_angle[:, scene.robots], self.ticks)


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
        last = scene.memory("angle", in_ticks(state.wheel_angle[:, robots], self.ticks))
        angle = in_ticks(state.wheel_angle[:, robots], self.ticks)
        reckon(pose, (angle - last) * robot.wheel_radius, robot.wheel_base)
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
