"""8. Orders -> the one command that an engine takes: drives, joints, lights, sounds, messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.act.motors import drive_motors
from formiga.control import Orders, bad_order
from formiga.engine.command import Command
from formiga.sense import Readings
from formiga.state import Floats, State
from formiga.world.elements import discover
from formiga.world.model import World


def command(world: World, state: State, orders: dict[str, Orders], readings: Readings | None = None) -> Command:
    """The orders of all groups as one command. A drive without orders stands still; all else stays as it is.

    readings: from which the orders were decided, for a complaint about an order. The state is not changed.
    """
    return Command(_drive(world, state, orders, readings), _joints(world, state, orders), _leds(world, state, orders),
                   _messages(world, state, orders), _sound(world, state, orders))


def _drive(world: World, state: State, orders: dict[str, Orders], readings: Readings | None) -> Floats:
    """(W, N, D): each channel cut at its limit, with its motor's noise."""
    channels = np.zeros(state.drive.shape)
    for group, robots in zip(world.groups, world.slices, strict=True):
        drive = group.robot.drive
        if group.name not in orders or drive is None:
            continue
        told = orders[group.name].drive
        if told is None:
            continue
        bad = drive_motors(told, robots.start, drive.limits, drive.motor_noise, state.key, state.step, channels)
        if bad >= 0:
            wrong = ~np.isfinite(told[:, bad]).all(axis=-1)
            raise bad_order(group, int(np.argmax(wrong)), bad, readings)
    return channels


def _joints(world: World, state: State, orders: dict[str, Orders]) -> Floats | None:
    """(W, N, K), or None. An engine without joints gets none: a controller that was written for space drives in the plane."""
    told = {name: given.joints for name, given in orders.items() if given.joints is not None}
    return _over(world, state.joint_command, told) if told and state.joint_command.size else None


def _leds(world: World, state: State, orders: dict[str, Orders]) -> Any:
    """(W, N, L, 3), or None."""
    told = {name: given.leds for name, given in orders.items() if given.leds is not None}
    return _over(world, state.leds, told) if told else None


def _sound(world: World, state: State, orders: dict[str, Orders]) -> Floats | None:
    """(W, N, S, 2), or None."""
    told = {name: given.sound for name, given in orders.items() if given.sound is not None}
    return _over(world, state.sound, told) if told else None


def _messages(world: World, state: State, orders: dict[str, Orders]) -> Floats | None:
    """(W, N, X), cut at the limits of their links, or None."""
    if not world.media or all(given.message is None for given in orders.values()):
        return None
    now = state.outbox.copy()
    for group, robots in zip(world.groups, world.slices, strict=True):
        for link in group.links:
            told = orders[group.name].message if group.name in orders else None
            if told is not None and link.name in told:
                message = told[link.name]
                now[:, robots, world.media[link.name].columns] = message if link.limit is None else \
                    np.clip(message, -link.limit, link.limit)
    return now


def _over(world: World, before: Any, told: dict[str, Any]) -> Any:
    """A copy of `before` (W, N, columns ...) with the orders of some groups in their columns; NaN leaves a number as it was."""
    now = before.copy()
    for group, robots in zip(world.groups, world.slices, strict=True):
        if group.name in told:
            mine = now[:, robots, : told[group.name].shape[2]]
            mine[...] = np.where(np.isnan(told[group.name]), mine, told[group.name])
    return now


discover(__name__)

__all__ = ["command"]
