"""Situated communication: a message comes with the range and the bearing of the robot that sent it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from formiga.comm.link import SIGHTS, Antenna
from formiga.world.elements import angle, choice, element, length, name, number


@element("range_and_bearing", role="link")
@dataclass(frozen=True)
class RangeAndBearing(Antenna):
    """Messages by infra-red, as foot-bots have them: each comes with the range and the bearing of its sender.

    A reading is (worlds, robots, most, 3 + numbers): in each row 1, range in m, bearing in rad from the heading, and the
    numbers of a message; rows without one are zero.

        range  = distance (1 + U(-range_noise, range_noise))
        bearing = direction - heading + U(-bearing_noise, bearing_noise)
    The module of the foot-bot reaches 3 m along a line of sight, with a precision of 20 % and 30 degrees
    [Ducatelle et al. 2009].
    """

    range: float = length(3.0, above=0.0, doc="between the antennas, in which its messages are heard")
    sight: str = choice("bodies", options=tuple(SIGHTS), doc="what stops messages: nothing, walls and obstacles, "
                                                           "or robots too")
    range_noise: float = number(0.0, least=0.0, most=1.0, doc="share of the range")
    bearing_noise: float = angle(0.0, least=0.0)
    noise: str = choice("uniform", options=("uniform", "normal"), doc="noises are half widths, or standard deviations")
    name: str = name("range_and_bearing", doc="links of one name hear each other, in whatever group")

    MEASURES: ClassVar[bool] = True

    @property
    def noises(self) -> tuple[float, float, bool]:
        """Of range (a share) and bearing (rad), and whether they are normal."""
        return self.range_noise, self.bearing_noise, self.noise == "normal"
