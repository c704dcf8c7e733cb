"""How fast a session plays: simulated seconds against those on the clock."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from math import inf

BLOCK = 0.01            # s on the clock that steps may take before the inbox is looked at
PATIENCE = 0.25         # s on the clock that a run may be late before it gives up catching up
IDLE = 0.1              # s on the clock between two looks at the inbox, if nothing is due
SAMPLE = 0.2            # s on the clock between two measurements of the real pace


class Pace:
    """Says which simulated time is due by now, and how fast it really went. speed inf: as fast as it can."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.speed = 1.0
        self._from = (0.0, 0.0)                                  # clock, simulated time: where it is counted from
        self._went: deque[tuple[float, float]] = deque(maxlen=8)  # the same, as it really was lately

    def restart(self, simulated: float) -> None:
        """Count from now on, when the simulated time is this."""
        self._from = (self.clock(), simulated)
        self._went.clear()

    def due(self) -> float:
        """The simulated time that it should be by now."""
        clock, simulated = self._from
        return inf if self.speed == inf else simulated + (self.clock() - clock) * self.speed

    def until(self, simulated: float) -> float:
        """Seconds on the clock until that time is due; at most IDLE, so that the inbox is looked at."""
        clock, began = self._from
        ahead = clock + (simulated - began) / self.speed - self.clock()
        return min(IDLE, max(0.0, ahead))

    def give_up(self, simulated: float) -> None:
        """If the run is too far behind, count from here: this machine cannot keep that speed."""
        if self.speed < inf and (self.due() - simulated) / self.speed > PATIENCE:
            self._from = (self.clock(), simulated)

    def measure(self, simulated: float) -> None:
        """Note the simulated time, at most once in SAMPLE."""
        now = self.clock()
        if not self._went or now - self._went[-1][0] > SAMPLE:
            self._went.append((now, simulated))

    @property
    def factor(self) -> float:
        """Simulated seconds per second, as measured lately; 0 before the first measurement."""
        if len(self._went) < 2:
            return 0.0
        (clock, then), (now, at) = self._went[0], self._went[-1]
        return max(0.0, (at - then) / max(now - clock, 1e-9))


__all__ = ["BLOCK", "IDLE", "Pace"]
