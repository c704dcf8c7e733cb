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
from formiga.world.elements import discover, of, where
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


def bad_order(group: Group, world: int, robot: int, readings: Readings | None) -> WorldError:
    """The complaint about a wheel speed that is not a finite number: of the sensor first, if it read such a number itself."""
    ordered = f"the controller of '{group.name}' ordered a wheel speed that is not a number, for robot {robot}."
    for test in (np.isnan, np.isinf):
        for sensor in group.sensors:
            reading = (readings or {}).get(group.name, {}).get(sensor.name)
            if reading is not None and reading.dtype.kind == "f" and (found := test(reading[world, robot])).any():
                value = reading[world, robot][found].flat[0]
                return WorldError(f"{where(sensor)}the sensor '{sensor.name}' (<{of(sensor).tag}>) of '{group.name}' read "
                                  f"{value} for robot {robot}, and {ordered}")
    return WorldError(f"{where(group.controller)}{ordered}")


discover(__name__)

__all__ = ["Orders", "View", "as_orders", "bad_order", "decide_all"]
