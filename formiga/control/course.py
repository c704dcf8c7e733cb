"""A course by the clock, for any drive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.control.sequence import by_the_clock
from formiga.control.view import View
from formiga.errors import WorldError
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.elements import element, flag, numbers, where


@element("course", role="controller")
@dataclass(frozen=True)
class Course:
    """Directions by the clock, as a driver would give them: any robot with a drive can follow them, as well as its drive can.

    Ahead, to the left and turning left are shares of the drive's top speeds, from -1 to 1. A robot on two wheels leaves out
    what is to the left; a car turns its steering wheel, and needs speed to turn.
    """

    moves: tuple[float, ...] = numbers(fewest=4, group=4, doc="seconds, ahead, to the left, turning left; then the next four")
    repeat: bool = flag(False, doc="start again at the end; otherwise stand still")

    def __post_init__(self) -> None:
        if min(self.moves[::4]) <= 0.0:
            raise WorldError("<course> moves: every move must last longer than 0 s.")
        if max(map(abs, (*self.moves[1::4], *self.moves[2::4], *self.moves[3::4]))) > 1.0:
            raise WorldError("<course> moves: shares of top speeds are from -1 to 1.")

    def stages(self, view: View, drive: Floats) -> list[Stage]:
        """The kernel that fills drive (W, n, D)."""
        given = view.group.robot.drive
        if given is None:
            raise WorldError(f"{where(self)}<course> drives robots, and those of '{view.group.name}' have no drive.")
        moves = np.array(self.moves).reshape(-1, 4)
        told = np.array([given.steer(ahead, aside, turn) for _, ahead, aside, turn in moves])
        return [by_the_clock(view, moves[:, 0], told, self.repeat, drive)]
