"""Impulses: at an impact, in a resting contact, in a weld or a pin.

A body's speed (vx, vy, spin) changes by an impulse j n at r from its centre as

    v += j n/M,  omega += (r x n) j/I                                   [Klancar et al. 2003, eq. 11-14]
A robot whose tyres do not slide loses what is sideways of it, so only the part of n along its heading moves it.
"""

from __future__ import annotations

from formiga.engine.planar.impulse.forces import settle
from formiga.kernels import kernel

# Names of columns; one on each line would fill a page.
# isort: off
from formiga.engine.planar.impulse.bodies import (
    ACC, ACTIVE, BALL, BOUNCE, BOUNCED, BOUNCES, BUSY, CONTACTS, COS, DRAG, END_X, END_Y, EVEN, FELT, FROM, FROM_X, FROM_Y,
    INVERSE_INERTIA, INVERSE_MASS, KIND, LOAD, MIDDLE_X, MIDDLE_Y, NORMAL_X, NORMAL_Y, ONE, OTHER, POINTS, PRESSED, SIN, SLIPS,
    SPIN, TO, TO_X, TO_Y, VX, VY, WELD, WHEELS, X, Y, YIELDS)
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
def gives_at_most(b, nx, ny, rx, ry, kind, fact, moving, mark):
    """The same for a body that pushes, with its motors and tyres: the most by which `settle` can give way to an impulse."""
    m, i, arm = fact[b, INVERSE_MASS], fact[b, INVERSE_INERTIA], rx * ny - ry * nx
    if kind[b] != WHEELS:
        return m + arm * arm * i
    yields = moving[b, YIELDS] if moving[b, YIELDS] > 0.0 else 1.0
    along = nx * moving[b, COS] + ny * moving[b, SIN]
    across = 1.0 - along * along if mark[b, SLIPS] else 0.0
    return m * (yields * along * along + across) + arm * arm * i * yields


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
def bear(b, j, nx, ny, rx, ry, h, kind, fact, moving, mark):
    """Let j n act at r all through the substep h, together with motors and floor."""
    if mark[b, EVEN]:
        m, y, c, s = j * fact[b, INVERSE_MASS], moving[b, YIELDS], moving[b, COS], moving[b, SIN]
        along = nx * c + ny * s
        if mark[b, SLIPS]:
            along *= y - 1.0
            moving[b, VX] += m * (nx + along * c)
            moving[b, VY] += m * (ny + along * s)
        else:
            along *= y
            moving[b, VX] += m * along * c
            moving[b, VY] += m * along * s
        moving[b, SPIN] += j * (rx * ny - ry * nx) * y * fact[b, INVERSE_INERTIA]
        return
    moving[b, LOAD] += j * nx
    moving[b, LOAD + 1] += j * ny
    moving[b, LOAD + 2] += j * (rx * ny - ry * nx)
    settle(b, h, kind, fact, moving, mark)


@kernel(inner=True)
def twist(b, turn, h, kind, fact, moving, mark):
    """The same with an impulse that only turns, N m s."""
    if mark[b, EVEN]:
        moving[b, SPIN] += turn * moving[b, YIELDS] * fact[b, INVERSE_INERTIA]
        return
    moving[b, LOAD + 2] += turn
    settle(b, h, kind, fact, moving, mark)


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
def collide(a, b, nx, ny, px, py, restitution, friction, fact, moving, mark):
    """One impact of A and B at p, if they approach; returns its impulse along n, N s.

    A body that hits one that is not felt goes on as if nothing had been there. [Klancar et al. 2003: robot and ball]
    """
    v = approach(a, b, nx, ny, px, py, moving)
    if v >= 0.0:
        return 0.0
    ax, ay = px - moving[a, X], py - moving[a, Y]
    bx = by = 0.0
    moves_a, moves_b = True, b >= 0
    if b >= 0:
        bx, by = px - moving[b, X], py - moving[b, Y]
        felt_a, felt_b = fact[a, FELT] != 0.0, fact[b, FELT] != 0.0
        moves_a, moves_b = felt_b or not felt_a, felt_a or not felt_b
    K = 0.0
    if moves_a:
        K += gives(a, nx, ny, ax, ay, fact)
    if moves_b:
        K += gives(b, nx, ny, bx, by, fact)
    j, drag = impulse(v, restitution, K), 0.0
    if friction > 0.0 and j > 0.0:
        across = along = 0.0
        if moves_a:
            across, along = across + gives(a, -ny, nx, ax, ay, fact), along + gives_aside(a, nx, ny, ax, ay, fact)
        if moves_b:
            across, along = across + gives(b, -ny, nx, bx, by, fact), along + gives_aside(b, nx, ny, bx, by, fact)
        j, drag = rub(v, approach(a, b, -ny, nx, px, py, moving), restitution, friction, K, along, across)
    if moves_a:
        push(a, j, nx, ny, ax, ay, fact, moving, mark)
    if moves_b:
        push(b, -j, nx, ny, bx, by, fact, moving, mark)
    if drag != 0.0:
        if moves_a:
            push(a, drag, -ny, nx, ax, ay, fact, moving, mark)
        if moves_b:
            push(b, -drag, -ny, nx, bx, by, fact, moving, mark)
    return j


@kernel(inner=True, forceinline=True)
def gives_aside(b, nx, ny, rx, ry, fact):
    """(r x n)(r x t)/I, t = (-ny, nx): how much a free body gives way along t to an impulse along n."""
    return (rx * ny - ry * nx) * (rx * nx + ry * ny) * fact[b, INVERSE_INERTIA]


@kernel(inner=True)
def rub(v, slip, restitution, friction, knn, knt, ktt):
    """Impulses (j, k) along n and t of an impact with dry friction.

        v' = v + knn j + knt k = -eps v;  s' = s + knt j + ktt k = 0 if |k| <= mu j, else |k| = mu j against s'  (Coulomb)
    Newton's law of restitution with friction can make energy out of nothing where an impact is off the centres. Energy grows by
    j (v + v')/2 + k (s + s')/2; where that is above 0, eps is halved until it is not. For eps = 0 it never is.
    """
    for turn in range(9):
        eps = 0.0 if turn == 8 else restitution * 0.5**turn
        goal = -(1.0 + eps) * v
        det = knn * ktt - knt * knt
        j, k = 0.0, 0.0
        stuck = False
        if det > 1e-12 * knn * ktt:
            j, k = (ktt * goal + knt * slip) / det, -(knn * slip + knt * goal) / det
            stuck = j > 0.0 and abs(k) <= friction * j
        if not stuck:
            side = -1.0 if slip + knt * goal / knn > 0.0 else 1.0      # against the slip that there would be without friction
            j = goal / (knn + side * friction * knt)
            k = side * friction * j
        if j * (2.0 * v + knn * j + knt * k) + k * (2.0 * slip + knt * j + ktt * k) <= 0.0:
            break
    return j, k


@kernel(inner=True, forceinline=True)
def impacts(rest, rounds, friction, bodies, joints, w, work, log):
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
                j = collide(a, b, nx, ny, px, py, point[k, BOUNCE] if bounces else 0.0, friction, fact, moving, mark)
                contact[k, BOUNCED] = 1
                mark[a, BOUNCES] += bounces
                if b >= 0:
                    mark[b, BOUNCES] += bounces
                note(w, px, py, nx, ny, j, a, b, log)
                again = True
        if not again:
            break
        for k in range(joints.shape[1]):
            hold(joints[w, k], 0.0, kind, fact, moving, mark)


@kernel(inner=True, forceinline=True)
def note(w, px, py, nx, ny, j, a, b, log):
    """Write a contact down, unless the list is full."""
    n = log.count[w]
    if n < log.rows.shape[1]:
        row = log.rows[w, n]
        row[0], row[1], row[2], row[3], row[4], row[5], row[6] = px, py, nx, ny, j, a, b
        log.count[w] = n + 1


@kernel(inner=True, forceinline=True)
def lean(h, bodies, joints, w, rounds, friction, work):
    """Resting and pushing contacts: impulses after which no two bodies approach, and that never pull. Sequential impulses.

    They act all through the substep h, and motors and floor with them (`settle`). Both ends of a side that lies along another
    count, so that a flush push stays flush. A body between two others is felt by both: a ball that is pressed against a wall
    stops the robot. The tyres of a robot that touches something fixed slip for as long as it does, or one that stands flush
    along a board could never turn away from it.
    """
    contact, point, moving, mark, active, count = work.contact, work.point, work.moving, work.mark, work.active, work.count
    fact, kind = bodies.fact, bodies.kind
    C = count[CONTACTS]
    for n in range(count[ACTIVE]):
        b = active[n]
        mark[b, SLIPS] = kind[b] != WHEELS
        mark[b, EVEN] = kind[b] == BALL or (kind[b] == WHEELS and moving[b, YIELDS] > 0.0)
        moving[b, LOAD] = moving[b, LOAD + 1] = moving[b, LOAD + 2] = 0.0
    for k in range(C):
        point[k, ACC] = point[k, ACC + 1] = point[k, DRAG] = point[k, DRAG + 1] = 0.0
        if contact[k, OTHER] < 0:
            mark[contact[k, ONE], SLIPS] = True
    for n in range(count[ACTIVE]):
        if mark[active[n], BUSY] and not mark[active[n], EVEN]:
            settle(active[n], h, kind, fact, moving, mark)
    ways = 2 if friction > 0.0 else 1
    for _ in range(5 * rounds):
        most = 0.0
        for k in range(C):
            for e in range(contact[k, POINTS]):
                for way in range(ways):
                    most = max(most, press_on(k, e, way, h, friction, contact, point, kind, fact, moving, mark))
        for k in range(joints.shape[1]):
            most = max(most, hold(joints[w, k], h, kind, fact, moving, mark))
        if most < 1e-6:
            break


@kernel(inner=True, forceinline=True)
def press_on(k, e, way, h, friction, contact, point, kind, fact, moving, mark):
    """One point of a contact; returns by how much it changed a speed, m/s.

    way 0: the impulse along n after which its bodies approach no more, at least 0. way 1: the one along (-ny, nx) after which
    they do not slip, at most mu times the other. A body gives way by at most `gives_at_most`, less while its motors or the
    floor hold it. So a step with that never goes too far; where it does not suffice, two more go by what the last one did.
    """
    a, b = contact[k, ONE], contact[k, OTHER]
    nx, ny, low, high, at = point[k, NORMAL_X], point[k, NORMAL_Y], 0.0, 1e300, ACC + e
    if way == 1:
        high, at = friction * point[k, ACC + e], DRAG + e
        nx, ny, low = -ny, nx, -high
    px, py = point[k, END_X + 2 * e], point[k, END_Y + 2 * e]
    v = approach(a, b, nx, ny, px, py, moving)
    if point[k, at] == 0.0 and (high == 0.0 or (way == 0 and v >= -STILL)):
        return 0.0
    K = gives_at_most(a, nx, ny, px - moving[a, X], py - moving[a, Y], kind, fact, moving, mark)
    if b >= 0:
        K += gives_at_most(b, nx, ny, px - moving[b, X], py - moving[b, Y], kind, fact, moving, mark)
    if K < 1e-9:
        return 0.0
    most, slope = 0.0, K
    even = mark[a, EVEN] and (b < 0 or mark[b, EVEN])
    for _ in range(3):
        j = min(max(point[k, at] - v / slope, low), high) - point[k, at]
        if j == 0.0:
            break
        point[k, at] += j
        for side in range(2 if b >= 0 else 1):
            body, sign = (b, -j) if side == 1 else (a, j)
            bear(body, sign, nx, ny, px - moving[body, X], py - moving[body, Y], h, kind, fact, moving, mark)
        if even:
            return abs(j) * K
        later = approach(a, b, nx, ny, px, py, moving)
        most = max(most, abs(later - v), min(abs(j) * K, abs(v)))
        if abs(later) <= STILL:
            break
        slope = min(max((later - v) / j, 0.125 * K), K)
        v = later
    return most


# -- welds and pins ---------------------------------------------------------------------------------------------------
@kernel(inner=True)
def lever(b, x, y, moving):
    """A point of a body's frame, from its centre, in the world's frame."""
    return moving[b, COS] * x - moving[b, SIN] * y, moving[b, SIN] * x + moving[b, COS] * y


@kernel(inner=True)
def hold(joint, h, kind, fact, moving, mark):
    """Impulses that make both ends of a joint move alike, all through h or, if h is 0, at once; returns how unlike they were,
    m/s."""
    if joint[KIND] == 0.0:
        return 0.0
    a, b = int(joint[FROM]), int(joint[TO])
    ax, ay = lever(a, joint[FROM_X], joint[FROM_Y], moving)
    bx, by = lever(b, joint[TO_X], joint[TO_Y], moving)
    unlike = 0.0
    if joint[KIND] == WELD:
        spin = moving[a, SPIN] - moving[b, SPIN]
        share = spin / (fact[a, INVERSE_INERTIA] + fact[b, INVERSE_INERTIA])
        if h > 0.0:
            twist(a, -share, h, kind, fact, moving, mark)
            twist(b, share, h, kind, fact, moving, mark)
        else:
            moving[a, SPIN] -= share * fact[a, INVERSE_INERTIA]
            moving[b, SPIN] += share * fact[b, INVERSE_INERTIA]
        unlike = abs(spin) * (abs(ax) + abs(ay))
    vx = moving[a, VX] - moving[a, SPIN] * ay - moving[b, VX] + moving[b, SPIN] * by
    vy = moving[a, VY] + moving[a, SPIN] * ax - moving[b, VY] - moving[b, SPIN] * bx
    k11, k12, k22 = give_matrix(a, ax, ay, fact, moving, mark)
    l11, l12, l22 = give_matrix(b, bx, by, fact, moving, mark)
    jx, jy = solve2(k11 + l11, k12 + l12, k22 + l22, -vx, -vy)
    if h > 0.0:
        bear(a, 1.0, jx, jy, ax, ay, h, kind, fact, moving, mark)
        bear(b, -1.0, jx, jy, bx, by, h, kind, fact, moving, mark)
    else:
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
