"""The spatial engine: bodies with masses in three dimensions, by MuJoCo; the same promise as the planar engine's.

`build`, `init`, `step`, `cast`, `light` and `rays` are that promise. One model and one set of working data serve all worlds of
a batch, one after another: all that a world goes on from is in the state, so its motion does not depend on its neighbours,
and whoever changes the state by hand changes the motion. Threads share out whole worlds, as in the plane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import hypot
from typing import Any

import mujoco
import numpy as np

from formiga.engine.beams import Beams
from formiga.engine.ground import highest
from formiga.engine.place import place
from formiga.engine.planar import pipeline as planar
from formiga.engine.spatial.carry import as_it_stands, carry_on, put_down
from formiga.engine.spatial.gripping import Event, aim, aimed, forces_of, grip_all, name_of, pull_all
from formiga.engine.spatial.model import EVERYTHING, Model, build
from formiga.engine.spatial.painter import Painter
from formiga.engine.spatial.readout import poses
from formiga.engine.spatial.robots import GROUND, WHEEL
from formiga.engine.spatial.scenery import upright
from formiga.engine.spatial.treels import pull_all as treels
from formiga.errors import WorldError
from formiga.noise import world_key
from formiga.state import Floats, State
from formiga.world.model import Ball, World

SENSOR_HEIGHT = 0.6                 # of rays around a robot, in its heights: only on rough ground does it matter
SEEN = np.array([1, 1, 0, 1, 1, 1], np.uint8)          # groups of geoms that rays meet
JOINT_COLUMNS = 29                  # of state.joints: whether it holds, force and torque (6), 2 x 11 numbers of its equalities
SETTLING = 0.3                      # s that robots on wheels have to come to rest before the start
RESTING = 1e-5                      # m/s, rad/s and their rates: below it a world sleeps until somebody is told to move
TOO_FAST = 1e3                      # m/s or rad/s; beyond it a motion is not one


@dataclass
class Scratch(planar.Scratch):
    """Working memory: MuJoCo's own, and what happened in the last step."""

    data: Any = None
    loaded: Any = None              # (N, 13) grips that the model is aimed at
    events: list[Event] = field(default_factory=list)
    inside: Any = None              # (W, triggers, N) who is in which zone
    painter: Painter | None = None  # if somebody asked for images


def init(model: Model, seed: int = 0, start: tuple[Any, Any] | None = None) -> State:
    """Everything that changes, at the start: robots placed as in the plane, then set down on the ground."""
    state = planar.init(model.flat, seed, _placed(model, seed) if start is None else start)
    W, N, K = model.worlds, len(model.machines), model.motor.shape[1]
    flat, mj = state.scratch, model.mj
    data = mujoco.MjData(mj)
    state.scratch = Scratch(**{name: getattr(flat, name) for name in flat.__dataclass_fields__}, data=data,
                            loaded=np.full((N, 13), np.nan), inside=np.zeros((W, len(model.triggers), N), np.bool_))
    state.outputs, state.angles, state.torques = (np.zeros((W, N, K)) for _ in range(3))
    state.pull, state.grips = np.zeros((W, N, 3)), np.zeros((W, N, 17))
    state.bodies = np.zeros((W, len(model.parts), 7))
    state.space = np.zeros((W, mujoco.mj_stateSize(mj, EVERYTHING)))
    state.joints = np.zeros((W, len(model.joints), JOINT_COLUMNS))
    state.joints[:, :, 0] = 1.0
    for w in range(W):
        mujoco.mj_resetData(mj, data)
        for machine in model.machines:
            (x, y), heading = state.position[w, machine.number], state.heading[w, machine.number]
            _put(model, data, machine, x, y, heading)
        for number, thing in enumerate(model.world.loose):
            _lay(model, data, number, thing)
        mujoco.mj_forward(mj, data)
        for number, (joint, equalities) in enumerate(model.joints):
            _join(model, data, joint, equalities, state.joints[w, number])
            if joint.motor is not None:
                data.ctrl[mj.actuator(f"joint/{joint.name}").id] = joint.motor
        _settle(model, data)
        mujoco.mj_forward(mj, data)
        mujoco.mj_getState(mj, data, state.space[w], EVERYTHING)
        _read(model, state, w, data)
    return state


def _placed(model: Model, seed: int) -> tuple[Any, Any]:
    """Where the placement rules put robots (W, N, 2), and headings (W, N)."""
    keys = np.array([world_key(seed, model.first_world + w) for w in range(model.worlds // model.copies)], np.uint64)
    world, clear = model.placing
    position, heading = place(world, model.flat.fixed, keys, clear)
    return np.concatenate([position] * model.copies), np.concatenate([heading] * model.copies)


def _settle(model: Model, data: Any) -> None:
    """Let robots on wheels come to rest on the ground before the clock starts; everything else stays as it is."""
    mj = model.mj
    if all(machine.sliding or hasattr(machine.robot, "file") for machine in model.machines):
        return
    place, speed, warm = data.qpos.copy(), data.qvel.copy(), data.act.copy()
    touches = mj.geom_contype.copy(), mj.geom_conaffinity.copy()
    theirs = np.isin(mj.geom_bodyid, model.rows[[part.robot >= 0 for part in model.parts]]) | model.ground
    mj.geom_contype[:] = np.where(theirs, touches[0] & (GROUND | WHEEL), 0)  # nobody meets anything but the ground
    mj.geom_conaffinity[:] = np.where(theirs, touches[1] & (GROUND | WHEEL), 0)
    mujoco.mj_step(mj, data, nstep=max(1, round(SETTLING / mj.opt.timestep)))
    mj.geom_contype[:], mj.geom_conaffinity[:] = touches
    rolls = np.array([part.robot >= 0 and not model.machines[part.robot].sliding for part in model.parts])
    moved = np.isin(mj.jnt_bodyid, model.rows[rolls])
    stays = np.ones(mj.nq, np.bool_)
    for joint in np.flatnonzero(moved):
        wide = 7 if mj.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE else 1
        stays[mj.jnt_qposadr[joint] : mj.jnt_qposadr[joint] + wide] = False
    if not np.isfinite(data.qpos).all():
        stays[:] = True
    data.qpos[stays], data.qvel[:], data.act[:], data.time = place[stays], speed, warm, 0.0
    data.qacc_warmstart[:] = 0.0


def _put(model: Model, data: Any, machine: Any, x: float, y: float, heading: float) -> None:
    """Set a robot down at a place on the ground, upright."""
    mj = model.mj
    if machine.sliding:
        at = mj.joint(f"r{machine.number}/x").qposadr[0]
        data.qpos[at : at + 3] = x, y, heading
        return
    root = mj.body(machine.chassis)
    first = mj.body_jntadr[root.id]
    if first >= 0 and mj.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE:
        at = mj.jnt_qposadr[first]
        data.qpos[at : at + 2], data.qpos[at + 3 : at + 7] = (x, y), upright(heading)
        data.qpos[at + 2] = highest(model.world, x, y, 0.8 * machine.robot.radius) + machine.lift


def _lay(model: Model, data: Any, number: int, thing: Any) -> None:
    """A ball, puck or block where the world says."""
    at = model.mj.joint(f"loose{model.world.things.index(thing)}").qposadr[0]
    data.qpos[at : at + 3] = thing.x, thing.y, lying(model.world, thing, thing.x, thing.y)
    data.qpos[at + 3 : at + 7] = upright(getattr(thing, "heading", 0.0))
    dof = model.mj.joint(f"loose{model.world.things.index(thing)}").dofadr[0]
    data.qvel[dof : dof + 2] = getattr(thing, "vx", 0.0), getattr(thing, "vy", 0.0)


def _join(model: Model, data: Any, joint: Any, equalities: Any, row: Floats) -> None:
    """Aim the equalities of a joint at its two bodies as they are now; `row` of the state's joints keeps how."""
    mj = model.mj
    for k, equality in enumerate(equalities):
        one, other = mj.eq_obj1id[equality], mj.eq_obj2id[equality]
        point = np.array([joint.x, joint.y, joint.z])
        if joint.kind == "hinge":
            point = point + (2 * k - 1) * 0.02 * np.array(joint.axis) / np.linalg.norm(joint.axis)
        pose = [np.concatenate([data.xpos[body], data.xquat[body]]) for body in (one, other)]
        row[7 + 11 * k : 18 + 11 * k] = mj.eq_data[equality, :11] = aimed(pose[0], pose[1], point, joint.kind != "fixed")


def lying(world: World, thing: Any, x: float, y: float) -> float:
    """How high the origin of a ball, puck or block is when it lies at a place: that of a ball is its middle."""
    spread = float(thing.radius) if hasattr(thing, "radius") else max(hypot(x, y) for x, y in thing.outline)
    return highest(world, x, y, spread) + (spread if isinstance(thing, Ball) else 0.0)


# -- the step -----------------------------------------------------------------------------------------------------------
def step(model: Model, state: State, wheels: Floats) -> None:
    """Advance every world that has not ended by `model.dt`, with wheel speeds (W, N, 2) in m/s at the rim."""
    state.scratch.events.clear()
    for w in range(model.worlds):
        if not state.done[w]:
            _advance(model, state, w, wheels[w])


def _advance(model: Model, state: State, w: int, wheels: Floats) -> None:
    if _asleep(model, state, w, wheels):
        state.step[w] += 1
        state.wheels[w] = 0.0
        _count(model, state, w, state.crashed[w])
        return
    scratch, data, mj = state.scratch, state.scratch.data, model.mj
    mujoco.mj_setState(mj, data, state.space[w], EVERYTHING)
    grip_all(model, state, w, scratch.events)
    aim(model, state, w, data, scratch.loaded)
    driven = np.where(state.alive[w][:, None], wheels, 0.0)
    _drive(model, state, w, data, driven)
    _substeps(model, data, driven, model.substeps)
    if _exploded(model, state, w, data, driven):
        return
    state.step[w] += 1
    mujoco.mj_kinematics(mj, data)
    _read(model, state, w, data)
    _turned(model, state, w, data, driven)
    pull_all(model, state, w, data, scratch.events)
    mujoco.mj_getState(mj, data, state.space[w], EVERYTHING)
    _bumps(model, state, w, data)
    _zones(model, state, w)


def _asleep(model: Model, state: State, w: int, wheels: Floats) -> bool:
    """Whether nothing moves, nothing is about to, and nobody is told to: then a step changes nothing but the clock. It goes by
    the state alone, so that who restarts or edits a world wakes it."""
    return bool(state.step[w] > 0 and not wheels.any() and not state.outputs[w].any() and not state.grips[w, :, 0].any()
                and np.abs(state.space[w, model.speeds]).max(initial=0.0) < RESTING)


def _substeps(model: Model, data: Any, driven: Floats, count: int) -> None:
    """Some steps of the motion; the floor pulls at who slides before each."""
    if len(model.sliding.number) == 0:
        mujoco.mj_step(model.mj, data, nstep=count)
        return
    mj = model.mj
    floor = (*model.sliding, data.qpos, data.qvel, driven, mj.opt.timestep, model.gravity, data.userdata, data.qfrc_applied)
    for _ in range(count):
        treels(*floor)
        mujoco.mj_step(mj, data)


def _drive(model: Model, state: State, w: int, data: Any, wheels: Floats) -> None:
    """Tell the motors."""
    if model.wheel_motor.size and (on := model.wheel_motor >= 0).any():
        data.ctrl[model.wheel_motor[on]] = (wheels / model.wheel_radius)[on]
    if model.motor.size and (on := model.motor >= 0).any():
        data.ctrl[model.motor[on]] = (model.sign * state.outputs[w] * state.alive[w][:, None])[on]


def _exploded(model: Model, state: State, w: int, data: Any, driven: Floats) -> bool:
    """Whether the motion is no longer one; then the world ends as it was before this step, and says where it went wrong."""
    if np.isfinite(data.qpos).all() and (np.abs(data.qvel) <= TOO_FAST).all():
        return False
    body = _culprit(model, state, w, data, driven)
    name = mujoco.mj_id2name(model.mj, mujoco.mjtObj.mjOBJ_BODY, body) or str(body)
    if (row := model.row_of[body]) >= 0:
        part = model.parts[row]
        name = f"{part.name} of {name_of(model, part.robot)}" if part.robot >= 0 else str(model.world.things[part.thing].name)
    state.done[w] = True
    state.unresolved[w] += 1
    mujoco.mj_resetData(model.mj, data)
    state.scratch.loaded[...] = np.nan
    time = float(state.step[w]) * model.dt
    text = f"the motion exploded at {time:g} s, at the {name}; the world ends here"
    state.scratch.events.append(Event(w, time, "explode", text))
    return True


def _culprit(model: Model, state: State, w: int, data: Any, driven: Floats) -> int:
    """The body that was the first to be too fast: the step again, looking after each substep."""
    mj = model.mj
    mujoco.mj_resetData(mj, data)
    mujoco.mj_setState(mj, data, state.space[w], EVERYTHING)
    fast = np.nan_to_num(np.abs(data.qvel), nan=np.inf)
    for _ in range(model.substeps):
        if fast.max(initial=0.0) > TOO_FAST:
            break
        _substeps(model, data, driven, 1)
        fast = np.nan_to_num(np.abs(data.qvel), nan=np.inf)
    return int(mj.dof_bodyid[int(np.argmax(fast))])


# -- MuJoCo -> state ------------------------------------------------------------------------------------------------------
def _read(model: Model, state: State, w: int, data: Any) -> None:
    """Poses and speeds as the rest of the laboratory knows them."""
    poses(w, data.xpos, data.xquat, model.rows, model.chassis, model.loose, model.dt, state.step, state.bodies, state.position,
          state.heading, state.motion, state.loose)
    if model.motor.size and (on := model.motor >= 0).any():
        place, force = np.zeros(model.motor.shape), np.zeros(model.motor.shape)
        place[on] = data.qpos[model.mj.jnt_qposadr[model.motor_joint[on]]]
        force[on] = data.actuator_force[model.motor[on]]
        state.angles[w], state.torques[w] = model.sign * place, model.sign * force


def _turned(model: Model, state: State, w: int, data: Any, driven: Floats) -> None:
    """How the wheels really turned: those of sliding robots as they were told, and the floor slips under them."""
    rolls = model.wheel_dof >= 0
    state.wheels[w] = driven
    if rolls.any():
        speed = data.qvel[np.where(rolls, model.wheel_dof, 0)] * model.wheel_radius
        state.wheels[w] = np.where(rolls, speed, driven)
    state.wheel_angle[w] += state.wheels[w] * model.dt / model.wheel_radius


def _bumps(model: Model, state: State, w: int, data: Any) -> None:
    """Who touches something that is not the ground."""
    hit = np.zeros(len(model.machines), np.bool_)
    if data.ncon:
        geoms = data.contact.geom[data.contact.dist < 0.0]
        for one, other in ((0, 1), (1, 0)):
            owner = model.owner[geoms[:, one]]
            hit[owner[(owner >= 0) & ~model.ground[geoms[:, other]] & (owner != model.owner[geoms[:, other]])]] = True
    _count(model, state, w, hit)


def _count(model: Model, state: State, w: int, hit: Any) -> None:
    """A step in which a robot that is alive touched something counts as one crash; at the limit it dies, or its world ends."""
    contact = model.world.contact
    state.crashed[w] = hit & state.alive[w]
    state.crashes[w] += state.crashed[w]
    if contact.crash_limit > 0 and (over := state.crashed[w] & (state.crashes[w] >= contact.crash_limit)).any():
        if contact.at_limit == "end":
            state.done[w] = True
        else:
            state.alive[w, over] = False
            state.done[w] |= not state.alive[w].any()


def _zones(model: Model, state: State, w: int) -> None:
    """Who came into a trigger zone, and who left."""
    for number, (_, zone) in enumerate(model.triggers):
        place = state.bodies[w, model.chassis, :3] - (zone.x, zone.y, zone.z)
        now = ((np.abs(place[:, 0]) <= zone.width / 2) & (np.abs(place[:, 1]) <= zone.depth / 2)
               & (place[:, 2] >= -1e-3) & (place[:, 2] <= zone.height) & zone.on)
        before = state.scratch.inside[w, number] & (state.step[w] > 1)  # nobody was anywhere before the start
        time = float(state.step[w]) * model.dt
        for i in map(int, np.flatnonzero(now != before)):
            came = zone.say or f"{name_of(model, i)} comes into '{zone.name}'"
            state.scratch.events.append(Event(w, time, "enter" if now[i] else "leave",
                                              came if now[i] else f"{name_of(model, i)} leaves '{zone.name}'"))
        state.scratch.inside[w, number] = now


# -- what sensors ask -------------------------------------------------------------------------------------------------------
def cast(model: Model, state: State, beams: Beams, reach: float, robots: slice) -> Floats:
    """Distances (W, n, B) along beams around each robot; infinity where nothing is within reach."""
    if model.level:
        return planar.cast(model.flat, state, beams, reach, robots)
    origin, direction = (np.column_stack([part, np.zeros(len(part))]) for part in (beams.origin, beams.direction))
    heights = [SENSOR_HEIGHT * machine.robot.height for machine in model.machines[robots]]
    return _rays(model, state, origin, direction, reach, robots, heights)


def cast_turned(model: Model, state: State, beams: Beams, turn: Floats, reach: float, robots: slice) -> Floats:
    """As `cast`, but each robot's beams are turned about where they start, by turn (W, n, B) in rad."""
    if model.level:
        return planar.cast_turned(model.flat, state, beams, turn, reach, robots)
    out = np.empty(turn.shape)
    for b in range(turn.shape[2]):  # a beam at a time, as its own ring of one for each robot
        for w in range(turn.shape[0]):
            for i in range(turn.shape[1]):
                c, s = np.cos(turn[w, i, b]), np.sin(turn[w, i, b])
                x, y = beams.direction[b]
                one = Beams(beams.origin[b : b + 1], np.array([[c * x - s * y, s * x + c * y]]))
                number = robots.start + i
                out[w, i, b] = cast(model, state, one, reach, slice(number, number + 1))[w, 0, 0]
    return out


def shadow(model: Model, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
           curve: tuple[float, ...], robots: slice) -> Floats:
    """Readings (W, n, sensors) of a ring of sensors by the shadow method, over a level floor."""
    _refuse_hills(model, "shadow")
    return planar.shadow(model.flat, state, angles, mount, reach, cone, curve, robots)


def sample(model: Model, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
           curve: tuple[float, ...], robots: slice) -> Floats:
    """Readings (W, n, sensors) of a ring of sensors from generated samples, over a level floor."""
    _refuse_hills(model, "sampling")
    return planar.sample(model.flat, state, angles, mount, reach, cone, curve, robots)


def look(model: Model, state: State, reach: float, most: int, robots: slice) -> tuple[Floats, Any]:
    """The lights that cameras see, as in the plane: walls, obstacles and robots hide them, hills do not."""
    return planar.look(model.flat, state, reach, most, robots)


def paint(model: Model, state: State, width: int, height: int, field: float, eye: float, robots: slice) -> Any:
    """Images (W, n, height, width, 3) of what robots see straight ahead from so high above their feet, in colours 0..255."""
    out = np.empty((model.worlds, robots.stop - robots.start, height, width, 3), np.uint8)
    scratch = state.scratch
    if scratch.painter is None or scratch.painter.size != (width, height):
        scratch.painter = Painter(model.mj, width, height)
    for w in range(model.worlds):
        mujoco.mj_setState(model.mj, scratch.data, state.space[w], EVERYTHING)
        mujoco.mj_forward(model.mj, scratch.data)
        for i in range(robots.start, robots.stop):
            scratch.painter.paint(scratch.data, state.bodies[w, model.chassis[i]], eye, field, out[w, i - robots.start])
    return out


def _refuse_hills(model: Model, technique: str) -> None:
    if not model.level:
        raise WorldError(f"technique '{technique}' needs a level floor, and nothing on it but walls, obstacles and formiga's "
                         "own robots; here take ray, cone or moving.")


def rays(model: Model, state: State, origin: Floats, direction: Floats, reach: float, robots: slice) -> Floats:
    """Distances (W, n, B) along rays (B, 3) in the frame of each robot's chassis; infinity where nothing is within reach."""
    return _rays(model, state, origin, direction, reach, robots, [0.0] * (robots.stop - robots.start))


def _rays(model: Model, state: State, origin: Floats, direction: Floats, reach: float, robots: slice, heights: Any) -> Floats:
    out = np.full((model.worlds, robots.stop - robots.start, len(origin)), np.inf)
    mj, data = model.mj, state.scratch.data
    matrix, far = np.empty(9), np.empty(len(origin))
    outward = bool(np.allclose(origin, (origin * direction).sum(1, keepdims=True) * direction))  # all of them through the axis
    mount, many = (origin * direction).sum(1), np.empty(len(origin), np.int32)
    for w in range(model.worlds):
        mujoco.mj_setState(mj, data, state.space[w], EVERYTHING)
        mujoco.mj_kinematics(mj, data)
        for i in range(robots.start, robots.stop):
            pose = state.bodies[w, model.chassis[i]]
            mujoco.mju_quat2Mat(matrix, pose[3:])
            turn = matrix.reshape(3, 3)
            middle, ways = pose[:3] + heights[i - robots.start] * turn[:, 2], direction @ turn.T
            if outward and not hasattr(model.machines[i].robot, "file"):
                mujoco.mj_multiRay(mj, data, middle, ways.ravel(), SEEN, True, int(model.hold[i]), many, far, None, len(far),
                                   reach + float(mount.max()))
                distance = np.where(far >= 0.0, np.maximum(far - mount, 0.0), np.inf)
            else:
                starts = middle + origin @ turn.T
                distance = np.array([_beyond_itself(mj, data, start, way, int(model.hold[i]), reach)
                                     for start, way in zip(starts, ways, strict=True)])
            out[w, i - robots.start] = np.where(distance <= reach, distance, np.inf)
    return out


def _beyond_itself(mj: Any, data: Any, start: Floats, way: Floats, own: int, reach: float) -> float:
    """How far it is along a ray to something that is not a part of the robot itself; infinity if nothing is within reach."""
    gone, hit = 0.0, np.empty(1, np.int32)
    while gone <= reach:
        distance = mujoco.mj_ray(mj, data, start + gone * way, way, SEEN, True, own, hit)
        if distance < 0.0:
            break
        gone += distance
        if mj.body_rootid[mj.geom_bodyid[hit[0]]] != mj.body_rootid[own]:
            return gone
        gone += 1e-4
    return float(np.inf)


def light(model: Model, state: State, diodes: Any, robots: slice) -> Floats:
    """Readings (W, n, S) of light sensors. Walls, obstacles and robots hide lamps by their heights; hills do not."""
    return planar.light(model.flat, state, diodes, robots)


def forces(model: Model, state: State) -> Floats:
    """What the first world's grips and joints do (K, 7): where, x y z; the force on who holds, in N; 0 grip, 1 joint."""
    rows: list[Any] = []
    for i in np.flatnonzero(state.grips[0, :, 0]):
        own = state.bodies[0, model.row_of[model.gripper[i]]]
        rows.append((*_point(own, model.jaw[i]), *state.grips[0, i, 14:], 0.0))
    for number, (joint, equalities) in enumerate(model.joints):
        if len(equalities) and state.joints[0, number, 0]:
            row = model.row_of[model.mj.eq_obj1id[equalities[0]]]
            anchor = model.mj.eq_data[equalities[0]]
            if row >= 0:
                rows.append((*_point(state.bodies[0, row], anchor[3:6] if joint.kind == "fixed" else anchor[:3]),
                             *state.joints[0, number, 1:4], 1.0))
    return np.array(rows).reshape(-1, 7)


def _point(pose: Floats, local: Floats) -> Floats:
    """A point of a body in the world."""
    out = np.empty(3)
    mujoco.mju_rotVecQuat(out, np.ascontiguousarray(local), pose[3:])
    return out + pose[:3]


__all__ = ["Event", "Model", "WorldError", "as_it_stands", "build", "carry_on", "cast", "cast_turned", "forces",
           "forces_of", "init", "light", "look", "paint", "put_down", "rays", "sample", "shadow", "step"]
