"""A fixed sequence of wheel speeds: for demonstrations, calibration and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from formiga.control.orders import Orders
from formiga.control.view import View
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.elements import element, flag, numbers, of, where


@element("sequence", role="controller")
@dataclass(frozen=True)
class Sequence:
    """Wheel speeds by the clock: for so many seconds left and right at these speeds, then the next."""

    moves: tuple[float, ...] = numbers(fewest=3, group=3, doc="seconds, left m/s, right m/s; then the next three")
    repeat: bool = flag(False, doc="start again at the end; otherwise stand still")
    joints: tuple[float, ...] | None = numbers(None, doc="orders for its joints, all the time: turret, arm, grip; say 0 0 1")

    ALIASES: ClassVar[dict[str, str]] = {"outputs": "joints"}

    def __post_init__(self) -> None:
        if min(self.moves[::3]) <= 0.0:
            raise WorldError("<sequence> moves: every move must last longer than 0 s.")

    def decide(self, view: View) -> Orders:
        """Wheel speeds (W, n, 2), and orders for the joints."""
        wheels = view.run_stages(self, self.rules)
        if self.joints is None:
            return Orders(wheels)
        return Orders(wheels, joints=np.broadcast_to(self.joints, (*view.shape, len(self.joints))))

    def stages(self, view: View, wheels: Floats) -> list[Stage] | None:
        """The kernel that fills wheels (W, n, 2); None with `joints`, which have none."""
        return self.rules(view, wheels) if self.joints is None else None

    def rules(self, view: View, wheels: Floats) -> list[Stage]:
        """What decides on the wheels (W, n, 2)."""
        view.two_wheels()
        moves = np.array(self.moves).reshape(-1, 3)
        return [by_the_clock(view, moves[:, 0], moves[:, 1:].copy(), self.repeat, wheels)]


def by_the_clock(view: View, seconds: Floats, channels: Floats, repeat: bool, drive: Floats) -> Stage:
    """The stage that fills drive (W, n, D) with one row of channels (M, D) after another, each for so many seconds (M,)."""
    if seconds.min() < 0.5 * view.dt:
        controller = view.group.controller
        raise WorldError(f"{where(controller)}<{of(controller).tag}> moves: {seconds.min():g} s is less than a step of "
                         f"{view.dt:g} s.")
    ends = np.round(np.cumsum(seconds) / view.dt).astype(np.int64)
    return Stage(follow_world, (view.noise.source()[1], ends, channels, repeat, drive))


@kernel()
def follow_world(w, step, ends, speeds, repeat, wheels):
    """The move of this step; ends (M,): the step after each move's last, speeds (M, D)."""
    now = step[w] % ends[-1] if repeat else step[w]
    move = 0
    while move < ends.shape[0] and now >= ends[move]:
        move += 1
    for i in range(wheels.shape[1]):
        for side in range(speeds.shape[1]):
            wheels[w, i, side] = speeds[move, side] if move < ends.shape[0] else 0.0
