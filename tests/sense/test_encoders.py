"""Wheel encoders: what the wheels tell."""

import numpy as np
import pytest

from formiga.sense.encoders import Encoders, in_ticks
from formiga.world.robots import SBot
from tests.reference.lab import bench, drive

POSES = [(0.1, 0.2, 0.3), (2.0, 0.0, -1.0)]


def test_a_wheel_s_angle_is_the_way_of_its_rim_over_its_radius():
    simulation = drive(bench(SBot(), POSES, sensors=[Encoders()]), 0.04, -0.08, 25)
    np.testing.assert_allclose(simulation.readings["a"]["encoders"], np.broadcast_to((2.5 * 2.0, 2.5 * -4.0), (1, 2, 2)))


@pytest.mark.parametrize("ticks", [1, 7, 360])
def test_ticks_are_whole_and_never_ahead_of_the_wheel(ticks, rng):
    angle = rng.uniform(-30.0, 30.0, (4, 3, 2))
    counted = in_ticks(angle, ticks)
    tick = 2 * np.pi / ticks
    np.testing.assert_allclose(counted / tick, np.round(counted / tick), atol=1e-9)
    assert (counted <= angle + 1e-12).all() and (angle - counted < tick + 1e-12).all()


def test_reading_an_encoder_does_not_lend_the_state(rng):
    simulation = bench(SBot(), POSES, sensors=[Encoders()])
    simulation.readings["a"]["encoders"][...] = 99.0
    assert not simulation.state.wheel_angle.any()
