"""Drives move robots: exact arcs, no masses. [Vicentini & Tuci 2006, section 4]

`drive_world` serves worlds in which all robots have two wheels, `move_world` those with any drives; where both can do it, they
give the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formiga.engine.drives import TWO_WHEELS, ask_own, follow_all, follow_world, glide, set_twist, turn_wheels
from formiga.engine.planar.contact import STOP
from formiga.geometry import arc
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import channel, either, stream
from formiga.state import Floats, State

if TYPE_CHECKING:
    from formiga.engine.planar.pipeline import Model

MOTION = channel("motion")


def motors(model: Model, state: State, told: Floats) -> None:
    """The drives follow what they are told (W, N, D): at once, or with their lags."""
    if model.drives.lagging:
        follow_all(model.drives.table, told, state.drive, state.done)
    else:
        state.drive[...] = told  # no inertia: a wheel turns as it is told
    ask_own(model.drives.own, state.drive, state.scratch.twist)


def move(model: Model, state: State) -> None:
    """Move all robots as their drives do."""
    scratch, table = state.scratch, model.drives.table
    if model.drives.plain:
        drive_all(state.drive, model.dt, model.contact == STOP, table.base, table.radius, model.position_noise,
                  model.heading_noise, model.noisy, state.position, state.heading, scratch.before, state.wheel_angle,
                  state.alive, state.crashed, state.done, state.step, state.key)
    else:
        move_all(table, state.drive, scratch.twist, model.dt, model.contact == STOP, model.position_noise, model.heading_noise,
                 model.noisy, state.position, state.heading, scratch.before, state.wheel_angle, state.alive, state.crashed,
                 state.done, state.step, state.key)


def stages(model: Model, state: State) -> list[Stage]:
    """What `motors` and `move` do after the orders, as stages of a compiled program."""
    scratch, table = state.scratch, model.drives.table
    period = model.dt, model.contact == STOP
    robots = (model.position_noise, model.heading_noise, model.noisy, state.position, state.heading, scratch.before,
              state.wheel_angle, state.alive, state.crashed, state.step, state.key)
    if model.drives.plain:
        return [Stage(drive_world, (state.drive, *period, table.base, table.radius, *robots))]
    follow = [Stage(follow_world, (table, scratch.orders, state.drive))] if model.drives.lagging else []
    return [*follow, Stage(move_world, (table, state.drive, scratch.twist, *period, *robots))]


# -- kernels ----------------------------------------------------------------------------------------------------------
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
