"""Which topics a world has: what can be read of each robot, and what it can be told.

Each robot has a namespace of its group's name and its number, `/swarm_0`. In a world with one robot all its topics are there
without a namespace, too: `/odom`, `/cmd_vel`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from formiga.engine.beams import SENSOR_HEIGHT
from formiga.loop import Simulation
from formiga.ros import messages, orders
from formiga.ros.messages import Message
from formiga.ros.moment import Moment, odometry_of
from formiga.sense import seat
from formiga.sense.camera import Camera
from formiga.sense.scanner import Scanner
from formiga.state import Floats
from formiga.world.elements import of
from formiga.world.model import Group
from formiga.world.mount import CHASSIS

MOST_ROBOTS = 256       # that have topics of their own; the poses of all are in /poses
SCAN = "scan"           # topic of a <scanner> that was given no name of its own

Build = Callable[[Moment], Message | None]              # None: there is nothing to say now
Take = Callable[[Message, str], list[orders.Order]]     # a message and its type -> orders; FormigaError if it is none


@dataclass(frozen=True)
class Shown:
    """A topic that clients can subscribe to. latched: a new subscriber is sent the last message at once."""

    name: str
    type: str
    build: Build
    latched: bool = False


@dataclass(frozen=True)
class Taken:
    """A topic that clients can publish on, with the types that it takes; the first one is the usual one."""

    name: str
    types: tuple[str, ...]
    take: Take


@dataclass
class Offer:
    """All topics of a world, by name, and what clients order its robots: an order for another world is never met here."""

    shown: dict[str, Shown] = field(default_factory=dict)
    taken: dict[str, Taken] = field(default_factory=dict)
    held: orders.Held = field(default_factory=orders.Held)
    left_out: int = 0               # robots that are too many to have topics of their own

    def show(self, name: str, kind: str, build: Build, latched: bool = False) -> None:
        """Add one."""
        self.shown[name] = Shown(name, kind, build, latched)

    def take(self, name: str, types: tuple[str, ...], take: Take) -> None:
        """Add one."""
        self.taken[name] = Taken(name, types, take)

    def type_of(self, name: str) -> str:
        """The usual type of a topic, '' if there is none of that name."""
        name = absolute(name)
        if name in self.shown:
            return self.shown[name].type
        return self.taken[name].types[0] if name in self.taken else ""


def offer(simulation: Simulation) -> Offer:
    """The topics of the first world of a run."""
    made, spaces = Offer(), namespaces(simulation)
    made.show("/clock", "rosgraph_msgs/Clock", lambda moment: {"clock": moment.stamp})
    made.show("/rosout", "rosgraph_msgs/Log", _events)
    made.show("/poses", "geometry_msgs/PoseArray", messages.pose_array)
    made.show("/tf", "tf2_msgs/TFMessage", partial(_transforms, spaces=spaces))
    made.show("/tf_static", "tf2_msgs/TFMessage", partial(_mounts, spaces=spaces), latched=True)
    for robot, space in enumerate(spaces):
        _offer_robot(made, simulation, robot, space, f"/{space}")
        if simulation.world.robots == 1:
            _offer_robot(made, simulation, robot, space, "")
    made.left_out = simulation.world.robots - len(spaces)
    return made


def namespaces(simulation: Simulation) -> list[str]:
    """'swarm_0', 'swarm_1' ... of the robots that have topics; characters that ROS does not allow become '_'."""
    found: list[str] = []
    for group in simulation.world.groups:
        first = legal(group.name)
        while any(each.rpartition("_")[0] == first for each in found):  # two groups of names that are the same for ROS
            first += "_"
        found += [f"{first}_{number}" for number in range(min(group.count, MOST_ROBOTS - len(found)))]
    return found


def absolute(name: str) -> str:
    """'scan' -> '/scan': clients may leave the first slash out, which stands for the namespace of the server."""
    return name if name.startswith("/") else f"/{name}"


def legal(name: str) -> str:
    """A name as ROS allows it: letters, digits and '_', and a letter first."""
    name = re.sub(r"[^0-9a-zA-Z_]", "_", name)
    return name if name[:1].isalpha() else f"r{name}"


def _offer_robot(made: Offer, simulation: Simulation, robot: int, space: str, above: str) -> None:
    """The topics of one robot, with names below `above`."""
    group, number = _place(simulation, robot)
    made.show(f"{above}/odom", "nav_msgs/Odometry", partial(messages.odometry, robot=robot, namespace=space))
    made.show(f"{above}/pose_truth", "geometry_msgs/PoseStamped", partial(messages.pose_stamped, robot=robot))
    if state := _joint_state(simulation, group, robot):
        made.show(f"{above}/joint_states", "sensor_msgs/JointState", state)
    odometry = odometry_of(group)
    for source in group.sources:
        if source is odometry:
            continue
        name, frame = f"{above}/{source_name(source)}", f"{space}/{source_name(source)}"
        read = partial(_reading, group=group, name=source.name, number=number)
        if isinstance(source, Scanner):
            made.show(name, "sensor_msgs/LaserScan", partial(_scan, read=read, scanner=source, frame=frame))
        elif isinstance(source, Camera):
            made.show(f"{name}/image_raw", "sensor_msgs/Image", partial(_image, read=read, camera=source, frame=frame))
            made.show(f"{name}/image_raw/compressed", "sensor_msgs/CompressedImage",
                      partial(_compressed, read=read, frame=frame))
        elif name not in made.shown:
            made.show(name, "std_msgs/Float64MultiArray", partial(_numbers, read=read))
    if group.robot.drive is not None:
        made.take(f"{above}/cmd_vel", orders.TWISTS, partial(orders.drive_order, robot=robot, drive=group.robot.drive))
    if group.robot.joints and simulation.model.moves_joints:
        joints = group.robot.joints
        made.take(f"{above}/joint_command", (orders.JOINTS,), partial(orders.joint_orders, robot=robot, joints=joints))
        for joint in joints:
            made.take(f"{above}/{legal(joint.name)}/command", (orders.NUMBER,),
                      partial(orders.joint_order, robot=robot, joint=joint, joints=joints))


def source_name(source: Any) -> str:
    """The last part of the name of its topic and of its frame."""
    unnamed = isinstance(source, Scanner) and source.name == of(source).tag
    return SCAN if unnamed else legal(source.name)


def _place(simulation: Simulation, robot: int) -> tuple[Group, int]:
    """The group of a robot, and its number in there."""
    for group, robots in zip(simulation.world.groups, simulation.world.slices, strict=True):
        if robots.start <= robot < robots.stop:
            return group, robot - robots.start
    raise IndexError(robot)


# -- what is read of a robot ----------------------------------------------------------------------------------------------
def _reading(moment: Moment, group: Group, name: str, number: int) -> Any:
    return moment.reading(group, name)[number]


def _scan(moment: Moment, read: Any, scanner: Scanner, frame: str) -> Message:
    return messages.laser_scan(moment, scanner, read(moment), frame)


def _image(moment: Moment, read: Any, camera: Camera, frame: str) -> Message:
    return messages.image(moment, camera, read(moment), frame)


def _compressed(moment: Moment, read: Any, frame: str) -> Message:
    return messages.compressed_image(moment, read(moment), frame)


def _numbers(moment: Moment, read: Any) -> Message:
    return messages.numbers(read(moment))


def _joint_state(simulation: Simulation, group: Group, robot: int) -> Build | None:
    """The channels of its drive, as far as they are wheels or angles, and its joints; None if it has neither."""
    drive, joints = group.robot.drive, group.robot.joints if simulation.model.moves_joints else ()
    wheels = drive.channels if drive else ()
    names = (*wheels, *(joint.name for joint in joints))
    if not names:
        return None

    def build(moment: Moment) -> Message:
        state, nothing = moment.state, np.empty(0)
        position: Floats = state.wheel_angle[0, robot, : len(wheels)]
        velocity, effort = nothing, nothing
        if drive is not None and all(drive.rolls) and not joints:
            velocity = state.drive[0, robot, : len(wheels)] / drive.wheel_radius
        if joints:
            position = np.concatenate([position, state.joint_position[0, robot, : len(joints)]])
            effort = np.concatenate([np.zeros(len(wheels)), state.joint_effort[0, robot, : len(joints)]])
        return messages.joint_state(moment, names, position, velocity, effort)

    return build


# -- what is read of the world --------------------------------------------------------------------------------------------
def _events(moment: Moment) -> Message | None:
    """What happened in the last step: grips, joints that broke, zones."""
    events = moment.simulation.engine.events(moment.model, moment.state)
    return messages.log(moment, "; ".join(event.text for event in events if event.world == 0)) if events else None


def _transforms(moment: Moment, spaces: list[str]) -> Message:
    """What moves: map -> odom -> base_link of each robot, and its parts that carry a sensor."""
    found = []
    for robot, space in enumerate(spaces):
        found.append(messages.transform(moment, "map", f"{space}/odom", moment.drift[robot]))
        found.append(messages.transform(moment, f"{space}/odom", f"{space}/base_link", moment.believed[robot]))
    for robots, part in _carriers(moment.simulation):
        rows = moment.model.part_rows(part, robots)
        for robot, row in zip(range(robots.start, min(robots.stop, len(spaces))), rows, strict=False):
            inside = messages.relative_pose(moment.truth[robot], moment.state.bodies[0, row])
            found.append(messages.transform(moment, f"{spaces[robot]}/base_link", f"{spaces[robot]}/{legal(part)}", inside))
    return {"transforms": found}


def _mounts(moment: Moment, spaces: list[str]) -> Message:
    """What stays: where the sensors sit on their robots."""
    found = []
    for group, robots in zip(moment.world.groups, moment.world.slices, strict=True):
        for sensor in group.sensors:
            if not isinstance(sensor, Scanner | Camera):
                continue
            high = sensor.mount if isinstance(sensor, Camera) else SENSOR_HEIGHT * group.robot.height
            own, part = seat(sensor, high, group.robot.footed), "base_link" if sensor.on == CHASSIS else legal(sensor.on)
            found += [messages.transform(moment, f"{space}/{part}", f"{space}/{source_name(sensor)}", own)
                      for space in spaces[robots.start : robots.stop]]
    return {"transforms": found}


def _carriers(simulation: Simulation) -> Iterator[tuple[slice, str]]:
    """(robots, part) of parts that move and carry a sensor with a frame, each once."""
    for group, robots in zip(simulation.world.groups, simulation.world.slices, strict=True):
        on = [sensor.on for sensor in group.sensors if isinstance(sensor, Scanner | Camera) and sensor.on != CHASSIS]
        yield from ((robots, part) for part in dict.fromkeys(on))


__all__ = ["MOST_ROBOTS", "Offer", "Shown", "Taken", "absolute", "legal", "namespaces", "offer"]
