"""No two bodies in one place: detection, the swept test, and S1's re-positioning.

A robot collides when something comes nearer than its clearance, that is, into its collision circle of radius
Rs = R + clearance. [Vicentini & Tuci 2006, section 5]

    sweep     nothing passes through anything in one step, however fast
    detect    who overlaps whom now
    resolve   rounds of synchronous moves until nobody overlaps (model `reposition`)

The papers' displacement formulas are partly lost; the algorithm is the one of our reconstruction, told in the manual.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from formiga.engine.planar.cells import fill_world
from formiga.geometry import enters_capsule, enters_disc, lattice_index, nearest_on_segment, passes_disc, segments_cross

ROUNDS = 500           # then we stop, whatever is left
PUBLISHED_ROUNDS = 30  # rounds of the published, synchronous rule; then pairs move apart one after another
TOUCH = 1e-8           # m; less overlap than this is contact, not interpenetration
SPARE = 1e-6           # m; what a pair moves apart beyond its overlap, so that a pack settles in few rounds
NOTHING = 1e-9         # m; a resultant shorter than this has no direction: stay

NONE, STOP, MINIMAL, PUBLISHED = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def fixed_cell(x, y, near):
    """The cell of the table of fixed things that holds (x, y)."""
    return (lattice_index((y - near.y0) / near.size, near.rows) * near.columns
            + lattice_index((x - near.x0) / near.size, near.columns))


@njit(cache=True, nogil=True)
def overlap_fixed(x, y, rs, k, segments, discs):
    """(overlap, unit vector toward it) of a collision circle and fixed thing k; overlap < 0: apart."""
    S = segments.shape[0]
    if k < S:
        qx, qy = nearest_on_segment(x, y, segments[k, 0], segments[k, 1], segments[k, 2], segments[k, 3])
        keep = rs
    else:
        qx, qy, keep = discs[k - S, 0], discs[k - S, 1], rs + discs[k - S, 2]
    dx, dy = qx - x, qy - y
    square = dx * dx + dy * dy
    if square >= keep * keep:
        return -1.0, 0.0, 0.0
    distance = sqrt(square)
    if distance < 1e-12:  # on the wall itself: any way out is as good, take its normal
        if k < S:
            ex, ey = segments[k, 2] - segments[k, 0], segments[k, 3] - segments[k, 1]
            size = max(1e-300, sqrt(ex * ex + ey * ey))
            return keep, -ey / size, ex / size
        return keep, 1.0, 0.0
    return keep - distance, dx / distance, dy / distance


@njit(cache=True, nogil=True)
def clip_fixed(x0, y0, x1, y1, r, rs, segments, discs, near):
    """How much of the way from 0 to 1 (a fraction) a disc may go before it would pass through something fixed.

    Ending inside the clearance of something is not passing through: that is resolved later, and lets robots slide
    along walls. Only where the body itself would have gone through, or the centre ends behind a wall, the disc stops
    where its collision circle first touches.
    """
    S = segments.shape[0]
    dx, dy = x1 - x0, y1 - y0
    way = sqrt(dx * dx + dy * dy)
    body = r - 2.0 * TOUCH  # robots that rest against something do not pass through it
    best = 1.0
    cell = fixed_cell(x1, y1, near)
    for n in range(near.start[cell], near.start[cell + 1]):
        k = near.items[n]
        if k < S:
            ax, ay, bx, by = segments[k, 0], segments[k, 1], segments[k, 2], segments[k, 3]
            qx, qy = nearest_on_segment(x1, y1, ax, ay, bx, by)
            gap = sqrt((qx - x1) ** 2 + (qy - y1) ** 2)
            if gap - way >= r:
                continue
            if (gap < NOTHING or segments_cross(x0, y0, x1, y1, ax, ay, bx, by)
                    or (gap >= rs and (passes_disc(x0, y0, dx, dy, ax, ay, body) or passes_disc(x0, y0, dx, dy, bx, by, body)))):
                qx, qy = nearest_on_segment(x0, y0, ax, ay, bx, by)
                if (qx - x0) ** 2 + (qy - y0) ** 2 <= rs * rs:
                    return 0.0  # inside the clearance already: do not go at all
                best = min(best, enters_capsule(x0, y0, dx, dy, ax, ay, bx, by, rs))
        else:
            cx, cy, keep = discs[k - S, 0], discs[k - S, 1], discs[k - S, 2]
            gap = sqrt((cx - x1) ** 2 + (cy - y1) ** 2) - keep
            own_side = (x1 - cx) * (x0 - cx) + (y1 - cy) * (y0 - cy) > 0.0
            if gap - way >= r or (gap < rs and own_side):
                continue
            if passes_disc(x0, y0, dx, dy, cx, cy, keep + body):
                if (x0 - cx) ** 2 + (y0 - cy) ** 2 <= (keep + rs) ** 2:
                    return 0.0
                best = min(best, enters_disc(x0, y0, dx, dy, cx, cy, keep + rs))
    return best


@njit(cache=True, nogil=True)
def go(x0, y0, x1, y1, r, rs, segments, discs, near):
    """Where a disc ends that is sent from 0 to 1: not through anything, and pushed out of what it enters."""
    t = clip_fixed(x0, y0, x1, y1, r, rs, segments, discs, near)
    x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
    for _ in range(8):  # a corner needs two pushes; more only where there is no room at all
        cell = fixed_cell(x, y, near)
        deepest, ux, uy = TOUCH, 0.0, 0.0
        for n in range(near.start[cell], near.start[cell + 1]):
            overlap, tx, ty = overlap_fixed(x, y, rs, near.items[n], segments, discs)
            if overlap > deepest:
                deepest, ux, uy = overlap, tx, ty
        if deepest == TOUCH:
            break
        nx, ny = x - deepest * ux, y - deepest * uy
        if clip_fixed(x, y, nx, ny, r, rs, segments, discs, near) < 1.0:
            break  # the way out leads through another wall
        x, y = nx, ny
    return x, y


@njit(cache=True, nogil=True)
def sweep_world(w, position, before, radius, safety, longest, segments, discs, near, cells, swept):
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
    if segments.shape[0] + discs.shape[0] > 0:
        for i in range(N):
            x0, y0, x1, y1 = before[w, i, 0], before[w, i, 1], position[w, i, 0], position[w, i, 1]
            t = clip_fixed(x0, y0, x1, y1, radius[i], safety[i], segments, discs, near)
            if t < 1.0:
                swept[i] = True
                position[w, i, 0], position[w, i, 1] = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
    fill_world(w, position, cells)
    range_ = 2.0 * widest + 2.0 * longest
    inverse = 1.0 / cells.size
    share = np.ones(N)
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


@njit(cache=True, nogil=True)
def detect_world(w, position, safety, widest, segments, discs, near, cells, hit):
    """Mark everybody who overlaps something in hit (N,); returns how many. The cell list must be up to date."""
    N, S = position.shape[1], segments.shape[0]
    table_start, table_items = near.start, near.items
    start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    inverse, table_inverse = 1.0 / cells.size, 1.0 / near.size
    range_ = 2.0 * widest
    count = 0
    for n in range(N):
        x, y = sx[w, n], sy[w, n]
        i = order[w, n]
        rs = safety[i]
        if not hit[i]:
            cell = (lattice_index((y - near.y0) * table_inverse, near.rows) * near.columns
                    + lattice_index((x - near.x0) * table_inverse, near.columns))
            for m in range(table_start[cell], table_start[cell + 1]):
                k = table_items[m]
                if k < S:
                    qx, qy = nearest_on_segment(x, y, segments[k, 0], segments[k, 1], segments[k, 2], segments[k, 3])
                    keep = rs - TOUCH
                else:
                    qx, qy, keep = discs[k - S, 0], discs[k - S, 1], rs + discs[k - S, 2] - TOUCH
                if (qx - x) * (qx - x) + (qy - y) * (qy - y) < keep * keep:
                    hit[i] = True
                    count += 1
                    break
        c0 = lattice_index((x - range_ - cells.x0) * inverse, cells.columns)
        c1 = lattice_index((x + range_ - cells.x0) * inverse, cells.columns)
        r0 = lattice_index((y - cells.y0) * inverse, cells.rows)
        r1 = lattice_index((y + range_ - cells.y0) * inverse, cells.rows)
        for r in range(r0, r1 + 1):
            begin = start[w, r * cells.columns + c0]
            if r == r0:
                begin = n + 1  # each pair once
            for m in range(begin, start[w, r * cells.columns + c1 + 1]):
                dx, dy = sx[w, m] - x, sy[w, m] - y
                square = dx * dx + dy * dy
                if square >= range_ * range_:
                    continue
                j = order[w, m]
                keep = rs + safety[j] - TOUCH
                if square < keep * keep:
                    if not hit[i]:
                        hit[i] = True
                        count += 1
                    if not hit[j]:
                        hit[j] = True
                        count += 1
    return count


@njit(cache=True, nogil=True)
def neighbours(w, i, position, safety, widest, drift, cells, found):
    """Robots whose collision circle overlaps that of i, into found; returns how many.

    The cell list may be old: nobody has moved further than `drift` since it was made.
    """
    x, y = position[w, i, 0], position[w, i, 1]
    range_ = safety[i] + widest + drift
    inverse = 1.0 / cells.size
    c0 = lattice_index((x - range_ - cells.x0) * inverse, cells.columns)
    c1 = lattice_index((x + range_ - cells.x0) * inverse, cells.columns)
    r0 = lattice_index((y - range_ - cells.y0) * inverse, cells.rows)
    r1 = lattice_index((y + range_ - cells.y0) * inverse, cells.rows)
    count = 0
    for r in range(r0, r1 + 1):
        for n in range(cells.start[w, r * cells.columns + c0], cells.start[w, r * cells.columns + c1 + 1]):
            j = cells.order[w, n]
            dx, dy = position[w, j, 0] - x, position[w, j, 1] - y
            keep = safety[i] + safety[j] - TOUCH
            if j != i and dx * dx + dy * dy < keep * keep:
                found[count] = j
                count += 1
    return count


@njit(cache=True, nogil=True)
def resolve_world(w, mode, position, radius, safety, widest, alive, segments, discs, near, cells, hit):
    """Move robots until nobody overlaps; everybody who was ever involved is marked in hit. Returns the rounds needed.

        V = sum over robots of (C_i - C_j)             mode `published`; moves min(Rs, |V|) against V
            or unit(C_i - C_j) overlap_ij              mode `minimal`; moves 1.01 max(overlap_ij / 2, overlap_fixed)
          + sum over fixed things of unit(toward it) overlap           [Swarmod draft, section III; reconstructed]
    All robots move at once. Only fixed things block a move: if robots did too, packs would lock up.
    """
    N = position.shape[1]
    active, later = np.empty(N, np.int64), np.empty(N, np.int64)
    found = np.empty(N, np.int64)
    listed = np.zeros(N, np.int64)  # the last round in which a robot was listed as active
    target = np.empty((N, 2))
    many = 0
    for i in range(N):
        if hit[i]:
            active[many] = i
            many += 1
    strayed = np.zeros(N)  # how far each robot has gone since the cell list was made
    drift = 0.0            # the largest of these
    for turn in range(1, ROUNDS + 1):
        if drift > 0.5 * cells.size:
            fill_world(w, position, cells)
            strayed[:] = 0.0
            drift = 0.0
        if turn <= PUBLISHED_ROUNDS:
            for a in range(many):
                target[a, 0], target[a, 1] = escape(w, active[a], mode, position, radius, safety, widest, drift, alive,
                                                    segments, discs, near, cells, found)
            for a in range(many):
                i = active[a]
                strayed[i] += sqrt((target[a, 0] - position[w, i, 0]) ** 2 + (target[a, 1] - position[w, i, 1]) ** 2)
                drift = max(drift, strayed[i])
                position[w, i, 0], position[w, i, 1] = target[a, 0], target[a, 1]
        else:
            for a in range(many):
                listed[active[a]] = -turn
            a = 0
            while a < many:  # the list grows by whoever is pushed
                i = active[a]
                a += 1
                count = neighbours(w, i, position, safety, widest, drift, cells, found)
                for n in range(count):
                    j = found[n]
                    way = part(w, i, j, position, radius, safety, alive, segments, discs, near)
                    strayed[i], strayed[j] = strayed[i] + way, strayed[j] + way
                    drift = max(drift, strayed[i], strayed[j])
                    if listed[j] != -turn:
                        listed[j] = -turn
                        active[many] = j
                        many += 1
                if count == 0:
                    strayed[i] += part(w, i, i, position, radius, safety, alive, segments, discs, near)
                    drift = max(drift, strayed[i])

        # Only who moved, and who is near somebody who moved, can overlap now.
        more = 0
        for a in range(many):
            i = active[a]
            count = neighbours(w, i, position, safety, widest, drift, cells, found)
            for n in range(count):
                j = found[n]
                if listed[j] != turn:
                    listed[j] = turn
                    later[more] = j
                    more += 1
                hit[j] = True
            if listed[i] != turn and (count > 0 or touches_fixed(position[w, i, 0], position[w, i, 1], safety[i], segments,
                                                                 discs, near)):
                listed[i] = turn
                later[more] = i
                more += 1
        active, later, many = later, active, more
        if many == 0:
            return turn
    return ROUNDS


@njit(cache=True, nogil=True)
def touches_fixed(x, y, rs, segments, discs, near):
    """Whether a collision circle overlaps anything fixed."""
    cell = fixed_cell(x, y, near)
    for n in range(near.start[cell], near.start[cell + 1]):
        if overlap_fixed(x, y, rs, near.items[n], segments, discs)[0] > TOUCH:
            return True
    return False


@njit(cache=True, nogil=True)
def escape(w, i, mode, position, radius, safety, widest, drift, alive, segments, discs, near, cells, found):
    """Where the published rule sends robot i."""
    x, y = position[w, i, 0], position[w, i, 1]
    if not alive[w, i]:
        return x, y
    vx, vy, deepest = 0.0, 0.0, 0.0
    for n in range(neighbours(w, i, position, safety, widest, drift, cells, found)):
        j = found[n]
        dx, dy = position[w, j, 0] - x, position[w, j, 1] - y
        distance = sqrt(dx * dx + dy * dy)
        overlap = safety[i] + safety[j] - distance
        deepest = max(deepest, 0.5 * overlap)
        if mode == PUBLISHED:
            vx, vy = vx + dx, vy + dy
        elif distance > 0.0:
            vx, vy = vx + dx / distance * overlap, vy + dy / distance * overlap
        else:  # one on top of the other: the lower number goes left
            vx += overlap if i < j else -overlap
    cell = fixed_cell(x, y, near)
    for n in range(near.start[cell], near.start[cell + 1]):
        overlap, ux, uy = overlap_fixed(x, y, safety[i], near.items[n], segments, discs)
        if overlap > 0.0:
            vx, vy, deepest = vx + ux * overlap, vy + uy * overlap, max(deepest, overlap)
    size = sqrt(vx * vx + vy * vy)
    if size < NOTHING:  # in the middle of a pack
        return x, y
    way = min(safety[i], size if mode == PUBLISHED else 1.01 * deepest) / size
    return go(x, y, x - way * vx, y - way * vy, radius[i], safety[i], segments, discs, near)


@njit(cache=True, nogil=True)
def part(w, i, j, position, radius, safety, alive, segments, discs, near):
    """Move a pair apart, half of the overlap each; i and i: only out of fixed things. Returns how far they moved."""
    dx, dy = position[w, j, 0] - position[w, i, 0], position[w, j, 1] - position[w, i, 1]
    distance = sqrt(dx * dx + dy * dy)
    half = max(0.0, 0.5 * (safety[i] + safety[j] - distance) + SPARE)
    ux, uy = (dx / distance, dy / distance) if distance > 0.0 else (1.0 if i < j else -1.0, 0.0)
    if i == j:
        half = 0.0
    if not (alive[w, i] and alive[w, j]):  # who is dead does not move, so the other goes all the way
        half *= 2.0
    far = 0.0
    for side in range(2):
        k, sign = (i, -1.0) if side == 0 else (j, 1.0)
        if alive[w, k] and not (side == 1 and i == j):
            x, y = position[w, k, 0], position[w, k, 1]
            nx, ny = go(x, y, x + sign * half * ux, y + sign * half * uy, radius[k], safety[k], segments, discs, near)
            position[w, k, 0], position[w, k, 1] = nx, ny
            far = max(far, sqrt((nx - x) ** 2 + (ny - y) ** 2))
    return far


@njit(cache=True, nogil=True)
def contact_all(model, longest, limit, end_at_limit, position, before, radius, safety, widest, segments, discs, near,
                cells, alive, crashed, crashes, done, step, rounds):
    """Sweep, detect and answer the contacts of every world that has not ended, count crashes, and tick its clock.

    rounds (W,): how many rounds `resolve` needed.
    """
    N = position.shape[1]
    hit, swept = np.empty(N, np.bool_), np.empty(N, np.bool_)
    for w in range(position.shape[0]):
        if done[w]:
            continue
        step[w] += 1
        if model == NONE:
            continue
        hit[:] = False
        swept[:] = False
        sweep_world(w, position, before, radius, safety, longest, segments, discs, near, cells, swept)
        fill_world(w, position, cells)
        rounds[w] = 0
        if detect_world(w, position, safety, widest, segments, discs, near, cells, hit) > 0 and model != STOP:
            rounds[w] = resolve_world(w, model, position, radius, safety, widest, alive, segments, discs, near, cells, hit)
        living = 0
        for i in range(N):
            crashed[w, i] = (hit[i] or swept[i]) and alive[w, i]
            if crashed[w, i]:
                crashes[w, i] += 1
                if limit > 0 and crashes[w, i] >= limit:
                    if end_at_limit:
                        done[w] = True
                    else:
                        alive[w, i] = False
            living += alive[w, i]
        if living == 0 and N > 0:
            done[w] = True
