"""Impulses: at an impact, in a resting contact, in a weld or a pin.

A body's speed (vx, vy, spin) changes by an impulse j n at r from its centre as

    v += j n/M,  omega += (r x n) j/I                                   [Klancar et al. 2003, eq. 11-14]
A robot whose tyres do not slide loses what is sideways of it, so only the part of n along its heading moves it.
"""

from __future__ import annotations

from formiga.engine.planar.impulse.bodies import WELD, WHEELS
from formiga.kernels import kernel

STILL = 1e-9       # m/s that counts as no approach


@kernel(forceinline=True)
def impulse(approach, restitution, yielding):
    """j = -(1 + eps) v_rel/K, with K the sum of 1/M + (r x n)^2/I of both; 0 if they part. [Klancar et al. 2003, eq. 21]"""
    return -(1.0 + restitution) * approach / yielding if approach < 0.0 and yielding > 0.0 else 0.0


@kernel(forceinline=True)
def gives(b, nx, ny, rx, ry, bodies):
    """1/M + (r x n)^2/I: how much a free body gives way along n at r."""
    arm = rx * ny - ry * nx
    return bodies.inverse_mass[b] + arm * arm * bodies.inverse_inertia[b]


@kernel(forceinline=True)
def gives_on_wheels(b, nx, ny, rx, ry, bodies, pose, slips):
    """The same for a body that tyres keep from going sideways, unless it slips."""
    arm = rx * ny - ry * nx
    share = 1.0 if slips[b] else nx * pose[b, 3] + ny * pose[b, 4]
    return bodies.inverse_mass[b] * share * share + arm * arm * bodies.inverse_inertia[b]


@kernel(forceinline=True)
def push(b, j, nx, ny, rx, ry, bodies, pose, speed, slips):
    """Apply j n at r."""
    m = j * bodies.inverse_mass[b]
    if slips[b]:
        speed[b, 0] += m * nx
        speed[b, 1] += m * ny
    else:
        c, s = pose[b, 3], pose[b, 4]
        m *= nx * c + ny * s
        speed[b, 0] += m * c
        speed[b, 1] += m * s
    speed[b, 2] += j * (rx * ny - ry * nx) * bodies.inverse_inertia[b]


@kernel(forceinline=True)
def approach(a, b, nx, ny, px, py, pose, speed):
    """n . (v_pA - v_pB): negative if A and B come closer at p; b = -1 stands still."""
    rx, ry = px - pose[a, 0], py - pose[a, 1]
    v = nx * (speed[a, 0] - speed[a, 2] * ry) + ny * (speed[a, 1] + speed[a, 2] * rx)
    if b >= 0:
        rx, ry = px - pose[b, 0], py - pose[b, 1]
        v -= nx * (speed[b, 0] - speed[b, 2] * ry) + ny * (speed[b, 1] + speed[b, 2] * rx)
    return v


@kernel(forceinline=True)
def collide(a, b, nx, ny, px, py, restitution, bodies, pose, speed, slips):
    """One impact of A and B at p, if they approach; returns its impulse, N s.

    Whoever hits a body that is not felt goes on as if nothing had been there. [Klancar et al. 2003: robot and ball]
    """
    v = approach(a, b, nx, ny, px, py, pose, speed)
    if v >= 0.0:
        return 0.0
    ax, ay = px - pose[a, 0], py - pose[a, 1]
    if b < 0:
        j = impulse(v, restitution, gives(a, nx, ny, ax, ay, bodies))
        push(a, j, nx, ny, ax, ay, bodies, pose, speed, slips)
        return j
    bx, by = px - pose[b, 0], py - pose[b, 1]
    moves_a, moves_b = bodies.felt[b] or not bodies.felt[a], bodies.felt[a] or not bodies.felt[b]
    K = 0.0
    if moves_a:
        K += gives(a, nx, ny, ax, ay, bodies)
    if moves_b:
        K += gives(b, nx, ny, bx, by, bodies)
    j = impulse(v, restitution, K)
    if moves_a:
        push(a, j, nx, ny, ax, ay, bodies, pose, speed, slips)
    if moves_b:
        push(b, -j, nx, ny, bx, by, bodies, pose, speed, slips)
    return j


@kernel(inline="always")
def impacts(rest, rounds, bodies, joints, w, room, log):
    """Go through all contacts until nobody approaches faster than `rest`, at most `rounds` times.

    Each bounces once at a moment; what is driven into it again by the others' impulses goes along with it. Else a ball between
    a wall and a robot that does not feel it would be hit to and fro, ever faster.
    """
    contact, point, pose, speed, slips = room.contact, room.point, room.pose, room.speed, room.slips
    for n in range(room.count[4]):
        slips[room.active[n]] = bodies.kind[room.active[n]] != WHEELS
    for _ in range(rounds):
        again = False
        for k in range(room.count[1]):
            a, b = contact[k, 0], contact[k, 1]
            nx, ny, px, py = point[k, 0], point[k, 1], point[k, 2], point[k, 3]
            if approach(a, b, nx, ny, px, py, pose, speed) < -rest:
                bounces = contact[k, 3] == 0 and not (room.pressed[a] or (b >= 0 and room.pressed[b]))
                j = collide(a, b, nx, ny, px, py, point[k, 8] if bounces else 0.0, bodies, pose, speed, slips)
                contact[k, 3] = 1
                room.bounces[a] += bounces
                if b >= 0:
                    room.bounces[b] += bounces
                note(w, px, py, nx, ny, j, a, b, log)
                again = True
        if not again:
            break
        for k in range(joints.shape[1]):
            hold(joints[w, k], bodies, pose, speed, slips)


@kernel(forceinline=True)
def note(w, px, py, nx, ny, j, a, b, log):
    """Write a contact down, if there is room."""
    n = log.count[w]
    if n < log.rows.shape[1]:
        row = log.rows[w, n]
        row[0], row[1], row[2], row[3], row[4], row[5], row[6] = px, py, nx, ny, j, a, b
        log.count[w] = n + 1


@kernel(inline="always")
def lean(bodies, joints, w, rounds, room):
    """Resting and pushing contacts: impulses that leave nobody approaching anybody, and pull nobody. Sequential impulses.

    Both ends of a side that lies along another count, so that a flush push stays flush. What is in between two others is
    felt by both: a ball that is pressed against a wall stops the robot. The tyres of a robot that touches something fixed slip
    for as long as it does, or one that stands flush along a board could never turn away from it.
    """
    contact, point, acc, pose, speed, slips = room.contact, room.point, room.acc, room.pose, room.speed, room.slips
    C = room.count[1]
    for n in range(room.count[4]):
        slips[room.active[n]] = bodies.kind[room.active[n]] != WHEELS
    for k in range(C):
        acc[k, 0] = acc[k, 1] = 0.0
        if contact[k, 1] < 0:
            slips[contact[k, 0]] = True
    for _ in range(5 * rounds):
        most = 0.0
        for k in range(C):
            a, b = contact[k, 0], contact[k, 1]
            nx, ny = point[k, 0], point[k, 1]
            for e in range(contact[k, 2]):
                px, py = point[k, 4 + 2 * e], point[k, 5 + 2 * e]
                v = approach(a, b, nx, ny, px, py, pose, speed)
                if v >= -STILL and acc[k, e] == 0.0:
                    continue
                ax, ay = px - pose[a, 0], py - pose[a, 1]
                bx = by = 0.0
                K = gives_on_wheels(a, nx, ny, ax, ay, bodies, pose, slips)
                if b >= 0:
                    bx, by = px - pose[b, 0], py - pose[b, 1]
                    K += gives_on_wheels(b, nx, ny, bx, by, bodies, pose, slips)
                if K < 1e-9:
                    continue
                j = max(acc[k, e] - v / K, 0.0) - acc[k, e]
                push(a, j, nx, ny, ax, ay, bodies, pose, speed, slips)
                if b >= 0:
                    push(b, -j, nx, ny, bx, by, bodies, pose, speed, slips)
                acc[k, e] += j
                most = max(most, abs(j) * K)
        for k in range(joints.shape[1]):
            most = max(most, hold(joints[w, k], bodies, pose, speed, slips))
        if most < 1e-6:
            break


# -- welds and pins ---------------------------------------------------------------------------------------------------
@kernel()
def lever(b, x, y, pose):
    """A point of a body's frame, from its centre, in the world's frame."""
    return pose[b, 3] * x - pose[b, 4] * y, pose[b, 4] * x + pose[b, 3] * y


@kernel()
def hold(joint, bodies, pose, speed, slips):
    """Impulses that make both ends of a joint move alike; returns how unlike they were, m/s."""
    if joint[0] == 0.0:
        return 0.0
    a, b = int(joint[1]), int(joint[2])
    ax, ay = lever(a, joint[3], joint[4], pose)
    bx, by = lever(b, joint[5], joint[6], pose)
    unlike = 0.0
    if joint[0] == WELD:
        spin = speed[a, 2] - speed[b, 2]
        share = spin / (bodies.inverse_inertia[a] + bodies.inverse_inertia[b])
        speed[a, 2] -= share * bodies.inverse_inertia[a]
        speed[b, 2] += share * bodies.inverse_inertia[b]
        unlike = abs(spin) * (abs(ax) + abs(ay))
    vx = speed[a, 0] - speed[a, 2] * ay - speed[b, 0] + speed[b, 2] * by
    vy = speed[a, 1] + speed[a, 2] * ax - speed[b, 1] - speed[b, 2] * bx
    k11, k12, k22 = give_matrix(a, ax, ay, bodies, pose, slips)
    l11, l12, l22 = give_matrix(b, bx, by, bodies, pose, slips)
    jx, jy = solve2(k11 + l11, k12 + l12, k22 + l22, -vx, -vy)
    push(a, jx, 1.0, 0.0, ax, ay, bodies, pose, speed, slips)
    push(a, jy, 0.0, 1.0, ax, ay, bodies, pose, speed, slips)
    push(b, -jx, 1.0, 0.0, bx, by, bodies, pose, speed, slips)
    push(b, -jy, 0.0, 1.0, bx, by, bodies, pose, speed, slips)
    return max(unlike, abs(vx) + abs(vy))


@kernel()
def give_matrix(b, rx, ry, bodies, pose, slips):
    """How a point of a body gives way to an impulse: the symmetric matrix (k11, k12, k22)."""
    m, i = bodies.inverse_mass[b], bodies.inverse_inertia[b]
    k11, k12, k22 = i * ry * ry, -i * rx * ry, i * rx * rx
    if not slips[b]:
        c, s = pose[b, 3], pose[b, 4]
        return k11 + m * c * c, k12 + m * c * s, k22 + m * s * s
    return k11 + m, k12, k22 + m


@kernel()
def solve2(k11, k12, k22, x, y):
    """K j = (x, y) for a symmetric K; where K gives no way at all, no impulse."""
    ease = 1e-9 * (k11 + k22)
    k11, k22 = k11 + ease, k22 + ease
    det = k11 * k22 - k12 * k12
    return (k22 * x - k12 * y) / det, (k11 * y - k12 * x) / det
