"""Beams that differ from robot to robot: each is turned by an angle of its own, such as one that moves inside a cone."""

from __future__ import annotations

from math import cos, sin

from formiga.engine.above.beams import cast_world
from formiga.engine.above.cells import fill_world
from formiga.engine.above.outlines import cast_standing, stand_world
from formiga.kernels import kernel


@kernel()
def cast_own(position, heading, first, last, radius, widest, shapes, sight, cells, ox, oy, ux, uy, turn, far, reach, work, out):
    """Distances out (W, n, B) of robots first..last along beams turned by turn (W, n, B); work: for (3, B) numbers."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        for i in range(first, last):
            n = i - first
            turn_beams(ux, uy, turn[w, n], work[0], work[1])
            cast_world(w, position, heading, i, i + 1, radius, widest, shapes, sight, cells, ox, oy, work[0], work[1], far,
                       reach, work[2], out[:, n:n + 1])


@kernel()
def cast_own_outlines(position, heading, movables, first, last, sight, ox, oy, ux, uy, turn, far, reach, outlines, stand, work,
                      out):
    """The same among bodies of any outline."""
    for w in range(position.shape[0]):
        stand_world(w, position, heading, movables, outlines, stand)
        for i in range(first, last):
            turn_beams(ux, uy, turn[w, i - first], work[0], work[1])
            cast_standing(i, sight, ox, oy, work[0], work[1], far, reach, outlines, stand, out[w, i - first])


@kernel()
def turn_beams(ux, uy, turn, vx, vy):
    """Directions u (B,) turned counter-clockwise by turn (B,), into v."""
    for b in range(ux.shape[0]):
        c, s = cos(turn[b]), sin(turn[b])
        vx[b], vy[b] = c * ux[b] - s * uy[b], s * ux[b] + c * uy[b]
