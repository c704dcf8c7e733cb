"""Places: what is in the way of a robot, and where there is room."""

import numpy as np
import pytest

from formiga.errors import FormigaError
from formiga.session.ground import Ground
from formiga.world.reader import read_text
from tests.reference.lab import distance_to_segment

ROOM = """<world><arena width="4" depth="2"/><cylinder x="1" y="0" radius="20cm"/>
  <rectangle x="-1" y="0" width="60cm" depth="60cm"/><wall points="0 0.5 0 1" name="gate"/>
  <wall points="0.5 -1 0.5 -0.5" on="false" name="gone"/>
  <sbot count="2" name="swarm"><at x="0" y="-0.5"/><at x="0.3" y="-0.5"/></sbot></world>"""


@pytest.fixture
def ground():
    return Ground(read_text(ROOM))


PLACES = np.array([(0.0, -0.5), (0.3, -0.5)])


@pytest.mark.parametrize("x, y, way", [
    (0.0, 0.0, ""), (1.0, 0.0, "a wall or an obstacle"), (1.24, 0.0, "a wall or an obstacle"), (1.27, 0.0, ""),
    (-1.0, 0.0, "a wall or an obstacle"), (-1.35, 0.0, "a wall or an obstacle"), (-1.4, 0.0, ""),
    (1.97, 0.0, "a wall or an obstacle"), (0.04, 0.7, "a wall or an obstacle"), (0.5, -0.8, ""),
    (0.05, -0.5, "swarm.0"), (0.25, -0.45, "swarm.1"), (0.15, -0.5, ""), (9.0, 9.0, ""),
])
def test_it_says_what_is_in_the_way(ground, x, y, way):
    assert ground.in_the_way(PLACES, x, y, 0.058) == way


def test_nobody_is_in_his_own_way(ground):
    assert ground.in_the_way(PLACES, 0.01, -0.5, 0.058, but=0) == ""
    assert ground.in_the_way(PLACES, 0.29, -0.5, 0.058, but=0) == "swarm.1"


def test_robots_are_where_the_caller_says(ground):
    assert ground.in_the_way(PLACES + 0.2, 0.0, -0.5, 0.058) == ""


def test_free_places_are_free(ground):
    robot = ground.world.groups[0].robot
    found = ground.free_places(PLACES, robot.radius, robot.clearance, 40, np.random.default_rng(1))
    everybody = np.vstack([PLACES, found])
    gaps = np.linalg.norm(everybody[:, None] - everybody[None], axis=-1) + 9.0 * np.eye(42)
    assert gaps[2:].min() >= 2 * robot.radius + robot.clearance
    assert (np.abs(found) <= (2.0 - robot.radius, 1.0 - robot.radius)).all()
    assert (np.linalg.norm(found - (1, 0), axis=1) > 0.2 + robot.radius).all()
    assert min(distance_to_segment(place, (0, 0.5), (0, 1)) for place in found) > robot.radius
    again = ground.free_places(PLACES, robot.radius, robot.clearance, 40, np.random.default_rng(1))
    assert np.array_equal(found, again)


def test_where_there_is_no_room_that_is_said(ground):
    with pytest.raises(FormigaError, match=r"there is no room for 5000 more of radius 0\.058 m\."):
        ground.free_places(PLACES, 0.058, 0.03, 5000, np.random.default_rng(1))


def test_who_touches_a_wall_is_not_buried_and_who_is_in_one_is(ground):
    assert ground.buried(np.array([(2.0 - 0.058, 0.0), (0.3, -0.5)])) == set()
    assert ground.buried(np.array([(2.0 - 0.05, 0.0), (-1.0, 0.0)])) == {0, 1}


def test_a_world_without_anything_has_room_everywhere():
    empty = Ground(read_text("<world><sbot/></world>"))
    assert empty.in_the_way(np.array([(5.0, 5.0)]), 0.0, 0.0, 1.0) == ""
    assert empty.free_places(np.array([(5.0, 5.0)]), 0.058, 0.03, 3, np.random.default_rng(0)).shape == (3, 2)
