"""A motion in space that goes on: after an edit of the world, after something was put down by hand, and in a file."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from formiga.engine.spatial.gripping import name_of
from formiga.engine.spatial.model import EVERYTHING, Model
from formiga.engine.spatial.motors import axis_name, told
from formiga.engine.spatial.own import Coupling
from formiga.engine.spatial.robots import Assembly
from formiga.engine.spatial.start import join, put, rests_at
from formiga.engine.start import start_of
from formiga.geometry import PLACE, TURN, about_z, to_euler, wrap, yaw
from formiga.state import Grip, Movable, State
from formiga.world.contract import joint_names
from formiga.world.elements import of
from formiga.world.movables import JOINTS
from formiga.world.solids import AXES, Joint, Motor, Solid

SLIGHT = 1e-6            # m or rad: a robot closer than this to its pose in the state has not been moved
JOINT, ACTUATOR = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_ACTUATOR
WIDE = {int(mujoco.mjtJoint.mjJNT_FREE): (7, 6), int(mujoco.mjtJoint.mjJNT_BALL): (4, 3)}  # else (1, 1)
# where a solid starts, and what it is
STANDS = ("x", "y", "z", "roll", "pitch", "yaw", "shape", "size", "file", "scale", "fixed")


def carry_on(old: Model, before: State, new: Model, state: State, kept: NDArray[np.int64], still: NDArray[np.bool_]) -> None:
    """Let the motion of one world go on in another that was built from an edited description.

    kept (N,): the number that each robot had, -1 for a newcomer; still (N,): whether it is exactly where it was. A robot that
    is still keeps its pose, its speeds, its motors' angles and its grip, to the last bit; one that was moved is put down
    where it is now, upright and at rest, and keeps only the commands of its motors. Solids and movables go on unless their
    description has them start somewhere else; joints hold as they did if they and both of their bodies are still there.
    """
    source, target = before.scratch.data, state.scratch.data
    mujoco.mj_setState(old.mj, source, before.own.integration[0], EVERYTHING)
    mujoco.mj_setState(new.mj, target, state.own.integration[0], EVERYTHING)
    target.time = source.time
    motors = [number for number, was in enumerate(kept.tolist())
              if was >= 0 and _joint_names(old, was) == _joint_names(new, number)]
    for number in motors:
        K = len(_joint_names(new, number))
        state.joint_command[0, number, :K] = before.joint_command[0, kept[number], :K]
    same = {}                                                   # robots that go on: number now -> number before
    for number in np.flatnonzero(still).tolist():
        pairs = _paired(old.mj, _joints(old, kept[number]), new.mj, _joints(new, number))
        if pairs is not None and number in motors:
            same[number] = int(kept[number])
            _copy(old.mj, source, new.mj, target, pairs)
            _copy_place(old, source, int(kept[number]), new, target, number)
            _copy_motors(old.mj, source, f"r{kept[number]}/", new.mj, target, f"r{number}/")
            _copy_strains(old, source, int(kept[number]), new, target, number)
    things = _things(old, new)                                  # things that go on: number in world.things now -> before
    for own, was in _thing_joints(old, new, things):
        if (pairs := _paired(old.mj, [was], new.mj, [own])) is not None:
            _copy(old.mj, source, new.mj, target, pairs)
    _go_on_driving(old, before, new, state, source, target)
    mujoco.mj_kinematics(new.mj, target)
    _hold(old, before, new, state, same, things, target)
    mujoco.mj_getState(new.mj, target, state.own.integration[0], EVERYTHING)
    state.bodies[0, :, PLACE], state.bodies[0, :, TURN] = target.xpos[new.rows], target.xquat[new.rows]
    now, then = list(same), list(same.values())
    for array in ("position", "heading", "pull", "velocity"):
        getattr(state, array)[0, now] = getattr(before, array)[0, then]
    for i, j in same.items():
        K = len(_joint_names(new, i))
        state.joint_position[0, i, :K] = before.joint_position[0, j, :K]
        state.joint_effort[0, i, :K] = before.joint_effort[0, j, :K]
    _zones(old, before, new, state, kept)


def _joint_names(model: Model, number: int) -> tuple[str, ...]:
    return joint_names(model.machines[number].robot)


def _strains(model: Model, number: int) -> slice:
    """Where a robot's treels remember how they are strained: first those that slide, then those that stand, then others."""
    own = _kind(model.machines[number])
    first = sum(machine.memory for machine in model.machines if _kind(machine) < own)
    first += sum(machine.memory for machine in model.machines[:number] if _kind(machine) == own)
    return slice(first, first + model.machines[number].memory)


def _copy_strains(old: Model, source: Any, was: int, new: Model, target: Any, now: int) -> None:
    """Of a robot's treels; on a floor that is no longer bare they keep less."""
    to, given = target.userdata[_strains(new, now)], source.userdata[_strains(old, was)]
    shared = min(len(to), len(given))
    to[:shared] = given[:shared]


def _kind(machine: Assembly) -> int:
    return 0 if machine.sliding else 1 if machine.stands else 2


def _joints(model: Model, number: int) -> list[int]:
    """All joints of a robot, from its root on."""
    mj = model.mj
    root = mj.body_rootid[mj.body(model.machines[number].chassis).id]
    return [int(joint) for joint in np.flatnonzero(mj.body_rootid[mj.jnt_bodyid] == root)]


def _paired(old: Any, theirs: list[int], new: Any, ours: list[int]) -> list[tuple[int, int]] | None:
    """Joints of two models that are the same, or None if they are of other kinds."""
    if len(theirs) != len(ours) or any(old.jnt_type[a] != new.jnt_type[b] for a, b in zip(theirs, ours, strict=True)):
        return None
    return list(zip(theirs, ours, strict=True))


def _copy(old: Any, source: Any, new: Any, target: Any, pairs: list[tuple[int, int]]) -> None:
    """Places, speeds, and what the solver starts from."""
    for was, now in pairs:
        places, speeds = WIDE.get(int(new.jnt_type[now]), (1, 1))
        a, b = old.jnt_qposadr[was], new.jnt_qposadr[now]
        target.qpos[b : b + places] = source.qpos[a : a + places]
        a, b = old.jnt_dofadr[was], new.jnt_dofadr[now]
        for name in ("qvel", "qacc_warmstart", "qfrc_applied"):
            getattr(target, name)[b : b + speeds] = getattr(source, name)[a : a + speeds]


def _copy_place(old: Model, source: Any, was: int, new: Model, target: Any, now: int) -> None:
    """Where a machine is fixed; of a robot that moves, its joints say it."""
    before, after = (model.mj.body_mocapid[model.mj.body(model.machines[number].chassis).id]
                     for model, number in ((old, was), (new, now)))
    if before >= 0 and after >= 0:
        target.mocap_pos[after], target.mocap_quat[after] = source.mocap_pos[before], source.mocap_quat[before]


def _copy_motors(old: Any, source: Any, theirs: str, new: Any, target: Any, ours: str) -> None:
    """What motors remember, such as the angle that a servo holds; by their names behind a prefix."""
    for now in range(new.nu):
        name = mujoco.mj_id2name(new, ACTUATOR, now) or ""
        was = mujoco.mj_name2id(old, ACTUATOR, theirs + name[len(ours) :]) if name.startswith(ours) else -1
        if was < 0 or old.actuator_actnum[was] != new.actuator_actnum[now]:
            continue
        target.ctrl[now] = source.ctrl[was]
        a, b, count = old.actuator_actadr[was], new.actuator_actadr[now], new.actuator_actnum[now]
        if count > 0:
            target.act[b : b + count] = source.act[a : a + count]


def _go_on_driving(old: Model, before: State, new: Model, state: State, source: Any, target: Any) -> None:
    """Orders and efforts of the motors of joints that have the same ones, and what joints of the same name bore."""
    _copy_motors(old.mj, source, "joint/", new.mj, target, "joint/")
    known = {motor.name: (number, motor) for number, motor in enumerate(old.world.motors)}
    for number, motor in enumerate(new.world.motors):
        was, like = known.get(motor.name, (-1, None))
        if like is not None and _law(like) == _law(motor):
            state.motor_command[0, number] = before.motor_command[0, was]
            state.motor_effort[0, number] = before.motor_effort[0, was]
    target.ctrl[new.driven] = told(new, state, 0)
    loaded = {joint.name: number for number, (joint, _) in enumerate(old.joints)}
    for number, (joint, _) in enumerate(new.joints):
        if joint.name in loaded:
            state.loads[0, number] = before.loads[0, loaded[joint.name]]


def _law(motor: Motor) -> tuple[Any, ...]:
    """What an order to a motor means."""
    return motor.order, motor.mode, motor.low, motor.high


def _things(old: Model, new: Model) -> dict[int, int]:
    """Movables and solids that were not put elsewhere: their numbers now -> before."""
    def start(thing: Any) -> tuple[Any, ...]:
        return tuple(getattr(thing, name) for name in STANDS) if isinstance(thing, Solid) else start_of(thing)

    moving = {part.thing for part in old.parts if part.thing >= 0}
    known = {(type(thing), thing.name): (number, start(thing)) for number, thing in enumerate(old.world.things)
             if number in moving}
    found = {}
    for part in new.parts:
        if part.thing >= 0:
            thing = new.world.things[part.thing]
            number, began = known.get((type(thing), thing.name), (-1, ()))
            if began == start(thing):
                found[part.thing] = number
    return found


def _thing_joints(old: Model, new: Model, things: dict[int, int]) -> list[tuple[int, int]]:
    """Joints (now, before) of things that go on: their own freedom, and the hinges and sliders of the world between them."""
    def find(model: Model, name: str) -> int:
        return int(mujoco.mj_name2id(model.mj, JOINT, name))

    names = []
    for now, was in things.items():
        thing = new.world.things[now]
        names.append((f"solid/{thing.name}",) * 2 if isinstance(thing, Solid) else (f"movable{now}", f"movable{was}"))
    held = [joint for joint, _ in old.joints]
    names += [(axis_name(joint, axis),) * 2 for joint, _ in new.joints if joint in held for axis in (0, 1)]
    found = [(find(new, now), find(old, was)) for now, was in names]
    return [(now, was) for now, was in found if now >= 0 and was >= 0]


def _hold(old: Model, before: State, new: Model, state: State, same: dict[int, int], things: dict[int, int], data: Any) -> None:
    """Grips and joints whose two bodies both go on."""
    robots = {was: now for now, was in same.items()}
    for number in same:
        grip = before.grips[0, same[number]].copy()
        held = _held(old, new, int(grip[Grip.HELD]), robots, things) if grip[Grip.MODE] != Grip.OPEN else -1
        if held >= 0:
            grip[Grip.HELD] = held
            state.grips[0, number] = grip
    names = {name_of(new, now) for now, was in same.items() if name_of(new, now) == name_of(old, was)}
    names |= {str(new.world.things[number].name) for number in things} | {"floor"}
    names |= {thing.name for thing in new.world.things
             if isinstance(thing, Solid) and thing.fixed and thing in old.world.things}
    known = {joint.name: (number, joint, equalities) for number, (joint, equalities) in enumerate(old.joints)}
    for number, (joint, equalities) in enumerate(new.joints):
        was, like, theirs = known.get(joint.name, (-1, None, ()))
        if like == joint and len(theirs) == len(equalities):
            state.own.couplings[0, number] = before.own.couplings[0, was]
            data.eq_active[equalities] = state.own.couplings[0, number, Coupling.HOLDS] != 0.0
        if like == joint and len(theirs) == len(equalities) and {joint.one, joint.other} <= names:
            new.mj.eq_data[equalities] = old.mj.eq_data[theirs]
        else:
            join(new, data, joint, equalities, state.own.couplings[0, number])  # they hold each other as they are now


def _held(old: Model, new: Model, held: int, robots: dict[int, int], things: dict[int, int]) -> int:
    """What was held, as it is numbered now; -1 if it is gone."""
    if held < len(old.machines):
        return robots.get(held, -1)
    was = int(old.held[held - len(old.machines), 1])
    for row, (_, thing) in enumerate(new.held):
        if things.get(int(thing), -1) == was:
            return len(new.machines) + row
    return -1


def _zones(old: Model, before: State, new: Model, state: State, kept: NDArray[np.int64]) -> None:
    """Which robots are in which zone, so that none is said to come in twice."""
    known = {zone.name: number for number, (_, zone) in enumerate(old.triggers)}
    stayed = kept >= 0
    for number, (_, zone) in enumerate(new.triggers):
        if zone.name in known:
            state.scratch.inside[0, number, stayed] = before.scratch.inside[0, known[zone.name], kept[stayed]]


# -- by hand ------------------------------------------------------------------------------------------------------------
def put_down(model: Model, state: State) -> None:
    """A robot that the state has at another place or heading than its body is put down there, upright and at rest, with
    nothing in its grip; movables also get the speeds that the state says."""
    for w in range(model.worlds):
        own = state.bodies[w, model.chassis]
        moved = _elsewhere(state.position[w], state.heading[w], own)
        movables = state.movables[w]
        lying = _elsewhere(movables[:, Movable.PLACE], movables[:, Movable.HEADING], state.bodies[w, model.movables])
        if moved.any() or lying.any():
            _put_down(model, state, w, np.flatnonzero(moved), np.flatnonzero(lying))


def _elsewhere(position: Any, heading: Any, bodies: Any) -> Any:
    turn = wrap(heading - yaw(bodies[:, TURN]))
    return (np.abs(position - bodies[:, :2]) > SLIGHT).any(axis=1) | (np.abs(turn) > SLIGHT)


def _put_down(model: Model, state: State, w: int, robots: Any, lying: Any) -> None:
    mj, data = model.mj, state.scratch.data
    mujoco.mj_setState(mj, data, state.own.integration[w], EVERYTHING)
    for number in robots:
        machine = model.machines[number]
        for joint in _joints(model, number):
            first, speeds = mj.jnt_dofadr[joint], WIDE.get(int(mj.jnt_type[joint]), (1, 1))[1]
            data.qvel[first : first + speeds] = data.qacc_warmstart[first : first + speeds] = 0.0
        x, y = state.position[w, number].tolist()
        put(model, data, machine, x, y, float(state.heading[w, number]))
        if machine.sliding and (under := mujoco.mj_name2id(mj, JOINT, f"r{number}/under")) >= 0:
            data.qpos[mj.joint(f"r{number}/turn").qposadr[0]] -= data.qpos[mj.jnt_qposadr[under]]
        data.userdata[_strains(model, number)] = 0.0
        state.velocity[w, number] = state.pull[w, number] = 0.0
        state.grips[w, number] = 0.0
        holders = (state.grips[w, :, Grip.MODE] != Grip.OPEN) & (state.grips[w, :, Grip.HELD] == number)
        state.grips[w, holders] = 0.0
    for number in lying:
        index = model.parts[model.movables[number]].thing
        joint = mj.joint(f"movable{index}")
        place, speed = joint.qposadr[0], joint.dofadr[0]
        x, y, heading, vx, vy, spin = state.movables[w, number, Movable.MOTION]
        thing = model.world.things[index]
        data.qpos[place : place + 7] = x, y, rests_at(model.world, thing, x, y), *about_z(heading)
        data.qvel[speed : speed + 6] = vx, vy, 0.0, 0.0, 0.0, spin
        for row in np.flatnonzero(model.held[:, 1] == index):
            holders = (state.grips[w, :, Grip.MODE] != Grip.OPEN) & (state.grips[w, :, Grip.HELD] == len(model.machines) + row)
            state.grips[w, holders] = 0.0
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_getState(mj, data, state.own.integration[w], EVERYTHING)
    state.bodies[w, :, PLACE], state.bodies[w, :, TURN] = data.xpos[model.rows], data.xquat[model.rows]
    state.scratch.awake[w] = True


# -- a world that begins as this one is --------------------------------------------------------------------------------------
def as_it_stands(model: Model, state: State) -> dict[int, dict[str, Any] | None]:
    """Where solids and joints of the first world are now: number in `world.things` -> attributes of its description, or None
    for a joint that broke. What has not moved at all stays as it was written."""
    mj, data, world, still = model.mj, state.scratch.data, model.world, _unmoved(model, state)
    mujoco.mj_setState(mj, data, state.own.integration[0], EVERYTHING)
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_comPos(mj, data)  # anchors and axes
    mujoco.mj_transmission(mj, data)  # and how far angular motors have turned
    found: dict[int, dict[str, Any] | None] = {}
    for row, part in enumerate(model.parts):
        if part.thing >= 0 and isinstance(world.things[part.thing], Solid) and world.things[part.thing].name not in still:
            x, y, z = state.bodies[0, row, PLACE].tolist()
            roll, pitch, turn = map(float, to_euler(state.bodies[0, row, TURN]))
            found[part.thing] = {"x": x, "y": y, "z": z, "roll": roll, "pitch": pitch, "yaw": turn}
    numbers = [index for index, thing in enumerate(world.things) if isinstance(thing, (Joint, *JOINTS))]
    for row, (index, (joint, equalities)) in enumerate(zip(numbers, model.joints, strict=True)):
        if state.own.couplings[0, row, Coupling.HOLDS] == 0.0:
            found[index] = None
            continue
        known = of(world.things[index]).kinds  # a <weld> has no point, a <pin> no z
        now = _joint_now(mj, data, joint, equalities) if not {joint.one, joint.other} <= still else {}
        now |= _orders_now(model, state, joint, now)
        found[index] = {name: value for name, value in now.items() if name in known}
    return found


def _unmoved(model: Model, state: State) -> set[str]:
    """Names of solids that are where they began, to the last bit, and of the floor."""
    start = mujoco.MjData(model.mj)
    mujoco.mj_kinematics(model.mj, start)
    began = np.hstack([start.xpos[model.rows], start.xquat[model.rows]])
    moved = {model.world.things[part.thing].name for row, part in enumerate(model.parts)
             if part.thing >= 0 and not np.array_equal(state.bodies[0, row], began[row])}
    return {"floor", *(thing.name for thing in model.world.things if isinstance(thing, Solid))} - moved


def _joint_now(mj: Any, data: Any, joint: Joint, equalities: Any) -> dict[str, Any]:
    """Where a joint and its axes are now."""
    if len(equalities):
        number = equalities[0]
        body = mj.eq_obj1id[number]
        local = mj.eq_data[number, 3:6] if joint.kind == "fixed" else mj.eq_data[equalities, :3].mean(axis=0)
        turn = data.xmat[body].reshape(3, 3)
        point = data.xpos[body] + turn @ local
        now: dict[str, Any] = dict(zip("xyz", point.tolist()))
        if joint.kind == "hinge":
            now["axis"] = tuple((turn @ (mj.eq_data[equalities[1], :3] - mj.eq_data[equalities[0], :3]) / 0.04).tolist())
        return now
    if joint.kind == "angular":
        return _angular_now(mj, data, joint)
    first = mujoco.mj_name2id(mj, JOINT, axis_name(joint, 0))
    if first < 0:  # fixed: it has no joint of its own
        return {}
    now = dict(zip("xyz", data.xanchor[first].tolist()))
    for axis in range(AXES.get(joint.kind, 0)):
        number, more = mujoco.mj_name2id(mj, JOINT, axis_name(joint, axis)), "2" * axis
        now[f"axis{more}"] = tuple(data.xaxis[number].tolist())
        now[f"start{more}"] = float(data.qpos[mj.jnt_qposadr[number]])
    return now


def _angular_now(mj: Any, data: Any, joint: Joint) -> dict[str, Any]:
    """Where the axis of an angular motor points now, and what is left to its limits."""
    one, motor = mj.site(f"joint/{joint.name}/one").id, mj.actuator(axis_name(joint, 0)).id
    now: dict[str, Any] = {"axis": tuple((data.site_xmat[one].reshape(3, 3) @ np.array(joint.axis)).tolist())}
    at = float(data.actuator_length[motor])
    if joint.lower is not None and joint.upper is not None:
        now["lower"], now["upper"] = joint.lower - at, joint.upper - at
    return now | ({"motor": -at} if joint.mode == "position" else {})


def _orders_now(model: Model, state: State, joint: Joint, now: dict[str, Any]) -> dict[str, Any]:
    """What its motors are ordered now; positions of an angular motor count from where it is, which is `now` already."""
    orders = zip(model.world.motors, state.motor_command[0].tolist(), strict=True)
    found = {"motor" + "2" * motor.axis: order for motor, order in orders if motor.joint is joint}
    return {name: order + now.get(name, 0.0) for name, order in found.items()}


__all__ = ["as_it_stands", "carry_on", "put_down"]
