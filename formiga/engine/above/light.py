"""Light: which lamps, glowing robots and lit LEDs are in sight of a robot, and how bright they are.

One ray for each pair of a robot and a source, from the robot's centre to the source, decides for all its sensors.
[Swarm-bot 3D simulator] The ray runs from the robot's top to the source's height, and is stopped where it meets
something that is at least as high as the ray is there.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.cells import around, fill_world
from formiga.engine.above.sampled import sampled
from formiga.engine.switches import is_on
from formiga.geometry import crossing, lattice_index
from formiga.kernels import kernel
from formiga.noise import either, stream

LED_HEIGHT = 0.6  # of the robot's height; where the s-bot's ring of LEDs sits is not published


class Shining(NamedTuple):
    """What gives light: L lamps, and N robots by their glow and their LEDs."""

    lamps: Any         # (L, 4) x y z intensity
    switches: Any      # when each lamp is on
    glow: Any          # (N,) m^2, of the robot as a whole; 0: none
    led: Any           # (N,) m^2, of one LED that is white and as bright as it can be
    count: Any         # (N,) LEDs


@kernel()
def light_world(w, position, heading, facing, leds, first, last, radius, height, widest, tallest, shapes, tops, cells, shining,
                diodes, key, step, out):
    """Readings (n, S) of robots first..last of world w.

    facing (W, N): where the sensors' x points; leds (W, N, L, 3); height (N,): of each robot in m;
    widest, tallest: the largest radius and height of any robot; tops (K,): the heights of the shapes; shining: `Shining`;
    diodes: `sense.light.Photodiodes`; out (W, n, S).
    """
    to_lamps, to_robots = 0.0, 0.0  # how far any sensor sees
    for k in range(diodes.ux.shape[0]):
        to_lamps = max(to_lamps, diodes.reach[k] if diodes.sees_lamps[k] else 0.0)
        to_robots = max(to_robots, diodes.reach[k] if diodes.sees_robots[k] else 0.0)
    cell_start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    lamps, glow = shining.lamps, shining.glow
    anybody_glows, anybody_lit = False, False
    if to_robots > 0.0:
        for j in range(glow.shape[0]):
            anybody_glows |= glow[j] > 0.0
            anybody_lit |= shining.led[j] > 0.0 and is_lit(w, j, leds, shining.count)

    for i in range(first, last):
        x, y = position[w, i, 0], position[w, i, 1]
        c, s = cos(facing[w, i]), sin(facing[w, i])
        total = out[w, i - first]
        total[:] = 0.0
        for n in range(lamps.shape[0]):
            dx, dy, z = lamps[n, 0] - x, lamps[n, 1] - y, lamps[n, 2]
            if (dx * dx + dy * dy <= to_lamps * to_lamps and is_on(n, step[w], shining.switches)
                    and sees(w, i, -1, x, y, dx, dy, height[i], z, radius, height, widest, tallest, shapes, tops, cells)):
                shine(c, s, dx, dy, z - height[i], lamps[n, 3], radius[i], diodes, diodes.sees_lamps, total)
        if anybody_glows or anybody_lit:
            c0, c1, r0, r1 = around(x, y, to_robots + (widest if anybody_lit else 0.0), cells)
            for r in range(r0, r1 + 1):
                for n in range(cell_start[w, r * cells.columns + c0], cell_start[w, r * cells.columns + c1 + 1]):
                    j = order[w, n]
                    dx, dy, z = sx[w, n] - x, sy[w, n] - y, height[j]
                    if (j != i and glow[j] > 0.0 and dx * dx + dy * dy <= to_robots * to_robots
                            and sees(w, i, j, x, y, dx, dy, height[i], z, radius, height, widest, tallest, shapes, tops,
                                     cells)):
                        shine(c, s, dx, dy, z - height[i], glow[j], radius[i], diodes, diodes.sees_robots, total)
                    if not anybody_lit or j == i:
                        continue
                    z = LED_HEIGHT * height[j]
                    for k in range(shining.count[j]):
                        strength = shining.led[j] * brightness(w, j, k, leds)
                        if strength == 0.0:
                            continue
                        ux, uy = towards(heading[w, j], k, shining.count[j])
                        gx, gy = dx + radius[j] * ux, dy + radius[j] * uy
                        if (gx * ux + gy * uy < 0.0  # else it is on the far side of its own robot
                                and gx * gx + gy * gy <= to_robots * to_robots
                                and sees(w, i, j, x, y, gx, gy, height[i], z, radius, height, widest, tallest, shapes, tops,
                                         cells)):
                            shine(c, s, gx, gy, z - height[i], strength, radius[i], diodes, diodes.sees_robots, total)
        respond(total, diodes, key[w], i, step[w])


@kernel(inline="always")
def towards(heading, k, count):
    """Where LED k of a robot points, from its axis: they are evenly around, the first half a step to the left of ahead."""
    angle = heading + (k + 0.5) * 2.0 * pi / count
    return cos(angle), sin(angle)


@kernel(inline="always")
def brightness(w, j, k, leds):
    """Of LED k of robot j, from 0 to 1: the mean of red, green and blue."""
    return (leds[w, j, k, 0] / 255.0 + leds[w, j, k, 1] / 255.0 + leds[w, j, k, 2] / 255.0) / 3.0


@kernel(inline="always")
def is_lit(w, j, leds, count):
    """Whether one of the LEDs of robot j is lit."""
    for k in range(count[j]):
        if leds[w, j, k, 0] > 0 or leds[w, j, k, 1] > 0 or leds[w, j, k, 2] > 0:
            return True
    return False


@kernel()
def shine(c, s, dx, dy, dz, intensity, radius, diodes, wanted, total):
    """Add one source in direction d to all sensors of a robot whose heading has cosine c and sine s.

        x += max(0, cos(angle)) intensity / max(distance, radius)^2        [Swarm-bot 3D simulator; radius: ours]
    The angle is that of the source's bearing. A source right above has none, and every sensor gets its whole light. With
    samples, x grows by what they say instead: see `sampled.py`.
    """
    square = dx * dx + dy * dy
    strength = intensity / max(square + dz * dz, radius * radius)
    size = sqrt(square)
    ahead, left = c * dx + s * dy, c * dy - s * dx
    ux, uy, reach = diodes.ux, diodes.uy, diodes.reach
    for k in range(total.shape[0]):
        if wanted[k] and square <= reach[k] * reach[k]:
            if diodes.table[k] >= 0:
                bearing = atan2(left * ux[k] - ahead * uy[k], ahead * ux[k] + left * uy[k])
                total[k] += sampled(diodes.table[k], size, bearing, intensity, diodes.tables)
                continue
            weight = (ahead * ux[k] + left * uy[k]) / size if size > 0.0 else 1.0
            total[k] += max(0.0, weight) * strength


@kernel()
def respond(total, diodes, key, robot, step):
    """Turn sums of light (S,) into readings, in place.

        y = 2 / (1 + exp(-x)) - 1 = tanh(x / 2),  then x (1 + U(-a, a)), cut to 0..1      [Swarm-bot 3D simulator]
    """
    noise, channel, index = diodes.noise, diodes.channel, diodes.index
    start, last = np.uint64(0), -1
    for k in range(total.shape[0]):
        if total[k] == 0.0:  # darkness is silent
            continue
        total[k] = tanh(0.5 * total[k])
        if noise[k] > 0.0:
            if channel[k] != last:
                last = channel[k]
                start = stream(key, robot, step, last)
            total[k] = min(1.0, max(0.0, total[k] * (1.0 + either(start, index[k], noise[k]))))


@kernel()
def sees(w, i, source, x, y, dx, dy, h, z, radius, height, widest, tallest, shapes, tops, cells):
    """Whether nothing stops the ray from robot i at (x, y, h) to (x + dx, y + dy, z).

    source: the robot that shines, or -1; like robot i it is never in the way.
    """
    if dx == 0.0 and dy == 0.0:  # right above: nothing stands between them
        return True
    x0, x1, y0, y1 = min(x, x + dx), max(x, x + dx), min(y, y + dy), max(y, y + dy)
    for k in range(shapes.shape[0]):
        if clears(h, z, tops[k]):
            continue
        ax, ay, bx, by, r = shapes[k, 0], shapes[k, 1], shapes[k, 2], shapes[k, 3], shapes[k, 4]
        if min(ax, bx) - r > x1 or max(ax, bx) + r < x0 or min(ay, by) - r > y1 or max(ay, by) + r < y0:
            continue
        if r > 0.0:
            enter, leave = chord(ax - x, ay - y, dx, dy, r)
        else:
            enter, along = crossing(ax - x, ay - y, dx, dy, bx - ax, by - ay)
            leave = enter if 0.0 <= along <= 1.0 else -1.0
        if stops(enter, leave, h, z, tops[k]):
            return False

    if clears(h, z, tallest):
        return True
    begin = (h - tallest) / (h - z) if h > tallest else 0.0  # only the part of the ray that is low enough
    end = (tallest - h) / (z - h) if z > tallest else 1.0
    inverse = 1.0 / cells.size
    x0, x1 = x + min(begin * dx, end * dx) - widest, x + max(begin * dx, end * dx) + widest
    y0, y1 = y + min(begin * dy, end * dy) - widest, y + max(begin * dy, end * dy) + widest
    c0, c1 = lattice_index((x0 - cells.x0) * inverse, cells.columns), lattice_index((x1 - cells.x0) * inverse, cells.columns)
    r0, r1 = lattice_index((y0 - cells.y0) * inverse, cells.rows), lattice_index((y1 - cells.y0) * inverse, cells.rows)
    start, order, sx, sy = cells.start, cells.order, cells.x, cells.y
    for r in range(r0, r1 + 1):
        for n in range(start[w, r * cells.columns + c0], start[w, r * cells.columns + c1 + 1]):
            j = order[w, n]
            if j == i or j == source or clears(h, z, height[j]):  # noqa: SIM109
                continue
            enter, leave = chord(sx[w, n] - x, sy[w, n] - y, dx, dy, radius[j])
            if stops(enter, leave, h, z, height[j]):
                return False
    return True


@kernel()
def clears(h, z, top):
    """Whether a ray between heights h and z is above `top` all the way, or begins or ends just on it and is else above.

    So a robot sees a lamp on top of a lower obstacle, and a high lamp over the others that are as high as itself.
    """
    lowest = min(h, z)
    return lowest > top or (lowest == top and h != z)


@kernel()
def stops(enter, leave, h, z, top):
    """Whether a ray that goes from height h to z, and does not clear `top`, is at most that high between two fractions of
    its way. It is lowest where it enters if it rises, else where it leaves."""
    if enter > 1.0 or leave < 0.0:
        return False
    lowest = max(0.0, enter) if z > h else min(1.0, leave)
    return h + lowest * (z - h) <= top


@kernel()
def chord(gx, gy, dx, dy, r):
    """Fractions of the way d at which it enters and leaves a disc at g; (2, -1) if it never does. Touching counts, as it
    does for beams."""
    square = dx * dx + dy * dy
    across, along = gx * dy - gy * dx, gx * dx + gy * dy
    rest = r * r * square - across * across
    if rest < 0.0:
        return 2.0, -1.0
    half = sqrt(rest)
    return (along - half) / square, (along + half) / square


@kernel()
def light_all(position, heading, facing, leds, first, last, radius, height, widest, tallest, shapes, tops, cells, shining,
              diodes, key, step, out):
    """`light_world` for every world."""
    for w in range(position.shape[0]):
        fill_world(w, position, cells)
        light_world(w, position, heading, facing, leds, first, last, radius, height, widest, tallest, shapes, tops, cells,
                    shining, diodes, key, step, out)
