"""Warmth: ambient and the sum of power over distance squared."""

import numpy as np
import pytest

from formiga.sense.thermometer import Thermometer
from formiga.world.robots import SBot
from formiga.world.sources import Heater
from tests.reference.lab import bench


def feel(things, sensor=None, worlds=1):
    simulation = bench(SBot(), [(0, 0, 0)], things, sensors=[sensor or Thermometer()], worlds=worlds)
    return simulation.readings["a"]["thermometer"][:, 0, 0]


def test_heaters_add_up_and_what_is_off_is_cold():
    assert feel([])[0] == 20.0 and feel([], Thermometer(ambient=-5.0))[0] == -5.0
    assert feel([Heater(2.0, 0.0, power=8.0), Heater(0.0, 1.0, power=-1.0), Heater(1, 1, on=False)])[0] == pytest.approx(21.0)
    assert feel([Heater(0.0, 0.0, 0.5, 1.0)])[0] == pytest.approx(20.0 + 1.0 / 0.4**2)  # the robot is 10 cm high


def test_on_top_of_a_heater_it_is_as_warm_as_one_radius_away():
    assert feel([Heater(0.0, 0.0, power=0.1)])[0] == pytest.approx(20.0 + 0.1 / 0.058**2)


def test_noise_is_uniform_in_degrees():
    error = feel([], Thermometer(noise=0.5), worlds=5000) - 20.0
    assert 0.49 < np.abs(error).max() <= 0.5 and error.std() == pytest.approx(0.5 / np.sqrt(3), rel=0.05)
