"""A range scanner: distances over a field of view, on the same beams as everything else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from formiga.engine.beams import Beams, moved, ring
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import gaussian, stream, unit
from formiga.state import Floats
from formiga.units import DEG
from formiga.world.elements import angle, choice, element, integer, length, name
from formiga.world.mount import Mounted

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("scanner", role="sensor")
@dataclass(frozen=True)
class Scanner(Mounted):
    """Distances in a fan, from the right-most beam to the left-most; `reach` where nothing is nearer.

    With `on`, x, y, z, roll, pitch and yaw it sits on any part of the robot; the robot's own parts are not in its way.
    """

    beams: int = integer(181, least=1, most=4096)
    field: float = angle(180.0 * DEG, least=0.0, most=360.0 * DEG, doc="of view, centred on `heading`; 360 deg is a full ring")
    heading: float = angle(0.0, doc="of the fan's middle, from the robot's heading")
    mount: float = length(0.0, least=0.0, doc="of the beams' origins from the sensor's middle")
    reach: float = length(4.0, above=0.0)
    noise: float = length(0.0, least=0.0, doc="of the error: its standard deviation, or half of its width if it is uniform")
    errors: str = choice("normal", options=("normal", "uniform"), doc="how errors are distributed")
    name: str = name("scanner")

    @cached_property
    def angles(self) -> tuple[float, ...]:
        """Of the beams, from the robot's heading."""
        full = self.field >= 360.0 * DEG * (1 - 1e-9)  # then the last beam would repeat the first
        fan = np.linspace(-0.5 * self.field, 0.5 * self.field, self.beams, endpoint=not full) if self.beams > 1 else np.zeros(1)
        return tuple(self.heading + fan)

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return self.reach

    @cached_property
    def fan(self) -> Beams:
        """The beams in the robot's frame; in the sensor's own, if it sits where only space has a place."""
        fan = ring(self.angles, self.mount)
        return moved(fan, self.x, self.y, self.yaw) if self.moved and not self.in_space else fan

    def read(self, scene: SensorView) -> Floats:
        """Distances (W, n, beams) in metres."""
        distance = np.minimum(scene.cast(self.fan, self.reach, self), self.reach)
        if self.noise > 0.0:
            error = (scene.noise.uniform(-self.noise, self.noise, self.beams) if self.errors == "uniform"
                     else scene.noise.normal(self.noise, self.beams))
            distance = np.clip(distance + error, 0.0, self.reach)
        return distance

    def stages(self, scene: SensorView) -> tuple[Floats, list[Stage]] | None:
        """The distances (W, n, beams), and the kernels that fill them; none where the sensor sits in space."""
        if self.in_space:
            return None
        out = np.empty((scene.state.worlds, scene.group.count, self.beams))
        cast = scene.cast_stages(self.fan, self.reach, out)
        if cast is None:
            return None
        return out, [*cast, Stage(measure_world, (self.reach, self.noise, self.errors == "uniform", *scene.noise.source(""),
                                                  out))]  # the numbers of `Noise.normal` and `Noise.uniform`


@kernel()
def measure_world(w, reach, sigma, uniform, keys, steps, first, channel, out):
    """Distances out (W, n, B) of world w as the scanner measures them: at most `reach`, with normal or uniform errors."""
    for i in range(out.shape[1]):
        start = stream(keys[w], first + i, steps[w], channel)
        for b in range(out.shape[2]):
            distance = min(out[w, i, b], reach)
            if sigma > 0.0:
                error = -sigma + 2.0 * sigma * unit(start, b) if uniform else gaussian(start, b, sigma)
                distance = min(max(distance + error, 0.0), reach)
            out[w, i, b] = distance
