"""World -> another world. Every edit is a function of the description and, where robots come or go, of where they are.

Nothing here touches a run: `Session.change` lets a run go on in the world that an edit returns, or says why it cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.console.errors import brief
from formiga.errors import FormigaError, suggest
from formiga.session.names import Target, attribute, element, kinds, own_name
from formiga.state import Floats
from formiga.world.elements import Element, of, registered
from formiga.world.kinds import Kind
from formiga.world.model import Arena, Group, Lamp, World
from formiga.world.page import Script
from formiga.world.placement import At
from formiga.world.sources import Switched

FAR = 1e6               # m from the origin: nothing is put further away


@dataclass(frozen=True)
class Change:
    """A world after an edit, and where its robots are. kept: the number that each robot had before, -1 for a newcomer.

    Movables stay where they are, unless the edit places them.
    """

    world: World
    position: Floats       # (N, 2)
    heading: Floats        # (N,)
    kept: Any              # (N,)
    alive: Any = None      # (N,) whether each may drive; None: as before
    movables: Any = None   # (M, 8) as in the state; None: as before


def same_robots(world: World, position: Floats, heading: Floats, alive: Any = None) -> Change:
    """An edit that keeps all robots."""
    return Change(world, position, heading, np.arange(len(position)), alive)


def pushed(world: World, position: Floats, heading: Floats, movables: Floats, number: int, x: float, y: float,
           ahead: float | None = None) -> Change:
    """Put a movable somewhere else, at rest. Where it starts, in the description, stays as it is."""
    new = movables.copy()
    new[number] = (x, y, new[number, 2] if ahead is None else ahead, 0.0, 0.0, 0.0, 0.0, 0.0)
    return Change(world, position, heading, np.arange(len(position)), movables=new)


# -- attributes -------------------------------------------------------------------------------------------------------
def with_attribute(world: World, target: Target, attribute: str, text: str) -> World:
    """The world with one attribute written anew; `text` as it would stand in a file, or none for one that may be absent.

    A profile is a set of values: choosing one writes all of them.
    """
    old = element(world, target)
    kind = kind_of(old, attribute, f"'{target.name}'")
    if text == "none" and old.__dataclass_fields__[attribute].default is None:
        value = None
    else:
        value = _parsed(kind, text, f"{target.name}.{attribute}")
    others: dict[str, Any] = of(old).profiles.get(str(value), {}) if attribute == "profile" else {}
    if attribute == "on" and isinstance(old, Switched):  # or the clock would switch the other way round from then on
        others = {"switched": ()}
    return with_element(world, target, replace(old, **{**others, attribute: value}))


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
    if target.kind == "part":
        changed = group.carrying(target.role, _with(group.carried[target.role], target.part, new))
    else:
        changed = replace(group, robot=new)
    return replace(world, groups=_with(world.groups, target.index, changed))


def with_setting(world: World, new: Any) -> World:
    """The world with a setting, instead of the one of the same kind if it has one."""
    others = tuple(each for each in world.settings if type(each) is not type(new))
    return replace(world, settings=(*others, new))


def with_controller(world: World, index: int, tag: str, written: Mapping[str, str]) -> World:
    """A group with another controller; 'none' for none."""
    group = world.groups[index]
    if tag == "none" and written:
        raise FormigaError(f"'{brief(min(written))}' belongs to a controller, and there would be none.")
    new = None if tag == "none" else make(tag, "controller", written, attribute(group.robot, "profile", None))
    return replace(world, groups=_with(world.groups, index, replace(group, controller=new)))


def make(tag: str, role: str, written: Mapping[str, str], around: str | None = None) -> Any:
    """A new element from attributes as they would stand in a file."""
    known = registered(role)
    if tag not in known:
        raise FormigaError(f"there is no {role} '{brief(tag)}'.{suggest(brief(tag), known)} There are: {', '.join(known)}.")
    return known[tag].cls(**_values(known[tag], written, around))


def kind_of(thing: Any, attribute: str, name: str) -> Kind:
    """What an attribute of an element may be; an error that knows the others, if there is no such attribute."""
    known = kinds(thing)
    if attribute not in known:
        raise FormigaError(f"{name} has no '{brief(attribute)}'.{suggest(brief(attribute), known)} It has: {', '.join(known)}.")
    return known[attribute]


def _values(known: Element, written: Mapping[str, str], around: str | None = None) -> dict[str, Any]:
    """The attributes of a new element, with the defaults of its profile."""
    given = {}
    for name, text in written.items():
        if name not in known.kinds:
            raise FormigaError(f"<{known.tag}> has no '{brief(name)}'.{suggest(brief(name), known.kinds)} "
                               f"It has: {', '.join(known.kinds)}.")
        given[name] = _parsed(known.kinds[name], text, f"<{known.tag}> {name}")
    found = known.defaults(given.get("profile", known.profile(around))) | given
    if missing := [name for name in known.kinds if name not in found]:
        example = "0.1" if known.kinds[missing[0]].base == "number" else "..."
        raise FormigaError(f"<{known.tag}> needs {' and '.join(missing)}, such as {missing[0]}={example}.")
    return found


def _parsed(kind: Kind, text: str, where: str) -> Any:
    try:
        return kind.parse(text)
    except ValueError as wrong:
        raise FormigaError(f"{where}: {wrong}.") from wrong


# -- things -----------------------------------------------------------------------------------------------------------
def moved(world: World, index: int, x: float, y: float) -> World:
    """The world with a thing's middle at (x, y)."""
    thing = world.things[index]
    if isinstance(thing, Arena):
        raise FormigaError("the arena cannot be moved; everything stands in it.")
    known = of(thing).kinds
    if "points" in known and "x" not in known and thing.points:
        points = np.array(thing.points).reshape(-1, 2)
        points += np.array([x, y]) - points.mean(axis=0)
        return replace(world, things=_with(world.things, index, replace(thing, points=tuple(points.ravel()))))
    if "x" not in known:
        raise FormigaError(f"<{of(thing).tag}> has no place of its own, so it cannot be moved.")
    return replace(world, things=_with(world.things, index, replace(thing, x=float(x), y=float(y))))


def with_thing(world: World, tag: str, written: Mapping[str, str]) -> World:
    """The world with one more thing; without a name it gets one that no other has."""
    thing = make(tag, "thing", written)
    taken = {own_name(each) for each in world.things} | {group.name for group in world.groups}
    if "name" not in written and "name" in of(thing).kinds:
        thing = replace(thing, name=_unused(tag, taken))
    return replace(world, things=(*world.things, thing))


def without_things(world: World, gone: Collection[int]) -> World:
    """The world without some things, by their numbers."""
    return replace(world, things=tuple(thing for number, thing in enumerate(world.things) if number not in gone))


def same_things(one: World, other: World) -> bool:
    """Whether two worlds look alike in a recording, which knows only one set of things; how lamps shine may differ."""
    return len(one.things) == len(other.things) and all(
        a == b or (isinstance(a, Lamp) and isinstance(b, Lamp) and (a.x, a.y, a.z) == (b.x, b.y, b.z))
        for a, b in zip(one.things, other.things, strict=True))


# -- robots -----------------------------------------------------------------------------------------------------------
def with_robots(world: World, position: Floats, heading: Floats, group: int, places: Floats, ahead: Floats) -> Change:
    """More robots in a group, at the end of it: at places (M, 2), looking ahead (M,)."""
    before, at = world.groups[group], world.slices[group].stop
    rules = before.place
    if any(isinstance(rule, At) for rule in rules):
        rules = (*rules, *_standing(places, ahead))
    new = replace(world, groups=_with(world.groups, group, replace(before, count=before.count + len(places), place=rules)))
    return Change(new, np.insert(position, at, places, axis=0), np.insert(heading, at, ahead),
                  np.insert(np.arange(len(position)), at, np.full(len(places), -1)))


def with_group(world: World, position: Floats, heading: Floats, tag: str, written: Mapping[str, str], x: float, y: float,
               ahead: float) -> Change:
    """A new group of one robot, without a controller: to be driven by hand."""
    taken = {group.name for group in world.groups}
    if (name := written.get("name")) in taken:
        raise FormigaError(f"there is a group '{name}' already; `spawn {name}` adds a robot to it.")
    robot = make(tag, "robot", {attribute: text for attribute, text in written.items() if attribute != "name"})
    place, direction = np.array([(x, y)]), np.array([ahead])
    group = Group(robot=robot, name=_unused(tag, taken) if name is None else name, place=_standing(place, direction))
    return Change(replace(world, groups=(*world.groups, group)), np.vstack([position, place]), np.append(heading, direction),
                  np.append(np.arange(len(position)), -1))


def without_robots(world: World, position: Floats, heading: Floats, gone: Collection[int]) -> Change:
    """The world without some robots, by their numbers; a group that loses its last one goes too."""
    stay = np.array([number for number in range(world.robots) if number not in gone], np.int64)
    groups = []
    for group, robots in zip(world.groups, world.slices, strict=True):
        left = [int(number) for number in stay if robots.start <= number < robots.stop]
        rules = group.place
        if any(isinstance(rule, At) for rule in rules):
            rules = tuple(rules[number - robots.start] for number in left)
        if left:
            groups.append(replace(group, count=len(left), place=rules))
    return Change(replace(world, groups=tuple(groups)), position[stay], heading[stay], stay)


# -- the world as it stands -------------------------------------------------------------------------------------------
def as_it_stands(world: World, position: Floats, heading: Floats, alive: Any, movables: Floats,
                 solid: Mapping[int, dict[str, Any] | None] | None = None, scripts: bool = True) -> World:
    """The world whose robots and movables start where they are now.

    scripts: whether its script files become text of its own, so that it can be saved in any folder.
    solid: number of a thing -> attributes that say where it is now in space, or None if it is gone.
    """
    now = solid or {}
    groups = tuple(replace(group, place=_standing(position[robots], heading[robots], alive[robots], group))
                   for group, robots in zip(world.groups, world.slices, strict=True))
    page = tuple(Script(run=each.text) if scripts and isinstance(each, Script) else each for each in world.page)
    lying = {thing.name: _lying(thing, pose) for thing, pose in zip(world.movables, movables.tolist(), strict=True)}
    things = tuple(lying[thing.name] if thing in world.movables else replace(thing, **(now.get(number) or {}))
                   for number, thing in enumerate(world.things) if now.get(number, {}) is not None)
    return replace(world, groups=groups, things=things, page=page)


def _lying(thing: Any, pose: list[float]) -> Any:
    """A movable as it is now, as far as its attributes can say so."""
    now = dict(zip(("x", "y", "heading", "vx", "vy"), pose))
    return replace(thing, **{name: value for name, value in now.items() if name in of(thing).kinds})


def _standing(places: Floats, ahead: Floats, alive: Any = None, group: Group | None = None) -> tuple[At, ...]:
    """Where robots stand now. Robots of a group that are fixed keep the height and the attitude of their <at>."""
    on = np.ones(len(places), np.bool_) if alive is None else alive
    fixed = group is not None and group.robot.fixed and isinstance(next(iter(group.place), None), At)
    rules = group.place if group is not None and fixed else [At(0.0, 0.0)] * len(places)
    return tuple(replace(rule, x=float(x), y=float(y), heading=float(angle), on=bool(can))
                 for rule, (x, y), angle, can in zip(rules, places, ahead, on, strict=True))


def _unused(name: str, taken: Collection[str]) -> str:
    """sbot, sbot2, sbot3 ...: the first that is free."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free


def _with(things: tuple[Any, ...], index: int, new: Any) -> tuple[Any, ...]:
    return (*things[:index], new, *things[index + 1:])


__all__ = ["Change", "FAR", "as_it_stands", "kind_of", "make", "moved", "pushed", "same_robots", "same_things",
           "with_attribute", "with_controller", "with_element", "with_group", "with_robots", "with_setting", "with_thing",
           "without_robots", "without_things"]
