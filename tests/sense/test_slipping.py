"""Encoders of wheels that slip."""

import numpy as np
import pytest

from formiga.sense.encoders import Encoders
from formiga.sense.slipping import SlippingEncoders
from formiga.world.robots import SBot
from formiga.world.robots.omni import Omni
from tests.reference.lab import bench, drive

POSE = [(0.0, 0.0, 0.0)]


def rolled(sensor, worlds=1, steps=20, seed=0):
    """Angles (W, 2) after both wheels have rolled for so many steps."""
    lab = bench(SBot(), POSE, sensors=[sensor], worlds=worlds, seed=seed)
    return drive(lab, 0.08, 0.04, steps).readings["a"]["encoders"][:, 0]


@pytest.mark.parametrize("ticks", [0, 400])
def test_without_slip_they_are_encoders(ticks):
    np.testing.assert_allclose(rolled(SlippingEncoders(ticks=ticks)), rolled(Encoders(ticks=ticks)), atol=1e-12)


def test_a_systematic_error_is_a_wheel_s_own_and_stays():
    exact, sensor = rolled(Encoders()), SlippingEncoders(systematic=0.05)
    early, late = (rolled(sensor, 2000, steps) for steps in (5, 20))
    np.testing.assert_allclose(late, 4.0 * early, rtol=1e-9)
    scale = exact / late                                              # way of the rim over what was counted
    assert scale.std(axis=0) == pytest.approx(0.05, rel=0.1) and scale.mean(axis=0) == pytest.approx(1.0, abs=0.005)
    assert abs(np.corrcoef(scale.T)[0, 1]) < 0.1


def test_slip_is_new_in_each_step_so_it_grows_with_the_root_of_steps():
    share = {steps: rolled(SlippingEncoders(slip=0.05), 2000, steps) / rolled(Encoders(), steps=steps) for steps in (1, 16)}
    assert share[1].std() == pytest.approx(0.05, rel=0.1)
    assert share[16].std() == pytest.approx(0.05 / 4.0, rel=0.1)


def test_a_world_of_a_batch_has_the_bits_that_it_has_alone_and_looking_twice_changes_nothing():
    sensor = SlippingEncoders(systematic=0.02, slip=0.03)
    assert np.array_equal(rolled(sensor, 3)[:1], rolled(sensor))
    lab = drive(bench(SBot(), POSE, sensors=[sensor]), 0.08, 0.04, 7)
    first = lab.readings["a"]["encoders"].copy()
    lab.forget_look()
    assert np.array_equal(lab.readings["a"]["encoders"], first)


def test_all_wheels_of_an_omnidirectional_robot_are_counted():
    lab = bench(Omni(), POSE, sensors=[SlippingEncoders()])
    for _ in range(10):
        lab.step({"a": np.array([[[0.1, -0.2, 0.3]]])})
    known = np.array((0.1, -0.2, 0.3)) / Omni().wheel_radius          # of 1 s
    np.testing.assert_allclose(lab.readings["a"]["encoders"][0, 0], known, rtol=1e-12)
