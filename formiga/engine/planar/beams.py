"""Beams against everything: how far is it from each sensor along its beam.

A robot near nothing costs one look into its cells. For a thing that is near, the thing is turned into the robot's
frame, where all beams are constants, and each beam is tried against it.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from formiga.engine.fixed import near_cell
from formiga.engine.planar.cells import fill_world
from formiga.geometry import crossing, lattice_index, nearest_on_segment
from formiga.kernels import kernel


@kernel()
def cast_world(w, position, heading, first, last, radius, widest, shapes, near, cells, origin, direction, far,
               reach, out):
    """Distances (n, B) of robots first..last of world w along their beams; infinity where nothing is within reach.

    origin, direction: (B, 2) in the robot's frame; far: no point of a beam is further from the robot's centre;
    widest: the largest radius of any robot. A beam that starts inside something is at distance 0.
    """
    B = origin.shape[0]
    cell_start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    cell_inverse = 1.0 / cells.size
    for i in range(first, last):
        x, y = position[w, i, 0], position[w, i, 1]
        row = i - first
        for b in range(B):
            out[w, row, b] = np.inf
        turned = False  # sine and cosine only for who has something near
        c, s = 1.0, 0.0

        cell = near_cell(x, y, near)
        for n in range(near.start[cell], near.start[cell + 1]):
            k = near.items[n]
            ax, ay, bx, by, r = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4]
            qx, qy = nearest_on_segment(x, y, ax, ay, bx, by)
            if (qx - x) * (qx - x) + (qy - y) * (qy - y) > (far + r) * (far + r):
                continue
            if not turned:
                c, s, turned = cos(heading[w, i]), sin(heading[w, i]), True
            gx, gy = c * (ax - x) + s * (ay - y), c * (ay - y) - s * (ax - x)
            if r > 0.0:
                meet_disc(w, row, gx, gy, r, origin, direction, reach, out)
            else:
                ex, ey = c * (bx - ax) + s * (by - ay), c * (by - ay) - s * (bx - ax)
                meet_segment(w, row, gx, gy, ex, ey, origin, direction, reach, out)

        range_ = far + widest
        c0 = lattice_index((x - range_ - cells.x0) * cell_inverse, cells.columns)
        c1 = lattice_index((x + range_ - cells.x0) * cell_inverse, cells.columns)
        r0 = lattice_index((y - range_ - cells.y0) * cell_inverse, cells.rows)
        r1 = lattice_index((y + range_ - cells.y0) * cell_inverse, cells.rows)
        for r in range(r0, r1 + 1):
            for n in range(cell_start[w, r * cells.columns + c0], cell_start[w, r * cells.columns + c1 + 1]):
                dx, dy = sx[w, n] - x, sy[w, n] - y
                square = dx * dx + dy * dy
                if square > range_ * range_:
                    continue
                j = order[w, n]
                if j == i or square > (far + radius[j]) * (far + radius[j]):
                    continue
                if not turned:
                    c, s, turned = cos(heading[w, i]), sin(heading[w, i]), True
                meet_disc(w, row, c * dx + s * dy, c * dy - s * dx, radius[j], origin, direction, reach, out)


@kernel()
def meet_disc(w, row, dx, dy, r, origin, direction, reach, out):
    """Shorten the beams that meet a disc at (dx, dy) in the robot's frame.

        along = d . u, across = d x u;  t = along - sqrt(r^2 - across^2)
    The draft goes through the angle between beam and centre; this is the same distance. [Swarmod draft, section IV]
    """
    for b in range(origin.shape[0]):
        gx, gy = dx - origin[b, 0], dy - origin[b, 1]
        across = gx * direction[b, 1] - gy * direction[b, 0]
        square = r * r - across * across
        if square < 0.0:
            continue
        along = gx * direction[b, 0] + gy * direction[b, 1]
        half = sqrt(square)
        if along + half < 0.0:  # behind the sensor
            continue
        t = max(0.0, along - half)
        if t <= reach and t < out[w, row, b]:
            out[w, row, b] = t


@kernel()
def meet_segment(w, row, ax, ay, ex, ey, origin, direction, reach, out):
    """Shorten the beams that meet the segment from a to a + e in the robot's frame."""
    for b in range(origin.shape[0]):
        t, along_wall = crossing(ax - origin[b, 0], ay - origin[b, 1], direction[b, 0], direction[b, 1], ex, ey)
        if 0.0 <= t <= reach and t < out[w, row, b] and 0.0 <= along_wall <= 1.0:
            out[w, row, b] = t


@kernel()
def cast_all(position, heading, first, last, radius, widest, shapes, near, cells, origin, direction, far, reach,
             out):
    """`cast_world` for every world."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        cast_world(w, position, heading, first, last, radius, widest, shapes, near, cells, origin, direction,
                   far, reach, out)
