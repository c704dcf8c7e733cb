"""The look of a robot that brings none of its own: a drum or its outline, its wheels, and an arrow on top that points ahead."""

from __future__ import annotations

from dataclasses import replace
from math import atan2, cos, pi, sin, tau
from typing import Any

from formiga.world.drives import Differential
from formiga.world.looks import (
    CHASSIS,
    GRAPHITE,
    LENS,
    METAL,
    ON_ITS_SIDE,
    RUBBER,
    WHITE,
    Drum,
    Lathe,
    Look,
    Mount,
    Prism,
    Shape,
    Vector,
)


def plain_look(robot: Any) -> Look:
    """Made of what every robot has: `radius` or `outline`, `height`, `leds`, and the wheels of a differential drive."""
    r, h, drive = robot.radius, robot.height, robot.drive
    wheel = min(drive.wheel_radius if isinstance(drive, Differential) else 0.3 * h, 0.45 * h)
    floor = min(1.1 * wheel, 0.4 * h)
    arrow = [(0.66 * r, 0.0), (-0.02 * r, 0.46 * r), (-0.02 * r, 0.17 * r), (-0.58 * r, 0.17 * r),
             (-0.58 * r, -0.17 * r), (-0.02 * r, -0.17 * r), (-0.02 * r, -0.46 * r)]
    narrow = 1.0 if robot.outline is None else _narrow(robot.outline) / r  # by which the round parts fit into an outline
    lights = ring(robot.leds, 0.995 * narrow * r, 0.5 * (floor + h) if robot.outline is None else h)
    hull = (Drum(0.80 * narrow * r, 0.35 * floor, floor, 16, colour=GRAPHITE),
            Prism([(narrow * x, narrow * y) for x, y in arrow], h - 0.001, h + 0.02 * h, colour=WHITE),
            *lenses(lights, 0.07 * r))
    body: Shape = Drum(r, floor, h, 28, 0.10 * r)
    if robot.outline is not None:
        body = Prism(robot.outline, floor, h, 0.10 * narrow * r)
    if not isinstance(drive, Differential):
        return Look((*hull, body), lights=lights, light_size=0.12 * r)
    base = min(drive.wheel_base, 1.8 * r)
    tread = min(0.22 * r, max(0.06 * r, 2.0 * (r - 0.5 * base)))
    rolling = Drum(wheel, -0.5 * tread, 0.5 * tread, 14, turn=ON_ITS_SIDE, colour=RUBBER).moved(z=wheel)
    return Look((*hull, *wheels(drive), body), wheel_mounts(drive), lights=lights, light_size=0.12 * r,
                flat=(rolling.moved(y=0.5 * base), rolling.moved(y=-0.5 * base), *hull, body))


def wheels(drive: Differential) -> tuple[Shape, ...]:
    """Both wheels, each around its middle: a tyre, and a hub with spokes outside, which show how it rolls."""
    radius, wide = drive.wheel_radius, 0.3 * drive.wheel_radius
    left: list[Shape] = [Drum(radius, -wide, wide, 24, 0.1 * radius, colour=RUBBER),
                         Drum(0.68 * radius, wide - 0.001, 1.02 * wide, 20, colour=GRAPHITE),
                         Drum(0.18 * radius, wide, 1.12 * wide, 10, colour=METAL)]
    spoke = [(0.1 * radius, -0.08 * radius), (0.6 * radius, -0.08 * radius), (0.6 * radius, 0.08 * radius),
             (0.1 * radius, 0.08 * radius)]
    for c, s in ((cos(k * tau / 3.0), sin(k * tau / 3.0)) for k in range(3)):
        left.append(Prism([(c * x - s * y, s * x + c * y) for x, y in spoke], wide, 1.08 * wide, colour=METAL))
    roll, pitch, _ = ON_ITS_SIDE
    return tuple(replace(shape, part=part, turn=(roll, pitch, yaw)) for part, yaw in (("left", 0.0), ("right", pi))
                 for shape in left)


def wheel_mounts(drive: Differential) -> dict[str, Mount]:
    """Where the middles of both wheels are."""
    half, up = 0.5 * drive.wheel_base, drive.wheel_radius
    return {"left": Mount(CHASSIS, (0.0, half, up)), "right": Mount(CHASSIS, (0.0, -half, up))}


def ring(count: int, radius: float, z: float) -> tuple[Vector, ...]:
    """Places of lights: evenly around, the first one half a step to the left of straight ahead."""
    around = [(k + 0.5) * tau / count for k in range(count)]
    return tuple((radius * cos(angle), radius * sin(angle), z) for angle in around)


def lenses(lights: tuple[Vector, ...], size: float) -> list[Shape]:
    """A small pyramid for each light, so that one that is off can be seen."""
    outwards = Lathe(((0.0, 0.0), (0.5 * size, 0.0), (0.0, 0.3 * size)), 4, turn=(0.5 * pi, 0.0, 0.5 * pi), colour=LENS)
    return [outwards.moved(x, y, z, atan2(y, x)) for x, y, z in lights]


def _narrow(outline: Any) -> float:
    """The radius of the largest circle around the origin that stays inside an outline, or nearly: by its edges' lines."""
    edges = zip(outline, (*outline[1:], outline[0]), strict=True)
    return min(abs(x0 * y1 - x1 * y0) / max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-12) for (x0, y0), (x1, y1) in edges)


__all__ = ["lenses", "plain_look", "ring", "wheel_mounts", "wheels"]
