"""Orders for joints: checked, kept, and left open where none are given."""

import numpy as np
import pytest

from formiga.control import Orders
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import Group, World
from formiga.world.placement import At
from formiga.world.robots import Disc, SBot

NAN = np.nan


def pair(controller=None, engine="spatial", robot=None, worlds=1):
    group = Group(robot or SBot(), 2, "a", (At(0, 0, 0), At(1, 0, 0)), controller=controller)
    return Simulation(World(engine=engine, groups=(group,)), worlds=worlds)


def ordering(own, joints):
    return own("controller", decide=lambda view: Orders(np.zeros((*view.shape, 2)), joints=joints(view)))


def test_joint_commands_stay_until_the_next_ones(own):
    told = [np.full((1, 2, 3), 0.25), None, np.zeros((1, 2, 3))]
    simulation = pair(ordering(own, lambda view: told[round(view.time[0, 0] / view.dt)]))
    for expected in (0.25, 0.25, 0.0):
        simulation.step()
        assert (simulation.state.joint_command == expected).all()


def test_nan_from_outside_leaves_a_joint_to_the_controller_or_as_it_was(own):
    simulation = pair(ordering(own, lambda view: np.full((1, 2, 3), 0.25)))
    simulation.step({"a": Orders(joints=[[[0.5, NAN, NAN], [NAN, NAN, 0.0]]])})
    assert simulation.state.joint_command[0].tolist() == [[0.5, 0.25, 0.25], [0.25, 0.25, 0.0]]
    free = pair()
    free.step({"a": Orders(joints=[[[0.5, NAN, NAN], [NAN, NAN, 0.125]]])})
    free.step({"a": Orders(joints=[[[NAN, NAN, 0.25], [NAN, NAN, NAN]]])})
    assert free.state.joint_command[0].tolist() == [[0.5, 0.0, 0.25], [0.0, 0.0, 0.125]]


def test_a_world_that_has_ended_keeps_its_joint_commands():
    simulation = pair(worlds=2)
    simulation.state.done[1] = True
    simulation.step({"a": Orders(joints=np.full((2, 2, 3), 0.25))})
    assert (simulation.state.joint_command[0] == 0.25).all() and not simulation.state.joint_command[1].any()


def test_in_the_plane_orders_for_joints_are_checked_and_change_nothing(own):
    told = pair(ordering(own, lambda view: np.ones((1, 2, 3))), "planar")
    told.step({"a": Orders(joints=np.ones((1, 2, 3)))})
    assert told.state.joint_command.size == 0
    with pytest.raises(WorldError, match="shape"):
        told.step({"a": Orders(joints=np.ones((1, 2, 2)))})


@pytest.mark.parametrize("engine", ["planar", "spatial"])
@pytest.mark.parametrize(("joints", "message"), [
    (np.zeros((1, 2, 2)), r"of 'a' for joints \(turret, arm, grip\) must have the shape .* = \(1, 2, 3\), not \(1, 2, 2\)"),
    (np.zeros((1, 3)), "must have the shape"), ("abc", r"must be an array of numbers \(worlds, robots, 3\), not str"),
    (np.full((1, 2, 3), NAN), "joint 'turret' of robot 0 of 'a' is not a number: nan"),
    (np.full((1, 2, 3), np.inf), "joint 'turret' of robot 0 of 'a' is not a number: inf")])
def test_orders_that_are_not_for_its_joints_are_refused(own, engine, joints, message):
    with pytest.raises(WorldError, match=message):
        pair(ordering(own, lambda view: joints), engine).step()


def test_robots_without_joints_take_no_orders_for_them(own):
    with pytest.raises(WorldError, match="robots of 'a' have no joints to be told anything"):
        pair(ordering(own, lambda view: np.zeros((1, 2, 1))), "planar", Disc(0.05, 0.1, 0.1)).step()
