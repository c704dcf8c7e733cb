"""Beacons: radio tags at places that are on the robots' maps, which answer a reader with the distance to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.errors import WorldError, suggest
from formiga.units import CM
from formiga.world.elements import colour, element, flag, integer, integers, length, name, number, numbers

MOST = 4096        # beacons of one element


@element("beacons", role="thing")
@dataclass(frozen=True)
class Beacons:
    """Beacons whose nominal places are known; <beacon_ranges> reads how far they are. Nothing collides with them or hides them.

    They stand at `points`, or on a lattice of `columns` x `rows`. Where each truly stands, and which are faulty, is drawn once
    for every world and seed, when a run begins: the map has the nominal places alone. A run can switch `on` and `mute`.
    """

    points: tuple[float, ...] | None = numbers(None, unit="m", fewest=2, group=2, doc="x0 y0 x1 y1 ...; default: a lattice")
    columns: int = integer(1, least=1, most=MOST, doc="of the lattice, along x")
    rows: int = integer(1, least=1, most=MOST, doc="along y; beacon k stands in column k / rows, counted from 0")
    spacing: float = length(1.0, above=0.0, doc="of the lattice, along x and along y")
    x: float = length(0.0, doc="of the lattice's first beacon, or by which `points` are moved")
    y: float = length(0.0, doc="the same along y")
    misplaced: float = length(0.0, least=0.0, doc="standard deviation of the true places from the nominal ones, on each axis")
    moved: tuple[float, ...] = numbers((), fewest=0, group=3, doc="number of a beacon, and by how many m it stands off its "
                                       "nominal place along x and along y; then the next three")
    scaled: float = number(0.0, least=0.0, most=1.0, doc="share of the beacons, at random, whose ranges are x `factor`")
    factor: float = number(1.0, above=0.0, doc="below 1 they seem nearer, and answer from further away; above 1 the reverse")
    silent: float = number(0.0, least=0.0, most=1.0, doc="share of the beacons, at random, that never answer")
    mute: tuple[int, ...] = integers((), fewest=0, least=0, doc="numbers of further beacons that never answer")
    radius: float = length(6.0 * CM, above=0.0, doc="of a post, as it is drawn")
    height: float = length(60.0 * CM, above=0.0, doc="of a post, as it is drawn")
    colour: str = colour("#0072b2")
    on: bool = flag(True, doc="false: none of them answers; the laboratory can switch them")
    name: str = name("beacons")

    def __post_init__(self) -> None:
        count = len(self.places)
        if count > MOST:
            raise WorldError(f"<beacons>: {count} beacons; at most {MOST} are allowed in one element.")
        for attribute, given in (("mute", self.mute), ("moved", self.moved[::3])):
            for each in given:
                if not 0 <= each < count or each != int(each):
                    raise WorldError(f"<beacons> {attribute}: there is no beacon {each:g}; they are numbered 0 to {count - 1}.")

    @property
    def places(self) -> NDArray[np.float64]:
        """Nominal places (K, 2), m: what is on a map."""
        if self.points is not None:
            return np.reshape(self.points, (-1, 2)) + (self.x, self.y)
        column, row = np.divmod(np.arange(self.columns * self.rows), self.rows)
        return np.column_stack([self.x + self.spacing * column, self.y + self.spacing * row])


def beacons_of(world: Any, name: str) -> Beacons:
    """Those of a world that have this name; WorldError if there are none."""
    found = {thing.name: thing for thing in world.things if isinstance(thing, Beacons)}
    if name not in found:
        raise WorldError(f"there are no <beacons> '{name}' in this world.{suggest(name, found)} There are: "
                         f"{', '.join(found) or 'none'}.")
    return found[name]


__all__ = ["MOST", "Beacons", "beacons_of"]
