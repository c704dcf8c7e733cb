"""Plane geometry in scalars, compiled: the few relations between points, segments and discs that all kernels share."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np

from formiga.kernels import kernel

TINY = 1e-300  # makes sin(h)/h one at h = 0 and changes no other h


@kernel()
def cross(ax, ay, bx, by):
    """The z of a x b: positive if b lies counter-clockwise of a."""
    return ax * by - ay * bx


@kernel()
def lattice_index(v, count):
    """Which of `count` unit cells holds v; outside, the nearest one. Not-a-number goes to the first: no crash."""
    return int(min(count - 1.0, v)) if v > 0.0 else 0


@kernel()
def nearest_on_segment(px, py, ax, ay, bx, by):
    """The point of segment ab that is nearest to p."""
    ex, ey = bx - ax, by - ay
    square = ex * ex + ey * ey
    if square == 0.0:  # a and b are the same point
        return ax, ay
    along = ((px - ax) * ex + (py - ay) * ey) / square
    along = min(1.0, max(0.0, along))
    return ax + along * ex, ay + along * ey


@kernel()
def crossing(gx, gy, ux, uy, ex, ey):
    """Where the line along u from the origin meets the line along e from g: (fraction of u, fraction of e).

        den = u x e;  along u: (g x e) / den;  along e: (g x u) / den     [Swarmod draft, Fig. 15; reconstructed]
    Infinite if they are parallel: no single crossing.
    """
    den = ux * ey - uy * ex
    if den == 0.0:
        return np.inf, np.inf
    return (gx * ey - gy * ex) / den, (gx * uy - gy * ux) / den


@kernel(inline="always")
def direction(x, y):
    """The angle of a vector, as atan2(y, x), but without branches: a loop over many becomes vector code, 8 times as fast.

    With t = tan(angle) brought into +-tan(pi/8) and z = t^2, atan(t) = t + t z P(z) / Q(z) [Moshier 1989, Cephes, atan.c]; the
    error is at most 5e-16 rad. The null vector points along x.
    """
    a, b = abs(x), abs(y)
    high, low = max(a, b), min(a, b)
    middle = low > 0.41421356237309503 * high
    t = (low - high if middle else low) / (low + high if middle else (high if high > 0.0 else 1.0))
    z = t * t
    p = ((((-0.8750608600031904 * z - 16.157537187333652) * z - 75.00855792314705) * z - 122.88666844901361) * z
         - 64.85021904942025)
    q = (((((z + 24.858464901423062) * z + 165.02700983169885) * z + 432.88106049129027) * z + 485.3903996359137) * z
         + 194.5506571482614)
    angle = t + t * (z * p / q) + (0.25 * pi if middle else 0.0)
    angle = 0.5 * pi - angle if b > a else angle
    angle = pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle


@kernel()
def passes_disc(px, py, dx, dy, cx, cy, radius):
    """Whether the way from p to p + d comes nearer than `radius` to c, and nearer than it began."""
    gx, gy = px - cx, py - cy
    a, b = dx * dx + dy * dy, gx * dx + gy * dy
    if b >= 0.0:  # going away, or not moving
        return False
    t = min(1.0, -b / a)
    gx, gy = gx + t * dx, gy + t * dy
    return gx * gx + gy * gy < radius * radius


@kernel()
def enters_disc(px, py, dx, dy, cx, cy, radius):
    """Smallest t in [0, 1] at which p + t d is `radius` from c, coming from outside; 2 if there is none."""
    gx, gy = px - cx, py - cy
    a = dx * dx + dy * dy
    b = gx * dx + gy * dy
    c = gx * gx + gy * gy - radius * radius
    if c <= 0.0 or b >= 0.0 or a == 0.0:  # inside already, going away, or not moving
        return 2.0
    square = b * b - a * c
    if square < 0.0:
        return 2.0
    t = c / (sqrt(square) - b)
    return t if t <= 1.0 else 2.0


@kernel()
def enters_capsule(px, py, dx, dy, ax, ay, bx, by, radius):
    """Smallest t in [0, 1] at which p + t d is `radius` from segment ab, coming from outside; 2 if there is none."""
    best = min(enters_disc(px, py, dx, dy, ax, ay, radius), enters_disc(px, py, dx, dy, bx, by, radius))
    ex, ey = bx - ax, by - ay
    size = sqrt(ex * ex + ey * ey)
    if size == 0.0:
        return best
    ux, uy = ex / size, ey / size
    height, closing = cross(ux, uy, px - ax, py - ay), cross(ux, uy, dx, dy)  # signed distance to the line, its change
    if height < 0.0:
        height, closing = -height, -closing
    if height > radius and closing < 0.0:
        t = (height - radius) / -closing
        along = (px + t * dx - ax) * ux + (py + t * dy - ay) * uy
        if t <= 1.0 and 0.0 <= along <= size:
            best = min(best, t)
    return best


@kernel()
def arc(heading, left, right, base, dt):
    """Displacement and turn after `dt` with both wheel speeds (m/s, at the rim) held.

        turn = (right - left) dt / base
        chord = v dt sinc(turn/2), v = (left + right)/2, at heading + turn/2
                                                    [Vicentini & Tuci 2006, eq. 4]
    The paper rotates about the centre of curvature, whose distance is infinite when the wheels agree. The chord is
    the same arc and needs no special case.
    """
    turn = (right - left) * dt / base
    half = 0.5 * turn
    chord = 0.5 * (left + right) * dt * (sin(half + TINY) / (half + TINY))
    return chord * cos(heading + half), chord * sin(heading + half), turn
