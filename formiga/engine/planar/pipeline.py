"""The planar engine: robots on two wheels, walls, obstacles; thousands of worlds at once.

The names in `__all__` are the promise, `engine.Engine`. `step` is the table of contents of the
physics: discs without masses, as S1 has them, or with contact model `impulse` bodies that hit and push each other, as S2
has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numba import typeof

from formiga.engine.above import cells as cell_lists
from formiga.engine.above.beams import cast_all, look_world
from formiga.engine.above.light import light_all, light_world
from formiga.engine.above.looking import cast_turned, look, sample, shadow
from formiga.engine.axes import sizes_of
from formiga.engine.beams import Beams
from formiga.engine.beside import Beside
from formiga.engine.command import Command
from formiga.engine.drives import Drivetrain, ask_own, drivetrain, follow_all, follow_world
from formiga.engine.fixed import Fixed, Near, Region, Sight, near_table, sight_table
from formiga.engine.flatten import extent, flatten, lamps
from formiga.engine.parts import Part
from formiga.engine.place import place, refuse_movables_in_walls, switched_on
from formiga.engine.planar.contact import MINIMAL, NONE, PUBLISHED, STOP, Room, contact_all, contact_world, room
from formiga.engine.planar.drive import drive_all, drive_world, move_all, move_world
from formiga.engine.planar.impulse import advance, bodies
from formiga.engine.planar.impulse.beams import cast_bodies
from formiga.engine.planar.neutral import as_it_stands, events, forces, holding, inspect, paint, put_down
from formiga.engine.planar.own import PlanarState
from formiga.engine.planar.sweep import sweep_all, sweep_world
from formiga.errors import WorldError
from formiga.kernels import cache
from formiga.kernels.program import Stage
from formiga.noise import world_key
from formiga.state import Floats, State
from formiga.world.elements import of, where
from formiga.world.model import World
from formiga.world.mount import CHASSIS, Mounted
from formiga.world.movables import JOINTS, MOVABLES
from formiga.world.placement import At

NAME = "planar"
TOUCHES = 64       # contacts of a world's last step that are kept, at least
LONGEST_PERIOD = 60.0  # s with <contact model="impulse"/>, in which bodies move by some ms at once
LONG = 200_000     # bodies x substeps of a step that may take longer than a person waits for Ctrl-C


@dataclass
class Model:
    """What never changes during a run: the world's description as arrays, one entry per robot."""

    world: World
    worlds: int                    # in all, copies counted
    copies: int                    # each world is there so many times, with the same start and the same noise
    first_world: int               # number of the first world in the run, when several threads share it
    dt: float
    radius: Floats                 # (N,) of the body
    safety: Floats                 # (N,) of the collision circle
    drives: Drivetrain
    position_noise: Floats
    heading_noise: Floats
    fixed: Fixed
    region: Region
    contact: int
    widest: float                  # radius of the largest body
    widest_safety: float           # radius of the largest collision circle
    longest: float                 # furthest that anybody can go in one step
    sweeps: bool                   # whether a body could pass through something in one step
    noisy: bool                    # whether anybody's motion has noise
    height: Floats                 # (N,) of the body; the light sensors sit on top
    tallest: float                 # height of the tallest body
    lamps: Floats                  # (L, 4) x y z intensity of those that are on
    glow: Floats                   # (N,) m^2, the light that each robot gives; 0: none
    impulse: Impulse | None = None # bodies with masses, if the contact model is `impulse`
    tables: dict[float, Near] = field(default_factory=dict)
    sights: dict[float, Sight] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()   # bodies that move in space: none
    chassis: Any = field(default_factory=lambda: np.zeros(0, np.int64))

    def part_rows(self, part: str, robots: slice) -> Any:
        """None: see `engine.Model`."""
        return self.chassis
    level: bool = True
    poses: bool = False
    moves_joints: bool = False
    solves_forces: bool = False
    spatial: bool = False

    @property
    def uncompiled(self) -> str:
        """What keeps a step from being compiled as a whole, or nothing."""
        if self.impulse:
            return "the contact model impulse"
        return f"the drive {type(self.drives.own[0][0]).__name__}" if self.drives.own else ""

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the axes of a state."""
        return sizes_of(self.world) | {"world": self.worlds, "gripper": 0, "joint": 0, "body": 0}

    @cached_property
    def near_contact(self) -> Near:
        """The table that serves contacts: it reaches as far as anybody goes in a step or is moved at once."""
        return self.near(1.001 * (self.widest_safety + max(self.widest_safety, self.longest)))

    def near(self, radius: float) -> Near:
        """The table of fixed things for a search radius, made when first asked for."""
        if radius not in self.tables:
            self.tables[radius] = near_table(self.fixed, radius)
        return self.tables[radius]

    def sight(self, radius: float) -> Sight:
        """The same for beams, none of which reaches further from its robot's centre."""
        if radius not in self.sights:
            self.sights[radius] = sight_table(self.fixed, radius)
        return self.sights[radius]


@dataclass(frozen=True)
class Impulse:
    """What the contact model `impulse` needs of a world."""

    bodies: bodies.Bodies
    rules: advance.Rules
    movables: Floats                  # (M, 8) at the start


@dataclass
class Scratch:
    """Working memory: the cell list, where everybody was before the step, and how hard the last contacts were."""

    cells: cell_lists.Cells
    before: Floats             # (W, N, 2)
    swept: Any                 # (W, N) stopped on its way in the last step
    rounds: Any                # (W,) rounds of re-positioning in the last step; contact.ROUNDS: not all resolved
    room: Room                 # for one world's contacts
    grid: bodies.Grid | None = None
    bodies: bodies.Room | None = None
    log: advance.Log | None = None
    orders: Any = None         # (W, N, D) what the drives follow, with a delay or in `push`
    twist: Any = None          # (W, N, 3) what the drives did in the last step; None if all have two wheels without masses
    push: Any = None           # the step of `impulse`, tied to these arrays
    pushed: Any = ()
    beside: Beside = field(default_factory=Beside)

    @property
    def touches(self) -> Any:
        """The last step's contacts (W, C, 7): x y, normal to A, impulse in N s, A and B. Bodies are robots, then loose things;
        -1 stands still. All impacts, and what leans on what in the last substep. Only with contact model `impulse`."""
        return self.log.rows if self.log else np.zeros((len(self.rounds), 0, 7))

    @property
    def touching(self) -> Any:
        """How many of them there are (W,)."""
        return self.log.count if self.log else np.zeros(len(self.rounds), np.int64)


def build(world: World, worlds: int = 1, first_world: int = 0, copies: int = 1) -> Model:
    """The constants of a batch: worlds numbered from `first_world`, all of them once, then all again, `copies` times."""
    refuse_space(world)
    _refuse_long(world)
    return constants(world, worlds, first_world, copies)


def constants(world: World, worlds: int, first_world: int, copies: int) -> Model:
    """The same of a world that was looked at; the spatial engine asks, to place robots and to cast over a level floor."""
    if world.contact.model != "impulse":
        cache.expect("formiga.engine.planar.warm")
    drives = drivetrain(world)

    def each(name: str) -> Floats:
        parts = [np.full(group.count, float(getattr(group.robot, name))) for group in world.groups]
        return np.concatenate(parts or [np.empty(0)])

    fixed = flatten(world)
    radius, safety, height = each("radius"), each("radius") + each("clearance"), each("height")
    position_noise, heading_noise = each("position_noise"), each("heading_noise")
    driven = [group.robot.drive for group in world.groups]
    top_speed = np.repeat([drive.fastest if drive else 0.0 for drive in driven], [group.count for group in world.groups])
    motor_noise = np.array([drive.motor_noise for drive in driven if drive]).max(initial=0.0)
    longest = float((top_speed * (1.0 + position_noise)).max(initial=0.0) * (1.0 + motor_noise)) * world.dt
    shortest = float(radius.min(initial=np.inf))
    reposition = MINIMAL if world.contact.mode == "minimal" else PUBLISHED
    return Model(
        world=world, worlds=worlds * copies, copies=copies, first_world=first_world, dt=world.dt, radius=radius, safety=safety,
        drives=drives,
        position_noise=position_noise, heading_noise=heading_noise, fixed=fixed, region=extent(world, fixed),
        contact={"none": NONE, "impulse": NONE, "stop": STOP, "reposition": reposition}[world.contact.model],
        widest=float(radius.max(initial=0.0)), widest_safety=float(safety.max(initial=0.0)),
        longest=longest,
        sweeps=world.contact.model not in ("none", "impulse")
        and longest > min(float((safety - radius).min(initial=np.inf)), shortest),
        noisy=bool(position_noise.any() or heading_noise.any()),
        height=height, tallest=float(height.max(initial=0.0)), lamps=lamps(world), glow=_glow(world),
        impulse=_impulse(world, fixed, longest))


def _impulse(world: World, fixed: Fixed, longest: float) -> Impulse | None:
    """Bodies, rules and loose things, if the world asks for them; and a complaint if it has what only they can move."""
    contact = world.contact
    if contact.model != "impulse":
        for thing in world.things:
            if isinstance(thing, (*MOVABLES, *JOINTS)):
                raise WorldError(f"{where(thing)}<{of(thing).tag}> needs bodies with masses: <contact model=\"impulse\"/>.")
        for group in world.groups:
            if group.robot.outline:
                raise WorldError(f"{where(group)}'{group.name}' has corners; with <contact model=\"{contact.model}\"/> "
                                 "robots are discs. Choose model=\"impulse\".")
        return None
    table = bodies.bodies(world)  # refuses outlines that enclose nothing
    refuse_movables_in_walls(world, fixed)
    margin = max(1.25 * longest, float(table.fact[:, bodies.INNER].max(initial=0.0)), 4.0 * contact.threshold)
    rules = advance.Rules(world.dt, bodies.substep_of(world), contact.threshold, contact.rest_speed, contact.rounds, margin)
    return Impulse(table, rules, bodies.movables_start(world))


def _refuse_long(world: World) -> None:
    if world.contact.model == "impulse" and world.dt > LONGEST_PERIOD:
        raise WorldError(f"{where(world)}<world> dt: with <contact model=\"impulse\"/> a control period lasts at most "
                         f"{LONGEST_PERIOD:g} s, not {world.dt:g} s.")


def refuse_space(world: World) -> None:
    """Say what needs a third dimension."""
    for each in (*world.things, *world.settings, *(group.robot for group in world.groups)):
        if each.SPATIAL:
            raise WorldError(f"{where(each)}<{of(each).tag}> needs three dimensions: engine=\"spatial\".")
    for rule in (rule for group in world.groups for rule in group.place if isinstance(rule, At) and rule.raised):
        raise WorldError(f"{where(rule)}<at> z, roll and pitch need three dimensions: engine=\"spatial\".")
    for each in (each for group in world.groups for each in group.sensors if isinstance(each, Mounted) and each.in_space):
        raise WorldError(f"{where(each)}<{of(each).tag}> in the plane a sensor sits on the chassis, with x, y and yaw; on, z, roll "
                         "and pitch need three dimensions: engine=\"spatial\".")


def _glow(world: World) -> Floats:
    """The light of each robot (N,): the sum of what its group's <glow> say, 0 without one."""
    glow = np.zeros(world.robots)
    for group, robots in zip(world.groups, world.slices, strict=True):
        glow[robots] = sum(part.intensity for part in group.actuators if of(part).tag == "glow")
    return glow


def init(model: Model, seed: int = 0, start: tuple[Any, Any] | None = None) -> State:
    """Everything that changes, at the start. World 7 is the same alone or among 256.

    start: positions (W, N, 2) and headings (W, N) of everybody, instead of those that the placement rules give. Nobody asks
    whether there is room: who stands in something is moved out of it as after any step.
    """
    W, N = model.worlds, model.world.robots
    keys = keys_of(model, seed)
    position, heading = everywhere(model, *places(model, keys)) if start is None else _given(start, W, N)
    if model.copies > 1:
        keys = np.concatenate([keys] * model.copies)
    scratch = Scratch(cell_lists.make(W, N, model.region, 2.0 * model.widest_safety), position.copy(),
                      np.zeros((W, N), np.bool_), np.zeros(W, np.int64), room(N))
    movables, couplings = np.zeros((W, 0, 8)), np.zeros((W, 0, 8))
    if model.impulse:
        table, rows = model.impulse.bodies, TOUCHES + 8 * len(model.impulse.bodies.kind)
        movables = np.tile(model.impulse.movables, (W, 1, 1))
        couplings = np.stack([bodies.joints_start(model.world, position[w], heading[w], movables[w]) for w in range(W)])
        scratch.bodies, scratch.grid = bodies.make_room(table, model.fixed, rows), bodies.make_grid(table, model.region)
        scratch.log = advance.Log(np.zeros((W, rows, 7)), np.zeros(W, np.int64))
    if not model.drives.plain or model.impulse:
        scratch.twist = np.zeros((W, N, 3))
    if model.drives.lagging:
        scratch.orders = np.zeros((W, N, model.sizes["channel"]))
    return State.zeros(model.sizes, position=position, heading=heading, alive=np.tile(switched_on(model.world), (W, 1)),
                       movables=movables, key=keys, own=PlanarState(couplings=couplings), scratch=scratch)


def keys_of(model: Any, seed: int) -> Any:
    """What the starts and the noise of the worlds of a seed are hashed from, copies not counted. For both engines' models."""
    return np.array([world_key(seed, model.first_world + w) for w in range(model.worlds // model.copies)], np.uint64)


def everywhere(model: Any, *starts: Any) -> tuple[Any, ...]:
    """Arrays over worlds, repeated for each copy of them."""
    return starts if model.copies == 1 else tuple(np.concatenate([array] * model.copies) for array in starts)


def places(model: Model, keys: Any) -> tuple[Floats, Floats]:
    """Where the placement rules put the robots of worlds with these keys: positions (K, N, 2) and headings (K, N)."""
    return place(model.world, model.fixed, keys)


def begin(model: Model, state: State, chosen: Any, position: Floats, heading: Floats, key: Any) -> None:
    """Start the chosen (W,) worlds again, in place: robots at position (W, N, 2) and heading (W, N), noise from key (W,)."""
    for values in state.arrays().values():
        values[chosen] = 0
    state.alive[chosen] = switched_on(model.world)
    state.position[chosen], state.heading[chosen], state.key[chosen] = position[chosen], heading[chosen], key[chosen]
    if model.impulse:
        state.movables[chosen] = model.impulse.movables
        joined = isinstance(state.own, PlanarState) and state.own.couplings.size  # else the spatial engine holds them
        for w in np.flatnonzero(chosen) if joined else ():
            state.own.couplings[w] = bodies.joints_start(model.world, state.position[w], state.heading[w], state.movables[w])
    state.forget(chosen)


def _given(start: tuple[Any, Any], worlds: int, robots: int) -> tuple[Floats, Floats]:
    try:
        position, heading = (np.array(part, np.float64) for part in start)
    except (TypeError, ValueError) as wrong:
        raise WorldError("a start must be two arrays of numbers: positions (worlds, robots, 2), headings (worlds, robots).") \
            from wrong
    if position.shape != (worlds, robots, 2) or heading.shape != (worlds, robots):
        raise WorldError(f"a start has positions ({worlds}, {robots}, 2) and headings ({worlds}, {robots}), not "
                         f"{position.shape} and {heading.shape}.")
    if not (np.isfinite(position).all() and np.isfinite(heading).all()):
        raise WorldError("a start has finite numbers only; these are not.")
    return position, heading


def carry_on(old: Model, before: State, new: Model, state: State, kept: Any, still: Any) -> None:
    """Let what moves go on in a world that was built from an edited description: movables that were not put elsewhere are
    where they were, and couplings that stay hold as they did. Robots go on from the poses that they were given."""
    known = {thing.name: (number, bodies.start_of(thing)) for number, thing in enumerate(old.world.movables)}
    for number, thing in enumerate(new.world.movables):
        was, start = known.get(thing.name, (-1, None))
        if start == bodies.start_of(thing):
            state.movables[:, number] = before.movables[:, was]
    held = [thing for thing in old.world.things if isinstance(thing, JOINTS)]
    for number, joint in enumerate(thing for thing in new.world.things if isinstance(thing, JOINTS)):
        if joint in held:
            row = before.own.couplings[:, held.index(joint)]
            state.own.couplings[:, number, 0], state.own.couplings[:, number, 3:] = row[:, 0], row[:, 3:]


def step(model: Model, state: State, command: Command) -> None:
    """Advance every world that has not ended by `model.dt`."""
    command.keep(state)
    if model.impulse:
        _hit_and_push(model, model.impulse, state, command.drive)
        return
    _motors(model, state, command.drive)
    _drive(model, state)
    _sweep(model, state)
    answer_contacts(model, state)


def _hit_and_push(model: Model, impulse: Impulse, state: State, drive: Floats) -> None:
    scratch = state.scratch
    arrays = (state.drive, state.wheel_angle, state.alive, state.crashed, state.crashes, state.done, state.step,
              state.unresolved, state.position, state.heading, state.velocity, state.movables, state.own.couplings)
    if scratch.push is None or any(one is not other for one, other in zip(scratch.pushed, arrays)):
        _bind(model, impulse, scratch, arrays)
    scratch.beside.wait(state)
    scratch.orders[...] = drive
    if model.drives.own:
        follow_all(model.drives.table, drive, state.drive, state.done)
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
    given = (impulse.rules, contact.crash_limit, contact.at_limit == "end", scratch.orders, model.drives.table, scratch.twist, *arrays,
             model.fixed.shapes, model.near(impulse.bodies.widest + impulse.rules.margin), impulse.bodies, scratch.bodies,
             scratch.grid, scratch.log)
    scratch.push = partial(advance.advance_all.compile(tuple(typeof(each) for each in given)), *given)
    scratch.pushed = arrays


def _motors(model: Model, state: State, drive: Floats) -> None:
    if model.drives.lagging:
        follow_all(model.drives.table, drive, state.drive, state.done)
    else:
        state.drive[...] = drive  # no inertia: a wheel turns as it is told
    ask_own(model.drives.own, state.drive, state.scratch.twist)


def _drive(model: Model, state: State) -> None:
    scratch = state.scratch
    if not model.drives.plain:
        move_all(model.drives.table, state.drive, scratch.twist, model.dt, model.contact == STOP, model.position_noise,
                 model.heading_noise, model.noisy, state.position, state.heading, scratch.before, state.wheel_angle, state.alive,
                 state.crashed, state.done, state.step, state.key)
        return
    drive_all(state.drive, model.dt, model.contact == STOP, model.drives.table.base, model.drives.table.radius, model.position_noise,
              model.heading_noise, model.noisy, state.position, state.heading, scratch.before, state.wheel_angle,
              state.alive, state.crashed, state.done, state.step, state.key)


def _sweep(model: Model, state: State) -> None:
    if model.sweeps:  # else a body ends inside a clearance, on its own side, before it can pass through anything
        sweep_all(state.position, state.scratch.before, model.radius, model.safety, model.longest, model.contact != STOP,
                  model.fixed.shapes, model.near_contact, state.scratch.cells, state.done, state.scratch.swept,
                  state.scratch.room.share)


def answer_contacts(model: Model, state: State) -> None:
    """Detect and resolve contacts, count crashes, tick the clocks."""
    contact = model.world.contact
    contact_all(model.contact, contact.crash_limit, contact.at_limit == "end", state.position, state.scratch.swept,
                model.radius, model.safety, model.widest_safety, model.longest, model.fixed.shapes, model.near_contact,
                state.scratch.cells, state.alive, state.crashed, state.crashes, state.done, state.step, state.scratch.rounds,
                state.unresolved, state.scratch.room)


def cast(model: Model, state: State, beams: Beams, reach: float, robots: slice) -> Floats:
    """Distances (W, n, B) from the sensors of some robots along their beams; infinity where nothing is within reach."""
    out = np.empty((model.worlds, robots.stop - robots.start, len(beams.origin)))
    far = beams.furthest + reach
    if model.impulse:
        cast_bodies(state.position, state.heading, state.velocity, state.movables, robots.start, robots.stop, model.sight(far),
                    *beams.columns, far, reach, model.impulse.bodies, state.scratch.bodies, out)
        return out
    cast_all(state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
             model.sight(far), state.scratch.cells, *beams.columns, far, reach, np.empty(len(beams.origin)), out)
    return out


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
    return np.array(log.rows[0, :int(log.count[0])]) if log else np.zeros((0, 7))


def rays(model: Model, state: State, origin: Floats, direction: Floats, reach: float, robots: slice,
         on: str = CHASSIS) -> Floats:
    """Distances (W, n, B) along rays in space (B, 3), in each robot's frame. Here they meet the floor, and nothing else."""
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(direction[:, 2] < 0.0, -origin[:, 2] / direction[:, 2], np.inf)
    down = np.where((down >= 0.0) & (down <= reach), down, np.inf)
    return np.broadcast_to(down, (model.worlds, robots.stop - robots.start, len(down))).copy()


def light(model: Model, state: State, diodes: Any, robots: slice) -> Floats:
    """Readings (W, n, S) of the light sensors of some robots; diodes: `sense.light.Photodiodes`."""
    out = np.empty((model.worlds, robots.stop - robots.start, len(diodes.ux)))
    light_all(state.position, state.heading, robots.start, robots.stop, model.radius, model.height, model.widest,
              model.tallest, model.fixed.shapes, model.fixed.heights, state.scratch.cells, model.lamps, model.glow, diodes,
              state.key, state.step, out)
    return out


# -- the same as stages of a compiled program: see formiga/compiled.py ----------------------------------------------------
def step_stages(model: Model, state: State) -> list[Stage] | None:
    """What `step` does after the orders, world by world; None with contact model `impulse`, which has a call of its own, or
    with a drive that has no kernel. Orders go into `scratch.orders` where drives follow them with a delay, else `state.drive`."""
    if model.impulse or model.drives.own:
        return None
    scratch, contact, cells, work = state.scratch, model.world.contact, _own_cells(state), room(model.world.robots)
    moved = (model.dt, model.contact == STOP)
    stands = (model.position_noise, model.heading_noise, model.noisy, state.position, state.heading, scratch.before,
              state.wheel_angle, state.alive, state.crashed, state.step, state.key)
    if model.drives.plain:
        stages = [Stage(drive_world, (state.drive, *moved, model.drives.table.base, model.drives.table.radius, *stands))]
    else:
        stages = [Stage(follow_world, (model.drives.table, scratch.orders, state.drive))] if model.drives.lagging else []
        stages.append(Stage(move_world, (model.drives.table, state.drive, scratch.twist, *moved, *stands)))
    if model.sweeps:
        stages.append(Stage(sweep_world, (
            state.position, scratch.before, model.radius, model.safety, model.longest, model.contact != STOP,
            model.fixed.shapes, model.near_contact, cells, scratch.swept, work.share)))
    stages.append(Stage(contact_world, (
        model.contact, contact.crash_limit, contact.at_limit == "end", state.position, scratch.swept, model.radius,
        model.safety, model.widest_safety, model.longest, model.fixed.shapes, model.near_contact, cells, state.alive,
        state.crashed, state.crashes, state.done, state.step, scratch.rounds, state.unresolved, work)))
    return stages


def cast_stages(model: Model, state: State, beams: Beams, reach: float, robots: slice, out: Floats) -> list[Stage] | None:
    """What `cast` does, into out (W, n, B)."""
    if model.impulse:
        return None
    far = beams.furthest + reach
    return [Stage(look_world, (
        state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
        model.sight(far), _own_cells(state), *beams.padded, far, reach, np.empty(len(beams.padded[0])), out))]


def light_stages(model: Model, state: State, diodes: Any, robots: slice, out: Floats) -> list[Stage] | None:
    """What `light` does, into out (W, n, S)."""
    if model.impulse:
        return None
    cells = _own_cells(state)
    return [Stage(cell_lists.fill_world, (state.position, cells)), Stage(light_world, (
        state.position, state.heading, robots.start, robots.stop, model.radius, model.height, model.widest, model.tallest,
        model.fixed.shapes, model.fixed.heights, cells, model.lamps, model.glow, diodes, state.key, state.step, out))]


def _own_cells(state: State) -> cell_lists.Cells:
    """The cell lists with working memory that no other thread has."""
    cells: cell_lists.Cells = state.scratch.cells
    return cells._replace(cell=np.empty_like(cells.cell))


__all__ = ["NAME", "Model", "as_it_stands", "begin", "build", "carry_on", "cast", "cast_stages", "cast_turned", "contacts",
           "events", "forces", "holding", "init", "inspect", "light", "light_stages", "look", "paint", "places", "points",
           "put_down", "rays", "sample", "shadow", "step", "step_stages"]
