"""The plain twin of light: every source, every ray and every thing in space, one after another.

A wall is an upright rectangle, a body or a round obstacle an upright cylinder. All stand on the floor.
"""

import numpy as np
import shapely

END = 1e-9  # a ray begins and ends just above the tops that it connects, so others of the same height do not cover it


def read(position, heading, radius, height, walls, cylinders, solids, lamps, glow, angles, of, reach):
    """Readings (N, S) without noise for one world, and how many sources within reach were seen and were hidden.

    walls (S, 5): x0 y0 x1 y1 height; cylinders (C, 4): x y radius height; solids: pairs of an outline (n, 2) and a
    height; lamps (L, 4): x y z intensity.
    """
    reading, count = np.zeros((len(position), len(angles))), {True: 0, False: 0}
    bodies = [(*place, r, h) for place, r, h in zip(position, radius, height)]
    for i, eye in enumerate(zip(*position.T, height)):
        sources = [(lamp[:3], lamp[3], None) for lamp in lamps if of != "robots"]
        sources += [((*position[j], height[j]), glow[j], j) for j in np.flatnonzero(glow) if of != "lamps" and j != i]
        for place, intensity, j in sources:
            way = np.subtract(place, eye)
            if np.hypot(way[0], way[1]) > reach:
                continue
            others = [body for k, body in enumerate(bodies) if k not in (i, j)]
            hidden = (any(meets_wall(np.array(eye), way, wall) for wall in walls)
                      or any(meets_cylinder(np.array(eye), way, cylinder) for cylinder in [*cylinders, *others])
                      or (j is None and any(place[2] < roof and shapely.Polygon(outline).contains(shapely.Point(place))
                                            for outline, roof in solids)))
            count[not hidden] += 1
            if not hidden:
                facing = np.cos(np.arctan2(way[1], way[0]) - heading[i] - np.array(angles))
                reading[i] += np.maximum(0.0, facing) * intensity / max(np.linalg.norm(way), radius[i]) ** 2
    return 2.0 / (1.0 + np.exp(-reading)) - 1.0, count[True], count[False]


def meets_wall(eye, way, wall):
    """eye + t way = start + r edge + q up, solved as it stands."""
    start, edge = np.array([*wall[:2], 0.0]), np.array([wall[2] - wall[0], wall[3] - wall[1], 0.0])
    matrix = np.column_stack([way, -edge, [0.0, 0.0, -1.0]])
    if np.linalg.det(matrix) == 0.0:
        return False
    t, r, q = np.linalg.solve(matrix, start - eye)
    return 0.0 <= t <= 1.0 and 0.0 <= r <= 1.0 and q <= wall[4]


def meets_cylinder(eye, way, cylinder):
    """Where the ray is above the disc, by the roots of a quadratic; and whether it is too low at either end of that."""
    x, y, radius, top = cylinder
    g, u = eye[:2] - (x, y), way[:2]
    ends = np.roots([u @ u, 2.0 * g @ u, g @ g - radius**2])
    if np.iscomplex(ends).any() or ends.max() < 0.0 or ends.min() > 1.0:
        return False
    return min(eye[2] + np.clip(ends, END, 1.0 - END) * way[2]) <= top
