"""One control period of bodies that hit and push each other, in substeps:

    impacts      bodies that touch and approach faster than a crawl bounce            eq. 21, all contacts, up to `rounds` times
    forces       motors pull, balls roll, slabs slide                                 exact for bodies that touch nothing
    lean         bodies that touch do not go deeper                                   sequential impulses without bounce
    move         all bodies; if two that were apart now overlap, all go back to the moment before
    part         what is left of an overlap is moved apart

Impacts need no smaller substeps: a substep ends where one happens. Touching means closer than `threshold`; a push goes on
inside it, so nothing chatters, and time goes on as fast as ever. [Klancar et al. 2003: threshold, and going back in time]
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import Any, NamedTuple

from formiga.engine.above.outlines import CX, CY, NX, NY
from formiga.engine.planar.contact import count_crash
from formiga.engine.planar.impulse.exchange import listen, load, store
from formiga.engine.planar.impulse.forces import forces, leap
from formiga.engine.planar.impulse.impact import impacts, lean, lever, note
from formiga.engine.planar.impulse.pairs import near_ones
from formiga.engine.planar.impulse.parts import meet
from formiga.kernels import kernel

# Names of columns; one on each line would fill a page.
# isort: off
from formiga.engine.planar.impulse.bodies import (
    ACC, ACTIVE, BEFORE, BEGAN, BOUNCE, BOUNCED, BOUNCES, BUSY, CONTACTS, COS, END_X, END_Y, FROM, FROM_X, FROM_Y, GAP,
    HEADING, HIT, INNER, INVERSE_INERTIA, INVERSE_MASS, KIND, LOST, MARGIN, MIDDLE_X, MIDDLE_Y, NORMAL_X, NORMAL_Y, ONE,
    OTHER, PAIRED, PAIRS, POINTS, PRESSED, REACH, RESTITUTION, SEEN, SHIFT_HEADING, SHIFT_X, SHIFT_Y, SIN, SPIN, STAYS,
    STRAYED, SUBSTEPS, TO, TO_ANGLE, TO_X, TO_Y, TRAVEL, VX, VY, WALL_RESTITUTION, WAS_HEADING, WAS_X, WAS_Y, WELD, WHEELS,
    X, Y)
# isort: on

DEEP = 4e-5        # m: overlaps up to this are left alone
LEAST = 1.0 / 64   # of a substep: time goes on by at least so much, however many impacts there are ...
MOST = 64          # times the usual number of substeps, after which a control period ends early and counts as unresolved
SHORTEST = 1e-6    # s, ... and by so much
SPARE = 1.4143     # by which `bounded` takes a body to be faster than it is: corners that meet corners go deep at once
OFTEN = 4          # impacts of a body in one control period, after which it may be pressed
PARTING = 40       # rounds of moving apart


class Rules(NamedTuple):
    """Numbers of a <contact model="impulse">."""

    dt: float
    substep: float
    threshold: float
    rest: float
    rounds: int
    margin: float      # m that bodies may go before the list of pairs is made anew
    friction: float    # between bodies, and between bodies and what is fixed


class Log(NamedTuple):
    """The contacts of the last control period."""

    rows: Any          # (W, C, 7) x y nx ny impulse a b
    count: Any         # (W,)


# -- where bodies are -------------------------------------------------------------------------------------------------
@kernel(inner=True, forceinline=True)
def stand(b, bodies, work):
    """Write a body's corners in the world's frame, from its pose."""
    moving, at, fact, own, first, part = (work.moving, work.corners.corner, bodies.fact, bodies.corner, bodies.first,
                                          bodies.first_part)
    x, y, c, s = moving[b, X], moving[b, Y], moving[b, COS], moving[b, SIN]
    if fact[b, INNER] == fact[b, REACH]:  # a disc
        k = first[part[b]]
        at[k, CX], at[k, CY] = x, y
        return
    for k in range(first[part[b]], first[part[b + 1]]):
        at[k, CX], at[k, CY] = x + c * own[k, CX] - s * own[k, CY], y + s * own[k, CX] + c * own[k, CY]
        at[k, NX], at[k, NY] = c * own[k, NX] - s * own[k, NY], s * own[k, NX] + c * own[k, NY]


@kernel(inner=True, forceinline=True)
def put(b, x, y, heading, bodies, work):
    """Put a body somewhere."""
    moving = work.moving
    moving[b, X], moving[b, Y] = x, y
    if heading != moving[b, HEADING]:
        moving[b, HEADING], moving[b, COS], moving[b, SIN] = heading, cos(heading), sin(heading)
    stand(b, bodies, work)


@kernel(inner=True, forceinline=True)
def stand_all(bodies, work):
    """The active bodies where their poses say."""
    moving, active = work.moving, work.active
    for n in range(work.count[ACTIVE]):
        b = active[n]
        moving[b, COS], moving[b, SIN] = cos(moving[b, HEADING]), sin(moving[b, HEADING])
        stand(b, bodies, work)


# -- contacts ---------------------------------------------------------------------------------------------------------
@kernel(inner=True)
def look(threshold, bodies, work):
    """Find all contacts: measure the pairs that may be within `threshold`. Returns the deepest overlap, as a gap."""
    pair, apart, body, corners, contact, point = work.pair, work.apart, work.body, work.corners, work.contact, work.point
    moving, mark, count, active, fact, N = work.moving, work.mark, work.count, work.active, bodies.fact, bodies.robots
    for n in range(count[ACTIVE]):
        mark[active[n], BUSY] = False
    C, deepest = 0, 0.0
    for q in range(count[PAIRS]):
        a, b = body[pair[q, 0]], body[pair[q, 1]]
        gone = moving[a, TRAVEL] + (moving[b, TRAVEL] if b >= 0 else 0.0)
        if apart[q, SEEN] - gone > threshold:
            apart[q, GAP] = apart[q, SEEN] - gone
            continue
        m = meet(pair[q, 0], pair[q, 1], corners)
        gap = m.near if m.points > 0 else max(m.gap, 2.0 * threshold)  # past each other's ends: not in touch
        apart[q, GAP], apart[q, SEEN] = gap, m.gap + gone
        deepest = min(deepest, gap)
        if gap > threshold or contact.shape[0] == C:
            continue
        points = 2 if m.points == 2 and m.far <= threshold else 1
        contact[C, ONE], contact[C, OTHER], contact[C, POINTS], contact[C, BOUNCED] = a, b, points, 0
        point[C, NORMAL_X], point[C, NORMAL_Y] = m.nx, m.ny
        point[C, MIDDLE_X], point[C, MIDDLE_Y] = (
            (0.5 * (m.px + m.qx), 0.5 * (m.py + m.qy)) if points == 2 else (m.px, m.py))
        point[C, END_X], point[C, END_Y], point[C, END_X + 2], point[C, END_Y + 2] = m.px, m.py, m.qx, m.qy
        point[C, BOUNCE] = fact[a, WALL_RESTITUTION] if b < 0 else max(fact[a, RESTITUTION], fact[b, RESTITUTION])
        mark[a, BUSY] = True
        if b >= 0:
            mark[b, BUSY] = True
        if b < N and a < N:
            mark[a, HIT] = True
            if b >= 0:
                mark[b, HIT] = True
        C += 1
    count[CONTACTS] = C
    return deepest


@kernel(inner=True)
def overlap_at(q, share, bodies, work):
    """The gap of a pair when its two bodies have gone that share of their way."""
    moving, pair, body = work.moving, work.pair, work.body
    for side in range(2):
        b = body[pair[q, side]]
        if b >= 0:
            put(b, moving[b, WAS_X] + share * moving[b, SHIFT_X], moving[b, WAS_Y] + share * moving[b, SHIFT_Y],
                moving[b, WAS_HEADING] + share * moving[b, SHIFT_HEADING], bodies, work)
    m = meet(pair[q, 0], pair[q, 1], work.corners)
    return m.near if m.points > 0 else m.gap


@kernel(inner=True, forceinline=True)
def before_overlap(q, share, threshold, bodies, work):
    """The share of the way, at most `share`, at which a pair that overlaps there was just in touch: the secant rule."""
    low, high, above, below = 0.0, share, work.apart[q, BEFORE], work.apart[q, GAP]
    if share < 1.0:
        below = overlap_at(q, share, bodies, work)
        if below >= -DEEP:
            return share
    goal = 0.25 * threshold if above > 0.5 * threshold else -0.75 * DEEP
    for turn in range(16):
        middle = low + (high - low) * (above - goal) / (above - below)
        if turn % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        gap = overlap_at(q, middle, bodies, work)
        if gap < -DEEP:
            high, below = middle, gap
        else:
            low, above = middle, gap
            if gap <= goal + 0.5 * threshold:
                break
    return low


# -- moving -----------------------------------------------------------------------------------------------------------
@kernel(inner=True, forceinline=True)
def move(bodies, work, h):
    """Every body along its way: exact if it is free, straight at its final speed if it touches something."""
    moving, mark, active, fact = work.moving, work.mark, work.active, bodies.fact
    for n in range(work.count[ACTIVE]):
        b = active[n]
        moving[b, WAS_X], moving[b, WAS_Y], moving[b, WAS_HEADING] = moving[b, X], moving[b, Y], moving[b, HEADING]
        if mark[b, BUSY]:
            for k in range(3):
                moving[b, SHIFT_X + k] = moving[b, VX + k] * h
        go(b, moving[b, X] + moving[b, SHIFT_X], moving[b, Y] + moving[b, SHIFT_Y],
           moving[b, HEADING] + moving[b, SHIFT_HEADING], bodies, work)
        way = sqrt(moving[b, SHIFT_X] ** 2 + moving[b, SHIFT_Y] ** 2)
        moving[b, STRAYED] += way
        moving[b, TRAVEL] += way + fact[b, REACH] * abs(moving[b, SHIFT_HEADING])


@kernel(inner=True, forceinline=True)
def go(b, x, y, heading, bodies, work):
    """`put`, and a robot on wheels keeps going where it now looks."""
    moving = work.moving
    ahead = moving[b, VX] * moving[b, COS] + moving[b, VY] * moving[b, SIN]
    put(b, x, y, heading, bodies, work)
    if bodies.kind[b] == WHEELS:
        moving[b, VX], moving[b, VY] = ahead * moving[b, COS], ahead * moving[b, SIN]


@kernel(inner=True, forceinline=True)
def step_back(threshold, bodies, work):
    """The share of the substep after which the first new overlap begins; 1 if there is none."""
    share, apart = 1.0, work.apart
    for q in range(work.count[PAIRS]):
        if apart[q, GAP] < -DEEP and apart[q, BEFORE] > -0.5 * DEEP:  # one that went deep before is only moved apart
            share = before_overlap(q, share, threshold, bodies, work)
    return share


@kernel(inner=True, forceinline=True)
def press(work):
    """A body that has bounced several times and overlaps again after hardly any time is hit from two sides, ever faster; it
    bounces no more."""
    mark, apart, pair, body = work.mark, work.apart, work.pair, work.body
    for q in range(work.count[PAIRS]):
        if apart[q, GAP] < -DEEP:
            for side in range(2):
                b = body[pair[q, side]]
                if b >= 0 and mark[b, BOUNCES] >= OFTEN:
                    mark[b, PRESSED] = True


@kernel(inner=True, forceinline=True)
def rewind(share, bodies, work):
    """All bodies at a share of their way, with speeds in between."""
    moving, active, fact = work.moving, work.active, bodies.fact
    for n in range(work.count[ACTIVE]):
        b = active[n]
        put(b, moving[b, WAS_X] + share * moving[b, SHIFT_X], moving[b, WAS_Y] + share * moving[b, SHIFT_Y],
            moving[b, WAS_HEADING] + share * moving[b, SHIFT_HEADING], bodies, work)
        for k in range(3):
            moving[b, VX + k] = moving[b, BEGAN + k] + share * (moving[b, VX + k] - moving[b, BEGAN + k])
        go(b, moving[b, X], moving[b, Y], moving[b, HEADING], bodies, work)
        back = sqrt(moving[b, SHIFT_X] ** 2 + moving[b, SHIFT_Y] ** 2) + fact[b, REACH] * abs(moving[b, SHIFT_HEADING])
        moving[b, TRAVEL] += (1.0 - share) * back  # the way back is a way, too: gaps were measured at its far end


@kernel(inner=True)
def part(bodies, work):
    """Move overlapping bodies apart, in rounds, each of two by half.

    What is fixed comes last in a round, and no body is moved far at once, so that none is moved through a wall.
    """
    pair, body, apart, corners, moving, fact = work.pair, work.body, work.apart, work.corners, work.moving, bodies.fact
    for _ in range(PARTING):
        deepest = 0.0
        for fixed in range(2):
            for q in range(work.count[PAIRS]):
                a, b = body[pair[q, 0]], body[pair[q, 1]]
                gone = moving[a, TRAVEL] + (moving[b, TRAVEL] if b >= 0 else 0.0)
                if (b < 0) != (fixed == 1) or apart[q, SEEN] - gone > 0.0:
                    continue
                m = meet(pair[q, 0], pair[q, 1], corners)
                apart[q, SEEN] = m.gap + gone
                if m.points == 0 or m.near >= -DEEP:
                    continue
                deepest = min(deepest, m.near)
                way = 0.25 * DEEP - m.near
                if b >= 0:
                    way = min(0.5 * way, 0.25 * min(fact[a, INNER], fact[b, INNER]))
                    put(b, moving[b, X] - way * m.nx, moving[b, Y] - way * m.ny, moving[b, HEADING], bodies, work)
                    moving[b, TRAVEL] += way
                    moving[b, STRAYED] += way
                put(a, moving[a, X] + way * m.nx, moving[a, Y] + way * m.ny, moving[a, HEADING], bodies, work)
                moving[a, TRAVEL] += way
                moving[a, STRAYED] += way
        if deepest == 0.0:
            break


@kernel(inner=True)
def fit(joint, bodies, work):
    """Bring the two ends of a joint together again: what is left of a substep's straight moves."""
    if joint[KIND] == 0.0:
        return
    moving, fact = work.moving, bodies.fact
    a, b = int(joint[FROM]), int(joint[TO])
    if joint[KIND] == WELD:
        off = moving[b, HEADING] - moving[a, HEADING] - joint[TO_ANGLE]
        ia, ib = fact[a, INVERSE_INERTIA], fact[b, INVERSE_INERTIA]
        put(a, moving[a, X], moving[a, Y], moving[a, HEADING] + off * ia / (ia + ib), bodies, work)
        put(b, moving[b, X], moving[b, Y], moving[b, HEADING] - off * ib / (ia + ib), bodies, work)
    ax, ay = lever(a, joint[FROM_X], joint[FROM_Y], moving)
    bx, by = lever(b, joint[TO_X], joint[TO_Y], moving)
    gx, gy = moving[b, X] + bx - moving[a, X] - ax, moving[b, Y] + by - moving[a, Y] - ay
    share = fact[a, INVERSE_MASS] / (fact[a, INVERSE_MASS] + fact[b, INVERSE_MASS])
    put(a, moving[a, X] + share * gx, moving[a, Y] + share * gy, moving[a, HEADING], bodies, work)
    put(b, moving[b, X] - (1.0 - share) * gx, moving[b, Y] - (1.0 - share) * gy, moving[b, HEADING], bodies, work)
    way = abs(gx) + abs(gy)
    for k in (a, b):
        moving[k, TRAVEL] += way
        moving[k, STRAYED] += way


@kernel(inner=True, forceinline=True)
def bounded(h, bodies, work):
    """The substep, shorter if a fast body could pass through something: none goes further than half of what it is thick."""
    moving, active, fact = work.moving, work.active, bodies.fact
    for n in range(work.count[ACTIVE]):
        b = active[n]
        most, turns = 0.5 * fact[b, INNER], fact[b, REACH] * abs(moving[b, SPIN])
        if (SPARE * (abs(moving[b, VX]) + abs(moving[b, VY])) + turns) * h > most:          # a bound that needs no root
            fast = SPARE * sqrt(moving[b, VX] ** 2 + moving[b, VY] ** 2) + turns            # the same in all directions
            if fast * h > most:
                h = most / fast
    return h


@kernel(inner=True, forceinline=True)
def about_to_leave(h, work):
    """Whether a body will have gone further than its margin after this substep."""
    moving, active = work.moving, work.active
    for n in range(work.count[ACTIVE]):
        b = active[n]
        square = max(h * h * (moving[b, VX] ** 2 + moving[b, VY] ** 2), moving[b, SHIFT_X] ** 2 + moving[b, SHIFT_Y] ** 2)
        if moving[b, STRAYED] + sqrt(square) > moving[b, MARGIN]:
            return True
    return False


# -- the step ---------------------------------------------------------------------------------------------------------
@kernel(inner=True, forceinline=True)
def begin(b, h, usual, w, orders, alive, kind, fact, moving):
    """Remember a body's speed, then let forces change it."""
    for k in range(3):
        moving[b, BEGAN + k] = moving[b, VX + k]
    forces(b, h, usual, w, orders, alive, kind, fact, moving)


@kernel(inner=True, forceinline=True)
def look_around(h, time, base, rules, w, orders, alive, shapes, near, joints, bodies, work, grid):
    """List the pairs anew in the middle of a control period, before a body leaves its margin.

    A body that waited comes to this moment; one that is active stays so, because forces have begun to act on it.
    """
    moving, mark, active, kind, fact = work.moving, work.mark, work.active, bodies.kind, bodies.fact
    B = moving.shape[0]
    for b in range(B):
        mark[b, STAYS] = mark[b, PAIRED]
        if not mark[b, PAIRED]:
            leap(b, time - base, rules, w, orders, alive, kind, fact, moving)
    near_ones(w, time, rules, orders, alive, shapes, near, joints, bodies, work, grid)
    n = 0
    for b in range(B):
        if mark[b, PAIRED] and not mark[b, STAYS]:
            moving[b, COS], moving[b, SIN] = cos(moving[b, HEADING]), sin(moving[b, HEADING])
            stand(b, bodies, work)
            begin(b, h, rules.substep, w, orders, alive, kind, fact, moving)
        mark[b, PAIRED] = mark[b, PAIRED] or mark[b, STAYS]
        if mark[b, PAIRED]:
            active[n] = b
            n += 1
    work.count[ACTIVE] = n
    look(rules.threshold, bodies, work)


@kernel()
def advance_all(rules, limit, end_at_limit, told, drives, orders, wheels, wheel_angle, alive, crashed, crashes, done, step,
                unresolved, position, heading, velocity, movables, joints, shapes, near, bodies, work, grid, log):
    """One control period of every world that has not ended, its drives told (W, N, D); then clocks and crashes.

    orders (W, N, 3): the twists that they shall have, and at the end those that they have.

    Only active bodies, which could meet something, go in substeps; the others wait at time `base` and leap at the end.
    """
    N = bodies.robots
    moving, mark, count, active, apart = work.moving, work.mark, work.count, work.active, work.apart
    contact, point, kind, fact = work.contact, work.point, bodies.kind, bodies.fact
    for w in range(position.shape[0]):
        if done[w]:
            for i in range(N):
                for k in range(wheels.shape[2]):
                    wheels[w, i, k] = 0.0
                orders[w, i, 0] = orders[w, i, 1] = orders[w, i, 2] = 0.0
            continue
        listen(w, told, drives, wheels, orders)
        load(w, position, heading, velocity, movables, bodies, work)
        log.count[w] = 0
        time, base, substeps, deepest = 0.0, 0.0, 0, 0.0
        near_ones(w, 0.0, rules, orders, alive, shapes, near, joints, bodies, work, grid)
        lost = count[LOST]
        if count[ACTIVE] > 0:
            stand_all(bodies, work)
            deepest = look(rules.threshold, bodies, work)
            if deepest < -DEEP:
                part(bodies, work)
                deepest = look(rules.threshold, bodies, work)
        while count[ACTIVE] > 0 and time < rules.dt * (1.0 - 1e-9):
            substeps += 1
            if substeps > MOST * (1.0 + rules.dt / rules.substep):  # something spins or is thrown about beyond all sense
                lost += 1
                break
            if count[CONTACTS] > 0:
                impacts(rules.rest, rules.rounds, rules.friction, bodies, joints, w, work, log)
            h = bounded(min(rules.substep, rules.dt - time), bodies, work)
            if rules.dt - time - h < 1e-9:
                h = rules.dt - time
            for n in range(count[ACTIVE]):
                begin(active[n], h, rules.substep, w, orders, alive, kind, fact, moving)
            if count[CONTACTS] > 0 or joints.shape[1] > 0:
                for k in range(joints.shape[1]):
                    if joints[w, k, 0] != 0.0:
                        mark[int(joints[w, k, 1]), BUSY] = mark[int(joints[w, k, 2]), BUSY] = True
                lean(h, bodies, joints, w, rules.rounds, rules.friction, work)
            if about_to_leave(h, work):
                look_around(h, time, base, rules, w, orders, alive, shapes, near, joints, bodies, work, grid)
                base, lost = time, lost + count[LOST]
            for q in range(count[PAIRS]):
                apart[q, BEFORE] = apart[q, GAP]
            move(bodies, work, h)
            for k in range(joints.shape[1]):
                fit(joints[w, k], bodies, work)
            deepest = look(rules.threshold, bodies, work)
            if deepest < -DEEP:
                share = step_back(rules.threshold, bodies, work)
                least = min(1.0, max(LEAST, SHORTEST / h))
                if share < least:
                    press(work)
                    share = least
                h *= share
                rewind(share, bodies, work)
                for k in range(joints.shape[1]):
                    fit(joints[w, k], bodies, work)
                deepest = look(rules.threshold, bodies, work)
                if deepest < -DEEP:
                    part(bodies, work)
                    deepest = look(rules.threshold, bodies, work)
            time += h
        for b in range(moving.shape[0]):
            if not mark[b, PAIRED]:
                leap(b, rules.dt - base, rules, w, orders, alive, kind, fact, moving)
        for k in range(count[CONTACTS]):
            j = point[k, ACC] + point[k, ACC + 1]
            if j > 0.0:
                note(w, point[k, MIDDLE_X], point[k, MIDDLE_Y], point[k, NORMAL_X], point[k, NORMAL_Y], j, contact[k, ONE],
                     contact[k, OTHER], log)
        count[SUBSTEPS] = substeps
        store(w, position, heading, velocity, wheels, wheel_angle, orders, movables, rules.dt, drives, bodies, work)
        gap = -1.0 if lost > 0 else deepest
        unresolved[w] += gap < -1e-4
        step[w] += 1
        living = 0
        for i in range(N):
            count_crash(w, i, mark[i, HIT] != 0, limit, end_at_limit, alive, crashed, crashes, done)
            living += alive[w, i]
        if living == 0 and limit > 0 and N > 0:
            done[w] = True
