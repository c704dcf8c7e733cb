"""What is drawn over the bodies of a scene: lights that are on, rings around robots, and the overlays that are switched on."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.geometry import IDENTITY, rotate
from formiga.view import overlays
from formiga.view.frame import Frame
from formiga.view.nodes import Nodes
from formiga.view.palette import CLEARANCE, CRASHED, PULLED, PUSHED, SELECTED, SHIFTED
from formiga.view.trails import Trails
from formiga.world.model import World

HOVER = 0.012                   # m, of rings above uneven ground
BESIDE = 0.05                   # m, at most, between the circle around a robot and the ring that says that it is selected
TRAIL = 0.007                   # m, thickness of the newest piece of a trail


class Marks:
    """Draws marks and overlays of a frame."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.forget()

    def forget(self) -> None:
        """Begin again: no trails."""
        self._trails = Trails()

    def build(self, world: World) -> None:
        """Sizes and colours that stay the same in all frames of a world."""
        robots = [group.robot for group in world.groups for _ in range(group.count)]
        self._radius, self._height = np.array([robot.radius for robot in robots], float), overlays.heights(world)
        self._safety = self._radius + np.array([robot.clearance for robot in robots], float)
        self._colours = overlays.colours(world)

    def mark(self, frame: Frame) -> None:
        """Lights that are on, robots that crashed, the one that is selected."""
        self.nodes.dots("over/lights", *overlays.lights(frame))
        contacts_are_normal = frame.world.contact.model == "impulse"
        crashed = np.flatnonzero(np.zeros(0) if contacts_are_normal else frame.crashed)
        tilt, foot = tilts(frame), feet(frame)
        self.nodes.rings("over/crashed", 1.04, 1.2, foot[crashed], tilt[crashed], self._radius[crashed], CRASHED)
        chosen = slice(frame.selected, frame.selected + 1) if frame.selected >= 0 else slice(0)
        around = np.minimum(1.5 * self._radius[chosen], self._radius[chosen] + BESIDE)        # clear of a gripper ...
        around = np.maximum(around, 1.05 * self._safety[chosen])                              # ... and of the collision circle
        self.nodes.rings("over/selected", 1.0, 1.12, foot[chosen], tilt[chosen], around, SELECTED)

    def overlay(self, frame: Frame, on: set[str]) -> None:
        """Those of `overlays.OVERLAYS` that are switched on; the others are hidden."""
        nodes, none = self.nodes, overlays.NONE
        nodes.lines("over/beams", *(overlays.beams(frame.rays) if "beams" in on else none), 0.003)
        nodes.lines("over/links", *(overlays.links(frame, self._height) if "links" in on else none), 0.005)
        nodes.arrows("over/shifts", overlays.shifts(frame, self._height) if "shifts" in on else none.points, SHIFTED)
        nodes.arrows("over/contacts", overlays.contacts(frame) if "contacts" in on else none.points, PUSHED, 0.7)
        around = slice(None) if "circles" in on else slice(0)
        nodes.rings("over/circles", 0.96, 1.0, feet(frame)[around], tilts(frame)[around], self._safety[around], CLEARANCE)
        self._forces(frame, "forces" in on)
        names = overlays.names(frame) if "names" in on else {}
        nodes.only("over/name/", {f"over/name/{number}" for number in names})
        for number, text in names.items():
            nodes.label(f"over/name/{number}", text, frame.place[number] + (0.0, 0.0, self._height[number] + 0.03))
        self._trail(frame, "trails" in on)

    def _forces(self, frame: Frame, shown: bool) -> None:
        """Forces as arrows, the strongest with its value; grips as short thick links."""
        nodes, most = self.nodes, overlays.strongest(frame) if shown else None
        nodes.arrows("over/forces", overlays.forces(frame) if shown else overlays.NONE.points, PULLED)
        nodes.lines("over/grips", *(overlays.grips(frame, self._height, self._radius) if shown else overlays.NONE), 0.012)
        nodes.only("over/newton", {"over/newton"} if most else set())
        if most:
            nodes.label("over/newton", *most)

    def _trail(self, frame: Frame, shown: bool) -> None:
        """Trails are kept also while they are hidden, so that they are there when switched on. Older pieces are thinner."""
        trails, nodes, new = self._trails, self.nodes, self._trails.add(frame)
        pieces = trails.numbers if shown else range(0)
        nodes.only("over/trail/", {f"over/trail/{piece}" for piece in pieces})
        for piece in pieces:
            name, age = f"over/trail/{piece}", pieces[-1] - piece
            if name not in nodes.named or (new and age < 2):  # the last but one gets its last place
                points = trails.segments(piece)
                own = overlays.pale(np.concatenate([self._colours, overlays.movables_colours(frame.world)]))
                colours = np.tile(own, (len(points) // max(1, len(own)), 1))
                nodes.lines(name, points, np.repeat(colours[:, None], 2, axis=1), TRAIL)
            if name in nodes.named:
                nodes.named[name].handle.thickness = TRAIL * (1.0 - 0.8 * age / trails.PIECES)


def tilts(frame: Frame) -> Any:
    """(N, 4) the tilt of the ground under each robot. A frame has no ground: that of the robot is taken."""
    return frame.turn if frame.bodies is not None else np.tile(IDENTITY, (len(frame.place), 1))


def feet(frame: Frame) -> Any:
    """(N, 3) where rings around robots lie: in space a little above their feet, as the ground there may be uneven."""
    return frame.place if frame.bodies is None else frame.place + rotate(frame.turn, np.array((0.0, 0.0, HOVER)))


__all__ = ["Marks"]
