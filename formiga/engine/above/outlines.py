"""Bodies of any outline, seen from above: a table of convex parts, and beams against them.

The table has robots first, then movables, as the rows of `State.movables`. Walls and round obstacles are parts behind them.
"""

from __future__ import annotations

from math import cos, hypot, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.beams import PARALLEL, start_within
from formiga.engine.above.outline import Corner, convex_parts, tidy
from formiga.engine.above.walk import enter, late_by, start_inside
from formiga.engine.fixed import Fixed, near_cell
from formiga.errors import WorldError
from formiga.geometry import crossing
from formiga.kernels import kernel
from formiga.world.elements import where
from formiga.world.model import World

CX, CY, NX, NY = range(4)               # columns of a corner: where it is, and the outward normal of the side that begins there
X, Y, HEADING, COS, SIN = range(5)      # columns of Stand.pose


class Outlines(NamedTuple):
    """B bodies with P convex parts and V corners: what never changes."""

    robots: int
    widest: float          # m, the largest reach
    reach: Any             # (B,) m, radius of the circle around a body
    disc: Any              # (B,) whether it is one
    first_part: Any        # (B + 1,)
    first: Any             # (P + 1,) first corner of each part
    radius: Any            # (P,) of a disc; 0 for parts with corners
    corner: Any            # (V, 4) CX CY NX NY in the body's frame


class Corners(NamedTuple):
    """Corners and normals of all parts, where they are now; those of fixed things behind those of bodies."""

    first: Any             # (P + 1,) where each part begins
    radius: Any            # (P,) of a disc; 0 for those with corners
    corner: Any            # (V, 4) CX CY NX NY in the world's frame


class Stand(NamedTuple):
    """Working memory: how the bodies of one world stand."""

    pose: Any              # (B, 5) X Y HEADING COS SIN
    corners: Corners


class Shape(NamedTuple):
    """The outline of one body."""

    corners: list[Corner]                        # counter-clockwise; none of a disc
    parts: list[tuple[list[Corner], float]]      # convex: corners and radius
    reach: float                                 # m, radius of the circle around it


# -- building ---------------------------------------------------------------------------------------------------------
def kinds(world: World) -> list[tuple[Any, str, int]]:
    """The kinds of bodies in a world: the robot or movable, its place and name for messages, and how many there are."""
    found = [(group.robot, f"{where(group)}'{group.name}': ", group.count) for group in world.groups if group.count]
    return found + [(thing, f"{where(thing)}'{thing.name}': ", 1) for thing in world.movables]


def shape_of(thing: Any, place: str = "") -> Shape:
    """The shape of a robot or a movable; WorldError if its outline encloses nothing."""
    if not thing.outline:
        return Shape([], [([(0.0, 0.0)], thing.radius)], thing.radius)
    try:
        corners, parts = tidy(thing.outline), [(part, 0.0) for part in convex_parts(thing.outline)]
    except WorldError as wrong:
        raise WorldError(f"{place}{wrong}") from wrong
    return Shape(corners, parts, max(hypot(*corner) for corner in corners))


def outlines(world: World) -> Outlines:
    """The table of a world's bodies."""
    found = kinds(world)
    shapes, counts = [shape_of(thing, place) for thing, place, _ in found], [count for *_, count in found]
    each = np.repeat(np.arange(len(found)), counts)  # of each body, which kind it is: a million robots are one row

    def repeated(values: list[list[Any]], dtype: type, *width: int) -> Any:
        """The values of each kind of body, as often as there is such a body."""
        return np.concatenate([np.empty((0, *width), dtype), *(
            np.tile(np.array(own, dtype).reshape(-1, *width), (count, *(1 for _ in width)))
            for own, count in zip(values, counts, strict=True))])

    parts, reach = [shape.parts for shape in shapes], np.array([shape.reach for shape in shapes], np.float64)
    return Outlines(world.robots, float(reach.max(initial=0.0)), reach[each],
                    np.array([not shape.corners for shape in shapes], np.bool_)[each],
                    _ends(repeated([[len(own)] for own in parts], np.int64)),
                    _ends(repeated([[len(part) for part, _ in own] for own in parts], np.int64)),
                    repeated([[radius for _, radius in own] for own in parts], np.float64),
                    repeated([[corner for part, _ in own for corner in with_normals(part)] for own in parts], np.float64, 4))


def _ends(sizes: Any) -> Any:
    """Where each of these begins if they stand one after another, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def with_normals(corners: list[Corner]) -> list[tuple[float, float, float, float]]:
    """Each corner with the outward normal of the side that begins there."""
    out = []
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        length = hypot(bx - ax, by - ay)
        out.append((ax, ay, (by - ay) / length, (ax - bx) / length) if length else (ax, ay, 0.0, 0.0))
    return out


def fixed_parts(fixed: Fixed) -> tuple[list[list[Corner]], list[float]]:
    """Walls as parts with two corners, round obstacles as discs."""
    corners = [[(x0, y0)] if (x0, y0) == (x1, y1) else [(x0, y0), (x1, y1)] for x0, y0, x1, y1, _ in fixed.shapes.tolist()]
    return corners, fixed.shapes[:, 4].tolist()


def make_corners(first: Any, radius: Any, fixed: Fixed) -> Corners:
    """Working memory for the corners of all parts: of bodies, `first` and `radius` of `Outlines`, and of what is fixed, which
    is filled in for good."""
    walls, radii = fixed_parts(fixed)
    still = np.array([row for wall in walls for row in with_normals(wall)]).reshape(-1, 4)
    behind = first[-1] + np.cumsum([len(wall) for wall in walls], dtype=np.int64)
    return Corners(np.concatenate([first, behind]).astype(np.int64), np.concatenate([radius, radii]),
                   np.concatenate([np.zeros((first[-1], 4)), still]))


def make_stand(table: Outlines, fixed: Fixed) -> Stand:
    """Working memory for beams."""
    return Stand(np.zeros((len(table.reach), 5)), make_corners(table.first, table.radius, fixed))


# -- beams ------------------------------------------------------------------------------------------------------------
@kernel(inner=True)
def along_disc(ox, oy, ux, uy, cx, cy, radius):
    """Distance along a beam to a disc; 0 from inside, infinity if it is missed."""
    gx, gy = cx - ox, cy - oy
    inside = radius * radius - gx * gx - gy * gy
    if inside >= 0.0:
        return 0.0
    along = gx * ux + gy * uy
    square = along * along + inside
    return along - sqrt(square) if along > 0.0 and square >= 0.0 else np.inf


@kernel(inner=True)
def along_part(ox, oy, ux, uy, p, corners):
    """Distance along a beam to a part; 0 from inside, infinity if it is missed."""
    at, first, last = corners.corner, corners.first[p], corners.first[p + 1]
    if last - first == 1:
        return along_disc(ox, oy, ux, uy, at[first, CX], at[first, CY], corners.radius[p])
    nearest, outside = np.inf, last - first == 2  # a wall has no inside
    for i in range(first, last):
        ax, ay = at[i, CX], at[i, CY]
        after = i + 1 if i + 1 < last else first
        outside = outside or at[i, NX] * (ox - ax) + at[i, NY] * (oy - ay) > 0.0
        ex, ey = at[after, CX] - ax, at[after, CY] - ay
        t, r = crossing(ax - ox, ay - oy, ux, uy, ex, ey)
        if t >= 0.0 and 0.0 <= r <= 1.0 and abs(ux * ey - uy * ex) > PARALLEL * (abs(ex) + abs(ey)):
            nearest = min(nearest, t)
    return nearest if outside else 0.0


@kernel(inner=True)
def try_beams(x, y, c, s, ox, oy, ux, uy, p, corners, mine):
    """All beams of one robot against one part."""
    for k in range(ux.shape[0]):
        away = along_part(x + c * ox[k] - s * oy[k], y + s * ox[k] + c * oy[k], c * ux[k] - s * uy[k], s * ux[k] + c * uy[k], p,
                          corners)
        mine[k] = min(mine[k], away)


@kernel(inner=True)
def stand_world(w, position, heading, movables, outlines, stand):
    """Write the poses of world w's bodies, and their corners in the world's frame."""
    N, pose, at, own, first, part = (outlines.robots, stand.pose, stand.corners.corner, outlines.corner, outlines.first,
                                     outlines.first_part)
    for b in range(pose.shape[0]):
        if b < N:
            x, y, theta = position[w, b, 0], position[w, b, 1], heading[w, b]
        else:
            x, y, theta = movables[w, b - N, 0], movables[w, b - N, 1], movables[w, b - N, 2]
        c, s = cos(theta), sin(theta)
        pose[b, X], pose[b, Y], pose[b, HEADING], pose[b, COS], pose[b, SIN] = x, y, theta, c, s
        if outlines.disc[b]:
            k = first[part[b]]
            at[k, CX], at[k, CY] = x, y
            continue
        for k in range(first[part[b]], first[part[b + 1]]):
            at[k, CX], at[k, CY] = x + c * own[k, CX] - s * own[k, CY], y + s * own[k, CX] + c * own[k, CY]
            at[k, NX], at[k, NY] = c * own[k, NX] - s * own[k, NY], s * own[k, NX] + c * own[k, NY]


@kernel(inner=True)
def cast_standing(i, sight, ox, oy, ux, uy, far, reach, outlines, stand, mine):
    """Distances mine (B,) of robot i along its beams, in the world whose bodies stand in `stand`.

    (ox, oy), (ux, uy): where each beam starts and points, in the robot's frame; far: no point of a beam is further from the
    robot's centre. Infinity where nothing is within reach; a beam that starts inside something is at distance 0.
    """
    pose, first_part = stand.pose, outlines.first_part
    x, y, c, s = pose[i, X], pose[i, Y], pose[i, COS], pose[i, SIN]
    mine[:] = np.inf
    for b in range(pose.shape[0]):
        dx, dy, near_by = pose[b, X] - x, pose[b, Y] - y, far + outlines.reach[b]
        if b == i or dx * dx + dy * dy > near_by * near_by:
            continue
        for p in range(first_part[b], first_part[b + 1]):
            try_beams(x, y, c, s, ox, oy, ux, uy, p, stand.corners, mine)
    try_fixed(x, y, c, s, sight, ox, oy, ux, uy, reach, outlines.radius.shape[0], stand.corners, mine)


@kernel(inner=True)
def try_fixed(x, y, c, s, sight, ox, oy, ux, uy, reach, parts, corners, mine):
    """The beams of one robot against what stands still, whose parts come after so many of bodies; then what is at `reach` or
    beyond is infinitely far."""
    near, solids = sight.near, sight.solids
    if sight.walks:
        walk_parts(x, y, c, s, sight, ox, oy, ux, uy, reach, parts, corners, mine)
    else:
        cell = near_cell(x, y, near)
        for n in range(near.start[cell], near.start[cell + 1]):
            try_beams(x, y, c, s, ox, oy, ux, uy, parts + near.items[n], corners, mine)
        cell = near_cell(x, y, solids)
        for n in range(solids.start[cell], solids.start[cell + 1]):
            start_within(x, y, c, s, ox, oy, solids.items[n], solids, mine)
    for k in range(mine.shape[0]):
        if mine[k] >= reach:
            mine[k] = np.inf


@kernel(inner=True)
def walk_parts(x, y, c, s, sight, ox, oy, ux, uy, reach, parts, corners, mine):
    """Long beams against what stands still, from cell to cell: see `walk.py`."""
    near, late = sight.near, late_by(sight.near)
    start_inside(x, y, c, s, sight, ox, oy, mine)
    for b in range(ux.shape[0]):
        px, py = x + c * ox[b] - s * oy[b], y + s * ox[b] + c * oy[b]
        dx, dy = c * ux[b] - s * uy[b], s * ux[b] + c * uy[b]
        column, row, next_x, next_y, step_x, step_y = enter(px, py, dx, dy, near, reach)
        best, right, up = mine[b], (1 if dx > 0.0 else -1), (1 if dy > 0.0 else -1)
        while column >= 0:
            cell = row * near.columns + column
            for n in range(near.start[cell], near.start[cell + 1]):
                best = min(best, along_part(px, py, dx, dy, parts + near.items[n], corners))
            if next_x < next_y:
                entered, column, next_x = next_x, column + right, next_x + step_x
            else:
                entered, row, next_y = next_y, row + up, next_y + step_y
            if column >= near.columns or row < 0 or row >= near.rows or entered > min(best, reach) + late:
                break
        mine[b] = best


@kernel()
def cast_outlines(position, heading, movables, first, last, sight, ox, oy, ux, uy, far, reach, outlines, stand, out):
    """Distances out (W, n, B) of robots first..last along their beams: see `cast_standing`."""
    for w in range(position.shape[0]):
        stand_world(w, position, heading, movables, outlines, stand)
        for i in range(first, last):
            cast_standing(i, sight, ox, oy, ux, uy, far, reach, outlines, stand, out[w, i - first])


__all__ = ["Corners", "Outlines", "Shape", "Stand", "cast_outlines", "cast_standing", "kinds", "make_corners", "make_stand",
           "outlines", "shape_of", "stand_world", "try_fixed", "with_normals"]
