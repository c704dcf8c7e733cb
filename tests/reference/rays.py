"""The plain twin of the beams: solve every crossing of every beam with every thing, one after another."""

import numpy as np
from matplotlib.path import Path


def cast(position, heading, radius, segments, discs, origin, direction, reach):
    """Distances (N, B) for one world, infinity where nothing is within reach; and how squarely each beam hits (cosine)."""
    distance = np.full((len(position), len(origin)), np.inf)
    cosine = np.ones_like(distance)
    for i, (centre, angle) in enumerate(zip(position, heading)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        for b in range(len(origin)):
            o, u = centre + turn @ origin[b], turn @ direction[b]
            hits = [meet_segment(o, u, wall) for wall in segments]
            hits += [meet_disc(o, u, disc) for disc in discs]
            hits += [meet_disc(o, u, (*position[j], radius[j])) for j in range(len(position)) if j != i]
            hits = [hit for hit in hits if hit[0] <= reach]
            if hits:
                distance[i, b], cosine[i, b] = min(hits)
    return distance, cosine


def meet_segment(o, u, wall):
    """origin + t u = start + r edge, solved as it stands."""
    start, edge = np.array(wall[:2]), np.array(wall[2:]) - wall[:2]
    matrix = np.column_stack([u, -edge])
    if np.linalg.det(matrix) == 0.0:
        return np.inf, 1.0
    t, r = np.linalg.solve(matrix, start - o)
    return (t, abs(np.linalg.det(matrix)) / np.linalg.norm(edge)) if t >= 0.0 and 0.0 <= r <= 1.0 else (np.inf, 1.0)


def meet_disc(o, u, disc):
    """|origin + t u - centre|^2 = r^2, by the quadratic formula; a beam that starts inside is at 0."""
    g = o - np.array(disc[:2])
    b, c = 2.0 * g @ u, g @ g - disc[2] ** 2
    if c <= 0.0:
        return 0.0, 1.0
    square = b * b - 4.0 * c
    if square < 0.0 or b > 0.0:
        return np.inf, 1.0
    return (-b - np.sqrt(square)) / 2.0, np.sqrt(square) / 2.0 / disc[2]


def starts_inside(centre, heading, things, origin):
    """Whether each beam (B,) of a robot starts inside a rectangle or a polygon: even-odd, as a geometry library fills it."""
    turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
    solids = [outline(thing) for thing in things if hasattr(thing, "points") or hasattr(thing, "heading")]
    return np.array([any(Path(solid).contains_point(centre + turn @ start) for solid in solids) for start in origin])


def outline(thing):
    """The corners of a rectangle or a polygon, closed."""
    if hasattr(thing, "points"):
        corners = np.array(thing.points).reshape(-1, 2)
    else:
        c, s = np.cos(thing.heading), np.sin(thing.heading)
        half = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * (thing.width / 2, thing.depth / 2)
        corners = half @ np.array([[c, s], [-s, c]]) + (thing.x, thing.y)
    return np.concatenate([corners, corners[:1]])
