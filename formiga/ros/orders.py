"""What clients order robots to do: messages -> orders, held until the next one or until they run out.

An order of a drive or of a joint holds for HOLD seconds of the simulated time, as drivers of real robots have it: a client that
dies does not drive on. Then the robot is its controller's again.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from formiga.control import Orders
from formiga.errors import FormigaError, suggest
from formiga.ros.definitions import fields
from formiga.world.contract import Actuator, channels
from formiga.world.drives import Drive, within
from formiga.world.model import World

HOLD = 0.5              # s, simulated, that an order holds; the time-out of ROS's diff_drive_controller
TWISTS = ("geometry_msgs/Twist", "geometry_msgs/TwistStamped")
JOINTS, NUMBER = "sensor_msgs/JointState", "std_msgs/Float64"
LARGEST = 1e6           # m/s, rad/s; orders beyond it are cut before they are reckoned with
SHOWN = 40              # characters of what a client wrote, in complaints
QUANTITY = {"position": "position", "velocity": "velocity", "torque": "effort", "switch": "position"}  # mode -> field of JOINTS

Part = tuple[int, int]  # (robot, number of a joint, or DRIVE)
DRIVE = -1


class Order(NamedTuple):
    """What one part of a robot shall do."""

    part: Part
    values: tuple[float, ...]


class Held:
    """The orders that hold. One thread puts them in, another one takes them out; neither waits for the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()                                  # held for a swap of two references
        self._new: dict[Part, tuple[float, ...]] = {}
        self._until: dict[Part, tuple[int, tuple[float, ...]]] = {}    # the step in which each has run out

    def put(self, orders: list[Order]) -> None:
        """From the next step on."""
        with self._lock:
            self._new.update(orders)

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._new = {}
        self._until = {}

    def orders(self, world: World, step: int) -> dict[str, Orders] | None:
        """Those for the next step, group by group, with NaN for what is left to the controllers; None if there are none."""
        with self._lock:
            new, self._new = self._new, {}
        last = step + max(1, round(HOLD / world.dt))
        self._until.update({part: (last, values) for part, values in new.items()})
        if not self._until:
            return None
        self._until = {part: held for part, held in self._until.items() if held[0] > step}
        return as_orders(world, {part: values for part, (_, values) in self._until.items()}) or None


def as_orders(world: World, held: dict[Part, tuple[float, ...]]) -> dict[str, Orders]:
    """Group -> orders with NaN for what is left open."""
    found: dict[str, Orders] = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        mine = {part: values for part, values in held.items() if robots.start <= part[0] < robots.stop}
        if not mine:
            continue
        drive = np.full((1, group.count, channels(group.robot)), np.nan)
        joints = np.full((1, group.count, len(group.robot.joints)), np.nan)
        for (robot, joint), values in mine.items():
            if joint == DRIVE:
                drive[0, robot - robots.start] = values
            else:
                joints[0, robot - robots.start, joint] = values[0]
        found[group.name] = Orders(drive=drive if np.isfinite(drive).any() else None,
                                   joints=joints if np.isfinite(joints).any() else None)
    return found


# -- messages -> orders ---------------------------------------------------------------------------------------------------
def drive_order(message: dict[str, Any], kind: str, robot: int, drive: Drive) -> list[Order]:
    """A twist in m/s and rad/s; what the drive cannot do is left out, and its limits are kept."""
    _refuse_others(message, kind, kind)
    if kind == TWISTS[1]:
        message = _dict(message.get("twist", {}), "twist")
        _refuse_others(message, TWISTS[0], "twist")
    linear, angular = (_dict(message.get(name, {}), name) for name in ("linear", "angular"))
    for part, given in (("linear", linear), ("angular", angular)):
        _refuse_others(given, "geometry_msgs/Vector3", part)
    wanted = np.array([_number(linear, "x", "linear"), _number(linear, "y", "linear"), _number(angular, "z", "angular")])
    channels = within(drive, drive.follow(np.clip(wanted, -LARGEST, LARGEST)))
    return [Order((robot, DRIVE), tuple(channels.tolist()))]


def joint_order(message: dict[str, Any], kind: str, robot: int, joint: Actuator, joints: tuple[Actuator, ...]) -> list[Order]:
    """A number for one joint, in the unit of its mode."""
    _refuse_others(message, NUMBER, NUMBER)
    if "data" not in message:
        raise FormigaError(f"a message of {NUMBER} has the field data; this one has none.")
    return [Order((robot, joints.index(joint)), (_cut(_number(message, "data", ""), joint),))]


def joint_orders(message: dict[str, Any], kind: str, robot: int, joints: tuple[Actuator, ...]) -> list[Order]:
    """Numbers for joints by their names: a position, a velocity or an effort, as the mode of each joint has it."""
    _refuse_others(message, JOINTS, JOINTS)
    given, found = message.get("name"), []
    if not isinstance(given, list) or not given or len(given) > len(joints):
        raise FormigaError(f"name must be a list of joints, at most {len(joints)}.")
    known = {joint.name: number for number, joint in enumerate(joints)}
    for place, name in enumerate(given):
        if not isinstance(name, str) or name not in known:
            raise FormigaError(f"there is no joint '{shown(name)}'.{suggest(str(name)[:SHOWN], known)} "
                               f"There are: {', '.join(known)}.")
        joint = joints[known[name]]
        quantity = QUANTITY[joint.mode]
        values = message.get(quantity)
        if not isinstance(values, list) or len(values) != len(given):
            raise FormigaError(f"joint '{name}' is ordered by {quantity}: it must be a list of as many numbers as names.")
        found.append(Order((robot, known[name]), (_cut(_number({quantity: values[place]}, quantity, ""), joint),)))
    return found


def _cut(value: float, joint: Actuator) -> float:
    return min(max(value, float(joint.low)), float(joint.high))


def _refuse_others(given: dict[str, Any], kind: str, called: str) -> None:
    """A field that a type does not have is a mistake: left out in silence, a twist with a wrong name would stop the robot."""
    names = [each.name for each in fields(kind)]
    for name in given:
        if name not in names:
            raise FormigaError(f"{called} has no '{shown(name)}'; it has: {', '.join(names)}.")


def _dict(given: Any, name: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise FormigaError(f"{name} must be an object with the fields x, y, z, not {shown(given)}.")
    return given


def _number(given: dict[str, Any], name: str, of: str) -> float:
    """A field that is a finite number; 0 if it is left out, as in ROS."""
    value = given.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        raise FormigaError(f"{of}{'.' if of else ''}{name} must be a finite number, not {shown(value)}.")
    return float(min(max(value, -1e300), 1e300))


def shown(given: Any) -> str:
    """What a client wrote, for a message: short, and on one line."""
    text = "null" if given is None else str(given)[: SHOWN + 1]
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


__all__ = ["DRIVE", "HOLD", "JOINTS", "NUMBER", "TWISTS", "Held", "Order", "drive_order", "joint_order", "joint_orders",
           "shown"]
