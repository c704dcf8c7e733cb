"""Messages: which robots hear which others, by distance, beam, line of sight and random loss.

A robot sends to all that are within its range and inside its beam. What stands between the two antennas stops a message, if the
link's `sight` is set: walls and obstacles, or robots too. All of it goes by the poses after the step in which a message was
sent, so every robot hears the others of one moment, in whatever order they are looked at.
"""

from __future__ import annotations

from math import cos, floor, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.cells import around, fill_world
from formiga.engine.above.hidden import SECTORS, VECTOR, keep_seen, list_fixed, whole
from formiga.geometry import direction
from formiga.kernels import kernel
from formiga.noise import either, gaussian, stream, unit

PLANE, AHEAD, DOWN, UP = range(4)      # beams
NOTHING, WALLS, BODIES = range(3)      # what stops a message
SENT, HEARD, LOST, DROPPED = range(4)  # columns of the account, a link's memory `traffic` (W, n, 4)


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


@kernel()
def hear_world(w, position, heading, foot, alive, outbox, first, last, ears, level, radius, height, widest, shapes, tops, near,
               along, cells, key, step, work, inbox, sender, traffic):
    """What robots first..last of world w hear, nearest first.

    foot (W, N): height of the robots' feet; level: no ray between two antennas leaves the heights of any body, so heights need
    no look; outbox (W, N, X); near and along: tables of fixed things, for ears.reach and for lines of sight; inbox (W, n, most,
    columns), sender (W, n, most): filled; traffic (W, n, 4): counted on.
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
                count = keep_seen(w, x, y, z, count, discs, walls, foot, ears.up, level, height, shapes, tops, along, work)
            received = keep_received(w, i, count, ears, key, step, work.sends)
            heard = min(received, most)
            traffic[w, n, SENT] += work.loud[i] >= 0.0
            traffic[w, n, HEARD] += heard
            traffic[w, n, LOST] += count - received
            traffic[w, n, DROPPED] += received - heard
            if heard > 0:
                near_ones = keep_nearest(work.sends, received, most, ears.reach, work.starts)
                sort_nearest_first(work.sends, near_ones, work.rank, work.sorted)
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
    """List the robots that send to robot i at (x, y), and, if they stop messages, all that are near it as discs.

    Returns how many discs and how many that send.
    """
    bodies = ears.sight == BODIES
    wide = ears.reach + (widest if bodies else 0.0)
    limit, found, count = wide * wide, 0, 0
    start_of, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    loud, sends, among = work.loud, work.sends, work.discs
    body, px, py, square = among.number, among.x, among.y, among.square
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
def keep_received(w, i, count, ears, key, step, sends):
    """Keep the senders whose messages robot i receives, after random loss, and return how many they are."""
    if count == 0 or ears.loss == 0.0:
        return count
    luck, kept = stream(key[w], i, step[w], ears.luck), 0
    for k in range(count):
        j = sends.robot[k]
        sends.robot[kept], sends.x[kept], sends.y[kept], sends.square[kept] = j, sends.x[k], sends.y[k], sends.square[k]
        kept += unit(luck, j) >= ears.loss
    return kept


@kernel()
def keep_nearest(sends, count, most, reach, tally):
    """Of many senders, keep the nearest `most` and a few more, and return how many they are.

    They are counted by rings of equal areas around the robot, as many as there are sectors: tally (SECTORS + ...,).
    """
    if count <= max(most, 4 * VECTOR):
        return count
    scale, last, total, kept = SECTORS / (reach * reach), 0, 0, 0
    for ring in range(SECTORS + 1):
        tally[ring] = 0
    for k in range(count):
        tally[int(sends.square[k] * scale)] += 1
    while total + tally[last] < most:
        total += tally[last]
        last += 1
    for k in range(count):
        far = sends.square[k]
        sends.robot[kept], sends.x[kept], sends.y[kept], sends.square[kept] = sends.robot[k], sends.x[k], sends.y[k], far
        kept += int(far * scale) <= last
    return kept


@kernel()
def sort_nearest_first(sends, count, rank, into):
    """Put those that send in order: nearest first, of equally far ones the one with the lower number."""
    square, robot = sends.square, sends.robot
    full = whole(count)
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
    for k in range(whole(heard)):
        work.bearing[k] = direction(near.x[k], near.y[k]) - ahead
    error = np.uint64(0)
    if ears.range_noise > 0.0 or ears.bearing_noise > 0.0:
        error = stream(key[w], i, step[w], ears.error)
    for k in range(heard):
        j = near.robot[k]
        inbox[w, n, k, 1] = sqrt(near.square[k]) * (1.0 + deviate(error, 2 * j, ears.range_noise, ears.normal))
        bearing = work.bearing[k] + deviate(error, 2 * j + 1, ears.bearing_noise, ears.normal)
        inbox[w, n, k, 2] = bearing - 2.0 * pi * floor(bearing / (2.0 * pi) + 0.5)


@kernel()
def deviate(start, index, size, normal):
    """Deviation `index` of a stream: uniform in [-size, size), or normal with that deviation."""
    if size == 0.0:
        return 0.0
    return gaussian(start, index, size) if normal else either(start, 2 * index, size)


@kernel()
def hear_all(position, heading, foot, alive, outbox, first, last, ears, level, radius, height, widest, shapes, tops, near,
             along, cells, key, step, work, inbox, sender, traffic):
    """`hear_world` for every world."""
    for w in range(position.shape[0]):
        hear_world(w, position, heading, foot, alive, outbox, first, last, ears, level, radius, height, widest, shapes, tops,
                   near, along, cells, key, step, work, inbox, sender, traffic)
