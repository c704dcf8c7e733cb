"""A camera that recognizes teammates: which of them are in its field of view, how far and in which direction."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.drawing import Pen
from formiga.errors import WorldError
from formiga.geometry import wrap
from formiga.state import Floats
from formiga.units import DEG
from formiga.world.elements import angle, choice, element, length, name, number, where

if TYPE_CHECKING:
    from formiga.sense import SensorView

SEEN, RANGE, BEARING = range(3)      # columns of a reading
MOST = 200                           # robots of a group that can tell each other apart


@element("teammates", role="sensor")
@dataclass(frozen=True)
class Teammates:
    """The other robots of the same group that are in sight, each known by its number in the group.

    A row for each robot of the group: 1 if it is seen, its range in m and its bearing from the heading in rad; zeros if it is
    not, and for the robot itself.
        range = distance (1 + N(0, range_noise)),   bearing = direction - heading + N(0, bearing_noise)
    """

    reach: float = length(8.0, above=0.0, doc="between centres")
    field: float = angle(360.0 * DEG, above=0.0, most=360.0 * DEG, doc="of view, centred on the heading")
    sight: str = choice("bodies", options=("walls", "bodies"), doc="what hides a teammate: walls and obstacles, or robots, too")
    range_noise: float = number(0.0, least=0.0, doc="standard deviation, as a share of the range")
    bearing_noise: float = angle(0.0, least=0.0, doc="standard deviation")
    name: str = name("teammates")

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """Of a row; with noise a range has no end."""
        return np.array([0.0, 0.0, -pi]), np.array([1.0, inf if self.range_noise else self.reach, pi])

    def read(self, scene: SensorView) -> Floats:
        """Readings (W, n, n, 3): which, and of each whether it is seen, its range and its bearing."""
        W, n = scene.shape
        if n > MOST:
            raise WorldError(f"{where(self)}<teammates> tells at most {MOST} robots apart; '{scene.group.name}' has {n}. "
                             "<range_and_bearing> serves swarms.")
        out = np.zeros((W, n, n, 3))
        away = scene.position[:, None] - scene.position[:, :, None]                         # (W, n, n, 2) from i to j
        far = np.hypot(away[..., 0], away[..., 1])
        bearing = wrap(np.arctan2(away[..., 1], away[..., 0]) - scene.heading[..., None])
        near = (far <= self.reach) & (2.0 * np.abs(bearing) <= self.field) & ~np.eye(n, dtype=np.bool_)
        if not near.any():
            return out
        targets = np.where(near[..., None], scene.position[:, None], np.nan)                # nothing sees what is not a place
        seen = near & scene.line_of_sight(scene.position, targets, self.sight == "walls")
        noise = scene.noise.normal(1.0, 2 * n).reshape(W, n, n, 2)
        out[..., SEEN] = seen
        out[..., RANGE] = np.where(seen, np.maximum(far * (1.0 + self.range_noise * noise[..., 0]), 0.0), 0.0)
        out[..., BEARING] = np.where(seen, wrap(bearing + self.bearing_noise * noise[..., 1]), 0.0)
        return out

    def draw(self, view: Any, pen: Pen) -> None:
        """Lines from each robot to where it sees the others."""
        for robot, rows in enumerate(view.readings[self.name][0]):
            _, far, aside = rows[rows[:, SEEN] > 0.0].T
            if len(far):
                ends = np.column_stack([far * np.cos(aside), far * np.sin(aside)])
                pen.on(robot).lines([(0.0, 0.0)], ends, colour="#e69f00")


__all__ = ["BEARING", "RANGE", "SEEN", "Teammates"]
