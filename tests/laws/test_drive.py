"""Exact arcs: laws of the differential drive. [Vicentini & Tuci 2006, eq. 4; S1, acceptance 4]"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formiga.geometry import arc
from formiga.world.elements import profiled
from formiga.world.robots import Disc, SBot
from tests.reference.lab import bench, drive

speeds = st.floats(-2.0, 2.0, allow_subnormal=False)
headings = st.floats(-20.0, 20.0, allow_subnormal=False)
bases = st.floats(0.01, 1.0)


def turn_about_the_centre_of_curvature(x, y, heading, left, right, base, dt):
    """TR eq. 4 as printed; it divides by the difference of the wheels."""
    rho, mu = base * (right + left) / (2.0 * (right - left)), (right - left) / base
    centre = np.array([x - rho * np.sin(heading), y + rho * np.cos(heading)])
    c, s = np.cos(mu * dt), np.sin(mu * dt)
    return np.array([[c, -s], [s, c]]) @ (np.array([x, y]) - centre) + centre, heading + mu * dt


@given(headings, speeds, speeds, bases, st.floats(0.001, 1.0))
@settings(max_examples=300)
def test_the_chord_is_the_rotation_about_the_centre_of_curvature(heading, left, right, base, dt):
    if abs(right - left) < 1e-4:
        right = left + 1e-4  # nearer together, the printed form loses its digits
    (x, y), turned = turn_about_the_centre_of_curvature(0.0, 0.0, heading, left, right, base, dt)
    dx, dy, turn = arc(heading, left, right, base, dt)
    rho = abs(base * (right + left) / (2.0 * (right - left)))
    assert (dx, dy) == pytest.approx((x, y), abs=1e-14 * (1.0 + rho) * 20)
    assert heading + turn == pytest.approx(turned, abs=1e-12)


@given(headings, speeds, speeds, bases, st.integers(2, 40))
@settings(max_examples=200)
def test_many_short_steps_are_one_long_step(heading, left, right, base, steps):
    x = y = 0.0
    h = heading
    for _ in range(steps):
        dx, dy, turn = arc(h, left, right, base, 0.02)
        x, y, h = x + dx, y + dy, h + turn
    dx, dy, turn = arc(heading, left, right, base, 0.02 * steps)
    assert (x, y) == pytest.approx((dx, dy), abs=1e-11)
    assert h - heading == pytest.approx(turn, abs=1e-11)


@given(headings, speeds, speeds, bases)
@settings(max_examples=200)
def test_reversing_the_wheels_returns(heading, left, right, base):
    dx, dy, turn = arc(heading, left, right, base, 0.1)
    bx, by, back = arc(heading + turn, -left, -right, base, 0.1)
    assert (dx + bx, dy + by, turn + back) == pytest.approx((0.0, 0.0, 0.0), abs=1e-14)


@given(headings, speeds, speeds, bases)
@settings(max_examples=200)
def test_no_step_is_longer_than_the_mean_of_the_wheels_allows(heading, left, right, base):
    dx, dy, _ = arc(heading, left, right, base, 0.1)
    assert np.hypot(dx, dy) <= abs(0.5 * (left + right)) * 0.1 * (1.0 + 1e-12)


@given(headings, speeds, speeds, bases)
@settings(max_examples=200)
def test_exchanging_the_wheels_mirrors_the_arc(heading, left, right, base):
    dx, dy, turn = arc(heading, left, right, base, 0.1)
    mx, my, back = arc(-heading, right, left, base, 0.1)
    assert (mx, -my, -back) == pytest.approx((dx, dy, turn), abs=1e-15)


def test_nearly_equal_wheels_go_straight():
    """No branch at equal wheels, so no digits are lost on either side of it."""
    for difference in (0.0, 1e-300, 1e-12, 1e-9):
        x, y, _ = arc(0.0, 0.08, 0.08 - difference * 0.02, 0.095, 0.1)
        assert (x, y) == pytest.approx((0.008, 0.0), abs=1e-11)


@pytest.mark.parametrize("left, right, steps, expected", [
    (4.0, 4.0, 1, (0.8, 0.0, 0.0)),
    (2.0, 4.0, 1, (0.59982273, 0.01262971, 0.04210526)),
    (-4.0, 4.0, 1, (0.0, 0.0, 0.16842105)),
    (2.0, 4.0, 100, (-12.492804, 21.105096, 4.2105263)),
])
def test_an_s_bot_drives_as_the_digest_computed(left, right, steps, expected):
    """rad/s at the wheels -> cm, cm, rad after steps of 0.1 s; evaluated from TR eq. 4 by the digest."""
    simulation = drive(bench(SBot(), [(0, 0, 0)]), 0.02 * left, 0.02 * right, steps)
    x, y = simulation.state.position[0, 0] * 100
    assert (x, y, simulation.state.heading[0, 0]) == pytest.approx(expected, abs=1e-6)


def test_headings_are_not_wrapped():
    simulation = drive(bench(SBot(), [(0, 0, 0)]), -0.08, 0.08, 1000)
    assert simulation.state.heading[0, 0] == pytest.approx(1000 * 0.1 * 0.16 / 0.095)
    simulation = drive(simulation, 0.08, -0.08, 2000)
    assert simulation.state.heading[0, 0] == pytest.approx(-1000 * 0.1 * 0.16 / 0.095)


def test_a_full_circle_ends_where_it_began():
    """Radius base/2 (3+1)/(3-1) = base; one turn takes 2 pi base / (right - left)."""
    base, steps = 0.1, 500
    dt = 2 * np.pi * base / 0.02 / steps
    simulation = drive(bench(Disc(0.05, base, 1.0), [(0.3, 0.2, 1.0)], dt=dt), 0.01, 0.03, steps)
    assert simulation.state.position[0, 0] == pytest.approx((0.3, 0.2), abs=1e-12)


@pytest.mark.parametrize("robot", [SBot(), profiled(SBot, "draft"), Disc(0.05, 0.1, 0.7, position_noise=0.3, motor_noise=0.2)])
def test_no_robot_is_faster_than_its_top_speed_and_its_noise_allow(rng, robot):
    simulation = bench(robot, [(i, 0, i) for i in range(50)], worlds=4)
    limit = robot.top_speed * 0.1 * (1 + robot.position_noise) * (1 + robot.motor_noise)
    furthest = 0.0
    for _ in range(50):
        before = simulation.state.position.copy()
        drive(simulation, *rng.uniform(-9.0, 9.0, (2, 4, 50)))
        furthest = max(furthest, np.linalg.norm(simulation.state.position - before, axis=-1).max())
    assert 0.8 * limit < furthest <= limit * (1 + 1e-12)


def test_drive_noise_has_the_published_spread():
    """Profile draft: position increment x (1 + U(-0.05, 0.05)), heading increment the same, independent of each other."""
    robot = Disc(0.05, 0.1, 1.0, position_noise=0.05, heading_noise=0.05)
    simulation = drive(bench(robot, [(0, 0, 0)], worlds=20_000), 0.2, 0.4)
    dx, dy, turn = arc(0.0, 0.2, 0.4, 0.1, 0.1)
    along = np.linalg.norm(simulation.state.position[:, 0], axis=-1) / np.hypot(dx, dy) - 1.0
    around = simulation.state.heading[:, 0] / turn - 1.0
    for error in (along, around):
        assert np.abs(error).max() <= 0.05 + 1e-12 and np.abs(error).max() > 0.0499
        assert abs(error.mean()) < 4 * 0.05 / np.sqrt(3 * 20_000)
        assert error.std() == pytest.approx(0.05 / np.sqrt(3), rel=0.02)
    assert abs(np.corrcoef(along, around)[0, 1]) < 4 / np.sqrt(20_000)
    np.testing.assert_allclose(np.arctan2(simulation.state.position[:, 0, 1], simulation.state.position[:, 0, 0]),
                               np.arctan2(dy, dx), atol=1e-12)  # the noise stretches the way, it does not bend it
