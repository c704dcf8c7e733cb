"""What a ray meets first: the robot or thing under a click.

The browser could compute it, but the outline that viser keeps for the instance last hovered over also catches clicks
where nothing is visible (1.1.1), so only the ray is taken from viser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from formiga.geometry import rotate_back
from formiga.view.mesh import Mesh

Target = tuple[str, int]    # ("robot", number in the frame) or ("thing", index into world.things)


class Instances(NamedTuple):
    """Instances of one mesh."""

    mesh: Mesh
    place: Any              # (K, 3) m
    turn: Any               # (K, 4) quaternions w x y z
    size: Any               # (K, 3)
    kind: str
    numbers: Any            # (K,) the robot or thing that each belongs to


def first_hit(bodies: Iterable[Instances], origin: Sequence[float], direction: Sequence[float]) -> Target | None:
    """The robot or thing that the ray meets first, or None."""
    start, along = np.asarray(origin, float), np.asarray(direction, float)
    nearest, target = np.inf, None
    for each in bodies:
        for k in _near(each, start, along):
            local = rotate_back(each.turn[k], np.stack([start - each.place[k], along])) / each.size[k]
            distance = meets(each.mesh, local[0], local[1])
            if distance < nearest:
                nearest, target = distance, (each.kind, int(each.numbers[k]))
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


def _near(each: Instances, start: Any, along: Any) -> Any:
    """The instances whose spheres the ray passes through."""
    reach = _radius(each.mesh) * np.abs(each.size).max(axis=1)
    way = each.place - start
    t = np.maximum(way @ along / (along @ along), 0.0)
    return np.flatnonzero(((way - t[:, None] * along) ** 2).sum(axis=1) <= reach**2)


@lru_cache(maxsize=256)
def _edges(mesh: Mesh) -> tuple[Any, Any, Any]:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return a, b - a, c - a


@lru_cache(maxsize=256)
def _radius(mesh: Mesh) -> float:
    return float(np.linalg.norm(mesh.vertices, axis=1).max(initial=0.0))


__all__ = ["Instances", "Target", "first_hit", "meets"]
