"""What spreads in all directions and through everything: sound and warmth fall with the square of the distance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from formiga.kernels import kernel
from formiga.state import Floats, State
from formiga.world.model import World


class Sources(NamedTuple):
    """Where it comes from, and how large and high all robots are."""

    still: Any       # (S, 4) x y z strength
    robot: Any       # (R,) int64, robots that are sources themselves, as high as they are
    strength: Any    # (R,)
    radius: Any      # (N,) m
    height: Any      # (N,) m


def sources(world: World, still: list[tuple[float, float, float, float]], moving: list[tuple[int, float]]) -> Sources:
    """The sources of a world: those that stand still, and pairs of a robot's number and its strength."""

    def each(name: str) -> Floats:
        own = [np.full(group.count, float(getattr(group.robot, name))) for group in world.groups]
        return np.concatenate([np.empty(0), *own])

    return Sources(np.array(still, np.float64).reshape(-1, 4), np.array([robot for robot, _ in moving], np.int64),
                   np.array([strength for _, strength in moving], np.float64), each("radius"), each("height"))


def received(state: State, robots: slice, given: Sources) -> Floats:
    """What arrives on top of each robot, (W, n, 1)."""
    out = np.empty((state.worlds, robots.stop - robots.start, 1))
    arrive(state.position, robots.start, robots.stop, given, out)
    return out


@kernel()
def arrive(position, first, last, sources, out):
    """Fill out (W, n, 1) for robots first..last.

        x = sum over sources of strength / max(distance, radius)^2        [Swarm-bot 3D simulator; radius: ours]
    The distance is taken in space, from the top of the robot's centre. A robot does not count for itself.
    """
    still, robot, strength, radius, height = sources.still, sources.robot, sources.strength, sources.radius, sources.height
    for w in range(position.shape[0]):
        for i in range(first, last):
            x, y, z, least = position[w, i, 0], position[w, i, 1], height[i], radius[i] * radius[i]
            total = 0.0
            for k in range(still.shape[0]):
                dx, dy, dz = still[k, 0] - x, still[k, 1] - y, still[k, 2] - z
                total += still[k, 3] / max(least, dx * dx + dy * dy + dz * dz)
            for k in range(robot.shape[0]):
                j = robot[k]
                if j != i:
                    dx, dy, dz = position[w, j, 0] - x, position[w, j, 1] - y, height[j] - z
                    total += strength[k] / max(least, dx * dx + dy * dy + dz * dz)
            out[w, i - first, 0] = total
