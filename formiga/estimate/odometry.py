"""Dead reckoning: where the wheels alone would have brought the robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, pi
from typing import Any, ClassVar

import numpy as np

from formiga.drawing import Pen
from formiga.engine.drives import glide
from formiga.errors import WorldError
from formiga.estimate.view import RobotView
from formiga.geometry import arc
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import stream, unit
from formiga.sense.encoders import in_ticks
from formiga.state import Floats
from formiga.world.drives import Differential
from formiga.world.elements import element, integer, name, number, where


@element("odometry", role="estimator")
@dataclass(frozen=True)
class Odometry:
    """Pose reckoned from the wheels alone: true at the start, then it drifts with slip, collisions and ticks.

    Each robot keeps errors of its own, drawn at the start: ways are (1 + U(-way_error, way_error)) times as long as they are,
    turns (1 + U(-turn_error, turn_error)) times.
    """

    ticks: int = integer(0, least=0, doc="per turn of a wheel; 0: exact")
    way_error: float = number(0.0, least=0.0, most=0.9, doc="the most by which a robot over- or underrates ways")
    turn_error: float = number(0.0, least=0.0, most=0.9, doc="the same of turns")
    name: str = name("odometry")

    locates: ClassVar[bool] = True

    def estimate(self, view: RobotView) -> Floats:
        """Poses (W, n, 3): x, y in m, heading in rad."""
        drive = view.group.robot.drive
        if drive is None:
            raise WorldError(f"{where(self)}<odometry> reckons from wheels; the robots of '{view.group.name}' have no drive.")
        pose = view.memory("pose", view._here)  # of the start, or of now if it is added to a world that runs
        angle = in_ticks(view.wheel_angle, self.ticks)
        last, scale = view.memory("angle", angle), self._scale(view)
        if isinstance(drive, Differential):
            reckon(pose, (angle - last) * drive.wheel_radius, drive.wheel_base, scale)
        else:  # the twist of ways instead of speeds is a way, too
            ways = np.where(drive.rolls, (angle - last) * drive.wheel_radius, angle)
            reckon_twist(pose, np.ascontiguousarray(drive.twist(ways)) * scale[..., [0, 0, 1]])
        last[...] = angle
        return pose.copy()

    def _scale(self, view: RobotView) -> Floats:
        """By what each robot multiplies ways and turns, (W, n, 2)."""
        drawn = 2.0 * view.noise.uniform(0.0, 1.0, 2, "errors") - 1.0
        return np.asarray(view.memory("scale", 1.0 + drawn * (self.way_error, self.turn_error)))

    def draw(self, view: RobotView, pen: Pen) -> None:
        """Where the robots would be if their wheels were right."""
        pen.pose(view.reading(self.name))

    def stages(self, view: RobotView) -> Any:
        """The same as a kernel, for two wheels; other drives have none."""
        drive = view.group.robot.drive
        if not isinstance(drive, Differential):
            return None
        pose, last = view.memory("pose", view._here), view.memory("angle", in_ticks(view.wheel_angle, self.ticks))
        out = np.empty((*view.shape, 3))
        return out, [Stage(odometry_world, (*view.start_source(), view.wheel_angle, self.ticks, drive.wheel_radius,
                                            drive.wheel_base, self.way_error, self.turn_error, *view.noise.source("errors"),
                                            pose, last, self._scale(view), out))]


@kernel()
def odometry_world(w, step, start, angle, ticks, radius, base, way_error, turn_error, keys, steps, first, channel, pose, last,
                   scale, out):
    """Poses pose (W, n, 3) of world w advanced by how far each wheel turned (W, n, 2) since `last`, and copied into `out`."""
    for i in range(pose.shape[1]):
        if step[w] == 0:
            pose[w, i, 0], pose[w, i, 1], pose[w, i, 2] = start[w, i, 0], start[w, i, 1], start[w, i, 2]
        left, right = in_ticks_of(angle[w, i, 0], ticks), in_ticks_of(angle[w, i, 1], ticks)
        if step[w] == 0:
            last[w, i, 0], last[w, i, 1] = left, right
            drawn = stream(keys[w], first + i, steps[w], channel)
            scale[w, i, 0] = 1.0 + (2.0 * unit(drawn, 0) - 1.0) * way_error
            scale[w, i, 1] = 1.0 + (2.0 * unit(drawn, 1) - 1.0) * turn_error
        reckon_robot(w, i, pose, (left - last[w, i, 0]) * radius, (right - last[w, i, 1]) * radius, base, scale)
        last[w, i, 0], last[w, i, 1] = left, right
        for c in range(3):
            out[w, i, c] = pose[w, i, c]


@kernel()
def in_ticks_of(angle, ticks):
    """One angle rounded down to whole ticks: `in_ticks` in a kernel."""
    return angle if ticks == 0 else floor(angle * (ticks / (2.0 * pi))) * (2.0 * pi / ticks)


@kernel()
def reckon(pose, rolled, base, scale):
    """Advance poses (W, n, 3) by how far each wheel rolled (W, n, 2), along the arc of `drive`; scale (W, n, 2) multiplies ways
    and turns."""
    for w in range(pose.shape[0]):
        for i in range(pose.shape[1]):
            reckon_robot(w, i, pose, rolled[w, i, 0], rolled[w, i, 1], base, scale)


@kernel()
def reckon_robot(w, i, pose, left, right, base, scale):
    """The same for one robot."""
    more, aside = (scale[w, i, 0] - 1.0) * 0.5 * (left + right), (scale[w, i, 1] - 1.0) * 0.5 * (right - left)
    dx, dy, turn = arc(pose[w, i, 2], left + more - aside, right + more + aside, base, 1.0)
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
