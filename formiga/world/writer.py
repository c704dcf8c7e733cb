"""World -> XML. What `to_text` writes, `reader.read_text` reads back as an equal world, digit for digit.

It is the description that survives, not the typing: params, arithmetic, includes and <defaults> are written as what
they gave, comments are gone, numbers are in SI units, and files are the full paths that the reader made of them.
Only attributes that differ from what the reader would assume are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from lxml import etree

from formiga.errors import WorldError
from formiga.files import write_whole
from formiga.world.elements import kinds_of, of, where
from formiga.world.kinds import Kind
from formiga.world.model import IN_ROBOT, Contact, Group, World
from formiga.world.placement import At


def to_text(world: World) -> str:
    """The world as an XML document."""
    root = etree.Element("world")
    _attributes(root, world, kinds_of(World), {name: getattr(World, name) for name in kinds_of(World)})
    if world.contact != Contact():
        element_node(root, world.contact)
    for thing in (*world.settings, *world.things):
        element_node(root, thing)
    for group in world.groups:
        group_node(root, group)
    for part in (*world.fitness, *(() if world.search is None else (world.search,)), *world.page):
        element_node(root, part)
    return etree.tostring(root, pretty_print=True, encoding="unicode")


def write(world: World, path: str | PathLike[str]) -> None:
    """Write the world into a file: all of it or, if something fails, nothing."""
    write_whole(path, to_text(world), WorldError)


def group_node(root: Any, group: Group) -> Any:
    """Write a group of robots with what they carry at the end of `root`."""
    node = element_node(root, group.robot)
    places = sum(isinstance(rule, At) for rule in group.place)
    _attributes(node, group, kinds_of(Group), {"name": of(group.robot).tag, "count": places or 1})
    for part in (part for role in IN_ROBOT for part in group.carried[role]):
        element_node(node, part, group.robot.profile)
    return node


def element_node(parent: Any, thing: Any, around: str | None = None) -> Any:
    """Write an element at the end of `parent`. around: the profile of the robot that it stands in, which counts if none is
    written.
    """
    element = of(thing)
    node = etree.SubElement(parent, element.tag)
    defaults = element.defaults(thing.profile if "profile" in element.kinds else None)
    defaults["profile"] = element.profile(around)
    _attributes(node, thing, element.kinds, defaults)
    return node


def _attributes(node: Any, thing: Any, kinds: Mapping[str, Kind], defaults: Mapping[str, Any]) -> None:
    for name, kind in kinds.items():
        value, default = getattr(thing, name), defaults.get(name)
        if value is None:
            if default is not None:
                raise WorldError(f"{where(thing)}<{node.tag}> {name}: None cannot be written where the profile has "
                                 f"{kind.format(default)}.")
        elif default is None or kind.format(value) != kind.format(default):
            node.set(name, escaped(kind.format(value)))


def escaped(text: str) -> str:
    """A text as it stands in an attribute: a plain ${ is written $${."""
    return text.replace("${", "$${")
