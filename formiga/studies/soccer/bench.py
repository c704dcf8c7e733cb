"""Small worlds to measure one thing on: robots, a ball, a few walls."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.loop import Simulation
from formiga.world.model import Contact, Group, World
from formiga.world.placement import At

HELD = 1e9  # s: with such a lag motors hold their wheels' speeds, and a robot is a body that flies
Pose = tuple[float, float, float]


def lab(*things: Any, robots: tuple[tuple[Any, Pose], ...] = (), dt: float = 0.033, worlds: int = 1,
        **contact: Any) -> Simulation:
    """Things, and robots that are groups of one: r0, r1, ...; contact: attributes of its <contact>."""
    groups = tuple(Group(robot, 1, f"r{k}", (At(*pose),)) for k, (robot, pose) in enumerate(robots))
    return Simulation(World(dt=dt, contact=Contact("impulse", **contact), things=things, groups=groups), 0, worlds)


def drive(simulation: Simulation, *speeds: Any) -> None:
    """One step, with rim speeds (left, right) or one for both wheels, for each robot."""
    shape = (simulation.state.worlds, 1, 2)
    simulation.step({f"r{k}": np.broadcast_to(np.asarray(speed, float), shape) for k, speed in enumerate(speeds)})


def touches(simulation: Simulation) -> Any:
    """The contacts (n, 7) of the last step of the first world."""
    return simulation.engine.contacts(simulation.model, simulation.state)
