"""A random walk: a new turning rate every so often, whatever the sensors say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.control.view import View
from formiga.state import Floats
from formiga.world.elements import duration, element, number


@element("random_walk", role="controller")
@dataclass(frozen=True)
class RandomWalk:
    """Arcs of random bend, one after another; after a bump, the next arc turns on the spot."""

    period: float = duration(2.0, above=0.0, doc="of one arc")
    bend: float = number(0.5, least=0.0, most=2.0, doc="largest difference of the wheels, in top speeds")

    def decide(self, view: View) -> Floats:
        """Wheel speeds (W, n, 2)."""
        top = view.group.robot.top_speed
        draw = view.noise.held(max(1, round(self.period / view.dt)))
        bend = draw.uniform(-self.bend, self.bend, use="bend")[..., 0]
        left, right = 1.0 + np.minimum(0.0, -bend), 1.0 + np.minimum(0.0, bend)
        spin = np.where(bend < 0.0, 1.0, -1.0)
        left, right = np.where(view.crashed, spin, left), np.where(view.crashed, -spin, right)
        return top * np.stack([left, right], axis=-1)
