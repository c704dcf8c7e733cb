"""Robots as bodies, joints and motors of MuJoCo: what `robot.build_part` builds with.

Two kinds of base. A *sliding* one has three degrees of freedom on a flat floor and is pulled by its treels (`treels.py`).
One on *wheels* is free in space, on two treels: each is a capsule whose contacts MuJoCo finds, without friction; along the
ground `treels.roll_all` acts. On a bare level floor `floor.stand_all` does both, and MuJoCo has no contacts to find.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import degrees, hypot
from typing import Any, NamedTuple

import mujoco
import numpy as np

from formiga.engine.parts import Part
from formiga.engine.spatial.floor import KEPT
from formiga.errors import WorldError, suggest
from formiga.world.contract import Robot, joint_names
from formiga.world.drives import Differential
from formiga.world.elements import of, where
from formiga.world.model import Group
from formiga.world.placement import At

# Which geoms touch: contype of one and conaffinity of the other share a bit.
BODY, GROUND, WHEEL, LYING, LOOSE = 1, 2, 4, 8, 16
UNSEEN = 2                         # group of geoms that rays and images leave out
SHELL = 0.3                        # friction of bodies and walls
SMOOTH = 1000                      # priority of what has no friction
TREEL = 0.78                       # of a robot's radius: where a treel touches the floor, ahead of the axle and behind it
TREEL_END = 0.18                   # of it: radius of its two ends, which stay behind the body's outline
FOOT = 0.8                         # of the radius of others: where they stand
ROLLERS = 7                        # spheres of a treel on hills: of a capsule MuJoCo finds one end only on a height field
SERVO = 8.0, 0.3                   # N m/rad, N m s/rad: gain and damping of a motor that takes speeds
STIFFNESS, DAMPING = 20.0, 1.0     # 1/rad, s/rad: of one that takes positions, in its strength

free, hinge, slide = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
sphere, box, cylinder = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER

SHAPES = {"sphere": sphere, "box": box, "cylinder": cylinder, "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE}


class Site(NamedTuple):
    """What of the world decides how robots are built."""

    level: bool        # the ground is
    graspable: bool    # something besides robots can be gripped
    low: bool          # there may be things that pass under a sphere
    hills: bool        # there is a <terrain>
    bare: bool         # nothing but a hard level floor is under treels: no hills, nothing that lies about, no restitution


@dataclass
class Assembly:
    """One robot in the model. Parts are named until it is compiled."""

    number: int
    robot: Robot
    at: At | None = None                        # where it starts, if it has a z, a roll or a pitch
    sliding: bool = False
    rolls: bool = False                         # on treels: its chassis has geoms that touch as WHEEL
    stands: bool = False                        # on treels, on a floor that `floor.stand_all` knows
    settles: bool = False                       # whether it comes to rest on the ground before the start
    chassis: str = ""                           # the body whose pose is the robot's own
    gripper: str = ""                           # the body that grips, and the one that others grip
    hold: str = ""
    wheels: tuple[str, ...] = ()                # joints of the two wheels
    wheel_motors: tuple[str, ...] = ()          # their actuators, empty if it slides
    motors: tuple[str, ...] = ()                # actuators of `robot.joints`; '' for what has none, such as a gripper
    signs: tuple[float, ...] = ()               # +1, or -1 where the motor turns the other way round
    parts: list[tuple[str, Part]] = field(default_factory=list)
    lift: float | None = 0.0                    # m by which its origin starts above the ground; None: as it needs to touch it

    @property
    def foot(self) -> float:
        """How far from its axis it stands on the ground, in m."""
        if self.rolls and isinstance(self.robot.drive, Differential):
            return hypot(TREEL * self.robot.radius, 0.5 * self.robot.drive.wheel_base)
        return FOOT * self.robot.radius

    @property
    def memory(self) -> int:
        """How many numbers its treels keep from step to step: strains, and loads of those that bear weight."""
        return 3 if self.sliding else KEPT if self.stands else 5 if self.rolls else 0


class Sliding(NamedTuple):
    """The n sliding robots for `treels.pull_all`."""

    number: Any      # (n, 5) int64: its number; its x among the places and among the speeds, where y and the heading follow;
                     # the chassis under its turret among the places and among the speeds, or -1
    facts: Any       # (n, 4): distance of the treels in m, mass in kg, inertia of what turns on the floor in kg m^2, friction


class Rolling(NamedTuple):
    """The n robots on treels for `treels.roll_all`, which says more."""

    number: Any      # (n, 3) int64: its number; the first of its six speeds; its body
    facts: Any       # (n, 5): distance of the treels in m, mass in kg, inertia about the vertical in kg m^2, N of one motor,
                     # height of the centre of mass in m
    side: Any        # (geoms, 3) int64: which of the n robots' treel it is, or -1; 0: the left one, 1: the right one; its
                     # row in `friction`
    work: Any        # (n, 10)


class Standing(NamedTuple):
    """The n robots on treels on a level floor for `floor.stand_all`, which says more."""

    number: Any      # (n, 3) int64: its number; the first of its seven places; the first of its six speeds
    facts: Any       # (n, 12)
    work: Any        # (n, 34)


def raised(group: Group, number: int) -> At | None:
    """The <at> of a robot of a group, if it has a height or an attitude of its own."""
    rule = group.place[number] if len(group.place) == group.count else None
    return rule if isinstance(rule, At) and rule.raised else None


def slides(group: Group, number: int, site: Site) -> bool:
    """Whether a robot of a group stands on a sliding base in such a world."""
    return raised(group, number) is None and bool(group.robot.slides(site.level, site.graspable))


def add(spec: Any, group: Group, number: int, first: int, site: Site, materials: Any) -> Assembly:
    """Add one robot to the description of the model. number: of all robots; first: that of the group's first robot;
    materials: `materials.Materials` of the world."""
    build = Build(spec, group, number, number - first, site, materials)
    group.robot.build_part(build)
    return build.finished()


class Build:
    """Adds the bodies, joints and motors of one robot: `world.build.Builder`."""

    def __init__(self, spec: Any, group: Group, number: int, inside: int, site: Site, materials: Any) -> None:
        self.spec, self.group, self.robot, self._site, self._materials = spec, group, group.robot, site, materials
        self._geoms = 0
        self._refuse_wheel_material()
        self.sliding = slides(group, inside, site)
        self._name = f"r{number}"
        self._made = Assembly(number, group.robot, raised(group, inside))
        self._motors: dict[str, tuple[str, float]] = {}

    def finished(self) -> Assembly:
        """The robot, once it is built."""
        made, names = self._made, joint_names(self.robot)
        if not made.chassis:
            raise self._wrong("it builds no base")
        for joint in self.robot.joints:
            if joint.name not in self._motors and joint.mode != "switch":
                raise self._wrong(f"it builds no motor for its joint '{joint.name}'")
        if self.robot.grips and (not made.gripper or "grip" not in names):
            raise self._wrong("it grips, and builds no gripper or has no joint 'grip'")
        found = [self._motors.get(name, ("", 1.0)) for name in names]
        made.motors, made.signs = tuple(name for name, _ in found), tuple(sign for _, sign in found)
        made.hold = made.hold or made.chassis
        return made

    def _wrong(self, what: str) -> WorldError:
        return WorldError(f"{where(self.group)}the spatial engine cannot build <{of(self.robot).tag}>: {what}.")

    # -- materials ------------------------------------------------------------------------------------------------------
    def _skin(self) -> dict[str, Any]:
        """How another part of its body rubs and bounces: as its material, or as `shell` with the robot's own restitutions."""
        self._geoms += 1
        shell = float(self._materials.known["shell"].friction)
        return dict(self._materials.body(self.robot, f"{self._name}/geom{self._geoms}", self.group.material, shell, "shell"))

    def _tyre(self, treel: str) -> dict[str, Any]:
        """The same of a treel. MuJoCo finds its normal force only: along the surface `treels.roll_all` acts."""
        material, how = self.group.wheel_material, dict[str, Any]()
        if material:
            how |= self._materials.of(self.group, f"{self._name}/{treel}", material, fixed=False)
        return how | {"priority": SMOOTH + 1, "condim": 1}

    def _cover(self, geom: Any, wheel: bool) -> None:
        """Let a geom of a machine's file be of the material that the group has, if it has one."""
        material = self.group.wheel_material if wheel else self.group.material
        if not material:
            return
        self._geoms += 1
        geom.name = geom.name or f"geom{self._geoms}"
        for what, value in self._materials.of(self.group, f"{self._name}/{geom.name}", material, fixed=False).items():
            if what != "name":
                setattr(geom, what, value)

    def _refuse_wheel_material(self) -> None:
        if self.group.wheel_material and self.robot.drive is None:
            raise WorldError(f"{where(self.group)}'{self.group.name}' has a wheel_material and no wheels. Use 'material'.")
        for material in (self.group.material, self.group.wheel_material):
            if material:
                self._materials.find(self.group, material)

    # -- bases ----------------------------------------------------------------------------------------------------------
    def base(self) -> Any:
        """The body 'chassis' with the whole mass on its drive."""
        if self.robot.drive is None:
            return self._stand()
        return self.slide("chassis", self.robot.mass) if self.sliding else self.roll(1.0)

    def _check_drive(self) -> None:
        """Refuse a robot that cannot stand on such a base."""
        group, robot = self.group, self.robot
        if robot.drive is None:
            raise self._wrong("it has no 'drive'")
        if not robot.mass > 0.0:
            raise self._wrong("it has no 'mass'")
        for noise in ("position_noise", "heading_noise"):
            if getattr(robot, noise) > 0.0:
                raise WorldError(f"{where(group)}'{group.name}' has {noise}; in space robots move by forces, and only "
                                 "motor_noise has a meaning.")
        if robot.height < 2.5 * robot.drive.wheel_radius:
            raise WorldError(f"{where(group)}'{group.name}' is {robot.height:g} m high; in space a robot is at least 2.5 times "
                             f"as high as its wheels' radius, {robot.drive.wheel_radius:g} m.")

    def slide(self, name: str, mass: float) -> Any:
        """x, y and a turn about the vertical."""
        self._check_drive()
        if not self._site.level:
            raise WorldError(f"{where(self.group)}'{self.group.name}' cannot slide: this ground is not level. "
                             "Leave 'base' out.")
        body = self._part(self.spec.worldbody, name)
        for axis, kind, what in (((1, 0, 0), slide, "x"), ((0, 1, 0), slide, "y"), ((0, 0, 1), hinge, "turn")):
            body.add_joint(name=f"{self._name}/{what}", type=kind, axis=axis)
        self.drum(body, mass, 0.5 * self.robot.height, self.robot.height)
        self._made.sliding, self._made.chassis = True, body.name
        return body

    def roll(self, share: float) -> Any:
        """Free in space, on two treels."""
        self._check_drive()
        robot, name = self.robot, self._name
        if robot.base == "sliding":
            why = "a raised or tilted <at> puts it on wheels" if self._made.at else "this build of it stands on wheels"
            raise WorldError(f"{where(self._made.at or self.group)}'{self.group.name}' cannot slide: {why}. Leave 'base' out.")
        if not isinstance(robot.drive, Differential):
            why = "on level ground only" if not self._site.level else "without base=\"wheels\" and upright"
            raise WorldError(f"{where(self.group)}'{self.group.name}' has a drive of the kind {type(robot.drive).__name__}, "
                             f"which in space slides over the floor, {why}. Wheels that roll in space are two: a robot with a "
                             "wheel base.")
        r, half, end = robot.drive.wheel_radius, robot.drive.wheel_base / 2, treel_end(robot)
        reach = TREEL * robot.radius
        stands = self._site.bare and not self.group.wheel_material
        body = self._part(self.spec.worldbody, "chassis")
        body.add_joint(name=f"{name}/free", type=free)
        self.drum(body, robot.mass * share, 1.5 * r, 0.5 * robot.height)
        touches = {"contype": 0, "conaffinity": 0} if stands else {"contype": WHEEL, "conaffinity": GROUND | LOOSE}
        for side, y in (("left", half), ("right", -half)):
            if self._site.hills:
                for k, x in enumerate(np.linspace(-reach, reach, ROLLERS)):
                    body.add_geom(type=sphere, size=(end, 0, 0), pos=(x, y, end), mass=0.0, **self._tyre(f"{side}{k}"),
                                  **touches)
            else:
                body.add_geom(type=SHAPES["capsule"], size=(end, 0, 0), fromto=(-reach, y, end, reach, y, end), mass=0.0,
                              **self._tyre(side), **touches)
        made = self._made
        made.chassis, made.settles, made.rolls, made.stands = body.name, made.at is None, not stands, stands
        return body

    def _stand(self) -> Any:
        """Free in space, on its own foot: `shell` touches the ground."""
        if not self.robot.mass > 0.0:
            raise self._wrong("it has no 'mass'")
        body = self._part(self.spec.worldbody, "chassis")
        body.add_joint(name=f"{self._name}/free", type=free)
        self.drum(body, self.robot.mass, 0.5 * self.robot.height, self.robot.height)
        self._made.chassis = body.name
        return body

    def attach(self, child: Any, wheels: tuple[str, ...], lift: float | None) -> None:
        """A whole robot of a `mujoco.MjSpec`."""
        name, made = self._name, self._made
        self._motors = {each: (f"{name}/{each}", 1.0) for each in joint_names(self.robot)}
        root = child.worldbody.first_body().name
        rolling = {child.joint(child.actuator(wheel).target).parent.name for wheel in wheels}
        for geom in child.geoms:
            if geom.contype or geom.conaffinity:
                geom.contype, geom.conaffinity = BODY | WHEEL | LYING, BODY | GROUND | LYING | WHEEL
                geom.priority = SMOOTH + geom.priority if geom.priority > 0 else priority(geom.friction[0])
                self._cover(geom, geom.parent.name in rolling)
        names = [body.name for body in child.bodies if body.name and body.name not in ("world", root)]
        made.wheels = tuple(f"{name}/{child.actuator(wheel).target}" for wheel in wheels)
        made.wheel_motors = tuple(f"{name}/{wheel}" for wheel in wheels)
        self.spec.attach(child, prefix=f"{name}/", frame=self.spec.worldbody.add_frame())
        made.chassis, made.lift = f"{name}/{root}", lift
        made.parts = [(f"{name}/{root}", Part(made.number, -1, "chassis")),
                      *((f"{name}/{called}", Part(made.number, -1, called)) for called in names)]

    # -- parts ------------------------------------------------------------------------------------------------------------
    def _part(self, parent: Any, name: str, **how: Any) -> Any:
        body = parent.add_body(name=f"{self._name}/{name}", **how)
        self._made.parts.append((body.name, Part(self._made.number, -1, name)))
        return body

    def body(self, parent: Any, name: str, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Any:
        """A further part."""
        if any(part.name == name for _, part in self._made.parts):
            raise self._wrong(f"it has a second part '{name}'")
        body = self._part(parent, name, pos=at)
        return body

    def drum(self, body: Any, mass: float, middle: float, height: float) -> None:
        """The inertia of an upright drum."""
        across = mass * (3.0 * self.robot.radius**2 + height**2) / 12.0
        body.explicitinertial, body.mass = True, mass
        body.ipos, body.inertia = (0, 0, middle), (across, across, 0.5 * mass * self.robot.radius**2)

    def shell(self, body: Any, drum: bool = False) -> None:
        """A sphere stands for an upright drum of a sliding robot: cheaper, and the same among robots of one height. One that
        can tip needs the drum, or what it pushes at would lift its nose."""
        robot, sliding = self.robot, self._made.sliding
        low, high = robot.drive.wheel_radius if robot.drive else 0.0, robot.height
        how: dict[str, Any] = {"contype": BODY, "conaffinity": BODY, "condim": 1} if sliding else {
            "contype": BODY | WHEEL, "conaffinity": BODY | GROUND | LYING, "condim": 3}
        dim = 3 if self.group.material else how["condim"]
        how |= {"rgba": rgba(robot.colour), "mass": 0.0, **self._skin(), "condim": dim}
        if sliding and self._site.low and not robot.outline:
            half = high / 2  # a sphere would pass over a flat puck
            body.add_geom(type=cylinder, size=(robot.radius, half - 1e-3, 0), pos=(0, 0, half + 1e-3), **how)
            return
        if robot.outline:
            x, y = (0.5 * (max(p[k] for p in robot.outline) + min(p[k] for p in robot.outline)) for k in (0, 1))
            width, depth = (max(p[k] for p in robot.outline) - min(p[k] for p in robot.outline) for k in (0, 1))
            body.add_geom(type=box, size=(width / 2, depth / 2, (high - 0.1 * low) / 2), pos=(x, y, (high + 0.1 * low) / 2),
                          **how)
        elif drum or not sliding:
            body.add_geom(type=cylinder, size=(robot.radius, (high - 2 * low) / 2, 0), pos=(0, 0, (high + 2 * low) / 2), **how)
        else:
            body.add_geom(type=sphere, size=(robot.radius, 0, 0), pos=(0, 0, low + robot.radius), **how)

    def geom(self, body: Any, shape: str, size: tuple[float, ...], at: Any = (0, 0, 0), *, to: Any = None, mass: float = 0.0,
             colour: str | None = None, ghost: bool = False) -> None:
        """A shape of MuJoCo that others bump into and see."""
        if shape not in SHAPES:
            raise self._wrong(f"there is no shape '{shape}'.{suggest(shape, SHAPES)} There are: {', '.join(SHAPES)}")
        where_to: dict[str, Any] = {"pos": at} if to is None else {"fromto": (*at, *to)}
        how: dict[str, Any] = {"contype": 0, "conaffinity": 0, "group": UNSEEN} if ghost else {
            **self._skin(), "contype": BODY | WHEEL, "conaffinity": BODY | GROUND | LYING}
        if colour is not None:
            how["rgba"] = rgba(colour)
        body.add_geom(type=SHAPES[shape], size=(*size, 0, 0)[:3], mass=mass, **where_to, **how)

    # -- joints and motors ----------------------------------------------------------------------------------------------
    def hinge(self, body: Any, name: str, axis: Any, limits: tuple[float, float] | None = None, armature: float = 0.0) -> None:
        """About an axis through the body's origin."""
        made = body.add_joint(name=f"{self._name}/{name}", type=hinge, axis=axis, armature=armature)
        if limits is not None:
            made.limited, made.range = mujoco.mjtLimited.mjLIMITED_TRUE, tuple(round(degrees(limit), 12) for limit in limits)

    def slider(self, body: Any, name: str, axis: Any, limits: tuple[float, float] | None = None) -> None:
        """Along an axis."""
        made = body.add_joint(name=f"{self._name}/{name}", type=slide, axis=axis)
        if limits is not None:
            made.limited, made.range = mujoco.mjtLimited.mjLIMITED_TRUE, limits

    def motor(self, joint: str, moves: str, strength: float, *, gain: float | None = None, damping: float | None = None,
              sign: float = 1.0) -> None:
        """In the mode that robot.joints declares."""
        known = {each.name: each for each in self.robot.joints}
        if joint not in known:
            raise self._wrong(f"it builds a motor '{joint}', which is none of its joints.{suggest(joint, known)} "
                              f"They are: {', '.join(known) or 'none'}")
        motor = self.spec.add_actuator(name=f"{self._name}/{joint}", target=f"{self._name}/{moves}",
                                       trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.forcelimited, motor.forcerange = True, (-strength, strength)
        if known[joint].mode == "position":
            motor.set_to_position(kp=STIFFNESS * strength if gain is None else gain,
                                  kv=DAMPING * strength if damping is None else damping)
        elif known[joint].mode == "velocity":
            kv = SERVO[1] if damping is None else damping
            motor.set_to_intvelocity(kp=SERVO[0] if gain is None else gain, kv=kv)
            # Its full strength changes the speed in a step by less than the range in which it is not at full strength: with a
            # lighter rotor it would go from one limit to the other for ever.
            turned = self.spec.joint(motor.target)
            turned.armature = max(turned.armature, 0.5 * kv * self.spec.option.timestep)
        else:
            motor.set_to_motor()
        self._motors[joint] = motor.name, sign

    def idle(self, joint: str) -> None:
        """No motor here."""
        self._motors[joint] = "", 1.0

    def gripper(self, body: Any, at: Any) -> None:
        """Where it holds."""
        body.add_site(name=f"{self._name}/jaw", pos=at)
        self._made.gripper = body.name

    def chassis(self, body: Any) -> None:
        """The robot's own pose."""
        self._made.chassis = body.name

    def held_by(self, body: Any) -> None:
        """By which others hold it."""
        self._made.hold = body.name


def treel_end(robot: Robot) -> float:
    """m, radius of the ends of its treels."""
    radius = robot.drive.wheel_radius if robot.drive else robot.radius
    return float(min(radius, TREEL_END * robot.radius))


def rgba(colour: str) -> tuple[float, ...]:
    """'#0072b2' as shares, for images."""
    return (*(int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)), 1.0)


def priority(friction: float) -> int:
    """The smoother of two surfaces determines their friction: MuJoCo asks the geom with the higher priority."""
    return int(max(0, min(SMOOTH, round(SMOOTH - 100.0 * friction))))


__all__ = ["Assembly", "Build", "Site", "Sliding", "add", "priority", "raised", "rgba", "slides"]
