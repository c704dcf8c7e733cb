"""The shadow method: what a robot sees all around it, as 360 directions, one for each degree. [Swarm-bot 3D simulator]

Each thing within range throws its shadow on the directions that it covers, at its exact distance in each, and the
nearest wins. All sensors of the robot are read from these. The thesis's appendix with the algorithm is lost; this is
reconstructed from its description: a round thing is a circle, a wall a segment, and a body with corners the circle
around it.
"""

from __future__ import annotations

from functools import lru_cache
from math import acos, asin, atan2, ceil, cos, floor, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.cells import around, fill_world
from formiga.geometry import lattice_index, nearest_on_segment, wrap
from formiga.kernels import kernel

BINS, BLOCK = 360, 8  # directions, and how many of them are read or passed over together
WIDTH = 2.0 * pi / BINS  # rad
COSINE, SINE = np.cos(np.arange(2 * BINS) * WIDTH), np.sin(np.arange(2 * BINS) * WIDTH)  # twice around: see `stamp_disc`


class Watch(NamedTuple):
    """The sensors of a ring: for each direction those whose cone may hold something there."""

    start: Any       # (361,) where each direction's list begins
    sensors: Any     # (E,) which sensor it is
    facing: Any      # (E,) cosine of the angle between its axis and the direction
    curve: Any       # (C,) readings at equally spaced distances from 0 to reach
    mount: float     # m, from the robot's centre
    reach: float     # m, from the sensor
    edge: float      # squared cosine of the angle between a cone's axis and its side


@lru_cache(maxsize=256)
def watch(angles: tuple[float, ...], mount: float, reach: float, cone: float, curve: tuple[float, ...]) -> Watch:
    """Sensors that point outward from a circle of radius `mount`, each with a cone so wide in all.

    A cone seen from its sensor lies inside the cone of the same width seen from the robot's centre.
    """
    half = 0.5 * cone
    away = wrap(np.arange(BINS)[:, None] * WIDTH - np.array(angles))
    bins, sensors = np.nonzero(np.abs(away) <= half + 1e-9)
    start = np.searchsorted(bins, np.arange(BINS + 1))
    return Watch(start, sensors, np.cos(away[bins, sensors]), np.array(curve), float(mount), float(reach),
                 cos(min(half, 0.5 * pi)) ** 2 - 1e-12)


@kernel()
def shadow_world(w, position, heading, movables, first, last, radius, widest, movable_radius, shapes, near, cells, watch, bins,
                 used, out):
    """Readings (n, S) of robots first..last of world w.

    movable_radius (M,): of the circles around the movables; bins: room for 720 numbers; used (45,): which
    blocks of directions have a shadow, false at first and at the end.
    """
    far = watch.mount + watch.reach
    table_start, table_items, table_inverse = near.start, near.items, 1.0 / near.size
    cell_start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    for i in range(first, last):
        x, y = position[w, i, 0], position[w, i, 1]
        out[w, i - first, :] = 0.0
        c, s, anything = 1.0, 0.0, False

        cell = (lattice_index((y - near.y0) * table_inverse, near.rows) * near.columns
                + lattice_index((x - near.x0) * table_inverse, near.columns))
        for n in range(table_start[cell], table_start[cell + 1]):
            k = table_items[n]
            ax, ay, bx, by, r = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4]
            qx, qy = nearest_on_segment(x, y, ax, ay, bx, by)
            if (qx - x) * (qx - x) + (qy - y) * (qy - y) > (far + r) * (far + r):
                continue
            if not anything:
                c, s, anything = cos(heading[w, i]), sin(heading[w, i]), True
                bins[:] = np.inf
            gx, gy = c * (ax - x) + s * (ay - y), c * (ay - y) - s * (ax - x)
            if r > 0.0:
                stamp_disc(gx, gy, r, far, bins, used)
            else:
                stamp_segment(gx, gy, c * (bx - ax) + s * (by - ay), c * (by - ay) - s * (bx - ax), bins, used)

        range_ = far + widest
        c0, c1, r0, r1 = around(x, y, range_, cells)
        for r in range(r0, r1 + 1):
            for n in range(cell_start[w, r * cells.columns + c0], cell_start[w, r * cells.columns + c1 + 1]):
                dx, dy = sx[w, n] - x, sy[w, n] - y
                j = order[w, n]
                if j == i or dx * dx + dy * dy > (far + radius[j]) * (far + radius[j]):
                    continue
                if not anything:
                    c, s, anything = cos(heading[w, i]), sin(heading[w, i]), True
                    bins[:] = np.inf
                stamp_disc(c * dx + s * dy, c * dy - s * dx, radius[j], far, bins, used)

        for m in range(movable_radius.shape[0]):
            dx, dy, size = movables[w, m, 0] - x, movables[w, m, 1] - y, movable_radius[m]
            if dx * dx + dy * dy > (far + size) * (far + size):
                continue
            if not anything:
                c, s, anything = cos(heading[w, i]), sin(heading[w, i]), True
                bins[:] = np.inf
            stamp_disc(c * dx + s * dy, c * dy - s * dx, size, far, bins, used)

        if anything:
            read_bins(bins, used, far, watch, out[w, i - first])


@kernel()
def stamp_disc(gx, gy, r, far, bins, used):
    """The shadow of a disc at g in the robot's frame: the directions within asin(r / distance) of its bearing, or fewer if
    only its nearest part is not further away than `far`.

    One that is thinner than a degree covers the direction nearest to it, so nothing is missed between two. Bins go twice
    around, so that every shadow is in one piece, of which the compiler makes vectors; a reader takes the nearer.
    """
    distance = sqrt(gx * gx + gy * gy)
    if distance <= r:  # inside it
        bins[:] = 0.0
        used[:] = True
        return
    bearing, tangent = atan2(gy, gx), distance * distance - r * r
    half = asin(r / distance) if tangent <= far * far else acos(min(1.0, 0.5 * (tangent + far * far) / (distance * far)))
    k0, k1 = int(ceil((bearing - half) / WIDTH)), int(floor((bearing + half) / WIDTH))
    if k0 > k1:
        k = int(floor(bearing / WIDTH + 0.5)) % BINS
        bins[k] = min(bins[k], distance - r)
        use(k, 1, used)
        return
    start, count = k0 % BINS, k1 - k0 + 1
    use(start, count, used)
    piece, ux, uy = bins[start:start + count], COSINE[start:start + count], SINE[start:start + count]
    for k in range(count):
        across, along = gx * uy[k] - gy * ux[k], gx * ux[k] + gy * uy[k]
        away = along - sqrt(max(0.0, r * r - across * across))
        piece[k] = away if away < piece[k] else piece[k]


@kernel()
def stamp_segment(ax, ay, ex, ey, bins, used):
    """The shadow of the segment from a to a + e in the robot's frame: the directions between its ends."""
    turn = ax * ey - ay * ex  # a x b: positive if the second end lies counter-clockwise of the first
    bx, by = ax + ex, ay + ey
    if turn < 0.0:
        ax, ay, bx, by = bx, by, ax, ay
        ex, ey = -ex, -ey
    begin, end = atan2(ay, ax), atan2(by, bx)
    if end < begin:
        end += 2.0 * pi
    k0, k1 = int(ceil(begin / WIDTH)), int(floor(end / WIDTH))
    if k0 > k1 or turn == 0.0:  # seen end on
        k = int(floor(begin / WIDTH + 0.5)) % BINS
        bins[k] = min(bins[k], sqrt(min(ax * ax + ay * ay, bx * bx + by * by)))
        use(k, 1, used)
        return
    start, count = k0 % BINS, k1 - k0 + 1
    use(start, count, used)
    piece, ux, uy = bins[start:start + count], COSINE[start:start + count], SINE[start:start + count]
    for k in range(count):
        away = (ax * ey - ay * ex) / (ux[k] * ey - uy[k] * ex)
        piece[k] = away if (away >= 0.0) & (away < piece[k]) else piece[k]


@kernel()
def use(start, count, used):
    """Note which blocks hold so many bins from `start` on; bins go twice around, blocks once."""
    for block in range(start // BLOCK, (start + count - 1) // BLOCK + 1):
        used[block if block < BINS // BLOCK else block - BINS // BLOCK] = True


@kernel()
def read_bins(bins, used, far, watch, total):
    """The readings (S,) of a ring: of what lies in a sensor's cone, the strongest.

        reading = max over directions of f(distance) cos^2(angle)          [Swarm-bot 3D simulator; reconstructed]
    Distance and angle are those that the sensor sees, which sits at the rim and not at the centre.
    """
    start, sensors, facing, curve, mount, reach = (watch.start, watch.sensors, watch.facing, watch.curve, watch.mount,
                                                   watch.reach)
    last = curve.shape[0] - 1
    scale = last / reach
    for block in range(BINS // BLOCK):
        if not used[block]:
            continue
        used[block] = False
        for k in range(BLOCK * block, BLOCK * (block + 1)):
            d = min(bins[k], bins[BINS + k])
            if d > far:
                continue
            for n in range(start[k], start[k + 1]):
                at, weight = 0.0, facing[n] * facing[n]
                if d > mount:  # else it reaches into the robot
                    along = d * facing[n] - mount
                    square = d * d + mount * mount - 2.0 * d * mount * facing[n]
                    if along <= 0.0 or square > reach * reach or along * along < watch.edge * square:
                        continue
                    at, weight = sqrt(square) * scale, along * along / square
                low = min(int(at), last - 1)
                b = sensors[n]
                total[b] = max(total[b], weight * (curve[low] + (at - low) * (curve[low + 1] - curve[low])))


@kernel()
def shadow_all(position, heading, movables, first, last, radius, widest, movable_radius, shapes, near, cells, watch, bins,
               used, out):
    """`shadow_world` for every world."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        shadow_world(w, position, heading, movables, first, last, radius, widest, movable_radius, shapes, near, cells, watch,
                     bins, used, out)
