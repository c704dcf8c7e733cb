"""Closed outlines (K, 2) in the plane: round ones, larger and smaller ones, and what is left of one that is cut."""

from __future__ import annotations

from collections.abc import Sequence
from math import tau
from typing import Any

import numpy as np

Points = Sequence[tuple[float, float]] | np.ndarray


def circle(radius: float, sides: int = 48) -> np.ndarray:
    """A regular outline (sides, 2) around the origin."""
    around = np.arange(sides) * tau / sides
    return radius * np.column_stack([np.cos(around), np.sin(around)])


def rectangle(width: float, depth: float) -> np.ndarray:
    """An outline (4, 2) around the origin."""
    return 0.5 * np.array([(-width, -depth), (width, -depth), (width, depth), (-width, depth)])


def counter_clockwise(outline: Points) -> np.ndarray:
    """The same outline (K, 2), counter-clockwise."""
    corners = np.asarray(outline, float)
    return corners if area(corners) >= 0.0 else corners[::-1]


def area(corners: np.ndarray) -> float:
    """Twice the area inside; negative if clockwise."""
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def cross(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> Any:
    """Positive where p lies to the left of the line from a to b."""
    return (b[0] - a[0]) * (p[..., 1] - a[1]) - (b[1] - a[1]) * (p[..., 0] - a[0])


def chamfered(corners: np.ndarray, size: float) -> np.ndarray:
    """A counter-clockwise outline (K, 2) with each of its outer corners cut off: two corners instead, `size` away from it."""
    cut: list[np.ndarray] = []
    for k, here in enumerate(corners):
        before, after = corners[k - 1] - here, corners[(k + 1) % len(corners)] - here
        if cross(corners[k - 1], here, corners[(k + 1) % len(corners)]) <= 0.0:
            cut.append(here)
        else:
            cut += [here + min(size / np.hypot(*way), 0.3) * way for way in (before, after)]
    return np.array(cut)


def offset(corners: np.ndarray, by: float) -> np.ndarray:
    """A counter-clockwise outline (K, 2) with its edges moved outwards by so much; a sharp corner goes twice as far at most."""
    edge = np.roll(corners, -1, axis=0) - corners
    normal = np.column_stack([edge[:, 1], -edge[:, 0]]) / np.maximum(np.hypot(*edge.T), 1e-12)[:, None]
    middle = normal + np.roll(normal, 1, axis=0)          # of the two edges that meet at a corner
    return corners + by * middle / np.maximum(0.5 * (middle**2).sum(axis=1), 0.5)[:, None]


def half_width(outline: np.ndarray) -> float:
    """How far an outline extends to both sides of its origin, at x = 0."""
    sides = []
    for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if (x0 <= 0.0) != (x1 <= 0.0):
            sides.append(abs(y0 + (y1 - y0) * x0 / (x0 - x1)))
    return min(sides, default=float(np.abs(outline[:, 1]).max()))


def front(outline: np.ndarray) -> float:
    """The x where an outline ends, straight ahead of its origin."""
    turned = np.column_stack([-outline[:, 1], outline[:, 0]])
    ends = [y0 + (y1 - y0) * x0 / (x0 - x1) for (x0, y0), (x1, y1) in zip(turned, np.roll(turned, -1, axis=0), strict=True)
            if (x0 <= 0.0) != (x1 <= 0.0)]
    return max(ends, default=float(outline[:, 0].max()))


def cut(outline: np.ndarray, x: float) -> np.ndarray:
    """The part of an outline ahead of a line across it. [Sutherland & Hodgman 1974]"""
    kept: list[Any] = []
    for here, there in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if here[0] >= x:
            kept.append(here)
        if (here[0] >= x) != (there[0] >= x):
            kept.append(here + (there - here) * (x - here[0]) / (there[0] - here[0]))
    return np.array(kept).reshape(-1, 2)


__all__ = ["Points", "area", "chamfered", "circle", "counter_clockwise", "cross", "cut", "front", "half_width", "offset",
           "rectangle"]
