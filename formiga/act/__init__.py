"""6. Orders -> what the engine takes, and what others can see."""

from __future__ import annotations

from formiga.act.leds import light
from formiga.act.outputs import checked, tell
from formiga.act.wheels import command
from formiga.control import Orders
from formiga.sense import Readings
from formiga.state import Floats, State
from formiga.world.elements import discover
from formiga.world.model import World


def act_all(world: World, state: State, orders: dict[str, Orders], readings: Readings | None = None) -> Floats:
    """Set lights and further motors, and return the wheel speeds (W, N, 2) of all robots; who has no orders stands still.

    readings: what the orders were decided on, for a complaint about an order.
    """
    light(world, state, orders)
    tell(world, state, orders)
    return command(world, state, orders, readings)


discover(__name__)

__all__ = ["act_all", "checked"]
