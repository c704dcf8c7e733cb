"""The camera above the field and its vision program: what truly is -> what the teams see.

It takes a picture each control period. It may be late, see everything a little beside its place, and overlook something. As
with every noise here, a number depends on the seed, the picture and the thing alone: the same match has the same pictures.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple

import numpy as np

from formiga.errors import FormigaError
from formiga.noise import Noise, world_key
from formiga.soccer.talk import Sight
from formiga.state import Floats
from formiga.units import CM

PATCH = 3.75 * CM   # the colour patches that give a heading are this far apart: half a robot's side
FULL_TURN = 2.0 * pi


@dataclass(frozen=True)
class Camera:
    """How well the teams see.

    latency: from a picture to its receivers, s; any, also a part of a period: then things are where they were on the way
    from one step to the next. noise: standard deviation of a place, m, on each axis. heading_noise: of a heading, rad; if it
    is None, what `noise` makes of two patches of colour half a robot apart. vanish: how likely something is overlooked in a
    picture. velocity: `true`, as a simulator knows it and FIRASim tells it; or `difference`, of two pictures, noise and all,
    as a real vision program has it.

    A robot that is overlooked is not `present`, and stays where it was last seen. The ball has no such mark: it stays, too.
    """

    latency: float = 0.0
    noise: float = 0.0
    heading_noise: float | None = None
    vanish: float = 0.0
    velocity: str = "true"

    def __post_init__(self) -> None:
        for name, most in (("latency", 10.0), ("noise", 1.0), ("vanish", 1.0), ("heading_noise", 10.0)):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= most:
                raise FormigaError(f"a camera's {name} cannot be {value:g}; it must be from 0 to {most:g}.")
        if self.velocity not in ("true", "difference"):
            raise FormigaError(f"a camera's velocity is 'true' or 'difference', not '{self.velocity}'.")

    def start(self, seed: int, dt: float) -> Vision:
        """A vision program for one match."""
        return Vision(self, seed, dt)


class _Picture(NamedTuple):
    time: float
    things: Floats          # (1 + 2 P, 6) x y heading, vx vy spin; the ball first, then blue, then yellow
    cut: bool               # whether things were put elsewhere just before it


class Vision:
    """What a camera's program remembers during a match."""

    def __init__(self, camera: Camera, seed: int, dt: float) -> None:
        self._camera, self._dt = camera, dt
        self._key = np.array([world_key(seed, 0)], np.uint64)
        self._frame = 0
        self._cut = True
        self._late = camera.latency / dt + 1e-9
        self._past: deque[_Picture] = deque(maxlen=int(self._late) + 2)
        self._seen: Floats | None = None    # (1 + 2 P, 6) as it was last seen
        self._when: Floats | None = None    # (1 + 2 P,) s, when that was
        turn = camera.noise / PATCH if camera.heading_noise is None else camera.heading_noise
        self._sigma = np.array([camera.noise, camera.noise, turn])

    def cut(self) -> None:
        """Things were put elsewhere: no motion led from there to here."""
        self._cut = True

    def look(self, time: float, ball: Any, robots: Any, on: Any) -> Sight:
        """Take a picture at `time` of the ball (4,) and the robots (2, P, 6), and hand out the one that is due.

        on (2, P): false for robots that are switched off.
        """
        players = robots.shape[1]
        things = np.zeros((1 + 2 * players, 6))
        things[0, :2], things[0, 3:5] = ball[:2], ball[2:4]
        things[1:] = robots.reshape(-1, 6)
        self._past.append(_Picture(time, things, self._cut))
        self._cut = False
        taken, true, jumped = self._developed()
        seen, missed = self._noisy(true), self._overlooked(len(things))
        when = np.full(len(things), taken)
        if self._seen is None or self._when is None:
            self._seen, self._when = seen, when
            if self._camera.velocity == "difference":
                seen[:, 3:] = 0.0
        else:
            if self._camera.velocity == "difference":
                seen[:, 3:] = 0.0 if jumped else self._difference(seen, when)
            keep = missed if not jumped else np.zeros_like(missed)  # after a break, nothing is where it was
            self._seen, self._when = np.where(keep[:, None], self._seen, seen), np.where(keep, self._when, when)
        present = np.asarray(on, np.bool_) & ~missed[1:].reshape(2, players)
        shown = self._seen.copy()
        shown[:, 2] = pi - (pi - shown[:, 2]) % FULL_TURN  # (-pi, pi]
        frame, self._frame = self._frame, self._frame + 1
        return Sight(frame, taken, shown[0, [0, 1, 3, 4]], shown[1:].reshape(2, players, 6), present)

    def _developed(self) -> tuple[float, Floats, bool]:
        """The picture that is due now: when it was taken, what it shows, and whether things jumped since the last one."""
        back = min(self._late, float(len(self._past) - 1))  # the first picture stands until there is a second
        whole, part = int(back), back - int(back)
        newer = self._past[-1 - whole]
        if part < 1e-6:
            return newer.time, newer.things.copy(), newer.cut
        older = self._past[-2 - whole]
        share = 0.0 if newer.cut else 1.0 - part  # there is nothing between before and after a break
        return older.time + share * (newer.time - older.time), older.things + share * (newer.things - older.things), older.cut

    def _noisy(self, true: Floats) -> Floats:
        if not self._sigma.any():
            return true
        true[:, :3] += self._sigma * self._draw("place", len(true)).normal(1.0, 3)[0]
        return true

    def _overlooked(self, count: int) -> Any:
        if self._camera.vanish == 0.0:
            return np.zeros(count, np.bool_)
        return self._draw("vanish", count).uniform(0.0, 1.0)[0, :, 0] < self._camera.vanish

    def _difference(self, seen: Floats, when: Floats) -> Floats:
        """Velocities from where things were last seen."""
        assert self._seen is not None and self._when is not None
        moved = seen[:, :3] - self._seen[:, :3]
        moved[:, 2] = (moved[:, 2] + pi) % FULL_TURN - pi
        return moved / np.maximum(when - self._when, 1e-6)[:, None]

    def _draw(self, use: str, count: int) -> Noise:
        return Noise(self._key, np.array([self._frame], np.int64), slice(0, count), "soccer", "camera", use)


__all__ = ["Camera", "Vision"]
