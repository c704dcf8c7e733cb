"""A robot in three dimensions, in words and numbers: how it stands, what its motors do, what it holds and who holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.state import Grip
from formiga.world.contract import joint_names

if TYPE_CHECKING:
    from formiga.session.session import Session


def in_space(session: Session, robot: int) -> dict[str, Any]:
    """What there is to know about a robot besides what it has in the plane; nothing of one in the plane.

    z and tilt are of its chassis, pull is the force in N that its turret feels in its own frame. Each further motor has what it
    was told (by its own name), where it is (_at, rad or m) and with what it pushes (_force, N m or N). A recording knows poses
    only.
    """
    sim = session.sim
    model, state = sim.model, sim.state
    if not model.spatial:
        return {}
    own = state.bodies[0, model.chassis[robot]]
    up = 1.0 - 2.0 * (own[4] ** 2 + own[5] ** 2)  # of its vertical axis
    found: dict[str, Any] = {"z": float(own[2]), "tilt": float(np.arccos(np.clip(up, -1.0, 1.0)))}
    if session.replay is not None:
        return found
    from formiga.engine.spatial.gripping import name_of  # brings MuJoCo, which is there by now

    found["pull"] = np.array(state.pull[0, robot])
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
    found["held_by"] = " ".join(name_of(model, int(holder)) for holder in holders) or "nobody"
    return found


__all__ = ["in_space"]
