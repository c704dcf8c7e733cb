"""A round robot on two wheels whose numbers come from the world file."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.units import CM
from formiga.world.elements import colour, element, integer, length, number, speed


@element("disc", role="robot")
@dataclass(frozen=True)
class Disc:
    """A plain round robot on two wheels; every number can be given."""

    radius: float = length(above=0.0, doc="of the body; this is what beams hit")
    wheel_base: float = length(above=0.0, doc="between the two wheels")
    top_speed: float = speed(above=0.0, doc="of a wheel's rim")
    clearance: float = length(0.0, least=0.0, doc="closer than this counts as a collision")
    wheel_radius: float = length(2.0 * CM, above=0.0, doc="turns rim speed into wheel angle, for encoders")
    height: float = length(10.0 * CM, above=0.0)
    mass: float = number(0.5, unit="kg", above=0.0, doc="counts with <contact model='impulse'>")
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="wheel speed x (1 + U(-a, a))")
    position_noise: float = number(0.0, least=0.0, most=1.0, doc="position increment x (1 + U(-a, a))")
    heading_noise: float = number(0.0, least=0.0, most=1.0, doc="heading increment x (1 + U(-a, a))")
    leds: int = integer(0, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#0072b2")
