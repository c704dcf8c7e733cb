"""What code has drawn, in a scene of the browser. Every node stays, and is hidden while there is nothing to show.

Nodes have the names of their layers, such as drawings/odometry/lines 0: the tree of an exported page has a switch for each.
"""

from __future__ import annotations

import io
import re
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from formiga.geometry import about_z, multiply
from formiga.view.frame import Frame
from formiga.view.mesh import triangles
from formiga.view.nodes import Nodes
from formiga.view.shapes import FILL, Area, Image, shapes

ROOT = "drawings/"
FLOOR = {"image": 0.003, "area": 0.005, "lines": 0.007, "dots": 0.009, "text": 0.02}  # m above its place, so that all is seen
PIXELS = 512                                 # at least as many along the longer side of an image: the browser blurs cells
FACE_UP = np.array((0.0, 1.0, 0.0, 0.0))     # viser's images look down; half a turn about x


class Drawn:
    """Draws the layers of a frame, a node for each kind of shape and size in it."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.forget()

    def forget(self) -> None:
        """Begin again."""
        self._names: dict[str, str] = {}       # layer -> what its nodes are called
        self._shown: set[str] = set()
        self._images: dict[str, Image] = {}    # node -> what it shows

    def build(self, frame: Frame) -> None:
        """Another world: nodes of layers that it has not go."""
        self._names = {layer: name for layer, name in self._names.items() if layer in frame.drawings}
        kept = tuple(f"{ROOT}{name}/" for name in self._names.values())
        self.nodes.only(ROOT, {name for name in self.nodes.named if name.startswith(kept)})
        self._images = {name: image for name, image in self._images.items() if name in self.nodes.named}

    def draw(self, frame: Frame) -> None:
        """All layers of the frame; what others had drawn is hidden."""
        before, self._shown = self._shown, set()
        for layer, marks in frame.drawings.items():
            found = shapes(marks, frame.place, frame.turn)
            for k, image in enumerate(found.images):
                self._image(self._name(layer, "image", k), image)
            self._areas(layer, found.areas)
            for k, (points, colours, width) in enumerate(found.strokes):
                name, both = self._name(layer, "lines", k), np.repeat(colours[:, None], 2, axis=1)
                self.nodes.lines(name, points + _up("lines"), both, width)
                self.nodes.named[name].handle.thickness = width
            for k, (places, colours, size) in enumerate(found.dots):
                self.nodes.dots(self._name(layer, "dots", k), places + _up("dots"), colours, 2.0 * size)
            for k, (text, place, _) in enumerate(found.labels):
                self._label(self._name(layer, "text", k), text, place + _up("text"))
        for name in before - self._shown:
            if name in self.nodes.named:
                self.nodes.named[name].handle.visible = False

    def _name(self, layer: str, kind: str, number: int) -> str:
        """Of a node. Names of layers may have letters that names of nodes may not."""
        if layer not in self._names:
            plain = re.sub(r"[^\w .-]", "_", layer).strip(" .") or "_"
            taken = self._names.values()
            self._names[layer] = next(name for k in count() if (name := f"{plain} {k}" if k else plain) not in taken)
        name = f"{ROOT}{self._names[layer]}/{kind} {number}"
        self._shown.add(name)
        return name

    def _areas(self, layer: str, areas: list[Area]) -> None:
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
        """viser would encode four channels of eight bits, which takes ten times as long as a palette with one colour."""
        handle = self.nodes.over(name, 1, lambda path: self.nodes.api.add_image(
            path, np.zeros((1, 1, 4), np.uint8), image.wide, image.deep, format="png", cast_shadow=False, receive_shadow=False))
        handle = handle or self.nodes.named[name].handle
        shown = self._images.get(name)
        if shown is None or not all(map(np.array_equal, shown[:2], image[:2])):
            handle._data = png(image)
        self._images[name] = image
        handle.render_width, handle.render_height = image.wide, image.deep
        handle.position, handle.wxyz = image.middle + _up("image"), multiply(about_z(image.heading), FACE_UP)

    def _label(self, name: str, text: str, place: Any) -> None:
        handle = self.nodes.over(name, 1, lambda path: self.nodes.api.add_label(path, text, position=place,
                                                                                anchor="bottom-center"))
        if handle:
            if handle.text != text:
                handle.text = text
            handle.position = place


def png(image: Image) -> bytes:
    """The picture as a file: shades of one colour are a palette with different transparencies."""
    from PIL import Image as Pixels

    larger = max(1, PIXELS // max(image.shades.shape))
    picture = Pixels.fromarray(np.repeat(np.repeat(image.shades, larger, axis=0), larger, axis=1)).convert("P")
    picture.putpalette(list(image.colour) * 256)
    file = io.BytesIO()
    picture.save(file, "png", transparency=bytes(range(256)), compress_level=1)
    return file.getvalue()


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
