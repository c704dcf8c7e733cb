"""Odometry: how far from the truth the wheels alone lead."""

import numpy as np
import pytest
from scipy import stats

from formiga.control.sequence import Sequence
from formiga.errors import FormigaError
from formiga.estimate.odometry import Odometry
from formiga.loop import Simulation
from formiga.world.elements import profiled
from formiga.world.model import Arena, Contact, Wall
from formiga.world.reader import read_text
from formiga.world.robots import Disc, SBot
from formiga.world.robots.car import Car
from formiga.world.robots.omni import Omni
from tests.reference.lab import bench, drive
from tests.runs import assert_same, both

POSES = [(0.1, 0.2, 0.3), (2.0, 0.0, -1.0)]


def truth(simulation):
    state = simulation.state
    return np.concatenate([state.position, state.heading[..., None]], axis=-1)


def test_odometry_is_the_truth_without_noise_and_collisions(rng):
    simulation = bench(SBot(), POSES, sensors=[Odometry()], worlds=3)
    for _ in range(300):
        drive(simulation, *rng.uniform(-0.08, 0.08, (2, 3, 2)))
        np.testing.assert_allclose(simulation.readings["a"]["odometry"], truth(simulation), atol=1e-11)


def test_odometry_counts_every_step_even_if_nobody_looked_in_between():
    """It reckons from the total angle, so a straight way or one arc is right however seldom it is read."""
    simulation = bench(SBot(), POSES, sensors=[Odometry()])
    drive(simulation, 0.05, 0.07, 50)
    for _ in range(3):
        simulation.look_again()
        np.testing.assert_allclose(simulation.readings["a"]["odometry"], truth(simulation), atol=1e-12)


def test_odometry_of_whole_ticks_errs_by_less_than_they_are_worth():
    simulation = bench(SBot(), POSES, sensors=[Odometry(360)])
    drive(simulation, 0.08, 0.08, 100)
    error = np.abs(simulation.readings["a"]["odometry"] - truth(simulation))
    assert error[..., :2].max() < 2 * 2 * np.pi / 360 * 0.02 and error.max() > 0.0


def test_odometry_drifts_with_the_draft_s_noise_as_a_random_walk_does():
    """Slip is unbiased and independent, so the mean square error grows with the number of steps, not with its square."""
    simulation = bench(profiled(SBot, "draft"), [(0, 0, 0)], sensors=[Odometry()], worlds=4000)
    squares = []
    for _ in range(4):
        drive(simulation, 0.08, 0.08, 25)
        error = simulation.readings["a"]["odometry"][:, 0, 0] - simulation.state.position[:, 0, 0]
        squares.append((error**2).mean())
        assert abs(error.mean()) < 4.5 * error.std() / np.sqrt(4000)
    # each step of 0.8 cm errs by U(-5 %, 5 %) of it
    np.testing.assert_allclose(squares, [25 * k * (0.008 * 0.05) ** 2 / 3 for k in (1, 2, 3, 4)], rtol=0.12)


def test_motor_noise_is_seen_by_the_encoders_and_so_odometry_survives_it():
    simulation = bench(Disc(0.05, 0.1, 1.0, motor_noise=0.3), [(0, 0, 0)], sensors=[Odometry()], worlds=5)
    for _ in range(50):
        drive(simulation, 0.4, 0.5)
        simulation.readings  # noqa: B018
    np.testing.assert_allclose(simulation.readings["a"]["odometry"], truth(simulation), atol=1e-11)


def test_odometry_does_not_know_that_a_wall_holds_it():
    simulation = bench(SBot(), [(0, 0, 0)], (Wall((0.2, -1, 0.2, 1)),), "minimal", [Odometry()])
    drive(simulation, 0.08, 0.08, 100)
    assert simulation.readings["a"]["odometry"][0, 0, 0] == pytest.approx(0.8)
    assert simulation.state.position[0, 0, 0] < 0.12


def test_a_stopped_robot_s_wheels_do_not_turn():
    simulation = bench(SBot(), [(0, 0, 0)], (Wall((0.2, -1, 0.2, 1)),), "stop", [Odometry()])
    drive(simulation, 0.08, 0.08, 100)
    np.testing.assert_allclose(simulation.readings["a"]["odometry"], truth(simulation), atol=1e-12)


def test_odometry_starts_again_from_the_truth_after_a_reset():
    simulation = bench(SBot(), POSES, (Arena(9.0, 9.0),), "minimal", [Odometry(100)],
                       Sequence((1.0, 0.05, 0.07, 1.0, 0.08, -0.02), repeat=True), worlds=3)
    for _ in range(30):
        simulation.step()
    going = simulation.readings["a"]["odometry"].copy()
    simulation.reset([True, False, True])
    np.testing.assert_allclose(simulation.readings["a"]["odometry"][[0, 2]], truth(simulation)[[0, 2]])
    np.testing.assert_allclose(simulation.readings["a"]["odometry"][1], going[1])
    for _ in range(30):
        simulation.step()
    np.testing.assert_allclose(simulation.readings["a"]["odometry"][[0, 2]], going[[0, 2]], atol=1e-12)


def test_a_robot_that_is_moved_by_hand_before_its_first_step_knows_it():
    simulation = bench(SBot(), POSES, sensors=[Odometry()])
    simulation.readings  # noqa: B018
    simulation.state.position[...] = 5.0
    simulation.look_again()
    np.testing.assert_allclose(simulation.readings["a"]["odometry"], truth(simulation))


# -- errors that a robot keeps ------------------------------------------------------------------------------------------
ERRORS = Odometry(way_error=0.1, turn_error=0.3)


def found(simulation):
    """By what each robot multiplies ways and turns (W, n, 2), as it shows: straight on, then on the spot."""
    before = simulation.readings["a"]["odometry"].copy()
    drive(simulation, 0.08, 0.08, 10)
    after = simulation.readings["a"]["odometry"].copy()
    drive(simulation, -0.01, 0.01, 10)
    turned = simulation.readings["a"]["odometry"][..., 2] - after[..., 2]
    return np.stack([np.hypot(*np.moveaxis((after - before)[..., :2], -1, 0)) / 0.08, turned / (0.02 / SBot().wheel_base)],
                    axis=-1)


def test_errors_are_uniform_and_independent_from_robot_to_robot_and_of_way_and_turn():
    """1 + U(-a, a): by the test of Kolmogorov and Smirnov, at the level of 1 in 10,000."""
    off = found(bench(SBot(), POSES, sensors=[ERRORS], worlds=2000)) - 1.0
    for k, most in enumerate((0.1, 0.3)):
        assert np.abs(off[..., k]).max() <= most + 1e-9
        assert stats.kstest(off[..., k].ravel(), stats.uniform(-most, 2.0 * most).cdf).pvalue > 1e-4
    assert np.abs(np.corrcoef(off.reshape(2000, 4).T) - np.eye(4)).max() < 4.5 / np.sqrt(2000)
    assert len(np.unique(off)) == off.size


def test_the_errors_of_a_robot_stay_for_a_run_and_are_its_own_in_each_run():
    def lab(seed=0, **more):
        return bench(SBot(), POSES, sensors=[ERRORS], seed=seed, **more)

    simulation = lab(worlds=3)
    first = found(simulation)
    np.testing.assert_allclose(found(simulation), first, atol=1e-9)                            # all through the run
    simulation.reset([True, False, True])
    np.testing.assert_allclose(found(simulation), first, atol=1e-9)                            # again, from the same seed
    np.testing.assert_allclose(found(lab()), first[:1], atol=1e-9)                             # alone
    assert np.abs(found(lab(seed=1)) - first[:1]).min() > 1e-4
    simulation.reset([True, False, False], seed=7)
    again = found(simulation)
    assert np.abs(again[0] - first[0]).min() > 1e-4
    np.testing.assert_allclose(again[1:], first[1:], atol=1e-9)
    other = found(bench(SBot(), POSES, sensors=[Odometry(way_error=0.1, turn_error=0.3, name="odometry"),
                                                Odometry(way_error=0.1, turn_error=0.3, name="other")]))
    np.testing.assert_allclose(other, first[:1], atol=1e-9)                                     # whatever else is there


def test_the_reckoned_way_is_made_of_arcs_whose_way_and_turn_are_wrong_by_these_shares(rng):
    """The plain twin: from pose to pose, with the way and the turn of each step multiplied."""
    simulation = bench(SBot(), POSES, sensors=[ERRORS], worlds=3)
    scale = found(simulation)
    pose = simulation.readings["a"]["odometry"].copy()
    for _ in range(100):
        left, right = rng.uniform(-0.08, 0.08, (2, 3, 2))
        drive(simulation, left, right)
        for k in np.ndindex(3, 2):
            way, turn = scale[k] * (0.05 * (left + right)[k], 0.1 * (right - left)[k] / SBot().wheel_base)
            chord = way * np.sinc(0.5 * turn / np.pi)
            pose[k] += chord * np.cos(pose[k][2] + 0.5 * turn), chord * np.sin(pose[k][2] + 0.5 * turn), turn
        np.testing.assert_allclose(simulation.readings["a"]["odometry"], pose, atol=1e-9)


def test_each_error_is_of_ways_or_of_turns_alone():
    for way, turn in ((0.1, 0.0), (0.0, 0.3)):
        scale = found(bench(SBot(), POSES, sensors=[Odometry(way_error=way, turn_error=turn)], worlds=3))
        for k, most in enumerate((way, turn)):
            off = np.abs(scale[..., k] - 1.0)
            assert off.min() > 1e-4 if most > 0.0 else off.max() < 1e-9


def test_drives_that_go_aside_have_the_same_errors_in_all_directions():
    """An omnidirectional robot that glides: ahead and aside err alike, and by what two wheels of the same seed err."""
    scale = found(bench(SBot(), POSES, sensors=[ERRORS], worlds=3))
    for twist in ((0.1, 0.0, 0.0), (0.06, -0.08, 0.0), (0.0, 0.0, 0.5), (0.05, 0.05, 0.4)):
        simulation = bench(Omni(), POSES, sensors=[ERRORS], worlds=3)
        for _ in range(20):
            orders = np.broadcast_to(simulation.world.groups[0].robot.drive.follow(np.array(twist)), (3, 2, 3))
            simulation.step({"a": orders})
        for k in np.ndindex(3, 2):
            vx, vy, omega = np.array(twist) * scale[k][[0, 0, 1]]
            pose = np.array(POSES[k[1]])
            for _ in range(20):
                c, s = np.cos(pose[2] + 0.05 * omega), np.sin(pose[2] + 0.05 * omega)
                chord = 0.1 * np.sinc(0.05 * omega / np.pi)
                pose += chord * (vx * c - vy * s), chord * (vx * s + vy * c), 0.1 * omega
            np.testing.assert_allclose(simulation.readings["a"]["odometry"][k], pose, atol=1e-9)


def test_a_car_reckons_with_the_same_errors():
    """Straight on: its rear wheels roll as those of any other robot, and there is no turn to overrate."""
    scale = found(bench(SBot(), POSES, sensors=[ERRORS], worlds=3))
    simulation = bench(Car(), POSES, contact=Contact("impulse"), sensors=[ERRORS], worlds=3)
    for _ in range(10):
        simulation.step({"a": np.broadcast_to((0.1, 0.0), (3, 2, 2))})
    reckoned, true = (np.hypot(*np.moveaxis(each[..., :2] - np.array(POSES)[:, :2], -1, 0))
                      for each in (simulation.readings["a"]["odometry"], truth(simulation)))
    assert true.min() > 0.05
    np.testing.assert_allclose(reckoned, scale[..., 0] * true, rtol=1e-6)
    np.testing.assert_allclose(simulation.readings["a"]["odometry"][..., 2], truth(simulation)[..., 2], atol=1e-6)


@pytest.mark.parametrize("attribute", ['way_error="-0.1"', 'turn_error="0.95"', 'way_error="nan"'])
def test_errors_that_would_turn_a_way_round_are_refused(attribute):
    with pytest.raises(FormigaError, match=r"way_error|turn_error"):
        read_text(f'<world><sbot name="a"><at x="0" y="0"/><odometry {attribute}/></sbot></world>')


# -- the same bits ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("attributes", ["", 'ticks="64"', 'way_error="0.05" turn_error="0.1"', 'ticks="64" way_error="0.9"'])
def test_the_compiled_belief_has_the_same_bits(attributes):
    world = read_text(f"""<world><arena width="2" depth="2"/><sbot count="6" name="a" profile="draft"><scatter/><proximity/>
    <odometry {attributes}/><braitenberg/></sbot></world>""")
    compiled, readable = both(world, 60, seed=1, again=[True, False, True])
    assert not compiled._compiled.lacking
    assert_same(compiled, readable)
    for _ in range(3):
        expected = readable.readings["a"]["odometry"].copy()
        assert np.array_equal(compiled.readings["a"]["odometry"], expected)
        for lab in (compiled, readable):
            lab.step()
        assert np.array_equal(compiled._compiled._readings["a"]["odometry"], expected)
    assert_same(compiled, readable)


def test_one_world_of_a_batch_errs_as_it_does_alone_in_both_loops():
    world = read_text("""<world><arena width="2" depth="2"/><sbot count="3" name="a"><scatter/><proximity/>
    <odometry way_error="0.05" turn_error="0.1"/><braitenberg/></sbot></world>""")
    for compiled in (True, False):
        many, alone = (Simulation(world, 4, worlds, first_world=first, compiled=compiled) for worlds, first in ((5, 0), (1, 3)))
        for _ in range(30):
            many.step()
            alone.step()
        assert np.array_equal(many.readings["a"]["odometry"][3:4], alone.readings["a"]["odometry"])
