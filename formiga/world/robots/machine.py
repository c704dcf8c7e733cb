"""A robot that the user describes in a file of their own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.contract import Actuator
from formiga.world.elements import colour, element, file, flag, integer, length, number, text, where
from formiga.world.machine.files import check
from formiga.world.machine.spec import describe
from formiga.world.machine.trial import Size, attempt

LONGEST_REASON = 400   # characters of what is wrong with it


@element("machine", role="robot")
@dataclass(frozen=True)
class Machine:
    """A robot in MJCF or URDF, with formiga's sensors and controllers. Only with engine="spatial".

    Its motors are its actuators; a URDF has none, so each of its hinges and sliders gets one that takes speeds. Two of them
    may be its wheels, and then everything that drives on two wheels drives this. The others are outputs, by name. A URDF has no
    friction either: `smooth` names the links that slide, such as casters. The file is only data: nothing in it is run.
    """

    file: str = file(doc="MJCF or URDF")
    radius: float = length(10.0 * CM, above=0.0, doc="of the circle around it, to place it and to see it from above")
    height: float = length(10.0 * CM, above=0.0)
    left: str = text("", doc="the motor of its left wheel, if it drives on two")
    right: str = text("", doc="the motor of its right wheel")
    wheel_radius: float = length(2.0 * CM, above=0.0)
    wheel_base: float = length(10.0 * CM, above=0.0, doc="between the two wheels")
    top_wheel_speed: float = number(10.0, unit="rad/s", above=0.0)
    smooth: str = text("", doc="bodies or links that slide without friction, such as casters; names with spaces between them")
    gain: float = number(0.1, above=0.0, doc="N m s/rad, of the motors that a URDF's joints get")
    lift: float = length(0.0, least=0.0, doc="its own origin above the ground at the start; a fixed one is so much higher")
    fixed: bool = flag(False, doc="whether its first body stays where it was placed, as that of an arm does")
    clearance: float = length(0.0, least=0.0)
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="wheel speed x (1 + U(-a, a))")
    leds: int = integer(0, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#009e73")

    SPATIAL: ClassVar[bool] = True
    position_noise: ClassVar[float] = 0.0  # these three only to be placed, seen from above
    heading_noise: ClassVar[float] = 0.0
    mass: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if bool(self.left) != bool(self.right):
            raise WorldError("<machine> has both wheels, or none.")

    @property
    def top_speed(self) -> float:
        """Of a wheel's rim, m/s."""
        return self.top_wheel_speed * self.wheel_radius

    @property
    def wheels(self) -> tuple[str, ...]:
        """The motors of its two wheels, if it has some."""
        return (self.left, self.right) if self.left else ()

    @cached_property
    def joints(self) -> tuple[Actuator, ...]:
        """Its motors besides the wheels."""
        motors = [motor.name for motor in self.description().actuators]
        if missing := [wheel for wheel in self.wheels if wheel not in motors]:
            raise WorldError(f"{where(self)}<machine> there is no motor '{missing[0]}' in '{Path(self.file).name}'; it has: "
                             f"{', '.join(motors) or 'none'}.")
        return tuple(Actuator(motor) for motor in motors if motor not in self.wheels)

    @cached_property
    def size(self) -> Size:
        """How large one of it is in MuJoCo, once its files are checked and have been compiled in a process of their own."""
        try:
            return attempt(check(self.file), self.smooth, self.gain, self.fixed)
        except (ValueError, OSError) as wrong:
            raise self._wrong(wrong) from wrong

    def description(self) -> Any:
        """A fresh `mujoco.MjSpec` of the one body at the top of the file, all of its motors with a name."""
        import mujoco

        _ = self.size  # raises unless it passes its trial
        try:
            return describe(os.path.realpath(self.file), self.smooth, self.gain, self.fixed)
        except (ValueError, OSError, mujoco.FatalError) as wrong:
            raise self._wrong(wrong) from wrong

    def _wrong(self, reason: Exception) -> WorldError:
        words = " ".join(str(reason).split()).rstrip(".") or type(reason).__name__
        return WorldError(f"{where(self)}<machine> file: '{Path(self.file).name}' cannot be used as a robot "
                          f"({words[:LONGEST_REASON]}).")
