"""A camera that looks all around and knows lights by their colour."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.elements import choice, element, integer, length, name, number
from formiga.world.mount import Carried

if TYPE_CHECKING:
    from formiga.sense import SensorView

AT_ONCE = 64  # lights that a robot tells apart; of more, the nearest


@element("omnicamera", role="sensor")
@dataclass(frozen=True)
class Omnicamera(Carried):
    """A camera on top of the robot that sees lit LEDs of other robots, and lamps, as coloured blobs.

    An LED sits on its robot's rim, at 60 % of its height, and is hidden by its own robot from behind; walls and other robots
    hide lights as they do for <light>. A blob is as strong as its colour (0 to 1), falling linearly to 0 at the reach:
        sectors  for each of so many bearings, the first centred straight ahead and then counter-clockwise, and each of red,
                 green and blue: the strongest blob
        list     the nearest blobs, one a row: bearing, elevation (rad), and the colour red, green, blue; rows of zeros follow
    On a turret, bearings and sectors turn with it. The thesis leaves cameras for later: this one is ours.
    """

    mode: str = choice("sectors", options=("sectors", "list"), doc="the strongest blob by bearing, or the nearest blobs")
    sectors: int = integer(24, least=1, most=360)
    blobs: int = integer(16, least=1, most=AT_ONCE, doc="rows of a list")
    reach: float = length(1.5, above=0.0, doc="over the floor")
    noise: float = number(0.0, least=0.0, doc="half-width of the multiplicative error of colours")
    name: str = name("omnicamera")

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return 1.0

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """Colours from 0 to 1; in a list, bearings go all around and elevations a quarter up and down."""
        if self.mode == "sectors":
            return 0.0, 1.0
        return np.array([-pi, -0.5 * pi, 0.0, 0.0, 0.0]), np.array([pi, 0.5 * pi, 1.0, 1.0, 1.0])

    def read(self, scene: SensorView) -> Floats:
        """(W, n, sectors, 3), or as a list (W, n, blobs, 5)."""
        seen, found = scene.look(self.reach, self.blobs if self.mode == "list" else AT_ONCE, self.on)
        if self.mode == "list":
            out = seen[..., [0, 1, 3, 4, 5]]
            colours = out[..., 2:]
        else:
            out = colours = np.zeros((*seen.shape[:2], self.sectors, 3))
            strongest(seen, found, self.reach, out)
        if self.noise > 0.0:
            error = scene.noise.uniform(-self.noise, self.noise, colours.shape[2] * 3).reshape(colours.shape)
            colours[...] = np.clip(colours * (1.0 + error), 0.0, 1.0)
        return out


@kernel()
def strongest(seen, found, reach, out):
    """Sort blobs (W, n, M, 6) into sectors (W, n, S, 3)."""
    S = out.shape[2]
    for w in range(out.shape[0]):
        for i in range(out.shape[1]):
            for m in range(found[w, i]):
                sector = int(np.floor(seen[w, i, m, 0] * (S / (2.0 * pi)) + 0.5)) % S
                near = 1.0 - seen[w, i, m, 2] / reach
                for k in range(3):
                    out[w, i, sector, k] = max(out[w, i, sector, k], near * seen[w, i, m, 3 + k])
