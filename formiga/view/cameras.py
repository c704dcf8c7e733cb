"""Where to look from, and where a pointer meets the floor."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin, sqrt, tan
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.flatten import flatten
from formiga.geometry import PLACE, TURN, rotate, yaw
from formiga.view.frame import Frame
from formiga.view.ground import seen
from formiga.view.posture import posture
from formiga.view.robots import robot_meshes
from formiga.world.model import Group, World
from formiga.world.page import Camera

FOV = radians(45.0)         # upright
ASPECT = 1.5                # width / height of a window that has not been measured yet
TILT = radians(52.0)        # of the overview, above the horizon
BOWED = radians(8.0)        # of a robot's own camera, below the horizon: it sees what its gripper does
Vector = tuple[float, float, float]


class Pose(NamedTuple):
    """A camera."""

    position: Vector        # m
    look_at: Vector         # m
    up: Vector = (0.0, 0.0, 1.0)
    fov: float = FOV        # rad, upright


def overview(world: World, aspect: float = ASPECT) -> Pose:
    """The whole world, seen from the south and from above, in a window of that width / height.

    A floor point v north of where the camera looks is v sin(TILT) above the middle of the picture at depth A + v cos(TILT).
    The camera looks s south of the centre of the floor, so that its edges, a = depth / 2 away, are equally far from the middle:

        (a + s) / (A + (a + s) c) = (a - s) / (A - (a - s) c),  c = cos(TILT)   =>   s = (sqrt(A^2 + 4 a^2 c^2) - A) / 2c
    """
    (x, y), width, depth = _ground(world)
    away = _distance(width, depth * sin(TILT), 0.5 * depth * cos(TILT), aspect)
    y -= (sqrt(away**2 + (depth * cos(TILT)) ** 2) - away) / (2.0 * cos(TILT))
    return Pose((x, y - away * cos(TILT), away * sin(TILT)), (x, y, 0.0))


def top(world: World, aspect: float = ASPECT) -> Pose:
    """The whole world as on a map: x to the right, y up."""
    (x, y), width, depth = _ground(world)
    high = 1.16 * depth if world.pitch else depth  # a supervisor's note takes some of the window
    return Pose((x, y, _distance(width, high, 0.0, aspect)), (x, y, 0.0), up=(0.0, 1.0, 0.0))


def behind(frame: Frame, robot: int) -> Pose:
    """Over the robot's shoulder."""
    place, ahead = _stance(frame, robot)
    size = _size(frame, robot)
    here = place - 5.0 * size * ahead + (0.0, 0.0, 3.5 * size)
    return Pose(_vector(here), _vector(place + 2.0 * size * ahead))


def first_person(frame: Frame, robot: int) -> Pose:
    """What the robot would see: from its front, at the height of its body, along its heading.

    In space, from where its camera is, which turns and leans with what carries it; the horizon leans, too.
    """
    place, ahead = _stance(frame, robot)
    group = _group(frame, robot)
    if frame.bodies is not None:
        return _from_its_camera(frame, robot, group)
    eye = place + 1.05 * group.robot.radius * ahead + (0.0, 0.0, group.robot.height)
    return Pose(_vector(eye), _vector(eye + ahead), fov=radians(75.0))


def _from_its_camera(frame: Frame, robot: int, group: Group) -> Pose:
    meshes, high = robot_meshes(group.robot), group.robot.height
    pose = posture(frame, meshes, slice(robot, robot + 1), meshes.bearer)[0]
    eye, ahead, up = rotate(pose[TURN], np.array([meshes.camera or (1.05 * group.robot.radius, 0.0, high),
                                                (cos(BOWED), 0.0, -sin(BOWED)), (sin(BOWED), 0.0, cos(BOWED))]))
    return Pose(_vector(pose[PLACE] + eye), _vector(pose[PLACE] + eye + ahead), _vector(up), fov=radians(75.0))


def named(world: World) -> dict[str, Pose]:
    """The cameras that the world file names: <camera name="corner" .../>."""
    poses = {}
    for each in world.page:
        if isinstance(each, Camera):
            here, there = (each.x, each.y, each.z), (each.look_x, each.look_y, each.look_z)
            straight_down = abs(here[0] - there[0]) + abs(here[1] - there[1]) < 1e-6 * abs(here[2] - there[2])
            poses[each.name] = Pose(here, there, (0.0, 1.0, 0.0) if straight_down else (0.0, 0.0, 1.0), each.fov)
    return poses


def pinhole(place: Any, look_at: Any, up: Any, fov: float, aspect: float) -> dict[str, Any]:
    """A camera as three directions and the half-widths of its picture 1 m away.

    A point at u, v from -1 to 1 of the picture lies along  ahead + u wide right + v tall up.
    """
    ahead = np.asarray(look_at, float) - np.asarray(place, float)
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, np.asarray(up, float))
    right /= np.linalg.norm(right)
    tall = float(np.tan(0.5 * fov))
    return {"place": np.asarray(place, float).tolist(), "ahead": ahead.tolist(), "right": right.tolist(),
            "up": np.cross(right, ahead).tolist(), "tall": tall, "wide": tall * aspect}


def floor_point(origin: Sequence[float], direction: Sequence[float], height: float = 0.0) -> tuple[float, float] | None:
    """Where a ray meets the horizontal plane at `height`; None if it goes away from it or along it.

        t = (height - origin_z) / direction_z >= 0
    """
    if direction[2] == 0.0:
        return None
    along = (height - origin[2]) / direction[2]
    if not 0.0 <= along < 1e6:  # also a ray that almost skims the floor, and one that is not a number
        return None
    return origin[0] + along * direction[0], origin[1] + along * direction[1]


# -- parts ----------------------------------------------------------------------------------------------------------
def _ground(world: World) -> tuple[tuple[float, float], float, float]:
    """Middle, width and depth of what there is to see."""
    region = seen(world, flatten(world))
    return ((0.5 * (region.x0 + region.x1), 0.5 * (region.y0 + region.y1)),
            max(region.x1 - region.x0, 0.2), max(region.y1 - region.y0, 0.2))


def _distance(width: float, height: float, nearer: float, aspect: float) -> float:
    """From how far a picture of this size fits, with a little air around; `nearer`: by how much its front edge is."""
    half = tan(0.5 * FOV)
    return 1.08 * max(0.5 * height / half, 0.5 * width / (half * aspect)) + nearer


def _stance(frame: Frame, robot: int) -> tuple[np.ndarray, np.ndarray]:
    """Place, and the level direction of the heading."""
    heading = float(yaw(frame.turn[robot]))
    return frame.place[robot], np.array([cos(heading), sin(heading), 0.0])


def _group(frame: Frame, robot: int) -> Group:
    return next(group for group, robots in zip(frame.world.groups, frame.world.slices) if robot < robots.stop)


def _size(frame: Frame, robot: int) -> float:
    kind = _group(frame, robot).robot
    return sqrt(kind.radius * max(kind.radius, kind.height))


def _vector(point: np.ndarray) -> Vector:
    return float(point[0]), float(point[1]), float(point[2])


__all__ = ["Pose", "behind", "first_person", "floor_point", "named", "overview", "top"]
