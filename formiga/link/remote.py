"""A program in another process, asked in lock step or in real time. It may be slow, dead or faulty; the caller goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from formiga.link.errors import LinkError
from formiga.link.exchange import SLICE, Exchange
from formiga.link.memory import SPIN
from formiga.link.process import Program

LISTEN = 0.005     # s: what a program prints is taken this often
TRIAL = 0.1        # s: a program that answers something after it hung is waited for so long, to catch up
AGAIN = 1.0        # s of simulated time between two lines about the same trouble
MOST_LINES = 100   # of troubles that wait to be asked for
END = 0.5          # s that a program may take to end by itself, and again when it is told to


@dataclass(frozen=True)
class Words:
    """What things are called in messages."""

    question: str = "question"
    refused: str = "its answers are not used"      # what follows from an answer that is garbage
    time: str = "simulated time"
    idle: str = "it is given up until it answers"  # what follows from a long silence


class Remote:
    """A program that is started as `command --memory QUESTION ANSWER arguments`, and what went wrong with it.

    In lock step (`ask` with wait > 0) each question is waited for. A program that misses one is reported, and not waited for
    until it answers again, so that a hung program costs little. Without waiting the newest answer counts. In both, an answer
    that is older than `silence` seconds of simulated time does not count any more.

    command: None for a program that is started elsewhere and comes by itself; while there is none, nothing is waited for.
    exchange: its memories, which are closed with it. patience: s on the clock for the first answer, in lock step: the program
    has to load. accept: called with the fields of each answer that may count; returns None, or (kind, message) of a trouble.
    """

    def __init__(self, name: str, command: Sequence[str] | None, exchange: Exchange, *, arguments: Sequence[str] = (),
                 silence: float = 1.0, patience: float = 10.0, words: Words | None = None,
                 accept: Callable[[Any], tuple[str, str] | None] = lambda values: None) -> None:
        self.name, self.exchange, self.silence = name, exchange, silence
        self.answered = -1                         # the newest question that was answered
        self._patience, self._words, self._accept = patience, words or Words(), accept
        self._troubles: list[str] = []
        self._told: dict[str, float] = {}          # when each kind of trouble was last told, s of simulated time
        self._now = self._heard = 0.0              # s of simulated time: of the newest question, and of the newest answer
        self._hung = self._silent = False          # it missed a question that was waited for; it was silent for too long
        self._closed, self._dead, self._how = False, False, ""
        self._values: Any = None                   # of the newest answer
        self._listened = 0.0                       # when its program was last listened to, s on the clock
        self._taken = -1                           # the sequence of the answer memory when it was last read
        self._program: Program | None = None
        try:
            if command is not None:
                self._program = Program(name, [*command, "--memory", *exchange.paths, *arguments], exchange.files)
        except LinkError:
            exchange.close()
            raise
        self._started = time.monotonic()

    # -- its state ----------------------------------------------------------------------------------------------------
    @property
    def question(self) -> Any:
        """The fields of the next question, to be filled before `show`."""
        return self.exchange.question

    @property
    def alive(self) -> bool:
        """Whether its program runs."""
        return not (self._closed or self._is_dead())

    @property
    def pid(self) -> int:
        """Of its program; also the number of its process group. 0: it was started elsewhere."""
        return self._program.pid if self._program is not None else 0

    @property
    def how(self) -> str:
        """How its program ended; '' while it runs."""
        return self._how

    def ready(self, wait: float) -> bool:
        """Wait until the program has opened its memories, at most so many seconds."""
        if self._closed:
            return False
        until = time.monotonic() + wait
        answers = self.exchange.answered
        while not self.exchange.opened:
            if self._is_dead() or time.monotonic() >= until:
                return False
            self._listen()
            answers.wait(answers.sequence, SLICE)
        return True

    def start(self, wait: float) -> None:
        """Wait until the program has opened its memories, at most so many seconds and as long as a first answer is waited for.

        One that ended before could not start: LinkError, with the last line that it printed.
        """
        if not self.ready(min(wait, self._started + self._patience - time.monotonic())) and not self.alive:
            raise LinkError(f"{self.name} could not start: its program ended ({self._how}).")

    def failure(self) -> str:
        """Why the program could not work until now, '' if it could."""
        if not self._closed and self._is_dead():
            return f"its program ended ({self._how})"
        if self.answered < 0:
            return f"it answered no {self._words.question}"
        return "it does not answer any more" if self._hung or self._silent else ""

    @property
    def troubled(self) -> bool:
        """Whether `troubles` has something to say, without a look at the program itself."""
        return bool(self._troubles)

    def troubles(self) -> list[str]:
        """What went wrong since this was last asked, a line each."""
        if not self._closed:
            self._is_dead()
        told, self._troubles = self._troubles, []
        return told

    def log(self) -> str:
        """The last 64 KiB that the program printed."""
        if self._program is None:
            return ""
        if not self._closed:
            self._program.listen()
        return self._program.log()

    # -- asking -------------------------------------------------------------------------------------------------------
    def show(self, frame: int, time: float) -> None:
        """Hand over the question, with its number and its simulated time (s). Never waits."""
        if self._closed:
            return
        self._now = float(time)
        self._listen()
        self.exchange.show(frame, time)

    def ask(self, frame: int, wait: float) -> Any:
        """The fields of the newest answer; None if there is none that counts. wait: s for that to `frame`. Never raises."""
        if self._closed or self._dead or (self._program is None and not self.exchange.opened):
            return None
        before = self.answered
        self.refresh()
        missed = False
        if self.answered < frame:
            limit = wait
            if wait > 0.0 and self._hung:
                limit = min(wait, TRIAL) if self.answered > before else 0.0
            elif wait > 0.0 and self.answered < 0:
                limit = max(wait, self._started + self._patience - time.monotonic())
            self._wait(frame, limit)
            if self.answered < frame and not self._is_dead():
                missed = self._missed(limit, waited=wait > 0.0)
        if self.answered >= frame or (wait <= 0.0 and self.answered > before):
            self._caught_up()
        return None if missed or self._dead else self._values

    def refresh(self) -> None:
        """Take the newest answer, if it makes sense."""
        if self._closed or self._dead or (sequence := self.exchange.answered.sequence) == self._taken:
            return
        reply = self.exchange.take()
        if reply is None:
            return
        self._taken = sequence
        if reply.damage == "head":
            self._complain("head", f"wrote over the head of its memory; {self._words.refused}")
        elif reply.damage == "frame":
            self._complain("frame", f"answered a {self._words.question} that it was never shown; {self._words.refused}")
        if reply.frame < max(self.answered, 0):
            return
        if reply.frame > self.answered:
            self.answered, self._heard = reply.frame, self._now
        kept = bytearray(reply.values.tobytes())       # a copy; that of an array of records takes five times as long
        self._values = np.frombuffer(kept, reply.values.dtype).reshape(())
        if trouble := self._accept(self._values):
            self._complain(*trouble)

    def close(self) -> None:
        """Tell the program that there are no more questions, then end it and all that it started."""
        if self._closed:
            return
        self._is_dead()  # an end before this one is a trouble
        self._closed = True
        self.exchange.close()
        if self._program is not None:
            self._program.end(patience=END)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- watching -----------------------------------------------------------------------------------------------------
    def _wait(self, frame: int, limit: float) -> None:
        """Sleep until the answer is there, the program is dead, or the time is over."""
        answers = self.exchange.answered
        until, spin = time.monotonic() + limit, SPIN
        while (left := until - time.monotonic()) > 0.0:
            sequence = answers.sequence
            if not sequence & 1:
                self.refresh()
            if self.answered >= frame:
                return
            began = time.monotonic()
            answers.wait(sequence, min(left, SLICE), spin)
            spin = 0.0
            if time.monotonic() - began > 0.5 * SLICE:
                self._listen()
                if self._is_dead():
                    return

    def _missed(self, limit: float, waited: bool) -> bool:
        """Report that a question was not answered; whether the newest answer is too old to count."""
        words = self._words
        if waited and not self._hung:
            if self._program is not None and self.answered < 0:
                limit = max(limit, time.monotonic() - self._started)   # `start` has waited for it, too
            half = " (it stopped in the middle of writing one)" if self.exchange.answered.sequence & 1 else ""
            self._complain("hung", f"answered no {words.question} for {limit:.3g} s{half}; it is not waited for until it "
                                   "answers again")
            self._hung = True
        if self._now - self._heard < self.silence:
            return False
        if not waited and not self._silent:
            self._silent = True
            self._complain("hung", f"answered no {words.question} for {self.silence:g} s of {words.time}; {words.idle}")
        return True

    def _caught_up(self) -> None:
        if self._hung or self._silent:
            self._hung = self._silent = False
            self._complain("again", "answers again")

    def _is_dead(self) -> bool:
        if self._program is not None and not self._dead and (how := self._program.ended()) is not None:
            self._dead, self._how = True, how
            self._troubles.append(f"its program ended ({how})")
        return self._dead

    def _listen(self) -> None:
        if self._program is not None and (now := time.monotonic()) - self._listened > LISTEN:
            self._listened = now
            self._program.listen()

    def _complain(self, kind: str, text: str) -> None:
        """One line of each kind in a second of simulated time: a program that fails all the time must not fill a disk."""
        if abs(self._now - self._told.get(kind, -AGAIN)) >= AGAIN:
            self._told[kind] = self._now
            self._troubles.append(text)
            del self._troubles[:-MOST_LINES]


__all__ = ["Remote", "Words"]
