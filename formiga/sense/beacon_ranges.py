"""A reader of radio beacons: which of them answer, and how far they seem to be. Ranges alone, no bearings."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formiga.drawing import Pen
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import channel, gaussian, stream, unit
from formiga.state import Floats
from formiga.world.beacons import Beacons, beacons_of
from formiga.world.elements import element, length, name, number, numbers, of, where
from formiga.world.model import World

if TYPE_CHECKING:
    from formiga.sense import SensorView

X, Y, FACTOR, ANSWERS = range(4)   # columns of what is true of a beacon in one world
RING = 64                          # corners of a ring, as it is drawn
UNIT_RING = np.column_stack([np.cos(np.linspace(0.0, 2.0 * np.pi, RING + 1)), np.sin(np.linspace(0.0, 2.0 * np.pi, RING + 1))])


@element("beacon_ranges", role="sensor")
@dataclass(frozen=True)
class BeaconRanges:
    """Ranges to <beacons>, one for each; NaN of one that does not answer.

        r_k = max(0, factor_k (d_k + N(0, sigma^2))),   d_k: from the middle of the robot to where beacon k truly stands
    A beacon answers with the probability `answer`, each at each reading anew, if factor_k d_k is within reach: one whose signal
    is too strong seems nearer, and so it is heard from further away. Walls do not stop the signals.
    """

    beacons: str = name("beacons", doc="the name of the <beacons> that it reads")
    reach: float = length(8.0, above=0.0)
    sigma: float = length(1.0, least=0.0, doc="standard deviation of a range")
    answer: float = number(1.0, least=0.0, most=1.0, doc="probability that a beacon within reach answers")
    blackout: tuple[float, ...] = numbers((), unit="s", fewest=0, group=2, least=0.0,
                                          doc="from when until when nothing is heard; then the next two")
    name: str = name("ranges")

    def __post_init__(self) -> None:
        check_spans(self, self.blackout)

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return self.reach

    def stages(self, scene: SensorView) -> tuple[Floats, list[Stage]]:
        """Ranges (W, n, K), and the kernel that fills them."""
        given = scene.once(f"beacons/{self.beacons}", self.table)
        truth = scene.memory("truth", drawn_beacons(given, scene.state.key, scene.group.count))
        out = np.full((*scene.shape, len(given.places)), np.nan)
        keys, steps, first, heard = scene.noise.source("answer")
        return out, [Stage(read_world, (given, scene.state.position, self.reach, self.sigma, self.answer,
                                        spans(self.blackout, scene.dt), keys, steps, first, heard,
                                        scene.noise.source("range")[3], truth, out))]

    def table(self, world: World) -> Table:
        """The beacons as the kernel takes them."""
        return table_of(beacons_of(world, self.beacons))

    def draw(self, view: SensorView, pen: Pen) -> None:
        """A ring around each beacon that answered, as far away as it seems; where the map has the beacon."""
        places = view.once(f"beacons/{self.beacons}", self.table).places
        for robot, ranges in enumerate(view.readings[self.name][0]):
            if len(heard := np.flatnonzero(ranges > 0.0)):
                rings = places[heard, None] + ranges[heard, None, None] * UNIT_RING
                pen.lines(rings[:, :-1].reshape(-1, 2), rings[:, 1:].reshape(-1, 2), width=0.04,
                          colour=("#9ec9e2", "#e6c79c", "#a9d8c0")[robot % 3])


class Table(NamedTuple):
    """The <beacons> of a world, for kernels."""

    places: Any      # (K, 2) m, as on the map
    moved: Any       # (K, 2) m, off these places in every world
    misplaced: float
    scaled: int      # how many have the factor, drawn at random in each world
    factor: float
    silent: int      # how many never answer, drawn at random in each world
    mute: Any        # (K,) bool, does not answer in any world
    channel: int     # of what is drawn


def table_of(thing: Beacons) -> Table:
    """<beacons> as kernels take them."""
    places = thing.places
    moved, mute = np.zeros_like(places), np.full(len(places), not thing.on)
    for k, dx, dy in np.reshape(thing.moved, (-1, 3)):
        moved[int(k)] = dx, dy
    mute[list(thing.mute)] = True
    return Table(places, moved, thing.misplaced, round(thing.scaled * len(places)), thing.factor,
                 round(thing.silent * len(places)), mute, channel("beacons", thing.name))


def true_beacons(table: Table, keys: Any, robots: int = 1) -> Floats:
    """What is true of the beacons of worlds with noise keys (W,): true x, y, factor, and whether it answers, (W, robots, K, 4).

    The same for every robot of a world. It is for the sensor, and to judge a robot's beliefs by; no robot knows it.
    """
    truth = drawn_beacons(table, keys, robots)
    truth[:, :, table.mute, ANSWERS] = 0.0
    return truth


def drawn_beacons(table: Table, keys: Any, robots: int) -> Floats:
    """The same as a run draws it at its start. Which are mute is no part of it, since a run can switch that."""
    truth = np.empty((len(keys), robots, len(table.places), 4))
    for w in range(len(keys)):
        draw_beacons(w, keys, table, truth)
    return truth


def spans(given: tuple[float, ...], dt: float) -> Any:
    """First steps, and steps after the last, (S, 2) of spans of time in s."""
    return np.round(np.reshape(np.array(given, np.float64), (-1, 2)) / dt).astype(np.int64)


def check_spans(sensor: Any, given: tuple[float, ...]) -> None:
    """Refuse a blackout that ends before it begins."""
    for start, end in zip(given[::2], given[1::2], strict=True):
        if end < start:
            raise WorldError(f"{where(sensor)}<{of(sensor).tag}> blackout: from {start:g} s until {end:g} s; the end comes "
                             "first.")


# -- kernels ------------------------------------------------------------------------------------------------------------
@kernel()
def within(step, blackout):
    """Whether a step lies in one of the spans (S, 2)."""
    inside = False
    for s in range(blackout.shape[0]):
        inside |= blackout[s, 0] <= step < blackout[s, 1]
    return inside


@kernel()
def draw_beacons(w, keys, table, truth):
    """Fill truth (W, n, K, 4) of world w: places with normal errors, and the faulty ones, those with the least hashes."""
    K = table.places.shape[0]
    at, scaled, silent = (stream(keys[w], 0, 0, table.channel), stream(keys[w], 1, 0, table.channel),
                          stream(keys[w], 2, 0, table.channel))
    for k in range(K):
        before_scaled, before_silent = 0, 0    # how many beacons come before this one in the two random orders
        if table.scaled > 0 or table.silent > 0:
            for j in range(K):
                before_scaled += unit(scaled, j) < unit(scaled, k)
                before_silent += unit(silent, j) < unit(silent, k)
        for i in range(truth.shape[1]):
            truth[w, i, k, X] = table.places[k, 0] + table.moved[k, 0] + gaussian(at, 2 * k, table.misplaced)
            truth[w, i, k, Y] = table.places[k, 1] + table.moved[k, 1] + gaussian(at, 2 * k + 1, table.misplaced)
            truth[w, i, k, FACTOR] = table.factor if before_scaled < table.scaled else 1.0
            truth[w, i, k, ANSWERS] = 0.0 if before_silent < table.silent else 1.0


@kernel()
def read_world(w, table, position, reach, sigma, answer, blackout, keys, steps, first, heard, ranged, truth, out):
    """Ranges out (W, n, K) of world w; robots `first` and on of position (W, N, 2)."""
    if steps[w] == 0:
        draw_beacons(w, keys, table, truth)
    deaf = within(steps[w], blackout)
    for i in range(out.shape[1]):
        x, y = position[w, first + i, 0], position[w, first + i, 1]
        answers, errors = stream(keys[w], first + i, steps[w], heard), stream(keys[w], first + i, steps[w], ranged)
        for k in range(out.shape[2]):
            out[w, i, k] = np.nan
            dx, dy, factor = truth[w, i, k, X] - x, truth[w, i, k, Y] - y, truth[w, i, k, FACTOR]
            away, speaks = sqrt(dx * dx + dy * dy), truth[w, i, k, ANSWERS] > 0.0 and not table.mute[k] and not deaf
            if factor * away <= reach and speaks and unit(answers, k) < answer:
                out[w, i, k] = max(0.0, factor * (away + gaussian(errors, k, sigma)))


__all__ = ["ANSWERS", "FACTOR", "BeaconRanges", "Table", "X", "Y", "check_spans", "spans", "table_of", "true_beacons", "within"]
