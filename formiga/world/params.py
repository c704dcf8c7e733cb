"""Parameters of a world file: `<param name="side" value="1.5"/>`, used as ${side} or in ${side / 2 - 5.8*cm}.

Arithmetic is read with Python's own parser and then walked, node by node, through a short list of what is allowed;
nothing is ever handed to `eval`. Everything in it is SI, and units are constants: 5.8*cm is 0.058, 90*deg is pi/2.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

from formiga.errors import Where, suggest
from formiga.units import SCALES
from formiga.world.kinds import QUANTITY, SPACE

LONGEST_EXPRESSION = 200    # characters between ${ and }
LONGEST_PARAMETER = 1_000   # characters
LONGEST_TEXT = 100_000      # characters of an attribute, once its parameters are filled in
LARGEST_EXPONENT = 100
MOST_EXPRESSIONS = 100_000  # different ones in a world
MOST_SHOWN = 30             # params that a complaint lists

UNITS = {unit: scale for scales in SCALES.values() for unit, scale in scales.items() if unit.isidentifier()}
CONSTANTS = {"pi": math.pi, **UNITS}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "sqrt": math.sqrt, "abs": abs, "floor": math.floor, "ceil": math.ceil,
    "round": lambda value, digits=None: _round(value, digits),
}
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
}
ALLOWED = f"numbers, params, units, + - * / **, pi and {', '.join(FUNCTIONS)}"

_PLACE = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")  # a plain ${ is written $${


class Params:
    """The parameters that are known so far, while a file is read from top to bottom."""

    def __init__(self, overrides: Mapping[str, str | float] | None = None) -> None:
        self._overrides = dict(overrides or {})
        self._values: dict[str, str] = {}
        self._places: dict[str, Where] = {}
        self._known: dict[str, float | int] = {}  # results; a param keeps its value once it has one

    def define(self, name: str, default: str, where: Where) -> None:
        """A `<param>`. ValueError if the name cannot be one or is taken."""
        if not name.isidentifier() or name in CONSTANTS or name in FUNCTIONS:
            what = "is a unit, constant or function" if name.isidentifier() else "cannot be used in arithmetic"
            raise ValueError(f"'{name}' {what}; choose another name, of letters, digits and '_'")
        if name in self._places:
            raise ValueError(f"second param '{name}'; the first is at {self._places[name]}")
        self._values[name] = written(name, self._overrides[name]) if name in self._overrides else default
        self._places[name] = where
        if len(self._values[name]) > LONGEST_PARAMETER:
            raise ValueError(f"param '{name}' is longer than {LONGEST_PARAMETER} characters")

    def values(self) -> dict[str, str]:
        """Name -> value of those that are known so far, in their order."""
        return dict(self._values)

    def now(self, name: str) -> str | None:
        """The value of a param, or None if there is none of that name so far."""
        return self._values.get(name)

    def place(self, name: str) -> Where:
        """Where the `<param>` of that name stands."""
        return self._places[name]

    def check_overrides(self) -> None:
        """At the end of the file: ValueError if an override has no `<param>`."""
        for name in self._overrides:
            if name not in self._values:
                raise ValueError(f"there is no param '{name}' to set.{suggest(name, self._values)} "
                                 f"This world has: {self._listed()}")

    def expand(self, text: str) -> str:
        """`text` with every ${...} replaced by its value; ValueError with one sentence if that cannot be."""
        if "${" not in text:
            return text
        parts, end, length = [], 0, len(text)
        for match in _PLACE.finditer(text):
            value = self._fill(match, text)
            length += len(value)
            if length > LONGEST_TEXT:
                raise ValueError(f"with its parameters filled in, it is longer than {LONGEST_TEXT} characters")
            parts += [text[end:match.start()], value]
            end = match.end()
        return "".join(parts) + text[end:]

    def _fill(self, match: re.Match[str], text: str) -> str:
        if match.group() == "$${":
            return "${"
        if match.group(1) is None:
            raise ValueError(f"'{text[match.start():match.start() + 40]}' lacks its closing }}; write ${{name}} or "
                             "${arithmetic}, and $${ for a plain ${")
        expression = match.group(1).strip(SPACE)
        return self._values[expression] if expression in self._values else _digits(self.evaluate(expression))

    def evaluate(self, expression: str) -> float | int:
        """The value of an expression; whole numbers stay whole."""
        if expression not in self._known:
            if len(self._known) == MOST_EXPRESSIONS:
                raise ValueError(f"a world has at most {MOST_EXPRESSIONS} different ${{arithmetic}}")
            self._known[expression] = self._evaluate(expression)
        return self._known[expression]

    def _evaluate(self, expression: str) -> float | int:
        try:
            if len(expression) > LONGEST_EXPRESSION:
                raise ValueError(f"it is longer than {LONGEST_EXPRESSION} characters")
            return self._value(_parsed(expression))
        except ZeroDivisionError as wrong:
            raise ValueError(f"${{{expression}}}: division by zero") from wrong
        except OverflowError as wrong:
            raise ValueError(f"${{{expression}}}: the result is too large") from wrong
        except (SyntaxError, TypeError, RecursionError, MemoryError) as wrong:
            raise ValueError(f"${{{expression[:LONGEST_EXPRESSION]}}} is not arithmetic; it takes {ALLOWED}") from wrong
        except ValueError as wrong:
            raise ValueError(f"${{{expression[:LONGEST_EXPRESSION]}}}: {wrong}") from wrong

    def _value(self, node: ast.AST) -> float | int:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return _finite(value)
            case ast.Name(id=name):
                return self._lookup(name)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._value(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                a, b = self._value(left), self._value(right)
                if isinstance(op, ast.Pow) and abs(b) > LARGEST_EXPONENT:
                    raise ValueError(f"an exponent may be at most {LARGEST_EXPONENT}")
                return _finite(OPERATORS[type(op)](a, b))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
                values = [self._value(argument) for argument in arguments]
                if name == "sqrt" and values and values[0] < 0:
                    raise ValueError("the square root of a negative number")
                return _finite(FUNCTIONS[name](*values))
            case ast.Call(func=ast.Name(id=name)) if name not in FUNCTIONS:
                raise ValueError(f"unknown function '{name}'.{suggest(name, FUNCTIONS)} It takes {ALLOWED}")
        raise TypeError(type(node).__name__)

    def _lookup(self, name: str) -> float | int:
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name not in self._values:
            raise ValueError(f"unknown name '{name}'.{suggest(name, [*self._values, *CONSTANTS])} "
                             f"Params so far: {self._listed()}. Units: {', '.join(UNITS)}")
        match = QUANTITY.fullmatch(self._values[name].strip(SPACE))
        scales = {"": 1, **{unit: scale for known in SCALES.values() for unit, scale in known.items()}}
        if not match or match.group(2) not in scales:
            raise ValueError(f"param '{name}' is '{self._values[name][:40]}', a text; "
                             f"it can only stand alone, as ${{{name}}}")
        digits, unit = match.groups()
        number = int(digits) if re.fullmatch("[-+]?[0-9]{1,300}", digits) else float(digits)
        return _finite(number * scales[unit])

    def _listed(self) -> str:
        names = list(self._values)
        return ", ".join(names[:MOST_SHOWN]) + (f" and {len(names) - MOST_SHOWN} more" if names[MOST_SHOWN:] else "") or "none"


@lru_cache(maxsize=4096)
def _parsed(expression: str) -> ast.expr:
    """The tree of an expression; it is only read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # '2if' is refused later; Python need not comment on it as well
        return ast.parse(expression, mode="eval").body


def written(name: str, value: Any) -> str:
    """An override as it would be written in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return _digits(float(value))
    raise ValueError(f"param '{name}' cannot be {' '.join(repr(value).split())[:80]}; it takes a number or a text")


def _round(value: float | int, digits: int | None) -> float | int:
    if digits is not None and not 0 <= digits <= 15:
        raise ValueError("round takes 0 to 15 digits")
    return round(value, digits)


def _finite(value: Any) -> float | int:
    if isinstance(value, complex):
        raise ValueError("the root of a negative number")
    if not math.isfinite(value):  # raises OverflowError itself for a whole number that no float can hold
        raise OverflowError
    return value


def _digits(value: float | int) -> str:
    """All digits; a whole number has no point, so that ${robots / 4} serves where a whole number is needed."""
    return str(int(value)) if isinstance(value, float) and value == value // 1 and abs(value) < 1e15 else repr(value)
