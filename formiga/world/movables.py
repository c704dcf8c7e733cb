"""What lies about and can be pushed, and what holds bodies together. All of it needs <contact model="impulse">."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from formiga.errors import WorldError
from formiga.units import CM, MM
from formiga.world.elements import angle, choice, colour, element, flag, length, made_of, name, number, numbers, speed

GRAVITY = 9.81  # m/s^2


@element("ball", role="thing")
@dataclass(frozen=True)
class Ball:
    """A ball that rolls, with viscous and dry friction. [Klancar et al. 2003, eq. 4-9]

    Profile `mirosot` is the paper's golf ball, with our defaults for what it leaves out. `golf` is the same ball, but robots
    feel it. `firasim` rolls as the ball of that simulator does: it slides until it rolls, and slows by 0.0756 m/s^2. In space
    robots always feel it.
    """

    profile: str = choice("mirosot", options=("mirosot", "golf", "firasim"))
    x: float = length(0.0)
    y: float = length(0.0)
    vx: float = speed(0.0, doc="at the start")
    vy: float = speed(0.0, doc="at the start")
    radius: float = length(21.35 * MM, above=0.0)
    mass: float = number(0.046, unit="kg", above=0.0)
    rolling: float = number(0.02, least=0.0, doc="coefficient of the dry rolling friction: K_c of F_c = K_c m g")
    viscous: float = number(0.005, least=0.0, doc="f_v, N s/m")
    slow: float = speed(1.0 * MM, above=0.0, doc="below this the dry friction grows with the speed: k")
    law: str = choice("vector", options=("vector", "per_axis"),
                      doc="dry friction against the motion, or on each axis by itself, as the paper prints it")
    sliding: float = number(0.0, least=0.0, doc="coefficient of friction while it slides; 0: it rolls at once")
    restitution: float = number(0.5, least=0.0, most=1.0, doc="against bodies; of two the larger counts")
    wall_restitution: float = number(0.7, least=0.0, most=1.0)
    felt: bool = flag(False, doc="whether hitting it slows a robot; in the paper it does not")
    colour: str = colour("#e87d1e")
    material: str | None = made_of("in space: a <material>, whose friction and restitution count instead of its own")
    name: str = name("ball")

    heading: ClassVar[float] = 0.0
    outline: ClassVar[None] = None
    grippable: ClassVar[bool] = True

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {
        "mirosot": {},
        "golf": {"mass": 0.0459, "felt": True},
        "firasim": {"radius": 21.5 * MM, "mass": 0.043, "rolling": 0.0756 * 1.4 / GRAVITY, "viscous": 0.0, "sliding": 1.0,
                    "wall_restitution": 0.5, "felt": True},
    }


@element("puck", role="thing")
@dataclass(frozen=True)
class Puck:
    """A round thing that slides when it is pushed, with dry friction on the floor."""

    x: float = length()
    y: float = length()
    radius: float = length(above=0.0)
    mass: float = number(0.2, unit="kg", above=0.0)
    friction: float = number(0.3, least=0.0, doc="coefficient, with the floor")
    restitution: float = number(0.0, least=0.0, most=1.0, doc="against bodies; of two the larger counts")
    wall_restitution: float = number(0.0, least=0.0, most=1.0)
    height: float = length(5.0 * CM, above=0.0)
    colour: str = colour("#c9a227")
    material: str | None = made_of("in space: a <material>, whose friction and restitution count instead of its own")
    name: str = name("puck")

    heading: ClassVar[float] = 0.0
    vx: ClassVar[float] = 0.0
    vy: ClassVar[float] = 0.0
    outline: ClassVar[None] = None
    grippable: ClassVar[bool] = True


@element("block", role="thing")
@dataclass(frozen=True)
class Block:
    """A thing with corners that slides when it is pushed: a box, or any outline, around (x, y)."""

    x: float = length()
    y: float = length()
    heading: float = angle(0.0)
    width: float = length(0.0, least=0.0, doc="along its own x; or give points")
    depth: float = length(0.0, least=0.0, doc="along its own y; or give points")
    points: tuple[float, ...] | None = numbers(None, unit="m", fewest=6, group=2, doc="its outline, in its own frame")
    mass: float = number(0.5, unit="kg", above=0.0)
    friction: float = number(0.3, least=0.0, doc="coefficient, with the floor")
    restitution: float = number(0.0, least=0.0, most=1.0, doc="against bodies; of two the larger counts")
    wall_restitution: float = number(0.0, least=0.0, most=1.0)
    height: float = length(8.0 * CM, above=0.0)
    colour: str = colour("#8c6d46")
    material: str | None = made_of("in space: a <material>, whose friction and restitution count instead of its own")
    name: str = name("block")

    vx: ClassVar[float] = 0.0
    vy: ClassVar[float] = 0.0
    grippable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.points is None) != (self.width > 0.0 and self.depth > 0.0) or (self.points and self.width + self.depth > 0.0):
            raise WorldError("<block> is either a box (width and depth) or has an outline (points).")

    @property
    def outline(self) -> tuple[tuple[float, float], ...]:
        """Its corners, in its own frame."""
        if self.points is None:
            return rectangle(self.width, self.depth)
        return tuple(zip(self.points[::2], self.points[1::2], strict=True))


@element("weld", role="thing")
@dataclass(frozen=True)
class Weld:
    """Two bodies that stay as they are to each other."""

    one: str = name(doc="a robot as group.number, or the name of a <ball>, <puck> or <block>")
    other: str = name(doc="as `one`")
    name: str = name("weld")


@element("pin", role="thing")
@dataclass(frozen=True)
class Pin:
    """Two bodies that share a point and may turn about it."""

    one: str = name(doc="a robot as group.number, or the name of a <ball>, <puck> or <block>")
    other: str = name(doc="as `one`")
    x: float = length(doc="of the point, at the start")
    y: float = length(doc="of the point, at the start")
    name: str = name("pin")


MOVABLES = (Ball, Puck, Block)
JOINTS = (Weld, Pin)


def rectangle(width: float, depth: float) -> tuple[tuple[float, float], ...]:
    """The corners of a rectangle around the origin, counter-clockwise."""
    a, b = width / 2, depth / 2
    return (a, b), (-a, b), (-a, -b), (a, -b)


__all__ = ["Ball", "Block", "Pin", "Puck", "Weld"]
