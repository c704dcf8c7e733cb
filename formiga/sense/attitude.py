"""How a robot lies in space: inclinometer and accelerometer. Only in space."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from formiga.geometry import PLACE, TURN, rotate_back
from formiga.state import Floats
from formiga.world.elements import angle, element, name, number, of
from formiga.world.model import World
from formiga.world.mount import Mounted
from formiga.world.movables import GRAVITY

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("inclinometer", role="sensor")
@dataclass(frozen=True)
class Inclinometer(Mounted):
    """How far a robot leans, or the part that carries it: roll to its right, pitch nose down, and the tilt from the vertical.

        up = R^T z, in its own frame;  roll = atan2(up_y, up_z),  pitch = asin(-up_x),  tilt = acos(up_z)
    Which way it heads is not in it. The thesis lists the sensor and does not describe it; this is ours.
    """

    noise: float = angle(0.0, least=0.0, doc="half-width of the additive error")
    name: str = name("inclinometer")

    SPATIAL: ClassVar[bool] = True

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """Roll goes all around, pitch a quarter to each side, and the tilt is never below 0."""
        return np.array([-pi, -0.5 * pi, 0.0]), np.array([pi, 0.5 * pi, pi])

    def read(self, scene: SensorView) -> Floats:
        """Roll, pitch and tilt (W, n, 3) in rad."""
        x, y, z = np.moveaxis(rotate_back(scene.pose(self)[..., TURN], np.array([0.0, 0.0, 1.0])), -1, 0)
        lean = np.stack([np.arctan2(y, z), np.arcsin(np.clip(-x, -1.0, 1.0)), np.arctan2(np.hypot(x, y), z)], axis=-1)
        return lean + scene.noise.uniform(-self.noise, self.noise, 3) if self.noise > 0.0 else lean


@element("accelerometer", role="sensor")
@dataclass(frozen=True)
class Accelerometer(Mounted):
    """What a robot's body feels, or the part that carries it: its acceleration and what holds it up, in its own frame.

    Standing still, that is g along z.

        f = R^T (dv/dt + g z),  v the mean velocity between two readings
    So it feels the changes from one control period to the next, and no faster ones.
    """

    noise: float = number(0.0, least=0.0, doc="half-width of the additive error, m/s^2")
    name: str = name("accelerometer")

    SPATIAL: ClassVar[bool] = True

    def read(self, scene: SensorView) -> Floats:
        """Specific force (W, n, 3) in m/s^2: ahead, to the left, up."""
        pose = scene.pose(self)
        here, nothing = pose[..., PLACE], np.zeros((*pose.shape[:2], 3))
        place, velocity, change = (scene.memory(name, first) for name, first in
                                   (("place", here), ("velocity", nothing), ("change", nothing)))
        when = scene.memory("step", np.broadcast_to(scene.state.step[:, None], pose.shape[:2]))
        steps = scene.state.step[:, None] - when
        moved = steps > 0  # else it was read before in this step
        elapsed = (steps[moved] * scene.dt)[:, None]
        now = (here[moved] - place[moved]) / elapsed
        change[moved] = (now - velocity[moved]) / elapsed
        place[moved], velocity[moved] = here[moved], now
        when[...] = scene.state.step[:, None]
        force = rotate_back(pose[..., TURN], change + np.array([0.0, 0.0, scene.once("gravity", gravity)]))
        return force + scene.noise.uniform(-self.noise, self.noise, 3) if self.noise > 0.0 else force


def gravity(world: World) -> float:
    """Of the world, m/s^2."""
    return float(next((part.gravity for part in world.settings if of(part).tag == "physics"), GRAVITY))

