"""What is above the engines works with any drive: controllers, networks, environments, scores, sensors, recordings, console."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import formiga
from formiga import Simulation, read_world
from formiga.control import decide_all
from formiga.control.neural import Ctrnn, Elman, Mlp, Perceptron
from formiga.envs.batch import Batch
from formiga.errors import FormigaError, WorldError
from formiga.estimate.odometry import Odometry
from formiga.record.recording import read_recording
from formiga.rollout import genes, rollout
from formiga.score import Fitness
from formiga.sense.encoders import Encoders
from formiga.sense.proximity import Proximity
from formiga.world.drives import Differential, Drive
from formiga.world.drives import Omni as OmniDrive
from formiga.world.model import Arena, Contact, Group, World
from formiga.world.placement import At, Scatter
from formiga.world.robots.car import Car
from formiga.world.robots.omni import Omni
from tests.session.workspace import Workspace

ROVER, CAR = Omni(wheels=4, radius=0.06, motor_noise=0.05), Car(shape="disc", width=0.12, steering_lag=0.2, speed_lag=0.1)
BOTH = pytest.mark.parametrize("robot", [ROVER, CAR], ids=["omni", "car"])

def world_of(robot, controller=None, count=2):
    group = Group(robot, count, "swarm", (Scatter(),), (Proximity(noise=(0.0,)),), controller=controller)
    return World(things=(Arena(2.0, 2.0),), groups=(group,), fitness=(Fitness("speed straightness"),))


def written(tmp_path, inside):
    (tmp_path / "w.xml").write_text(f'<world name="w" dt="0.1">\n<arena width="4" depth="4"/>\n{inside}\n</world>')
    return tmp_path / "w.xml"


# -- controllers ------------------------------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize("network", [Perceptron(), Mlp(hidden=(3,)), Elman(hidden=3), Ctrnn(hidden=3)])
def test_a_network_has_an_output_for_each_channel_and_rolls_out_compiled(robot, network, rng):
    world = world_of(robot, network)
    count = genes(world, world.groups[0])
    assert count == network.size(15, len(robot.drive.channels))
    given = rng.uniform(-1, 1, (3, count))
    fast, plain = (rollout(world, given, 3, 2, 3.0, compiled=compiled) for compiled in (True, False))
    for name in ("fitness", "steps", "crashes", "speed"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name), err_msg=name)
    assert (np.abs(fast.speed) <= 1.0).all() and len(np.unique(fast.speed)) > 1


@BOTH
def test_the_outputs_of_a_network_reach_from_limit_to_limit(robot):
    """A bias alone: s(10) is nearly one, s(-10) nearly nought."""
    channels = len(robot.drive.channels)
    genotype = np.zeros((channels, 16))
    genotype[:, 0] = np.where(np.arange(channels) % 2, -1.0, 1.0)
    lab = Simulation(world_of(replace(robot, motor_noise=0.0), Perceptron(), count=1), genotypes={"swarm": genotype.ravel()})
    orders = decide_all(lab.world, lab.state, lab.readings)["swarm"].drive[0, 0]
    assert orders == pytest.approx(np.array(robot.drive.limits) * genotype[:, 0], rel=1e-4)


@pytest.mark.parametrize("controller", ["<braitenberg/>", "<turn_away/>", "<random_walk/>", '<sequence moves="1 0.1 0.1"/>'])
@pytest.mark.parametrize("robot", ["<omni", '<car shape="disc"'])
def test_a_controller_for_two_wheels_refuses_another_drive(tmp_path, controller, robot):
    file = written(tmp_path, f'{robot} name="r"><scatter/>\n<proximity/>\n{controller}</{robot[1:5].strip()}>')
    with pytest.raises(WorldError, match=r"w.xml:\d+: <\w+> drives two wheels, and the robots of 'r' have the channels "):
        Simulation(read_world(file)).step()


def test_a_course_drives_every_drive_as_well_as_it_can(tmp_path):
    world = read_world(written(tmp_path, "".join(
        f'<{tag} name="{tag}"><at x="0" y="{k}" heading="0"/><course moves="1 0.2 0.1 0, 1 0.2 0 0.1"/></{kind}>'
        for k, (tag, kind) in enumerate([("omni", "omni"), ('sbot', "sbot")]))))
    lab = Simulation(world)
    for _ in range(10):
        lab.step()
    assert (lab.state.position[0, :, 0] > 0.01).all()
    assert lab.state.position[0, 0, 1] > 0.05 and lab.state.position[0, 1, 1] == pytest.approx(1.0, abs=1e-12)
    for _ in range(10):
        lab.step()
    assert (lab.state.heading[0] > 0.1).all()
    with pytest.raises(WorldError, match=r"w\.xml:3: <course> moves: shares of top speeds are from -1 to 1"):
        read_world(written(tmp_path, '<omni name="r"><scatter/><course moves="1 2 0 0"/></omni>'))


# -- environments and scores --------------------------------------------------------------------------------------------
@BOTH
def test_an_environment_has_an_action_for_each_channel(robot, rng):
    world, channels = world_of(robot, Perceptron()), len(robot.drive.channels)
    fast, plain = Batch(world, 3), Batch(world, 3, compiled=False)
    for batch in (fast, plain):
        batch.reset(7)
    for actions in rng.uniform(-1.2, 1.2, (20, 3, 2, channels)):
        fast.step(actions)
        plain.step(actions)
        np.testing.assert_array_equal(fast.reward, plain.reward)
        np.testing.assert_array_equal(fast.inputs, plain.inputs)
    assert fast.reward.any()


@BOTH
def test_the_environments_of_both_libraries_have_its_spaces(robot):
    from formiga.envs.parallel import SwarmParallelEnv
    from formiga.envs.single import SwarmEnv

    world, channels = world_of(robot, Perceptron()), len(robot.drive.channels)
    single, many = SwarmEnv(world), SwarmParallelEnv(world)
    assert single.action_space.shape == (2 * channels,) and many.action_space("swarm_0").shape == (channels,)
    single.reset(seed=1)
    many.reset(seed=1)
    for _ in range(3):
        assert np.isfinite(single.step(single.action_space.sample())[1])
        many.step({agent: many.action_space(agent).sample() for agent in many.agents})


@pytest.mark.parametrize(("robot", "twist", "speed", "straightness"), [
    (Omni(), (0.5, 0.0, 0.0), 0.5 / (1.0 / np.sin(np.radians(60.0))), 1.0),
    (Omni(), (0.0, 0.4, 0.0), 0.0, 1.0),
    (Omni(), (0.0, 0.0, 5.0), 0.0, 1.0 - 5.0 / 12.5),
])
def test_scores_go_by_the_twist_of_the_drive(robot, twist, speed, straightness):
    """`speed` in the largest speed ahead, `straightness` in the largest turning rate."""
    for term, expected in (("speed", speed), ("straightness", straightness)):
        world = replace(world_of(robot, Perceptron(), count=1), fitness=(Fitness(term),), contact=Contact("none"))
        batch = Batch(world, 1)
        batch.reset(1)
        batch.step((robot.drive.jacobian @ twist / robot.drive.limits)[None, None])
        assert batch.reward[0, 0] == pytest.approx(expected, abs=1e-12)


# -- sensors --------------------------------------------------------------------------------------------------------------
@BOTH
def test_odometry_without_slip_is_the_pose_and_encoders_have_an_angle_for_each_channel(robot, rng):
    robot = replace(robot, motor_noise=0.0)
    group = Group(robot, 1, "r", (At(0.3, -0.2, 0.5),), (Encoders(),), estimators=(Odometry(),))
    lab = Simulation(World(contact=Contact("none"), things=(Arena(90.0, 90.0),), groups=(group,)))
    for _ in range(30):
        lab.step({"r": rng.uniform(-1.0, 1.0, (1, 1, len(robot.drive.channels))) * robot.drive.limits})
        pose = np.array([*lab.state.position[0, 0], lab.state.heading[0, 0]])
        assert lab.readings["r"]["odometry"][0, 0] == pytest.approx(pose, abs=1e-12)
    angles = lab.readings["r"]["encoders"]
    assert angles.shape == (1, 1, len(robot.drive.channels))
    if isinstance(robot, Car):
        assert angles[0, 0, 1] == lab.state.drive[0, 0, 1]


# -- recordings -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["omni", "car"])
def test_a_recording_has_all_channels_and_runs_again_with_the_same_bits(tmp_path, name):
    run = formiga.simulate(name, 8.0, seed=3, out=tmp_path)
    recording = read_recording(run.recording)
    channels = run.state.drive.shape[2]
    extra = [f"drive{k}" for k in range(2, channels)]
    assert [column for column in recording.table().column_names if column.startswith("drive")] == extra
    np.testing.assert_array_equal(recording.poses().drive[-1, 0], run.state.drive[0])
    assert recording.replay() is None


# -- by hand ----------------------------------------------------------------------------------------------------------------
def test_arrow_keys_drive_all_three_and_keys_add_up():
    for world, robot, kind in (("omni", "rover", Omni), ("car", "car", Car), ("drive", "car", None)):
        at_work = Workspace(world)
        drive = at_work.session.world.group(robot).robot.drive
        at_work.run(f"steer {robot} ahead 0.5; steer {robot} turn 0.25")
        at_work.run("step 30" if kind is Car else "step")
        first = at_work.session.world.slices[at_work.session.world.groups.index(at_work.session.world.group(robot))].start
        told = at_work.session.sim.state.drive[0, first, : len(drive.channels)]
        if kind is None:
            assert told == pytest.approx(drive.steer(0.5, 0.0, 0.25), abs=1e-12)
        assert drive.twist(told)[0] > 0.0 and drive.twist(told)[2] > 0.0
        at_work.run(f"steer {robot} turn 0; steer {robot} aside 1; step 12")
        twist = drive.twist(at_work.session.sim.state.drive[0, first, : len(drive.channels)])
        assert twist[2] == pytest.approx(0.0, abs=0.01)
        assert (twist[1] > 0.1) == (kind is Omni)
        assert at_work.run(f"get {robot}.0.driven") == "true"
        at_work.run(f"steer {robot} off")
        assert at_work.run(f"get {robot}.0.driven") == "false"


def test_shares_of_channels_drive_an_omni_robot_and_a_car():
    rover, car = Workspace("omni"), Workspace("car")
    rover.run("drive rover 0.1 0.2 -0.3; step 40")
    assert [float(rover.run(f"get rover.0.wheel{k}")) for k in range(3)] == pytest.approx([0.1, 0.2, -0.3], abs=1e-3)
    car.run("out car.speed 0.5; out car.steering -1; step 60")
    assert float(car.run("get car.0.speed")) == pytest.approx(0.5, abs=1e-3)
    assert float(car.run("get car.0.steering")) == pytest.approx(-0.4189, abs=1e-3)
    assert "WHEEL2" in rover.refused("drive rover 1 1").partition("Usage")[0]
    assert "is no way to steer. Did you mean 'ahead'?" in car.refused("steer car ahed 1")
    assert "-1" in car.refused("steer car ahead 2") and "steering" in car.refused("out car.steer 1")


# -- messages ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("robot", "message"), [
    ('<omni angles="0 90deg"', "angles"),
    ('<omni angles="0 0 0"', "<omni> angles: these wheels leave a direction free"),
    ('<omni angles="0 120deg 240deg" directions="0 120deg 240deg"', "<omni> directions: these wheels leave a direction free"),
    ('<omni angles="0 120deg 240deg" directions="0 120deg 240deg 1"', "there are 4 directions for 3 wheels"),
    ('<omni points="0 0 0 0 0 0"', "<omni> points: the outline reaches 0 m from the middle"),
    ('<omni wheels="2"', "wheels"),
    ('<omni distance="0"', "distance"),
    ('<car length="0"', "length"),
    ('<car top_steering="90deg"', "below 90 degrees"),
    ('<car top_steering="0"', "top_steering"),
    ('<car length="1"', "<car> body: 0.58 m is shorter than the 1 m between its axles"),
    ('<car speed_lag="-1s"', "speed_lag"),
])
def test_a_drive_that_cannot_be_is_refused_where_it_is_written(tmp_path, robot, message):
    file = written(tmp_path, f'{robot} name="r"><scatter/></{robot[1:5].strip()}>')
    with pytest.raises(WorldError) as wrong:
        read_world(file)
    assert str(wrong.value).startswith(f"{file}:3: ") and message in str(wrong.value)


def test_what_an_engine_cannot_do_with_a_drive_is_refused_when_the_world_is_built(tmp_path):
    corners = written(tmp_path, '<car name="r"><scatter/></car>')
    with pytest.raises(WorldError, match="'r' has corners"):
        Simulation(read_world(corners))
    uneven = written(tmp_path, '<ramp x="1" y="0" width="1" depth="1" height="10cm"/><omni name="r"><at x="-1" y="0"/></omni>')
    with pytest.raises(WorldError, match=r"w.xml:3: 'r' has a drive of the kind Omni, which in space slides over the floor, on "
                                         "level ground only"):
        Simulation(read_world(uneven), engine="spatial")


def test_orders_of_the_wrong_shape_name_the_channels():
    lab = Simulation(world_of(CAR))
    with pytest.raises(WorldError, match=r"\(speed, steering\) must have the shape \(worlds, robots, 2\) = \(1, 2, 2\)"):
        lab.step({"swarm": np.zeros((1, 2, 3))})


# -- a drive of the user's own ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Hover(Drive):
    """Told its twist at once, with a lag on the way aside."""

    holonomic: bool = True
    channels = ("ahead", "aside", "turn")
    limits = (1.0, 0.5, 2.0)
    fastest = 1.2
    lags = (0.0, 0.3, 0.0)

    def twist(self, channels):
        return np.asarray(channels, np.float64)

    def steer(self, ahead, aside, turn):
        return ahead, 0.5 * aside, 2.0 * turn


@pytest.mark.parametrize("contact", ["none", "reposition", "impulse"])
def test_a_drive_without_kernels_moves_by_its_twist(own, contact):
    robot = own("robot", radius=0.1, mass=1.0, drive=Hover())
    group = Group(robot, 1, "r", (At(0.0, 0.0, 0.0),))
    lab = Simulation(World(contact=Contact(contact), things=(Arena(50.0, 50.0),), groups=(group,)))
    for k in range(1, 11):
        lab.step({"r": np.array([[[0.3, 0.4, 0.0]]])})
        assert lab.state.drive[0, 0, 1] == pytest.approx(0.4 * (1.0 - np.exp(-0.1 * k / 0.3)), abs=1e-12)
    assert lab.state.position[0, 0, 0] == pytest.approx(0.3, abs=1e-9) and lab.state.position[0, 0, 1] > 0.2
    assert not lab.advance(1)


def test_a_drive_that_lacks_something_is_refused(own):
    class Half:
        channels, limits = ("one",), (1.0,)

    robot = own("robot", radius=0.1, drive=Half())
    with pytest.raises(WorldError, match=r"the drive of <own-[0-9]+>, Half, is not complete: it has no 'fastest'"):
        Simulation(World(groups=(Group(robot, 1, "r", (At(0.0, 0.0, 0.0),)),)))


@pytest.mark.parametrize("name, value, message", [
    ("channels", Drive.channels, "it has no 'channels'"), ("limits", Drive.limits, "it has no 'limits'"),
    ("fastest", Drive.fastest, "it has no 'fastest'"), ("twist", Drive.twist, "it has no 'twist'"),
    ("steer", Drive.steer, "it has no 'steer'"), ("channels", ("a", "b", "a"), "'channels' must be a tuple of names"),
    ("limits", 1.0, "'limits' must have one value for each of its 3 channels"),
    ("limits", (1.0, -1.0, 1.0), "'limits' and 'fastest' must be"), ("fastest", np.nan, "'limits' and 'fastest' must be"),
    ("lags", (0.0, -0.1, 0.0), "'lags' must not be below 0"), ("rates", (1.0, 0.0, 1.0), "'lags' must not be below 0"),
    ("lags", (0.0, np.nan, 0.0), "'lags' must not be below 0"), ("channels", None, "'channels' must be a tuple of names"),
    ("limits", ("a", "b", "c"), "'limits'.* must be numbers"), ("fastest", "quick", "'limits'.* must be numbers"),
    ("wheel_radius", 0.0, "'wheel_radius' must be above 0 m"), ("motor_noise", 7.0, ".*'motor_noise' from 0 to 1"),
    ("twist", lambda drive, channels: "far", "'twist' must give finite numbers"),
    ("twist", lambda drive, channels: np.zeros((1, 3)), "'twist' must give finite numbers"),
    ("twist", lambda drive, channels: channels + np.nan, "'twist' must give finite numbers"),
    ("twist", lambda drive, channels: channels + 1j, "'twist' must give finite numbers"),
    ("steer", lambda drive, *shares: (1.0, 2.0), "'steer' must give a finite number for each of its 3 channels"),
    ("steer", lambda drive, *shares: None, "'steer' must give a finite number for each of its 3 channels")])
@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_drive_says_which_part_of_it_is_missing_or_wrong(own, engine, name, value, message):
    """Also one that inherits `Drive` and leaves out something that has no default."""
    drive = type("Odd", (Hover,), {name: value})()
    with pytest.raises(WorldError, match=f"Odd, is not complete: {message}"):
        Simulation(World(engine=engine, things=(Arena(4.0, 4.0),), groups=(
            Group(own("robot", radius=0.1, mass=1.0, drive=drive), 1, "r", (At(0.0, 0.0, 0.0),)),)))


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_class_is_no_drive(own, engine):
    robot = own("robot", radius=0.1, mass=1.0, drive=Hover)
    with pytest.raises(WorldError, match="is not complete: it is a class, and not an object of it"):
        Simulation(World(engine=engine, groups=(Group(robot, 1, "r", (At(0.0, 0.0, 0.0),)),)))


def test_a_twist_that_changes_its_argument_changes_no_state(own):
    def twist(drive, channels):
        channels[...] = 7.0
        return np.zeros(channels.shape)

    drive = type("Greedy", (Hover,), {"twist": twist})()
    lab = Simulation(World(groups=(Group(own("robot", radius=0.1, drive=drive), 1, "r", (At(0.0, 0.0, 0.0),)),)))
    lab.step({"r": np.array([[[0.3, 0.0, 0.0]]])})
    assert lab.state.drive[0, 0].tolist() == [0.3, 0.0, 0.0]


@pytest.mark.parametrize("make, message", [
    (lambda: Differential(0.0, 1.0), "between two wheels must be above 0 m, not 0 m"),
    (lambda: Differential(np.nan, 1.0), "between two wheels must be above 0 m, not nan m"),
    (lambda: OmniDrive((0.0, np.nan, 4.0), 0.1, 1.0), "must be finite numbers"),
    (lambda: OmniDrive((0.0, 2.0, 4.0), 0.1, 1.0, (0.0, np.inf, 1.0)), "must be finite numbers")])
def test_a_shipped_drive_of_impossible_numbers_is_refused(make, message):
    with pytest.raises(WorldError, match=message):
        make()


def test_a_network_on_robots_without_a_drive_is_refused_where_it_stands(own):
    robot = own("robot", radius=0.1)
    group = Group(robot, 1, "r", (At(0.0, 0.0, 0.0),), sensors=(Proximity(),), controller=Perceptron())
    with pytest.raises(WorldError, match="<perceptron> outputs: the robots of 'r' have no drive, so 'drive'"):
        genes(World(groups=(group,)), group)


def test_an_order_for_an_angle_that_is_no_number_is_not_called_a_wheel_speed(own):
    robot, wrong = Car(shape="disc"), own("controller", decide=lambda view: np.full((*view.shape, 2), np.nan))
    lab = Simulation(World(groups=(Group(robot, 1, "r", (At(0.0, 0.0, 0.0),), controller=wrong),)))
    with pytest.raises(WorldError, match="the controller of 'r' ordered a speed or an angle that is not a number, for robot 0"):
        lab.step()


def test_a_car_at_rest_in_space_steers_straight_no_faster_than_its_lag():
    """Nothing moves but the front wheels: the world must not sleep before they stand straight."""
    group = Group(Car(steering_lag=1.0), 1, "r", (At(0.0, 0.0, 0.0),))
    lab = Simulation(World(engine="spatial", things=(Arena(4.0, 4.0),), groups=(group,)))
    for order in (0.4,) * 10 + (0.0,) * 2:
        lab.step({"r": np.array([[[0.0, order]]])})
    wanted = 0.4 * (1.0 - np.exp(-1.0)) * np.exp(-0.2)
    assert lab.state.drive[0, 0, 1] == pytest.approx(wanted, abs=1e-12)
    assert lab.state.wheel_angle[0, 0, 1] == lab.state.drive[0, 0, 1]


def test_a_twist_that_is_not_a_number_ends_the_step_with_a_message(own):
    class Mad(Hover):
        def twist(self, channels):
            return np.where(np.asarray(channels) > 0.0, np.nan, 0.0)

    lab = Simulation(World(groups=(Group(own("robot", radius=0.1, drive=Mad()), 1, "r", (At(0.0, 0.0, 0.0),)),)))
    lab.step({"r": np.zeros((1, 1, 3))})
    with pytest.raises(FormigaError, match="the twist of Mad must be finite numbers"):
        lab.step({"r": np.ones((1, 1, 3))})
