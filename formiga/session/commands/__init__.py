"""The laboratory's commands, for its console, its buttons and its keys alike: one file for each kind of thing one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formiga.console import CommandSpec
from formiga.session.commands import editing, files, looking, running, switching

if TYPE_CHECKING:
    from formiga.session.session import Session


def commands(session: Session) -> list[CommandSpec]:
    """All commands that work on a session."""
    return [spec for each in (running, editing, switching, looking, files) for spec in each.commands(session)]


__all__ = ["commands"]
