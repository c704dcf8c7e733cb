"""Robots that shine, so that others see where they are."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.world.elements import element, number


@element("glow", role="actuator")
@dataclass(frozen=True)
class Glow:
    """Every robot of the group is a light at its own centre, as high as itself. It takes no orders: the dead glow on."""

    intensity: float = number(0.02, least=0.0, doc="in m^2, as that of a <lamp>")
