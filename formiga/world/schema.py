"""The XML Schema (1.0) of world files, generated from the registered elements: `formiga schema > formiga.xsd`.

An editor that knows it completes elements and attributes, shows their meaning, and underlines mistakes while they are
typed. The reader and the schema go by the same `Kind`s and agree on elements, their places, attributes, numbers,
units, choices and plain numbers out of range. Only the reader can check:

- files: that they exist, what is in an included one, that includes do not go in circles;
- names: that groups, and the sensors of a group, have different ones; that a param's can be used in arithmetic;
- numbers of things: one arena, one of each setting, one controller, one placement, as many <at> as robots;
- values written with a unit: their range ('-5cm' for a radius); of a list with commas: its length and range;
  of any list: that it comes in whole groups (points are pairs);
- what ${...} gives: where it stands, the schema takes anything;
- commands, keys and names of aliases: for the schema, they are any text;
- of an object: that it holds elements, or is like another, or comes from a file;
- rules between attributes (a zone is a disc or a rectangle).

In one place the schema is the stricter one. An attribute that an element needs must stand at the element itself, while
the reader is also content if an earlier <defaults> has it. (XML Schema cannot look there, and to call every needed
attribute optional would hide the more common mistake.) An attribute that some profile supplies is optional here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from lxml import etree
from lxml.builder import ElementMaker

from formiga.units import SCALES
from formiga.world import placement, robots  # noqa: F401  they register their elements
from formiga.world.elements import REQUIRED, Element, kinds_of, registered
from formiga.world.kinds import COLOUR, HUGE, LARGEST, NAME, NUMBER, TINY, Kind
from formiga.world.model import IN_ROBOT, IN_WORLD, Group, Include, Param, World
from formiga.world.objects import HOLDS, Object

XS = "http://www.w3.org/2001/XMLSchema"
E = ElementMaker(namespace=XS, nsmap={"xs": XS})


def xsd() -> str:
    """The schema of all elements that are registered now."""
    types = _Types()
    known = registered()
    declared = [_complex_type(types, known[tag], known) for tag in known]
    declared += [_leaf(types, f"{tag}.defaults", known[tag].doc, _kinds(known[tag]), ()) for tag in known]
    for tag, own in (("include", Include), ("param", Param)):
        declared.append(_leaf(types, tag, own.__doc__ or "", kinds_of(own), kinds_of(own)))
    declared.append(E.complexType(
        _doc("Attributes that later elements of the same tag take if they do not have them."),
        _any(E.element(name=tag, type=f"{tag}.defaults") for tag in known), name="defaults"))
    declared.append(E.complexType(_doc(Object.__doc__ or ""), _any(E.element(name=tag, type=tag) for tag in (*HOLDS, "object")),
                                  *_attributes(types, kinds_of(Object), ()), name="object"))
    in_world = ["include", "object", "param", "defaults", *(tag for tag in known if known[tag].role in IN_WORLD)]
    world = E.complexType(_any(E.element(name=tag, type=tag) for tag in in_world),
                          *_attributes(types, kinds_of(World), ()))
    schema = E.schema(E.element(_doc(World.__doc__ or ""), world, name="world"), *declared, *types.declared.values())
    return etree.tostring(schema, pretty_print=True, encoding="unicode")


# -- elements -------------------------------------------------------------------------------------------------------
def _complex_type(types: _Types, element: Element, known: Mapping[str, Element]) -> Any:
    supplied = {attribute for profile in element.profiles.values() for attribute in profile}
    needed = {name for name in element.kinds if element.default(name) is REQUIRED} - supplied
    needed -= set(element.aliases.values())
    if element.role != "robot":
        return _leaf(types, element.tag, element.doc, _kinds(element), needed)
    children = [E.element(name=tag, type=tag) for tag in known if known[tag].role in IN_ROBOT]
    return E.complexType(_doc(element.doc), _any(children), *_attributes(types, _kinds(element), needed),
                         name=element.tag)


def _leaf(types: _Types, name: str, doc: str, kinds: Mapping[str, Kind], needed: Iterable[str]) -> Any:
    """An element with attributes only. It may hold white space; an empty type would refuse even a line break."""
    return E.complexType(_doc(doc), E.simpleContent(E.extension(*_attributes(types, kinds, needed), base="nothing.")),
                         name=name)


def _kinds(element: Element) -> dict[str, Kind]:
    """Attributes in a file: a robot's element has those of its group, too; one with a former name has that, too."""
    former = {alias: replace(element.kinds[name], doc=f"the former name of {name}") for alias, name in element.aliases.items()}
    return {**kinds_of(Group), **element.kinds, **former} if element.role == "robot" else {**element.kinds, **former}


def _any(elements: Iterable[Any]) -> Any:
    return E.choice(*elements, minOccurs="0", maxOccurs="unbounded")


def _attributes(types: _Types, kinds: Mapping[str, Kind], needed: Iterable[str]) -> list[Any]:
    return [E.attribute(_doc(_meaning(kind)), name=name, type=types.of(kind),
                        use="required" if name in needed else "optional") for name, kind in kinds.items()]


def _meaning(kind: Kind) -> str:
    return "; ".join(filter(None, (kind.describe(), kind.range(), kind.doc)))


def _doc(text: str) -> Any:
    return E.annotation(E.documentation(text.strip()))


# -- attributes -----------------------------------------------------------------------------------------------------
class _Types:
    """The simple types, one for each kind of attribute that differs in what it takes."""

    def __init__(self) -> None:
        self.declared: dict[str, Any] = {}
        self._names: dict[Kind, str] = {}
        self._declare("nothing.", E.restriction(E.maxLength(value="0"), base="xs:token"))
        self._declare("expression.", _pattern(r"[\s\S]*\$\{[\s\S]*\}[\s\S]*", base="xs:string"))

    def of(self, kind: Kind) -> str:
        """The name of the type of a kind."""
        if kind.base in ("text", "file"):
            return "xs:string"
        key = Kind(**{**kind.__dict__, "doc": ""})
        if key not in self._names:
            words = f"{'one of ' if kind.options else ''}{kind.describe()} {kind.range()}"
            if kind.size:
                words += f" {kind.size[0]} to {kind.size[1] or 'any'}"
            name = re.sub(r"[^A-Za-z0-9-]+", "_", words).strip("_")
            name += "_" * sum(other.rstrip("_") == name for other in self._names.values())  # 0.5 and 5 give one name
            self._names[key] = name
            self._declare(name, E.union(memberTypes=f"{' '.join(self._members(name, kind))} expression."))
        return self._names[key]

    def _declare(self, name: str, *content: Any) -> str:
        assert name not in self.declared, name
        self.declared[name] = E.simpleType(*content, name=name)
        return name

    def _members(self, name: str, kind: Kind) -> list[str]:
        """The types of what may be written, other than an expression."""
        if kind.base in ("flag", "choice"):
            options = kind.options or ("true", "false")
            word = E.restriction(*(E.enumeration(value=option) for option in options), base="xs:token")
            return [self._declare(f"{name}.word", word)]
        if kind.base in ("name", "colour"):
            return [self._declare(f"{name}.text", _pattern(NAME if kind.base == "name" else COLOUR))]
        numbers = [self._declare(f"{name}.plain", _plain(kind))]
        units = "|".join(SCALES[kind.unit])
        if units:
            space = "" if kind.size else " ?"
            numbers.append(self._declare(f"{name}.unit", _pattern(f"{NUMBER}{space}({units})")))
        if kind.size is None:
            return numbers
        item = self._declare(f"{name}.item", E.union(memberTypes=" ".join(numbers)))
        items = self._declare(f"{name}.items", E.list(itemType=item))
        fewest, most = kind.size
        length = [E.minLength(value=str(fewest))] + ([] if most is None else [E.maxLength(value=str(most))])
        plain = "[-+]?[0-9]+" if kind.base == "integer" else NUMBER
        number = f"{plain}({units})?" if units else plain
        commas = self._declare(f"{name}.commas", _pattern(f"{number}( ?, ?{number}| {number})*"))
        return [self._declare(f"{name}.list", E.restriction(*length, base=items)),
                self._declare(f"{name}.list_with_commas", _pattern(".*,.*", base=commas))]


def _plain(kind: Kind) -> Any:
    """A number without a unit, within its range."""
    whole = kind.base == "integer"
    def digits(number: float) -> str:
        return str(int(number)) if whole else repr(float(number))

    low = E.minInclusive(value=str(-LARGEST) if whole else repr(-HUGE))
    if kind.least is not None:
        low = E.minInclusive(value=digits(kind.least))
    if kind.above is not None:
        low = E.minInclusive(value=repr(TINY)) if kind.above == 0.0 else E.minExclusive(value=digits(kind.above))
    high = digits(kind.most) if kind.most is not None else str(LARGEST) if whole else repr(HUGE)
    pattern = E.pattern(value=_xsd_regex("[-+]?[0-9]+" if whole else NUMBER))
    return E.restriction(pattern, low, E.maxInclusive(value=high), base="xs:long" if whole else "xs:double")


def _pattern(regex: str, base: str = "xs:token") -> Any:
    return E.restriction(E.pattern(value=_xsd_regex(regex)), base=base)


def _xsd_regex(regex: str) -> str:
    return regex.replace("(?:", "(")  # XML Schema has no other groups than these
