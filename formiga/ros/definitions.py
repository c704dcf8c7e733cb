"""Message types of ROS that topics have, as their .msg files define them: fields and constants, without the comments.

Clients that take raw messages, such as Foxglove, are given these texts. The fields are those of ROS 1, which differ from those
of ROS 2 in two places: a header has a number `seq`, and a time is `secs`, `nsecs` instead of `sec`, `nanosec`. In JSON a time
has all four names, so that a client of either kind finds its own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

DEFINITIONS: dict[str, str] = {
    "std_msgs/Header": "uint32 seq\ntime stamp\nstring frame_id",
    "std_msgs/Float64": "float64 data",
    "std_msgs/MultiArrayDimension": "string label\nuint32 size\nuint32 stride",
    "std_msgs/MultiArrayLayout": "MultiArrayDimension[] dim\nuint32 data_offset",
    "std_msgs/Float64MultiArray": "MultiArrayLayout layout\nfloat64[] data",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Pose": "Point position\nQuaternion orientation",
    "geometry_msgs/PoseStamped": "Header header\nPose pose",
    "geometry_msgs/PoseArray": "Header header\nPose[] poses",
    "geometry_msgs/PoseWithCovariance": "Pose pose\nfloat64[36] covariance",
    "geometry_msgs/Twist": "Vector3 linear\nVector3 angular",
    "geometry_msgs/TwistStamped": "Header header\nTwist twist",
    "geometry_msgs/TwistWithCovariance": "Twist twist\nfloat64[36] covariance",
    "geometry_msgs/Transform": "Vector3 translation\nQuaternion rotation",
    "geometry_msgs/TransformStamped": "Header header\nstring child_frame_id\nTransform transform",
    "nav_msgs/Odometry": "Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
                         "geometry_msgs/TwistWithCovariance twist",
    "rosgraph_msgs/Clock": "time clock",
    "rosgraph_msgs/Log": "byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\nHeader header\nbyte level\n"
                         "string name\nstring msg\nstring file\nstring function\nuint32 line\nstring[] topics",
    "sensor_msgs/LaserScan": "Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
                             "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\n"
                             "float32[] ranges\nfloat32[] intensities",
    "sensor_msgs/JointState": "Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
    "sensor_msgs/Image": "Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\n"
                         "uint8[] data",
    "sensor_msgs/CompressedImage": "Header header\nstring format\nuint8[] data",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
}
PLAIN = ("int8", "uint8", "byte", "char", "bool", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64",
         "string", "time", "duration")
FIELD = re.compile(r"([\w/]+)(?:\[(\d*)\])? (\w+)(?:=(\S+))?")
RULE = "=" * 80  # between the definitions of a type and of those in it


class Field(NamedTuple):
    """One field of a message."""

    type: str            # one of PLAIN, or the full name of a message type
    length: int | None   # of an array; -1: any; None: it is no array
    name: str


def plain_name(given: str) -> str:
    """'sensor_msgs/msg/LaserScan', as ROS 2 writes it -> 'sensor_msgs/LaserScan'."""
    return given.replace("/msg/", "/")


@cache
def fields(kind: str) -> tuple[Field, ...]:
    """The fields of a message type, without constants."""
    found = []
    for line in DEFINITIONS[kind].splitlines():
        named, length, name, constant = FIELD.fullmatch(line).groups()  # type: ignore[union-attr]  # all lines are ours
        if constant is None:
            found.append(Field(_full(kind, named), None if length is None else int(length or -1), name))
    return tuple(found)


def _full(kind: str, named: str) -> str:
    if named in PLAIN or "/" in named:
        return named
    return "std_msgs/Header" if named == "Header" else f"{kind.partition('/')[0]}/{named}"


@cache
def parts(kind: str) -> tuple[str, ...]:
    """The message types that a type is made of, itself first."""
    found = dict.fromkeys([kind])
    for each in fields(kind):
        if each.type not in PLAIN:
            found |= dict.fromkeys(parts(each.type))
    return tuple(found)


@cache
def full_text(kind: str) -> str:
    """The definition of a type and of all types in it, as `gendeps --cat` writes them."""
    return "\n".join([DEFINITIONS[kind], *(f"{RULE}\nMSG: {part}\n{DEFINITIONS[part]}" for part in parts(kind)[1:])]) + "\n"


__all__ = ["DEFINITIONS", "Field", "PLAIN", "fields", "full_text", "parts", "plain_name"]
