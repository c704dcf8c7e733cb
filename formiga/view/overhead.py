"""A world from above, frame after frame: pictures for films that need no browser and no screen.

What stands still is painted once; only what moves is painted again for each frame.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import Any

import numpy as np

from formiga.engine.flatten import flatten
from formiga.geometry import TURN, rotate, yaw
from formiga.view import ground
from formiga.view.drawings_above import UNDER, artists
from formiga.view.frame import Frame, thing_rows
from formiga.view.picture import draw_world
from formiga.view.skins import shape_of
from formiga.world.solids import Solid

LONGEST, OF_GIF = 960, 640     # pixels of the longer side; a GIF is large enough as it is
CORNERS = 36                   # of a disc
TRAIL = 600                    # moments that a trail goes back
FLOOR, INK, PALE, CRASHED, DEAD, EDGE = "#f6f4ef", "#2b2926", "#ffffff", "#cc1155", "#8d9299", "#3b3a36"


class Overhead:
    """Paints frames of one world. trails: whether it shows where robots came from."""

    def __init__(self, frame: Frame, trails: bool = False, longest: int = LONGEST) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection, PolyCollection
        from matplotlib.figure import Figure

        world, self._trails = frame.world, trails
        self._world, self._rows = world, thing_rows(frame.parts)
        region = ground.seen(world, flatten(world))
        margin = 0.03 * max(region.x1 - region.x0, region.y1 - region.y0)
        wide, deep = region.x1 - region.x0 + 2.0 * margin, region.y1 - region.y0 + 2.0 * margin
        scale = longest / max(wide, deep)
        size = [max(64, 2 * round(0.5 * scale * length)) for length in (wide, deep)]  # codecs need even numbers
        figure = Figure(figsize=(size[0] / 100.0, size[1] / 100.0), dpi=100, facecolor=FLOOR)
        self._canvas = FigureCanvasAgg(figure)
        self._axes = axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        draw_world(axes, replace(world, things=tuple(thing for number, thing in enumerate(world.things)
                                                     if number not in self._rows or not isinstance(thing, Solid))))
        axes.set(xlim=(region.x0 - margin, region.x1 + margin), ylim=(region.y0 - margin, region.y1 + margin), aspect="equal")
        self._canvas.draw()
        self._still = self._canvas.copy_from_bbox(figure.bbox)
        self._past: list[Any] = []
        self._shapes = [*(_shape(group.robot) for group in world.groups), *(_shape(thing) for thing in world.movables)]
        own = (*(group.robot for group in world.groups), *world.movables)
        self._colours = [body.colour for body in own]
        self._lines = LineCollection([], lw=1.0, alpha=0.35)
        self._bodies, self._ahead = PolyCollection([], lw=1.0), LineCollection([], colors=PALE, lw=1.6)
        self._solids = PolyCollection([], lw=0.8, edgecolors=EDGE)
        look: Any = {"transform": axes.transAxes, "fontsize": 12, "color": INK,
                     "bbox": {"facecolor": PALE, "alpha": 0.8, "edgecolor": "none", "boxstyle": "round,pad=0.35"}}
        self._clock = axes.text(0.04, 0.04, "", ha="left", va="bottom", **look)
        self._note = axes.text(0.5, 0.96, "", ha="center", va="top", fontweight="bold", **look)
        for artist in (self._lines, self._solids, self._bodies, self._ahead):
            axes.add_collection(artist, autolim=False)

    def picture(self, frame: Frame) -> Any:
        """The frame as pixels (height, width, 3)."""
        self._canvas.restore_region(self._still)
        self._move(frame)
        self._clock.set_text(f"{frame.time:.1f} s")
        headline = frame.note.headline if frame.note is not None else ""
        self._note.set_text(headline)
        drawn = artists(self._axes, frame.drawings, frame.place, frame.turn)
        under = [artist for artist in drawn if artist.get_zorder() == UNDER]
        over = [artist for artist in drawn if artist.get_zorder() != UNDER]
        for artist in (*under, self._lines, self._solids, self._bodies, self._ahead, *over, self._clock, self._note):
            if artist is not self._note or headline:
                self._axes.draw_artist(artist)
        for artist in drawn:
            artist.remove()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()

    def _move(self, frame: Frame) -> None:
        world, robots = self._world, frame.world.robots
        place = np.concatenate([frame.place[:, :2], frame.movables[:, :2]])
        ahead = yaw(np.concatenate([frame.turn, frame.movables_turn]))
        kind = [number for number, group in enumerate(world.groups) for _ in range(group.count)]
        kind += [len(world.groups) + number for number in range(len(world.movables))]
        self._bodies.set_verts([_turned(self._shapes[which], ahead[n]) + place[n] for n, which in enumerate(kind)])
        faces, edges = [self._colours[which] for which in kind], [PALE] * robots + [EDGE] * len(world.movables)
        for n in range(robots):
            if not frame.alive[n]:
                faces[n] = DEAD
            elif frame.crashed[n] and world.contact.model != "impulse":
                edges[n] = CRASHED
        self._bodies.set(facecolor=faces, edgecolor=edges)
        reach = [float(self._shapes[which][:, 0].max()) for which in kind[:robots]]
        tips = place[:robots] + np.array(reach)[:, None] * np.column_stack([np.cos(ahead[:robots]), np.sin(ahead[:robots])])
        self._ahead.set_segments(list(np.stack([place[:robots], tips], axis=1)))
        if self._trails:
            self._past = [*self._past[-TRAIL:], place]
            self._lines.set(segments=list(np.stack(self._past, axis=1)), color=[self._colours[which] for which in kind])
        if frame.bodies is not None:
            self._fall(frame)

    def _fall(self, frame: Frame) -> None:
        """Solids that move in space, as shadows from above."""
        from scipy.spatial import ConvexHull

        assert frame.bodies is not None
        outlines, colours = [], []
        for number, row in self._rows.items():
            thing = self._world.things[number]
            if isinstance(thing, Solid):
                shadow = rotate(frame.bodies[row, TURN], shape_of(thing).vertices)[:, :2]
                outlines.append(shadow[ConvexHull(shadow).vertices] + frame.bodies[row, :2])
                colours.append(thing.colour)
        self._solids.set_verts(outlines)
        self._solids.set_facecolor(colours)


def _shape(body: Any) -> Any:
    """Corners (K, 2) of a body from above, in its own frame."""
    if body.outline is not None:
        return np.array(body.outline, np.float64)
    angles = np.linspace(0.0, 2.0 * pi, CORNERS, endpoint=False)
    return float(body.radius) * np.column_stack([np.cos(angles), np.sin(angles)])


def _turned(points: Any, angle: float) -> Any:
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


__all__ = ["LONGEST", "OF_GIF", "Overhead"]
