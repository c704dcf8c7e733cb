"""What an attribute of a world file may be: read, written, checked and described in one place.

The registry, the reader, the writer and the schema all go by `Kind`; so do worlds that are built in Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, SupportsFloat

from formiga.errors import suggest
from formiga.units import SCALES

SPACE = " \t\r\n"  # what XML calls white space; Python's own idea of it is wider
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters no XML file can hold
HUGE, TINY = 1e9, 1e-9  # of a number with a point: beyond these, squares and quotients would leave the range of floats
LARGEST = 2**63 - 1  # of a whole number: it must fit into the arrays of the engine
MOST_NUMBERS = 1_000_000  # in a list
LONGEST_NAME = 200  # characters

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
QUANTITY = re.compile(rf"({NUMBER})[{SPACE}]*([a-zA-Z/]*)")
BETWEEN = re.compile(f"[{SPACE}]*,[{SPACE}]*|[{SPACE}]+")  # two numbers of a list
PLAIN = re.compile(f"[-+.0-9eE,{SPACE}]*+")  # a list without units
NAME = r"[A-Za-z_][A-Za-z0-9_.\-]*"
COLOUR = r"#[0-9a-fA-F]{6}"
_NO_UNIT = {"": 1.0}


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
        if self.base in ("text", "file"):
            return self.check(text)
        text = text.strip(SPACE)
        if self.size is not None:
            return self.check(self._numbers(text))
        if self.base in ("number", "integer"):
            return self.check(self._number(text))
        if self.base == "flag":
            if text not in ("true", "false"):
                raise ValueError(f"'{_short(text)}' is neither 'true' nor 'false'")
            return text == "true"
        return self.check(text)

    def _numbers(self, text: str) -> tuple[float | int, ...]:
        """The numbers of a list, each with its unit: '1 2, 3cm' -> (1.0, 2.0, 0.03)."""
        parts = BETWEEN.split(text, MOST_NUMBERS) if text else []
        if len(parts) > MOST_NUMBERS:
            raise ValueError(f"more than {MOST_NUMBERS} numbers given")
        if self.base == "number" and PLAIN.fullmatch(text):
            with suppress(ValueError):  # what is wrong is said below
                numbers = tuple(map(float, parts))
                if not math.isinf(max(map(abs, numbers), default=0.0)):
                    return numbers
        return tuple(self._number(part) for part in parts)

    def _number(self, text: str) -> float | int:
        match = QUANTITY.fullmatch(text)
        digits, unit = match.groups() if match else ("", "")
        if self.base == "integer":
            if unit or not re.fullmatch(r"[-+]?[0-9]+", digits):
                raise ValueError(f"'{_short(text)}' is not a whole number{self._within()}")
            return int(digits) if len(digits) < 30 else LARGEST + 1
        scales = SCALES[self.unit] if unit else _NO_UNIT
        if not match or unit not in scales:
            units = ", ".join(SCALES[self.unit])
            allowed = f"it takes a number, or one with a unit ({units})" if units else "it takes a plain number"
            what = self.describe() if self.size is None else "a number"
            raise ValueError(f"'{_short(text)}' is not {what}; {allowed}{self._within()}")
        value = float(digits) * scales[unit]
        if math.isinf(value):
            raise ValueError(f"'{_short(text)}' is too large")
        return value

    # -- value -> text -------------------------------------------------------------------------------------------
    def format(self, value: Any) -> str:
        """The text that `parse` reads back as exactly `value` (SI units, all digits)."""
        if self.size is not None:
            return " ".join(repr(part) for part in value)
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
        if strange := NOT_XML.search(value):
            raise ValueError(f"character {strange.group()!r} cannot stand in a world file")
        if self.base == "choice" and value not in self.options:
            raise ValueError(f"'{_short(value)}' is not allowed.{suggest(value, self.options)} "
                             f"It takes: {', '.join(self.options)}")
        if self.base == "name" and (len(value) > LONGEST_NAME or not re.fullmatch(NAME, value)):
            raise ValueError(f"'{_short(value)}' is not a name (a letter, then letters, digits, '-', '_', '.'; "
                             f"at most {LONGEST_NAME} characters)")
        if self.base == "colour" and not re.fullmatch(COLOUR, value):
            raise ValueError(f"'{_short(value)}' is not a colour such as #ff8800")
        return value

    def _check_number(self, value: Any) -> float | int:
        if type(value) is float and self.base == "number" and self._inside(value):
            return value
        if isinstance(value, bool) or not isinstance(value, SupportsFloat):
            raise ValueError(f"{value!r} is not {self.describe()}")
        number: float | int
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise ValueError(f"{number} is not a finite number")
        if self.base == "integer":
            number = int(value)  # type: ignore[call-overload]  # what has __float__ has __int__, or it is refused
            if number != value:
                raise ValueError(f"{value} is not a whole number{self._within()}")
            if abs(number) > LARGEST:
                raise ValueError(f"{number} is out of range; it must be {self.range() or f'at most {LARGEST}'}")
        if ((self.least is not None and number < self.least) or (self.above is not None and number <= self.above)
                or (self.most is not None and number > self.most)):
            raise ValueError(f"{_digits(number)} is out of range; it must be {self.range()}")
        if self.base == "number" and (abs(number) > HUGE or (self.above == 0.0 and number < TINY)):
            raise ValueError(f"{_digits(number)} is out of range; no number here is larger than {HUGE:g}, "
                             f"and none that must be above 0 is smaller than {TINY:g}")
        return number

    def _inside(self, number: float) -> bool:
        """Whether a number with a point is allowed; `_check_number` says why one is not."""
        return ((self.least is None or number >= self.least) and (self.most is None or number <= self.most)
                and (self.above is None or (number > self.above and (self.above != 0.0 or number >= TINY)))
                and -HUGE <= number <= HUGE)

    def _check_list(self, value: Any) -> tuple[float, ...]:
        assert self.size is not None
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"{value!r} is not {self.describe()}")
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
        if self.base == "integer":
            return "a whole number" if self.size is None else "a list of whole numbers"
        return {"flag": "true or false", "text": "a text", "name": "a name",
                "file": "a file", "colour": "a colour", "choice": " | ".join(self.options)}[self.base]

    def range(self) -> str:
        """'above 0 and at most 1', in SI units."""
        parts = []
        if self.above is not None:
            parts.append(f"above {_digits(self.above)}")
        if self.least is not None:
            parts.append(f"at least {_digits(self.least)}")
        if self.most is not None:
            parts.append(f"at most {_digits(self.most)}")
        return " and ".join(parts) + (f" {self.unit}" if self.unit and parts else "")

    def _within(self) -> str:
        return f", {self.range()}" if self.range() else ""


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _digits(number: float | int) -> str:
    """All digits, and no point behind a whole number."""
    return str(int(number)) if abs(number) < 1e15 and number == int(number) else repr(number)
