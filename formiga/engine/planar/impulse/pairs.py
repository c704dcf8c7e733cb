"""Who is near whom: the pairs of parts that could meet before somebody has gone further than `margin`."""

from __future__ import annotations

from math import sqrt

from formiga.engine.fixed import near_cell
from formiga.engine.planar.cells import around, fill_world
from formiga.geometry import nearest_on_segment
from formiga.kernels import kernel

FEW = 16           # bodies; with more the cell list is faster than looking at everybody


@kernel(forceinline=True)
def held(a, b, joints, w):
    """Whether two bodies hang together by a joint; such do not collide."""
    for k in range(joints.shape[1]):
        if joints[w, k, 0] != 0.0:
            one, other = int(joints[w, k, 1]), int(joints[w, k, 2])
            if (one == a and other == b) or (one == b and other == a):
                return True
    return False


@kernel(forceinline=True)
def add_pairs(a, b, apart, bodies, room):
    """All parts of A with all parts of B, which are at least so far apart."""
    for p in range(bodies.first_part[a], bodies.first_part[a + 1]):
        for q in range(bodies.first_part[b], bodies.first_part[b + 1]):
            add_pair(p, q, apart, room)


@kernel(forceinline=True)
def add_pair(p, q, apart, room):
    """One pair; if the list is full it is counted as lost."""
    n = room.count[0]
    if n < room.pair.shape[0]:
        room.pair[n, 0], room.pair[n, 1], room.seen[n] = p, q, apart
        room.count[0] = n + 1
    else:
        room.count[2] += 1


@kernel(forceinline=True)
def try_pair(a, b, joints, w, bodies, room):
    """Put A and B on the list if they are near."""
    dx, dy = room.pose[a, 0] - room.pose[b, 0], room.pose[a, 1] - room.pose[b, 1]
    near = bodies.reach[a] + bodies.reach[b]
    square, far = dx * dx + dy * dy, near + room.margin[a] + room.margin[b]
    if square < far * far and not held(a, b, joints, w):
        add_pairs(a, b, sqrt(square) - near, bodies, room)
        room.paired[a] = room.paired[b] = True


@kernel(forceinline=True)
def try_fixed(a, k, shapes, bodies, room):
    """Put A and something fixed on the list if they are near."""
    x, y, far = room.pose[a, 0], room.pose[a, 1], bodies.reach[a] + room.margin[a]
    corners, P = room.corners, bodies.radius.shape[0]
    first = corners.first[P + k]
    if corners.first[P + k + 1] - first == 2 and abs(
            corners.nx[first] * (x - corners.x[first]) + corners.ny[first] * (y - corners.y[first])) > far:
        return  # far from the whole line
    qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
    dx, dy = x - qx, y - qy
    apart = sqrt(dx * dx + dy * dy) - shapes[k, 4] - bodies.reach[a]
    if apart < room.margin[a]:
        room.paired[a] = True
        for p in range(bodies.first_part[a], bodies.first_part[a + 1]):
            add_pair(p, P + k, apart, room)


@kernel(inline="always")
def list_pairs(w, shapes, near, joints, bodies, room):
    """Make the list anew, from where everybody is."""
    B, pose, cells = bodies.kind.shape[0], room.pose, room.cells
    room.count[0] = 0
    widest = 0.0
    for b in range(B):
        room.paired[b] = False
        room.travel[b] = room.strayed[b] = 0.0
        widest = max(widest, room.margin[b])
    if B > FEW:
        for b in range(B):
            room.place[0, b, 0], room.place[0, b, 1] = pose[b, 0], pose[b, 1]
        fill_world(0, room.place, cells)
    for a in range(B):
        if B > FEW:
            c0, c1, r0, r1 = around(pose[a, 0], pose[a, 1], bodies.reach[a] + bodies.widest + room.margin[a] + widest, cells)
            for r in range(r0, r1 + 1):
                row = r * cells.columns
                for n in range(cells.start[0, row + c0], cells.start[0, row + c1 + 1]):
                    b = cells.order[0, n]
                    if b > a:
                        try_pair(a, b, joints, w, bodies, room)
        else:
            for b in range(a + 1, B):
                try_pair(a, b, joints, w, bodies, room)
        cell = near_cell(pose[a, 0], pose[a, 1], near)
        for n in range(near.start[cell], near.start[cell + 1]):
            try_fixed(a, near.items[n], shapes, bodies, room)


@kernel()
def near_ones(w, time, rules, orders, alive, shapes, near, joints, bodies, room):
    """List the pairs, and the bodies in them. Nobody may go further than its margin until it is done again.

    The margin is what a body goes until the end of the control period if nobody hits it. Not more than the table of fixed
    things was made for: whoever goes further has to look around again on its way. If the list has no room for all, margins are
    made smaller.
    """
    B = bodies.kind.shape[0]
    for b in range(B):
        fast = sqrt(room.speed[b, 0] ** 2 + room.speed[b, 1] ** 2)
        if b < bodies.robots and alive[w, b]:
            fast = max(fast, 0.5 * abs(orders[w, b, 0] + orders[w, b, 1]))
        room.margin[b] = 1.001 * fast * (rules.dt - time) + 2.0 * rules.threshold
    for b in range(B):
        room.hurries[b] = room.margin[b] > rules.margin
        room.margin[b] = min(room.margin[b], rules.margin)
    for _ in range(8):
        room.count[2] = 0
        list_pairs(w, shapes, near, joints, bodies, room)
        if room.count[2] == 0:
            break
        for b in range(B):
            room.hurries[b], room.margin[b] = True, 0.5 * room.margin[b]
    for k in range(joints.shape[1]):
        if joints[w, k, 0] != 0.0:
            room.paired[int(joints[w, k, 1])] = room.paired[int(joints[w, k, 2])] = True
    n = 0
    for b in range(B):
        if room.paired[b] or room.hurries[b]:
            room.paired[b] = True
            room.active[n] = b
            n += 1
    room.count[4] = n
