"""The filter of the migration study: its kinematics, its pairs, its elements; and the Remote's arithmetic, a twin of them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formiga.errors import WorldError
from formiga.geometry import wrap
from formiga.locate import kalman
from formiga.loop import Simulation
from formiga.map.lines import expected, lines_of
from formiga.sense.sharp import Sharp, variance_of, voltage_of
from formiga.studies.migration import elements, kinematics, pairs, processes, trials
from formiga.world.reader import read_text
from formiga.world.robots.omni import Omni

remote = processes.remote_module()
ROOM, BLOCK = (-1.0, -0.75, 1.0, 0.75), (-0.3, -0.2, 0.3, 0.2)
LINES = lines_of([BLOCK], ROOM)
SEATS = trials.world_of().groups[0].sensors[0].seats


def volts_at(pose, rng=None):
    """What the six sensors give at a pose."""
    distance, _ = expected(LINES, pose, SEATS, 1.0)
    distance = distance + (0.0 if rng is None else rng.normal(0.0, np.sqrt(variance_of(np.minimum(distance, 1.0)))))
    return np.where(np.isfinite(distance), voltage_of(np.where(np.isfinite(distance), distance, 1.0)), 0.0)


# -- kinematics -----------------------------------------------------------------------------------------------------------
def test_wheels_and_twists_are_each_other_s_inverse(rng):
    twist, heading = rng.uniform(-1, 1, (200, 3)), rng.uniform(-9, 9, 200)
    assert_allclose(kinematics.twist_of(kinematics.wheels_of(twist, heading), heading), twist, atol=1e-13)


def test_the_robot_of_the_world_has_the_kinematics_of_the_paper(rng):
    drive, wheels = trials.world_of().groups[0].robot.drive, rng.uniform(-0.5, 0.5, (50, 3))
    assert_allclose(drive.twist(wheels), kinematics.twist_of(wheels, np.zeros(50)), atol=1e-14)


def test_the_square_of_the_jacobian_is_nothing_so_the_transition_is_exact(rng):
    from scipy.linalg import expm

    wheels, heading = rng.uniform(-0.5, 0.5, 3), 0.7
    jacobian = kinematics.rate_jacobian(wheels, heading)
    assert_allclose(jacobian @ jacobian, 0.0, atol=0.0)
    assert_allclose(kinematics.transition(wheels, heading, 0.04), expm(0.04 * jacobian), atol=1e-15)


def test_integration_comes_to_the_closed_form_of_a_circle():
    """Vx' and omega constant in the robot's frame: an arc."""
    turn, speed, time = 0.9, 0.25, 1.2
    wheels = kinematics.wheels_of(np.array([speed, 0.0, turn]), np.array(0.0))
    end = kinematics.moved(np.zeros(3), wheels, time, steps=4_000)
    known = (speed / turn * np.sin(turn * time), speed / turn * (1.0 - np.cos(turn * time)), turn * time)
    assert_allclose(end, known, atol=1e-4)          # Euler: the error goes with the length of a step


def test_motion_noise_is_that_of_independent_wheels(rng):
    wheels, heading, period = np.array((0.3, -0.1, 0.05)), 0.4, 0.04
    noisy = wheels + rng.normal(size=(200_000, 3)) * (0.10 * np.abs(wheels) + 0.005)
    sample = np.cov((period * kinematics.twist_of(noisy, np.full(len(noisy), heading))).T)
    assert_allclose(kinematics.motion_noise(wheels, heading, period), sample, atol=0.02 * np.abs(sample).max())


# -- pairs ------------------------------------------------------------------------------------------------------------------
def test_a_pair_gives_the_closed_form_at_each_of_four_walls():
    """Goncalves et al. 2009, fig. 16, turned to all sides."""
    tilt, at = 0.2, {0.0: (0.7, 0.0), 90.0: (0.0, 0.5), 180.0: (-0.7, 0.0), 270.0: (0.0, -0.5)}
    for outward, (x, y) in at.items():
        pose = np.array([x, y, np.radians(outward) + tilt])
        ahead = pairs.pairs_of(SEATS[:2])
        d, _ = expected(LINES, pose, ahead.seats, 1.0)
        sight = pairs.look(ahead, LINES, pose + (0.003, -0.002, 0.004), d, variance_of(d), 1.0)
        assert_allclose(wrap(sight.heading[0] - pose[2]), 0.0, atol=1e-12)
        assert_allclose(sight.place[0], pose[0] if sight.upright[0] else pose[1], atol=1e-12)
        assert bool(sight.upright[0]) == (outward in (0.0, 180.0))


def test_variances_are_those_of_many_noisy_pairs(rng):
    pose, sigma = np.array([0.6, 0.35, 0.15]), np.array((0.004, 0.002))
    ahead = pairs.pairs_of(SEATS[:2])
    d, _ = expected(LINES, pose, ahead.seats, 1.0)
    many = d + sigma * rng.normal(size=(100_000, 2))
    poses, spread = np.broadcast_to(pose, (len(many), 3)), np.broadcast_to(sigma**2, many.shape)
    sight = pairs.look(ahead, LINES, poses, many, spread, 1.0, False)
    assert sight.heading[:, 0].var() == pytest.approx(np.median(sight.heading_variance), rel=0.02)
    assert sight.place[:, 0].var() == pytest.approx(np.median(sight.place_variance), rel=0.02)


@pytest.mark.parametrize("off, angle, place", [(0.011, True, True), (0.013, False, True), (0.049, False, True),
                                               (0.051, False, False)])
def test_gates_distrust_first_the_angle_and_then_the_place(off, angle, place):
    pose = np.array([0.6, 0.35, 0.0])
    ahead = pairs.pairs_of(SEATS[:2])
    d, _ = expected(LINES, pose, ahead.seats, 1.0)
    for gates in (True, False):
        sight = pairs.look(ahead, LINES, pose, d + (off, 0.0), variance_of(d), 1.0, gates)
        assert (sight.heading_variance[0] < pairs.UNKNOWN) == (angle or not gates)
        assert (sight.place_variance[0] < pairs.UNKNOWN) == (place or not gates)


def test_a_pair_that_should_see_two_walls_is_not_used_whatever_it_measures():
    pose = np.array([-0.6, 0.2, 0.0])                       # one beam past the block, one on it
    ahead = pairs.pairs_of(SEATS[:2])
    sight = pairs.look(ahead, LINES, pose, np.array((0.3, 0.3)), np.full(2, 1e-6), 1.0, False)
    assert sight.heading_variance[0] == sight.place_variance[0] == pairs.UNKNOWN


def test_headings_of_pairs_are_fused_on_one_branch():
    """Of a robot that looks along -x, where headings jump from pi to -pi."""
    for heading in (np.pi - 1e-3, -np.pi + 1e-3):
        pose = np.array([0.55, 0.0, heading])
        d, _ = expected(LINES, pose, SEATS, 1.0)
        sight = pairs.look(pairs.pairs_of(SEATS), LINES, pose, d, variance_of(np.minimum(d, 1.0)), 1.0)
        assert (sight.heading_variance < pairs.UNKNOWN).sum() >= 2
        value, variance = pairs.measured_pose(sight, pose)
        assert_allclose(value, pose, atol=1e-12)
        assert variance[2] < 1e-3


def test_without_any_wall_the_measured_pose_is_the_believed_one_and_says_nothing():
    pose = np.array([5.0, 5.0, 0.3])
    sight = pairs.look(pairs.pairs_of(SEATS), LINES, pose, np.full(6, np.inf), np.full(6, 1e-3), 1.0)
    value, variance = pairs.measured_pose(sight, pose)
    assert_allclose(value, pose)
    assert (variance == pairs.UNKNOWN).all()


@pytest.mark.parametrize("seats, words", [(SEATS[:3], "an even number of sensors, not 3"), (SEATS[[1, 0]], "pair 0 is no pair"),
                                          (SEATS[[0, 1, 2, 5]], "pair 1 is no pair"),
                                          (SEATS[:2] + (0.05, 0, 0), "pair 0 is no pair")])
def test_sensors_that_are_no_pairs_are_refused(seats, words):
    with pytest.raises(ValueError, match=words):
        pairs.pairs_of(seats)


# -- the Remote's arithmetic and the libraries ------------------------------------------------------------------------------
def test_the_remote_expects_what_the_map_library_expects(rng):
    known = remote.Map(processes.MAP)
    for pose in rng.uniform((-0.9, -0.65, -4.0), (0.9, 0.65, 4.0), (300, 3)):
        distance, wall = expected(LINES, pose, SEATS, remote.REACH)
        for k, (x, y, angle) in enumerate(SEATS):
            ours, number = known.expected(pose, x, y, angle)
            assert ours == pytest.approx(distance[k], abs=1e-12)
            assert (number < 0) == (wall[k] < 0)
            if number >= 0:
                assert known.lines[number][1] == LINES.at[wall[k]] and known.lines[number][0] == LINES.upright[wall[k]]


def test_the_remote_s_filter_does_what_the_libraries_do(rng):
    """Plain Python against arrays: the same pose and covariance after each step of a random drive."""
    mind = remote.Filter(remote.Map(processes.MAP))
    pose, covariance = np.array(mind.pose), 1e-4 * np.eye(3)
    for _ in range(100):
        wheels = rng.uniform(-0.3, 0.3, 3)
        mind.predict(wheels.tolist(), 0.04)
        phi, noise = kinematics.transition(wheels, pose[2], 0.04), kinematics.motion_noise(wheels, pose[2], 0.04)
        pose, covariance = kalman.predict(kinematics.moved(pose, wheels, 0.04), covariance, phi, noise)
        assert_allclose(mind.pose, pose, atol=1e-12)
        volts = volts_at(pose, rng)
        values, variances = mind.measure(volts.tolist())
        distance, spread = pairs.measured_distances(volts, 1.0)
        sight = pairs.look(pairs.pairs_of(SEATS), LINES, pose, distance, spread, 1.0)
        known, known_variances = pairs.measured_pose(sight, pose)
        assert_allclose(values, known, atol=1e-11)
        assert_allclose(variances, known_variances, rtol=1e-9)
        mind.correct(values, variances)
        pose, covariance = kalman.correct(pose, covariance, known - pose, np.eye(3), np.diag(known_variances))
        assert_allclose(mind.pose, pose, atol=1e-12)
        assert_allclose(mind.covariance, covariance, atol=1e-15)


def test_the_remote_steers_as_the_laboratory_s_navigation_does():
    world = trials.world_of()
    lab = Simulation(world, 4)
    mind = remote.Navigator(remote.Map(processes.MAP), [0.0] * 3, 0.0)
    for _ in range(60):
        mind.filter.pose = lab.readings["rover"]["belief"][0, 0, :3].tolist()
        lab.step()
        assert_allclose(lab.orders["rover"].drive[0, 0], mind.towards(), atol=1e-12)


# -- the elements -------------------------------------------------------------------------------------------------------------
def test_a_belief_depends_on_readings_and_the_start_alone():
    """Were a robot moved by hand, its belief would not know at once: no true pose reaches it."""
    def belief(moved):
        lab = Simulation(replace(trials.world_of(), groups=tuple(replace(group, controller=None) for group in
                                                                 trials.world_of().groups)), 1)
        lab.step({"rover": np.zeros((1, 1, 3))})
        lab.state.heading[...] += moved
        lab.look_again()
        return lab.readings["rover"]["belief"][0, 0]

    assert abs(belief(2.0)[2]) < 0.02 and belief(0.0).shape == (7,)


def test_the_ellipse_shrinks_where_a_wall_comes_into_sight():
    """Along x nothing is seen on the first part of the course, then the wall ahead."""
    runs = trials.course(2, 5, seconds=5.0)
    sigma = np.sqrt(runs.covariance[:, :, 0, 0]).mean(axis=1)
    assert sigma[60] > 1.15 * sigma[0] and sigma[-1] < 0.3 * sigma[60]


def test_odometry_alone_takes_nothing_from_the_walls():
    runs = trials.course(2, 2, trials.world_of(use="odometry"), seconds=4.0)
    assert (np.diff(runs.covariance[..., 0, 0], axis=0) > 0.0).all()


def test_a_world_of_a_batch_has_the_bits_that_it_has_alone():
    batch, alone = trials.course(7, 3, seconds=2.0), trials.course(7, 1, seconds=2.0)
    assert np.array_equal(batch.first(1).belief, alone.belief) and np.array_equal(batch.first(1).truth, alone.truth)
    assert not np.array_equal(batch.truth[:, 0], batch.truth[:, 1])


def test_wheels_of_other_sizes_roll_other_ways():
    """A wheel that is larger by e rolls (1 + e) u: its row of J is smaller."""
    drive = elements.WrongWheels((0.0, 2.0, 4.0), 0.09, 1.0, errors=(0.02, -0.01, 0.005))
    plain = elements.OmniDrive((0.0, 2.0, 4.0), 0.09, 1.0)
    told = np.array([0.3, -0.2, 0.1])
    assert_allclose(drive.twist(told), plain.twist(told * (1.02, 0.99, 1.005)), atol=1e-14)
    assert_allclose(drive.follow(drive.twist(told)), told, atol=1e-14)


def test_elements_of_the_study_say_what_is_wrong():
    with pytest.raises(WorldError, match="<real_omni> wheel_errors: 3 for 4 wheels"):
        elements.RealOmni(wheels=4)
    world = trials.world_of()
    rover = world.groups[0]
    odd = replace(rover, sensors=(Sharp((0.0,)), *rover.sensors[1:]))
    with pytest.raises(WorldError, match="<wall_pairs> infrared: pairs need an even number of sensors, not 1"):
        Simulation(replace(world, groups=(odd,))).step()


@pytest.mark.parametrize("change, words", [
    ({"infrared": "encoders"}, "infrared: 'encoders' is <slipping_encoders>; it takes a <sharp> that reads volts"),
    ({"encoders": "infrared"}, "encoders: 'infrared' gives .6,. numbers; it needs the angles of 3"),
    ({"room": (1.0, 1.0, -1.0, -1.0)}, "room, blocks: a box is x0 y0 x1 y1 with x0 < x1"),
    ({"blocks": (0.3, 0.2, -0.3, -0.2)}, "room, blocks: a box is x0 y0 x1 y1 with x0 < x1"),
])
def test_a_filter_that_is_told_wrong_sensors_or_walls_says_so(change, words):
    world = trials.world_of()
    rover = world.groups[0]
    told = replace(rover, estimators=tuple(replace(each, **change) for each in rover.estimators))
    with pytest.raises(WorldError, match=f"<wall_pairs> {words}"):
        Simulation(replace(world, groups=(told,))).step()


def test_sensors_that_read_distances_are_not_taken_for_volts():
    world = trials.world_of()
    rover = world.groups[0]
    distances = replace(rover, sensors=(replace(rover.sensors[0], reads="distance"), *rover.sensors[1:]))
    with pytest.raises(WorldError, match="<wall_pairs> infrared: 'infrared' is <sharp>; it takes a <sharp> that reads volts"):
        Simulation(replace(world, groups=(distances,))).step()


def test_a_robot_on_other_wheels_is_not_driven_through_places():
    world = trials.world_of()
    rover = world.groups[0]
    four = replace(rover, robot=Omni(wheels=4), estimators=(), controller=replace(rover.controller, belief="camera"))
    with pytest.raises(WorldError, match=r"<waypoints> needs .* 3 omnidirectional wheels; .* the robot 4 channels"):
        Simulation(replace(world, groups=(four,))).step()


def test_a_million_million_laps_take_no_memory():
    world = trials.world_of()
    rover = world.groups[0]
    many = replace(rover, controller=replace(rover.controller, laps=10**12))
    one, other = (Simulation(each, 3) for each in (world, replace(world, groups=(many,))))
    for simulation in (one, other):
        simulation.advance(50)
    assert np.array_equal(one.state.position, other.state.position)


@pytest.mark.parametrize("error", [-1.0, -2.0])
def test_a_wheel_without_a_radius_is_refused(error):
    text = f'<world><real_omni wheel_errors="{error} 0 0"><at x="0" y="0" heading="0"/></real_omni></world>'
    with pytest.raises(WorldError, match=r"<real_omni> wheel_errors: .* it must be above -1"):
        read_text(text)
