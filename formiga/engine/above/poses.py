"""Beams from any pose, true or believed: what a robot would see if it stood there and nothing moved.

They meet walls and obstacles, not robots. From the true pose of a robot that has no other near they are what `cast` gives, bit
for bit.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np

from formiga.engine.above.beams import cast_world
from formiga.engine.above.outlines import try_fixed
from formiga.engine.above.walk import walk_fixed
from formiga.kernels import kernel


@kernel()
def cast_poses(position, heading, shapes, sight, cells, ox, oy, ux, uy, far, reach, nearest, out):
    """Distances out (W, P, B) from positions (W, P, 2) and headings (W, P); cells: lists without a robot in them."""
    for w in range(position.shape[0]):
        cast_world(w, position, heading, 0, position.shape[1], nearest, 0.0, shapes, sight, cells, ox, oy, ux, uy, far, reach,
                   nearest, out)


@kernel()
def walk_poses(position, heading, shapes, walk, ox, oy, ux, uy, far, reach, out):
    """The same with beams that walk: see `walk.py`."""
    for w in range(position.shape[0]):
        for p in range(position.shape[1]):
            x, y, c, s = position[w, p, 0], position[w, p, 1], cos(heading[w, p]), sin(heading[w, p])
            walk_fixed(x, y, c, s, shapes, walk, ox, oy, ux, uy, far, reach, out[w, p])


@kernel()
def outline_poses(position, heading, sight, ox, oy, ux, uy, reach, parts, corners, out):
    """The same in a world of bodies of any outline; corners: of `parts` parts of bodies, and then of what stands still."""
    for w in range(position.shape[0]):
        for p in range(position.shape[1]):
            x, y, c, s = position[w, p, 0], position[w, p, 1], cos(heading[w, p]), sin(heading[w, p])
            out[w, p, :] = np.inf
            try_fixed(x, y, c, s, sight, ox, oy, ux, uy, reach, parts, corners, out[w, p])
