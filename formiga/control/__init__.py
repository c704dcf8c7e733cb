"""5. Readings -> orders. A controller is an element of role 'controller' with one method, `decide(view)`.

It works on arrays over (worlds, robots of its group) and returns wheel speeds (W, n, 2) in m/s at the rim, or an
`Orders` if it also sets lights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.control.view import Orders, View
from formiga.errors import WorldError
from formiga.noise import Noise
from formiga.sense import Readings
from formiga.state import State
from formiga.world.elements import discover, where
from formiga.world.model import Group, World


def decide_all(world: World, state: State, readings: Readings) -> dict[str, Orders]:
    """Everybody decides, on what was read before anybody moved."""
    decided = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        if group.controller is None:
            continue
        noise = Noise(state.key, state.step, robots, group.name, "<controller>")
        view = View(group, readings[group.name], state, robots, world.dt, noise)
        decided[group.name] = as_orders(group, state.worlds, group.controller.decide(view), where(group.controller))
    return decided


def as_orders(group: Group, worlds: int, given: Any, place: str = "") -> Orders:
    """Orders from what a controller returned or a caller gave, checked."""
    if type(given) is np.ndarray and given.dtype == np.float64 and given.shape == (worlds, group.count, 2):
        return Orders(given)
    orders = given if isinstance(given, Orders) else Orders(wheels=given)
    try:
        wheels = np.asarray(orders.wheels)
        if wheels.dtype.kind not in "iufb":
            raise TypeError
        wheels = wheels.astype(np.float64, copy=False)
    except (TypeError, ValueError) as wrong:
        raise WorldError(f"{place}the wheel speeds of '{group.name}' must be an array of numbers (worlds, robots, 2), not "
                         f"{type(orders.wheels).__name__}.") from wrong
    if wheels.shape != (worlds, group.count, 2):
        raise WorldError(f"{place}the wheel speeds of '{group.name}' must have the shape (worlds, robots, 2) = "
                         f"({worlds}, {group.count}, 2), not {wheels.shape}.")
    return Orders(wheels, orders.leds, orders.outputs)


discover(__name__)

__all__ = ["Orders", "View", "as_orders", "decide_all"]
