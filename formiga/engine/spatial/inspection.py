"""What viewers ask of the spatial engine, about the first world: events, grips, forces, and one robot's facts."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from formiga.engine.events import Event, Pull, Touch
from formiga.engine.spatial.gripping import name_of
from formiga.engine.spatial.model import EVERYTHING, Model
from formiga.engine.spatial.motors import axis_name, facts
from formiga.engine.spatial.own import Coupling
from formiga.geometry import PLACE, TURN, to_euler, to_world
from formiga.state import Floats, Grip, State
from formiga.world.contract import joint_names
from formiga.world.solids import Joint, Solid


def events(model: Model, state: State) -> list[Event]:
    """What happened in the last step."""
    happened: list[Event] = state.scratch.events
    return happened


def contacts(model: Model, state: State) -> Floats:
    """None (0, 7): MuJoCo keeps forces of contacts, and no impulses."""
    return np.zeros((0, Touch.COLUMNS))


def forces(model: Model, state: State) -> Floats:
    """Forces of grips and joints (K, 7): where, x y z; the force on the holder, in N; 0 grip, 1 joint."""
    rows: list[Any] = []
    for i in np.flatnonzero(state.grips[0, :, Grip.MODE]):
        own = state.bodies[0, model.row_of[model.gripper[i]]]
        rows.append((*to_world(own, model.jaw[i]), *state.grips[0, i, Grip.PULL], Pull.GRIP))
    for number, (joint, equalities) in enumerate(model.joints):
        if len(equalities) and state.own.couplings[0, number, Coupling.HOLDS]:
            row = model.row_of[model.mj.eq_obj1id[equalities[0]]]
            anchor = model.mj.eq_data[equalities[0]]
            if row >= 0:
                rows.append((*to_world(state.bodies[0, row], anchor[3:6] if joint.kind == "fixed" else anchor[:3]),
                             *state.own.couplings[0, number, Coupling.FORCE], Pull.JOINT))
    for number, body, _ in model.hung:
        rows.append((*to_world(state.bodies[0, model.row_of[body]], model.anchors[number]),
                     *state.own.couplings[0, number, Coupling.FORCE], Pull.JOINT))
    return np.array(rows).reshape(-1, Pull.COLUMNS)


def inspect_thing(model: Model, state: State, index: int) -> dict[str, Any]:
    """Facts about one thing, by name: where a solid that moves is now, and what there is to know about a joint."""
    thing = model.world.things[index]
    if isinstance(thing, Solid):
        rows = [row for row, part in enumerate(model.parts) if part.thing == index]
        if not rows:
            return {}
        x, y, z = state.bodies[0, rows[0], PLACE].tolist()
        roll, pitch, yaw = map(float, to_euler(state.bodies[0, rows[0], TURN]))
        return {"x": x, "y": y, "z": z, "roll": roll, "pitch": pitch, "yaw": yaw}
    if isinstance(thing, Joint):
        found = facts(model, state, next(number for number, (joint, _) in enumerate(model.joints) if joint is thing))
        return found | (_turned(model, state, thing) if thing.kind == "angular" else {})
    return {}


def _turned(model: Model, state: State, joint: Joint) -> dict[str, float]:
    """How far an angular motor has turned `other` against `one`, from -pi to pi, and how fast."""
    mj, data = model.mj, state.scratch.data
    motor = mj.actuator(axis_name(joint, 0)).id
    mujoco.mj_setState(mj, data, state.own.integration[0], EVERYTHING)
    mujoco.mj_fwdPosition(mj, data)
    mujoco.mj_fwdVelocity(mj, data)
    return {"at": float(data.actuator_length[motor]), "speed": float(data.actuator_velocity[motor])}


def holding(model: Model, state: State) -> NDArray[Any]:
    """Closed grips (P, 2): the robot that holds, and the robot that is held, or N + the number in `world.things`."""
    robots, pairs = model.world.robots, []
    for holder in np.flatnonzero(state.grips[0, :, Grip.MODE]).tolist():
        held = int(state.grips[0, holder, Grip.HELD])
        pairs.append((holder, held if held < robots else robots + int(model.held[held - robots, 1])))
    return np.array(pairs, np.int64).reshape(-1, 2)


def inspect(model: Model, state: State, robot: int) -> dict[str, Any]:
    """Facts about one robot, by name.

    z and tilt are of its chassis, pull is the force in N that its turret feels in its own frame. Each joint has its last
    command (by its own name), its position (_at, rad or m) and its effort (_force, N m or N).
    """
    own = state.bodies[0, model.chassis[robot]]
    up = 1.0 - 2.0 * (own[4] ** 2 + own[5] ** 2)  # of its vertical axis
    found: dict[str, Any] = {"z": float(own[2]), "tilt": float(np.arccos(np.clip(up, -1.0, 1.0))),
                             "pull": np.array(state.pull[0, robot])}
    for number, name in enumerate(joint_names(model.machines[robot].robot)):
        found[name] = float(state.joint_command[0, robot, number])
        if model.motor[robot, number] >= 0:
            found[f"{name}_at"] = float(state.joint_position[0, robot, number])
            found[f"{name}_force"] = float(state.joint_effort[0, robot, number])
    if model.grips[robot, 0] >= 0:
        kind, held, force = state.grips[0, robot, : Grip.AIM.start]
        found["holds"] = name_of(model, int(held)) if kind else "nothing"
        found["grip_force"] = float(force)
    holders = np.flatnonzero((state.grips[0, :, Grip.MODE] > 0) & (state.grips[0, :, Grip.HELD] == robot))
    found["held_by"] = " ".join(name_of(model, int(holder)) for holder in holders) or "nothing"
    return found


__all__ = ["contacts", "events", "forces", "holding", "inspect", "inspect_thing"]
