"""The text that a world brings along: its aliases, its binds and its scripts. It is not trusted, so it may not touch files."""

from __future__ import annotations

from formiga.console import Console
from formiga.errors import FormigaError, Where
from formiga.world.elements import origin
from formiga.world.model import World
from formiga.world.page import Alias, Bind, Script


def begin(world: World, console: Console) -> None:
    """Define a world's aliases and binds, then start its scripts. What one of them may not do is said, and the rest goes on."""
    for each in world.page:
        try:
            if isinstance(each, Alias):
                console.alias(each.name, each.run, _where(world, each), trusted=False)
            elif isinstance(each, Bind):
                console.bind(each.key, each.run, _where(world, each), trusted=False)
        except FormigaError as wrong:
            console.complain(str(wrong))
    for each in world.page:
        if isinstance(each, Script):
            console.run(each.text, each.file or _where(world, each), trusted=False)


def _where(world: World, each: object) -> Where:
    return origin(each) or Where(world.name, 1)


__all__ = ["begin"]
