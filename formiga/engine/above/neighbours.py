"""The robots around each robot, nearest first: what sensors of neighbours, flocks and links between robots are made of.

`gather`, `select` and `sort` work on two working arrays: the square of each distance, and the number of the robot. Robots at
the same distance come in the order of their numbers, so the list does not depend on the cells that they were found in.
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.cells import around, fill_world
from formiga.geometry import wrapped
from formiga.kernels import kernel

GAPS = (57, 23, 10, 4, 1)


class Neighbours(NamedTuple):
    """The nearest others of each robot within some reach: arrays over (worlds, robots of the group, at most so many)."""

    number: Any     # (W, n, most) which robots: columns of the state's arrays; -1 where there is none
    count: Any      # (W, n) how many there are in the list
    distance: Any   # (W, n, most) m, between centres; infinite where there is none
    bearing: Any    # (W, n, most) rad from the robot's heading, counter-clockwise, from -pi to pi; 0 where there is none
    place: Any      # (W, n, most, 2) m, their centres; NaN where there is none


def no_neighbours(worlds: int, robots: int, most: int) -> Neighbours:
    """Empty lists."""
    shape = worlds, robots, most
    return Neighbours(np.full(shape, -1), np.zeros(shape[:2], np.int64), np.full(shape, np.inf), np.zeros(shape),
                      np.full((*shape, 2), np.nan))


@kernel()
def gather(w, i, x, y, reach, cells, square, number):
    """All robots of world w but i whose centres are within `reach` of (x, y), in no order: squares of distances in m^2, and
    numbers. Returns how many."""
    c0, c1, r0, r1 = around(x, y, reach, cells)
    start, order, sx, sy, columns, count, furthest = (cells.start, cells.order, cells.x, cells.y, cells.columns, 0,
                                                      reach * reach)
    for r in range(r0, r1 + 1):
        for n in range(start[w, r * columns + c0], start[w, r * columns + c1 + 1]):
            dx, dy = sx[w, n] - x, sy[w, n] - y
            away = dx * dx + dy * dy
            square[count], number[count] = away, order[w, n]  # written in any case, and kept if it is counted: no branch
            count += (away <= furthest) & (order[w, n] != i)
    return count


@kernel()
def comes_before(square, number, a, b):
    """Whether entry a is nearer than entry b, or as near with the smaller number."""
    return square[a] < square[b] or (square[a] == square[b] and number[a] < number[b])


@kernel()
def exchange(square, number, a, b):
    """Let two entries change places."""
    square[a], square[b] = square[b], square[a]
    number[a], number[b] = number[b], number[a]


@kernel()
def select(count, most, square, number):
    """Move the nearest `most` of the first `count` entries to the front, in no order. [Hoare 1961, "Algorithm 65: find"]"""
    low, high = 0, count - 1
    while low < high:
        exchange(square, number, (low + high) // 2, high)
        edge = low
        for k in range(low, high):
            if comes_before(square, number, k, high):
                exchange(square, number, k, edge)
                edge += 1
        exchange(square, number, edge, high)
        if edge == most or edge == most - 1:
            return
        if edge < most:
            low = edge + 1
        else:
            high = edge - 1


@kernel()
def sort(count, square, item, robot):
    """Sort the first `count` entries by their squares, the smallest first; of equal ones the item with the lower robot[item].

    By insertion over gaps of 57, 23, 10, 4 and 1. [Shell 1959; Ciura 2001]
    """
    for gap in GAPS:
        for k in range(gap, count):
            s, n, at = square[k], item[k], k
            while at >= gap and (square[at - gap] > s or (square[at - gap] == s and robot[item[at - gap]] > robot[n])):
                square[at], item[at] = square[at - gap], item[at - gap]
                at -= gap
            square[at], item[at] = s, n


@kernel()
def nearest(w, i, x, y, reach, most, cells, square, number, robots):
    """The nearest `most` robots but i within `reach` of (x, y), sorted, at the front of the working arrays (N,). Returns
    how many there are. robots (N,): 0, 1, 2 ..."""
    count = gather(w, i, x, y, reach, cells, square, number)
    if count > most:
        select(count, most, square, number)
        count = most
    sort(count, square, number, robots)
    return count


@kernel()
def neighbours_world(w, position, heading, first, last, reach, cells, square, number, robots, out):
    """Fill out, `Neighbours`, for robots first..last of world w; its cell list must be up to date."""
    most = out.number.shape[2]
    for i in range(first, last):
        x, y, k = position[w, i, 0], position[w, i, 1], i - first
        count = nearest(w, i, x, y, reach, most, cells, square, number, robots)
        for m in range(count):
            j = number[m]
            dx, dy = position[w, j, 0] - x, position[w, j, 1] - y
            out.number[w, k, m], out.distance[w, k, m] = j, sqrt(square[m])
            out.bearing[w, k, m] = wrapped(atan2(dy, dx) - heading[w, i])
            out.place[w, k, m, 0], out.place[w, k, m, 1] = position[w, j, 0], position[w, j, 1]
        for m in range(count, out.count[w, k]):  # what the list had more when it was last filled
            out.number[w, k, m], out.distance[w, k, m], out.bearing[w, k, m] = -1, np.inf, 0.0
            out.place[w, k, m, 0], out.place[w, k, m, 1] = np.nan, np.nan
        out.count[w, k] = count


@kernel()
def neighbours_all(position, heading, first, last, reach, cells, square, number, robots, out):
    """`neighbours_world` for every world."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        neighbours_world(w, position, heading, first, last, reach, cells, square, number, robots, out)


__all__ = ["Neighbours", "gather", "nearest", "neighbours_all", "neighbours_world", "no_neighbours", "select", "sort"]
