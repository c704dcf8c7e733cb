"""What stands between the antennas of two robots: discs, which are robots and round obstacles, and walls.

Where few are near, all of them are held against the line of sight to each sender, as vectors. In a crowd that work would grow
with the square of what is near, so there the discs are sorted by their directions first, and among many walls a line walks
along the table of fixed things.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.between import walled
from formiga.engine.above.light import chord
from formiga.engine.fixed import near_cell
from formiga.geometry import crossing, nearest_on_segment
from formiga.kernels import kernel

VECTOR = 8                            # loops run over multiples of this many numbers, so that none is left to be done singly
CROWD = 2048       # pairs of a sender and a disc; from here on, it pays to sort the discs by their directions
FEW_WALLS = 16     # with more of them near, a line of sight walks along the table of fixed things
SECTORS = 64       # of the directions around a robot; a power of 2
SPARE = 1e-9       # that a disc is taken to be wider than it is, against rounding


class Discs(NamedTuple):
    """Discs that may stand between. The arrays end with room to fill a vector of the processor."""

    x: Any                 # (D,) m, from the robot that hears
    y: Any
    square: Any            # (D,) m^2, of their radii
    past: Any              # (D,) m^2, their squared distance less that
    number: Any            # (D,) of a robot; N + k: fixed thing k


class Senders(NamedTuple):
    """Robots that send to one robot. The arrays end with room to fill a vector of the processor."""

    robot: Any             # (N,) their numbers
    x: Any                 # (N,) m, from the robot that hears
    y: Any
    square: Any            # (N,) m^2, of their distances, between the antennas


class Nearby(NamedTuple):
    """Working memory: what is near one robot."""

    loud: Any              # (N,) m^2, squared range of each robot that sends in this step, else -1
    sends: Senders         # to it, in any order
    sorted: Senders        # the nearest first
    discs: Discs           # those that may stand between: robots first, then fixed things
    around: Discs          # the same, sorted by their directions
    sector: Any            # (N + K,) of each disc, or -1
    starts: Any            # (SECTORS + 3,) where each sector begins in `around`
    wall: Any              # (K,) fixed things near it that are no discs
    hits: Any              # (N,) discs that stand between it and a sender
    rank: Any              # (N,) how many senders are nearer
    bearing: Any           # (N,) rad


def make_nearby(robots: int, shapes: int) -> Nearby:
    """Working memory for so many robots and fixed things."""
    one, both = robots + VECTOR, robots + shapes + VECTOR
    sends, ordered = (Senders(_whole(one), *np.zeros((3, one))) for _ in range(2))
    discs, around = (Discs(np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), _whole(size))
                     for size in (both, 2 * both + VECTOR))
    return Nearby(np.empty(robots), sends, ordered, discs, around, _whole(both), _whole(SECTORS + 3), _whole(shapes),
                  _whole(one), _whole(one), np.zeros(one))


def _whole(size: int) -> Any:
    return np.zeros(size, np.int64)


@kernel(inline="always")
def list_fixed(x, y, reach, discs, robots, shapes, near, work):
    """Add the fixed things within reach of (x, y): round ones to the discs, others to the walls. Returns how many of both."""
    among, walls = work.discs, 0
    cell = near_cell(x, y, near)
    for m in range(near.start[cell], near.start[cell + 1]):
        k = near.items[m]
        dx, dy, r = shapes[k, 0] - x, shapes[k, 1] - y, shapes[k, 4]
        if r > 0.0:
            among.number[discs], among.square[discs], among.x[discs], among.y[discs] = robots + k, r * r, dx, dy
            discs += dx * dx + dy * dy <= (reach + r) * (reach + r)
        else:
            qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
            work.wall[walls] = k
            walls += (qx - x) * (qx - x) + (qy - y) * (qy - y) <= reach * reach
    return discs, walls


@kernel(inline="always")
def keep_seen(w, x, y, z, count, discs, walls, foot, up, level, height, shapes, tops, along, work):
    """Keep the senders between which and (x, y, z) nothing stands, and return how many they are."""
    sends, hits, among, kept = work.sends, work.hits, work.discs, 0
    walks = level and walls > FEW_WALLS
    if count * discs > CROWD:
        wide = sort_by_direction(discs, among, work.sector, work.starts, work.around)
        see_along_sectors(count, sends, wide, work.starts, work.around, hits)
    else:
        see_past_all(count, sends, discs, among, hits)
    for k in range(count):
        j, dx, dy, hidden = sends.robot[k], sends.x[k], sends.y[k], hits[k] > 0
        if (hidden and not level) or (walls > 0 and not hidden):
            h = foot[w, j] + up[j]
            hidden = walled(x, y, dx, dy, shapes, along) if walks else (
                (hidden and behind_body(w, j, discs, dx, dy, z, h, foot, height, tops, among))
                or behind_wall(x, y, z, dx, dy, h, level, shapes, tops, work.wall, walls))
        sends.robot[kept], sends.x[kept], sends.y[kept], sends.square[kept] = j, dx, dy, sends.square[k]
        kept += not hidden
    return kept


@kernel()
def see_past_all(count, sends, discs, among, hits):
    """How many discs stand between a robot and each of those that send to it, seen from above: hits (count,)."""
    full = fill_up(discs, whole(discs), among)
    for m in range(full):
        among.past[m] = among.x[m] * among.x[m] + among.y[m] * among.y[m] - among.square[m]
    for k in range(count):
        hits[k] = between(0, full, sends.robot[k], sends.x[k], sends.y[k], among.x, among.y, among.square, among.past,
                          among.number)


@kernel(inline="always")
def between(first, last, j, dx, dy, px, py, squares, past, number):
    """How many of the discs first..last stand in the way d to robot j, seen from above.

    It is not in its own way. Another disc, at g with radius r, is if
        (g x d)^2 <= r^2 d^2 and 0 < g . d < d^2,   or one of the ends lies in it: g^2 <= r^2 or (g - d)^2 <= r^2
    """
    size, hits = dx * dx + dy * dy, 0
    for m in range(np.uint64(first), np.uint64(last)):  # without branches or signs, so that the compiler makes vectors of it
        gx, gy = px[m], py[m]
        along, across = gx * dx + gy * dy, gx * dy - gy * dx
        hits += (number[m] != j) & (((across * across <= squares[m] * size) & (along > 0.0) & (along < size))
                                    | (past[m] <= 0.0) | (past[m] + size <= 2.0 * along))
    return hits


@kernel(inline="always")
def whole(count):
    """The next multiple of VECTOR."""
    return (count + VECTOR - 1) // VECTOR * VECTOR


@kernel(inline="always")
def fill_up(first, last, among):
    """Put discs that stand nowhere into places first..last; returns last."""
    for m in range(first, last):
        among.x[m], among.y[m], among.square[m], among.past[m], among.number[m] = 0.0, 0.0, -1.0, 1.0, -1
    return last


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


@kernel()
def behind_body(w, j, discs, dx, dy, z, h, foot, height, tops, among):
    """Whether the ray from height z to that of robot j, h, meets a disc between its foot and its top."""
    for m in range(discs):
        k = among.number[m]
        if k == j:
            continue
        enter, leave = chord(among.x[m], among.y[m], dx, dy, sqrt(among.square[m]))
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


# -- a crowd: discs are sorted by their directions, and a line of sight is held only against those in its own ------------------
@kernel()
def sort_by_direction(discs, among, sector, starts, into):
    """Sort discs by the sectors of their centres; those that are wider to a side than a sector come first, and their number is
    returned, as a multiple of VECTOR.

    A disc at distance d is asin(r / d) wide to a side. What may stand in the way to a place is wide, or in its sector, or
    in one beside it. The list begins with a copy of the last sector and ends with one of the first: three sectors are one run.
    """
    wide, scale = 0, 0.25 * SECTORS
    for m in range(discs):
        gx, gy, r = among.x[m], among.y[m], among.square[m]
        size = gx * gx + gy * gy
        share = sqrt(r / (size if size > r else r))
        half = share + (0.5 * pi - 1.0) * share * share * share + SPARE  # at least asin(share)
        sector[m] = -1 if half * scale > 1.0 else int(round_square(gx, gy) * scale) & (SECTORS - 1)
    for s in range(SECTORS + 3):
        starts[s] = 0
    for m in range(discs):
        if sector[m] < 0:
            put(m, wide, among, into)
            wide += 1
        else:
            starts[sector[m] + 2] += 1
    wide = fill_up(wide, whole(wide), into)
    starts[1], starts[SECTORS + 2] = starts[SECTORS + 1], starts[2]
    starts[0] = wide
    for s in range(SECTORS + 2):
        starts[s + 1] += starts[s]
    fill_up(starts[SECTORS + 2], starts[SECTORS + 2] + VECTOR, into)
    for m in range(discs):  # starts[s] walks to the end of its sector ...
        s = sector[m]
        if s < 0:
            continue
        put(m, starts[s + 1], among, into)
        starts[s + 1] += 1
        if s == 0:
            put(m, starts[SECTORS + 1], among, into)
            starts[SECTORS + 1] += 1
        elif s == SECTORS - 1:
            put(m, starts[0], among, into)
            starts[0] += 1
    for s in range(SECTORS + 2, 0, -1):  # ... which is where the next one begins
        starts[s] = starts[s - 1]
    starts[0] = wide
    return wide


@kernel(inline="always")
def put(m, at, among, into):
    """Copy disc m to a place."""
    gx, gy, r = among.x[m], among.y[m], among.square[m]
    into.x[at], into.y[at], into.square[at], into.past[at] = gx, gy, r, gx * gx + gy * gy - r
    into.number[at] = among.number[m]


@kernel()
def see_along_sectors(count, sends, wide, starts, among, hits):
    """What `see_past_all` does, with discs among which `sort_by_direction` found so many wide ones. Some count twice."""
    for k in range(count):
        j, dx, dy = sends.robot[k], sends.x[k], sends.y[k]
        s = int(round_square(dx, dy) * (0.25 * SECTORS)) & (SECTORS - 1)
        first, last = starts[s], starts[s + 3]
        last += (first - last) % VECTOR  # whole vectors; discs behind the run do no harm
        hits[k] = (between(0, wide, j, dx, dy, among.x, among.y, among.square, among.past, among.number)
                   + between(first, last, j, dx, dy, among.x, among.y, among.square, among.past, among.number))


@kernel(inline="always")
def round_square(x, y):
    """A direction as the place where it crosses the square |x| + |y| = 1, from 0 to 4.

    It grows with the angle, by 0.5 to 1 for each radian.
    """
    size = abs(x) + abs(y)
    share = y / (size if size > 0.0 else 1.0)
    return 2.0 - share if x < 0.0 else (share if y >= 0.0 else 4.0 + share)
