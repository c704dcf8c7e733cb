"""7. Readings -> orders. A controller is an element of role 'controller' with one method, `decide(view)`.

It works on arrays over (worlds, robots of its group) and returns `Orders`, or numbers for the drive alone: of robots on two
wheels the speeds (W, n, 2) in m/s at the rim.
"""

from __future__ import annotations

from formiga.control.orders import Orders, as_orders, bad_order, merge, merge_all, settle
from formiga.control.view import View
from formiga.noise import Noise
from formiga.sense import Readings
from formiga.state import State
from formiga.world.elements import discover, where
from formiga.world.model import World


def decide_all(world: World, state: State, readings: Readings) -> dict[str, Orders]:
    """Orders of all groups with a controller, from readings of before the step."""
    decided = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        if group.controller is None:
            continue
        noise = Noise(state.key, state.step, robots, group.name, "<controller>")
        view = View(group, readings[group.name], state, robots, world.dt, noise)
        decided[group.name] = as_orders(group, state.worlds, group.controller.decide(view), where(group.controller))
    return decided


discover(__name__)

__all__ = ["Orders", "View", "as_orders", "bad_order", "decide_all", "merge", "merge_all", "settle"]
