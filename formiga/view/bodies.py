"""Things as triangles: what can be pushed, solids of simple shapes, lamps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from math import cos, pi, sin, tau
from typing import Any, TypeVar

import numpy as np

from formiga.view.mesh import Mesh, block, box, drum, lathe, mesh_of, rgb, together
from formiga.world.beacons import Beacons
from formiga.world.looks import GRAPHITE, SLATE
from formiga.world.maps import Map
from formiga.world.model import Cylinder, Cylinders, Lamp, Polygon, Rectangle, Wall, Zone
from formiga.world.movables import Ball, Block, Puck
from formiga.world.solids import Trigger

T = TypeVar("T")



# -- things of the world ----------------------------------------------------------------------------------------------
SWITCHED = (Wall, Rectangle, Polygon, Cylinder, Cylinders, Lamp, Zone, Trigger, Map, Beacons)


def is_on(thing: Any) -> bool:
    """Whether a thing is switched on; one without a switch always is."""
    return not isinstance(thing, SWITCHED) or thing.on


def by_class(table: Mapping[type, T], thing: Any) -> T | None:
    """The entry for the class of a thing, or for the nearest class that it inherits from; None if there is none."""
    return next((table[cls] for cls in type(thing).__mro__ if cls in table), None)


# -- what can be pushed -----------------------------------------------------------------------------------------------
def movable(thing: Any) -> Mesh:
    """A ball, around its middle; a puck or a block, on the floor. The same mesh for all that look alike."""
    draw = by_class(MOVABLES, thing)
    assert draw is not None  # world.movables has no others
    return draw(thing)


def tall(thing: Any) -> float:
    """How high a thing that can be pushed is, m."""
    return float(2.0 * thing.radius if isinstance(thing, Ball) else thing.height)


def around(thing: Any) -> float:
    """The radius of the circle around a thing that can be pushed, m."""
    return float(thing.radius if thing.outline is None else np.linalg.norm(thing.outline, axis=1).max())


@lru_cache(maxsize=256)
def _puck(radius: float, height: float, colour: str) -> Mesh:
    return drum(radius, 0.0, height, 40, min(0.12 * radius, 0.3 * height), colour)


@lru_cache(maxsize=256)
def _block(outline: tuple[tuple[float, float], ...], height: float, colour: str) -> Mesh:
    return block(outline, 0.0, height, min(0.06 * float(np.ptp(outline, axis=0).min()), 0.3 * height), colour)


@lru_cache(maxsize=256)
def _ball(radius: float, colour: str, cuts: int = 6) -> Mesh:
    """Eight parts, light and dark in turn, so that rolling can be seen."""
    grid = [(i, j, cuts - i - j) for i in range(cuts + 1) for j in range(cuts + 1 - i)]
    number = {(i, j): k for k, (i, j, _) in enumerate(grid)}
    faces = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j, k in grid if k > 0]
    faces += [(number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i, j, k in grid if k > 1]
    part = np.array(grid, float)
    part *= radius / np.linalg.norm(part, axis=1, keepdims=True)
    light = "#" + "".join(f"{round(value + 0.3 * (255 - value)):02x}" for value in rgb(colour))
    parts = []
    for signs in product((1.0, -1.0), repeat=3):
        outside = faces if np.prod(signs) > 0.0 else [(a, c, b) for a, b, c in faces]
        parts.append(mesh_of(part * signs, outside, colour if np.prod(signs) > 0.0 else light))
    return together(*parts)


MOVABLES: dict[type, Callable[[Any], Mesh]] = {
    Ball: lambda thing: _ball(thing.radius, thing.colour),
    Puck: lambda thing: _puck(thing.radius, thing.height, thing.colour),
    Block: lambda thing: _block(thing.outline, thing.height, thing.colour),
}


# -- lamps ----------------------------------------------------------------------------------------------------------
BULB = 0.028  # m, radius


@lru_cache(maxsize=64)
def bulb(colour: str, size: float = 1.0) -> Mesh:
    """The globe of a lamp, around the origin."""
    radius = size * BULB
    between = [(radius * cos(a), radius * sin(a)) for a in np.linspace(-0.5 * pi, 0.5 * pi, 9)[1:-1]]
    return lathe([(0.0, -radius), *between, (0.0, radius)], 16, colour)


@lru_cache(maxsize=64)
def post(height: float) -> Mesh:
    """What a lamp at this height stands on."""
    stem = max(height - 0.6 * BULB, 0.004)
    return together(drum(1.3 * BULB, 0.0, min(0.008, stem), 24, colour=GRAPHITE), drum(0.006, 0.0, stem, 10, colour=SLATE),
                    drum(0.5 * BULB, max(0.0, stem - 0.02), stem, 14, colour=SLATE))


# -- solids -----------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=256)
def solid(shape: str, size: tuple[float, ...], colour: str) -> Mesh:
    """A body around its middle. size: box: x, y, z; sphere: diameter; cylinder and capsule: diameter, height."""
    if shape == "box":
        a, b, c = (0.5 * side for side in size)
        return box(-a, a, -b, b, -c, c, colour)
    radius = 0.5 * size[0]
    if shape == "cylinder":
        return together(drum(radius, -0.5 * size[1], 0.5 * size[1], 40, min(0.06 * radius, 0.1 * size[1]), colour),
                        _stripe(radius, 0.5 * size[1], colour))
    return _round(radius, max(0.0, 0.5 * size[1] - radius) if shape == "capsule" else 0.0, colour)


def _round(radius: float, apart: float, colour: str, sides: int = 36, cuts: int = 16) -> Mesh:
    """A ball, or two halves of one that are drawn apart by so much each; its corners are shared, so it has no edges. Two sides
    are lighter, so that rolling can be seen.
    """
    up = np.concatenate([np.linspace(-0.5 * pi, 0.0, cuts // 2 + 1), np.linspace(0.0, 0.5 * pi, cuts // 2 + 1)])
    lift = np.where(np.arange(len(up)) <= cuts // 2, -apart, apart)
    around = np.linspace(0.0, tau, sides, endpoint=False)
    ring = np.stack([np.outer(np.cos(up), np.cos(around)), np.outer(np.cos(up), np.sin(around)),
                     np.repeat(np.sin(up)[:, None], sides, axis=1)], axis=-1) * radius
    ring[..., 2] += lift[:, None]
    number = np.arange(len(up) * sides).reshape(len(up), sides)
    a, b = number, np.roll(number, -1, axis=1)
    halves = (a[:-1], b[:-1], b[1:]), (a[:-1], b[1:], a[1:])
    faces = np.concatenate([np.stack(half, axis=-1).reshape(-1, 3) for half in halves])
    base = np.array(rgb(colour), float)
    light = np.clip(np.cos(2.0 * np.tile(around, len(up))) * 4.0, 0.0, 1.0)[:, None]
    return Mesh(ring.reshape(-1, 3), faces, (base + 0.22 * light * (255.0 - base)).astype(np.uint8))


def _stripe(radius: float, half: float, colour: str) -> Mesh:
    """A mark across the upper end of a cylinder, so that turning can be seen."""
    light = "#" + "".join(f"{round(value + 0.45 * (255 - value)):02x}" for value in rgb(colour))
    thin = 0.01 * radius
    return box(0.15 * radius, 0.85 * radius, -0.06 * radius, 0.06 * radius, half - thin, half + thin, light)


__all__ = ["around", "bulb", "by_class", "is_on", "movable", "post", "solid", "tall"]
