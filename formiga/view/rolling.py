"""How balls have turned. A frame knows where they are; that they rolled there can be seen from one frame to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.view.frame import Frame
from formiga.world.model import Ball


class Rolling:
    """Turns of all loose things, as they look: a frame's own, and with them how far each ball has rolled."""

    def __init__(self) -> None:
        self._place, self._turn = np.empty((0, 2)), np.empty((0, 4))

    def turn(self, frame: Frame) -> Any:
        """Quaternions (M, 4) of the loose things of the next frame.

        A ball that goes by d without sliding turns by |d| / radius about the axis that lies across d.
        """
        place = frame.movables[:, :2]
        if len(place) != len(self._place):
            self._place, self._turn = place.copy(), np.tile([1.0, 0.0, 0.0, 0.0], (len(place), 1))
        for m, thing in enumerate(frame.world.movables):
            if isinstance(thing, Ball):
                dx, dy = place[m] - self._place[m]
                self._turn[m] = product(quaternion(np.hypot(dx, dy) / thing.radius, (-dy, dx, 0.0)), self._turn[m])
            else:
                self._turn[m] = frame.movables_turn[m]
        self._place = place.copy()
        return self._turn.copy()


def quaternion(angle: float, axis: Any) -> Any:
    """w x y z of a turn about an axis of any length; none about one of no length."""
    size = float(np.linalg.norm(axis))
    if size == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) / size * np.asarray(axis))])


def product(second: Any, first: Any) -> Any:
    """The turn that two quaternions are, one after the other; of length 1, however often."""
    a, u, b, v = second[0], second[1:], first[0], first[1:]
    both = np.array([a * b - u @ v, *(a * v + b * u + np.cross(u, v))])
    return both / np.linalg.norm(both)


__all__ = ["Rolling", "product", "quaternion"]
