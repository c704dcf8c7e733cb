"""Beams that differ from robot to robot: each is turned by an angle of its own, such as one that moves inside a cone."""

from __future__ import annotations

from math import cos, sin

from formiga.engine.above.beams import cast_world
from formiga.engine.above.cells import fill_world
from formiga.engine.above.outlines import cast_standing, stand_world
from formiga.engine.above.walk import walk_fixed, walk_robots
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
def walk_own(position, heading, first, last, radius, widest, shapes, walk, cells, ox, oy, ux, uy, turn, far, reach, work, out):
    """The same with beams that walk: see `walk.py`."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        for i in range(first, last):
            x, y, c, s, mine = position[w, i, 0], position[w, i, 1], cos(heading[w, i]), sin(heading[w, i]), out[w, i - first]
            turn_beams(ux, uy, turn[w, i - first], work[0], work[1])
            walk_fixed(x, y, c, s, shapes, walk, ox, oy, work[0], work[1], far, reach, mine)
            if position.shape[1] > 1:
                walk_robots(w, i, x, y, c, s, radius, widest, cells, ox, oy, work[0], work[1], far, reach, mine)


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
