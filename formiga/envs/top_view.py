"""A world from above as an array of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.engine.flatten import extent, flatten
from formiga.errors import FormigaError
from formiga.state import Movable, State
from formiga.view.picture import draw_movables, draw_robots, draw_world
from formiga.world.model import World
from formiga.world.sources import as_at

RENDER_MODES = ["rgb_array"]
PIXELS = 480  # along x


def check_render_mode(given: str | None) -> str | None:
    """A render_mode that we have, or a clear complaint."""
    if given is not None and given not in RENDER_MODES:
        raise FormigaError(f"render_mode '{given}' is unknown. It may be: {', '.join(RENDER_MODES)}.")
    return given


def top_view(world: World, state: State, number: int = 0) -> Any:
    """Pixels (height, width, 3) of a world, as it is in a state with that number among its worlds."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    region = extent(world, flatten(world))
    tall = min(2.0, max(0.5, (region.y1 - region.y0) / max(region.x1 - region.x0, 1e-9)))
    figure = Figure(figsize=(PIXELS / 100, round(PIXELS * tall) / 100), dpi=100)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    draw_world(axes, as_at(world, float(state.step[number] * world.dt)))
    position, movables = state.position[number], state.movables[number]
    draw_robots(axes, world, position, state.heading[number], position[None])
    draw_movables(axes, world, movables[:, Movable.PLACE], movables[:, Movable.HEADING], movables[None, :, Movable.PLACE])
    if not world.things:
        axes.autoscale_view()
    axes.set_aspect("equal")
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
