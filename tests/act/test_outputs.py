"""Orders for motors besides the wheels: checked, kept, and left to whoever gives none."""

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


def ordering(own, outputs):
    return own("controller", decide=lambda view: Orders(np.zeros((*view.shape, 2)), joints=outputs(view)))


def test_outputs_are_told_and_stay_until_they_are_told_again(own):
    told = [np.full((1, 2, 3), 0.25), None, np.zeros((1, 2, 3))]
    simulation = pair(ordering(own, lambda view: told[round(view.time[0, 0] / view.dt)]))
    for expected in (0.25, 0.25, 0.0):
        simulation.step()
        assert (simulation.state.joint_command == expected).all()


def test_outputs_from_outside_leave_what_is_not_a_number_to_the_controller_or_as_it_was(own):
    simulation = pair(ordering(own, lambda view: np.full((1, 2, 3), 0.25)))
    simulation.step({"a": Orders(joints=[[[0.5, NAN, NAN], [NAN, NAN, 0.0]]])})
    assert simulation.state.joint_command[0].tolist() == [[0.5, 0.25, 0.25], [0.25, 0.25, 0.0]]
    free = pair()
    free.step({"a": Orders(joints=[[[0.5, NAN, NAN], [NAN, NAN, 0.125]]])})
    free.step({"a": Orders(joints=[[[NAN, NAN, 0.25], [NAN, NAN, NAN]]])})
    assert free.state.joint_command[0].tolist() == [[0.5, 0.0, 0.25], [0.0, 0.0, 0.125]]


def test_a_world_that_has_ended_keeps_what_its_motors_were_told():
    simulation = pair(worlds=2)
    simulation.state.done[1] = True
    simulation.step({"a": Orders(joints=np.full((2, 2, 3), 0.25))})
    assert (simulation.state.joint_command[0] == 0.25).all() and not simulation.state.joint_command[1].any()


def test_in_the_plane_outputs_are_checked_and_change_nothing(own):
    told = pair(ordering(own, lambda view: np.ones((1, 2, 3))), "planar")
    told.step({"a": Orders(joints=np.ones((1, 2, 3)))})
    assert told.state.joint_command.size == 0
    with pytest.raises(WorldError, match="shape"):
        told.step({"a": Orders(joints=np.ones((1, 2, 2)))})


@pytest.mark.parametrize("engine", ["planar", "spatial"])
@pytest.mark.parametrize(("outputs", "message"), [
    (np.zeros((1, 2, 2)), r"outputs of 'a' \(turret, arm, grip\) must have the shape .* = \(1, 2, 3\), not \(1, 2, 2\)"),
    (np.zeros((1, 3)), "must have the shape"), ("abc", "must be an array of numbers, not str"),
    (np.full((1, 2, 3), NAN), "must be numbers; robot 0 has one that is not"),
    (np.full((1, 2, 3), np.inf), "must be numbers; robot 0 has one that is not")])
def test_orders_that_are_no_outputs_are_refused(own, engine, outputs, message):
    with pytest.raises(WorldError, match=message):
        pair(ordering(own, lambda view: outputs), engine).step()


def test_robots_that_have_only_wheels_are_told_nothing_else(own):
    with pytest.raises(WorldError, match="robots of 'a' have wheels and no further outputs"):
        pair(ordering(own, lambda view: np.zeros((1, 2, 1))), "planar", Disc(0.05, 0.1, 0.1)).step()
