"""Where robots were, and how long: a heat map over the arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from formiga.engine.flatten import flatten
from formiga.errors import FormigaError
from formiga.plot.arena import arena_axes, draw_arena, show_all
from formiga.plot.look import HEAT
from formiga.plot.sources import recording_of, robots_of
from formiga.record.recording import LARGEST_NUMBER, Recording
from formiga.state import Floats
from formiga.view.ground import seen
from formiga.world.model import World

CELLS = 32                # along the longer side of an arena
MOST_CELLS = 4_000_000
UNDER = 0.7               # order of drawing: over zones, under obstacles and walls
RARE = 99.0               # percentile of the visited cells at which the colours end, if a few cells are far above it


class Shares(NamedTuple):
    """Shares of time (columns, rows), which add up to 1; cells are squares of `cell` m, the first at (x, y)."""

    share: Floats
    x: float
    y: float
    cell: float

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top, in m."""
        columns, rows = self.share.shape
        return self.x, self.x + columns * self.cell, self.y, self.y + rows * self.cell


def visits(data: Any, axes: Any = None, *, cell: float | None = None, world: int | None = None, group: str | None = None,
           colours: str = HEAT, bar: bool = True) -> Any:
    """A map of how much of their time robots spent in each cell, with the arena over it. Returns the axes.

    data: a run, a recording or the path of one, or several of the same arena; cell: m, its side; world: one of the batch alone;
    group: its robots alone. Cells that were never visited are left white. All shares add up to 1; if a few cells are far above
    all others, the colours end below them, and the bar says so. Of worlds that differ, what is the same in all is drawn.
    """
    recordings = [recording_of(each) for each in (data if isinstance(data, Sequence) and not isinstance(data, str) else [data])]
    if not recordings:
        raise FormigaError("there are no runs to draw.")
    found = shares(recordings, cell, world, group)
    first = recordings[0]
    visited = found.share[found.share > 0.0]
    high = float(np.percentile(visited, RARE))
    cut = visited.max() > 1.5 * high
    with arena_axes(axes) as axes:
        bodies = first.poses(world or 0).bodies[-1, 0] if first.parts else ()
        draw_arena(axes, first, common(first, world), float(first.steps[-1] * first.world.dt), bodies)
        limits = axes.get_xlim(), axes.get_ylim()
        image = axes.imshow(np.ma.masked_equal(found.share.T, 0.0), origin="lower", extent=found.extent, cmap=colours, vmin=0.0,
                            vmax=high if cut else float(visited.max()), interpolation="nearest", zorder=UNDER)
        axes.set(xlim=limits[0], ylim=limits[1])  # which an image changes
        left, right, bottom, top = found.extent
        show_all(axes, first.world, [(left, bottom), (right, top)])
        if bar:
            _bar(axes, image, found.cell, cut)
    return axes


def shares(recordings: Sequence[Recording], cell: float | None = None, world: int | None = None,
           group: str | None = None) -> Shares:
    """The numbers behind the map, from recordings of any size: rows are counted some at a time."""
    region = seen(recordings[0].world, flatten(recordings[0].world))
    wide, deep = region.x1 - region.x0, region.y1 - region.y0
    side = max(wide, deep) / CELLS if cell is None else float(cell)
    if not 0.0 < side < np.inf:
        raise FormigaError(f"cells of {cell} m cannot be; their side must be above 0.")
    counts = {(0, 0): 0, (ceil(wide / side - 1e-9) - 1, ceil(deep / side - 1e-9) - 1): 0}  # the arena, also where no robot was
    for recording in recordings:
        robots = np.array(robots_of(recording.world, group))
        world = None if world is None else recording.numbered(world)
        for block in recording.blocks():
            chosen = block if world is None else block.filter(pc.equal(block["world"], world))
            here = np.isin(chosen["robot"].to_numpy(), robots)
            place = np.column_stack([chosen["x"].to_numpy()[here], chosen["y"].to_numpy()[here]])
            if not (np.abs(place) <= LARGEST_NUMBER).all():
                raise FormigaError(f"{recording.path}: damaged; robots were where no run brings them.")
            cells = np.floor((place - (region.x0, region.y0)) / side).astype(np.int64)
            for (i, j), count in zip(*map(np.ndarray.tolist, np.unique(cells, axis=0, return_counts=True)), strict=True):
                counts[i, j] = counts.get((i, j), 0) + count
            if len(counts) > MOST_CELLS:
                break
    at, number = np.array(list(counts)), np.array(list(counts.values()), np.float64)
    low, size = at.min(axis=0), np.ptp(at, axis=0) + 1
    if size[0] * size[1] > MOST_CELLS:
        raise FormigaError(f"cells of {side:g} m make {size[0]:,} x {size[1]:,} of them; take larger ones, with `cell`.")
    if not number.any():
        raise FormigaError(f"{recordings[0].path}: there are no robots in it that could have been anywhere.")
    share = np.zeros(size)
    share[tuple((at - low).T)] = number / number.sum()
    return Shares(share, region.x0 + low[0] * side, region.y0 + low[1] * side, side)


def common(recording: Recording, world: int | None) -> World:
    """What is drawn under the map: one world; or of worlds that differ, what stands in all of them."""
    if world is not None or recording.varied is None:
        return recording.world if world is None else recording.described(world)
    worlds = recording.varied.worlds
    return replace(worlds[0], things=tuple(thing for number, thing in enumerate(worlds[0].things)
                                           if all(each.things[number] is thing for each in worlds)))


def _bar(axes: Any, image: Any, cell: float, cut: bool) -> None:
    """As high as the arena, to its right."""
    bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.03, 0.0, 0.04, 1.0)), extend="max" if cut else "neither",
                               format=lambda share, _: f"{100 * share:.3g} %")
    bar.set_label(f"share of time per cell of {100 * cell:.3g} cm" if cell < 1.0 else f"share of time per cell of {cell:.3g} m")
    bar.outline.set_linewidth(0.6)


__all__ = ["Shares", "shares", "visits"]
