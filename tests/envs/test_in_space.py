"""Learning in three dimensions: the same environments, checked by the same checkers, with the same bits for any batch."""

import warnings

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import formiga
from formiga.envs.batch import Batch
from formiga.lab import read_world
from formiga.loop import Simulation
from formiga.world.reader import read_text
from tests.envs.test_batch import course, same

ROUGH = """<world engine="spatial" dt="0.1" seconds="1"><arena width="2" depth="2"/>
<ramp x="0.6" y="0" width="0.4" depth="1" height="5cm"/>
<ball x="0" y="0.5" radius="3cm" mass="0.05" restitution="0.5"/>
<solid name="post" shape="box" size="0.1 0.1 0.4" x="0" y="-0.8" z="0.2" fixed="true"/>
<solid name="door" shape="box" size="0.3 0.02 0.2" x="0.2" y="-0.8" z="0.12" mass="0.2"/>
<joint name="hinge" kind="hinge" one="post" other="door" x="0.05" y="-0.8" z="0.1" axis="0 0 1"/>
<sbot count="2" name="swarm"><scatter/><proximity/><inclinometer/></sbot>
<fitness of="speed light"/><lamp x="0" y="0"/></world>"""


def test_pettingzoo_finds_nothing_to_complain_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(formiga.parallel_env("avoid3d", robots=3), num_cycles=250)
        parallel_seed_test(lambda: formiga.parallel_env("avoid3d", robots=3), num_cycles=20)


def test_a_vector_env_starts_worlds_again_and_agrees_with_single_ones():
    many = formiga.make_vector_env("avoid3d", 2, max_episode_steps=8)
    assert many.batch.lab.model.poses
    one = formiga.make_env("avoid3d", max_episode_steps=8)
    seen, first = many.reset(seed=4)[0], one.reset(seed=4)[0]
    for step in range(20):
        assert np.array_equal(seen[0], first)
        actions = np.random.default_rng(step).uniform(-0.3, 1, (2, 4)).astype(np.float32)
        seen, rewards, ended, late, infos = many.step(actions)
        first, reward, own_end, own_late, _ = one.step(actions[0])
        assert (rewards[0], ended[0], late[0]) == (reward, own_end, own_late)
        if own_end or own_late:
            assert np.array_equal(infos["final_obs"][0], first)
            first = one.reset()[0]
    assert (many.batch.lab.state.step == 4).all()  # the third episode


@pytest.mark.parametrize("world", [lambda: read_world("avoid3d", robots=2), lambda: read_text(ROUGH)])
def test_a_world_of_a_batch_is_that_world_alone_in_every_episode(world):
    """On treels, and on wheels beside a ramp, a ball and a door on a hinge."""
    group = "swarm"
    several, alone = (course(Batch(world(), worlds, group=group, steps=9, actions=["drive"]), 24) for worlds in (3, 1))
    assert same(several, alone, worlds=slice(0, 1))
    assert not np.array_equal(several[0][0][0], several[0][0][1]) or not np.array_equal(several[-1][0][0], several[-1][0][1])


def test_the_first_episode_is_the_run_of_that_seed():
    world = read_text(ROUGH)
    batch, lab = Batch(world, 2, group="swarm", actions=["drive"]), Simulation(world, 11, 2)
    batch.reset(11)
    for _ in range(6):
        batch.step(np.full((2, 2, 2), 0.8))
        lab.step({"swarm": np.full((2, 2, 2), 0.8 * world.groups[0].robot.top_speed)})
    for name in ("position", "heading", "bodies", "own.integration", "own.couplings", "movables", "key", "velocity"):
        assert np.array_equal(batch.lab.state.arrays()[name], lab.state.arrays()[name]), name
    batch.restart(np.array([False, True]))
    assert np.array_equal(batch.lab.state.own.integration[0], lab.state.own.integration[0])
    assert batch.lab.state.step.tolist() == [6, 0] and not batch.lab.state.velocity[1].any()
    assert batch.lab.state.own.couplings[1, :, 0].all()
