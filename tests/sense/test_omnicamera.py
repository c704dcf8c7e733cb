"""The camera that looks all around: which lights it sees, where, and in which colour."""

import numpy as np
import pytest

from formiga.sense.omnicamera import Omnicamera
from formiga.units import DEG
from formiga.world.model import Lamp, Wall
from formiga.world.robots import Disc
from tests.reference.lab import bench

RED, GREEN = (255, 0, 0), (0, 255, 0)


def robot(height=0.1, leds=8):
    return Disc(0.05, 0.1, 0.1, height=height, leds=leds)


def lit(poses, colours, things=(), camera=None, body=None):
    """Readings (robots, ...) where colours (robots, 3) light all LEDs of a robot."""
    simulation = bench(body or robot(), poses, things, sensors=[camera or Omnicamera()])
    simulation.state.leds[0] = np.array(colours, np.uint8)[:, None]
    simulation.look_again()
    return simulation.readings["a"]["omnicamera"][0]


def listed(*given, blobs=16, **more):
    return lit(*given, camera=Omnicamera("list", blobs=blobs), **more)


def test_a_lit_robot_is_seen_in_its_colour_at_its_bearing():
    for bearing, sector in ((0, 0), (90, 6), (-90, 18), (180, 12)):
        place = 0.5 * np.cos(bearing * DEG), 0.5 * np.sin(bearing * DEG), 0.3
        reading = lit([(0, 0, 0), place], [(0, 0, 0), RED])[0]
        near = np.roll(reading, 1 - sector, axis=0)[:3]  # the ring of LEDs is some 11 degrees wide
        assert reading.shape == (24, 3) and not reading[:, 1:].any()
        assert near[:, 0].max() == pytest.approx(1 - 0.455 / 1.5, abs=0.01)
        assert np.count_nonzero(reading) == np.count_nonzero(near)


def test_only_the_side_of_a_robot_that_faces_the_camera_is_seen():
    rows = listed([(0, 0, 0), (0.5, 0, 0.2)], [(0, 0, 0), (0, 51, 255)])[0]
    assert rows.shape == (16, 5)
    seen = rows[rows.any(axis=1)]
    assert 3 <= len(seen) <= 4 and not rows[len(seen):].any()
    np.testing.assert_allclose(seen[:, 2:], np.broadcast_to([0, 0.2, 1.0], (len(seen), 3)))
    where = np.array([(0.5 + 0.05 * np.cos(a) , 0.05 * np.sin(a)) for a in 0.2 + (np.arange(8) + 0.5) * np.pi / 4])
    expected = np.sort(np.arctan2(where[:, 1], where[:, 0])[where[:, 0] < 0.5 - 0.05 * 0.05 / 0.5])
    np.testing.assert_allclose(np.sort(seen[:, 0]), expected, atol=1e-12)
    np.testing.assert_allclose(np.tan(seen[:, 1]) * np.hypot(*where[np.argsort(np.hypot(*where.T))][:len(seen)].T), -0.04)


def test_a_list_has_the_nearest_first_and_no_more_rows_than_asked_for():
    poses = [(0, 0, 0), (0.9, 0, 0), (0.4, 0.5, 0)]
    rows = listed(poses, [(0, 0, 0), RED, GREEN], blobs=6)[0]
    assert (rows[:3, 3] == 1.0).all() and rows.any(axis=1).all()
    assert listed(poses, [(0, 0, 0), RED, GREEN], blobs=2)[0][:, 3].tolist() == [1.0, 1.0]
    full = listed(poses, [(0, 0, 0), RED, GREEN], blobs=64)[0]
    np.testing.assert_array_equal(full[:6], rows)


def test_bearings_turn_with_the_robot():
    for heading in (0.0, 1.0, 4.0, -7.0):
        rows = listed([(0, 0, heading)], [(0, 0, 0)], things=[Lamp(0.0, 0.5, 0.1)])[0]
        assert (rows[0, 0] - (np.pi / 2 - heading) + np.pi) % (2 * np.pi) == pytest.approx(np.pi)
        assert -np.pi <= rows[0, 0] <= np.pi and rows[0, 1] == 0.0


def test_lamps_are_seen_in_their_own_colours_and_what_is_off_is_not():
    things = [Lamp(0.5, 0.0, on=False, colour="#0000ff"), Lamp(0.5, 0.1, colour="#ff8000"), Lamp(0.6, -0.1, intensity=0.0),
              Lamp(0.9, 0.0, 0.5, colour="#00ff00"), Lamp(1.6, 0.0)]
    rows = listed([(0, 0, 0)], [(0, 0, 0)], things)[0]
    assert np.count_nonzero(rows.any(axis=1)) == 2
    np.testing.assert_allclose(rows[:2, 2:], [(1, 128 / 255, 0), (0, 1, 0)])
    assert rows[1, 1] == pytest.approx(np.arctan2(0.4, 0.9))


def test_walls_and_bodies_hide_lights_unless_they_are_too_low():
    two = [(0, 0, 0), (0.8, 0, 0)]
    for things, seen in (((), True), ((Wall((0.4, -1, 0.4, 1)),), False), ((Wall((0.4, -1, 0.4, 1), height=0.02),), True)):
        assert bool(lit(two, [(0, 0, 0), RED], things)[0].any()) == seen
    three = [*two, (0.4, 0, 0)]
    assert not lit(three, [(0, 0, 0), RED, (0, 0, 0)])[0].any()
    assert lit([(0, 0, 0), (0.8, 0, 0), (0.4, 0.3, 0)], [(0, 0, 0), RED, (0, 0, 0)])[0].any()


def test_reach_is_over_the_floor_and_a_robot_does_not_see_itself():
    assert not lit([(0, 0, 0)], [RED]).any()
    assert lit([(0, 0, 0), (1.5, 0, 0)], [(0, 0, 0), RED])[0].any()
    assert not lit([(0, 0, 0), (1.6, 0, 0)], [(0, 0, 0), RED])[0].any()


def test_robots_without_leds_are_dark_and_noise_is_relative():
    assert not lit([(0, 0, 0), (0.5, 0, 0)], np.zeros((2, 3)), body=robot(leds=0)).any()
    exact, noisy = (lit([(0, 0, 0), (0.5, 0, 0)], [(0, 0, 0), RED], camera=Omnicamera(noise=noise)) for noise in (0.0, 0.1))
    seen = exact > 0
    assert (noisy[~seen] == 0).all() and 0 < np.abs(noisy[seen] / exact[seen] - 1).max() <= 0.1
