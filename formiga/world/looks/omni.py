"""The look of a robot on omnidirectional wheels: a drum or its outline, each wheel where it stands and as it rolls."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin
from typing import Any

from formiga.world.looks import METAL, ON_ITS_SIDE, RUBBER, Drum, Look, Shape
from formiga.world.looks.wheeled import plain_look


def omni_look(robot: Any) -> Look:
    """As a robot without wheels looks, and wheels with rollers under it."""
    drive, plain = robot.drive, plain_look(robot)
    wheel = min(drive.wheel_radius, 0.4 * robot.height)
    roll, pitch, _ = ON_ITS_SIDE
    wheels: list[Shape] = []
    for angle, direction in zip(drive.angles, drive.directions or [angle + 0.5 * pi for angle in drive.angles], strict=True):
        tyre = Drum(wheel, -0.18 * wheel, 0.18 * wheel, 12, turn=(roll, pitch, direction), colour=RUBBER)
        tyre = tyre.moved(drive.distance * cos(angle), drive.distance * sin(angle), wheel)
        wheels += [tyre, replace(tyre, radius=0.6 * wheel, low=-0.24 * wheel, high=0.24 * wheel, colour=METAL)]
    return replace(plain, shapes=(*wheels, *plain.shapes))


__all__ = ["omni_look"]
