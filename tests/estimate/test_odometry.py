"""Odometry: how far from the truth the wheels alone lead."""

import numpy as np
import pytest

from formiga.control.sequence import Sequence
from formiga.estimate.odometry import Odometry
from formiga.world.elements import profiled
from formiga.world.model import Arena, Wall
from formiga.world.reader import read_text
from formiga.world.robots import Disc, SBot
from tests.reference.lab import bench, drive
from tests.runs import both

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


@pytest.mark.parametrize("ticks", [0, 64])
def test_the_compiled_belief_has_the_same_bits(ticks):
    world = read_text(f"""<world><arena width="2" depth="2"/><sbot count="6" name="a" profile="draft"><scatter/><proximity/>
    <odometry ticks="{ticks}"/><braitenberg/></sbot></world>""")
    compiled, readable = both(world, 60, seed=1, again=[True, False, True])
    assert not compiled._compiled.lacking
    assert np.array_equal(compiled.readings["a"]["odometry"], readable.readings["a"]["odometry"])
