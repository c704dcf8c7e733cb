"""Line of sight: whether something stands between two points, seen from above.

A line looks into the table of fixed things (`Near`) once for each stretch of it, so it tries those beside its way and no
others; and into the rows of the robots' cell list that it crosses.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np

from formiga.engine.above.cells import fill_world
from formiga.engine.above.light import chord
from formiga.engine.fixed import Fixed, boxes, near_cell
from formiga.errors import WorldError
from formiga.geometry import crossing, lattice_index
from formiga.kernels import kernel


def stretch(fixed: Fixed) -> float:
    """A good radius for the table: a third of the mean way from one fixed thing to the next. Wider lists too much in each
    cell, narrower looks into too many cells."""
    if len(fixed.shapes) == 0:
        return 1.0
    low, high = boxes(fixed)
    width, depth = high.max(axis=0) - low.min(axis=0)
    return float(0.5 * (width + depth) / sqrt(len(fixed.shapes)) / 3.0) or 1.0


@kernel()
def inside(x, y, dx, dy, x0, y0, x1, y1):
    """The part of the way d from (x, y) that is inside a box, as fractions of it; (1, 0) if none is. [Liang & Barsky 1984]"""
    begin, end = 0.0, 1.0
    for at, way, low, high in ((x, dx, x0, x1), (y, dy, y0, y1)):
        if way == 0.0:
            if at < low or at > high:
                return 1.0, 0.0
        else:
            one, other = (low - at) / way, (high - at) / way
            begin, end = max(begin, min(one, other)), min(end, max(one, other))
    return begin, end


@kernel()
def walled(x, y, dx, dy, shapes, near):
    """Whether the way d from (x, y) meets a fixed thing; to touch it is to meet it, as for beams."""
    radius = near.radius
    begin, end = inside(x, y, dx, dy, near.x0, near.y0, near.x0 + near.columns * near.size, near.y0 + near.rows * near.size)
    if begin > end:  # nothing is outside of the table
        return False
    length = (end - begin) * sqrt(dx * dx + dy * dy)
    count = max(1, int(ceil(length / (2.0 * radius))))
    share = (end - begin) / count
    x0, x1, y0, y1 = min(x, x + dx), max(x, x + dx), min(y, y + dy), max(y, y + dy)
    for step in range(count):
        middle = begin + (step + 0.5) * share
        cell = near_cell(x + middle * dx, y + middle * dy, near)
        for n in range(near.start[cell], near.start[cell + 1]):
            k = near.items[n]
            ax, ay, bx, by, r = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4]
            if min(ax, bx) - r > x1 or max(ax, bx) + r < x0 or min(ay, by) - r > y1 or max(ay, by) + r < y0:
                continue
            if r > 0.0:
                enter, leave = chord(ax - x, ay - y, dx, dy, r)
                if enter <= 1.0 and leave >= 0.0:
                    return True
            else:
                t, along = crossing(ax - x, ay - y, dx, dy, bx - ax, by - ay)
                if 0.0 <= t <= 1.0 and 0.0 <= along <= 1.0:
                    return True
    return False


@kernel()
def crowded(w, x, y, dx, dy, radius, widest, cells):
    """Whether the way d from (x, y) meets the circle around a robot of world w in which neither of its ends lies."""
    size, inverse, start, order, sx, sy = cells.size, 1.0 / cells.size, cells.start, cells.order, cells.x, cells.y
    y0, y1 = min(y, y + dy) - widest, max(y, y + dy) + widest
    r0, r1 = lattice_index((y0 - cells.y0) * inverse, cells.rows), lattice_index((y1 - cells.y0) * inverse, cells.rows)
    for r in range(r0, r1 + 1):
        low = cells.y0 + r * size - widest if r > 0 else -np.inf  # cells at the border hold what is beyond it, too
        high = cells.y0 + (r + 1) * size + widest if r < cells.rows - 1 else np.inf
        begin, end = inside(x, y, dx, dy, -np.inf, low, np.inf, high)
        if begin > end:
            continue
        x0, x1 = x + min(begin * dx, end * dx) - widest, x + max(begin * dx, end * dx) + widest
        c0 = lattice_index((x0 - cells.x0) * inverse, cells.columns)
        c1 = lattice_index((x1 - cells.x0) * inverse, cells.columns)
        for n in range(start[w, r * cells.columns + c0], start[w, r * cells.columns + c1 + 1]):
            gx, gy, size_of = sx[w, n] - x, sy[w, n] - y, radius[order[w, n]]
            enter, leave = chord(gx, gy, dx, dy, size_of)
            if enter > 1.0 or leave < 0.0:
                continue
            hx, hy = gx - dx, gy - dy
            if gx * gx + gy * gy > size_of * size_of and hx * hx + hy * hy > size_of * size_of:
                return True
    return False


@kernel()
def clear(w, x, y, dx, dy, walls_only, radius, widest, shapes, near, cells):
    """Whether nothing stands on the way d from (x, y) in world w. There is no way to a place that is not a number."""
    if not np.isfinite(dx * dx + dy * dy):
        return False
    if dx == 0.0 and dy == 0.0:
        return True
    return not walled(x, y, dx, dy, shapes, near) and (walls_only or not crowded(w, x, y, dx, dy, radius, widest, cells))


@kernel()
def between_world(w, origins, targets, walls_only, radius, widest, shapes, near, cells, out):
    """Fill out (W, n, P) with whether nothing stands between origins (W, n, 1 or P, 2) and targets (W, n, P, 2) of world w,
    whose cell list must be up to date unless walls alone count."""
    each = origins.shape[2] > 1
    for i in range(targets.shape[1]):
        for p in range(targets.shape[2]):
            x, y = origins[w, i, p if each else 0, 0], origins[w, i, p if each else 0, 1]
            out[w, i, p] = clear(w, x, y, targets[w, i, p, 0] - x, targets[w, i, p, 1] - y, walls_only, radius, widest, shapes,
                                 near, cells)


@kernel()
def between_all(position, origins, targets, walls_only, radius, widest, shapes, near, cells, out):
    """`between_world` for every world."""
    for w in range(position.shape[0]):
        if not walls_only:
            fill_world(w, position, cells)
        between_world(w, origins, targets, walls_only, radius, widest, shapes, near, cells, out)


def pairs(origins: Any, targets: Any) -> tuple[Any, Any]:
    """Origins (W, n, 2) or (W, n, P, 2) and targets (W, n, P, 2), as `between_world` takes them; WorldError if they do not
    fit."""
    one = origins[:, :, None] if origins.ndim == 3 else origins
    if targets.ndim != 4 or targets.shape[3] != 2 or one.ndim != 4 or one.shape[::3] != (len(targets), 2) \
            or one.shape[1] != targets.shape[1] or one.shape[2] not in (1, targets.shape[2]):
        raise WorldError(f"line of sight: origins must be (worlds, robots, 2) or (worlds, robots, pairs, 2), and targets "
                         f"(worlds, robots, pairs, 2); these are {origins.shape} and {targets.shape}.")
    return one, targets


__all__ = ["between_all", "between_world", "clear", "crowded", "pairs", "stretch", "walled"]
