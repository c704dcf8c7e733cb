"""Where robots start: rules, as data. `place.py` carries them out."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.units import CM
from formiga.world.elements import angle, element, flag, integer, length


@element("at", role="placement")
@dataclass(frozen=True)
class At:
    """One robot, exactly here. As many <at> as robots."""

    x: float = length()
    y: float = length()
    heading: float | None = angle(None, doc="drawn at random if absent")
    on: bool = flag(True, doc="false: it stands still for good; the laboratory can switch it")
    z: float | None = length(None, doc="of its own origin, in space; default: it stands on the ground")
    roll: float = angle(0.0, doc="about x, first; in space")
    pitch: float = angle(0.0, doc="about y, then; the heading is about z, last")

    @property
    def raised(self) -> bool:
        """Whether it has a height or an attitude of its own, which only space has."""
        return self.z is not None or self.roll != 0.0 or self.pitch != 0.0


@element("scatter", role="placement")
@dataclass(frozen=True)
class Scatter:
    """Anywhere in the region, without touching anything."""

    gap: float = length(0.0, least=0.0, doc="kept free between collision circles, and to walls and obstacles")
    x: float = length(0.0, doc="centre of the region")
    y: float = length(0.0, doc="centre of the region")
    width: float | None = length(None, above=0.0, doc="of the region; the whole arena if absent")
    depth: float | None = length(None, above=0.0, doc="of the region; the whole arena if absent")
    heading: float | None = angle(None, doc="drawn at random if absent")


@element("grid", role="placement")
@dataclass(frozen=True)
class Grid:
    """In rows and columns around a centre."""

    spacing: float = length(above=0.0, doc="between neighbours' centres")
    columns: int = integer(0, least=0, doc="0: as square as possible")
    x: float = length(0.0, doc="of the grid's centre")
    y: float = length(0.0, doc="of the grid's centre")
    heading: float | None = angle(None, doc="drawn at random if absent")


@element("connected", role="placement")
@dataclass(frozen=True)
class Connected:
    """One connected group: each robot within perception of another, and no two in contact. [Swarmod draft]

        d_ij = |C_i - C_j| - 2R;  d_ij > gap for all pairs, and the graph of d_ij < reach is connected.
    The draft's formula is lost; this is reconstructed from its prose. With the 3 cm that the prose names, collision
    circles would overlap, so the gap is twice that.
    """

    gap: float = length(6.0 * CM, least=0.0, doc="rim to rim, more than this between any two")
    reach: float = length(15.0 * CM, above=0.0, doc="rim to rim, less than this to a neighbour")
    x: float = length(0.0, doc="centre of the region")
    y: float = length(0.0, doc="centre of the region")
    width: float | None = length(None, above=0.0, doc="of the region; the whole arena if absent")
    depth: float | None = length(None, above=0.0, doc="of the region; the whole arena if absent")
    heading: float | None = angle(None, doc="drawn at random if absent")
