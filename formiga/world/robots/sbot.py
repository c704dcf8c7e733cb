"""The s-bot of the SWARM-BOTS project, seen from above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from formiga.units import CM
from formiga.world.contract import Actuator
from formiga.world.elements import choice, colour, element, integer, length, number


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

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {
        "tr": {},
        "draft": {"motor_noise": 0.01, "position_noise": 0.05, "heading_noise": 0.05},
    }

    @property
    def top_speed(self) -> float:
        """Of a wheel's rim, m/s."""
        return self.top_wheel_speed * self.wheel_radius

    @property
    def joints(self) -> tuple[Actuator, ...]:
        """Turret and arm take rad/s, the gripper closes above 0.5."""
        return Actuator("turret"), Actuator("arm"), Actuator("grip", "switch")

    @property
    def arm_pivot(self) -> tuple[float, float]:
        """Where the arm's axis is in the turret's frame: ahead, and above the floor."""
        return 3.0 * CM, 7.0 * CM
