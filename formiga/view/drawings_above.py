"""What code has drawn, in pictures from above: the same shapes as in the browser, as artists of matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.drawing import Drawings
from formiga.view.shapes import FILL, shapes

THINNEST = 0.7            # points, of a line in a picture
SMALLEST = 0.6            # points, of a dot's radius
UNDER, OVER = 1.2, 4.5    # order among bodies: images and areas lie under them, the rest is over them


def artists(axes: Any, drawings: Drawings, place: Any, turn: Any) -> list[Any]:
    """What is drawn of robots at places (N, 3) with turns (N, 4), added to axes whose limits and size are final."""
    from matplotlib.collections import CircleCollection, LineCollection, PolyCollection
    from matplotlib.patheffects import Normal, Stroke
    from matplotlib.transforms import Affine2D

    found: list[Any] = []
    halo = [Stroke(linewidth=2.5, foreground="#ffffff"), Normal()]
    scale = _points_in_a_metre(axes)
    for marks in drawings.values():
        layer = shapes(marks, place, turn)
        for shades, colour, wide, deep, middle, heading in layer.images:
            pixels = np.dstack([np.broadcast_to(colour, (*shades.shape, 3)), shades])
            there = Affine2D().rotate(heading).translate(*middle[:2]) + axes.transData
            limits = axes.get_xlim(), axes.get_ylim()
            image = axes.imshow(pixels, extent=(-wide / 2, wide / 2, -deep / 2, deep / 2), interpolation="nearest",
                                transform=there, zorder=UNDER, aspect="equal")
            axes.set(xlim=limits[0], ylim=limits[1])
            found.append(image)
        if layer.areas:
            found.append(PolyCollection([corners[:, :2] for corners, _ in layer.areas], alpha=FILL, lw=0, zorder=UNDER,
                                        facecolors=[colour / 255.0 for _, colour in layer.areas]))
        found += [LineCollection(list(points[..., :2]), colors=colours / 255.0, lw=max(THINNEST, width * scale), zorder=OVER,
                                 capstyle="round") for points, colours, width in layer.strokes]
        found += [CircleCollection([np.pi * max(SMALLEST, size * scale) ** 2], offsets=places[:, :2], zorder=OVER, lw=0,
                                   offset_transform=axes.transData, facecolors=colours / 255.0)
                  for places, colours, size in layer.dots]
        found += [axes.text(where[0], where[1], text, color=tuple(colour / 255.0), ha="center", va="bottom", zorder=OVER,
                            fontsize=9, clip_on=True, parse_math=False, path_effects=halo)
                  for text, where, colour in layer.labels]
    for each in found:
        if each.axes is None:
            axes.add_collection(each, autolim=False)
    return found


def _points_in_a_metre(axes: Any) -> float:
    """1/72 of an inch on paper for a metre of the world."""
    box, (left, right) = axes.get_window_extent(), axes.get_xlim()
    bottom, top = axes.get_ylim()
    return 72.0 / axes.figure.dpi * min(box.width / max(right - left, 1e-9), box.height / max(top - bottom, 1e-9))


__all__ = ["UNDER", "artists"]
