"""The field of robot soccer as outlines: what is painted on its floor, and what stands around it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import tau

import numpy as np

from formiga.units import CM, MM
from formiga.view.mesh import Mesh, plate, prism, together
from formiga.world.field import Field
from formiga.world.looks.outlines import circle, offset, rectangle

LINE = 5.0 * MM         # how wide a line is
SPOT = 1.0 * CM         # radius of a mark


@lru_cache(maxsize=8)
def lines(field: Field) -> tuple[np.ndarray, ...]:
    """All that is painted: outlines (K, 2) of the centre line and circle, the goal lines and areas, the marks."""
    x, depth, wide = field.length / 2, field.area_depth, field.area_width / 2
    painted = [_line(0.0, -field.width / 2, 0.0, field.width / 2), circle(SPOT, 20)]
    painted += _ring(field.circle) if field.circle > 0.0 else []
    for side in (-1.0, 1.0):
        painted.append(_line(side * x, -field.goal_width / 2, side * x, field.goal_width / 2))
        if depth > 0.0 and wide > 0.0:
            inner = side * (x - depth)
            painted += [_line(inner, -wide, inner, wide), *(_line(inner, y, side * x, y) for y in (-wide, wide))]
        if 0.0 < field.penalty_spot < x:
            painted.append(circle(SPOT, 20) + (side * field.penalty_spot, 0.0))
            cross, away = field.cross
            for y in (-away, away) if away > 0.0 else ():
                at = (side * cross, y)
                painted += [rectangle(4.0 * SPOT, LINE) + at, rectangle(LINE, 4.0 * SPOT) + at]
    return tuple(painted)


def _line(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
    """A stroke along an axis."""
    return rectangle(abs(x1 - x0) + LINE, abs(y1 - y0) + LINE) + (0.5 * (x0 + x1), 0.5 * (y0 + y1))


def _ring(radius: float) -> list[np.ndarray]:
    """A circle's line, in four parts: an outline has no hole."""
    parts = []
    for quarter in range(4):
        around = (quarter + np.linspace(0.0, 1.0, 17)) * 0.25 * tau
        way = np.column_stack([np.cos(around), np.sin(around)])
        parts.append(np.concatenate([(radius + LINE / 2) * way, (radius - LINE / 2) * way[::-1]]))
    return parts


@lru_cache(maxsize=8)
def floor(field: Field) -> Mesh:
    """What is dark: the field, and inside the goals."""
    return plate(replace(field, corner=0.0).board)


@lru_cache(maxsize=8)
def goal(field: Field, side: float) -> Mesh:
    """The floor inside the goal on the left (-1) or on the right (1)."""
    return plate(rectangle(field.goal_depth, field.goal_width) + (side * 0.5 * (field.length + field.goal_depth), 0.0))


@lru_cache(maxsize=8)
def paint(field: Field) -> Mesh:
    """The lines."""
    return together(*(plate(outline) for outline in lines(field)))


@lru_cache(maxsize=8)
def board(field: Field, thick: float) -> Mesh:
    """What stands around: a wall outside of the lines that bodies meet, and a block in each corner."""
    inner = np.array(replace(field, corner=0.0).board)
    outer, x, y, c = offset(inner, thick), field.length / 2, field.width / 2, field.corner
    parts = [prism(np.array([inner[a], outer[a], outer[b], inner[b]]), 0.0, field.height)
             for a, b in zip(range(len(inner)), np.roll(range(len(inner)), -1), strict=True)]
    if c > 0.0:
        parts += [prism([(sx * x, sy * (y - c)), (sx * x, sy * y), (sx * (x - c), sy * y)], 0.0, field.height)
                  for sx in (1.0, -1.0) for sy in (1.0, -1.0)]
    return together(*parts)


__all__ = ["LINE", "board", "floor", "goal", "lines", "paint"]
