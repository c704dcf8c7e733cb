"""A text that is being carried out: what is still to do, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from formiga.console import limits
from formiga.console.errors import ConsoleError
from formiga.console.parse import Command
from formiga.errors import Where


@dataclass
class Frame:
    """A list of commands and how far it has come: a typed line, a script, or the inside of an alias."""

    commands: Sequence[Command]
    trusted: bool
    args: Sequence[str] = ()  # $1, $2, ... inside an alias
    at: int = 0


@dataclass(eq=False)
class Task:
    """One run of a text. It is `done` when it came to its end, failed, or was stopped."""

    where: Where                             # the command that runs or waits now
    sender: Hashable
    trusted: bool
    frames: list[Frame] = field(default_factory=list)
    waits: Callable[[], bool] | None = None  # while this is False nothing goes on; None: it does not wait
    done: bool = False
    stopped: bool = False
    error: str | None = None                 # what was said when it failed

    @property
    def failed(self) -> bool:
        return self.error is not None

    def push(self, frame: Frame) -> None:
        """Do this before all else."""
        if len(self.frames) >= limits.DEPTH:
            raise ConsoleError(f"aliases and scripts call each other more than {limits.DEPTH} deep. (A call that is the last "
                               "command of an alias may go on for ever.)")
        self.frames.append(frame)

    def next(self) -> tuple[Command, Frame] | None:
        """The next command and the frame that it belongs to.

        A frame leaves the stack with its last command, before that runs. So an alias whose last command is itself does not
        pile up, and may run for ever.
        """
        while self.frames:
            frame = self.frames[-1]
            frame.at += 1
            if frame.at >= len(frame.commands):
                self.frames.pop()
            if frame.at <= len(frame.commands):
                return frame.commands[frame.at - 1], frame
        return None

    def end(self, error: str | None = None) -> None:
        self.frames.clear()
        self.waits = None
        self.done = True
        self.error = error if error is not None else self.error

    def stop(self) -> None:
        if not self.done:
            self.stopped = True
            self.end()
