"""What is wrong with datagrams that arrive, in few lines, however many there are."""

from __future__ import annotations

import time
from collections import deque

from formiga.link.sockets import Address, written

AGAIN = 1.0             # s on the clock after which a source is complained about again
SOURCES = 16            # that are told apart; the others are one
FORGET = 10.0           # s of silence after which a source is forgotten
ELSE = ("", 0)          # stands for the others
LINES = 100             # that wait to be asked for
CHANGES = 8             # programs that come or leave, which are told at once; of more than that, one in AGAIN


class Complaints:
    """What is wrong with what arrives: a line for each source and second, however much of it there is.

    The thread that reads packets adds, one at a time; another one takes, and a deque needs no lock for that.
    """

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LINES)
        self._sources: dict[Address, Source] = {}
        self._began, self._before = time.monotonic(), 0
        self._due, self._untold = float("-inf"), 0     # on the clock, when the next change may be told; changes left out
        self.dropped = 0                               # packets, since the start ...
        self.recent = 0                                # ... and since about a second ago

    def say(self, line: str) -> None:
        """A line, as it is."""
        self._lines.append(line)

    def change(self, line: str) -> None:
        """A program came or left. Any number of them may do so at any rate, each from a port of its own."""
        now = time.monotonic()
        if self._due > now:
            self._untold += 1
            return
        self._due = max(self._due, now - CHANGES * AGAIN) + AGAIN
        self._lines.append(line)

    def add(self, source: Address, what: str) -> None:
        """A packet was dropped, or a part of it. Its source is told at once, then once in a second."""
        self.dropped += 1
        known = self._known(source)
        known.what, known.count = what, known.count + 1
        if known.heard - known.told >= AGAIN:
            self._tell(known)

    def note(self, source: Address, what: str) -> None:
        """Something that is worth one line for each source, and no more."""
        known = self._known(source)
        if not known.noted:
            known.noted = True
            self._lines.append(f"{known.name} {what}.")

    def look_around(self, now: float) -> None:
        """Tell what has piled up since a source was last told; forget sources that are silent."""
        if now - self._began >= AGAIN:
            self._began, self._before = now, self.dropped
        self.recent = self.dropped - self._before
        if self._untold and now >= self._due:
            self.change(f"programs came or left {self._untold:,} times more")
            self._untold = 0
        for source, known in list(self._sources.items()):
            if known.count and now - known.told >= AGAIN:
                self._tell(known)
            elif now - known.heard > FORGET:
                del self._sources[source]

    def take(self) -> list[str]:
        """The lines since this was last asked."""
        return [self._lines.popleft() for _ in range(len(self._lines))]

    def _known(self, source: Address) -> Source:
        known = self._sources.get(source)
        if known is None:
            if len(self._sources) >= SOURCES:
                source = ELSE
            known = self._sources.setdefault(source, Source("other programs" if source is ELSE else written(source)))
        known.heard = time.monotonic()
        return known

    def _tell(self, known: Source) -> None:
        packets = "a packet" if known.count == 1 else f"{known.count:,} packets"
        self._lines.append(f"{known.name} sent {packets} that we dropped, in whole or in part: the last one {known.what}.")
        known.count, known.told = 0, known.heard


class Source:
    """A sender of packets that cannot be used."""

    def __init__(self, name: str) -> None:
        self.name, self.what, self.count, self.noted = name, "", 0, False
        self.heard, self.told = 0.0, float("-inf")     # on the clock


__all__ = ["Complaints", "SOURCES"]
