"""What the laboratory asks of a robot: small contracts, each with what it is if a class says nothing.

A robot is a frozen dataclass, registered as an element of role `robot`. It need not inherit anything: what its class leaves out
is added when it is registered, as the contracts have it. So every robot has every attribute below, and nothing asks whether it
has one.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, ClassVar, Protocol

from formiga.units import CM
from formiga.world.drives import Differential, Drive


@dataclass(frozen=True)
class Actuator:
    """The motor of one joint: its name, what it is told, and the range that it takes."""

    name: str
    mode: str = "velocity"      # 'position' rad or m; 'velocity' rad/s or m/s; 'torque' N m or N; 'switch': closed above 0.5
    low: float = -inf
    high: float = inf


class Body(Protocol):
    """A body on the floor."""

    radius: float                                            # m, of the circle around it
    height: float = 10.0 * CM
    mass: float = 0.0                                        # kg; 0: nothing can push it
    clearance: float = 0.0                                   # m; closer than this counts as a collision
    outline: tuple[tuple[float, float], ...] | None = None   # corners, counter-clockwise; None: a disc
    restitution: float = 0.0
    wall_restitution: float = 0.0
    friction: float = 1.0                                    # of its wheels on the floor, in space
    SPATIAL: ClassVar[bool] = False                          # whether it needs engine="spatial"


class Driven(Protocol):
    """A robot that a drive moves."""

    position_noise: float = 0.0
    heading_noise: float = 0.0
    motor_noise: float = 0.0
    motor_lag: float = 0.0                                   # s
    tyres: str = "nonholonomic"
    tyre_friction: float = 0.0

    @cached_property
    def drive(self) -> Drive | None:
        """Differential, for a robot with a wheel base; a robot without one has no drive, or says another."""
        if not hasattr(self, "wheel_base"):  # the one question that decides what a robot of few words is
            return None
        robot: Any = self
        return Differential(robot.wheel_base, robot.top_speed, robot.wheel_radius, robot.motor_noise)


class Jointed(Protocol):
    """A robot with joints that are told something."""

    joints: tuple[Actuator, ...] = ()


class Looks(Protocol):
    """What others see of it."""

    leds: int = 0                                            # lights in a ring
    colour: str = "#808080"


class Robot(Body, Driven, Jointed, Looks, Protocol):
    """All of it."""


def complete(cls: type) -> None:
    """Give a class what the contracts of a robot have and it leaves out."""
    own = {field.name for field in dataclasses.fields(cls)}
    for contract in Robot.__mro__:
        if contract.__module__ == __name__:
            for name, value in vars(contract).items():
                if not name.startswith("_") and name not in own and not hasattr(cls, name):
                    setattr(cls, name, value)


def channels(robot: Any) -> int:
    """How many numbers its drive takes."""
    return len(robot.drive.channels) if robot.drive else 0


def joint_names(robot: Any) -> tuple[str, ...]:
    """Of its joints, in the order of orders."""
    return tuple(joint.name for joint in robot.joints)


__all__ = ["Actuator", "Robot", "channels", "complete", "joint_names"]
