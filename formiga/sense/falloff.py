"""What spreads in all directions and through everything: sound and warmth fall with the square of the distance."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formiga.engine.above.sampled import Tables, sampled, tables
from formiga.engine.switches import Switches, is_on, switches
from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.model import World
from formiga.world.mount import CHASSIS

if TYPE_CHECKING:
    from formiga.sense import SensorView

EVERY = 0.0, inf                                  # Hz, the band of what hears everything
STRENGTH, FREQUENCY = 0, 1                        # last axis of `State.sound`
UNASKED = np.zeros((1, 1))                        # where robots look that hear the same from all sides


class Sources(NamedTuple):
    """Where it comes from, and how large all robots are."""

    still: Any       # (S, 5) x y z strength frequency
    switches: Switches
    robot: Any       # (R,) int64, robots that are sources themselves, as high as they are
    speaker: Any     # (R,) int64, which of a robot's loudspeakers this is
    sound: Any       # (R, 2) strength and frequency, unless `State.sound` has others
    radius: Any      # (N,) m
    height: Any      # (N,) m
    tables: Tables   # one, of samples, or none


class Sounding(NamedTuple):
    """Room for the sources of one world that are on and in a band."""

    robot: Any       # int64, the robot that it is on; -1: none
    place: Any       # (., 3) m
    sound: Any       # (., 2) strength and frequency


def sources(world: World, still: Sequence[Any], strengths: list[tuple[float, float]],
            moving: Sequence[tuple[int, int, float, float]] = (), table: tuple[Floats, float, float] | None = None) -> Sources:
    """The sources of a world: things, each with a strength and a frequency; and robots, each with the number of a loudspeaker,
    strength and frequency. table: samples, their largest distance, and the strength of the source that was sampled."""

    def each(name: str) -> Floats:
        own = [np.full(group.count, float(getattr(group.robot, name))) for group in world.groups]
        return np.concatenate([np.empty(0), *own])

    rows = [(thing.x, thing.y, thing.z, *strength) for thing, strength in zip(still, strengths, strict=True)]
    return Sources(np.array(rows, np.float64).reshape(-1, 5), switches(still, world.dt),
                   np.array([robot for robot, *_ in moving], np.int64), np.array([which for _, which, *_ in moving], np.int64),
                   np.array([sound for _, _, *sound in moving], np.float64).reshape(-1, 2), each("radius"), each("height"),
                   tables([] if table is None else [table]))


def received(scene: SensorView, given: Sources, band: tuple[float, float] = EVERY, on: str = CHASSIS,
             pitch: bool = False) -> Floats:
    """What arrives on top of each robot of all sources in a band: the sum (W, n, 1); pitch: and then the frequency of the
    strongest source."""
    state, robots = scene.state, scene.robots
    out = np.empty((state.worlds, robots.stop - robots.start, 2 if pitch else 1))
    facing = scene.facing(on) if len(given.tables.far) else UNASKED
    most = len(given.still) + len(given.robot)
    now = Sounding(np.empty(most, np.int64), np.empty((most, 3)), np.empty((most, 2)))
    arrive(state.position, scene.tops(given.height), facing, state.sound, state.step, robots.start, robots.stop, band,
           given, now, out)
    return out


@kernel()
def arrive(position, top, facing, sound, step, first, last, band, sources, now, out):
    """Fill out (W, n, 1) or (W, n, 2) for robots first..last; top (W, N): height of each robot's top; facing (W, n): where it
    looks, used only with a table.

        x = sum over sources of strength / max(distance, radius)^2        [Swarm-bot 3D simulator; radius: ours]
    The distance is taken in space, from the top of the robot's centre. A robot does not count for itself. With a table x is
    what that says of each source: see `sampled.py`.
    """
    tabled, robot, place, given = sources.tables.far.shape[0] > 0, now.robot, now.place, now.sound
    plain = not tabled and out.shape[2] == 1
    for w in range(position.shape[0]):
        count = list_sources(w, position, top, sound, step[w], band, sources, now)
        for i in range(first, last):
            x, y, z, least = position[w, i, 0], position[w, i, 1], top[w, i], sources.radius[i] * sources.radius[i]
            total, most, pitch = 0.0, 0.0, 0.0
            if plain:  # the common case, without looking for the strongest
                for k in range(count):
                    if robot[k] != i:
                        dx, dy, dz = place[k, 0] - x, place[k, 1] - y, place[k, 2] - z
                        total += given[k, STRENGTH] / max(least, dx * dx + dy * dy + dz * dz)
                out[w, i - first, 0] = total
                continue
            aim = facing[w, i - first] if tabled else 0.0
            for k in range(count):
                if robot[k] == i:
                    continue
                dx, dy, dz = place[k, 0] - x, place[k, 1] - y, place[k, 2] - z
                if tabled:
                    part = sampled(0, sqrt(dx * dx + dy * dy), atan2(dy, dx) - aim, given[k, STRENGTH], sources.tables)
                else:
                    part = given[k, STRENGTH] / max(least, dx * dx + dy * dy + dz * dz)
                total += part
                if part > most:
                    most, pitch = part, given[k, FREQUENCY]
            out[w, i - first, 0] = total
            if out.shape[2] > 1:
                out[w, i - first, 1] = pitch


@kernel()
def list_sources(w, position, top, sound, step, band, sources, now):
    """Fill `now` with the sources of world w that are on and in the band; how many there are."""
    count, still = 0, sources.still
    for k in range(still.shape[0]):
        if band[0] <= still[k, 4] <= band[1] and is_on(k, step, sources.switches):
            now.robot[count] = -1
            now.place[count, 0], now.place[count, 1], now.place[count, 2] = still[k, 0], still[k, 1], still[k, 2]
            now.sound[count, STRENGTH], now.sound[count, FREQUENCY] = still[k, 3], still[k, 4]
            count += 1
    for k in range(sources.robot.shape[0]):
        j, n = sources.robot[k], sources.speaker[k]
        strength, frequency = sound[w, j, n, STRENGTH], sound[w, j, n, FREQUENCY]
        strength = sources.sound[k, STRENGTH] if np.isnan(strength) else strength
        frequency = sources.sound[k, FREQUENCY] if np.isnan(frequency) else frequency
        if band[0] <= frequency <= band[1]:
            now.robot[count] = j
            now.place[count, 0], now.place[count, 1], now.place[count, 2] = position[w, j, 0], position[w, j, 1], top[w, j]
            now.sound[count, STRENGTH], now.sound[count, FREQUENCY] = strength, frequency
            count += 1
    return count
