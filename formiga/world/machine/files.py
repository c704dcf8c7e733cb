"""The files of a machine: its MJCF or URDF and every file that this names, checked before MuJoCo opens any of them.

All of them lie in the folder of the first one or below it, symbolic links resolved; none is large, and none makes much of
little: a texture, a height field or a replicated body has a size that is written in a few characters and costs gigabytes.
A complaint begins with the file and the line of the mistake.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from lxml import etree

LARGEST_XML = 16 * 2**20      # bytes, of one XML file
LARGEST_FILES = 256 * 2**20   # bytes, of all files together
MOST_FILES = 1000
DEEPEST = 16                  # files inside each other
MOST_ELEMENTS = 20_000        # in all XML files, each as often as it is replicated or attached
MOST_PIXELS = 4096 * 4096     # of all pictures together
MOST = 1000                   # of anything else that is counted

NAMED = ("file", "filename", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
FOLDERS = ("meshdir", "texturedir", "assetdir")
XML = ("include", "model")    # elements that name another file of the same kind
COUNTED = {"hfield": ("nrow", "ncol"), "replicate": ("count",), "mesh": ("params",),
           "flexcomp": ("count", "cellcount"), "flex": ("cellcount",), "composite": ("count",),
           "size": ("nuserdata", "nkey", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam", "nuser_tendon",
                    "nuser_actuator", "nuser_sensor")}
GRIDS = ("flexcomp", "flex", "composite")   # the numbers of their counts are multiplied
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass
class Tree:
    """The files of a machine by their real paths, with their contents."""

    first: str
    files: dict[str, bytes] = field(default_factory=dict)

    def shown(self, path: str) -> str:
        """A path as it looks from the folder of the first file."""
        return os.path.relpath(path, os.path.dirname(self.first))

    def key(self, options: str) -> str:
        """A name that changes with the contents or the name of any file, and with the options."""
        contents = sha256(options.encode())
        for path, data in sorted(self.files.items()):
            contents.update(f"{self.shown(path)}\0{len(data)}\0".encode(errors="surrogateescape"))
            contents.update(data)
        return contents.hexdigest()


def check(path: str) -> Tree:
    """All files of a machine; ValueError with one sentence about the first that may not be."""
    if not os.path.isfile(path):
        raise ValueError("there is no such file" if not os.path.exists(path) else "it is not a file")
    return _Check(os.path.realpath(path)).tree


class _Check:
    def __init__(self, first: str) -> None:
        self.tree = Tree(first)
        self.folder = os.path.dirname(first)
        self.roots: dict[str, Any] = {}       # of the XML files, by real path
        self.beside = {""}                    # folders in which files are searched for, by the names that the files give them
        self.weights: dict[str, int] = {}     # elements of an XML file, with those inside it
        self.bytes = self.pixels = 0
        self.parse(first, "")
        self.gather()
        self.weigh(first, ())

    # -- XML -----------------------------------------------------------------------------------------------------------
    def parse(self, path: str, place: str) -> None:
        """Read an XML file; `place` is the line that names it."""
        data = self.load(path, place)
        if len(data) > LARGEST_XML:
            raise ValueError(f"{place}'{self.tree.shown(path)}' is larger than {LARGEST_XML >> 20} MB")
        # MuJoCo takes every file for UTF-8, whatever it declares.
        parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        try:
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as wrong:
            name = f"{place}'{self.tree.shown(path)}'" if place else "it"
            raise ValueError(f"{name} is no XML: {wrong}") from wrong
        if root.getroottree().docinfo.internalDTD is not None:
            raise ValueError(f"{self.tree.shown(path)}:1: a machine has no DOCTYPE and no entities; remove them")
        self.roots[path] = root
        for node in _elements(root):
            for attribute in FOLDERS:
                if given := node.get(attribute):
                    self.beside |= {given, self.inner(node, path, given)}

    def gather(self) -> None:
        """Read all XML files. A folder that one of them names may be where another is found, so all are gone through again."""
        for _ in range(DEEPEST + 1):
            before = len(self.roots), len(self.beside)
            for path, root in list(self.roots.items()):
                for node in _elements(root):
                    if _tag(node) in XML:
                        for other in self.named(node, path):
                            if other not in self.roots:
                                self.parse(other, self.line(node, path))
            if before == (len(self.roots), len(self.beside)):
                return
        raise ValueError(f"more than {DEEPEST} of its files are inside each other")

    def weigh(self, path: str, around: tuple[str, ...]) -> int:
        """Check the elements of a file; how many they are, each as often as it is replicated. `around`: the files around it."""
        if path in self.weights:
            return self.weights[path]
        root = self.roots[path]
        models = {node.get("name", ""): node for node in _elements(root) if _tag(node) == "model"}
        total, stack = 0, [(root, 1, root)]
        while stack:
            node, times, maker = stack.pop()
            if not isinstance(node.tag, str):
                continue
            self.count(node, path)
            if (tag := _tag(node)) == "replicate":
                times, maker = times * max(0, int(node.get("count", "1"))), node
            more = 1
            for other in self.named(models.get(node.get("model", ""), node) if tag == "attach" else node, path):
                if tag in (*XML, "attach"):
                    inside = self.inside(node, path, other, around)
                    more += 0 if tag == "model" else inside
                else:
                    self.picture(node, path, other)
            total += times * more
            if total > MOST_ELEMENTS:
                blame = maker if times > 1 else node
                raise ValueError(f"{self.line(blame, path)}<{_tag(blame)}> makes more than {MOST_ELEMENTS} elements of this "
                                 "machine; an element counts as often as it is replicated, attached or included")
            stack += [(child, times, maker) for child in reversed(node)]
        self.weights[path] = total
        return total

    def inside(self, node: Any, path: str, other: str, around: tuple[str, ...]) -> int:
        """The elements of another XML file."""
        if other in (path, *around):
            raise ValueError(f"{self.line(node, path)}'{self.tree.shown(other)}' is inside itself")
        return self.weigh(other, (*around, path))

    def line(self, node: Any, path: str) -> str:
        return f"{self.tree.shown(path)}:{node.sourceline}: "

    # -- numbers that stand for much -----------------------------------------------------------------------------------
    def count(self, node: Any, path: str) -> None:
        """Refuse an element whose few characters stand for too many things."""
        tag, place = _tag(node), self.line(node, path)
        for attribute in COUNTED.get(tag, ()):
            given, product = node.get(attribute, "0").strip(), 1
            for part in given.split() if tag in (*GRIDS, "mesh") else [given]:
                if not _up_to(part, MOST) or (tag != "mesh" and not re.fullmatch("-?[0-9]{1,9}", part)):
                    raise ValueError(f"{place}<{tag}> {attribute}: '{given[:40]}' is not a number up to {MOST}")
                product *= max(1, int(part)) if tag in GRIDS else 1
            if product > MOST:
                raise ValueError(f"{place}<{tag}> {attribute}: '{given[:40]}' makes {product} points; "
                                 f"at most {MOST} are allowed")
        if tag == "texture" and {"width", "height"} & set(node.attrib):
            width, height = (node.get(side, "").strip() for side in ("width", "height"))
            width, height = width or height, height or width
            if not re.fullmatch("[0-9]{1,9}", width) or not re.fullmatch("[0-9]{1,9}", height):
                raise ValueError(f"{place}<texture> width and height are whole numbers of pixels")
            faces = 6 if node.get("type", "cube") != "2d" and width == height else 1
            self.paint(int(width) * int(height) * faces, f"{place}<texture>")

    def paint(self, pixels: int, what: str) -> None:
        self.pixels += pixels
        if self.pixels > MOST_PIXELS:
            raise ValueError(f"{what} is too large: all pictures of a machine together have at most {MOST_PIXELS} pixels, "
                             "which is 4096 x 4096")

    def picture(self, node: Any, path: str, other: str) -> None:
        """A file that is no XML. A compressed picture says in its first bytes how large it will be."""
        data = self.load(other, self.line(node, path))
        if data.startswith(PNG) and len(data) >= 24:
            width, height = struct.unpack(">II", data[16:24])
            self.paint(width * height, f"{self.line(node, path)}'{self.tree.shown(other)}'")

    # -- files that are named ------------------------------------------------------------------------------------------
    def named(self, node: Any, path: str) -> list[str]:
        """The real paths of the files that an element names, wherever MuJoCo may look for them."""
        found: list[str] = []
        for attribute in NAMED:
            if not (given := node.get(attribute)):
                continue
            name = self.inner(node, path, given)
            for folder in {os.path.dirname(each) for each in self.roots}:
                for between in self.beside:
                    for each in {given, name, os.path.basename(name)}:
                        self.add(node, path, os.path.join(folder, between, each), found)
        return found

    def inner(self, node: Any, path: str, given: str) -> str:
        """A name that does not lead out of the folder by itself."""
        name = given.replace("\\", "/").removeprefix("package://")
        if name.startswith("/") or ".." in name.split("/") or ":" in name:
            raise ValueError(f"{self.line(node, path)[:-2]} names '{given[:80]}', which is not in its own folder")
        if re.search(r"\s", given):  # a line break reaches MuJoCo as such, and us as a blank
            raise ValueError(f"{self.line(node, path)[:-2]} names '{given[:80]}'; files of a machine have names without blanks")
        return name

    def add(self, node: Any, path: str, candidate: str, found: list[str]) -> None:
        if not os.path.lexists(candidate):
            return  # MuJoCo says which file it lacks
        real, place = os.path.realpath(candidate), self.line(node, path)[:-2]
        if not real.startswith(os.path.join(self.folder, "")):
            raise ValueError(f"{place} names '{self.tree.shown(candidate)}', a link to a file that is not in its own folder")
        if os.path.isfile(real) and real not in found:
            found.append(real)
        elif os.path.exists(real) and not os.path.isfile(real) and not os.path.isdir(real):
            raise ValueError(f"{place} names '{self.tree.shown(candidate)}', which is not a file")  # a pipe would be waited for

    def load(self, path: str, place: str) -> bytes:
        """The contents of a file; `place` is the line that names it."""
        if path not in self.tree.files:
            room = LARGEST_FILES - self.bytes
            with open(path, "rb") as stream:
                data = stream.read(room + 1)
            if len(data) > room or len(self.tree.files) == MOST_FILES:
                raise ValueError(f"{place}a machine has at most {MOST_FILES} files, and {LARGEST_FILES >> 20} MB in all")
            self.bytes += len(data)
            self.tree.files[path] = data
        return self.tree.files[path]


def _elements(root: Any) -> Any:
    return root.iter(etree.Element)


def _tag(node: Any) -> str:
    """The name without its namespace, which MuJoCo does not know."""
    return str(etree.QName(node).localname)


def _up_to(text: str, most: int) -> bool:
    try:
        return abs(float(text)) <= most
    except ValueError:
        return False
