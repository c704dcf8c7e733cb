"""Python files of the user's own, watched while a session runs: when one is saved, the run goes on with the new code.

Code that cannot be imported, or with which the world cannot run, is not used: the run goes on with the code as it was, and the
error names the file and the line.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from formiga import lab
from formiga.errors import FormigaError
from formiga.session import rereading
from formiga.world import reader
from formiga.world.elements import trial
from formiga.world.own import module_name, own_mistakes

if TYPE_CHECKING:
    from formiga.session.session import Session

EVERY = 0.3             # s on the clock between two looks at the files
Stamp = tuple[int, int]  # when a file was written, and its size


class OwnFiles:
    """The files of --with, as they were when they were last loaded."""

    def __init__(self, files: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stamps = {file: _stamp(file) for file in files}
        self._clock, self._looked = clock, clock()

    def look(self, session: Session) -> None:
        """Now and then: load those that have changed. Costs next to nothing in between."""
        if not self._stamps or self._clock() - self._looked < EVERY:
            return
        self._looked = self._clock()
        now = {file: _stamp(file) for file in self._stamps}
        changed = [file for file, stamp in now.items() if stamp is not None and stamp != self._stamps[file]]
        if not changed:
            return
        self._stamps.update({file: now[file] for file in changed})
        names = " and ".join(os.path.basename(file) for file in changed)
        try:
            with own_mistakes():
                reload(session, changed)
        except FormigaError as wrong:
            session.say(f"{str(wrong).removesuffix('.')}. The run goes on with the code as it was.", "error")
        else:
            then = "the next world uses it" if session.replay else "the run goes on with it"
            session.say(f"{names} was read again; {then}.", "note")


def reload(session: Session, files: Sequence[str]) -> None:
    """Import files again and let the run go on in the same world; if either fails, the elements are those of before."""
    text = None if session.replay else rereading.edited_text(session)
    with ExitStack() as stack:
        for file in files:
            stack.enter_context(trial(module_name(file)))
        for file in files:
            lab.load_elements(file)
        if session.replay:
            return
        document = session.document and session.document.given(session.document.parameters)
        world = reader.read_text(text, document.file if document else session.world.name) if text is not None else None
        if world is None:
            assert document is not None
            world = document.world
        rereading.go_on(session, world, document, undo=False)


def _stamp(file: str) -> Stamp | None:
    """None while the file is not there, as between two moments of an editor that writes it anew."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


__all__ = ["OwnFiles", "reload"]
