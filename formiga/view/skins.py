"""How solids look: their own shape or that of a mesh file, what their <render>s say, and pictures on all of it."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np

from formiga.engine.fixed import Region
from formiga.view import ground
from formiga.view.bodies import solid
from formiga.view.gltf import normals
from formiga.view.mesh import Mesh, Skin, rgb
from formiga.world.floor import Floor
from formiga.world.meshes import Triangles, read_mesh
from formiga.world.model import World
from formiga.world.solids import Render, Solid
from formiga.world.textures import read_texture

Place = tuple[float, float, float]
AT_THE_ORIGIN: tuple[Place, Place] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def shape_of(thing: Solid) -> Mesh:
    """A solid as it is, around its origin."""
    return _surface(thing.shape, thing.size, thing.colour, *_file(thing.file), thing.scale, None, 0, *AT_THE_ORIGIN)


def looks_of(world: World, thing: Solid) -> list[Mesh]:
    """What is drawn for a solid, in its frame: its renders, or itself. Those that look alike are the same meshes."""
    renders = [each for each in world.things if isinstance(each, Render) and each.of == thing.name]
    if not renders:
        return [_surface(thing.shape, thing.size, thing.colour, *_file(thing.file), thing.scale, *_file(thing.texture),
                         *AT_THE_ORIGIN)]
    found = []
    for each in renders:
        like: Any = thing if each.shape == "own" else each
        place, turn = (each.x, each.y, each.z), (each.roll, each.pitch, each.yaw)
        found.append(_surface(like.shape, like.size, each.colour or thing.colour, *_file(like.file), like.scale,
                              *_file(each.texture or like.texture), place, turn))
    return found


def tiled(world: World, region: Region, thing: Floor) -> Mesh:
    """The flat floor with its picture."""
    sheet, picture = ground.floor(world, region), read_texture(thing.texture)
    place = sheet.vertices[:, :2] / (thing.tile, thing.tile * picture.height / picture.width)
    up = np.tile((0.0, 0.0, 1.0), (len(place), 1))
    return Mesh(sheet.vertices, sheet.faces, sheet.colours, Skin(place, up, picture.png))


def _file(file: str | None) -> tuple[str | None, int]:
    """A file and when it changed last: what was drawn from another version of it is drawn again."""
    return (None, 0) if file is None else (file, os.stat(file).st_mtime_ns)


@lru_cache(maxsize=512)
def _surface(shape: str, size: tuple[float, ...] | None, colour: str, file: str | None, changed: int, scale: float,
             texture: str | None, repainted: int, place: Place, turn: Place) -> Mesh:
    """One piece of a look; the same mesh for all that look alike."""
    surface = read_mesh(file) if file is not None else None
    mesh = solid(shape, size or (), colour) if surface is None else _facets(surface, scale, colour)
    if texture is not None:
        mesh = _covered(mesh, read_texture(texture).png, None if surface is None else surface.places)
    return mesh.moved(place, turn) if (place, turn) != AT_THE_ORIGIN else mesh


def _facets(surface: Triangles, scale: float, colour: str) -> Mesh:
    """A mesh with flat faces: which of its edges are meant to be round is not in its file."""
    count = 3 * len(surface.faces)
    return Mesh(scale * surface.vertices[surface.faces].reshape(-1, 3), np.arange(count).reshape(-1, 3),
                np.tile(np.array(rgb(colour), np.uint8), (count, 1)))


def _covered(mesh: Mesh, png: bytes, given: Any) -> Mesh:
    """A mesh with a picture: where its file says (F, 3, 2), or on each of its six sides, upright on the four around."""
    corners, smooth = mesh.vertices[mesh.faces], normals(mesh)[mesh.faces]
    place = _six_sides(corners) if given is None else given
    count = 3 * len(mesh.faces)
    return Mesh(corners.reshape(-1, 3), np.arange(count).reshape(-1, 3), np.full((count, 3), 255, np.uint8),
                Skin(place.reshape(-1, 2), smooth.reshape(-1, 3), png))


def _six_sides(corners: Any) -> Any:
    """Places (F, 3, 2) in a picture of triangles (F, 3, 3): each side of the box around them shows the whole of it, as it is
    seen from outside."""
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    x, y, z = np.moveaxis((corners - low) / np.maximum(high - low, 1e-12), -1, 0)
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    side = np.abs(face).argmax(axis=1)
    ahead = np.take_along_axis(face, side[:, None], axis=1) >= 0.0
    across = np.choose(side[:, None], [np.where(ahead, y, 1.0 - y), np.where(ahead, 1.0 - x, x), np.where(ahead, x, 1.0 - x)])
    return np.stack([across, np.where(side[:, None] == 2, y, z)], axis=-1)


__all__ = ["looks_of", "shape_of", "tiled"]
