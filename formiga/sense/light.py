"""A ring of light sensors: how bright it is, and where from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formiga.engine.above.sampled import Tables, tables
from formiga.engine.beams import directions
from formiga.kernels.program import Stage
from formiga.noise import channel
from formiga.sense import table
from formiga.state import Floats
from formiga.units import DEG
from formiga.world.elements import choice, element, file, length, name, number, numbers
from formiga.world.mount import CHASSIS, Carried

if TYPE_CHECKING:
    from formiga.sense import SensorView

# Eight, none of them straight ahead; the first four are on the left. [Swarm-bot 3D simulator]
RING = tuple((22.5 + 45.0 * i) * DEG for i in range(8))


@element("light", role="sensor")
@dataclass(frozen=True)
class Light(Carried):
    """A ring of light sensors on top of the robot; each sees the lamps, glowing robots and lit LEDs that it faces.

    The chain of one reading [Swarm-bot 3D simulator]:
        x = sum over the visible sources of max(0, cos(angle between sensor and source)) intensity / distance^2
        -> y = 2 / (1 + exp(-x)) - 1 -> x (1 + U(-a, a)) -> cut to 0..1
    The distance is taken in space, from the top of the robot's centre, and never as less than the robot's radius: that is
    ours, so that a lamp at the same place stays finite. A robot does not see its own light.

    With `samples` a source adds what was measured instead of the inverse square, also of that source alone:
        x = sum over the visible sources of ln((1 + s) / (1 - s)) intensity / sampled_intensity,   s = sample(distance, angle)
    so one source as strong as the sampled one reads s. The thesis sums its samples and saturates them once more, which makes
    one lamp read less than was measured.
    """

    angles: tuple[float, ...] = numbers(RING, unit="rad", doc="counter-clockwise from the heading")
    of: str = choice("all", options=("lamps", "robots", "all"), doc="what it sees")
    reach: float = length(10.0, above=0.0, doc="over the floor; what is further away is not seen")
    noise: float = number(0.05, least=0.0, doc="half-width of the multiplicative error")
    name: str = name("light")
    samples: str | None = file(None, doc=f"your own table instead of the inverse square: {table.DESCRIBED}")
    sampled_intensity: float = number(0.25, above=0.0, doc="of the source that was sampled, in m^2")

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return 1.0

    def prepare(self) -> None:
        """Read the samples, if there are any, and complain now if they are no table."""
        _ = self.table

    @cached_property
    def table(self) -> tuple[Floats, float] | None:
        """The samples, and their largest distance."""
        return None if self.samples is None else table.by_distance_and_angle(self.samples)

    def read(self, scene: SensorView) -> Floats:
        """Readings (W, n, sensors) from 0 to 1."""
        return scene.light(_alone(self, scene.owner), self.on)

    def stages(self, scene: SensorView) -> tuple[Floats, list[Stage]] | None:
        """The readings that kernels fill, and these kernels."""
        out = np.zeros((scene.state.worlds, scene.group.count, len(self.angles)))
        look = scene.light_stages(_alone(self, scene.owner), out) if self.on == CHASSIS else None
        return None if look is None else (out, look)


class Photodiodes(NamedTuple):
    """The sensors of all rings of a group, one after another, for kernels; each array is (S,)."""

    ux: Any            # where it points, in the robot's frame: x ahead, y to the left
    uy: Any
    sees_lamps: Any    # bool
    sees_robots: Any   # bool
    reach: Any         # m
    noise: Any
    channel: Any       # int64, of its ring's noise
    index: Any         # int64, in its own ring
    table: Any         # int64, of its samples, -1: none
    tables: Tables


def photodiodes(rings: list[tuple[Light, str]]) -> Photodiodes:
    """The sensors of several rings, each with its owner, 'group/sensor'; one call of `engine.light` serves them all."""
    counts = [len(ring.angles) for ring, _ in rings]

    def each(values: list[Any], kind: Any) -> Any:
        return np.repeat(np.array(values, kind), counts)

    sampled = [ring for ring, _ in rings if ring.table is not None]
    number = {id(ring): number for number, ring in enumerate(sampled)}
    direction = np.concatenate([directions(ring.angles) for ring, _ in rings] or [np.empty((0, 2))])
    return Photodiodes(
        ux=direction[:, 0].copy(), uy=direction[:, 1].copy(),
        sees_lamps=each([ring.of != "robots" for ring, _ in rings], np.bool_),
        sees_robots=each([ring.of != "lamps" for ring, _ in rings], np.bool_),
        reach=each([ring.reach for ring, _ in rings], np.float64), noise=each([ring.noise for ring, _ in rings], np.float64),
        channel=each([channel(owner) for _, owner in rings], np.int64),
        index=np.concatenate([np.arange(count, dtype=np.int64) for count in counts] or [np.empty(0, np.int64)]),
        table=each([number.get(id(ring), -1) for ring, _ in rings], np.int64),
        tables=tables([(*ring.table, ring.sampled_intensity) for ring in sampled if ring.table is not None]))


@lru_cache(maxsize=256)
def _alone(ring: Light, owner: str) -> Photodiodes:
    return photodiodes([(ring, owner)])
