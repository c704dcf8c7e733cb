"""Names of what is in a world, as they are typed: `lamp`, `cylinder.1`, `swarm`, `swarm.3`, `swarm.proximity.noise`.

A thing goes by its name, or by `name.0`, `name.1` ... in the order of the file if several share it; `swarm.lamp` is a lamp
with the name of a group. A robot is `group.3`, or just its number over all groups. A part of a group goes by its name or tag;
the controller also by `controller`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from formiga.console.errors import brief
from formiga.errors import FormigaError, suggest
from formiga.world.elements import SOURCES, kinds_of, of
from formiga.world.kinds import Kind
from formiga.world.model import Group, World


@dataclass(frozen=True)
class Target:
    """Something in a world that has a name."""

    kind: str                  # "world", "contact", "setting", "thing", "group", "robot", "part"
    name: str
    index: int = 0             # of the thing, the group, the robot (over all groups), the setting
    role: str = ""             # of a part: "sensor", "link", "estimator", "controller", "actuator"
    part: int = 0              # its number among those of its role


def own_name(part: Any) -> str:
    """The `name` of an element, or its tag if it has no such attribute."""
    return str(attribute(part, "name", of(part).tag))


def attribute(part: Any, name: str, default: Any) -> Any:
    """An attribute of an element, as it may stand in a file; `default` if elements of its kind have no such attribute."""
    return getattr(part, name) if name in of(part).kinds else default


def thing_names(world: World) -> list[str]:
    """The name of every thing, in the order of `world.things`; no two are the same, and none means something else."""
    plain = [own_name(thing) for thing in world.things]
    others = set(_other_names(world))
    shared = Counter(plain)
    taken, numbers, names = {*plain, *others}, Counter[str](), []
    for thing, name in zip(world.things, plain, strict=True):
        unique = base = f"{name}.{of(thing).tag}" if name in others or _numbers_a_robot(world, name) else name
        several = base != name or shared[name] > 1
        while several and (unique in taken or _numbers_a_robot(world, unique)):  # a thing may be named cylinder.1
            unique = f"{base}.{numbers[base]}"
            numbers[base] += 1
        taken.add(unique)
        names.append(unique)
    return names


def _numbers_a_robot(world: World, name: str) -> bool:
    """Whether a name is that of a robot of a group, also of one that is not there."""
    group, dot, number = name.rpartition(".")
    return bool(dot) and number.isdecimal() and any(each.name == group for each in world.groups)


def movable_number(world: World, index: int) -> int:
    """Number in `world.movables` of the thing at an index of `world.things`; -1 if it is no movable, or not there."""
    thing = world.things[index] if 0 <= index < len(world.things) else None
    return next((number for number, each in enumerate(world.movables) if each is thing), -1)


def robot_name(world: World, robot: int) -> str:
    """'swarm.3' of a robot's number over all groups."""
    for group, robots in zip(world.groups, world.slices, strict=True):
        if robots.start <= robot < robots.stop:
            return f"{group.name}.{robot - robots.start}"
    raise FormigaError(f"there is no robot {robot}; there are {world.robots}.")


def part_names(group: Group) -> dict[str, tuple[str, int]]:
    """Name -> (role, number) of everything that the robots of a group carry."""
    names: dict[str, tuple[str, int]] = {}
    for role in (*SOURCES, "actuator"):
        for number, part in enumerate(group.carried[role]):
            names.setdefault(own_name(part), (role, number))
    if group.controller is not None:
        names["controller"] = ("controller", 0)
        names.setdefault(of(group.controller).tag, ("controller", 0))
    return names


def _other_names(world: World) -> Iterator[str]:
    """Everything that can be named, but things and single robots."""
    yield from ("world", "contact")
    yield from (of(setting).tag for setting in world.settings)
    for group in world.groups:
        yield group.name
        yield from (f"{group.name}.{part}" for part in part_names(group))


def all_names(world: World) -> Iterator[str]:
    """Everything that can be named, but single robots; each name once, because a list with two equal entries ends the page."""
    yield from dict.fromkeys((*_other_names(world), *thing_names(world)))


def find(world: World, name: str) -> Target:
    """What a name means; a clear error if nothing has it. Groups and robots come first."""
    if name.isdecimal():
        return _robot(world, 0, world.robots, name, name)
    for number, group in enumerate(world.groups):
        if name == group.name:
            return Target("group", name, number)
    for number, group in enumerate(world.groups):
        if name.startswith(f"{group.name}."):
            rest = name[len(group.name) + 1:]
            if rest.isdecimal():
                return _robot(world, world.slices[number].start, group.count, rest, name)
            if rest in part_names(group):
                role, part = part_names(group)[rest]
                return Target("part", name, number, role, part)
    things = thing_names(world)
    if name in things:
        return Target("thing", name, things.index(name))
    if name in ("world", "contact"):
        return Target(name, name)
    for number, setting in enumerate(world.settings):
        if of(setting).tag == name:
            return Target("setting", name, number)
    if several := [thing for thing in things if thing.startswith(f"{name}.")]:
        raise FormigaError(f"several things have the name '{brief(name)}': {', '.join(several[:8])}.")
    raise FormigaError(f"there is nothing named '{brief(name)}'.{suggest(brief(name), all_names(world))} `list` shows all.")


def _robot(world: World, first: int, count: int, digits: str, name: str) -> Target:
    """The robot of that number among `count`."""
    if len(digits) > 9 or int(digits) >= count:  # int() refuses thousands of digits
        raise FormigaError(f"there is no robot '{brief(name)}'; " + (f"they are numbered from 0 to {count - 1}." if count else
                                                                    "there are none."))
    robot = first + int(digits)
    return Target("robot", robot_name(world, robot), robot)


def robot(world: World, name: str) -> int:
    """The number of a robot, by number or as 'swarm.3'."""
    target = find(world, name)
    if target.kind == "group" and world.groups[target.index].count == 1:
        return world.slices[target.index].start
    if target.kind != "robot":
        example = robot_name(world, 0) if world.robots else "swarm.0"
        raise FormigaError(f"'{brief(name)}' is not one robot; give its number, or its group and number such as {example}.")
    return target.index


def group_of(world: World, robot: int) -> Group:
    """The group that a robot is in."""
    return next(group for group, robots in zip(world.groups, world.slices, strict=True) if robots.start <= robot < robots.stop)


def element(world: World, target: Target) -> Any:
    """The element that a target is; that of the robots for a group, and for one of them."""
    if target.kind == "world":
        return world
    if target.kind == "contact":
        return world.contact
    if target.kind == "setting":
        return world.settings[target.index]
    if target.kind == "thing":
        return world.things[target.index]
    if target.kind == "robot":
        return group_of(world, target.index).robot
    group = world.groups[target.index]
    if target.kind == "part":
        return group.carried[target.role][target.part]
    return group.robot


def kinds(thing: Any) -> dict[str, Kind]:
    """The attributes of an element, or of the world itself."""
    return kinds_of(World) if isinstance(thing, World) else of(thing).kinds


__all__ = ["Target", "all_names", "attribute", "element", "find", "group_of", "kinds", "movable_number", "own_name",
           "part_names", "robot", "robot_name", "thing_names"]
