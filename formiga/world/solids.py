"""Bodies in three dimensions, what they are made of, and what joins them. All of it needs engine="spatial"."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import ClassVar

from formiga.errors import WorldError
from formiga.world.elements import angle, choice, colour, element, flag, length, name, number, numbers, text

SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2}  # how many numbers each shape has
BREAKABLE = ("ball", "fixed", "hinge")
MOVING = ("hinge", "slider")


@element("material", role="thing")
@dataclass(frozen=True)
class Material:
    """What things are made of. Two that touch have the friction of the smoother one, unless a <touch> says otherwise."""

    name: str = name()
    friction: float = number(1.0, least=0.0)
    restitution: float = number(0.0, least=0.0, most=1.0, doc="0: it does not bounce")
    softness: float = length(0.0, least=0.0, doc="how far a point of contact gives way under the load, about")

    SPATIAL: ClassVar[bool] = True


@element("touch", role="thing")
@dataclass(frozen=True)
class Touch:
    """What happens when things of two materials touch, instead of what the materials say by themselves."""

    one: str = name(doc="a material")
    other: str = name(doc="a material; may be the same")
    friction: float = number(1.0, least=0.0)
    restitution: float = number(0.0, least=0.0, most=1.0)
    softness: float = length(0.0, least=0.0)

    SPATIAL: ClassVar[bool] = True


@element("solid", role="thing")
@dataclass(frozen=True)
class Solid:
    """A body of a simple shape, free to move or fixed where it is."""

    size: tuple[float, ...] = numbers(unit="m", fewest=1, most_of=3, above=0.0,
                                      doc="box: along x, y, z; sphere: diameter; cylinder and capsule: diameter, height")
    shape: str = choice("box", options=tuple(SIZES))
    x: float = length(0.0)
    y: float = length(0.0)
    z: float | None = length(None, doc="of the middle; default: it lies on the floor")
    roll: float = angle(0.0, doc="about x, first")
    pitch: float = angle(0.0, doc="about y, then")
    yaw: float = angle(0.0, doc="about z, last")
    mass: float = number(0.5, unit="kg", above=0.0)
    fixed: bool = flag(False, doc="whether it stays where it is")
    grippable: bool = flag(True, doc="whether grippers and their light barriers take it for something to hold")
    material: str = name("plain")
    colour: str = colour("#8c6d46")
    name: str = name("solid")

    SPATIAL: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.size) != SIZES[self.shape]:
            needed = SIZES[self.shape]
            raise WorldError(f"<solid> size: a {self.shape} has {needed} number{'s' * (needed > 1)}, not {len(self.size)}.")


@element("joint", role="thing")
@dataclass(frozen=True)
class Joint:
    """What joins two bodies. It may have limits and a motor, and it may break.

    Hinges and sliders with limits or motors, and universal joints, make `other` a part of `one`: they hold for good. Ball,
    fixed and hinge joints may break, and may join robots.
    """

    one: str = name(doc="the name of a <solid>, a robot as group.number, or 'floor'")
    other: str = name(doc="as `one`, but not the floor")
    x: float = length(doc="of the point that they share, at the start")
    y: float = length(doc="of the point that they share, at the start")
    z: float = length(doc="of the point that they share, at the start")
    kind: str = choice("ball", options=("ball", "hinge", "slider", "universal", "fixed"))
    axis: tuple[float, ...] = numbers((0.0, 0.0, 1.0), fewest=3, most_of=3, doc="of a hinge or slider; first of a universal")
    axis2: tuple[float, ...] = numbers((1.0, 0.0, 0.0), fewest=3, most_of=3, doc="the second of a universal")
    lower: float | None = number(None, doc="limit of a hinge (rad) or slider (m)")
    upper: float | None = number(None, doc="limit of a hinge (rad) or slider (m)")
    motor: float | None = number(None, doc="speed of a hinge (rad/s) or slider (m/s) that drives itself")
    strength: float = number(1.0, above=0.0, doc="the motor's greatest torque (N m) or force (N)")
    break_force: float | None = number(None, unit="N", above=0.0, doc="above which it breaks; default: never")
    break_torque: float | None = number(None, above=0.0, doc="N m, above which it breaks; default: never")
    name: str = name("joint")

    SPATIAL: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None):
            raise WorldError("<joint> has both limits, or none.")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise WorldError("<joint> lower: the lower limit is not below the upper one.")
        if (self.lower is not None or self.motor is not None) and self.kind not in MOVING:
            raise WorldError(f"<joint> kind: only {' and '.join(MOVING)} joints have limits and motors.")
        breaks = self.break_force is not None or self.break_torque is not None
        if breaks and (self.kind not in BREAKABLE or self.lower is not None or self.motor is not None):
            raise WorldError(f"<joint> kind: only {', '.join(BREAKABLE)} joints without limits and motors can break.")
        if sum(a * a for a in self.axis) == 0.0 or sum(a * a for a in self.axis2) == 0.0:
            raise WorldError("<joint> axis: it has no direction.")
        (a, b, c), (d, e, f) = self.axis, self.axis2
        across = hypot(b * f - c * e, c * d - a * f, a * e - b * d)
        if self.kind == "universal" and across < 1e-6 * hypot(a, b, c) * hypot(d, e, f):
            raise WorldError("<joint> axis2: the two axes of a universal joint are not the same.")

    @property
    def can_break(self) -> bool:
        """Whether it has a limit at which it gives."""
        return self.break_force is not None or self.break_torque is not None


@element("trigger", role="thing")
@dataclass(frozen=True)
class Trigger:
    """A zone without substance that knows the robots inside: an event when one comes or goes."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    width: float = length(above=0.0, doc="along x")
    depth: float = length(above=0.0, doc="along y")
    height: float = length(1.0, above=0.0, doc="above `z`")
    z: float = length(0.0, doc="of its foot")
    say: str = text("", doc="what the laboratory prints when a robot comes; default: its name")
    on: bool = flag(True, doc="false: it notices nothing; the laboratory can switch it")
    name: str = name("trigger")

    SPATIAL: ClassVar[bool] = True


__all__ = ["BREAKABLE", "Joint", "Material", "Solid", "Touch", "Trigger"]
