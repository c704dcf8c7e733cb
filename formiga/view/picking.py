"""What a ray meets first: which robot or thing somebody clicked on.

The browser could say so itself, but the outline that viser keeps for the instance last hovered over also catches clicks
where nothing is to be seen (1.1.1), so viser is only asked for the ray.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from formiga.geometry import rotate_back
from formiga.view.bodies import Mesh

Target = tuple[str, int]    # ("robot", number in the frame) or ("thing", index into world.things)


class Shape(NamedTuple):
    """Instances of one mesh."""

    mesh: Mesh
    place: Any              # (K, 3) m
    turn: Any               # (K, 4) quaternions w x y z
    size: Any               # (K, 3)
    kind: str
    numbers: Any            # (K,) the robot or thing that each belongs to


def first_hit(shapes: Iterable[Shape], origin: Sequence[float], direction: Sequence[float]) -> Target | None:
    """Whom the ray meets first, or None."""
    start, along = np.asarray(origin, float), np.asarray(direction, float)
    nearest, target = np.inf, None
    for shape in shapes:
        for k in _near(shape, start, along):
            local = rotate_back(shape.turn[k], np.stack([start - shape.place[k], along])) / shape.size[k]
            distance = meets(shape.mesh, local[0], local[1])
            if distance < nearest:
                nearest, target = distance, (shape.kind, int(shape.numbers[k]))
    return target


def meets(mesh: Mesh, origin: Any, direction: Any) -> float:
    """How many times `direction` it is to the first triangle of a mesh; infinite if the ray meets none.

        origin + t direction = a + u (b - a) + v (c - a),   u, v >= 0,  u + v <= 1,  t >= 0
                                                                                [Moeller & Trumbore 1997]
    """
    a, ab, ac = _edges(mesh)
    p = np.cross(direction, ac)
    det = np.einsum("ij,ij->i", ab, p)
    with np.errstate(divide="ignore", invalid="ignore"):  # a triangle seen from its edge: no number, so no hit
        u = ((origin - a) * p).sum(axis=1) / det
        q = np.cross(origin - a, ab)
        v, t = q @ direction / det, np.einsum("ij,ij->i", ac, q) / det
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= 0.0)
    return float(t[hit].min(initial=np.inf))


def _near(shape: Shape, start: Any, along: Any) -> Any:
    """The instances whose spheres the ray passes through."""
    reach = _radius(shape.mesh) * np.abs(shape.size).max(axis=1)
    way = shape.place - start
    t = np.maximum(way @ along / (along @ along), 0.0)
    return np.flatnonzero(((way - t[:, None] * along) ** 2).sum(axis=1) <= reach**2)


@lru_cache(maxsize=256)
def _edges(mesh: Mesh) -> tuple[Any, Any, Any]:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return a, b - a, c - a


@lru_cache(maxsize=256)
def _radius(mesh: Mesh) -> float:
    return float(np.linalg.norm(mesh.vertices, axis=1).max(initial=0.0))


__all__ = ["Shape", "Target", "first_hit", "meets"]
