"""What code has drawn, in a scene of the browser. Every node stays, and is hidden while there is nothing to show."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from formiga.geometry import about_z, multiply
from formiga.view.frame import Frame
from formiga.view.mesh import triangles
from formiga.view.nodes import Nodes
from formiga.view.shapes import FILL, Area, Image, shapes

FLOOR = {"image": 0.003, "area": 0.005, "line": 0.007, "dot": 0.009, "label": 0.02}  # m above its place, so that all is seen
FACE_UP = np.array((0.0, 1.0, 0.0, 0.0))     # viser's images look down; half a turn about x


class Drawn:
    """Draws the layers of a frame, a node for each kind of shape and size in it."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.forget()

    def forget(self) -> None:
        """Begin again."""
        self._numbers: dict[str, int] = {}     # of layers, whose names need not be names of nodes
        self._shown: set[str] = set()

    def draw(self, frame: Frame) -> None:
        """All layers of the frame; what others had drawn is hidden."""
        before, self._shown = self._shown, set()
        self._numbers = {layer: number for layer, number in self._numbers.items() if layer in frame.drawings}
        for layer, marks in frame.drawings.items():
            free = next(number for number in count() if number not in self._numbers.values())
            number, found = self._numbers.setdefault(layer, free), shapes(marks, frame.place, frame.turn)
            for k, image in enumerate(found.images):
                self._image(self._name(number, "image", k), image)
            self._areas(number, found.areas)
            for k, (points, colours, width) in enumerate(found.strokes):
                name, both = self._name(number, "line", k), np.repeat(colours[:, None], 2, axis=1)
                self.nodes.lines(name, points + _up("line"), both, width)
                self.nodes.named[name].handle.thickness = width
            for k, (places, colours, size) in enumerate(found.dots):
                self.nodes.dots(self._name(number, "dot", k), places + _up("dot"), colours, 2.0 * size)
            for k, (text, place, _) in enumerate(found.labels):
                self._label(self._name(number, "label", k), text, place + _up("label"))
        for name in before - self._shown:
            if name in self.nodes.named:
                self.nodes.named[name].handle.visible = False

    def _name(self, layer: int, kind: str, number: int) -> str:
        name = f"over/drawing/{layer}/{kind}/{number}"
        self._shown.add(name)
        return name

    def _areas(self, layer: int, areas: list[Area]) -> None:
        """A mesh for each colour."""
        colours: dict[tuple[int, ...], list[Any]] = {}
        for corners, colour in areas:
            colours.setdefault(tuple(int(each) for each in colour), []).append(corners)
        for k, (colour, some) in enumerate(colours.items()):
            firsts = np.cumsum([0, *(len(corners) for corners in some[:-1])])
            faces = [first + _faces(corners[:, :2].astype(np.float64).tobytes())
                     for first, corners in zip(firsts, some, strict=True)]
            vertices = np.concatenate(some).astype(np.float32) + _up("area")
            self._area(self._name(layer, "area", k), vertices, np.concatenate(faces).astype(np.uint32), colour)

    def _area(self, name: str, vertices: Any, faces: Any, colour: tuple[int, ...]) -> None:
        api = self.nodes.api
        handle = self.nodes.over(name, len(faces), lambda path: api.add_mesh_simple(
            path, vertices, faces, color=np.array(colour), opacity=FILL, side="double", cast_shadow=False,
            receive_shadow=False))
        if handle:
            handle.vertices, handle.faces, handle.color = vertices, faces, colour

    def _image(self, name: str, image: Image) -> None:
        handle = self.nodes.over(name, 1, lambda path: self.nodes.api.add_image(
            path, image.pixels, image.wide, image.deep, format="png", cast_shadow=False, receive_shadow=False))
        if handle is None:
            handle = self.nodes.named[name].handle
        elif not np.array_equal(handle.image, image.pixels):
            handle.image = image.pixels
            handle.render_width, handle.render_height = image.wide, image.deep
        handle.position, handle.wxyz = image.middle + _up("image"), multiply(about_z(image.heading), FACE_UP)

    def _label(self, name: str, text: str, place: Any) -> None:
        handle = self.nodes.over(name, 1, lambda path: self.nodes.api.add_label(path, text, position=place,
                                                                                anchor="bottom-center"))
        if handle:
            if handle.text != text:
                handle.text = text
            handle.position = place


@lru_cache(maxsize=512)
def _faces(corners: bytes) -> Any:
    """Triangles (F, 3) of a polygon, whichever way round it goes."""
    outline = np.frombuffer(corners, np.float64).reshape(-1, 2)
    x, y = outline.T
    if np.dot(x, np.roll(y, -1)) < np.dot(y, np.roll(x, -1)):  # clockwise
        return len(outline) - 1 - np.array(triangles(outline[::-1]))
    return np.array(triangles(outline))


def _up(kind: str) -> Any:
    return np.array((0.0, 0.0, FLOOR[kind]), np.float32)


__all__ = ["Drawn"]
