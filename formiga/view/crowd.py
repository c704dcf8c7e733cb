"""What moves, as nodes of a scene: robots, things that can be pushed, solids.

All bodies that are alike are one batch of instances, so a frame with a thousand robots is a handful of arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formiga.engine.ground import covers
from formiga.geometry import PLACE, TURN, rotate
from formiga.state import Floats
from formiga.view import ground, overlays
from formiga.view.bodies import movable
from formiga.view.frame import Frame, thing_rows
from formiga.view.mesh import Mesh, rgb
from formiga.view.nodes import Nodes, Owner, as_light
from formiga.view.palette import DEAD
from formiga.view.posture import posture
from formiga.view.robots import SPOTS, RobotMeshes, robot_meshes
from formiga.view.rolling import Rolling
from formiga.view.skins import looks_of, shape_of
from formiga.world.ground import Platform, Ramp
from formiga.world.looks import CHASSIS
from formiga.world.model import World
from formiga.world.solids import Solid

IN_PARTS = {"body": "part", "paint": "painted", "spot": "spotted"}  # other names: viser removes a node with all below it
Piece = tuple[str, str, str, Mesh]  # name of a node, part that it moves with, layer ('body', 'paint' or 'spot'), mesh


class Crowd:
    """Draws all robots, movable things and solids of a frame."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.forget()

    def forget(self) -> None:
        """Begin again: nothing has been drawn."""
        self._alive: bytes | None = None
        self._rolling = Rolling()
        self._movables: dict[Mesh, list[int]] = {}   # mesh -> numbers in world.movables
        self._solids: dict[Mesh, list[int]] = {}     # mesh -> numbers in world.things

    def build(self, frame: Frame) -> None:
        """All nodes that this frame's world needs."""
        self._alive, self._colours = None, overlays.colours(frame.world)
        self._build_robots(frame)
        self._build_movables(frame.world)
        self._build_solids(frame.world)

    def move(self, frame: Frame) -> None:
        """Put everything where this frame has it."""
        alive = np.asarray(frame.alive, bool)
        repaint, self._alive = alive.tobytes() != self._alive, alive.tobytes()
        for at, (group, robots) in enumerate(zip(frame.world.groups, frame.world.slices)):
            meshes, poses = robot_meshes(group.robot), dict[str, Floats]()
            for name, part, layer, _ in pieces(frame, meshes):
                pose = poses[part] = poses[part] if part in poses else posture(frame, meshes, robots, part)
                self.nodes.move(f"robots/{at}/{name}", pose[:, PLACE], pose[:, TURN])
                if repaint and layer == "paint":
                    self.nodes.named[f"robots/{at}/{name}"].handle.batched_colors = as_light(
                        np.where(alive[robots, None], self._colours[robots], rgb(DEAD)))
        turn = self._rolling.turn(frame) if frame.bodies is None else frame.movables_turn
        for at, numbers in enumerate(self._movables.values()):
            self.nodes.move(f"movables/{at}", frame.movables[numbers], turn[numbers])
        for at, numbers in enumerate(self._solids.values()):
            pose = np.array([solid_pose(frame, number) for number in numbers])
            self.nodes.move(f"solids/{at}", pose[:, PLACE], pose[:, TURN])

    def _build_robots(self, frame: Frame) -> None:
        """A batch for each piece of each group."""
        for at, (group, robots) in enumerate(zip(frame.world.groups, frame.world.slices)):
            meshes, numbers = robot_meshes(group.robot), np.arange(robots.start, robots.stop)
            for name, _, layer, mesh in pieces(frame, meshes):
                make = self.nodes.alike if layer == "body" else self.nodes.paintable
                handle = make(f"robots/{at}/{name}", meshes, Owner("robot", numbers, mesh))
                if layer == "spot":
                    colours = [rgb(SPOTS[number % len(SPOTS)]) for number in range(group.count)]
                    handle.batched_colors = as_light(np.array(colours))

    def _build_movables(self, world: World) -> None:
        self._movables = {}
        for number, thing in enumerate(world.movables):
            self._movables.setdefault(movable(thing), []).append(number)
        index = [index for index, thing in enumerate(world.things) if thing in world.movables]
        for at, (mesh, numbers) in enumerate(self._movables.items()):
            self.nodes.alike(f"movables/{at}", mesh, Owner("thing", [index[number] for number in numbers], mesh))

    def _build_solids(self, world: World) -> None:
        """Also those that stand still."""
        self._solids = {}
        for index, thing in enumerate(world.things):
            if isinstance(thing, Solid):
                for mesh in looks_of(world, thing):
                    self._solids.setdefault(mesh, []).append(index)
        for at, (mesh, numbers) in enumerate(self._solids.items()):
            self.nodes.alike(f"solids/{at}", mesh, Owner("thing", numbers, mesh))


def pieces(frame: Frame, meshes: RobotMeshes) -> Iterator[Piece]:
    """What is drawn of a robot: the whole, or in space each part that moves by itself; each in up to three layers."""
    if frame.bodies is None or not meshes.parts:
        yield from ((layer, CHASSIS, layer, mesh) for layer, mesh in zip(meshes.flat._fields, meshes.flat) if mesh is not None)
        return
    for part, layers in meshes.parts.items():
        for layer, mesh in zip(layers._fields, layers):
            if mesh is not None:
                yield f"{IN_PARTS[layer]}/{part}", part, layer, mesh


def solid_pose(frame: Frame, number: int) -> Any:
    """x y z and a quaternion of a <solid>: of its body, if that moves; else as the world file puts it."""
    rows, thing = thing_rows(frame.parts), frame.world.things[number]
    if frame.bodies is not None and number in rows:
        return frame.bodies[rows[number]]
    turn = ground.attitude(thing)
    if thing.z is not None:
        return thing.x, thing.y, thing.z, *turn
    under = max([0.0, *(covers(each, thing.x, thing.y) for each in frame.world.things if isinstance(each, Ramp | Platform))])
    mesh = shape_of(thing)
    return thing.x, thing.y, under - float(rotate(turn, mesh.vertices)[:, 2].min()), *turn


__all__ = ["Crowd", "pieces", "solid_pose"]
