"""The registry of elements: what may stand in a world file, and what its attributes may be.

An element is a frozen dataclass. Its fields are its XML attributes; `@element` gives it a tag and a role, and from
then on the reader, the writer, the schema and `formiga list` know it. No other list of elements exists, so a user's
own file adds a sensor in the same way as ours do:

    @element("proximity", role="sensor")
    @dataclass(frozen=True)
    class Proximity:
        reach: float = length(0.15, above=0.0, doc="measured from the sensor")

The same checks run for a file and for Python: `Proximity(reach=-1)` raises too.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from formiga.errors import Where, WorldError, suggest
from formiga.units import SCALES

ROLES = {
    "thing": "what stands in the world and does not move by itself",
    "robot": "a kind of robot; its element is a group of them",
    "placement": "where the robots of a group start",
    "sensor": "state -> readings",
    "controller": "readings -> orders",
    "actuator": "orders -> what the engine or the world does",
    "setting": "how the world runs; at most one of each",
}

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_QUANTITY = re.compile(rf"({NUMBER})\s*([a-zA-Z/]*)")


@dataclass(frozen=True)
class Kind:
    """What an attribute may be: how it is read, written, checked, and described in the schema."""

    base: str                             # "number", "integer", "flag", "text", "choice", "name", "file", "colour"
    unit: str = ""                        # an SI unit of units.SCALES, for numbers
    least: float | None = None            # value >= least
    above: float | None = None            # value > above
    most: float | None = None             # value <= most
    options: tuple[str, ...] = ()         # of a choice
    size: tuple[int, int | None] | None = None  # a list with (at least, at most) so many numbers; None: a single one
    group: int = 1                        # a list comes in groups of so many (2 for points)
    doc: str = ""

    # -- text -> value -------------------------------------------------------------------------------------------
    def parse(self, text: str) -> Any:
        """The value written as `text`; ValueError with one clear sentence if it is not one."""
        text = text.strip()
        if self.size is not None:
            return self.check(tuple(self._number(part) for part in _split(text)))
        if self.base in ("number", "integer"):
            return self.check(self._number(text))
        if self.base == "flag":
            if text not in ("true", "false"):
                raise ValueError(f"'{text}' is neither 'true' nor 'false'")
            return text == "true"
        return self.check(text)

    def _number(self, text: str) -> float | int:
        match = _QUANTITY.fullmatch(text)
        if not match:
            raise ValueError(f"'{text}' is not {self.describe()}")
        digits, unit = match.groups()
        if self.base == "integer":
            if unit or not re.fullmatch(r"[-+]?[0-9]+", digits):
                raise ValueError(f"'{text}' is not a whole number")
            return int(digits)
        scales = SCALES[self.unit]
        if unit and unit not in scales:
            allowed = f"units allowed here: {', '.join(scales)}" if scales else "it takes a plain number"
            raise ValueError(f"'{text}' is not {self.describe()}; {allowed}")
        return float(digits) * (scales[unit] if unit else 1.0)

    # -- value -> text -------------------------------------------------------------------------------------------
    def format(self, value: Any) -> str:
        """The text that `parse` reads back as exactly `value` (SI units, all digits)."""
        if self.size is not None:
            return " ".join(repr(float(part)) for part in value)
        if self.base == "flag":
            return "true" if value else "false"
        return repr(value) if self.base in ("number", "integer") else str(value)

    # -- the one check, for files and for Python -----------------------------------------------------------------
    def check(self, value: Any) -> Any:
        """`value` in its canonical type (float, int, tuple of float ...), or ValueError."""
        if self.size is not None:
            return self._check_list(value)
        if self.base in ("number", "integer"):
            return self._check_number(value)
        if self.base == "flag":
            if not isinstance(value, bool):
                raise ValueError(f"{value!r} is neither true nor false")
            return value
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")
        if self.base == "choice" and value not in self.options:
            raise ValueError(f"'{value}' is not allowed.{suggest(value, self.options)} It takes: {', '.join(self.options)}")
        if self.base == "name" and not re.fullmatch(r"[A-Za-z_][\w.-]*", value):
            raise ValueError(f"'{value}' is not a name (a letter, then letters, digits, '-', '_', '.')")
        if self.base == "colour" and not re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            raise ValueError(f"'{value}' is not a colour such as #ff8800")
        return value

    def _check_number(self, value: Any) -> float | int:
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise ValueError(f"{value!r} is not {self.describe()}")
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"{value} is not a finite number")
        if self.base == "integer":
            if number != int(value):
                raise ValueError(f"{value} is not a whole number")
            number = int(value)
        if ((self.least is not None and number < self.least) or (self.above is not None and number <= self.above)
                or (self.most is not None and number > self.most)):
            raise ValueError(f"{number:g} is out of range; it must be {self.range()}")
        return number

    def _check_list(self, value: Any) -> tuple[float, ...]:
        assert self.size is not None
        numbers = tuple(self._check_number(part) for part in value)
        fewest, most = self.size
        if len(numbers) < fewest or (most is not None and len(numbers) > most):
            bounds = f"{fewest} or more" if most is None else (f"{fewest}" if fewest == most else f"{fewest} to {most}")
            raise ValueError(f"{len(numbers)} numbers given; it takes {bounds}")
        if len(numbers) % self.group:
            raise ValueError(f"{len(numbers)} numbers given; they come in groups of {self.group}")
        return numbers

    # -- words ---------------------------------------------------------------------------------------------------
    def describe(self) -> str:
        """'a length', 'a number' ..., for messages and documentation."""
        words = {"m": "a length", "rad": "an angle", "s": "a time", "m/s": "a speed", "rad/s": "a turning rate",
                 "kg": "a mass", "N": "a force", "": "a number"}
        if self.base == "number":
            return words[self.unit] if self.size is None else f"a list of numbers ({self.unit or 'plain'})"
        return {"integer": "a whole number", "flag": "true or false", "text": "a text", "name": "a name",
                "file": "a file", "colour": "a colour", "choice": " | ".join(self.options)}[self.base]

    def range(self) -> str:
        """'above 0 and at most 1', in SI units."""
        parts = []
        if self.above is not None:
            parts.append(f"above {self.above:g}")
        if self.least is not None:
            parts.append(f"at least {self.least:g}")
        if self.most is not None:
            parts.append(f"at most {self.most:g}")
        return " and ".join(parts) + (f" {self.unit}" if self.unit else "")


def _split(text: str) -> list[str]:
    """The numbers of a list, each with its unit: '1 2, 3cm' -> ['1', '2', '3cm']."""
    return re.findall(r"[^\s,]+", text)


# -- fields: one function for each thing an attribute can be --------------------------------------------------------
def _field(kind: Kind, default: Any) -> Any:
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata={"kind": kind})
    return dataclasses.field(default=default, metadata={"kind": kind})


REQUIRED = dataclasses.MISSING


def number(default: Any = REQUIRED, *, unit: str = "", least: float | None = None, above: float | None = None,
           most: float | None = None, doc: str = "") -> Any:
    """A number, with a unit of units.SCALES if it has one."""
    return _field(Kind("number", unit, least, above, most, doc=doc), default)


def length(default: Any = REQUIRED, **rules: Any) -> Any:
    """A length in metres."""
    return number(default, unit="m", **rules)


def angle(default: Any = REQUIRED, **rules: Any) -> Any:
    """An angle in radians."""
    return number(default, unit="rad", **rules)


def duration(default: Any = REQUIRED, **rules: Any) -> Any:
    """A time in seconds."""
    return number(default, unit="s", **rules)


def speed(default: Any = REQUIRED, **rules: Any) -> Any:
    """A speed in metres per second."""
    return number(default, unit="m/s", **rules)


def integer(default: Any = REQUIRED, *, least: float | None = None, most: float | None = None, doc: str = "") -> Any:
    """A whole number."""
    return _field(Kind("integer", "", least, None, most, doc=doc), default)


def numbers(default: Any = REQUIRED, *, unit: str = "", fewest: int = 1, most_of: int | None = None, group: int = 1,
            least: float | None = None, above: float | None = None, most: float | None = None, doc: str = "") -> Any:
    """A list of numbers, kept as a tuple."""
    return _field(Kind("number", unit, least, above, most, size=(fewest, most_of), group=group, doc=doc), default)


def flag(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """true or false."""
    return _field(Kind("flag", doc=doc), default)


def text(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """Any text."""
    return _field(Kind("text", doc=doc), default)


def name(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """A name that other elements, the console and the recording can use."""
    return _field(Kind("name", doc=doc), default)


def choice(default: Any = REQUIRED, *, options: tuple[str, ...], doc: str = "") -> Any:
    """One of a few words."""
    return _field(Kind("choice", options=options, doc=doc), default)


def colour(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """#rrggbb."""
    return _field(Kind("colour", doc=doc), default)


def file(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """A file, found beside the world file that names it. The reader turns it into a full path."""
    return _field(Kind("file", doc=doc), default)


# -- the registry ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Element:
    """One registered element."""

    tag: str
    role: str
    cls: type
    kinds: dict[str, Kind]

    @property
    def doc(self) -> str:
        """The first line of the class's docstring."""
        return (self.cls.__doc__ or "").strip().splitlines()[0]

    def default(self, attribute: str) -> Any:
        """Default of an attribute, or REQUIRED."""
        return next(f.default for f in dataclasses.fields(self.cls) if f.name == attribute)

    @property
    def profiles(self) -> dict[str, dict[str, Any]]:
        """Named sets of defaults, such as the s-bot's `tr` and `draft`; the class keeps them in PROFILES."""
        return getattr(self.cls, "PROFILES", {})


_registry: dict[str, Element] = {}
T = TypeVar("T", bound=type)


def element(tag: str, role: str) -> Callable[[T], T]:
    """Register a frozen dataclass as the XML element `tag`."""
    if role not in ROLES:
        raise ValueError(f"no role '{role}'; there are: {', '.join(ROLES)}")

    def register(cls: T) -> T:
        known = _registry.get(tag)
        if known and (known.cls.__module__, known.cls.__qualname__) != (cls.__module__, cls.__qualname__):
            raise WorldError(f"<{tag}> is taken by {known.cls.__module__}.{known.cls.__qualname__}; choose another tag")
        kinds = {}
        for field in dataclasses.fields(cls):
            if "kind" not in field.metadata:
                raise TypeError(f"{cls.__name__}.{field.name}: say what it may be (length(...), number(...), text(...))")
            kinds[field.name] = field.metadata["kind"]
        _check_on_construction(cls, tag, kinds)
        _registry[tag] = Element(tag, role, cls, kinds)
        return cls

    return register


def _check_on_construction(cls: type, tag: str, kinds: dict[str, Kind]) -> None:
    later = getattr(cls, "__post_init__", None)

    def __post_init__(self: Any) -> None:
        for attribute, kind in kinds.items():
            value = getattr(self, attribute)
            if value is None and self.__dataclass_fields__[attribute].default is None:
                continue  # an attribute that may be absent
            try:
                object.__setattr__(self, attribute, kind.check(value))
            except (ValueError, TypeError) as wrong:
                raise WorldError(f"<{tag}> {attribute}: {wrong}.") from wrong
        if later:
            later(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]


def registered(role: str | None = None) -> dict[str, Element]:
    """All elements, or those of one role, by tag."""
    return {tag: known for tag, known in sorted(_registry.items()) if role in (None, known.role)}


def of(thing: object) -> Element:
    """The registered element that `thing` is an instance of."""
    for known in _registry.values():
        if type(thing) is known.cls:
            return known
    raise WorldError(f"{type(thing).__name__} is not a registered element; put @element(tag, role) on its class")


def profiled(cls: type, profile: str, **changes: Any) -> Any:
    """An instance with the defaults of a named profile: `profiled(SBot, "draft", radius=0.06)`."""
    profiles = getattr(cls, "PROFILES", {})
    if profile not in profiles:
        raise WorldError(f"{cls.__name__} has no profile '{profile}'.{suggest(profile, profiles)} It has: {', '.join(profiles)}")
    return cls(**{"profile": profile, **profiles[profile], **changes})


def locate(thing: object, where: Where) -> None:
    """Remember which line of which file `thing` came from."""
    object.__setattr__(thing, "_where", where)


def where(thing: object) -> str:
    """'arena.xml:31: ' for messages, or '' for what was built in Python."""
    place = getattr(thing, "_where", None)
    return f"{place}: " if place else ""
