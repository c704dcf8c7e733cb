"""The spatial engine: bodies with masses in three dimensions, by MuJoCo; the same promise as the planar engine's.

The names in `__all__` are that promise, `engine.Engine`. One model and one set of working data
serve all worlds of a batch, one after another: all that a world goes on from is in the state, so its motion does not depend on
its neighbours, and a state that is changed by hand changes the motion. Threads share out whole worlds, as in the plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from formiga.engine.above.constants import SightWorkspace
from formiga.engine.axes import sizes_of
from formiga.engine.command import Command
from formiga.engine.drives import ask_own, follow_all, turn_all, twist_all
from formiga.engine.events import Event
from formiga.engine.place import switched_on
from formiga.engine.spatial import motors
from formiga.engine.spatial import start as start_with
from formiga.engine.spatial.carry import as_it_stands, carry_on, put_down
from formiga.engine.spatial.gripping import aim, grip_all, in_jaw, name_of, pull_all, pulls_before
from formiga.engine.spatial.inspection import contacts, events, forces, holding, inspect, inspect_thing
from formiga.engine.spatial.looking import (
    cast,
    cast_from,
    cast_stages,
    cast_turned,
    hear,
    hear_stages,
    light,
    light_stages,
    line_of_sight,
    look,
    neighbour_stages,
    neighbours,
    paint,
    points,
    rays,
    sample,
    shadow,
    sight_stages,
)
from formiga.engine.spatial.model import EVERYTHING, Model, build
from formiga.engine.spatial.motion import AT_A_TIME, acts, advance, stepper
from formiga.engine.spatial.own import Coupling, SpatialState
from formiga.engine.spatial.painter import Painter
from formiga.engine.spatial.posture import bend, hold
from formiga.engine.spatial.readout import poses
from formiga.engine.spatial.start import places
from formiga.engine.start import begin_again, everywhere, given, keys_of, movables_start
from formiga.geometry import PLACE
from formiga.kernels.program import Stage
from formiga.state import Floats, Grip, State
from formiga.world.model import World

NAME = "spatial"
RESTING = 1e-5                      # m/s, rad/s and their rates: below it a world sleeps until a robot is ordered to move
TOO_FAST = 1e3                      # m/s or rad/s; beyond it a motion is not one


@dataclass(kw_only=True)
class Scratch(SightWorkspace):
    """Working memory: MuJoCo's own, and what happened in the last step."""

    data: Any
    loaded: Any                     # (N, 13) grips that the model is aimed at
    inside: Any                     # (W, triggers, N) whether a robot is in a zone
    awake: Any                      # (W,) whether the next step is taken even if nothing seems to move
    twist: Any                      # (W, N, 3) what the drives shall give in the next step: m/s, m/s, rad/s
    pulls: Any                      # (equalities, 3) of the last step: the hardest in N and in N m, and what a gripper feels
    events: list[Event] = field(default_factory=list)
    painter: Painter | None = None  # once images were asked for


def init(model: Model, seed: int = 0, start: tuple[Any, Any] | None = None) -> State:
    """All that changes, at the start: robots placed as in the plane, then set down on the ground."""
    W, N, K, mj = model.worlds, len(model.machines), model.motor.shape[1], model.mj
    keys = keys_of(model, seed)
    position, heading = everywhere(model, *places(model, keys)) if start is None else given(start, W, N)
    (keys,) = everywhere(model, keys)
    scratch = Scratch(cells=model.above.cells(W), stand=model.above.stand(), data=mujoco.MjData(mj),
                      loaded=np.full((N, 13), np.nan), inside=np.zeros((W, len(model.triggers), N), np.bool_),
                      pulls=np.zeros((mj.neq, 3)), awake=np.ones(W, np.bool_), twist=np.zeros((W, N, 3)))
    sizes = {"world": W, "number": mujoco.mj_stateSize(mj, EVERYTHING), "coupling": len(model.joints)}
    sizes |= sizes_of(model.world) | {"gripper": N, "joint": K, "body": len(model.parts), "load": len(model.joints)}
    state = State.new(sizes, position=position, heading=heading, alive=np.tile(switched_on(model.world), (W, 1)),
                        movables=np.tile(movables_start(model.world), (W, 1, 1)), key=keys, own=SpatialState.new(sizes),
                        scratch=scratch)
    state.note_start()
    for w in range(W):
        _set_down(model, state, w)
    return state


def begin(model: Model, state: State, chosen: Any, position: Floats, heading: Floats, key: Any) -> None:
    """Start the chosen (W,) worlds again, in place: robots at position (W, N, 2) and heading (W, N), noise from key (W,)."""
    begin_again(model.world, state, chosen, position, heading, key)
    for w in map(int, np.flatnonzero(chosen)):
        state.scratch.inside[w], state.scratch.awake[w] = False, True
        _set_down(model, state, w)


def _set_down(model: Model, state: State, w: int) -> None:
    """World w at its start: its robots where the state has them, on the ground; things laid out, joints closed."""
    mj, data = model.mj, state.scratch.data
    mujoco.mj_resetData(mj, data)
    for machine in model.machines:
        (x, y), heading = state.position[w, machine.number], state.heading[w, machine.number]
        bend(model, data, machine)
        start_with.put(model, data, machine, x, y, heading, start=True)
    hold(model, state, w, data)
    for thing in model.world.movables:
        start_with.lay(model, data, thing)
    mujoco.mj_forward(mj, data)
    start_with.refuse_overlaps(model, data)
    state.own.couplings[w, :, Coupling.HOLDS] = 1.0
    for number, (joint, equalities) in enumerate(model.joints):
        start_with.join(model, data, joint, equalities, state.own.couplings[w, number])
    motors.begin(model, state, w, data)
    start_with.settle(model, data)
    mujoco.mj_forward(mj, data)
    mujoco.mj_getState(mj, data, state.own.integration[w], EVERYTHING)
    motors.bear(model, state, w, data)
    _read(model, state, w, data)


# -- the step -----------------------------------------------------------------------------------------------------------
def step(model: Model, state: State, command: Command) -> None:
    """Advance every world that has not ended by `model.dt`."""
    command.keep(state)
    state.scratch.events.clear()
    for w in range(model.worlds):
        if state.done[w]:
            state.drive[w] = state.scratch.twist[w] = 0.0  # as in the plane
        else:
            _advance(model, state, w, command.drive[w])


def _advance(model: Model, state: State, w: int, wheels: Floats) -> None:
    if _asleep(model, state, w, wheels):
        state.step[w] += 1
        state.drive[w] = state.scratch.twist[w] = 0.0
        _count(model, state, w, state.crashed[w])
        return
    scratch, data, mj = state.scratch, state.scratch.data, model.mj
    scratch.awake[w] = False
    mujoco.mj_setState(mj, data, state.own.integration[w], EVERYTHING)
    grip_all(model, state, w, scratch.events)
    aim(model, state, w, data, scratch.loaded)
    driven, before = _follow(model, state, w, wheels), _wheels(model, data)
    _drive(model, state, w, data, driven)
    pulls_before(model, state, w, scratch.pulls)
    _substeps(model, state, data, scratch.twist[w : w + 1], model.substeps)
    if _exploded(model, state, w, data):
        return
    state.step[w] += 1
    motors.bear(model, state, w, data)
    mujoco.mj_kinematics(mj, data)
    _read(model, state, w, data)
    _turned(model, state, w, data, driven, before)
    pull_all(model, state, w, data, scratch.pulls, scratch.events)
    mujoco.mj_getState(mj, data, state.own.integration[w], EVERYTHING)
    _bumps(model, state, w, data)
    _zones(model, state, w)


def _asleep(model: Model, state: State, w: int, wheels: Floats) -> bool:
    """Whether nothing moves, and no order makes something move: then a step changes nothing but the clock. A world that has
    just begun, or that was edited, is awake."""
    told = (state.scratch.awake[w] or wheels.any() or _joints_move(model, state, w) or state.grips[w, :, Grip.MODE].any()
            or motors.newly_told(model, state, w))
    follows = model.drives.lagging and state.drive[w].any()  # a drive is still on its way to the order to stand still
    return bool(state.step[w] > 0 and not told and not follows
                and np.abs(state.own.integration[w, model.speeds]).max(initial=0.0) < RESTING)


def _joints_move(model: Model, state: State, w: int) -> bool:
    """Whether a joint is ordered a speed or a torque, or another position than in the last step."""
    command = state.joint_command[w]
    if not model.takes_place.any():
        return bool(command.any())
    last = state.own.integration[w, model.ctrl][model.motor[model.takes_place]]
    return bool(command[~model.takes_place].any() or (last != (model.sign * command)[model.takes_place]).any())


def _substeps(model: Model, state: State, data: Any, twist: Floats, count: int) -> None:
    """Some steps of the motion. Before each the floor pulls at sliding robots; after each the pulls of grips are noted.
    twist (1, N, 3): what the drives shall give.

    A step whose run is being ended in another thread is left with KeyboardInterrupt.
    """
    if not acts(model) and not data.eq_active.any():
        while count > 0:
            state.refuse_halted()
            advance(model.mj, data, min(count, AT_A_TIME))
            count -= AT_A_TIME
        return
    once = stepper(model, data, twist, state.scratch.pulls)
    for number in range(count):
        if number % AT_A_TIME == 0:
            state.refuse_halted()
        once()


def _follow(model: Model, state: State, w: int, told: Floats) -> Floats:
    """What the drives (N, D) do in this step: those with lags follow what they are told; robots that are not alive stand.
    The twist that they shall give goes into `scratch.twist`."""
    if model.drives.lagging:
        follow_all(model.drives.table, told[None], state.drive[w : w + 1], state.done[w : w + 1])
        told = state.drive[w]
    driven = np.where(state.alive[w][:, None], told, 0.0)
    twist = state.scratch.twist[w : w + 1]
    if model.drives.plain:  # to hand a kernel the table would take longer
        left, right = driven[:, 0], driven[:, 1]
        twist[0, :, 0], twist[0, :, 2] = 0.5 * (left + right), (right - left) / model.drives.table.base
        return driven
    ask_own(model.drives.own, driven[None], twist)
    twist_all(model.drives.table, driven[None], twist)
    return driven


def _drive(model: Model, state: State, w: int, data: Any, wheels: Floats) -> None:
    """Tell the motors. Joints of a robot that is not alive stay where they are: in position mode they hold their last command,
    in velocity mode their speed is 0, and in torque mode they are without power."""
    if model.wheel_motor.size and (on := model.wheel_motor >= 0).any():
        data.ctrl[model.wheel_motor[on]] = (wheels[:, :2] / model.wheel_radius)[on]
    if model.motor.size and (on := model.motor >= 0).any():
        moves = state.alive[w][:, None] | model.takes_place
        data.ctrl[model.motor[on]] = np.where(moves, model.sign * state.joint_command[w], 0.0)[on]
    data.ctrl[model.driven] = motors.told(model, state, w)


def _exploded(model: Model, state: State, w: int, data: Any) -> bool:
    """Whether the motion is no longer one; then the world ends as it was before this step, and says where it went wrong."""
    if np.isfinite(data.qpos).all() and (np.abs(data.qvel) <= TOO_FAST).all():
        return False
    body = _culprit(model, state, w, data)
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


def _culprit(model: Model, state: State, w: int, data: Any) -> int:
    """The body that was the first to be too fast: the step again, looking after each substep."""
    mj = model.mj
    mujoco.mj_resetData(mj, data)
    mujoco.mj_setState(mj, data, state.own.integration[w], EVERYTHING)
    fast = np.nan_to_num(np.abs(data.qvel), nan=np.inf)
    for _ in range(model.substeps):
        if fast.max(initial=0.0) > TOO_FAST:
            break
        _substeps(model, state, data, state.scratch.twist[w : w + 1], 1)
        fast = np.nan_to_num(np.abs(data.qvel), nan=np.inf)
    return int(mj.dof_bodyid[int(np.argmax(fast))])


# -- MuJoCo -> state ------------------------------------------------------------------------------------------------------
def _read(model: Model, state: State, w: int, data: Any) -> None:
    """Poses and speeds as the rest of the laboratory knows them."""
    poses(w, data.xpos, data.xquat, model.rows, model.chassis, model.movables, model.dt, state.step, state.bodies,
          state.position, state.heading, state.velocity, state.movables)
    if model.motor.size and (on := model.motor >= 0).any():
        place, force = np.zeros(model.motor.shape), np.zeros(model.motor.shape)
        place[on] = data.qpos[model.mj.jnt_qposadr[model.motor_joint[on]]]
        force[on] = data.actuator_force[model.motor[on]]
        state.joint_position[w], state.joint_effort[w] = model.sign * place, model.sign * force


def _wheels(model: Model, data: Any) -> Floats:
    """Angles (N, 2) of the joints of wheels that roll, in rad; 0 for robots without."""
    rolls = model.wheel_joint >= 0
    return np.where(rolls, data.qpos[np.where(rolls, model.wheel_joint, 0)], 0.0) if rolls.any() else np.zeros(rolls.shape)


def _turned(model: Model, state: State, w: int, data: Any, driven: Floats, before: Floats) -> None:
    """How the wheels really turned. Those that roll by the angles of their joints, which stood at `before` (N, 2). Treels of
    sliding robots at the speed that they were told, which is constant in a step, and the floor slips under them."""
    rolls, told = model.wheel_dof >= 0, driven
    state.drive[w] = driven
    if rolls.any():
        told = driven.copy()
        told[:, :2][rolls] = 0.0
        state.wheel_angle[w, :, :2] += _wheels(model, data) - before
        speed = data.qvel[np.where(rolls, model.wheel_dof, 0)] * model.wheel_radius
        state.drive[w, :, :2] = np.where(rolls, speed, driven[:, :2])
    if model.drives.plain:
        state.wheel_angle[w] += told * model.dt / model.wheel_radius
    else:
        turn_all(model.drives.table, told[None], model.dt, state.wheel_angle[w : w + 1])


def _bumps(model: Model, state: State, w: int, data: Any) -> None:
    """Which robots touch something that is not the ground."""
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
    """Robots that came into a trigger zone or left it."""
    for number, (_, zone) in enumerate(model.triggers):
        place = state.bodies[w, model.chassis, PLACE] - (zone.x, zone.y, zone.z)
        now = ((np.abs(place[:, 0]) <= zone.width / 2) & (np.abs(place[:, 1]) <= zone.depth / 2)
               & (place[:, 2] >= -1e-3) & (place[:, 2] <= zone.height) & zone.on)
        before = state.scratch.inside[w, number] & (state.step[w] > 1)  # no robot was anywhere before the start
        time = float(state.step[w]) * model.dt
        for i in map(int, np.flatnonzero(now != before)):
            came = zone.say or f"{name_of(model, i)} comes into '{zone.name}'"
            state.scratch.events.append(Event(w, time, "enter" if now[i] else "leave",
                                              came if now[i] else f"{name_of(model, i)} leaves '{zone.name}'"))
        state.scratch.inside[w, number] = now


def twist(model: Model, state: State) -> Floats:
    """(W, N, 3) vx, vy, turning rate that the drives were to give in the last step."""
    return np.asarray(state.scratch.twist)


def told(model: Model, state: State) -> Floats:
    """Where orders would go if there were stages."""
    return state.drive


def variant(model: Model, world: World) -> Model:
    """The model itself: worlds of a batch do not differ in space."""
    return model


def vary(model: Model, stages: Sequence[Stage]) -> list[Stage] | None:
    """The stages as they are: worlds of a batch do not differ in space."""
    return list(stages)


def step_stages(model: Model, state: State) -> list[Stage] | None:
    """None: MuJoCo is no kernel, and a world in space is stepped by the readable loop."""
    return None


__all__ = ["NAME", "Model", "as_it_stands", "begin", "build", "carry_on", "cast", "cast_from", "cast_stages", "cast_turned",
           "contacts", "events", "forces", "hear", "hear_stages", "holding", "in_jaw", "init", "inspect", "inspect_thing",
           "light", "light_stages", "line_of_sight", "look", "neighbour_stages", "neighbours", "paint", "places", "points",
           "put_down", "rays", "sample", "shadow", "sight_stages", "step", "step_stages", "told", "twist", "variant", "vary"]
