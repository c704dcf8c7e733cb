"""A car."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.drives import Steered
from formiga.world.elements import angle, choice, colour, duration, element, integer, number, numbers, speed
from formiga.world.elements import length as metres
from formiga.world.looks import Look
from formiga.world.looks.car import car_look


@element("car", role="robot")
@dataclass(frozen=True)
class Car:
    """A car that steers with its front wheels; orders are a speed and a steering angle.

    Its own point is the middle of the rear axle, and its body reaches as far behind that as before the front axle. Wheelbase,
    size, mass, steering angle and steering rate are those of an F1TENTH car, a racing car at a tenth of full size [O'Kelly et
    al. 2020: default parameters of the F1TENTH gym]; its motor could do 20 m/s, here it does 1 m/s. Our own: wheel radius,
    height, lags.
    """

    length: float = metres(0.3302, above=0.0, doc="between the rear and the front axle")
    top_speed: float = speed(1.0, above=0.0, doc="of the rear axle")
    top_steering: float = angle(0.4189, above=0.0, doc="largest steering angle, below 90 degrees")
    steering_rate: float = number(3.2, unit="rad/s", above=0.0, doc="by which the steering angle changes at most")
    speed_lag: float = duration(0.0, least=0.0, doc="time constant of the speed; 0: at once")
    steering_lag: float = duration(0.0, least=0.0, doc="time constant of the steering angle; 0: as fast as its rate allows")
    shape: str = choice("rectangle", options=("rectangle", "disc"),
                        doc="disc: around the rear axle and as wide, for contact models without corners")
    body: float = metres(58.0 * CM, above=0.0, doc="length of the whole body")
    width: float = metres(31.0 * CM, above=0.0)
    points: tuple[float, ...] | None = numbers(None, unit="m", fewest=6, group=2,
                                               doc="another outline, in the robot's frame: from the rear axle, x ahead")
    clearance: float = metres(0.0, least=0.0, doc="closer than this counts as a collision")
    wheel_radius: float = metres(5.0 * CM, above=0.0, doc="turns speed into wheel angle, for encoders")
    height: float = metres(15.0 * CM, above=0.0)
    mass: float = number(3.74, unit="kg", above=0.0, doc="counts with <contact model='impulse'> and in space")
    friction: float = number(1.0, least=0.0, doc="of the tyres on the floor, in space")
    restitution: float = number(0.0, least=0.0, most=1.0, doc="against bodies; of two the larger counts")
    wall_restitution: float = number(0.0, least=0.0, most=1.0)
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="speed and steering angle x (1 + U(-a, a))")
    position_noise: float = number(0.0, least=0.0, most=1.0, doc="position increment x (1 + U(-a, a))")
    heading_noise: float = number(0.0, least=0.0, most=1.0, doc="heading increment x (1 + U(-a, a))")
    leds: int = integer(0, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#e69f00")

    def __post_init__(self) -> None:
        if self.points is None and self.shape == "rectangle" and self.body < self.length:
            raise WorldError(f"<car> body: {self.body:g} m is shorter than the {self.length:g} m between its axles.")
        try:
            _ = self.drive
        except WorldError as wrong:
            raise WorldError(f"<car> top_steering: {wrong}") from wrong

    @cached_property
    def drive(self) -> Steered:
        """A speed and a steering angle."""
        return Steered(self.length, self.top_speed, self.top_steering, self.speed_lag, self.steering_lag, self.steering_rate,
                       self.wheel_radius, self.motor_noise)

    @property
    def radius(self) -> float:
        """Of the circle around it."""
        return max(hypot(x, y) for x, y in self.outline) if self.outline else 0.5 * self.width

    @property
    def motor_lag(self) -> float:
        """Of the speed."""
        return self.speed_lag

    @property
    def outline(self) -> tuple[tuple[float, float], ...] | None:
        """Its corners, counter-clockwise, in its own frame; None: it is a disc of `radius`."""
        if self.points is not None:
            return tuple(zip(self.points[::2], self.points[1::2], strict=True))
        if self.shape == "disc":
            return None
        behind, half = 0.5 * (self.body - self.length), 0.5 * self.width
        front = self.length + behind
        return (front, half), (-behind, half), (-behind, -half), (front, -half)

    def look(self) -> Look:
        """A body on four wheels, a cabin with a windscreen."""
        return car_look(self)
