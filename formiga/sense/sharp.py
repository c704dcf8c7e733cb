"""Infrared distance sensors that measure by triangulation, such as Sharp's GP2D12, behind the converter of a small controller.

Noise grows a hundredfold from 10 cm to 1 m, which is why a filter has to weigh such sensors by what they measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.drawing import Pen
from formiga.engine.beams import Beams
from formiga.errors import WorldError
from formiga.state import Floats
from formiga.units import CM
from formiga.world.elements import choice, element, integer, length, name, number, numbers

if TYPE_CHECKING:
    from formiga.sense import SensorView

K1, K2 = 0.1881, 4.6779              # 1/V and 1/(V m)  [Goncalves et al. 2009, below eq. 2]
SPREAD, SPREAD_PER_M = 3e-5, 3e-5    # V^2 and V^2/m: Var(v) = 3e-5 + 3e-5 d  [SimTwo, the authors' simulator]
FOLD = 7.0 * CM                      # nearer than this the voltage falls again  [Goncalves et al. 2009: used from 7 cm to 1 m]
REFERENCE = 2.56                     # V, of the converter of an ATMega8  [the same]
MEASURED, NOTHING = "#d55e00", "#999999"   # colours of beams
SIDE_RAYS = 3                        # over the width of a beam


def voltage_of(distance: Any, k1: float = K1, k2: float = K2, fold: float = FOLD) -> Floats:
    """Voltages at distances in m, without noise; 0 at infinity.

        1/v = k1 + k2 d                                                        [Goncalves et al. 2009, eq. 2, solved for v]
        v   = v(fold) d / fold   for d < fold                                  [ours: the real curve folds back, too]
    """
    distance = np.asarray(distance, np.float64)
    with np.errstate(divide="ignore"):
        straight = 1.0 / (k1 + k2 * distance)
    near = distance / fold / (k1 + k2 * fold)
    return np.where(distance < fold, near, straight)


def distance_of(voltage: Any, k1: float = K1, k2: float = K2) -> Floats:
    """Distances in m from voltages; infinity from 0.

        d = (1/v - k1) / k2                                                    [Goncalves et al. 2009, eq. 2]
    """
    voltage = np.asarray(voltage, np.float64)
    with np.errstate(divide="ignore"):
        return (1.0 / voltage - k1) / k2


def variance_of(distance: Any, k1: float = K1, k2: float = K2, spread: float = SPREAD, per_m: float = SPREAD_PER_M) -> Floats:
    """Variance in m^2 of a measured distance.

        var(d) = Var(v) / m^2,   m = -k2 / (d k2 + k1)^2,   Var(v) = spread + per_m d          [Goncalves et al. 2009, eq. 4, 5]
    """
    distance = np.asarray(distance, np.float64)
    slope = k2 / (distance * k2 + k1) ** 2
    return (spread + per_m * distance) / slope**2


@element("sharp", role="sensor")
@dataclass(frozen=True)
class Sharp:
    """Infrared distance sensors by triangulation: voltages 1 / (k1 + k2 d), noisy, through an analogue-digital converter.

    Each converts a few samples in a control period and gives their mean. Its voltage falls again nearer than `fold`, and is 0
    where nothing is within reach.
    """

    angles: tuple[float, ...] = numbers((0.0,), unit="rad", doc="of each beam from the heading")
    places: tuple[float, ...] | None = numbers(None, unit="m", fewest=2, group=2,
                                               doc="x y of each sensor in the robot's frame; default: its middle")
    reads: str = choice("volts", options=("volts", "distance"), doc="distance: in m, by k1 and k2; infinity: no measure")
    reach: float = length(1.0, above=0.0, doc="beyond it there is no measure")
    k1: float = number(K1, doc="1/V, of 1/v = k1 + k2 d")
    k2: float = number(K2, above=0.0, doc="1/(V m)")
    spread: float = number(SPREAD, least=0.0, doc="V^2, variance of a reading at distance 0")
    spread_per_m: float = number(SPREAD_PER_M, least=0.0, doc="V^2/m, by which it grows")
    samples: int = integer(10, least=1, most=1000, doc="that one reading is the mean of")
    steps: int = integer(255, least=0, doc="of the converter, up to its reference; 0: it is exact")
    reference: float = number(REFERENCE, above=0.0, doc="V, of the converter")
    fold: float = length(FOLD, above=0.0, doc="nearer than this the voltage falls again")
    width: float = length(0.0, least=0.0, doc="of a beam; what is nearest over its width counts")
    name: str = name("infrared")

    def __post_init__(self) -> None:
        if self.places is not None and len(self.places) != 2 * len(self.angles):
            raise WorldError(f"<sharp> places: {len(self.places)} numbers for {len(self.angles)} angles; each sensor has x y.")

    @cached_property
    def seats(self) -> Floats:
        """x y angle (S, 3) of each sensor in the robot's frame."""
        places = np.zeros((len(self.angles), 2)) if self.places is None else np.reshape(self.places, (-1, 2))
        return np.column_stack([places, self.angles])

    @cached_property
    def beams(self) -> Beams:
        """One for each sensor; if it has a width, SIDE_RAYS of them, side by side."""
        x, y, angle = self.seats.T
        aside = np.linspace(-0.5, 0.5, SIDE_RAYS) * self.width if self.width > 0.0 else np.zeros(1)
        origin = np.stack([x[:, None] - aside * np.sin(angle)[:, None], y[:, None] + aside * np.cos(angle)[:, None]], axis=-1)
        way = np.repeat(np.column_stack([np.cos(angle), np.sin(angle)]), len(aside), axis=0)
        return Beams(np.ascontiguousarray(origin.reshape(-1, 2)), way)

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """From 0 to the reference of the converter, or any distance."""
        return (0.0, self.reference) if self.reads == "volts" else (0.0, inf)

    def read(self, scene: SensorView) -> Floats:
        """Voltages or distances (W, n, S)."""
        rays = scene.cast(self.beams, self.reach)
        distance = rays.reshape(*rays.shape[:2], len(self.angles), -1).min(axis=-1)
        seen = np.isfinite(distance)
        distance = np.where(seen, distance, self.reach)
        noise = scene.noise.normal(1.0, len(self.angles) * self.samples, "samples").reshape(*distance.shape, self.samples)
        sigma = np.sqrt(self.samples * (self.spread + self.spread_per_m * distance))[..., None]  # so that their mean has Var(v)
        exact = voltage_of(distance, self.k1, self.k2, self.fold)[..., None]
        volts = np.where(seen, self.converted(exact + sigma * noise).mean(axis=-1), 0.0)
        return volts if self.reads == "volts" else self.measured(volts)

    def converted(self, volts: Floats) -> Floats:
        """Voltages as whole steps of the converter.

            v = V_ref sum(s_i) / (255 n)                                               [Goncalves et al. 2009, eq. 1]
        """
        volts = np.clip(volts, 0.0, self.reference)
        return np.round(volts * (self.steps / self.reference)) * (self.reference / self.steps) if self.steps else volts

    def measured(self, volts: Any) -> Floats:
        """Distances (W, n, S) from voltages; infinity where they are beyond reach."""
        distance = distance_of(volts, self.k1, self.k2)
        return np.where(distance <= self.reach, np.maximum(distance, 0.0), np.inf)

    def draw(self, view: Any, pen: Pen) -> None:
        """The beams, as far as they measure; grey ones measure nothing."""
        given = view.readings[self.name]
        distance = self.measured(given) if self.reads == "volts" else given
        x, y, angle = self.seats.T
        away = np.minimum(distance, self.reach)
        ends = np.stack([x + away * np.cos(angle), y + away * np.sin(angle)], axis=-1)
        starts = np.broadcast_to(self.seats[:, :2], ends.shape)
        colours = [MEASURED if each else NOTHING for each in np.isfinite(distance).ravel()]
        pen.on().lines(starts, ends, colour=colours, width=0.004)


__all__ = ["K1", "K2", "SPREAD", "SPREAD_PER_M", "Sharp", "distance_of", "variance_of", "voltage_of"]
