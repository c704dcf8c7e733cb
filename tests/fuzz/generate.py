"""Worlds by chance, for both engines: sensible, extreme, slightly wrong and hostile ones. One seed is one world.

Elements and attributes come from the registry, so an element that is new today is fuzzed today. A sensible world is made first.
An extreme one is such a world with one to three values at or near the ends of what their attributes allow, a wrong one has one
or two mutations, a hostile one has many, and a torn one is no longer a whole file.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from lxml import etree

import formiga.lab  # noqa: F401  all elements register
from formiga.errors import FormigaError
from formiga.score.terms import TERMS
from formiga.units import SCALES
from formiga.world.elements import REQUIRED, Element, kinds_of, registered
from formiga.world.kinds import Kind
from formiga.world.model import Group, World

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
HALF = 1.2   # m, places are within this of the origin
HEAVY = ("ball", "puck", "block", "mirosot", "weld", "pin")   # only <contact model="impulse"/> knows masses in the plane
IN_THE_PLANE = ("position_noise", "heading_noise")
MADE_OF, SEAT = ("material", "wheel_material"), ("on", "z", "roll", "pitch")   # only in space; a seat: of sensors and robots
TEMPERS = ("sensible", "extreme", "wrong", "hostile", "torn")
WEIGHTS = (30, 40, 15, 10, 5)

# What no kind can know: words of other languages.
WORDS = {("fitness", "of"): tuple(TERMS), ("bind", "key"): ("w", "ArrowUp", "Ctrl+s", "7"), ("alias", "name"): ("+ahead", "go"),
         ("script", "run"): ("pause", "step 3"), ("bind", "run"): ("pause", "step 3"), ("alias", "run"): ("pause", "step $1"),
         ("machine", "left"): ("left",), ("machine", "right"): ("right",), ("machine", "smooth"): ("", "front back")}
FILES = {"machine": ("rover.xml", "rover.urdf"), "terrain": ("hills.png",), "proximity": ("table.csv",),
         "script": ("keys.fsh",), "floor": ("hills.png",), "map": ("plan.png", "plan.yaml")}
NUMBERS = ("nan", "inf", "-inf", "0", "-0.0", "-1", "1e-9", "1e9", "1e-12", "1e12", "1e-320", "1e308", "1e999", "999999999",
           "-999999999", "1e-6", "1e6", "1e4", "1e-4", "0.001", "1000", "100000", "2147483648", "9223372036854775807",
           "9223372036854775808", "1" * 400, "0x10", "1,5", "1 2", "", " ", "one", "1e", "--1", "1kg", "5parsec", "3 deg",
           "2m/s", "100%", "${1/0}", "${9**9**9}", "${nowhere}", "${2**100}", "${", "$${", "${-1}", "${1e-9*m}", "\u0661",
           "1_0", "+.e1")
TEXTS = ("", " ", "a b", "floor", "world", "sbot.0", "sbot.99999", "../x", "/etc/passwd", "no.xml", ".", "\u00e9\u4e2d",
         "a" * 300, "&lt;", "true", "TRUE", "1", "#12345", "#gggggg", "${", "r0/chassis", "light", "proximity", "-", "a\tb",
         "speed speed")


@dataclass
class Case:
    """A world file and the files beside it."""

    seed: int
    temper: str
    text: str
    files: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Put the files into a folder; the path of the world."""
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        world = folder / "world.xml"
        world.write_bytes(self.text.encode("utf-8", "surrogatepass"))
        return world


def case(seed: int) -> Case:
    """The world of a seed."""
    rng = Random(seed)
    temper = rng.choices(TEMPERS, WEIGHTS)[0]
    maker = _Maker(rng)
    root = maker.world()
    if temper == "extreme":
        for _ in range(rng.randint(1, 3)):
            _stretch(rng, root)
    elif temper == "wrong":
        for _ in range(rng.randint(1, 2)):
            _mutate(rng, root)
    elif temper == "hostile":
        for _ in range(rng.randint(3, 12)):
            _mutate(rng, root)
    text = etree.tostring(root, pretty_print=True, encoding="unicode")
    if temper == "torn":
        text = _tear(rng, text)
    return Case(seed, temper, text, maker.files)


# -- a sensible world --------------------------------------------------------------------------------------------------
class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.elements = registered()
        self.engine = rng.choice(("planar", "planar", "spatial"))
        self.files: dict[str, bytes] = {}
        self.params: list[str] = []
        self.names: dict[str, list[str]] = {}   # by tag
        self.bodies: list[str] = []             # that joints can join
        self.inner: list[str] = []              # names of sensors in the robot that is being made

    def world(self) -> Any:
        rng, root = self.rng, etree.Element("world")
        self.attributes(root, "world", kinds_of(World), lambda name: getattr(World, name), {"engine", "dt", "name"})
        root.set("engine", self.engine)
        if rng.random() < 0.7:
            root.set("dt", rng.choice(("0.1", "0.05", "20ms", "0.033", "0.2")))
        self.define(root)
        if rng.random() < 0.95:
            arena = etree.SubElement(root, "arena", width=self.digits(rng.uniform(3, 6)), depth=self.digits(rng.uniform(3, 6)))
            known = self.elements["arena"]
            made_of = MADE_OF if self.engine == "planar" else ()
            self.attributes(arena, "arena", known.kinds, known.default, {"width", "depth", "x", "y", *made_of})
        self.settings(root)
        for tag in rng.choices(self.tags("thing"), k=rng.randint(0, 6)):
            self.element(root, tag)
        for _ in range(rng.choice((1, 1, 1, 2, 3, 0))):
            self.group(root)
        for tag in rng.choices(self.tags("thing", joins=True), k=rng.choice((0, 0, 1, 2))):
            self.element(root, tag)
        if self.bodies and root.find("contact") is not None and rng.random() < 0.8 and any(
                root.find(tag) is not None for tag in HEAVY):
            root.find("contact").set("model", "impulse")
        for role, chance in (("fitness", 0.3), ("search", 0.1), ("page", 0.2)):
            if rng.random() < chance:
                self.element(root, rng.choice(self.tags(role)))
        return root

    def tags(self, role: str, joins: bool = False) -> list[str]:
        """Elements of a role that this engine has; those that name two others come later than the others."""
        return [tag for tag, known in self.elements.items() if known.role == role and tag != "arena"
                and (self.engine == "spatial" or not getattr(known.cls, "SPATIAL", False))
                and ({"one", "other"} <= set(known.kinds)) == joins]

    def settings(self, root: Any) -> None:
        rng = self.rng
        if self.engine == "planar" or rng.random() < 0.2:
            known, heavy = self.elements["contact"], rng.random() < 0.25
            model = "impulse" if heavy else rng.choice(("reposition", "stop", "none"))
            contact = etree.SubElement(root, "contact", model=model)
            self.attributes(contact, "contact", known.kinds, known.default, {"model", "counts" if heavy else "friction"})
        for tag in self.tags("setting"):
            if tag != "contact" and rng.random() < 0.3:
                self.element(root, tag)

    def define(self, root: Any) -> None:
        """Params, defaults and an included file."""
        rng = self.rng
        for k in range(rng.choice((0, 0, 1, 2))):
            earlier = f"${{p{k - 1} / 2}}" if k else "2"
            etree.SubElement(root, "param", name=f"p{k}", value=rng.choice(("1", "0.5", "50cm", earlier)))
            self.params.append(f"p{k}")
        if rng.random() < 0.2:
            defaults = etree.SubElement(root, "defaults")
            known = self.elements[rng.choice(self.tags(rng.choice(("thing", "robot", "sensor"))))]
            child = etree.SubElement(defaults, known.tag)
            self.attributes(child, known.tag, known.kinds, known.default, {"name"})
        if rng.random() < 0.15:
            part = etree.Element("world")
            self.element(part, rng.choice(("cylinder", "wall", "lamp", "rectangle")))
            self.files["part.xml"] = etree.tostring(part)
            etree.SubElement(root, "include", file="part.xml")

    def group(self, root: Any) -> None:
        rng = self.rng
        tag = rng.choice(self.tags("robot"))
        known, node = self.elements[tag], etree.SubElement(root, tag)
        name = f"{tag}{len(self.names.setdefault(tag, []))}"
        self.names[tag].append(name)
        count = rng.choice((1, 2, 3, 5, 8))
        self.fill(node, known)
        node.set("name", name)
        placement = rng.choice((*self.tags("placement"), "scatter", "scatter", ""))
        for _ in range(count if placement == "at" else placement != ""):
            self.element(node, placement)
        if placement != "at":
            node.set("count", str(count))
        self.inner = []
        for sensor in rng.sample(self.tags("sensor"), k=rng.choice((0, 1, 1, 2, 3))):
            self.element(node, sensor)
        if rng.random() < 0.6 and "proximity" not in self.inner:
            self.element(node, "proximity")
        for role, chance in (("link", 0.2), ("estimator", 0.1), ("controller", 0.7), ("actuator", 0.2)):
            if rng.random() < chance:
                self.element(node, rng.choice(self.tags(role)))
        self.bodies += [f"{name}.{k}" for k in range(count)]

    def element(self, parent: Any, tag: str) -> None:
        known = self.elements[tag]
        node = etree.SubElement(parent, tag)
        self.fill(node, known)
        if tag == "map" and self.rng.random() < 0.9:
            for own in ("resolution", "negate", "occupied", "free"):  # which a YAML file says itself
                node.attrib.pop(own, None)
            if node.get("file") == "plan.png":
                node.set("resolution", self.digits(self.rng.uniform(0.05, 0.3)))
        if "name" in known.kinds and "name" not in node.attrib and known.role == "thing":
            node.set("name", f"{tag}{len(self.names.get(tag, []))}")
        if name := node.get("name", tag):
            self.names.setdefault(tag, []).append(name)
            if known.role == "sensor":
                self.inner.append(name)
            if tag in ("ball", "puck", "block", "solid"):
                self.bodies.append(name)

    def fill(self, node: Any, known: Element) -> None:
        """Attributes that the element's own class accepts, if some are found soon."""
        for _ in range(12):
            node.attrib.clear()
            self.attributes(node, known.tag, known.kinds, known.default, IN_THE_PLANE if self.engine == "spatial" else
                            SEAT if known.role in ("sensor", "placement") else MADE_OF)
            if _accepts(known, node.attrib):
                return

    def attributes(self, node: Any, tag: str, kinds: dict[str, Kind], default: Any, skip: Any = ()) -> None:
        for attribute, kind in kinds.items():
            if attribute in skip:
                continue
            if (given := default(attribute)) is REQUIRED or self.rng.random() < 0.25:
                value = self.value(tag, attribute, kind, None if given is REQUIRED else given)
                if value is not None:
                    node.set(attribute, value)

    # -- values --------------------------------------------------------------------------------------------------------
    def value(self, tag: str, attribute: str, kind: Kind, default: Any) -> str | None:
        rng = self.rng
        if (tag, attribute) in WORDS:
            return rng.choice(WORDS[tag, attribute])
        if kind.base == "file":
            return self.file(tag)
        if kind.base == "choice":
            return rng.choice(kind.options)
        if kind.base == "flag":
            return rng.choice(("true", "false"))
        if kind.base == "colour":
            return f"#{rng.randrange(1 << 24):06x}"
        if kind.base == "name":
            return self.name(tag, attribute, default)
        if kind.base == "text":
            return default
        if kind.size is not None:
            return self.numbers(attribute, kind)
        if self.params and rng.random() < 0.03:
            return f"${{{rng.choice(self.params)} * {self.number(attribute, kind, default):.6g}}}"
        return self.digits(self.number(attribute, kind, default), kind)

    def name(self, tag: str, attribute: str, default: Any) -> str | None:
        if attribute in ("one", "other") and tag != "touch":
            return self.rng.choice((*self.bodies, *(["floor"] if tag == "joint" else [])) or ("floor",))
        if attribute in ("sensor", "light", "grip"):
            return self.rng.choice((*self.inner, default or "proximity"))
        if attribute == "group":
            return self.rng.choice([name for names in self.names.values() for name in names] or ["sbot"])
        if attribute == "material" or tag == "touch":
            return self.rng.choice((*self.names.get("material", []), "plain", "ground"))
        return None if default is not None else f"{tag}{len(self.names.get(tag, []))}"

    def number(self, attribute: str, kind: Kind, default: Any) -> float:
        """Near the default; or what such a thing usually is."""
        rng = self.rng
        if isinstance(default, int | float) and not isinstance(default, bool) and default != 0:
            value = default * rng.uniform(0.6, 1.5)
        elif kind.unit == "m":
            value = (rng.uniform(-HALF, HALF) if attribute in ("x", "y") else rng.uniform(0.03, 0.1) if "radius" in attribute
                     else rng.uniform(0.05, 0.4))
        elif kind.unit == "rad":
            value = rng.uniform(-math.pi, math.pi)
        else:
            value = rng.uniform(0.0, 0.1) if default == 0 else rng.uniform(0.1, 2.0)
        if kind.base == "integer":
            value = round(value) if default else rng.randint(int(kind.least or 0), int(kind.least or 0) + 4)
        low = kind.least if kind.least is not None else kind.above if kind.above is not None else -1e9
        high = kind.most if kind.most is not None else 1e9
        return min(max(value, low), high)

    def numbers(self, attribute: str, kind: Kind) -> str:
        rng = self.rng
        fewest, most = kind.size or (1, None)
        if attribute == "points":
            x, y = (rng.uniform(-HALF, HALF), rng.uniform(-HALF, HALF)) if kind.unit == "m" and fewest != 6 else (0.0, 0.0)
            corners, start, radius = max(fewest // 2, 3) + rng.randint(0, 3), rng.uniform(0, 6), rng.uniform(0.05, 0.3)
            angles = [start + 2 * math.pi * k / corners for k in range(corners)]
            ring = [(x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]
            return " ".join(self.digits(part) for point in ring for part in point)
        count = rng.randint(fewest, min(most or fewest + 6, fewest + 6))
        count += -count % kind.group
        return " ".join(self.digits(self.number(attribute, kind, None), kind) for _ in range(count))

    def digits(self, value: float, kind: Kind | None = None) -> str:
        """A number as people write one, now and then in another unit."""
        if kind is not None and kind.base == "integer":
            return str(int(value))
        if kind is not None and kind.unit and self.rng.random() < 0.3:
            unit, scale = self.rng.choice(sorted(SCALES[kind.unit].items()))
            return f"{value / scale:.6g}{unit}"
        return f"{value:.4g}"

    def file(self, tag: str) -> str:
        name = self.rng.choice(FILES.get(tag, ("genes.json",)))
        if (ROBOTS / name).exists():
            self.files[name] = (ROBOTS / name).read_bytes()
        elif name == "hills.png":
            self.files[name] = png(self.rng.randint(2, 40), self.rng.randint(2, 40), self.rng.randbytes)
        elif name in ("plan.png", "plan.yaml"):
            self.files["plan.png"] = png(self.rng.randint(2, 40), self.rng.randint(2, 40), lambda width: bytes(
                self.rng.choice((0, 254, 254, 254, 254, 254, 205)) for _ in range(width)))
            self.files["plan.yaml"] = b"image: plan.png\nresolution: 0.1\norigin: [-1.0, -0.5, 0.2]\n"
        elif name == "table.csv":
            self.files[name] = "\n".join(f"{k / 10},{1 - k / 10}" for k in range(11)).encode()
        elif name == "keys.fsh":
            self.files[name] = b"pause\nstep 3\n"
        else:
            self.files[name] = json.dumps([self.rng.uniform(-1, 1) for _ in range(self.rng.randint(1, 40))]).encode()
        return name


def _accepts(known: Element, attributes: Any) -> bool:
    """Whether the class of an element takes these attributes."""
    try:
        known.cls(**{name: known.kinds[name].parse("0.5" if "${" in text else text) for name, text in attributes.items()})
    except (FormigaError, ValueError, TypeError):
        return False
    return True


def png(width: int, height: int, grey: Any) -> bytes:
    """A grey picture."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + grey(width) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


# -- what goes wrong with it -------------------------------------------------------------------------------------------
def _stretch(rng: Random, root: Any) -> None:
    """Give one attribute a value at the end of what it may be."""
    node = rng.choice(list(root.iter(etree.Element)))
    known = registered().get(node.tag)
    kinds = kinds_of(World) if node is root else {} if known is None else known.kinds
    if known is not None and known.role == "robot":
        kinds = {**kinds, "count": kinds_of(Group)["count"]}
    numbers = {name: kind for name, kind in kinds.items() if kind.base in ("number", "integer")}
    if not numbers:
        return
    attribute = rng.choice(sorted(numbers))
    kind = numbers[attribute]
    fewest, most = kind.size or (1, 1)
    count = rng.choice((fewest, min(most or 50, 50), min(most or 2000, 2000)))
    values = [_extreme(rng, kind) for _ in range(count + -count % kind.group)]
    if values and rng.random() < 0.5:
        values = [rng.choice(values)] * len(values)
    node.set(attribute, " ".join(values))


def _extreme(rng: Random, kind: Kind) -> str:
    """A number that the kind allows by itself, of any size."""
    for _ in range(20):
        near = rng.choice([end for end in (kind.least, kind.above, kind.most) if end is not None] or [0.0])
        any_size = rng.choice((-1, 1)) * 10 ** rng.uniform(-9, 9)
        value: float = rng.choice((near, near + 1e-9, near * (1 + 1e-12), 1e-9, 1e9, any_size, 10 ** rng.uniform(-3, 3),
                                   10 ** rng.uniform(0, 18)))
        value = int(value) if kind.base == "integer" else value
        try:
            kind._check_number(value)
        except ValueError:
            continue
        return repr(value)
    return "1"


def _mutate(rng: Random, root: Any) -> None:
    nodes = list(root.iter(etree.Element))
    node, other = rng.choice(nodes), rng.choice(nodes)
    known: Element | None = registered().get(node.tag)
    what = rng.choice(("value",) * 8 + ("new", "new", "drop", "double", "move", "rename", "attribute", "engine", "swap"))
    if what == "value" and node.attrib:
        node.set(rng.choice(sorted(node.attrib)), _hostile(rng))
    elif what == "new" and known is not None:
        attribute = rng.choice([*known.kinds, *(kinds_of(Group) if known.role == "robot" else ())])
        node.set(attribute, _hostile(rng))
    elif what == "drop":
        if node.attrib and rng.random() < 0.6:
            del node.attrib[rng.choice(sorted(node.attrib))]
        elif node is not root:
            node.getparent().remove(node)
    elif what == "double" and node is not root:
        copied = etree.fromstring(etree.tostring(node))
        node.addnext(copied)
    elif what == "move" and node is not root and other not in list(node.iter()):
        other.append(node)
    elif what == "rename" and node is not root:
        node.tag = rng.choice((*registered(), "world", "param", "sbto", "x"))
    elif what == "attribute":
        node.set(rng.choice(("raduis", "x", "name", "file", "count", "profile", "mass")), _hostile(rng))
    elif what == "engine":
        root.set("engine", rng.choice(("planar", "spatial", "flat")))
    elif what == "swap" and node.attrib and other.attrib:
        node.set(rng.choice(sorted(node.attrib)), other.get(rng.choice(sorted(other.attrib)), "0"))


def _hostile(rng: Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(NUMBERS)
    if rng.random() < 0.4:
        return rng.choice(TEXTS)
    if rng.random() < 0.3:
        return " ".join(rng.choice(NUMBERS) for _ in range(rng.randint(2, 8)))
    return f"{rng.choice((-1, 1)) * 10 ** rng.uniform(-9, 9):.6g}{rng.choice(('', '', '', 'cm', 'deg', 's', 'ms', 'g', 'rpm'))}"


def _tear(rng: Random, text: str) -> str:
    """A file that was cut, or typed into."""
    where = rng.randrange(len(text))
    match rng.randrange(4):
        case 0:
            return text[:where]
        case 1:
            typed = rng.choice(("<", ">", "&", '"', "\0", "]]>", "<!--", "\ufffe", "\ud800", "<?x?>"))
            return text[:where] + typed + text[where:]
        case 2:
            return "<!DOCTYPE w [<!ENTITY a 'a'>]>" + text
        case _:
            return text[:where] + text[where + rng.randint(1, 30):]
