"""A fixed sequence of wheel speeds: for demonstrations, calibration and tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.control.view import Orders, View
from formiga.errors import WorldError
from formiga.world.elements import element, flag, numbers, where


@element("sequence", role="controller")
@dataclass(frozen=True)
class Sequence:
    """Wheel speeds by the clock: for so many seconds left and right at these speeds, then the next."""

    moves: tuple[float, ...] = numbers(fewest=3, group=3, doc="seconds, left m/s, right m/s; then the next three")
    repeat: bool = flag(False, doc="start again at the end; otherwise stand still")
    outputs: tuple[float, ...] | None = numbers(None, doc="for its further motors, all the time: turret, arm, grip; say 0 0 1")

    def __post_init__(self) -> None:
        if min(self.moves[::3]) <= 0.0:
            raise WorldError("<sequence> moves: every move must last longer than 0 s.")

    def decide(self, view: View) -> Orders:
        """Wheel speeds (W, n, 2), and what the further motors shall do."""
        moves = np.array(self.moves).reshape(-1, 3)
        if moves[:, 0].min() < 0.5 * view.dt:
            raise WorldError(f"{where(self)}<sequence> moves: {moves[:, 0].min():g} s is less than a step of {view.dt:g} s.")
        steps = np.round(view.time[:, 0] / view.dt)
        ends = np.round(np.cumsum(moves[:, 0]) / view.dt)
        if self.repeat:
            steps = steps % ends[-1]
        speeds = np.vstack([moves[:, 1:], np.zeros((1, 2))])[np.searchsorted(ends, steps, side="right")]
        wheels = np.broadcast_to(speeds[:, None, :], (*view.shape, 2))
        if self.outputs is None:
            return Orders(wheels)
        return Orders(wheels, outputs=np.broadcast_to(self.outputs, (*view.shape, len(self.outputs))))
