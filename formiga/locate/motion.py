"""Motion models: where particles may be after the odometry has moved. Each particle gets an error of its own.

    differential(particles, before, after, errors, starts)     # turn, way, turn [Thrun, Burgard & Fox 2005, table 5.6]
    omni(particles, before, after, errors, starts)             # way ahead, way aside, turn
    follow(pose, before, after)                                # one pose, without errors

particles (..., P, 3) are changed in place; before, after (..., 3): poses by odometry; starts (...): where the random numbers of
each filter begin (`formiga.noise`). count (...): only so many of the particles are moved, all by default.
"""

from __future__ import annotations

from math import atan2, cos, hypot, log, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.geometry import wrap, wrapped
from formiga.kernels import kernel
from formiga.locate.checked import cloud_to_change, counted, started
from formiga.noise import unit

STILL = 1e-3    # m, of a way: a shorter one has no direction


class TurnErrors(NamedTuple):
    """Standard deviations of a robot that turns, drives ahead and turns: square roots of the book's alpha 1 to 4."""

    turn_of_turn: float = 0.1     # rad of each rad
    turn_of_way: float = 0.02     # rad of each m
    way_of_way: float = 0.05      # m of each m
    way_of_turn: float = 0.01     # m of each rad


class GlideErrors(NamedTuple):
    """Standard deviations of a robot that goes in any direction."""

    way_of_way: float = 0.05      # m of each m, along and across
    way_of_turn: float = 0.01     # m of each rad
    turn_of_turn: float = 0.1     # rad of each rad
    turn_of_way: float = 0.02     # rad of each m


def differential(particles: Any, before: Any, after: Any, errors: TurnErrors, starts: Any, count: Any = None) -> None:
    """Sample p(x' | x, odometry): the odometry's turn, way and turn, each with an error.

        rot1 = atan2(y' - y, x' - x) - heading,   way = |(x', y') - (x, y)|,   rot2 = heading' - heading - rot1
        rot  ~ N(rot, (a1 rot)^2 + (a2 way)^2),   way ~ N(way, (a3 way)^2 + (a4 rot1)^2 + (a4 rot2)^2)
                                                                        [Thrun, Burgard & Fox 2005, table 5.6]
    A robot that drives backwards turns little: the error of a turn counts from the nearer of ahead and astern.
    """
    _run(differential_all, particles, before, after, errors, starts, count)


def omni(particles: Any, before: Any, after: Any, errors: GlideErrors, starts: Any, count: Any = None) -> None:
    """Sample p(x' | x, odometry) for a drive that can go aside: the way in the robot's frame and the turn, with errors.

        (ahead, aside) = R(-heading) (x' - x, y' - y),   turn = heading' - heading,   way = |(ahead, aside)|
        ahead, aside ~ N(., (b1 way)^2 + (b2 turn)^2),   turn ~ N(turn, (b3 turn)^2 + (b4 way)^2)
    """
    _run(omni_all, particles, before, after, errors, starts, count)


def follow(pose: Any, before: Any, after: Any) -> Any:
    """Where a pose (..., 3) is after the odometry went from before (..., 3) to after (..., 3), without errors.

        x' = x + (after - before)  seen in the robot's frame:   pose (+) (before^-1 (+) after)
    """
    pose, before, after = (np.asarray(each, np.float64) for each in (pose, before, after))
    return seated(pose, relative(before, after))


def seated(pose: Any, offset: Any) -> Any:
    """The pose (..., 3) of what sits at an offset (..., 3), x y heading, in the frame of a pose (..., 3)."""
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y = pose[..., 0] + c * offset[..., 0] - s * offset[..., 1], pose[..., 1] + s * offset[..., 0] + c * offset[..., 1]
    return np.stack([x, y, wrap(pose[..., 2] + offset[..., 2])], axis=-1)


def relative(pose: Any, other: Any) -> Any:
    """Another pose (..., 3) in the frame of a pose (..., 3): the inverse of `seated`."""
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    dx, dy = other[..., 0] - pose[..., 0], other[..., 1] - pose[..., 1]
    return np.stack([c * dx + s * dy, c * dy - s * dx, wrap(other[..., 2] - pose[..., 2])], axis=-1)


def _run(move: Any, particles: Any, before: Any, after: Any, errors: Any, starts: Any, count: Any) -> None:
    flat, lead = cloud_to_change(particles)
    many = counted(count, lead, flat.shape[1])
    poses = [np.array(np.broadcast_to(each, (*lead, 3)), np.float64).reshape(-1, 3) for each in (before, after)]
    if not all(np.isfinite(each).all() for each in poses):
        raise ValueError("before and after must be finite numbers: without odometry particles cannot be moved")
    move(flat, many, *poses, tuple(map(float, errors)), started(starts, lead))


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel()
def normals(start, index):
    """Two independent standard normal numbers, by Box and Muller from numbers 2 index and 2 index + 1 of a stream."""
    far, way = sqrt(-2.0 * log(1.0 - unit(start, 2 * index))), 2.0 * pi * unit(start, 2 * index + 1)
    return far * cos(way), far * sin(way)


@kernel()
def differential_all(particles, count, before, after, errors, starts):
    """`differential` for filters (F, P, 3)."""
    for f in range(particles.shape[0]):
        rot1, way, rot2 = turn_way_turn(before[f, 0], before[f, 1], before[f, 2], after[f, 0], after[f, 1], after[f, 2])
        if way == 0.0 and rot1 == 0.0 and rot2 == 0.0:
            continue
        off1, off2 = min(abs(rot1), pi - abs(rot1)), min(abs(rot2), pi - abs(rot2))
        first = sqrt((errors[0] * off1) ** 2 + (errors[1] * way) ** 2)
        last = sqrt((errors[0] * off2) ** 2 + (errors[1] * way) ** 2)
        along = sqrt((errors[2] * way) ** 2 + errors[3] ** 2 * (off1 * off1 + off2 * off2))
        for p in range(count[f]):
            one, other = normals(starts[f], 2 * p)
            third, _ = normals(starts[f], 2 * p + 1)
            heading = particles[f, p, 2] + rot1 + first * one
            far = way + along * other
            particles[f, p, 0] += far * cos(heading)
            particles[f, p, 1] += far * sin(heading)
            particles[f, p, 2] = wrapped(heading + rot2 + last * third)


@kernel()
def turn_way_turn(x, y, heading, nx, ny, nheading):
    """The turn, the way and the turn that bring one pose to another; a way too short to have a direction is one turn."""
    way = hypot(nx - x, ny - y)
    if way < STILL:
        return 0.0, way, wrapped(nheading - heading)
    rot1 = wrapped(atan2(ny - y, nx - x) - heading)
    return rot1, way, wrapped(nheading - heading - rot1)


@kernel()
def omni_all(particles, count, before, after, errors, starts):
    """`omni` for filters (F, P, 3)."""
    for f in range(particles.shape[0]):
        dx, dy, turn = after[f, 0] - before[f, 0], after[f, 1] - before[f, 1], wrapped(after[f, 2] - before[f, 2])
        way = hypot(dx, dy)
        if way == 0.0 and turn == 0.0:
            continue
        c, s = cos(before[f, 2]), sin(before[f, 2])
        ahead, aside = c * dx + s * dy, c * dy - s * dx
        off = sqrt((errors[0] * way) ** 2 + (errors[1] * turn) ** 2)
        spin = sqrt((errors[2] * turn) ** 2 + (errors[3] * way) ** 2)
        for p in range(count[f]):
            one, other = normals(starts[f], 2 * p)
            third, _ = normals(starts[f], 2 * p + 1)
            a, b = ahead + off * one, aside + off * other
            c, s = cos(particles[f, p, 2]), sin(particles[f, p, 2])
            particles[f, p, 0] += c * a - s * b
            particles[f, p, 1] += s * a + c * b
            particles[f, p, 2] = wrapped(particles[f, p, 2] + turn + spin * third)


__all__ = ["GlideErrors", "TurnErrors", "differential", "follow", "omni", "relative", "seated"]
