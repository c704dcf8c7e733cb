"""Whom a ray meets first."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.geometry import about_z
from formiga.view.bodies import bulb
from formiga.view.mesh import box, drum
from formiga.view.picking import Instances, first_hit, meets

UNIT = box(-0.5, 0.5, -0.5, 0.5, 0.0, 1.0)
DOWN = (0.0, 0.0, -1.0)


def boxes(place, heading=None, size=None, numbers=None) -> Instances:
    count = len(place)
    return Instances(UNIT, np.array(place, float), about_z(np.array(heading if heading is not None else [0.0] * count)),
                 np.ones((count, 3)) if size is None else np.array(size, float), "thing",
                 range(count) if numbers is None else numbers)


def test_the_distance_to_a_ball_is_that_of_the_closed_form(rng):
    """|o + t d| = r has the solution t = -o.d - sqrt((o.d)^2 - |o|^2 + r^2) for a direction of length 1."""
    ball, radius = bulb("#ffffff"), 0.028
    for _ in range(200):
        origin = rng.normal(size=3)
        origin *= 1.0 / np.linalg.norm(origin)
        aim = rng.uniform(-0.4, 0.4, 3) * radius
        direction = (aim - origin) / np.linalg.norm(aim - origin)
        along = origin @ direction
        expected = -along - np.sqrt(along**2 - 1.0 + radius**2)
        assert meets(ball, origin, direction) == pytest.approx(expected, abs=0.1 * radius)  # it has corners
        assert meets(ball, origin, -direction) == np.inf


def test_the_nearest_one_is_met_whatever_the_order():
    place = [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0)]
    assert first_hit([boxes(place)], (0.1, 0.2, 9.0), DOWN) == ("thing", 1)
    assert first_hit([boxes(place[::-1])], (0.1, 0.2, 9.0), DOWN) == ("thing", 0)
    robots = boxes(place[1:])._replace(kind="robot", numbers=[7])
    assert first_hit([boxes(place[:1]), robots], (0.1, 0.2, 9.0), DOWN) == ("robot", 7)
    assert first_hit([boxes(place)], (0.1, 0.2, 1.5), DOWN) == ("thing", 0)  # the other is behind


def test_place_heading_and_size_count():
    """A long wall, turned by 45 degrees: met along its diagonal, not beside it."""
    wall = boxes([(1.0, 1.0, 0.0)], [np.pi / 4], [(2.0, 0.02, 0.1)])
    assert first_hit([wall], (1.6, 1.6, 5.0), DOWN) == ("thing", 0)
    assert first_hit([wall], (1.6, 0.4, 5.0), DOWN) is None
    assert first_hit([wall], (1.8, 1.8, 5.0), DOWN) is None  # beyond its end
    assert first_hit([wall], (0.0, 2.0, 0.05), (1.0, -1.0, 0.0)) == ("thing", 0)
    assert first_hit([wall], (0.0, 2.0, 0.15), (1.0, -1.0, 0.0)) is None  # over it


def test_a_ray_that_misses_everything_meets_nobody():
    assert first_hit([], (0.0, 0.0, 1.0), DOWN) is None
    assert first_hit([boxes([(5.0, 5.0, 0.0)])], (0.0, 0.0, 1.0), DOWN) is None


def test_a_thousand_instances_are_told_apart(rng):
    place = np.column_stack([rng.permutation(1000) % 40, rng.permutation(1000), np.zeros(1000)]).astype(float)
    crowd = Instances(drum(0.1, 0.0, 0.1, 16), place, about_z(np.zeros(1000)), np.ones((1000, 3)), "robot", np.arange(1000))
    for number in rng.integers(0, 1000, 20):
        assert first_hit([crowd], (*(place[number, :2] + 0.03), 3.0), DOWN) == ("robot", number)
