"""What engines know of the drives of a world, as arrays; and the motion that a twist gives.

The drives that ship have kernels. One of the user's own has none: its `twist` is asked in Python, before the kernels run.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, exp, inf, sin, tan
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.axes import sizes_of
from formiga.errors import WorldError
from formiga.geometry import TINY
from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.contract import wrong
from formiga.world.drives import Differential, Drive, Omni, Steered, missing
from formiga.world.elements import of, where
from formiga.world.model import World

TWO_WHEELS, LINEAR, BICYCLE, OWN = range(4)  # how channels become a twist; OWN: Python says it


class Drives(NamedTuple):
    """The drives of N robots with at most D channels. A robot without a drive is LINEAR with nothing in its matrix."""

    kind: Any            # (N,) TWO_WHEELS, LINEAR, BICYCLE or OWN
    count: Any           # (N,) channels
    base: Floats         # (N,) m between two wheels, or between the axles of a car
    radius: Floats       # (N,) m, of the wheels
    matrix: Floats       # (N, 3, D) a twist from rim speeds, if LINEAR
    rims: Floats         # (N, D, 3) rim speeds from a twist, if LINEAR
    rolls: Any           # (N, D) whether the channel is a rim speed; else it is an angle
    share: Floats        # (N, D) 1 - exp(-dt/T), of what a channel lacks to its order, that it gains in a step; 1: all of it
    most: Floats         # (N, D) by which it changes in a step, at most


@dataclass(frozen=True)
class Drivetrain:
    """The drives of a world as an engine's model has them."""

    table: Drives
    plain: bool                       # whether all robots have two wheels without lags, or no drive: the fast kernels serve
    lagging: bool                     # whether a channel follows its orders with a delay
    own: list[tuple[Drive, slice]]    # drives that have no kernel, with their robots


def drivetrain(world: World) -> Drivetrain:
    """The drives of a world's robots."""
    drives = [group.robot.drive for group in world.groups]
    lags = [drive is not None and (any(lag > 0.0 for lag in drive.lags) or any(rate < inf for rate in drive.rates))
            for drive in drives]
    own = [(drive, robots) for drive, robots in zip(drives, world.slices, strict=True)
           if drive is not None and _kind(drive) == OWN]
    return Drivetrain(_table(world), all(drive is None or _kind(drive) == TWO_WHEELS for drive in drives), any(lags), own)


def refuse_incomplete(*worlds: World) -> None:
    """WorldError if a robot or a drive is not what the laboratory asks of one."""
    robots = {id(group.robot): group for world in worlds for group in world.groups}  # each is looked at once
    for group in robots.values():
        if mistake := wrong(group.robot):
            raise WorldError(f"{where(group)}<{of(group.robot).tag}> is not as a robot has to be: {mistake}.")
        drive: Any = group.robot.drive
        if drive is not None and (lacks := missing(drive)):
            raise WorldError(f"{where(group)}the drive of <{of(group.robot).tag}>, {type(drive).__name__}, is not complete: "
                             f"{lacks}.")


def _kind(drive: Drive | None) -> int:
    # Exactly these classes: a subclass may have another twist.
    return {Differential: TWO_WHEELS, Omni: LINEAR, Steered: BICYCLE, type(None): LINEAR}.get(type(drive), OWN)


def _table(world: World) -> Drives:
    """The drives of a world's robots."""
    sizes = sizes_of(world)
    N, D = sizes["robot"], sizes["channel"]
    made = Drives(np.full(N, LINEAR), np.zeros(N, np.int64), np.ones(N), np.ones(N), np.zeros((N, 3, D)), np.zeros((N, D, 3)),
                  np.ones((N, D), np.bool_), np.ones((N, D)), np.full((N, D), np.inf))
    for group, robots in zip(world.groups, world.slices, strict=True):
        drive = group.robot.drive
        if drive is None:
            continue
        n = len(drive.channels)
        made.kind[robots], made.count[robots], made.radius[robots] = _kind(drive), n, drive.wheel_radius
        if isinstance(drive, Differential | Steered):
            made.base[robots] = drive.wheel_base if isinstance(drive, Differential) else drive.length
        elif isinstance(drive, Omni):
            made.matrix[robots, :, :n], made.rims[robots, :n] = drive.inverse, drive.jacobian
        made.rolls[robots, :n] = drive.rolls
        made.share[robots, :n] = [1.0 - exp(-world.dt / lag) if lag > 0.0 else 1.0 for lag in drive.lags]
        made.most[robots, :n] = np.multiply(drive.rates, world.dt)
    return made


def ask_own(own: list[tuple[Drive, slice]], drive: Floats, twist: Floats) -> None:
    """Fill twist (W, N, 3) of robots whose drive has no kernel, from their channels in drive (W, N, D)."""
    for each, robots in own:
        channels = drive[:, robots, : len(each.channels)].copy()  # it may do with them what it likes
        given, shape = np.asarray(each.twist(channels)), twist[:, robots].shape
        if given.shape != shape or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
            what = f"the shape {given.shape}" if given.shape != shape else "others"
            raise WorldError(f"the twist of {type(each).__name__} must be finite numbers of the shape {shape}; it has "
                             f"{what}.")
        twist[:, robots] = given


# -- kernels ----------------------------------------------------------------------------------------------------------
@kernel(inline="always")
def followed(now, order, share, most):
    """A channel after a step: a share of the way to its order, no further than `most`."""
    change = order - now
    if share < 1.0:
        change *= share
    elif abs(change) <= most:
        return order
    return now + min(most, max(-most, change))


@kernel(inline="always")
def follow_world(w, drives, orders, drive):
    """Channels drive (W, N, D) a step towards their orders (W, N, D)."""
    for i in range(drive.shape[1]):
        for k in range(drive.shape[2]):
            drive[w, i, k] = followed(drive[w, i, k], orders[w, i, k], drives.share[i, k], drives.most[i, k])


@kernel()
def follow_all(drives, orders, drive, done):
    """`follow_world` for every world that has not ended."""
    for w in range(drive.shape[0]):
        if not done[w]:
            follow_world(w, drives, orders, drive)


@kernel(inline="always")
def set_twist(w, i, drives, drive, twist):
    """The twist (W, N, 3) of one robot from its channels (W, N, D); that of an OWN drive is there already."""
    if drives.kind[i] == TWO_WHEELS:
        left, right = drive[w, i, 0], drive[w, i, 1]
        twist[w, i, 0], twist[w, i, 1], twist[w, i, 2] = 0.5 * (left + right), 0.0, (right - left) / drives.base[i]
    elif drives.kind[i] == BICYCLE:
        speed = drive[w, i, 0]
        twist[w, i, 0], twist[w, i, 1], twist[w, i, 2] = speed, 0.0, speed * tan(drive[w, i, 1]) / drives.base[i]
    elif drives.kind[i] == LINEAR:
        for row in range(3):
            total = 0.0
            for k in range(drives.count[i]):
                total += drives.matrix[i, row, k] * drive[w, i, k]
            twist[w, i, row] = total


@kernel()
def twist_all(drives, drive, twist):
    """`set_twist` for all robots of all worlds."""
    for w in range(drive.shape[0]):
        for i in range(drive.shape[1]):
            set_twist(w, i, drives, drive, twist)


@kernel()
def turn_all(drives, drive, dt, angle):
    """`turn_wheels` for all robots of all worlds."""
    for w in range(drive.shape[0]):
        for i in range(drive.shape[1]):
            turn_wheels(w, i, drives, drive, dt, angle)


@kernel(inline="always")
def turn_wheels(w, i, drives, drive, dt, angle):
    """Wheel angles (W, N, D) after a step: wheels that roll turn by their rim speeds, the others stand at their angles."""
    for k in range(drives.count[i]):
        if drives.rolls[i, k]:
            angle[w, i, k] += drive[w, i, k] * dt / drives.radius[i]
        else:
            angle[w, i, k] = drive[w, i, k]


@kernel()
def glide(heading, vx, vy, rate, dt):
    """Way and turn (dx, dy, turn) of a body whose twist is held for dt: the exact arc.

        turn = rate dt,   d = R(heading + turn/2) (vx, vy) dt sinc(turn/2)
    """
    turn = rate * dt
    half = 0.5 * turn
    stretch = dt * (sin(half + TINY) / (half + TINY))
    c, s = cos(heading + half), sin(heading + half)
    return stretch * (c * vx - s * vy), stretch * (s * vx + c * vy), turn


__all__ = ["BICYCLE", "Drives", "Drivetrain", "LINEAR", "OWN", "TWO_WHEELS", "ask_own", "drivetrain", "follow_all",
           "follow_world", "followed", "glide", "refuse_incomplete", "set_twist", "turn_all", "turn_wheels", "twist_all"]
