"""A long call of a kernel in a thread of its own, while this one hears signals.

Python runs the handler of a signal between two of its own instructions, so a kernel that runs for a minute would keep Ctrl-C
waiting for a minute. Kernels run without Python's lock, so the caller can wait beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

from formiga.state import State

PATIENCE = 0.1  # s between two looks


class Beside:
    """At most one kernel at a time. One that was left by an interrupt is waited for before the next begins."""

    def __init__(self) -> None:
        self._thread: Thread | None = None

    def run(self, kernel: Callable[[], object], state: State) -> None:
        """Run a kernel to its end; KeyboardInterrupt if the run is being ended from another thread."""
        self.wait(state)
        self._thread = Thread(target=kernel, daemon=True)
        self._thread.start()
        self.wait(state)

    def wait(self, state: State) -> None:
        """Until no kernel runs."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(PATIENCE)
            state.refuse_halted()
        self._thread = None
