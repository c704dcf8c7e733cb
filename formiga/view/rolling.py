"""How balls have turned. A frame has their places; how they rolled there follows from one frame to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.geometry import IDENTITY, about, multiply, normalized
from formiga.view.frame import Frame
from formiga.world.model import Ball


class Rolling:
    """Turns of all movable things, as they are drawn: those of a frame, and for each ball how far it has rolled."""

    def __init__(self) -> None:
        self._place, self._turn = np.empty((0, 2)), np.empty((0, 4))

    def turn(self, frame: Frame) -> Any:
        """Quaternions (M, 4) of the movable things of the next frame.

        A ball that goes by d without sliding turns by |d| / radius about the axis that lies across d.
        """
        place = frame.movables[:, :2]
        if len(place) != len(self._place):
            self._place, self._turn = place.copy(), np.tile(IDENTITY, (len(place), 1))
        for m, thing in enumerate(frame.world.movables):
            if isinstance(thing, Ball):
                dx, dy = place[m] - self._place[m]
                rolled = multiply(about((-dy, dx, 0.0), np.hypot(dx, dy) / thing.radius), self._turn[m])
                self._turn[m] = normalized(rolled)  # errors of rounding would add up from frame to frame
            else:
                self._turn[m] = frame.movables_turn[m]
        self._place = place.copy()
        return self._turn.copy()


__all__ = ["Rolling"]
