"""A recording, played: a simulation that is set to the recorded poses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np

from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.record.recording import Recording
from formiga.record.tables import drawings_of
from formiga.state import Movable
from formiga.supervisor import Note
from formiga.world.placeholder import Placeholder


class Replay:
    """One world of a recording. Its simulation never steps: it is set to what was recorded, so that sensors can be read."""

    def __init__(self, recording: Recording, chosen: Mapping[str, str] | None = None) -> None:
        """chosen: {"world": "3"} plays that one of a batch instead of the first."""
        self.recording, self.number = recording, _world(recording, chosen or {})
        self.poses = recording.poses(self.number)
        self.steps = recording.steps
        self.sim = Simulation(recording.described(self.number), recording.seed, 1, recording.engine, self.number,
                              start=self._start())
        if recording.parts and tuple(self.sim.model.parts) != recording.parts:
            raise FormigaError(f"{recording.path}: its bodies are not those of its world; it was changed, or this formiga "
                               "builds robots in another way.")
        self._crashes = np.cumsum(self.poses.crashed[:, 0], axis=0)  # (S, N)
        self._notes = recording.notes
        self.drawings = drawings_of(recording.path, self.number)
        self.show(0)

    def _start(self) -> tuple[Any, Any] | None:
        """The first recorded poses: a world that was edited while it ran may have placement rules that no longer hold.

        In space a recording may begin with robots that lean on each other, which no start allows. There the rules place them,
        unless their code is not here.
        """
        rules = (rule for group in self.recording.described(self.number).groups for rule in group.place)
        if self.recording.parts and not any(isinstance(rule, Placeholder) for rule in rules):
            return None
        return np.stack([self.poses.x[0], self.poses.y[0]], axis=-1), self.poses.heading[0]

    @property
    def last(self) -> int:
        """Number of the last recorded moment."""
        return len(self.steps) - 1

    @property
    def seconds(self) -> float:
        """How long it is."""
        return float(self.poses.time[-1])

    @property
    def next_time(self) -> float:
        """When the next recorded moment is; at the end, when that was."""
        return float(self.poses.time[min(self.index + 1, self.last)])

    @property
    def note(self) -> Note | None:
        """What a supervisor showed at this moment, if there was one."""
        return self.note_at(int(self.steps[self.index]))

    def note_at(self, step: int) -> Note | None:
        """What a supervisor showed at a step."""
        after = bisect_right(self._notes, step, key=lambda noted: noted[0])
        return self._notes[after - 1][1] if after else None

    def forward(self) -> bool:
        """Go to the next recorded moment; False if there is none."""
        if self.index == self.last:
            return False
        self.show(self.index + 1)
        return True

    def show(self, index: int) -> None:
        """Go to a recorded moment."""
        self.index = min(max(index, 0), self.last)
        state, poses, at = self.sim.state, self.poses, self.index
        state.position[0, :, 0], state.position[0, :, 1] = poses.x[at, 0], poses.y[at, 0]
        state.heading[0] = poses.heading[at, 0]
        known = min(state.drive.shape[2], poses.drive.shape[3])
        state.drive[0, :, :known] = poses.drive[at, 0, :, :known]
        state.crashed[0], state.alive[0] = poses.crashed[at, 0], poses.alive[at, 0]
        state.crashes[0] = self._crashes[at]
        state.velocity[0] = poses.velocity[at, 0]
        state.movables[0, :, Movable.MOTION] = poses.movables[at, 0]
        state.movables[0, :, Movable.ROLL] = poses.movables[at, 0, :, Movable.VELOCITY]  # a ball that rolls
        state.bodies[0] = poses.bodies[at, 0]
        state.step[0] = self.steps[at]
        self.sim.look_again()

    def seek(self, time: float) -> None:
        """Go to the last recorded moment that is not after `time`."""
        self.show(bisect_right(self.poses.time.tolist(), time + 1e-9) - 1)


def _world(recording: Recording, chosen: Mapping[str, str]) -> int:
    """The number of the world that was chosen, or 0."""
    if wrong := sorted(set(chosen) - {"world"}):
        raise FormigaError(f"{recording.path}: a recording has no '{wrong[0]}' to choose; world=3 plays that world of it.")
    text = chosen.get("world", "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < recording.worlds):
        raise FormigaError(f"{recording.path}: there is no world '{text}'; they are numbered from 0 to {recording.worlds - 1}.")
    return int(text)


__all__ = ["Replay"]
