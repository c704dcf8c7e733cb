"""A course that a robot goes round by the clock: it is led, not steered by what it believes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.control.view import View
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.elements import element, numbers, speed, where


@element("rounds", role="controller")
@dataclass(frozen=True)
class Rounds:
    """Rounds over a closed course by the clock, for a robot that can go in any direction and does not turn.

    On each straight of length L the speed is a parabola:  v(t) = 4 v_max (t/T)(1 - t/T),  T = 1.5 L / v_max
                                                           s(t) = L (3 (t/T)^2 - 2 (t/T)^3)      [from the paper's "parabolic"]
    The robot starts at the first point with heading 0. A round takes whole steps: v_max is adjusted by less than a step in one.
    """

    points: tuple[float, ...] = numbers(unit="m", fewest=4, group=2, doc="x0 y0 x1 y1 ...; closed by itself")
    top_speed: float = speed(1.0, above=0.0, doc="v_max, in the middle of each straight")

    def stages(self, view: View, drive: Floats) -> list[Stage]:
        """The kernel that fills drive (W, n, D) from a table with a row for each step of a round."""
        given = view.group.robot.drive
        if given is None or not given.holonomic:
            raise WorldError(f"{where(self)}<rounds> goes in any direction; the robots of '{view.group.name}' cannot: use "
                             "<omni>.")
        places = course(self.points, self.top_speed, view.dt)
        way = np.roll(places, -1, axis=0) - places
        twist = np.column_stack([way / view.dt, np.zeros(len(way))])
        return [Stage(rounds_world, (view.noise.source()[1], np.ascontiguousarray(given.follow(twist)), drive))]


def course(points: tuple[float, ...], top_speed: float, dt: float) -> Floats:
    """Places (M, 2) at the steps of one round."""
    corners = np.reshape(points, (-1, 2))
    after = np.roll(corners, -1, axis=0)
    lasts = 1.5 * np.linalg.norm(after - corners, axis=1) / top_speed
    steps = max(1, round(lasts.sum() / dt))
    ends = np.cumsum(lasts) * (steps * dt / lasts.sum())
    time = dt * np.arange(steps)
    straight = np.searchsorted(ends, time + 1e-9, side="right")
    lasts, begins = np.diff(ends, prepend=0.0)[straight], np.concatenate([[0.0], ends])[straight]
    share = np.clip((time - begins) / lasts, 0.0, 1.0)[:, None]
    return np.asarray(corners[straight] + (3.0 * share**2 - 2.0 * share**3) * (after - corners)[straight])


@kernel()
def rounds_world(w, step, table, drive):
    """Orders drive (W, n, D) of world w from a table (M, D) of one round."""
    row = step[w] % table.shape[0]
    for i in range(drive.shape[1]):
        for c in range(drive.shape[2]):
            drive[w, i, c] = table[row, c]


__all__ = ["Rounds", "course"]
