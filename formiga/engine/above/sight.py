"""What a camera that looks all around sees of lights: which lamps and lit LEDs are in sight, where, and of what colour.

Whether a light is hidden is decided as for light sensors: see `light.sees`.
"""

from __future__ import annotations

from math import atan2, pi, sqrt

import numpy as np

from formiga.engine.above.cells import around, fill_world
from formiga.engine.above.light import LED_HEIGHT, sees, towards
from formiga.engine.switches import is_on
from formiga.kernels import kernel


@kernel()
def look_world(w, position, heading, leds, first, last, radius, height, widest, tallest, shapes, tops, cells, shining, colours,
               step, reach, blobs, found):
    """Lights in sight of robots first..last of world w, the nearest first.

    leds (W, N, L, 3) on the rims: see `light.towards`; colours (K, 3) of the lamps; blobs (W, n, M, 6): bearing, elevation,
    distance over the floor, and red green blue from 0 to 1; found (W, n): how many there are, at most M.
    """
    lamps, count = shining.lamps, shining.count
    for i in range(first, last):
        x, y, h, ahead = position[w, i, 0], position[w, i, 1], height[i], heading[w, i]
        mine = blobs[w, i - first]
        seen = 0
        for n in range(lamps.shape[0]):
            dx, dy, z = lamps[n, 0] - x, lamps[n, 1] - y, lamps[n, 2]
            if (dx * dx + dy * dy <= reach * reach and is_on(n, step[w], shining.switches)
                    and sees(w, i, -1, x, y, dx, dy, h, z, radius, height, widest, tallest, shapes, tops, cells)):
                seen = insert(ahead, dx, dy, z - h, colours[n, 0], colours[n, 1], colours[n, 2], seen, mine)
        c0, c1, r0, r1 = around(x, y, reach + widest, cells)
        for r in range(r0, r1 + 1):
            for n in range(cells.start[w, r * cells.columns + c0], cells.start[w, r * cells.columns + c1 + 1]):
                j = cells.order[w, n]
                if j == i:
                    continue
                z = LED_HEIGHT * height[j]
                for k in range(count[j]):
                    red, green, blue = leds[w, j, k, 0] / 255.0, leds[w, j, k, 1] / 255.0, leds[w, j, k, 2] / 255.0
                    if red + green + blue == 0.0:
                        continue
                    ux, uy = towards(heading[w, j], k, count[j])
                    dx, dy = cells.x[w, n] + radius[j] * ux - x, cells.y[w, n] + radius[j] * uy - y
                    if (dx * ux + dy * uy < 0.0  # else it is on the far side of its own robot
                            and dx * dx + dy * dy <= reach * reach
                            and sees(w, i, j, x, y, dx, dy, h, z, radius, height, widest, tallest, shapes, tops, cells)):
                        seen = insert(ahead, dx, dy, z - h, red, green, blue, seen, mine)
        found[w, i - first] = seen


@kernel()
def insert(ahead, dx, dy, dz, red, green, blue, seen, blobs):
    """Put a light among those seen so far, (M, 6) by distance; the furthest falls out if there is no room. Returns how many
    there are now."""
    distance = sqrt(dx * dx + dy * dy)
    at = seen
    while at > 0 and blobs[at - 1, 2] > distance:
        at -= 1
    if at >= blobs.shape[0]:
        return seen
    now = min(seen + 1, blobs.shape[0])
    for row in range(now - 1, at, -1):
        for column in range(6):
            blobs[row, column] = blobs[row - 1, column]
    bearing = atan2(dy, dx) - ahead
    blobs[at, 0] = bearing - 2.0 * pi * np.floor(bearing / (2.0 * pi) + 0.5)  # from -pi to pi
    blobs[at, 1], blobs[at, 2] = atan2(dz, distance), distance
    blobs[at, 3], blobs[at, 4], blobs[at, 5] = red, green, blue
    return now


@kernel()
def look_all(position, heading, leds, first, last, radius, height, widest, tallest, shapes, tops, cells, shining, colours, step,
             reach, blobs, found):
    """`look_world` for every world."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        look_world(w, position, heading, leds, first, last, radius, height, widest, tallest, shapes, tops, cells, shining,
                   colours, step, reach, blobs, found)
