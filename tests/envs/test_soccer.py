"""Robot soccer to learn in: what is seen and earned against plain twins, both teams alike, starts, goals, seeds, interfaces."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from shapely import Point, Polygon
from shapely.affinity import rotate, translate

import formiga
from formiga.envs.soccer import kernels
from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.task import TERMS, Task
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.soccer import league
from formiga.soccer.talk import Call, Foul
from tests.envs.games import BASE, EVERYBODY, TOP, about_to_score, course, games, same


# -- plain twins ------------------------------------------------------------------------------------------------------
def plainly_seen(state, me, w=0):
    """What robot `me` of a game of three against three sees, written down as the manual's table has it."""
    side = 1.0 if me < 3 else -1.0
    ours, theirs = (range(3), range(3, 6)) if me < 3 else (range(3, 6), range(3))
    seen = [*(side * state.movables[w, 0, :2] / 0.9), *(side * state.movables[w, 0, 3:5] / (2 * TOP))]
    for i in [me, *(i for i in ours if i != me)]:
        angle = state.heading[w, i] + (0.0 if me < 3 else pi)
        seen += [*(side * state.position[w, i] / 0.9), np.sin(angle), np.cos(angle)]
        seen += [*(side * state.velocity[w, i, :2] / TOP), state.velocity[w, i, 2] / (2 * TOP / BASE)]
    for i in theirs:
        seen += [*(side * state.position[w, i] / 0.9), *(side * state.velocity[w, i, :2] / TOP),
                 state.velocity[w, i, 2] / (2 * TOP / BASE)]
    return np.clip(seen, -1.2, 1.2)


def plain_potential(ball, side):
    """In lengths of the field: (|ball, own goal| - |ball, other goal|) / 2, with dy^2 counted twice."""
    own, other = np.array([-0.9 * side, 0.0]), np.array([0.9 * side, 0.0])
    stretched = np.array([1.0, np.sqrt(2.0)])
    return (np.linalg.norm((ball - own) * stretched) - np.linalg.norm((ball - other) * stretched)) / (2 * 1.5)


def plainly_earned(before, state, me, action, weights, w=0):
    """goal, ball, move, energy of robot `me`; before: where the ball was."""
    side, ball = (1.0 if me < 3 else -1.0), state.movables[w, 0, :2]
    goal = side * np.sign(ball[0]) * (abs(ball[0]) > 0.75)
    way = 3.0 * (plain_potential(ball, side) - plain_potential(before, side)) / 0.025
    to_ball = ball - state.position[w, me]
    closing = state.velocity[w, me, :2] @ to_ball / np.linalg.norm(to_ball)
    return weights * [goal, np.clip(way, -5, 5), np.clip(closing / 0.4, -5, 5), -np.abs(np.clip(action, -1, 1)).mean()]


def test_observations_and_rewards_are_those_of_the_plain_twins(rng):
    batch = games(3, goal=7.0, ball=0.5, move=0.3, energy=0.05)
    batch.reset(2)
    state, moved = batch.lab.state, 0.0
    for t in range(400):
        if t % 8 == 0:
            actions = rng.uniform(-1.5, 1.5, (3, 6, 2))
        before = state.movables[:, 0, :2].copy()
        batch.step(actions)
        moved += np.abs(state.movables[:, 0, :2] - before).sum()
        for w in range(3):
            for me in EVERYBODY:
                assert batch.inputs[w, me] == pytest.approx(plainly_seen(state, me, w), abs=1e-6)
                earned = plainly_earned(before[w], state, me, actions[w, me], np.array([7.0, 0.5, 0.3, 0.05]), w)
                assert batch.terms[w, me] == pytest.approx(earned, abs=1e-9)
        assert np.allclose(batch.reward, batch.terms.sum(axis=-1), atol=1e-12)
        batch.restart(batch.over)
    assert moved > 0.5  # the ball was in play


def test_the_ball_gains_for_one_team_what_the_other_loses(rng):
    batch = games(20)
    batch.reset(1)
    for _ in range(60):
        batch.step(rng.uniform(-1, 1, (20, 6, 2)))
        for term in (0, 1):
            assert np.array_equal(batch.terms[:, :3, term], -batch.terms[:, 3:, term])
            assert (batch.terms[:, :3, term] == batch.terms[:, :1, term]).all()  # team-mates share both


# -- both teams alike -------------------------------------------------------------------------------------------------
def turned(state, other):
    """Put a state into another one, turned by half a turn, with the colours exchanged."""
    for name, sign in (("position", -1.0), ("velocity", np.array([-1.0, -1.0, 1.0]))):
        source = sign * getattr(state, name)
        getattr(other, name)[...] = np.concatenate([source[:, 3:], source[:, :3]], axis=1)
    other.heading[...] = np.concatenate([state.heading[:, 3:], state.heading[:, :3]], axis=1) + pi
    other.movables[...] = state.movables * [-1, -1, 1, -1, -1, 1, -1, -1]


def exchanged(values):
    """What belongs to (W, 6, ...) robots, with the colours exchanged."""
    return np.concatenate([values[:, 3:], values[:, :3]], axis=1)


def test_yellow_sees_what_blue_sees_in_the_turned_game(rng):
    one, other = games(50), games(50)
    one.reset(3)
    other.reset(4)
    for _ in range(200):
        one.step(rng.uniform(-1, 1, (50, 6, 2)))
        one.restart(one.over)
    turned(one.lab.state, other.lab.state)
    other.look_again()
    assert other.inputs == pytest.approx(exchanged(one.inputs), abs=1e-6)
    assert not np.allclose(one.inputs, other.inputs, atol=0.1)


def test_in_the_turned_game_the_same_actions_earn_the_same(rng):
    """From starts at which nobody touches anybody: then no order of contacts matters."""
    one, other = games(200), games(200)
    one.reset(3)
    other.reset(3)
    turned(one.lab.state, other.lab.state)
    other.look_again()
    actions = rng.uniform(-1, 1, (200, 6, 2))
    for _ in range(2):
        one.step(actions)
        other.step(exchanged(actions))
    calm = ~(one.lab.state.crashed.any(axis=1) | (one.lab.state.movables[:, 0, 3:5] != 0.0).any(axis=1))
    assert calm.sum() > 100
    assert other.terms[calm] == pytest.approx(exchanged(one.terms)[calm], abs=1e-9)
    assert other.inputs[calm] == pytest.approx(exchanged(one.inputs)[calm], abs=1e-6)


def test_a_yellow_learner_is_the_yellow_agent_of_the_multi_agent_game():
    alone = formiga.make_env("soccer", group="yellow", robot=2, mates="still", opponents="still")
    many = formiga.parallel_env("soccer")
    seen, (both, _) = alone.reset(seed=6)[0], many.reset(seed=6)
    assert np.array_equal(seen, both["yellow_2"])
    for _ in range(100):
        seen, reward, *_ = alone.step([0.7, 0.9])
        both, rewards, *_ = many.step({agent: [0.7, 0.9] if agent == "yellow_2" else [0.0, 0.0] for agent in many.agents})
        assert np.array_equal(seen, both["yellow_2"]) and reward == rewards["yellow_2"]


# -- the game is the laboratory's -------------------------------------------------------------------------------------
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_game_is_that_of_the_laboratory_with_the_same_orders(noise, rng):
    plain = league.world(dt=0.025)
    noisy = [replace(group, robot=replace(group.robot, motor_noise=noise)) for group in plain.groups]
    world = replace(plain, groups=tuple(noisy))
    batch, lab = SoccerBatch(world, 3, agents=EVERYBODY), Simulation(world, 8, 3)
    batch.reset(8)
    assert np.array_equal(batch.lab.state.key, lab.state.key)
    for name in ("position", "heading", "movables"):
        getattr(lab.state, name)[...] = getattr(batch.lab.state, name)
    for t in range(120):
        if t % 8 == 0:
            actions = rng.uniform(-1.5, 1.5, (3, 6, 2))
        batch.step(actions)
        speeds = TOP * np.clip(actions, -1, 1)
        lab.step({"blue": speeds[:, :3], "yellow": speeds[:, 3:]})
        for name in ("position", "heading", "velocity", "movables", "crashes"):
            assert np.array_equal(getattr(batch.lab.state, name)[~batch.ended], getattr(lab.state, name)[~batch.ended])


def test_actions_are_top_speeds_cut_at_one():
    batch = games(2, agents=[0], mates="still", opponents="still")
    batch.reset(1)
    batch.step([[[0.5, -0.25]], [[np.inf, -7.0]]])
    assert batch._book.orders[:, 0].tolist() == [[0.5 * TOP, -0.25 * TOP], [TOP, -TOP]]
    assert batch.terms[:, 0, 3].tolist() == pytest.approx([-0.02 * 0.375, -0.02])


@pytest.mark.parametrize("actions, complaint", [
    (np.zeros((2, 2)), "of the shape \\(2, 6, 2\\), not float64 of the shape \\(2, 2\\)"),
    (np.full((2, 6, 2), "fast"), "must be numbers"),
    (np.where(np.arange(24).reshape(2, 6, 2) == 15, np.nan, 0.0), "action \\(1, 1, 1\\) is not a number"),
])
def test_a_wrong_action_is_refused_and_nothing_moves(actions, complaint):
    batch = games(2)
    batch.reset(1)
    with pytest.raises(FormigaError, match=complaint):
        batch.step(actions)
    assert batch.lab.state.step.tolist() == [0, 0]


# -- goals and ends ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_goal_ends_the_episode_and_counts_for_the_team_that_plays_that_way(side):
    batch = games(2)
    batch.reset(1)
    about_to_score(batch, side)
    for _ in range(6):
        assert not batch.over.any() and (batch.terms[..., 0] == 0.0).all()
        batch.step(np.zeros((2, 6, 2)))
        if batch.ended.any():
            break
    x = batch.lab.state.movables[:, 0, 0]
    assert (side * x > 0.75).all() and (side * x - 0.025 < 0.75).all()  # its centre is over the line, and was not before
    assert batch.ended.all() and not batch.late.any()
    assert (batch.terms[:, :3, 0] == 10.0 * side).all() and (batch.terms[:, 3:, 0] == -10.0 * side).all()
    assert (side * batch.reward[:, :3] > 9.0).all() and (side * batch.reward[:, 3:] < -9.0).all()
    batch.step(np.ones((2, 6, 2)))  # nothing more happens
    assert (batch.reward == 0.0).all() and (batch.terms == 0.0).all() and np.array_equal(batch.lab.state.movables[:, 0, 0], x)
    batch.restart([True, False])
    assert batch.ended.tolist() == [False, True]


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_one_learner_is_told_the_same(side):
    env = formiga.make_env("soccer", mates="still", opponents="still", goal=3.0)
    env.reset(seed=1)
    about_to_score(env.batch, side)
    while True:
        _, reward, ended, late, info = env.step(np.zeros(2))
        assert reward == pytest.approx(sum(info.values())) and list(info) == list(TERMS)
        if ended or late:
            break
    assert (ended, late, info["goal"]) == (True, False, 3.0 * side)


def test_after_30_seconds_the_time_is_over_and_not_before():
    env = formiga.make_env("soccer", mates="still", opponents="still")
    env.reset(seed=1)
    ends = [env.step(np.zeros(2))[2:4] for _ in range(1200)]
    assert ends == [(False, False)] * 1199 + [(False, True)]
    short = games(4, steps=7)
    short.reset(1)
    for step in range(1, 8):
        short.step(np.zeros((4, 6, 2)))
        assert short.late.tolist() == [step == 7] * 4


# -- starts -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("players", [1, 3, 5])
@pytest.mark.parametrize("start", ["random", "kickoff"])
def test_at_the_start_nobody_stands_in_anybody_and_all_are_on_the_field(players, start):
    world = league.world(players, dt=0.025)
    batch = SoccerBatch(world, 300, agents=[0], task=Task(start=start))
    batch.reset(11)
    state, board, half = batch.lab.state, Polygon(batch.field.board), batch.field.length / 2
    cube = Polygon([(0.0375, 0.0375), (-0.0375, 0.0375), (-0.0375, -0.0375), (0.0375, -0.0375)])
    for w in range(300):
        bodies = [Point(state.movables[w, 0, :2]).buffer(world.movables[0].radius)]
        bodies += [translate(rotate(cube, angle, use_radians=True), x, y)
                   for (x, y), angle in zip(state.position[w], state.heading[w])]
        assert all(board.contains(body) for body in bodies)
        assert all(one.distance(other) > 0.9e-3 for k, one in enumerate(bodies) for other in bodies[:k])
    assert (np.abs(state.movables[:, 0, 0]) < half).all()
    assert (state.velocity == 0.0).all() and (state.movables[..., 3:] == 0.0).all()


def test_random_starts_go_everywhere_and_look_everywhere():
    batch = games(2000)
    batch.reset(5)
    position, heading = batch.lab.state.position, batch.lab.state.heading
    x, y = position.reshape(-1, 2).T
    corners, _, _ = np.histogram2d(x, y, bins=2, range=[[-0.75, 0.75], [-0.65, 0.65]])
    assert np.abs(corners / corners.sum() - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 12000)
    assert np.abs(np.exp(1j * heading).mean()) < 4 / np.sqrt(12000)
    assert np.abs(position).max(axis=(0, 1)) == pytest.approx([0.75 - 0.054, 0.65 - 0.054], abs=0.003)


def test_a_kickoff_is_the_leagues_of_either_team():
    batch = games(400, start="kickoff")
    batch.reset(2)
    expected = []
    for team in (0, 1):
        _, places = league.places(batch.field, 3, Call(Foul.KICKOFF, team, 0, 1, 0.0))
        expected.append(np.array(places).reshape(6, 3))
    state = batch.lab.state
    poses = np.concatenate([state.position, state.heading[..., None]], axis=-1)
    taker = np.where((poses == expected[0]).all(axis=(1, 2)), 0, 1)
    assert np.array_equal(poses, np.array(expected)[taker]) and (state.movables[:, 0, :2] == 0.0).all()
    assert abs(taker.mean() - 0.5) < 4 * 0.5 / 20


def test_a_field_that_is_too_small_is_named():
    world = league.world(5, dt=0.025)
    small = replace(world.pitch, length=0.45, width=0.4, goal_width=0.1, area_width=0.1, area_depth=0.05, corner=0.0,
                    circle=0.0, penalty_spot=0.1)
    batch = SoccerBatch(replace(world, things=(small, *world.things[1:])), agents=[0])
    with pytest.raises(FormigaError, match=r"no room for all 10 robots on a field of 0\.45 m x 0\.4 m"):
        batch.reset(1)


# -- episodes, seeds --------------------------------------------------------------------------------------------------
def test_a_world_of_a_batch_does_not_know_how_many_there_are():
    many, few, one = (course(games(worlds, steps=30), 100) for worlds in (6, 3, 1))
    assert same(few, many, slice(0, 3)) and same(one, many, slice(0, 1))


@pytest.mark.parametrize("threads", [2, 3, 9])
def test_threads_change_no_bit(threads):
    shared = SoccerBatch(league.world(dt=0.025), 5, agents=[1], steps=30, threads=threads)
    assert len(shared._parts) == min(threads, 5)
    assert same(course(shared, 100), course(games(5, [1], steps=30), 100))
    shared.close()


def test_every_episode_has_a_start_of_its_own_and_a_seed_brings_them_back():
    batch = games(3)
    batch.reset(1)
    starts = []
    for _ in range(5):
        starts.append(batch.inputs.copy())
        batch.restart(np.ones(3, bool))
    assert len({start.tobytes() for episode in starts for start in episode}) == 15
    batch.reset(1)
    assert np.array_equal(batch.inputs, starts[0])
    batch.reset()
    assert np.array_equal(batch.inputs, starts[1])
    batch.restart([False, True, False])
    assert np.array_equal(batch.inputs[[0, 2]], starts[1][[0, 2]]) and np.array_equal(batch.inputs[1], starts[2][1])


def test_without_a_seed_an_env_starts_anywhere():
    one, other = formiga.make_env("soccer"), formiga.make_env("soccer")
    assert not np.array_equal(one.reset()[0], other.reset()[0])


def test_a_batch_is_reset_before_it_steps_or_starts_again():
    with pytest.raises(FormigaError, match="reset before its first step"):
        games().step(np.zeros((1, 6, 2)))
    with pytest.raises(FormigaError, match="reset before its worlds can start again"):
        games().restart([True])


# -- the others -------------------------------------------------------------------------------------------------------
def test_wandering_wheels_spread_as_an_ornstein_uhlenbeck_process_does():
    """Variance after n steps of x' = (1 - a) x + b n: b^2 (1 - (1-a)^2n) / (1 - (1-a)^2), and half of the wheels turn back."""
    batch = games(400, agents=[0])
    batch.reset(3)
    a, b = 0.17 * 0.025, 0.5 * np.sqrt(0.025)
    drift = batch._book.drift[:, 1:]
    for n in (1, 40, 160):
        while batch.lab.state.step.max() < n:
            kernels.drive(batch._game, batch._now, batch._book)
            batch.lab.state.step += 1
        expected = b * b * (1 - (1 - a) ** (2 * n)) / (1 - (1 - a) ** 2)
        count = drift.size
        assert drift.var() == pytest.approx(expected, rel=4 * np.sqrt(2 / count))
        assert drift.mean() == pytest.approx(0.0, abs=4 * np.sqrt(expected / count))
    left, right = drift.reshape(-1, 2).T
    assert abs(np.corrcoef(left, right)[0, 1]) < 4 / np.sqrt(len(left))
    assert np.array_equal(batch._book.orders[:, 1:], TOP * np.clip(drift, -1, 1))


def test_who_is_still_stays_and_who_wanders_leaves():
    batch = games(20, agents=[1], mates="still", opponents="random")
    batch.reset(1)
    start = batch.lab.state.position.copy()
    for _ in range(20):
        batch.step(np.zeros((20, 1, 2)))
    untouched = ~batch.lab.state.crashes.astype(bool)
    gone = np.linalg.norm(batch.lab.state.position - start, axis=-1)
    assert (gone[:, :3][untouched[:, :3]] == 0.0).all() and (gone[:, 3:] > 1e-4).all()


def test_who_chases_gets_to_the_ball():
    batch = games(100, agents=[0], mates="still", opponents="chase")
    batch.reset(1)
    nearest = np.full(100, np.inf)
    for _ in range(120):
        batch.step(np.zeros((100, 1, 2)))
        away = batch.lab.state.position[:, 3:] - batch.lab.state.movables[:, :1, :2]
        nearest = np.minimum(nearest, np.linalg.norm(away, axis=-1).min(axis=1))
    assert (nearest < 0.08).mean() > 0.9  # a ball may lie behind somebody who stands still
