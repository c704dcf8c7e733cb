"""A frame as a scene in the browser.

Everything that is alike is one batch of instances: a frame with a thousand robots is a handful of arrays. A node stays
as long as what it was made from stays the same, also when the world is edited, so nothing flickers and a drag that edits
the world keeps what it holds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from math import atan2, hypot, pi
from threading import RLock
from typing import Any

import numpy as np
import viser

from formiga.engine.fixed import Region
from formiga.engine.flatten import extent, flatten
from formiga.engine.ground import covers
from formiga.errors import FormigaError, suggest
from formiga.geometry import IDENTITY, rotate
from formiga.view import bodies, ground, overlays, pitch
from formiga.view.bodies import rgb
from formiga.view.cameras import floor_point
from formiga.view.frame import CHASSIS, Frame, thing_rows
from formiga.view.nodes import Batch, Nodes, Part, Whose, as_light
from formiga.view.overlays import OVERLAYS, Trails
from formiga.view.picking import Target, first_hit
from formiga.view.posture import posture
from formiga.view.rolling import Rolling
from formiga.world.elements import of
from formiga.world.ground import Hole, Platform, Ramp, Terrain
from formiga.world.model import Arena, Cylinder, Cylinders, Field, Lamp, Polygon, Rectangle, Wall, World, Zone
from formiga.world.solids import Solid, Trigger

Picked = Callable[[Target, Any], Any]
Floored = Callable[[float, float, Any], Any]
Dragged = Callable[[Target, str, float, float, Any], Any]

SUN = (-2.6, -3.4, 6.0)         # the light comes from here; only the direction counts
THICK = 0.012                   # m, of a wall; in the simulation it has none
GLASS, KERB = 0.16, 0.04        # m: the wall of an arena that is higher would hide the robots: glass above a kerb
HOVER = 0.012                   # m, of rings above uneven ground
FLAT = 0.002                    # m, of an obstacle that is switched off
MOST_LIGHTS = 4                 # lamps that throw light; each one costs the browser, and the others still glow
TRAIL = 0.007                   # m, thickness of the newest piece
CRASHED, DEAD, SELECTED, SHIFTED, CLEARANCE = "#cc1155", "#8d9299", "#f0c800", "#7a1fa2", "#0072b2"
PUSHED, PULLED, NOTICES = "#d81b60", "#6a1b9a", "#3a7ca5"
BOX, ROUND = bodies.box(-0.5, 0.5, -0.5, 0.5, 0.0, 1.0), bodies.drum(1.0, 0.0, 1.0, 40)


@dataclass(frozen=True)
class Palette:
    """Colours of what has none of its own, and how strong the light is."""

    above: str
    below: str
    floor: str
    cells: str
    metres: str
    wall: str
    box: str
    round: str
    off: str
    board: str
    sky: float
    sun: float


LIGHT = Palette("#fbfbfa", "#dfe1e4", "#f6f4ef", "#c9c5bb", "#b1aca1", "#cdc7bb", "#bfa77f", "#86a097", "#c4c4c4", "#8b7b63",
                1.7, 2.6)
DARK = Palette("#2b2e34", "#17181b", "#474a51", "#4b5059", "#6a707c", "#7b7e84", "#a08e70", "#7d968e", "#54575d", "#7d705c",
               1.0, 1.5)


class Scene:
    """Draws frames into a viser scene. `api` is a server's scene (all windows) or a client's (one window).

    overlays: which of OVERLAYS to draw; takes effect with the next `show`.
    """

    def __init__(self, api: viser.SceneApi, dark: bool = False) -> None:
        self.api = api
        self.overlays: set[str] = set()
        self._dark = dark
        self._grips = frozenset({"robot", "thing"})
        self._picked: list[Picked] = []
        self._floored: list[Floored] = []
        self._dragged: list[Dragged] = []
        self._nodes = Nodes(api, self._bind)
        self._frame: Frame | None = None
        self._lock = RLock()
        self._forget()
        self._background()

    # -- what a page uses ---------------------------------------------------------------------------------------------
    def show(self, frame: Frame) -> None:
        """Draw this frame; what has not changed is not sent again."""
        for name in self.overlays - OVERLAYS.keys():
            raise FormigaError(f"there is no overlay '{name}'.{suggest(name, OVERLAYS)} There are: {', '.join(OVERLAYS)}.")
        with self._lock, self._nodes.atomic():
            new = self._frame is None or frame.version != self._frame.version or frame.world is not self._frame.world
            self._frame = frame
            if new:
                self._build(frame)
            self._move(frame)
            self._mark(frame)
            self._overlay(frame)

    def clear(self) -> None:
        """Remove everything that this scene has drawn; the next `show` draws it again."""
        with self._lock, self._nodes.atomic():
            self._nodes.clear()
            self._forget()

    def on_pick(self, callback: Picked) -> Picked:
        """callback(target, viser's SceneClickEvent) when somebody clicks on a robot or a thing.

        It runs on viser's event loop: be quick, or async. Shift and Ctrl come along as event.modifier.
        """
        self._listen()
        self._picked.append(callback)
        return callback

    def on_floor(self, callback: Floored) -> Floored:
        """callback(x, y, viser's SceneClickEvent) when somebody clicks on the floor where nothing stands."""
        self._listen()
        self._floored.append(callback)
        return callback

    def on_drag(self, callback: Dragged) -> Dragged:
        """callback(target, phase, x, y, viser's drag event), in order; phase: start, update, end.

        (x, y) is where the target's anchor belongs now (see `anchor`). It is reckoned from where the pointer took hold,
        at the height where it did, so nothing jumps when a drag begins. It runs on viser's event loop.
        """
        self._dragged.append(callback)
        return callback

    @property
    def grips(self) -> frozenset[str]:
        """What can be dragged, of "robot" and "thing". A drag elsewhere turns the camera. Assign to change it."""
        return self._grips

    @grips.setter
    def grips(self, kinds: set[str] | frozenset[str]) -> None:
        with self._lock, self._nodes.atomic():
            self._grips = frozenset(kinds)
            for name, part in self._nodes.parts.items():
                if part.whose is not None and part.whose.grip:
                    part.handle.remove_drag_callback("all")
                    self._bind(name, part)

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
                self._move(self._frame)

    # -- picking and dragging -------------------------------------------------------------------------------------------
    def _listen(self) -> None:
        if not self._picked and not self._floored:
            for modifier in (None, "shift", "cmd/ctrl"):
                self.api.on_click(modifier=modifier)(self._clicked)  # type: ignore[arg-type]  # viser awaits coroutines

    async def _clicked(self, event: Any) -> None:
        shapes = [shape for part in list(self._nodes.parts.values()) if (shape := part.shape())]
        target = first_hit(shapes, event.ray_origin, event.ray_direction)
        if target is not None:
            for picked in self._picked:
                await _finished(picked(target, event))
            return
        point = floor_point(event.ray_origin, event.ray_direction)
        if point is not None and self._frame is not None:
            for floored in self._floored:
                await _finished(floored(*point, event))

    def _bind(self, name: str, part: Part) -> None:
        async def dragged(event: Any) -> None:
            await self._drag(name, event)

        if part.whose is not None and part.whose.grip and part.whose.kind in self._grips:
            part.handle.on_drag("left")(dragged)

    def _target(self, name: str, instance: int | None) -> Target | None:
        """Whom an instance belongs to; None if it has gone in the meantime."""
        part = self._nodes.parts.get(name)
        if part is None or part.whose is None or not 0 <= (instance or 0) < len(part.whose.numbers):
            return None
        return part.whose.kind, int(part.whose.numbers[instance or 0])

    async def _drag(self, name: str, event: Any) -> None:
        target, frame, key = self._target(name, event.instance_index), self._frame, (event.client_id, name)
        if target is None or frame is None:
            self._holds.pop(key, None)
            return
        if event.phase == "start" or key not in self._holds:
            self._holds[key] = Hold(event.start_position, anchor(frame, target))
        x, y = self._holds[key].follow(event.client.camera.position, event.end_position, self._region)
        if event.phase == "end":
            del self._holds[key]
        for callback in self._dragged:
            await _finished(callback(target, event.phase, x, y, event))

    # -- what stands still ----------------------------------------------------------------------------------------------
    def _forget(self) -> None:
        self._frame = None
        self._region = Region(-1.0, -1.0, 1.0, 1.0)
        self._alive: bytes | None = None
        self._trails, self._rolling = Trails(), Rolling()
        self._holds: dict[tuple[int, str], Hold] = {}

    @property
    def _palette(self) -> Palette:
        return DARK if self._dark else LIGHT

    def _background(self) -> None:
        """Soft, and no light but ours."""
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
        """All nodes that this world needs; those that an earlier one needed go."""
        world, fixed = frame.world, flatten(frame.world)
        self._region, self._alive = floor_of(world, ground.seen(world, fixed)), None
        self._radius, self._height = overlays.each(world, "radius"), overlays.each(world, "height", 0.1)
        self._safety, self._colours = self._radius + overlays.each(world, "clearance"), overlays.colours(world)
        self._lights()
        self._floor(world)
        self._solids(world, scattered(world, fixed.shapes))
        burning = [index for index, thing in enumerate(world.things) if isinstance(thing, Lamp) and burns(thing)]
        for index, thing in enumerate(world.things):
            if isinstance(thing, Polygon):
                self._polygon(index, thing)
            elif isinstance(thing, Zone):
                self._zone(index, thing)
            elif isinstance(thing, Lamp):
                self._lamp(index, thing, index in burning[:MOST_LIGHTS])
            elif isinstance(thing, Field):
                self._pitch(index, thing, world)
            elif isinstance(thing, Terrain):
                self._nodes.painted(f"terrain/{index}", thing, ground.hills(thing), (thing.x, thing.y, 0.0), index, ground=True)
            elif isinstance(thing, Hole):
                size = thing.width, thing.depth, thing.deep
                self._nodes.painted(f"hole/{index}", (size, self._dark), ground.pit(thing, self._palette.floor),
                                    (thing.x, thing.y, 0.0), index, ground=True)
            elif isinstance(thing, Trigger):
                self._trigger(index, thing)
        self._movables_solids(world)
        self._robots(frame)
        self._movables(world)
        self._nodes.sweep()

    def _floor(self, world: World) -> None:
        """A sheet, and lines on it every 10 cm (1 m in a large world) where the arena is; a field has its own."""
        colours, region, arena = self._palette, self._region, world.arena
        size = (region.x1 - region.x0, region.y1 - region.y0)
        deep = max(0.0005, 8e-6 * max(size) ** 2)  # the lines lie above it by what a depth buffer can tell from that far
        middle = (0.5 * (region.x0 + region.x1), 0.5 * (region.y0 + region.y1), -deep)
        pits, lined = ground.holes(world), (arena.width, arena.depth) if arena else size
        if pits:
            self._nodes.body("floor", (region, pits), ground.floor(world, region), colours.floor, (0.0, 0.0, -deep), flat=True)
        else:
            self._nodes.body("floor", size, bodies.plate(bodies.rectangle(*size)), colours.floor, middle, flat=True)
        if (world.pitch and not arena) or any(isinstance(thing, Terrain) for thing in world.things):
            return
        step = 0.1 if max(size) < 8.0 else 1.0
        if pits:
            inside = extent(world, flatten(world)) if arena else region
            points = ground.lines(world, inside, step)
            self._nodes.keep("lines", (points.tobytes(), self._dark), lambda path: self.api.add_line_segments(
                path, points, as_light(np.broadcast_to(rgb(colours.cells), points.shape)), thickness=0.0025))
            return
        self._nodes.keep("grid", (lined, self._dark), lambda path: self.api.add_grid(
            path, *lined, cell_size=step, section_size=10.0 * step, cell_color=rgb(colours.cells), cell_thickness=0.8,
            section_color=rgb(colours.metres), section_thickness=1.0, shadow_opacity=0.0, fade_distance=1e4,
        )).position = (arena.x, arena.y, 0.0) if arena else (*middle[:2], 0.0)

    def _solids(self, world: World, fields: dict[int, Any]) -> None:
        """Walls and obstacles. One that is switched off lies flat, so that it can be found and switched on again."""
        colours = self._palette
        rim, glass, walls, boxes, rounds, field, ramps, steps = (Batch() for _ in range(8))
        for index, thing in enumerate(world.things):
            on = getattr(thing, "on", True)
            height = thing.height if on and hasattr(thing, "height") else FLAT
            wall, box, drum = (colours.wall, colours.box, colours.round) if on else (colours.off,) * 3
            if isinstance(thing, Arena) and thing.walls:
                low = height if height <= GLASS else KERB
                for x, y, heading, long in sides(thing):
                    rim.add(index, (x, y, 0.0), heading, (long, THICK, low), wall)
                    if low < height:
                        glass.add(index, (x, y, low), heading, (long, 0.5 * THICK, height - low), wall)
                        rim.add(index, (x, y, height), heading, (long, 0.5 * THICK, 0.004), wall)
            elif isinstance(thing, Wall):
                for (x0, y0), (x1, y1) in pairwise(np.reshape(thing.points, (-1, 2)).tolist()):
                    walls.add(index, (0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0), atan2(y1 - y0, x1 - x0),
                              (hypot(x1 - x0, y1 - y0) + THICK, THICK, height), wall)
            elif isinstance(thing, Rectangle):
                boxes.add(index, (thing.x, thing.y, 0.0), thing.heading, (thing.width, thing.depth, height), box)
            elif isinstance(thing, Cylinder):
                rounds.add(index, (thing.x, thing.y, 0.0), 0.0, (thing.radius, thing.radius, height), drum)
            elif isinstance(thing, Ramp | Platform):
                raised = ramps if isinstance(thing, Ramp) else steps
                size = thing.width, thing.depth, thing.height
                raised.add(index, (thing.x, thing.y, 0.0), thing.heading, size, thing.colour)
            elif isinstance(thing, Cylinders):
                for x, y in fields.get(index, ()):
                    field.add(index, (x, y, 0.0), 0.0, (thing.radius, thing.radius, height), drum)
        self._nodes.instances("arena", BOX, rim, grip=False, shadow=False)
        self._nodes.instances("glass", BOX, glass, grip=False, pick=False, opacity=0.16, shadow=False)
        self._nodes.instances("walls", BOX, walls)
        self._nodes.instances("boxes", BOX, boxes)
        self._nodes.instances("rounds", ROUND, rounds)
        self._nodes.instances("ramps", ground.WEDGE, ramps, shadow=False, ground=True)
        self._nodes.instances("platforms", BOX, steps, shadow=False, ground=True)
        self._nodes.instances("field", ROUND, field, grip=False)  # scattered by their seed: no place of their own to drag

    def _polygon(self, index: int, thing: Polygon) -> None:
        on = getattr(thing, "on", True)
        x, y = anchor_of(thing)
        outline, height = np.reshape(thing.points, (-1, 2)) - (x, y), thing.height if on else FLAT
        self._nodes.body(f"polygon/{index}", (outline.round(9).tobytes(), height), prism_of(outline.round(9).tobytes(), height),
                         self._palette.box if on else self._palette.off, (x, y, 0.0), thing=index)

    def _zone(self, index: int, thing: Zone) -> None:
        """Painted on the floor: later ones over earlier ones."""
        outline = bodies.circle(thing.radius, 64) if thing.radius > 0.0 else bodies.rectangle(thing.width, thing.depth)
        self._nodes.body(f"zone/{index}", outline.tobytes(), bodies.plate(outline), thing.colour,
                         (thing.x, thing.y, 0.001 + 0.0001 * (index % 30)), thing.heading, index,
                         opacity=0.75 if getattr(thing, "on", True) else 0.12, flat=True)

    def _trigger(self, index: int, thing: Trigger) -> None:
        """A pale zone that one sees through and clicks through, with an edge around its foot."""
        on, (a, b) = thing.on, (thing.width / 2, thing.depth / 2)
        size, place, thin = (thing.width, thing.depth, thing.height), (thing.x, thing.y, thing.z), 0.006
        colour = NOTICES if on else self._palette.off
        self._nodes.body(f"trigger/{index}/zone", size, bodies.box(-a, a, -b, b, 0.0, thing.height), colour, place,
                         opacity=0.13 if on else 0.05, grip=False, shadow=False)
        edges = [bodies.box(*edge, 0.0, thin) for edge in ((-a, a, -b, thin - b), (-a, a, b - thin, b), (-a, thin - a, -b, b),
                                                           (a - thin, a, -b, b))]
        self._nodes.body(f"trigger/{index}/edge", size, bodies.together(*edges), colour, place, thing=index, shadow=False)

    def _movables_solids(self, world: World) -> None:
        """A batch for all solids that look alike, also those that stand still."""
        self._shapes: dict[bodies.Mesh, list[int]] = {}
        for index, thing in enumerate(world.things):
            if isinstance(thing, Solid):
                self._shapes.setdefault(ground.solid(thing.shape, thing.size, thing.colour), []).append(index)
        for at, (mesh, numbers) in enumerate(self._shapes.items()):
            self._nodes.keep(f"solids/{at}", (mesh, len(numbers)), partial(self._bodies, mesh, len(numbers)),
                             Whose("thing", numbers, mesh))

    def _pitch(self, index: int, field: Field, world: World) -> None:
        """A field: a dark floor with lines, a board around, and goals in the colours of the robots that defend them."""
        board = pitch.board(field, THICK)
        self._nodes.body("pitch/floor", field, pitch.floor(field), field.colour, (0.0, 0.0, 0.0005), flat=True)
        own = {group.name: getattr(group.robot, "colour", field.colour) for group in world.groups}
        for name, side in zip(field.GROUPS, (-1.0, 1.0), strict=True):
            if name in own:
                self._nodes.body(f"pitch/{name}", field, pitch.goal(field, side), own[name], (0.0, 0.0, 0.001), opacity=0.35,
                                 flat=True)
        self._nodes.body("pitch/lines", field, pitch.paint(field), field.line_colour, (0.0, 0.0, 0.0015), flat=True)
        self._nodes.body("pitch/board", field, board, self._palette.board, (0.0, 0.0, 0.0), thing=index, grip=False)

    def _lamp(self, index: int, lamp: Lamp, throws: bool) -> None:
        """A post with a bulb; if it burns, a glow around it, and light on what is near."""
        name, place, lit = f"lamp/{index}", (lamp.x, lamp.y, lamp.z), burns(lamp)
        colour = glow_of(lamp.colour) if lit else "#777b80"
        self._nodes.painted(f"{name}/post", lamp.z, bodies.post(lamp.z), (lamp.x, lamp.y, 0.0), index)
        self._nodes.painted(f"{name}/bulb", colour, bodies.bulb(colour), place, index, glow=lit)
        for size, opacity in ((1.35, 0.25), (1.8, 0.14), (2.4, 0.08), (3.2, 0.04)) if lit else ():
            self._nodes.painted(f"{name}/glow{size}", colour, bodies.bulb(colour, size), place, glow=True, opacity=opacity)
        if throws:
            strength = min(4.0, max(0.1, 4.0 * lamp.intensity))
            self._nodes.keep(f"{name}/light", (lamp.colour, strength), lambda path: self.api.add_light_point(
                path, color=rgb(lamp.colour), intensity=strength, distance=4.0, decay=1.6)).position = place

    def _robots(self, frame: Frame) -> None:
        """Two batches for each group: bodies, and what of them is painted; a third if each robot has a colour of its own.

        In space, a batch for each part that moves instead of the bodies.
        """
        world = frame.world
        for at, (group, robots) in enumerate(zip(world.groups, world.slices)):
            looks, count, numbers = bodies.look(group.robot), group.count, np.arange(robots.start, robots.stop)
            for name, mesh in meshes(frame, looks).items():
                self._nodes.keep(f"robots/{at}/{name}", (looks, count), partial(self._bodies, mesh, count),
                                 Whose("robot", numbers, mesh))
            self._nodes.keep(f"robots/{at}/paint", (looks, count), partial(self._paints, looks.paint, count),
                             Whose("robot", numbers, looks.paint))
            if looks.spot is not None:
                colours = [rgb(bodies.SPOTS[number % len(bodies.SPOTS)]) for number in range(count)]
                self._nodes.keep(f"robots/{at}/spot", (looks, count), partial(self._paints, looks.spot, count),
                                 Whose("robot", numbers, looks.spot)).batched_colors = as_light(np.array(colours))

    def _movables(self, world: World) -> None:
        """A batch for all things that can be pushed and look alike."""
        self._alike: dict[Any, list[int]] = {}
        for number, thing in enumerate(world.movables):
            size = (thing.radius,) if hasattr(thing, "radius") else tuple(np.ravel(thing.outline).tolist())
            looks = bodies.movables(of(thing).tag, size, overlays.tall(thing), thing.colour)
            self._alike.setdefault(looks, []).append(number)
        index = [index for index, thing in enumerate(world.things) if thing in world.movables]
        for at, (looks, numbers) in enumerate(self._alike.items()):
            self._nodes.keep(f"loose/{at}", (looks, len(numbers)), partial(self._bodies, looks, len(numbers)),
                             Whose("thing", [index[number] for number in numbers], looks))

    def _bodies(self, mesh: bodies.Mesh, count: int, path: str) -> Any:
        return self.api.add_batched_glb(path, bodies.glb(mesh), np.tile(IDENTITY, (count, 1)), np.zeros((count, 3)),
                                        lod="off", receive_shadow=False)

    def _paints(self, mesh: bodies.Mesh, count: int, path: str) -> Any:
        return self.api.add_batched_meshes_simple(
            path, mesh.vertices, mesh.faces, np.tile(IDENTITY, (count, 1)), np.zeros((count, 3)),
            batched_colors=np.zeros((count, 3), np.uint8), lod="off", receive_shadow=False)

    # -- what moves -------------------------------------------------------------------------------------------------------
    def _move(self, frame: Frame) -> None:
        alive = np.asarray(frame.alive, bool)
        repaint, self._alive = alive.tobytes() != self._alive, alive.tobytes()
        for at, (group, robots) in enumerate(zip(frame.world.groups, frame.world.slices)):
            looks = bodies.look(group.robot)
            for name in (*meshes(frame, looks), "paint", "spot"):
                part = name.removeprefix("part/") if name.startswith("part/") else CHASSIS if name == "body" else looks.bearer
                if (node := self._nodes.parts.get(f"robots/{at}/{name}")) is not None:
                    pose = posture(frame, looks, robots, part).astype(np.float32)
                    node.handle.batched_positions, node.handle.batched_wxyzs = pose[:, :3], pose[:, 3:]
            if repaint:
                self._nodes.parts[f"robots/{at}/paint"].handle.batched_colors = as_light(
                    np.where(alive[robots, None], self._colours[robots], rgb(DEAD)))
        turn = self._rolling.turn(frame) if frame.bodies is None else frame.movables_turn
        place, turn = frame.movables.astype(np.float32), turn.astype(np.float32)
        for at, numbers in enumerate(self._alike.values()):
            node = self._nodes.parts[f"loose/{at}"]
            node.handle.batched_positions, node.handle.batched_wxyzs = place[numbers], turn[numbers]

        for at, numbers in enumerate(self._shapes.values()):
            pose = np.array([solid_pose(frame, number) for number in numbers], np.float32)
            node = self._nodes.parts[f"solids/{at}"]
            node.handle.batched_positions, node.handle.batched_wxyzs = pose[:, :3], pose[:, 3:]

    def _mark(self, frame: Frame) -> None:
        """Lights that are on, robots that crashed, the one that is selected."""
        self._nodes.dots("over/lights", *overlays.lights(frame))
        hits_are_play = frame.world.contact.model == "impulse"
        crashed = np.flatnonzero(np.zeros(0) if hits_are_play else frame.crashed)
        tilt = tilts(frame)
        foot = feet(frame)
        self._nodes.rings("over/crashed", 1.04, 1.2, foot[crashed], tilt[crashed], self._radius[crashed], CRASHED)
        chosen = slice(frame.selected, frame.selected + 1) if frame.selected >= 0 else slice(0)
        around = np.maximum(1.5 * self._radius[chosen], 1.05 * self._safety[chosen])  # clear of gripper and collision circle
        self._nodes.rings("over/selected", 1.0, 1.12, foot[chosen], tilt[chosen], around, SELECTED)

    def _overlay(self, frame: Frame) -> None:
        on, nodes = self.overlays, self._nodes
        nodes.lines("over/beams", *(overlays.beams(frame.rays) if "beams" in on else overlays.NONE), 0.003)
        nodes.lines("over/links", *(overlays.links(frame, self._height) if "links" in on else overlays.NONE), 0.005)
        nodes.arrows("over/shifts", overlays.shifts(frame, self._height) if "shifts" in on else overlays.NONE.points, SHIFTED)
        nodes.arrows("over/contacts", overlays.contacts(frame) if "contacts" in on else overlays.NONE.points, PUSHED, 0.7)
        around = slice(None) if "circles" in on else slice(0)
        nodes.rings("over/circles", 0.96, 1.0, feet(frame)[around], tilts(frame)[around], self._safety[around], CLEARANCE)
        self._pulls(frame, "forces" in on)
        names = overlays.names(frame) if "names" in on else {}
        nodes.only("over/name/", {f"over/name/{number}" for number in names})
        for number, text in names.items():
            nodes.label(f"over/name/{number}", text, frame.place[number] + (0.0, 0.0, self._height[number] + 0.03))
        self._trail(frame, "trails" in on)

    def _pulls(self, frame: Frame, shown: bool) -> None:
        """Forces as arrows, the strongest with its value; grips as short thick links."""
        nodes, most = self._nodes, overlays.strongest(frame) if shown else None
        nodes.arrows("over/forces", overlays.forces(frame) if shown else overlays.NONE.points, PULLED)
        nodes.lines("over/grips", *(overlays.grips(frame, self._height, self._radius) if shown else overlays.NONE), 0.012)
        nodes.only("over/newton", {"over/newton"} if most else set())
        if most:
            nodes.label("over/newton", *most)

    def _trail(self, frame: Frame, shown: bool) -> None:
        """It is kept also while nobody looks, so that it is there when somebody does. Older pieces are thinner."""
        trails, nodes, new = self._trails, self._nodes, self._trails.add(frame)
        pieces = trails.numbers if shown else range(0)
        nodes.only("over/trail/", {f"over/trail/{piece}" for piece in pieces})
        for piece in pieces:
            name, age = f"over/trail/{piece}", pieces[-1] - piece
            if name not in nodes.parts or (new and age < 2):  # the last but one gets its last place
                points = trails.segments(piece)
                own = overlays.pale(np.concatenate([self._colours, overlays.movables_colours(frame.world)]))
                colours = np.tile(own, (len(points) // max(1, len(own)), 1))
                nodes.lines(name, points, np.repeat(colours[:, None], 2, axis=1), TRAIL)
            if name in nodes.parts:
                nodes.parts[name].handle.thickness = TRAIL * (1.0 - 0.8 * age / trails.PIECES)


class Hold:
    """Somebody's grip on something: from the grip to the anchor it is always the same way."""

    def __init__(self, grip: Any, anchor: tuple[float, float]) -> None:
        self.offset, self.height, self.at = (anchor[0] - grip[0], anchor[1] - grip[1]), float(grip[2]), anchor

    def follow(self, eye: Any, pointer: Any, region: Region) -> tuple[float, float]:
        """Where the anchor belongs if the pointer is seen there from the camera; never off the floor.

        eye, pointer: (3,) m. A pointer in the sky moves nothing.
        """
        ray = [float(there) - float(here) for there, here in zip(pointer, eye, strict=True)]
        point = floor_point([float(v) for v in eye], ray, self.height)
        if point is not None:
            x, y = point[0] + self.offset[0], point[1] + self.offset[1]
            self.at = min(max(x, region.x0), region.x1), min(max(y, region.y0), region.y1)
        return self.at


# -- what a scene needs to know of a world ----------------------------------------------------------------------------
def meshes(frame: Frame, looks: bodies.Look) -> dict[str, bodies.Mesh]:
    """Name of a node -> mesh: one body as a whole, or in space each part that moves by itself."""
    if frame.bodies is None or not looks.moving:
        return {"body": looks.body}
    return {f"part/{name}": mesh for name, mesh in looks.moving.items()}


def tilts(frame: Frame) -> Any:
    """(N, 4) how the ground under each robot leans, as far as a frame knows: as the robot does."""
    return frame.turn if frame.bodies is not None else np.tile(IDENTITY, (len(frame.place), 1))


def feet(frame: Frame) -> Any:
    """(N, 3) where rings around robots lie: in space a little above their feet, as the ground there may be uneven."""
    return frame.place if frame.bodies is None else frame.place + rotate(frame.turn, np.array((0.0, 0.0, HOVER)))


def solid_pose(frame: Frame, number: int) -> Any:
    """x y z and a quaternion of a <solid>: of its body, if that moves; else as the world file puts it."""
    rows, thing = thing_rows(frame.parts), frame.world.things[number]
    if frame.bodies is not None and number in rows:
        return frame.bodies[rows[number]]
    turn = ground.attitude(thing)
    if thing.z is not None:
        return thing.x, thing.y, thing.z, *turn
    under = max([0.0, *(covers(each, thing.x, thing.y) for each in frame.world.things if isinstance(each, Ramp | Platform))])
    mesh = ground.solid(thing.shape, thing.size, thing.colour)
    return thing.x, thing.y, under - float(rotate(turn, mesh.vertices)[:, 2].min()), *turn


def anchor(frame: Frame, target: Target) -> tuple[float, float]:
    """The point of a target that a drag moves: a robot's place, a thing's x and y, or the mean of its points."""
    kind, number = target
    if kind == "robot":
        return float(frame.place[number, 0]), float(frame.place[number, 1])
    thing = frame.world.things[number]
    if thing in frame.world.movables:
        x, y, _ = frame.movables[frame.world.movables.index(thing)]
        return float(x), float(y)
    return anchor_of(thing)


def anchor_of(thing: Any) -> tuple[float, float]:
    """The same for a thing that stands still; one without a place (scattered obstacles) has it at the origin."""
    if hasattr(thing, "points"):
        x, y = np.reshape(thing.points, (-1, 2)).mean(axis=0)
        return float(x), float(y)
    return float(getattr(thing, "x", 0.0)), float(getattr(thing, "y", 0.0))


@lru_cache(maxsize=256)
def prism_of(outline: bytes, height: float) -> bodies.Mesh:
    """Cutting an outline into triangles takes a while, and a drag asks for the same one again and again."""
    return bodies.prism(np.frombuffer(outline).reshape(-1, 2), 0.0, height)


def burns(lamp: Lamp) -> bool:
    """Whether it gives light."""
    return lamp.on and lamp.intensity > 0.0


def glow_of(colour: str) -> str:
    """The colour of a burning bulb: a whitish one is drawn yellow, or it could not be told from the background."""
    white = max(0.0, 1.0 - (max(rgb(colour)) - min(rgb(colour))) / 96.0)
    mixed = ((1.0 - white) * own + white * yellow for own, yellow in zip(rgb(colour), rgb("#ffcc33"), strict=True))
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


def sides(arena: Arena) -> list[tuple[float, float, float, float]]:
    """x, y, heading and length of the four walls; their inner faces are the lines that robots meet."""
    x, y = 0.5 * (arena.width + THICK), 0.5 * (arena.depth + THICK)
    return [(arena.x, arena.y + y, 0.0, arena.width + 2.0 * THICK), (arena.x, arena.y - y, 0.0, arena.width + 2.0 * THICK),
            (arena.x + x, arena.y, 0.5 * pi, arena.depth), (arena.x - x, arena.y, 0.5 * pi, arena.depth)]


def scattered(world: World, shapes: Any) -> dict[int, Any]:
    """For each <cylinders>, their middles: the last shapes of the flattened world are theirs, in order."""
    fields = {index: thing.count for index, thing in enumerate(world.things)
              if isinstance(thing, Cylinders) and getattr(thing, "on", True)}
    ends = len(shapes) - sum(fields.values()) + np.cumsum(list(fields.values()), dtype=int)
    return {index: shapes[end - count:end, :2].tolist() for (index, count), end in zip(fields.items(), ends)}


def floor_of(world: World, region: Region) -> Region:
    """What the floor covers: a little more than the arena or the field of soccer, or a wide plain around all that stands."""
    margin = 0.05 + 0.06 * max(region.x1 - region.x0, region.y1 - region.y0) if world.arena or world.pitch else 5.0
    return Region(region.x0 - margin, region.y0 - margin, region.x1 + margin, region.y1 + margin)


async def _finished(result: Any) -> None:
    if inspect.isawaitable(result):
        await result


__all__ = ["OVERLAYS", "Scene", "Target", "anchor"]
