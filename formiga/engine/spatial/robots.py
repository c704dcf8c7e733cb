"""Robots as bodies, joints and motors of MuJoCo.

Two kinds of base. A *sliding* one has three degrees of freedom on a flat floor and is pulled by its treels (`treels.py`).
One on *wheels* is free in space: two round wheels with friction, two casters without. Wheels are spheres, because a cylinder
touches with an edge and turns a tenth too little; of two geoms the one with the higher priority says how they rub.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import mujoco

from formiga.engine.parts import Part
from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.contract import joint_names
from formiga.world.drives import Differential
from formiga.world.elements import of, where
from formiga.world.model import Group

# Who touches whom: contype of one and conaffinity of the other share a bit.
BODY, GROUND, WHEEL, LYING = 1, 2, 4, 8
UNSEEN = 2                         # group of geoms that rays and images leave out
SHELL = 0.3                        # friction of bodies and walls
SMOOTH = 1000                      # priority of what has no friction
# Shares of an s-bot's mass [digest of S3: chassis 0.36, wheels 0.03 each, turret 0.30, arm 0.02 kg]
CHASSIS_SHARE, WHEEL_SHARE, TURRET_SHARE, ARM_SHARE = 0.36 / 0.74, 0.03 / 0.74, 0.30 / 0.74, 0.02 / 0.74
TURRET_TORQUE = 1.0                # N m: it holds what the gripper holds at the end of the arm
SPRUNG = {"solref": (0.15, 1.0)}    # casters give way by some mm: no wheel ever hangs
LOW = 1.0 * CM                     # radius of a caster

free, hinge, slide = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
sphere, box, cylinder = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER


@dataclass
class Machine:
    """Where the parts of one robot are in the compiled model; names, until it is compiled."""

    number: int
    robot: Any
    sliding: bool
    chassis: str                                # the body that is the robot's own pose
    gripper: str = ""                           # the body that grips, and what others grip it by
    hold: str = ""
    wheels: tuple[str, ...] = ()                # joints of the two wheels
    wheel_motors: tuple[str, ...] = ()          # their actuators, empty if it slides
    motors: tuple[str, ...] = ()                # actuators of `robot.joints`; '' for what has none, such as a gripper
    signs: tuple[float, ...] = ()               # +1, or -1 where the motor turns the other way round
    parts: list[tuple[str, Part]] = field(default_factory=list)
    lift: float = 0.0                           # m by which its foot starts above the ground


class Sliding(NamedTuple):
    """The n sliding robots for `treels.pull_all`."""

    number: Any      # (n, 5) int64: its number; its x among the places and among the speeds, where y and the heading follow;
                     # the chassis under its turret among the places and among the speeds, or -1
    facts: Any       # (n, 4): distance of the treels in m, mass in kg, inertia of what turns on the floor in kg m^2, friction


def slides(robot: Any, flat: bool, free: bool) -> bool:
    """Whether this robot slides in such a world. `free`: there is nothing for it to grip but other robots; who slides has no
    weight, and would hold up what it grips with any force."""
    base = getattr(robot, "base", "auto")
    able = flat and (free or not bool(robot.joints)) and getattr(robot, "model", "simple") == "simple"
    return base == "sliding" or (base == "auto" and able)


def add(spec: Any, group: Group, number: int, flat: bool, free: bool, low: bool) -> Machine:
    """Add one robot to the description of the model. low: there may be things that pass under a sphere."""
    robot = group.robot
    if hasattr(robot, "file"):
        return _from_file(spec, robot, number)
    if robot.drive is None or robot.mass <= 0.0:
        lacks = "drive" if robot.drive is None else "mass"
        raise WorldError(f"{where(group)}the spatial engine cannot build <{of(robot).tag}>: it has no '{lacks}'.")
    if not isinstance(robot.drive, Differential) and not slides(robot, flat, free):
        why = "on level ground only" if not flat else "without base=\"wheels\" and without joints"
        raise WorldError(f"{where(group)}'{group.name}' has a drive of the kind {type(robot.drive).__name__}, which in space slides "
                         f"over the floor, {why}. Wheels that roll in space are two: a robot with a wheel base.")
    if getattr(robot, "base", "auto") == "sliding" and (not flat or robot.model == "detailed"):
        why = "this ground is not level" if not flat else "a detailed robot stands on wheels"
        raise WorldError(f"{where(group)}'{group.name}' cannot slide: {why}. Leave 'base' out.")
    for noise in ("position_noise", "heading_noise"):
        if getattr(robot, noise, 0.0) > 0.0:
            raise WorldError(f"{where(group)}'{group.name}' has {noise}; in space robots move by forces, and only motor_noise "
                             "has a meaning.")
    if robot.height < 2.5 * robot.drive.wheel_radius:
        raise WorldError(f"{where(group)}'{group.name}' is {robot.height:g} m high; in space a robot is at least 2.5 times as "
                         f"high as its wheels' radius, {robot.drive.wheel_radius:g} m.")
    return _sliding(spec, robot, number, low) if slides(robot, flat, free) else _on_wheels(spec, robot, number)


# -- sliding ------------------------------------------------------------------------------------------------------------
def _sliding(spec: Any, robot: Any, number: int, low: bool) -> Machine:
    """x, y and a turn about the vertical. With a turret, that is what slides, and the chassis turns under it."""
    name, turret = f"r{number}", bool(robot.joints)
    own = robot.mass * (TURRET_SHARE + ARM_SHARE) if turret else robot.mass
    body = spec.worldbody.add_body(name=f"{name}/turret" if turret else f"{name}/chassis")
    for axis, kind, what in (((1, 0, 0), slide, "x"), ((0, 1, 0), slide, "y"), ((0, 0, 1), hinge, "turn")):
        body.add_joint(name=f"{name}/{what}", type=kind, axis=axis)
    _weight(body, own, robot)
    if low and not getattr(robot, "outline", None):
        half = robot.height / 2  # a sphere would pass over a flat puck
        body.add_geom(type=cylinder, size=(robot.radius, half - 1e-3, 0), pos=(0, 0, half + 1e-3), mass=0.0, contype=BODY,
                      conaffinity=BODY, condim=1, rgba=rgba(robot.colour))
    else:
        _shell(body, robot, contype=BODY, conaffinity=BODY, condim=1)
    if not turret:
        return Machine(number, robot, True, f"{name}/chassis", hold=f"{name}/chassis",
                       parts=[(f"{name}/chassis", Part(number, -1, "chassis"))])
    chassis = body.add_body(name=f"{name}/chassis")
    chassis.add_joint(name=f"{name}/under", type=hinge, axis=(0, 0, 1))
    _weight(chassis, robot.mass - own, robot)
    _jaw(body, robot)
    _servo(spec, f"{name}/turret", f"{name}/under", TURRET_TORQUE)
    return Machine(number, robot, True, f"{name}/chassis", f"{name}/turret", f"{name}/turret",
                   motors=(f"{name}/turret", "", ""), signs=(-1.0, 1.0, 1.0),
                   parts=[(f"{name}/turret", Part(number, -1, "turret")), (f"{name}/chassis", Part(number, -1, "chassis"))])


# -- on wheels ------------------------------------------------------------------------------------------------------------
def _on_wheels(spec: Any, robot: Any, number: int) -> Machine:
    name, turret, detailed = f"r{number}", bool(robot.joints), getattr(robot, "model", "") == "detailed"
    r, half, reach = robot.wheel_radius, robot.wheel_base / 2, 0.78 * robot.radius
    light = robot.mass * (1.0 if not turret else 1.0 - TURRET_SHARE - ARM_SHARE) - 2 * WHEEL_SHARE * robot.mass
    # A motor that pulls harder than the wheel's share of friction only makes it slip. The rotor behind its gear is nearly as
    # heavy as the robot: a lighter one slips and overshoots, because a contact answers a step after the one that it slipped in.
    friction, swung = getattr(robot, "friction", 1.0), robot.mass * r * r
    pull = 0.5 * friction * robot.mass * 9.81
    body = spec.worldbody.add_body(name=f"{name}/chassis")
    body.add_joint(name=f"{name}/free", type=free)
    body.explicitinertial, body.mass = True, light
    body.ipos, body.inertia = (0, 0, 1.5 * r), _drum(light, robot.radius, 0.5 * robot.height)
    low = min(LOW, 0.5 * r)
    for x in (-reach, reach):
        body.add_geom(type=sphere, size=(low, 0, 0), pos=(x, 0, low + 0.2e-3), mass=0.0, friction=(0, 0, 0), condim=1,
                      priority=SMOOTH, **SPRUNG, contype=WHEEL, conaffinity=GROUND | LYING, group=UNSEEN)
    if detailed:
        body.add_geom(type=box, size=(0.8 * robot.radius, 0.7 * half, 0.4 * r), pos=(0, 0, 1.4 * r), mass=0.0,
                      friction=(0.3, 0, 0), condim=3, contype=BODY | WHEEL, conaffinity=BODY | GROUND | LYING)
    machine = Machine(number, robot, False, f"{name}/chassis", hold=f"{name}/chassis", lift=1e-3,
                      parts=[(f"{name}/chassis", Part(number, -1, "chassis"))])
    for side, y in (("left", half), ("right", -half)):
        wheel = body.add_body(name=f"{name}/{side}", pos=(0, y, r))
        wheel.add_joint(name=f"{name}/{side}", type=hinge, axis=(0, 1, 0), armature=0.7 * swung)
        wheel.add_geom(type=sphere, size=(r, 0, 0), mass=WHEEL_SHARE * robot.mass, friction=(friction, 0, 0),
                       priority=priority(friction), condim=3, contype=WHEEL, conaffinity=GROUND | LYING)
        motor = spec.add_actuator(name=f"{name}/{side}", target=f"{name}/{side}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_velocity(kv=180.0 * swung)
        motor.forcelimited, motor.forcerange = True, (-pull * r, pull * r)
        machine.parts.append((f"{name}/{side}", Part(number, -1, side)))
    machine.wheels = machine.wheel_motors = (f"{name}/left", f"{name}/right")
    upper = body
    if turret:
        upper = body.add_body(name=f"{name}/turret")
        upper.add_joint(name=f"{name}/turret", type=hinge, axis=(0, 0, 1))
        mass = robot.mass * (TURRET_SHARE + (0.0 if detailed else ARM_SHARE))
        upper.explicitinertial, upper.mass = True, mass
        upper.ipos, upper.inertia = (0, 0, 3.0 * r), _drum(mass, robot.radius, 0.4 * robot.height)
        _servo(spec, f"{name}/turret", f"{name}/turret", TURRET_TORQUE)
        machine.parts.append((f"{name}/turret", Part(number, -1, "turret")))
        machine.gripper = machine.hold = f"{name}/turret"
        machine.motors, machine.signs = (f"{name}/turret", "", ""), (1.0, 1.0, 1.0)
    _shell(upper, robot, contype=BODY | WHEEL, conaffinity=BODY | GROUND | LYING, condim=3)
    if detailed:
        _arm(spec, upper, robot, machine)
    elif turret:
        _jaw(upper, robot)
    return machine


def _arm(spec: Any, turret: Any, robot: Any, machine: Machine) -> None:
    """An arm on a horizontal axis, with the gripper at its end."""
    name = f"r{machine.number}"
    x, z = robot.arm_pivot
    long = robot.radius + robot.grip_reach - x
    arm = turret.add_body(name=f"{name}/arm", pos=(x, 0, z))
    arm.add_joint(name=f"{name}/arm", type=hinge, axis=(0, -1, 0), limited=mujoco.mjtLimited.mjLIMITED_TRUE,
                  range=(-30.0, 70.0), armature=1e-4)  # degrees
    arm.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=(0, 0, 0, long - 0.01, 0, 0), size=(0.006, 0, 0),
                 mass=ARM_SHARE * robot.mass, contype=0, conaffinity=0, group=UNSEEN)
    arm.add_site(name=f"{name}/jaw", pos=(long - 0.5 * robot.grip_reach, 0, 0))
    _servo(spec, f"{name}/arm", f"{name}/arm", robot.lift_force * long)
    machine.parts.append((f"{name}/arm", Part(machine.number, -1, "arm")))
    machine.gripper, machine.motors = f"{name}/arm", (machine.motors[0], f"{name}/arm", "")


def _jaw(body: Any, robot: Any) -> None:
    """Where a still gripper holds: in the middle of its reach, at the height of the arm."""
    body.add_site(name=body.name.split("/")[0] + "/jaw", pos=(robot.radius + 0.5 * robot.grip_reach, 0, robot.arm_pivot[1]))


def _servo(spec: Any, name: str, joint: str, torque: float) -> None:
    """A motor that is told a speed and holds its place when that is 0."""
    motor = spec.add_actuator(name=name, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_intvelocity(kp=8.0, kv=0.3)
    motor.forcelimited, motor.forcerange = True, (-torque, torque)


def _shell(body: Any, robot: Any, **how: Any) -> None:
    """What others bump into. A sphere stands for an upright drum: cheaper, and the same among robots of one height."""
    low, high = robot.drive.wheel_radius, robot.height
    how |= {"rgba": rgba(getattr(robot, "colour", "#808080")), "friction": (SHELL, 0, 0), "priority": priority(SHELL)}
    outline = getattr(robot, "outline", None)
    if outline:
        width, depth = (max(p[k] for p in outline) - min(p[k] for p in outline) for k in (0, 1))
        x, y = (0.5 * (max(p[k] for p in outline) + min(p[k] for p in outline)) for k in (0, 1))
        body.add_geom(type=box, size=(width / 2, depth / 2, (high - 0.1 * low) / 2), pos=(x, y, (high + 0.1 * low) / 2),
                      mass=0.0, **how)
    elif getattr(robot, "model", "") == "detailed":
        body.add_geom(type=cylinder, size=(robot.radius, (high - 2 * low) / 2, 0), pos=(0, 0, (high + 2 * low) / 2), mass=0.0,
                      **how)
    else:
        body.add_geom(type=sphere, size=(robot.radius, 0, 0), pos=(0, 0, low + robot.radius), mass=0.0, **how)


def _weight(body: Any, mass: float, robot: Any) -> None:
    body.explicitinertial, body.mass = True, mass
    body.ipos, body.inertia = (0, 0, 0.5 * robot.height), _drum(mass, robot.radius, robot.height)


def _drum(mass: float, radius: float, height: float) -> tuple[float, float, float]:
    across = mass * (3.0 * radius**2 + height**2) / 12.0
    return across, across, 0.5 * mass * radius**2


def rgba(colour: str) -> tuple[float, ...]:
    """'#0072b2' as shares, for images."""
    return (*(int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)), 1.0)


def priority(friction: float) -> int:
    """The smoother of two that touch says how they rub: MuJoCo asks the geom with the higher priority."""
    return int(max(0, min(SMOOTH, round(SMOOTH - 100.0 * friction))))


# -- from a file of the user's own ------------------------------------------------------------------------------------------
def _from_file(spec: Any, robot: Any, number: int) -> Machine:
    """A robot in MJCF or URDF."""
    name, child, rest = f"r{number}", robot.description(), joint_names(robot)
    root = child.worldbody.first_body().name
    for geom in child.geoms:
        if geom.contype or geom.conaffinity:
            geom.contype, geom.conaffinity = BODY | WHEEL | LYING, BODY | GROUND | LYING | WHEEL
            geom.priority = SMOOTH + geom.priority if geom.priority > 0 else priority(geom.friction[0])
    names = [body.name for body in child.bodies if body.name and body.name not in ("world", root)]
    driven = tuple(f"{name}/{child.actuator(wheel).target}" for wheel in robot.wheels)
    spec.attach(child, prefix=f"{name}/", frame=spec.worldbody.add_frame())
    return Machine(number, robot, False, f"{name}/{root}", hold=f"{name}/{root}", lift=robot.lift, wheels=driven,
                   wheel_motors=tuple(f"{name}/{wheel}" for wheel in robot.wheels),
                   motors=tuple(f"{name}/{each}" for each in rest), signs=(1.0,) * len(rest),
                   parts=[(f"{name}/{root}", Part(number, -1, "chassis")),
                          *((f"{name}/{called}", Part(number, -1, called)) for called in names)])
