"""No two bodies in one place: which of them overlap, and S1's answer, re-positioning.

A robot collides when something comes nearer than its clearance, that is, into its collision circle of radius
Rs = R + clearance. [Vicentini & Tuci 2006, section 5]

    sweep     nothing passes through anything in one step (`sweep.py`)
    detect    which bodies overlap now
    resolve   rounds of synchronous moves until no two overlap (model `reposition`)

The papers' displacement formulas are partly lost; what is readable of them, and what was put in their place, is in the manual
(`docs/papers/swarmod.md`).
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.cells import around, fill_world, row_of
from formiga.engine.fixed import near_cell
from formiga.engine.planar.sweep import NOTHING, TOUCH, first_touch, slide
from formiga.geometry import enters_capsule, nearest_on_segment
from formiga.kernels import kernel

ROUNDS = 500           # then we stop, whatever is left
PUBLISHED_ROUNDS = 30  # rounds of the published, synchronous rule; then pairs move apart one after another
SHALLOW_ROUNDS = 4     # the same in mode `minimal` if no robot has far to go: no pack, only traffic
SPARE = 1e-6           # m; what a pair moves apart beyond its overlap, so that a pack settles in few rounds
SHALLOW_SPARE = 1e-4   # m; the same where there is only traffic, which has to settle in every step

NONE, STOP, MINIMAL, PUBLISHED = 0, 1, 2, 3


class ContactWorkspace(NamedTuple):
    """Working memory for one world at a time, an entry per robot."""

    hit: Any         # whether it overlaps something
    active: Any      # robots that are looked at in this round of `resolve`, and in the next
    later: Any
    found: Any       # neighbours
    listed: Any      # the last round in which a robot was listed as active
    target: Any      # (N, 2) where the published rule sends them
    strayed: Any     # how far each has gone since the cell list was made
    share: Any       # of its way that each may go, for `sweep`
    tally: Any       # objects that it collided with in this step, counted anew in each round; only if crashes are counted so


def make_workspace(robots: int) -> ContactWorkspace:
    """For so many robots."""
    numbers = (np.empty(robots, np.int64) for _ in range(4))
    active, later, found, listed = numbers
    return ContactWorkspace(np.empty(robots, np.bool_), active, later, found, listed, np.empty((robots, 2)), np.empty(robots),
                            np.empty(robots), np.zeros(robots, np.int64))


@kernel()
def detect_world(w, position, safety, widest, shapes, near, cells, hit):
    """Mark all robots that overlap something in hit (N,); returns how many. The cell list must be up to date."""
    N = position.shape[1]
    table_start, table_items = near.start, near.items
    start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    range_ = 2.0 * widest
    count = 0
    for n in range(N):
        x, y = sx[w, n], sy[w, n]
        i = order[w, n]
        rs = safety[i]
        if not hit[i]:
            cell = near_cell(x, y, near)
            for m in range(table_start[cell], table_start[cell + 1]):
                k = table_items[m]
                qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
                keep = rs + shapes[k, 4] - TOUCH
                if (qx - x) * (qx - x) + (qy - y) * (qy - y) < keep * keep:
                    hit[i] = True
                    count += 1
                    break
        c0, c1, _, r1 = around(x, y, range_, cells)
        r0 = row_of(y, cells)
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


@kernel()
def overlap_fixed(x, y, rs, k, shapes):
    """(overlap, unit vector toward it) of a collision circle and fixed thing k; overlap < 0: apart."""
    qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
    keep = rs + shapes[k, 4]
    dx, dy = qx - x, qy - y
    square = dx * dx + dy * dy
    if square >= keep * keep:
        return -1.0, 0.0, 0.0
    distance = sqrt(square)
    if distance < NOTHING:  # on the middle line itself: any way out is as good, take its normal
        ex, ey = shapes[k, 2] - shapes[k, 0], shapes[k, 3] - shapes[k, 1]
        size = sqrt(ex * ex + ey * ey)
        return (keep, -ey / size, ex / size) if size > 0.0 else (keep, 1.0, 0.0)
    return keep - distance, dx / distance, dy / distance


@kernel()
def go(x0, y0, x1, y1, r, rs, shapes, near):
    """Where a disc ends that is sent from 0 to 1: not through anything, and pushed out of what is inside its clearance."""
    x, y, dx, dy = x0, y0, x1 - x0, y1 - y0
    cell, there = near_cell(x0, y0, near), near_cell(x1, y1, near)
    if cell == there and near.start[cell] == near.start[cell + 1]:  # nothing fixed is near, here or there
        return x + dx, y + dy
    for _ in range(9):  # a corner needs two pushes; more only where there is no room at all
        x, y, _ = slide(x, y, dx, dy, r, True, shapes, near)
        deepest = TOUCH
        cell = near_cell(x, y, near)
        for n in range(near.start[cell], near.start[cell + 1]):
            overlap, ux, uy = overlap_fixed(x, y, rs, near.items[n], shapes)
            if overlap > deepest:
                deepest, dx, dy = overlap, -overlap * ux, -overlap * uy
        if deepest == TOUCH:
            break
    return x, y


@kernel()
def go_back(x0, y0, x1, y1, r, rs, shapes, near):
    """Where a disc ends that is sent from 0 to 1 and, if its collision circle overlaps something fixed there, goes back along
    the same line by the overlap, and again, until it does not.

        s <- s - overlap(s)                                  [TR Fig. 9-3, disp''; draft, Fig. 1-3 and section III.2]
    The overlap changes by no more than s does, so this never goes back past a free place, and ends at the first one: where the
    circle first touched what it overlaps. That place is computed at once. What the robot overlapped before it moved holds it
    where it is if the way leads further in ("waiting for other agents letting room"), and not at all if the way leads out.
    """
    dx, dy = x1 - x0, y1 - y0
    cell, there = near_cell(x0, y0, near), near_cell(x1, y1, near)
    first, last = near.start[cell], near.start[cell + 1]
    if cell == there and first == last:  # nothing fixed is near, here or there
        return x0 + dx, y0 + dy
    t = min(1.0, first_touch(x0, y0, dx, dy, r, shapes, near)[0])  # the body passes through nothing
    blocked = True
    while blocked:  # each thing blocks at most once
        blocked = False
        for n in range(first, last):
            k = near.items[n]
            if overlap_fixed(x0 + t * dx, y0 + t * dy, rs, k, shapes)[0] > TOUCH:
                before, ux, uy = overlap_fixed(x0, y0, rs, k, shapes)
                if before <= TOUCH:
                    enters = enters_capsule(x0, y0, dx, dy, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3],
                                            rs + shapes[k, 4])
                    t, blocked = enters if enters < t else 0.0, True
                elif dx * ux + dy * uy > 0.0:
                    return x0, y0
    return x0 + t * dx, y0 + t * dy


@kernel(inline="always")
def neighbours(w, i, position, safety, widest, drift, cells, found):
    """Robots whose collision circle overlaps that of i, into found; returns how many.

    The cell list may be old: no robot has moved further than `drift` since it was made.
    """
    x, y = position[w, i, 0], position[w, i, 1]
    range_ = safety[i] + widest + drift
    c0, c1, r0, r1 = around(x, y, range_, cells)
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


@kernel()
def resolve_world(w, mode, each, deadly, position, radius, safety, widest, longest, alive, crashes, shapes, near, cells, work):
    """Move robots until no two overlap; all that were ever involved are marked in hit. Returns the rounds needed.

        V = sum over robots and cylinders of (C_i - C_j)        mode `published`; moves min(Rs, |V|) against V
            or unit(C_i - C_j) overlap_ij                       mode `minimal`; moves 1.01 max(overlap_ij / 2, overlap_fixed)
          + sum over other fixed things of unit(toward it) overlap              [Swarmod draft, section III; reconstructed]
    All robots move at once. Only fixed things block a move: if robots did too, packs would lock up. In mode `published` a robot
    goes back from them along its line of escape (`go_back`), in mode `minimal` it is pushed out of them. After 30 rounds pairs
    move apart one after another instead, each by half of its overlap, until all is free or nothing gets better; the answer is
    then ROUNDS. In mode `minimal` that begins after 4 rounds if no robot had to go further than three times `longest`, the most
    that a robot drives in a step: crowds at a wall, which the synchronous rule would shake for long.
    each: collisions are counted into work.tally, as `count_objects` has it; deadly: so many switch a robot off, if not 0.
    """
    hit, active, later, found, listed = work.hit, work.active, work.later, work.found, work.listed
    target, strayed = work.target, work.strayed
    many = 0
    for i in range(position.shape[1]):
        listed[i], strayed[i] = 0, 0.0
        if hit[i]:
            active[many] = i
            many += 1
    total, earlier = 0.0, np.inf  # how far pairs moved in this round, and in the last one that was looked at
    drift = 0.0  # the furthest that a robot has strayed
    together, spare = PUBLISHED_ROUNDS, SPARE
    for turn in range(1, ROUNDS + 1):
        if drift > 0.5 * cells.size:
            fill_world(w, position, cells)
            strayed[:] = 0.0
            drift = 0.0
        if each:
            count_objects(w, active, many, deadly, position, safety, widest, drift, alive, crashes, shapes, near, cells, work)
        if turn <= together:
            for a in range(many):
                target[a, 0], target[a, 1] = escape(w, active[a], mode, position, radius, safety, widest, drift, alive,
                                                    shapes, near, cells, found)
            for a in range(many):
                i = active[a]
                strayed[i] += sqrt((target[a, 0] - position[w, i, 0]) ** 2 + (target[a, 1] - position[w, i, 1]) ** 2)
                drift = max(drift, strayed[i])
                position[w, i, 0], position[w, i, 1] = target[a, 0], target[a, 1]
            if turn == 1 and mode == MINIMAL and drift <= 3.0 * longest:
                together, spare = SHALLOW_ROUNDS, SHALLOW_SPARE
        else:
            for a in range(many):
                listed[active[a]] = -turn
            if turn % 50 == 0:
                if total > 0.5 * earlier:  # it does not settle: there is no room
                    return ROUNDS
                earlier = total
            total = 0.0
            a = 0
            while a < many:  # the list grows by robots that are pushed
                i = active[a]
                a += 1
                count = neighbours(w, i, position, safety, widest, drift, cells, found)
                for n in range(count):
                    j = found[n]
                    way = part(w, i, j, spare, position, radius, safety, alive, shapes, near)
                    strayed[i], strayed[j], total = strayed[i] + way, strayed[j] + way, total + way
                    drift = max(drift, strayed[i], strayed[j])
                    if listed[j] != -turn:
                        listed[j] = -turn
                        active[many] = j
                        many += 1
                if count == 0:
                    strayed[i] += part(w, i, i, spare, position, radius, safety, alive, shapes, near)
                    drift = max(drift, strayed[i])

        # Only robots that moved, and those near one that moved, can overlap now.
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
            if listed[i] != turn and (count > 0 or touches_fixed(position[w, i, 0], position[w, i, 1], safety[i], shapes,
                                                                 near)):
                listed[i] = turn
                later[more] = i
                more += 1
        active, later, many = later, active, more
        if many == 0:
            return turn
    return ROUNDS


@kernel(inline="always")
def touches_fixed(x, y, rs, shapes, near):
    """Whether a collision circle overlaps anything fixed."""
    cell = near_cell(x, y, near)
    for n in range(near.start[cell], near.start[cell + 1]):
        if overlap_fixed(x, y, rs, near.items[n], shapes)[0] > TOUCH:
            return True
    return False


@kernel(inline="always")
def escape(w, i, mode, position, radius, safety, widest, drift, alive, shapes, near, cells, found):
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
    cell = near_cell(x, y, near)
    for n in range(near.start[cell], near.start[cell + 1]):
        overlap, ux, uy = overlap_fixed(x, y, safety[i], near.items[n], shapes)
        if overlap > 0.0:
            k = near.items[n]
            pull = overlap
            if mode == PUBLISHED and shapes[k, 0] == shapes[k, 2] and shapes[k, 1] == shapes[k, 3]:  # a cylinder, to its centre
                pull = safety[i] + shapes[k, 4] - overlap
            vx, vy, deepest = vx + ux * pull, vy + uy * pull, max(deepest, overlap)
    size = sqrt(vx * vx + vy * vy)
    if size < NOTHING:  # in the middle of a pack
        return x, y
    way = min(safety[i], size if mode == PUBLISHED else 1.01 * deepest) / size
    if mode == PUBLISHED:
        return go_back(x, y, x - way * vx, y - way * vy, radius[i], safety[i], shapes, near)
    return go(x, y, x - way * vx, y - way * vy, radius[i], safety[i], shapes, near)


@kernel()
def count_objects(w, robots, many, deadly, position, safety, widest, drift, alive, crashes, shapes, near, cells, work):
    """Add to work.tally what each of `many` robots that is alive collides with now, each object once; those that reach `deadly`
    with it, if that is not 0, are switched off at once and are not moved any more. [Swarmod draft, section III.2, the loop]"""
    tally = work.tally
    for a in range(many):
        i = robots[a]
        if not alive[w, i]:
            continue
        tally[i] += neighbours(w, i, position, safety, widest, drift, cells, work.found)
        x, y = position[w, i, 0], position[w, i, 1]
        cell = near_cell(x, y, near)
        for n in range(near.start[cell], near.start[cell + 1]):
            if overlap_fixed(x, y, safety[i], near.items[n], shapes)[0] > TOUCH:
                tally[i] += 1
        if 0 < deadly <= crashes[w, i] + tally[i]:
            alive[w, i] = False


@kernel()
def part(w, i, j, spare, position, radius, safety, alive, shapes, near):
    """Move a pair apart, half of the overlap each; i and i: only out of fixed things. Returns how far they moved."""
    dx, dy = position[w, j, 0] - position[w, i, 0], position[w, j, 1] - position[w, i, 1]
    distance = sqrt(dx * dx + dy * dy)
    half = max(0.0, 0.5 * (safety[i] + safety[j] - distance) + spare)
    ux, uy = (dx / distance, dy / distance) if distance > 0.0 else (1.0 if i < j else -1.0, 0.0)
    if i == j:
        half = 0.0
    if not (alive[w, i] and alive[w, j]):  # a dead robot does not move, so the other goes all the way
        half = min(2.0 * half, safety[i], safety[j])
    far = 0.0
    for side in range(2):
        k, sign = (i, -1.0) if side == 0 else (j, 1.0)
        if alive[w, k] and not (side == 1 and i == j):
            x, y = position[w, k, 0], position[w, k, 1]
            nx, ny = go(x, y, x + sign * half * ux, y + sign * half * uy, radius[k], safety[k], shapes, near)
            position[w, k, 0], position[w, k, 1] = nx, ny
            far = max(far, sqrt((nx - x) ** 2 + (ny - y) ** 2))
    return far


@kernel()
def contact_all(model, limit, end_at_limit, each, position, swept, radius, safety, widest, longest, shapes, near, cells, alive,
                crashed, crashes, done, step, rounds, unresolved, work):
    """Detect and answer the contacts of every world that has not ended, count crashes, and tick its clock.

    each: crashes are objects collided with, in each round, instead of steps; swept (W, N): robots that were stopped on their
    way; rounds (W,): how many rounds `resolve` needed; unresolved (W,): in how many steps they did not suffice.
    """
    for w in range(position.shape[0]):
        if not done[w]:
            contact_world(w, model, limit, end_at_limit, each, position, swept, radius, safety, widest, longest, shapes, near,
                          cells, alive, crashed, crashes, done, step, rounds, unresolved, work)


@kernel()
def count_crash(w, i, hit, limit, end_at_limit, alive, crashed, crashes, done):
    """A step in which a robot that is alive was hit counts as one crash; at the limit it dies, or its world ends."""
    crashed[w, i] = hit and alive[w, i]
    if crashed[w, i]:
        crashes[w, i] += 1
        if limit > 0 and crashes[w, i] >= limit:
            if end_at_limit:
                done[w] = True
            else:
                alive[w, i] = False


@kernel()
def add_tally(w, i, otherwise, limit, end_at_limit, alive, crashed, crashes, done, tally):
    """The same where each object that was collided with counts; otherwise: it collided though no object was found, once."""
    if tally[i] == 0 and otherwise and alive[w, i]:
        tally[i] = 1
    crashed[w, i] = tally[i] > 0
    crashes[w, i] += tally[i]
    if limit > 0 and crashed[w, i] and crashes[w, i] >= limit:
        if end_at_limit:
            done[w] = True
        else:
            alive[w, i] = False


@kernel(inline="always")
def contact_world(w, model, limit, end_at_limit, each, position, swept, radius, safety, widest, longest, shapes, near, cells,
                  alive, crashed, crashes, done, step, rounds, unresolved, work):
    """The same for one world that has not ended."""
    N, hit = position.shape[1], work.hit
    step[w] += 1
    if model != NONE:
        for i in range(N):
            hit[i] = False
        if each:
            work.tally[:] = 0
        fill_world(w, position, cells)
        rounds[w] = 0
        if detect_world(w, position, safety, widest, shapes, near, cells, hit) > 0:
            if model != STOP:
                deadly = 0 if end_at_limit else limit
                rounds[w] = resolve_world(w, model, each, deadly, position, radius, safety, widest, longest, alive, crashes,
                                          shapes, near, cells, work)
                unresolved[w] += rounds[w] == ROUNDS
            elif each:
                many = 0
                for i in range(N):
                    if hit[i]:
                        work.active[many] = i
                        many += 1
                count_objects(w, work.active, many, 0, position, safety, widest, 0.0, alive, crashes, shapes, near, cells, work)
        living = 0
        for i in range(N):
            again = model == STOP and crashed[w, i]  # it stays where it collided, and collides again
            if each:
                add_tally(w, i, swept[w, i] or again, limit, end_at_limit, alive, crashed, crashes, done, work.tally)
            else:
                count_crash(w, i, hit[i] or swept[w, i] or again, limit, end_at_limit, alive, crashed, crashes, done)
            living += alive[w, i]
        if living == 0 and N > 0:
            done[w] = True
