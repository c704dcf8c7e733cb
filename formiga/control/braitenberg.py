"""Braitenberg's vehicles: obstacles slow the opposite wheel, light the near one. [Braitenberg 1984, vehicles 3a and 3b]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.control.view import View
from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.elements import element, name, number


@element("braitenberg", role="controller")
@dataclass(frozen=True)
class Braitenberg:
    """Drive on; each sensor slows the wheel on the other side of the robot, the more the further ahead it looks.

        right = v (1 - gain sum_left  a_b r_b / full),  a_b = (1 + cos angle_b) / 2, and left the same from the right
    A small bias makes a robot that faces a wall squarely turn one way instead of stopping.

    With `light`, the strongest light sensor of each side slows the wheel of that side too, so the robot turns to the light
    and stops in front of it: left = 1 - side[right] - light[left] [Swarm-bot 3D simulator, experiment 2].
    """

    sensor: str = name("proximity", doc="a ring of sensors with `angles`")
    full: float = number(40.0, above=0.0, doc="a reading that counts as one")
    gain: float = number(5.0, least=0.0)
    bias: float = number(0.15, doc="share of the larger slow-down that the left wheel is spared")
    cruise: float = number(1.0, above=0.0, most=1.0, doc="in top speeds")
    light: str | None = name(None, doc="a ring of light sensors to follow; default: none")
    pull: float = number(1.0, doc="of a full reading of light, in cruising speeds")

    def decide(self, view: View) -> Floats:
        """Wheel speeds (W, n, 2)."""
        ahead = view.directions(self.sensor)
        weight = self.gain * 0.5 * (1.0 + ahead[:, 0]) / self.full
        wheels = np.empty((*view.shape, 2))
        speed = self.cruise * view.group.robot.top_speed
        inhibit(view.reading(self.sensor), weight, ahead[:, 1], self.bias, speed, wheels)
        if self.light is not None:
            attract(view.reading(self.light), view.directions(self.light)[:, 1], self.pull * speed, wheels)
        return wheels


@kernel()
def inhibit(readings, weight, side, bias, speed, wheels):
    """The rule, robot by robot; readings (W, n, B) -> wheels (W, n, 2)."""
    for w in range(readings.shape[0]):
        for i in range(readings.shape[1]):
            left, right = 0.0, 0.0
            for b in range(readings.shape[2]):
                if side[b] > 1e-9:
                    right += weight[b] * readings[w, i, b]
                elif side[b] < -1e-9:
                    left += weight[b] * readings[w, i, b]
            left -= bias * max(left, right)
            wheels[w, i, 0], wheels[w, i, 1] = speed * max(-1.0, 1.0 - left), speed * max(-1.0, 1.0 - right)


@kernel()
def attract(readings, side, speed, wheels):
    """Slow each wheel by the strongest light on its side; readings (W, n, S)."""
    for w in range(readings.shape[0]):
        for i in range(readings.shape[1]):
            left, right = 0.0, 0.0
            for k in range(readings.shape[2]):
                if side[k] > 0.0:
                    left = max(left, readings[w, i, k])
                else:
                    right = max(right, readings[w, i, k])
            wheels[w, i, 0] -= speed * left
            wheels[w, i, 1] -= speed * right
