"""How a run keeps up with the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from formiga.link.errors import LinkError


class Pace:
    """Deadlines on the clock that do not drift: step k is due at start + k dt / speed.

    A step that is a whole period late was missed. A late one catches up; only after a second of delay, when the machine
    slept, deadlines are counted anew from there.
    """

    GIVE_UP = 1.0   # s

    def __init__(self, speed: float, dt: float, clock: Callable[[], float] = time.perf_counter,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        if not speed > 0.0:
            raise LinkError(f"a speed of {speed:g} is none; it must be above 0, or inf.")
        self.speed, self._period = speed, dt / speed
        self._clock, self._sleep = clock, sleep
        self._began = self._due = self._stepped = clock()
        self._used = self._worked = time.process_time()  # s of the processor, at the beginning and at the last step
        self._ended: tuple[float, float] | None = None  # s on the clock, s of the processor
        self.missed = 0
        self._late: list[float] = []

    def wait(self) -> None:
        """Until the next step is due."""
        if self.speed == inf:
            return
        self._due += self._period
        while (ahead := self._due - self._clock()) > 0.0:
            self._sleep(ahead)
        self._late.append(-ahead)
        if -ahead >= self._period:
            self.missed += max(1, int(-ahead / self._period)) if -ahead > self.GIVE_UP else 1
        if -ahead > self.GIVE_UP:
            self._due = self._clock()

    def step(self) -> None:
        """A step was taken."""
        self._stepped, self._worked = self._clock(), time.process_time()

    def rest(self) -> None:
        """There was a pause since the last step: it does not count."""
        self._began += self._clock() - self._stepped
        self._used += time.process_time() - self._worked
        self.step()

    def count_from_here(self) -> None:
        """What was until now does not count: the run begins here. The deadlines stay."""
        self._began, self._used = self._clock(), time.process_time()
        self.missed, self._late = 0, []
        self.step()

    def end(self) -> None:
        """It is over: the figures stay as they are."""
        self._ended = self._ended or (self._clock() - self._began, time.process_time() - self._used)

    def figures(self, simulated: float) -> dict[str, Any]:
        """How well it kept up until its end or its last step; the share of one core that this process has used."""
        wall, used = self._ended or (self._stepped - self._began, self._worked - self._used)
        late = np.sort(self._late) if self._late else np.zeros(1)
        return {"speed": None if self.speed == inf else self.speed, "missed_frames": self.missed,
                "wall_seconds": round(wall, 3), "real_time_factor": round(simulated / wall, 3) if wall > 0.0 else None,
                "cpu_share": round(used / wall, 4) if wall > 0.0 else None,
                "late_ms": {"median": _ms(late, 0.5), "p99": _ms(late, 0.99), "most": _ms(late, 1.0)}}


def _ms(late: Any, share: float) -> float:
    return round(1000.0 * float(late[min(len(late) - 1, int(share * len(late)))]), 3)


__all__ = ["Pace"]
