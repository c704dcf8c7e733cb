"""The description of a world. It never changes; what changes is in `state.py`.

Lengths in metres, angles in radians, times in seconds; x to the right, y up, z out of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from formiga.errors import WorldError, suggest
from formiga.map.grid import Grid
from formiga.units import MM
from formiga.world.beacons import Beacons
from formiga.world.elements import (
    angle,
    check,
    choice,
    colour,
    duration,
    element,
    file,
    flag,
    integer,
    kinds_of,
    length,
    made_of,
    name,
    number,
    numbers,
    of,
    origin,
    speed,
    text,
    where,
)
from formiga.world.field import Field
from formiga.world.floor import Floor
from formiga.world.ground import Hole, Physics, Platform, Ramp, Terrain
from formiga.world.maps import Map
from formiga.world.movables import MOVABLES, Ball, Block, Pin, Puck, Weld
from formiga.world.page import Alias, Bind, Camera
from formiga.world.placement import At
from formiga.world.solids import Joint, Material, Motor, Render, Solid, Touch, Trigger, motors_of
from formiga.world.sources import Switched

MOST_CYLINDERS = 1_000_000  # of all <cylinders> together


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
    material: str | None = made_of("in space: a <material>; default: `shell`, as robots are")


@element("wall", role="thing")
@dataclass(frozen=True)
class Wall:
    """A straight wall, or a chain of them through several points."""

    points: tuple[float, ...] = numbers(unit="m", fewest=4, group=2, doc="x0 y0 x1 y1 ...")
    height: float = length(0.1, above=0.0)
    name: str = name("wall")
    on: bool = flag(True, doc="false: as if it were not there; the laboratory can switch it")
    material: str | None = made_of("in space: a <material>; default: `shell`, as robots are")


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
    on: bool = flag(True, doc="false: as if it were not there; the laboratory can switch it")
    material: str | None = made_of("in space: a <material>; default: `shell`, as robots are")


@element("polygon", role="thing")
@dataclass(frozen=True)
class Polygon:
    """An obstacle with any closed outline."""

    points: tuple[float, ...] = numbers(unit="m", fewest=6, group=2, doc="x0 y0 x1 y1 x2 y2 ...; closed by itself")
    height: float = length(0.1, above=0.0)
    name: str = name("polygon")
    on: bool = flag(True, doc="false: as if it were not there; the laboratory can switch it")
    material: str | None = made_of("in space: a <material>; default: `shell`, as robots are")


@element("cylinder", role="thing")
@dataclass(frozen=True)
class Cylinder:
    """A round obstacle."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    radius: float = length(above=0.0)
    height: float = length(0.1, above=0.0)
    name: str = name("cylinder")
    on: bool = flag(True, doc="false: as if it were not there; the laboratory can switch it")
    material: str | None = made_of("in space: a <material>; default: `shell`, as robots are")


@element("cylinders", role="thing")
@dataclass(frozen=True)
class Cylinders:
    """Round obstacles scattered over the arena: drawn once from their own seed, the same in every run."""

    count: int = integer(least=0, most=MOST_CYLINDERS)
    radius: float = length(above=0.0)
    gap: float = length(0.0, least=0.0, doc="kept free between obstacles and to the walls")
    seed: int = integer(0, least=0)
    height: float = length(0.1, above=0.0)
    name: str = name("cylinders")
    on: bool = flag(True, doc="false: as if it were not there; the laboratory can switch it")
    material: str | None = made_of("in space: a <material>; default: `shell`, as robots are")


@element("lamp", role="thing")
@dataclass(frozen=True)
class Lamp(Switched):
    """A light that <light> sensors see, unless something stands in between that is high enough."""

    x: float = length()
    y: float = length()
    z: float = length(0.1, least=0.0, doc="above the floor")
    intensity: float = number(0.25, least=0.0, doc="in m^2; a sensor sums intensity / distance^2, so 1 at 0.5 m")
    colour: str = colour("#ffffff")
    on: bool = flag(True, doc="false: it does not shine; the laboratory can switch it")
    name: str = name("lamp")


@element("zone", role="thing")
@dataclass(frozen=True)
class Zone:
    """A painted part of the floor, which <ground reads="grey"> and <ground reads="colour"> see.

    Of two that overlap, the later one covers the other.
    """

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    radius: float = length(0.0, least=0.0, doc="of a disc; or give width and depth")
    width: float = length(0.0, least=0.0)
    depth: float = length(0.0, least=0.0)
    heading: float = angle(0.0)
    colour: str = colour("#808080")
    name: str = name("zone")
    on: bool = flag(True, doc="false: as if it were not there; the laboratory can switch it")

    def __post_init__(self) -> None:
        if (self.radius > 0.0) == (self.width > 0.0 and self.depth > 0.0):
            raise WorldError("<zone> is either a disc (radius) or a rectangle (width and depth).")


@element("contact", role="setting")
@dataclass(frozen=True)
class Contact:
    """What happens when robots touch something. [Vicentini & Tuci 2006, section 5; Klancar et al. 2003, for impulse]"""

    model: str = choice("reposition", options=("reposition", "stop", "impulse", "none"),
                        doc="move apart, stay where it happened, hit and push as bodies with masses do, or pass through")
    mode: str = choice("minimal", options=("minimal", "published"), doc="how far `reposition` moves a robot")
    crash_limit: int = integer(0, least=0, doc="crashes that a robot may have; 0: no limit")
    at_limit: str = choice("end", options=("end", "die"), doc="the world ends, or only that robot stops for good")
    counts: str = choice("steps", options=("steps", "objects"),
                         doc="a crash is a step with a collision, or each object collided with, in each round of `reposition`")
    substep: float = duration(0.005, above=0.0, doc="`impulse` moves bodies by no more than this at once")
    threshold: float = length(0.5 * MM, above=0.0, doc="`impulse`: bodies closer than this touch")
    rest_speed: float = speed(0.02, least=0.0, doc="`impulse`, and in space: bodies that meet slower than this do not bounce")
    rounds: int = integer(20, least=1, most=1000, doc="`impulse`: how often the impacts of one moment are gone through")
    friction: float = number(0.0, least=0.0, doc="`impulse`: coefficient between bodies that touch, and with walls; S2 has 0")

    def __post_init__(self) -> None:
        if self.counts == "objects" and self.model == "impulse":
            raise WorldError("<contact> counts: 'objects' counts in the rounds of reposition, and what stop finds; with model "
                             "'impulse' a crash is a step: counts=\"steps\".")


PARTS = {"placement": "place", "sensor": "sensors", "link": "links", "estimator": "estimators",
         "actuator": "actuators"}  # role -> the field of a Group that holds what has it, in the order of a file


@dataclass(frozen=True)
class Group:
    """Robots of one kind that share sensors and a controller. In a file: the robot's element, `<sbot count="10">`."""

    robot: Any                               # an element of role 'robot'
    count: int = integer(None, least=1, most=1_000_000, doc="how many robots; default: one, or one for each <at>")
    name: str = name("", doc="of the group; default: the robot's tag")
    place: tuple[Any, ...] = ()              # one element of role 'placement', or several <at>; default: scatter
    sensors: tuple[Any, ...] = ()
    controller: Any = None
    actuators: tuple[Any, ...] = ()
    links: tuple[Any, ...] = ()
    estimators: tuple[Any, ...] = ()         # in the order in which they estimate
    material: str | None = made_of("in space: a <material> of the body; default: `shell`, with its own restitutions")
    wheel_material: str | None = made_of("in space: a <material> of the wheels; default: none, with its own friction")

    def __post_init__(self) -> None:
        tag = _role("robot", (self.robot,))[0]
        places = sum(isinstance(rule, At) for rule in self.place)
        object.__setattr__(self, "count", self.count if self.count is not None else places or 1)
        object.__setattr__(self, "name", self.name or tag)
        check(self, tag, kinds_of(Group))
        for role, part in PARTS.items():
            object.__setattr__(self, part, tuple(getattr(self, part)))
            _role(role, getattr(self, part))
        _role("controller", () if self.controller is None else (self.controller,))
        if len(self.place) > 1 and places < len(self.place):
            second = next((rule for rule in self.place[1:] if not isinstance(rule, At)), self.place[1])
            _refuse_second("placement", self.place[0], second, "Only <at> may be given more than once")
        if places and places != self.count:
            raise WorldError(f"{where(self.place[0])}{places} <at> for {self.count} <{tag}>; "
                             "give as many as robots, or leave 'count' out.")
        leds = [part for part in self.actuators if of(part).tag == "leds"]
        only_one(leds)
        if leds and not self.robot.leds:
            raise WorldError(f"{where(leds[0])}<leds>: a <{tag}> has no LEDs.")
        _unique("sensor", self.sensors)
        _unique("sensor, link or estimator", self.sources)

    @cached_property
    def sources(self) -> tuple[Any, ...]:
        """All that gives readings, in the order of a step: sensors, links, estimators."""
        return *self.sensors, *self.links, *self.estimators

    @cached_property
    def outside(self) -> bool:
        """Whether a program outside drives it."""
        return self.controller is not None and bool(self.controller.outside)

    @cached_property
    def carried(self) -> dict[str, tuple[Any, ...]]:
        """What stands in its element, by role."""
        parts = {role: tuple(getattr(self, part)) for role, part in PARTS.items()}
        return parts | {"controller": () if self.controller is None else (self.controller,)}

    def carrying(self, role: str, parts: Sequence[Any]) -> Group:
        """The same group with other parts of one role."""
        if role == "controller":
            return replace(self, controller=next(iter(parts), None))
        changed: dict[str, Any] = {PARTS[role]: tuple(parts)}
        return replace(self, **changed)


class Medium(NamedTuple):
    """The medium of links of one name: their messages are these columns of the state's array `outbox`."""

    first: int
    numbers: int

    @property
    def columns(self) -> slice:
        """Of the outbox."""
        return slice(self.first, self.first + self.numbers)


@dataclass(frozen=True)
class World:
    """Everything that is there before the first step."""

    name: str = name("world")
    doc: str = text("", doc="one line, for `formiga list worlds`")
    dt: float = duration(0.1, above=0.0, doc="the control period")
    seconds: float = duration(60.0, above=0.0, doc="how long a run lasts by default")
    engine: str = choice("planar", options=("planar", "spatial"), doc="2D, or 3D")
    contact: Contact = field(default_factory=Contact)
    things: tuple[Any, ...] = ()
    groups: tuple[Group, ...] = ()
    settings: tuple[Any, ...] = ()           # elements of role 'setting' other than <contact>
    fitness: tuple[Any, ...] = ()            # elements of role 'fitness'
    search: Any = None                       # an element of role 'search'
    page: tuple[Any, ...] = ()               # elements of role 'page'
    topic: str = text("", doc="the heading under which the laboratory's gallery shows it")

    def __post_init__(self) -> None:
        check(self, "world", kinds_of(World))
        for part in ("things", "groups", "settings", "fitness", "page"):
            object.__setattr__(self, part, tuple(getattr(self, part)))
        if not isinstance(self.contact, Contact):
            raise WorldError(f"the contact of a world is a Contact, not {self.contact!r}.")
        for group in self.groups:
            if not isinstance(group, Group):
                raise WorldError(f"the groups of a world are Groups, not {group!r}.")
        _role("thing", self.things)
        only_one([thing for thing in self.things if isinstance(thing, Arena)])
        only_one([thing for thing in self.things if isinstance(thing, Field)])
        only_one([thing for thing in self.things if isinstance(thing, Floor)])
        _refuse_many([thing for thing in self.things if isinstance(thing, Cylinders)])
        _unique("movable thing", self.movables)
        counts = {group.name: group.count for group in self.groups}
        if taken := [thing for thing in self.movables if _is_robot(thing.name, counts)]:
            raise WorldError(f"{where(taken[0])}the name '{taken[0].name}' is that of a robot. Choose another.")
        for what in ("solid", "joint", "material", "map", "beacons"):
            _unique(what, [thing for thing in self.things if of(thing).tag == what])
        _refuse_alike(self.motors)
        _role("setting", self.settings)
        _role("fitness", self.fitness)
        _role("search", () if self.search is None else (self.search,))
        _role("page", self.page)
        only_one([self.contact, *self.settings])
        _unique("group", self.groups)
        _ = self.media  # raises WorldError if two links do not fit together
        for cls, what, by in ((Bind, "bind", "key"), (Alias, "alias", "name"), (Camera, "camera", "name")):
            _unique(what, [part for part in self.page if isinstance(part, cls)], by)

    @cached_property
    def robots(self) -> int:
        """How many robots there are in all groups."""
        return sum(group.count for group in self.groups)

    def group(self, name: str) -> Group:
        """The group of that name."""
        for group in self.groups:
            if group.name == name:
                return group
        raise WorldError(f"there is no group '{name}'; there are: {', '.join(group.name for group in self.groups)}.")

    @property
    def arena(self) -> Arena | None:
        """The arena, if the world has one."""
        return next((thing for thing in self.things if isinstance(thing, Arena)), None)

    @cached_property
    def movables(self) -> tuple[Any, ...]:
        """The things that can be pushed, in the order of the state's array `movables`."""
        return tuple(thing for thing in self.things if isinstance(thing, MOVABLES))

    @cached_property
    def motors(self) -> tuple[Motor, ...]:
        """The motors of its joints, in the order of the state's array `motor_command`."""
        return motors_of(self.things)

    def map(self, name: str = "map") -> Grid:
        """The cells of one of them."""
        if name not in self.maps:
            raise WorldError(f"there is no <map> '{name}' in this world.{suggest(name, self.maps)} There are: "
                             f"{', '.join(self.maps) or 'none'}.")
        return self.maps[name]

    @cached_property
    def maps(self) -> dict[str, Grid]:
        """The cells of its floor plans, by the names of their <map>, for the code of robots."""
        return {thing.name: thing.grid for thing in self.things if isinstance(thing, Map)}

    @property
    def pitch(self) -> Field | None:
        """The field of robot soccer, if the world has one."""
        return next((thing for thing in self.things if isinstance(thing, Field)), None)

    @cached_property
    def media(self) -> dict[str, Medium]:
        """The media of links, by their name, each with its columns of the state's array `outbox`."""
        found: dict[str, Medium] = {}
        for link in (link for group in self.groups for link in group.links):
            other = found.setdefault(link.name, Medium(sum(each.numbers for each in found.values()), link.numbers))
            if other.numbers != link.numbers:
                raise WorldError(f"{where(link)}<{of(link).tag}> '{link.name}' has messages of {link.numbers} numbers; another "
                                 f"link of that name has {other.numbers}. Links of one name hear each other, so their messages "
                                 "are alike. Give it another name, or as many numbers.")
        return found

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """For each group, its robots in the arrays of the state."""
        ends = tuple(accumulate((group.count for group in self.groups), initial=0))
        return tuple(slice(first, last) for first, last in pairwise(ends))


# -- what stands where in a file ------------------------------------------------------------------------------------
IN_WORLD = ("setting", "thing", "robot", "fitness", "search", "page")
IN_ROBOT = ("placement", "sensor", "link", "estimator", "controller", "actuator")


@dataclass(frozen=True)
class Include:
    """Another world file, whose elements are read as if they stood here."""

    file: str = file(doc="beside the file that names it")


@dataclass(frozen=True)
class Param:
    """A number or a word that later attributes use as ${name} or in ${name / 2 + 5*cm}."""

    name: str = name(doc="letters, digits and '_'")
    value: str = text(doc="the default; a run may replace it")


# -- rules over several elements: each complaint names the line of the second one -----------------------------------
def loudspeakers(group: Group) -> int:
    """How many each robot of a group has."""
    return sum(of(part).tag == "loudspeaker" for part in group.actuators)


def _role(role: str, things: Sequence[Any]) -> list[str]:
    """The tags of `things`, which must all have this role."""
    for thing in things:
        if of(thing).role != role:
            raise WorldError(f"{where(thing)}<{of(thing).tag}> has the role '{of(thing).role}'; "
                             f"here stands what has the role '{role}'.")
    return [of(thing).tag for thing in things]


def only_one(things: Sequence[Any], what: str = "") -> None:
    """Refuse a second element of the same tag; or of the same role, if `what` names it."""
    seen: dict[str, Any] = {}
    for thing in things:
        key = what or of(thing).tag
        if key in seen:
            _refuse_second(what, seen[key], thing)
        seen[key] = thing


def _refuse_second(what: str, first: Any, second: Any, reason: str = "") -> None:
    tag = f"<{of(second).tag}>"
    other = f"the first is <{of(first).tag}>" if of(first).tag != of(second).tag else "the first is"
    raise WorldError(f"{where(second)}second {f'{what} {tag}' if what else tag}; {other}{_at(first, second)}."
                     + (f" {reason}." if reason else ""))


def _unique(what: str, things: Sequence[Any], by: str = "name") -> None:
    seen: dict[str, Any] = {}
    for thing in things:
        own = getattr(thing, by)
        if own in seen:
            raise WorldError(f"{where(thing)}second {what} with the {by} '{own}'; the first is{_at(seen[own], thing)}. "
                             f"Give each its own {by}.")
        seen[own] = thing


def _refuse_many(things: Sequence[Cylinders]) -> None:
    for thing, total in zip(things, accumulate(thing.count for thing in things), strict=True):
        if total > MOST_CYLINDERS:
            raise WorldError(f"{where(thing)}<cylinders> count: {total} cylinders in all; at most {MOST_CYLINDERS} are "
                             "allowed.")


def _refuse_alike(motors: Sequence[Motor]) -> None:
    """Of a joint 'arm' with a second axis and a joint 'arm.2', which one would be meant?"""
    seen: set[str] = set()
    for motor in motors:
        if motor.name in seen:
            raise WorldError(f"{where(motor.joint)}second motor with the name '{motor.name}'. Give the joint another name.")
        seen.add(motor.name)


def _is_robot(name: str, counts: dict[str, int]) -> bool:
    """Whether it is that of a robot, such as sbot.3; `counts`: robots in the groups, by name."""
    group, _, number = name.rpartition(".")
    return group in counts and number.isdecimal() and number == str(int(number)) and int(number) < counts[group]


def _at(first: Any, second: Any) -> str:
    """' at line 7', or ' at common.xml:7' in another file, or ' before it' in Python."""
    here, there = origin(first), origin(second)
    if not here or not there:
        return " before it"
    return f" at line {here.line}" if here.file == there.file else f" at {here}"


__all__ = ["Arena", "Ball", "Beacons", "Block", "Contact", "Cylinder", "Cylinders", "Field", "Floor", "Group", "Hole", "Joint",
           "Lamp", "Material", "Physics", "Pin", "Platform", "Polygon", "Puck", "Ramp", "Rectangle", "Render", "Solid",
           "Terrain", "Touch", "Trigger", "Wall", "Weld", "World", "Zone", "loudspeakers", "where"]
