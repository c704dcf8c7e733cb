"""A random walk: a new turning rate every so often, whatever the sensors say."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.control.view import View
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import stream, unit
from formiga.state import Floats
from formiga.world.elements import duration, element, number


@element("random_walk", role="controller")
@dataclass(frozen=True)
class RandomWalk:
    """Arcs of random bend, one after another; after a bump, the next arc turns on the spot."""

    period: float = duration(2.0, above=0.0, doc="of one arc")
    bend: float = number(0.5, least=0.0, most=2.0, doc="largest difference of the wheels, in top speeds")

    def stages(self, view: View, wheels: Floats) -> list[Stage]:
        """The kernel that fills wheels (W, n, 2)."""
        period = max(1, round(self.period / view.dt))
        keys, steps, first, channel = view.noise.source("held", "bend")
        top = view.two_wheels().top_speed
        return [Stage(walk_world, (keys, steps, period, first, channel, self.bend, view.crashed, top, wheels))]


@kernel()
def walk_world(w, keys, steps, period, first, channel, most, crashed, top, wheels):
    """One arc for `period` steps: the wheel on the inner side is slower by the bend; after a bump, robots turn on the spot."""
    for i in range(wheels.shape[1]):
        bend = -most + 2.0 * most * unit(stream(keys[w], first + i, steps[w] // period, channel), 0)
        left, right = 1.0 + min(0.0, -bend), 1.0 + min(0.0, bend)
        if crashed[w, i]:
            left, right = (1.0, -1.0) if bend < 0.0 else (-1.0, 1.0)
        wheels[w, i, 0], wheels[w, i, 1] = top * left, top * right
