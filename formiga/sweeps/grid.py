"""The grid of a sweep: the product of the values of its parameters, and a number of seeds for each point.

    grid = Grid.of({"robots": [10, 20, 30], "loss": np.arange(0, 1.1, 0.1)}, seeds=30)
    read_settings(["robots=10,20,30", "loss=0:1:0.1"])                    # the same parameters from a command line

Points and runs are counted before any is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice
from math import isfinite, prod
from typing import Any

import numpy as np

from formiga.errors import FormigaError, whole
from formiga.units import SCALES
from formiga.world.kinds import QUANTITY, SPACE
from formiga.world.params import written
from formiga.world.variants import Column

Value = bool | int | float | str
Point = dict[str, Value]

MOST_RUNS = 1_000_000
LONGEST = 1_000                                     # characters of a text
UNITS = {unit: scale for scales in SCALES.values() for unit, scale in scales.items()}
TAKEN = ("run", "seed", "seconds", "ended")         # columns of the table
FORM = "NAME=VALUE,VALUE ... or NAME=FROM:TO:STEP, such as robots=10,20,30 or loss=0:1:0.1"


class SweepError(FormigaError):
    """A sweep that cannot be made, or whose folder cannot be used."""


@dataclass(frozen=True)
class Grid:
    """Which points there are: the last parameter changes fastest; and how many runs each has."""

    parameters: dict[str, tuple[Value, ...]]
    seeds: int

    @classmethod
    def of(cls, parameters: Mapping[str, Any] | None, seeds: int) -> Grid:
        """The grid of some parameters, checked: each has a value, or several, each once."""
        given = {} if parameters is None else parameters
        if not isinstance(given, Mapping):
            raise SweepError(f"the parameters of a sweep are a dict of name -> values, not {type(given).__name__}.")
        grid = cls({name: _values(name, values) for name, values in given.items()},
                   whole("seeds:", seeds, 1, MOST_RUNS))
        for name in grid.parameters:
            if name in TAKEN:
                raise SweepError(f"a parameter '{name}' cannot be swept: the table has a column of that name for each run.")
        if grid.runs > MOST_RUNS:
            sizes = [f"{len(values):,} of '{name}'" for name, values in grid.parameters.items()]
            product = " x ".join([*sizes, f"{grid.seeds:,} seeds"])
            raise SweepError(f"{grid.runs:,} runs are too many ({product}); a sweep has at most {MOST_RUNS:,}.")
        return grid

    @property
    def points(self) -> int:
        """How many points it has."""
        return prod(len(values) for values in self.parameters.values())

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return self.points * self.seeds

    @property
    def swept(self) -> list[str]:
        """The parameters with several values."""
        return [name for name, values in self.parameters.items() if len(values) > 1]

    def point(self, number: int) -> Point:
        """The values at a point."""
        found: Point = {}
        for name, values in reversed(self.parameters.items()):
            number, at = divmod(number, len(values))
            found[name] = values[at]
        return {name: found[name] for name in self.parameters}

    def number(self, at: Iterable[str]) -> int | None:
        """The number of the point with these values, as they are written; None if it is not in this grid."""
        number = 0
        for values, value in zip(self.written.values(), at, strict=True):
            if value not in values:
                return None
            number = number * len(values) + values[value]
        return number

    @cached_property
    def written(self) -> dict[str, dict[str, int]]:
        """Name -> each of its values as it is written in a world file -> its place."""
        return {name: {written(name, value): place for place, value in enumerate(values)}
                for name, values in self.parameters.items()}


def probes(grid: Grid, most: int) -> Iterable[Point]:
    """Points in which every value of every parameter occurs: so many of each parameter at most, and its last."""
    first = grid.point(0)
    yield first
    for name, values in grid.parameters.items():
        for value in dict.fromkeys((*values[1:most], values[-1])):
            if value != values[0]:
                yield {**first, name: value}


# -- values from Python -----------------------------------------------------------------------------------------------
def _values(name: Any, given: Any) -> tuple[Value, ...]:
    """The values of a parameter: all truth values, all whole numbers, all numbers, or all texts."""
    if not isinstance(name, str) or not name:
        raise SweepError(f"the name of a parameter is a text, not {name!r}.")
    if isinstance(given, str | bool | int | float):
        given = [given]
    if isinstance(given, Column):
        given = np.asarray(given)
    try:
        found = [_value(name, each) for each in islice(given, MOST_RUNS + 1)]
    except TypeError as wrong:
        raise SweepError(f"parameter '{name}' needs values, such as [10, 20, 30], not {type(given).__name__}.") from wrong
    if not found:
        raise SweepError(f"parameter '{name}' has no value; it needs at least one.")
    if len(found) > MOST_RUNS:
        raise SweepError(f"parameter '{name}' has more than {MOST_RUNS:,} values; a sweep has at most {MOST_RUNS:,} runs.")
    kinds = {type(each) for each in found}
    if kinds == {int, float}:
        found = [float(each) for each in found]
    elif len(kinds) > 1:
        words = ", ".join(sorted(each.__name__ for each in kinds))
        raise SweepError(f"parameter '{name}' has values of several kinds ({words}); a column of a table has one.")
    if len(set(found)) < len(found):
        twice = Counter(found).most_common(1)[0][0]
        raise SweepError(f"parameter '{name}' has the value {written(name, twice)} twice.")
    return tuple(found)


def _value(name: str, given: Any) -> Value:
    """A value as Python's own; numpy's have a method `item`, too."""
    value = given if isinstance(given, bool | int | float | str) else _item(given)
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > LONGEST:
            raise SweepError(f"parameter '{name}' has a text longer than {LONGEST:,} characters.")
        return str(value)
    if isinstance(value, int | float):
        value = int(value) if isinstance(value, int) else float(value)
        if isfinite(value) and abs(value) < 2**63:
            return value
    raise SweepError(f"parameter '{name}' cannot be {str(given)[:60]!r}; it takes finite numbers, texts, True and False.")


def _item(given: Any) -> Any:
    try:
        return given.item()
    except (AttributeError, ValueError, TypeError):
        return None


# -- values from a command line ---------------------------------------------------------------------------------------
def read_settings(texts: Iterable[str]) -> dict[str, tuple[Value, ...]]:
    """Parameters written as NAME=VALUE,VALUE ... or NAME=FROM:TO:STEP, whose end is among the values if a step hits it.

    A number with a unit, such as 5cm, is converted to SI. Anything else is a text.
    """
    found: dict[str, tuple[Value, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise SweepError(f"'{text[:80]}' is not {FORM}.")
        if name in found:
            raise SweepError(f"'{name}' is set twice; give all its values at once: {FORM}.")
        found[name] = _read(name, values)
    return found


def _read(name: str, text: str) -> tuple[Value, ...]:
    ranges: list[Range] = []
    parts = [part.strip(SPACE) for part in text.split(",")]
    if not all(parts):
        raise SweepError(f"'{name}={text[:80]}' lacks a value; it is written {FORM}.")
    for part in parts:
        ends = [_quantity(each) for each in part.split(":")]
        if len(ends) > 1 and ends[0] is not None:
            ranges.append(_range(name, part, ends))
        elif ends == [None] or len(ends) > 1:
            break  # a text, and so are all others
        else:
            ranges += [(each, Decimal(0), 1) for each in ends if each is not None]
    else:
        _refuse_many(name, sum(count for _, _, count in ranges))
        return _values(name, [_plain(low + number * step if number else low) for low, step, count in ranges
                              for number in range(count)])
    if set(parts) <= {"true", "false"}:
        return _values(name, [part == "true" for part in parts])
    return _values(name, parts)


def _quantity(text: str) -> Decimal | None:
    """A number in SI, exactly as it is written; None for a text."""
    match = QUANTITY.fullmatch(text.strip(SPACE))
    if not match or match[2] not in ("", *UNITS):
        return None
    try:
        number = Decimal(match[1])
        scale = Decimal(repr(UNITS.get(match[2], 1.0)))
        return number * scale if match[2] else number
    except ArithmeticError:
        return None


Range = tuple[Decimal, Decimal, int]  # first value, step, count


def _range(name: str, text: str, ends: list[Decimal | None]) -> Range:
    """FROM:TO:STEP, not yet made."""
    low, high, step = (*ends, None, None, None)[:3]
    if len(ends) != 3 or low is None or high is None or step is None or not all(map(isfinite, (low, high, step))):
        raise SweepError(f"'{name}={text[:80]}' is not a range; one is written FROM:TO:STEP, such as 0:1:0.1.")
    try:
        steps = (high - low) / step + Decimal("1e-9")  # the end is met within rounding
    except ArithmeticError:  # the step is 0, or next to it
        steps = Decimal(-1)
    if steps < 0:
        raise SweepError(f"'{name}={text[:80]}': a step of {step} does not lead from {low} to {high}.")
    _refuse_many(name, steps // 1 + 1 if steps < 10**15 else steps)
    return low + 0 * step, step, int(steps) + 1  # with the digits of the step


def _refuse_many(name: str, count: Decimal | int) -> None:
    if count > MOST_RUNS:
        many = f"{count:,.0f}" if count < 10**15 else "10^15"
        raise SweepError(f"parameter '{name}' has {many} values or more; a sweep has at most {MOST_RUNS:,} runs.")


def _plain(number: Decimal) -> int | float:
    """A whole number that is written without a point stays whole."""
    exponent = number.as_tuple().exponent
    return int(number) if exponent == 0 else float(number)


__all__ = ["MOST_RUNS", "Grid", "Point", "SweepError", "Value", "probes", "read_settings"]
