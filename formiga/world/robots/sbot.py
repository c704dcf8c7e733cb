"""The s-bot of the SWARM-BOTS project, seen from above."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, radians
from typing import TYPE_CHECKING, Any, ClassVar

from formiga.units import CM
from formiga.world.contract import Actuator
from formiga.world.elements import choice, colour, element, integer, length, number
from formiga.world.looks import Look
from formiga.world.looks.sbot import sbot_look

if TYPE_CHECKING:
    from formiga.world.build import Builder

# Shares of its mass [digest of S3: chassis 0.36, wheels 0.03 each, turret 0.30, arm 0.02 kg]
TURRET_SHARE, ARM_SHARE = 0.30 / 0.74, 0.02 / 0.74
TURRET_TORQUE = 1.0                # N m: it holds what the gripper holds at the end of the arm
ARM_RANGE = radians(-30.0), radians(70.0)


@element("sbot", role="robot")
@dataclass(frozen=True)
class SBot:
    """The s-bot: a disc of 116 mm on two wheels. [Vicentini & Tuci 2006, table 1]

    Profile `tr` is the published report, TR/IRIDIA/2006-005. Profile `draft` is the unsigned draft before it, which
    has noise in the motion; its noises have no unit, we read them as relative.
    """

    profile: str = choice("tr", options=("tr", "draft"), doc="the published report, or the draft before it")
    radius: float = length(5.8 * CM, above=0.0, doc="of the body; this is what beams hit")
    clearance: float = length(3.0 * CM, least=0.0, doc="closer than this counts as a collision")
    wheel_base: float = length(9.5 * CM, above=0.0, doc="between the two wheels")
    wheel_radius: float = length(2.0 * CM, above=0.0)
    top_wheel_speed: float = number(4.0, unit="rad/s", above=0.0, doc="so 8 cm/s over the ground")
    height: float = length(10.0 * CM, above=0.0)
    mass: float = number(0.7, unit="kg", above=0.0, doc="counts with <contact model='impulse'>; not from the report")
    motor_noise: float = number(0.0, least=0.0, most=1.0, doc="wheel speed x (1 + U(-a, a))")
    position_noise: float = number(0.0, least=0.0, most=1.0, doc="position increment x (1 + U(-a, a))")
    heading_noise: float = number(0.0, least=0.0, most=1.0, doc="heading increment x (1 + U(-a, a))")
    leds: int = integer(8, least=0, most=64, doc="lights in a ring")
    colour: str = colour("#d55e00")
    model: str = choice("simple", options=("simple", "detailed"),
                        doc="in space: a turret that turns and a still gripper, or an arm that lifts, too")
    base: str = choice("auto", options=("auto", "sliding", "wheels"),
                       doc="in space: slides over a level floor, pulled by its treels, or has wheels; auto: slides if it can")
    grip_force: float = number(14.72, unit="N", above=0.0, doc="a harder pull opens the gripper")
    lift_force: float = number(6.87, unit="N", above=0.0, doc="that the arm lifts with, at the gripper")
    grip_reach: float = length(2.2 * CM, above=0.0, doc="of the gripper, from the rim of the body")
    grasp: str = choice("rigid", options=("rigid", "loose"), doc="loose: what it holds may turn in the grip")
    friction: float = number(1.0, least=0.0, doc="of the treels on the floor, in space")
    joint_speed: float | None = number(None, unit="rad/s", above=0.0, doc="in space: the largest that turret and arm are "
                                                                          "ordered; default: any. Learners need one")

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {
        "tr": {},
        "draft": {"motor_noise": 0.01, "position_noise": 0.05, "heading_noise": 0.05},
    }

    @property
    def top_speed(self) -> float:
        """Of a wheel's rim, m/s."""
        return self.top_wheel_speed * self.wheel_radius

    grips: ClassVar[bool] = True
    footed: ClassVar[tuple[str, ...]] = ("chassis", "turret")
    prism: ClassVar[bool] = True   # turret and arm stay inside its disc, seen from above

    @cached_property
    def joints(self) -> tuple[Actuator, ...]:
        """Turret and arm take rad/s, the gripper closes above 0.5."""
        most = inf if self.joint_speed is None else self.joint_speed
        return (Actuator("turret", low=-most, high=most, effort=TURRET_TORQUE), Actuator("arm", low=-most, high=most),
                Actuator("grip", "switch"))

    @property
    def arm_pivot(self) -> tuple[float, float]:
        """Where the arm's axis is in the turret's frame: ahead, and above the floor."""
        return 3.0 * CM, 7.0 * CM

    def look(self) -> Look:
        """Tracks, a turret with the ring of lights, a gripper, a camera on a mast."""
        return sbot_look(self)

    @property
    def ring_height(self) -> float:
        """Others hold it at the height of its own arm."""
        return self.arm_pivot[1]

    def slides(self, level: bool, graspable: bool) -> bool:
        """Only without an arm that lifts: a sliding base has no vertical degree of freedom, so it could lift any load."""
        return self.model == "simple" and (self.base == "sliding" or (self.base == "auto" and level and not graspable))

    def build_part(self, build: Builder) -> None:
        """Chassis, turret and gripper; the detailed model has an arm, too."""
        if build.sliding:  # the turret is what slides, and the chassis turns under it
            upper = self.mass * (TURRET_SHARE + ARM_SHARE)
            turret = build.slide("turret", upper)
            build.shell(turret)
            chassis = build.body(turret, "chassis")
            build.hinge(chassis, "under", axis=(0, 0, 1))
            build.drum(chassis, self.mass - upper, 0.5 * self.height, self.height)
            build.chassis(chassis)
            self._jaw(build, turret)
            build.motor("turret", "under", TURRET_TORQUE, sign=-1.0)
        else:
            turret = self._on_wheels(build)
            if self.model == "detailed":
                self._arm(build, turret)
            else:
                self._jaw(build, turret)
        build.held_by(turret)

    def _on_wheels(self, build: Builder) -> Any:
        """The turret of an s-bot on wheels."""
        detailed, r = self.model == "detailed", self.wheel_radius
        chassis = build.roll(1.0 - TURRET_SHARE - ARM_SHARE)
        if detailed:
            build.geom(chassis, "box", (0.8 * self.radius, 0.7 * (self.wheel_base / 2), 0.4 * r), (0, 0, 1.4 * r))
        turret = build.body(chassis, "turret")
        build.hinge(turret, "turret", axis=(0, 0, 1))
        build.drum(turret, self.mass * (TURRET_SHARE + (0.0 if detailed else ARM_SHARE)), 3.0 * r, 0.4 * self.height)
        build.motor("turret", "turret", TURRET_TORQUE)
        build.shell(turret, drum=detailed)
        return turret

    def _jaw(self, build: Builder, turret: Any) -> None:
        """A still gripper holds in the middle of its reach, at the height of the arm."""
        build.gripper(turret, (self.radius + 0.5 * self.grip_reach, 0, self.arm_pivot[1]))
        build.idle("arm")

    def _arm(self, build: Builder, turret: Any) -> None:
        """An arm on a horizontal axis, with the gripper at its end."""
        x, z = self.arm_pivot
        long = self.radius + self.grip_reach - x
        arm = build.body(turret, "arm", (x, 0, z))
        build.hinge(arm, "arm", axis=(0, -1, 0), limits=ARM_RANGE, armature=1e-4)
        build.geom(arm, "capsule", (0.006,), to=(long - 0.01, 0, 0), mass=ARM_SHARE * self.mass, ghost=True)
        build.gripper(arm, (long - 0.5 * self.grip_reach, 0, 0))
        build.motor("arm", "arm", self.lift_force * long)
