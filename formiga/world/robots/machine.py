"""A robot that the user describes in a file of their own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from formiga.errors import WorldError, suggest
from formiga.units import CM
from formiga.world.contract import Actuator
from formiga.world.drives import Differential
from formiga.world.elements import colour, element, file, flag, integer, length, number, text, where
from formiga.world.kinds import Kind
from formiga.world.looks import Look
from formiga.world.machine.files import check
from formiga.world.machine.spec import describe
from formiga.world.machine.trial import Facts, Size, attempt

if TYPE_CHECKING:
    from formiga.world.build import Builder

LONGEST_REASON = 400   # characters of what is wrong with it
UNITS = {"hinge": Kind("number", "rad"), "slider": Kind("number", "m")}


@element("machine", role="robot")
@dataclass(frozen=True)
class Machine:
    """A robot in MJCF or URDF, with formiga's sensors and controllers. Only with engine="spatial".

    Its motors are its actuators; a URDF has none, so each of its hinges and sliders gets one that takes speeds. Two of them
    may be its wheels, and then it has a drive as every robot on two wheels; else it has none. The others are its joints, by the
    names of their motors: their mode (position, velocity or torque) and their limits are those of the MJCF actuator. A URDF has
    no friction: `smooth` names the links that slide, such as casters. The file is only data: nothing in it is run.

    `posture` says where hinges and sliders start: 'hip1 0.3, knee1 -35deg', or the name of a <key> of the file. Motors that
    take positions hold it until they get other orders. Without `lift` such a robot is set down so that it touches the ground.
    """

    file: str = file(doc="MJCF or URDF")
    radius: float = length(10.0 * CM, above=0.0, doc="of the circle around it, to place it and to see it from above")
    height: float = length(10.0 * CM, above=0.0)
    left: str = text("", doc="the motor of its left wheel, if it drives on two")
    right: str = text("", doc="the motor of its right wheel")
    wheel_radius: float = length(2.0 * CM, above=0.0, doc="with left and right")
    wheel_base: float = length(10.0 * CM, above=0.0, doc="between the two wheels")
    top_wheel_speed: float = number(10.0, unit="rad/s", above=0.0, doc="with left and right")
    smooth: str = text("", doc="bodies or links that slide without friction, such as casters; names with spaces between them")
    gain: float = number(0.1, above=0.0, doc="N m s/rad, of the motors that a URDF's joints get")
    lift: float = length(0.0, least=0.0, doc="its own origin above the ground at the start; a fixed one is so much higher")
    posture: str = text("", doc="joint and rad or m, joint and ...; or the name of a <key>; default: as the file has it")
    fixed: bool = flag(False, doc="whether its first body stays where it was placed, as that of an arm does")
    clearance: float = length(0.0, least=0.0)
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="wheel speed x (1 + U(-a, a))")
    leds: int = integer(0, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#009e73")

    SPATIAL: ClassVar[bool] = True
    base: ClassVar[str] = "own"            # that of its file
    mass: ClassVar[float] = 1.0            # only to be placed, seen from above: its bodies have their own

    def __post_init__(self) -> None:
        if bool(self.left) != bool(self.right):
            raise WorldError("<machine> has both wheels, or none.")

    @property
    def top_speed(self) -> float:
        """Of a wheel's rim, m/s."""
        return self.top_wheel_speed * self.wheel_radius

    @cached_property
    def drive(self) -> Differential | None:
        """On two wheels, if the world names their motors."""
        return Differential(self.wheel_base, self.top_speed, self.wheel_radius, self.motor_noise) if self.left else None

    @property
    def wheels(self) -> tuple[str, ...]:
        """The motors of its two wheels, if it has some."""
        return (self.left, self.right) if self.left else ()

    @cached_property
    def joints(self) -> tuple[Actuator, ...]:
        """Its motors besides the wheels."""
        motors = self.facts.motors
        if missing := [wheel for wheel in self.wheels if wheel not in [motor.name for motor in motors]]:
            raise WorldError(f"{where(self)}<machine> there is no motor '{missing[0]}' in '{Path(self.file).name}'; it has: "
                             f"{', '.join(motor.name for motor in motors) or 'none'}.")
        return tuple(Actuator(motor.name, motor.mode, -inf if motor.low is None else motor.low,
                              inf if motor.high is None else motor.high, inf if motor.effort is None else motor.effort)
                     for motor in motors if motor.name not in self.wheels)

    @cached_property
    def start_posture(self) -> dict[str, float]:
        """Hinge or slider -> rad or m at the start; those that are not in it start where the file has them."""
        if len(self.posture.split()) == 1:
            return self._key(self.posture.strip())
        found: dict[str, float] = {}
        known, moved = self.facts.joints, {motor.name: motor.joint for motor in self.facts.motors}
        for pair in filter(None, map(str.strip, self.posture.split(","))):
            called, _, value = pair.partition(" ")
            name = called if called in self.facts.joints else moved.get(called, "")
            if name not in self.facts.joints:
                raise self._bad_posture(f"'{Path(self.file).name}' has no joint '{called}'.{suggest(called, known)} "
                                        f"It has: {', '.join(known) or 'none'}")
            if name in found:
                raise self._bad_posture(f"joint '{called}' is given twice")
            try:
                found[name] = UNITS[self.facts.joints[name].kind].parse(value.strip())
            except ValueError as wrong:
                raise self._bad_posture(f"'{pair}' is not a joint and a number ({wrong}); write 'hip 0.3, knee -35deg'") \
                    from wrong
        self._check_ranges(found)
        return found

    def _key(self, name: str) -> dict[str, float]:
        keys = self.facts.keys
        if name not in keys:
            raise self._bad_posture(f"'{Path(self.file).name}' has no <key name=\"{name}\">.{suggest(name, keys)} It has: "
                                    f"{', '.join(keys) or 'none'}. Joints are given as 'hip 0.3, knee -35deg'")
        rolls = [motor.joint for motor in self.facts.motors if motor.name in self.wheels]
        found = {joint: value for joint, value in keys[name].items() if joint not in rolls}
        self._check_ranges(found)
        return found

    def _check_ranges(self, posture: dict[str, float]) -> None:
        for name, value in posture.items():
            joint = self.facts.joints[name]
            low, high = -inf if joint.low is None else joint.low, inf if joint.high is None else joint.high
            if not low - 1e-9 <= value <= high + 1e-9:
                unit = "rad" if joint.kind == "hinge" else "m"
                raise self._bad_posture(f"joint '{name}' at {value:g} {unit} is out of its range, {low:g} to {high:g} {unit}")

    def _bad_posture(self, what: str) -> WorldError:
        return WorldError(f"{where(self)}<machine> posture: {what}.")

    @cached_property
    def facts(self) -> Facts:
        """What it is made of, once its files are checked and have been compiled in a process of their own."""
        try:
            return attempt(check(self.file), self.smooth, self.gain, self.fixed)
        except (ValueError, OSError) as wrong:
            raise self._wrong(wrong) from wrong

    @property
    def size(self) -> Size:
        """How large one of it is in MuJoCo."""
        return self.facts.size

    def size_in_space(self) -> tuple[int, int, int, int]:
        """Bodies, bytes, geoms and points of height fields of one of it."""
        return self.size.bodies - 1, self.size.bytes, self.size.geoms, self.size.heights

    def description(self) -> Any:
        """A fresh `mujoco.MjSpec` of the one body at the top of the file, all of its motors with a name."""
        import mujoco

        _ = self.facts  # raises unless it passes its trial
        try:
            return describe(os.path.realpath(self.file), self.smooth, self.gain, self.fixed)
        except (ValueError, OSError, mujoco.FatalError) as wrong:
            raise self._wrong(wrong) from wrong

    def look(self) -> Look:
        """The geoms of its file."""
        from formiga.world.machine.look import machine_look  # with MuJoCo, which takes a while to load

        return machine_look(self)

    def build_part(self, build: Builder) -> None:
        """All of its file."""
        lands = bool(self.posture) and self.lift == 0.0 and not self.fixed
        build.attach(self.description(), self.wheels, None if lands else self.lift)

    def _wrong(self, reason: Exception) -> WorldError:
        words = " ".join(str(reason).split()).rstrip(".") or type(reason).__name__
        return WorldError(f"{where(self)}<machine> file: '{Path(self.file).name}' cannot be used as a robot "
                          f"({words[:LONGEST_REASON]}).")
