"""The shape of the ground, for engines and for drawings."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np

from formiga.errors import WorldError
from formiga.state import Floats
from formiga.world.elements import where
from formiga.world.ground import FLOORS, Hole, Platform, Ramp, Terrain
from formiga.world.model import Cylinder, Rectangle, World
from formiga.world.solids import Solid

OCTAVES = 3
MOST_HILLS = 1000   # along a side of a terrain
MOST_PIXELS = 1000  # along a side of a picture; a larger one is made smaller


def is_flat(world: World) -> bool:
    """Whether the whole ground is one level floor."""
    return not any(isinstance(thing, FLOORS) for thing in world.things)


# -- hills ------------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=16)
def terrain_heights(terrain: Terrain) -> Floats:
    """Heights (rows, columns) in m over a grid: rows along y, columns along x, both ascending, edges included."""
    return _from_image(terrain) if terrain.image is not None else _from_noise(terrain)


def _from_noise(terrain: Terrain) -> Floats:
    """Three octaves of random numbers on a lattice, with smooth ways between them. [Perlin 2002, the fade curve]"""
    if max(terrain.width, terrain.depth) > MOST_HILLS * terrain.grain:
        raise WorldError(f"{where(terrain)}<terrain> grain: {terrain.grain:g} m is too fine for {terrain.width:g} m x "
                         f"{terrain.depth:g} m; there may be {MOST_HILLS} hills along a side.")
    longer = max(terrain.width, terrain.depth)
    columns, rows = (max(2, round(terrain.cells * side / longer)) + 1 for side in (terrain.width, terrain.depth))
    x = np.linspace(-0.5, 0.5, columns) * terrain.width
    y = np.linspace(-0.5, 0.5, rows) * terrain.depth
    height = np.zeros((rows, columns))
    for octave in range(OCTAVES):
        size = terrain.grain / 2.0**octave
        lattice = np.random.default_rng([terrain.seed, octave]).uniform(-1.0, 1.0, [
            int(side / size) + 3 for side in (terrain.depth, terrain.width)])
        height += _smooth(lattice, (y + 0.5 * terrain.depth) / size, (x + 0.5 * terrain.width) / size) / 2.0**octave
    height = terrain.amplitude * (height - height.min()) / (height.max() - height.min())
    if terrain.flat > 0.0:
        away = np.hypot(*np.meshgrid(x, y))
        share = _fade(np.clip((away - terrain.flat) / terrain.grain, 0.0, 1.0))
        level = float(height[away <= terrain.flat].mean()) if (away <= terrain.flat).any() else 0.0
        height = share * height + (1.0 - share) * level
    return height


def _smooth(lattice: Floats, y: Floats, x: Floats) -> Floats:
    """A lattice of numbers at the points (y, x), in lattice units."""
    r, c = y.astype(int), x.astype(int)
    fy, fx = _fade(y - r)[:, None], _fade(x - c)[None, :]
    low = (1.0 - fx) * lattice[np.ix_(r, c)] + fx * lattice[np.ix_(r, c + 1)]
    high = (1.0 - fx) * lattice[np.ix_(r + 1, c)] + fx * lattice[np.ix_(r + 1, c + 1)]
    return np.asarray((1.0 - fy) * low + fy * high, np.float64)


def _fade(t: Any) -> Any:
    return t * t * t * (t * (6.0 * t - 15.0) + 10.0)


def _from_image(terrain: Terrain) -> Floats:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(Path(terrain.image or "")) as picture:
            picture.thumbnail((MOST_PIXELS, MOST_PIXELS))
            white = 65535.0 if picture.mode.startswith("I") else 255.0  # 16 bits, the usual format of height maps, or 8
            grey = np.asarray(picture.convert("F"), np.float64) / white
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, ValueError) as wrong:
        raise WorldError(f"{where(terrain)}<terrain> image: '{terrain.image}' cannot be read as a picture "
                         f"({type(wrong).__name__}).") from wrong
    if min(grey.shape) < 2:
        raise WorldError(f"{where(terrain)}<terrain> image: {grey.shape[1]} x {grey.shape[0]} points are no ground.")
    return np.asarray(np.clip(grey[::-1], 0.0, 1.0) * terrain.amplitude, np.float64)


# -- holes, ramps, platforms --------------------------------------------------------------------------------------------
def floor_tiles(world: World, x0: float, y0: float, x1: float, y1: float) -> list[tuple[float, float, float, float]]:
    """The floor from (x0, y0) to (x1, y1) without its holes, as rectangles x0 y0 x1 y1 that do not overlap."""
    holes = [(h.x - h.width / 2, h.y - h.depth / 2, h.x + h.width / 2, h.y + h.depth / 2)
             for h in world.things if isinstance(h, Hole)]
    tiles = [(x0, y0, x1, y1)]
    for a, b, c, d in holes:
        tiles = [piece for tile in tiles for piece in _cut(tile, (a, b, c, d))]
    return tiles


def _cut(tile: tuple[float, float, float, float], hole: tuple[float, float, float, float]) -> list[Any]:
    """What a hole leaves of a tile: pieces left, right, below and above of it."""
    x0, y0, x1, y1 = tile
    a, b, c, d = max(x0, hole[0]), max(y0, hole[1]), min(x1, hole[2]), min(y1, hole[3])
    if a >= c or b >= d:
        return [tile]
    pieces = [(x0, y0, a, y1), (c, y0, x1, y1), (a, y0, c, b), (a, d, c, y1)]
    return [piece for piece in pieces if piece[2] - piece[0] > 1e-9 and piece[3] - piece[1] > 1e-9]


def wedge(ramp: Ramp) -> Floats:
    """The corners (6, 3) of a ramp, in its own frame, foot in the middle."""
    a, b = ramp.width / 2, ramp.depth / 2
    return np.array([(-a, -b, 0.0), (-a, b, 0.0), (a, -b, 0.0), (a, b, 0.0), (a, -b, ramp.height), (a, b, ramp.height)])


def covers(thing: Ramp | Platform, x: float, y: float) -> float:
    """How high the ground is at (x, y) because of this thing; 0 beside it."""
    c, s = cos(thing.heading), sin(thing.heading)
    u, v = c * (x - thing.x) + s * (y - thing.y), c * (y - thing.y) - s * (x - thing.x)
    if abs(u) > thing.width / 2 or abs(v) > thing.depth / 2:
        return 0.0
    return thing.height if isinstance(thing, Platform) else thing.height * (u / thing.width + 0.5)


def height_at(world: World, x: float, y: float) -> float:
    """Of the ground at a point: hills, ramps, platforms, the floor, or the bottom of a hole."""
    high = 0.0
    for thing in world.things:
        if isinstance(thing, Hole) and abs(x - thing.x) < thing.width / 2 and abs(y - thing.y) < thing.depth / 2:
            high = -thing.deep
    for thing in world.things:
        if isinstance(thing, Ramp | Platform):
            high = max(high, covers(thing, x, y))
        elif isinstance(thing, Terrain):
            high = max(high, _hill(thing, x, y))
    return high


def _hill(terrain: Terrain, x: float, y: float) -> float:
    """Of a terrain, between the points of its grid; 0 beside it."""
    u, v = (x - terrain.x) / terrain.width + 0.5, (y - terrain.y) / terrain.depth + 0.5
    if not (0.0 <= u <= 1.0 and 0.0 <= v <= 1.0):
        return 0.0
    height = terrain_heights(terrain)
    r, c = v * (height.shape[0] - 1), u * (height.shape[1] - 1)
    i, j = min(int(r), height.shape[0] - 2), min(int(c), height.shape[1] - 2)
    f, g = r - i, c - j
    return float((1.0 - f) * ((1.0 - g) * height[i, j] + g * height[i, j + 1])
                 + f * ((1.0 - g) * height[i + 1, j] + g * height[i + 1, j + 1]))


def highest(world: World, x: float, y: float, radius: float) -> float:
    """The highest point of the ground under a disc: in its middle and on two rings."""
    if is_flat(world):
        return 0.0
    rings = [(0.0, 0.0), *((k * pi / 4, share * radius) for share in (0.5, 1.0) for k in range(8))]
    return max(height_at(world, x + out * cos(angle), y + out * sin(angle)) for angle, out in rings)


def with_obstacles(above: World, world: World) -> World:
    """A world seen from above, with a drum around every solid and a box over every hole, ramp and platform of `world`: what
    robots keep clear of that are put somewhere by chance."""
    tallest = max((group.robot.height for group in world.groups), default=0.0)
    things: list[Any] = [Rectangle(x=thing.x, y=thing.y, width=thing.width, depth=thing.depth,
                                   heading=thing.heading)
                         for thing in world.things if isinstance(thing, Hole | Ramp | Platform)]
    for solid in world.things:
        if isinstance(solid, Solid) and (solid.z or 0.0) < tallest + 0.5 * max(solid.box):
            things.append(Cylinder(x=solid.x, y=solid.y, radius=0.5 * float(np.linalg.norm(solid.box))))
    return replace(above, things=(*above.things, *things))


__all__ = ["covers", "floor_tiles", "height_at", "highest", "is_flat", "terrain_heights", "wedge", "with_obstacles"]
