"""Variants of one file: the same text with other values of its params, read once for all of them.

    varied = read("corral.xml", {"side": [2.0, 2.5, 3.0]})
    varied.worlds[1] == reader.read("corral.xml", {"side": 2.5})

A file is parsed once. Of each further variant only the elements are made whose attributes, defaults or profile became others,
and what is around them; all others are the very same objects, so that an engine can tell by identity what differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable
from unicodedata import normalize

import numpy as np

from formiga.errors import INSTEAD, CannotDiffer, Where, WorldError
from formiga.world.document import Document
from formiga.world.elements import Element
from formiga.world.kinds import Kind
from formiga.world.model import World
from formiga.world.nodes import Node, load
from formiga.world.objects import Object
from formiga.world.params import written
from formiga.world.reader import Reader, kinds_in_file
from formiga.world.shipped import Given, world_file

Texts = str | bool | int | float | None
Params = Mapping[str, Any]       # name of a <param> -> one value, or an array or a list of one for each world
NAMES = re.compile(r"[^\W\d]\w*")
PLAIN = (str, bool, int, float, type(None))
LONGEST_VALUE = 40               # characters of a value in a message


@runtime_checkable
class Column(Protocol):
    """What numpy, pandas and Arrow hold values in."""

    def __array__(self, *given: Any) -> Any: ...


@dataclass(frozen=True)
class Varied:
    """The worlds of one batch, and what makes them differ."""

    worlds: tuple[World, ...]
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # name of a <param> -> its value in each world
    places: Mapping[str, Where] = field(default_factory=dict)          # where it stands
    _read: Callable[[Mapping[str, Any]], World] | None = None
    first: int = 0                          # number of the first of them, when several threads share a batch

    def __bool__(self) -> bool:
        return True

    def blamed(self, wrong: CannotDiffer, check: Callable[[Sequence[World]], object]) -> CannotDiffer:
        """The same complaint with the name of the param that is to blame: the first that `check` refuses alone."""
        first, other = ({name: values[w] for name, values in self.values.items()} for w in (0, wrong.world))
        read = self._read
        changed = [name for name in first if first[name] != other[name]]
        for name in changed if len(changed) > 1 else ():
            try:
                assert read is not None  # params come with the file
                check((self.worlds[0], read(first | {name: other[name]})))
            except CannotDiffer as alone:
                return self._named([name], alone.what, wrong.world, alone.why)
            except WorldError:  # the values of one world do not go with those of another
                continue
        return self._named(changed, wrong.what, wrong.world, wrong.why) if changed else wrong

    def _named(self, names: Sequence[str], what: str, world: int, why: str) -> CannotDiffer:
        values = ", ".join(f"{name} = {str(self.values[name][world])[:LONGEST_VALUE]}" for name in names)
        many = len(names) > 1
        return CannotDiffer(what, world, why, f"{self.places[names[0]]}: param{'s' * many} "
                            f"{' and '.join(map(repr, names))} change{'s' * (not many)} {what}, {why} "
                            f"(world {world + self.first} has {values}); {INSTEAD}.")


def read(given: Given | Document, params: Params, worlds: int | None = None) -> Varied:
    """The worlds that a file describes with these values of its params. worlds: how many; None: as many as there are values.

    given: a file, the name of a shipped world, or a Document, whose own parameters hold where `params` names no other.
    """
    if isinstance(given, World):
        raise WorldError(f"'{next(iter(params), '')}' is a parameter of a world's file, and this world was read already. "
                         "Give the file, or the name of a shipped world.")
    file, data, own = (given.file, given.data, dict(given.parameters)) if isinstance(given, Document) \
        else (world_file(given), None, {})
    count, values = _values(params, worlds)
    once = _Once(file, load(file, f"{file}: ") if data is None else data)
    places: dict[str, Where] = {}

    found: list[World] = []
    for w in range(count):
        reader = _Again(own | {name: each[w] for name, each in values.items()}, once)
        try:
            found.append(reader.read(places))
        except WorldError as wrong:
            if not values.keys() <= reader.params.values().keys():
                raise  # there is no such param in any world
            which = ", ".join(f"{name} = {str(each[w])[:LONGEST_VALUE]}" for name, each in values.items())
            raise WorldError(f"{str(wrong).removesuffix('.')} (world {w} of the batch, with {which}).") from wrong
    return Varied(tuple(found), values, places, lambda given: _Again(own | dict(given), once).read({}))


def rows(varied: Varied, first: int, last: int) -> Varied:
    """Some worlds of a batch."""
    return replace(varied, worlds=varied.worlds[first:last], first=varied.first + first,
                   values={name: values[first:last] for name, values in varied.values.items()})


def _values(params: Params, worlds: int | None) -> tuple[int, dict[str, list[Any]]]:
    """How many worlds there are, and the values of each param in them, as plain numbers and texts."""
    if not isinstance(params, Mapping):
        raise WorldError(f"params must be a dict of the name of a <param> -> its values, not {type(params).__name__}.")
    lists: dict[str, list[Any]] = {}
    for name, given in params.items():
        values = np.asarray(given).tolist() if isinstance(given, Column) else given
        if isinstance(values, list | tuple | range):
            lists[str(name)] = [value.item() if isinstance(value, np.generic) else value for value in values]
        else:
            lists[str(name)] = [values]
        if not lists[str(name)]:
            raise WorldError(f"params: '{name}' has no values; give one, or one for each world.")
        for value in lists[str(name)]:
            try:
                written(str(name), value)
            except ValueError as wrong:
                raise WorldError(f"params: {wrong}, or one for each world.") from wrong
    several = {name: len(values) for name, values in lists.items() if len(values) != 1}
    if not several:  # all worlds are alike: one description serves them
        return 1, lists
    count = worlds if worlds is not None else next(iter(several.values()))
    for name, length in several.items():
        if length != count:
            raise WorldError(f"params: '{name}' has {length} values and there are {count} worlds; give one value, or one for "
                             "each world.")
    return count, {name: values if len(values) == count else values * count for name, values in lists.items()}


class _Once:
    """What was made so far, for all variants: nothing of it ever changes."""

    def __init__(self, file: str, data: bytes) -> None:
        self.file, self.data = file, data
        self.roots: dict[tuple[str, bytes], Node] = {}
        self.files: dict[str, bytes] = {}
        self.uses: dict[int, tuple[str, ...]] = {}  # by identity of a node, the names in its ${...}
        self.made: dict[Any, Any] = {}  # by identity of what it was made from, which is all kept here, too


class _Again(Reader):
    """Reads one more variant. Whatever was made from the same objects and texts before is taken as it is."""

    def __init__(self, parameters: Mapping[str, Any], once: _Once) -> None:
        super().__init__(parameters)
        self.once = once
        self.defaulted: dict[str, tuple[int, ...]] = {}  # by tag, the <defaults> that hold for it

    def read(self, places: dict[str, Where]) -> World:
        """The world."""
        world = self.world(self.once.file, self.once.data, None)
        places.update({name: self.params.place(name) for name in self.params.values()})
        return world

    def root(self, file: str, data: bytes, encoding: str | None) -> Node:
        if (file, data) not in self.once.roots:
            self.once.roots[file, data] = super().root(file, data, encoding)
        else:
            self.bytes += len(data)
            self.elements += self.once.roots[file, data].total
        return self.once.roots[file, data]

    def load(self, file: str, prefix: str) -> bytes:
        if file not in self.once.files:
            self.once.files[file] = super().load(file, prefix)
        return self.once.files[file]

    def attributes(self, node: Node, kinds: Mapping[str, Kind]) -> dict[str, Any]:
        uses = self.once.uses.get(id(node))
        if uses is None:
            uses = self.once.uses[id(node)] = _names([text for text in node.attributes.values() if "${" in text])
        key = (id(node), *map(self.params.now, uses))
        return self._known(key, lambda: super(_Again, self).attributes(node, kinds))

    def remember_defaults(self, node: Node) -> None:
        super().remember_defaults(node)
        for child in node.children:
            own = self.attributes(child, kinds_in_file(self.known[child.tag]))
            self.defaulted[child.tag] = (*self.defaulted.get(child.tag, ()), id(own))

    def make(self, node: Node, element: Element, given: dict[str, Any], around: str | None = None) -> Any:
        own = self.attributes(node, kinds_in_file(element))
        return self._known(("element", id(node), id(own), self.defaulted.get(node.tag), around),
                           lambda: super(_Again, self).make(node, element, given, around))

    def row(self, elements: Any) -> tuple[Any, ...]:
        made = super().row(elements)
        return self._known(("row", *map(id, made)), lambda: made)

    def whole(self, node: Node, cls: Any, values: dict[str, Any]) -> Any:
        key = tuple((name, type(value), value if isinstance(value, PLAIN) else id(value)) for name, value in values.items())
        return self._known((cls, id(node), key), lambda: super(_Again, self).whole(node, cls, values))

    def put(self, parts: list[Any], frame: Object) -> list[Any]:
        return list(self._known(("placed", tuple(map(id, parts)), frame), lambda: super(_Again, self).put(parts, frame)))

    def _known(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.once.made:
            self.once.made[key] = make()
        return self.once.made[key]


def _names(texts: list[str]) -> tuple[str, ...]:
    """All that could be the name of a param, also in the form in which Python reads it."""
    return tuple(sorted({name for text in texts for form in (text, normalize("NFKC", text)) for name in NAMES.findall(form)}))


__all__ = ["Column", "Params", "Varied", "read", "rows"]
