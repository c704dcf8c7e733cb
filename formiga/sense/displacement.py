"""An odometer of displacement: how far the robot moved since the last step, with errors that grow with the way."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import gaussian, stream
from formiga.sense.beacon_ranges import check_spans, spans, within
from formiga.state import Floats
from formiga.world.elements import element, name, number, numbers

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("displacement", role="sensor")
@dataclass(frozen=True)
class Displacement:
    """How far the robot moved ahead and to the left (m), and how far it turned (rad), since the last step.

        read = true + N(0, (noise |way|)^2) on each axis,    turn read = turn + N(0, (turn_noise turn)^2)
    The way is counted in the frame that the robot had at the last step. Errors of steps are independent, so after a way of
    length L in M equal steps they have the standard deviation noise L / sqrt(M). At the start 0 is
    read, in a blackout NaN.
    """

    noise: float = number(0.0, least=0.0, doc="standard deviation of the way on each axis, as a share of the way of the step")
    turn_noise: float = number(0.0, least=0.0, doc="standard deviation of a turn, as a share of it")
    blackout: tuple[float, ...] = numbers((), unit="s", fewest=0, group=2, least=0.0,
                                          doc="from when until when nothing is read: NaN; then the next two")
    name: str = name("displacement")

    def __post_init__(self) -> None:
        check_spans(self, self.blackout)

    def stages(self, scene: SensorView) -> tuple[Floats, list[Stage]]:
        """Displacements (W, n, 3) since the last step, and the kernel that fills them."""
        here = np.concatenate([scene.position, scene.heading[..., None]], axis=-1)
        last, now = scene.memory("last", here), scene.memory("now", here)
        out = np.zeros((*scene.shape, 3))
        return out, [Stage(displaced_world, (scene.state.position, scene.state.heading, self.noise, self.turn_noise,
                                             spans(self.blackout, scene.dt), *scene.noise.source(""), last, now, out))]


@kernel()
def displaced_world(w, position, heading, noise, turn_noise, blackout, keys, steps, first, channel, last, now, out):
    """Displacements out (W, n, 3) of world w from poses last (W, n, 3) to those of now."""
    silent = within(steps[w], blackout)
    for i in range(out.shape[1]):
        start = stream(keys[w], first + i, steps[w], channel)
        here = position[w, first + i, 0], position[w, first + i, 1], heading[w, first + i]
        for k in range(3):
            last[w, i, k] = here[k] if steps[w] == 0 else now[w, i, k]
            now[w, i, k] = here[k]
        dx, dy, turn = now[w, i, 0] - last[w, i, 0], now[w, i, 1] - last[w, i, 1], now[w, i, 2] - last[w, i, 2]
        c, s, way = cos(last[w, i, 2]), sin(last[w, i, 2]), sqrt(dx * dx + dy * dy)
        out[w, i, 0] = c * dx + s * dy + gaussian(start, 0, noise * way)
        out[w, i, 1] = c * dy - s * dx + gaussian(start, 1, noise * way)
        out[w, i, 2] = turn + gaussian(start, 2, turn_noise * abs(turn))
        if silent:
            out[w, i, :] = np.nan
