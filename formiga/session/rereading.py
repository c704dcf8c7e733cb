"""A world read again while it runs, with another parameter or with other code: what was edited by hand stays edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formiga.errors import FormigaError, suggest
from formiga.session.edit import same_robots
from formiga.world import reader, writer
from formiga.world.document import Document
from formiga.world.elements import of
from formiga.world.model import World

if TYPE_CHECKING:
    from formiga.session.session import Session


def set_param(session: Session, name: str, value: str) -> str:
    """Give a <param> another value; what to tell about it. If the world cannot be read so, nothing has changed."""
    document = session.document
    if document is None or name not in document.params:
        known = list(document.params) if document is not None else []
        raise FormigaError(f"there is no param '{name}'.{suggest(name, known)} This world has: {', '.join(known) or 'none'}.")
    text = edited_text(session)
    document = document.given({**document.parameters, name: value})
    world = document.world if text is None else reader.read_text(text, document.file, {name: value})
    why = why_begin_again(session.world, world)
    if not why:
        try:
            go_on(session, world, document)
            return f"{name} is {value}; the run goes on."
        except FormigaError as wrong:
            why = str(wrong).rstrip(".")
    session.changes.begin_again(world, document, f"{name} became {value}")
    return f"{name} is {value}; the run starts again: {why}."


def edited_text(session: Session) -> str | None:
    """The text of a world that was edited since its file was read; None if it was not, so that the file's own text says all."""
    document = session.document
    if document is None:
        return writer.to_text(session.world)
    if session.world == document.world:
        return None
    kept = document.kept(session.world, document.file)
    if kept is None:
        raise FormigaError("the world was edited in a way that its file cannot say, so it cannot be read again. `save` it, "
                           "and `load` what was saved.")
    return kept


def go_on(session: Session, world: World, document: Document | None, undo: bool = True) -> None:
    """Let the run go on in a world that was read again."""
    session.changes.apply(same_robots(world, *session.poses()), undo=undo)
    session.document = document


def why_begin_again(old: World, new: World) -> str:
    """Why a run cannot go on in a world that was read again, or ''."""
    if [(group.name, group.count, of(group.robot).tag) for group in old.groups] != [
            (group.name, group.count, of(group.robot).tag) for group in new.groups]:
        return "there are other robots"
    if [group.place for group in old.groups] != [group.place for group in new.groups]:
        return "robots start at other places"
    return "steps have another length" if old.dt != new.dt else ""


__all__ = ["edited_text", "go_on", "set_param", "why_begin_again"]
