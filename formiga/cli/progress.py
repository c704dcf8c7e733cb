"""What a person sees of a run while it runs, and how they end it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any

import click

ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE = 1.0  # s for the first step, before we say why it takes longer
COMPILING = "compiling kernels, first run only (15 to 60 s)"


class Display:
    """A progress bar on a terminal, nothing elsewhere or if `quiet`. It is called with the share that is done."""

    def __init__(self, name: str, seconds: float, quiet: bool) -> None:
        self._name, self._seconds, self._quiet = name, seconds, quiet
        self._bar: Any = None
        self._timer = threading.Timer(PATIENCE, self._say, [COMPILING])
        self._timer.daemon = True

    def __enter__(self) -> Display:
        if self._quiet:
            return self
        if sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task(self._name, total=1.0, now=f"0 of {self._seconds:g} s")
            self._bar.start()
        self._timer.start()
        return self

    def __call__(self, share: float) -> None:
        self._timer.cancel()
        if self._bar is not None:
            self._bar.update(self._task, completed=share, now=f"{share * self._seconds:.1f} of {self._seconds:g} s")

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._bar is not None:
            self._bar.stop()

    def _say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            with suppress(OSError, ValueError):
                click.echo(text, err=True)


class Patience:
    """Says why it takes so long, if the block takes longer than a moment."""

    def __enter__(self) -> None:
        self._timer = threading.Timer(PATIENCE, lambda: click.echo(COMPILING, err=True))
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
                    TextColumn("{task.fields[now]}"), TimeRemainingColumn(), console=Console(stderr=True), transient=True)


class Signals:
    """The first Ctrl-C, SIGTERM or end of the terminal asks the run to stop `when` it can; the second ends it at once."""

    def __init__(self, when: str = "at the next step") -> None:
        self._asked = False
        self._words = f"\nstopping {when}; again to stop at once\n".encode()
        self._before: dict[int, Any] = {}

    def stop(self) -> bool:
        """Whether somebody asked."""
        return self._asked

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            wanted = [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]  # as nohup has it
            self._before = {number: signal.signal(number, self._heard) for number in wanted}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            signal.signal(number, signal.SIG_DFL)
            raise KeyboardInterrupt
        self._asked = True
        with suppress(OSError):  # not print: the signal may have come in the middle of one
            os.write(2, self._words)
