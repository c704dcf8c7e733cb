"""What a person sees of a run while it runs, and how they end it."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Self

import click

from formiga.cli import INTERRUPTED, SIGNALLED, Ended, printable

ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE = 1.0  # s of compiling, before it is told
GRACE = 5.0     # s after the second signal, in which Python should have heard of it
COMPILING = "compiling, once for this installation:"
OWN = re.compile("formiga_own_(.*)_[0-9a-f]{8}")  # see `world.own.module_name`
DISPATCHER = os.path.join("numba", "core", "dispatcher.py")  # what calls numba's compiler


class Shown:
    """What a command shows while it works: something of rich that moves on a terminal, nothing elsewhere or if `quiet`; and
    above it lines, also of what is compiled. Derive from it what is shown.
    """

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.live: Any = None           # what moves, on a terminal
        self._compiling = Compiling(self.say)

    def made(self) -> Any:
        """What moves, not yet started."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        if self.quiet:
            return self
        if sys.stderr.isatty():
            self.live = self.made()
            self.live.start()
        self._compiling.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if not self.quiet:
            self._compiling.__exit__()
        if self.live is not None:
            self.live.stop()

    def say(self, text: str) -> None:
        """A line on stderr. It may quote a file, a program or a client: it is printed as it is."""
        text = printable(text)
        if self.live is not None:
            self.live.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            _echo(text)


class Display(Shown):
    """A progress bar, which is called with the share that is done."""

    def __init__(self, name: str, seconds: float, quiet: bool) -> None:
        super().__init__(quiet)
        self._name, self._seconds = name, seconds

    def made(self) -> Any:
        """The bar, with the simulated time."""
        bar = bar_of_share()
        self._task = bar.add_task(self._name, total=1.0, now=f"0 of {self._seconds:g} s")
        return bar

    def __call__(self, share: float) -> None:
        if self.live is not None:
            self.live.update(self._task, completed=share, now=f"{share * self._seconds:.1f} of {self._seconds:g} s")


class Compiling:
    """Says which kernels are compiled, if that takes longer than a moment."""

    def __init__(self, say: Callable[[str], None] | None = None) -> None:
        self._say = say or _echo
        self._names: dict[str, None] = {}      # in order, each once
        self._told = False
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Compiling:
        from formiga.kernels import cache

        cache.listeners.append(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        from formiga.kernels import cache

        with suppress(ValueError):
            cache.listeners.remove(self._hear)
        if self._timer is not None:
            self._timer.cancel()

    def _hear(self, module: str) -> None:
        own = OWN.fullmatch(module)
        name = f"{own[1]}.py" if own else module.removeprefix("formiga.").removeprefix("engine.").replace(".", " ")
        if self._told and name not in self._names:
            self._say(f"compiling {name}")
        self._names[name] = None
        if self._timer is None:
            self._timer = threading.Timer(PATIENCE, self._tell)
            self._timer.daemon = True
            self._timer.start()

    def _tell(self) -> None:
        self._told = True
        self._say(f"{COMPILING} {', '.join(self._names)}")


def _echo(text: str) -> None:
    with suppress(OSError, ValueError):
        click.echo(text, err=True)


def bar_with(*columns: Any) -> Any:
    """A name and a bar of rich on stderr, with further columns. Texts may quote a file: they are shown as they are."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    name, *further = (TextColumn(each, markup=False) if isinstance(each, str) else each
                      for each in ("{task.description}", *columns))
    return Progress(name, BarColumn(), *further, console=Console(stderr=True), transient=True)


def bar_of_share() -> Any:
    """The same, for a share that is done and what is `now`."""
    from rich.progress import TaskProgressColumn, TimeRemainingColumn

    return bar_with(TaskProgressColumn(), "{task.fields[now]}", TimeRemainingColumn())


def _compiles(frame: FrameType | None) -> bool:
    """Whether numba is compiling below this frame."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(DISPATCHER):
            return True
        frame = frame.f_back
    return False


class Signals:
    """The first Ctrl-C, SIGTERM or end of the terminal asks the run to stop `when` it can; the second ends it at once.
    With `compiling`, the first one does so, too, while a kernel is compiled: no step is under way that could be finished.
    `code` is the exit code of a command that the first one has ended: 130 after Ctrl-C, 143 after SIGTERM.

    Python calls a handler between two of its own instructions. If a call into a library has not returned GRACE seconds after
    the second signal, a thread that listens to the signals themselves ends the process.
    """

    def __init__(self, when: str = "at the next step", compiling: bool = False) -> None:
        self.code = INTERRUPTED
        self._asked = self._ending = False
        self._compiling = compiling
        self._words = f"\nstopping {when}; again to stop at once\n".encode()
        self._before: dict[int, Any] = {}
        self._heard_of: tuple[socket.socket, socket.socket] | None = None

    def stop(self) -> bool:
        """Whether a signal has asked for it."""
        return self._asked

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            wanted = [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]  # as nohup has it
            self._before = {number: signal.signal(number, self._heard) for number in wanted}
            self._listen()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        if self._heard_of is not None:
            signal.set_wakeup_fd(self._wakes_before, warn_on_full_buffer=False)
            self._heard_of[1].close()  # the thread reads the end
        if kind is not None and issubclass(kind, (KeyboardInterrupt, click.Abort)) and self.code != INTERRUPTED:
            raise Ended(self.code)

    def _listen(self) -> None:
        """Start the thread that hears signals while the main thread does not."""
        self._heard_of = listening, told = socket.socketpair()
        told.setblocking(False)
        self._wakes_before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._watch, args=[listening], daemon=True).start()

    def _watch(self, listening: socket.socket) -> None:
        heard: list[int] = []
        with listening:
            while numbers := listening.recv(64):
                heard += [number for number in numbers if number in self._before]
                if len(heard) >= 2:
                    break
            else:
                return
        for _ in range(round(GRACE / 0.1)):
            time.sleep(0.1)
            if self._ending:
                return
        with suppress(OSError):
            os.write(2, b"formiga: interrupted\n")
        os._exit(SIGNALLED + heard[0])

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if not self._asked:
            self.code = SIGNALLED + number
        if self._asked or (self._compiling and any(map(_compiles, (frame, *sys._current_frames().values())))):
            self._asked = self._ending = True
            signal.signal(number, signal.SIG_DFL)
            raise KeyboardInterrupt
        self._asked = True
        with suppress(OSError):  # not print: the signal may have come in the middle of one
            os.write(2, self._words)
