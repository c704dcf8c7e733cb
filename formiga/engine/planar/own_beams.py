"""Beams that differ from robot to robot, such as those that move at random inside a cone."""

from __future__ import annotations

from formiga.engine.planar.beams import cast_world
from formiga.engine.planar.cells import fill_world
from formiga.engine.planar.impulse.beams import cast_bodies
from formiga.kernels import kernel


@kernel()
def cast_own(position, heading, first, last, radius, widest, shapes, near, cells, ox, oy, ux, uy, far, reach, nearest, out):
    """Distances out (W, n, B) of robots first..last, each along beams of its own: ox, oy, ux, uy are (W, n, B)."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        for i in range(first, last):
            n = i - first
            cast_world(w, position, heading, i, i + 1, radius, widest, shapes, near, cells, ox[w, n], oy[w, n], ux[w, n],
                       uy[w, n], far, reach, nearest, out[:, n:n + 1])


@kernel()
def cast_own_bodies(position, heading, motion, loose, first, last, near, ox, oy, ux, uy, far, reach, bodies, room, out):
    """The same among bodies of any outline."""
    for w in range(position.shape[0]):
        for i in range(first, last):
            n = i - first
            cast_bodies(position[w:w + 1], heading[w:w + 1], motion[w:w + 1], loose[w:w + 1], i, i + 1, near, ox[w, n],
                        oy[w, n], ux[w, n], uy[w, n], far, reach, bodies, room, out[w:w + 1, n:n + 1])
