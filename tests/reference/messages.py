"""The plain twin of links: every robot asks every other one, one after another."""

import numpy as np


def audible(place, antenna, radius, segments, discs, ranges, talks, sight="bodies"):
    """For each robot the numbers of the robots that it could hear without loss, nearest first, of equally far ones the lower.

    place (N, 2); antenna (N,): heights; segments (S, 4), discs (C, 3) as high as the sky; talks (N,): whether it sends.
    """
    heard = []
    for i in range(len(place)):
        found = []
        for j in range(len(place)):
            far = float(np.linalg.norm([*(place[j] - place[i]), antenna[j] - antenna[i]]))
            if j == i or not talks[j] or far > ranges[j]:
                continue
            stopped = sight != "none" and (
                any(crosses(place[i], place[j], wall) for wall in segments)
                or any(gap(place[i], place[j], disc[:2]) <= disc[2] for disc in discs))
            stopped |= sight == "bodies" and any(gap(place[i], place[j], place[k]) <= radius[k]
                                                 for k in range(len(place)) if k not in (i, j))
            if not stopped:
                found.append((far, j))
        heard.append([j for _, j in sorted(found)])
    return heard


def gap(a, b, point):
    """Distance of a point from the way from a to b."""
    way = b - a
    share = np.clip((point - a) @ way / (way @ way), 0.0, 1.0)
    return np.linalg.norm(a + share * way - point)


def crosses(a, b, wall):
    """Whether the way from a to b crosses a wall: a + t (b - a) = start + r edge, solved as it stands."""
    start, edge = np.array(wall[:2]), np.array(wall[2:]) - wall[:2]
    matrix = np.column_stack([b - a, -edge])
    if np.linalg.det(matrix) == 0.0:
        return False
    t, r = np.linalg.solve(matrix, start - a)
    return 0.0 <= t <= 1.0 and 0.0 <= r <= 1.0


def hops(place, reach, source):
    """Breadth-first distance of each robot from one of them, over links of a length; -1 where there is no way."""
    found = np.full(len(place), -1)
    found[source], front = 0, [source]
    while front:
        behind = []
        for i in front:
            for j in np.flatnonzero((np.linalg.norm(place - place[i], axis=1) <= reach) & (found < 0)):
                found[j] = found[i] + 1
                behind.append(j)
        front = behind
    return found
