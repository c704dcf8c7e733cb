"""Nothing passes through anything, however fast: a moving disc against what stands still, and against other discs.

Here a disc is a robot's body. Ending inside the clearance of something is not passing through it; that is resolved
later (`contact.py`).
"""

from __future__ import annotations

from math import sqrt

from formiga.engine.above.cells import around, fill_world, row_of
from formiga.engine.fixed import near_cell
from formiga.geometry import enters_capsule, enters_disc, nearest_on_segment, passes_disc
from formiga.kernels import kernel

TOUCH = 1e-8           # m; nearer than this is contact
NOTHING = 1e-9         # m; shorter than this is nothing: no direction, no distance
TURNS = 6              # times that a disc may change direction on its way along walls
ROUNDS = 40            # in which pairs of robots are stopped; after half of them they do not move at all


@kernel()
def first_touch(x, y, dx, dy, r, shapes, near):
    """(t, ux, uy): when a disc that goes by d first touches something fixed, and the direction away from that.

    t is a fraction of d, 0 if the disc touches already and would go on into it, and 2 if nothing is met.
    """
    best, ux, uy = 2.0, 0.0, 0.0
    way = sqrt(dx * dx + dy * dy) + TOUCH
    cell = near_cell(x, y, near)
    for n in range(near.start[cell], near.start[cell + 1]):
        k = near.items[n]
        ax, ay, bx, by, keep = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4] + r
        qx, qy = nearest_on_segment(x, y, ax, ay, bx, by)
        square = (x - qx) ** 2 + (y - qy) ** 2
        if square > (keep + way) ** 2:
            continue
        t = 0.0
        if square > (keep + TOUCH) ** 2:
            t = enters_capsule(x, y, dx, dy, ax, ay, bx, by, keep)
        if t < best:
            qx, qy = nearest_on_segment(x + t * dx, y + t * dy, ax, ay, bx, by)
            gx, gy = x + t * dx - qx, y + t * dy - qy
            distance = sqrt(gx * gx + gy * gy)
            if distance > NOTHING:
                gx, gy = gx / distance, gy / distance
            else:  # on the middle line itself, where no side is the right one: away is where it came from
                gx, gy = -dx / way, -dy / way
            if dx * gx + dy * gy < -NOTHING * (abs(dx) + abs(dy)):
                best, ux, uy = t, gx, gy
    return best, ux, uy


@kernel()
def slide(x, y, dx, dy, r, slides, shapes, near):
    """Where a disc ends that is sent by d: it stops where it touches, and goes on along what it touched if it `slides`.

    Returns (x, y, whether it touched anything).
    """
    touched = False
    px, py = 0.0, 0.0
    for _ in range(TURNS):
        t, ux, uy = first_touch(x, y, dx, dy, r, shapes, near)
        if t > 1.0:
            return x + dx, y + dy, touched
        x, y, touched = x + t * dx, y + t * dy, True
        if not slides:
            break
        into = (1.0 - t) * (dx * ux + dy * uy)
        dx, dy = (1.0 - t) * dx - into * ux, (1.0 - t) * dy - into * uy
        if dx * px + dy * py < 0.0:  # back into what it touched before: a corner
            break
        px, py = ux, uy
    return x, y, touched


@kernel()
def sweep_all(position, before, radius, safety, longest, slides, shapes, near, cells, done, swept, share):
    """Take back motion that would have carried a body through a fixed thing or through another robot, in every world.

    `longest` bounds one robot's motion in a step. Robots that were stopped are marked in swept (W, N).
    """
    for w in range(position.shape[0]):
        if done[w]:
            swept[w] = False
        else:
            sweep_world(w, position, before, radius, safety, longest, slides, shapes, near, cells, swept, share)


@kernel()
def sweep_world(w, position, before, radius, safety, longest, slides, shapes, near, cells, swept, share):
    """The same for one world; share: working memory for N numbers."""
    for i in range(position.shape[1]):
        x, y = before[w, i, 0], before[w, i, 1]
        position[w, i, 0], position[w, i, 1], swept[w, i] = slide(
            x, y, position[w, i, 0] - x, position[w, i, 1] - y, radius[i], slides, shapes, near)
    for turn in range(ROUNDS):
        late = turn >= ROUNDS // 2
        if not stop_pairs(w, late, slides, position, before, radius, safety, longest, shapes, near, cells, swept, share):
            break


@kernel()
def stop_pairs(w, dead, apart, position, before, radius, safety, longest, shapes, near, cells, swept, share):
    """Stop robots that would pass through each other where they first touch; `dead`: where they were before.

    `apart`: those that end overlapping, each on its own side, will be moved apart later, so they may.

    A robot that is stopped is in the way of others, so this is repeated until it finds nothing; returns whether it did.
    """
    N = position.shape[1]
    fill_world(w, position, cells)
    widest = 0.0
    for i in range(N):
        widest = max(widest, radius[i])
    range_ = 2.0 * widest + 2.0 * longest
    share[:] = 1.0  # of its way that each robot may go
    clipped = False
    for n in range(N):
        i = cells.order[w, n]
        x, y = cells.x[w, n], cells.y[w, n]
        c0, c1, _, r1 = around(x, y, range_, cells)
        r0 = row_of(y, cells)
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
                body, keep = radius[i] + radius[j], safety[i] + safety[j]
                px, py = before[w, j, 0] - before[w, i, 0], before[w, j, 1] - before[w, i, 1]
                if apart and square < keep * keep and gx * px + gy * py > 0.0:
                    continue
                dx, dy = gx - px, gy - py
                if passes_disc(px, py, dx, dy, 0.0, 0.0, body - 2.0 * TOUCH):
                    t = enters_disc(px, py, dx, dy, 0.0, 0.0, keep)
                    if t > 1.0 or dead:
                        t = 0.0
                    share[i], share[j], clipped = min(share[i], t), min(share[j], t), True
    if clipped:
        for i in range(N):
            if share[i] < 1.0:
                swept[w, i] = True
                x, y = before[w, i, 0], before[w, i, 1]
                dx, dy = share[i] * (position[w, i, 0] - x), share[i] * (position[w, i, 1] - y)
                position[w, i, 0], position[w, i, 1], _ = slide(x, y, dx, dy, radius[i], False, shapes, near)
    return clipped
