"""The plain twins of neighbours and lines of sight: every robot with every other, every line with every thing."""

import numpy as np
from shapely import LineString, Point


def neighbours(position, heading, reach, most):
    """For each robot of one world the list of (number, distance, bearing) of the nearest others, by sorting all of them."""
    lists = []
    for i, here in enumerate(position):
        away = position - here
        square = away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1]
        others = sorted((square[j], j) for j in range(len(position)) if j != i and square[j] <= reach * reach)[:most]
        turn = np.exp(-1j * heading[i])
        lists.append([(j, np.sqrt(s), np.angle(complex(*away[j]) * turn)) for s, j in others])
    return lists


def clearance(origin, target, segments, discs, robots):
    """How far the line between two points is from the nearest thing in its way: negative inside it, 0 where it crosses a wall.

    segments (S, 4), discs (C, 3) x y radius, robots (N, 3): those in which one of the points lies do not count.
    """
    line = LineString([origin, target])
    gaps = [line.distance(LineString([wall[:2], wall[2:]])) for wall in segments]
    gaps += [line.distance(Point(disc[:2])) - disc[2] for disc in discs]
    gaps += [line.distance(Point(robot[:2])) - robot[2] for robot in robots
             if min(np.hypot(*(robot[:2] - origin)), np.hypot(*(robot[:2] - target))) > robot[2]]
    return min(gaps, default=np.inf)
