"""A sensor and a controller of our own. A world file may name them once this file was given by hand:

    formiga run examples/02_own_world.xml --with examples/02_own_elements.py
"""

from dataclasses import dataclass

import numpy as np

from formiga.engine.beams import ring
from formiga.units import CM
from formiga.world.elements import element, length, name, number


@element("whiskers", role="sensor")
@dataclass(frozen=True)
class Whiskers:
    """Two feelers, ahead to the left and to the right: 1 where one touches something, else 0."""

    length: float = length(12 * CM, above=0.0, doc="from the robot's rim")
    spread: float = number(0.5, doc="rad, of each from the heading")
    name: str = name("whiskers")

    def read(self, scene):
        """(worlds, robots, 2): left, right."""
        distance = scene.cast(ring((self.spread, -self.spread), scene.group.robot.radius), self.length)
        return (distance <= self.length).astype(float)


@element("cockroach", role="controller")
@dataclass(frozen=True)
class Cockroach:
    """Runs straight on; turns away from the whisker that feels something, and remembers which way it turned last."""

    pace: float = number(1.0, above=0.0, most=1.0, doc="in top speeds")

    def decide(self, view):
        """Wheel speeds (worlds, robots, 2)."""
        touch = view.reading("whiskers")
        side = touch[..., 1] - touch[..., 0]             # +1: only the right one feels something
        turn = view.memory("turn", np.ones(view.shape))  # +1: to the left
        turn[side != 0.0] = side[side != 0.0]
        felt = touch.any(axis=-1) | view.crashed
        speed = self.pace * view.group.robot.top_speed
        left, right = np.where(felt, -turn, 1.0), np.where(felt, turn, 1.0)
        return speed * np.stack([left, right], axis=-1)
