"""The painted floor: which colour it has at a place."""

from __future__ import annotations

from math import cos, sin
from typing import Any, NamedTuple

import numpy as np

from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.model import World, Zone


class Paint(NamedTuple):
    """The zones that are on, in the order in which they are painted: the last one covers those before it."""

    place: Any     # (Z, 4) x y of the centre, cosine and sine of the heading
    size: Any      # (Z, 3) half width, half depth; radius of a disc, 0 for a rectangle
    colour: Any    # (Z, 3) red green blue, from 0 to 1


def paint(world: World) -> Paint:
    """The zones of a world."""
    zones = [thing for thing in world.things if isinstance(thing, Zone) and thing.on]
    place = [(zone.x, zone.y, cos(zone.heading), sin(zone.heading)) for zone in zones]
    size = [(zone.width / 2, zone.depth / 2, zone.radius) for zone in zones]
    return Paint(np.array(place).reshape(-1, 4), np.array(size).reshape(-1, 3),
                 np.array([shares(zone.colour) for zone in zones]).reshape(-1, 3))


def shares(colour: str) -> tuple[float, float, float]:
    """'#ff8000' as red, green and blue from 0 to 1."""
    red, green, blue = (int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return red, green, blue


def colours(zones: Paint, places: Floats, bare: str) -> Floats:
    """Red, green and blue (..., 3) of the floor at places (..., 2); `bare` where nothing is painted."""
    spots = np.ascontiguousarray(places.reshape(-1, 2))
    out = np.tile(np.array(shares(bare)), (len(spots), 1))
    _look_down(spots, zones, out)
    return out.reshape(*places.shape[:-1], 3)


def grey(colour: Floats) -> Floats:
    """The grey value (...) of colours (..., 3). [ITU-R BT.601]"""
    return 0.299 * colour[..., 0] + 0.587 * colour[..., 1] + 0.114 * colour[..., 2]


@kernel()
def _look_down(spots, zones, out):
    for k in range(spots.shape[0]):
        for z in range(zones.place.shape[0] - 1, -1, -1):  # what was painted last is on top
            dx, dy = spots[k, 0] - zones.place[z, 0], spots[k, 1] - zones.place[z, 1]
            c, s, radius = zones.place[z, 2], zones.place[z, 3], zones.size[z, 2]
            if radius > 0.0:
                inside = dx * dx + dy * dy <= radius * radius
            else:
                inside = abs(c * dx + s * dy) <= zones.size[z, 0] and abs(c * dy - s * dx) <= zones.size[z, 1]
            if inside:
                for n in range(3):
                    out[k, n] = zones.colour[z, n]
                break
