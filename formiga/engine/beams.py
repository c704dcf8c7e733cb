"""Beams that are fixed to a robot, in its own frame: x ahead, y to the left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from formiga.state import Floats

SENSOR_HEIGHT = 0.6  # of beams around a robot, in its heights: it matters only where the ground or what stands on it is uneven


@dataclass(frozen=True)
class Beams:
    """Where each beam starts and points."""

    origin: Floats       # (B, 2) m
    direction: Floats    # (B, 2) unit vectors

    @cached_property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Origin x, y and direction x, y, each (B,) in one piece: the compiler makes vectors of these."""
        (ox, oy), (ux, uy) = np.ascontiguousarray(self.origin.T), np.ascontiguousarray(self.direction.T)
        return ox, oy, ux, uy

    @cached_property
    def padded(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The same with the last beam repeated up to a multiple of eight, so that whole vectors remain."""
        spare = -len(self.origin) % 8 if len(self.origin) else 0
        ox, oy, ux, uy = (np.pad(column, (0, spare), "edge") if spare else column for column in self.columns)
        return ox, oy, ux, uy

    @cached_property
    def furthest(self) -> float:
        """Distance of the outermost sensor from the robot's centre."""
        return float(np.sqrt((self.origin**2).sum(-1)).max(initial=0.0))


@lru_cache(maxsize=256)
def directions(angles: tuple[float, ...]) -> Floats:
    """Unit vectors (B, 2) at these angles from the heading."""
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    vectors.setflags(write=False)  # all callers share one array
    return vectors


def moved(beams: Beams, x: float, y: float, yaw: float) -> Beams:
    """The same beams from a place of their own in the robot's frame, all turned by `yaw` about it."""
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, s], [-s, c]])
    return Beams(beams.origin @ turn + (x, y), beams.direction @ turn)


def ring(angles: tuple[float, ...], mount: float) -> Beams:
    """Beams that point outward from a circle of radius `mount`."""
    direction = directions(angles)
    return Beams(mount * direction, direction)
