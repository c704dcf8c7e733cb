"""Light among hills, solids and machines: rays of MuJoCo decide what is in sight, and everything is where it is in space.

As seen from above, one ray for each pair of a robot and a source decides for all its sensors [Swarm-bot 3D simulator]: from the
top of the robot, which may lean, to the source. Neither the robot itself nor the one that shines is in its way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np

from formiga.engine.above.light import LED_HEIGHT, respond, shine
from formiga.engine.spatial.model import EVERYTHING, Model
from formiga.engine.switches import is_on
from formiga.geometry import PLACE, TURN, matrix
from formiga.kernels import kernel
from formiga.state import Floats, State

SEEN = np.array([1, 1, 0, 1, 1, 1], np.uint8)  # groups of geoms that rays meet
PAST = 1e-4                                    # m that a ray goes on behind a surface that does not stop it
LAMP = -1


class Lights(NamedTuple):
    """All that shines in one world."""

    place: Floats      # (S, 3) m
    strength: Floats   # (S,) m^2; of an LED, by how bright it is
    colour: Floats     # (S, 3) red green blue, from 0 to 1
    robot: Any         # (S,) number of the robot that shines, or LAMP
    outward: Floats    # (S, 3) where an LED points; 0 for what shines in all directions
    glows: Any         # (S,) whether it is a robot that shines as a whole: no camera sees that


def light(model: Model, state: State, diodes: Any, robots: slice, on: str) -> Floats:
    """Readings (W, n, S) of light sensors whose directions count from x of a part of each robot."""
    out = np.zeros((model.worlds, robots.stop - robots.start, len(diodes.ux)))
    to_lamps = float(diodes.reach[diodes.sees_lamps].max(initial=0.0))
    to_robots = float(diodes.reach[diodes.sees_robots].max(initial=0.0))
    for w, i, lights, local, way, seen in _looks(model, state, robots, on):
        far = np.where(lights.robot == LAMP, to_lamps, to_robots)
        near = np.flatnonzero((np.hypot(way[:, 0], way[:, 1]) <= far) & (lights.robot != i) & (lights.strength > 0.0))
        near = near[seen(near)]
        add_lights(local[near], lights.strength[near], lights.robot[near] == LAMP, model.above.radius[i], diodes,
                   state.key[w], i, state.step[w], out[w, i - robots.start])
    return out


def look(model: Model, state: State, reach: float, most: int, robots: slice, on: str) -> tuple[Floats, Any]:
    """Lights in sight (W, n, most, 6), nearest first: bearing from x of a part of each robot, elevation, distance, red, green,
    blue; how many (W, n)."""
    shape = model.worlds, robots.stop - robots.start
    blobs, found = np.zeros((*shape, most, 6)), np.zeros(shape, np.int64)
    for w, i, lights, local, way, seen in _looks(model, state, robots, on):
        flat = np.hypot(way[:, 0], way[:, 1])
        near = np.flatnonzero((flat <= reach) & (lights.robot != i) & ~lights.glows)
        near = near[seen(near)]
        near = near[np.argsort(flat[near], kind="stable")][:most]
        x, y, z = local[near].T
        blobs[w, i - robots.start, : len(near)] = np.column_stack([
            np.arctan2(y, x), np.arctan2(z, np.hypot(x, y)), flat[near], lights.colour[near]])
        found[w, i - robots.start] = len(near)
    return blobs, found


def _looks(model: Model, state: State, robots: slice, on: str) -> Iterator[tuple[int, int, Lights, Floats, Floats, Any]]:
    """For each world and robot: the lights of that world, the ways (S, 3) to them in the frame of a part and in the world's,
    and a function that says which of some of them, by their numbers, are in sight."""
    mj, data, rows = model.mj, state.scratch.data, model.part_rows(on, robots)
    for w in range(model.worlds):
        mujoco.mj_setState(mj, data, state.own.integration[w], EVERYTHING)
        mujoco.mj_kinematics(mj, data)
        lights = lights_of(model, state, w)
        poses, turns = state.bodies[w, model.chassis], matrix(state.bodies[w, rows][:, TURN])
        ups = matrix(poses[:, TURN])[..., 2]
        for i in range(robots.start, robots.stop):
            eye = poses[i, PLACE] + model.above.height[i] * ups[i]
            way = lights.place - eye

            def seen(near: Any, i: int = i, eye: Floats = eye, way: Floats = way, lights: Lights = lights) -> Any:
                facing = (way[near] * lights.outward[near]).sum(1)
                ahead = (facing < 0.0) | ~lights.outward[near].any(1)  # else an LED is on the far side of its own robot
                ahead[ahead] = in_sight(model, data, eye, way[near][ahead], i, lights.robot[near][ahead])
                return ahead

            yield w, i, lights, way @ turns[i - robots.start], way, seen


def lights_of(model: Model, state: State, w: int) -> Lights:
    """Lamps that are on, robots that glow, and lit LEDs."""
    above = model.above
    on = [n for n in range(len(above.lamps)) if is_on(n, state.step[w], above.switches)]
    lamps = [above.lamps[on, :3], above.lamps[on, 3], above.colours[on], np.full(len(on), LAMP), np.zeros((len(on), 3)),
             np.zeros(len(on), np.bool_)]
    poses = state.bodies[w, model.chassis]
    turns = matrix(poses[:, TURN])
    glows = np.flatnonzero(above.glow)
    tops = poses[glows, PLACE] + above.height[glows, None] * turns[glows][..., 2]
    glow = [tops, above.glow[glows], np.ones((len(glows), 3)), glows, np.zeros((len(glows), 3)), np.ones(len(glows), np.bool_)]
    robot, light = np.nonzero(state.leds[w].any(axis=2) & (np.arange(state.leds.shape[2]) < above.leds[:, None]))
    angle = (light + 0.5) * 2.0 * np.pi / np.maximum(above.leds[robot], 1)
    outward = np.einsum("sij,sj->si", turns[robot], np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle]))
    colour = state.leds[w, robot, light] / 255.0
    high = (LED_HEIGHT * above.height[robot])[:, None] * turns[robot][..., 2]
    leds = [poses[robot, PLACE] + above.radius[robot, None] * outward + high, above.led[robot] * colour.mean(1), colour, robot,
            outward, np.zeros(len(robot), np.bool_)]
    return Lights(*(np.concatenate(parts) for parts in zip(lamps, glow, leds, strict=True)))


def in_sight(model: Model, data: Any, eye: Floats, way: Floats, robot: int, sources: Any) -> Any:
    """Whether nothing stands between a robot's eye and points that are some ways (S, 3) from it; sources (S,): the robot that
    each point belongs to, or LAMP."""
    count, mj = len(way), model.mj
    if not count:
        return np.zeros(0, np.bool_)
    length = np.linalg.norm(way, axis=1)
    unit = way / np.maximum(length, 1e-12)[:, None]
    hit, far = np.empty(count, np.int32), np.empty(count)
    own = int(model.hold[robot])
    mujoco.mj_multiRay(mj, data, eye, unit.ravel(), SEEN, True, own, hit, far, None, count, float(length.max()) + PAST)
    free = (far < 0.0) | (far >= length)
    for n in np.flatnonzero(~free):
        roots = {mj.body_rootid[own]} | ({mj.body_rootid[model.hold[sources[n]]]} if sources[n] != LAMP else set())
        if mj.body_rootid[mj.geom_bodyid[hit[n]]] in roots:
            free[n] = _passes(mj, data, eye, unit[n], float(length[n]), float(far[n]), own, roots)
    return free


def _passes(mj: Any, data: Any, eye: Floats, unit: Floats, length: float, gone: float, own: int, roots: Any) -> bool:
    """Whether a ray that met one of the robots at its ends, after `gone`, meets nothing else up to its length."""
    hit = np.empty(1, np.int32)
    gone += PAST
    while gone < length:
        distance = mujoco.mj_ray(mj, data, eye + gone * unit, unit, SEEN, True, own, hit)
        if distance < 0.0 or gone + distance >= length:
            return True
        if mj.body_rootid[mj.geom_bodyid[hit[0]]] not in roots:
            return False
        gone += distance + PAST
    return True


@kernel()
def add_lights(local, strength, lamp, radius, diodes, key, robot, step, out):
    """The readings (S,) of one robot, from the lights (K,) in its sight, at `local` (K, 3) in the frame of its sensors."""
    out[:] = 0.0
    for k in range(local.shape[0]):
        shine(1.0, 0.0, local[k, 0], local[k, 1], local[k, 2], strength[k], radius, diodes,
              diodes.sees_lamps if lamp[k] else diodes.sees_robots, out)
    respond(out, diodes, key, robot, step)


__all__ = ["SEEN", "light", "look"]
