"""A robot that drives in any direction, and turns as it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot, pi

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.drives import Omni as OmniDrive
from formiga.world.elements import colour, duration, element, integer, length, number, numbers, speed
from formiga.world.kinds import HUGE, TINY
from formiga.world.looks import Look
from formiga.world.looks.omni import omni_look


@element("omni", role="robot")
@dataclass(frozen=True)
class Omni:
    """A robot on three or more omnidirectional wheels; a disc, or with any outline. Each wheel is told its rim speed.

    The size is that of RoboCup's small size league, whose robots fit into a cylinder 18 cm wide and 15 cm high; the other
    numbers are ours. With <contact model="impulse"/> it can be pushed in any direction, and its wheels pull it back to what
    they were told with at most their friction.
    """

    wheels: int = integer(3, least=3, most=32, doc="spread evenly, the first one half a step to the left of straight ahead")
    angles: tuple[float, ...] | None = numbers(None, unit="rad", fewest=3, most_of=32,
                                               doc="where the wheels stand instead, from straight ahead")
    directions: tuple[float, ...] | None = numbers(None, unit="rad", fewest=3, most_of=32,
                                                   doc="where each wheel rolls; default: along the circle")
    distance: float = length(8.0 * CM, above=0.0, doc="of the wheels from the middle")
    top_speed: float = speed(1.0, above=0.0, doc="of a wheel's rim")
    radius: float = length(9.0 * CM, above=0.0, doc="of the body, if it has no `points`")
    points: tuple[float, ...] | None = numbers(None, unit="m", fewest=6, group=2,
                                               doc="an outline with corners, in the robot's frame, x ahead")
    clearance: float = length(0.0, least=0.0, doc="closer than this counts as a collision")
    wheel_radius: float = length(2.5 * CM, above=0.0, doc="turns rim speed into wheel angle, for encoders")
    height: float = length(15.0 * CM, above=0.0)
    mass: float = number(2.0, unit="kg", above=0.0, doc="counts with <contact model='impulse'> and in space")
    motor_lag: float = duration(0.0, least=0.0, doc="time constant of the wheels; 0: a wheel turns as it is told")
    tyre_friction: float = number(0.6, least=0.0, doc="of the wheels with <contact model='impulse'>; 0: they never slip")
    friction: float = number(1.0, least=0.0, doc="of the wheels on the floor, in space")
    restitution: float = number(0.0, least=0.0, most=1.0, doc="against bodies; of two the larger counts")
    wall_restitution: float = number(0.0, least=0.0, most=1.0)
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="wheel speed x (1 + U(-a, a))")
    position_noise: float = number(0.0, least=0.0, most=1.0, doc="position increment x (1 + U(-a, a))")
    heading_noise: float = number(0.0, least=0.0, most=1.0, doc="heading increment x (1 + U(-a, a))")
    leds: int = integer(0, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#cc79a7")

    def __post_init__(self) -> None:
        if self.points is not None:
            radius = max(hypot(x, y) for x, y in self.outline or ())
            if not TINY <= radius <= HUGE:
                raise WorldError(f"<omni> points: the outline reaches {radius:g} m from the middle; that is from {TINY:g} to "
                                 f"{HUGE:g} m.")
            object.__setattr__(self, "radius", radius)
        try:
            _ = self.drive
        except WorldError as wrong:
            raise WorldError(f"<omni> {'angles' if self.directions is None else 'directions'}: {wrong}") from wrong

    @cached_property
    def drive(self) -> OmniDrive:
        """A rim speed for each wheel."""
        angles = self.angles or tuple((k + 0.5) * 2.0 * pi / self.wheels for k in range(self.wheels))
        return OmniDrive(angles, self.distance, self.top_speed, self.directions, self.wheel_radius, self.motor_noise,
                         self.motor_lag)

    @property
    def outline(self) -> tuple[tuple[float, float], ...] | None:
        """Its corners, counter-clockwise, in its own frame; None: it is a disc of `radius`."""
        return None if self.points is None else tuple(zip(self.points[::2], self.points[1::2], strict=True))

    def look(self) -> Look:
        """A drum or its outline over wheels with rollers."""
        return omni_look(self)
