"""The look of the cube of robot soccer."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from formiga.world.looks import GRAPHITE, METAL, ON_ITS_SIDE, RUBBER, SLATE, SPOT, WHITE, Drum, Look, Prism
from formiga.world.looks.outlines import circle, counter_clockwise, cut, front, half_width, offset, rectangle
from formiga.world.looks.wheeled import lenses, ring


def mirosot_look(robot: Any) -> Look:
    """A cube with bevelled edges, a wheel in each side; on top a patch in the colour of the team, a spot that tells the
    robots of a team apart, and a white stroke at the front.
    """
    outline, h = counter_clockwise(robot.outline or circle(robot.side / 2, 32)), robot.height
    size = 0.5 * float(min(np.ptp(outline, axis=0)))        # half the side of a square
    wide = half_width(outline)
    wheel, tread = min(robot.wheel_radius, 0.42 * h), 0.2 * size
    deck, bevel = 2.0 * wheel + 0.03 * h, 0.07 * size
    left = [shape.moved(y=wide - 1.1 * tread, z=wheel) for shape in (
        Drum(wheel, 0.0, tread, 20, 0.1 * wheel, turn=ON_ITS_SIDE, colour=RUBBER),
        Drum(0.55 * wheel, tread - 0.001, 1.04 * tread, 20, turn=ON_ITS_SIDE, colour=METAL))]
    under = _between_wheels(outline, wheel + 0.1 * size, wide - 1.3 * tread)
    spot = circle(0.30 * size, 24) - (0.36 * size, 0.0)
    stroke = rectangle(0.16 * size, 0.8 * size) + (front(outline) - 0.34 * size, 0.0)
    lights = ring(robot.leds, robot.radius, 0.8 * h)
    return Look((*left, *(shape.moved(yaw=pi) for shape in left),
                 *(Prism(part, 0.06 * h, deck + 0.001, colour=GRAPHITE) for part in under),
                 Prism(outline, deck, h, bevel, colour=SLATE), Prism(stroke, h, 1.028 * h, colour=WHITE),
                 *lenses(lights, 0.1 * size), Prism(offset(outline, -0.16 * size), h - 0.001, 1.015 * h),
                 Prism(spot, h, 1.03 * h, colour=SPOT)), lights=lights, light_size=0.12 * size)


def _between_wheels(outline: np.ndarray, half: float, side: float) -> list[np.ndarray]:
    """What is left of an outline beside two wheels at its middle: ahead of them, behind them, and between them."""
    middle = np.array([(half, -side), (half, side), (-half, side), (-half, -side)]) if side > 0.0 else np.empty((0, 2))
    return [part for part in (cut(outline, half), -cut(-outline, half), middle) if len(part) > 2]


__all__ = ["mirosot_look"]
