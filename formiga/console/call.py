"""What a command is, and what it gets when it is called. The getters are the grammar that all commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from formiga.console.errors import ConsoleError, brief
from formiga.console.parse import CONSOLE
from formiga.console.task import Task
from formiga.errors import Where, suggest

if TYPE_CHECKING:
    from formiga.console.console import Console


@dataclass(frozen=True)
class CommandSpec:
    """A command that the console knows."""

    name: str
    usage: str                                  # "wait SECONDS"; [..] may be left out
    doc: str                                    # its first line is the summary in `help`
    run: Callable[[Call], None]
    files: bool = False                         # reads or writes files; text that is not trusted may not use it
    complete: Callable[[list[str]], Iterable[str]] | None = None  # arguments so far, the last half typed -> its candidates

    @property
    def summary(self) -> str:
        return self.doc.strip().partition("\n")[0]


@dataclass(frozen=True)
class Call:
    """One call of a command: its arguments, with variables filled in, and where it comes from."""

    args: list[str]
    where: Where
    sender: Hashable
    trusted: bool
    console: Console
    spec: CommandSpec
    task: Task

    def say(self, text: str) -> None:
        self.console.say(text)

    def wrong(self, message: str) -> ConsoleError:
        """A complaint that shows how the command is used: `raise call.wrong("...")`."""
        return ConsoleError(f"{self.spec.name}: {message} Usage: {self.spec.usage}", self.where)

    # -- how many
    def least(self, count: int) -> None:
        if len(self.args) < count:
            raise self.wrong(f"it needs {_arguments(count)}, not {len(self.args)}.")

    def most(self, count: int) -> None:
        if len(self.args) > count:
            allowed = f"at most {_arguments(count)}" if count else "no arguments"
            raise self.wrong(f"it takes {allowed}, not {len(self.args)}.")

    def exactly(self, count: int) -> None:
        self.least(count)
        self.most(count)

    # -- which
    def word(self, index: int, what: str, among: Sequence[str] | None = None, default: str | None = None) -> str:
        """An argument as it is, or one of `among`."""
        if index >= len(self.args):
            if default is None:
                raise self.wrong(f"{what} is missing.")
            return default
        word = self.args[index]
        if among is not None and word not in among:
            raise self.wrong(f"{what} '{brief(word)}' is unknown.{suggest(word, among)} Allowed: {', '.join(among)}.")
        return word

    def number(self, index: int, what: str, least: float = -math.inf, most: float = math.inf,
               default: float | None = None) -> float:
        """An argument that is a finite number."""
        if index >= len(self.args) and default is not None:
            return default
        word = self.word(index, what)
        try:
            number = float(word) if "_" not in word else math.nan
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self.wrong(f"{what} '{brief(word)}' is not a number.")
        return self._in_range(number, what, least, most)

    def whole(self, index: int, what: str, least: int | None = None, most: int | None = None,
              default: int | None = None) -> int:
        """An argument that is a whole number."""
        if index >= len(self.args) and default is not None:
            return default
        word = self.word(index, what)
        digits = word[1:] if word[:1] in ("+", "-") else word
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 100):  # int() refuses thousands of digits
            raise self.wrong(f"{what} '{brief(word)}' is not a whole number.")
        number = int(word)
        self._in_range(number, what, -math.inf if least is None else least, math.inf if most is None else most)
        return number

    def switch(self, index: int, what: str, default: bool | None = None) -> bool:
        """An argument that is on or off."""
        if index >= len(self.args) and default is not None:
            return default
        return self.word(index, what, ("on", "off")) == "on"

    def rest(self, index: int) -> str:
        """All arguments from here on, as one text."""
        return " ".join(self.args[index:])

    def _in_range(self, number: float, what: str, least: float, most: float) -> float:
        if number < least or number > most:
            if math.isinf(most):
                allowed = f"at least {least:g}"
            else:
                allowed = f"at most {most:g}" if math.isinf(least) else f"from {least:g} to {most:g}"
            raise self.wrong(f"{what} {number:g} is out of range; it must be {allowed}.")
        return number

    # -- what takes time
    def hold(self, until: Callable[[], bool]) -> None:
        """The commands behind this one wait; `until` is asked at every `Console.advance`, after each step."""
        self.task.waits = until

    def wait(self, seconds: float) -> None:
        """Hold for this much simulated time, and at least one step. Nothing if it is 0."""
        if seconds > 0:
            now = self.console.now
            start = now()
            self.hold(lambda: now() > start and now() >= start + seconds - 1e-9)  # 1e-9: 3 steps of 0.1 s make 0.3 s

    # -- files
    def path(self, index: int, what: str) -> Path:
        """An argument that names a file: beside the script that says so, or in the current folder if it was typed."""
        name = self.word(index, what)
        if not name or "\0" in name:
            raise self.wrong(f"{what} {name!r} cannot be the name of a file.")
        if name.startswith("~/"):
            return Path.home() / name[2:]
        return Path(name) if self.where.file == CONSOLE else Path(self.where.file).parent / name


def _arguments(count: int) -> str:
    return f"{count} argument{'s' * (count != 1)}"
