"""What sensors ask of the spatial engine: rays, lights and images.

Over a level floor with nothing on it but walls, obstacles and formiga's own robots, beams are cast in the world seen from
above. Elsewhere rays are MuJoCo's.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mujoco
import numpy as np

from formiga.engine.above import looking as above
from formiga.engine.above.hearing import Ears, Heard
from formiga.engine.above.neighbours import Neighbours
from formiga.engine.above.sampling import Response
from formiga.engine.beams import SENSOR_HEIGHT, Beams
from formiga.engine.spatial import shining
from formiga.engine.spatial.model import EVERYTHING, Model
from formiga.engine.spatial.painter import Painter
from formiga.engine.spatial.scenery import GROUND_GROUP
from formiga.engine.spatial.shining import SEEN
from formiga.errors import WorldError
from formiga.geometry import PLACE, TURN, matrix, to_euler
from formiga.kernels.program import Stage
from formiga.state import Floats, State
from formiga.world.mount import CHASSIS

UP = np.array([0.0, 0.0, 1.0])
NO_GROUND = np.array([group != GROUND_GROUP and seen for group, seen in enumerate(SEEN)], np.uint8)


def cast(model: Model, state: State, beams: Beams, reach: float, robots: slice) -> Floats:
    """Distances (W, n, B) along beams around each robot; infinity where nothing is within reach."""
    if model.level:
        return above.cast(model.above, state, beams, reach, robots)
    origin, direction = (np.column_stack([part, np.zeros(len(part))]) for part in (beams.origin, beams.direction))
    heights = [SENSOR_HEIGHT * machine.robot.height for machine in model.machines[robots]]
    return _rays(model, state, origin, direction, reach, robots, heights)


def cast_turned(model: Model, state: State, beams: Beams, turn: Floats, reach: float, robots: slice) -> Floats:
    """As `cast`, but each robot's beams are turned about where they start, by turn (W, n, B) in rad."""
    if model.level:
        return above.cast_turned(model.above, state, beams, turn, reach, robots)
    c, s, (x, y) = np.cos(turn), np.sin(turn), beams.direction.T
    direction = np.stack([c * x - s * y, s * x + c * y, np.zeros(turn.shape)], axis=-1)
    heights = [SENSOR_HEIGHT * machine.robot.height for machine in model.machines[robots]]
    return _rays(model, state, np.column_stack([beams.origin, np.zeros(len(beams.origin))]), direction, reach, robots, heights)


def cast_from(model: Model, state: State, poses: Floats, beams: Beams, reach: float) -> Floats:
    """Distances (W, n, P, B) along beams from poses (W, n, P, 3) to walls and obstacles, seen from above: not to hills."""
    return above.cast_from(model.above, state, poses, beams, reach)


def shadow(model: Model, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
           curve: tuple[float, ...], robots: slice) -> Floats:
    """Readings (W, n, sensors) of a ring of sensors by the shadow method, over a level floor."""
    _refuse_hills(model, "shadow")
    return above.shadow(model.above, state, angles, mount, reach, cone, curve, robots)


def sample(model: Model, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
           curve: Response, robots: slice) -> Floats:
    """Readings (W, n, sensors) of a ring of sensors from generated samples, over a level floor."""
    _refuse_hills(model, "sampling")
    return above.sample(model.above, state, angles, mount, reach, cone, curve, robots)


def look(model: Model, state: State, reach: float, most: int, robots: slice, on: str = CHASSIS) -> tuple[Floats, Any]:
    """The lights that cameras see; over a level floor as in the plane, elsewhere hills, solids and machines hide them, too."""
    if not model.level:
        return shining.look(model, state, reach, most, robots, on)
    blobs, found = above.look(model.above, state, reach, most, robots)
    if on != CHASSIS:
        listed = np.arange(most) < found[..., None]
        turned = (blobs[..., 0] - (_facing(model, state, robots, on) - state.heading[:, robots])[..., None]) / (2.0 * np.pi)
        blobs[..., 0] = np.where(listed, 2.0 * np.pi * (turned - np.floor(turned + 0.5)), 0.0)
    return blobs, found


def _facing(model: Model, state: State, robots: slice, on: str) -> Floats:
    """Where x of a part of some robots points, seen from above: (W, n) rad."""
    return np.asarray(to_euler(state.bodies[:, model.part_rows(on, robots)][..., TURN])[2])


def hear(model: Model, state: State, ears: Ears, robots: slice, into: Heard) -> None:
    """What robots hear, from above: feet and antennas have heights, hills stop no message."""
    above.hear(model.above, state, ears, state.bodies[:, model.chassis, 2], robots, into)


def paint(model: Model, state: State, width: int, height: int, field: float, eye: Floats, robots: slice,
          on: str = CHASSIS) -> Any:
    """Images (W, n, height, width, 3) from a camera with the pose eye (7,) in the frame of a part of each robot, which looks
    along its x, in colours 0..255."""
    out = np.empty((model.worlds, robots.stop - robots.start, height, width, 3), np.uint8)
    scratch, rows = state.scratch, model.part_rows(on, robots)
    if scratch.painter is None or scratch.painter.size != (width, height):
        scratch.painter = Painter(model.mj, width, height)
    for w in range(model.worlds):
        mujoco.mj_setState(model.mj, scratch.data, state.own.integration[w], EVERYTHING)
        mujoco.mj_forward(model.mj, scratch.data)
        for i in range(robots.start, robots.stop):
            scratch.painter.paint(scratch.data, state.bodies[w, rows[i - robots.start]], eye, field, out[w, i - robots.start])
    return out


def _refuse_hills(model: Model, technique: str) -> None:
    if not model.level:
        raise WorldError(f"technique '{technique}' needs a level floor, and nothing on it but walls, obstacles and formiga's "
                         "own robots; here take ray, cone or moving.")


def rays(model: Model, state: State, origin: Floats, direction: Floats, reach: float, robots: slice,
         on: str = CHASSIS, through: Any = None) -> Floats:
    """Distances (W, n, B) along rays in the frame of a part of each robot; infinity where nothing is within reach. The robot's
    own bodies are not in their way. direction: (B, 3) or each robot's own, (W, n, B, 3); through, (B,) or (W, n, B): rays that
    do not see the ground."""
    return _rays(model, state, origin, direction, reach, robots, [0.0] * (robots.stop - robots.start), on, through)


def _rays(model: Model, state: State, origin: Floats, direction: Floats, reach: float, robots: slice, heights: Any,
          on: str = CHASSIS, through: Any = None) -> Floats:
    shape = model.worlds, robots.stop - robots.start, len(origin)
    out = np.full(shape, np.inf)
    mj, data = model.mj, state.scratch.data
    far = np.empty(len(origin))
    outward = direction.ndim == 2 and through is None and bool(
        np.allclose(origin, (origin * direction).sum(1, keepdims=True) * direction))  # all of them through the axis
    mount, many = (origin * direction).sum(-1) if outward else far, np.empty(len(origin), np.int32)
    directions, blind = np.broadcast_to(direction, (*shape, 3)), np.broadcast_to(False if through is None else through, shape)
    alike = _bundles(origin, blind[0, 0]) if np.ndim(through) < 2 and blind.size else None  # for every robot the same
    for w in range(model.worlds):
        mujoco.mj_setState(mj, data, state.own.integration[w], EVERYTHING)
        mujoco.mj_kinematics(mj, data)
        poses = state.bodies[w, model.part_rows(on, robots)]
        for i, pose, turn in zip(range(robots.start, robots.stop), poses, matrix(poses[:, TURN]), strict=True):
            n = i - robots.start
            middle, ways = pose[PLACE] + heights[n] * turn[:, 2], directions[w, n] @ turn.T
            if outward and on == CHASSIS and model.machines[i].robot.prism:
                mujoco.mj_multiRay(mj, data, middle, ways.ravel(), SEEN, True, int(model.hold[i]), many, far, None, len(far),
                                   reach + float(mount.max()))
                distance = np.where(far >= 0.0, np.maximum(far - mount, 0.0), np.inf)
                if _within(mj, data, middle, int(model.hold[i])):
                    distance[:] = 0.0
            else:
                bundles = alike or _bundles(origin, blind[w, n])
                distance = _from_rims(mj, data, middle + origin @ turn.T, ways, bundles, int(model.hold[i]), reach)
            out[w, n] = np.where(distance <= reach, distance, np.inf)
    return out


def _bundles(origin: Floats, blind: Any) -> tuple[Any, list[tuple[int, int, Any]]]:
    """Rays of one place that see the same go in one call: the order in which they are together, and first, end and what it sees
    of each call."""
    which = np.unique(origin, axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((blind, which))
    cuts = np.flatnonzero(np.diff(which[order]) | np.diff(blind[order])) + 1
    return order, [(int(first), int(end), NO_GROUND if blind[order[first]] else SEEN)
                   for first, end in pairwise((0, *cuts, len(origin)))]


def _from_rims(mj: Any, data: Any, starts: Floats, ways: Floats, bundles: Any, own: int, reach: float) -> Floats:
    """How far it is along rays (B, 3) to something that is not a part of the robot itself."""
    order, calls = bundles
    starts, ways = starts[order], ways[order]
    flat, far, normal = ways.ravel(), np.empty(len(order)), np.zeros(3 * len(order))
    hit = np.empty(len(order), np.int32)
    for first, end, groups in calls:
        mujoco.mj_multiRay(mj, data, starts[first], flat[3 * first:3 * end], groups, True, own, hit[first:end], far[first:end],
                           normal[3 * first:3 * end], end - first, reach)
    met = far >= 0.0
    itself = met & (mj.body_rootid[mj.geom_bodyid[hit]] == mj.body_rootid[own])
    behind = (normal.reshape(-1, 3) * ways).sum(1) > 0.0  # a surface that is met from behind: the ray began in it
    found = np.where(met, np.where(behind, 0.0, far), np.inf)
    if itself.any():
        for first, end, groups in calls:
            for n in first + np.flatnonzero(itself[first:end]):
                found[n] = _beyond_itself(mj, data, starts[n], ways[n], own, reach, groups)
    out = np.empty(len(order))
    out[order] = found
    return out


def _beyond_itself(mj: Any, data: Any, start: Floats, way: Floats, own: int, reach: float, groups: Any) -> float:
    """How far it is along a ray to something that is not a part of the robot itself; 0 from inside something, infinity if
    nothing is within reach."""
    gone, hit, normal = 0.0, np.empty(1, np.int32), np.empty(3)
    while gone <= reach:
        distance = mujoco.mj_ray(mj, data, start + gone * way, way, groups, True, own, hit, normal)
        if distance < 0.0:
            break
        gone += distance
        if mj.body_rootid[mj.geom_bodyid[hit[0]]] != mj.body_rootid[own]:
            return 0.0 if normal @ way > 0.0 else gone  # a surface that is met from behind: the ray began in it
        gone += 1e-4
    return float(np.inf)


def _within(mj: Any, data: Any, point: Floats, own: int) -> bool:
    """Whether a point of a robot lies inside something else: straight above it, a surface is met from behind."""
    hit, normal = np.empty(1, np.int32), np.empty(3)
    met = mujoco.mj_ray(mj, data, point, UP, SEEN, True, own, hit, normal) >= 0.0
    return bool(met and normal[2] > 0.0 and mj.body_rootid[mj.geom_bodyid[hit[0]]] != mj.body_rootid[own])


def light(model: Model, state: State, diodes: Any, robots: slice, on: str = CHASSIS) -> Floats:
    """Readings (W, n, S) of light sensors. Walls, obstacles and robots hide lamps by their heights; elsewhere than over a level
    floor hills, solids and machines do, too."""
    if not model.level:
        return shining.light(model, state, diodes, robots, on)
    if on == CHASSIS:
        return above.light(model.above, state, diodes, robots)
    facing = state.heading.copy()
    facing[:, robots] = _facing(model, state, robots, on)
    return above.light_facing(model.above, state, diodes, robots, facing)


def points(model: Model, state: State, local: Floats, robots: slice) -> Floats:
    """Points (W, n, B, 3) in the frames of some robots' chassis, as points of the world."""
    pose = state.bodies[:, model.chassis[robots], None]
    w, u = pose[..., 3:4], pose[..., 4:]
    return pose[..., PLACE] + local + 2.0 * np.cross(u, np.cross(u, local) + w * local)


def neighbours(model: Model, state: State, reach: float, most: int, robots: slice) -> Neighbours:
    """The nearest others of some robots, seen from above: heights do not count."""
    return above.neighbours(model.above, state, reach, most, robots)


def line_of_sight(model: Model, state: State, origins: Any, targets: Any, walls_only: bool) -> Any:
    """Whether (W, n, P) nothing stands between points of the floor, seen from above: heights and hills do not count."""
    return above.line_of_sight(model.above, state, origins, targets, walls_only)


# -- stages for the elements that give only kernels: the readable loop runs them. The step itself is MuJoCo's ----------------
def cast_stages(model: Model, state: State, beams: Beams, reach: float, robots: slice, out: Floats) -> list[Stage] | None:
    """What `cast` does, into out (W, n, B); None where rays are MuJoCo's."""
    return above.cast_stages(model.above, state, beams, reach, robots, out) if model.level else None


def light_stages(model: Model, state: State, diodes: Any, robots: slice, out: Floats) -> list[Stage] | None:
    """What `light` does, into out (W, n, S); None where rays are MuJoCo's."""
    return above.light_stages(model.above, state, diodes, robots, out) if model.level else None


def hear_stages(model: Model, state: State, ears: Ears, robots: slice, into: Heard) -> list[Stage] | None:
    """None: heights of feet change, and the engine gives them new in every step."""
    return None


def neighbour_stages(model: Model, state: State, reach: float, robots: slice, out: Neighbours) -> list[Stage]:
    """What `neighbours` does, into out."""
    return above.neighbour_stages(model.above, state, reach, robots, out)


def sight_stages(model: Model, state: State, origins: Any, targets: Any, walls_only: bool, out: Any) -> list[Stage]:
    """What `line_of_sight` does, into out (W, n, P)."""
    return above.sight_stages(model.above, state, origins, targets, walls_only, out)


__all__ = ["cast", "cast_from", "cast_stages", "cast_turned", "hear", "hear_stages", "light", "light_stages", "line_of_sight",
           "look", "neighbour_stages", "neighbours", "paint", "points", "rays", "sample", "shadow", "sight_stages"]
