"""Bodies that are near each other: the pairs of parts that could meet before a body has gone further than `margin`."""

from __future__ import annotations

from math import sqrt

from formiga.engine.above.cells import around, fill_world
from formiga.engine.above.outlines import CX, CY, NX, NY
from formiga.engine.fixed import near_cell
from formiga.geometry import nearest_on_segment
from formiga.kernels import kernel

# Names of columns; one on each line would fill a page.
# isort: off
from formiga.engine.planar.impulse.bodies import (
    ACTIVE, HURRIES, LOST, MARGIN, PAIRED, PAIRS, REACH, SEEN, STRAYED, TRAVEL, VX, VY, X, Y)
# isort: on

FEW = 16           # bodies; with more the cell list is faster than looking at all of them


@kernel(inner=True, forceinline=True)
def held(a, b, joints, w):
    """Whether two bodies hang together by a joint; such do not collide."""
    for k in range(joints.shape[1]):
        if joints[w, k, 0] != 0.0:
            one, other = int(joints[w, k, 1]), int(joints[w, k, 2])
            if (one == a and other == b) or (one == b and other == a):
                return True
    return False


@kernel(inner=True, forceinline=True)
def add_pairs(a, b, gap, first_part, work):
    """All parts of A with all parts of B, which are at least so far apart."""
    for p in range(first_part[a], first_part[a + 1]):
        for q in range(first_part[b], first_part[b + 1]):
            add_pair(p, q, gap, work.count, work.pair, work.apart)


@kernel(inner=True, forceinline=True)
def add_pair(p, q, gap, count, pair, apart):
    """One pair; if the list is full it is counted as lost."""
    n = count[PAIRS]
    if n < pair.shape[0]:
        pair[n, 0], pair[n, 1], apart[n, SEEN] = p, q, gap
        count[PAIRS] = n + 1
    else:
        count[LOST] += 1


@kernel(inner=True, forceinline=True)
def try_pair(a, b, joints, w, bodies, work):
    """Put A and B on the list if they are near."""
    moving, mark, fact = work.moving, work.mark, bodies.fact
    dx, dy = moving[a, X] - moving[b, X], moving[a, Y] - moving[b, Y]
    near = fact[a, REACH] + fact[b, REACH]
    square, far = dx * dx + dy * dy, near + moving[a, MARGIN] + moving[b, MARGIN]
    if square < far * far and not held(a, b, joints, w):
        add_pairs(a, b, sqrt(square) - near, bodies.first_part, work)
        mark[a, PAIRED] = mark[b, PAIRED] = True


@kernel(inner=True, forceinline=True)
def try_fixed(a, k, shapes, bodies, work):
    """Put A and something fixed on the list if they are near."""
    moving, at, first_part = work.moving, work.corners.corner, bodies.first_part
    x, y, far = moving[a, X], moving[a, Y], bodies.fact[a, REACH] + moving[a, MARGIN]
    start, P = work.corners.first, bodies.radius.shape[0]
    first = start[P + k]
    if start[P + k + 1] - first == 2 and abs(
            at[first, NX] * (x - at[first, CX]) + at[first, NY] * (y - at[first, CY])) > far:
        return  # far from the whole line
    qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
    dx, dy = x - qx, y - qy
    gap = sqrt(dx * dx + dy * dy) - shapes[k, 4] - bodies.fact[a, REACH]
    if gap < moving[a, MARGIN]:
        work.mark[a, PAIRED] = True
        for p in range(first_part[a], first_part[a + 1]):
            add_pair(p, P + k, gap, work.count, work.pair, work.apart)


@kernel(inner=True, forceinline=True)
def list_pairs(w, shapes, near, joints, bodies, work, grid):
    """Make the list anew, from where the bodies are."""
    moving, mark, count, fact, cells, place = work.moving, work.mark, work.count, bodies.fact, grid.cells, grid.place
    B = fact.shape[0]
    count[PAIRS] = 0
    widest = 0.0
    for b in range(B):
        mark[b, PAIRED] = False
        moving[b, TRAVEL] = moving[b, STRAYED] = 0.0
        widest = max(widest, moving[b, MARGIN])
    if B > FEW:
        for b in range(B):
            place[0, b, 0], place[0, b, 1] = moving[b, X], moving[b, Y]
        fill_world(0, place, cells)
    for a in range(B):
        if B > FEW:
            reach = fact[a, REACH] + bodies.widest + moving[a, MARGIN] + widest
            c0, c1, r0, r1 = around(moving[a, X], moving[a, Y], reach, cells)
            for r in range(r0, r1 + 1):
                row = r * cells.columns
                for n in range(cells.start[0, row + c0], cells.start[0, row + c1 + 1]):
                    b = int(cells.order[0, n])  # as below, so that one `try_pair` serves both
                    if b > a:
                        try_pair(a, b, joints, w, bodies, work)
        else:
            for b in range(a + 1, B):
                try_pair(a, b, joints, w, bodies, work)
        cell = near_cell(moving[a, X], moving[a, Y], near)
        for n in range(near.start[cell], near.start[cell + 1]):
            try_fixed(a, near.items[n], shapes, bodies, work)


@kernel(inner=True)
def near_ones(w, time, rules, orders, alive, shapes, near, joints, bodies, work, grid):
    """List the pairs, and the bodies in them. No body may go further than its margin until it is done again.

    The margin is what a body goes until the end of the control period if nothing hits it. Not more than the table of fixed
    things was made for: a body that goes further has its pairs listed again on its way. If the list has no place for all,
    margins are made smaller.
    """
    moving, mark, count, active = work.moving, work.mark, work.count, work.active
    B = moving.shape[0]
    for b in range(B):
        fast = sqrt(moving[b, VX] ** 2 + moving[b, VY] ** 2)
        if b < bodies.robots and alive[w, b]:
            fast = max(fast, abs(orders[w, b, 0]) + abs(orders[w, b, 1]))
        moving[b, MARGIN] = 1.001 * fast * (rules.dt - time) + 2.0 * rules.threshold
    for b in range(B):
        mark[b, HURRIES] = moving[b, MARGIN] > rules.margin
        moving[b, MARGIN] = min(moving[b, MARGIN], rules.margin)
    for _ in range(8):
        count[LOST] = 0
        list_pairs(w, shapes, near, joints, bodies, work, grid)
        if count[LOST] == 0:
            break
        for b in range(B):
            mark[b, HURRIES], moving[b, MARGIN] = True, 0.5 * moving[b, MARGIN]
    for k in range(joints.shape[1]):
        if joints[w, k, 0] != 0.0:
            mark[int(joints[w, k, 1]), PAIRED] = mark[int(joints[w, k, 2]), PAIRED] = True
    n = 0
    for b in range(B):
        if mark[b, PAIRED] or mark[b, HURRIES]:
            mark[b, PAIRED] = True
            active[n] = b
            n += 1
    count[ACTIVE] = n
