"""Lights around a robot, as state: whoever looks can see them in the next step."""

from __future__ import annotations

import numpy as np

from formiga.control import Orders
from formiga.errors import WorldError
from formiga.state import State
from formiga.world.elements import where
from formiga.world.model import World


def light(world: World, state: State, orders: dict[str, Orders]) -> None:
    """Set the lights of the groups whose orders say so."""
    for group, robots in zip(world.groups, world.slices, strict=True):
        if group.name not in orders or orders[group.name].leds is None:
            continue
        lights = getattr(group.robot, "leds", 0)
        colours = np.asarray(orders[group.name].leds)
        if colours.dtype.kind not in "iuf" or not ((colours >= 0) & (colours <= 255)).all():
            raise WorldError(f"{where(group.controller)}the lights of '{group.name}' must be numbers from 0 to 255.")
        try:
            colours = np.broadcast_to(colours, (state.worlds, group.count, lights, 3))
            state.leds[~state.done, robots, :lights] = colours[~state.done]
        except ValueError as wrong:
            raise WorldError(f"{where(group.controller)}the lights of '{group.name}' must have the shape "
                             f"(worlds, robots, {lights}, 3), not {colours.shape}.") from wrong
