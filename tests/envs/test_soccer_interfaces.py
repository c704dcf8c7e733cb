"""Robot soccer as Gymnasium and PettingZoo have it, and what goes wrong there."""

import warnings
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.test import parallel_api_test, parallel_seed_test

import formiga
from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.task import TERMS
from formiga.errors import FormigaError, WorldError
from formiga.soccer import league
from formiga.world.model import Contact
from tests.envs.games import EVERYBODY, about_to_score


# -- the interfaces ---------------------------------------------------------------------------------------------------
def test_gymnasium_finds_nothing_to_complain_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("formiga/Soccer-v0", render_mode="rgb_array", opponents="chase")
        check_env(env.unwrapped)
    assert env.unwrapped.metadata["render_fps"] == 40
    assert formiga.make_env("soccer5").observation_space.shape == (64,)


def test_pettingzoo_finds_nothing_to_complain_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(formiga.parallel_env("soccer"), num_cycles=1500)
        parallel_seed_test(lambda: formiga.parallel_env("soccer"), num_cycles=50)


def play(env, steps, seed):
    """All that a vector env returns; the actions of world w depend on w and the step alone."""
    actions = [np.random.default_rng(w).uniform(-1, 1, (steps, 2)) for w in range(env.num_envs)]
    yield env.reset(seed=seed)
    for t in range(steps):
        yield env.step(np.stack([each[t // 8] for each in actions]).astype(np.float32))


def equal(one, other):
    """Whether two infos say the same."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return np.array_equal(one, other) if one.dtype != object else all(map(np.array_equal, one, other))


def test_autoreset_and_infos_are_those_of_gymnasiums_own_vector_env():
    ours = formiga.make_vector_env("soccer", 1, max_episode_steps=11)
    theirs = SyncVectorEnv([lambda: formiga.make_env("soccer", max_episode_steps=11)], autoreset_mode=AutoresetMode.SAME_STEP)
    assert ours.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    for one, other in zip(play(ours, 40, 6), play(theirs, 40, 6)):
        assert all(np.array_equal(a, b) for a, b in zip(one[:-1], other[:-1])) and equal(one[-1], other[-1])


def test_only_the_games_that_are_over_start_again():
    env = formiga.make_vector_env("soccer", 8, max_episode_steps=20)
    goals = 0
    env.reset(seed=1)
    for t in range(60):
        if t % 15 == 3:
            chosen = np.arange(8) % 3 == 0  # their balls are put into the left goal
            env.batch.lab.state.movables[chosen, 0, :2] = (-0.76, 0.0)
        seen, rewards, ended, late, infos = env.step(np.zeros((8, 2)))
        over = ended | late
        goals += ended.sum()
        assert np.array_equal(env.batch.lab.state.step == 0, over) and np.array_equal(seen, env.batch.inputs[:, 0])
        assert ("final_obs" in infos) == over.any()
        terms = {name: np.zeros(8) for name in TERMS}
        for whose, said in ((~over, infos), (over, infos.get("final_info", {}))):
            for name in TERMS if whose.any() else ():
                assert np.array_equal(said[f"_{name}"], whose) and (said[name][~whose] == 0.0).all()
                terms[name] += said[name]
        assert np.allclose(sum(terms.values()), rewards)
        assert (terms["goal"] == np.where(ended, -10.0, 0.0)).all()
        if over.any():
            assert [final is not None for final in infos["final_obs"]] == over.tolist() == infos["_final_obs"].tolist()
    assert goals == 12


def test_one_env_is_world_0_of_many_bit_for_bit():
    one = formiga.make_env("soccer", max_episode_steps=25)
    actions = np.random.default_rng(0).uniform(-1, 1, (60, 2)).astype(np.float32)
    expected = [one.reset(seed=3)[0]]
    for t in range(60):
        seen, _, ended, late, _ = one.step(actions[t // 8])
        expected.append(one.reset()[0] if ended or late else seen)
    for worlds in (1, 5):
        many = [step[0] for step in play(formiga.make_vector_env("soccer", worlds, max_episode_steps=25), 60, 3)]
        assert all(np.array_equal(seen[0], row) for seen, row in zip(many, expected, strict=True))


def test_an_observation_that_was_returned_stays_as_it_was():
    env, many, agents = formiga.make_env("soccer"), formiga.make_vector_env("soccer", 2), formiga.parallel_env("soccer")
    seen = [env.reset(seed=1)[0], many.reset(seed=1)[0], agents.reset(seed=1)[0]["blue_0"]]
    kept = [each.copy() for each in seen]
    env.step(np.ones(2))
    many.step(np.ones((2, 2)))
    agents.step({agent: np.ones(2) for agent in agents.agents})
    assert all(np.array_equal(one, other) for one, other in zip(seen, kept))


def test_all_agents_leave_together_at_a_goal_and_at_the_time_limit():
    env = formiga.parallel_env("soccer", max_episode_steps=5)
    seen, infos = env.reset(seed=1)
    assert list(seen) == env.agents == [f"{team}_{i}" for team in ("blue", "yellow") for i in range(3)]
    for _ in range(5):
        assert len(env.agents) == 6
        _, rewards, ended, late, infos = env.step({agent: [0, 0] for agent in env.agents})
    assert list(late.values()) == [True] * 6 and not any(ended.values()) and env.agents == []
    env.reset()
    about_to_score(env.batch, -1.0)
    while env.agents:
        _, rewards, ended, late, infos = env.step({agent: [0, 0] for agent in env.agents})
    assert list(ended.values()) == [True] * 6 and not any(late.values())
    assert [infos[agent]["goal"] for agent in seen] == [-10.0] * 3 + [10.0] * 3
    assert all(rewards[agent] == pytest.approx(sum(infos[agent].values())) for agent in rewards)


def test_one_team_may_learn_against_a_rule():
    env = formiga.parallel_env("soccer", group="yellow", opponents="chase")
    env.reset(seed=1)
    assert env.possible_agents == ["yellow_0", "yellow_1", "yellow_2"]
    start = env.batch.lab.state.position.copy()
    for _ in range(10):
        env.step({agent: np.zeros(2) for agent in env.agents})
    gone = np.linalg.norm(env.batch.lab.state.position - start, axis=-1)[0]
    assert (gone[:3] > 0.01).all()


def test_a_world_of_ones_own_can_be_played():
    world = league.world(2, "firasim")
    env = formiga.make_env(world, opponents="still")
    assert env.observation_space.shape == (28,) and env.metadata["render_fps"] == 62
    assert env.batch.limit == round(30 / world.dt)
    env.reset(seed=1)
    env.step(np.ones(2))
    assert formiga.make_env("soccer", players=2, preset="firasim", dt=0.02).batch.world.dt == 0.02


def test_a_world_in_a_file_too(tmp_path):
    formiga.write_world(league.world(1, dt=0.02), tmp_path / "mine.xml")
    env = formiga.make_vector_env(tmp_path / "mine.xml", 2)
    assert env.single_observation_space.shape == (16,) and env.batch.limit == 1500


def test_a_picture_shows_the_ball_where_it_is():
    env = formiga.make_env("soccer", render_mode="rgb_array")
    env.reset(seed=2)
    state = env.batch.lab.state
    state.position[0, :, 1] = 0.5
    places = []
    for x in (-0.5, 0.5):
        state.movables[0, 0, :2] = (x, -0.3)
        picture = env.render()
        orange = (np.abs(picture.astype(int) - (0xE8, 0x7D, 0x1E)) < 30).all(axis=-1)
        places.append(np.argwhere(orange).mean(axis=0))
    (row, left), (same_row, right) = places
    assert row == pytest.approx(same_row, abs=2) and row > picture.shape[0] / 2
    assert 0.4 < (right - left) / picture.shape[1] < 0.6  # 1 m of a field of 1.8 m, with a margin
    assert formiga.make_env("soccer").render() is None
    many = formiga.make_vector_env("soccer", 2, render_mode="rgb_array")
    many.reset(seed=1)
    one, other = many.render()
    assert one.shape == other.shape and (one != other).any()


# -- what goes wrong --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("call, error, complaint", [
    (lambda: formiga.make_env("soccer", opponent="still"), FormigaError, "no option 'opponent'. Did you mean 'opponents'?"),
    (lambda: formiga.make_env("soccer", opponents="chaser"), FormigaError, "'chaser' is unknown. Did you mean 'chase'?"),
    (lambda: formiga.make_env("soccer", start="kick-off"), FormigaError, "'kick-off' is unknown. Did you mean 'kickoff'?"),
    (lambda: formiga.make_env("soccer", goal=float("nan")), FormigaError, "the weight 'goal' must be a number"),
    (lambda: formiga.make_env("soccer", robot=3), WorldError, "robot of 'blue': 3 is out of range; it must be from 0 to 2"),
    (lambda: formiga.make_env("soccer", group="red"), WorldError, "no group 'red'"),
    (lambda: formiga.make_env("soccer", preset="fira"), FormigaError, "no preset 'fira'"),
    (lambda: formiga.make_env(league.world(), players=3), FormigaError, "no option 'players'"),
    (lambda: formiga.parallel_env("soccer", opponents="still"), FormigaError, "'opponents' says nothing here"),
    (lambda: formiga.parallel_env("soccer", group="blue", mates="still"), FormigaError, "'mates' says nothing here"),
    (lambda: formiga.make_env("soccer", render_mode="human"), FormigaError, "'human' is unknown. It may be: rgb_array"),
    (lambda: formiga.make_env("soccer", max_episode_steps=0), WorldError, "max_episode_steps 0 is out of range"),
    (lambda: formiga.make_vector_env("soccer", 0), WorldError, "at least 1"),
    (lambda: formiga.make_env("soccer").step(np.zeros(3)), FormigaError, "of the shape \\(2,\\)"),
])
def test_a_mistake_is_named(call, error, complaint):
    with pytest.raises(error, match=complaint):
        call()


def test_robots_with_somebody_elses_orders_are_refused(own):
    world = league.world(dt=0.025)
    other = own("controller", decide=lambda view: np.zeros((1, 3, 2)))
    busy = replace(world, groups=(replace(world.groups[0], controller=other), world.groups[1]))
    with pytest.raises(WorldError, match="has a group 'blue' with a controller"):
        SoccerBatch(busy)
    more = replace(world, groups=(*world.groups, replace(world.groups[0], name="red")))
    with pytest.raises(WorldError, match=r"has a group 'red'\."):
        SoccerBatch(more)


def test_a_crash_limit_ends_a_game_without_a_goal():
    world = replace(league.world(dt=0.025), contact=Contact(model="impulse", crash_limit=3))
    batch = SoccerBatch(world, 4, agents=EVERYBODY)
    batch.reset(1)
    while not batch.ended.all():
        batch.step(np.ones((4, 6, 2)))
    assert (batch.terms[..., 0] == 0.0).all() and not batch.late.any()
