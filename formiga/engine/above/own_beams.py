"""Beams that differ from robot to robot: each is turned by an angle of its own, such as one that moves inside a cone."""

from __future__ import annotations

from math import cos, sin

from formiga.engine.above.beams import cast_world
from formiga.engine.above.cells import fill_world
from formiga.engine.planar.impulse.beams import cast_bodies
from formiga.kernels import kernel


@kernel()
def cast_own(position, heading, first, last, radius, widest, shapes, near, cells, ox, oy, ux, uy, turn, far, reach, room, out):
    """Distances out (W, n, B) of robots first..last along beams turned by turn (W, n, B); room: for (3, B) numbers."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        for i in range(first, last):
            n = i - first
            turn_beams(ux, uy, turn[w, n], room[0], room[1])
            cast_world(w, position, heading, i, i + 1, radius, widest, shapes, near, cells, ox, oy, room[0], room[1], far,
                       reach, room[2], out[:, n:n + 1])


@kernel()
def cast_own_bodies(position, heading, velocity, movables, first, last, near, ox, oy, ux, uy, turn, far, reach, bodies, desk, room,
                    out):
    """The same among bodies of any outline; desk: working memory of the bodies."""
    for w in range(position.shape[0]):
        for i in range(first, last):
            n = i - first
            turn_beams(ux, uy, turn[w, n], room[0], room[1])
            cast_bodies(position[w:w + 1], heading[w:w + 1], velocity[w:w + 1], movables[w:w + 1], i, i + 1, near, ox, oy, room[0],
                        room[1], far, reach, bodies, desk, out[w:w + 1, n:n + 1])


@kernel()
def turn_beams(ux, uy, turn, vx, vy):
    """Directions u (B,) turned counter-clockwise by turn (B,), into v."""
    for b in range(ux.shape[0]):
        c, s = cos(turn[b]), sin(turn[b])
        vx[b], vy[b] = c * ux[b] - s * uy[b], s * ux[b] + c * uy[b]
