"""The controllers that come with formiga: where they turn, how far they go, and when they change their mind."""

import numpy as np
import pytest

from formiga.control.braitenberg import Braitenberg
from formiga.control.random_walk import RandomWalk
from formiga.control.sequence import Sequence
from formiga.control.turn_away import TurnAway, turn_world
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.proximity import Proximity
from formiga.world.model import Arena, Wall
from formiga.world.reader import read_text
from formiga.world.robots import Disc, SBot
from tests.reference.lab import bench

ANGLES = tuple(np.linspace(0, 2 * np.pi, 24, endpoint=False))
AVOID = Proximity(angles=ANGLES, mount=0.085, reach=0.1, response="reciprocal", noise=(0.0,), share=0.0)
DISC = Disc(0.085, 0.14, 0.1)
QUIET = Proximity(noise=(0.0,))


def beside(side, distance):
    """A wall along the way, on the left (1) or on the right (-1)."""
    return Wall((-2.0, side * distance, 2.0, side * distance))


# -- turn_away ------------------------------------------------------------------------------------------------------
def wheels(readings, threshold=0.02, fast=1.0, slow=-0.5):
    out = np.empty((1, 1, 2))
    direction = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=-1)
    turn_world(0, np.array(readings, float).reshape(1, 1, -1), direction, threshold, np.cos(np.radians(108)), fast, slow, out)
    return tuple(out[0, 0])


def one_sensor(degrees, reading=1.0):
    return np.where(np.isclose(np.degrees(ANGLES), degrees % 360), reading, 0.0)


def test_turn_away_goes_straight_where_there_is_nothing():
    assert wheels(np.zeros(24)) == (1.0, 1.0)


@pytest.mark.parametrize("degrees", [15, 45, 90, 105])
def test_turn_away_turns_from_what_is_ahead_and_ignores_what_is_behind(degrees):
    assert wheels(one_sensor(degrees)) == (1.0, -0.5)     # on the left: turn right
    assert wheels(one_sensor(-degrees)) == (-0.5, 1.0)    # on the right: turn left
    assert wheels(one_sensor(180 - degrees if degrees < 70 else 180)) == (1.0, 1.0)


def test_turn_away_ignores_a_mean_vector_that_is_too_short():
    """One of 24 sensors: the mean is a 24th of its reading."""
    assert wheels(one_sensor(30, 24 * 0.0199)) == (1.0, 1.0)
    assert wheels(one_sensor(30, 24 * 0.0201)) == (1.0, -0.5)


def test_turn_away_keeps_robots_off_walls():
    simulation = bench(DISC, [(0, 0, 0.3), (0.5, 0.5, 2), (-0.5, -0.3, 4)], (Arena(2.0, 2.0),), "minimal", [AVOID], TurnAway())
    for _ in range(600):
        simulation.step()
    assert simulation.state.crashes.max() < 10
    assert np.linalg.norm(simulation.state.position[0] - [(0, 0), (0.5, 0.5), (-0.5, -0.3)], axis=-1).min() > 0.05


# -- braitenberg ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("side", [1, -1])
def test_braitenberg_turns_away_from_the_side_where_the_wall_is(side):
    simulation = bench(SBot(), [(0, 0, 0)], (beside(side, 0.1),), sensors=[QUIET], controller=Braitenberg())
    simulation.step()
    assert side * simulation.state.heading[0, 0] < 0.0


def test_braitenberg_drives_at_cruise_speed_in_free_space():
    simulation = bench(SBot(), [(0, 0, 0)], sensors=[QUIET], controller=Braitenberg(cruise=0.5))
    simulation.step()
    assert tuple(simulation.state.drive[0, 0]) == pytest.approx((0.04, 0.04))


def test_braitenberg_follows_its_equation(rng):
    """right = v (1 - gain sum_left a_b r_b / full), left the same from the right, the left spared `bias` of the larger."""
    controller = Braitenberg(gain=1.3, bias=0.2, full=40.0)
    simulation = bench(SBot(), [(0.02, 0.03, 0.4)], (Arena(0.35, 0.3),), sensors=[QUIET], controller=controller)
    reading, angle = simulation.readings["a"]["proximity"][0, 0], np.array(QUIET.angles)
    slow = 1.3 * (1 + np.cos(angle)) / 2 * reading / 40.0
    right, left = slow[np.sin(angle) > 1e-9].sum(), slow[np.sin(angle) < -1e-9].sum()
    left -= 0.2 * max(left, right)
    simulation.step()
    expected = 0.08 * np.maximum(-1.0, 1.0 - np.array([left, right]))
    np.testing.assert_allclose(simulation.state.drive[0, 0], expected, atol=1e-12)


def test_braitenberg_that_faces_a_wall_squarely_does_not_stay_there():
    simulation = bench(SBot(), [(0, 0, 0)], (Arena(1.5, 1.5),), "minimal", [QUIET], Braitenberg())
    for _ in range(900):
        simulation.step()
    assert simulation.state.position[0, 0, 0] < 0.6 or abs(simulation.state.position[0, 0, 1]) > 0.1
    assert simulation.state.crashes[0, 0] < 450


# -- random_walk ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bend", [0.0, 0.5, 2.0])
def test_a_random_walk_is_bounded_and_changes_only_every_period(bend):
    simulation = bench(SBot(), [(0, 0, 0), (3, 0, 0)], controller=RandomWalk(0.5, bend), worlds=200)
    seen = []
    for _ in range(20):
        simulation.step()
        seen.append(simulation.state.drive.copy())
    seen = np.array(seen) / 0.08
    assert seen.max() == 1.0 and seen.min() >= 1.0 - bend - 1e-12
    assert (seen.max(-1) == 1.0).all()  # one wheel at full speed
    for block in seen.reshape(4, 5, 200, 2, 2):
        assert (block == block[0]).all()
    if bend:
        assert (seen[0] != seen[5]).any(-1).all() and (seen[0, :, 0] != seen[0, :, 1]).any(-1).all()
        difference = seen[0, ..., 1] - seen[0, ..., 0]
        assert abs(difference.mean()) < 4.5 * bend / np.sqrt(3 * 400)
        assert difference.std() == pytest.approx(bend / np.sqrt(3), rel=0.1)


def test_a_random_walk_turns_on_the_spot_after_a_bump():
    simulation = bench(SBot(), [(0, 0, 0)], (Wall((0.09, -1, 0.09, 1)),), "minimal", controller=RandomWalk(2.0))
    simulation.step()
    assert simulation.state.crashed[0, 0]
    simulation.step()
    left, right = simulation.state.drive[0, 0]
    assert left == -right and abs(left) == pytest.approx(0.08)


# -- sequence -------------------------------------------------------------------------------------------------------
def played(controller, steps, dt=0.1):
    simulation = bench(SBot(), [(0, 0, 0)], controller=controller, dt=dt)
    speeds = []
    for _ in range(steps):
        simulation.step()
        speeds.append(tuple(simulation.state.drive[0, 0]))
    return speeds


def test_a_sequence_plays_each_move_for_exactly_its_steps_and_then_stands_still():
    moves = (0.3, 0.01, 0.02, 0.1, 0.03, 0.04, 0.2, -0.05, 0.06)
    assert played(Sequence(moves), 9) == [(0.01, 0.02)] * 3 + [(0.03, 0.04)] + [(-0.05, 0.06)] * 2 + [(0.0, 0.0)] * 3


def test_a_sequence_that_repeats_starts_again_at_its_end():
    moves = (0.2, 0.01, 0.02, 0.1, 0.03, 0.04)
    assert played(Sequence(moves, repeat=True), 10) == ([(0.01, 0.02)] * 2 + [(0.03, 0.04)]) * 3 + [(0.01, 0.02)]


def test_a_long_sequence_keeps_time():
    """No drift: after 100 moves of 0.7 s the clock shows 70 s."""
    moves = tuple(v for k in range(100) for v in (0.7, 0.0004 * k, 0.01))
    speeds = played(Sequence(moves), 701)
    for k in range(100):
        assert {left for left, _ in speeds[7 * k:7 * k + 7]} == {0.0004 * k}
    assert speeds[700] == (0.0, 0.0)


def test_moves_that_are_no_whole_number_of_steps_keep_time_on_average():
    speeds = played(Sequence((0.25, 0.01, 0.01, 0.25, 0.02, 0.02), repeat=True), 100)
    assert speeds.count((0.01, 0.01)) + speeds.count((0.02, 0.02)) == 100
    assert len(set(speeds[k:k + 5] == speeds[:5] for k in range(0, 100, 5))) == 1


@pytest.mark.parametrize("repeat", [True, False])
def test_a_sequence_shorter_than_a_step_is_refused_or_played(repeat):
    """Anything but silence: 40 ms do not fit into steps of 100 ms."""
    with np.errstate(invalid="raise", divide="raise"):
        try:
            speeds = played(Sequence((0.04, 0.05, 0.06), repeat=repeat), 3)
        except WorldError:
            return
    assert speeds[0] == (0.05, 0.06)


@pytest.mark.parametrize("moves", [(0.0, 1.0, 1.0), (1.0, 1.0, 1.0, -0.5, 1.0, 1.0)])
def test_a_move_must_last(moves):
    with pytest.raises(WorldError, match="longer than 0 s"):
        Sequence(moves)


def test_every_world_plays_by_its_own_clock():
    simulation = bench(SBot(), [(0, 0, 0)], controller=Sequence((0.3, 0.05, 0.05)), worlds=2)
    for _ in range(4):
        simulation.step()
    simulation.reset([False, True])
    simulation.step()
    assert list(simulation.state.drive[:, 0, 0]) == [0.0, 0.05]


def test_a_ring_of_sensors_has_one_reading_for_each_angle():
    """The colour of the floor is three numbers at each place."""
    world = read_text('<world><arena width="2" depth="2"/><sbot count="2"><scatter/><ground reads="colour"/>'
                      '<braitenberg sensor="ground"/></sbot></world>')
    with pytest.raises(WorldError, match=r"<text>:1: .* one reading for each of the 4 angles of 'ground'; <ground> gives "):
        Simulation(world).step()


def test_a_gripper_takes_the_one_reading_of_a_barrier():
    world = read_text('<world engine="spatial"><arena width="2" depth="2"/><sbot count="2"><scatter/><proximity/><omnicamera/>'
                      '<braitenberg grip="omnicamera"/></sbot></world>')
    with pytest.raises(WorldError, match=r"grip: 'omnicamera' is <omnicamera>; it takes the one reading of a <barrier>"):
        Simulation(world).step()
