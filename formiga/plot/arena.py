"""Axes over the arena of a world, in metres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from formiga.plot.look import COLUMN, TALLEST, look, new_axes, weight_on
from formiga.record.recording import Recording
from formiga.view.picture import draw_world
from formiga.world.model import World
from formiga.world.sources import as_at

MARGIN = 0.06     # inches, above and below
TICKS = 8         # parts of the longer side, at most


@contextmanager
def arena_axes(axes: Any) -> Iterator[Any]:
    """Those that are given, or new ones as wide as a column, and as high as what is drawn there needs."""
    if axes is not None:
        yield axes
        return
    with look():
        axes = new_axes(TALLEST)
        yield axes
        for _ in range(2):  # letters do not shrink with the arena, so its height is known when it is drawn
            axes.figure.draw_without_rendering()
            axes.figure.set_figheight(min(COLUMN * TALLEST, axes.figure.get_tightbbox().height + MARGIN))


def draw_arena(axes: Any, recording: Recording, world: World, time: float, bodies: Any) -> None:
    """Walls, obstacles, lamps and zones of one of its worlds at a time; bodies (B, 7): of a run in space, where its
    solids are then.
    """
    solids = {part.thing: bodies[row] for row, part in enumerate(recording.parts) if part.thing >= 0}
    draw_world(axes, as_at(world, time), solids, weight_on(axes))
    axes.set(aspect="equal", xlabel="x (m)", ylabel="y (m)")


def show_all(axes: Any, world: World, places: Any) -> None:
    """Limits around the arena and all places (..., 2), also of robots that have left it or never had one. Ticks are the same on
    both axes, which have the same scale.
    """
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    ends = np.reshape(places, (-1, 2))
    if world.things:
        ends = np.vstack([ends, np.column_stack([axes.get_xlim(), axes.get_ylim()])])
    (left, bottom), (right, top) = ends.min(axis=0), ends.max(axis=0)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    apart = MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10]).tick_values(0.0, max(right - left, top - bottom))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(float(apart[1] - apart[0])))


__all__ = ["arena_axes", "draw_arena", "show_all"]
