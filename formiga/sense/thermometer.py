"""A thermometer: how warm it is where the robot stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formiga.engine.switches import ever_on
from formiga.sense.falloff import Sources, received, sources
from formiga.state import Floats
from formiga.world.elements import element, name, number
from formiga.world.model import World
from formiga.world.sources import Heater

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("thermometer", role="sensor")
@dataclass(frozen=True)
class Thermometer:
    """The temperature on top of the robot: ambient + sum over the heaters of power / distance^2, + U(-a, a).

    Nothing stops warmth, and nothing is warmed by it. The distance is never taken as less than the robot's radius. All of it is
    ours: the thesis names temperature as future work.
    """

    ambient: float = number(20.0, doc="degrees Celsius, far from everything")
    noise: float = number(0.0, least=0.0, doc="half-width of the additive error, K")
    full: float = number(40.0, above=0.0, doc="the reading that counts as one")
    name: str = name("thermometer")

    def read(self, scene: SensorView) -> Floats:
        """Temperatures (W, n, 1) in degrees Celsius."""
        warm = self.ambient + received(scene, scene.once("heaters", heaters))
        return warm + scene.noise.uniform(-self.noise, self.noise) if self.noise > 0.0 else warm


def heaters(world: World) -> Sources:
    """Those that are on at some time."""
    still = [thing for thing in world.things if isinstance(thing, Heater) and ever_on(thing)]
    return sources(world, still, [(thing.power, 0.0) for thing in still])
