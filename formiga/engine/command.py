"""What an engine takes: one command for all robots of all worlds, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formiga.state import Floats, State


@dataclass(frozen=True)
class Command:
    """Orders of all groups, checked, cut at limits, with the noise of motors. Each robot uses the first columns of its own."""

    drive: Floats                            # (W, N, D) in the units of each drive's channels; zero: stands still
    joints: Floats | None = None             # (W, N, K) in the unit of each joint's mode; None: as before
    leds: NDArray[np.uint8] | None = None    # (W, N, L, 3); None: as before
    messages: Floats | None = None           # (W, N, X) all words of the outbox, NaN where a robot is silent; None: as before
    sound: Floats | None = None              # (W, N, S, 2) intensity and frequency of each loudspeaker; None: as before

    def keep(self, state: State) -> None:
        """Write what lasts until the next command into the state: joint commands, lights, sounds and messages. Ended worlds
        keep what they had, and robots that are not alive keep their joint commands."""
        if self.joints is None and self.leds is None and self.sound is None and self.messages is None:
            return
        running = ~state.done
        if self.joints is not None:
            obeys = running[:, None] & state.alive
            state.joint_command[obeys] = self.joints[obeys]
        if self.leds is not None:
            state.leds[running] = self.leds[running]
        if self.sound is not None:
            state.sound[running] = self.sound[running]
        if self.messages is not None:
            state.outbox[running] = self.messages[running]
