"""Bodies in three dimensions, what they are made of, how they look, and what joins them. All of it needs engine="spatial"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import hypot, pi
from typing import Any, ClassVar, NamedTuple

import numpy as np

from formiga.errors import WorldError
from formiga.world.elements import angle, choice, colour, element, file, flag, length, name, number, numbers, text
from formiga.world.meshes import read_mesh
from formiga.world.textures import read_texture

SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2}  # how many numbers each shape has; a mesh has none
SHAPES = (*SIZES, "mesh")
SIZE = "box: along x, y, z; sphere: diameter; cylinder and capsule: diameter, height; a mesh has none"
BREAKABLE = ("ball", "fixed", "hinge")
AXES = {"hinge": 1, "slider": 1, "angular": 1, "universal": 2, "hinge2": 2}  # that a joint turns or slides about, or along
MODES = ("velocity", "position", "torque")


@element("material", role="thing")
@dataclass(frozen=True)
class Material:
    """What things are made of: how they rub, give way and bounce.

    Two that touch have the friction and the softness of the smoother one, and the larger restitution, unless a <touch> gives
    others for the two materials.
    """

    name: str = name()
    friction: float = number(1.0, least=0.0)
    restitution: float = number(0.0, least=0.0, most=1.0, doc="0: it does not bounce")
    softness: float = length(0.0, least=0.0, doc="how far a single point of contact gives way under the load")

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
    """A body of a simple shape or from a mesh, free to move or fixed where it is.

    A mesh touches other things with its convex hull, which also gives its inertia; rays and eyes see the mesh itself. Its x, y
    and z are those of the origin of its file.
    """

    size: tuple[float, ...] | None = numbers(None, unit="m", fewest=1, most_of=3, above=0.0, doc=SIZE)
    shape: str = choice("box", options=SHAPES)
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
    texture: str | None = file(None, doc="a PNG or JPEG picture that it is covered with, on each of its six sides")
    file: str | None = file(None, doc="of a mesh: STL or OBJ, in the folder of the world or below it")
    scale: float = number(1.0, above=0.0, doc="metres for a unit of the mesh's file: 0.001 if that is in mm")

    SPATIAL: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_shape("solid", self)

    @cached_property
    def box(self) -> tuple[float, ...]:
        """Its `size`; of a mesh the sides of the box around it whose middle is its origin, m."""
        if self.size is not None:
            return self.size
        return tuple((2.0 * self.scale * np.abs(read_mesh(str(self.file)).vertices).max(axis=0)).tolist())


def check_shape(tag: str, thing: Any) -> None:
    """Whether the size, the file and the texture of a <solid> or a <render> fit its shape."""
    if thing.shape in SIZES:
        needed, given = SIZES[thing.shape], len(thing.size or ())
        if given != needed:
            raise WorldError(f"<{tag}> size: a {thing.shape} has {needed} number{'s' * (needed > 1)}, not {given}.")
    elif thing.size is not None:
        raise WorldError(f"<{tag}> size: shape=\"{thing.shape}\" has none.")
    if (thing.file is not None) != (thing.shape == "mesh"):
        raise WorldError(f"<{tag}> file: a shape=\"mesh\" has one, and no other shape.")
    try:
        if thing.file is not None:
            read_mesh(thing.file)
        if thing.texture is not None:
            read_texture(thing.texture)
    except WorldError as wrong:
        raise WorldError(f"<{tag}> {'texture' if str(wrong).startswith(str(thing.texture)) else 'file'}: {wrong}") from wrong


class Motor(NamedTuple):
    """What drives one axis of a joint."""

    name: str                # as `out` and `Simulation.order` call it: the joint's name, with '.2' for its second axis
    joint: Joint
    axis: int                # 0 or 1
    order: float             # at the start: rad/s or m/s, rad or m, N m or N
    mode: str                # one of MODES
    strength: float          # N m or N
    top: float | None        # the largest order; None: any
    low: float               # of orders
    high: float

    def within(self, order: float) -> float:
        """An order, cut at the motor's limits."""
        return min(max(order, self.low), self.high)


@element("joint", role="thing")
@dataclass(frozen=True)
class Joint:
    """What joins two bodies. It may have limits and motors, and it may break.

    Hinges and sliders with limits or motors, universal joints and hinge2, make `other` a part of `one`: they hold for good. A
    hinge2 is the joint of a wheel that is steered [ODE]: it turns about `axis`, which goes with `one`, and spins about `axis2`,
    which goes with `other`. An angular motor [ODE] holds no point: it turns `other` against `one` about `axis`, whatever else
    joins them. Ball, fixed and hinge joints may break, and may join robots.
    """

    one: str = name(doc="the name of a <solid>, a robot as group.number, or 'floor'")
    other: str = name(doc="as `one`, but not the floor")
    x: float = length(doc="of the point that they share, at the start")
    y: float = length(doc="of the point that they share, at the start")
    z: float = length(doc="of the point that they share, at the start")
    kind: str = choice("ball", options=("ball", "hinge", "slider", "universal", "fixed", "hinge2", "angular"))
    axis: tuple[float, ...] = numbers((0.0, 0.0, 1.0), fewest=3, most_of=3,
                                      doc="of a hinge, slider or angular motor; first of a universal or a hinge2")
    axis2: tuple[float, ...] = numbers((1.0, 0.0, 0.0), fewest=3, most_of=3, doc="the second of a universal or a hinge2")
    lower: float | None = number(None, doc="limit about the axis (rad) or along it (m)")
    upper: float | None = number(None, doc="limit about the axis (rad) or along it (m)")
    motor: float | None = number(None, doc="what the motor of the axis is ordered at the start; default: it has none")
    strength: float = number(1.0, above=0.0, doc="the motor's greatest torque (N m) or force (N)")
    break_force: float | None = number(None, unit="N", above=0.0, doc="above which it breaks; default: never")
    break_torque: float | None = number(None, above=0.0, doc="N m, above which it breaks; default: never")
    name: str = name("joint")
    mode: str = choice("velocity", options=MODES, doc="what the motor is ordered: rad/s or m/s, rad or m, N m or N")
    top: float | None = number(None, above=0.0, doc="the largest speed or torque that the motor can be ordered; default: any")
    lower2: float | None = number(None, doc="limit about the second axis, rad")
    upper2: float | None = number(None, doc="limit about the second axis, rad")
    motor2: float | None = number(None, doc="as `motor`, for the second axis")
    strength2: float = number(1.0, above=0.0, doc="as `strength`, for the second axis")
    mode2: str = choice("velocity", options=MODES, doc="as `mode`, for the second axis")
    top2: float | None = number(None, above=0.0, doc="as `top`, for the second axis")
    start: float = number(0.0, doc="where the axis is at the start, rad or m: limits and orders of positions count from its 0")
    start2: float = number(0.0, doc="as `start`, for the second axis")

    SPATIAL: ClassVar[bool] = True

    def __post_init__(self) -> None:
        axes = AXES.get(self.kind, 0)
        if (self.start and (axes < 1 or self.kind == "angular")) or (self.start2 and axes < 2):
            raise WorldError(f"<joint> {'start' if self.start else 'start2'}: a {self.kind} joint has no such axis.")
        for axis, (lower, upper, motor, _, mode, top) in enumerate((self.first, self.second)):
            more = "2" * axis
            if (lower is None) != (upper is None):
                raise WorldError(f"<joint> has both limits{' of an axis' * axis}, or none.")
            if lower is not None and upper is not None and lower >= upper:
                raise WorldError(f"<joint> lower{more}: the lower limit is not below the upper one.")
            if (lower is not None or motor is not None) and axis >= axes:
                kinds = " and ".join(kind for kind, count in AXES.items() if count > axis)
                raise WorldError(f"<joint> kind: only {kinds} joints have {'a second axis with ' * axis}limits and motors.")
            if motor is None and (mode != "velocity" or top is not None):
                raise WorldError(f"<joint> motor{more}: it has none, so it has no mode{more} and no top{more}. Say what it is "
                                 f"ordered at the start, such as motor{more}=\"0\".")
            if top is not None and mode == "position":
                raise WorldError(f"<joint> top{more}: a motor in position mode has limits: lower{more}, upper{more}.")
        if self.can_break and (self.kind not in BREAKABLE or self.lower is not None or self.motor is not None):
            raise WorldError(f"<joint> kind: only {', '.join(BREAKABLE)} joints without limits and motors can break.")
        if self.kind == "angular":
            self._check_angular()
        if sum(a * a for a in self.axis) == 0.0 or sum(a * a for a in self.axis2) == 0.0:
            raise WorldError("<joint> axis: it has no direction.")
        (a, b, c), (d, e, f) = self.axis, self.axis2
        across = hypot(b * f - c * e, c * d - a * f, a * e - b * d)
        if axes == 2 and across < 1e-6 * hypot(a, b, c) * hypot(d, e, f):
            raise WorldError(f"<joint> axis2: the two axes of a {self.kind} joint are not the same.")

    def _check_angular(self) -> None:
        if self.motor is None:
            raise WorldError("<joint> kind: an angular joint is a motor; say what it is ordered at the start: motor=\"0\".")
        if self.lower is not None and self.upper is not None and not -pi < self.lower < 0.0 < self.upper < pi:
            raise WorldError("<joint> lower: the limits of an angular motor are within half a turn to either side of 0.")

    @property
    def first(self) -> tuple[float | None, float | None, float | None, float, str, float | None]:
        """Lower, upper, motor, strength, mode and top of its first axis."""
        return self.lower, self.upper, self.motor, self.strength, self.mode, self.top

    @property
    def second(self) -> tuple[float | None, float | None, float | None, float, str, float | None]:
        """The same of its second axis."""
        return self.lower2, self.upper2, self.motor2, self.strength2, self.mode2, self.top2

    @property
    def can_break(self) -> bool:
        """Whether it has a limit at which it gives."""
        return self.break_force is not None or self.break_torque is not None

    @cached_property
    def motors(self) -> tuple[Motor, ...]:
        """Those of its axes."""
        found = []
        for axis, (lower, upper, order, strength, mode, top) in enumerate((self.first, self.second)):
            if order is not None:
                far = np.inf if mode == "position" or top is None else top
                low, high = (-far, far) if mode != "position" or lower is None or upper is None else (lower, upper)
                found.append(Motor(self.name + ".2" * axis, self, axis, order, mode, strength, top, float(low), float(high)))
        return tuple(found)


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


@element("render", role="thing")
@dataclass(frozen=True)
class Render:
    """How a solid looks, if not as it is: a solid with renders is drawn as all of them.

    Nothing touches or senses them. They move with the solid, and have their place in its frame.
    """

    of: str = name(doc="the name of a <solid>")
    shape: str = choice("own", options=("own", *SHAPES), doc="own: that of the solid")
    size: tuple[float, ...] | None = numbers(None, unit="m", fewest=1, most_of=3, above=0.0, doc=SIZE)
    colour: str | None = colour(None, doc="default: the solid's")
    texture: str | None = file(None, doc="a PNG or JPEG picture, on each of its six sides; of shape own default: the solid's")
    file: str | None = file(None, doc="of a mesh: STL or OBJ, in the folder of the world or below it")
    scale: float = number(1.0, above=0.0, doc="metres for a unit of the mesh's file")
    x: float = length(0.0, doc="in the solid's frame")
    y: float = length(0.0, doc="in the solid's frame")
    z: float = length(0.0, doc="in the solid's frame")
    roll: float = angle(0.0, doc="about x, first")
    pitch: float = angle(0.0, doc="about y, then")
    yaw: float = angle(0.0, doc="about z, last")
    name: str = name("render")

    SPATIAL: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_shape("render", self)


def motors_of(things: Iterable[Any]) -> tuple[Motor, ...]:
    """The motors of all joints among them, in their order."""
    return tuple(motor for thing in things if isinstance(thing, Joint) for motor in thing.motors)


__all__ = ["AXES", "BREAKABLE", "Joint", "Material", "Motor", "Render", "Solid", "Touch", "Trigger", "motors_of"]
