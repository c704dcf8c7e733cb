"""What can be heard and felt from afar: sources of sound and of warmth."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.units import CM
from formiga.world.elements import element, flag, length, name, number


@element("speaker", role="thing")
@dataclass(frozen=True)
class Speaker:
    """A sound that <microphone> sensors hear, whatever stands in between. [Swarm-bot 3D simulator]"""

    x: float = length()
    y: float = length()
    z: float = length(10.0 * CM, least=0.0, doc="above the floor")
    intensity: float = number(0.25, least=0.0, doc="in m^2; a microphone sums intensity / distance^2, so 1 at 0.5 m")
    frequency: float = number(1000.0, above=0.0, doc="Hz")
    on: bool = flag(True, doc="false: it is silent; the laboratory can switch it")
    name: str = name("speaker")


@element("heater", role="thing")
@dataclass(frozen=True)
class Heater:
    """A source of warmth that <thermometer> sensors feel. (Ours; the thesis leaves temperature for later.)"""

    x: float = length()
    y: float = length()
    z: float = length(10.0 * CM, least=0.0, doc="above the floor")
    power: float = number(1.0, doc="in K m^2: so many degrees at 1 m; below 0 it cools")
    on: bool = flag(True, doc="false: it is cold; the laboratory can switch it")
    name: str = name("heater")


__all__ = ["Heater", "Speaker"]
