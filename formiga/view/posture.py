"""Where each part of a robot is: the pose of its body if it has one, else rigidly with the part that carries it."""

from __future__ import annotations

import numpy as np

from formiga.geometry import PLACE, TURN, rotate
from formiga.state import Floats
from formiga.view.frame import Frame, rows_of
from formiga.view.robots import RobotMeshes
from formiga.world.looks import CHASSIS, Mount


def posture(frame: Frame, meshes: RobotMeshes, robots: slice, part: str) -> Floats:
    """Poses (n, 7), x y z and a quaternion w x y z, of a part of these robots, which are all of one kind."""
    if frame.bodies is not None and part != CHASSIS:
        rows = rows_of(frame.parts, part)[robots]
        if len(rows) == robots.stop - robots.start and (rows >= 0).all():
            return frame.bodies[rows]
    if part == CHASSIS:
        return np.column_stack([frame.place[robots], frame.turn[robots]])
    carrier, place = meshes.mounts.get(part, Mount(CHASSIS))  # a robot without an arm has none to draw, but may hold something
    pose = posture(frame, meshes, robots, carrier)
    pose[:, PLACE] += rotate(pose[:, TURN], np.array(place))
    return pose


__all__ = ["posture"]
