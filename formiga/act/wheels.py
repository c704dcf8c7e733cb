"""Differential drive: what the motors make of the wheel speeds they are given."""

from __future__ import annotations

import numpy as np

from formiga.control import Orders, bad_order
from formiga.kernels import kernel
from formiga.noise import channel, either, stream
from formiga.sense import Readings
from formiga.state import Floats, State
from formiga.world.model import World

MOTORS = channel("motors")


def command(world: World, state: State, orders: dict[str, Orders], readings: Readings | None = None) -> Floats:
    """Rim speeds (W, N, 2): cut at the top speed, with each motor's noise. readings: what the orders were decided on."""
    wheels = np.zeros((state.worlds, world.robots, 2))
    for group, robots in zip(world.groups, world.slices, strict=True):
        if group.name in orders:
            bad = drive_motors(orders[group.name].wheels, robots.start, group.robot.top_speed, group.robot.motor_noise,
                               state.key, state.step, wheels)
            if bad >= 0:
                wrong = ~np.isfinite(orders[group.name].wheels[:, bad]).all(axis=-1)
                raise bad_order(group, int(np.argmax(wrong)), bad, readings)
    return wheels


@kernel()
def order_world(w, ordered, first, top, noise, key, step, wheels):
    """The motors of one group, as a stage that decides: 0, or 2 + the first robot whose order is not a finite number."""
    bad = motors_world(w, ordered, first, top, noise, key, step, wheels)
    return 0 if bad < 0 else 2 + bad


@kernel()
def stand_world(w, first, last, wheels):
    """Robots first .. last - 1 have no orders: they stand still."""
    for i in range(first, last):
        wheels[w, i, 0] = wheels[w, i, 1] = 0.0


@kernel()
def running_world(w, done, wheels):
    """A stage that decides: 1 where the world has ended, whose wheels then stand still."""
    if done[w]:
        for i in range(wheels.shape[1]):
            wheels[w, i, 0] = wheels[w, i, 1] = 0.0
        return 1
    return 0


@kernel()
def drive_motors(ordered, first, top, noise, key, step, wheels):
    """Fill wheels (W, N, 2) for one group. Returns the first robot whose order is not finite, or -1."""
    for w in range(ordered.shape[0]):
        bad = motors_world(w, ordered, first, top, noise, key, step, wheels)
        if bad >= 0:
            return bad
    return -1


@kernel(inline="always")
def motors_world(w, ordered, first, top, noise, key, step, wheels):
    """The same for one world."""
    bad = -1
    for i in range(ordered.shape[1]):
        for side in range(2):
            speed = ordered[w, i, side]
            if not np.isfinite(speed) and bad < 0:
                bad = i
            speed = min(top, max(-top, speed))
            if noise > 0.0:
                speed *= 1.0 + either(stream(key[w], first + i, step[w], MOTORS), side, noise)
            wheels[w, first + i, side] = speed
    return bad
