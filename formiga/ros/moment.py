"""What is true of a run after a step, as arrays, for the messages that are made of it. Only the first world is looked at.

Frames as ROS users expect them (REP 105): `map` is the world; `<robot>/odom` is where the robot's own account of its way began,
and `<robot>/base_link` its body, x ahead, y to the left, z up. A robot with an `<odometry>` estimator is in its odom frame
where it believes to be; the drift stands between map and odom. Any other knows its pose.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from formiga.estimate.odometry import Odometry
from formiga.geometry import PLACE, TURN, about_z, conjugate, multiply, rotate
from formiga.loop import Simulation
from formiga.state import Floats
from formiga.world.model import Group


class Moment:
    """One step of a run. What no message needs is not computed."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation, self.world = simulation, simulation.world
        self.model, self.state = simulation.model, simulation.state
        self.step = int(self.state.step[0])
        self.seconds = self.step * self.world.dt

    @cached_property
    def stamp(self) -> dict[str, int]:
        """The simulated time, with the names of ROS 1 and of ROS 2."""
        nanoseconds = round(self.seconds * 1e9)
        whole, rest = divmod(nanoseconds, 1_000_000_000)
        return {"secs": whole, "nsecs": rest, "sec": whole, "nanosec": rest}

    @cached_property
    def truth(self) -> Floats:
        """Poses (N, 7) in `map`: x y z, and a quaternion w x y z."""
        if self.model.poses:
            return np.asarray(self.state.bodies[0, self.model.chassis])
        return level(self.state.position[0], self.state.heading[0])

    @cached_property
    def believed(self) -> Floats:
        """Poses (N, 7) in each robot's odom frame."""
        poses = self.truth
        for group, robots in zip(self.world.groups, self.world.slices, strict=True):
            if (odometry := odometry_of(group)) is not None:
                belief = self.reading(group, odometry.name)
                poses = poses.copy() if poses is self.truth else poses
                poses[robots] = level(belief[:, :2], belief[:, 2])
        return poses

    @cached_property
    def drift(self) -> Floats:
        """Poses (N, 7) of the odom frames in `map`: the true pose after the inverse of the believed one."""
        turn = multiply(self.truth[:, TURN], conjugate(self.believed[:, TURN]))
        return np.concatenate([self.truth[:, PLACE] - rotate(turn, self.believed[:, PLACE]), turn], axis=1)

    @cached_property
    def twist(self) -> Floats:
        """(N, 3) vx, vy in m/s and turning rate in rad/s, in the robot's own frame, as its drive moved it."""
        return np.asarray(self.simulation.engine.twist(self.model, self.state)[0])

    def reading(self, group: Group, name: str) -> Any:
        """What the robots of a group read (n, ...)."""
        return self.simulation.readings[group.name][name][0]


def level(place: Any, heading: Any) -> Floats:
    """Poses (n, 7) on the floor, from places (n, 2) and headings (n,)."""
    return np.concatenate([place, np.zeros((len(place), 1)), about_z(heading)], axis=1)


def odometry_of(group: Group) -> Odometry | None:
    """The first <odometry> of a group."""
    return next((each for each in group.estimators if isinstance(each, Odometry)), None)


__all__ = ["Moment", "level", "odometry_of"]
