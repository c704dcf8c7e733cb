"""The nodes of a viser scene: made once, kept while what they were made from stays the same, told only what is new.

viser compares an array with the one it sent last and sends nothing if they are equal, so setting is cheap here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import viser

from formiga.geometry import about_z
from formiga.view import bodies
from formiga.view.bodies import Mesh, rgb
from formiga.view.picking import Shape

ROOT = "/formiga"


class Whose(NamedTuple):
    """To whom the instances of a node belong."""

    kind: str                  # "robot" or "thing"
    numbers: Any               # of each instance
    mesh: Mesh
    grip: bool = True          # whether it can be dragged


@dataclass
class Part:
    """A node, what it was made from, and whose it is."""

    key: Hashable
    handle: Any
    whose: Whose | None = None

    def shape(self) -> Shape | None:
        """What a ray can meet, as it is now; None if nobody's."""
        if self.whose is None:
            return None
        kind, numbers, mesh, _ = self.whose
        if not hasattr(self.handle, "batched_positions"):
            return Shape(mesh, self.handle.position[None], self.handle.wxyz[None], np.ones((1, 3)), kind, numbers)
        size = self.handle.batched_scales if hasattr(self.handle, "batched_scales") else None
        return Shape(mesh, self.handle.batched_positions, self.handle.batched_wxyzs,
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

    def __init__(self, api: viser.SceneApi, bind: Callable[[str, Part], None]) -> None:
        self.api, self.bind = api, bind
        self.parts: dict[str, Part] = {}
        self._kept: set[str] = set()

    def atomic(self) -> AbstractContextManager[None]:
        """Everything inside reaches the browser at once."""
        return self.api._owner.atomic()  # a scene belongs to a server or a client; both can, the scene itself cannot

    def keep(self, name: str, key: Hashable, make: Callable[[str], Any], whose: Whose | None = None) -> Any:
        """The handle of the node of this name; made anew if `key` is not what it was made from."""
        self._kept.add(name)
        part = self.parts.get(name)
        if part is None or part.key != key:
            self.remove(name)
            part = self.parts[name] = Part(key, make(f"{ROOT}/{name}"), whose)
            if whose is not None:
                self.bind(name, part)
        part.whose = whose
        return part.handle

    def remove(self, name: str) -> None:
        """Nothing happens if there is no such node."""
        part = self.parts.pop(name, None)
        if part is not None:
            part.handle.remove()

    def clear(self) -> None:
        """Remove all nodes, and those that viser made to hold them."""
        root = self.api.get_handle_by_name(ROOT)
        if root is not None:
            root.remove()
        self.parts.clear()
        self._kept.clear()

    def sweep(self) -> None:
        """Remove all nodes that nobody has kept since the last time, except overlays."""
        for name in [name for name in self.parts if name not in self._kept and not name.startswith("over/")]:
            self.remove(name)
        self._kept.clear()

    def only(self, prefix: str, names: set[str]) -> None:
        """Remove the nodes whose names begin with `prefix`, except these."""
        for name in [name for name in self.parts if name.startswith(prefix) and name not in names]:
            self.remove(name)

    # -- kinds of nodes -------------------------------------------------------------------------------------------------
    def body(self, name: str, key: Hashable, mesh: Mesh, colour: str, place: Any, heading: float = 0.0, thing: int = -1,
             opacity: float | None = None, flat: bool = False, grip: bool = True, shadow: bool = True) -> None:
        """One body. A flat one lies on the floor: it has no shadow, and others' shadows fall on it."""
        handle = self.keep(name, (key, colour, opacity), lambda path: self.api.add_mesh_simple(
            path, mesh.vertices, mesh.faces, color=rgb(colour), opacity=opacity, cast_shadow=shadow and not flat,
            receive_shadow=flat),
            Whose("thing", [thing], mesh, grip) if thing >= 0 else None)
        handle.position, handle.wxyz = place, about_z(heading)

    def painted(self, name: str, key: Hashable, mesh: Mesh, place: Any, thing: int = -1, glow: bool = False,
                opacity: float = 1.0, ground: bool = False) -> None:
        """One body with its own colours; a glowing one has no shadow. On ground others' shadows fall, and nobody drags it."""
        self.keep(name, (key, glow, opacity), lambda path: self.api.add_glb(
            path, bodies.glb(mesh, glow, opacity), cast_shadow=not (glow or ground), receive_shadow=ground),
            Whose("thing", [thing], mesh, not ground) if thing >= 0 else None).position = place

    def instances(self, name: str, mesh: Mesh, batch: Batch, grip: bool = True, pick: bool = True, opacity: float | None = None,
                  shadow: bool = True, ground: bool = False) -> None:
        """Many bodies of one shape, each with its own place, size and colour."""
        if not batch.numbers:
            return
        place, turn, size = (np.array(rows, np.float32) for rows in (batch.place, batch.turn, batch.size))
        colours = as_light(np.array(batch.colour))
        handle = self.keep(name, (len(place), opacity), lambda path: self.api.add_batched_meshes_simple(
            path, mesh.vertices, mesh.faces, turn, place, batched_scales=size, batched_colors=colours, lod="off",
            opacity=opacity, cast_shadow=shadow, receive_shadow=ground),
            Whose("thing", batch.numbers, mesh, grip) if pick else None)
        handle.batched_positions, handle.batched_wxyzs = place, turn
        handle.batched_scales, handle.batched_colors = size, colours

    # -- overlays: made when first needed, hidden while there is nothing to show --------------------------------------------
    def over(self, name: str, count: int, make: Callable[[str], Any]) -> Any | None:
        """The handle, if it is there and has something to show."""
        part = self.parts.get(name)
        if part is None:
            if count:
                self.keep(name, None, make)
            return None
        part.handle.visible = count > 0
        return part.handle if count else None

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
        if not len(place) and name not in self.parts:
            return
        place, turn = place.astype(np.float32), turn.astype(np.float32)
        size = np.ones((len(place), 3), np.float32)
        size[:, :2] = radius[:, None]
        colours = np.empty((len(place), 3), np.uint8)  # one for each: a single one does not reach instances that come later
        colours[:] = as_light(rgb(colour))

        def make(path: str) -> Any:
            ring = bodies.annulus(inner, outer, 40, 0.003)
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


@lru_cache(maxsize=1)
def _light_table() -> Any:
    return (255.0 * bodies.linear(np.arange(256))).round().astype(np.uint8)


def as_light(colours: Any) -> Any:
    """Screen colours 0..255 as viser's batches and lines take them.

    The browser reads these as shares of light, not as screen colours (of a mesh with one colour it does not), so what is
    sent as they are would look pale.
    """
    return _light_table()[np.asarray(colours, np.uint8)]


__all__ = ["Batch", "Nodes", "Part", "Whose", "about_z", "as_light"]
