"""Two convex parts: how far apart, along which line, and where they touch.

A part has corners, counter-clockwise, with the outward normal of the side that begins at each; one corner alone is a disc of
the part's radius, two are a wall. The line is the separating line of the paper: one that contains a side of either.
All of it in the world's frame, in `Corners`. [Klancar et al. 2003, section on collision detection]
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from formiga.engine.above.outlines import CX, CY, NX, NY
from formiga.kernels import kernel

CLEAR = 1e-6  # m by which a side of B must separate better than one of A to be the separating line: A's is tried first


class Meeting(NamedTuple):
    """How two parts stand to each other."""

    gap: float         # m between them; negative: they overlap by so much
    nx: float          # the normal, pointing to A
    ny: float
    points: int        # 1: a corner or a disc; 2: a side lies along a side; 0: they pass each other's ends
    px: float          # the first point, halfway between the two surfaces ...
    py: float
    near: float        # ... and the gap there
    qx: float
    qy: float
    far: float


@kernel(inner=True)
def best_side(a0, a1, b0, b1, corners):
    """(side of A, how far all of B is beyond it) for the side of A that separates best; negative: none does."""
    at = corners.corner
    best, side = -1e300, a0
    for i in range(a0, a1):
        least = 1e300
        for j in range(b0, b1):
            least = min(least, at[i, NX] * (at[j, CX] - at[i, CX]) + at[i, NY] * (at[j, CY] - at[i, CY]))
        if least > best:
            best, side = least, i
    return side, best


@kernel(inner=True)
def meet_discs(a, b, corners):
    """Two discs."""
    at, radius = corners.corner, corners.radius
    i, j = corners.first[a], corners.first[b]
    dx, dy = at[i, CX] - at[j, CX], at[i, CY] - at[j, CY]
    distance = sqrt(dx * dx + dy * dy)
    nx, ny = (dx / distance, dy / distance) if distance > 0.0 else (1.0, 0.0)
    gap = distance - radius[a] - radius[b]
    reach = radius[b] + 0.5 * gap
    return Meeting(gap, nx, ny, 1, at[j, CX] + nx * reach, at[j, CY] + ny * reach, gap, 0.0, 0.0, 0.0)


@kernel(inner=True)
def meet_disc(disc, b, corners):
    """A disc, and a part with corners; the normal points to the disc."""
    at = corners.corner
    c, b0, b1 = corners.first[disc], corners.first[b], corners.first[b + 1]
    cx, cy = at[c, CX], at[c, CY]
    best, side = -1e300, b0
    for i in range(b0, b1):
        beyond = at[i, NX] * (cx - at[i, CX]) + at[i, NY] * (cy - at[i, CY])
        if beyond > best:
            best, side = beyond, i
    after = side + 1 if side + 1 < b1 else b0
    ax, ay, bx, by = at[side, CX], at[side, CY], at[after, CX], at[after, CY]
    ex, ey = bx - ax, by - ay
    along = (cx - ax) * ex + (cy - ay) * ey
    nx, ny, distance = at[side, NX], at[side, NY], best
    square = ex * ex + ey * ey
    if along < 0.0 or along > square:  # beyond an end of that side: a corner is nearest
        qx, qy = (ax, ay) if along < 0.0 else (bx, by)
        gx, gy = cx - qx, cy - qy
        distance = sqrt(gx * gx + gy * gy)
        if distance > 0.0:
            nx, ny = gx / distance, gy / distance
    gap = distance - corners.radius[disc]
    reach = distance - 0.5 * gap
    return Meeting(gap, nx, ny, 1, cx - nx * reach, cy - ny * reach, gap, 0.0, 0.0, 0.0)


@kernel(inner=True)
def meet_sides(a, b, corners):
    """Two parts with corners: the separating line, then what of the other's nearest side lies in front of it."""
    at = corners.corner
    a0, a1, b0, b1 = corners.first[a], corners.first[a + 1], corners.first[b], corners.first[b + 1]
    side, gap = best_side(a0, a1, b0, b1, corners)
    other, beyond = best_side(b0, b1, a0, a1, corners)
    sign, r0, r1, i0, i1 = -1.0, a0, a1, b0, b1     # the line is A's, so its outward normal points away from A
    if beyond > gap + CLEAR:
        side, gap, sign, r0, r1, i0, i1 = other, beyond, 1.0, b0, b1, a0, a1
    nx, ny = at[side, NX], at[side, NY]
    after = side + 1 if side + 1 < r1 else r0

    facing, least = i0, 1e300                       # the side of the other that looks most towards the line
    for j in range(i0, i1):
        dot = nx * at[j, NX] + ny * at[j, NY]
        if dot < least:
            least, facing = dot, j
    then = facing + 1 if facing + 1 < i1 else i0

    tx, ty = -ny, nx                                # along the line, from `side` to `after`
    start, end = tx * at[side, CX] + ty * at[side, CY], tx * at[after, CX] + ty * at[after, CY]
    px, py, qx, qy = at[facing, CX], at[facing, CY], at[then, CX], at[then, CY]
    s, t = tx * px + ty * py, tx * qx + ty * qy     # s > t: it runs against the line
    if t > end or s < start:
        if gap >= 0.0:                              # they pass each other's ends
            return Meeting(gap, sign * nx, sign * ny, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for j in range(i0, i1):                     # just two corners overlap: the deepest one counts
            depth = nx * (at[j, CX] - at[side, CX]) + ny * (at[j, CY] - at[side, CY])
            if depth <= gap + CLEAR:
                px, py = at[j, CX], at[j, CY]
        return Meeting(gap, sign * nx, sign * ny, 1, px - 0.5 * gap * nx, py - 0.5 * gap * ny, gap, 0.0, 0.0, 0.0)
    length = s - t
    if length > 0.0:
        ex, ey = (qx - px) / length, (qy - py) / length
        if s > end:
            px, py = px + ex * (s - end), py + ey * (s - end)
        if t < start:
            qx, qy = qx - ex * (start - t), qy - ey * (start - t)
    near = nx * (px - at[side, CX]) + ny * (py - at[side, CY])
    far = nx * (qx - at[side, CX]) + ny * (qy - at[side, CY])
    px, py, qx, qy = px - 0.5 * near * nx, py - 0.5 * near * ny, qx - 0.5 * far * nx, qy - 0.5 * far * ny
    if near > far:
        near, far, px, py, qx, qy = far, near, qx, qy, px, py
    return Meeting(gap, sign * nx, sign * ny, 2, px, py, near, qx, qy, far)


@kernel()
def meet(a, b, corners):
    """Any two parts."""
    disc_a, disc_b = corners.first[a + 1] - corners.first[a] == 1, corners.first[b + 1] - corners.first[b] == 1
    if disc_a and disc_b:
        return meet_discs(a, b, corners)
    if disc_a:
        return meet_disc(a, b, corners)
    if disc_b:
        m = meet_disc(b, a, corners)
        return Meeting(m.gap, -m.nx, -m.ny, m.points, m.px, m.py, m.near, m.qx, m.qy, m.far)
    return meet_sides(a, b, corners)
