"""Beams against bodies of any outline: how far is it from each sensor along its beam."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from formiga.engine.above.beams import start_within
from formiga.engine.fixed import near_cell
from formiga.engine.planar.impulse.advance import load, stand
from formiga.engine.planar.impulse.bodies import COS, HEADING, REACH, SIN, X, Y
from formiga.engine.planar.impulse.parts import CX, CY, NX, NY
from formiga.geometry import crossing
from formiga.kernels import kernel


@kernel(inner=True)
def along_disc(ox, oy, ux, uy, cx, cy, radius):
    """Distance along a beam to a disc; 0 from inside, infinity if it is missed."""
    gx, gy = cx - ox, cy - oy
    inside = radius * radius - gx * gx - gy * gy
    if inside >= 0.0:
        return 0.0
    along = gx * ux + gy * uy
    square = along * along + inside
    return along - sqrt(square) if along > 0.0 and square >= 0.0 else np.inf


@kernel(inner=True)
def along_part(ox, oy, ux, uy, p, corners):
    """Distance along a beam to a part; 0 from inside, infinity if it is missed."""
    at, first, last = corners.corner, corners.first[p], corners.first[p + 1]
    if last - first == 1:
        return along_disc(ox, oy, ux, uy, at[first, CX], at[first, CY], corners.radius[p])
    nearest, outside = np.inf, last - first == 2  # nobody is inside a wall
    for i in range(first, last):
        ax, ay = at[i, CX], at[i, CY]
        after = i + 1 if i + 1 < last else first
        outside = outside or at[i, NX] * (ox - ax) + at[i, NY] * (oy - ay) > 0.0
        t, r = crossing(ax - ox, ay - oy, ux, uy, at[after, CX] - ax, at[after, CY] - ay)
        if t >= 0.0 and 0.0 <= r <= 1.0:
            nearest = min(nearest, t)
    return nearest if outside else 0.0


@kernel()
def cast_bodies(position, heading, velocity, movables, first, last, near, ox, oy, ux, uy, far, reach, bodies, room, out):
    """Distances out (W, n, B) of robots first..last along their beams; infinity where nothing is within reach.

    (ox, oy), (ux, uy): where each beam starts and points, in the robot's frame; far: no point of a beam is further from the
    robot's centre. A beam that starts inside something is at distance 0.
    """
    moving, fact, first_part, P = room.moving, bodies.fact, bodies.first_part, bodies.radius.shape[0]
    count = moving.shape[0]
    for w in range(position.shape[0]):
        load(w, position, heading, velocity, movables, bodies, room)
        for b in range(count):
            moving[b, COS], moving[b, SIN] = cos(moving[b, HEADING]), sin(moving[b, HEADING])
            stand(b, bodies, room)
        for i in range(first, last):
            x, y, c, s = moving[i, X], moving[i, Y], moving[i, COS], moving[i, SIN]
            mine = out[w, i - first]
            mine[:] = np.inf
            for b in range(count):
                dx, dy, near_by = moving[b, X] - x, moving[b, Y] - y, far + fact[b, REACH]
                if b == i or dx * dx + dy * dy > near_by * near_by:
                    continue
                for p in range(first_part[b], first_part[b + 1]):
                    try_beams(x, y, c, s, ox, oy, ux, uy, p, room.corners, mine)
            cell = near_cell(x, y, near)
            for n in range(near.start[cell], near.start[cell + 1]):
                try_beams(x, y, c, s, ox, oy, ux, uy, P + near.items[n], room.corners, mine)
            cell = near_cell(x, y, near.solids)
            for n in range(near.solids.start[cell], near.solids.start[cell + 1]):
                start_within(x, y, c, s, ox, oy, near.solids.items[n], near.solids, mine)
            for k in range(mine.shape[0]):
                if mine[k] >= reach:
                    mine[k] = np.inf


@kernel(inner=True)
def try_beams(x, y, c, s, ox, oy, ux, uy, p, corners, mine):
    """All beams of one robot against one part."""
    for k in range(ux.shape[0]):
        away = along_part(x + c * ox[k] - s * oy[k], y + s * ox[k] + c * oy[k], c * ux[k] - s * uy[k], s * ux[k] + c * uy[k], p,
                          corners)
        mine[k] = min(mine[k], away)
