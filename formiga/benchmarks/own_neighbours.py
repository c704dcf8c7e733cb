"""A sensor of a user's own in three forms, as a file that `bench own` loads like any file given with --with.

Each reads range and bearing of the 50 nearest robots in sight, with noise: (worlds, robots, 50, 2).
"""

from dataclasses import dataclass

import numpy as np

import formiga
from formiga.noise import either, stream
from formiga.world.elements import flag, length, name

MOST, NOISE = 50, 0.02


@formiga.kernel
def read_world(w, near, seen, reach, keys, steps, first, channel, out):
    """Fill out (W, n, 50, 2) from lists of neighbours."""
    for i in range(out.shape[1]):
        start = stream(keys[w], first + i, steps[w], channel)
        for k in range(out.shape[2]):
            if k < near.count[w, i] and seen[w, i, k]:
                out[w, i, k, 0] = near.distance[w, i, k] + either(start, 2 * k, NOISE)
                out[w, i, k, 1] = near.bearing[w, i, k] + either(start, 2 * k + 1, NOISE)
            else:
                out[w, i, k, 0], out[w, i, k, 1] = reach, 0.0


@formiga.element("own-neighbours-kernel", role="sensor")
@dataclass(frozen=True)
class WithKernel:
    """The stages of formiga, and a kernel."""

    reach: float = length(4.4)
    sight: bool = flag(False)
    name: str = name("near")

    def stages(self, scene):
        """The readings, and the kernels that fill them."""
        near, look = scene.neighbour_stages(self.reach, MOST)
        seen, check = np.ones((*scene.shape, MOST), np.bool_), []
        if self.sight:
            seen, check = scene.sight_stages(scene.position, near.place)
        out = np.zeros((*scene.shape, MOST, 2))
        return out, [*look, *check, formiga.Stage(read_world, (near, seen, self.reach, *scene.noise.source("noise"), out))]


@formiga.element("own-neighbours-blocks", role="sensor")
@dataclass(frozen=True)
class WithBlocks:
    """The calls of formiga, and numpy."""

    reach: float = length(4.4)
    sight: bool = flag(False)
    name: str = name("near")

    def read(self, scene):
        """(worlds, robots, 50, 2)."""
        near = scene.neighbours(self.reach, MOST)
        seen = near.number >= 0
        if self.sight:
            seen &= scene.line_of_sight(scene.position, near.place)
        noise = scene.noise.uniform(-NOISE, NOISE, 2 * MOST, "noise").reshape(*seen.shape, 2)
        values = np.stack([near.distance, near.bearing], axis=-1) + noise
        return np.where(seen[..., None], values, (self.reach, 0.0))


@formiga.element("own-neighbours-numpy", role="sensor")
@dataclass(frozen=True)
class WithNumpy:
    """Every robot with every other; walls are not looked at."""

    reach: float = length(4.4)
    sight: bool = flag(False)
    name: str = name("near")

    def read(self, scene):
        """(worlds, robots, 50, 2)."""
        way = scene.state.position[:, None] - scene.position[:, :, None]
        distance = np.hypot(way[..., 0], way[..., 1])
        distance[:, np.arange(scene.group.count), np.arange(scene.robots.start, scene.robots.stop)] = np.inf
        number = np.argsort(distance, axis=-1)[..., :MOST]
        nearest = np.take_along_axis(distance, number, axis=-1)
        way = np.take_along_axis(way, number[..., None], axis=2)
        bearing = (np.arctan2(way[..., 1], way[..., 0]) - scene.heading[..., None] + np.pi) % (2.0 * np.pi) - np.pi
        values = np.stack([nearest, bearing], axis=-1)
        values += scene.noise.uniform(-NOISE, NOISE, 2 * MOST, "noise").reshape(values.shape)
        return np.where((nearest <= self.reach)[..., None], values, (self.reach, 0.0))
