"""Aliases and binds: names for texts that run later, and whether trusted text made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from formiga.console import limits
from formiga.console.errors import ConsoleError
from formiga.console.parse import Command, highest_argument, parse
from formiga.errors import Where


@dataclass(frozen=True)
class Definition:
    """A text with a name. It is never trusted more than the text that defined it."""

    text: str
    commands: Sequence[Command]
    where: Where
    trusted: bool
    takes: int                       # arguments, $1 to $takes
    under: Definition | None = None  # a trusted definition that this one, of a world, hides


def define(text: str, where: Where, trusted: bool) -> Definition:
    if len(text) > limits.EXPANDED:
        raise ConsoleError(f"the text has {len(text)} characters; an alias or bind may have {limits.EXPANDED}.", where)
    commands = tuple(parse(text, where))
    return Definition(text, commands, where, trusted, highest_argument(commands))


class Definitions(dict[str, Definition]):
    """The aliases of a console, or its binds.

    A world's definition only hides one of the user, which comes back when the world goes.
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def put(self, name: str, new: Definition) -> Definition | None:
        """Define it; what was there before, if anything."""
        old = self.get(name)
        if old is None and len(self) >= limits.NAMES:
            raise ConsoleError(f"there are {limits.NAMES} {self.what} already, the most that is allowed.", new.where)
        hidden = None
        if old is not None and not new.trusted:
            hidden = old if old.trusted else old.under
        self[name] = replace(new, under=hidden)
        return old

    def drop(self, name: str, trusted: bool) -> None:
        """Forget one. A world's text may forget only its own, and what that hid comes back."""
        definition = self[name]
        if not trusted and definition.trusted:
            raise ConsoleError(f"'{name}' is one of your {self.what}; a world's own text may not forget it.")
        if not trusted and definition.under is not None:
            self[name] = definition.under
        else:
            del self[name]

    def forget_untrusted(self) -> None:
        for name, definition in list(self.items()):
            if not definition.trusted:
                if definition.under is None:
                    del self[name]
                else:
                    self[name] = definition.under
