"""World files: XML -> World. Every complaint is one WorldError that begins with file and line.

    world = read("corral.xml", {"side": 2.0})

What may stand where comes from the registry (`elements.py`) and from `model.py`; this file knows only the five
elements of the format itself: <world>, <include>, <object>, <param>, <defaults>. It reads from top to bottom, so a param or a
default counts for what follows it. An attribute is, in this order: as written, as in <defaults>, as in the profile,
as in the element's class.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from formiga.errors import WorldError, suggest
from formiga.world import placement, robots  # noqa: F401  they register their elements
from formiga.world.brought import bring, tags
from formiga.world.elements import RESERVED, Element, kinds_of, locate, registered
from formiga.world.kinds import Kind
from formiga.world.model import IN_ROBOT, IN_WORLD, PARTS, Contact, Group, Include, Param, World, only_one
from formiga.world.nodes import LARGEST_FILE, MOST_ELEMENTS, Node, load, parse
from formiga.world.objects import HOLDS, Object, placed
from formiga.world.params import Params

MOST_INCLUDES = 1_000
MOST_PLACED = 10_000   # parts of objects in all, counted once for each object that they are in
DEEPEST_INCLUDE = 50   # files that are inside each other
USUAL = Contact()      # of a world that does not say
INSIDE = ("solid", "render", "floor")  # tags whose relative paths stay in the folder of their file


def read(path: str | os.PathLike[str], parameters: Mapping[str, str | float] | None = None) -> World:
    """The world in a file; `parameters` replace the values of its `<param>` elements."""
    return read_all(path, parameters)[1]


def read_all(path: str | os.PathLike[str], parameters: Mapping[str, str | float] | None = None, data: bytes | None = None,
             ) -> tuple[bytes, World, dict[str, str]]:
    """A file's text, the world in it, and the values of its params, as `parameters` and the file give them.

    data: the text as it was read before, instead of what the file holds now.
    """
    file, each = os.fspath(path), Reader(parameters)
    data = load(file, f"{file}: ") if data is None else data
    return data, each.world(file, data, None), each.params.values()


def read_text(text: str, file: str = "<text>", parameters: Mapping[str, str | float] | None = None,
              unknown: Mapping[str, Element] | None = None) -> World:
    """The world written in `text`; `file` is what its complaints and its relative paths go by.

    unknown: by tag, what stands for elements that are not registered.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError as wrong:
        raise WorldError(f"{file}:{text.count(chr(10), 0, wrong.start) + 1}: "
                         f"character {text[wrong.start]!r} cannot stand in a world file.") from wrong
    if len(data) > LARGEST_FILE:
        raise WorldError(f"{file}:1: larger than {LARGEST_FILE >> 20} MB.")
    return Reader(parameters, unknown).world(file, data, "utf-8")


# -- nodes -> world -------------------------------------------------------------------------------------------------
class Reader:
    """What has been read so far, from top to bottom."""

    def __init__(self, parameters: Mapping[str, str | float] | None, unknown: Mapping[str, Element] | None = None) -> None:
        self.params = Params(parameters)
        self.known = {**(unknown or {}), **registered()}
        self.defaults: dict[str, dict[str, Any]] = {}
        self.unwritten: dict[tuple[str, str | None], dict[str, Any]] = {}  # by tag and profile
        self.parts: dict[str, list[Any]] = {role: [] for role in IN_WORLD}
        self.groups: list[tuple[Node, dict[str, Any]]] = []  # their names are given when all are known
        # by name: what holds their parts, the files that it is in, and how many parts were placed for it
        self.objects: dict[str, tuple[Node, dict[str, str], int]] = {}
        self.placed = 0
        self.includes = 0
        self.bytes = 0
        self.elements = 0

    def world(self, file: str, data: bytes, encoding: str | None) -> World:
        root = self.root(file, data, encoding)
        own = self.attributes(root, kinds_of(World))
        self.children(root, {os.path.realpath(file): file})
        try:
            self.params.check_overrides()
        except ValueError as wrong:
            raise root.wrong(f"{wrong}.") from wrong
        only_one(self.parts["setting"])
        only_one(self.parts["search"], "search")
        contact = next((setting for setting in self.parts["setting"] if isinstance(setting, Contact)), USUAL)
        return self.whole(root, World, {
            **own, "contact": contact, "things": self.row(self.parts["thing"]), "groups": self.row(self.named_groups()),
            "settings": self.row(setting for setting in self.parts["setting"] if setting is not contact),
            "fitness": self.row(self.parts["fitness"]), "search": next(iter(self.parts["search"]), None),
            "page": self.row(self.parts["page"])})

    # -- what a reader of many variants of a file makes once for all that share it: `variants.py` -----------------------
    def load(self, file: str, prefix: str) -> bytes:
        """The bytes of a file that another one includes."""
        return load(file, prefix)

    def row(self, elements: Iterable[Any]) -> tuple[Any, ...]:
        """Elements of one role, as the world has them."""
        return tuple(elements)

    def whole(self, node: Node, cls: Any, values: dict[str, Any]) -> Any:
        """A World or a Group, from the elements in it."""
        return _located(node, cls(**values))

    def put(self, parts: list[Any], frame: Object) -> list[Any]:
        """What an object holds, as things of the world."""
        return placed(parts, frame)

    def root(self, file: str, data: bytes, encoding: str | None) -> Node:
        self.bytes += len(data)
        node = parse(file, data, encoding, MOST_ELEMENTS - self.elements)
        self.elements += node.total
        return node

    def children(self, root: Node, files: dict[str, str]) -> None:
        """The elements of a <world>; `files` are those that are open, the innermost last: real path -> name."""
        for node in root.children:
            if node.tag == "include":
                self.include(node, files)
            elif node.tag == "param":
                self.param(node)
            elif node.tag == "defaults":
                self.remember_defaults(node)
            elif node.tag == "object":
                self.parts["thing"] += self.object(node, files)
            else:
                element = self.element(node, root, IN_WORLD, ("include", "object", "param", "defaults"))
                if element.role == "robot":
                    self.group(node, element)
                else:
                    self.parts[element.role].append(self.build(node, element))

    # -- the format's own elements -------------------------------------------------------------------------------
    def include(self, node: Node, files: dict[str, str]) -> None:
        self.leaf(node)
        own = self.attributes(node, kinds_of(Include))
        _complete(node, own, kinds_of(Include))
        self.children(*self.included(node, own["file"], files))

    def included(self, node: Node, named: str, files: dict[str, str]) -> tuple[Node, dict[str, str]]:
        """The root of a file that an element names, and the files that are open then."""
        file = os.path.join(os.path.dirname(node.where.file), named)
        real = os.path.realpath(file)
        _refuse_include(node, named, file, next(iter(files.values())))
        if real in files:
            raise node.wrong(f"<{node.tag}> goes in a circle: {' -> '.join([*files.values(), file])}.")
        if len(files) > DEEPEST_INCLUDE:
            raise node.wrong(f"<{node.tag}> '{file}' would be inside {len(files)} other files; at most {DEEPEST_INCLUDE} "
                             "includes may be inside each other.")
        self.includes += 1
        data = self.load(file, f"{node.where}: <{node.tag}> {file}: ")
        if self.includes > MOST_INCLUDES or self.bytes + len(data) > LARGEST_FILE:
            raise node.wrong(f"more than {MOST_INCLUDES} includes, or more than {LARGEST_FILE >> 20} MB in all.")
        return self.root(file, data, None), {**files, real: file}

    def object(self, node: Node, files: dict[str, str]) -> list[Any]:
        """What an object holds, as things of the world, or of the object around it."""
        own = self.attributes(node, kinds_of(Object))
        frame = Object(**own)
        if sum((bool(node.children), frame.like is not None, frame.file is not None)) != 1:
            raise node.wrong("<object> holds elements, or is like another (like), or comes from a file (file): one of these.")
        holder, around, before = node, files, self.placed
        if frame.like is not None:
            if frame.like not in self.objects:
                raise node.wrong(f"<object> like: there is no object '{frame.like}' before it."
                                 f"{suggest(frame.like, self.objects)} There are: {', '.join(self.objects) or 'none'}.")
            holder, around, count = self.objects[frame.like]
            self.refuse_many(node, count)  # before they are made: objects of objects double quickly
        elif frame.file is not None:
            holder, around = self.included(node, frame.file, files)
        parts: list[Any] = []
        for child in holder.children:
            if child.tag == "object":
                parts += self.object(child, around)
            elif child.tag in HOLDS:
                parts.append(self.build(child, self.known[child.tag]))
            else:
                allowed = ", ".join(f"<{tag}>" for tag in (*HOLDS, "object"))
                raise child.wrong(f"<{child.tag}> cannot stand in an <object>. Allowed here: {allowed}.")
        self.refuse_many(node, len(parts))
        self.placed += len(parts)
        self.objects[frame.name] = holder, around, self.placed - before
        return self.put(parts, frame)

    def refuse_many(self, node: Node, more: int) -> None:
        """Complain if the objects of the world would hold too many parts."""
        if self.placed + more > MOST_PLACED:
            raise node.wrong(f"<object>: the objects of a world have at most {MOST_PLACED:,} parts, counted once for each "
                             "object that they are in.")

    def param(self, node: Node) -> None:
        self.leaf(node)
        own = self.attributes(node, kinds_of(Param))
        _complete(node, own, kinds_of(Param))
        try:
            self.params.define(own["name"], own["value"], node.where)
        except ValueError as wrong:
            raise node.wrong(f"<param> {wrong}.") from wrong

    def remember_defaults(self, node: Node) -> None:
        self.attributes(node, {})
        for child in node.children:
            element = self.element(child, node, (*IN_WORLD, *IN_ROBOT))
            self.leaf(child)
            self.defaults.setdefault(child.tag, {}).update(self.attributes(child, kinds_in_file(element)))

    # -- registered elements -------------------------------------------------------------------------------------
    def element(self, node: Node, parent: Node, roles: tuple[str, ...], own: Iterable[str] = ()) -> Element:
        """The registered element of a node, if it may stand in `parent`."""
        known = self.known.get(node.tag) or bring(node.tag)
        if known and known.role in roles:
            self.known[node.tag] = known
            return known
        allowed = [*own, *(tag for tag, other in self.known.items() if other.role in roles)]
        here = f"Allowed here: {', '.join(f'<{tag}>' for tag in allowed)}."
        if known or node.tag in RESERVED:
            raise node.wrong(f"<{node.tag}> cannot stand in <{parent.tag}>. {_belongs(known)}{here}")
        meant = re.sub("'(.*)'", r"<\1>", suggest(node.tag, [*allowed, *tags()]))
        raise node.wrong(f"<{node.tag}> is unknown.{meant} {here} "
                         "If it is your own, pass its file with --with FILE.py.")

    def leaf(self, node: Node) -> None:
        if node.children:
            child = node.children[0]
            raise child.wrong(f"<{child.tag}> cannot stand in <{node.tag}>; <{node.tag}> has attributes only.")

    def attributes(self, node: Node, kinds: Mapping[str, Kind]) -> dict[str, Any]:
        """The attributes that are written, as values; one that has a new name may be written with its former one."""
        values: dict[str, Any] = {}
        aliases = self.known[node.tag].aliases if node.tag in self.known else {}
        for written, text in node.attributes.items():
            name = aliases.get(written, written)
            if name in values:
                raise node.wrong(f"<{node.tag}> has '{name}' twice: '{written}' is its former name. Leave one out.")
            if name not in kinds:
                accepts = f"It accepts: {', '.join(kinds)}" if kinds else "It has none"
                raise node.wrong(f"<{node.tag}> has no attribute '{name}'.{suggest(name, kinds)} {accepts}.")
            filled, source = text, ""
            try:
                if "${" in text:
                    filled = self.params.expand(text)
                    source = f" (written: {text[:60]})"
                values[name] = kinds[name].parse(filled)
            except ValueError as wrong:
                raise node.wrong(f"<{node.tag}> {name}: {wrong}{source}.") from wrong
            if kinds[name].base == "file" and node.tag not in ("include", "object"):
                given, values[name] = values[name], _existing(node, name, values[name])
                own = node.tag in self.known and self.known[node.tag].role == "page"
                if own or (node.tag in INSIDE and not os.path.isabs(given)):
                    _refuse_outside(node, name, values[name])
        return values

    def given(self, node: Node, element: Element) -> dict[str, Any]:
        """What is written at the node or in <defaults>."""
        return self.defaults.get(node.tag, {}) | self.attributes(node, kinds_in_file(element))

    def build(self, node: Node, element: Element, around: str | None = None) -> Any:
        """A thing, setting, placement, sensor ...; `around` is the profile of its robot."""
        self.leaf(node)
        return self.make(node, element, self.given(node, element), around)

    def make(self, node: Node, element: Element, given: dict[str, Any], around: str | None = None) -> Any:
        profile = given.get("profile", element.profile(around))
        if (node.tag, profile) not in self.unwritten:
            self.unwritten[node.tag, profile] = element.defaults(profile)
        values = self.unwritten[node.tag, profile] | given
        _complete(node, values, element.kinds)
        try:
            return _located(node, element.cls(**values))
        except WorldError as wrong:
            raise node.wrong(str(wrong)) from wrong
        except (ValueError, TypeError, ArithmeticError, LookupError, OSError) as wrong:  # from a class of the user's
            raise node.wrong(f"<{node.tag}>: {wrong}.") from wrong

    def group(self, node: Node, element: Element) -> None:
        """A robot's element: the robot, how many of it, where, and what they carry."""
        given = self.given(node, element)
        values = {name: given.pop(name) for name in kinds_of(Group) if name in given}
        robot = self.make(node, element, given)
        parts: dict[str, list[Any]] = {role: [] for role in IN_ROBOT}
        for child in node.children:
            known = self.element(child, node, IN_ROBOT)
            parts[known.role].append(self.build(child, known, robot.profile))
        only_one(parts["controller"], "controller")
        self.groups.append((node, {
            **values, "robot": robot, "controller": next(iter(parts["controller"]), None),
            **{field: self.row(parts[role]) for role, field in PARTS.items()}}))

    def named_groups(self) -> Iterator[Group]:
        """The groups; those without a name take their tag, and a number if it is taken."""
        taken = {values["name"] for _, values in self.groups if "name" in values}
        numbers: dict[str, int] = {}  # all smaller ones are taken
        for node, values in self.groups:
            if "name" not in values:
                number = numbers.get(node.tag, 1)
                while (name := node.tag if number == 1 else f"{node.tag}{number}") in taken:
                    number += 1
                numbers[node.tag] = number + 1
                taken.add(name)
                values = {**values, "name": name}
            yield self.whole(node, Group, values)


def kinds_in_file(element: Element) -> dict[str, Kind]:
    """Attributes of an element in a file; a robot's element has those of its group too."""
    return {**kinds_of(Group), **element.kinds} if element.role == "robot" else element.kinds


def _complete(node: Node, values: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
    if missing := [name for name in kinds if name not in values]:
        words = [f"'{name}' ({'; '.join(filter(None, (kind.describe(), kind.range(), kind.doc)))})"
                 for name, kind in kinds.items() if name in missing]
        raise node.wrong(f"<{node.tag}> needs {' and '.join(words)}.")


def _existing(node: Node, name: str, value: str) -> str:
    path = os.path.abspath(os.path.join(os.path.dirname(node.where.file), value))
    if not os.path.isfile(path):
        raise node.wrong(f"<{node.tag}> {name}: no file '{value[:200]}' beside {node.where.file}.")
    return path


def _refuse_outside(node: Node, name: str, path: str) -> None:
    """What a world brings along for people is text of its own: it may not make one's other files its text."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(node.where.file)))
    if not os.path.realpath(path).startswith(os.path.join(folder, "")):
        raise node.wrong(f"<{node.tag}> {name}: the file must lie in the folder of {node.where.file}, or below it.")


def _refuse_include(node: Node, given: str, file: str, main: str) -> None:
    """A world may come from anywhere: what it includes lies in the folder of its main file or below it, links resolved."""
    folder = os.path.dirname(os.path.abspath(main))
    inside = not os.path.isabs(given) and _below(os.path.abspath(file), folder)
    if not inside or not _below(os.path.realpath(file), os.path.realpath(folder)):
        what = "a link to a file that" if inside else "which"
        raise node.wrong(f"<{node.tag}> names '{given[:80]}', {what} is not in its own folder; included files lie in the "
                         f"folder of {main}, or below it, and have relative paths.")


def _below(path: str, folder: str) -> bool:
    return os.path.join(path, "").startswith(os.path.join(folder, ""))


def _belongs(element: Element | None) -> str:
    if element is None:
        return ""
    return "It belongs in a robot's element. " if element.role in IN_ROBOT else "It belongs in <world>. "


def _located(node: Node, thing: Any) -> Any:
    locate(thing, node.where)
    return thing
