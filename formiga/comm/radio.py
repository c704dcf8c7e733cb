"""A radio: a message and nothing else, through walls unless `sight` is set."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.comm.link import SIGHTS, Antenna
from formiga.world.elements import choice, element, length, name


@element("radio", role="link")
@dataclass(frozen=True)
class Radio(Antenna):
    """Messages to all robots within range, without range and bearing.

    A reading is (worlds, robots, most, 1 + numbers): in each row 1, and the numbers of a message; rows without one are zero.
    """

    range: float = length(10.0, above=0.0, doc="between the antennas, in which its messages are heard")
    sight: str = choice("none", options=tuple(SIGHTS), doc="what stops messages")
    name: str = name("radio", doc="links of one name hear each other, in whatever group")
