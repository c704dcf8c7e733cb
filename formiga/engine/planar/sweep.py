"""Nothing passes through anything, however fast: a moving disc against what stands still, and against other discs.

Ending inside the clearance of something is not passing through: that is resolved later (`contact.py`), and lets robots
slide along walls. Only where the body itself would have gone through, or its centre would end behind a wall, the robot
stops where its collision circle first touches.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from formiga.engine.fixed import near_cell
from formiga.engine.planar.cells import fill_world
from formiga.geometry import enters_capsule, enters_disc, lattice_index, nearest_on_segment, passes_disc, segments_cross
from formiga.kernels import kernel

TOUCH = 1e-8           # m; less overlap than this is contact, not interpenetration
NOTHING = 1e-9         # m; shorter than this is nothing: no direction, no distance


@kernel()
def free_part(x0, y0, x1, y1, r, rs, shapes, near):
    """How much of the way from 0 to 1 (a fraction) a disc may go before it would pass through something fixed.

    r: of the body, rs: of its collision circle.
    """
    dx, dy = x1 - x0, y1 - y0
    way = sqrt(dx * dx + dy * dy)
    body = r - 2.0 * TOUCH  # who rests against something does not pass through it
    best = 1.0
    cell = near_cell(x1, y1, near)
    for n in range(near.start[cell], near.start[cell + 1]):
        k = near.items[n]
        ax, ay, bx, by, keep = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4]
        qx, qy = nearest_on_segment(x1, y1, ax, ay, bx, by)
        gap = sqrt((qx - x1) ** 2 + (qy - y1) ** 2) - keep
        if gap - way >= r:
            continue
        if keep > 0.0:
            behind = (x1 - ax) * (x0 - ax) + (y1 - ay) * (y0 - ay) <= 0.0
            through = (behind or gap >= rs) and passes_disc(x0, y0, dx, dy, ax, ay, keep + body)
        else:
            through = gap < NOTHING or segments_cross(x0, y0, x1, y1, ax, ay, bx, by)
            if not through and gap >= rs:  # past the end of a wall
                through = passes_disc(x0, y0, dx, dy, ax, ay, body) or passes_disc(x0, y0, dx, dy, bx, by, body)
        if through:
            qx, qy = nearest_on_segment(x0, y0, ax, ay, bx, by)
            if (qx - x0) ** 2 + (qy - y0) ** 2 <= (keep + rs + TOUCH) ** 2:
                return 0.0  # touching, or inside the clearance already: do not go at all
            t = enters_capsule(x0, y0, dx, dy, ax, ay, bx, by, keep + rs)
            best = min(best, t if t <= 1.0 else 0.0)
    return best


@kernel()
def sweep_world(w, position, before, radius, safety, longest, shapes, near, cells, swept):
    """Take back motion that would have carried a body through a fixed thing or through another robot.

    `longest` bounds one robot's motion in a step. Robots that would pass through each other stop where they first
    touch. Who was stopped is marked in swept (N,).
    """
    N = position.shape[1]
    spare, widest = np.inf, 0.0
    for i in range(N):
        spare = min(spare, safety[i] - radius[i], radius[i])
        widest = max(widest, radius[i])
    if longest <= spare:  # a body cannot meet anything in one step without ending inside a clearance, on its own side
        return
    if shapes.shape[0] > 0:
        for i in range(N):
            x0, y0, x1, y1 = before[w, i, 0], before[w, i, 1], position[w, i, 0], position[w, i, 1]
            t = free_part(x0, y0, x1, y1, radius[i], safety[i], shapes, near)
            if t < 1.0:
                swept[i] = True
                position[w, i, 0], position[w, i, 1] = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
    fill_world(w, position, cells)
    range_ = 2.0 * widest + 2.0 * longest
    inverse = 1.0 / cells.size
    share = np.ones(N)  # of its way that each robot may go
    clipped = False
    for n in range(N):
        i = cells.order[w, n]
        x, y = cells.x[w, n], cells.y[w, n]
        c0 = lattice_index((x - range_ - cells.x0) * inverse, cells.columns)
        c1 = lattice_index((x + range_ - cells.x0) * inverse, cells.columns)
        r0 = lattice_index((y - cells.y0) * inverse, cells.rows)
        r1 = lattice_index((y + range_ - cells.y0) * inverse, cells.rows)
        for r in range(r0, r1 + 1):
            begin = cells.start[w, r * cells.columns + c0]
            if r == r0:
                begin = n + 1  # each pair once
            for m in range(begin, cells.start[w, r * cells.columns + c1 + 1]):
                gx, gy = cells.x[w, m] - x, cells.y[w, m] - y
                square = gx * gx + gy * gy
                if square > range_ * range_:
                    continue
                j = cells.order[w, m]
                keep = safety[i] + safety[j]
                px, py = before[w, j, 0] - before[w, i, 0], before[w, j, 1] - before[w, i, 1]
                if square < keep * keep and gx * px + gy * py > 0.0:
                    continue  # they end overlapping on their own sides: resolved later
                dx, dy = gx - px, gy - py
                if passes_disc(px, py, dx, dy, 0.0, 0.0, radius[i] + radius[j] - 2.0 * TOUCH):
                    t = enters_disc(px, py, dx, dy, 0.0, 0.0, keep)
                    t = t if t <= 1.0 else 0.0
                    share[i], share[j], clipped = min(share[i], t), min(share[j], t), True
    if clipped:
        for i in range(N):
            if share[i] < 1.0:
                swept[i] = True
                x0, y0 = before[w, i, 0], before[w, i, 1]
                position[w, i, 0] = x0 + share[i] * (position[w, i, 0] - x0)
                position[w, i, 1] = y0 + share[i] * (position[w, i, 1] - y0)
