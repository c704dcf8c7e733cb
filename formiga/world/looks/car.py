"""The look of a car: a body on four wheels, a cabin with a windscreen."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.world.looks import LENS, METAL, ON_ITS_SIDE, RUBBER, SLATE, WHITE, Drum, Ellipsoid, Look, Prism, Shape, Vector
from formiga.world.looks.outlines import circle, counter_clockwise
from formiga.world.looks.wheeled import ring


def car_look(robot: Any) -> Look:
    """The body is the outline that others meet; the wheels stand under its sides, on both axles."""
    outline, h = counter_clockwise(robot.outline or circle(robot.radius, 32)), robot.height
    (x0, y0), (x1, y1) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
    long, wide, middle = x1 - x0, y1 - y0, 0.5 * (x0 + x1)
    wheel, tread = min(robot.wheel_radius, 0.45 * h), 0.14 * wide
    sill, deck = 0.6 * wheel, 0.62 * h
    cabin = [(middle + 0.18 * long, 0.38 * wide), (middle - 0.30 * long, 0.38 * wide), (middle - 0.30 * long, -0.38 * wide),
             (middle + 0.18 * long, -0.38 * wide)]
    screen = [(middle + 0.15 * long, 0.32 * wide), (middle + 0.06 * long, 0.32 * wide), (middle + 0.06 * long, -0.32 * wide),
              (middle + 0.15 * long, -0.32 * wide)]
    arrow = [(x1 - 0.05 * long, 0.0), (x1 - 0.15 * long, 0.14 * wide), (x1 - 0.15 * long, -0.14 * wide)]
    lights = tuple((x + middle - 0.1 * long, y, z) for x, y, z in ring(robot.leds, 0.2 * wide, 1.01 * h))  # on the roof
    shapes: list[Shape] = [Prism(outline, sill, deck, 0.06 * wide), Prism(cabin, deck - 0.001, h, 0.08 * wide, colour=SLATE),
                           Prism(screen, h - 0.001, 1.01 * h, colour=LENS),
                           Prism(arrow, deck - 0.001, deck + 0.02 * h, colour=WHITE), *_bulbs(lights, 0.03 * wide)]
    for x in (0.0, min(robot.length, x1 - wheel)):            # the rear axle is the robot's own point
        for y, outside in ((y1 - 0.5 * tread, 1.0), (y0 + 0.5 * tread, -1.0)):
            tyre = Drum(wheel, -0.5 * tread, 0.5 * tread, 20, turn=ON_ITS_SIDE, colour=RUBBER)
            hub = Drum(0.5 * wheel, 0.0, 0.02 * tread, 12, turn=ON_ITS_SIDE, colour=METAL).moved(y=0.5 * tread)
            shapes += [tyre.moved(x, y, wheel), hub.moved(yaw=0.0 if outside > 0.0 else np.pi).moved(x, y, wheel)]
    return Look(tuple(shapes), lights=lights, light_size=0.06 * wide)


def _bulbs(lights: tuple[Vector, ...], radius: float) -> list[Shape]:
    return [Ellipsoid((radius, radius, 0.5 * radius), place=place, colour=LENS) for place in lights]


__all__ = ["car_look"]
