"""Go straight; turn on the spot, nearly, when something is ahead. The controller of the AVOID-24 speed scenario."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos

import numpy as np

from formiga.control.view import View
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.units import DEG
from formiga.world.elements import angle, element, name, number


@element("turn_away", role="controller")
@dataclass(frozen=True)
class TurnAway:
    """Mean of reading x direction: if it is long enough and points ahead, turn away from it, else go straight."""

    sensor: str = name("proximity", doc="a ring of sensors with `angles`")
    threshold: float = number(0.02, least=0.0, doc="a shorter mean vector is ignored")
    ahead: float = angle(108.0 * DEG, doc="an obstacle further round than this is behind")
    back: float = number(-0.5, doc="speed of the inner wheel in a turn, in top speeds")

    def stages(self, view: View, wheels: Floats) -> list[Stage]:
        """The kernel that fills wheels (W, n, 2)."""
        top = view.two_wheels().top_speed
        return [Stage(turn_world, (view.reading(self.sensor), view.directions(self.sensor), self.threshold, cos(self.ahead),
                                   top, self.back * top, wheels))]


@kernel()
def turn_world(w, readings, direction, threshold, behind, fast, slow, wheels):
    """The rule, robot by robot; readings (W, n, B) -> wheels (W, n, 2)."""
    for i in range(readings.shape[1]):
        x, y = 0.0, 0.0
        for b in range(readings.shape[2]):
            r = readings[w, i, b]
            if r != 0.0:
                x, y = x + r * direction[b, 0], y + r * direction[b, 1]
        x, y = x / readings.shape[2], y / readings.shape[2]
        size = np.sqrt(x * x + y * y)
        left, right = fast, fast
        if size >= threshold and x >= behind * size:
            if y > 0.0:  # it is on the left: turn right
                right = slow
            else:
                left = slow
        wheels[w, i, 0], wheels[w, i, 1] = left, right
