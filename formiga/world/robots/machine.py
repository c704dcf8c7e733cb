"""A robot that the user describes in a file of their own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from lxml import etree

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.elements import colour, element, file, flag, integer, length, number, text, where

LARGEST_FILE = 16 * 2**20   # bytes
LONGEST_REASON = 300        # characters of what MuJoCo complains about
MANY, MOST = {"nrow", "ncol", "count"}, 1000  # attributes that make much of little, and how much
FILES = {"file", "filename", "meshdir", "texturedir", "assetdir", "fileright", "fileleft", "fileup", "filedown", "filefront",
         "fileback"}        # attributes by which MJCF and URDF name further files
SMOOTH = 1000               # priority of what has no friction over what it touches


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
    lift: float = length(0.0, least=0.0, doc="its own origin above the ground at the start")
    fixed: bool = flag(False, doc="whether its first body stays where it is, as that of an arm does")
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
            _refuse_unreadable(self.file)
            spec = mujoco.MjSpec.from_file(self.file)
            spec.compiler.fusestatic = False  # a caster is a link of its own, also if it does not move
            tops = list(spec.worldbody.bodies)
            if len(tops) != 1:
                raise ValueError(f"it has {len(tops) or 'no'} bodies at the top, and a robot has one")
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
                if motor.trntype not in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
                    raise ValueError(f"its motor '{motor.name}' does not drive a joint")
            self._smooth(spec)
            if not self.fixed and not any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in tops[0].joints):
                tops[0].add_freejoint()
            spec.copy().compile()
        except (ValueError, OSError, mujoco.FatalError) as wrong:
            reason = " ".join(str(wrong).split()).rstrip(".") or type(wrong).__name__
            raise WorldError(f"{where(self)}<machine> file: '{Path(self.file).name}' cannot be used as a robot "
                             f"({reason[:LONGEST_REASON]}).") from wrong
        return spec

    def _smooth(self, spec: Any) -> None:
        """Take the friction from the bodies that have none."""
        bodies = {body.name: body for body in spec.bodies}
        for name in self.smooth.split():
            if name not in bodies:
                raise ValueError(f"it has no body '{name}' to be smooth")
            for geom in bodies[name].geoms:
                geom.friction, geom.condim, geom.priority = (0.0, 0.0, 0.0), 1, SMOOTH


def _refuse_unreadable(path: str) -> None:
    """What would keep us waiting, fill the memory, or be no file at all."""
    if not os.path.isfile(path):
        raise ValueError("there is no such file" if not os.path.exists(path) else "it is not a file")
    if os.path.getsize(path) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE >> 20} MB")
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        nodes = list(etree.parse(path, parser).iter(etree.Element))
    except etree.XMLSyntaxError as wrong:
        raise ValueError(f"it is no XML: {wrong}") from wrong
    for node in nodes:
        for attribute in MANY & set(node.attrib):
            if node.tag in ("hfield", "replicate") and not (node.attrib[attribute].strip().isdigit()
                                                            and int(node.attrib[attribute]) <= MOST):
                raise ValueError(f"line {node.sourceline}: {attribute} is a number up to {MOST}")
        for attribute in FILES & set(node.attrib):
            other = str(node.attrib[attribute]).replace("\\", "/")
            if other.startswith("/") or ".." in other.split("/") or other[1:2] == ":":
                raise ValueError(f"line {node.sourceline} names '{other[:80]}', which is not in its own folder")
