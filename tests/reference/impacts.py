"""The plain twin of bodies that hit each other: numpy, one pair at a time, and the equations as the paper prints them.

A shape is an array (K, 2) of corners, counter-clockwise, in the world's frame: a convex polygon, or a wall if there are two; or
a Disc. A body is a Body: mass, inertia, where it is and how it moves. Nothing here knows the engine.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Disc:
    """A round shape."""

    centre: np.ndarray
    radius: float


@dataclass
class Body:
    """A rigid body in the plane."""

    mass: float
    inertia: float
    place: np.ndarray          # of its centre
    velocity: np.ndarray
    spin: float

    def point_velocity(self, p):
        """v + omega x r, with vectors of three components."""
        r = np.append(p - self.place, 0.0)
        return self.velocity + np.cross([0.0, 0.0, self.spin], r)[:2]


# -- impacts ----------------------------------------------------------------------------------------------------------
def impact(a, b, p, n, restitution):
    """The impulse on A at p along n, which points to A; both bodies as they are afterwards. b None: something fixed.

        j = -(1 + eps) v_rel / (1/M_a + 1/M_b + n . ((I_a^-1 (r_a x n)) x r_a) + n . ((I_b^-1 (r_b x n)) x r_b))
                                                                                [Klancar et al. 2003, eq. 21, as printed]
    """
    n3, yielding, closing = np.append(n, 0.0), 0.0, 0.0
    for body, sign in ((a, 1.0), (b, -1.0)):
        if body is not None:
            r = np.append(p - body.place, 0.0)
            yielding += 1.0 / body.mass + n3 @ np.cross(np.cross(r, n3) / body.inertia, r)
            closing += sign * n @ body.point_velocity(p)
    if closing >= 0.0:
        return 0.0, a, b
    j = -(1.0 + restitution) * closing / yielding
    after = [None if body is None else
             Body(body.mass, body.inertia, body.place, body.velocity + sign * j * n / body.mass,
                  body.spin + sign * np.cross(np.append(p - body.place, 0.0), j * n3)[2] / body.inertia)
             for body, sign in ((a, 1.0), (b, -1.0))]
    return j, *after


def kinetic(*bodies):
    """Energy of motion."""
    return sum(0.5 * b.mass * b.velocity @ b.velocity + 0.5 * b.inertia * b.spin**2 for b in bodies)


def momentum(*bodies):
    """Linear momentum."""
    return sum(b.mass * b.velocity for b in bodies)


def angular_momentum(*bodies):
    """About the origin."""
    return sum(b.mass * (b.place[0] * b.velocity[1] - b.place[1] * b.velocity[0]) + b.inertia * b.spin for b in bodies)


# -- shapes -----------------------------------------------------------------------------------------------------------
def placed(outline, x, y, heading):
    """An outline (K, 2) of a body's own frame, in the world's."""
    c, s = np.cos(heading), np.sin(heading)
    return np.asarray(outline) @ np.array([[c, s], [-s, c]]) + (x, y)


def polygon_inertia(corners, mass):
    """About the origin: the plate as many thin strips; slow, and good to one part in a thousand."""
    from shapely import LineString, Polygon

    shape, total, moment = Polygon(corners), 0.0, 0.0
    low, high = corners[:, 0].min(), corners[:, 0].max()
    width = (high - low) / 2000
    for x in np.arange(low + width / 2, high, width):
        cut = shape.intersection(LineString([(x, corners[:, 1].min() - 1.0), (x, corners[:, 1].max() + 1.0)]))
        for piece in getattr(cut, "geoms", [cut]):
            if piece.length > 0.0:
                (_, y0), (_, y1) = piece.coords[0], piece.coords[-1]
                y0, y1 = min(y0, y1), max(y0, y1)
                total += width * (y1 - y0)
                moment += width * ((y1 - y0) * x * x + (y1**3 - y0**3) / 3.0)
    return mass * moment / total


def axes(one, other):
    """All directions (D, 2) that can separate two convex shapes best: normals of sides, and lines from a disc to corners."""
    directions = []
    for shape in (one, other):
        if not isinstance(shape, Disc):
            side = np.roll(shape, -1, axis=0) - shape
            directions.append(np.stack([side[:, 1], -side[:, 0]], axis=-1))
    for disc, shape in ((one, other), (other, one)):
        if isinstance(disc, Disc):
            directions.append(disc.centre - (shape.centre[None] if isinstance(shape, Disc) else shape))
    all_of_them = np.concatenate(directions)
    all_of_them /= np.sqrt((all_of_them**2).sum(-1))[:, None]
    return np.concatenate([all_of_them, -all_of_them])


def least(shape, directions):
    """The least of a shape along each direction."""
    if isinstance(shape, Disc):
        return directions @ shape.centre - shape.radius
    return (directions @ shape.T).min(-1)


def separation(one, other):
    """The separating-axis rule, over every direction: the largest gap that a line leaves; negative: the least overlap."""
    directions = axes(one, other)
    return (least(one, directions) + least(other, -directions)).max()


def distance(one, other):
    """How far apart two shapes are; 0 if they overlap. Every corner against every side."""
    if separation(one, other) < 0.0:
        return 0.0
    if isinstance(one, Disc) and isinstance(other, Disc):
        return np.linalg.norm(one.centre - other.centre) - one.radius - other.radius
    if isinstance(one, Disc):
        return min(from_segment(one.centre, a, b) for a, b in zip(other, np.roll(other, -1, axis=0))) - one.radius
    if isinstance(other, Disc):
        return distance(other, one)
    return min(from_segment(p, a, b) for shape, others in ((one, other), (other, one)) for p in shape
               for a, b in zip(others, np.roll(others, -1, axis=0)))


def from_segment(p, a, b):
    """From a point to a segment."""
    e = b - a
    return np.linalg.norm(p - a - np.clip((p - a) @ e / (e @ e), 0.0, 1.0) * e)


def random_convex(rng, size, corners=None):
    """A convex polygon around the origin: corners of random angles on an ellipse, none too near to the next."""
    count = corners or int(rng.integers(3, 8))
    angle = 2.0 * np.pi * (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count + rng.uniform(0.0, 2.0 * np.pi)
    outline = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * size * rng.uniform(0.5, 1.0, 2)
    return outline - centroid(outline)


def centroid(corners):
    """The middle of a polygon's area."""
    x, y = corners.T
    u, v = np.roll(corners, -1, axis=0).T
    cross = x * v - y * u
    return np.array([((x + u) * cross).sum(), ((y + v) * cross).sum()]) / (3.0 * cross.sum())


# -- a ball on the floor ------------------------------------------------------------------------------------------------
def rolled(velocity, dry, viscous, slow, per_axis=False, h=1e-5):
    """(time, way) until a rolling ball is slower than `slow` / 1000: Euler steps of h, the law as printed.

        dv/dt = -dry v/|v| - viscous v, with v/slow instead of v/|v| below `slow`                [Klancar et al. 2003, eq. 8-9]
    """
    v, way, time = np.array(velocity, float), np.zeros(2), 0.0
    while np.linalg.norm(v) > 1e-3 * slow:
        fast = np.abs(v) if per_axis else np.linalg.norm(v)
        v_next = v - h * (dry * v / np.maximum(fast, slow) + viscous * v)
        way, v, time = way + 0.5 * h * (v + v_next), v_next, time + h
    return time, way
