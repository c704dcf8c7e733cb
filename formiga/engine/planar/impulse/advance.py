"""One control period of bodies that hit and push each other, in substeps:

    impacts      whoever touches and approaches faster than a crawl bounces           eq. 21, all contacts, up to `rounds` times
    forces       motors pull, balls roll, slabs slide                                 exact for bodies that touch nothing
    lean         whoever touches does not go deeper                                   sequential impulses without bounce
    move         all bodies; if two that were apart now overlap, all go back to the moment before
    part         what is left of an overlap is moved apart

Impacts need no smaller substeps: a substep ends where one happens. Touching means closer than `threshold`; a push goes on
inside it, so nothing chatters, and time goes on as fast as ever. [Klancar et al. 2003: threshold, and going back in time]
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import Any, NamedTuple

from formiga.engine.planar.contact import count_crash
from formiga.engine.planar.impulse.bodies import WELD, WHEELS
from formiga.engine.planar.impulse.forces import forces, leap
from formiga.engine.planar.impulse.impact import impacts, lean, lever, note
from formiga.engine.planar.impulse.pairs import near_ones
from formiga.engine.planar.impulse.parts import meet
from formiga.kernels import kernel

DEEP = 4e-5        # m: overlaps up to this are left alone
LEAST = 1.0 / 64   # of a substep: time goes on by at least so much, however many impacts there are ...
MOST = 64          # times the usual number of substeps, after which a control period ends early and counts as unresolved
SHORTEST = 1e-6    # s, ... and by so much
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


class Log(NamedTuple):
    """The contacts of the last control period."""

    rows: Any          # (W, C, 7) x y nx ny impulse a b
    count: Any         # (W,)


# -- where bodies are -------------------------------------------------------------------------------------------------
@kernel(forceinline=True)
def stand(b, bodies, room):
    """Write a body's corners in the world's frame, from its pose."""
    x, y, c, s = room.pose[b, 0], room.pose[b, 1], room.pose[b, 3], room.pose[b, 4]
    corners, own = room.corners, bodies.corner
    if bodies.inner[b] == bodies.reach[b]:  # a disc
        k = bodies.first[bodies.first_part[b]]
        corners.x[k], corners.y[k] = x, y
        return
    for k in range(bodies.first[bodies.first_part[b]], bodies.first[bodies.first_part[b + 1]]):
        corners.x[k], corners.y[k] = x + c * own[k, 0] - s * own[k, 1], y + s * own[k, 0] + c * own[k, 1]
        corners.nx[k], corners.ny[k] = c * own[k, 2] - s * own[k, 3], s * own[k, 2] + c * own[k, 3]


@kernel(forceinline=True)
def put(b, x, y, heading, bodies, room):
    """Put a body somewhere."""
    pose = room.pose
    pose[b, 0], pose[b, 1] = x, y
    if heading != pose[b, 2]:
        pose[b, 2], pose[b, 3], pose[b, 4] = heading, cos(heading), sin(heading)
    stand(b, bodies, room)


@kernel(inline="always")
def load(w, position, heading, motion, loose, bodies, room):
    """From the state into the working memory."""
    N, pose, speed = bodies.robots, room.pose, room.speed
    for b in range(bodies.kind.shape[0]):
        room.hit[b], room.pressed[b], room.bounces[b] = False, False, 0
        if b < N:
            pose[b, 0], pose[b, 1], pose[b, 2] = position[w, b, 0], position[w, b, 1], heading[w, b]
            speed[b, 0], speed[b, 1], speed[b, 2] = motion[w, b, 0], motion[w, b, 1], motion[w, b, 2]
        else:
            row = loose[w, b - N]
            pose[b, 0], pose[b, 1], pose[b, 2] = row[0], row[1], row[2]
            speed[b, 0], speed[b, 1], speed[b, 2] = row[3], row[4], row[5]
            room.roll[b, 0], room.roll[b, 1] = row[6], row[7]


@kernel(forceinline=True)
def stand_all(bodies, room):
    """The active bodies where their poses say."""
    pose = room.pose
    for n in range(room.count[4]):
        b = room.active[n]
        pose[b, 3], pose[b, 4] = cos(pose[b, 2]), sin(pose[b, 2])
        stand(b, bodies, room)


@kernel(inline="always")
def store(w, position, heading, motion, wheels, loose, bodies, room):
    """From the working memory into the state; wheels as they turn now."""
    N, pose, speed = bodies.robots, room.pose, room.speed
    for b in range(bodies.kind.shape[0]):
        if b < N:
            position[w, b, 0], position[w, b, 1], heading[w, b] = pose[b, 0], pose[b, 1], pose[b, 2]
            motion[w, b, 0], motion[w, b, 1], motion[w, b, 2] = speed[b, 0], speed[b, 1], speed[b, 2]
            ahead = speed[b, 0] * cos(pose[b, 2]) + speed[b, 1] * sin(pose[b, 2])
            half = 0.5 * speed[b, 2] * bodies.base[b]
            wheels[w, b, 0], wheels[w, b, 1] = ahead - half, ahead + half
        else:
            row = loose[w, b - N]
            row[0], row[1], row[2] = pose[b, 0], pose[b, 1], pose[b, 2]
            row[3], row[4], row[5] = speed[b, 0], speed[b, 1], speed[b, 2]
            row[6], row[7] = room.roll[b, 0], room.roll[b, 1]


# -- contacts ---------------------------------------------------------------------------------------------------------
@kernel()
def look(threshold, bodies, room):
    """Find all contacts: measure the pairs that may be within `threshold`. Returns the deepest overlap, as a gap."""
    pair, seen, body, travel = room.pair, room.seen, room.body, room.travel
    for n in range(room.count[4]):
        room.busy[room.active[n]] = False
    C, deepest = 0, 0.0
    for q in range(room.count[0]):
        a, b = body[pair[q, 0]], body[pair[q, 1]]
        gone = travel[a] + (travel[b] if b >= 0 else 0.0)
        if seen[q] - gone > threshold:
            room.gap[q] = seen[q] - gone
            continue
        m = meet(pair[q, 0], pair[q, 1], room.corners)
        gap = m.near if m.points > 0 else max(m.gap, 2.0 * threshold)  # past each other's ends: not in touch
        room.gap[q], seen[q] = gap, m.gap + gone
        deepest = min(deepest, gap)
        if gap > threshold or room.contact.shape[0] == C:
            continue
        points = 2 if m.points == 2 and m.far <= threshold else 1
        contact, point = room.contact[C], room.point[C]
        contact[0], contact[1], contact[2], contact[3] = a, b, points, 0
        point[0], point[1] = m.nx, m.ny
        point[2], point[3] = (0.5 * (m.px + m.qx), 0.5 * (m.py + m.qy)) if points == 2 else (m.px, m.py)
        point[4], point[5], point[6], point[7] = m.px, m.py, m.qx, m.qy
        point[8] = bodies.wall_restitution[a] if b < 0 else max(bodies.restitution[a], bodies.restitution[b])
        room.busy[a] = True
        if b >= 0:
            room.busy[b] = True
        N = bodies.robots
        if b < N and a < N:
            room.hit[a] = True
            if b >= 0:
                room.hit[b] = True
        C += 1
    room.count[1] = C
    return deepest


@kernel()
def overlap_at(q, share, bodies, room):
    """The gap of a pair when its two bodies have gone that share of their way."""
    for side in range(2):
        b = room.body[room.pair[q, side]]
        if b >= 0:
            put(b, room.was[b, 0] + share * room.shift[b, 0], room.was[b, 1] + share * room.shift[b, 1],
                room.was[b, 2] + share * room.shift[b, 2], bodies, room)
    m = meet(room.pair[q, 0], room.pair[q, 1], room.corners)
    return m.near if m.points > 0 else m.gap


@kernel()
def before_overlap(q, share, threshold, bodies, room):
    """The share of the way, at most `share`, at which a pair that overlaps there was just in touch: the secant rule."""
    low, high, above, below = 0.0, share, room.before[q], room.gap[q]
    if share < 1.0:
        below = overlap_at(q, share, bodies, room)
        if below >= -DEEP:
            return share
    goal = 0.25 * threshold if above > 0.5 * threshold else -0.75 * DEEP
    for turn in range(16):
        middle = low + (high - low) * (above - goal) / (above - below)
        if turn % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        gap = overlap_at(q, middle, bodies, room)
        if gap < -DEEP:
            high, below = middle, gap
        else:
            low, above = middle, gap
            if gap <= goal + 0.5 * threshold:
                break
    return low


# -- moving -----------------------------------------------------------------------------------------------------------
@kernel(inline="always")
def move(bodies, room, h):
    """Every body along its way: exact if it is free, straight at its final speed if it touches something."""
    pose, speed, shift, was = room.pose, room.speed, room.shift, room.was
    for n in range(room.count[4]):
        b = room.active[n]
        was[b, 0], was[b, 1], was[b, 2] = pose[b, 0], pose[b, 1], pose[b, 2]
        if room.busy[b]:
            shift[b, 0], shift[b, 1], shift[b, 2] = speed[b, 0] * h, speed[b, 1] * h, speed[b, 2] * h
        go(b, pose[b, 0] + shift[b, 0], pose[b, 1] + shift[b, 1], pose[b, 2] + shift[b, 2], bodies, room)
        way = sqrt(shift[b, 0] ** 2 + shift[b, 1] ** 2)
        room.strayed[b] += way
        room.travel[b] += way + bodies.reach[b] * abs(shift[b, 2])


@kernel(forceinline=True)
def go(b, x, y, heading, bodies, room):
    """`put`, and a robot on wheels keeps going where it now looks."""
    speed, pose = room.speed, room.pose
    ahead = speed[b, 0] * pose[b, 3] + speed[b, 1] * pose[b, 4]
    put(b, x, y, heading, bodies, room)
    if bodies.kind[b] == WHEELS:
        speed[b, 0], speed[b, 1] = ahead * pose[b, 3], ahead * pose[b, 4]


@kernel()
def step_back(threshold, bodies, room):
    """The share of the substep after which the first new overlap begins; 1 if there is none."""
    share = 1.0
    for q in range(room.count[0]):
        if room.gap[q] < -DEEP and room.before[q] > -0.5 * DEEP:  # one that went deep before is only moved apart
            share = before_overlap(q, share, threshold, bodies, room)
    return share


@kernel(inline="always")
def press(room):
    """Whoever has bounced several times and overlaps again after hardly any time is hit from two sides, ever faster; it shall
    bounce no more."""
    for q in range(room.count[0]):
        if room.gap[q] < -DEEP:
            for side in range(2):
                b = room.body[room.pair[q, side]]
                if b >= 0 and room.bounces[b] >= OFTEN:
                    room.pressed[b] = True


@kernel(inline="always")
def rewind(share, bodies, room):
    """All bodies at a share of their way, with speeds in between."""
    was, shift, speed, began = room.was, room.shift, room.speed, room.began
    for n in range(room.count[4]):
        b = room.active[n]
        put(b, was[b, 0] + share * shift[b, 0], was[b, 1] + share * shift[b, 1], was[b, 2] + share * shift[b, 2], bodies, room)
        for k in range(3):
            speed[b, k] = began[b, k] + share * (speed[b, k] - began[b, k])
        go(b, room.pose[b, 0], room.pose[b, 1], room.pose[b, 2], bodies, room)
        back = sqrt(shift[b, 0] ** 2 + shift[b, 1] ** 2) + bodies.reach[b] * abs(shift[b, 2])
        room.travel[b] += (1.0 - share) * back  # the way back is a way, too: gaps were measured at its far end


@kernel()
def part(threshold, bodies, room):
    """Move overlapping bodies apart, in rounds, each of two by half. Returns the deepest overlap that is left, as a gap.

    What is fixed comes last in a round, and nobody is moved far at once, so that nobody is moved through a wall.
    """
    pair, body, pose, inner = room.pair, room.body, room.pose, bodies.inner
    for _ in range(PARTING):
        deepest = 0.0
        for fixed in range(2):
            for q in range(room.count[0]):
                a, b = body[pair[q, 0]], body[pair[q, 1]]
                gone = room.travel[a] + (room.travel[b] if b >= 0 else 0.0)
                if (b < 0) != (fixed == 1) or room.seen[q] - gone > 0.0:
                    continue
                m = meet(pair[q, 0], pair[q, 1], room.corners)
                room.seen[q] = m.gap + gone
                if m.points == 0 or m.near >= -DEEP:
                    continue
                deepest = min(deepest, m.near)
                way = 0.25 * DEEP - m.near
                if b >= 0:
                    way = min(0.5 * way, 0.25 * min(inner[a], inner[b]))
                    put(b, pose[b, 0] - way * m.nx, pose[b, 1] - way * m.ny, pose[b, 2], bodies, room)
                    room.travel[b] += way
                    room.strayed[b] += way
                put(a, pose[a, 0] + way * m.nx, pose[a, 1] + way * m.ny, pose[a, 2], bodies, room)
                room.travel[a] += way
                room.strayed[a] += way
        if deepest == 0.0:
            break
    return look(threshold, bodies, room)


@kernel()
def fit(joint, bodies, room):
    """Bring the two ends of a joint together again: what is left of a substep's straight moves."""
    if joint[0] == 0.0:
        return
    pose = room.pose
    a, b = int(joint[1]), int(joint[2])
    if joint[0] == WELD:
        off = pose[b, 2] - pose[a, 2] - joint[7]
        ia, ib = bodies.inverse_inertia[a], bodies.inverse_inertia[b]
        put(a, pose[a, 0], pose[a, 1], pose[a, 2] + off * ia / (ia + ib), bodies, room)
        put(b, pose[b, 0], pose[b, 1], pose[b, 2] - off * ib / (ia + ib), bodies, room)
    ax, ay = lever(a, joint[3], joint[4], pose)
    bx, by = lever(b, joint[5], joint[6], pose)
    gx, gy = pose[b, 0] + bx - pose[a, 0] - ax, pose[b, 1] + by - pose[a, 1] - ay
    share = bodies.inverse_mass[a] / (bodies.inverse_mass[a] + bodies.inverse_mass[b])
    put(a, pose[a, 0] + share * gx, pose[a, 1] + share * gy, pose[a, 2], bodies, room)
    put(b, pose[b, 0] - (1.0 - share) * gx, pose[b, 1] - (1.0 - share) * gy, pose[b, 2], bodies, room)
    way = abs(gx) + abs(gy)
    for k in (a, b):
        room.travel[k] += way
        room.strayed[k] += way


@kernel(inline="always")
def bounded(h, bodies, room):
    """The substep, shorter if a fast body could pass through something: nobody goes further than half of what it is thick."""
    for n in range(room.count[4]):
        b = room.active[n]
        fast = abs(room.speed[b, 0]) + abs(room.speed[b, 1]) + bodies.reach[b] * abs(room.speed[b, 2])
        if fast * h > 0.5 * bodies.inner[b]:
            h = 0.5 * bodies.inner[b] / fast
    return h


@kernel(inline="always")
def about_to_leave(h, bodies, room):
    """Whether anybody will have gone further than its margin after this substep."""
    speed, shift = room.speed, room.shift
    for n in range(room.count[4]):
        b = room.active[n]
        square = max(h * h * (speed[b, 0] ** 2 + speed[b, 1] ** 2), shift[b, 0] ** 2 + shift[b, 1] ** 2)
        if room.strayed[b] + sqrt(square) > room.margin[b]:
            return True
    return False


# -- the step ---------------------------------------------------------------------------------------------------------
@kernel(inline="always")
def advance_world(w, rules, orders, wheels, alive, position, heading, motion, loose, joints, shapes, near, bodies, room, log):
    """One control period of world w, driven by orders (W, N, 2). Returns the deepest overlap that is left, as a gap.

    Only active bodies, which could meet something, go in substeps; the others wait at time `base` and leap at the end.
    """
    load(w, position, heading, motion, loose, bodies, room)
    log.count[w] = 0
    time, base, substeps, deepest = 0.0, 0.0, 0, 0.0
    near_ones(w, 0.0, rules, orders, alive, shapes, near, joints, bodies, room)
    lost = room.count[2]
    if room.count[4] > 0:
        stand_all(bodies, room)
        deepest = look(rules.threshold, bodies, room)
        if deepest < -DEEP:
            deepest = part(rules.threshold, bodies, room)
    while room.count[4] > 0 and time < rules.dt * (1.0 - 1e-9):
        substeps += 1
        if substeps > MOST * (1.0 + rules.dt / rules.substep):  # something spins or is thrown about beyond all sense
            lost += 1
            break
        if room.count[1] > 0:
            impacts(rules.rest, rules.rounds, bodies, joints, w, room, log)
        h = bounded(min(rules.substep, rules.dt - time), bodies, room)
        if rules.dt - time - h < 1e-9:
            h = rules.dt - time
        for n in range(room.count[4]):
            begin(room.active[n], h, rules, w, orders, alive, bodies, room)
        if room.count[1] > 0 or joints.shape[1] > 0:
            for k in range(joints.shape[1]):
                if joints[w, k, 0] != 0.0:
                    room.busy[int(joints[w, k, 1])] = room.busy[int(joints[w, k, 2])] = True
            lean(bodies, joints, w, rules.rounds, room)
        if about_to_leave(h, bodies, room):
            look_around(h, time, base, rules, w, orders, alive, shapes, near, joints, bodies, room)
            base, lost = time, lost + room.count[2]
        for q in range(room.count[0]):
            room.before[q] = room.gap[q]
        move(bodies, room, h)
        for k in range(joints.shape[1]):
            fit(joints[w, k], bodies, room)
        deepest = look(rules.threshold, bodies, room)
        if deepest < -DEEP:
            share = step_back(rules.threshold, bodies, room)
            least = min(1.0, max(LEAST, SHORTEST / h))
            if share < least:
                press(room)
                share = least
            h *= share
            rewind(share, bodies, room)
            for k in range(joints.shape[1]):
                fit(joints[w, k], bodies, room)
            deepest = look(rules.threshold, bodies, room)
            if deepest < -DEEP:
                deepest = part(rules.threshold, bodies, room)
        time += h
    for b in range(bodies.kind.shape[0]):
        if not room.paired[b]:
            leap(b, rules.dt - base, rules, w, orders, alive, bodies, room)
    for k in range(room.count[1]):
        if room.acc[k, 0] + room.acc[k, 1] > 0.0:
            note(w, room.point[k, 2], room.point[k, 3], room.point[k, 0], room.point[k, 1], room.acc[k, 0] + room.acc[k, 1],
                 room.contact[k, 0], room.contact[k, 1], log)
    room.count[3] = substeps
    store(w, position, heading, motion, wheels, loose, bodies, room)
    return -1.0 if lost > 0 else deepest


@kernel(forceinline=True)
def begin(b, h, rules, w, orders, alive, bodies, room):
    """Remember a body's speed, then let forces change it."""
    for k in range(3):
        room.began[b, k] = room.speed[b, k]
    forces(b, h, rules.substep, w, orders, alive, bodies, room)


@kernel()
def look_around(h, time, base, rules, w, orders, alive, shapes, near, joints, bodies, room):
    """List the pairs anew in the middle of a control period, before anybody leaves its margin.

    Whoever waited comes to this moment; whoever is active stays so, because forces have begun to act on it.
    """
    B = bodies.kind.shape[0]
    for b in range(B):
        room.stays[b] = room.paired[b]
        if not room.paired[b]:
            leap(b, time - base, rules, w, orders, alive, bodies, room)
    near_ones(w, time, rules, orders, alive, shapes, near, joints, bodies, room)
    n = 0
    for b in range(B):
        if room.paired[b] and not room.stays[b]:
            room.pose[b, 3], room.pose[b, 4] = cos(room.pose[b, 2]), sin(room.pose[b, 2])
            stand(b, bodies, room)
            begin(b, h, rules, w, orders, alive, bodies, room)
        room.paired[b] = room.paired[b] or room.stays[b]
        if room.paired[b]:
            room.active[n] = b
            n += 1
    room.count[4] = n
    look(rules.threshold, bodies, room)


@kernel()
def advance_all(rules, limit, end_at_limit, orders, wheel_radius, wheels, wheel_angle, alive, crashed, crashes, done, step,
                unresolved, position, heading, motion, loose, joints, shapes, near, bodies, room, log):
    """`advance_world` for every world that has not ended; then clocks and crashes as with the other models."""
    N = bodies.robots
    for w in range(position.shape[0]):
        if done[w]:
            for i in range(N):
                wheels[w, i, 0] = wheels[w, i, 1] = 0.0
            continue
        gap = advance_world(w, rules, orders, wheels, alive, position, heading, motion, loose, joints, shapes, near, bodies,
                            room, log)
        unresolved[w] += gap < -1e-4
        step[w] += 1
        living = 0
        for i in range(N):
            for side in range(2):
                wheel_angle[w, i, side] += wheels[w, i, side] * rules.dt / wheel_radius[i]
            count_crash(w, i, room.hit[i], limit, end_at_limit, alive, crashed, crashes, done)
            living += alive[w, i]
        if living == 0 and limit > 0 and N > 0:
            done[w] = True
