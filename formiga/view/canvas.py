"""Frames as a scene in the browser.

A node of the scene stays as long as what it was made from stays the same, also when the world is edited. So nothing
flickers, and a drag that edits the world keeps its grip.
"""

from __future__ import annotations

from threading import RLock

import numpy as np
import viser

from formiga.engine.fixed import Region
from formiga.engine.flatten import flatten
from formiga.errors import FormigaError, suggest
from formiga.view import ground
from formiga.view.crowd import Crowd
from formiga.view.drawings import Drawn
from formiga.view.frame import Frame
from formiga.view.marks import Marks
from formiga.view.mesh import rgb
from formiga.view.overlays import OVERLAYS
from formiga.view.palette import DARK, LIGHT, Palette
from formiga.view.picking import Target
from formiga.view.pointer import Dragged, Floored, Picked, Pointer
from formiga.view.things import Things
from formiga.world.model import World
from formiga.world.sources import as_at, switched

SUN = (-2.6, -3.4, 6.0)         # the light comes from here; only the direction counts
PLAIN = 10.0                    # m, floor around what stands in an open world


class Canvas:
    """Draws frames into a viser scene. `api` is a server's scene (all windows) or a client's (one window).

    overlays: which of OVERLAYS to draw; takes effect with the next `show`.
    """

    def __init__(self, api: viser.SceneApi, dark: bool = False) -> None:
        self.api = api
        self.overlays: set[str] = set()
        self._dark = dark
        self._pointer = Pointer(api)
        self._nodes = self._pointer.nodes
        self._things, self._crowd, self._marks = Things(self._nodes), Crowd(self._nodes), Marks(self._nodes)
        self._drawn = Drawn(self._nodes)
        self._frame: Frame | None = None
        self._lock = RLock()
        self._background()

    def show(self, frame: Frame) -> None:
        """Draw this frame; what has not changed is not sent again."""
        for name in self.overlays - OVERLAYS.keys():
            raise FormigaError(f"there is no overlay '{name}'.{suggest(name, OVERLAYS)} There are: {', '.join(OVERLAYS)}.")
        with self._lock, self._nodes.atomic():
            new = self._frame is None or frame.version != self._frame.version or frame.world is not self._frame.world \
                or switched(frame.world, self._frame.time, frame.time)
            self._frame = self._pointer.frame = frame
            if new:
                self._build(frame)
            self._crowd.move(frame)
            self._marks.mark(frame)
            self._marks.overlay(frame, self.overlays)
            self._drawn.draw(frame)

    def clear(self) -> None:
        """Remove everything that was drawn; the next `show` draws it again."""
        with self._lock, self._nodes.atomic():
            self._nodes.clear()
            self._frame = None
            self._pointer.forget()
            self._crowd.forget()
            self._marks.forget()
            self._drawn.forget()

    # -- callbacks ------------------------------------------------------------------------------------------------------
    def on_pick(self, callback: Picked) -> Picked:
        """callback(target, viser's SceneClickEvent) after a click on a robot or a thing.

        It runs on viser's event loop: be quick, or async. Shift and Ctrl come along as event.modifier.
        """
        self._pointer.listen()
        self._pointer.picked.append(callback)
        return callback

    def on_floor(self, callback: Floored) -> Floored:
        """callback(x, y, viser's SceneClickEvent) after a click on the floor where nothing stands."""
        self._pointer.listen()
        self._pointer.floored.append(callback)
        return callback

    def on_drag(self, callback: Dragged) -> Dragged:
        """callback(target, phase, x, y, viser's drag event), in order; phase: start, update, end.

        (x, y) is where the target's anchor belongs now (see `pointer.anchor`). It is computed from where the pointer took hold,
        at the height where it did, so nothing jumps when a drag begins. It runs on viser's event loop.
        """
        self._pointer.dragged.append(callback)
        return callback

    @property
    def draggable(self) -> frozenset[str]:
        """What can be dragged, of "robot" and "thing". A drag elsewhere turns the camera. Assign to change it."""
        return self._pointer.draggable

    @draggable.setter
    def draggable(self, kinds: set[str] | frozenset[str]) -> None:
        with self._lock, self._nodes.atomic():
            self._pointer.draggable = frozenset(kinds)
            self._pointer.bind_again()

    # -- surroundings -----------------------------------------------------------------------------------------------------
    @property
    def dark(self) -> bool:
        """Dark surroundings. Assign to change it."""
        return self._dark

    @dark.setter
    def dark(self, dark: bool) -> None:
        if dark == self._dark:
            return
        with self._lock, self._nodes.atomic():
            self._dark = dark
            self._background()
            if self._frame is not None:
                self._build(self._frame)
                self._crowd.move(self._frame)

    @property
    def _palette(self) -> Palette:
        return DARK if self._dark else LIGHT

    def _background(self) -> None:
        """A soft gradient, and none of viser's own lights."""
        share, colours = np.linspace(0.0, 1.0, 128)[:, None, None], self._palette
        image = (1.0 - share) * np.array(rgb(colours.above)) + share * np.array(rgb(colours.below))
        with self._nodes.atomic():
            self.api.configure_default_lights(False)
            self.api.configure_environment_map(None)
            self.api.set_background_image(np.repeat(image.round().astype(np.uint8), 4, axis=1), format="png")

    def _lights(self) -> None:
        """From everywhere, and from one side with shadows."""
        self._nodes.keep("light/sky", self._dark, lambda path: self.api.add_light_hemisphere(
            path, sky_color=(255, 255, 255), ground_color=(196, 190, 180), intensity=self._palette.sky))
        self._nodes.keep("light/sun", self._dark, lambda path: self.api.add_light_directional(
            path, color=(255, 250, 240), intensity=self._palette.sun, cast_shadow=True, position=SUN))

    def _build(self, frame: Frame) -> None:
        """All nodes that this world needs; those that only an earlier one needed go."""
        world = frame.world
        self._pointer.region = floor_of(world, ground.seen(world, flatten(world)))
        self._lights()
        self._things.build(as_at(world, frame.time), self._pointer.region, self._palette)
        self._crowd.build(frame)
        self._marks.build(world)
        self._drawn.build(frame)
        self._nodes.sweep()


def floor_of(world: World, region: Region) -> Region:
    """What the floor covers: a little more than an arena with walls or the field of soccer; else a wide plain."""
    closed = (world.arena and world.arena.walls) or world.pitch
    margin = 0.05 + 0.06 * max(region.x1 - region.x0, region.y1 - region.y0) if closed else PLAIN
    return Region(region.x0 - margin, region.y0 - margin, region.x1 + margin, region.y1 + margin)


__all__ = ["Canvas", "OVERLAYS", "Target"]
