"""What waits to be sent to one client: answers in their order, and of each topic the newest messages alone.

A client that reads too slowly loses messages of topics, and is told how many. So what is held for it is bounded, and the run
never waits. An answer is never lost: the client is not listened to until there is room for the next one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import NamedTuple

HELD = 8 << 20          # bytes of messages that wait for one client, at most
ANSWERS = 1 << 20       # bytes of answers that wait, above which it is not listened to


class Frames(NamedTuple):
    """One message: a frame, or several fragments. text: whether they are JSON."""

    frames: tuple[bytes, ...]
    text: bool = True

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(map(len, self.frames))


class Mailbox:
    """Used by the server's loop alone."""

    def __init__(self) -> None:
        self._answers: deque[Frames] = deque()
        self._topics: OrderedDict[str, deque[Frames]] = OrderedDict()   # the one that was served last is the last
        self._answered = self._held = 0                                 # bytes
        self.lost = 0                                                   # messages, since this was last looked at
        self.filled, self.room = asyncio.Event(), asyncio.Event()
        self.room.set()

    def answer(self, frames: Frames) -> None:
        """Something that must not be lost."""
        self._answers.append(frames)
        self._answered += frames.size
        if self._answered > ANSWERS:
            self.room.clear()
        self.filled.set()

    def put(self, topic: str, frames: Frames, most: int = 1) -> None:
        """A message of a topic; at most so many of it wait, the newest ones."""
        queue = self._topics.setdefault(topic, deque())
        queue.append(frames)
        self._held += frames.size
        while len(queue) > most:
            self._lose(queue)
        while self._held > HELD and sum(map(len, self._topics.values())) > 1:
            self._lose(max(self._topics.values(), key=lambda each: sum(frames.size for frames in each)))
        self.filled.set()

    def forget(self, topic: str) -> None:
        """Nothing of this topic is wanted any more."""
        self._held -= sum(frames.size for frames in self._topics.pop(topic, ()))

    def take(self) -> Frames | None:
        """What is to be sent next: answers first, then the topics in turn. None: nothing waits."""
        if self._answers:
            frames = self._answers.popleft()
            self._answered -= frames.size
            if self._answered <= ANSWERS:
                self.room.set()
            return frames
        for topic, queue in list(self._topics.items()):
            if queue:
                self._topics.move_to_end(topic)
                frames = queue.popleft()
                self._held -= frames.size
                return frames
            del self._topics[topic]
        self.filled.clear()
        return None

    def _lose(self, queue: deque[Frames]) -> None:
        self._held -= queue.popleft().size
        self.lost += 1


__all__ = ["Frames", "HELD", "Mailbox"]
