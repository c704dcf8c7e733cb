"""Beams against everything: how far is it from each sensor along its beam.

A robot near nothing costs one look into its cells. A thing that is near is turned into the robot's frame, where all
beams are constants, and each beam is tried against it, without branches, so that the compiler makes vectors of it.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from formiga.engine.above.cells import around, fill_world
from formiga.engine.fixed import near_cell, within
from formiga.geometry import lattice_index, nearest_on_segment
from formiga.kernels import kernel

PARALLEL = 1e-9  # rad; a beam and a wall with a smaller angle between them do not meet: it would be rounding error


@kernel(inline="always")
def cast_world(w, position, heading, first, last, radius, widest, shapes, sight, cells, ox, oy, ux, uy, far, reach, nearest,
               out):
    """Distances (n, B) of robots first..last of world w along their beams; infinity where nothing is within reach.

    (ox, oy), (ux, uy): where each beam starts and points, in the robot's frame; far: no point of a beam is further from
    the robot's centre; widest: the largest radius of any robot; nearest: working memory, a number for each beam.
    There may be more beams than columns in out (W, n, B): those are not kept. A beam that starts inside something is at
    distance 0.
    """
    B = out.shape[2]
    near, solids = sight.near, sight.solids
    table_start, table_items, table_inverse = near.start, near.items, 1.0 / near.size
    cell_start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    for i in range(first, last):
        x, y = position[w, i, 0], position[w, i, 1]
        c, s, turned = 1.0, 0.0, False  # sine and cosine only where something is near

        cell = (lattice_index((y - near.y0) * table_inverse, near.rows) * near.columns
                + lattice_index((x - near.x0) * table_inverse, near.columns))
        for n in range(table_start[cell], table_start[cell + 1]):
            k = table_items[n]
            ax, ay, bx, by, r = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4]
            qx, qy = nearest_on_segment(x, y, ax, ay, bx, by)
            if (qx - x) * (qx - x) + (qy - y) * (qy - y) > (far + r) * (far + r):
                continue
            if not turned:
                c, s, turned = cos(heading[w, i]), sin(heading[w, i]), True
                nearest[:] = np.inf
            gx, gy = c * (ax - x) + s * (ay - y), c * (ay - y) - s * (ax - x)
            if r > 0.0:
                meet_disc(gx, gy, r, ox, oy, ux, uy, reach, nearest)
            else:
                ex, ey = c * (bx - ax) + s * (by - ay), c * (by - ay) - s * (bx - ax)
                meet_segment(gx, gy, ex, ey, ox, oy, ux, uy, reach, nearest)

        if solids.table.shape[0] > 0:
            cell = near_cell(x, y, solids)
            for n in range(solids.start[cell], solids.start[cell + 1]):
                k = solids.items[n]
                if (x + far < solids.table[k, 0] or y + far < solids.table[k, 1] or x - far > solids.table[k, 2]
                        or y - far > solids.table[k, 3]):
                    continue
                if not turned:
                    c, s, turned = cos(heading[w, i]), sin(heading[w, i]), True
                    nearest[:] = np.inf
                start_within(x, y, c, s, ox, oy, k, solids, nearest)

        range_ = far + widest
        c0, c1, r0, r1 = around(x, y, range_, cells)
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
                    nearest[:] = np.inf
                meet_disc(c * dx + s * dy, c * dy - s * dx, radius[j], ox, oy, ux, uy, reach, nearest)
        if turned:
            for b in range(B):
                out[w, i - first, b] = nearest[b]
        else:
            for b in range(B):
                out[w, i - first, b] = np.inf


@kernel()
def meet_disc(dx, dy, r, ox, oy, ux, uy, reach, nearest):
    """Shorten the beams that meet a disc at (dx, dy) in the robot's frame.

        along = d . u, across = d x u;  t = along - sqrt(r^2 - across^2)
    The draft goes through the angle between beam and centre; this is the same distance. [Swarmod draft, section IV]
    """
    for b in range(ux.shape[0]):
        gx, gy = dx - ox[b], dy - oy[b]
        across, along = gx * uy[b] - gy * ux[b], gx * ux[b] + gy * uy[b]
        square = r * r - across * across
        half = sqrt(max(0.0, square))
        t = max(0.0, along - half)
        meets = (square >= 0.0) & (along + half >= 0.0) & (t <= reach) & (t < nearest[b])
        nearest[b] = t if meets else nearest[b]


@kernel()
def start_within(x, y, c, s, ox, oy, k, solids, nearest):
    """Beams that start inside solid k end there."""
    for b in range(ox.shape[0]):
        if within(x + c * ox[b] - s * oy[b], y + s * ox[b] + c * oy[b], k, solids):
            nearest[b] = 0.0


@kernel()
def meet_segment(ax, ay, ex, ey, ox, oy, ux, uy, reach, nearest):
    """Shorten the beams that meet the segment from a to a + e in the robot's frame; see `geometry.crossing`."""
    least = PARALLEL * (abs(ex) + abs(ey))
    for b in range(ux.shape[0]):
        den = ux[b] * ey - uy[b] * ex  # near 0: parallel, and the fractions are not finite, or noise
        gx, gy = ax - ox[b], ay - oy[b]
        t, along = (gx * ey - gy * ex) / den, (gx * uy[b] - gy * ux[b]) / den
        meets = (t >= 0.0) & (t <= reach) & (t < nearest[b]) & (along >= 0.0) & (along <= 1.0) & (abs(den) > least)
        nearest[b] = t if meets else nearest[b]


@kernel()
def look_world(w, position, heading, first, last, radius, widest, shapes, sight, cells, ox, oy, ux, uy, far, reach, nearest,
               out):
    """`cast_world` with the cell list brought up to date first."""
    fill_world(w, position, cells)
    cast_world(w, position, heading, first, last, radius, widest, shapes, sight, cells, ox, oy, ux, uy, far, reach, nearest,
               out)


@kernel()
def cast_all(position, heading, first, last, radius, widest, shapes, sight, cells, ox, oy, ux, uy, far, reach, nearest, out):
    """`cast_world` for every world."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        cast_world(w, position, heading, first, last, radius, widest, shapes, sight, cells, ox, oy, ux, uy, far, reach,
                   nearest, out)
