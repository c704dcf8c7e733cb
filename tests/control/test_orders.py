"""What a controller may see and return, and how its mistakes are told."""

import numpy as np
import pytest

from formiga import Simulation
from formiga.control import Orders
from formiga.control.braitenberg import Braitenberg
from formiga.control.turn_away import TurnAway
from formiga.errors import WorldError
from formiga.sense.encoders import Encoders
from formiga.sense.proximity import Proximity
from formiga.world.model import Wall
from formiga.world.robots import SBot
from tests.reference.lab import bench

POSES = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]


def with_controller(own, decide, **more):
    return bench(SBot(), POSES, controller=own("controller", decide=decide), worlds=2, **more)


@pytest.mark.parametrize("wheels, shape", [
    (np.zeros((2, 3)), r"\(2, 3\)"), (np.zeros((3, 2)), r"\(3, 2\)"), (np.zeros((2, 3, 3)), r"\(2, 3, 3\)"),
    (np.zeros((1, 3, 2)), r"\(1, 3, 2\)"), (0.1, r"\(\)"), (np.zeros((2, 2, 2)), r"\(2, 2, 2\)"),
])
def test_wheel_speeds_of_another_shape_are_refused(own, wheels, shape):
    for given in (wheels, Orders(wheels)):
        message = r"of 'a' for its drive \(left, right\) must have the shape \(worlds, robots, 2\) = \(2, 3, 2\), not " + shape
        with pytest.raises(WorldError, match=message):
            with_controller(own, lambda view, given=given: given).step()


@pytest.mark.parametrize("wheels", [None, "fast", [["a", "b"]], [[0.1, 0.2], [0.3]], {"left": 1}, np.full((2, 3, 2), 1j)])
def test_wheel_speeds_that_are_no_numbers_are_refused(own, wheels):
    with pytest.raises(WorldError, match="'a'"):
        with_controller(own, lambda view: wheels).step()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_wheel_speed_that_is_not_finite_names_the_robot(own, value):
    def decide(view):
        wheels = np.zeros((*view.shape, 2))
        wheels[1, 2, 0] = value
        return wheels

    simulation = with_controller(own, decide)
    with pytest.raises(WorldError, match="controller of 'a' ordered a wheel speed that is not a number, for robot 2"):
        simulation.step()
    assert np.isfinite(simulation.state.position).all() and (simulation.state.step == 0).all()


def test_integers_and_lists_are_as_good_as_arrays_of_floats(own):
    simulation = with_controller(own, lambda view: [[[0, 1]] * 3] * 2)
    simulation.step()
    assert (simulation.state.drive == (0.0, 0.08)).all()


@pytest.mark.parametrize("controller", [Braitenberg(), TurnAway(), Braitenberg(sensor="sonar")])
def test_a_controller_that_reads_a_sensor_nobody_carries_says_so_in_one_line(controller):
    simulation = bench(SBot(), POSES, sensors=[Encoders()], controller=controller)
    with pytest.raises(WorldError) as error:
        simulation.step()
    assert str(error.value) == (f"the controller of 'a' reads '{controller.sensor}', but the robots carry: encoders. "
                                "Add a sensor of that name.")


@pytest.mark.parametrize("controller", [Braitenberg(sensor="encoders"), TurnAway(sensor="encoders")])
def test_a_controller_that_needs_a_ring_says_so_when_it_gets_something_else(controller):
    with pytest.raises(WorldError, match="encoders"):
        bench(SBot(), POSES, sensors=[Encoders()], controller=controller).step()


def test_a_view_has_readings_time_memory_noise_and_a_bumper_but_no_poses(own):
    seen = []

    def decide(view):
        count = view.memory("count", np.zeros((2, 3)))
        count += 1
        seen.append((view.shape, view.time.copy(), view.dt, view.crashed.copy(), count.copy(), view.noise.uniform(0, 1)))
        assert view.reading("proximity").shape == (2, 3, 15) and len(view.sensor("proximity").angles) == 15
        assert not hasattr(view, "position") and not hasattr(view, "heading")
        return np.full((2, 3, 2), 0.08)

    simulation = with_controller(own, decide, things=(Wall((0.1, -1, 0.1, 1)),), contact="minimal", sensors=[Proximity()])
    for _ in range(3):
        simulation.step()
    assert [entry[0] for entry in seen] == [(2, 3)] * 3
    assert [list(entry[1][:, 0]) for entry in seen] == [[0.0, 0.0], [0.1, 0.1], [0.2, 0.2]]
    assert seen[0][2] == 0.1
    assert not seen[0][3].any() and seen[2][3][0].any()
    assert [entry[4].max() for entry in seen] == [1.0, 2.0, 3.0]
    assert not np.isclose(seen[0][5], seen[1][5]).any()
    simulation.reset([True, False])
    simulation.step()
    assert list(seen[3][4][:, 0]) == [1.0, 4.0]  # a world that starts again has forgotten


def test_memory_that_is_asked_for_late_is_new_after_a_reset(own):
    """A controller need not ask for its memory in its first step."""
    counts = []

    def decide(view):
        if view.time[0, 0] > 0.05:
            count = view.memory("count", np.zeros(view.shape))
            count += 1
            counts.append(count[0, 0])
        return np.zeros((*view.shape, 2))

    simulation = bench(SBot(), POSES, controller=own("controller", decide=decide))
    for _ in range(4):
        simulation.step()
    simulation.reset()
    for _ in range(2):
        simulation.step()
    assert counts == [1.0, 2.0, 3.0, 1.0]


def test_a_sensor_named_controller_does_not_share_the_controller_s_memory_or_noise(own):
    drawn = {}

    def read(scene):
        drawn["sensor"] = scene.memory("m", np.zeros((2, 3))), scene.noise.uniform(0, 1)
        return np.zeros((2, 3, 1))

    def decide(view):
        memory = view.memory("m", np.zeros((2, 3)))
        memory += 7
        drawn["controller"] = memory, view.noise.uniform(0, 1)
        return np.zeros((2, 3, 2))

    with_controller(own, decide, sensors=[own("sensor", name="controller", read=read)]).step()
    assert not drawn["sensor"][0].any()
    assert not np.isclose(drawn["sensor"][1], drawn["controller"][1]).any()


def test_a_group_without_a_controller_stands_still():
    simulation = bench(SBot(), POSES)
    simulation.step()
    assert np.array_equal(simulation.state.position[0], np.array(POSES)[:, :2])


@pytest.mark.parametrize("given, message", [
    (None, "the orders of '.*' are None. Leave the group out"),
    (Orders(leds=[[1], [1, 2]]), "the lights of '.*' must have the shape .* rows of different lengths"),
    (np.zeros((1, 1, 2), complex), "must be an array of numbers .*, not one of complex128")])
def test_orders_that_are_none_or_no_numbers_are_refused_with_what_they_are(given, message):
    lab = Simulation("drive")
    with pytest.raises(WorldError, match=message):
        lab.step({lab.world.groups[0].name: given})
