"""XML files as nodes that know their line. Whatever is wrong with the XML itself is said here.

The line of an element is the one on which its opening tag ends; that is what the parser tells.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree

from formiga.errors import Where, WorldError, reason
from formiga.world.kinds import SPACE

LARGEST_FILE = 16 * 2**20   # bytes, of a world file together with all that it includes
MOST_ELEMENTS = 200_000     # and comments, in a world file together with all that it includes
MOST_ATTRIBUTES = 200       # of one element
LONGEST_NAME = 100          # characters of a tag or an attribute
SCHEMA_HINT = "{http://www.w3.org/2001/XMLSchema-instance}"  # xsi:noNamespaceSchemaLocation, for editors


@dataclass(frozen=True)
class Node:
    """One XML element and where it stands."""

    tag: str
    attributes: dict[str, str]
    children: list[Node]
    where: Where
    total: int = 0  # of a root: elements and comments in its file

    def wrong(self, message: str) -> WorldError:
        """The error to raise about this element: one line, whatever stood in the file."""
        return WorldError(f"{self.where}: " + message.replace("\r", "\\r").replace("\n", "\\n"))


def load(file: str, prefix: str) -> bytes:
    """The bytes of a file; complaints begin with `prefix`."""
    try:
        if os.path.isdir(file):
            raise WorldError(f"{prefix}is a directory; a world is one XML file.")
        if os.path.exists(file) and not os.path.isfile(file):
            raise WorldError(f"{prefix}is not a file.")  # a pipe would keep us waiting for ever
        with open(file, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError as wrong:
        raise WorldError(f"{prefix}no such file.") from wrong
    except (OSError, ValueError) as wrong:  # ValueError: a null character in the name
        raise WorldError(f"{prefix}cannot be read ({reason(wrong)}).") from wrong
    if len(data) > LARGEST_FILE:
        raise WorldError(f"{prefix}larger than {LARGEST_FILE >> 20} MB.")
    return data


def parse(file: str, data: bytes, encoding: str | None, room: int = MOST_ELEMENTS) -> Node:
    """The root node of a file, which must be <world>; with at most `room` elements and comments in it."""
    root = tree(file, data, encoding)
    count = _count(root, file, room)
    node = replace(_node(root, file), total=count)
    if node.tag != "world":
        raise node.wrong(f"the root is <{node.tag}>; a world file begins with <world>.")
    return node


def tree(file: str, data: bytes, encoding: str | None, remove_pis: bool = True) -> Any:
    """The root of a file as an lxml element, with its comments; WorldError if it is not well-formed."""
    if not data.strip():
        raise WorldError(f"{file}:1: the file is empty; a world begins with <world>.")
    if data.startswith(b"PAR1"):  # Parquet
        raise WorldError(f"{file}: is a recording, not a world; `formiga view {file}` plays it.")
    _refuse_doctype(file, data)
    parser = etree.XMLParser(encoding=encoding, resolve_entities=False, no_network=True, load_dtd=False,
                             huge_tree=False, remove_pis=remove_pis, collect_ids=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as wrong:
        line, said = (wrong.lineno, wrong.msg) if isinstance(wrong, etree.XMLSyntaxError) else (None, None)
        line, reason = line or 1, re.sub(r",? line \d+, column \d+$", "", said or str(wrong))
        raise WorldError(f"{file}:{line}: not well-formed XML: {' '.join(reason.split())}.") from wrong
    if root.getroottree().docinfo.internalDTD is not None:  # in an encoding that hid it from _refuse_doctype
        raise WorldError(f"{file}:1: a world file has no DOCTYPE and no entities; remove them.")
    return root


def _refuse_doctype(file: str, data: bytes) -> None:
    """Refused before it is parsed: entities can read other files, and grow without bound."""
    plain = data.replace(b"\0", b"")  # UTF-16 looks like this
    plain = re.sub(rb"<!--.*?(?:-->|\Z)", lambda comment: b"\n" * comment.group().count(b"\n"), plain, flags=re.DOTALL)
    found = re.search(rb"<!(DOCTYPE|ENTITY)", plain)
    if found:
        line = plain.count(b"\n", 0, found.start()) + 1
        raise WorldError(f"{file}:{line}: a world file has no DOCTYPE and no entities; remove them.")


def _count(root: Any, file: str, room: int) -> int:
    """How many elements and comments there are; a complaint at one that is too many, or too large to be of ours."""
    count = 0
    for count, each in enumerate(root.iter(), start=1):
        if count > room:
            raise WorldError(f"{file}:{each.sourceline}: a world has at most {MOST_ELEMENTS} elements and comments, with "
                             "those of the files that it includes. Use 'count', <cylinders>, or one <wall> of many points.")
        if not isinstance(each.tag, str):
            continue
        if len(each.attrib) > MOST_ATTRIBUTES:
            raise WorldError(f"{file}:{each.sourceline}: <{_shown(each)[:LONGEST_NAME]}> has {len(each.attrib)} attributes; "
                             f"no element has more than {MOST_ATTRIBUTES}.")
        if (longest := max(len(each.tag), *map(len, each.attrib.keys()), 0)) > LONGEST_NAME:
            raise WorldError(f"{file}:{each.sourceline}: <{_shown(each)[:20]}> is, or has, a name of {longest} characters; "
                             f"no element and no attribute has one of more than {LONGEST_NAME}.")
    return count


def _node(element: Any, file: str) -> Node:
    """An lxml element as a node. Text between elements is refused: it would be ignored."""
    tag = _shown(element)
    line, text, children = element.sourceline, element.text or "", []
    for child in element:
        _refuse_text(text, tag, file, line)
        line, text = _last_line(child), child.tail or ""
        if isinstance(child.tag, str):
            children.append(_node(child, file))
    _refuse_text(text, tag, file, line)
    attributes = {name: value for name, value in element.attrib.items() if not name.startswith(SCHEMA_HINT)}
    return Node(tag, attributes, children, Where(file, element.sourceline))


def _refuse_text(text: str, tag: str, file: str, line: int) -> None:
    stray = text.strip(SPACE)
    if stray:
        line += text.count("\n", 0, text.index(stray[0]))
        raise WorldError(f"{file}:{line}: stray text {stray[:40]!r} in <{tag}>; everything is an attribute.")


def _last_line(element: Any) -> int:
    """The line on which an element or a comment ends."""
    if not isinstance(element.tag, str):
        return element.sourceline  # of a comment, the parser tells the last line
    if len(element) == 0:
        return element.sourceline + (element.text or "").count("\n")
    return _last_line(element[-1]) + (element[-1].tail or "").count("\n")


def _shown(element: Any) -> str:
    return str(element.tag)  # {namespace}name, if it has one
