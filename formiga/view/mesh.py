"""Triangles, and the solids that everything is made of: the lathe and the prism.

Corners are not shared between faces that meet at an edge, so shading stays smooth around a drum and sharp at its rim.
x is ahead, z is up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import tau
from typing import Any, NamedTuple

import numpy as np

from formiga.geometry import from_euler, rotate
from formiga.world.looks.outlines import Points, chamfered, counter_clockwise, cross, offset


class Skin(NamedTuple):
    """A picture on a mesh."""

    place: np.ndarray          # (V, 2) of each corner in it, from its lower left corner, which is (0, 0), to (1, 1)
    normals: np.ndarray        # (V, 3) out of the surface
    png: bytes


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles. Faces are counter-clockwise seen from outside."""

    vertices: np.ndarray       # (V, 3) m
    faces: np.ndarray          # (F, 3) indices
    colours: np.ndarray        # (V, 3) 0..255, as on a screen (sRGB)
    skin: Skin | None = None   # instead of the colours

    def moved(self, place: Any = (0.0, 0.0, 0.0), turn: Any = (0.0, 0.0, 0.0)) -> Mesh:
        """Turned by roll, pitch and yaw about x, y and z, then moved."""
        vertices = rotate(from_euler(*turn), self.vertices) if any(turn) else self.vertices
        skin = self.skin
        if skin is not None and any(turn):
            skin = skin._replace(normals=rotate(from_euler(*turn), skin.normals))
        return Mesh(vertices + place, self.faces, self.colours, skin)


def rgb(colour: str) -> tuple[int, int, int]:
    """'#0072b2' -> (0, 114, 178)."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def linear(colours: Any) -> np.ndarray:
    """Screen colours 0..255 (sRGB) as shares of light 0..1. [IEC 61966-2-1]"""
    value = np.asarray(colours, float) / 255.0
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


# -- solids -----------------------------------------------------------------------------------------------------------
def lathe(profile: Points, sides: int, colour: str = "#ffffff") -> Mesh:
    """A profile of (radius, z) turned about the vertical. It goes up outside, from the axis to the axis or around a ring."""
    around = np.arange(sides) * tau / sides
    vertices: list[np.ndarray] = []
    faces: list[tuple[int, int, int]] = []
    first = 0
    for (r0, z0), (r1, z1) in pairwise(profile):
        rings = [np.stack([r * np.cos(around), r * np.sin(around), np.full(sides, z)], axis=1) for r, z in ((r0, z0), (r1, z1))]
        vertices += rings
        for a in range(sides):
            b = (a + 1) % sides
            if r0 > 0.0:
                faces.append((first + a, first + b, first + sides + b))
            if r1 > 0.0:
                faces.append((first + a, first + sides + b, first + sides + a))
        first += 2 * sides
    return mesh_of(np.concatenate(vertices), faces, colour)


def prism(outline: Points, z0: float, z1: float, colour: str = "#ffffff") -> Mesh:
    """An outline raised from z0 to z1."""
    corners = counter_clockwise(outline)
    return _stack([corners, corners], [z0, z1], colour)


def block(outline: Points, z0: float, z1: float, bevel: float, colour: str = "#ffffff") -> Mesh:
    """An outline raised from z0 to z1, its corners and its upper rim cut off by `bevel`."""
    foot = chamfered(counter_clockwise(outline), bevel)
    return _stack([foot, foot, offset(foot, -bevel)], [z0, z1 - bevel, z1], colour)


def _stack(outlines: list[np.ndarray], heights: list[float], colour: str) -> Mesh:
    """Counter-clockwise outlines (K, 2) one above another, with walls between them, a floor and a roof."""
    count = len(outlines[0])
    levels = [np.column_stack([corners, np.full(count, z)]) for corners, z in zip(outlines, heights, strict=True)]
    vertices = [levels[0], levels[-1]]
    faces = [(a, c, b) for a, b, c in triangles(outlines[0])]
    faces += [(a + count, b + count, c + count) for a, b, c in triangles(outlines[-1])]
    for low, high in pairwise(levels):
        for a in range(count):
            b, first = (a + 1) % count, sum(map(len, vertices))
            vertices.append(np.array([low[a], low[b], high[b], high[a]]))
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return mesh_of(np.concatenate(vertices), faces, colour)


def drum(radius: float, z0: float, z1: float, sides: int = 24, bevel: float = 0.0, colour: str = "#ffffff") -> Mesh:
    """An upright cylinder, its upper rim cut off by `bevel`."""
    rim = [(radius, z1)] if bevel == 0.0 else [(radius, z1 - bevel), (radius - bevel, z1)]
    return lathe([(0.0, z0), (radius, z0), *rim, (0.0, z1)], sides, colour)


def box(x0: float, x1: float, y0: float, y1: float, z0: float, z1: float, colour: str = "#ffffff") -> Mesh:
    """A box with its sides along the axes."""
    return prism([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1, colour)


def annulus(inner: float, outer: float, sides: int = 48, thick: float = 0.002) -> Mesh:
    """A flat ring that lies on the floor."""
    return lathe([(inner, 0.0), (outer, 0.0), (outer, thick), (inner, thick), (inner, 0.0)], sides)


def plate(outline: Points, z: float = 0.0) -> Mesh:
    """A flat outline, seen from above only."""
    corners = counter_clockwise(outline)
    return mesh_of(np.column_stack([corners, np.full(len(corners), z)]), triangles(corners), "#ffffff")


def together(*meshes: Mesh) -> Mesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]),
                np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts)]),
                np.concatenate([mesh.colours for mesh in meshes]))


def triangles(corners: np.ndarray) -> list[tuple[int, int, int]]:
    """A counter-clockwise outline (K, 2) cut into K - 2 triangles, one ear after another.

    An ear is a corner that bends inwards with no other corner inside its triangle. An outline that crosses itself may
    have none left; then any corner is taken, so that something is drawn.
    """
    left = list(range(len(corners)))
    cut: list[tuple[int, int, int]] = []
    while len(left) > 3:
        at = next((k for k in range(len(left)) if _is_ear(corners, left, k)), 0)
        cut.append((left[at - 1], left[at], left[(at + 1) % len(left)]))
        del left[at]
    return [*cut, (left[0], left[1], left[2])]


def _is_ear(corners: np.ndarray, left: list[int], at: int) -> bool:
    a, b, c = (corners[left[k % len(left)]] for k in (at - 1, at, at + 1))
    if cross(a, b, c) <= 0.0:
        return False
    others = corners[[left[k % len(left)] for k in range(at + 2, at - 1 + len(left))]]
    inside = (cross(a, b, others) >= 0.0) & (cross(b, c, others) >= 0.0) & (cross(c, a, others) >= 0.0)
    return not inside.any()


def mesh_of(vertices: np.ndarray, faces: list[tuple[int, int, int]], colour: str) -> Mesh:
    """The mesh, without corners that no face uses."""
    table = np.array(faces, np.int64).reshape(-1, 3)
    used, index = np.unique(table, return_inverse=True)
    return Mesh(vertices[used], index.reshape(-1, 3), np.tile(np.array(rgb(colour), np.uint8), (len(used), 1)))


__all__ = ["Mesh", "Skin", "annulus", "block", "box", "drum", "lathe", "linear", "mesh_of", "plate", "prism", "rgb", "together",
           "triangles"]
