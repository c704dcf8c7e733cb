"""A world description as a model of MuJoCo, and where everything is in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import Any

import mujoco
import numpy as np

from formiga.engine.above.constants import Above, above_constants
from formiga.engine.drives import Drivetrain, drivetrain, refuse_incomplete
from formiga.engine.fixed import Fixed, Region
from formiga.engine.flatten import extent, flatten
from formiga.engine.ground import is_flat, with_obstacles
from formiga.engine.parts import Part
from formiga.engine.place import refuse_movables_in_walls
from formiga.engine.spatial import falling, impacts, robots, scenery
from formiga.engine.spatial import solids as solid_things
from formiga.engine.spatial.materials import Materials
from formiga.engine.spatial.motors import axis_name
from formiga.engine.spatial.touching import doubted
from formiga.engine.switches import Switches
from formiga.errors import CannotDiffer, WorldError, suggest
from formiga.state import Floats
from formiga.world.contract import Robot, joint_names
from formiga.world.drives import Differential, Omni, Steered
from formiga.world.elements import of, where
from formiga.world.ground import Physics, Terrain
from formiga.world.model import World
from formiga.world.mount import CHASSIS, Carried
from formiga.world.movables import JOINTS, MOVABLES
from formiga.world.solids import Joint, Material, Solid, Trigger

SLIDING, ROLLING, BOUNCING = 0.02, 0.01, 0.0025  # s, steps that were accurate enough: docs/reference/space.md
MOST_BODIES = 2500                       # robots count once, machines with all their bodies: MuJoCo compiles in quadratic time
MOST_BYTES = 2**30                       # of all machines, as compiled
MOST_GEOMS, MOST_HEIGHTS = 100_000, 2**20  # of all machines; heights are the points of their height fields
SHORTEST, MOST_SUBSTEPS = 1e-5, 10_000   # s, of a control period; steps of motion in one
LOW = 0.08                               # m; what is lower might pass under the spheres that stand for robots
STIFF = (0.999, 0.999, 0.001, 0.5, 2.0)  # of grips: else a chain of robots over a gap bends by some degrees at each
SOFT = (0.9, 0.95, 0.001, 0.5, 2.0)      # MuJoCo's own; conjugate gradients lose formations of 12 with stiffer grips
SAG = 1e-4                               # m by which robots on treels sink into a level floor
IMPRATIO = 1.0                           # stiffness of friction over that of the normal force
BODY = mujoco.mjtObj.mjOBJ_BODY
EVERYTHING = int(mujoco.mjtState.mjSTATE_INTEGRATION)

if mujoco.get_mju_user_warning() is None:
    mujoco.set_mju_user_warning(lambda text: None)  # it would write into MUJOCO_LOG.TXT; `step` looks at the motion itself


@dataclass
class Model:
    """What never changes during a run. Only the aims of the grippers' equalities in `mj` do; the state says them again."""

    world: World
    worlds: int
    copies: int
    first_world: int
    dt: float
    above: Above                   # the same world seen from above: placement, and beams over a level floor
    level: bool                    # whether rays in the plane see everything
    placing: tuple[World, Fixed]   # the same world to place robots in, and what scattered ones keep clear of
    mj: Any                        # mujoco.MjModel
    substeps: int
    gravity: float
    machines: list[robots.Assembly]
    sliding: robots.Sliding
    rolling: robots.Rolling
    standing: robots.Standing
    friction: Floats               # (kinds, geoms) of the surfaces of treels on all geoms
    impacts: impacts.Impacts
    doubted: bool                  # whether contacts are: `touching.doubted`
    flies: bool                    # whether it moves by Runge and Kutta's method while nothing touches
    falling: Any                   # (n, 2) bodies whose free fall is exact in Euler's steps, too: `falling.of`
    parts: tuple[Part, ...]
    rows: Any                      # (B,) body of each part
    chassis: Any                   # (N,) row in parts of each robot's own pose
    hold: Any                      # (N,) body by which others hold a robot, and that its rays do not see
    gripper: Any                   # (N,) body that grips, or -1
    jaw: Floats                    # (N, 3) where it grips, in the frame of that body
    grips: Any                     # (N, 2) equalities: rigid, loose; -1 without a gripper
    wheel_motor: Any               # (N, 2) actuators, or -1
    wheel_dof: Any                 # (N, 2), or -1: it slides
    wheel_joint: Any               # (N, 2) the same wheels among the places, or -1
    motor: Any                     # (N, K) actuators of `robot.joints`, or -1
    sign: Floats                   # (N, K)
    takes_place: Any               # (N, K) whether it is a joint in position mode
    ctrl: Any                      # columns of state.own.integration with the orders of all actuators
    motor_joint: Any               # (N, K) joint of MuJoCo that each of `robot.joints` moves, or -1
    owner: Any                     # (geoms,) robot that bumps with it, or -1
    ground: Any                    # (geoms,) whether it is the ground
    movables: Any                  # (M,) row in parts of each movable
    held: Any                      # (H, 2) bodies that can be held besides robots: body, number in world.things
    grippers: Any                  # (G, 2) robots that can grip, and which of their joints closes the gripper
    wheel_radius: Floats           # (N, 1)
    drives: Drivetrain
    speeds: Any                    # columns of state.own.integration with all speeds and accelerations
    row_of: Any                    # (bodies,) row in parts of each body of `mj`, or -1
    grippable: Any                 # (N,) whether others can hold it
    ring: Floats                   # (N,) m, height at which others hold a robot
    wide: Floats                   # (bodies,) m, how far a body reaches from its origin, at most
    joints: list[tuple[Joint, Any]]  # with the numbers of their equalities, none for a joint of the tree
    joined: list[tuple[int, ...]]  # of each joint: the robots that it holds, `one` and `other`, or -1
    hung: list[tuple[int, int, int]]  # joints of the tree: number in `joints`, bodies `other` and `one` (0: the floor)
    angular: list[tuple[int, int]]    # angular motors: number in `joints`, actuator
    anchors: Floats                # (joints, 3) the point of each joint of the tree, in the frame of `other`
    driven: Any                    # (motors,) actuators of `world.motors`
    motor_range: Floats            # (2, motors) least and largest order
    places: Any                    # columns of state.own.integration with all positions of joints
    rates: Any                     # columns of state.own.integration with all speeds
    triggers: list[tuple[int, Trigger]]
    uncompiled: str = "engine spatial"
    poses: bool = True
    keeps_contacts: bool = False
    moves_joints: bool = True
    solves_forces: bool = True
    made: dict[str, Any] = field(default_factory=dict)
    variants: tuple[World, ...] = ()

    def part_rows(self, part: str, robots: slice) -> Any:
        """(n,) the rows of `parts` with a part of some robots, by its name."""
        if part == CHASSIS:
            return self.chassis[robots]
        return np.array([self.row_of[self.mj.body(f"r{i}/{part}").id] for i in range(robots.start, robots.stop)], np.int64)

    @property
    def fixed(self) -> Fixed:
        """The walls and obstacles, seen from above."""
        return self.above.fixed

    @property
    def region(self) -> Region:
        """The arena, or the box around everything that stands still."""
        return self.above.region

    @property
    def lamps(self) -> Floats:
        """(L, 4) x y z intensity of those that are on at some time."""
        return self.above.lamps

    @property
    def switches(self) -> Switches:
        """When these lamps are on."""
        return self.above.switches


def build(world: World, worlds: int = 1, first_world: int = 0, copies: int = 1, variants: Sequence[World] = ()) -> Model:
    """Compile a world. `worlds` of them share the model, each `copies` times over; each has a row of the state."""
    if variants:
        other = next((w for w, each in enumerate(variants) if each is not world), 0)
        raise CannotDiffer("the world", other, "and in space all worlds of a batch are alike")
    refuse_incomplete(world)
    if world.contact.friction > 0.0:
        raise WorldError(f"{where(world.contact)}<contact> friction is of the plane, model=\"impulse\"; in space <material> "
                         "and <touch> set it.")
    _refuse_large(world)
    _refuse_counts(world)
    level = is_flat(world)
    lying = any(isinstance(thing, (*MOVABLES, Solid)) for thing in world.things)
    graspable = any(thing.grippable and not thing.fixed for thing in world.things)
    seen = _from_above(world)
    above = _above(seen)
    contact = replace(world.contact, model="none" if world.contact.model == "none" else "reposition")
    placing = replace(seen, contact=contact), flatten(with_obstacles(seen, world))
    physics = next((each for each in world.settings if isinstance(each, Physics)), Physics())
    low = lying or bool((above.fixed.heights < LOW).any())
    hills = any(isinstance(thing, Terrain) for thing in world.things)
    site = robots.Site(level, graspable, low, hills, level and not lying and not _gives(world))
    slides = all(robots.slides(group, number, site) for group in world.groups for number in range(group.count))
    bounces = any(thing.restitution > 0.0 for thing in world.things)
    step = physics.step or (BOUNCING if bounces else SLIDING if slides and not lying else ROLLING)
    substeps = _substeps(world, step)
    spec = mujoco.MjSpec()
    option = spec.option
    option.timestep, option.gravity = world.dt / substeps, (0.0, 0.0, -physics.gravity)
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, IMPRATIO
    option.iterations = physics.iterations
    option.solver = mujoco.mjtSolver.mjSOL_CG if physics.solver == "iterative" else mujoco.mjtSolver.mjSOL_NEWTON
    option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE if physics.solver == "direct" else mujoco.mjtJacobian.mjJAC_SPARSE
    option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    materials = Materials(world, option.timestep, physics.gravity)
    scenery.add_ground(spec, world, materials, extent(world, above.fixed))
    scenery.add_walls(spec, world, above.fixed, materials)
    machines = [robots.add(spec, group, number, numbers.start, site, materials)
                for group, numbers in zip(world.groups, world.slices, strict=True)
                for number in range(numbers.start, numbers.stop)]
    if any(machine.rolls for machine in machines):  # MuJoCo's sparse Newton may end far from the minimum among their contacts
        option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    _refuse_unknown_parts(world, machines)
    spec.nuserdata = sum(machine.memory for machine in machines)  # so that it is part of the state
    movables = scenery.add_movables(spec, world, materials)
    names = {f"{group.name}.{k}": machines[numbers.start + k].hold
             for group, numbers in zip(world.groups, world.slices, strict=True) for k in range(group.count)}
    numbers = {name: number for number, name in enumerate(names)}
    names |= {thing.name: body for thing, (body, _) in zip(world.movables, movables, strict=True)}
    stiffness = SOFT if physics.solver == "iterative" else STIFF
    solids, joints = solid_things.add(spec, world, materials, names, stiffness)
    materials.pairs(spec, world.contact.model == "none")
    for machine in machines:
        _add_grips(spec, machine, stiffness)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of MuJoCo's, about inertias
            mj = spec.compile()
    except (ValueError, mujoco.FatalError) as wrong:
        raise WorldError(f"{where(world)}the world cannot be built in space ({str(wrong).strip().splitlines()[0]}).") from wrong
    if world.contact.model == "none":
        mj.geom_contype[:] = np.where(mj.geom_contype & robots.BODY, mj.geom_contype & ~robots.BODY, mj.geom_contype)
        mj.geom_conaffinity[:] = mj.geom_conaffinity & ~robots.BODY
    frictions = [materials.friction(group.wheel_material, group.robot.friction, "ground")
             for group in world.groups for _ in range(group.count)]
    plain = level and not any(isinstance(thing, Solid) for thing in world.things) \
        and all(machine.robot.prism for machine in machines)
    bounce = impacts.of(world, mj, materials)
    flies = _choose_integrator(mj, physics, machines, bounce.active) and not movables
    return Model(world=world, worlds=worlds * copies, copies=copies, first_world=first_world, dt=world.dt, above=above,
                 level=plain, mj=mj, placing=placing, substeps=substeps, gravity=physics.gravity, machines=machines,
                 sliding=_sliding(machines, mj, frictions), rolling=_rolling(world, machines, mj, frictions, physics.gravity),
                 standing=_standing(machines, mj, frictions, physics.gravity), friction=materials.frictions(mj, world.groups),
                 drives=drivetrain(world), impacts=bounce, doubted=doubted(mj), flies=flies,
                 falling=falling.of(mj, machines, physics.integrator == "auto" and not bounce.active),
                 triggers=[(index, thing) for index, thing in enumerate(world.things) if isinstance(thing, Trigger)],
                 joints=[(joint, np.array([mj.equality(name).id for name in held], np.int64)) for joint, held in joints],
                 joined=[tuple(numbers.get(side, -1) for side in (joint.one, joint.other)) for joint, _ in joints],
                 **_numbers(world, mj, machines, movables, solids), **_hinged(world, mj, joints))


def _refuse_counts(world: World) -> None:
    if world.contact.counts == "objects":
        raise WorldError(f"{where(world.contact)}<contact> counts: 'objects' counts in the rounds in which the planar engine "
                         "moves robots apart; in space there are none, and a crash is a step: counts=\"steps\".")


def _refuse_large(world: World) -> None:
    """Complain before MuJoCo compiles for minutes in a call that nothing interrupts."""
    bodies, memory = sum(isinstance(thing, (*MOVABLES, Solid)) for thing in world.things), 0
    geoms = heights = 0
    for group in world.groups:
        bodies += group.count
        if group.count <= MOST_BODIES:  # else it is refused, and need not be measured
            own, bytes, shapes, points = group.robot.size_in_space()
            bodies += group.count * (own - 1)
            memory += group.count * bytes
            geoms += group.count * shapes
            heights += group.count * points
        if bodies > MOST_BODIES:
            raise WorldError(f"{where(group)}{bodies} bodies are too many for three dimensions; at most {MOST_BODIES} can "
                             "move. Lower 'count'.")
        if memory > MOST_BYTES:
            raise WorldError(f"{where(group)}these machines need {memory >> 20} MB; at most {MOST_BYTES >> 20} MB are allowed. "
                             "Lower 'count', or use smaller meshes, textures and histories of motors.")
        for number, most, what in ((geoms, MOST_GEOMS, "geoms"), (heights, MOST_HEIGHTS, "points of height fields")):
            if number > most:
                raise WorldError(f"{where(group)}these machines have {number} {what}; at most {most} are allowed. "
                                 "Lower 'count'.")
    if bodies > MOST_BODIES:
        raise WorldError(f"{where(world)}{bodies} bodies are too many for three dimensions; at most {MOST_BODIES} can move.")


def _substeps(world: World, step: float) -> int:
    """Steps of motion, each of at most `step` s, in a control period; a complaint if it is too short or too long for them."""
    if world.dt < SHORTEST:
        raise WorldError(f"{where(world)}<world> dt: in space a control period lasts at least {SHORTEST:g} s, not "
                         f"{world.dt:g} s.")
    if world.dt / step > MOST_SUBSTEPS * (1.0 + 1e-9):
        raise WorldError(f"{where(world)}<world> dt: a control period of {world.dt:g} s has more than {MOST_SUBSTEPS} steps of "
                         f"motion of {step:g} s; in space it lasts at most {MOST_SUBSTEPS * step:g} s here.")
    return max(1, ceil(world.dt / step - 1e-9))


def _from_above(world: World) -> World:
    """The world without what only space has."""
    things = tuple(thing for thing in world.things if not thing.SPATIAL and not isinstance(thing, JOINTS))
    settings = tuple(each for each in world.settings if not each.SPATIAL)
    return replace(world, things=things, settings=settings, engine="planar")


def _above(world: World) -> Above:
    """The constants of a world seen from above; WorldError if a movable starts in a wall."""
    corners = any(group.robot.outline for group in world.groups)
    above = Above(**above_constants(world, outlined=bool(world.movables or corners)))
    if above.outlines:
        refuse_movables_in_walls(world, above.fixed)
    return above


def _refuse_unknown_parts(world: World, machines: list[robots.Assembly]) -> None:
    """Say which sensor sits on a part that its robot does not have."""
    for group, numbers in zip(world.groups, world.slices, strict=True):
        parts = [name.split("/", 1)[1] for name, _ in machines[numbers.start].parts] if group.count else []
        for sensor in group.sensors:
            if isinstance(sensor, Carried) and sensor.on not in (CHASSIS, *parts):
                raise WorldError(f"{where(sensor)}<{of(sensor).tag}> on: '{group.name}' has no part '{sensor.on}'."
                                 f"{suggest(sensor.on, parts)} It has: {', '.join(dict.fromkeys((CHASSIS, *parts)))}.")


def _add_grips(spec: Any, machine: robots.Assembly, stiffness: tuple[float, ...]) -> None:
    """Two equalities that hold nothing yet: a weld, and a shared point for a loose grasp. They are aimed when it grips."""
    if machine.gripper:
        for kind, how in (("rigid", mujoco.mjtEq.mjEQ_WELD), ("loose", mujoco.mjtEq.mjEQ_CONNECT)):
            made = spec.add_equality(name=f"r{machine.number}/{kind}", objtype=BODY, type=how, name1=machine.gripper,
                                     name2="world", active=False, solimp=stiffness)
            made.data[10] = 1.0


def _numbers(world: World, mj: Any, machines: list[robots.Assembly], movables: Any, solids: Any) -> dict[str, Any]:
    """Names -> numbers: where all parts are in the compiled model."""
    def body(name: str) -> int:
        return int(mj.body(name).id) if name else -1

    def column(values: Any) -> Any:
        return np.array(list(values), np.int64)

    def table(names: list[tuple[str, ...]], width: int, number: Any) -> Any:
        return np.array([[number(name) if name else -1 for name in (*given, *[""] * (width - len(given)))] for given in names],
                        np.int64).reshape(len(names), width)

    moving = [*(part for machine in machines for part in machine.parts), *movables, *solids]
    row = {name: number for number, (name, _) in enumerate(moving)}
    rows = column(body(name) for name, _ in moving)
    row_of = np.full(mj.nbody, -1)
    row_of[rows] = np.arange(len(moving))
    count = max((len(machine.motors) for machine in machines), default=0)
    motor = table([machine.motors for machine in machines], count, lambda name: mj.actuator(name).id)
    signs = [[*machine.signs, *[1.0] * (count - len(machine.signs))] for machine in machines]
    gripping = [machine for machine in machines if machine.gripper]
    grips, jaw = np.full((len(machines), 2), -1), np.zeros((len(machines), 3))
    for machine in gripping:
        grips[machine.number] = [mj.equality(f"r{machine.number}/{kind}").id for kind in ("rigid", "loose")]
        jaw[machine.number] = mj.site(f"r{machine.number}/jaw").pos
    wide = np.zeros(mj.nbody)
    np.maximum.at(wide, mj.geom_bodyid, mj.geom_rbound + np.linalg.norm(mj.geom_pos, axis=1))
    held = [(body(name), part.thing) for name, part in [*movables, *solids]
            if world.things[part.thing].grippable]
    held += [(body(f"solid/{thing.name}"), index) for index, thing in enumerate(world.things)
             if isinstance(thing, Solid) and thing.fixed and thing.grippable]
    return {
        "speeds": columns(mj, mujoco.mjtState.mjSTATE_QVEL, mujoco.mjtState.mjSTATE_WARMSTART),
        "parts": tuple(part for _, part in moving), "rows": rows, "row_of": row_of, "wide": wide,
        "chassis": column(row[machine.chassis] for machine in machines), "hold": column(body(m.hold) for m in machines),
        "gripper": column(body(machine.gripper) for machine in machines), "jaw": jaw, "grips": grips,
        "grippers": np.array([(m.number, joint_names(m.robot).index("grip")) for m in gripping], np.int64).reshape(-1, 2),
        "grippable": np.array([bool(m.robot.grippable) for m in machines], np.bool_),
        "ring": np.array([m.robot.ring_height for m in machines]),
        "wheel_motor": table([machine.wheel_motors for machine in machines], 2, lambda name: mj.actuator(name).id),
        "wheel_dof": table([machine.wheels for machine in machines], 2, lambda name: mj.joint(name).dofadr[0]),
        "wheel_joint": table([machine.wheels for machine in machines], 2, lambda name: mj.joint(name).qposadr[0]),
        "wheel_radius": np.array([[m.robot.drive.wheel_radius if m.robot.drive else 1.0] for m in machines]).reshape(-1, 1),
        "motor": motor, "sign": np.array(signs, np.float64).reshape(len(machines), count),
        "takes_place": np.array([[k < len(m.motors) and m.motors[k] != "" and m.robot.joints[k].mode == "position"
                                  for k in range(count)] for m in machines], np.bool_).reshape(len(machines), count),
        "ctrl": columns(mj, mujoco.mjtState.mjSTATE_CTRL),
        "motor_joint": np.where(motor >= 0, mj.actuator_trnid[motor, 0], -1) if mj.nu else motor,
        "owner": _owners(mj, machines), "ground": mj.geom_group == scenery.GROUND_GROUP,
        "movables": column(row[name] for name, _ in movables), "held": np.array(held, np.int64).reshape(-1, 2),
    }


def _hinged(world: World, mj: Any, joints: list[tuple[Joint, list[str]]]) -> dict[str, Any]:
    """Where the joints of the world that are part of the tree are, and their motors; joints: with their equalities."""
    def body(name: str) -> int:
        return int(mj.body("world" if name == "floor" else f"solid/{name}").id)

    hung, anchors, start = [], np.zeros((len(joints), 3)), mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, start)
    for number, (joint, held) in enumerate(joints):
        if not held and joint.kind != "angular":
            other = body(joint.other)
            hung.append((number, other, body(joint.one)))
            anchors[number] = start.xmat[other].reshape(3, 3).T @ (np.array([joint.x, joint.y, joint.z]) - start.xpos[other])
    motors = world.motors
    driven = [mj.actuator(axis_name(motor.joint, motor.axis)).id for motor in motors]
    angular = [(number, int(mj.actuator(axis_name(joint, 0)).id)) for number, (joint, _) in enumerate(joints)
               if joint.kind == "angular"]
    return {"hung": hung, "angular": angular, "anchors": anchors, "driven": np.array(driven, np.int64),
            "motor_range": np.array([[motor.low for motor in motors], [motor.high for motor in motors]]).reshape(2, -1),
            "places": columns(mj, mujoco.mjtState.mjSTATE_QPOS), "rates": columns(mj, mujoco.mjtState.mjSTATE_QVEL)}


def columns(mj: Any, *wanted: Any) -> Any:
    """Where these parts are in a state of MuJoCo, whose parts are in the order of bits."""
    first, found = 0, list[int]()
    for bit in (1 << k for k in range(31) if EVERYTHING >> k & 1):
        size = mujoco.mj_stateSize(mj, bit)
        if bit in [int(part) for part in wanted]:
            found += range(first, first + size)
        first += size
    return np.array(found, np.int64)


def _owners(mj: Any, machines: list[robots.Assembly]) -> Any:
    """The robot that bumps with each geom (geoms,), or -1."""
    owner = np.full(mj.ngeom, -1)
    for machine in machines:
        for name, _ in machine.parts:
            number = mj.body(name).id
            theirs = slice(mj.body_geomadr[number], mj.body_geomadr[number] + mj.body_geomnum[number])
            owner[theirs] = np.where(mj.geom_contype[theirs] & robots.BODY, machine.number, owner[theirs])
    return owner


def _choose_integrator(mj: Any, physics: Physics, machines: list[robots.Assembly], bounces: bool) -> bool:
    """Take Runge and Kutta's, if it is asked for; a complaint where a step is done in halves. Whether it is to be taken while
    nothing touches: friction and motors are worse with it, falls and pendulums a hundred times better."""
    halves = "robots on wheels" if any(machine.rolls or machine.stands for machine in machines) else \
        "balls, or things that bounce" if bounces else ""
    if physics.integrator == "rk4" and halves:
        raise WorldError(f"{where(physics)}<physics integrator=\"rk4\"> does not go with {halves}. Leave it out.")
    if physics.integrator == "rk4":
        mj.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    return physics.integrator == "auto" and not machines and not bounces and mj.nu == 0


def _gives(world: World) -> bool:
    """Whether the floor is soft, or bounces."""
    return any(isinstance(thing, Material) and thing.name == "ground" and (thing.restitution > 0.0 or thing.softness > 0.0)
               for thing in world.things)


def _rolling(world: World, machines: list[robots.Assembly], mj: Any, frictions: list[float], gravity: float) -> robots.Rolling:
    chosen = [machine for machine in machines if machine.rolls]
    body = np.array([mj.body(machine.chassis).id for machine in chosen], np.int64)
    which = np.full(mj.nbody, -1)
    which[body] = np.arange(len(chosen))
    treel = np.where(mj.geom_contype == robots.WHEEL, which[mj.geom_bodyid], -1)
    mj.pair_dim[(treel[mj.pair_geom1] >= 0) | (treel[mj.pair_geom2] >= 0)] = 1
    group = np.repeat(np.arange(len(world.groups)), [group.count for group in world.groups])
    kind = group[np.array([machine.number for machine in chosen], np.int64)]
    side = np.stack([treel, mj.geom_pos[:, 1] < 0.0, kind[treel] if chosen else treel], axis=1)
    number = np.stack([np.array([m.number for m in chosen], np.int64), mj.body_dofadr[body].astype(np.int64), body], axis=1)
    return robots.Rolling(number, _facts(chosen, mj, frictions, gravity), side.astype(np.int64), np.zeros((len(chosen), 10)))


def _facts(chosen: list[robots.Assembly], mj: Any, frictions: list[float], gravity: float) -> Floats:
    """(n, 5) distance of the treels, mass, inertia about the vertical, what one motor pulls with, height of the centre."""
    facts = [(_track(m.robot), m.robot.mass, _inertia(mj, m), 0.5 * frictions[m.number] * m.robot.mass * gravity,
              _middle(mj, m)[0]) for m in chosen]
    return np.array(facts, np.float64).reshape(-1, 5)


def _middle(mj: Any, machine: robots.Assembly) -> tuple[float, float]:
    """Height of a robot's centre of mass over its chassis' origin, and its inertia about a horizontal axis through it, in its
    first posture."""
    root = mj.body(machine.chassis).id
    parts = [part for part in range(mj.nbody) if mj.body_rootid[part] == mj.body_rootid[root]]
    height = {0: 0.0}
    for part in parts:  # parents come first
        height[part] = height[mj.body_parentid[part]] + mj.body_pos[part, 2]
    masses, middles = mj.body_mass[parts], np.array([height[part] + mj.body_ipos[part, 2] for part in parts])
    middle = float(masses @ middles / masses.sum())
    return middle - height[root], float(mj.body_inertia[parts, 1].sum() + masses @ (middles - middle)**2)


def _standing(machines: list[robots.Assembly], mj: Any, frictions: list[float], gravity: float) -> robots.Standing:
    chosen, more = [machine for machine in machines if machine.stands], []
    for machine in chosen:
        mass = float(machine.robot.mass)
        stiff = mass * max(gravity, 1.0) / (4 * SAG)
        more.append((0.5 * _track(machine.robot), robots.treel_end(machine.robot), robots.TREEL * machine.robot.radius,
                     _middle(mj, machine)[1], stiff, 2.0 * sqrt(0.25 * mass * stiff), frictions[machine.number]))
    body = np.array([mj.body(machine.chassis).id for machine in chosen], np.int64)
    joint = mj.body_jntadr[body]
    number = np.stack([np.array([m.number for m in chosen], np.int64), mj.jnt_qposadr[joint], mj.body_dofadr[body]], axis=1)
    facts = np.hstack([_facts(chosen, mj, frictions, gravity), np.array(more, np.float64).reshape(-1, 7)])
    return robots.Standing(number.astype(np.int64), facts, np.zeros((len(chosen), 34)))


def _inertia(mj: Any, machine: robots.Assembly) -> float:
    """About the vertical, of all that turns with the chassis; half of what it carries, which hangs on a motor."""
    own = mj.body_inertia[mj.body(machine.chassis).id, 2]
    return float(own + (0.5 * mj.body_inertia[mj.body(machine.hold).id, 2] if machine.hold != machine.chassis else 0.0))


def _sliding(machines: list[robots.Assembly], mj: Any, frictions: list[float]) -> robots.Sliding:
    chosen = [machine for machine in machines if machine.sliding]

    def address(what: str, table: Any) -> Any:
        found = [mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_JOINT, f"r{machine.number}/{what}") for machine in chosen]
        return np.array([table[number] if number >= 0 else -1 for number in found], np.int64)

    numbers = [np.array([machine.number for machine in chosen], np.int64), address("x", mj.jnt_qposadr),
               address("x", mj.jnt_dofadr), address("under", mj.jnt_qposadr), address("under", mj.jnt_dofadr)]
    facts = [(_track(m.robot), m.robot.mass, _inertia(mj, m), frictions[m.number]) for m in chosen]
    return robots.Sliding(np.stack(numbers, axis=1), np.array(facts, np.float64).reshape(-1, 4))


def _track(robot: Robot) -> float:
    """m between the two treels that stand for its wheels, to share out forces on the floor."""
    drive = robot.drive
    if isinstance(drive, Differential | Omni):
        return drive.wheel_base if isinstance(drive, Differential) else 2.0 * drive.distance
    return drive.length if isinstance(drive, Steered) else 2.0 * float(robot.radius)


__all__ = ["EVERYTHING", "Model", "build"]
