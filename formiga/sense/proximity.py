"""A ring of infra-red proximity sensors: how near is it, in the sensor's own units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from formiga.engine.beams import Beams, ring
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.noise import channel, either, stream, unit
from formiga.sense import infrared_table
from formiga.state import Floats
from formiga.units import CM, DEG
from formiga.world.elements import choice, element, file, flag, length, name, number, numbers

if TYPE_CHECKING:
    from formiga.sense import Scene

# IR0..IR14 from the facing direction, counter-clockwise; the 68 degrees in front are the gripper's. [TR, Fig. 5b]
SBOT_ANGLES = tuple(a * DEG for a in (34, 56, 79, 101, 120, 140, 160, 180, 200, 220, 240, 259, 281, 304, 326))

FULL = 40.0  # what readings of the s-bot's table are divided by [digest of S1: "a bit over 40" is the largest measured]


@element("proximity", role="sensor")
@dataclass(frozen=True)
class Proximity:
    """A ring of infra-red beams; distance becomes a reading by a table. The defaults are the s-bot's.

    The chain of one reading [Vicentini & Tuci 2006, section 3]:
        distance of the nearest thing -> table -> a blind sensor gets a share of its seeing neighbours' mean
        -> x (1 + U(-a, a)) -> + U(0, ambient) -> not below 0
    """

    profile: str = choice("tr", options=("tr", "draft"), doc="the published report, or the draft before it")
    angles: tuple[float, ...] = numbers(SBOT_ANGLES, unit="rad", doc="counter-clockwise from the heading")
    mount: float = length(5.8 * CM, least=0.0, doc="sensor from the robot's centre")
    reach: float = length(15.0 * CM, above=0.0, doc="measured from the sensor")
    response: str = choice("table", options=("table", "reciprocal"), doc="a look-up table, or gain / (d + offset)")
    table: str = choice("B", options=("A", "B"), doc="which reconstruction of the s-bot's table; stretched over the reach")
    samples: str | None = file(None, doc="your own table instead: CSV lines 'distance in m, reading'")
    gain: float = number(0.0100527, above=0.0, doc="of the reciprocal response, m")
    offset: float = length(0.000163144, above=0.0, doc="of the reciprocal response; the reading is at most 1")
    share: float = number(0.30, least=0.0, most=1.0, doc="of its neighbours' readings that a blind sensor gets")
    closed: bool = flag(False, doc="whether the first and the last sensor are neighbours")
    noise: tuple[float, ...] = numbers((0.15,), most_of=2, least=0.0, doc="a of U(-a, a), or two bounds that a is drawn from")
    ambient: float = number(0.0, least=0.0, doc="added to every sensor, uniform from 0 to this")
    name: str = name("proximity")

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {
        "tr": {},
        "draft": {"mount": 6.0 * CM, "share": 0.35, "noise": (0.15, 0.20), "ambient": 4.0},
    }

    def __post_init__(self) -> None:
        if self.samples is not None and self.response == "reciprocal":
            raise WorldError("<proximity> samples: the reciprocal response has no table.")

    def prepare(self) -> None:
        """Read the samples, if there are any, and complain now if they are no table."""
        _ = self.values

    @cached_property
    def beams(self) -> Beams:
        """The beams in the robot's frame, so this file serves 2D and 3D."""
        return ring(self.angles, self.mount)

    @cached_property
    def values(self) -> Floats:
        """The readings at equally spaced distances from 0 to reach; empty for the reciprocal response."""
        if self.response == "reciprocal":
            return np.empty(0)
        if self.samples is not None:
            return infrared_table.from_csv(self.samples, self.reach)
        return infrared_table.method_a() if self.table == "A" else infrared_table.method_b()

    @property
    def full(self) -> float:
        """The reading that counts as one: S1 divides its table's readings by 40."""
        return 1.0 if self.response == "reciprocal" else FULL

    def read(self, scene: Scene) -> Floats:
        """Readings (W, n, sensors); 0 where nothing is within reach."""
        value = scene.cast(self.beams, self.reach)
        respond(value, np.empty(len(self.angles), np.bool_), self.reach, self.values, self.gain, self.offset, self.share,
                self.closed, self.noise[0], self.noise[-1], self.ambient, scene.state.key, scene.state.step,
                scene.robots.start, channel(scene.owner))
        return value


@kernel()
def respond(value, seen, reach, table, gain, offset, share, closed, noise_from, noise_to, ambient, key, step, first, channel):
    """Turn distances (W, n, B) into readings, in place; seen: room for B flags."""
    for w in range(value.shape[0]):
        respond_world(w, value, seen, reach, table, gain, offset, share, closed, noise_from, noise_to, ambient, key, step,
                      first, channel)


@kernel(inline="always")
def respond_world(w, value, seen, reach, table, gain, offset, share, closed, noise_from, noise_to, ambient, key, step, first,
                  channel):
    """The same for one world."""
    B = value.shape[2]
    spacing = reach / max(1, table.shape[0] - 1)
    for i in range(value.shape[1]):
        anything = False
        for b in range(B):
            anything |= value[w, i, b] <= reach
        if not anything and ambient == 0.0:  # the common case
            for b in range(B):
                value[w, i, b] = 0.0
            continue
        for b in range(B):
            d = value[w, i, b]
            seen[b] = d <= reach
            if not seen[b]:
                value[w, i, b] = 0.0
            elif table.shape[0] > 0:
                value[w, i, b] = table[int(d / spacing + 0.5)]
            else:
                value[w, i, b] = min(1.0, gain / (d + offset))
        if anything and share > 0.0:
            spread(value, w, i, seen, share, closed)
        if (anything and noise_to > 0.0) or ambient > 0.0:
            start = stream(key[w], first + i, step[w], channel)
            for b in range(B):
                if value[w, i, b] != 0.0 and noise_to > 0.0:
                    a = noise_from
                    if noise_to > noise_from:
                        a += (noise_to - noise_from) * unit(start, 3 * b)
                    value[w, i, b] *= 1.0 + either(start, 3 * b + 1, a)
                if ambient > 0.0:
                    value[w, i, b] += ambient * unit(start, 3 * b + 2)
                value[w, i, b] = max(0.0, value[w, i, b])


@kernel()
def spread(value, w, i, seen, share, closed):
    """A sensor that sees nothing gets a share of the mean of its neighbours that do. No chain reaction."""
    B = seen.shape[0]
    for b in range(B):
        if seen[b]:
            continue
        total, count = 0.0, 0
        for side in (-1, 1):
            n = b + side
            if closed:
                n = n % B
            if 0 <= n < B and seen[n]:
                total += value[w, i, n]
                count += 1
        if count > 0:
            value[w, i, b] = share * total / count
