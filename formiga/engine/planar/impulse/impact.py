"""Impulses: at an impact, in a resting contact, in a weld or a pin.

A body's speed (vx, vy, spin) changes by an impulse j n at r from its centre as

    v += j n/M,  omega += (r x n) j/I                                   [Klancar et al. 2003, eq. 11-14]
A robot whose tyres do not slide loses what is sideways of it, so only the part of n along its heading moves it.
"""

from __future__ import annotations

from formiga.kernels import kernel

# Names of columns; one on each line would fill a page.
# isort: off
from formiga.engine.planar.impulse.bodies import (
    ACC, ACTIVE, BOUNCE, BOUNCED, BOUNCES, CONTACTS, COS, END_X, END_Y, FELT, FROM, FROM_X, FROM_Y, INVERSE_INERTIA,
    INVERSE_MASS, KIND, MIDDLE_X, MIDDLE_Y, NORMAL_X, NORMAL_Y, ONE, OTHER, POINTS, PRESSED, SIN, SLIPS, SPIN, TO, TO_X,
    TO_Y, VX, VY, WELD, WHEELS, X, Y)
# isort: on

STILL = 1e-9       # m/s that counts as no approach


@kernel(inner=True, forceinline=True)
def impulse(approach, restitution, yielding):
    """j = -(1 + eps) v_rel/K, with K the sum of 1/M + (r x n)^2/I of both; 0 if they part. [Klancar et al. 2003, eq. 21]"""
    return -(1.0 + restitution) * approach / yielding if approach < 0.0 and yielding > 0.0 else 0.0


@kernel(inner=True, forceinline=True)
def gives(b, nx, ny, rx, ry, fact):
    """1/M + (r x n)^2/I: how much a free body gives way along n at r."""
    arm = rx * ny - ry * nx
    return fact[b, INVERSE_MASS] + arm * arm * fact[b, INVERSE_INERTIA]


@kernel(inner=True, forceinline=True)
def gives_on_wheels(b, nx, ny, rx, ry, fact, moving, mark):
    """The same for a body that tyres keep from going sideways, unless it slips."""
    arm = rx * ny - ry * nx
    share = 1.0 if mark[b, SLIPS] else nx * moving[b, COS] + ny * moving[b, SIN]
    return fact[b, INVERSE_MASS] * share * share + arm * arm * fact[b, INVERSE_INERTIA]


@kernel(inner=True, forceinline=True)
def push(b, j, nx, ny, rx, ry, fact, moving, mark):
    """Apply j n at r."""
    m = j * fact[b, INVERSE_MASS]
    if mark[b, SLIPS]:
        moving[b, VX] += m * nx
        moving[b, VY] += m * ny
    else:
        c, s = moving[b, COS], moving[b, SIN]
        m *= nx * c + ny * s
        moving[b, VX] += m * c
        moving[b, VY] += m * s
    moving[b, SPIN] += j * (rx * ny - ry * nx) * fact[b, INVERSE_INERTIA]


@kernel(inner=True, forceinline=True)
def approach(a, b, nx, ny, px, py, moving):
    """n . (v_pA - v_pB): negative if A and B come closer at p; b = -1 stands still."""
    rx, ry = px - moving[a, X], py - moving[a, Y]
    v = nx * (moving[a, VX] - moving[a, SPIN] * ry) + ny * (moving[a, VY] + moving[a, SPIN] * rx)
    if b >= 0:
        rx, ry = px - moving[b, X], py - moving[b, Y]
        v -= nx * (moving[b, VX] - moving[b, SPIN] * ry) + ny * (moving[b, VY] + moving[b, SPIN] * rx)
    return v


@kernel(forceinline=True)
def collide(a, b, nx, ny, px, py, restitution, fact, moving, mark):
    """One impact of A and B at p, if they approach; returns its impulse, N s.

    A body that hits one that is not felt goes on as if nothing had been there. [Klancar et al. 2003: robot and ball]
    """
    v = approach(a, b, nx, ny, px, py, moving)
    if v >= 0.0:
        return 0.0
    ax, ay = px - moving[a, X], py - moving[a, Y]
    if b < 0:
        j = impulse(v, restitution, gives(a, nx, ny, ax, ay, fact))
        push(a, j, nx, ny, ax, ay, fact, moving, mark)
        return j
    bx, by = px - moving[b, X], py - moving[b, Y]
    felt_a, felt_b = fact[a, FELT] != 0.0, fact[b, FELT] != 0.0
    moves_a, moves_b = felt_b or not felt_a, felt_a or not felt_b
    K = 0.0
    if moves_a:
        K += gives(a, nx, ny, ax, ay, fact)
    if moves_b:
        K += gives(b, nx, ny, bx, by, fact)
    j = impulse(v, restitution, K)
    if moves_a:
        push(a, j, nx, ny, ax, ay, fact, moving, mark)
    if moves_b:
        push(b, -j, nx, ny, bx, by, fact, moving, mark)
    return j


@kernel(inner=True, forceinline=True)
def impacts(rest, rounds, bodies, joints, w, work, log):
    """Go through all contacts until no two bodies approach faster than `rest`, at most `rounds` times.

    Each bounces once at a moment; what is driven into it again by the others' impulses goes along with it. Else a ball between
    a wall and a robot that does not feel it would be hit to and fro, ever faster.
    """
    contact, point, moving, mark, active, count = work.contact, work.point, work.moving, work.mark, work.active, work.count
    fact, kind = bodies.fact, bodies.kind
    for n in range(count[ACTIVE]):
        mark[active[n], SLIPS] = kind[active[n]] != WHEELS
    for _ in range(rounds):
        again = False
        for k in range(count[CONTACTS]):
            a, b = contact[k, ONE], contact[k, OTHER]
            nx, ny, px, py = point[k, NORMAL_X], point[k, NORMAL_Y], point[k, MIDDLE_X], point[k, MIDDLE_Y]
            if approach(a, b, nx, ny, px, py, moving) < -rest:
                bounces = contact[k, BOUNCED] == 0 and not (mark[a, PRESSED] or (b >= 0 and mark[b, PRESSED]))
                j = collide(a, b, nx, ny, px, py, point[k, BOUNCE] if bounces else 0.0, fact, moving, mark)
                contact[k, BOUNCED] = 1
                mark[a, BOUNCES] += bounces
                if b >= 0:
                    mark[b, BOUNCES] += bounces
                note(w, px, py, nx, ny, j, a, b, log)
                again = True
        if not again:
            break
        for k in range(joints.shape[1]):
            hold(joints[w, k], fact, moving, mark)


@kernel(inner=True, forceinline=True)
def note(w, px, py, nx, ny, j, a, b, log):
    """Write a contact down, unless the list is full."""
    n = log.count[w]
    if n < log.rows.shape[1]:
        row = log.rows[w, n]
        row[0], row[1], row[2], row[3], row[4], row[5], row[6] = px, py, nx, ny, j, a, b
        log.count[w] = n + 1


@kernel(inner=True, forceinline=True)
def lean(bodies, joints, w, rounds, work):
    """Resting and pushing contacts: impulses after which no two bodies approach, and that never pull. Sequential impulses.

    Both ends of a side that lies along another count, so that a flush push stays flush. What is in between two others is
    felt by both: a ball that is pressed against a wall stops the robot. The tyres of a robot that touches something fixed slip
    for as long as it does, or one that stands flush along a board could never turn away from it.
    """
    contact, point, moving, mark, active, count = work.contact, work.point, work.moving, work.mark, work.active, work.count
    fact, kind = bodies.fact, bodies.kind
    C = count[CONTACTS]
    for n in range(count[ACTIVE]):
        mark[active[n], SLIPS] = kind[active[n]] != WHEELS
    for k in range(C):
        point[k, ACC] = point[k, ACC + 1] = 0.0
        if contact[k, OTHER] < 0:
            mark[contact[k, ONE], SLIPS] = True
    for _ in range(5 * rounds):
        most = 0.0
        for k in range(C):
            a, b = contact[k, ONE], contact[k, OTHER]
            nx, ny = point[k, NORMAL_X], point[k, NORMAL_Y]
            for e in range(contact[k, POINTS]):
                px, py = point[k, END_X + 2 * e], point[k, END_Y + 2 * e]
                v = approach(a, b, nx, ny, px, py, moving)
                if v >= -STILL and point[k, ACC + e] == 0.0:
                    continue
                ax, ay = px - moving[a, X], py - moving[a, Y]
                bx = by = 0.0
                K = gives_on_wheels(a, nx, ny, ax, ay, fact, moving, mark)
                if b >= 0:
                    bx, by = px - moving[b, X], py - moving[b, Y]
                    K += gives_on_wheels(b, nx, ny, bx, by, fact, moving, mark)
                if K < 1e-9:
                    continue
                j = max(point[k, ACC + e] - v / K, 0.0) - point[k, ACC + e]
                push(a, j, nx, ny, ax, ay, fact, moving, mark)
                if b >= 0:
                    push(b, -j, nx, ny, bx, by, fact, moving, mark)
                point[k, ACC + e] += j
                most = max(most, abs(j) * K)
        for k in range(joints.shape[1]):
            most = max(most, hold(joints[w, k], fact, moving, mark))
        if most < 1e-6:
            break


# -- welds and pins ---------------------------------------------------------------------------------------------------
@kernel(inner=True)
def lever(b, x, y, moving):
    """A point of a body's frame, from its centre, in the world's frame."""
    return moving[b, COS] * x - moving[b, SIN] * y, moving[b, SIN] * x + moving[b, COS] * y


@kernel(inner=True)
def hold(joint, fact, moving, mark):
    """Impulses that make both ends of a joint move alike; returns how unlike they were, m/s."""
    if joint[KIND] == 0.0:
        return 0.0
    a, b = int(joint[FROM]), int(joint[TO])
    ax, ay = lever(a, joint[FROM_X], joint[FROM_Y], moving)
    bx, by = lever(b, joint[TO_X], joint[TO_Y], moving)
    unlike = 0.0
    if joint[KIND] == WELD:
        spin = moving[a, SPIN] - moving[b, SPIN]
        share = spin / (fact[a, INVERSE_INERTIA] + fact[b, INVERSE_INERTIA])
        moving[a, SPIN] -= share * fact[a, INVERSE_INERTIA]
        moving[b, SPIN] += share * fact[b, INVERSE_INERTIA]
        unlike = abs(spin) * (abs(ax) + abs(ay))
    vx = moving[a, VX] - moving[a, SPIN] * ay - moving[b, VX] + moving[b, SPIN] * by
    vy = moving[a, VY] + moving[a, SPIN] * ax - moving[b, VY] - moving[b, SPIN] * bx
    k11, k12, k22 = give_matrix(a, ax, ay, fact, moving, mark)
    l11, l12, l22 = give_matrix(b, bx, by, fact, moving, mark)
    jx, jy = solve2(k11 + l11, k12 + l12, k22 + l22, -vx, -vy)
    push(a, jx, 1.0, 0.0, ax, ay, fact, moving, mark)
    push(a, jy, 0.0, 1.0, ax, ay, fact, moving, mark)
    push(b, -jx, 1.0, 0.0, bx, by, fact, moving, mark)
    push(b, -jy, 0.0, 1.0, bx, by, fact, moving, mark)
    return max(unlike, abs(vx) + abs(vy))


@kernel(inner=True)
def give_matrix(b, rx, ry, fact, moving, mark):
    """How a point of a body gives way to an impulse: the symmetric matrix (k11, k12, k22)."""
    m, i = fact[b, INVERSE_MASS], fact[b, INVERSE_INERTIA]
    k11, k12, k22 = i * ry * ry, -i * rx * ry, i * rx * rx
    if not mark[b, SLIPS]:
        c, s = moving[b, COS], moving[b, SIN]
        return k11 + m * c * c, k12 + m * c * s, k22 + m * s * s
    return k11 + m, k12, k22 + m


@kernel(inner=True)
def solve2(k11, k12, k22, x, y):
    """K j = (x, y) for a symmetric K; where K gives no way at all, no impulse."""
    ease = 1e-9 * (k11 + k22)
    k11, k22 = k11 + ease, k22 + ease
    det = k11 * k22 - k12 * k12
    return (k22 * x - k12 * y) / det, (k11 * y - k12 * x) / det
