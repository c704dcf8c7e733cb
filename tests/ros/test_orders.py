"""What clients order: twists -> channels, joints, and how long they hold."""

import numpy as np
import pytest

from formiga import Simulation, read_world
from formiga.errors import FormigaError
from formiga.ros.orders import DRIVE, HOLD, Held, Order, drive_order, joint_order, joint_orders
from formiga.world.contract import Actuator
from formiga.world.drives import Differential, Drive, Omni, Steered, within
from formiga.world.reader import read_text
from tests.ros.conftest import CARTS

DRIVES = {"differential": Differential(0.2, 0.5), "omni": Omni((0.0, 2.1, 4.2), 0.1, 0.5),
          "four": Omni((0.8, 2.4, 4.0, 5.5), 0.1, 0.5), "steered": Steered(0.3, 1.0, 0.6)}


class Tracks(Drive):
    """Of the user's own: no `follow`."""

    channels, limits, fastest = ("a", "b"), (0.5, 0.5), 0.5

    def twist(self, channels):
        left, right = channels[..., 0], channels[..., 1]
        return np.stack([0.5 * (left + right), np.zeros_like(left), 0.6 * (right - left) / 0.2], axis=-1)

    def steer(self, ahead, aside, turn):
        return 0.5 * (ahead - turn), 0.5 * (ahead + turn)


# -- the inverse of a drive -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("drive", [*DRIVES.values(), Tracks()], ids=[*DRIVES, "own"])
def test_a_drive_that_follows_a_twist_gives_it(drive, rng):
    """twist(follow(t)) = t for every twist that it can have: those that some channels give."""
    channels = rng.uniform(-1.0, 1.0, (50, len(drive.channels))) * drive.limits
    wanted = drive.twist(channels)
    assert drive.twist(drive.follow(wanted)) == pytest.approx(wanted, abs=1e-9)
    assert drive.follow(wanted[0]) == pytest.approx(drive.follow(wanted)[0])


@pytest.mark.parametrize("drive", [*DRIVES.values(), Tracks()], ids=[*DRIVES, "own"])
def test_beyond_its_limits_a_drive_takes_the_same_curve_more_slowly(drive, rng):
    for wanted in rng.uniform(-30.0, 30.0, (50, 3)):
        free = drive.follow(wanted)
        cut = within(drive, free)
        assert (np.abs(cut) <= np.array(drive.limits) * (1 + 1e-12)).all()
        if all(drive.rolls):
            share = np.abs(cut).max() / np.abs(free).max()
            assert cut == pytest.approx(share * free)
    assert within(drive, np.zeros(len(drive.channels))) == pytest.approx(0.0)


def test_two_wheels_cannot_go_aside_and_a_car_cannot_turn_on_the_spot():
    assert DRIVES["differential"].follow(np.array([0.0, 1.0, 0.0])) == pytest.approx([0.0, 0.0])
    assert DRIVES["steered"].follow(np.array([0.0, 0.0, 1.0])) == pytest.approx([0.0, 0.0])
    assert DRIVES["steered"].follow(np.array([-0.5, 0.0, 0.2])) == pytest.approx([-0.5, np.arctan(-0.12)])


# -- messages -------------------------------------------------------------------------------------------------------------
def twist(x=0.0, turn=0.0):
    return {"linear": {"x": x, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": turn}}


def test_a_twist_is_m_per_s_and_rad_per_s_and_what_is_left_out_is_nought():
    drive = DRIVES["differential"]
    assert drive_order(twist(0.2, 0.5), "geometry_msgs/Twist", 3, drive) == [Order((3, DRIVE), pytest.approx((0.15, 0.25)))]
    assert drive_order({"linear": {"x": 0.2}}, "geometry_msgs/Twist", 3, drive) == [Order((3, DRIVE), (0.2, 0.2))]
    stamped = {"header": {}, "twist": twist(0.2)}
    assert drive_order(stamped, "geometry_msgs/TwistStamped", 0, drive)[0].values == (0.2, 0.2)
    assert drive_order(twist(1e308, -1e308), "geometry_msgs/Twist", 0, drive)[0].values[0] <= 0.5


@pytest.mark.parametrize("message, words", [
    (twist("fast"), "linear.x must be a finite number, not fast."), (twist(None), "not null."), (twist(True), "not True."),
    (twist(float("nan")), "not nan."), (twist(0.0, float("inf")), "angular.z must be a finite number, not inf."),
    ({"linear": 3}, "linear must be an object with the fields x, y, z, not 3."),
    ({"linear": {"vx": 1}}, "linear has no 'vx'; it has: x, y, z."),
    ({"lineer": {"x": 1}}, "geometry_msgs/Twist has no 'lineer'; it has: linear, angular."),
    ({"linear": {"x": "9" * 500}}, "9...")])
def test_a_twist_that_is_none_is_refused_in_few_words(message, words):
    with pytest.raises(FormigaError) as wrong:
        drive_order(message, "geometry_msgs/Twist", 0, DRIVES["differential"])
    assert words in str(wrong.value) and len(str(wrong.value)) < 120


def test_a_stamped_twist_has_its_twist_inside():
    """Else a plain one that was advertised as stamped would stop the robot."""
    for message in (twist(0.2), {"twist": {"x": 0.2}}):
        with pytest.raises(FormigaError, match=r"has no '(linear|angular|x)'; it has: "):
            drive_order(message, "geometry_msgs/TwistStamped", 0, DRIVES["differential"])


JOINTS = (Actuator("turret", "velocity", -1.0, 1.0), Actuator("arm", "position", 0.0, 2.0))


def test_joints_are_ordered_by_name_in_the_unit_of_their_mode_within_their_range():
    given = {"name": ["arm", "turret"], "position": [0.5, 9.0], "velocity": [7.0, -3.0]}
    assert joint_orders(given, "", 2, JOINTS) == [Order((2, 1), (0.5,)), Order((2, 0), (-1.0,))]
    assert joint_order({"data": 5}, "", 2, JOINTS[1], JOINTS) == [Order((2, 1), (2.0,))]


@pytest.mark.parametrize("message, words", [
    ({"name": ["leg"], "position": [1.0]}, "there is no joint 'leg'. There are: turret, arm."),
    ({"name": ["turet"], "velocity": [1.0]}, "Did you mean 'turret'?"), ({"name": "arm"}, "name must be a list"),
    ({"name": ["arm"] * 9, "position": [0.0] * 9}, "at most 2"), ({"name": ["arm"], "velocity": [1.0]}, "by position"),
    ({"names": ["arm"]}, "sensor_msgs/JointState has no 'names'; it has: header, name, position"),
    ({"name": ["arm"], "position": ["x"]}, "position must be a finite number")])
def test_joints_that_are_not_there_are_refused(message, words):
    with pytest.raises(FormigaError, match=words.replace("?", r"\?").replace("(", r"\(")):
        joint_orders(message, "", 0, JOINTS)


# -- how long they hold ---------------------------------------------------------------------------------------------------
def test_an_order_holds_for_half_a_second_of_the_run_and_a_new_one_replaces_it():
    world = read_text(CARTS, "w.xml")
    held, part = Held(), (1, DRIVE)
    assert held.orders(world, 0) is None
    held.put([Order(part, (0.1, 0.1))])
    seen = []
    for step in range(12):
        if step == 3:
            held.put([Order(part, (0.2, 0.2))])
        found = held.orders(world, step)
        assert found is None or (found.keys() == {"carts"} and np.isnan(found["carts"].drive[0, 0]).all())
        seen.append(0.0 if found is None else found["carts"].drive[0, 1, 0])
    assert seen == [0.1] * 3 + [0.2] * round(HOLD / world.dt) + [0.0] * 4


def test_a_robot_that_is_ordered_leaves_the_others_to_their_controllers():
    sim, twin = Simulation(read_world("drive")), Simulation(read_world("drive"))
    held = Held()
    held.put([Order((0, DRIVE), (0.05, 0.05))])
    for step in range(3):
        sim.step(held.orders(sim.world, step))
        twin.step()
    assert sim.state.position[0, 0, 1] > twin.state.position[0, 0, 1] + 0.01
    np.testing.assert_array_equal(sim.state.position[0, 1:], twin.state.position[0, 1:])
