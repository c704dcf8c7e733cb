"""Who is near whom: the pairs of parts that could meet before somebody has gone further than `margin`."""

from __future__ import annotations

from math import sqrt

from formiga.engine.fixed import near_cell
from formiga.engine.planar.cells import around, fill_world
from formiga.geometry import nearest_on_segment
from formiga.kernels import kernel

FEW = 16           # bodies; with more the cell list is faster than looking at everybody


@kernel()
def held(a, b, joints, w):
    """Whether two bodies hang together by a joint; such do not collide."""
    for k in range(joints.shape[1]):
        if joints[w, k, 0] != 0.0:
            one, other = int(joints[w, k, 1]), int(joints[w, k, 2])
            if (one == a and other == b) or (one == b and other == a):
                return True
    return False


@kernel()
def add_pairs(a, b, apart, bodies, room):
    """All parts of A with all parts of B, which are at least so far apart."""
    for p in range(bodies.first_part[a], bodies.first_part[a + 1]):
        for q in range(bodies.first_part[b], bodies.first_part[b + 1]):
            add_pair(p, q, apart, room)


@kernel()
def add_pair(p, q, apart, room):
    """One pair; if the list is full it is counted as lost."""
    n = room.count[0]
    if n < room.pair.shape[0]:
        room.pair[n, 0], room.pair[n, 1], room.seen[n] = p, q, apart
        room.count[0] = n + 1
    else:
        room.count[2] += 1


@kernel()
def try_pair(a, b, reach, margin, joints, w, bodies, room):
    """Put A and B on the list if they are near."""
    dx, dy = room.pose[a, 0] - room.pose[b, 0], room.pose[a, 1] - room.pose[b, 1]
    near = reach + bodies.reach[b]
    square, far = dx * dx + dy * dy, near + 2.0 * margin
    if square < far * far and not held(a, b, joints, w):
        add_pairs(a, b, sqrt(square) - near, bodies, room)


@kernel()
def list_pairs(w, margin, shapes, near, joints, bodies, room):
    """Make the list anew, from where everybody is."""
    B, pose = bodies.kind.shape[0], room.pose
    room.count[0] = 0
    for b in range(B):
        room.travel[b] = room.strayed[b] = 0.0
        room.place[0, b, 0], room.place[0, b, 1] = pose[b, 0], pose[b, 1]
    if B > FEW:
        fill_world(0, room.place, room.cells)
    for a in range(B):
        reach = bodies.reach[a]
        if B > FEW:
            c0, c1, r0, r1 = around(pose[a, 0], pose[a, 1], reach + bodies.widest + 2.0 * margin, room.cells)
            for r in range(r0, r1 + 1):
                row = r * room.cells.columns
                for n in range(room.cells.start[0, row + c0], room.cells.start[0, row + c1 + 1]):
                    b = room.cells.order[0, n]
                    if b > a:
                        try_pair(a, b, reach, margin, joints, w, bodies, room)
        else:
            for b in range(a + 1, B):
                try_pair(a, b, reach, margin, joints, w, bodies, room)
        cell = near_cell(pose[a, 0], pose[a, 1], near)
        for n in range(near.start[cell], near.start[cell + 1]):
            k = near.items[n]
            qx, qy = nearest_on_segment(pose[a, 0], pose[a, 1], shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
            dx, dy = pose[a, 0] - qx, pose[a, 1] - qy
            apart = sqrt(dx * dx + dy * dy) - shapes[k, 4] - reach
            if apart < margin:
                for p in range(bodies.first_part[a], bodies.first_part[a + 1]):
                    add_pair(p, bodies.radius.shape[0] + k, apart, room)


@kernel()
def near_ones(w, margin, shapes, near, joints, bodies, room):
    """`list_pairs`, with a smaller margin if the list overflows. Returns the margin that it holds for."""
    for _ in range(8):
        room.count[2] = 0
        list_pairs(w, margin, shapes, near, joints, bodies, room)
        if room.count[2] == 0:
            break
        margin *= 0.5
    return margin
