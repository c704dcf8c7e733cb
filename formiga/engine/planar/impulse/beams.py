"""Beams against bodies of any outline: how far is it from each sensor along its beam."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from formiga.engine.fixed import near_cell
from formiga.engine.planar.impulse.advance import load, stand
from formiga.geometry import crossing
from formiga.kernels import kernel


@kernel()
def along_disc(ox, oy, ux, uy, cx, cy, radius):
    """Distance along a beam to a disc; 0 from inside, infinity if it is missed."""
    gx, gy = cx - ox, cy - oy
    inside = radius * radius - gx * gx - gy * gy
    if inside >= 0.0:
        return 0.0
    along = gx * ux + gy * uy
    square = along * along + inside
    return along - sqrt(square) if along > 0.0 and square >= 0.0 else np.inf


@kernel()
def along_part(ox, oy, ux, uy, p, corners):
    """Distance along a beam to a part; 0 from inside, infinity if it is missed."""
    first, last = corners.first[p], corners.first[p + 1]
    if last - first == 1:
        return along_disc(ox, oy, ux, uy, corners.x[first], corners.y[first], corners.radius[p])
    nearest, outside = np.inf, last - first == 2  # nobody is inside a wall
    for i in range(first, last):
        ax, ay = corners.x[i], corners.y[i]
        after = i + 1 if i + 1 < last else first
        outside = outside or corners.nx[i] * (ox - ax) + corners.ny[i] * (oy - ay) > 0.0
        t, r = crossing(ax - ox, ay - oy, ux, uy, corners.x[after] - ax, corners.y[after] - ay)
        if t >= 0.0 and 0.0 <= r <= 1.0:
            nearest = min(nearest, t)
    return nearest if outside else 0.0


@kernel()
def cast_bodies(position, heading, motion, loose, first, last, near, ox, oy, ux, uy, far, reach, bodies, room, out):
    """Distances out (W, n, B) of robots first..last along their beams; infinity where nothing is within reach.

    (ox, oy), (ux, uy): where each beam starts and points, in the robot's frame; far: no point of a beam is further from the
    robot's centre. A beam that starts inside something is at distance 0.
    """
    pose, count, P = room.pose, bodies.kind.shape[0], bodies.radius.shape[0]
    for w in range(position.shape[0]):
        load(w, position, heading, motion, loose, bodies, room)
        for b in range(count):
            pose[b, 3], pose[b, 4] = cos(pose[b, 2]), sin(pose[b, 2])
            stand(b, bodies, room)
        for i in range(first, last):
            x, y, c, s = pose[i, 0], pose[i, 1], pose[i, 3], pose[i, 4]
            mine = out[w, i - first]
            mine[:] = np.inf
            for b in range(count):
                dx, dy, near_by = pose[b, 0] - x, pose[b, 1] - y, far + bodies.reach[b]
                if b == i or dx * dx + dy * dy > near_by * near_by:
                    continue
                for p in range(bodies.first_part[b], bodies.first_part[b + 1]):
                    try_beams(x, y, c, s, ox, oy, ux, uy, p, room.corners, mine)
            cell = near_cell(x, y, near)
            for n in range(near.start[cell], near.start[cell + 1]):
                try_beams(x, y, c, s, ox, oy, ux, uy, P + near.items[n], room.corners, mine)
            for k in range(mine.shape[0]):
                if mine[k] >= reach:
                    mine[k] = np.inf


@kernel()
def try_beams(x, y, c, s, ox, oy, ux, uy, p, corners, mine):
    """All beams of one robot against one part."""
    for k in range(ux.shape[0]):
        away = along_part(x + c * ox[k] - s * oy[k], y + s * ox[k] + c * oy[k], c * ux[k] - s * uy[k], s * ux[k] + c * uy[k], p,
                          corners)
        mine[k] = min(mine[k], away)
