"""Two convex parts: how far apart, along which line, and where they touch.

A part has corners, counter-clockwise, with the outward normal of the side that begins at each; one corner alone is a disc of
the part's radius, two are a wall. The line is the separating line of the paper: one that contains a side of either.
All of it in the world's frame, in `Corners`. [Klancar et al. 2003, section on collision detection]
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from formiga.kernels import kernel

CLEAR = 1e-6  # m by which a side of B must separate better than one of A to be the separating line: A's is tried first


class Corners(NamedTuple):
    """Corners and normals of all parts, where they are now; those of fixed things behind those of bodies."""

    first: Any         # (P + 1,) where each part begins
    radius: Any        # (P,) of a disc; 0 for those with corners
    x: Any             # (V,)
    y: Any
    nx: Any            # (V,) outward, of the side from this corner to the next
    ny: Any


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


@kernel()
def best_side(a0, a1, b0, b1, corners):
    """(side of A, how far all of B is beyond it) for the side of A that separates best; negative: none does."""
    x, y, nx, ny = corners.x, corners.y, corners.nx, corners.ny
    best, side = -1e300, a0
    for i in range(a0, a1):
        least = 1e300
        for j in range(b0, b1):
            least = min(least, nx[i] * (x[j] - x[i]) + ny[i] * (y[j] - y[i]))
        if least > best:
            best, side = least, i
    return side, best


@kernel()
def meet_discs(a, b, corners):
    """Two discs."""
    i, j = corners.first[a], corners.first[b]
    dx, dy = corners.x[i] - corners.x[j], corners.y[i] - corners.y[j]
    distance = sqrt(dx * dx + dy * dy)
    nx, ny = (dx / distance, dy / distance) if distance > 0.0 else (1.0, 0.0)
    gap = distance - corners.radius[a] - corners.radius[b]
    reach = corners.radius[b] + 0.5 * gap
    return Meeting(gap, nx, ny, 1, corners.x[j] + nx * reach, corners.y[j] + ny * reach, gap, 0.0, 0.0, 0.0)


@kernel()
def meet_disc(disc, b, corners):
    """A disc, and a part with corners; the normal points to the disc."""
    c, b0, b1 = corners.first[disc], corners.first[b], corners.first[b + 1]
    cx, cy = corners.x[c], corners.y[c]
    best, side = -1e300, b0
    for i in range(b0, b1):
        beyond = corners.nx[i] * (cx - corners.x[i]) + corners.ny[i] * (cy - corners.y[i])
        if beyond > best:
            best, side = beyond, i
    after = side + 1 if side + 1 < b1 else b0
    ax, ay, bx, by = corners.x[side], corners.y[side], corners.x[after], corners.y[after]
    ex, ey = bx - ax, by - ay
    along = (cx - ax) * ex + (cy - ay) * ey
    nx, ny, distance = corners.nx[side], corners.ny[side], best
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


@kernel()
def meet_sides(a, b, corners):
    """Two parts with corners: the separating line, then what of the other's nearest side lies in front of it."""
    x, y = corners.x, corners.y
    a0, a1, b0, b1 = corners.first[a], corners.first[a + 1], corners.first[b], corners.first[b + 1]
    side, gap = best_side(a0, a1, b0, b1, corners)
    other, theirs = best_side(b0, b1, a0, a1, corners)
    sign, r0, r1, i0, i1 = -1.0, a0, a1, b0, b1     # the line is A's, so its outward normal points away from A
    if theirs > gap + CLEAR:
        side, gap, sign, r0, r1, i0, i1 = other, theirs, 1.0, b0, b1, a0, a1
    nx, ny = corners.nx[side], corners.ny[side]
    after = side + 1 if side + 1 < r1 else r0

    facing, least = i0, 1e300                       # the side of the other that looks most towards the line
    for j in range(i0, i1):
        dot = nx * corners.nx[j] + ny * corners.ny[j]
        if dot < least:
            least, facing = dot, j
    then = facing + 1 if facing + 1 < i1 else i0

    tx, ty = -ny, nx                                # along the line, from `side` to `after`
    start, end = tx * x[side] + ty * y[side], tx * x[after] + ty * y[after]
    px, py, qx, qy = x[facing], y[facing], x[then], y[then]
    s, t = tx * px + ty * py, tx * qx + ty * qy     # s > t: it runs against the line
    if t > end or s < start:
        if gap >= 0.0:                              # they pass each other's ends
            return Meeting(gap, sign * nx, sign * ny, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for j in range(i0, i1):                     # just two corners overlap: the deepest one counts
            depth = nx * (x[j] - x[side]) + ny * (y[j] - y[side])
            if depth <= gap + CLEAR:
                px, py = x[j], y[j]
        return Meeting(gap, sign * nx, sign * ny, 1, px - 0.5 * gap * nx, py - 0.5 * gap * ny, gap, 0.0, 0.0, 0.0)
    length = s - t
    if length > 0.0:
        ex, ey = (qx - px) / length, (qy - py) / length
        if s > end:
            px, py = px + ex * (s - end), py + ey * (s - end)
        if t < start:
            qx, qy = qx - ex * (start - t), qy - ey * (start - t)
    near = nx * (px - x[side]) + ny * (py - y[side])
    far = nx * (qx - x[side]) + ny * (qy - y[side])
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
