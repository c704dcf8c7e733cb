"""One agent for each robot, as PettingZoo sees it."""

import warnings

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import formiga
from formiga.errors import FormigaError


@pytest.mark.parametrize("name", ["avoid", "aggregate", "disperse", "phototaxis"])
def test_pettingzoo_finds_nothing_to_complain_about(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(formiga.parallel_env(name, robots=5), num_cycles=700)
        parallel_seed_test(lambda: formiga.parallel_env(name, robots=5), num_cycles=20)


def test_agents_together_are_the_one_agent_that_commands_them_all(rng):
    many, one = formiga.parallel_env("avoid", robots=4), formiga.make_env("avoid", robots=4)
    seen, _ = many.reset(seed=5)
    assert list(seen) == many.agents == ["swarm_0", "swarm_1", "swarm_2", "swarm_3"]
    assert np.array_equal(np.concatenate(list(seen.values())), one.reset(seed=5)[0])
    for _ in range(50):
        actions = rng.uniform(-1, 1, (4, 2)).astype(np.float32)
        seen, rewards, *_ = many.step(dict(zip(many.agents, actions)))
        together, reward, *_ = one.step(actions.reshape(-1))
        assert np.array_equal(np.concatenate(list(seen.values())), together)
        assert np.mean(list(rewards.values())) == pytest.approx(reward)


def test_a_robot_over_the_crash_limit_is_terminated_and_leaves(own_world):
    env = formiga.parallel_env(own_world(limit=5, at_limit="die"), max_episode_steps=400)
    env.reset(seed=1)
    left = {}
    for step in range(400):
        before = list(env.agents)
        seen, rewards, ended, late, infos = env.step({agent: np.ones(2) for agent in before})
        assert seen.keys() == rewards.keys() == ended.keys() == late.keys() == infos.keys() == set(before)
        assert not any(late.values()) or step == 399
        left |= {agent: step for agent in before if ended[agent]}
        assert env.agents == [agent for agent in before if not ended[agent] and not late[agent]]
        if not env.agents:
            break
    assert len(set(left.values())) > 1  # not all at once
    assert env.reset()[0].keys() == set(env.agents) == set(env.possible_agents)


def test_when_the_world_ends_everybody_is_terminated(own_world):
    env = formiga.parallel_env(own_world(limit=5), max_episode_steps=400)
    env.reset(seed=1)
    while env.agents:
        _, _, ended, late, _ = env.step({agent: np.ones(2) for agent in env.agents})
    assert list(ended.values()) == [True] * 3 and list(late.values()) == [False] * 3


def test_at_the_time_limit_everybody_is_truncated():
    env = formiga.parallel_env("avoid", robots=4, max_episode_steps=3)
    env.reset(seed=1)
    for _ in range(3):
        assert env.agents
        _, _, ended, late, _ = env.step({agent: np.zeros(2) for agent in env.agents})
    assert list(late.values()) == [True] * 4 and not any(ended.values()) and env.agents == []


@pytest.mark.parametrize("actions, complaint", [
    ({"swarm_0": [0, 0]}, "'swarm_1' has no action"),
    ({"swarm_0": [0, 0], "swarm_1": [0, 0, 0]}, "of the shape \\(2,\\)"),
    ({"swarm_0": [0, np.nan], "swarm_1": [0, 0]}, "not a number"),
])
def test_a_wrong_action_is_refused(actions, complaint):
    env = formiga.parallel_env("avoid", robots=2)
    env.reset(seed=1)
    with pytest.raises(FormigaError, match=complaint):
        env.step(actions)


def test_it_draws_itself():
    env = formiga.parallel_env("avoid", robots=4, render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape == (480, 480, 3) and formiga.parallel_env("avoid", robots=4).render() is None
