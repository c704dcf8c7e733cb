"""Orders of a person as orders for the loop: shares of a drive's limits, and joints by name."""

from __future__ import annotations

import numpy as np

from formiga.control import Orders
from formiga.world.contract import Robot, channels, joint_names
from formiga.world.drives import Differential, Drive
from formiga.world.model import World

WHEELS = ("wheel_l", "wheel_r")              # names of the channels of two wheels
AXES = ("ahead", "aside", "turn")            # of `Drive.steer`
Shares = tuple[float, ...]                   # one for each channel of a drive, from -1 to 1 of its limit


def by_hand(world: World, drives: dict[int, Shares], told: dict[tuple[int, str], float]) -> dict[str, Orders] | None:
    """Group -> orders for robots that a person drives, NaN for all others; None if there are none.

    drives: robot -> a share for each channel of its drive; told: (robot, name of a joint) -> its order.
    """
    orders: dict[str, Orders] = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        mine = range(robots.start, robots.stop)
        driven = {robot: shares for robot, shares in drives.items() if robot in mine}
        moved = {at: value for at, value in told.items() if at[0] in mine}
        if not driven and not moved:
            continue
        drive = np.full((1, group.count, channels(group.robot)), np.nan)
        joints = np.full((1, group.count, len(group.robot.joints)), np.nan)
        for robot, shares in driven.items():
            drive[0, robot - robots.start] = np.array(shares) * group.robot.drive.limits
        for (robot, name), value in moved.items():
            joints[0, robot - robots.start, joint_names(group.robot).index(name)] = value
        orders[group.name] = Orders(drive if driven else None, joints if moved else None)
    return orders or None


def steered(drive: Drive, wish: dict[str, float]) -> Shares:
    """Shares of the channels of a drive that give these shares of its top speeds, by axis."""
    given = drive.steer(*(wish.get(axis, 0.0) for axis in AXES))
    return tuple(channel / limit for channel, limit in zip(given, drive.limits, strict=True))


def channel_names(robot: Robot) -> tuple[str, ...]:
    """What the channels of a robot's drive are called; none if it cannot be driven."""
    if isinstance(robot.drive, Differential):
        return WHEELS
    return robot.drive.channels if robot.drive else ()


def names(robot: Robot, joints: bool) -> tuple[str, ...]:
    """What a robot can be told by name: the channels of its drive, and in space its joints."""
    return (*channel_names(robot), *(joint_names(robot) if joints else ()))


__all__ = ["AXES", "Shares", "WHEELS", "by_hand", "channel_names", "names", "steered"]
