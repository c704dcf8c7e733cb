"""Failures of the laboratory itself: a picture that could not be drawn, a widget whose action failed.

The run goes on, but such a failure is never silent. It is counted, every window shows it for as long as it is open, and each
distinct one is said once as an error, so it reaches the console and the terminal, with the file and line where it arose.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


class Faults:
    """What failed so far. `say` hands a text to the session and tells whether it was taken; `take` is for any thread."""

    def __init__(self, say: Callable[[str], bool]) -> None:
        self._say = say
        self._lock = threading.Lock()
        self.counts: dict[str, int] = {}   # text -> how often
        self.last = ""

    @property
    def count(self) -> int:
        """All failures, repeated ones too."""
        return sum(self.counts.values())

    def take(self, wrong: BaseException, what: str) -> None:
        """Note a failure. `what` is a clause such as "a picture could not be drawn"."""
        text = f"{what} ({type(wrong).__name__} at {where(wrong)}: {wrong})."
        with self._lock:
            new = text not in self.counts
            self.counts[text] = self.counts.get(text, 0) + 1
            self.last = text
        if new and not self._say(text):
            print(f"formiga: {text}", file=sys.stderr)  # the session takes nothing more; the terminal still does

    def shown(self) -> dict[str, object] | None:
        """For the windows: how many, and the last one in words; None while there are none."""
        with self._lock:
            return {"count": self.count, "text": self.last} if self.counts else None


def where(wrong: BaseException) -> str:
    """File and line, inside formiga if the failure passed through it: 'session/watch.py:51'."""
    steps = traceback.extract_tb(wrong.__traceback__)
    own = [step for step in steps if PACKAGE in Path(step.filename).parents]
    for step in reversed(own or list(steps)):
        path = Path(step.filename)
        return f"{path.relative_to(PACKAGE) if own else path.name}:{step.lineno}"
    return "an unknown place"


def is_ours(wrong: BaseException) -> bool:
    """Whether a failure passed through formiga's code, and was not caused by a client that sent garbage to the server."""
    return any(PACKAGE in Path(step.filename).parents for step in traceback.extract_tb(wrong.__traceback__))


__all__ = ["Faults", "is_ours", "where"]
