"""What other threads want of the one that owns a session: things to be done between two steps, and pictures."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from formiga.errors import FormigaError

MOST = 1000             # things to do that may wait
T = TypeVar("T")


class Inbox(Generic[T]):
    """`post` and `look` are for any thread; `answer` and `wait` for the owner."""

    def __init__(self) -> None:
        self._posted: queue.Queue[Callable[[], object]] = queue.Queue(MOST)
        self._looks: queue.SimpleQueue[Future[T]] = queue.SimpleQueue()
        self._wake = threading.Event()

    def post(self, what: Callable[[], object]) -> bool:
        """Have something done. False: too much is waiting, and this was not taken."""
        try:
            self._posted.put_nowait(what)
        except queue.Full:
            return False
        self._wake.set()
        return True

    def look(self, timeout: float) -> T | None:
        """Ask for a picture, and wait for it. It shows all that this thread posted before; None: no answer in time."""
        asked: Future[T] = Future()
        self._looks.put(asked)
        self._wake.set()
        try:
            return asked.result(timeout)
        except TimeoutError:
            asked.cancel()  # so it is not made any more
            return None

    def answer(self, picture: Callable[[], T], complain: Callable[[FormigaError], None]) -> None:
        """Do what was posted, then make the pictures that were asked for before."""
        looks = [self._looks.get_nowait() for _ in range(self._looks.qsize())]
        for _ in range(self._posted.qsize()):
            what = self._posted.get_nowait()
            try:
                what()
            except FormigaError as wrong:
                complain(wrong)
        for asked in looks:
            if asked.set_running_or_notify_cancel():
                try:
                    asked.set_result(picture())
                except Exception as wrong:  # raised in the thread that asked; the run goes on
                    asked.set_exception(wrong)

    def wait(self, seconds: float) -> None:
        """Until something is posted or asked for, or so long."""
        self._wake.wait(seconds)
        self._wake.clear()


__all__ = ["Inbox"]
