"""How a world begins: robots placed as in the plane and set down on the ground, things laid out, joints closed."""

from __future__ import annotations

from math import hypot
from typing import Any

import mujoco
import numpy as np

from formiga.engine.ground import highest
from formiga.engine.place import place
from formiga.engine.spatial.gripping import aimed, name_of
from formiga.engine.spatial.impacts import rolls_at_once
from formiga.engine.spatial.model import Model
from formiga.engine.spatial.motion import stepper
from formiga.engine.spatial.own import Coupling
from formiga.engine.spatial.posture import lowest
from formiga.engine.spatial.robots import GROUND, WHEEL, Assembly
from formiga.errors import WorldError
from formiga.geometry import about_z, from_euler, multiply, yaw
from formiga.state import Floats
from formiga.world.elements import where
from formiga.world.model import Ball, World

DEEP = 0.01     # m
SETTLING = 0.3  # s that robots on wheels have to come to rest before the start
MOST_SETTLING = 300  # steps of motion in that time


def places(model: Model, keys: Any) -> tuple[Any, Any]:
    """Where the placement rules put the robots of worlds with these keys: positions (K, N, 2) and headings (K, N)."""
    world, clear = model.placing
    return place(world, model.above.fixed, keys, clear)


def refuse_overlaps(model: Model, data: Any) -> None:
    """Refuse bodies that start deep inside each other, the ground, or another part of their own robot: a solver would shoot
    them apart."""
    if data.ncon == 0:
        return
    for (one, other), gap in zip(data.contact.geom, data.contact.dist, strict=True):
        if gap < -DEEP:
            found = [_named(model, int(model.mj.geom_bodyid[geom]), bool(model.ground[geom])) for geom in (one, other)]
            place = where(next((element for _, element in reversed(found) if element is not None), model.world))
            names = " and ".join(name for name, _ in found)
            parts = [model.parts[row] for geom in (one, other) if (row := model.row_of[model.mj.geom_bodyid[geom]]) >= 0]
            if len(parts) == 2 and parts[0].robot == parts[1].robot >= 0:
                raise WorldError(f"{place}{parts[0].name} and {parts[1].name} of {found[0][0]} overlap by {-gap:.2g} m at the "
                                 "start. Change its posture.")
            bent = any(model.machines[part.robot].robot.start_posture for part in parts if part.robot >= 0)
            raise WorldError(f"{place}{names} overlap by {-gap:.2g} m at the start. Move one of them"
                             + (", or change the posture." if bent else "."))


def _named(model: Model, body: int, ground: bool) -> tuple[str, Any]:
    """What a body is called, and the element of the world that it is of, if it is one."""
    if (row := model.row_of[body]) >= 0:
        part = model.parts[row]
        if part.robot >= 0:
            group = next(group for group, robots in zip(model.world.groups, model.world.slices, strict=True)
                         if robots.start <= part.robot < robots.stop)
            return f"'{name_of(model, part.robot)}'", group
        return f"'{model.world.things[part.thing].name}'", model.world.things[part.thing]
    for held, index in model.held:
        if held == body:
            return f"'{model.world.things[index].name}'", model.world.things[index]
    return "the ground" if ground else "a wall or an obstacle", None


def settle(model: Model, data: Any) -> None:
    """Let robots on wheels come to rest on the ground before the clock starts; everything else stays as it is."""
    mj = model.mj
    if not any(machine.settles for machine in model.machines):
        return
    place, speed, warm = data.qpos.copy(), data.qvel.copy(), data.act.copy()
    touches = mj.geom_contype.copy(), mj.geom_conaffinity.copy()
    theirs = np.isin(mj.geom_bodyid, model.rows[[part.robot >= 0 for part in model.parts]]) | model.ground
    mj.geom_contype[:] = np.where(theirs, touches[0] & (GROUND | WHEEL), 0)  # robots meet nothing but the ground
    mj.geom_conaffinity[:] = np.where(theirs, touches[1] & (GROUND | WHEEL), 0)
    step = mj.opt.timestep
    mj.opt.timestep = max(step, SETTLING / MOST_SETTLING)
    once = stepper(model, data, np.zeros((1, len(model.machines), 3)))
    for _ in range(max(1, round(SETTLING / mj.opt.timestep))):
        once()
    mj.opt.timestep = step
    mj.geom_contype[:], mj.geom_conaffinity[:] = touches
    rolls = np.array([part.robot >= 0 and model.machines[part.robot].settles for part in model.parts])
    moved = np.isin(mj.jnt_bodyid, model.rows[rolls])
    stays = np.ones(mj.nq, np.bool_)
    for joint in np.flatnonzero(moved):
        wide = 7 if mj.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE else 1
        stays[mj.jnt_qposadr[joint] : mj.jnt_qposadr[joint] + wide] = False
    if not np.isfinite(data.qpos).all():
        stays[:] = True
    data.qpos[stays], data.qvel[:], data.act[:], data.time = place[stays], speed, warm, 0.0
    data.qacc_warmstart[:] = 0.0


def put(model: Model, data: Any, machine: Assembly, x: float, y: float, heading: float, *, start: bool = False) -> None:
    """Set a robot down at a place on the ground, upright; at the start as high and as tilted as its <at> has it. A fixed robot
    keeps the height and the attitude of its <at>."""
    mj, rule = model.mj, machine.at
    if machine.sliding:
        at = mj.joint(f"r{machine.number}/x").qposadr[0]
        data.qpos[at : at + 3] = x, y, heading
        return
    root = mj.body(machine.chassis)
    ground = highest(model.world, x, y, machine.foot)
    if (fixed := mj.body_mocapid[root.id]) >= 0:  # its height, roll and pitch are those of its file, unless <at> has others
        data.mocap_quat[fixed] = multiply(about_z(heading - yaw(root.quat)), root.quat)
        data.mocap_pos[fixed] = x, y, ground + (machine.lift or 0.0) + root.pos[2]
        if rule is not None:
            file = multiply(about_z(-yaw(root.quat)), root.quat)
            data.mocap_quat[fixed] = multiply(from_euler(rule.roll, rule.pitch, heading), file)
            data.mocap_pos[fixed, 2] = data.mocap_pos[fixed, 2] if rule.z is None else rule.z
        return
    first = mj.body_jntadr[root.id]
    if first >= 0 and mj.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE:
        at, rule = mj.jnt_qposadr[first], rule if start else None
        data.qpos[at : at + 2] = x, y
        data.qpos[at + 3 : at + 7] = about_z(heading) if rule is None else from_euler(rule.roll, rule.pitch, heading)
        data.qpos[at + 2] = ground + (machine.lift or 0.0)
        if rule is not None and rule.z is not None:
            data.qpos[at + 2] = rule.z
        elif machine.lift is None:
            mujoco.mj_kinematics(mj, data)
            data.qpos[at + 2] += ground - lowest(mj, data, int(mj.body_rootid[root.id]))


def lay(model: Model, data: Any, thing: Any) -> None:
    """A ball, puck or block where the world says."""
    at = model.mj.joint(f"movable{model.world.things.index(thing)}").qposadr[0]
    data.qpos[at : at + 3] = thing.x, thing.y, rests_at(model.world, thing, thing.x, thing.y)
    data.qpos[at + 3 : at + 7] = about_z(thing.heading)
    dof = model.mj.joint(f"movable{model.world.things.index(thing)}").dofadr[0]
    data.qvel[dof : dof + 2] = thing.vx, thing.vy
    if isinstance(thing, Ball) and rolls_at_once(thing):
        data.qvel[dof + 3 : dof + 5] = -thing.vy / thing.radius, thing.vx / thing.radius


def join(model: Model, data: Any, joint: Any, equalities: Any, row: Floats) -> None:
    """Aim the equalities of a joint at its two bodies as they are now; `row` of the state's joints keeps how."""
    mj = model.mj
    for k, equality in enumerate(equalities):
        one, other = mj.eq_obj1id[equality], mj.eq_obj2id[equality]
        point = np.array([joint.x, joint.y, joint.z])
        if joint.kind == "hinge":
            point = point + (2 * k - 1) * 0.02 * np.array(joint.axis) / np.linalg.norm(joint.axis)
        pose = [np.concatenate([data.xpos[body], data.xquat[body]]) for body in (one, other)]
        row[Coupling.equality(k)] = mj.eq_data[equality, :11] = aimed(pose[0], pose[1], point, joint.kind != "fixed")


def rests_at(world: World, thing: Any, x: float, y: float) -> float:
    """How high the origin of a ball, puck or block is when it lies at a place: that of a ball is its middle."""
    spread = max(hypot(x, y) for x, y in thing.outline) if thing.outline else float(thing.radius)
    return highest(world, x, y, spread) + (spread if isinstance(thing, Ball) else 0.0)
