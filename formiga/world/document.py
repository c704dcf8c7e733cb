"""A world file and worlds that were edited from it: text -> the same text with what has changed.

Elements that an edit left alone stay as they were typed, with their comments, params and arithmetic. An element that changed
gets the new values of the attributes concerned. What was written is read again before it counts: if it does not give the edited
world, digit for digit, the world is written anew (`writer.to_text`), and the first line of the file says what was lost.

A file that formiga wrote begins with a line that carries a checksum of the rest, so that an edit by hand can be told.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree

from formiga.errors import FormigaError, WorldError
from formiga.world import reader, writer
from formiga.world.elements import kinds_of, of, origin, registered
from formiga.world.kinds import Kind
from formiga.world.model import IN_WORLD, Contact, Group, World
from formiga.world.nodes import load, tree
from formiga.world.objects import HOLDS, Within
from formiga.world.params import written
from formiga.world.placement import At

KEPT = "a world as it stood."
ANEW = "a world as it stood, written anew: comments, params, arithmetic, includes and defaults were not kept."
_HEADER = re.compile(r"<!-- Written by formiga ([0-9a-f]{8}): [^\n]*-->\r?\n")

Line = tuple[Any, Any]   # an element, and the XML node that it came from; None if that stands in an included file


class _CannotKeep(Exception):
    """The text cannot say what the edited world is."""


@dataclass(frozen=True)
class Document:
    """The text of a world file, and what it gives."""

    file: str
    data: bytes
    parameters: Mapping[str, str | float]   # that replaced values of its <param> elements
    world: World
    params: Mapping[str, str]               # name -> value of each <param>, in the order of the file

    @classmethod
    def read(cls, path: str | os.PathLike[str], parameters: Mapping[str, str | float] | None = None) -> Document:
        """The document in a file; `parameters` replace the values of its `<param>` elements."""
        own = dict(parameters or {})
        data, world, params = reader.read_all(path, own)
        return cls(os.fspath(path), data, own, world, params)

    def given(self, parameters: Mapping[str, str | float]) -> Document:
        """The same text, read again with these parameters: classes of elements may be others by now."""
        _, world, params = reader.read_all(self.file, parameters, self.data)
        return Document(self.file, self.data, dict(parameters), world, params)

    def text(self, world: World, file: str | os.PathLike[str] | None = None) -> str:
        """The document of an edited world, to be kept as `file`; written anew if the old text cannot say it."""
        kept = self.kept(world, self.file if file is None else os.fspath(file))
        text, about = (writer.to_text(world), ANEW) if kept is None else (kept, KEPT)
        end = "\r\n" if self.data[:self.data.find(b"\n")].endswith(b"\r") else "\n"  # lines end as in the file
        return signed(text.replace("\n", end), about, end)

    def kept(self, world: World, file: str) -> str | None:
        """The old text with what has changed; None if that does not give the edited world."""
        data = self.data
        if ours := _HEADER.match(data[:500].decode(errors="replace")):
            data = data[len(ours.group().encode()):]
        root = tree(self.file, data, None, remove_pis=False)
        try:
            _Edit(root, self).make(world, os.path.dirname(os.path.abspath(file)))
            around = (*reversed(list(root.itersiblings(preceding=True))), root, *root.itersiblings())
            text = "".join(etree.tostring(each, encoding="unicode", with_tail=False) + "\n" for each in around)
            return text if reader.read_text(text, file) == world else None
        except (_CannotKeep, WorldError):
            return None


def signed(text: str, about: str = KEPT, end: str = "\n") -> str:
    """A world's text with the line by which `is_ours` knows it; `end` ends that line."""
    return f"<!-- Written by formiga {zlib.crc32(text.encode()):08x}: {about} -->{end}{text}"


def is_ours(path: str | os.PathLike[str]) -> bool:
    """Whether a file is as formiga wrote it: signed, and not edited since."""
    try:
        text = load(os.fspath(path), "").decode()
    except (FormigaError, UnicodeDecodeError):
        return False
    header = _HEADER.match(text)
    return header is not None and int(header.group(1), 16) == zlib.crc32(text[header.end():].encode())


class _Edit:
    """One edit of a tree."""

    def __init__(self, root: Any, document: Document) -> None:
        self.root, self.document, self.known = root, document, registered()
        self.nodes: dict[str, list[Any]] = {role: [] for role in IN_WORLD}
        for node in root:
            if isinstance(node.tag, str) and node.tag in self.known:
                self.nodes[self.known[node.tag].role].append(node)
        self.defaulted = {child.tag for node in root.iterchildren("defaults") for child in node}
        self.folder: str | None = None   # of the files that attributes name, if the document moves to another folder

    def make(self, new: World, folder: str) -> None:
        """Change the tree until it gives `new` when it is read from `folder`."""
        old, before = self.document.world, os.path.dirname(os.path.abspath(self.document.file))
        self.folder = None if folder == before else before
        if self.folder:
            self.move(before, folder)
        for node in self.root.iterchildren("param"):
            if (name := node.get("name")) in self.document.parameters:
                node.set("value", writer.escaped(written(name, self.document.parameters[name])))
        self.attributes(self.root, kinds_of(World), old, new)
        self.settings(old, new)
        self.role("thing", old.things, new.things)
        self.groups(old, new)
        self.role("fitness", old.fitness, new.fitness)
        self.role("search", (old.search,) if old.search else (), (new.search,) if new.search else ())
        self.role("page", old.page, new.page)

    def move(self, before: str, folder: str) -> None:
        """Files that are read as part of this one must lie in the new folder, or below it; what stands in objects names its
        files by their full paths."""
        for node in self.root.iter("include", "object"):
            if (named := node.get("file")) is not None:
                node.set("file", writer.escaped(os.path.relpath(os.path.join(before, named), folder)))
        for node in (child for held in self.root.iter("object") for child in held.iterchildren(*HOLDS)):
            for name, kind in self.known[node.tag].kinds.items():
                if kind.base == "file" and (named := node.get(name)) is not None:
                    node.set(name, writer.escaped(kind.format(os.path.join(before, named))))

    # -- elements of a world -------------------------------------------------------------------------------------------
    def settings(self, old: World, new: World) -> None:
        """There is at most one of each tag; <contact> is always there, written or not."""
        was = {of(each).tag: each for each in (old.contact, *old.settings)}
        now = {of(each).tag: each for each in (new.contact, *new.settings)}
        nodes = {node.tag: node for node in self.nodes["setting"]}
        for tag in (*was, *(tag for tag in now if tag not in was)):
            if tag in nodes and tag in now:
                self.attributes(nodes[tag], of(now[tag]).kinds, was[tag], now[tag])
            elif tag in nodes:
                _remove(nodes[tag])
            elif was.get(tag, Contact()) != now.get(tag):
                self.add(self.root, now.get(tag))

    def role(self, role: str, old: Sequence[Any], new: Sequence[Any]) -> None:
        """Elements of one role: the same ones at both ends stay; between them those of the same tag and name are paired."""
        if old == new and not self.folder:
            return
        lines, fresh = self.lines(role, old), list(new)
        first, last = 0, 0
        while first < min(len(lines), len(fresh)) and lines[first][0] == fresh[first]:
            first += 1
        while last < min(len(lines), len(fresh)) - first and lines[-1 - last][0] == fresh[-1 - last]:
            last += 1
        for element, node in (*lines[:first], *lines[len(lines) - last:]):
            self.change(node, element, element)
        middle = lines[first:len(lines) - last]
        after = lines[first - 1][1] if first else None
        for element in fresh[first:len(fresh) - last]:
            while middle and _key(middle[0][0]) != _key(element) and _key(element) in map(_key, (line[0] for line in middle)):
                self.remove(middle.pop(0)[1])
            if middle and _key(middle[0][0]) == _key(element):
                before, after = middle.pop(0)
                self.change(after, before, element)
            else:
                after = self.add(self.root, element, after)
        for _, node in middle:
            self.remove(node)

    def lines(self, role: str, old: Sequence[Any]) -> list[Line]:
        """Each element with its node; those of included files have none here."""
        nodes = iter(self.nodes[role])
        found = [(each, next(nodes, None) if self.here(each) else None) for each in old]
        if next(nodes, None) is not None:
            raise _CannotKeep
        return found

    def here(self, element: Any) -> bool:
        """Whether an element stands in this file, and not in one that it includes or in an <object>."""
        place = origin(element)
        return place is not None and place.file == self.document.file and not isinstance(place, Within)

    def change(self, node: Any, old: Any, new: Any) -> None:
        """Give a node the attributes that its element has now."""
        if node is not None:
            self.attributes(node, of(new).kinds, old, new)
        elif old != new:
            raise _CannotKeep

    def remove(self, node: Any) -> None:
        """Take an element out."""
        if node is None:
            raise _CannotKeep
        _remove(node)

    def add(self, parent: Any, element: Any, after: Any = None, around: str | None = None) -> Any:
        """Write a new element behind another, or at the end."""
        return self.place(parent, writer.element_node(parent, element, around), element, after)

    def place(self, parent: Any, node: Any, element: Any, after: Any = None) -> Any:
        """Put a node that was just written where it belongs; <defaults> of its tag do not count for it."""
        if node.tag in self.defaulted:
            for name, kind in of(element).kinds.items():
                if (value := getattr(element, name)) is not None:
                    node.set(name, writer.escaped(kind.format(value)))
        parent.remove(node)
        _insert(parent, node, after)
        return node

    # -- robots --------------------------------------------------------------------------------------------------------
    def groups(self, old: World, new: World) -> None:
        """Groups have names of their own; new ones come last."""
        nodes = dict(zip((group.name for group in old.groups if self.here(group)), self.nodes["robot"], strict=False))
        now = {group.name: group for group in new.groups}
        for group in old.groups:
            node = nodes.get(group.name)
            if group.name not in now:
                self.remove(node)
            elif node is not None:
                self.group(node, group, now[group.name])
            elif group != now[group.name]:
                raise _CannotKeep
        for name, group in now.items():
            if all(name != each.name for each in old.groups):
                self.place(self.root, writer.group_node(self.root, group), group.robot)

    def group(self, node: Any, old: Group, new: Group) -> None:
        """A group: its own attributes, those of its robots, and what they carry."""
        if type(old.robot) is not type(new.robot):
            raise _CannotKeep
        self.attributes(node, kinds_of(Group), old, new)
        self.attributes(node, of(new.robot).kinds, old.robot, new.robot)
        around, children = new.robot.profile, [child for child in node if isinstance(child.tag, str)]
        if len(children) != sum(len(parts) for parts in old.carried.values()):
            raise _CannotKeep
        for role, parts in new.carried.items():
            mine = [child for child in children if self.known[child.tag].role == role]
            before = old.carried[role]
            if role == "placement":
                self.placement(node, mine, before, parts)
            elif [of(part).tag for part in before] == [of(part).tag for part in parts]:
                for child, was, now in zip(mine, before, parts, strict=True):
                    self.change(child, was, now)
            else:
                after = mine[-1].getprevious() if mine else None
                for child in mine:
                    _remove(child)
                for part in parts:
                    after = self.add(node, part, after, around)

    def placement(self, node: Any, mine: list[Any], old: Sequence[Any], new: Sequence[Any]) -> None:
        """Rules that changed are replaced; of single places only those that moved."""
        if old == new:
            return
        if len(old) == len(new) and all(isinstance(rule, At) for rule in (*old, *new)):
            for child, was, now in zip(mine, old, new, strict=True):
                self.change(child, was, now)
            return
        after: Any = node   # behind the opening tag
        for child in mine:
            after = child.getprevious() if child is mine[0] and child.getprevious() is not None else after
            _remove(child)
        for rule in new:
            after = self.add(node, rule, after)

    # -- attributes ----------------------------------------------------------------------------------------------------
    def attributes(self, node: Any, kinds: Mapping[str, Kind], old: Any, new: Any) -> None:
        """Write those that differ; files by their full path if the document moves. What is written again gets its new name."""
        former = self.known[node.tag].aliases if node.tag in self.known else {}
        for name, kind in kinds.items():
            before, now = getattr(old, name), getattr(new, name)
            if before == now and not (self.folder and kind.base == "file" and name in node.attrib):
                continue
            for alias in [alias for alias, stands_for in former.items() if stands_for == name]:
                node.attrib.pop(alias, None)
            if now is None:
                node.attrib.pop(name, None)
            else:
                node.set(name, writer.escaped(kind.format(now)))


def _key(element: Any) -> tuple[str, str]:
    return of(element).tag, str(element.name) if "name" in of(element).kinds else ""


# -- nodes with the white space between them -----------------------------------------------------------------------------
def _insert(parent: Any, node: Any, after: Any) -> None:
    """Put a node on a line of its own behind `after`: at the end if that is None, at the beginning if it is the parent."""
    depth = 1 + sum(1 for _ in parent.iterancestors())
    inner, outer = "\n" + "  " * depth, "\n" + "  " * (depth - 1)
    children = list(parent)
    index = len(children) if after is None else 0 if after is parent else children.index(after) + 1
    if index == 0:
        parent.text, tail = inner, parent.text if children else outer
    else:
        before = children[index - 1]
        before.tail, tail = inner, before.tail if index < len(children) or (before.tail or "").strip(" ") else outer
    parent.insert(index, node)
    node.tail = tail


def _remove(node: Any) -> None:
    """Take a node out, with the white space in front of it."""
    parent, before, tail = node.getparent(), node.getprevious(), node.tail
    if node.getnext() is None and before is not None:
        before.tail = tail
    elif node.getnext() is None:
        parent.text = tail
    parent.remove(node)


__all__ = ["ANEW", "KEPT", "Document", "is_ours", "signed"]
