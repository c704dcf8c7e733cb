"""Small worlds in space, and how to run them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from formiga.loop import Simulation
from formiga.state import Floats, Grip
from formiga.units import CM
from formiga.world.contract import joint_names
from formiga.world.model import Group, World
from formiga.world.placement import At
from formiga.world.robots.sbot import SBot

DT = 0.1
APART = 13.6 * CM       # centres of two s-bots of which one can grip the other: 11.6 cm touch, 13.8 cm are out of reach
TOP = SBot().top_speed
GRIP = joint_names(SBot()).index("grip")
ARM = joint_names(SBot()).index("arm")


def world(poses: Iterable[tuple[float, float, float]], things: tuple[Any, ...] = (), settings: tuple[Any, ...] = (),
          sensors: tuple[Any, ...] = (), **robot: Any) -> World:
    """S-bots without a controller at these places (x, y, heading); the group is called 'r'."""
    place = tuple(At(x=x, y=y, heading=heading) for x, y, heading in poses)
    return World(name="swarmbot3d", engine="spatial", dt=DT, things=things, settings=settings,
                 groups=(Group(robot=SBot(**robot), count=len(place), name="r", place=place, sensors=sensors),))


def drive(simulation: Simulation, wheels: Any, seconds: float) -> list[str]:
    """Hold wheel speeds (robots, 2) or one for all wheels, in m/s; what happened meanwhile, in words."""
    robots = simulation.world.robots
    speeds = np.broadcast_to(np.asarray(wheels, np.float64), (1, robots, 2)).copy()
    said: list[str] = []
    for _ in range(round(seconds / DT)):
        simulation.step({"r": speeds})
        said += [f"{event.time:.1f} s: {event.text}" for event in simulation.engine.events(simulation.model, simulation.state)]
    return said


def grip(simulation: Simulation, *robots: int, closed: bool = True) -> None:
    """Tell grippers to close, or to open."""
    simulation.state.joint_command[:, list(robots), GRIP] = 1.0 if closed else 0.0


def holds(simulation: Simulation, robot: int) -> bool:
    """Whether a robot holds something."""
    return bool(simulation.state.grips[0, robot, Grip.MODE] != 0.0)


def height(simulation: Simulation) -> Floats:
    """Of the robots' feet over z = 0 (robots,) in m."""
    return np.asarray(simulation.state.bodies[0, simulation.model.chassis, 2], np.float64)
