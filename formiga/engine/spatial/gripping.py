"""Grippers and joints that hold by force: what is gripped, how hard everything pulls, and what gives way.

A gripper is an equality of MuJoCo between its own body and another that is aimed when it closes: no robot needs one for every
other robot. What holds is in the state, so that worlds can share a model and a run can be taken up anywhere.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import mujoco
import numpy as np

from formiga.engine.events import Event
from formiga.engine.spatial.model import Model
from formiga.engine.spatial.motors import share
from formiga.engine.spatial.own import Coupling
from formiga.geometry import PLACE, TURN, relative, rotate_back, to_body, to_world, up_axis
from formiga.kernels import kernel
from formiga.state import Grip, State

AIM = [Grip.MODE, Grip.HELD, *range(Grip.AIM.start, Grip.AIM.stop)]  # columns that say what is held and how
LASTING = 0.05           # s, that a pull has to last to open a gripper: it feels a mean over so long
CLOSED = 0.5             # orders above this close a gripper
TALL = 0.05              # m, how far above or below the jaw a robot's ring may be


def aim(model: Model, state: State, w: int, data: Any, loaded: Any) -> None:
    """Point the equalities of grippers and joints where the state says; loaded (N, 13): where the grippers' point now."""
    for number, (_, equalities) in enumerate(model.joints):  # they may have been aimed at another world's bodies
        for k, equality in enumerate(equalities):
            model.mj.eq_data[equality, :11] = state.own.couplings[w, number, Coupling.equality(k)]
    if len(model.grippers) == 0:
        return
    grips, N, able = state.grips[w], len(model.machines), model.grippers[:, 0]
    data.eq_active[model.grips[able, 0]] = grips[able, Grip.MODE] == Grip.RIGID
    data.eq_active[model.grips[able, 1]] = grips[able, Grip.MODE] == Grip.LOOSE
    now = grips[:, AIM]
    for i in np.flatnonzero((now != loaded).any(axis=1) & (grips[:, Grip.MODE] != Grip.OPEN)):
        held, number = int(grips[i, Grip.HELD]), model.grips[i, int(grips[i, Grip.MODE]) - 1]
        model.mj.eq_obj2id[number] = model.hold[held] if held < N else model.held[held - N, 0]
        model.mj.eq_data[number, :11] = grips[i, Grip.AIM]
    loaded[...] = now


def grip_all(model: Model, state: State, w: int, events: list[Event]) -> None:
    """Close and open the grippers of a world as ordered; that of a robot that is not alive stays as it is."""
    N, at = len(model.machines), model.grippers[:, 0]
    if len(at) == 0:
        return
    holding, torn = state.grips[w, at, Grip.MODE] != Grip.OPEN, state.grips[w, at, Grip.FORCE] == Grip.TORN
    wanted = np.where(state.alive[w, at], state.joint_command[w, at, model.grippers[:, 1]] > CLOSED, holding | torn)
    if (wanted == (holding | torn)).all():
        return
    time = float(state.step[w]) * model.dt
    for i in at[~wanted & holding]:
        held = name_of(model, int(state.grips[w, i, Grip.HELD]))
        events.append(Event(w, time, "release", f"{name_of(model, i)} lets go of {held}"))
        state.grips[w, i] = 0.0
    state.grips[w, at[~wanted & torn], Grip.FORCE] = 0.0
    closing = at[wanted & ~holding & ~torn]
    if len(closing) == 0:
        return
    bodies = state.bodies[w]
    held_by = rings(model, bodies)
    grippers = np.array([_pose(model, bodies, body) for body in model.gripper[closing]])
    for i, own, jaw in zip(closing, grippers, to_world(grippers, model.jaw[closing]), strict=True):
        found = _nearest(model, bodies, held_by, i, jaw)
        if found >= 0:
            other = _pose(model, bodies, model.hold[found] if found < N else model.held[found - N, 0])
            loose = model.machines[i].robot.grasp == "loose"
            state.grips[w, i, : Grip.AIM.start] = (Grip.LOOSE if loose else Grip.RIGID), found, 0.0
            state.grips[w, i, Grip.AIM] = aimed(own, other, jaw, loose)
            events.append(Event(w, time, "grip", f"{name_of(model, i)} grips {name_of(model, found)}"))


def _pose(model: Model, bodies: Any, body: int) -> Any:
    """x y z and quaternion of a body, also of one that is fixed."""
    row = model.row_of[body]
    return bodies[row] if row >= 0 else np.concatenate([model.mj.body_pos[body], model.mj.body_quat[body]])


def rings(model: Model, bodies: Any) -> Any:
    """Where each robot can be held (N, 3): on its axis, at the height of its ring; the ring itself is a radius away."""
    pose = bodies[model.row_of[model.hold]]
    return pose[:, PLACE] + model.ring[:, None] * up_axis(pose[:, TURN])


def _nearest(model: Model, bodies: Any, held_by: Any, i: int, jaw: Any) -> int:
    """What is in the jaw of robot i: the number of a robot, N + that of another body, or -1."""
    reach = 0.5 * model.machines[i].robot.grip_reach
    away = held_by - jaw
    gap = np.hypot(away[:, 0], away[:, 1]) - model.above.radius
    gap[(np.abs(away[:, 2]) > TALL) | (gap > reach) | ~model.grippable] = np.inf
    gap[i] = np.inf
    found = int(np.argmin(gap))
    best, found = (float(gap[found]), found) if gap[found] < np.inf else (np.inf, -1)
    for number, (body, _) in enumerate(model.held):
        place = _pose(model, bodies, body)
        if np.abs(place[:3] - jaw).max() <= reach + model.wide[body]:
            gap_there = _gap(model.mj, int(body), place, jaw)
            if gap_there <= reach and gap_there < best:
                best, found = gap_there, len(model.machines) + number
    return found


def in_jaw(model: Model, state: State, robots: slice) -> Any:
    """Whether (W, n) a gripper holds something, or would if it closed now."""
    found = state.grips[:, robots, Grip.MODE] != Grip.OPEN
    able = np.flatnonzero(model.gripper[robots] >= 0)
    chosen = robots.start + able
    reach = np.array([0.5 * model.machines[i].robot.grip_reach for i in chosen])
    for w in range(model.worlds if len(able) else 0):
        bodies = state.bodies[w]
        held_by, jaws = rings(model, bodies), to_world(bodies[model.row_of[model.gripper[chosen]]], model.jaw[chosen])
        away = held_by - jaws[:, None]
        near = np.hypot(away[..., 0], away[..., 1]) - model.above.radius <= reach[:, None]
        near &= (np.abs(away[..., 2]) <= TALL) & model.grippable
        near[np.arange(len(chosen)), chosen] = False
        found[w, able] |= near.any(axis=1)
        for k in np.flatnonzero(~found[w, able]) if len(model.held) else ():
            found[w, able[k]] = _nearest(model, bodies, held_by, chosen[k], jaws[k]) >= 0
    return found


def _gap(mj: Any, body: int, place: Any, point: Any) -> float:
    """From a point to the surface of a body of one simple geom; negative inside. A mesh counts as the ball around it."""
    geom = mj.body_geomadr[body]
    inner = to_body(place, point) - mj.geom_pos[geom]
    inner = rotate_back(mj.geom_quat[geom], inner)
    kind, size = mj.geom_type[geom], mj.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        away = np.abs(inner) - size
        return float(np.linalg.norm(np.maximum(away, 0.0)) + min(away.max(), 0.0))
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        away = np.array([np.hypot(inner[0], inner[1]) - size[0], abs(inner[2]) - size[1]])
        return float(np.linalg.norm(np.maximum(away, 0.0)) + min(away.max(), 0.0))
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        inner[2] -= np.clip(inner[2], -size[1], size[1])
    return float(np.linalg.norm(inner)) - float(size[0] if kind != mujoco.mjtGeom.mjGEOM_MESH else mj.geom_rbound[geom])


def aimed(own: Any, other: Any, point: Any, loose: bool) -> Any:
    """The 11 numbers of an equality that holds `other` as it is now, at a point of the world.

    weld: the point in the other's frame and in one's own, the other's turn in one's own frame, and a scale of turns that is 1,
    because MuJoCo softens turns by its square; connect: the point in both frames.
    """
    data = np.zeros(11)
    if loose:
        data[:3], data[3:6] = to_body(own, point), to_body(other, point)
        return data
    data[:3] = to_body(other, point)
    data[3:6] = to_body(own, point)
    data[6:10], data[10] = relative(own[TURN], other[TURN]), 1.0
    return data


# -- how hard they pull ---------------------------------------------------------------------------------------------------
def forces_of(model: Model, data: Any) -> dict[int, Any]:
    """Equality -> force and torque (6,) in the world's frame on its first body, in the last substep."""
    ne = int(data.ne)
    if ne == 0:
        return {}
    number, force = data.efc_id[:ne], data.efc_force[:ne]
    first = np.flatnonzero(np.r_[True, number[1:] != number[:-1]])
    found = {}
    for start, end in zip(first, [*first[1:], ne]):
        both = np.zeros(6)
        both[: end - start] = force[start:end]
        both[3:] *= 0.5 * model.mj.eq_data[number[start], 10]  # a weld's rows of turning are half angles
        found[int(number[start])] = both
    return found


def pulls_before(model: Model, state: State, w: int, pulls: Any) -> None:
    """What `note_pulls` goes on from: what each gripper felt at the end of the last step."""
    pulls[...] = 0.0
    holding = np.flatnonzero(state.grips[w, :, Grip.MODE])
    kinds = state.grips[w, holding, Grip.MODE].astype(int)
    pulls[model.grips[holding, kinds - 1], 2] = state.grips[w, holding, Grip.FORCE]


@kernel()
def note_pulls(count, number, force, share, pulls):
    """How hard each equality pulls after a substep: of the first `count` rows of MuJoCo's constraints each has 3 (force) or 6
    (and torque, in half angles). pulls (equalities, 3): the hardest force and torque, and a force that follows the real one by
    `share` in a substep."""
    k = 0
    while k < count:
        e, f, t, row = number[k], 0.0, 0.0, 0
        while k < count and number[k] == e:
            if row < 3:
                f += force[k] * force[k]
            else:
                t += force[k] * force[k]
            row += 1
            k += 1
        pulls[e, 0], pulls[e, 1] = max(pulls[e, 0], sqrt(f)), max(pulls[e, 1], 0.5 * sqrt(t))
        pulls[e, 2] += share * (sqrt(f) - pulls[e, 2])


def pull_all(model: Model, state: State, w: int, data: Any, pulls: Any, events: list[Event]) -> None:
    """Note all forces of grips and joints, and let go what was pulled too hard; pulls: of `note_pulls`.

    A joint breaks by the hardest pull of any substep. A gripper is of rubber: it slips by a pull that lasts, LASTING or so.
    """
    forces = forces_of(model, data) if data.ne else {}
    state.pull[w] = 0.0
    if not forces and not model.joints:
        return
    time = float(state.step[w]) * model.dt
    _pull_at_grips(model, state, w, forces, pulls, time, events)
    for number, (joint, equalities) in enumerate(model.joints):
        if len(equalities) == 0 or state.own.couplings[w, number, Coupling.HOLDS] == 0.0:
            continue
        pulled = _wrench(model, state, w, joint, equalities, forces, data, number)
        state.own.couplings[w, number, Coupling.WRENCH] = pulled
        for robot, sign in zip(model.joined[number], (-1.0, 1.0), strict=True):
            if robot >= 0:
                state.pull[w, robot] += sign * pulled[:3]
        force, torque = np.maximum((np.linalg.norm(pulled[:3]), np.linalg.norm(pulled[3:])), pulls[equalities, :2].max(axis=0))
        if force > (joint.break_force or np.inf) or torque > (joint.break_torque or np.inf):
            state.own.couplings[w, number, Coupling.STATUS] = state.loads[w, number] = 0.0
            data.eq_active[equalities] = False
            events.append(Event(w, time, "break", f"joint '{joint.name}' breaks at {force:.1f} N and {torque:.2f} N m"))
    robots = np.flatnonzero(state.pull[w].any(axis=1))
    state.pull[w, robots] = rotate_back(state.bodies[w, model.chassis[robots], TURN], state.pull[w, robots])


def _wrench(model: Model, state: State, w: int, joint: Any, equalities: Any, forces: dict[int, Any], data: Any,
            number: int) -> Any:
    """Force and torque (6,) of a joint on `other`, at its point, the middle of its equalities; and on both sides."""
    mj, other = model.mj, int(model.mj.eq_obj1id[equalities[0]])
    one, turn = int(mj.eq_obj2id[equalities[0]]), data.xmat[other].reshape(3, 3)
    places = data.xpos[other] + mj.eq_data[equalities][:, slice(3, 6) if joint.kind == "fixed" else slice(3)] @ turn.T
    point, pulled = places.mean(axis=0), np.zeros(6)
    for place, equality in zip(places, equalities, strict=True):
        each = forces.get(int(equality), np.zeros(6))
        pulled += each
        pulled[3:] += np.cross(place - point, each[:3])
    middle = point if one == 0 else data.xpos[one] + data.xmat[one].reshape(3, 3) @ mj.body_ipos[one]
    share(state, w, number, pulled[:3], pulled[3:], point, middle, data.xpos[other] + turn @ mj.body_ipos[other])
    return pulled


def _pull_at_grips(model: Model, state: State, w: int, forces: dict[int, Any], pulls: Any, time: float,
                   events: list[Event]) -> None:
    N = len(model.machines)
    for i in map(int, np.flatnonzero(state.grips[w, :, Grip.MODE])):
        kind, held, robot = int(state.grips[w, i, Grip.MODE]), int(state.grips[w, i, Grip.HELD]), model.machines[i].robot
        pulled = forces.get(int(model.grips[i, kind - 1]))
        if pulled is None:
            continue
        size = float(pulls[model.grips[i, kind - 1], 2])
        state.grips[w, i, Grip.FORCE], state.grips[w, i, Grip.PULL] = size, pulled[:3]
        state.pull[w, i] += pulled[:3]
        if held < N:
            state.pull[w, held] -= pulled[:3]
        if size > robot.grip_force:
            why = f"{size:.1f} N is more than its grip of {robot.grip_force:g} N"
            events.append(Event(w, time, "lost", f"{name_of(model, i)} loses {name_of(model, held)}: {why}"))
            state.grips[w, i] = 0.0
            state.grips[w, i, Grip.FORCE] = Grip.TORN


def name_of(model: Model, number: int) -> str:
    """Of a robot, or of another body that can be held."""
    if number < len(model.machines):
        for group, robots in zip(model.world.groups, model.world.slices, strict=True):
            if robots.start <= number < robots.stop:
                return f"{group.name}.{number - robots.start}"
    thing = model.world.things[model.held[number - len(model.machines), 1]]
    return str(thing.name)


__all__ = ["aim", "aimed", "forces_of", "grip_all", "in_jaw", "name_of", "note_pulls", "pulls_before", "pull_all", "rings"]
