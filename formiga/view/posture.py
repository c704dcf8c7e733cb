"""Where each part of a robot is: the row of its body if it has one, else rigidly with the part that carries it."""

from __future__ import annotations

import numpy as np

from formiga.geometry import rotate
from formiga.state import Floats
from formiga.view.bodies import Look
from formiga.view.frame import CHASSIS, Frame, rows_of


def posture(frame: Frame, looks: Look, robots: slice, part: str) -> Floats:
    """Poses (n, 7), x y z and a quaternion w x y z, of a part of these robots, which all look alike."""
    if frame.bodies is not None and part != CHASSIS:
        rows = rows_of(frame.parts, part)[robots]
        if len(rows) == robots.stop - robots.start and (rows >= 0).all():
            return frame.bodies[rows]
    if part == CHASSIS:
        return np.column_stack([frame.place[robots], frame.turn[robots]])
    carrier, where = looks.rest.get(part, (CHASSIS, (0.0, 0.0, 0.0)))
    pose = posture(frame, looks, robots, carrier)
    pose[:, :3] += rotate(pose[:, 3:], np.array(where))
    return pose


__all__ = ["posture"]
