"""Geometry of the plane and of space: the relations that more than one file needs, each written once.

    plane.py       points, segments and discs, and the arc of a robot on two wheels; compiled, in scalars
    rotations.py   quaternions w x y z and poses in space; numpy over any leading axes, and compiled functions for kernels
"""

from formiga.geometry.plane import (
    TINY,
    arc,
    cross,
    crossing,
    direction,
    enters_capsule,
    enters_disc,
    lattice_index,
    nearest_on_segment,
    passes_disc,
)
from formiga.geometry.rotations import (
    IDENTITY,
    PLACE,
    TURN,
    about,
    about_z,
    between,
    conjugate,
    from_euler,
    matrix,
    multiply,
    normalized,
    relative,
    rotate,
    rotate_back,
    rotated,
    to_body,
    to_euler,
    to_world,
    up_axis,
    wrap,
    wrapped,
    yaw,
    yaw_of,
)

__all__ = ["IDENTITY", "PLACE", "TINY", "TURN", "about", "about_z", "arc", "between", "conjugate", "cross", "crossing",
           "direction", "enters_capsule", "enters_disc", "from_euler", "lattice_index", "matrix", "multiply",
           "nearest_on_segment", "normalized", "passes_disc", "relative", "rotate", "rotate_back", "rotated", "to_body",
           "to_euler", "to_world", "up_axis", "wrap", "wrapped", "yaw", "yaw_of"]
