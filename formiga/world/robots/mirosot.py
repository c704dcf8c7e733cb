"""The cube of robot soccer."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import Any, ClassVar

from formiga.units import CM, MM
from formiga.world.elements import choice, colour, duration, element, integer, length, number, numbers
from formiga.world.looks import Look
from formiga.world.looks.mirosot import mirosot_look
from formiga.world.movables import rectangle


@element("mirosot", role="robot")
@dataclass(frozen=True)
class MiroSot:
    """A soccer robot: a cube of 7.5 cm on two wheels with first-order motors. [Klancar et al. 2003, eq. 1-3]

    Profile `mirosot` is the paper's, with our defaults for what it leaves out. `firasim` has the wheels of that simulator, so
    that 20 rad/s are 0.400 m/s and -10, 10 rad/s turn at 4.71 rad/s; its motors have a torque limit, here they are fast.
    `golf` has the masses of real robots and balls.
    """

    profile: str = choice("mirosot", options=("mirosot", "golf", "firasim"))
    side: float = length(7.5 * CM, above=0.0, doc="of the cube")
    shape: str = choice("square", options=("square", "circle"), doc="circle: half a side in radius, for comparison")
    points: tuple[float, ...] | None = numbers(None, unit="m", fewest=6, group=2,
                                               doc="another outline, in the robot's frame, x ahead; a dent for the ball, say")
    mass: float = number(0.5, unit="kg", above=0.0)
    wheel_radius: float = length(22.0 * MM, above=0.0)
    wheel_base: float = length(7.5 * CM, above=0.0, doc="between the two wheels")
    top_wheel_speed: float = number(60.0, unit="rad/s", above=0.0, doc="so 1.3 m/s over the ground")
    motor_lag: float = duration(0.06, least=0.0, doc="time constant T of the wheels; 0: a wheel turns as it is told")
    tyres: str = choice("nonholonomic", options=("nonholonomic", "sliding"), doc="whether a hit from the side moves it")
    tyre_friction: float = number(0.6, least=0.0, doc="coefficient that stops a sideways slide, with tyres='sliding'")
    restitution: float = number(0.3, least=0.0, most=1.0, doc="against bodies; of two the larger counts")
    wall_restitution: float = number(0.2, least=0.0, most=1.0)
    height: float = length(7.5 * CM, above=0.0)
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="wheel speed x (1 + U(-a, a))")
    leds: int = integer(0, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#0072b2", doc="of the team")

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {
        "mirosot": {},
        "golf": {"mass": 0.45},
        "firasim": {"mass": 1.4, "wheel_radius": 20.0 * MM, "wheel_base": 8.5 * CM, "top_wheel_speed": 100.0,
                    "restitution": 0.0, "wall_restitution": 0.0},
    }

    @property
    def outline(self) -> tuple[tuple[float, float], ...] | None:
        """Its corners, counter-clockwise, in its own frame; None: it is a disc of `radius`."""
        if self.points is not None:
            return tuple(zip(self.points[::2], self.points[1::2], strict=True))
        return rectangle(self.side, self.side) if self.shape == "square" else None

    @property
    def radius(self) -> float:
        """Of the circle around it."""
        return max(hypot(x, y) for x, y in self.outline) if self.outline else self.side / 2

    @property
    def top_speed(self) -> float:
        """Of a wheel's rim, m/s."""
        return self.top_wheel_speed * self.wheel_radius

    @property
    def clearance(self) -> float:
        """It may touch what it pushes."""
        return 0.0

    @property
    def position_noise(self) -> float:
        """Its motion is what its motors do."""
        return 0.0

    @property
    def heading_noise(self) -> float:
        """Its motion is what its motors do."""
        return 0.0

    def look(self) -> Look:
        """A cube with the colour of its team and a spot of its own on top."""
        return mirosot_look(self)
