"""The description of a world. It never changes; what changes is in `state.py`.

Lengths in metres, angles in radians, times in seconds; x to the right, y up, z out of the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from formiga.errors import WorldError
from formiga.world.elements import (
    angle, choice, colour, element, flag, integer, length, name, number, numbers, where,
)


@element("arena", role="thing")
@dataclass(frozen=True)
class Arena:
    """The rectangle in which robots and obstacles are placed, with a wall around it."""

    width: float = length(above=0.0, doc="along x")
    depth: float = length(above=0.0, doc="along y")
    x: float = length(0.0, doc="of the centre")
    y: float = length(0.0, doc="of the centre")
    walls: bool = flag(True, doc="false: only a region for placement")
    height: float = length(0.1, above=0.0, doc="of the wall")


@element("wall", role="thing")
@dataclass(frozen=True)
class Wall:
    """A straight wall, or a chain of them through several points."""

    points: tuple[float, ...] = numbers(unit="m", fewest=4, group=2, doc="x0 y0 x1 y1 ...")
    height: float = length(0.1, above=0.0)
    name: str = name("wall")


@element("rectangle", role="thing")
@dataclass(frozen=True)
class Rectangle:
    """A rectangular obstacle."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    width: float = length(above=0.0, doc="along its own x")
    depth: float = length(above=0.0, doc="along its own y")
    heading: float = angle(0.0)
    height: float = length(0.1, above=0.0)
    name: str = name("rectangle")


@element("polygon", role="thing")
@dataclass(frozen=True)
class Polygon:
    """An obstacle with any closed outline."""

    points: tuple[float, ...] = numbers(unit="m", fewest=6, group=2, doc="x0 y0 x1 y1 x2 y2 ...; closed by itself")
    height: float = length(0.1, above=0.0)
    name: str = name("polygon")


@element("cylinder", role="thing")
@dataclass(frozen=True)
class Cylinder:
    """A round obstacle."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    radius: float = length(above=0.0)
    height: float = length(0.1, above=0.0)
    name: str = name("cylinder")


@element("cylinders", role="thing")
@dataclass(frozen=True)
class Cylinders:
    """Round obstacles scattered over the arena: drawn once from their own seed, the same in every run."""

    count: int = integer(least=0, most=1_000_000)
    radius: float = length(above=0.0)
    gap: float = length(0.0, least=0.0, doc="kept free between obstacles and to the walls")
    seed: int = integer(0, least=0)
    height: float = length(0.1, above=0.0)
    name: str = name("cylinders")


@element("lamp", role="thing")
@dataclass(frozen=True)
class Lamp:
    """A light that sensors may see. Data for now: light sensors come with a later release."""

    x: float = length()
    y: float = length()
    z: float = length(0.1, least=0.0)
    intensity: float = number(1.0, least=0.0)
    colour: str = colour("#ffffff")
    on: bool = flag(True)
    name: str = name("lamp")


@element("zone", role="thing")
@dataclass(frozen=True)
class Zone:
    """A painted part of the floor. Data for now: floor sensors come with a later release."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    radius: float = length(0.0, least=0.0, doc="of a disc; or give width and depth")
    width: float = length(0.0, least=0.0)
    depth: float = length(0.0, least=0.0)
    heading: float = angle(0.0)
    colour: str = colour("#808080")
    name: str = name("zone")

    def __post_init__(self) -> None:
        if (self.radius > 0.0) == (self.width > 0.0 and self.depth > 0.0):
            raise WorldError("<zone> is either a disc (radius) or a rectangle (width and depth).")


@element("contact", role="setting")
@dataclass(frozen=True)
class Contact:
    """What happens when robots touch something. [Vicentini & Tuci 2006, section 5]"""

    model: str = choice("reposition", options=("reposition", "stop", "none"),
                        doc="move apart, stay where it happened, or pass through")
    mode: str = choice("minimal", options=("minimal", "published"), doc="how far `reposition` moves a robot")
    crash_limit: int = integer(0, least=0, doc="crash steps that a robot may have; 0: no limit")
    at_limit: str = choice("end", options=("end", "die"), doc="the world ends, or only that robot stops for good")


@dataclass(frozen=True)
class Group:
    """Robots of one kind that share sensors and a controller. In a file: the robot's element, `<sbot count="10">`."""

    robot: Any                               # an element of role 'robot'
    count: int = 1
    name: str = ""                           # default: the robot's tag
    place: tuple[Any, ...] = ()              # elements of role 'placement'; default: scatter
    sensors: tuple[Any, ...] = ()
    controller: Any = None
    actuators: tuple[Any, ...] = ()


@dataclass(frozen=True)
class World:
    """Everything that is there before the first step."""

    name: str = "world"
    doc: str = ""                            # one line, for `formiga list worlds`
    dt: float = 0.1                          # control period, s
    seconds: float = 60.0                    # how long a run lasts if nobody says otherwise
    engine: str = "planar"
    contact: Contact = field(default_factory=Contact)
    things: tuple[Any, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def robots(self) -> int:
        """How many robots there are in all groups."""
        return sum(group.count for group in self.groups)

    @property
    def arena(self) -> Arena | None:
        """The arena, if the world has one."""
        return next((thing for thing in self.things if isinstance(thing, Arena)), None)

    def slices(self) -> list[slice]:
        """For each group, its robots in the arrays of the state."""
        ends, start = [], 0
        for group in self.groups:
            ends.append(slice(start, start + group.count))
            start += group.count
        return ends


__all__ = ["Arena", "Contact", "Cylinder", "Cylinders", "Group", "Lamp", "Polygon", "Rectangle", "Wall", "World",
           "Zone", "where"]
