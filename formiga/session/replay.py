"""A recording, played: a simulation that is told where everybody was."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.record.recording import Recording


class Replay:
    """One world of a recording. Its simulation never steps: it is set to what was recorded, so that sensors can look."""

    def __init__(self, recording: Recording, world: int = 0) -> None:
        if not 0 <= world < recording.worlds:
            raise FormigaError(f"{recording.path}: there is no world {world}; it has {recording.worlds}, from 0 on.")
        self.recording, self.number = recording, world
        self.poses = recording.poses(world)
        self.steps = recording.steps
        self.sim = Simulation(recording.world, recording.seed, 1, recording.engine, world)
        self._crashes = np.cumsum(self.poses.crashed[:, 0], axis=0)  # (S, N)
        self.show(0)

    @property
    def last(self) -> int:
        """Number of the last recorded moment."""
        return len(self.steps) - 1

    @property
    def seconds(self) -> float:
        """How long it is."""
        return float(self.poses.time[-1])

    def show(self, index: int) -> None:
        """Be at a recorded moment."""
        self.index = min(max(index, 0), self.last)
        state, poses, at = self.sim.state, self.poses, self.index
        state.position[0, :, 0], state.position[0, :, 1] = poses.x[at, 0], poses.y[at, 0]
        state.heading[0] = poses.heading[at, 0]
        state.wheels[0, :, 0], state.wheels[0, :, 1] = poses.left[at, 0], poses.right[at, 0]
        state.crashed[0], state.alive[0] = poses.crashed[at, 0], poses.alive[at, 0]
        state.crashes[0] = self._crashes[at]
        state.step[0] = self.steps[at]
        self.sim.look_again()

    def seek(self, time: float) -> None:
        """Be at the last recorded moment that is not after `time`."""
        self.show(bisect_right(self.poses.time.tolist(), time + 1e-9) - 1)


__all__ = ["Replay"]
