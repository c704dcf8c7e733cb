"""Long beams: each walks from cell to cell, and meets only what is listed there.

A short beam is near few things, and trying all of them is quick, as `beams.py` does. A scanner of 30 m among thousands of walls
is near all of them. Here a lattice lists the walls of each cell; a beam goes through its cells in order and ends when what
it has met is nearer than the next one [Amanatides & Woo 1987, "A fast voxel traversal algorithm for ray tracing"]. A wall that
is tried is tried with the expressions of `beams.py`, in the frame of the robot, so both give the same bits: the walk only
decides which pairs of a beam and a wall are left out.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import Any

import numpy as np

from formiga.engine.above.beams import PARALLEL, meet_disc, start_within
from formiga.engine.above.cells import around, fill_world, row_of
from formiga.engine.fixed import Fixed, Region, Sight, boxes, near_cell, near_table, solids_table
from formiga.geometry import lattice_index, nearest_on_segment
from formiga.kernels import kernel

PER_SHAPE = 2.0     # cells of the lattice for each shape
FEW = 48            # robots that are near: up to so many are all tried
PADDING = 1e-6      # m, at least: what is so near to a cell is listed in it, so rounding leaves nothing out
LATE = 1e-6         # of all lengths: a beam goes on for so long after it has met something, since distances are rounded, too


def walk_table(fixed: Fixed, furthest: float) -> Sight:
    """The lattice for beams whose origins are at most `furthest` from the robot's centre."""
    if len(fixed.shapes) == 0:
        return Sight(near_table(fixed, PADDING), solids_table(fixed.outlines, furthest), True, furthest)
    low, high = boxes(fixed)
    width, depth = np.maximum(high.max(axis=0) - low.min(axis=0), PADDING)
    padding = PADDING + 1e-9 * float(np.abs([low, high]).max())
    size = float(np.sqrt(width * depth / (PER_SHAPE * len(fixed.shapes))))
    return Sight(near_table(fixed, padding, size), solids_table(fixed.outlines, furthest), True, furthest)


def expected(shapes: Any, region: Region, far: float) -> float:
    """How many of some shapes (K, 5) are within `far` of a place in a region, about."""
    if len(shapes) == 0:
        return 0.0
    reach = far + 0.5 * np.hypot(shapes[:, 2] - shapes[:, 0], shapes[:, 3] - shapes[:, 1]) + shapes[:, 4]
    return float(np.minimum(1.0, np.pi * reach * reach / max(region.area, 1e-9)).sum())


@kernel()
def late_by(near):
    """How much further a beam goes on after it has met something."""
    return LATE * (1.0 + (near.columns + near.rows) * near.size)


@kernel()
def enter(px, py, dx, dy, near, reach):
    """Where a beam from p along d comes into a lattice: column and row, the distances at which it goes into the next of each,
    and from one to another. The column is -1 if it misses the lattice."""
    x0, y0, size = near.x0, near.y0, near.size
    x1, y1, inverse, ix, iy = x0 + near.columns * size, y0 + near.rows * size, 1.0 / size, 1.0 / dx, 1.0 / dy
    first, last = 0.0, reach                                   # the part of the beam that is on the lattice
    if dx != 0.0:
        one, other = (x0 - px) * ix, (x1 - px) * ix
        first, last = max(first, min(one, other)), min(last, max(one, other))
    if dy != 0.0:
        one, other = (y0 - py) * iy, (y1 - py) * iy
        first, last = max(first, min(one, other)), min(last, max(one, other))
    if first > last + late_by(near) or (dx == 0.0 and (px < x0 or px > x1)) or (dy == 0.0 and (py < y0 or py > y1)):
        return -1, 0, 0.0, 0.0, 0.0, 0.0
    column = lattice_index((px + first * dx - x0) * inverse, near.columns)
    row = lattice_index((py + first * dy - y0) * inverse, near.rows)
    next_x = (x0 + (column + (dx > 0.0)) * size - px) * ix if dx != 0.0 else np.inf
    next_y = (y0 + (row + (dy > 0.0)) * size - py) * iy if dy != 0.0 else np.inf
    return column, row, next_x, next_y, abs(size * ix), abs(size * iy)


@kernel()
def start_inside(x, y, c, s, walk, ox, oy, nearest):
    """Beams that start inside a solid obstacle end there."""
    solids, furthest = walk.solids, walk.furthest
    if solids.table.shape[0] == 0:
        return
    cell = near_cell(x, y, solids)
    for n in range(solids.start[cell], solids.start[cell + 1]):
        k = solids.items[n]
        if not (x + furthest < solids.table[k, 0] or y + furthest < solids.table[k, 1]
                or x - furthest > solids.table[k, 2] or y - furthest > solids.table[k, 3]):
            start_within(x, y, c, s, ox, oy, k, solids, nearest)


@kernel()
def walk_fixed(x, y, c, s, shapes, walk, ox, oy, ux, uy, far, reach, nearest):
    """Distances nearest (B,) of what stands still along the beams of a robot at (x, y) with the cosine and sine of its heading;
    infinity where nothing is within reach. See `beams.cast_world`."""
    near = walk.near
    columns, rows, start, items, late = near.columns, near.rows, near.start, near.items, late_by(near)
    nearest[:] = np.inf
    start_inside(x, y, c, s, walk, ox, oy, nearest)
    for b in range(ux.shape[0]):
        best = nearest[b]
        if best == 0.0:
            continue
        bx, by, vx, vy = ox[b], oy[b], ux[b], uy[b]
        px, py = x + c * bx - s * by, y + s * bx + c * by          # origin and direction in the world
        dx, dy = c * vx - s * vy, s * vx + c * vy
        column, row, next_x, next_y, step_x, step_y = enter(px, py, dx, dy, near, reach)
        right, up = (1 if dx > 0.0 else -1), (1 if dy > 0.0 else -1)
        while column >= 0:
            cell = row * columns + column
            for n in range(start[cell], start[cell + 1]):
                k = items[n]
                ax, ay, r = shapes[k, 0] - x, shapes[k, 1] - y, shapes[k, 4]
                gx, gy = c * ax + s * ay, c * ay - s * ax
                gx, gy = gx - bx, gy - by
                if r > 0.0:
                    across, along = gx * vy - gy * vx, gx * vx + gy * vy
                    square = r * r - across * across
                    half = sqrt(max(0.0, square))
                    t = max(0.0, along - half)
                    meets = square >= 0.0 and along + half >= 0.0
                else:
                    wx, wy = shapes[k, 2] - shapes[k, 0], shapes[k, 3] - shapes[k, 1]
                    ex, ey = c * wx + s * wy, c * wy - s * wx
                    den, over = vx * ey - vy * ex, gx * vy - gy * vx
                    # over / den is from 0 to 1, without a division
                    meets = abs(den) > PARALLEL * (abs(ex) + abs(ey)) and abs(over) <= abs(den) and (
                        over == 0.0 or (over > 0.0) == (den > 0.0))
                    t = (gx * ey - gy * ex) / den if meets else -1.0
                if meets and 0.0 <= t <= reach and t < best:
                    if t > 0.999 * reach:  # at the very end, `cast_world` may have left it out
                        qx, qy = nearest_on_segment(x, y, shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3])
                        if (qx - x) * (qx - x) + (qy - y) * (qy - y) > (far + r) * (far + r):
                            continue
                    best = t
            if next_x < next_y:
                entered, column, next_x = next_x, column + right, next_x + step_x
                if column >= columns:
                    break
            else:
                entered, row, next_y = next_y, row + up, next_y + step_y
                if row < 0 or row >= rows:
                    break
            if entered > min(best, reach) + late:
                break
        nearest[b] = best


@kernel()
def walk_robots(w, i, x, y, c, s, radius, widest, cells, ox, oy, ux, uy, far, reach, nearest):
    """Shorten the beams nearest (B,) of robot i that meet another one. If many are as near as the longest beam is long, each
    beam goes through the rows of the cell list; few are all tried."""
    longest, furthest = 0.0, 0.0
    for b in range(ux.shape[0]):
        longest = max(longest, min(nearest[b], reach))
        furthest = max(furthest, abs(ox[b]) + abs(oy[b]))
    within = min(far, longest * (1.0 + LATE) + LATE + furthest) + widest
    c0, c1, r0, r1 = around(x, y, within, cells)
    many = 0
    for r in range(r0, r1 + 1):
        many += cells.start[w, r * cells.columns + c1 + 1] - cells.start[w, r * cells.columns + c0]
    if many > FEW:
        walk_rows(w, i, x, y, c, s, radius, widest, cells, ox, oy, ux, uy, far, reach, nearest)
        return
    for r in range(r0, r1 + 1):
        for n in range(cells.start[w, r * cells.columns + c0], cells.start[w, r * cells.columns + c1 + 1]):
            dx, dy, j = cells.x[w, n] - x, cells.y[w, n] - y, cells.order[w, n]
            square = dx * dx + dy * dy
            if j != i and square <= within * within and square <= (far + radius[j]) * (far + radius[j]):
                meet_disc(c * dx + s * dy, c * dy - s * dx, radius[j], ox, oy, ux, uy, reach, nearest)


@kernel()
def walk_rows(w, i, x, y, c, s, radius, widest, cells, ox, oy, ux, uy, far, reach, nearest):
    """The same for many others: a beam goes through the rows of the cell list."""
    start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    y0, size, columns, rows, inverse = cells.y0, cells.size, cells.columns, cells.rows, 1.0 / cells.size
    range_, wide = far + widest, widest + PADDING + 1e-9 * (abs(x) + abs(y) + far)
    for b in range(ux.shape[0]):
        best = nearest[b]
        limit = min(best, reach) * (1.0 + LATE) + LATE
        bx, by, vx, vy = ox[b], oy[b], ux[b], uy[b]
        px, py = x + c * bx - s * by, y + s * bx + c * by
        dx, dy = c * vx - s * vy, s * vx + c * vy
        up = 1 if dy >= 0.0 else -1
        row, end = row_of(py - up * wide, cells), row_of(py + limit * dy + up * wide, cells)
        while True:
            first, last = 0.0, limit                         # the part of the beam that is within `widest` of the row
            if dy != 0.0:
                one, other = (y0 + row * size - wide - py) / dy, (y0 + (row + 1) * size + wide - py) / dy
                if row > 0:                                   # else it has all that is below, too
                    first, last = (max(first, one), last) if dy > 0.0 else (first, min(last, one))
                if row < rows - 1:
                    first, last = (first, min(last, other)) if dy > 0.0 else (max(first, other), last)
            if first > min(best, reach) * (1.0 + LATE) + LATE:
                break
            one, other = px + first * dx, px + last * dx
            c0 = lattice_index((min(one, other) - wide - cells.x0) * inverse, columns)
            c1 = lattice_index((max(one, other) + wide - cells.x0) * inverse, columns)
            for n in range(start[w, row * columns + c0], start[w, row * columns + c1 + 1]):
                gx, gy = sx[w, n] - x, sy[w, n] - y
                square = gx * gx + gy * gy
                j = order[w, n]
                if square > range_ * range_ or j == i or square > (far + radius[j]) * (far + radius[j]):
                    continue
                gx, gy = c * gx + s * gy, c * gy - s * gx
                gx, gy = gx - bx, gy - by
                across, along = gx * vy - gy * vx, gx * vx + gy * vy
                square = radius[j] * radius[j] - across * across
                half = sqrt(max(0.0, square))
                t = max(0.0, along - half)
                if square >= 0.0 and along + half >= 0.0 and t <= reach and t < best:
                    best = t
            if row == end:
                break
            row += up
        nearest[b] = best


@kernel()
def walk_world(w, position, heading, first, last, radius, widest, shapes, walk, cells, ox, oy, ux, uy, far, reach, out):
    """`beams.cast_world`, with beams that walk."""
    for i in range(first, last):
        x, y, c, s = position[w, i, 0], position[w, i, 1], cos(heading[w, i]), sin(heading[w, i])
        walk_fixed(x, y, c, s, shapes, walk, ox, oy, ux, uy, far, reach, out[w, i - first])
        if position.shape[1] > 1:
            walk_robots(w, i, x, y, c, s, radius, widest, cells, ox, oy, ux, uy, far, reach, out[w, i - first])


@kernel()
def walk_look_world(w, position, heading, first, last, radius, widest, shapes, walk, cells, ox, oy, ux, uy, far, reach, out):
    """`walk_world` with the cell list brought up to date first."""
    fill_world(w, position, cells)
    walk_world(w, position, heading, first, last, radius, widest, shapes, walk, cells, ox, oy, ux, uy, far, reach, out)


@kernel()
def walk_all(position, heading, first, last, radius, widest, shapes, walk, cells, ox, oy, ux, uy, far, reach, out):
    """`walk_world` for every world."""
    for w in range(position.shape[0]):
        walk_look_world(w, position, heading, first, last, radius, widest, shapes, walk, cells, ox, oy, ux, uy, far, reach, out)


__all__ = ["enter", "expected", "late_by", "start_inside", "walk_all", "walk_fixed", "walk_look_world", "walk_robots",
           "walk_table", "walk_world"]
