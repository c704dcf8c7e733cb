"""The look of the s-bot: tracks, a turret with a ring of lights, a gripper, a camera on a mast."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.world.looks import (
    CHASSIS,
    GRAPHITE,
    METAL,
    ON_ITS_SIDE,
    RUBBER,
    SLATE,
    WHITE,
    Box,
    Drum,
    Lathe,
    Look,
    Mount,
    Prism,
    Shape,
)
from formiga.world.looks.outlines import circle
from formiga.world.looks.wheeled import lenses, ring, wheel_mounts, wheels


def sbot_look(robot: Any) -> Look:
    """Two treels (tracks with wheels outside), a turret that carries the ring of lights, a gripper, a camera on a mast.

    Proportions are taken from photographs of the robot; radius, height, wheel base and wheels are the element's own. In
    space the turret, the arm and the wheels move by themselves; in the plane hubs on the tracks and a still gripper stand
    for them.
    """
    r, h = robot.radius, robot.height
    foot, band, deck = 0.38 * h, 0.62 * h, 0.72 * h      # below the coloured ring, above it, and the top of the turret
    middle, wide = 0.60 * r, 0.34 * r                    # of a treel, so that its corners stay below the turret
    long = 0.62 * r - 0.18 * h
    track = np.concatenate([circle(0.18 * h, 14)[(np.arange(8) + 11) % 14] + (long, 0.0),
                            circle(0.18 * h, 14)[(np.arange(8) + 4) % 14] - (long, 0.0)])
    treel = Prism(track, 0.0, wide, turn=ON_ITS_SIDE, colour=RUBBER).moved(y=-0.5 * wide, z=0.18 * h)
    tracks = [treel.moved(y=middle), treel.moved(y=-middle)]
    inner = middle - 0.4 * wide
    hull = Box((1.1 * r, 2.0 * inner, foot - 0.08 * h), place=(0.0, 0.0, 0.5 * (foot + 0.08 * h)), colour=GRAPHITE)
    pointer = [(0.74 * r, 0.0), (0.30 * r, 0.22 * r), (0.30 * r, -0.22 * r)]
    top: list[Shape] = [Drum(0.78 * r, band - 0.002, deck, 18, 0.05 * r, colour=SLATE),
                        Prism(pointer, deck - 0.001, deck + 0.012 * h, colour=WHITE)]
    mast: list[Shape] = [Drum(0.10 * r, deck, 0.93 * h, 8, colour=SLATE).moved(x=-0.12 * r),
                         Lathe(((0.0, 0.90 * h), (0.16 * r, 0.92 * h), (0.16 * r, 0.97 * h), (0.0, h)), 8,
                               colour=METAL).moved(x=-0.12 * r)]
    lights = ring(robot.leds, 0.99 * r, 0.5 * (foot + band))
    paint = Drum(r, foot, band, 20, 0.10 * r)
    lamps = lenses(lights, 0.10 * r)
    turret = [Drum(0.5 * r, 0.3 * h, foot, 16, colour=GRAPHITE), *top, *mast, *lamps, paint]
    x, z = robot.arm_pivot
    return Look((*tracks, hull, *wheels(robot.drive), *_arm(robot), *(shape.on("turret") for shape in turret)),
                {"turret": Mount(CHASSIS), "arm": Mount("turret", (x, 0.0, z)), **wheel_mounts(robot.drive)},
                flat=(*tracks, *_hubs(robot, middle + 0.5 * wide, long), hull, *top, *_gripper(robot), *mast, *lamps, paint),
                lights=lights, light_size=0.17 * r, camera=(0.06 * r, 0.0, 1.05 * h), bearer="turret")


def _hubs(robot: Any, side: float, long: float) -> list[Shape]:
    """Of the wheels outside of the tracks, in the plane."""
    r, h = robot.radius, robot.height
    hub = Drum(0.1 * h, 0.0, 0.06 * r, 6, turn=ON_ITS_SIDE, colour=METAL).moved(z=0.18 * h)
    return [hub.moved(x=long, y=side), hub.moved(x=-long, y=-side, yaw=np.pi)]


def _gripper(robot: Any) -> list[Shape]:
    """A still one, in the plane."""
    r, h = robot.radius, robot.height
    jaw = [(0.92 * r, 0.10 * r), (1.10 * r, 0.22 * r), (1.30 * r, 0.16 * r), (1.34 * r, 0.05 * r), (1.20 * r, 0.09 * r)]
    return [Box((0.18 * r, 0.24 * r, 0.16 * h), place=(0.89 * r, 0.0, 0.5 * h), colour=GRAPHITE),
            Prism(jaw, 0.44 * h, 0.56 * h, colour=METAL), Prism([(x, -y) for x, y in jaw], 0.44 * h, 0.56 * h, colour=METAL)]


def _arm(robot: Any) -> list[Shape]:
    """Around its axis, along x: a beam over the ring, and outside of it two jaws that hang down as far as a ring is high.

    The gripper reaches from `rim` to `rim + long`.
    """
    r, h, long = robot.radius, robot.height, robot.grip_reach
    rim, up, down = r - robot.arm_pivot[0], 0.05 * h, robot.arm_pivot[1] - 0.42 * h
    jaw = [(rim + 0.1 * long, 0.06 * r), (rim + 0.35 * long, 0.24 * r), (rim + 0.85 * long, 0.2 * r), (rim + long, 0.08 * r),
           (rim + 0.75 * long, 0.11 * r)]
    beam = rim + 0.1 * long
    shapes: list[Shape] = [
        Drum(0.09 * r, -0.22 * r, 0.22 * r, 12, turn=ON_ITS_SIDE, colour=METAL),
        Box((beam, 0.20 * r, 2.0 * up), place=(0.5 * beam, 0.0, 0.0), colour=GRAPHITE),
        Box((0.25 * long, 0.32 * r, 1.3 * up + down), place=(rim + 0.175 * long, 0.0, 0.5 * (1.3 * up - down)), colour=SLATE),
        Prism(jaw, -down, up, colour=METAL), Prism([(x, -y) for x, y in jaw], -down, up, colour=METAL)]
    return [shape.on("arm") for shape in shapes]


__all__ = ["sbot_look"]
