"""The posture in which an articulated robot starts: its joints, its lowest point, and motors that hold it."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from formiga.engine.spatial.model import Model
from formiga.engine.spatial.robots import Assembly
from formiga.errors import WorldError
from formiga.state import State
from formiga.world.elements import of, where

INTEGRATOR = int(mujoco.mjtDyn.mjDYN_INTEGRATOR)


def bend(model: Model, data: Any, machine: Assembly) -> None:
    """Put the hinges and sliders of a robot where its start posture has them."""
    for name, value in machine.robot.start_posture.items():
        joint = mujoco.mj_name2id(model.mj, mujoco.mjtObj.mjOBJ_JOINT, f"r{machine.number}/{name}")
        if joint < 0:
            raise WorldError(f"{where(machine.robot)}<{of(machine.robot).tag}> has no joint '{name}' for its start posture.")
        data.qpos[model.mj.jnt_qposadr[joint]] = value


def hold(model: Model, state: State, w: int, data: Any) -> None:
    """Let all motors hold the joints of world w as they are: those that take positions by their order, those that integrate
    a speed by where they have got to. A posture beyond the limits of a motor's orders is held at the limit."""
    mj = model.mj
    for i, k in np.argwhere(model.motor >= 0):
        motor = model.motor[i, k]
        place = mj.actuator_gear[motor, 0] * data.qpos[mj.jnt_qposadr[model.motor_joint[i, k]]]
        if mj.actuator_ctrllimited[motor]:
            place = float(np.clip(place, *mj.actuator_ctrlrange[motor]))
        if model.takes_place[i, k]:
            data.ctrl[motor] = place
            state.joint_command[w, i, k] = model.sign[i, k] * place
        elif mj.actuator_dyntype[motor] == INTEGRATOR and mj.actuator_actnum[motor] == 1:
            data.act[mj.actuator_actadr[motor]] = place


def lowest(mj: Any, data: Any, root: int) -> float:
    """z of the lowest point of a robot's geoms that touch something, as `data` has them; 0 if there is none."""
    found = [_bottom(mj, data, int(geom)) for geom in np.flatnonzero(mj.body_rootid[mj.geom_bodyid] == root)
             if mj.geom_contype[geom] or mj.geom_conaffinity[geom]]
    return min(found, default=0.0)


def _bottom(mj: Any, data: Any, geom: int) -> float:
    """z of the lowest point of a geom.

        support function of the shape along -z: h = max over its points p of -p_z
    """
    shape, size, z = int(mj.geom_type[geom]), mj.geom_size[geom], float(data.geom_xpos[geom, 2])
    down = np.abs(data.geom_xmat[geom].reshape(3, 3)[2])  # how far its own axes point up or down
    kinds = mujoco.mjtGeom
    if shape == int(kinds.mjGEOM_SPHERE):
        return z - float(size[0])
    if shape == int(kinds.mjGEOM_CAPSULE):
        return z - float(size[0] + size[1] * down[2])
    if shape == int(kinds.mjGEOM_CYLINDER):
        return z - float(size[0] * np.hypot(down[0], down[1]) + size[1] * down[2])
    if shape == int(kinds.mjGEOM_ELLIPSOID):
        return z - float(np.linalg.norm(size * down))
    if shape == int(kinds.mjGEOM_MESH):
        mesh = mj.geom_dataid[geom]
        first = mj.mesh_vertadr[mesh]
        points = mj.mesh_vert[first : first + mj.mesh_vertnum[mesh]]
        return z + float((points @ data.geom_xmat[geom].reshape(3, 3)[2]).min())
    middle, half = mj.geom_aabb[geom, :3], mj.geom_aabb[geom, 3:]  # a box is its own; of other shapes, the box around it
    return z + float(data.geom_xmat[geom].reshape(3, 3)[2] @ middle - half @ down)


__all__ = ["bend", "hold", "lowest"]
