"""Clicks and drags in the browser: which robot or thing is meant, and where on the floor."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from formiga.engine.fixed import Region
from formiga.view.cameras import floor_point
from formiga.view.frame import Frame
from formiga.view.nodes import Node, Nodes
from formiga.view.picking import Target, first_hit
from formiga.world.maps import Map
from formiga.world.model import Cylinders, Field, Polygon, Wall

Picked = Callable[[Target, Any], Any]
Floored = Callable[[float, float, Any], Any]
Dragged = Callable[[Target, str, float, float, Any], Any]


class Pointer:
    """Finds the target of every click and drag on the nodes of a scene, and calls the callbacks.

    draggable: which kinds of targets can be dragged, of "robot" and "thing". A drag elsewhere turns the camera.
    """

    def __init__(self, api: viser.SceneApi) -> None:
        self.nodes = Nodes(api, self._bind)
        self.draggable = frozenset({"robot", "thing"})
        self.picked: list[Picked] = []
        self.floored: list[Floored] = []
        self.dragged: list[Dragged] = []
        self.forget()

    def forget(self) -> None:
        """There is no frame any more."""
        self.frame: Frame | None = None
        self.region = Region(-1.0, -1.0, 1.0, 1.0)  # of the floor: nothing is dragged off it
        self.holds: dict[tuple[int, str], Hold] = {}

    def listen(self) -> None:
        """Take clicks from the browser; for the first callback only."""
        if not self.picked and not self.floored:
            for modifier in (None, "shift", "cmd/ctrl"):
                self.nodes.api.on_click(modifier=modifier)(self.clicked)  # type: ignore[arg-type]  # viser awaits coroutines

    def bind_again(self) -> None:
        """After a change of `draggable`."""
        for name, node in self.nodes.named.items():
            if node.owner is not None and node.owner.draggable:
                node.handle.remove_drag_callback("all")
                self._bind(name, node)

    async def clicked(self, event: Any) -> None:
        """Call back with the robot or thing under a click, or with a point of the floor."""
        bodies = [instances for node in list(self.nodes.named.values()) if (instances := node.instances())]
        target = first_hit(bodies, event.ray_origin, event.ray_direction)
        if target is not None:
            for picked in self.picked:
                await _finished(picked(target, event))
            return
        point = floor_point(event.ray_origin, event.ray_direction)
        if point is not None and self.frame is not None:
            for floored in self.floored:
                await _finished(floored(*point, event))

    async def drag(self, name: str, event: Any) -> None:
        """Call back with where the target of a drag belongs now."""
        target, frame, key = self._target(name, event.instance_index), self.frame, (event.client_id, name)
        if target is None or frame is None:
            self.holds.pop(key, None)
            return
        if event.phase == "start" or key not in self.holds:
            self.holds[key] = Hold(event.start_position, anchor(frame, target))
        x, y = self.holds[key].follow(event.client.camera.position, event.end_position, self.region)
        if event.phase == "end":
            del self.holds[key]
        for callback in self.dragged:
            await _finished(callback(target, event.phase, x, y, event))

    def _bind(self, name: str, node: Node) -> None:
        async def dragged(event: Any) -> None:
            await self.drag(name, event)

        if node.owner is not None and node.owner.draggable and node.owner.kind in self.draggable:
            node.handle.on_drag("left")(dragged)

    def _target(self, name: str, instance: int | None) -> Target | None:
        """The robot or thing of an instance; None if it has gone in the meantime."""
        node = self.nodes.named.get(name)
        if node is None or node.owner is None or not 0 <= (instance or 0) < len(node.owner.numbers):
            return None
        return node.owner.kind, int(node.owner.numbers[instance or 0])


class Hold:
    """The grip of a pointer on a target: the offset from the grip to the target's anchor stays the same."""

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
    if isinstance(thing, Wall | Polygon):
        x, y = np.reshape(thing.points, (-1, 2)).mean(axis=0)
        return float(x), float(y)
    if isinstance(thing, Map):
        return thing.grid.centre
    return (0.0, 0.0) if isinstance(thing, Cylinders | Field) else (float(thing.x), float(thing.y))


async def _finished(result: Any) -> None:
    if inspect.isawaitable(result):
        await result


__all__ = ["Dragged", "Floored", "Hold", "Picked", "Pointer", "anchor", "anchor_of"]
