"""Where to look from, and where a pointer meets the floor."""

from __future__ import annotations

from math import radians, tan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formiga.view.cameras import ASPECT, Pose, behind, first_person, floor_point, named, overview, top
from formiga.world.model import Arena, Group, World
from formiga.world.page import Bind, Camera
from formiga.world.robots import Disc

WORLDS = {"square": World(things=(Arena(2.0, 2.0),)), "wide": World(things=(Arena(6.0, 1.0, x=2.0, y=-3.0),)),
          "deep": World(things=(Arena(1.0, 6.0),)), "empty": World()}


def on_screen(pose: Pose, point) -> tuple[float, float]:
    """Where a point is seen: -1 .. 1 from left to right and from bottom to top, in a window of the assumed shape."""
    ahead = np.subtract(pose.look_at, pose.position)
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, pose.up)
    right /= np.linalg.norm(right)
    way = np.subtract(point, pose.position)
    depth, half = way @ ahead, tan(0.5 * pose.fov)
    assert depth > 0.0
    return way @ right / (depth * half * ASPECT), way @ np.cross(right, ahead) / (depth * half)


@pytest.mark.parametrize("look", [overview, top])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_the_whole_world_is_in_sight_and_fills_the_window(look, world):
    arena = world.arena or Arena(2.0, 2.0)
    corners = [(arena.x + i * arena.width / 2, arena.y + j * arena.depth / 2, 0.0) for i in (-1, 1) for j in (-1, 1)]
    seen = np.array([on_screen(look(world), corner) for corner in corners])
    assert np.abs(seen).max() <= 1.0
    assert np.ptp(seen, axis=0).max() > 1.2  # of 2


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_the_floor_is_in_the_middle_of_the_overview(world):
    """So neither the bar below nor a scoreboard above it lies over an edge."""
    arena = world.arena or Arena(2.0, 2.0)
    edges = [on_screen(overview(world), (arena.x, arena.y + j * arena.depth / 2, 0.0))[1] for j in (-1, 1)]
    assert edges[0] == pytest.approx(-edges[1]) and edges[1] < 0.8


def test_a_map_has_x_to_the_right_and_y_up():
    pose = top(WORLDS["square"])
    assert on_screen(pose, (0.5, 0.0, 0.0))[0] > 0.1
    assert on_screen(pose, (0.0, 0.5, 0.0))[1] > 0.1


@pytest.mark.parametrize("heading", np.linspace(-3.0, 3.0, 7))
def test_cameras_of_a_robot_look_where_it_goes(still, heading):
    world = World(groups=(Group(Disc(0.1, 0.1, 0.1, height=0.2)),))
    frame = still(world, np.array([(1.0, 2.0)]), [heading])
    ahead = np.array([np.cos(heading), np.sin(heading)])
    eyes, shoulder = first_person(frame, 0), behind(frame, 0)
    for pose in (eyes, shoulder):
        way = np.subtract(pose.look_at, pose.position)[:2]
        assert way / np.linalg.norm(way) == pytest.approx(ahead)
    assert np.subtract(eyes.position[:2], (1.0, 2.0)) @ ahead > 0.1   # not inside its own body
    assert eyes.position[2] == eyes.look_at[2] == pytest.approx(0.2)
    assert np.subtract(shoulder.position[:2], (1.0, 2.0)) @ ahead < 0.0
    assert np.abs(on_screen(shoulder, (1.0, 2.0, 0.1))).max() < 0.9  # the robot itself is in sight


def test_the_cameras_of_a_world_file_have_names():
    corner = Camera(1.0, 2.0, 3.0, fov=radians(50.0), name="corner")
    down = Camera(1.0, 2.0, 3.0, look_x=1.0, look_y=2.0, name="down")
    poses = named(World(page=(corner, Bind("w", "+forward"), down)))
    assert poses["corner"] == Pose((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), radians(50.0))
    assert poses["down"].up == (0.0, 1.0, 0.0)  # straight down, z cannot be up
    assert named(World()) == {}


finite = st.floats(-10.0, 10.0)


@given(finite, finite, finite, finite, st.floats(0.1, 10.0), st.floats(0.0, 0.09))
def test_a_ray_through_a_point_of_the_floor_meets_it_there(x, y, ex, ey, ez, height):
    found = floor_point((ex, ey, ez), (x - ex, y - ey, height - ez), height)
    assert found == pytest.approx((x, y), abs=1e-6)


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1e-9), (1.0, 0.0, float("nan")),
                                       (1.0, 0.0, -1e-12)])
def test_a_ray_into_the_sky_meets_nothing(direction):
    assert floor_point((0.0, 0.0, 1.0), direction) is None
