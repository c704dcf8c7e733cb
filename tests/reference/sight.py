"""The plain twin of sight in space: a ray is a row of points, and it is stopped where one of them is inside something."""

import numpy as np

POINTS = 4000  # of a ray


def hidden(eye, source, things):
    """Whether one of the points between an eye and a source is inside one of the things: functions of points (P, 3)."""
    share = np.linspace(0.0, 1.0, POINTS)[1:-1, None]
    points = np.asarray(eye) + share * (np.asarray(source) - eye)
    return any(inside(points).any() for inside in things)


def box(centre, size, turn):
    """A box of a size (3,) whose axes are the columns of `turn`."""
    return lambda points: (np.abs((points - centre) @ turn) <= np.array(size) / 2.0).all(axis=1)


def sphere(centre, diameter):
    return lambda points: np.linalg.norm(points - centre, axis=1) <= diameter / 2.0


def cylinder(foot, radius, height, turn):
    """A cylinder that stands on its foot along the third column of `turn`."""
    def inside(points):
        x, y, z = ((points - foot) @ turn).T
        return (np.hypot(x, y) <= radius) & (z >= 0.0) & (z <= height)
    return inside


def below(height):
    """All that is below the ground, whose height is a function of x and y."""
    return lambda points: np.array([z < height(x, y) for x, y, z in points])
