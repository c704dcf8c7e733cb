"""The nodes of a viser scene: made once, kept while what they were made from stays the same, sent only what is new.

viser compares an array with the one it sent last and sends nothing if they are equal, so setting one again is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import viser

from formiga.geometry import IDENTITY, about_z
from formiga.view.gltf import glb
from formiga.view.mesh import Mesh, annulus, linear, rgb
from formiga.view.picking import Instances

ROOT = "/formiga"


class Owner(NamedTuple):
    """To which robots or things the instances of a node belong."""

    kind: str                  # "robot" or "thing"
    numbers: Any               # of each instance
    mesh: Mesh
    draggable: bool = True


@dataclass
class Node:
    """A node of the scene, what it was made from, and what it belongs to."""

    key: Hashable
    handle: Any
    owner: Owner | None = None

    def instances(self) -> Instances | None:
        """The surfaces that a ray can meet, as they are now; None for a node that belongs to no robot or thing."""
        if self.owner is None:
            return None
        kind, numbers, mesh, _ = self.owner
        if not isinstance(self.handle, viser.BatchedMeshHandle | viser.BatchedGlbHandle):
            return Instances(mesh, self.handle.position[None], self.handle.wxyz[None], np.ones((1, 3)), kind, numbers)
        size = self.handle.batched_scales
        return Instances(mesh, self.handle.batched_positions, self.handle.batched_wxyzs,
                         np.ones((len(numbers), 3)) if size is None else size, kind, numbers)


class Batch:
    """Instances of one mesh, collected one by one."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.place: list[tuple[float, float, float]] = []
        self.turn: list[Any] = []  # quaternions w x y z
        self.size: list[tuple[float, float, float]] = []
        self.colour: list[tuple[int, int, int]] = []

    def add(self, number: int, place: tuple[float, float, float], heading: float, size: tuple[float, float, float],
            colour: str) -> None:
        """One more, for the thing with this number."""
        self.numbers.append(number)
        self.place.append(place)
        self.turn.append(about_z(heading))
        self.size.append(size)
        self.colour.append(rgb(colour))


class Nodes:
    """The nodes by name. `bind` is called with every new one that belongs to a robot or a thing."""

    def __init__(self, api: viser.SceneApi, bind: Callable[[str, Node], None]) -> None:
        self.api, self._bind = api, bind
        self.named: dict[str, Node] = {}
        self._kept: set[str] = set()

    def atomic(self) -> AbstractContextManager[None]:
        """Everything inside reaches the browser at once."""
        return self.api._owner.atomic()  # a scene belongs to a server or a client; both can, the scene itself cannot

    def keep(self, name: str, key: Hashable, make: Callable[[str], Any], owner: Owner | None = None) -> Any:
        """The handle of the node of this name; made anew if `key` is not what it was made from."""
        self._kept.add(name)
        node = self.named.get(name)
        if node is None or node.key != key:
            self.remove(name)
            node = self.named[name] = Node(key, make(f"{ROOT}/{name}"), owner)
            if owner is not None:
                self._bind(name, node)
        node.owner = owner
        return node.handle

    def remove(self, name: str) -> None:
        """Remove a node; nothing happens if there is none of this name."""
        node = self.named.pop(name, None)
        if node is not None:
            node.handle.remove()

    def clear(self) -> None:
        """Remove all nodes, and those that viser made to hold them."""
        root = self.api.get_handle_by_name(ROOT)
        if root is not None:
            root.remove()
        self.named.clear()
        self._kept.clear()

    def sweep(self) -> None:
        """Remove all nodes that were not kept since the last time, except overlays and drawings."""
        for name in [name for name in self.named if name not in self._kept and not name.startswith(("over/", "drawings/"))]:
            self.remove(name)
        self._kept.clear()

    def only(self, prefix: str, names: set[str]) -> None:
        """Remove the nodes whose names begin with `prefix`, except these."""
        for name in [name for name in self.named if name.startswith(prefix) and name not in names]:
            self.remove(name)

    # -- kinds of nodes -------------------------------------------------------------------------------------------------
    def body(self, name: str, key: Hashable, mesh: Mesh, colour: str, place: Any, heading: float = 0.0, thing: int = -1,
             opacity: float | None = None, flat: bool = False, draggable: bool = True, shadow: bool = True) -> None:
        """One body. A flat one lies on the floor: it has no shadow, and others' shadows fall on it."""
        handle = self.keep(name, (key, colour, opacity), lambda path: self.api.add_mesh_simple(
            path, mesh.vertices, mesh.faces, color=rgb(colour), opacity=opacity, cast_shadow=shadow and not flat,
            receive_shadow=flat),
            Owner("thing", [thing], mesh, draggable) if thing >= 0 else None)
        handle.position, handle.wxyz = place, about_z(heading)

    def painted(self, name: str, key: Hashable, mesh: Mesh, place: Any, thing: int = -1, glow: bool = False,
                opacity: float = 1.0, ground: bool = False) -> None:
        """One body with its own colours; a glowing one has no shadow. Shadows fall on ground, and it cannot be dragged."""
        self.keep(name, (key, glow, opacity), lambda path: self.api.add_glb(
            path, glb(mesh, glow, opacity), cast_shadow=not (glow or ground), receive_shadow=ground),
            Owner("thing", [thing], mesh, not ground) if thing >= 0 else None).position = place

    def instances(self, name: str, mesh: Mesh, batch: Batch, draggable: bool = True, pick: bool = True,
                  opacity: float | None = None, shadow: bool = True, ground: bool = False) -> None:
        """Many bodies of one shape, each with its own place, size and colour."""
        if not batch.numbers:
            return
        place, turn, size = (np.array(rows, np.float32) for rows in (batch.place, batch.turn, batch.size))
        colours = as_light(np.array(batch.colour))
        handle = self.keep(name, (len(place), opacity), lambda path: self.api.add_batched_meshes_simple(
            path, mesh.vertices, mesh.faces, turn, place, batched_scales=size, batched_colors=colours, lod="off",
            opacity=opacity, cast_shadow=shadow, receive_shadow=ground),
            Owner("thing", batch.numbers, mesh, draggable) if pick else None)
        handle.batched_positions, handle.batched_wxyzs = place, turn
        handle.batched_scales, handle.batched_colors = size, colours

    def alike(self, name: str, key: Hashable, owner: Owner) -> Any:
        """Bodies with colours of their own, one for each number of the owner; `move` puts them in their places."""
        return self.keep(name, (key, len(owner.numbers)), lambda path: self.api.add_batched_glb(
            path, glb(owner.mesh), *_at_the_origin(len(owner.numbers)), lod="off", receive_shadow=False), owner)

    def paintable(self, name: str, key: Hashable, owner: Owner) -> Any:
        """Bodies that are painted one by one: set `batched_colors`."""
        count = len(owner.numbers)
        return self.keep(name, (key, count), lambda path: self.api.add_batched_meshes_simple(
            path, owner.mesh.vertices, owner.mesh.faces, *_at_the_origin(count), batched_colors=np.zeros((count, 3), np.uint8),
            lod="off", receive_shadow=False), owner)

    def move(self, name: str, place: Any, turn: Any) -> None:
        """Put the instances of a node at places (K, 3), turned by quaternions (K, 4)."""
        handle = self.named[name].handle
        handle.batched_positions, handle.batched_wxyzs = place.astype(np.float32), turn.astype(np.float32)

    # -- overlays: made when first needed, hidden while there is nothing to show --------------------------------------------
    def over(self, name: str, count: int, make: Callable[[str], Any]) -> Any | None:
        """The handle, if the node exists and has something to show."""
        node = self.named.get(name)
        if node is None:
            if count:
                self.keep(name, None, make)
            return None
        node.handle.visible = count > 0
        return node.handle if count else None

    def lines(self, name: str, points: Any, colours: Any, thickness: float) -> None:
        """Segments (S, 2, 3) with a colour at each end."""
        light = as_light(colours)
        handle = self.over(name, len(points), lambda path: self.api.add_line_segments(path, points, light, thickness=thickness))
        if handle:
            handle.points, handle.colors = points, light

    def arrows(self, name: str, points: Any, colour: str, stout: float = 1.0) -> None:
        """Arrows (K, 2, 3)."""
        handle = self.over(name, len(points), lambda path: self.api.add_arrows(
            path, points, rgb(colour), shaft_radius=0.004 * stout, head_radius=0.012 * stout, head_length=0.026 * stout))
        if handle:
            handle.points = points

    def dots(self, name: str, points: Any, colours: Any, size: float) -> None:
        """Round spots (K, 3) that shine in their own colour."""
        handle = self.over(name, len(points), lambda path: self.api.add_point_cloud(
            path, points, colours, point_size=0.5 * size, point_shape="circle", precision="float32"))
        if handle:
            handle.points, handle.colors, handle.point_size = points, colours, 0.5 * size

    def rings(self, name: str, inner: float, outer: float, place: Any, turn: Any, radius: Any, colour: str) -> None:
        """Flat rings around places (K, 3), as bodies with turns (K, 4) stand; edges at `inner` and `outer` of radius (K,)."""
        if not len(place) and name not in self.named:
            return
        place, turn = place.astype(np.float32), turn.astype(np.float32)
        size = np.ones((len(place), 3), np.float32)
        size[:, :2] = radius[:, None]
        colours = np.empty((len(place), 3), np.uint8)  # one for each: a single one does not reach instances that come later
        colours[:] = as_light(rgb(colour))

        def make(path: str) -> Any:
            ring = annulus(inner, outer, 40, 0.003)
            return self.api.add_batched_meshes_simple(
                path, ring.vertices, ring.faces, turn, place, batched_scales=size, batched_colors=colours, lod="off",
                cast_shadow=False, receive_shadow=False)

        handle = self.over(name, len(place), make)
        if handle:
            handle.batched_positions, handle.batched_wxyzs = place, turn
            handle.batched_scales, handle.batched_colors = size, colours

    def label(self, name: str, text: str, place: Any) -> None:
        """A word over a place."""
        handle = self.keep(name, text, lambda path: self.api.add_label(path, text, position=place, anchor="bottom-center"))
        handle.position = place


def _at_the_origin(count: int) -> tuple[Any, Any]:
    """Quaternions (count, 4) and places (count, 3)."""
    return np.tile(IDENTITY, (count, 1)), np.zeros((count, 3))


@lru_cache(maxsize=1)
def _light_table() -> Any:
    return (255.0 * linear(np.arange(256))).round().astype(np.uint8)


def as_light(colours: Any) -> Any:
    """Screen colours 0..255 as viser's batches and lines take them.

    The browser reads these as shares of light, not as screen colours (of a mesh with one colour it does not), so what is
    sent as they are would look pale.
    """
    return _light_table()[np.asarray(colours, np.uint8)]


__all__ = ["Batch", "Node", "Nodes", "Owner", "as_light"]
