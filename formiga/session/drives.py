"""Robots that somebody drives: shares of their top speed -> wheel speeds for the loop; and their further motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.control import Orders
from formiga.world.contract import channels, joint_names
from formiga.world.model import World

WHEELS = ("wheel_l", "wheel_r")


def by_hand(world: World, drives: dict[int, tuple[float, float]], told: dict[tuple[int, str], float]) -> dict[str, Orders] | None:
    """Group -> orders for robots that a person drives, NaN for all others; None if there are none.

    drives: robot -> left and right, from -1 to 1; told: (robot, name of a joint) -> its order.
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
            drive[0, robot - robots.start] = np.array(shares) * group.robot.top_speed
        for (robot, name), value in moved.items():
            joints[0, robot - robots.start, joint_names(group.robot).index(name)] = value
        orders[group.name] = Orders(drive if driven else None, joints if moved else None)
    return orders or None


def names(robot: Any, joints: bool) -> tuple[str, ...]:
    """What a robot can be told by name: its two wheels, and in space its further motors."""
    return (*WHEELS * bool(getattr(robot, "wheels", WHEELS)), *(joint_names(robot) if joints else ()))


__all__ = ["WHEELS", "by_hand", "names"]
