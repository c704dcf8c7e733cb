"""A controller that leaves its drive open: the order that it gave last holds."""

import numpy as np
import pytest

from formiga.control import Orders
from formiga.world.robots import SBot
from formiga.world.robots.omni import Omni
from tests.reference.lab import bench

POSES = [(0, 0, 0), (1, 0, 0)]


def once(own, value):
    """Orders all channels in the first step, and nothing afterwards."""
    def decide(view):
        channels = len(view.group.robot.drive.channels)
        return Orders(np.full((*view.shape, channels), value)) if (view.time == 0.0).all() else Orders()
    return own("controller", decide=decide)


def always(own, value):
    return own("controller", decide=lambda view: np.full((*view.shape, len(view.group.robot.drive.channels)), value))


@pytest.mark.parametrize("robot", [SBot(), SBot(motor_noise=0.2), Omni(motor_lag=0.5)])
def test_an_order_that_is_not_repeated_holds_as_if_it_were(own, robot):
    """Also where the drive is still on its way to the order, and with noise that is drawn anew in each step."""
    held, told = (bench(robot, POSES, controller=make(own, 0.05), worlds=2) for make in (once, always))
    for _ in range(8):
        held.step()
        told.step()
    assert (held.state.position == told.state.position).all() and (held.state.drive == told.state.drive).all()


def test_an_order_from_outside_for_something_else_changes_nothing_for_the_drive(own):
    simulation = bench(SBot(), POSES, controller=once(own, 0.05))
    simulation.step()
    simulation.step({"a": Orders(leds=0)})
    assert (simulation.state.drive == 0.05).all()


def test_a_world_that_starts_again_has_no_last_order(own):
    still = own("controller", decide=lambda view: Orders())
    simulation = bench(SBot(), POSES, controller=still)
    simulation.step()
    assert (simulation.state.drive == 0.0).all()
    simulation = bench(SBot(), POSES, controller=once(own, 0.05), worlds=2)
    simulation.step()
    simulation.reset([True, False])
    simulation.step()
    assert (simulation.state.drive[0] == 0.0).all() and (simulation.state.drive[1] == 0.05).all()
