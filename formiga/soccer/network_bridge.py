"""One team that plays over the network, as the match sees it."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.link.sockets import written
from formiga.soccer.talk import MOST_NOTES, NAMES, Call, Game, Sight

if TYPE_CHECKING:
    from formiga.soccer.network import Network

AGAIN = 1.0             # s on the clock after which a missed picture is reported again
SILENCE = 2.0           # s of the game without a command, after which it is reported and the robots stand
TRIAL = 0.1             # s that a team is waited for which missed pictures and sends something again


class NetworkBridge:
    """One team of a hub. Its programs are unknown: they send commands for its colour. [implements talk.Bridge]"""

    def __init__(self, hub: Network, colour: int, name: str, patience: float) -> None:
        self.hub, self.colour, self.name, self._patience = hub, colour, name, patience
        self.closed = False
        self._packets = 0                              # that had been heard when ...
        self._since: float | None = None               # ... the first picture was taken that is still unanswered, s of the game
        self._last = 0.0                               # when the last one was taken
        self._told = ""                                # what we will say when that is over; '' if we have not said so
        self._missed: int | None = None                # packets heard when it missed a picture in lock-step; None: it did not
        self._complained = float("-inf")               # on the clock, about that
        self._lines: list[str] = []
        self._notes: deque[str] = deque(maxlen=MOST_NOTES)

    @property
    def heard(self) -> int:
        """How many packets with commands have come; 0 until the first program plays."""
        return self.hub.heard(self.colour)

    @property
    def there(self) -> bool:
        """Whether a program has sent commands for it."""
        return self.heard > 0

    @property
    def alive(self) -> bool:
        """Its programs are started by others; they count as running."""
        return True

    @property
    def silent(self) -> bool:
        """Whether no commands came for SILENCE seconds of the game."""
        return self._since is not None and self.heard == self._packets and self._last - self._since >= SILENCE

    def log(self) -> str:
        """What was noted; what its programs print is not known here."""
        return "".join(f"{line}\n" for line in self._notes)

    def note(self, line: str) -> None:
        """Put a line into its log."""
        self._notes.append(line)

    def show(self, sight: Sight, game: Game) -> None:
        """Hand over a picture. Never waits."""
        self.hub.show(sight, game)
        self._last = float(sight.time)
        if self._since is None or self.heard != self._packets:
            self._since, self._packets = self._last, self.heard

    def orders(self, frame: int, wait: float) -> Any:
        """Wheel speeds (P, 2) in m/s at the rim. They hold until others come, for SILENCE seconds of the game; then all are 0.

        In lock-step (wait > 0), a team that misses a picture is not waited for until it sends something, so one that hangs
        costs little.
        """
        wheels = self._ask(frame, wait)
        if self.silent and self.hub.stand(self.colour, self._packets):
            return np.zeros_like(wheels)
        return wheels

    def _ask(self, frame: int, wait: float) -> Any:
        if wait > 0.0 and self._missed is not None:
            heard = self.heard
            wait, self._missed = min(wait, TRIAL) if heard != self._missed else 0.0, heard
            wheels, answered = self.hub.orders(self.colour, frame, wait)
            self._missed = None if answered else self._missed
            return wheels
        if wait > 0.0 and not self.heard:
            wait = max(wait, self._patience)
        wheels, answered = self.hub.orders(self.colour, frame, wait)
        if wait > 0.0 and not answered and not self.closed:
            self._missed = self.heard
            if (now := time.monotonic()) - self._complained >= AGAIN:
                self._complained = now
                self._lines.append(f"did not answer picture {frame} within {wait:g} s, and is not waited for until it does.")
        return wheels

    def tell(self, call: Call) -> None:
        """Hand over what the referee called."""
        self.hub.tell(call)

    def placement(self) -> Any:
        """Where the team wants its robots, (P, 3) x y heading with NaN for those it leaves open; None if it has not said so."""
        return self.hub.wanted(self.colour)

    def troubles(self) -> list[str]:
        """What went wrong since this was last asked. Of what concerns the hub, the first bridge that is asked tells."""
        lines, self._lines = [*self.hub.troubles(), *self._lines], []
        silent = self.silent
        if silent and not self._told:
            where = written(self.hub.commands)
            lines.append(f"no commands for {SILENCE:g} s; its robots stand until some come." if self._packets else
                         f"no program sends commands for {NAMES[self.colour]} to {where} yet.")
            self._told = "commands arrive again." if self._packets else "commands arrive."
        elif self._told and not silent:
            lines.append(self._told)
            self._told = ""
        return lines

    def start(self, wait: float) -> None:
        """Nothing to do: its programs are started by others."""

    def failure(self) -> str:
        """Why the team could not play until now, '' if it could."""
        if not self.heard:
            return f"no commands for it came to {written(self.hub.commands)}"
        return "no commands for it came any more" if self.silent else ""

    def close(self) -> None:
        """Give everything back."""
        if not self.closed:
            self.hub.leave(self)


__all__ = ["NetworkBridge"]
