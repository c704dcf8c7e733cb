"""What a robot looks like, as a neutral description: simple shapes, each with a colour and the part that it moves with.

A robot's method `look` returns a `Look`; the laboratory turns the shapes into triangles. Lengths in m, angles in rad; x is
ahead, y to the left, z up. The origin of the chassis is the middle of its foot.

    def look(self) -> Look:
        return Look((Drum(0.05, 0.0, 0.08), Prism(((0.04, 0.0), (0.0, 0.02), (0.0, -0.02)), 0.08, 0.085, colour=WHITE)))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import cos, pi, sin
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Outline = Sequence[tuple[float, float]] | NDArray[np.float64]

CHASSIS = "chassis"                 # the part that every robot has; its pose is that of the robot
PAINT = "paint"                     # as a colour: that of the group; grey for a robot that does not move any more
SPOT = "spot"                       # as a colour: another one for each robot of a group
ON_ITS_SIDE = (-0.5 * pi, 0.0, 0.0)  # as a turn: the axis z of a drum points to the left
# Dark parts are not black, so that their edges stay visible in the shade.
RUBBER, GRAPHITE, SLATE, METAL, LENS, WHITE = "#3b3d42", "#4c5058", "#565b65", "#c3c8cf", "#8a9099", "#ffffff"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One body of a look. Its frame is turned by `turn`, then moved to `place`, in the frame of its part."""

    part: str = CHASSIS             # the body that it moves with, by the name that the engine gives it
    place: Vector = (0.0, 0.0, 0.0)
    turn: Vector = (0.0, 0.0, 0.0)  # roll about x, then pitch about y, then yaw about z
    colour: str = PAINT             # '#rrggbb', PAINT or SPOT

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Self:
        """Turned about the vertical axis of its part by `yaw`, then moved."""
        c, s, (a, b, up), (roll, pitch, heading) = cos(yaw), sin(yaw), self.place, self.turn
        return replace(self, place=(c * a - s * b + x, s * a + c * b + y, up + z), turn=(roll, pitch, heading + yaw))

    def on(self, part: str) -> Self:
        """The same shape on another part."""
        return replace(self, part=part)


@dataclass(frozen=True)
class Box(Shape):
    """A box with its middle at the origin."""

    size: Vector


@dataclass(frozen=True)
class Prism(Shape):
    """An outline raised from `low` to `high`; a bevel cuts off its corners and its upper rim."""

    outline: Outline                # corners x, y; an array (K, 2) will do
    low: float
    high: float
    bevel: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "outline", tuple((float(x), float(y)) for x, y in self.outline))


@dataclass(frozen=True)
class Drum(Shape):
    """An upright cylinder from `low` to `high`; a bevel cuts off its upper rim."""

    radius: float
    low: float
    high: float
    sides: int = 24
    bevel: float = 0.0


@dataclass(frozen=True)
class Lathe(Shape):
    """A profile turned about z: points (radius, z), upwards on the outside, from the axis to the axis or around a ring."""

    profile: Outline
    sides: int = 24


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """A ball or an ellipsoid around the origin."""

    radii: Vector


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z around the origin with half balls at its ends."""

    radius: float
    length: float                   # from end to end


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z around the origin, with a mark on its upper end that shows how it turns."""

    radius: float
    length: float


@dataclass(frozen=True, eq=False)
class Triangles(Shape):
    """Any surface, such as one that was read from a file."""

    vertices: Any                   # (V, 3)
    faces: Any                      # (F, 3) indices; counter-clockwise seen from outside


class Mount(NamedTuple):
    """Where a part is when all joints are at rest."""

    carrier: str                    # the part that carries it
    place: Vector = (0.0, 0.0, 0.0)  # of its origin in the frame of the carrier


@dataclass(frozen=True, eq=False)
class Look:
    """All shapes of a robot, where its parts are, and where its lights and its camera sit.

    The planar engine has no bodies for single parts: there the robot is drawn at rest. `flat`, if given, is drawn there instead
    of `shapes`.
    """

    shapes: tuple[Shape, ...]
    mounts: Mapping[str, Mount] = field(default_factory=dict)  # for each part but the chassis
    flat: tuple[Shape, ...] = ()
    lights: tuple[Vector, ...] = ()             # of the robot's LEDs, in their order, in the frame of `bearer`
    light_size: float = 0.01                    # m, across
    camera: Vector | None = None                # in the frame of `bearer`; None: in front, as high as the robot
    bearer: str = CHASSIS                       # the part that carries the lights and the camera


__all__ = ["Box", "CHASSIS", "Capsule", "Cylinder", "Drum", "Ellipsoid", "GRAPHITE", "LENS", "Lathe", "Look", "METAL", "Mount",
           "ON_ITS_SIDE", "PAINT", "Prism", "RUBBER", "SLATE", "SPOT", "Shape", "Triangles", "WHITE"]
