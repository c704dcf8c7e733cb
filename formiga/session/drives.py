"""Orders of a person as orders for the loop: shares of a drive's limits; joints, LEDs and loudspeakers by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from formiga.control import Orders
from formiga.world.contract import Robot, channels, joint_names
from formiga.world.drives import Differential, Drive
from formiga.world.model import Group, World, loudspeakers

WHEELS = ("wheel_l", "wheel_r")              # names of the channels of two wheels
AXES = ("ahead", "aside", "turn")            # of `Drive.steer`
COLOURS = ("red", "green", "blue")           # of all LEDs of a robot; red_1 is that of the first
SOUND = ("sound", "frequency")               # of the first loudspeaker, in m^2 and Hz; sound_2 is that of the second
Shares = tuple[float, ...]                   # one for each channel of a drive, from -1 to 1 of its limit


def by_hand(world: World, drives: dict[int, Shares], told: dict[tuple[int, str], float]) -> dict[str, Orders] | None:
    """Group -> orders for robots that a person drives, NaN for all others; None if there are none.

    drives: robot -> a share for each channel of its drive; told: (robot, name of a joint, a light or a sound) -> its order.
    """
    orders: dict[str, Orders] = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        mine = range(robots.start, robots.stop)
        driven = {robot: shares for robot, shares in drives.items() if robot in mine}
        ordered = {at: value for at, value in told.items() if at[0] in mine}
        if not driven and not ordered:
            continue
        part = {"drive": np.full((1, group.count, channels(group.robot)), np.nan),
                "joints": np.full((1, group.count, len(group.robot.joints)), np.nan),
                "leds": np.full((1, group.count, group.robot.leds, 3), np.nan),
                "sound": np.full((1, group.count, loudspeakers(group), 2), np.nan)}
        for robot, shares in driven.items():
            part["drive"][0, robot - robots.start] = np.array(shares) * group.robot.drive.limits
        places = named(group)
        for (robot, name), value in sorted(ordered.items(), key=lambda each: each[0][1] not in COLOURS):  # all LEDs first
            which, where = places[name]
            part[which][0, robot - robots.start][where] = np.rint(255.0 * value) if which == "leds" else value
        orders[group.name] = Orders(**{which: values for which, values in part.items() if np.isfinite(values).any()})
    return orders or None


def named(group: Group) -> Mapping[str, tuple[str, tuple[int | slice, ...]]]:
    """Name -> the part of `Orders` that it is in, and where: joints, LEDs and loudspeakers."""
    robot, found = group.robot, dict[str, tuple[str, tuple[int | slice, ...]]]()
    for k, name in enumerate(joint_names(robot)):
        found[name] = "joints", (k,)
    for colour, name in enumerate(COLOURS):
        if robot.leds:
            found.setdefault(name, ("leds", (slice(None), colour)))
        for light in range(robot.leds):
            found.setdefault(f"{name}_{light + 1}", ("leds", (light, colour)))
    for speaker in range(loudspeakers(group)):
        for k, name in enumerate(SOUND):
            found.setdefault(name if speaker == 0 else f"{name}_{speaker + 1}", ("sound", (speaker, k)))
    return found


def steered(drive: Drive, wish: dict[str, float]) -> Shares:
    """Shares of the channels of a drive that give these shares of its top speeds, by axis."""
    given = drive.steer(*(wish.get(axis, 0.0) for axis in AXES))
    return tuple(channel / limit for channel, limit in zip(given, drive.limits, strict=True))


def channel_names(robot: Robot) -> tuple[str, ...]:
    """What the channels of a robot's drive are called; none if it cannot be driven."""
    if isinstance(robot.drive, Differential):
        return WHEELS
    return robot.drive.channels if robot.drive else ()


def names(group: Group, joints: bool) -> tuple[str, ...]:
    """What a robot of a group can be told by name: the channels of its drive, in space its joints, its LEDs, its sounds."""
    own = channel_names(group.robot)
    return (*own, *(name for name, (part, _) in named(group).items() if (joints or part != "joints") and name not in own))


def shown(known: tuple[str, ...]) -> list[str]:
    """Names for a message: single LEDs are its first and its last."""
    single = [name for name in known if name.rpartition("_")[0] in COLOURS]
    rest = [name for name in known if name not in single]
    return [*rest, f"{single[0]} to {single[-1]}"] if single else rest


def limits(group: Group, name: str) -> tuple[float, float]:
    """What an order by that name may be: -1 to 1 for a channel, 0 to 1 for a light, not below 0 for a sound."""
    if name in channel_names(group.robot):
        return -1.0, 1.0
    part = named(group).get(name, ("joints",))[0]
    return {"leds": (0.0, 1.0), "sound": (0.0, np.inf)}.get(part, (-np.inf, np.inf))


__all__ = ["AXES", "Shares", "WHEELS", "by_hand", "channel_names", "limits", "names", "shown", "steered"]
