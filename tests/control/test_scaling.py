"""Readings as inputs: each number in the range that its sensor declares, the same bits in kernels and in the loop."""

from math import inf, pi

import numpy as np
import pytest

import formiga
from formiga.control.scaling import givers, scale_of, scale_stages, scaled
from formiga.errors import WorldError
from formiga.kernels.program import Program
from formiga.loop import Simulation
from formiga.sense.attitude import Accelerometer, Inclinometer
from formiga.sense.encoders import Encoders
from formiga.sense.omnicamera import Omnicamera
from formiga.sense.proximity import Proximity
from formiga.sense.traction import Motors, Traction
from formiga.world.model import Group
from formiga.world.robots import SBot
from formiga.world.robots.car import Car
from formiga.world.shipped import shipped_worlds


def scale(own, low, high, shape=()):
    sensor = own("sensor", name="s", read=lambda scene: None, bounds=lambda robot: (low, high))
    return scale_of(sensor, Group(SBot(), 1, "g", sensors=(sensor,)), shape)


@pytest.mark.parametrize("low, high, reading, expected", [
    (0.0, 4.0, [-1.0, 0.0, 1.0, 4.0, 5.0], [0.0, 0.0, 0.25, 1.0, 1.0]),
    (10.0, 30.0, [0.0, 10.0, 15.0, 40.0], [0.0, 0.0, 0.25, 1.0]),
    (-2.0, 2.0, [-9.0, -2.0, -1.0, 0.0, 2.0, 3.0], [-1.0, -1.0, -0.5, 0.0, 1.0, 1.0]),
    (-1.0, 3.0, [-1.0, 0.0, 1.0, 3.0], [-1.0, -0.5, 0.0, 1.0]),
    (-inf, inf, [-1e9, 0.0, 7.5], [-1e9, 0.0, 7.5]),
    (0.0, inf, [-1.0, 0.0, 7.5], [0.0, 0.0, 7.5]),
    (-inf, 2.0, [-7.0, 3.0], [-7.0, 2.0]),
    (3.0, 3.0, [3.0], [0.0]),
])
def test_a_range_from_0_becomes_0_to_1_a_signed_one_minus_1_to_1_and_an_open_end_stays(own, low, high, reading, expected):
    reading = np.array([[reading]])
    found = scaled([reading], [scale(own, low, high, reading.shape[2:])])
    assert found[0, 0].tolist() == expected


def test_kernels_scale_with_the_bits_of_the_loop(own, rng):
    shapes = [(5,), (3, 2), (4,)]
    scales = [scale(own, 0.0, 40.0, shapes[0]), scale(own, np.array([-pi, 0.0]), np.array([pi, 1.0]), shapes[1]),
              scale(own, -inf, inf, shapes[2])]
    readings = [rng.normal(0.0, 30.0, (3, 2, *shape)) for shape in shapes]
    stages, x = scale_stages(readings, scales)
    Program(stages, 3).run(0, 3)
    assert np.array_equal(x, scaled(readings, scales)) and x.shape == (3, 2, 15)


def test_a_full_reading_is_a_range_from_0(own):
    with_full = own("sensor", name="s", full=8.0, read=lambda scene: None)
    without = own("sensor", name="t", read=lambda scene: None)
    assert with_full.bounds(SBot()) == (0.0, 8.0) and without.bounds(SBot()) == (-inf, inf)


@pytest.mark.parametrize("sensor, robot, low, high", [
    (Proximity(), SBot(), 0.0, 40.0),
    (Inclinometer(), SBot(), [-pi, -pi / 2, 0.0], [pi, pi / 2, pi]),
    (Accelerometer(), SBot(), -inf, inf),
    (Traction(), SBot(), [-pi, 0.0], [pi, inf]),
    (Encoders(), Car(), [-inf, -Car().drive.limits[1]], [inf, Car().drive.limits[1]]),
    (Omnicamera(mode="list"), SBot(), [-pi, -pi / 2, 0, 0, 0], [pi, pi / 2, 1, 1, 1]),
    (Omnicamera(), SBot(), 0.0, 1.0),
    (Motors(), SBot(joint_speed=2.0), [-inf] * 3 + [-1.0, -inf, -inf], [inf] * 3 + [1.0, inf, inf]),
])
def test_sensors_declare_what_they_know(sensor, robot, low, high):
    found = sensor.bounds(robot)
    assert np.array_equal(found[0], low) and np.array_equal(found[1], high)


def test_the_motors_of_a_machine_have_the_ranges_of_its_file():
    robot = formiga.read_world("hexapod").groups[0].robot
    low, high = Motors().bounds(robot)
    assert low[:3].tolist() == [-0.6, -1.2, 0.9] and high[:3].tolist() == [0.6, 0.4, 2.5]
    assert (high[18:] == 3.0).all() and (low[18:] == -3.0).all()


@pytest.mark.parametrize("name", shipped_worlds())
def test_every_range_of_a_shipped_world_fits_its_readings(name):
    world = formiga.read_world(name)
    lab = Simulation(world)
    for _ in range(3):
        lab.step()
    for group in world.groups:
        for called, giver in givers(group).items():
            reading = lab.readings[group.name][called]
            x = scaled([reading], [scale_of(giver, group, reading.shape[2:])])
            assert x.shape == (*reading.shape[:2], int(np.prod(reading.shape[2:])))


@pytest.mark.parametrize("low, high, complaint", [
    (np.zeros(2), 1.0, "does not fit them: it must be two numbers, or two arrays that fit a reading \\(3,\\) of one robot"),
    (1.0, 0.0, "the least number must not be above the largest"),
    (np.nan, 0.0, "the least number must not be above the largest"),
    ("a", 1.0, "does not fit them"),
])
def test_a_range_that_is_none_is_refused(own, low, high, complaint):
    with pytest.raises(WorldError, match=complaint):
        scale(own, low, high, (3,))
