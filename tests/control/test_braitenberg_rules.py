"""The rules of the swarm-bot simulator's four experiments: the strongest on each side, light, gripping. [S3]"""

import numpy as np
import pytest

from formiga.control import Orders, decide_all
from formiga.control.braitenberg import Braitenberg
from formiga.errors import WorldError
from formiga.sense.barrier import Barrier
from formiga.sense.light import Light
from formiga.sense.proximity import SBOT_ANGLES, Proximity
from formiga.units import CM
from formiga.world.elements import profiled
from formiga.world.model import Contact, Lamp, Puck, Wall
from formiga.world.robots import Disc, SBot
from tests.reference.lab import bench

RING = profiled(Proximity, "s3", noise=(0.0,))
DEGREES = np.rint(np.degrees(SBOT_ANGLES)).astype(int)
TOP = 0.08


def decided(readings, controller, sensors=(RING,), robot=None):
    """Orders (1, 1, 2) or more for made-up readings."""
    simulation = bench(robot or SBot(), [(0, 0, 0)], sensors=sensors, controller=controller)
    given = {"a": {name: np.asarray(values, float).reshape(1, 1, -1) for name, values in readings.items()}}
    return decide_all(simulation.world, simulation.state, given)["a"]


def test_the_strongest_of_34_56_and_79_degrees_slows_the_wheel_on_the_other_side(rng):
    """left = 1 - side[right]; right = 1 - side[left]."""
    for _ in range(20):
        reading = rng.uniform(0, 1, 15)
        left = max(reading[np.isin(DEGREES, (34, 56, 79))])
        right = max(reading[np.isin(DEGREES, (281, 304, 326))])
        wheels = decided({"proximity": reading}, Braitenberg(rule="strongest")).drive[0, 0]
        np.testing.assert_allclose(wheels, [TOP * (1 - right), TOP * (1 - left)], atol=1e-12)


def test_what_is_behind_does_not_count():
    behind = (DEGREES > 90) & (DEGREES < 270)
    wheels = decided({"proximity": behind.astype(float)}, Braitenberg(rule="strongest")).drive[0, 0]
    assert tuple(wheels) == (TOP, TOP)


def test_light_slows_the_wheel_of_its_own_side_and_outputs_are_cut_at_minus_one(rng):
    for _ in range(20):
        near, lit = rng.uniform(0, 1.5, 15), rng.uniform(0, 1, 8)
        left, right = max(near[:3]), max(near[-3:])
        wheels = decided({"proximity": near, "light": lit}, Braitenberg(rule="strongest", light="light"), (RING, Light()))
        expected = np.clip([1 - right - max(lit[:4]), 1 - left - max(lit[4:])], -1, 1)
        np.testing.assert_allclose(wheels.drive[0, 0], TOP * expected, atol=1e-12)


def test_readings_count_in_what_is_full_for_their_sensor():
    tr = Proximity(noise=(0.0,))
    wheels = decided({"proximity": np.where(DEGREES == 56, 20.0, 0.0)}, Braitenberg(rule="strongest"), (tr,)).drive[0, 0]
    np.testing.assert_allclose(wheels, [TOP, 0.5 * TOP])


def test_the_default_rule_is_still_the_sum():
    assert Braitenberg().rule == "sum" and Braitenberg().grip is None
    assert isinstance(decided({"proximity": np.zeros(15)}, Braitenberg(full=1.0)).drive, np.ndarray)


def test_a_robot_turns_away_from_a_wall_and_towards_a_light():
    things = [Wall((-2, 0.1, 2, 0.1)), Lamp(0.5, -1.0)]
    avoid = bench(SBot(), [(0, 0, 0)], things[:1], sensors=[RING], controller=Braitenberg(rule="strongest"))
    follow = bench(SBot(), [(0, 0, 0)], things[1:], sensors=[RING, Light(noise=0.0)],
                   controller=Braitenberg(rule="strongest", light="light"))
    for simulation in (avoid, follow):
        simulation.step()
        assert simulation.state.heading[0, 0] < -0.001


# -- gripping ----------------------------------------------------------------------------------------------------------
def test_whatever_the_barrier_says_is_grippable_is_gripped():
    controller = Braitenberg(rule="strongest", grip="barrier")
    for x, closed in ((5.8 * CM + 3 * CM, 1.0), (1.0, 0.0)):
        simulation = bench(SBot(), [(0, 0, 0)], [Puck(x, 0.0, 2 * CM)], Contact("impulse"), [RING, Barrier()], controller)
        orders = decide_all(simulation.world, simulation.state, simulation.readings)["a"]
        assert isinstance(orders, Orders) and orders.joints.tolist() == [[[0.0, 0.0, closed]]]
        assert orders.drive.shape == (1, 1, 2)


def test_robots_without_a_gripper_are_refused_with_a_clear_message():
    ring = Proximity(angles=SBOT_ANGLES)
    with pytest.raises(WorldError, match=r"^<braitenberg> grip: the robots of 'a' have no gripper; an <sbot> has one\.$"):
        decided({"proximity": np.zeros(15), "barrier": [0.0]}, Braitenberg(grip="barrier"), (ring, Barrier()),
                Disc(0.05, 0.1, 0.1))


def test_a_barrier_that_nobody_carries_is_named():
    with pytest.raises(WorldError, match=r"reads 'jaw', but the robots carry: proximity"):
        decided({"proximity": np.zeros(15)}, Braitenberg(grip="jaw"))
