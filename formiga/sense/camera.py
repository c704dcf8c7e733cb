"""A camera that renders an image. Slow, and only in space; `<omnicamera>` is the camera to think with."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Any, ClassVar

from formiga.units import CM
from formiga.world.elements import angle, element, integer, length, name
from formiga.world.mount import Mounted

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("eye", role="sensor")
@dataclass(frozen=True)
class Camera(Mounted):
    """An image of what is ahead of the robot, or of the part that carries it, as MuJoCo renders it.

    It looks along x of its own frame, z is up in the image. Only with engine="spatial", and with OpenGL's EGL.
    """

    width: int = integer(64, least=1, most=640, doc="in pixels")
    height: int = integer(48, least=1, most=480, doc="in pixels")
    field: float = angle(pi / 2, above=0.0, most=0.9 * pi, doc="of view, from left to right")
    mount: float = length(12.0 * CM, least=0.0, doc="z on the chassis, above the robot's foot, if no z is given")
    name: str = name("eye")

    SPATIAL: ClassVar[bool] = True

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return 255.0

    def read(self, scene: SensorView) -> Any:
        """Images (W, n, height, width, 3), colours 0..255."""
        return scene.paint(self, self.width, self.height, self.field, self.mount)
