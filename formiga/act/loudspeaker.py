"""Robots that make a sound, so that others hear them."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.world.elements import element, number


@element("loudspeaker", role="actuator")
@dataclass(frozen=True)
class Loudspeaker:
    """A loudspeaker at the centre of every robot of the group, at its height. [Swarm-bot 3D simulator, 3.1]

    Intensity and frequency are those at the start. A controller changes them with `Orders(sound=...)`, an array (worlds,
    robots, loudspeakers, 2), a key and the console with `out sound 0.1` and `out frequency 440`. Dead robots go on
    sounding. A group may have several loudspeakers: the thesis's s-bot has two.
    """

    intensity: float = number(0.25, least=0.0, doc="in m^2, as that of a <speaker>, until an order changes it; 0: silent")
    frequency: float = number(1000.0, above=0.0, doc="Hz, until an order changes it")
