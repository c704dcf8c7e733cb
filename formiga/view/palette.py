"""Colours of what has none of its own, and how strong the light is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Of light or of dark surroundings."""

    above: str              # of the background
    below: str
    floor: str
    cells: str              # lines on the floor
    metres: str             # stronger lines on the floor
    wall: str
    box: str                # obstacles with corners
    round: str              # round obstacles
    off: str                # an obstacle that is switched off
    board: str              # around a field of robot soccer
    sky: float              # strength of the light from everywhere
    sun: float              # strength of the light with shadows


LIGHT = Palette("#fbfbfa", "#dfe1e4", "#f6f4ef", "#c9c5bb", "#b1aca1", "#cdc7bb", "#bfa77f", "#86a097", "#c4c4c4", "#8b7b63",
                1.7, 2.6)
DARK = Palette("#2b2e34", "#17181b", "#474a51", "#4b5059", "#6a707c", "#7b7e84", "#a08e70", "#7d968e", "#54575d", "#7d705c",
               1.0, 1.5)

CRASHED, DEAD, SELECTED = "#cc1155", "#8d9299", "#f0c800"   # of robots: touching something, dead, selected
SHIFTED, CLEARANCE, PUSHED, PULLED = "#7a1fa2", "#0072b2", "#d81b60", "#6a1b9a"   # of overlays
TRIGGER = "#3a7ca5"
UNLIT = "#777b80"           # the bulb of a lamp that is switched off

__all__ = ["CLEARANCE", "CRASHED", "DARK", "DEAD", "LIGHT", "PULLED", "PUSHED", "Palette", "SELECTED", "SHIFTED", "TRIGGER",
           "UNLIT"]
