"""World -> another world. Every edit is a function of the description and, where robots come or go, of where they are.

Nothing here touches a run: `Session.change` lets a run go on in the world that an edit returns, or says why it cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.errors import FormigaError, WorldError, suggest
from formiga.session.names import Target, element, kinds
from formiga.state import Floats
from formiga.world.elements import REQUIRED, Element, of, registered
from formiga.world.model import Arena, Group, World
from formiga.world.placement import At


@dataclass(frozen=True)
class Change:
    """A world after an edit, and where its robots are. kept: the number that each robot had before, -1 for a newcomer."""

    world: World
    position: Floats       # (N, 2)
    heading: Floats        # (N,)
    kept: Any              # (N,)


def same_robots(world: World, position: Floats, heading: Floats) -> Change:
    """An edit after which everybody is where they were."""
    return Change(world, position, heading, np.arange(len(position)))


# -- attributes -------------------------------------------------------------------------------------------------------
def with_attribute(world: World, target: Target, attribute: str, text: str) -> World:
    """The world with one attribute written anew; `text` as it would stand in a file."""
    old = element(world, target)
    known = kinds(old)
    if attribute not in known:
        raise FormigaError(f"'{target.name}' has no '{attribute}'.{suggest(attribute, known)} It has: {', '.join(known)}.")
    try:
        value = known[attribute].parse(text)
    except ValueError as wrong:
        raise FormigaError(f"{target.name}.{attribute}: {wrong}.") from wrong
    return with_element(world, target, replace(old, **{attribute: value}))


def with_element(world: World, target: Target, new: Any) -> World:
    """The world with one element exchanged."""
    if target.kind == "world":
        return new
    if target.kind == "contact":
        return replace(world, contact=new)
    if target.kind == "setting":
        return replace(world, settings=_with(world.settings, target.index, new))
    if target.kind == "thing":
        return replace(world, things=_with(world.things, target.index, new))
    group = world.groups[target.index]
    if target.kind == "part" and target.role == "controller":
        changed = replace(group, controller=new)
    elif target.kind == "part" and target.role == "sensor":
        changed = replace(group, sensors=_with(group.sensors, target.part, new))
    elif target.kind == "part":
        changed = replace(group, actuators=_with(group.actuators, target.part, new))
    else:
        changed = replace(group, robot=new)
    return replace(world, groups=_with(world.groups, target.index, changed))


def with_controller(world: World, index: int, tag: str, written: dict[str, str]) -> World:
    """A group with another controller; 'none' for none."""
    group = world.groups[index]
    new = None if tag == "none" else make(tag, "controller", written, getattr(group.robot, "profile", None))
    return replace(world, groups=_with(world.groups, index, replace(group, controller=new)))


def make(tag: str, role: str, written: dict[str, str], around: str | None = None) -> Any:
    """A new element from attributes as they would stand in a file."""
    known = registered(role)
    if tag not in known:
        raise FormigaError(f"there is no {role} '{tag}'.{suggest(tag, known)} There are: {', '.join(known)}.")
    return known[tag].cls(**values(known[tag], written, around))


def values(known: Element, written: dict[str, str], around: str | None = None) -> dict[str, Any]:
    """The attributes of a new element, with the defaults of its profile."""
    given = {}
    for name, text in written.items():
        if name not in known.kinds:
            raise FormigaError(f"<{known.tag}> has no '{name}'.{suggest(name, known.kinds)} It has: {', '.join(known.kinds)}.")
        try:
            given[name] = known.kinds[name].parse(text)
        except ValueError as wrong:
            raise FormigaError(f"<{known.tag}> {name}: {wrong}.") from wrong
    found = known.defaults(given.get("profile", known.profile(around))) | given
    if missing := [name for name in known.kinds if name not in found]:
        raise FormigaError(f"<{known.tag}> needs {' and '.join(missing)}, such as {missing[0]}="
                           f"{'0.1' if known.kinds[missing[0]].base == 'number' else '...'}.")
    return found


# -- things -----------------------------------------------------------------------------------------------------------
def moved(world: World, index: int, x: float, y: float) -> World:
    """The world with a thing's middle at (x, y)."""
    thing = world.things[index]
    if isinstance(thing, Arena):
        raise FormigaError("the arena cannot be moved; everything stands in it.")
    if hasattr(thing, "points"):
        points = np.array(thing.points).reshape(-1, 2)
        points += np.array([x, y]) - middle(thing)
        return replace(world, things=_with(world.things, index, replace(thing, points=tuple(points.ravel()))))
    if not hasattr(thing, "x"):
        raise FormigaError(f"<{of(thing).tag}> has no place of its own, so it cannot be moved.")
    return replace(world, things=_with(world.things, index, replace(thing, x=float(x), y=float(y))))


def middle(thing: Any) -> Any:
    """Where a thing is (2,): its centre, or the mean of its points."""
    if hasattr(thing, "points"):
        return np.array(thing.points).reshape(-1, 2).mean(axis=0)
    return np.array([getattr(thing, "x", 0.0), getattr(thing, "y", 0.0)])


def with_thing(world: World, tag: str, written: dict[str, str]) -> World:
    """The world with one more thing."""
    known = registered("thing")
    thing = make(tag, "thing", written)
    if "name" in known[tag].kinds and "name" not in written:
        taken, number = {getattr(each, "name", "") for each in world.things} | {group.name for group in world.groups}, 2
        name = tag
        while name in taken:
            name, number = f"{tag}{number}", number + 1
        thing = replace(thing, name=name)
    return replace(world, things=(*world.things, thing))


def without_thing(world: World, index: int) -> World:
    """The world with one thing less."""
    return replace(world, things=world.things[:index] + world.things[index + 1:])


# -- robots -----------------------------------------------------------------------------------------------------------
def with_robot(world: World, position: Floats, heading: Floats, group: int, x: float, y: float, ahead: float) -> Change:
    """One more robot in a group, at the end of it."""
    before, at = world.groups[group], world.slices[group].stop
    place = before.place
    if any(isinstance(rule, At) for rule in place):
        place = (*place, At(float(x), float(y), float(ahead)))
    new = replace(world, groups=_with(world.groups, group, replace(before, count=before.count + 1, place=place)))
    return Change(new, np.insert(position, at, (x, y), axis=0), np.insert(heading, at, ahead),
                  np.insert(np.arange(len(position)), at, -1))


def with_group(world: World, position: Floats, heading: Floats, tag: str, written: dict[str, str], x: float, y: float,
               ahead: float) -> Change:
    """A new group of one robot, without a controller: to be driven by hand."""
    taken, number, name = {group.name for group in world.groups}, 2, written.pop("name", tag)
    while name in taken:
        name, number = f"{tag}{number}", number + 1
    group = Group(robot=make(tag, "robot", written), name=name, place=(At(float(x), float(y), float(ahead)),))
    return Change(replace(world, groups=(*world.groups, group)), np.vstack([position, [(x, y)]]), np.append(heading, ahead),
                  np.append(np.arange(len(position)), -1))


def without_robots(world: World, position: Floats, heading: Floats, gone: Any) -> Change:
    """The world without some robots, by their numbers; a group that loses its last one goes too."""
    stay = np.setdiff1d(np.arange(world.robots), gone)
    groups = []
    for group, robots in zip(world.groups, world.slices, strict=True):
        left = [number for number in stay if robots.start <= number < robots.stop]
        if not left:
            continue
        place = group.place
        if any(isinstance(rule, At) for rule in place):
            place = tuple(place[number - robots.start] for number in left)
        groups.append(replace(group, count=len(left), place=place))
    return Change(replace(world, groups=tuple(groups)), position[stay], heading[stay], stay)


# -- the world as it stands -------------------------------------------------------------------------------------------
def as_it_stands(world: World, position: Floats, heading: Floats) -> World:
    """The world whose robots start where they are now."""
    groups = tuple(replace(group, place=tuple(At(*map(float, (*position[n], heading[n]))) for n in range(robots.start, robots.stop)))
                   for group, robots in zip(world.groups, world.slices, strict=True))
    return replace(world, groups=groups)


def _with(things: tuple[Any, ...], index: int, new: Any) -> tuple[Any, ...]:
    return (*things[:index], new, *things[index + 1:])


__all__ = ["Change", "REQUIRED", "WorldError", "as_it_stands", "make", "middle", "moved", "same_robots", "with_attribute",
           "with_controller", "with_element", "with_group", "with_robot", "with_thing", "without_robots", "without_thing"]
