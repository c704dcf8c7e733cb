"""The planar engine: robots on any drive, walls, obstacles; thousands of worlds at once.

The names in `__all__` are the promise, `engine.Engine`. `step` is the table of contents of the
physics: discs without masses, as S1 has them, or with contact model `impulse` bodies that hit and push each other, as S2
has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numba import typeof

from formiga.engine.above import looking
from formiga.engine.above.constants import Above, SightWorkspace, above_constants, each_robot
from formiga.engine.above.hearing import Ears, Heard
from formiga.engine.above.looking import (
    cast,
    cast_from,
    cast_stages,
    cast_turned,
    light,
    light_stages,
    line_of_sight,
    look,
    neighbour_stages,
    neighbours,
    own_cells,
    sample,
    shadow,
    sight_stages,
)
from formiga.engine.above.outlines import Outlines
from formiga.engine.axes import sizes_of
from formiga.engine.beside import Beside
from formiga.engine.command import Command
from formiga.engine.drives import Drivetrain, ask_own, drivetrain, follow_all, refuse_incomplete, twist_all
from formiga.engine.events import Touch
from formiga.engine.fixed import Fixed, Near
from formiga.engine.parts import Part
from formiga.engine.place import place, refuse_movables_in_walls, switched_on
from formiga.engine.planar import drive
from formiga.engine.planar import variants as varied
from formiga.engine.planar.contact import (
    MINIMAL,
    NONE,
    PUBLISHED,
    STOP,
    ContactWorkspace,
    contact_all,
    contact_world,
    make_workspace,
)
from formiga.engine.planar.impulse import advance, bodies
from formiga.engine.planar.neutral import as_it_stands, events, forces, holding, in_jaw, inspect, inspect_thing, paint, put_down
from formiga.engine.planar.own import Coupling, PlanarState
from formiga.engine.planar.sweep import sweep_all, sweep_world
from formiga.engine.planar.variants import Variants, differing, variants_of
from formiga.engine.start import begin_again, everywhere, given, keys_of, movables_start, start_of
from formiga.errors import CannotDiffer, WorldError
from formiga.kernels import cache
from formiga.kernels.program import Stage
from formiga.state import Floats, State
from formiga.world.elements import of, where
from formiga.world.model import World
from formiga.world.mount import CHASSIS, Carried
from formiga.world.movables import JOINTS, MOVABLES
from formiga.world.placement import At

NAME = "planar"
TOUCHES = 64       # contacts of a world's last step that are kept, at least
LONGEST_PERIOD = 60.0  # s with <contact model="impulse"/>, in which bodies move by some ms at once
LONG = 200_000     # bodies x substeps of a step that may take longer than a person waits for Ctrl-C


@dataclass(kw_only=True)
class Model(Above):
    """What never changes during a run: the world's description as arrays, one entry per robot."""

    world: World
    worlds: int                    # in all, copies counted
    copies: int                    # each world is there so many times, with the same start and the same noise
    first_world: int               # number of the first world in the run, when several threads share it
    dt: float
    drives: Drivetrain
    position_noise: Floats
    heading_noise: Floats
    contact: int
    longest: float                 # m, the furthest that a robot can go in one step
    sweeps: bool                   # whether a body could pass through something in one step
    noisy: bool                    # whether a robot's motion has noise
    impulse: Impulse | None        # bodies with masses, if the contact model is `impulse`
    differing: Variants | None = None  # what differs in the worlds of the batch, if something does
    made: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    chassis: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    level: bool = True
    poses: bool = False
    moves_joints: bool = False
    solves_forces: bool = False

    @property
    def uncompiled(self) -> str:
        """What keeps a step from being compiled as a whole, or nothing."""
        if self.impulse:
            return "the contact model impulse"
        return f"the drive {type(self.drives.own[0][0]).__name__}" if self.drives.own else ""

    @property
    def variants(self) -> tuple[World, ...]:
        """The descriptions of worlds that differ: see `engine.Model`."""
        return self.differing.worlds if self.differing is not None else ()

    def part_rows(self, part: str, robots: slice) -> Any:
        """None: see `engine.Model`."""
        return self.chassis

    @property
    def keeps_contacts(self) -> bool:
        """Only contact model `impulse` lists them."""
        return self.impulse is not None

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the axes of a state."""
        return sizes_of(self.world) | {"world": self.worlds, "gripper": 0, "joint": 0, "body": 0}

    @cached_property
    def near_contact(self) -> Near:
        """The table that serves contacts: it reaches as far as a robot goes in a step or is moved at once."""
        return self.near(1.001 * (self.widest_safety + max(self.widest_safety, self.longest)))


@dataclass(frozen=True)
class Impulse:
    """What the contact model `impulse` needs of a world."""

    bodies: bodies.Bodies
    rules: advance.Rules


@dataclass(kw_only=True)
class Scratch(SightWorkspace):
    """Working memory: the cell list, where robots were before the step, and how hard the last contacts were."""

    before: Floats             # (W, N, 2)
    swept: Any                 # (W, N) stopped on its way in the last step
    rounds: Any                # (W,) rounds of re-positioning in the last step; contact.ROUNDS: not all resolved
    contact: ContactWorkspace  # for one world's contacts
    grid: bodies.Grid | None = None
    bodies: bodies.BodyWorkspace | None = None
    log: advance.Log | None = None
    orders: Any = None         # (W, N, D) what the drives follow, with a delay or in `push`
    twist: Any = None          # (W, N, 3) what the drives did in the last step
    push: Any = None           # the step of `impulse`, tied to these arrays
    pushed: Any = ()
    beside: Beside = field(default_factory=Beside)


def build(world: World, worlds: int = 1, first_world: int = 0, copies: int = 1, variants: Sequence[World] = ()) -> Model:
    """The constants of a batch: worlds numbered from `first_world`, all of them once, then all again, `copies` times; or of
    worlds that differ, as `variants` describes them."""
    refuse_incomplete(world, *variants)
    _refuse(world)
    if world.contact.model != "impulse":
        cache.expect("formiga.engine.planar.warm")
    model = _constants(world, worlds, first_world, copies)
    if variants and model.uncompiled:
        raise CannotDiffer("the world", differing(variants), f"and with {model.uncompiled} all worlds of a batch are alike")
    model.differing = variants_of(model, world, variants, _refuse) if variants else None
    return model


def variant(model: Model, world: World) -> Model:
    """The same constants for one of the worlds of a batch that differ: see `engine.Engine`."""
    assert model.differing is not None
    return varied.variant(model, model.differing, _constants(world))


def _constants(world: World, worlds: int = 1, first_world: int = 0, copies: int = 1) -> Model:
    """The constants of a world that is not refused."""
    drives = drivetrain(world)
    above = above_constants(world, outlined=world.contact.model == "impulse")
    radius, safety = above["radius"], above["safety"]
    position_noise, heading_noise = each_robot(world, "position_noise"), each_robot(world, "heading_noise")
    driven = [group.robot.drive for group in world.groups]
    top_speed = np.repeat([each.fastest if each else 0.0 for each in driven], [group.count for group in world.groups])
    motor_noise = np.array([each.motor_noise for each in driven if each]).max(initial=0.0)
    longest = float((top_speed * (1.0 + position_noise)).max(initial=0.0) * (1.0 + motor_noise)) * world.dt
    shortest = float(radius.min(initial=np.inf))
    reposition = MINIMAL if world.contact.mode == "minimal" else PUBLISHED
    return Model(
        **above, world=world, worlds=worlds * copies, copies=copies, first_world=first_world, dt=world.dt, drives=drives,
        position_noise=position_noise, heading_noise=heading_noise,
        contact={"none": NONE, "impulse": NONE, "stop": STOP, "reposition": reposition}[world.contact.model],
        longest=longest,
        sweeps=world.contact.model not in ("none", "impulse")
        and longest > min(float((safety - radius).min(initial=np.inf)), shortest),
        noisy=bool(position_noise.any() or heading_noise.any()),
        impulse=_impulse(world, above["fixed"], above["outlines"], longest))


def _impulse(world: World, fixed: Fixed, table: Outlines | None, longest: float) -> Impulse | None:
    """Bodies and rules, if the world asks for them."""
    if table is None:
        return None
    contact, own = world.contact, bodies.bodies(world, table)
    refuse_movables_in_walls(world, fixed)
    margin = max(1.25 * longest, float(own.fact[:, bodies.INNER].max(initial=0.0)), 4.0 * contact.threshold)
    return Impulse(own, advance.Rules(world.dt, bodies.substep_of(world), contact.threshold, contact.rest_speed, contact.rounds,
                                      margin, contact.friction))


def _refuse(world: World) -> None:
    """Say what this engine cannot do."""
    refuse_space(world)
    _refuse_long(world)
    _refuse_bodies(world)


def _refuse_bodies(world: World) -> None:
    """Say what only bodies with masses can do."""
    contact = world.contact
    if contact.model == "impulse":
        return
    if contact.friction > 0.0:
        raise WorldError(f"{where(contact)}<contact> friction needs bodies with masses: model=\"impulse\".")
    for thing in world.things:
        if isinstance(thing, (*MOVABLES, *JOINTS)):
            raise WorldError(f"{where(thing)}<{of(thing).tag}> needs bodies with masses: <contact model=\"impulse\"/>.")
    for group in world.groups:
        if group.robot.outline:
            raise WorldError(f"{where(group)}'{group.name}' has corners; with <contact model=\"{contact.model}\"/> "
                             "robots are discs. Choose model=\"impulse\".")


def _refuse_long(world: World) -> None:
    if world.contact.model == "impulse" and world.dt > LONGEST_PERIOD:
        raise WorldError(f"{where(world)}<world> dt: with <contact model=\"impulse\"/> a control period lasts at most "
                         f"{LONGEST_PERIOD:g} s, not {world.dt:g} s.")


def refuse_space(world: World) -> None:
    """Say what needs a third dimension."""
    for each in (*world.things, *world.settings, *(group.robot for group in world.groups)):
        if each.SPATIAL:
            raise WorldError(f"{where(each)}<{of(each).tag}> needs three dimensions: engine=\"spatial\".")
    for each in (*(thing for thing in world.things if thing.material),
                 *(group for group in world.groups if group.material or group.wheel_material)):
        raise WorldError(f"{where(each)}a material is given here; in the plane bodies have friction and restitution of their "
                         "own, and a <material> needs three dimensions: engine=\"spatial\".")
    for rule in (rule for group in world.groups for rule in group.place if isinstance(rule, At) and rule.raised):
        raise WorldError(f"{where(rule)}<at> z, roll and pitch need three dimensions: engine=\"spatial\".")
    sensors = [each for group in world.groups for each in group.sensors]
    for each in (each for each in sensors if isinstance(each, Carried) and each.in_space):
        raise WorldError(f"{where(each)}<{of(each).tag}> in the plane a sensor sits on the chassis, with x, y and yaw; on, z, "
                         "roll and pitch need three dimensions: engine=\"spatial\".")
    for each in (each for each in sensors if each.SPATIAL):
        raise WorldError(f"{where(each)}<{of(each).tag}> measures what exists only in space; choose engine=\"spatial\".")


def init(model: Model, seed: int = 0, start: tuple[Any, Any] | None = None) -> State:
    """All that changes, at the start. World 7 is the same alone or among 256.

    start: positions (W, N, 2) and headings (W, N), instead of those that the placement rules give. They are taken as they are:
    a robot that overlaps something is moved out of it as after any step.
    """
    W, N = model.worlds, model.world.robots
    keys = keys_of(model, seed)
    if model.differing is not None:
        (keys,) = everywhere(model, keys)
        position, heading = varied.places(model.differing, keys, model.first_world) if start is None else given(start, W, N)
    else:
        position, heading = everywhere(model, *places(model, keys)) if start is None else given(start, W, N)
        (keys,) = everywhere(model, keys)
    alive = np.tile(switched_on(model.world), (W, 1)) if model.differing is None else varied.alive(model.differing)
    scratch = Scratch(cells=model.cells(W), stand=model.stand(), before=position.copy(), swept=np.zeros((W, N), np.bool_),
                      rounds=np.zeros(W, np.int64), contact=make_workspace(N))
    movables, couplings = np.tile(movables_start(model.world), (W, 1, 1)), np.zeros((W, 0, 8))
    if model.impulse:
        table, rows = model.impulse.bodies, TOUCHES + 8 * len(model.impulse.bodies.kind)
        couplings = np.stack([bodies.joints_start(model.world, position[w], heading[w], movables[w]) for w in range(W)])
        scratch.bodies, scratch.grid = bodies.make_workspace(table, model.fixed, rows), bodies.make_grid(table, model.region)
        scratch.log = advance.Log(np.zeros((W, rows, Touch.COLUMNS)), np.zeros(W, np.int64))
    scratch.twist = np.zeros((W, N, 3))
    if model.drives.lagging:
        scratch.orders = np.zeros((W, N, model.sizes["channel"]))
    state = State.new(model.sizes, position=position, heading=heading, alive=alive,
                      movables=movables, key=keys, own=PlanarState(couplings=couplings), scratch=scratch)
    state.note_start()
    return state


def places(model: Model, keys: Any) -> tuple[Floats, Floats]:
    """Where the placement rules put the robots of worlds with these keys: positions (K, N, 2) and headings (K, N)."""
    return place(model.world, model.fixed, keys)


def vary(model: Model, stages: Sequence[Stage]) -> list[Stage] | None:
    """The stages with what differs in each world: see `engine.Engine`."""
    if model.differing is None:
        return list(stages)
    return varied.vary(model, model.differing, stages) if model.differing.shown else None


def begin(model: Model, state: State, chosen: Any, position: Floats, heading: Floats, key: Any) -> None:
    """Start the chosen (W,) worlds again, in place: robots at position (W, N, 2) and heading (W, N), noise from key (W,)."""
    begin_again(model.world, state, chosen, position, heading, key)
    for w in np.flatnonzero(chosen) if state.own.couplings.size else ():
        state.own.couplings[w] = bodies.joints_start(model.world, state.position[w], state.heading[w], state.movables[w])


def carry_on(old: Model, before: State, new: Model, state: State, kept: Any, still: Any) -> None:
    """Let what moves go on in a world that was built from an edited description: movables that were not put elsewhere are
    where they were, and couplings that stay hold as they did. Robots go on from the poses that they were given."""
    known = {thing.name: (number, start_of(thing)) for number, thing in enumerate(old.world.movables)}
    for number, thing in enumerate(new.world.movables):
        was, start = known.get(thing.name, (-1, None))
        if start == start_of(thing):
            state.movables[:, number] = before.movables[:, was]
    held = [thing for thing in old.world.things if isinstance(thing, JOINTS)]
    for number, joint in enumerate(thing for thing in new.world.things if isinstance(thing, JOINTS)):
        if joint in held:
            row = before.own.couplings[:, held.index(joint)]
            for columns in (Coupling.KIND, Coupling.ENDS):  # but for the numbers of the bodies, which may be others now
                state.own.couplings[:, number, columns] = row[:, columns]


def step(model: Model, state: State, command: Command) -> None:
    """Advance every world that has not ended by `model.dt`."""
    command.keep(state)
    if model.impulse:
        _hit_and_push(model, model.impulse, state, command.drive)
        return
    drive.motors(model, state, command.drive)
    drive.move(model, state)
    _sweep(model, state)
    answer_contacts(model, state)


def _hit_and_push(model: Model, impulse: Impulse, state: State, told: Floats) -> None:
    scratch = state.scratch
    arrays = (state.drive, state.wheel_angle, state.alive, state.crashed, state.crashes, state.done, state.step,
              state.unresolved, state.position, state.heading, state.velocity, state.movables, state.own.couplings)
    if scratch.push is None or any(one is not other for one, other in zip(scratch.pushed, arrays)):
        _bind(model, impulse, scratch, arrays)
    scratch.beside.wait(state)
    scratch.orders[...] = told
    if model.drives.own:
        follow_all(model.drives.table, told, state.drive, state.done)
        for _, robots in model.drives.own:
            scratch.orders[:, robots] = np.where(state.alive[:, robots, None], state.drive[:, robots], 0.0)
        ask_own(model.drives.own, scratch.orders, scratch.twist)
    rules, work = impulse.rules, model.worlds * len(impulse.bodies.kind)
    if work * rules.dt > LONG * rules.substep:
        scratch.beside.run(scratch.push, state)
    else:
        scratch.push()


def _bind(model: Model, impulse: Impulse, scratch: Scratch, arrays: tuple[Any, ...]) -> None:
    """Tie the kernel to its arrays, once: to look up all their types again would take longer than a small world's step."""
    contact = model.world.contact
    scratch.orders = np.empty_like(arrays[0])
    given = (impulse.rules, contact.crash_limit, contact.at_limit == "end", scratch.orders, model.drives.table, scratch.twist,
             *arrays, model.fixed.shapes, model.near(impulse.bodies.widest + impulse.rules.margin), impulse.bodies,
             scratch.bodies, scratch.grid, scratch.log)
    scratch.push = partial(advance.advance_all.compile(tuple(typeof(each) for each in given)), *given)
    scratch.pushed = arrays


def _sweep(model: Model, state: State) -> None:
    if model.sweeps:  # else a body ends inside a clearance, on its own side, before it can pass through anything
        sweep_all(state.position, state.scratch.before, model.radius, model.safety, model.longest, model.contact != STOP,
                  model.fixed.shapes, model.near_contact, state.scratch.cells, state.done, state.scratch.swept,
                  state.scratch.contact.share)


def answer_contacts(model: Model, state: State) -> None:
    """Detect and resolve contacts, count crashes, tick the clocks."""
    contact = model.world.contact
    contact_all(model.contact, contact.crash_limit, contact.at_limit == "end", contact.counts == "objects", state.position,
                state.scratch.swept, model.radius, model.safety, model.widest_safety, model.longest, model.fixed.shapes,
                model.near_contact, state.scratch.cells, state.alive, state.crashed, state.crashes, state.done, state.step,
                state.scratch.rounds, state.unresolved, state.scratch.contact)


def points(model: Model, state: State, local: Floats, robots: slice) -> Floats:
    """Points (W, n, B, 3) in the frames of some robots, from the middle of their feet, as points of the world."""
    c, s = np.cos(state.heading[:, robots, None]), np.sin(state.heading[:, robots, None])
    x, y, z = np.moveaxis(local, -1, 0)
    at = state.position[:, robots, None]
    return np.stack([at[..., 0] + c * x - s * y, at[..., 1] + s * x + c * y, z], axis=-1)


def contacts(model: Model, state: State) -> Floats:
    """The last step's contacts (K, 7) in the first world: x y, normal to A, impulse in N s, A and B; none without impulses.

    Bodies are robots, then movables; -1 is fixed. All impacts, and what leans on what in the last substep.
    """
    log = state.scratch.log
    return np.array(log.rows[0, :int(log.count[0])]) if log else np.zeros((0, Touch.COLUMNS))


def rays(model: Model, state: State, origin: Floats, direction: Floats, reach: float, robots: slice,
         on: str = CHASSIS, through: Any = None) -> Floats:
    """Distances (W, n, B) along rays in space (B, 3), in each robot's frame. Here they meet the floor, and nothing else."""
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(direction[..., 2] < 0.0, -origin[:, 2] / direction[..., 2], np.inf)
    down = np.where((down >= 0.0) & (down <= reach) & np.logical_not(False if through is None else through), down, np.inf)
    return np.broadcast_to(down, (model.worlds, robots.stop - robots.start, len(origin))).copy()


def twist(model: Model, state: State) -> Floats:
    """(W, N, 3) vx, vy, turning rate of each robot in its own frame in the last step."""
    if model.drives.plain and not model.impulse:  # their kernel leaves it out
        twist_all(model.drives.table, state.drive, state.scratch.twist)
    return np.asarray(state.scratch.twist)


# -- the same as stages of a compiled program: see formiga/compiled.py ----------------------------------------------------
def step_stages(model: Model, state: State) -> list[Stage] | None:
    """What `step` does after the orders, world by world; None with contact model `impulse`, which has a call of its own, or
    with a drive that has no kernel."""
    if model.impulse or model.drives.own:
        return None
    scratch, contact, cells, work = state.scratch, model.world.contact, own_cells(state), make_workspace(model.world.robots)
    stages = drive.stages(model, state)
    if model.sweeps:
        stages.append(Stage(sweep_world, (
            state.position, scratch.before, model.radius, model.safety, model.longest, model.contact != STOP,
            model.fixed.shapes, model.near_contact, cells, scratch.swept, work.share)))
    stages.append(Stage(contact_world, (
        model.contact, contact.crash_limit, contact.at_limit == "end", contact.counts == "objects", state.position,
        scratch.swept, model.radius,
        model.safety, model.widest_safety, model.longest, model.fixed.shapes, model.near_contact, cells, state.alive,
        state.crashed, state.crashes, state.done, state.step, scratch.rounds, state.unresolved, work)))
    return stages


def told(model: Model, state: State) -> Floats:
    """(W, N, D) where the orders of drives go before these stages."""
    return np.asarray(state.drive if state.scratch.orders is None else state.scratch.orders)


def hear(model: Model, state: State, ears: Ears, robots: slice, into: Heard) -> None:
    """What some robots hear: see `above.hearing`. All feet are on the floor."""
    looking.hear(model, state, ears, np.zeros(state.heading.shape), robots, into)


def hear_stages(model: Model, state: State, ears: Ears, robots: slice, into: Heard) -> list[Stage] | None:
    """What `hear` does."""
    return looking.hear_stages(model, state, ears, np.zeros(state.heading.shape), robots, into)


__all__ = ["NAME", "Model", "as_it_stands", "begin", "build", "carry_on", "cast", "cast_from", "cast_stages", "cast_turned",
           "contacts", "events", "forces", "hear", "hear_stages", "holding", "in_jaw", "init", "inspect", "inspect_thing",
           "light", "light_stages", "line_of_sight", "look", "neighbour_stages", "neighbours", "paint", "places", "points",
           "put_down", "rays", "sample", "shadow", "sight_stages", "step", "step_stages", "told", "twist", "variant", "vary"]
