"""What the laboratory asks of an element: small contracts, each with the value of what a class leaves out.

A robot is a frozen dataclass, registered as an element of role `robot`; a thing is one of role `thing`. Neither need inherit
anything: what its class leaves out is added when it is registered, as the contracts of its role have it. So every robot has
every attribute of `Robot`, every thing those of `Thing`, and no code asks whether it has one.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from math import inf
from re import fullmatch
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from formiga.errors import WorldError
from formiga.units import CM
from formiga.world.drives import Differential, Drive
from formiga.world.looks import Look
from formiga.world.looks.wheeled import plain_look

if TYPE_CHECKING:
    from formiga.world.build import Builder


@dataclass(frozen=True)
class Actuator:
    """The motor of one joint: its name, the quantity that it is ordered, and the range that it takes."""

    name: str
    mode: str = "velocity"      # 'position' rad or m; 'velocity' rad/s or m/s; 'torque' N m or N; 'switch': closed above 0.5
    low: float = -inf
    high: float = inf
    effort: float = inf         # N m or N, the most that the motor gives; inf: unknown


class Described(Protocol):
    """Any element."""

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {}       # named sets of defaults, such as the s-bot's `tr` and `draft`
    ALIASES: ClassVar[dict[str, str]] = {}                   # former name of an attribute -> its name

    def bundle(self, attribute: str) -> dict[str, bytes] | None:
        """Names and contents of files for a recording instead of the file that an attribute names, that one first; None: the
        file itself is all."""
        return None


# -- robots ---------------------------------------------------------------------------------------------------------------
class Body(Protocol):
    """A body on the floor."""

    radius: float                                            # m, of the circle around it; every robot says this
    height: float = 10.0 * CM
    mass: float = 0.0                                        # kg; 0: nothing can push it
    clearance: float = 0.0                                   # m; closer than this counts as a collision
    outline: tuple[tuple[float, float], ...] | None = None   # corners, counter-clockwise; None: a disc
    restitution: float = 0.0
    wall_restitution: float = 0.0
    friction: float = 1.0                                    # of its wheels on the floor, in space
    felt: ClassVar[bool] = True                              # whether others feel its impacts
    grippable: ClassVar[bool] = True                         # whether grippers take it for something to hold
    profile: str | None = None                               # the one of PROFILES that counts


class Driven(Protocol):
    """A robot that a drive moves."""

    wheel_base: float = 0.0                                  # m between two wheels; 0: it does not drive on two wheels
    wheel_radius: float = 2.0 * CM
    top_speed: float = 0.0                                   # m/s, of a wheel's rim
    position_noise: float = 0.0
    heading_noise: float = 0.0
    motor_noise: float = 0.0
    motor_lag: float = 0.0                                   # s
    tyres: str = "nonholonomic"
    tyre_friction: float = 0.0

    @cached_property
    def drive(self) -> Drive | None:
        """Differential, for a robot with a wheel base; a robot without one has no drive, or declares another."""
        if not self.wheel_base:
            return None
        return Differential(self.wheel_base, self.top_speed, self.wheel_radius, self.motor_noise)


class Jointed(Protocol):
    """A robot with joints that motors move."""

    joints: tuple[Actuator, ...] = ()

    @cached_property
    def joint_range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest order (K,) for each joint."""
        return np.array([joint.low for joint in self.joints]), np.array([joint.high for joint in self.joints])

    @property
    def start_posture(self) -> dict[str, float]:
        """Hinge or slider of its part in space -> rad or m at the start, of those that do not start as they are built."""
        return {}


class Gripping(Protocol):
    """A robot that can hold something. One of its joints is then a switch named 'grip'."""

    grips: ClassVar[bool] = False
    grip_reach: float = 0.0                                  # m, of the gripper, from the rim of the body
    grip_force: float = inf                                  # N; a harder pull opens it
    grasp: str = "rigid"                                     # or 'loose': the held body may turn

    @property
    def ring_height(self) -> float:
        """m above its foot, at which the grippers of others hold it."""
        return 0.5 * self.height  # type: ignore[attr-defined]  # of its Body


class Looks(Protocol):
    """What others see of it."""

    leds: int = 0                                            # lights in a ring
    colour: str = "#0072b2"

    def look(self) -> Look:
        """Its shapes for the laboratory, see `formiga.world.looks`: a drum, or its outline, with an arrow that points ahead."""
        return plain_look(self)


class Spatial(Protocol):
    """A robot in three dimensions. It builds its own part of the model; MuJoCo is not imported before that."""

    SPATIAL: ClassVar[bool] = False                          # whether it needs engine="spatial"
    fixed: bool = False                                      # whether its chassis stays where it was placed
    base: str = "auto"               # 'sliding', 'wheels', 'own' for neither, or 'auto': slides where it can
    footed: ClassVar[tuple[str, ...]] = ("chassis",)  # parts whose frames begin in the middle of its foot, z up
    prism: ClassVar[bool] = True    # whether it is its outline, seen from above at any height: then rays over a level floor are
    #                                 cast in the plane. False unless declared, for a class with a `build_part` of its own

    def slides(self, level: bool, graspable: bool) -> bool:
        """Whether it stands on a sliding base. level: the ground is; graspable: something besides robots can be gripped.

        A sliding base has no vertical degree of freedom, so it could lift any load; it has wheels if something can be gripped.
        """
        grips: bool = self.grips  # type: ignore[attr-defined]  # of Gripping
        return self.base == "sliding" or (self.base == "auto" and level and not (graspable and grips))

    def build_part(self, build: Builder) -> None:
        """Add its bodies, joints and motors to the model: a drum on its drive, if it says nothing else."""
        build.shell(build.base())

    def size_in_space(self) -> tuple[int, int, int, int]:
        """Bodies, bytes, geoms and points of height fields of one of it, if they are known before it is built."""
        return 1, 0, 0, 0


class Robot(Described, Body, Driven, Jointed, Gripping, Looks, Spatial, Protocol):
    """All of it."""


# -- things, settings, placements -------------------------------------------------------------------------------------------
class Thing(Described, Protocol):
    """What stands or lies in the world."""

    SPATIAL: ClassVar[bool] = False         # whether it needs engine="spatial"
    on: bool = True                         # false: as if it were not there
    fixed: bool = False                     # whether it can never move; counts for what can be gripped
    grippable: bool = False                 # whether grippers take it for something to hold
    outline: tuple[tuple[float, float], ...] | None = None
    restitution: float = 0.0
    wall_restitution: float = 0.0
    friction: float = 1.0
    felt: bool = True                       # whether hitting it slows the body that does
    material: str | None = None             # in space: the name of a <material>
    drive: ClassVar[None] = None            # these three as robots have them: a movable thing is a body among bodies
    motor_lag: ClassVar[float] = 0.0
    tyre_friction: ClassVar[float] = 0.0


class Setting(Described, Protocol):
    """How the world runs."""

    SPATIAL: ClassVar[bool] = False


class Placement(Described, Protocol):
    """Where the robots of a group start."""

    heading: float | None = None            # rad; None: drawn at random
    on: bool = True                         # false: they stand still for good


# -- what gives readings, what decides, what is good ------------------------------------------------------------------------
class Drawing(Protocol):
    """What may draw into the world: sensors, controllers, and whatever else has a view of it."""

    draws: ClassVar[bool] = False               # whether `draw` is its own: see `complete`

    def draw(self, view: Any, pen: Any) -> None:
        """Draw its data, with a `formiga.drawing.Pen`; view: what it last read, decided or estimated from.

        It is called when something looks at the world. The view is a copy of one world, so nothing in it changes the run.
        """


# Each of these is written once: with arrays (such as `read`), or with kernels (`stages`), which then serve every loop.
class Source(Described, Drawing, Protocol):
    """Gives readings, under its `name`."""

    angles: tuple[float, ...] | None = None     # rad from the heading, of each reading; None: its readings have no directions
    mount: float | None = None                  # m, of a ring of beams from the robot's centre; None: it has no such ring
    reach: float = inf                          # m
    full: float | None = None                   # the reading that counts as one, for networks and pictures; None: unknown
    beams: int = 1                              # numbers in a reading, at least
    kernels: ClassVar[bool] = False             # whether `stages` is its own: see `complete`

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """The least and the largest number of a reading of one such robot, each a number or an array that fits the reading.

        For networks and learners: (0, full) becomes 0..1, a range with numbers below 0 becomes -1..1. An end that is not known
        is infinite.
        """
        return (-inf, inf) if self.full is None else (0.0, float(self.full))

    def held(self, dt: float) -> int:
        """Numbers that are kept for one robot, at least: a run that does not fit into memory is refused."""
        beams, angles = self.beams, self.angles
        return max(beams if isinstance(beams, int) else 1, len(angles) if isinstance(angles, tuple) else 1, 1)

    def prepare(self) -> None:
        """Before the first step: read files that it needs, and complain about them."""

    def stages(self, scene: Any) -> Any:
        """Its array of readings, and the kernels that fill it; None: it has no kernels, and `read`, `hear` or `estimate` is
        called."""
        return None


class Sensor(Source, Protocol):
    """State -> readings."""

    SPATIAL: ClassVar[bool] = False             # whether it measures what exists only in space: the planar engine refuses it

    def read(self, scene: Any) -> Any:
        """Its readings (W, n, ...): those that its kernels fill, unless it is overridden."""
        return scene.run_stages(self)


class Link(Source, Protocol):
    """What robots sent -> what each of them hears. Links of one name are one medium: they hear each other."""

    numbers: int = 1                            # in a message
    range: float = inf                          # m, in which its messages are heard
    most: int = 1                               # messages that a robot can hear at once
    limit: float | None = None                  # size at which the numbers of a message are cut
    bits: int = 32                              # of a number on its way, for the account of what was sent

    def hear(self, scene: Any) -> Any:
        """What is heard (W, n, most, ...): what its kernels fill, unless it is overridden."""
        return scene.run_stages(self)


class Estimator(Source, Protocol):
    """Readings and earlier beliefs -> a belief, which joins the readings."""

    locates: ClassVar[bool] = False             # whether its belief begins with a pose x y heading in the world, as columns of
    #                                             `formiga.estimate.belief`: then people see how far it is off

    def estimate(self, view: Any) -> Any:
        """Its belief (W, n, ...): what its kernels fill, unless it is overridden."""
        return view.run_stages(self)


class Controller(Described, Drawing, Protocol):
    """Readings -> orders."""

    kernels: ClassVar[bool] = False          # whether `stages` is its own: see `complete`
    outside: ClassVar[bool] = False          # whether it only passes orders on, from outside of this process: all worlds of a
    #                                          run then step together

    def decide(self, view: Any) -> Any:
        """Its orders: those that its kernels fill, unless it is overridden."""
        return view.run_stages(self)

    def stages(self, view: Any, orders: Any) -> Any:
        """The kernels that fill orders (W, n, D); None: it has no kernels, and `decide` is called."""
        return None


class Term(Described, Protocol):
    """State -> reward."""

    kernels: ClassVar[bool] = False          # whether `stages` is its own: see `complete`

    def reward(self, view: Any) -> Any:
        """Its reward (W, n): what its kernels fill, unless it is overridden."""
        return view.run_stages(self)

    def stages(self, view: Any, reward: Any) -> Any:
        """The kernels that fill reward (W, n); None: it has no kernels, and `reward` is called."""
        return None


CONTRACTS: dict[str, type] = {"robot": Robot, "thing": Thing, "setting": Setting, "placement": Placement, "sensor": Sensor,
                              "link": Link, "estimator": Estimator, "controller": Controller, "fitness": Term}
DOES = {"sensor": "read", "link": "hear", "estimator": "estimate", "controller": "decide",
        "fitness": "reward"}  # the method that `stages` can stand for


def complete(cls: type, role: str, tag: str) -> None:
    """Give a class what the contract of its role has and it leaves out."""
    if role in DOES:
        _complete_stages(cls, CONTRACTS[role], DOES[role])
    own = declared(cls)
    if Drawing in CONTRACTS.get(role, Described).__mro__:
        own |= _complete_drawing(cls)
    for contract in CONTRACTS.get(role, Described).__mro__:
        if contract.__module__ == __name__:
            for name, value in vars(contract).items():
                if not name.startswith("_") and name not in own:
                    setattr(cls, name, value)
    if role == "robot":
        _complete_robot(cls, tag, own)


def declared(cls: type) -> set[str]:
    """The names that a class and its parents give something to: fields, properties, methods, class attributes."""
    return {field.name for field in dataclasses.fields(cls)} | {name for parent in cls.__mro__[:-1] for name in vars(parent)}


def _complete_stages(cls: Any, contract: Any, does: str) -> None:
    """Set `kernels`: whether a class has kernels for all that it does. A class of the user's own must define them itself:
    inherited kernels are those of an element that does something else. `stages` without the method that they stand for are all
    that is needed."""
    with_kernels = [parent for parent in cls.__mro__ if vars(parent).get("stages", contract.stages) is not contract.stages]
    if shipped(cls):
        cls.kernels = bool(with_kernels)
        return
    default = vars(contract)[does]
    alone = all(vars(parent).get(does, default) is default for parent in cls.__mro__)
    cls.kernels = bool(with_kernels) and (alone or cls in with_kernels)
    if cls in with_kernels and does not in vars(cls):
        setattr(cls, does, default)


def _complete_drawing(cls: Any) -> set[str]:
    """Set `draws`: whether a class draws something."""
    cls.draws = any(vars(parent).get("draw", Drawing.draw) is not Drawing.draw for parent in cls.__mro__)
    return {"draws"}


def shipped(cls: type) -> bool:
    """Whether a class comes with formiga."""
    return cls.__module__.startswith("formiga.")


def _complete_robot(cls: Any, tag: str, own: set[str]) -> None:
    if "radius" not in own:
        raise WorldError(f"<{tag}> of the role 'robot' needs a field or property radius, of the circle around it in m.")
    if "wheel_base" in own and not {"top_speed", "drive"} & own:
        raise WorldError(f"<{tag}> of the role 'robot' has a wheel_base; it needs top_speed, of a wheel's rim in m/s, too.")
    if "prism" not in own:
        cls.prism = "build_part" not in own


MODES = ("position", "velocity", "torque", "switch")
NOISES = ("position_noise", "heading_noise", "motor_noise")
NOT_BELOW = ("mass", "clearance", "restitution", "wall_restitution", "friction", "motor_lag", "tyre_friction", "grip_reach")
MOST_LEDS = 64
NUMBER = (int, float, np.floating, np.integer)


def wrong(robot: Any) -> str:
    """What a robot has that is not as its contracts say; nothing if all is well. Its drive is looked at by itself."""
    for name in ("radius", "height", *NOT_BELOW, *NOISES):
        value, above = getattr(robot, name), name in ("radius", "height")
        if not isinstance(value, NUMBER) or not 0.0 <= value < inf or (above and value == 0.0):
            return f"'{name}' must be a finite number, {'above' if above else 'at least'} 0, not {value!r}"
        if name in NOISES and value > 1.0:
            return f"'{name}' must be from 0 to 1, not {value!r}"
    if not isinstance(robot.leds, int) or not 0 <= robot.leds <= MOST_LEDS:
        return f"'leds' must be a whole number from 0 to {MOST_LEDS}, not {robot.leds!r}"
    if not isinstance(robot.colour, str) or not fullmatch("#[0-9a-fA-F]{6}", robot.colour):
        return f"'colour' must be written as '#0072b2', not {robot.colour!r}"
    for name in ("build_part", "look", "slides", "size_in_space"):
        if not callable(getattr(robot, name)):
            return f"'{name}' must be a method, not {getattr(robot, name)!r}"
    return _wrong_joints(robot.joints)


def _wrong_joints(joints: Any) -> str:
    if not isinstance(joints, tuple) or not all(isinstance(joint, Actuator) for joint in joints):
        return f"'joints' must be a tuple of Actuator, not {joints!r}"
    for joint in joints:
        if not (isinstance(joint.name, str) and joint.name) or [each.name for each in joints].count(joint.name) > 1:
            return f"each of its 'joints' needs a name of its own, not {joint.name!r}"
        if joint.mode not in MODES:
            return f"joint '{joint.name}' has the mode {joint.mode!r}; there are: {', '.join(MODES)}"
        if not (isinstance(joint.low, NUMBER) and isinstance(joint.high, NUMBER) and joint.low <= joint.high):
            return f"joint '{joint.name}' takes orders from {joint.low!r} to {joint.high!r}, which is no range"
        if not (isinstance(joint.effort, NUMBER) and joint.effort > 0.0):
            return f"joint '{joint.name}' has the effort {joint.effort!r}; it must be above 0"
    return ""


def channels(robot: Robot) -> int:
    """How many numbers its drive takes."""
    return len(robot.drive.channels) if robot.drive else 0


def joint_names(robot: Any) -> tuple[str, ...]:
    """Of its joints, in the order of orders."""
    return tuple(joint.name for joint in robot.joints)


__all__ = ["Actuator", "Robot", "Thing", "channels", "complete", "declared", "joint_names", "wrong"]
