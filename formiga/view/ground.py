"""The ground in three dimensions as triangles: hills, pits, ramps."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from formiga.engine.fixed import Fixed, Region
from formiga.engine.flatten import extent
from formiga.engine.ground import floor_tiles, terrain_heights
from formiga.geometry import from_euler
from formiga.view.mesh import Mesh, rgb
from formiga.world.ground import FLOORS, Hole, Terrain
from formiga.world.model import World
from formiga.world.solids import Solid

MOST_POINTS = 240       # of a terrain along a side, as it is drawn; the browser has to hold them all
SKIRT = 0.03            # m, by which the edge of a terrain goes down
LOW, HIGH = 0.62, 1.22  # how bright a terrain is at its lowest and at its highest point
UP = 0.0015             # m, of lines above the floor
STEEP = 0.35            # by how much what is steep is darker
WEDGE = Mesh(np.array([(-0.5, -0.5, 0.0), (0.5, -0.5, 1.0), (0.5, 0.5, 1.0), (-0.5, 0.5, 0.0),      # the way up
                       (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (0.5, 0.5, 1.0), (0.5, -0.5, 1.0),        # its end
                       (-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, -0.5, 1.0),                       # its sides
                       (-0.5, 0.5, 0.0), (0.5, 0.5, 1.0), (0.5, 0.5, 0.0)]),
             np.array([(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7), (8, 9, 10), (11, 12, 13)]), np.full((14, 3), 255, np.uint8))


def seen(world: World, fixed: Fixed) -> Region:
    """What there is to see: the arena, or the box around all that stands still, hills and ramps among it."""
    around = extent(world, fixed)
    wide = [] if world.arena else [thing for thing in world.things if isinstance(thing, (*FLOORS, Solid))]
    if not wide:
        return around
    boxes = [(around.x0, around.y0, around.x1, around.y1)] if len(fixed.shapes) else []
    for thing in wide:
        half = 0.5 * (max(thing.box) if isinstance(thing, Solid) else max(thing.width, thing.depth))
        x, y = (half, half) if not isinstance(thing, Terrain | Hole) else (thing.width / 2, thing.depth / 2)
        boxes.append((thing.x - x, thing.y - y, thing.x + x, thing.y + y))
    low, high = np.min(boxes, axis=0), np.max(boxes, axis=0)
    return Region(float(low[0]), float(low[1]), float(high[2]), float(high[3]))


# -- hills ------------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=8)
def heights(terrain: Terrain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x (C,), y (R,) and z (R, C) in m, of no more points than can be drawn; around the terrain's own middle."""
    z = terrain_heights(terrain)
    rows, columns = (np.unique(np.linspace(0, size - 1, min(size, MOST_POINTS)).round().astype(int)) for size in z.shape)
    x = (columns / (z.shape[1] - 1) - 0.5) * terrain.width
    y = (rows / (z.shape[0] - 1) - 0.5) * terrain.depth
    return x, y, z[np.ix_(rows, columns)]


def shade(terrain: Terrain) -> np.ndarray:
    """How bright each point (R, C) of a terrain is: high ones more, steep ones less."""
    x, y, z = heights(terrain)
    slope = np.hypot(*np.gradient(z, y, x))
    high = (z - z.min()) / max(float(np.ptp(z)), 1e-9)
    return (LOW + (HIGH - LOW) * high) * (1.0 - STEEP * np.minimum(slope, 1.0))


@lru_cache(maxsize=8)
def hills(terrain: Terrain) -> Mesh:
    """A terrain around its middle, with a skirt around it."""
    x, y, z = heights(terrain)
    rows, columns = z.shape
    grid = np.arange(rows * columns).reshape(rows, columns)
    top = np.column_stack([np.tile(x, rows), np.repeat(y, columns), z.ravel()])
    a, b, c, d = (each.ravel() for each in (grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]))
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    colour = np.clip(np.multiply.outer(shade(terrain).ravel(), np.array(rgb(terrain.colour), float)), 0, 255).astype(np.uint8)
    rim = np.concatenate([grid[0], grid[1:, -1], grid[-1, -2::-1], grid[-2:0:-1, 0]])  # counter-clockwise
    under = top[rim] * (1.0, 1.0, 0.0) - (0.0, 0.0, SKIRT)
    first, count = len(top), len(rim)
    here, there = np.arange(count), np.roll(np.arange(count), -1)
    skirt = np.concatenate([np.column_stack([first + count + here, first + count + there, first + there]),
                            np.column_stack([first + count + here, first + there, first + here])])
    edge = (0.6 * colour[rim]).astype(np.uint8)
    return Mesh(np.concatenate([top, top[rim], under]), np.concatenate([faces, skirt]), np.concatenate([colour, edge, edge]))


# -- the floor and its holes ------------------------------------------------------------------------------------------
def holes(world: World) -> tuple[Hole, ...]:
    """Those of a world."""
    return tuple(thing for thing in world.things if isinstance(thing, Hole))


def floor(world: World, region: Region) -> Mesh:
    """The flat floor as far as it is there, seen from above."""
    tiles = floor_tiles(world, *region)
    corners = np.array([[(a, b, 0.0), (c, b, 0.0), (c, d, 0.0), (a, d, 0.0)] for a, b, c, d in tiles]).reshape(-1, 3)
    first = 4 * np.arange(len(tiles))[:, None]
    return Mesh(corners, np.concatenate([first + (0, 1, 2), first + (0, 2, 3)]), np.full((len(corners), 3), 255, np.uint8))


def pit(hole: Hole, colour: str) -> Mesh:
    """The walls and the bottom of a hole, seen from inside."""
    x, y, z = hole.width / 2, hole.depth / 2, -hole.deep
    ring = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
    quads, tones = [], []
    for (x0, y0), (x1, y1), tone in zip(ring, np.roll(ring, -1, axis=0), (0.74, 0.66, 0.58, 0.66), strict=True):
        quads.append([(x1, y1, 0.0), (x1, y1, z), (x0, y0, z), (x0, y0, 0.0)])
        tones.append([tone, 0.6 * tone, 0.6 * tone, tone])  # darker towards the bottom
    quads.append([(x0, y0, z) for x0, y0 in ring])
    tones.append([0.42] * 4)
    first = 4 * np.arange(len(quads))[:, None]
    colours = np.multiply.outer(np.ravel(tones), np.array(rgb(colour), float)).astype(np.uint8)
    return Mesh(np.reshape(quads, (-1, 3)), np.concatenate([first + (0, 1, 2), first + (0, 2, 3)]), colours)


def lines(world: World, region: Region, step: float) -> Any:
    """A grid on the floor that leaves out its holes: segments (S, 2, 3)."""
    found = []
    for x0, y0, x1, y1 in floor_tiles(world, *region):
        found += [((x, y0, UP), (x, y1, UP)) for x in step * np.arange(np.ceil(x0 / step), np.floor(x1 / step) + 1.0)]
        found += [((x0, y, UP), (x1, y, UP)) for y in step * np.arange(np.ceil(y0 / step), np.floor(y1 / step) + 1.0)]
    return np.array(found, np.float32).reshape(-1, 2, 3)


def attitude(thing: Solid) -> Any:
    """The quaternion w x y z of a solid as it is put there: roll, then pitch, then yaw."""
    return from_euler(thing.roll, thing.pitch, thing.yaw)


__all__ = ["WEDGE", "attitude", "floor", "heights", "hills", "holes", "lines", "pit", "seen", "shade"]
