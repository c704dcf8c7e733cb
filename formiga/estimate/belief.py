"""What a locating estimator believes, as columns: x y heading, the covariance of x and y, and the variance of the heading.

    belief = belief_of(pose, covariance)        # (..., 3), (..., 3, 3) -> (..., 7)
    draw_belief(pen, belief)                    # the pose and its ellipse

An estimator with `locates = True` returns rows (W, n, 7) like these, or poses (W, n, 3) alone. Then the inspector shows the
belief beside the truth, and the measure `location_error` knows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.drawing import Pen
from formiga.geometry import wrap
from formiga.state import Floats
from formiga.world.model import Group

POSE = slice(0, 3)
XX, XY, YY, TURN = 3, 4, 5, 6      # columns of variances, in m^2 and rad^2
COLUMNS = 7


def belief_of(pose: Any, covariance: Any) -> Floats:
    """Rows (..., 7) of poses (..., 3) with covariances (..., 3, 3)."""
    pose, spread = np.asarray(pose, np.float64), np.asarray(covariance, np.float64)
    known = np.stack([spread[..., 0, 0], spread[..., 0, 1], spread[..., 1, 1], spread[..., 2, 2]], axis=-1)
    return np.concatenate([pose, known], axis=-1)


def covariance_of(belief: Any) -> Floats:
    """Covariances (..., 3, 3) of rows (..., 7); that of the heading with the place is not among them, and 0."""
    belief = np.asarray(belief, np.float64)
    out = np.zeros((*belief.shape[:-1], 3, 3))
    out[..., 0, 0], out[..., 1, 1], out[..., 2, 2] = belief[..., XX], belief[..., YY], belief[..., TURN]
    out[..., 0, 1] = out[..., 1, 0] = belief[..., XY]
    return out


def errors(belief: Any, position: Any, heading: Any) -> tuple[Floats, Floats]:
    """How far (...) rows (..., 3 or 7) are from true places (..., 2), m, and headings (...), rad."""
    belief = np.asarray(belief, np.float64)
    return np.hypot(*np.moveaxis(belief[..., :2] - position, -1, 0)), np.abs(wrap(belief[..., 2] - heading))


def located(group: Group, readings: dict[str, Any], position: Any, heading: Any) -> dict[str, tuple[Floats, Floats]]:
    """Name -> `errors` of the beliefs of a group's locating estimators, from readings of robots at these true poses."""
    return {each.name: errors(readings[each.name], position, heading) for each in group.estimators
            if each.locates and each.name in readings}


def draw_belief(pen: Pen, belief: Any) -> None:
    """The poses of rows (1, n, 7), each with the ellipse that holds 95 %."""
    pen.pose(belief[..., POSE], covariance_of(belief))


__all__ = ["COLUMNS", "POSE", "TURN", "XX", "XY", "YY", "belief_of", "covariance_of", "draw_belief", "errors",
           "located"]
