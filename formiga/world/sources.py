"""What can be heard and felt from afar: sources of sound and of warmth. And how a source is switched by the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.elements import element, flag, length, name, number, numbers, of

LED = 0.0025  # m^2, of one LED: eight of them are as bright as a <glow>; the thesis has no number
EARLY = 1e-9  # of a control period or of a second: by this much a moment may come too early, against rounding


@dataclass(frozen=True, kw_only=True)
class Switched:
    """A source that is switched over at given times: off if it is on, and on if it is off."""

    switched: tuple[float, ...] = numbers((), unit="s", fewest=0, above=0.0, doc="times at which it is switched over, in "
                                          "ascending order; switching it by hand ends that")

    def __post_init__(self) -> None:
        for earlier, later in pairwise(self.switched):
            if later <= earlier:
                raise WorldError(f"<{of(self).tag}> switched: times must ascend; {later:g} s comes after {earlier:g} s.")


def on_at(source: Any, time: float) -> bool:
    """Whether a source is on so many seconds after the start."""
    return bool(source.on != sum(turn <= time + EARLY for turn in source.switched) % 2)


def switched(world: Any, before: float, now: float) -> bool:
    """Whether a source of a world is not as it was before."""
    return any(on_at(thing, before) != on_at(thing, now) for thing in world.things
               if isinstance(thing, Switched) and thing.switched)


def as_at(world: Any, time: float) -> Any:
    """The world with all sources as they are at a time, which begins there: what is switched later stays to come."""
    def later(thing: Any) -> Any:
        return replace(thing, on=on_at(thing, time), switched=tuple(turn - time for turn in thing.switched
                                                                   if turn > time + EARLY))

    if not any(isinstance(thing, Switched) and thing.switched for thing in world.things):
        return world
    return replace(world, things=tuple(later(thing) if isinstance(thing, Switched) and thing.switched else thing
                                       for thing in world.things))


@element("speaker", role="thing")
@dataclass(frozen=True)
class Speaker(Switched):
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
class Heater(Switched):
    """A source of warmth that <thermometer> sensors feel. (Ours; the thesis leaves temperature for later.)"""

    x: float = length()
    y: float = length()
    z: float = length(10.0 * CM, least=0.0, doc="above the floor")
    power: float = number(1.0, doc="in K m^2: so many degrees at 1 m; below 0 it cools")
    on: bool = flag(True, doc="false: it is cold; the laboratory can switch it")
    name: str = name("heater")


__all__ = ["LED", "Heater", "Speaker", "Switched", "as_at", "on_at", "switched"]
