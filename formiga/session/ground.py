"""Where there is room in a world: what is in the way of a robot, and a place where nothing is."""

from __future__ import annotations

import time
from math import pi

import numpy as np

from formiga.engine.fixed import Near, gap_to_fixed, inside_solid, near_table
from formiga.engine.flatten import extent, flatten
from formiga.engine.ground import with_obstacles
from formiga.errors import FormigaError
from formiga.session.names import robot_name
from formiga.state import Floats
from formiga.view.bodies import around
from formiga.world.model import World

PATIENCE = 3.0          # s on the clock to look for places
TRIES = 2000            # places to draw before there is no room
WALL = "a wall or an obstacle"


class Ground:
    """What stands still in a world, for questions about places. Robots (N, 2) are where the caller says.

    movables (M, 2): where they are; at the start, until the session writes others.
    """

    def __init__(self, world: World) -> None:
        self.world, self.fixed = world, flatten(world)
        self.region = extent(world, self.fixed)
        self.radius = np.concatenate([np.empty(0), *(np.full(group.count, group.robot.radius) for group in world.groups)])
        self.movables: Floats = np.array([(thing.x, thing.y) for thing in world.movables]).reshape(-1, 2)
        self.size = np.array([around(thing) for thing in world.movables])
        board = np.array(world.pitch.board if world.pitch else []).reshape(-1, 2)
        self._board = np.column_stack([board, np.roll(board, -1, axis=0), np.zeros(len(board))])
        self._near: dict[float, Near] = {}
        self._rough = flatten(with_obstacles(World(), world))  # solids and uneven ground: places there are not drawn at random

    def blocked(self, x: float, y: float, radius: float) -> bool:
        """Whether a disc would stand in a wall or an obstacle, or behind the board of a field."""
        if radius not in self._near:
            self._near[radius] = near_table(self.fixed, radius)
        gap = gap_to_fixed(x, y, self.fixed.shapes, self._near[radius])
        behind = len(self._board) > 0 and not inside_solid(x, y, self._board)
        return bool(gap < radius or behind or inside_solid(x, y, self.fixed.outlines))

    def in_the_way(self, position: Floats, x: float, y: float, radius: float, but: int = -1, thing: int = -1) -> str:
        """What stands where a disc would be put: 'a wall or an obstacle', 'swarm.3', 'ball', or '' for nothing.

        but, thing: the robot or the movable that is to be put there, and does not count.
        """
        if self.blocked(x, y, radius):
            return WALL
        touching = np.hypot(position[:, 0] - x, position[:, 1] - y) < radius + self.radius
        pushing = np.hypot(self.movables[:, 0] - x, self.movables[:, 1] - y) < radius + self.size
        if but >= 0:
            touching[but] = False
        if thing >= 0:
            pushing[thing] = False
        if touching.any():
            return robot_name(self.world, int(touching.argmax()))
        return str(self.world.movables[int(pushing.argmax())].name) if pushing.any() else ""

    def free_places(self, position: Floats, radius: float, clearance: float, count: int,
                    draws: np.random.Generator) -> Floats:
        """Places (count, 2) in the arena where so many more discs fit, drawn one after another."""
        found, needs = np.empty((count, 2)), radius + clearance
        region, end = self.region, time.monotonic() + PATIENCE
        if count * pi * radius**2 > (region.x1 - region.x0) * (region.y1 - region.y0):
            raise FormigaError(f"there is no room for {count} more of radius {radius:g} m.")
        for number in range(count):
            if time.monotonic() > end:
                raise FormigaError(f"in {PATIENCE:g} s only {number} of {count} places of radius {radius:g} m were found.")
            for _ in range(TRIES):
                x, y = draws.uniform(self.region.x0, self.region.x1), draws.uniform(self.region.y0, self.region.y1)
                crowd = np.hypot(found[:number, 0] - x, found[:number, 1] - y) < needs + radius
                if not (crowd.any() or self.in_the_way(position, x, y, needs) or self._uneven(x, y, needs)):
                    found[number] = x, y
                    break
            else:
                raise FormigaError(f"there is no room for {count} more of radius {radius:g} m.")
        return found

    def _uneven(self, x: float, y: float, radius: float) -> bool:
        """Whether a disc would stand in a solid, or not on the level floor."""
        things = self._rough.shapes
        return bool(len(things) and (gap_to_fixed(x, y, things, near_table(self._rough, radius)) < radius
                                     or inside_solid(x, y, self._rough.outlines)))

    def buried(self, position: Floats) -> set[int]:
        """The robots whose bodies are in walls or obstacles, or outside of the arena; touching a wall is neither."""
        return {robot for robot, (x, y) in enumerate(position)
                if self.outside(x, y) or self.blocked(x, y, self.radius[robot] * (1.0 - 1e-9))}

    def refuse_outside(self, name: str, x: float, y: float) -> None:
        """An error that says how large the arena is, for a place beyond its wall."""
        if self.outside(x, y):
            arena = self.world.arena
            assert arena is not None
            wide, deep = arena.width / 2, arena.depth / 2
            raise FormigaError(f"{name} cannot be at ({x:g}, {y:g}): that is outside the arena, which goes from "
                               f"({arena.x - wide:g}, {arena.y - deep:g}) to ({arena.x + wide:g}, {arena.y + deep:g}).")

    def outside(self, x: float, y: float) -> bool:
        """Whether a place is beyond the wall of the arena."""
        arena = self.world.arena
        return arena is not None and arena.walls and (abs(x - arena.x) > arena.width / 2 or abs(y - arena.y) > arena.depth / 2)


__all__ = ["Ground"]
