"""7. Readings -> orders. A controller is an element of role 'controller' with one method, `decide(view)`.

It works on arrays over (worlds, robots of its group) and returns `Orders`, or numbers for the drive alone: of robots on two
wheels the speeds (W, n, 2) in m/s at the rim.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from formiga.control.orders import Orders, as_orders, bad_order, merge, merge_all, refuse_message, settle
from formiga.control.programs import Programs
from formiga.control.view import View, view_of
from formiga.sense import Readings
from formiga.state import State
from formiga.world.contract import channels
from formiga.world.elements import discover, where
from formiga.world.model import World

LAST_DRIVE = "<drive>"  # name of a controller's memory


def decide_all(world: World, state: State, readings: Readings, programs: Programs | None = None) -> dict[str, Orders]:
    """Orders of all groups with a controller, from readings of before the step.

    programs: those outside that may be asked; None: groups that one drives stand still.
    """
    decided = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        if group.controller is None:
            continue
        outside = None
        if group.controller.outside and programs is not None:
            outside = programs.driver(group, state.worlds, world.dt, readings[group.name])
        view = view_of(world, state, group, robots, readings[group.name], outside)
        decision = group.controller.decide(view)
        orders = as_orders(group, state.worlds, decision, where(group.controller), open=group.controller.outside)
        held = not (group.controller.kernels or group.controller.outside or group.robot.drive is None)
        decided[group.name] = _held(view, orders) if held else orders
    return decided


def _held(view: View, orders: Orders) -> Orders:
    """Orders with a drive: where it is None, what the controller ordered last; at the start the robots stand still.

    That is the order and not `state.drive`, which is what became of it: cut, noisy, and on its way where a drive has a lag.
    """
    last = view.memory(LAST_DRIVE, np.zeros((*view.shape, channels(view.group.robot))))
    if orders.drive is None:
        return replace(orders, drive=last.copy())
    last[...] = orders.drive
    return orders


discover(__name__)

__all__ = ["Orders", "Programs", "View", "as_orders", "bad_order", "decide_all", "merge", "merge_all", "refuse_message",
           "settle", "view_of"]
