"""Joints of solids: their axes, limits and motors as MuJoCo has them, what motors are ordered, and what joints bear.

A motor in velocity mode pulls with `strength` at a fifth of `top` off its order, and has a rotor that it speeds up in RISE;
one in position mode pulls with `strength` at GIVES off. Without these a motor that is cut at its strength while it turns
something light would swing between the two ends of it.
"""

from __future__ import annotations

from math import pi
from typing import Any

import mujoco
import numpy as np

from formiga.engine.spatial.own import Coupling
from formiga.engine.spatial.robots import hinge, slide
from formiga.geometry import rotate_back
from formiga.state import Floats, Load, State
from formiga.world.solids import AXES, Joint, Motor

OFF = 0.2                             # of `top`, at which a motor in velocity mode pulls with its strength
RISE = 0.05                           # s in which its rotor alone would reach `top`
GIVES = {"slider": 0.01}              # m, at which a motor in position mode pulls with its strength;
TURNS_OFF = 0.05                      # rad, the same of all other kinds
BRISK = 20.0                          # rad/s, frequency of a motor in position mode with nothing but its rotor
ACTUATOR, JOINT, SITE = mujoco.mjtObj.mjOBJ_ACTUATOR, mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_SITE
BALL = mujoco.mjtJoint.mjJNT_BALL


# -- axes and motors ----------------------------------------------------------------------------------------------------
def axis_name(joint: Joint, axis: int) -> str:
    """Of an axis of a joint, and of its motor, in the compiled model."""
    return f"joint/{joint.name}" + "'" * axis


def add_axes(spec: Any, body: Any, joint: Joint, point: Any, turn: Any) -> None:
    """The freedoms of a body that a joint makes a part of another; point: of the joint, in the body's frame."""
    if joint.kind == "ball":
        body.add_joint(name=axis_name(joint, 0), type=BALL, pos=point)
        return
    sides = zip((joint.axis, joint.axis2), (joint.first, joint.second), strict=True)
    for k, (axis, (lower, upper, *_)) in list(enumerate(sides))[: AXES.get(joint.kind, 0)]:
        made = body.add_joint(name=axis_name(joint, k), type=slide if joint.kind == "slider" else hinge, pos=point,
                              axis=rotate_back(turn, np.array(axis)))
        scale = 1.0 if joint.kind == "slider" else 180.0 / pi
        made.ref = scale * (joint.start, joint.start2)[k]
        if lower is not None and upper is not None:
            made.limited, made.range = mujoco.mjtLimited.mjLIMITED_TRUE, (scale * lower, scale * upper)
        for motor in joint.motors:
            if motor.axis == k:
                made.armature = _rotor(motor)
                _set(spec.add_actuator(name=made.name, target=made.name, trntype=JOINT), motor)


def add_angular(spec: Any, joint: Joint, sides: tuple[tuple[Any, Any], tuple[Any, Any]]) -> None:
    """A motor that turns one body against another and holds no point; sides: of `one` and `other`, the body and how it is
    turned at the start. Both get a frame that is the world's at the start, in which MuJoCo measures the turn between them."""
    for (body, turn), side in zip(sides, ("one", "other"), strict=True):
        body.add_site(name=f"joint/{joint.name}/{side}", quat=turn * (1.0, -1.0, -1.0, -1.0), group=5)
    motor, axis = joint.motors[0], np.array(joint.axis) / np.linalg.norm(joint.axis)
    made = spec.add_actuator(name=axis_name(joint, 0), target=f"joint/{joint.name}/other", refsite=f"joint/{joint.name}/one",
                             trntype=SITE, gear=(0.0, 0.0, 0.0, *axis))
    _set(made, motor)
    if joint.lower is not None and joint.upper is not None and motor.mode == "velocity":
        made.set_to_intvelocity(kp=motor.strength / TURNS_OFF, dampratio=1.0)
        made.actlimited, made.actrange = True, (joint.lower, joint.upper)  # it stops there, with its own strength


def _rotor(motor: Motor) -> float:
    """Inertia that a motor adds to its axis; none to those without `top` in velocity mode, which start softly."""
    if motor.mode == "velocity" and motor.top is not None:
        return motor.strength * RISE / motor.top
    return motor.strength / TURNS_OFF / BRISK**2 if motor.mode == "position" and motor.joint.kind != "slider" else 0.0


def _set(made: Any, motor: Motor) -> None:
    """The law of a motor."""
    most = 1.01 * motor.strength  # a motor that is cut while it starts overshoots
    made.forcelimited, made.forcerange = True, (-most, most)
    if motor.mode == "torque":
        made.set_to_motor()
    elif motor.mode == "position":
        made.set_to_position(kp=motor.strength / GIVES.get(motor.joint.kind, TURNS_OFF), dampratio=1.0)
    elif motor.top is None or motor.joint.kind == "angular":
        made.set_to_velocity(kv=motor.strength / max(abs(motor.order), motor.top or 0.0, 1e-3))
    else:
        made.set_to_velocity(kv=motor.strength / (OFF * motor.top))


# -- orders ---------------------------------------------------------------------------------------------------------------
def told(model: Any, state: State, w: int) -> Floats:
    """What the motors of world w are ordered, cut at their limits."""
    return np.clip(state.motor_command[w], model.motor_range[0], model.motor_range[1])


def newly_told(model: Any, state: State, w: int) -> bool:
    """Whether a motor is ordered something else than in the last step."""
    return bool(len(model.driven) and (state.own.integration[w, model.ctrl][model.driven] != told(model, state, w)).any())


def begin(model: Any, state: State, w: int, data: Any) -> None:
    """Orders as the world's description has them."""
    state.motor_command[w] = [motor.order for motor in model.world.motors]
    data.ctrl[model.driven] = told(model, state, w)


# -- what joints bear -----------------------------------------------------------------------------------------------------
def bear(model: Any, state: State, w: int, data: Any) -> None:
    """Forces and torques in the joints of MuJoCo's tree, and efforts of motors, in the last substep; to be called before the
    bodies are moved on.

    What goes through such a joint is all that moves what hangs on it against gravity and contacts [Featherstone 2008, recursive
    Newton-Euler]; MuJoCo gives it at the middle of the mass of the whole tree.
    """
    state.motor_effort[w] = data.actuator_force[model.driven]
    for number, motor in model.angular:
        one, other = (data.site(f"joint/{model.joints[number][0].name}/{side}") for side in ("one", "other"))
        torque = data.actuator_force[motor] * (one.xmat.reshape(3, 3) @ model.mj.actuator_gear[motor, 3:])
        state.own.couplings[w, number, Coupling.TORQUE] = torque
        share(state, w, number, np.zeros(3), torque, other.xpos, one.xpos, other.xpos)
    if not len(model.hung):
        return
    mj = model.mj
    mujoco.mj_rnePostConstraint(mj, data)
    for number, body, one in model.hung:
        torque, force = data.cfrc_int[body, :3], data.cfrc_int[body, 3:]
        centre = data.subtree_com[mj.body_rootid[body]]
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ model.anchors[number]
        at_point = torque + np.cross(centre - point, force)
        state.own.couplings[w, number, Coupling.WRENCH] = *force, *at_point
        share(state, w, number, force, at_point, point, data.xipos[one] if one > 0 else point, data.xipos[body])


def share(state: State, w: int, number: int, force: Any, torque: Any, point: Any, one: Any, other: Any) -> None:
    """Note what a joint does to its two bodies: force and torque on `other` at a point, and the places of both masses."""
    loads = state.loads[w, number]
    loads[Load.FORCE_OTHER], loads[Load.TORQUE_OTHER] = force, torque + np.cross(point - other, force)
    loads[Load.FORCE_ONE], loads[Load.TORQUE_ONE] = -force, -torque - np.cross(point - one, force)


# -- facts ----------------------------------------------------------------------------------------------------------------
def facts(model: Any, state: State, number: int) -> dict[str, Any]:
    """About one joint of the first world, by name: whether it holds, where its axes are and how fast, what its motors are
    ordered and do, and what it bears: force and torque on `other` at its point, and on each side about its own middle."""
    joint, _ = model.joints[number]
    coupling = state.own.couplings[0, number]
    found: dict[str, Any] = {"holds": bool(coupling[Coupling.HOLDS])}
    for axis in range(AXES.get(joint.kind, 0)):
        freedom = mujoco.mj_name2id(model.mj, mujoco.mjtObj.mjOBJ_JOINT, axis_name(joint, axis))
        if freedom >= 0:
            found["at" + "2" * axis] = float(state.own.integration[0, model.places[model.mj.jnt_qposadr[freedom]]])
            found["speed" + "2" * axis] = float(state.own.integration[0, model.rates[model.mj.jnt_dofadr[freedom]]])
    for row, motor in enumerate(model.world.motors):
        if motor.joint is joint:
            found["order" + "2" * motor.axis] = float(state.motor_command[0, row])
            found["effort" + "2" * motor.axis] = float(state.motor_effort[0, row])
    found |= {"force": coupling[Coupling.FORCE].copy(), "torque": coupling[Coupling.TORQUE].copy()}
    return found | dict(zip(Load.NAMES, state.loads[0, number].reshape(4, 3).copy(), strict=True))


__all__ = ["add_angular", "add_axes", "axis_name", "bear", "begin", "facts", "newly_told", "share", "told"]
