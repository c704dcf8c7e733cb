"""A laboratory of a few s-bots, without walls, for the rows of the study."""

from __future__ import annotations

from typing import Any

from formiga.loop import Simulation
from formiga.world.model import Contact, Group, World
from formiga.world.placement import At
from formiga.world.robots import SBot


def bench(sensors: tuple[Any, ...] = (), things: tuple[Any, ...] = (), worlds: int = 1, robots: int = 1, mode: str = "none",
          robot: Any = None) -> Simulation:
    """S-bots in a row, without walls; the caller puts them where it wants."""
    contact = Contact(model="none") if mode == "none" else Contact(mode=mode)
    place = tuple(At(10.0 + 0.3 * number, 10.0, 0.0) for number in range(robots))
    group = Group(robot or SBot(), robots, "swarm", place, sensors)
    return Simulation(World(contact=contact, things=things, groups=(group,)), worlds=worlds)


def put(simulation: Simulation, centres: Any, heading: Any = 0.0) -> None:
    """Move the robots; centres in metres (worlds, robots, 2)."""
    simulation.state.position[...] = centres
    simulation.state.heading[...] = heading
    simulation.look_again()
