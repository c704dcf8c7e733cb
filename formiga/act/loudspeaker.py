"""Robots that make a sound, so that others hear them."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.world.elements import element, number


@element("loudspeaker", role="actuator")
@dataclass(frozen=True)
class Loudspeaker:
    """Every robot of the group sounds, from its own centre, as high as itself. It takes no orders: the dead sound on."""

    intensity: float = number(0.25, least=0.0, doc="in m^2, as that of a <speaker>")
    frequency: float = number(1000.0, above=0.0, doc="Hz")
