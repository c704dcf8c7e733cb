"""Rejection sampling: discs at random places that are free. For robots at the start, and for scattered obstacles."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from formiga.engine.fixed import gap_to_fixed, inside_solid
from formiga.geometry import lattice_index
from formiga.kernels import kernel
from formiga.noise import stream, unit

TRIES = 2000       # samples for one disc, after which it does not fit


@kernel(allocates=True)
def place_discs(keys, channel, first, last, standing, radius, safety, gap, reach, region, shapes, outlines, near, position):
    """Sample places of discs first..last of every world; position (W, N, 2) already holds those that are `standing` (N,).

    With reach > 0 each disc lands next to an earlier one: rim to rim more than `gap` from all, less than `reach` from it.
    Otherwise anywhere in the region, with `gap` between collision circles. Returns (world that failed or -1, discs placed).
    """
    N = radius.shape[0]
    width, depth = region.x1 - region.x0, region.y1 - region.y0
    widest = 0.0
    for i in range(N):
        widest = max(widest, safety[i])
    side = 2.0 * widest + gap  # a disc further away cannot overlap
    columns, rows = max(1, min(2048, int(width / side))), max(1, min(2048, int(depth / side)))
    head = np.empty(columns * rows, np.int64)  # linked lists of the discs in each cell
    after = np.empty(N, np.int64)
    for w in range(keys.shape[0]):
        head[:] = -1
        for i in range(N):
            if standing[i]:
                c = lattice_index((position[w, i, 0] - region.x0) / width * columns, columns)
                r = lattice_index((position[w, i, 1] - region.y0) / depth * rows, rows)
                after[i], head[r * columns + c] = head[r * columns + c], i
        for i in range(first, last):
            start = stream(keys[w], i, 0, channel)
            found = False
            for k in range(TRIES):
                if reach > 0.0 and i > first:  # next to an earlier one
                    j = first + int(unit(start, 3 * k) * (i - first))
                    distance = radius[i] + radius[j] + gap + unit(start, 3 * k + 1) * (reach - gap)
                    bearing = 2.0 * pi * unit(start, 3 * k + 2)
                    x, y = position[w, j, 0] + distance * cos(bearing), position[w, j, 1] + distance * sin(bearing)
                    if not (region.x0 <= x <= region.x1 and region.y0 <= y <= region.y1):
                        continue
                else:
                    x, y = region.x0 + unit(start, 3 * k) * width, region.y0 + unit(start, 3 * k + 1) * depth
                keep = safety[i] + (0.0 if reach > 0.0 else gap)
                if gap_to_fixed(x, y, shapes, near) <= keep or inside_solid(x, y, outlines):
                    continue
                c = lattice_index((x - region.x0) / width * columns, columns)
                r = lattice_index((y - region.y0) / depth * rows, rows)
                found = True
                for rr in range(max(0, r - 1), min(rows, r + 2)):
                    for cc in range(max(0, c - 1), min(columns, c + 2)):
                        j = head[rr * columns + cc]
                        while j >= 0 and found:
                            keep = safety[i] + safety[j] + gap
                            if reach > 0.0:
                                keep = max(safety[i] + safety[j], radius[i] + radius[j] + gap)
                            found = (position[w, j, 0] - x) ** 2 + (position[w, j, 1] - y) ** 2 > keep * keep
                            j = after[j]
                if found:
                    position[w, i, 0], position[w, i, 1] = x, y
                    after[i], head[r * columns + c] = head[r * columns + c], i
                    break
            if not found:
                return w, i - first
    return -1, last - first
