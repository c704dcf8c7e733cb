"""What arguments of several commands look like: NAME=VALUE, places and headings with their units, and how names go on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from formiga.console import Call
from formiga.console.errors import brief
from formiga.errors import FormigaError
from formiga.session import names
from formiga.session.edit import FAR
from formiga.session.plots import quantities
from formiga.session.values import IN_SPACE, JOINT, MOVABLES, POSE, ROBOT, SOLID
from formiga.world.elements import kinds_of
from formiga.world.kinds import Kind
from formiga.world.model import World
from formiga.world.placement import At
from formiga.world.solids import Joint, Solid

if TYPE_CHECKING:
    from formiga.session.session import Session

MOST_NAMES = 200        # robots of a group that are offered as completions
_PLACE = kinds_of(At)


# -- reading ----------------------------------------------------------------------------------------------------------
def pairs(call: Call, words: Iterable[str]) -> dict[str, str]:
    """{'radius': '0.1'} from the word radius=0.1."""
    written: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise call.wrong(f"'{brief(word)}' is not NAME=VALUE.")
        if name in written:
            raise call.wrong(f"'{brief(name)}' is given twice.")
        written[name] = value
    return written


def length(call: Call, text: str, what: str) -> float:
    """'0.3', '30cm' -> metres, and not at the end of the world."""
    value = _quantity(call, _PLACE["x"], text, what)
    if abs(value) > FAR:
        raise call.wrong(f"{what} {value:g} is out of range; it must be from {-FAR:g} to {FAR:g}.")
    return value


def angle(call: Call, text: str, what: str = "HEADING") -> float:
    """'1.57', '90deg' -> radians."""
    return _quantity(call, _PLACE["heading"], text, what)


def _quantity(call: Call, kind: Kind, text: str, what: str) -> float:
    try:
        return float(kind.parse(text))
    except ValueError as wrong:
        raise call.wrong(f"{what}: {wrong}.") from wrong


def found(call: Call, written: Mapping[str, str], kinds: Mapping[str, Kind]) -> dict[str, str]:
    """The attributes, with the full path of those that name a file: beside the script that says so, or the current folder.

    A world's own text may not read files, so it may not name one either.
    """
    return {name: file(call, name, text) if name in kinds and kinds[name].base == "file" and text != "none" else text
            for name, text in written.items()}


def file(call: Call, name: str, text: str) -> str:
    """The full path of a file that an attribute names."""
    if not call.trusted:
        raise FormigaError(f"'{name}' names a file; a world's own text may not. Type it yourself, or put it into a script that "
                           "you run with `exec`.")
    return os.path.abspath(replace(call, args=[text]).path(0, name))


# -- typing -----------------------------------------------------------------------------------------------------------
def completed_names(world: World, typed: str) -> Iterator[str]:
    """Everything that can be named, and the robots of the group that is being typed."""
    yield from names.all_names(world)
    yield from _robots(world, typed)


def completed_paths(world: World, typed: str) -> Iterator[str]:
    """NAME.ATTRIBUTE of everything, and what is true of the run."""
    yield from ("time", "step", "seed", "speed", "robots", "playing", "factor", "selected")
    for name in names.all_names(world):
        thing = names.element(world, names.find(world, name))
        yield from (f"{name}.{attribute}" for attribute in names.kinds(thing))
        yield from (f"{name}.{fact}" for fact in (JOINT if isinstance(thing, Joint) else ()))
    yield from (f"{group.name}.count" for group in world.groups)
    for robot in _robots(world, typed):
        drive = names.group_of(world, names.robot(world, robot)).robot.drive
        yield from (f"{robot}.{each}" for each in (*POSE, *(drive.channels if drive else ()), *ROBOT))
        if world.engine == "spatial":
            yield from (f"{robot}.{each}" for each in IN_SPACE)


def completed_quantities(session: Session, typed: str) -> Iterator[str]:
    """NAME.QUANTITY of all groups and of the robots of the group that is being typed, and of things that move."""
    for index, group in enumerate(session.world.groups):
        known = quantities(session, index)
        for name in (group.name, *(each for each in _robots(session.world, typed) if each.startswith(f"{group.name}."))):
            yield from (f"{name}.{each}" for each in known)
    for thing in session.world.movables:
        yield from (f"{thing.name}.{each}" for each in MOVABLES)
    for thing, name in zip(session.world.things, names.thing_names(session.world), strict=True):
        facts = JOINT if isinstance(thing, Joint) else SOLID if isinstance(thing, Solid) and not thing.fixed else ()
        yield from (f"{name}.{each}" for each in facts)


def _robots(world: World, typed: str) -> Iterator[str]:
    for group in world.groups:
        if typed.startswith(f"{group.name}."):
            yield from (f"{group.name}.{number}" for number in range(min(group.count, MOST_NAMES)))


__all__ = ["angle", "completed_names", "completed_paths", "completed_quantities", "file", "found", "length", "pairs"]
