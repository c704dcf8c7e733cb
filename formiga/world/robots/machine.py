"""A robot that the user describes in a file of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.elements import colour, element, file, flag, integer, length, number, text, where


@element("machine", role="robot")
@dataclass(frozen=True)
class Machine:
    """A robot in MJCF or URDF, with formiga's sensors and controllers. Only with engine="spatial".

    Its motors are its actuators; a URDF has none, so each of its hinges and sliders gets one that takes speeds. Two of them
    may be `wheels`, and then everything that drives on two wheels drives this. The others are outputs, by name.
    """

    file: str = file(doc="MJCF or URDF")
    radius: float = length(10.0 * CM, above=0.0, doc="of the circle around it, to place it and to see it from above")
    height: float = length(10.0 * CM, above=0.0)
    left: str = text("", doc="the motor of its left wheel, if it drives on two")
    right: str = text("", doc="the motor of its right wheel")
    wheel_radius: float = length(2.0 * CM, above=0.0)
    wheel_base: float = length(10.0 * CM, above=0.0, doc="between the two wheels")
    top_wheel_speed: float = number(10.0, unit="rad/s", above=0.0)
    gain: float = number(0.1, above=0.0, doc="N m s/rad, of the motors that a URDF's joints get")
    lift: float = length(0.0, least=0.0, doc="its own origin above the ground at the start")
    fixed: bool = flag(False, doc="whether its first body stays where it is, as that of an arm does")
    clearance: float = length(0.0, least=0.0)
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="wheel speed x (1 + U(-a, a))")
    leds: int = integer(0, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#009e73")

    SPATIAL: ClassVar[bool] = True

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
    def outputs(self) -> tuple[str, ...]:
        """Its motors besides the wheels."""
        motors = [motor.name for motor in self.description().actuators]
        if missing := [wheel for wheel in self.wheels if wheel not in motors]:
            raise WorldError(f"{where(self)}<machine> there is no motor '{missing[0]}' in '{Path(self.file).name}'; it has: "
                             f"{', '.join(motors) or 'none'}.")
        return tuple(motor for motor in motors if motor not in self.wheels)

    def description(self) -> Any:
        """A fresh `mujoco.MjSpec` of the one body at the top of the file, all of its motors with a name."""
        import mujoco

        try:
            spec = mujoco.MjSpec.from_file(self.file)
            tops = list(spec.worldbody.bodies)
            if len(tops) != 1:
                raise ValueError(f"it has {len(tops)} bodies at the top, and a robot has one")
            tops[0].name = tops[0].name or "robot"
            for each in [*spec.worldbody.geoms, *spec.worldbody.lights, *spec.worldbody.cameras]:
                spec.delete(each)  # a floor and lamps to look at it; here it stands in our world
            moving = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
            if not spec.actuators:
                for joint in [joint for joint in spec.joints if joint.type in moving]:
                    spec.add_actuator(name=joint.name, target=joint.name,
                                      trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_velocity(kv=self.gain)
            for number, motor in enumerate(spec.actuators):
                motor.name = motor.name or f"motor{number}"
            if not self.fixed and not any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in tops[0].joints):
                tops[0].add_freejoint()
            spec.copy().compile()
        except (ValueError, OSError, mujoco.FatalError) as wrong:
            first = (str(wrong).strip().splitlines() or [type(wrong).__name__])[0]
            raise WorldError(f"{where(self)}<machine> file: '{Path(self.file).name}' cannot be used as a robot ({first})."
                             ) from wrong
        return spec
