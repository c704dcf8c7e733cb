"""Orders become wheel speeds and lights: cut, noisy, checked."""

import numpy as np
import pytest

from formiga.act.motors import drive_motors
from formiga.control import Orders
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import Group, World
from formiga.world.placement import At
from formiga.world.robots import Disc, SBot
from tests.reference.lab import bench, drive


def test_speeds_are_cut_at_the_top_speed_in_both_directions():
    simulation = drive(bench(SBot(), [(0, 0, 0)]), 99.0, -99.0)
    assert tuple(simulation.state.drive[0, 0]) == pytest.approx((0.08, -0.08))
    simulation = drive(bench(SBot(), [(0, 0, 0)]), 0.08, 0.0799)
    assert tuple(simulation.state.drive[0, 0]) == (0.08, 0.0799)


def test_each_group_has_its_own_top_speed():
    groups = (Group(Disc(0.05, 0.1, 0.3), 1, "slow", (At(0, 0, 0),)),
              Group(Disc(0.05, 0.1, 0.7), 2, "fast", (At(1, 0, 0), At(2, 0, 0))))
    simulation = Simulation(World(groups=groups))
    simulation.step({"slow": np.full((1, 1, 2), 1.0), "fast": np.full((1, 2, 2), 1.0)})
    assert list(simulation.state.drive[0, :, 0]) == [0.3, 0.7, 0.7]


def test_motor_noise_is_relative_bounded_and_different_for_each_wheel_robot_step_and_world():
    simulation = bench(Disc(0.05, 0.1, 1.0, motor_noise=0.01), [(0, 0, 0), (5, 0, 0)], worlds=5000)
    first = drive(simulation, 0.5, 0.5).state.drive / 0.5 - 1.0
    later = drive(simulation, 0.5, 0.5).state.drive / 0.5 - 1.0
    for error in (first, later):
        assert np.abs(error).max() <= 0.01 + 1e-12 and np.abs(error).max() > 0.00995
        assert abs(error.mean()) < 4.5 * 0.01 / np.sqrt(3 * error.size)
        assert error.std() == pytest.approx(0.01 / np.sqrt(3), rel=0.02)
    for a, b in ((first[:, 0, 0], first[:, 0, 1]), (first[:, 0, 0], first[:, 1, 0]), (first[:, 0, 0], later[:, 0, 0]),
                 (first[:-1, 0, 0], first[1:, 0, 0])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 / np.sqrt(5000)


def test_noise_comes_after_the_cut():
    """A motor that turns a little faster than it was told may exceed its top speed by that."""
    wheels = drive(bench(Disc(0.05, 0.1, 1.0, motor_noise=0.2), [(0, 0, 0)], worlds=1000), 9.0, 9.0).state.drive
    assert 1.1 < wheels.max() <= 1.2 and 0.8 <= wheels.min() < 0.9


def test_a_wheel_that_is_told_to_stand_stands_whatever_the_noise():
    assert not drive(bench(Disc(0.05, 0.1, 1.0, motor_noise=0.2), [(0, 0, 0)], worlds=100), 0.0, 0.0).state.drive.any()


def test_the_first_order_that_is_not_finite_is_named():
    ordered = np.zeros((2, 3, 2))
    out = np.zeros((2, 5, 2))
    assert drive_motors(ordered, 1, (1.0, 1.0), 0.0, np.zeros(2, np.uint64), np.zeros(2, np.int64), out) == -1
    ordered[1, 2, 1] = np.nan
    assert drive_motors(ordered, 1, (1.0, 1.0), 0.0, np.zeros(2, np.uint64), np.zeros(2, np.int64), out) == 2


# -- lights ---------------------------------------------------------------------------------------------------------
def lit(own, leds, robot=None):
    controller = own("controller", decide=lambda view: Orders(np.zeros((*view.shape, 2)), leds=leds))
    return bench(robot or SBot(), [(0, 0, 0), (1, 0, 0)], controller=controller, worlds=2)


def test_lights_are_set_and_stay_until_they_are_set_again(own):
    colours = [np.full((2, 2, 8, 3), 200), None, np.zeros((2, 2, 8, 3))]

    def decide(view):
        return Orders(np.zeros((*view.shape, 2)), leds=colours[round(view.time[0, 0] / view.dt)])

    simulation = bench(SBot(), [(0, 0, 0), (1, 0, 0)], controller=own("controller", decide=decide), worlds=2)
    assert not simulation.state.leds.any()
    for expected in (200, 200, 0):
        simulation.step()
        assert (simulation.state.leds == expected).all()


def test_one_colour_is_given_to_every_light(own):
    simulation = lit(own, (255, 0, 7))
    simulation.step()
    assert simulation.state.leds.shape == (2, 2, 8, 3) and (simulation.state.leds == (255, 0, 7)).all()


@pytest.mark.parametrize("leds", [np.zeros((2, 2, 3, 3)), np.zeros((3, 2, 8, 3)), np.zeros((2, 2, 8, 4)), np.zeros(8)])
def test_lights_of_another_shape_are_refused(own, leds):
    with pytest.raises(WorldError, match=r"lights of 'a' must have the shape \(worlds, robots, 8, 3\), not "):
        lit(own, leds).step()


@pytest.mark.parametrize("leds", [(256, 0, 0), (-1, 0, 0), (np.nan, 0.0, 0.0), (1e9, 0.0, 0.0)])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_a_colour_outside_of_0_to_255_is_refused_and_not_wrapped_round(own, leds):
    with pytest.raises(WorldError, match="lights of 'a'"):
        lit(own, leds).step()


def test_a_robot_without_lights_cannot_be_lit(own):
    with pytest.raises(WorldError, match="lights of 'a'"):
        lit(own, np.zeros((2, 2, 8, 3)), Disc(0.05, 0.1, 0.1)).step()


def test_groups_with_different_numbers_of_lights_share_one_array(own):
    white = own("controller", decide=lambda view: Orders(np.zeros((*view.shape, 2)), leds=(255, 255, 255)))
    groups = (Group(Disc(0.05, 0.1, 0.1, leds=2), 1, "few", (At(0, 0, 0),), controller=white),
              Group(SBot(), 1, "many", (At(1, 0, 0),), controller=white))
    simulation = Simulation(World(groups=groups))
    simulation.step()
    assert simulation.state.leds.shape == (1, 2, 8, 3)
    assert (simulation.state.leds[0, 0, :2] == 255).all() and not simulation.state.leds[0, 0, 2:].any()
    assert (simulation.state.leds[0, 1] == 255).all()
