"""Where robots and movable things came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.view.bodies import around
from formiga.view.frame import Frame
from formiga.world.model import Ball

LIFT = 0.004                # m, of trails above the floor


class Trails:
    """The last places of all robots and of what they push, in pieces of PIECE places; only the newest piece ever changes.

    So a long trail costs no more to send than a short one, and an old piece can be drawn thinner as a whole. A body
    that is put somewhere else leaves a gap.
    """

    PIECE, PIECES = 24, 12  # 288 places of each body
    SPACING = 0.2           # of the smallest radius: how far a body has to go for a new place
    MOST = 60_000           # segments in all; a crowd has shorter trails
    FASTEST = 10.0          # m/s; a body that was faster was put there, it did not go there

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin again."""
        self.pieces: list[list[Any]] = [[]]     # oldest first, each a list of places (B, 3) ...
        self.gaps: list[list[Any]] = [[]]       # ... and of bodies that did not go there from the place before (B,)
        self.first = 0                          # number of the oldest piece, counted from the beginning
        self._step, self._bodies = -1, -1

    def add(self, frame: Frame) -> bool:
        """Add the place of every body; False if nothing is new. A run that began again is another trail."""
        here = np.concatenate([frame.place, frame.movables * (1.0, 1.0, 0.0) if frame.bodies is None else _feet(frame)])
        here = here.astype(np.float32)
        if frame.step < self._step or len(here) != self._bodies:
            self.forget()
            self._bodies = len(here)
        elif frame.step == self._step:
            return False
        here[:, 2] += LIFT
        newest, gaps = self.pieces[-1], self.gaps[-1]
        way = here[:, :2] - newest[-1][:, :2] if newest else np.zeros((len(here), 2))
        reach = self.FASTEST * (frame.step - self._step) * frame.world.dt
        gap, self._step = np.hypot(way[:, 0], way[:, 1]) > reach, frame.step
        if len(newest) >= 2 and self._is_near(newest[-2], here, frame):
            newest[-1], gaps[-1] = here, gaps[-1] | gap  # the end of the trail follows the body
            return True
        newest.append(here)
        gaps.append(gap)
        if len(newest) > self.PIECE:
            self.pieces.append([newest[-1], here])
            self.gaps.append([gap, np.zeros(len(here), bool)])
            most = max(1, min(self.PIECES, self.MOST // max(1, self._bodies * self.PIECE)))
            while len(self.pieces) > most:
                del self.pieces[0], self.gaps[0]
                self.first += 1
        return True

    @property
    def numbers(self) -> range:
        """Of the pieces, oldest first."""
        return range(self.first, self.first + len(self.pieces))

    def segments(self, piece: int) -> Any:
        """Of the piece with this number: (S, 2, 3). One of no length is a gap."""
        places, gaps = self.pieces[piece - self.first], self.gaps[piece - self.first]
        if len(places) < 2 or self._bodies == 0:
            return np.zeros((0, 2, 3), np.float32)
        trail, gap = np.stack(places), np.stack(gaps)  # (K, B, 3), (K, B)
        return np.stack([np.where(gap[1:, :, None], trail[1:], trail[:-1]), trail[1:]], axis=2).reshape(-1, 2, 3)

    def _is_near(self, before: Any, here: Any, frame: Frame) -> bool:
        return bool(np.abs(here[:, :2] - before[:, :2]).max(initial=0.0) < self._spacing(frame))

    def _spacing(self, frame: Frame) -> float:
        sizes = [*(group.robot.radius for group in frame.world.groups), *(around(thing) for thing in frame.world.movables)]
        return self.SPACING * min(sizes, default=0.05)


def _feet(frame: Frame) -> Any:
    """(M, 3) where things that can be pushed touch what is under them."""
    down = np.array([(0.0, 0.0, thing.radius if isinstance(thing, Ball) else 0.0) for thing in frame.world.movables])
    return frame.movables - down.reshape(-1, 3)


__all__ = ["Trails"]
