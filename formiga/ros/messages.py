"""Moments of a run as messages: dicts with the fields that `definitions.py` has.

Lengths of a pose are rounded to 1e-9 m, ranges to 1e-5 m: JSON is written in decimals, and digits that no receiver needs take
time on both sides.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from formiga.geometry import PLACE, TURN, relative, to_body
from formiga.ros.moment import Moment
from formiga.sense.camera import Camera
from formiga.sense.scanner import Scanner
from formiga.state import Floats

Message = dict[str, Any]
UNKNOWN = [0.0] * 36    # a covariance of zeros: not known
INFO = 2                # level of rosgraph_msgs/Log
QUALITY = 85            # of JPEG


def header(moment: Moment, frame: str) -> Message:
    """std_msgs/Header."""
    return {"seq": moment.step, "stamp": moment.stamp, "frame_id": frame}


def vector(x: float, y: float, z: float) -> Message:
    """geometry_msgs/Vector3, or Point."""
    return {"x": x, "y": y, "z": z}


def pose(values: Floats) -> Message:
    """geometry_msgs/Pose of x y z, and a quaternion w x y z."""
    x, y, z, qw, qx, qy, qz = np.round(values, 9).tolist()
    return {"position": vector(x, y, z), "orientation": {"x": qx, "y": qy, "z": qz, "w": qw}}


def pose_stamped(moment: Moment, robot: int) -> Message:
    """geometry_msgs/PoseStamped: where a robot really is."""
    return {"header": header(moment, "map"), "pose": pose(moment.truth[robot])}


def pose_array(moment: Moment) -> Message:
    """geometry_msgs/PoseArray: where all robots really are."""
    return {"header": header(moment, "map"), "poses": [pose(each) for each in moment.truth]}


def odometry(moment: Moment, robot: int, namespace: str) -> Message:
    """nav_msgs/Odometry: where a robot believes to be, and how its drive moved it in the last step."""
    ahead, aside, turn = np.round(moment.twist[robot], 9).tolist()
    return {"header": header(moment, f"{namespace}/odom"), "child_frame_id": f"{namespace}/base_link",
            "pose": {"pose": pose(moment.believed[robot]), "covariance": UNKNOWN},
            "twist": {"twist": {"linear": vector(ahead, aside, 0.0), "angular": vector(0.0, 0.0, turn)},
                      "covariance": UNKNOWN}}


def transform(moment: Moment, frame: str, child: str, values: Floats) -> Message:
    """geometry_msgs/TransformStamped: the pose of a frame in another one."""
    where = pose(values)
    return {"header": header(moment, frame), "child_frame_id": child,
            "transform": {"translation": where["position"], "rotation": where["orientation"]}}


def relative_pose(frame: Floats, of: Floats) -> Floats:
    """The pose (7,) of one body in the frame of another."""
    return np.concatenate([to_body(frame, of[PLACE]), relative(frame[TURN], of[TURN])])


def laser_scan(moment: Moment, scanner: Scanner, distance: Floats, frame: str) -> Message:
    """sensor_msgs/LaserScan. Distances (B,) begin at the scanner's mount, ranges in its middle. No return: infinite (REP 117),
    which is null in JSON."""
    ranges = np.where(distance >= scanner.reach, np.inf, np.round(distance + scanner.mount, 5))
    first, last = float(scanner.angles[0]), float(scanner.angles[-1])
    return {"header": header(moment, frame), "angle_min": first, "angle_max": last,
            "angle_increment": (last - first) / max(1, len(scanner.angles) - 1), "time_increment": 0.0,
            "scan_time": moment.world.dt, "range_min": scanner.mount, "range_max": scanner.mount + scanner.reach,
            "ranges": ranges.tolist(), "intensities": []}


def numbers(values: Any) -> Message:
    """std_msgs/Float64MultiArray of a reading of any shape."""
    values = np.asarray(values, np.float64)
    dim, stride = [], values.size
    for axis, size in enumerate(values.shape):
        dim.append({"label": f"axis{axis}", "size": size, "stride": stride})
        stride //= max(1, size)
    return {"layout": {"dim": dim, "data_offset": 0}, "data": values.ravel().tolist()}


def image(moment: Moment, camera: Camera, pixels: Any, frame: str) -> Message:
    """sensor_msgs/Image, rgb8."""
    return {"header": header(moment, frame), "height": camera.height, "width": camera.width, "encoding": "rgb8",
            "is_bigendian": 0, "step": 3 * camera.width, "data": np.asarray(pixels, np.uint8).tobytes()}


def compressed_image(moment: Moment, pixels: Any, frame: str) -> Message:
    """sensor_msgs/CompressedImage, as JPEG."""
    written = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(written, "JPEG", quality=QUALITY)
    return {"header": header(moment, frame), "format": "rgb8; jpeg compressed bgr8", "data": written.getvalue()}


def joint_state(moment: Moment, names: tuple[str, ...], position: Floats, velocity: Floats, effort: Floats) -> Message:
    """sensor_msgs/JointState; an empty array is not known."""
    return {"header": header(moment, ""), "name": list(names), "position": np.round(position, 9).tolist(),
            "velocity": np.round(velocity, 9).tolist(), "effort": np.round(effort, 9).tolist()}


def log(moment: Moment, text: str) -> Message:
    """rosgraph_msgs/Log."""
    return {"header": header(moment, ""), "level": INFO, "name": "/formiga", "msg": text, "file": "", "function": "", "line": 0,
            "topics": []}


__all__ = ["Message", "compressed_image", "header", "image", "joint_state", "laser_scan", "log", "numbers", "odometry", "pose",
           "pose_array", "pose_stamped", "relative_pose", "transform", "vector"]
