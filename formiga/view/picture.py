"""A picture of a world from above: walls, obstacles, robots and what they push where they are now, and where they came from."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.engine.flatten import flatten, plan_of
from formiga.errors import FormigaError
from formiga.files import whole_file
from formiga.geometry import TURN, about_z, rotate
from formiga.state import Movable
from formiga.view import ground, pitch
from formiga.view.bodies import is_on
from formiga.view.drawings_above import artists
from formiga.view.mesh import rgb
from formiga.view.skins import shape_of
from formiga.world.beacons import Beacons
from formiga.world.ground import Hole, Platform, Ramp, Terrain
from formiga.world.maps import Map
from formiga.world.model import Field, Lamp, Polygon, Rectangle, World, Zone
from formiga.world.movables import rectangle
from formiga.world.solids import Solid, Trigger
from formiga.world.sources import as_at

if TYPE_CHECKING:
    from formiga.loop import Simulation

KINDS = (".png", ".svg", ".pdf")
MOST_POINTS = 4000  # of a trail; a longer run keeps every other one


class Picture:
    """Collects the trails of the first world of a run; give it to `runs.simulate(record=...)`, then `save`."""

    def __init__(self, world: World, path: str | os.PathLike[str]) -> None:
        self.world, self.path = world, Path(path)
        if self.path.suffix not in KINDS:
            raise FormigaError(f"{self.path}: '{self.path.suffix}' is not a kind of picture. It may be: {', '.join(KINDS)}.")
        self.trail: list[Any] = []         # places (N + M, 2), of the robots and of what can be pushed
        self.heading: Any = None           # (N + M,)
        self.solids: dict[int, Any] = {}   # number of a <solid> that moves -> its pose (7,)
        self._last: Any = None
        self._shards: list[Simulation] = []
        self._every, self._seen = 1, 0

    def __call__(self, shards: list[Simulation]) -> None:
        """Note where every body is."""
        state, self._shards = shards[0].state, shards
        self.heading = np.concatenate([state.heading[0], state.movables[0, :, Movable.HEADING]])
        self._last = np.concatenate([state.position[0], state.movables[0, :, Movable.PLACE]])
        if state.bodies.shape[1]:
            self.solids = {part.thing: state.bodies[0, row].copy() for row, part in enumerate(shards[0].model.parts)
                           if part.thing >= 0}
        if self._seen % self._every == 0:
            self.trail.append(self._last)
        self._seen += 1
        if len(self.trail) > MOST_POINTS:
            self.trail, self._every = self.trail[::2], 2 * self._every

    def save(self) -> None:
        """Draw it into the file."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        if self.heading is None:
            raise FormigaError("a picture needs at least one step of a run.")
        region = ground.seen(self.world, flatten(self.world))
        tall = (region.y1 - region.y0) / max(region.x1 - region.x0, 1e-9)
        figure, axes = plt.subplots(figsize=(8, 8 * min(1.5, max(0.4, tall)) + 0.6), layout="constrained")
        try:
            draw_world(axes, as_at(self.world, float(self._shards[0].state.step[0] * self.world.dt)), self.solids)
            robots, trail = self.world.robots, np.array([*self.trail, self._last])
            draw_robots(axes, self.world, self._last[:robots], self.heading[:robots], trail[:, :robots])
            draw_movables(axes, self.world, self._last[robots:], self.heading[robots:], trail[:, robots:])
            axes.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title=fill(self.world.doc or self.world.name, 78))
            self._draw_marks(figure, axes)
            with whole_file(self.path) as beside:
                figure.savefig(beside, format=self.path.suffix[1:], dpi=130)
        finally:
            plt.close(figure)


    def _draw_marks(self, figure: Any, axes: Any) -> None:
        """What code has drawn at the end of the run."""
        drawings = self._shards[0].drawings()
        if drawings:
            figure.draw_without_rendering()  # sizes of lines and dots go by the size that the axes get
            robots = self.world.robots
            place = np.column_stack([self._last[:robots], np.zeros(robots)])
            artists(axes, drawings, place, about_z(self.heading[:robots]))


def draw_world(axes: Any, world: World, solids: dict[int, Any] | None = None, weight: float = 1.0) -> None:
    """What stands still, and <solid>s; solids: where those of these numbers are now. weight: of lines and signs, 1: on a page.
    """
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Outline

    for index, thing in enumerate(world.things):
        if not is_on(thing) and not isinstance(thing, Lamp):
            continue
        if isinstance(thing, Terrain | Hole | Ramp | Platform | Solid | Trigger):
            draw_ground(axes, thing, (solids or {}).get(index), weight)
            continue
        if isinstance(thing, Zone) and thing.radius > 0.0:
            axes.add_patch(Circle((thing.x, thing.y), thing.radius, color=thing.colour, alpha=0.35, lw=0, zorder=0))
        elif isinstance(thing, Zone):
            c, s = np.cos(thing.heading), np.sin(thing.heading)
            corners = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * (thing.width / 2, thing.depth / 2)
            axes.add_patch(Outline(corners @ np.array([[c, s], [-s, c]]) + (thing.x, thing.y), color=thing.colour,
                                   alpha=0.35, lw=0, zorder=0))
        elif isinstance(thing, Rectangle | Polygon):
            walls = flatten(World(things=(thing,))).segments
            axes.add_patch(Outline(walls[:, :2], facecolor="#c9c4bb", lw=0, zorder=1))
        elif isinstance(thing, Map):
            axes.add_collection(PolyCollection(plan_of(thing).blocks, facecolor=thing.colour, lw=0, zorder=1))
        elif isinstance(thing, Field):
            axes.add_patch(Outline(thing.board, facecolor=thing.colour, lw=0, zorder=0))
            for line in pitch.lines(thing):
                axes.add_patch(Outline(line, facecolor=thing.line_colour, lw=0, zorder=0.5))
        elif isinstance(thing, Beacons):
            axes.plot(*thing.places.T, "o", ms=4 * weight, mew=0.0, color=thing.colour, zorder=3)
        elif isinstance(thing, Lamp):
            axes.plot(thing.x, thing.y, marker="*", ms=16 * weight, mec="#555555", mew=0.7 * weight, zorder=5,
                      color=thing.colour if thing.on else "#555555")
    fixed = flatten(world)
    axes.add_collection(LineCollection([((a, b), (c, d)) for a, b, c, d in fixed.segments], colors="#3b3a36",
                                       lw=2.2 * weight, zorder=2))
    for x, y, radius in fixed.discs:
        axes.add_patch(Circle((x, y), radius, facecolor="#c9c4bb", edgecolor="#3b3a36", lw=1.2 * weight, zorder=2))
    region = ground.seen(world, fixed)
    margin = 0.03 * max(region.x1 - region.x0, region.y1 - region.y0)
    if world.things:
        axes.set(xlim=(region.x0 - margin, region.x1 + margin), ylim=(region.y0 - margin, region.y1 + margin))


def draw_ground(axes: Any, thing: Any, pose: Any = None, weight: float = 1.0) -> None:
    """What there is in three dimensions, from above: hills light where they are high, ramps light at their upper end."""
    from matplotlib.patches import Polygon as Outline
    from scipy.spatial import ConvexHull

    if isinstance(thing, Solid):
        place, turn = ((thing.x, thing.y), ground.attitude(thing)) if pose is None else (pose[:2], pose[TURN])
        shadow = rotate(turn, shape_of(thing).vertices)[:, :2]
        axes.add_patch(Outline(shadow[ConvexHull(shadow).vertices] + place, facecolor=thing.colour, edgecolor="#3b3a36",
                               lw=0.8 * weight, zorder=2.5))
        return
    heading = thing.heading if isinstance(thing, Ramp | Platform) else 0.0
    half, c, s = np.array(rectangle(thing.width, thing.depth)), np.cos(heading), np.sin(heading)
    corners = half @ np.array([[c, s], [-s, c]]) + (thing.x, thing.y)
    if isinstance(thing, Terrain):
        east, north, high = ground.heights(thing)
        up, right = np.gradient(high, north, east)
        lit = ground.shade(thing) * (1.0 + 0.8 * np.clip(right - up, -0.5, 0.5))  # the light comes from the upper left
        shade = np.clip(np.multiply.outer(lit, np.array(rgb(thing.colour)) / 255.0), 0.0, 1.0)
        x, y = thing.width / 2, thing.depth / 2
        axes.imshow(shade, origin="lower", extent=(thing.x - x, thing.x + x, thing.y - y, thing.y + y), zorder=-1,
                    interpolation="bilinear")
    elif isinstance(thing, Hole):
        axes.add_patch(Outline(corners, facecolor="#4a4641", edgecolor="#23211e", lw=weight, zorder=0.4))
    elif isinstance(thing, Trigger):
        axes.add_patch(Outline(corners, facecolor="#3a7ca5", alpha=0.15, edgecolor="#3a7ca5", lw=weight, ls="--", zorder=0.6))
    elif isinstance(thing, Ramp):
        own = np.array(rgb(thing.colour)) / 255.0
        for k in range(16):  # the way up, a little lighter with each strip
            strip = np.array([(k, -0.5), (k + 1, -0.5), (k + 1, 0.5), (k, 0.5)]) * (thing.width / 16, thing.depth)
            strip = (strip - (thing.width / 2, 0.0)) @ np.array([[c, s], [-s, c]]) + (thing.x, thing.y)
            axes.add_patch(Outline(strip, facecolor=np.clip(own * (0.75 + 0.4 * k / 15), 0.0, 1.0), lw=0, zorder=0.5))
        axes.add_patch(Outline(corners, fill=False, edgecolor="#6d7178", lw=weight, zorder=0.55))
    elif isinstance(thing, Platform):
        axes.add_patch(Outline(corners, facecolor=thing.colour, edgecolor="#6d7178", lw=weight, zorder=0.5))


def draw_robots(axes: Any, world: World, position: Any, heading: Any, trail: Any) -> None:
    """Bodies (N, 2) with a stroke that points ahead, and trails (steps, N, 2)."""
    for group, robots in zip(world.groups, world.slices, strict=True):
        draw_trails(axes, trail[:, robots], group.robot.colour)
        draw_bodies(axes, group.robot, position[robots], heading[robots], [group.robot.colour] * group.count)


def draw_movables(axes: Any, world: World, position: Any, heading: Any, trail: Any, weight: float = 1.0) -> None:
    """Things that can be pushed, at (M, 2), and trails (steps, M, 2)."""
    for m, thing in enumerate(world.movables):
        draw_trails(axes, trail[:, m:m + 1], thing.colour)
        _draw_shape(axes, thing.outline or thing.radius, thing.colour, "#3b3a36", position[m], heading[m], weight)


def draw_trails(axes: Any, trail: Any, colours: Any, lw: float = 0.8, alpha: float = 0.35) -> None:
    """Where bodies were, (steps, N, 2), each a line."""
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection([trail[:, n] for n in range(trail.shape[1])], colors=colours, lw=lw, alpha=alpha,
                                       zorder=1.5))


def draw_bodies(axes: Any, robot: Any, position: Any, heading: Any, colours: Any, weight: float = 1.0) -> None:
    """Robots of one kind at (n, 2), each of its colour, with a stroke that points ahead."""
    outline = robot.outline
    reach = robot.radius if outline is None else max(x for x, _ in outline)
    for (x, y), ahead, colour in zip(position, heading, colours, strict=True):
        _draw_shape(axes, outline or robot.radius, colour, "white", (x, y), ahead, weight)
        axes.plot([x, x + reach * np.cos(ahead)], [y, y + reach * np.sin(ahead)], color="white", lw=1.6 * weight, zorder=4)


def _draw_shape(axes: Any, shape: Any, colour: str, edge: str, place: Any, heading: Any, weight: float) -> None:
    """A body, an outline in its own frame or the radius of a disc."""
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Outline

    look: Any = {"facecolor": colour, "edgecolor": edge, "lw": 0.8 * weight, "zorder": 3}
    if isinstance(shape, float):
        axes.add_patch(Circle(place, shape, **look))
    else:
        c, s = np.cos(heading), np.sin(heading)
        axes.add_patch(Outline(np.array(shape) @ np.array([[c, s], [-s, c]]) + place, **look))
