"""Exceptions for input that formiga cannot work with. Each message says where, what, and what is allowed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

INSTEAD = "run these worlds one by one, or sweep them"  # of what cannot be in one batch


class FormigaError(Exception):
    """Input that formiga cannot work with. The command line prints it as one line and exits with 2."""


class WorldError(FormigaError):
    """A world, in a file or built in Python, that does not describe something that can run."""


class CannotDiffer(WorldError):
    """Worlds of one batch that differ in `what` must be the same in all of them; `world`: the number of one that does; why: the
    rest of that sentence."""

    def __init__(self, what: str, world: int, why: str = "which all worlds of a batch share", said: str = "") -> None:
        super().__init__(said or f"world {world} of the batch differs from the first in {what}, {why}; {INSTEAD}.")
        self.what, self.world, self.why = what, world, why

    def __reduce__(self) -> Any:
        return type(self), (self.what, self.world, self.why, str(self))


class RecordingError(FormigaError):
    """A recording that cannot be written or read."""


class MissingExtra(FormigaError):
    """A feature whose optional library is not installed."""


@dataclass(frozen=True)
class Where:
    """A place in a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


Hear = Callable[[FormigaError], object]   # is told what is wrong with a part that is left out


@contextmanager
def left_out(hear: Hear | None) -> Iterator[None]:
    """Input that is wrong leaves the block, and `hear` is told; without `hear` the error is raised as ever."""
    try:
        yield
    except FormigaError as wrong:
        if hear is None:
            raise
        hear(wrong)


def suggest(wrong: str, allowed: Iterable[str]) -> str:
    """" Did you mean 'reach'?" or an empty text, to be appended to a message."""
    close = get_close_matches(wrong, list(allowed), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""


def reason(wrong: Exception) -> str:
    """The system's own words for an error of a file or a socket, else the error's."""
    return wrong.strerror if isinstance(wrong, OSError) and wrong.strerror else str(wrong)


def whole(what: str, number: Any, least: int, most: int) -> int:
    """The argument of a Python caller as a whole number within limits; else a WorldError that says what is allowed."""
    try:
        number = operator.index(number)
    except TypeError as wrong:
        raise WorldError(f"{what} {number!r} is not a whole number.") from wrong
    if not least <= number <= most:
        raise WorldError(f"{what} {number} is out of range; it must be from {least} to {most}.")
    return int(number)
