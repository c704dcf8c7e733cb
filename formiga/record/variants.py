"""Worlds of a recording that differ: what each has that the first has not, so that they can be run again.

The recording has the first world as XML. Of each other one it has the attributes that are other there, as they would be written
in a file: `changes`, for each different world a list of [number of the element, attribute, text or null]; `which`, for each
world of the batch the number of its list, -1 for the first world's own. The elements count as in `elements`.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from formiga.errors import RecordingError, WorldError
from formiga.record.format import contents
from formiga.world.elements import of
from formiga.world.model import World

MOST_CHANGES = 1_000_000   # in all worlds of a recording
Changes = list[list[Any]]


def elements(world: World) -> list[Any]:
    """What may differ: things, robots and what they carry."""
    return [*world.things, *(each for group in world.groups
                             for each in (group.robot, *(part for parts in group.carried.values() for part in parts)))]


def told(worlds: Sequence[World], files: dict[str, str]) -> dict[str, Any]:
    """`variants` of a recording's text; the files that the other worlds name are added to `files`."""
    first, numbers, changes, which = worlds[0], {id(worlds[0]): -1}, list[Changes](), list[int]()
    named: dict[str, str] = {}
    for world in worlds:
        if id(world) not in numbers:
            numbers[id(world)] = len(changes)
            changes.append(_changes(first, world, files, named))
        which.append(numbers[id(world)])
    if sum(map(len, changes)) > MOST_CHANGES:
        raise RecordingError(f"the worlds of this batch differ in more than {MOST_CHANGES:,} attributes; a recording does not "
                             "take that.")
    return {"which": which, "changes": changes}


def _changes(first: World, world: World, files: dict[str, str], named: dict[str, str]) -> Changes:
    found: Changes = []
    for number, (one, other) in enumerate(zip(elements(first), elements(world), strict=True)):
        if one is other:
            continue
        for name, kind in of(one).kinds.items():
            before, now = getattr(one, name), getattr(other, name)
            if before != now:
                path = kind.base == "file" and now is not None
                found.append([number, name, None if now is None else _packed(other, name, files, named) if path
                              else kind.format(now)])
    return found


def _packed(element: Any, attribute: str, files: dict[str, str], named: dict[str, str]) -> str:
    """The name of an element's file in the recording, with its contents among `files`."""
    path = str(getattr(element, attribute))
    if path not in named:
        folder = 1 + max((int(name.partition("/")[0]) for name in files), default=-1)
        bundle = element.bundle(attribute) or {os.path.basename(path): contents(path)}
        files.update({f"{folder}/{name}": base64.b64encode(data).decode() for name, data in bundle.items()})
        named[path] = f"{folder}/{next(iter(bundle))}"
    return named[path]


# -- and back: from a file that may come from a stranger -------------------------------------------------------------------
def worlds_of(given: Any, worlds: int, first: World, folder: str | None) -> tuple[World, ...] | None:
    """The descriptions of all worlds; None if what is given makes no sense. folder: where the recording's files are."""
    if not isinstance(given, dict) or set(given) != {"which", "changes"}:
        return None
    which, changes = given["which"], given["changes"]
    if not isinstance(which, list) or len(which) != worlds or not isinstance(changes, list) or len(changes) > worlds \
            or not all(type(each) is int and -1 <= each < len(changes) for each in which) \
            or not all(isinstance(each, list) for each in changes) or sum(map(len, changes)) > MOST_CHANGES:
        return None
    try:
        made = [_changed(first, each, folder) for each in changes]
    except (WorldError, ValueError, TypeError, KeyError, IndexError):
        return None
    return tuple(first if each < 0 else made[each] for each in which)


def _changed(first: World, changes: Changes, folder: str | None) -> World:
    """The first world with other attributes. ValueError and the like if it has none such."""
    values: dict[int, dict[str, Any]] = {}
    known = elements(first)
    for number, name, text in changes:
        if type(number) is not int or not 0 <= number < len(known) or not isinstance(text, str | None):
            raise ValueError("no such element")
        kind = of(known[number]).kinds[name]
        value = None if text is None else kind.parse(text)
        if kind.base == "file" and value is not None:
            value = os.path.join(folder or "", str(value))
            if not folder or not os.path.realpath(value).startswith(folder + os.sep) or not os.path.isfile(value):
                raise ValueError("a file that is not in the recording")
        values.setdefault(number, {})[name] = value
    fresh = {id(known[number]): replace(known[number], **changed) for number, changed in values.items()}

    def now(element: Any) -> Any:
        return fresh.get(id(element), element)

    groups = []
    for group in first.groups:
        if any(id(each) in fresh for each in (group.robot, *(part for parts in group.carried.values() for part in parts))):
            group = replace(group, robot=now(group.robot))
            for role, parts in group.carried.items():
                group = group.carrying(role, tuple(map(now, parts)))
        groups.append(group)
    same = all(one is other for one, other in zip(groups, first.groups, strict=True))
    things = tuple(map(now, first.things)) if any(id(thing) in fresh for thing in first.things) else first.things
    return replace(first, things=things, groups=first.groups if same else tuple(groups))


__all__ = ["told", "worlds_of"]
