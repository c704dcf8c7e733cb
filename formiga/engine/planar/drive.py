"""Drives move robots: exact arcs, no masses. [Vicentini & Tuci 2006, section 4]

`drive_world` serves worlds in which all robots have two wheels, `move_world` those with any drives; where both can do it, they
give the same bits.
"""

from __future__ import annotations

from formiga.engine.drives import TWO_WHEELS, glide, set_twist, turn_wheels
from formiga.geometry import arc
from formiga.kernels import kernel
from formiga.noise import channel, either, stream

MOTION = channel("motion")


@kernel(inline="always")
def drive_world(w, wheels, dt, frozen, wheel_base, wheel_radius, position_noise, heading_noise, noisy, position, heading,
                before, turned, alive, crashed, step, key):
    """Move every robot of world w along its arc. Dead robots stay; crashed ones too if `frozen`."""
    for i in range(position.shape[1]):
        x, y = position[w, i, 0], position[w, i, 1]
        before[w, i, 0], before[w, i, 1] = x, y
        if not alive[w, i] or (frozen and crashed[w, i]):
            wheels[w, i, 0] = wheels[w, i, 1] = 0.0
            continue
        left, right = wheels[w, i, 0], wheels[w, i, 1]
        dx, dy, turn = arc(heading[w, i], left, right, wheel_base[i], dt)
        if noisy:
            start = stream(key[w], i, step[w], MOTION)
            factor = 1.0 + either(start, 0, position_noise[i])
            dx, dy, turn = dx * factor, dy * factor, turn * (1.0 + either(start, 1, heading_noise[i]))
        position[w, i, 0], position[w, i, 1] = x + dx, y + dy
        heading[w, i] += turn
        turned[w, i, 0] += left * dt / wheel_radius[i]
        turned[w, i, 1] += right * dt / wheel_radius[i]


@kernel()
def drive_all(wheels, dt, frozen, wheel_base, wheel_radius, position_noise, heading_noise, noisy, position, heading,
              before, turned, alive, crashed, done, step, key):
    """`drive_world` for every world that has not ended."""
    for w in range(position.shape[0]):
        if done[w]:
            wheels[w] = 0.0
        else:
            drive_world(w, wheels, dt, frozen, wheel_base, wheel_radius, position_noise, heading_noise, noisy, position,
                        heading, before, turned, alive, crashed, step, key)


@kernel(inline="always")
def move_world(w, drives, wheels, twist, dt, frozen, position_noise, heading_noise, noisy, position, heading, before, turned,
               alive, crashed, step, key):
    """The same for any drives (`engine.drives.Drives`); wheels (W, N, D) are channels, twist (W, N, 3) what they give."""
    for i in range(position.shape[1]):
        x, y = position[w, i, 0], position[w, i, 1]
        before[w, i, 0], before[w, i, 1] = x, y
        if not alive[w, i] or (frozen and crashed[w, i]):
            for k in range(wheels.shape[2]):
                wheels[w, i, k] = 0.0
            twist[w, i, 0] = twist[w, i, 1] = twist[w, i, 2] = 0.0
            continue
        set_twist(w, i, drives, wheels, twist)
        if drives.kind[i] == TWO_WHEELS:
            dx, dy, turn = arc(heading[w, i], wheels[w, i, 0], wheels[w, i, 1], drives.base[i], dt)
        else:
            dx, dy, turn = glide(heading[w, i], twist[w, i, 0], twist[w, i, 1], twist[w, i, 2], dt)
        if noisy:
            start = stream(key[w], i, step[w], MOTION)
            factor = 1.0 + either(start, 0, position_noise[i])
            dx, dy, turn = dx * factor, dy * factor, turn * (1.0 + either(start, 1, heading_noise[i]))
        position[w, i, 0], position[w, i, 1] = x + dx, y + dy
        heading[w, i] += turn
        turn_wheels(w, i, drives, wheels, dt, turned)


@kernel()
def move_all(drives, wheels, twist, dt, frozen, position_noise, heading_noise, noisy, position, heading, before, turned, alive,
             crashed, done, step, key):
    """`move_world` for every world that has not ended."""
    for w in range(position.shape[0]):
        if done[w]:
            wheels[w] = 0.0
            twist[w] = 0.0
        else:
            move_world(w, drives, wheels, twist, dt, frozen, position_noise, heading_noise, noisy, position, heading, before,
                       turned, alive, crashed, step, key)
