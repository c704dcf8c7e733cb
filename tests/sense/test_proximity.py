"""The ring of infra-red sensors: geometry, blind neighbours, noise. [S1, acceptance 1, 5, 6]"""

from math import trunc

import numpy as np
import pytest

from formiga.engine.beams import ring
from formiga.geometry import crossing
from formiga.sense.infrared_table import method_b
from formiga.sense.proximity import SBOT_ANGLES, Proximity, respond
from formiga.units import CM
from formiga.world.elements import profiled
from formiga.world.model import Cylinder, Wall
from formiga.world.robots import SBot
from tests.reference.lab import bench, drive, put

QUIET = {"noise": (0.0,), "ambient": 0.0}


def read(sensor, things=(), pose=(0.0, 0.0, 0.0), worlds=1, robot=None):
    return bench(robot or SBot(), [pose], things, sensors=[sensor], worlds=worlds).readings["a"]["proximity"]


# -- 1: the draft's Fig. 15 -----------------------------------------------------------------------------------------
R1 = (0.34, 0.40, 0.60, 1.58, -3.00, -0.76, -0.47, -0.37, -0.34, -0.35, -0.42, -0.60, -1.58, 1.87, 0.63)
R2 = (0.60, 0.70, 0.88, 1.56, -1.38, 0.11, 0.35, 0.46, 0.54, 0.62, 0.72, 0.88, 1.56, -0.63, 0.21)
WALL = (9.861, -9.830, 0.684, 11.315)  # cm; recovered by the digest


def test_the_draft_s_beams_cut_its_wall_at_the_printed_fractions():
    for angle, r1, r2 in zip(SBOT_ANGLES, R1, R2, strict=True):
        ours = crossing(WALL[0], WALL[1], 15 * np.cos(angle), 15 * np.sin(angle), WALL[2] - WALL[0], WALL[3] - WALL[1])
        assert [trunc(100 * v) for v in ours] == [round(100 * r1), round(100 * r2)]


@pytest.mark.parametrize("pose", [(0.0, 0.0, 0.0), (0.3, -0.7, 2.0)])
def test_the_engine_s_beams_measure_the_draft_s_distances(pose):
    """Robot and wall together are moved by a motion of the plane; the figure does not fix their place."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    ends = np.array(WALL).reshape(2, 2) * CM @ np.array([[c, s], [-s, c]]) + pose[:2]
    simulation = bench(SBot(), [pose], [Wall(ends.ravel())])
    distance = simulation.engine.cast(simulation.model, simulation.state, ring(SBOT_ANGLES, 0.0), 0.15, slice(0, 1))[0, 0] / CM
    assert list(np.flatnonzero(np.isfinite(distance))) == [0, 1, 2, 14]
    np.testing.assert_allclose(distance[[0, 1, 2, 14]], (5.220, 6.087, 9.07, 9.542), atol=0.005)


def test_the_ring_is_mirror_symmetric_with_a_gap_for_the_gripper():
    degrees = np.rint(np.degrees(SBOT_ANGLES)).astype(int)
    assert list(degrees) == [34, 56, 79, 101, 120, 140, 160, 180, 200, 220, 240, 259, 281, 304, 326]
    assert (degrees + degrees[::-1] == 360).all()


# -- profiles -------------------------------------------------------------------------------------------------------
def test_profiles_differ_as_in_the_digest_s_first_table():
    tr, draft = profiled(Proximity, "tr"), profiled(Proximity, "draft")
    assert (tr.mount, tr.share, tr.noise, tr.ambient) == (5.8 * CM, 0.30, (0.15,), 0.0)
    assert (draft.mount, draft.share, draft.noise, draft.ambient) == (6.0 * CM, 0.35, (0.15, 0.20), 4.0)
    assert tr.reach == draft.reach == 0.15 and len(tr.angles) == len(draft.angles) == 15
    robot = profiled(SBot, "draft")
    assert (robot.motor_noise, robot.position_noise, robot.heading_noise) == (0.01, 0.05, 0.05)
    assert (SBot().motor_noise, SBot().position_noise, SBot().heading_noise) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("profile, mount", [("tr", 5.8), ("draft", 6.0)])
def test_distance_is_measured_from_where_the_sensor_is_mounted(profile, mount):
    sensor = profiled(Proximity, profile, **QUIET)
    reading = read(sensor, [Wall((-0.1, -1, -0.1, 1))])[0, 0]
    assert reading[7] == method_b()[round(10 * (10.0 - mount))]


# -- blind neighbours -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("profile, share", [("tr", 0.30), ("draft", 0.35)])
def test_a_thin_cylinder_seen_by_one_beam_gives_its_blind_neighbours_exactly_their_share(profile, share):
    reading = read(profiled(Proximity, profile, **QUIET), [Cylinder(-0.11, 0.0, 0.002)])[0, 0]
    assert reading[7] > 10.0 and np.count_nonzero(reading) == 3
    assert reading[6] == reading[8] == share * reading[7]


def responded(seen, share=0.5, closed=False):
    """Readings of a ring whose sensor b sees something at seen[b] (table: 100 - distance), or nothing (None)."""
    value = np.array([[[np.inf if d is None else d for d in seen]]], float)
    respond(value, np.empty(value.shape[2], np.bool_), 100.0, 100.0 - np.arange(101.0), 1.0, 1.0, 0.0, False, share, closed,
            0.0, 0.0, 0.0, np.zeros(1, np.uint64), np.zeros(1, np.int64), 0, 0)
    return list(value[0, 0])


def test_a_blind_sensor_between_two_that_see_gets_a_share_of_their_mean():
    assert responded([20, None, 60]) == [80, 0.5 * (80 + 40) / 2, 40]


def test_there_is_no_chain_reaction():
    assert responded([None, None, 20, None, None]) == [0, 40, 80, 40, 0]
    assert responded([20, None, None, 60]) == [80, 40, 20, 40]


def test_a_sensor_that_sees_keeps_its_own_reading_however_small():
    assert responded([0, 99.6, 0]) == [100, 0, 100]  # a table entry of 0 is seen, not blind


def test_the_first_and_the_last_are_neighbours_only_in_a_closed_ring():
    assert responded([20, None, None, None]) == [80, 40, 0, 0]
    assert responded([20, None, None, None], closed=True) == [80, 40, 0, 40]
    assert responded([None, None, None, 20]) == [0, 0, 40, 80]
    assert responded([None, None, None, 20], closed=True) == [40, 0, 40, 80]
    assert responded([None, 20, 60], closed=True) == [0.5 * (80 + 40) / 2, 80, 40]


def test_small_rings():
    assert responded([None]) == responded([None], closed=True) == [0]
    assert responded([30], closed=True) == [70]
    assert responded([30, None]) == [70, 35]
    assert responded([30, None], closed=True) == [70, 35]  # both its neighbours are the same one


def test_without_a_share_the_blind_stay_blind():
    assert responded([20, None, 60], share=0.0) == [80, 0, 40]


def test_ir0_and_ir14_are_not_neighbours_on_an_s_bot():
    """The gripper is between them. (Our assumption; the digest says so.)"""
    angle = SBOT_ANGLES[0]
    reading = read(Proximity(**QUIET), [Cylinder(0.11 * np.cos(angle), 0.11 * np.sin(angle), 0.002)])[0, 0]
    assert reading[0] > 0.0 and reading[1] > 0.0 and reading[14] == 0.0


# -- noise ----------------------------------------------------------------------------------------------------------
def test_tr_noise_is_15_percent_of_the_reading_and_free_space_is_silent():
    reading = read(Proximity(), [Wall((-0.058 - 0.03, -1, -0.058 - 0.03, 1))], worlds=10_000)[:, 0]
    exact = method_b()[30]
    error = reading[:, 7] / exact - 1.0
    assert np.abs(error).max() <= 0.15 and np.abs(error).max() > 0.1499
    assert abs(error.mean()) < 0.01
    assert error.std() == pytest.approx(0.15 / np.sqrt(3), rel=0.03)
    assert not reading[:, [0, 14]].any()  # they look ahead, where nothing is


def test_draft_noise_is_15_to_20_percent_and_ambient_light_0_to_4_on_every_sensor():
    free = read(profiled(Proximity, "draft"), worlds=10_000)[:, 0]
    assert free.min() >= 0.0 and free.max() < 4.0
    assert abs(free.mean() - 2.0) < 0.02
    assert (np.abs(free.mean(0) - 2.0) < 0.1).all()
    assert free.std() == pytest.approx(4.0 / np.sqrt(12), rel=0.01)
    sensor = profiled(Proximity, "draft", ambient=0.0)
    reading = read(sensor, [Wall((-0.06 - 0.03, -1, -0.06 - 0.03, 1))], worlds=20_000)[:, 0, 7]
    error = reading / method_b()[30] - 1.0
    assert 0.19 < np.abs(error).max() <= 0.20
    # a ~ U(0.15, 0.20), error ~ U(-a, a): variance E[a^2]/3
    assert error.std() == pytest.approx(np.sqrt((0.15**2 + 0.15 * 0.20 + 0.20**2) / 9), rel=0.02)


def test_noise_of_sensors_robots_worlds_and_steps_is_independent():
    simulation = bench(SBot(), [(0, 0, 0), (0, 1, 0)], sensors=[profiled(Proximity, "draft")], worlds=4000)
    here = simulation.readings["a"]["proximity"]
    drive(simulation, 0.0, 0.0)
    later = simulation.readings["a"]["proximity"]
    limit = 4.5 / np.sqrt(4000)
    for one, other in ((here[:, 0, 0], here[:, 0, 1]), (here[:, 0, 0], here[:, 1, 0]), (here[:, 0, 0], later[:, 0, 0]),
                       (here[:-1, 0, 0], here[1:, 0, 0])):
        assert abs(np.corrcoef(one, other)[0, 1]) < limit


def test_two_rings_on_one_robot_have_noise_of_their_own():
    sensors = [profiled(Proximity, "draft"), profiled(Proximity, "draft", name="second")]
    readings = bench(SBot(), [(0, 0, 0)], sensors=sensors).readings["a"]
    assert not np.isclose(readings["proximity"], readings["second"]).any()


def test_a_reading_is_never_negative_however_large_the_noise():
    reading = read(Proximity(noise=(3.0,)), [Wall((-0.1, -1, -0.1, 1))], worlds=1000)
    assert reading.min() == 0.0 and reading.max() > 30.0


# -- the other response ---------------------------------------------------------------------------------------------
def test_the_reciprocal_response_is_avoid24_s():
    """1 below 9.89 mm, else 0.0100527 / (d + 0.000163144). [DESIGN, AVOID-24]"""
    sensor = Proximity(angles=(0.0,), mount=0.05, reach=0.1, response="reciprocal", share=0.0, noise=(0.0,))
    for d in (0.0, 0.005, 0.00988, 0.0099, 0.02, 0.07, 0.0999):
        reading = read(sensor, [Wall((0.05 + d, -1, 0.05 + d, 1))])[0, 0, 0]
        assert reading == pytest.approx(1.0 if d < 0.00989 else 0.0100527 / (d + 0.000163144), rel=1e-9)
    assert read(sensor, [Wall((0.1501, -1, 0.1501, 1))])[0, 0, 0] == 0.0


def test_other_robots_are_seen_by_their_body_and_in_both_directions():
    sensor = Proximity(**QUIET)
    simulation = bench(SBot(), [(0, 0, 0), (0.2, 0, 0)], sensors=[sensor])
    put(simulation, [[(0.0, 0.0), (0.2, 0.0)]], [[np.pi, 0.0]])  # back to back: IR7 looks at the other
    reading = simulation.readings["a"]["proximity"][0]
    assert reading[0, 7] == reading[1, 7] == method_b()[round(1000 * (0.2 - 2 * 0.058))]
