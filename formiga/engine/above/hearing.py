"""Messages: which robots hear which others, by distance, beam, line of sight and luck.

A robot sends to all that are within its range and inside its beam. What stands between the two antennas stops a message, if the
link says so: walls and obstacles, or robots too. All of it goes by the poses after the step in which a message was sent, so
every robot hears the others of one moment, in whatever order they are looked at.
"""

from __future__ import annotations

from math import cos, floor, log, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.cells import around, fill_world
from formiga.engine.above.light import chord
from formiga.engine.fixed import near_cell
from formiga.geometry import crossing, direction, nearest_on_segment
from formiga.kernels import kernel
from formiga.noise import either, stream, unit

PLANE, AHEAD, DOWN, UP = range(4)      # beams
NOTHING, WALLS, BODIES = range(3)      # what stops a message
SENT, HEARD, LOST, DROPPED = range(4)  # columns of the account, a link's memory `traffic` (W, n, 4)
VECTOR = 8                            # loops run over multiples of this many numbers, so that none is left to be done singly


class Ears(NamedTuple):
    """How the robots of one group hear a medium, and how all robots (N,) send over it."""

    word: int              # where its messages begin in the outbox
    numbers: int           # of a message
    range: Any             # (N,) m, in which a robot is heard; 0: it has no such link
    up: Any                # (N,) m, of its antenna above its foot
    beam: Any              # (N,) PLANE, AHEAD, DOWN or UP
    edge: Any              # (N,) of the beam: sine of the aperture for PLANE, else its cosine
    period: Any            # (N,) steps from one of its messages to the next
    reach: float           # m, the longest range
    sight: int             # NOTHING, WALLS, BODIES
    measures: bool         # whether range and bearing are columns of what is heard
    loss: float            # probability
    range_noise: float     # share of the range
    bearing_noise: float   # rad
    normal: bool           # noises are standard deviations of normal distributions, else half widths of uniform ones
    luck: int              # channels of noise
    error: int


class Heard(NamedTuple):
    """What some robots hear; it belongs to a link and is filled by an engine."""

    inbox: Any             # (W, n, most, columns) rows: 1, range and bearing if they are measured, and the numbers of a message
    sender: Any            # (W, n, most) number of the robot that sent it; -1: no message
    traffic: Any           # (W, n, 4) columns SENT, HEARD, LOST, DROPPED, since the start


class Senders(NamedTuple):
    """Robots that send to one robot. The arrays end with room to fill a vector of the processor."""

    robot: Any             # (N,) their numbers
    x: Any                 # (N,) m, from the robot that hears
    y: Any
    square: Any            # (N,) m^2, of their distances, between the antennas
    disc: Any              # (N,) their places among the discs


class Nearby(NamedTuple):
    """Working memory: what is near one robot."""

    loud: Any              # (N,) m^2, squared range of each robot that sends in this step, else -1
    sends: Senders         # to it, in any order
    sorted: Senders        # the nearest first
    x: Any                 # (N + K,) m, from it, of the discs that may stand between: robots first, then fixed things
    y: Any
    square: Any            # (N + K,) m^2, of their radii
    body: Any              # (N + K,) their numbers; N + k: fixed thing k
    wall: Any              # (K,) fixed things near it that are no discs
    past: Any              # (N + K,) m^2, of the way from it to where a tangent meets a disc, squared
    hits: Any              # (N,) discs that stand between it and a sender
    rank: Any              # (N,) how many senders are nearer
    bearing: Any           # (N,) rad


def make_nearby(robots: int, shapes: int) -> Nearby:
    """Working memory for so many robots and fixed things."""
    one, both = robots + VECTOR, robots + shapes + VECTOR
    sends, ordered = (Senders(np.zeros(one, np.int64), np.zeros(one), np.zeros(one), np.zeros(one), np.zeros(one, np.int64))
                      for _ in range(2))
    return Nearby(np.empty(robots), sends, ordered, np.zeros(both), np.zeros(both), np.zeros(both), np.zeros(both, np.int64),
                  np.zeros(shapes, np.int64), np.zeros(both), np.zeros(one, np.int64), np.zeros(one, np.int64), np.zeros(one))


@kernel()
def hear_world(w, position, heading, foot, alive, outbox, first, last, ears, level, radius, height, widest, shapes, tops, near,
               cells, key, step, work, inbox, sender, traffic):
    """What robots first..last of world w hear, nearest first.

    foot (W, N): height of the robots' feet; level: no ray between two antennas leaves the heights of any body, so heights need
    no look; outbox (W, N, X); near: table of fixed things for ears.reach; inbox (W, n, most, columns), sender (W, n, most):
    filled; traffic (W, n, 4): counted on.
    """
    fill_world(w, position, cells)
    flat = listen(w, foot, alive, outbox, ears, step, work.loud)
    most, columns = inbox.shape[2], inbox.shape[3]
    for i in range(first, last):
        n, heard = i - first, 0
        if alive[w, i]:
            x, y, z = position[w, i, 0], position[w, i, 1], foot[w, i] + ears.up[i]
            discs, count = gather(w, i, x, y, z, flat, position, heading, foot, ears, radius, widest, cells, work)
            if count > 0 and ears.sight != NOTHING:
                discs, walls = list_fixed(x, y, ears.reach, discs, radius.shape[0], shapes, near, work)
                count = keep_seen(w, x, y, z, count, discs, walls, foot, ears.up, level, height, shapes, tops, work)
            received = keep_received(w, i, count, ears, key, step, work.sends)
            heard = min(received, most)
            traffic[w, n, SENT] += work.loud[i] >= 0.0
            traffic[w, n, HEARD] += heard
            traffic[w, n, LOST] += count - received
            traffic[w, n, DROPPED] += received - heard
            if heard > 0:
                nearest_first(work.sends, received, most, work.rank, work.sorted)
                write_down(w, i, n, heard, heading, outbox, ears, key, step, work, inbox, sender)
        for k in range(heard, most):
            sender[w, n, k] = -1
            for c in range(columns):
                inbox[w, n, k, c] = 0.0


@kernel(inline="always")
def listen(w, foot, alive, outbox, ears, step, loud):
    """Which robots (N,) sent a message in the last step, as their squared ranges: there is one, and it was their turn.

    Returns whether all antennas are at one height and send all around, so that a distance is all that counts.
    """
    flat, level = True, foot[w, 0] + ears.up[0]
    for j in range(loud.shape[0]):
        message = outbox[w, j, ears.word]
        sends = alive[w, j] and ears.range[j] > 0.0 and message == message and step[w] > 0  # NaN differs from itself
        if sends and ears.period[j] > 1:
            sends = (step[w] - 1) % ears.period[j] == 0
        loud[j] = ears.range[j] * ears.range[j] if sends else -1.0
        flat &= (foot[w, j] + ears.up[j] == level) & (ears.beam[j] == PLANE) & (ears.edge[j] >= 1.0)
    return flat


@kernel(inline="always")
def gather(w, i, x, y, z, flat, position, heading, foot, ears, radius, widest, cells, work):
    """List the robots that send to robot i at (x, y), and, if they stop messages, those near it as discs; returns how many discs
    and how many that send."""
    bodies = ears.sight == BODIES
    wide = ears.reach + (widest if bodies else 0.0)
    limit, found, count = wide * wide, 0, 0
    start_of, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    loud, body, px, py, square, sends = work.loud, work.body, work.x, work.y, work.square, work.sends
    c0, c1, r0, r1 = around(x, y, wide, cells)
    for r in range(r0, r1 + 1):
        for m in range(start_of[w, r * cells.columns + c0], start_of[w, r * cells.columns + c1 + 1]):
            dx, dy, j = sx[w, m] - x, sy[w, m] - y, order[w, m]
            body[found], px[found], py[found] = j, dx, dy  # written in any case: a branch would be missed half of the time
            found += (dx * dx + dy * dy <= limit) & (j != i)
    if flat:
        for m in range(found):
            j, dx, dy = body[m], px[m], py[m]
            far = dx * dx + dy * dy
            square[m] = radius[j] * radius[j]
            sends.robot[count], sends.x[count], sends.y[count], sends.square[count] = j, dx, dy, far
            sends.disc[count] = m if bodies else -1
            count += far <= loud[j]
        return found if bodies else 0, count
    for m in range(found):
        j, dx, dy = body[m], px[m], py[m]
        square[m] = radius[j] * radius[j]
        far = dx * dx + dy * dy
        if far > loud[j]:
            continue
        dz = foot[w, j] + ears.up[j] - z
        far += dz * dz
        if far <= loud[j] and in_beam(ears.beam[j], ears.edge[j], dx, dy, dz, far, heading[w, j]):
            sends.robot[count], sends.x[count], sends.y[count], sends.square[count] = j, dx, dy, far
            sends.disc[count] = m if bodies else -1
            count += 1
    return found if bodies else 0, count


@kernel()
def in_beam(beam, edge, dx, dy, dz, square, ahead):
    """Whether a robot lies in the beam of a sender that is at (dx, dy, dz) from it; square: of its distance.

        PLANE  |dz| <= sin(aperture) distance       AHEAD, DOWN, UP  axis . way >= cos(aperture) distance
    """
    if beam == PLANE:
        return edge >= 1.0 or abs(dz) <= edge * sqrt(square)
    if beam == AHEAD:
        return -(cos(ahead) * dx + sin(ahead) * dy) >= edge * sqrt(square)
    return (dz if beam == DOWN else -dz) >= edge * sqrt(square)


@kernel(inline="always")
def list_fixed(x, y, reach, discs, robots, shapes, near, work):
    """Add the fixed things within reach of (x, y): round ones to the discs, others to the walls. Returns how many of both."""
    walls = 0
    cell = near_cell(x, y, near)
    for m in range(near.start[cell], near.start[cell + 1]):
        k = near.items[m]
        dx, dy, r = shapes[k, 0] - x, shapes[k, 1] - y, shapes[k, 4]
        if r > 0.0:
            work.body[discs], work.square[discs], work.x[discs], work.y[discs] = robots + k, r * r, dx, dy
            discs += dx * dx + dy * dy <= (reach + r) * (reach + r)
        else:
            qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
            work.wall[walls] = k
            walls += (qx - x) * (qx - x) + (qy - y) * (qy - y) <= reach * reach
    return discs, walls


@kernel()
def behind_wall(x, y, z, dx, dy, h, level, shapes, tops, wall, walls):
    """Whether a wall stands between (x, y, z) and (x + dx, y + dy, h)."""
    for m in range(walls):
        k = wall[m]
        share, along = crossing(shapes[k, 0] - x, shapes[k, 1] - y, dx, dy, shapes[k, 2] - shapes[k, 0],
                                shapes[k, 3] - shapes[k, 1])
        if 0.0 <= along <= 1.0 and 0.0 <= share <= 1.0 and (level or z + share * (h - z) <= tops[k]):
            return True
    return False


@kernel(inline="always")
def keep_seen(w, x, y, z, count, discs, walls, foot, up, level, height, shapes, tops, work):
    """Keep the senders between which and (x, y, z) nothing stands, and return how many they are."""
    sends, hits, kept = work.sends, work.hits, 0
    see_past_discs(count, sends.x, sends.y, sends.disc, discs, work.x, work.y, work.square, work.past, work.hits)
    for k in range(count):
        j, dx, dy = sends.robot[k], sends.x[k], sends.y[k]
        h = foot[w, j] + up[j]
        hidden = hits[k] > 0
        if hidden and not level:
            hidden = behind_body(w, j, discs, dx, dy, z, h, foot, height, tops, work)
        if walls > 0 and not hidden:
            hidden = behind_wall(x, y, z, dx, dy, h, level, shapes, tops, work.wall, walls)
        sends.robot[kept], sends.x[kept], sends.y[kept], sends.square[kept] = j, dx, dy, sends.square[k]
        kept += not hidden
    return kept


@kernel()
def see_past_discs(count, tx, ty, own, discs, px, py, squares, past, hits):
    """How many discs stand between a robot and each of those that send to it, at (tx, ty), seen from above: hits (count,).

    own (count,): place of each sender among the discs, or -1; it is not in its own way. With a sender at d, a disc at g with radius r is
    between them if   (g x d)^2 <= r^2 d^2 and 0 < g . d < d^2,   or one of the centres lies in it:
                      g^2 - r^2 <= 0   or   (g^2 - r^2) + d^2 <= 2 g . d
    """
    full, inside = (discs + VECTOR - 1) // VECTOR * VECTOR, 0
    for m in range(discs, full):
        px[m], py[m], squares[m] = 0.0, 0.0, -1.0  # stands nowhere
    for m in range(full):
        past[m] = px[m] * px[m] + py[m] * py[m] - squares[m]
        inside += past[m] <= 0.0
    for k in range(count):
        dx, dy, target, between = tx[k], ty[k], own[k], 0
        size = dx * dx + dy * dy
        for m in range(full):  # without branches, so that the compiler makes vectors of it
            gx, gy = px[m], py[m]
            along, across = gx * dx + gy * dy, gx * dy - gy * dx
            between += (m != target) & (((across * across <= squares[m] * size) & (along > 0.0) & (along < size))
                                        | (past[m] + size <= 2.0 * along))
        hits[k] = between
    if inside > 0:
        for k in range(count):
            hits[k] += inside - (own[k] >= 0 and past[own[k]] <= 0.0)


@kernel()
def behind_body(w, j, discs, dx, dy, z, h, foot, height, tops, work):
    """The same with heights: whether the ray from height z to h of robot j meets a body between its foot and its top."""
    for m in range(discs):
        k = work.body[m]
        if k == j:
            continue
        enter, leave = chord(work.x[m], work.y[m], dx, dy, sqrt(work.square[m]))
        if enter <= 1.0 and leave >= 0.0:
            fixed = k >= height.shape[0]
            low = 0.0 if fixed else foot[w, k]
            top = tops[k - height.shape[0]] if fixed else foot[w, k] + height[k]
            one, other = way(z, h, enter), way(z, h, leave)
            if min(one, other) <= top and max(one, other) >= low:
                return True
    return False


@kernel(inline="always")
def way(z, h, share):
    """Height of a ray from z to h after a share of its way, which is cut to 0..1."""
    return z + min(1.0, max(0.0, share)) * (h - z)


@kernel(inline="always")
def keep_received(w, i, count, ears, key, step, sends):
    """Keep the senders whose messages robot i receives, by luck, and return how many they are."""
    if count == 0 or ears.loss == 0.0:
        return count
    luck, kept = stream(key[w], i, step[w], ears.luck), 0
    for k in range(count):
        j = sends.robot[k]
        sends.robot[kept], sends.x[kept], sends.y[kept], sends.square[kept] = j, sends.x[k], sends.y[k], sends.square[k]
        kept += unit(luck, j) >= ears.loss
    return kept


@kernel()
def nearest_first(sends, count, most, rank, into):
    """Put the nearest `most` of those that send in order: nearest first, of equally far ones the one with the lower number."""
    square, robot = sends.square, sends.robot
    full = (count + VECTOR - 1) // VECTOR * VECTOR
    for m in range(count, full):
        square[m] = np.inf
    total = 0
    for k in range(count):  # its place is the number of those that are nearer
        far, before = square[k], 0
        for m in range(full):
            before += square[m] < far
        rank[k] = before
        total += before
    if 2 * total != count * (count - 1):  # some are equally far
        for k in range(count):
            for m in range(count):
                rank[k] += (square[m] == square[k]) & (robot[m] < robot[k])
    for k in range(count):
        at = rank[k]
        into.robot[at], into.x[at], into.y[at], into.square[at] = robot[k], sends.x[k], sends.y[k], square[k]


@kernel(inline="always")
def write_down(w, i, n, heard, heading, outbox, ears, key, step, work, inbox, sender):
    """Fill the inbox of robot i, which is row n of it, with the first `heard` of the sorted senders."""
    near, numbers, ahead = work.sorted, ears.numbers, heading[w, i]
    word, columns = ears.word, inbox.shape[3]
    for k in range(heard):
        j = near.robot[k]
        sender[w, n, k], inbox[w, n, k, 0] = j, 1.0
        for c in range(numbers):
            inbox[w, n, k, columns - numbers + c] = outbox[w, j, word + c]
    if not ears.measures:
        return
    for k in range((heard + VECTOR - 1) // VECTOR * VECTOR):
        work.bearing[k] = direction(near.x[k], near.y[k]) - ahead
    error = np.uint64(0)
    if ears.range_noise > 0.0 or ears.bearing_noise > 0.0:
        error = stream(key[w], i, step[w], ears.error)
    for k in range(heard):
        j = near.robot[k]
        inbox[w, n, k, 1] = sqrt(near.square[k]) * (1.0 + deviate(error, 4 * j, ears.range_noise, ears.normal))
        bearing = work.bearing[k] + deviate(error, 4 * j + 2, ears.bearing_noise, ears.normal)
        inbox[w, n, k, 2] = bearing - 2.0 * pi * floor(bearing / (2.0 * pi) + 0.5)


@kernel()
def deviate(start, index, size, normal):
    """A number of a stream, which takes two places in it: uniform in [-size, size), or normal with that deviation."""
    if size == 0.0:
        return 0.0
    if normal:
        return size * sqrt(-2.0 * log(1.0 - unit(start, index))) * cos(2.0 * pi * unit(start, index + 1))
    return either(start, index, size)


@kernel()
def hear_all(position, heading, foot, alive, outbox, first, last, ears, level, radius, height, widest, shapes, tops, near,
             cells, key, step, work, inbox, sender, traffic):
    """`hear_world` for every world."""
    for w in range(position.shape[0]):
        hear_world(w, position, heading, foot, alive, outbox, first, last, ears, level, radius, height, widest, shapes, tops,
                   near, cells, key, step, work, inbox, sender, traffic)
