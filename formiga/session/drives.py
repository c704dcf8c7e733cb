"""Robots that somebody drives: shares of their top speed -> wheel speeds for the loop; and their further motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.world.model import World

WHEELS = ("wheel_l", "wheel_r")


def wheels(world: World, drives: dict[int, tuple[float, float]]) -> dict[str, Any] | None:
    """Group -> speeds (1, robots, 2) in m/s, NaN for those who drive themselves; None if all do.

    drives: robot -> left and right, from -1 to 1.
    """
    told: dict[str, Any] = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        for robot, shares in drives.items():
            if robots.start <= robot < robots.stop:
                speeds = told.setdefault(group.name, np.full((1, group.count, 2), np.nan))
                speeds[0, robot - robots.start] = np.array(shares) * group.robot.top_speed
    return told or None


def names(robot: Any, spatial: bool) -> tuple[str, ...]:
    """What a robot can be told by name: its two wheels, and in space its further motors."""
    return (*WHEELS * bool(getattr(robot, "wheels", WHEELS)), *(getattr(robot, "outputs", ()) if spatial else ()))


def outputs(world: World, told: dict[tuple[int, str], float]) -> dict[str, Any] | None:
    """Group -> outputs (1, robots, K), NaN for those that nobody tells anything; None if nobody does.

    told: (robot, name of a motor) -> what it is told.
    """
    given: dict[str, Any] = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        for (robot, name), value in told.items():
            if robots.start <= robot < robots.stop:
                motors = group.robot.outputs
                values = given.setdefault(group.name, np.full((1, group.count, len(motors)), np.nan))
                values[0, robot - robots.start, motors.index(name)] = value
    return given or None


def merged(told: dict[str, Any] | None, by_hand: dict[str, Any] | None) -> dict[str, Any] | None:
    """Speeds that a supervisor asks for, and over them those of robots that are driven by hand."""
    both = dict(told or {})
    for name, speeds in (by_hand or {}).items():
        both[name] = np.where(np.isnan(speeds), both[name], speeds) if name in both else speeds
    return both or None


__all__ = ["WHEELS", "merged", "names", "outputs", "wheels"]
