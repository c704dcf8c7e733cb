"""A batch of worlds to learn in: compiled or readable, alone or among others, the same bits; rewards are a rollout's."""

from dataclasses import replace

import numpy as np
import pytest

import formiga.score  # noqa: F401  registers <fitness>
from formiga.control.neural.think import think_all
from formiga.envs.batch import Batch
from formiga.errors import FormigaError, WorldError
from formiga.lab import read_world
from formiga.loop import Simulation
from formiga.rollout import rollout
from tests.envs.conftest import OTHERS

TASKS = ["avoid", "aggregate", "disperse", "phototaxis"]


def course(batch, steps, seed=5, restarts=True):
    """Inputs, rewards and ends of every step under random actions that depend on the world and the step alone."""
    W, n = batch.reward.shape
    actions = np.stack([np.random.default_rng([1, w]).uniform(-0.5, 1.5, (steps, n, 2)) for w in range(W)], axis=1)
    batch.reset(seed)
    seen = [(batch.inputs.copy(),)]
    for t in range(steps):
        batch.step(actions[t])
        seen.append((batch.inputs.copy(), batch.reward.copy(), batch.ended.copy(), batch.late.copy(), batch.alive.copy()))
        if restarts:
            batch.restart(batch.over)
            seen.append((batch.inputs.copy(), batch.lab.state.key.copy()))
    return seen


def same(one, other, worlds=slice(None), others=slice(None)):
    """Whether two courses agree bit for bit in some of their worlds."""
    return all(np.array_equal(a[worlds], b[others]) for left, right in zip(one, other) for a, b in zip(left, right))


# -- the same bits ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TASKS)
def test_the_kernel_gives_the_bits_of_the_readable_loop(name):
    world = read_world(name, robots=5)
    fast, slow = (Batch(world, 3, steps=17, compiled=compiled) for compiled in (True, False))
    assert fast._step_parts and not slow._step_parts
    one, other = course(fast, 50), course(slow, 50)
    assert same(one, other)
    assert max(step[0].max() for step in one) > 0.0


@pytest.mark.parametrize("at_limit", ["end", "die"])
def test_they_also_agree_when_robots_die_and_worlds_end(own_world, at_limit):
    world = read_world(own_world(limit=3, at_limit=at_limit))
    fast, slow = (course(Batch(world, 4, compiled=compiled), 60, restarts=False) for compiled in (True, False))
    assert same(fast, slow)
    _, reward, ended, _, alive = fast[-1]
    assert ended.any() if at_limit == "end" else not alive.all()
    assert (reward[ended] == 0.0).all()


def test_a_world_of_a_batch_does_not_know_how_many_there_are():
    world = read_world("avoid", robots=4)
    many, few = (course(Batch(world, worlds, steps=20), 50) for worlds in (7, 3))
    assert same(few, many, others=slice(0, 3))


def test_nor_does_it_matter_when_the_others_start_again(rng):
    """World 0 begins again when its time is over; the others at any time."""
    world = read_world("avoid", robots=4)
    quiet, busy = Batch(world, 1, steps=20), Batch(world, 4, steps=20)
    quiet.reset(3)
    busy.reset(3)
    for _ in range(70):
        actions = rng.uniform(-1, 1, (4, 4, 2))
        quiet.step(actions[:1])
        busy.step(actions)
        assert np.array_equal(quiet.inputs[0], busy.inputs[0]) and np.array_equal(quiet.reward[0], busy.reward[0])
        quiet.restart(quiet.over)
        busy.restart(busy.over | np.append(False, rng.random(3) < 0.2))


@pytest.mark.parametrize("threads", [2, 3, 9])
def test_threads_change_no_bit(threads):
    world = read_world("phototaxis")
    shared = Batch(world, 5, steps=17, threads=threads)
    assert len(shared._step_parts) == min(threads, 5)
    assert same(course(shared, 40), course(Batch(world, 5, steps=17), 40))
    shared.close()


# -- episodes ---------------------------------------------------------------------------------------------------------
def test_the_first_episode_is_the_world_of_a_simulation_with_that_seed():
    world = read_world("avoid", robots=4)
    batch, lab = Batch(world, 3), Simulation(world, 9, 3)
    batch.reset(9)
    assert np.array_equal(batch.lab.state.position, lab.state.position)
    assert np.array_equal(batch.lab.state.key, lab.state.key)


def test_every_episode_has_a_start_of_its_own_and_a_seed_brings_them_back():
    batch = Batch(read_world("avoid", robots=4), 3)
    batch.reset(1)
    starts = []
    for _ in range(5):
        starts.append(batch.lab.state.position.copy())
        batch.restart(np.ones(3, bool))
    assert len({start.tobytes() for episode in starts for start in episode}) == 15
    batch.reset(1)
    assert np.array_equal(batch.lab.state.position, starts[0])
    batch.reset()
    assert np.array_equal(batch.lab.state.position, starts[1])


def test_a_batch_without_a_seed_starts_anywhere():
    one, other = Batch(read_world("avoid", robots=4)), Batch(read_world("avoid", robots=4))
    one.reset()
    other.reset()
    assert not np.array_equal(one.lab.state.position, other.lab.state.position)


def test_a_restart_forgets_crashes_coverage_and_memory(own_world):
    world = read_world(own_world(limit=0, other=OTHERS))
    batch = Batch(world, 2)
    batch.reset(4)
    for _ in range(60):
        batch.step(np.ones((2, 3, 2)))
    assert batch.lab.state.crashes.sum() > 0
    batch.restart([True, False])
    assert batch.lab.state.crashes[0].sum() == 0 and batch.lab.state.step.tolist() == [0, 60]
    odometry = batch.lab.readings["others"]["odometry"]
    assert np.array_equal(odometry[0, :, :2], batch.lab.state.position[0, 3:])
    assert not np.array_equal(odometry[1, :, :2], batch.lab.state.position[1, 3:])


# -- rewards ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TASKS)
def test_a_network_earns_in_the_batch_what_a_rollout_says_it_is_worth(name, rng):
    world, steps = read_world(name, robots=4), 120
    group = world.groups[0]
    batch = Batch(world, 4, steps=steps)
    inputs = batch.inputs.shape[-1]
    genes = rng.uniform(-1, 1, (1, group.controller.size(inputs)))
    shape = group.controller.shape(inputs)
    weights = group.controller.express(genes, inputs, world.dt)
    batch.reset(7)
    earned, wheels = np.zeros(4), np.empty((4, group.count, 2))
    for _ in range(steps):
        think_all(group.controller.KIND, np.array(shape), weights, world.dt, np.ones(2), batch.inputs,
                  np.zeros((4, group.count, 0)), np.empty((2, max(shape))), wheels)
        batch.step(wheels)
        earned += batch.reward.mean(axis=1)
    tried = rollout(world, genes, 7, trials=4, seconds=steps * world.dt)
    assert np.array_equal(batch.score.total / steps, tried.fitness[0])
    assert earned / steps == pytest.approx(tried.fitness[0], abs=1e-12)


def test_a_term_of_the_users_own_is_earned_through_the_readable_loop(own):
    world = read_world("avoid", robots=4)
    world = replace(world, fitness=(own("fitness", reward=lambda view: view.position[..., 0]),))
    batch = Batch(world, 2)
    assert not batch._step_parts
    batch.reset(1)
    batch.step(np.ones((2, 4, 2)))
    assert np.array_equal(batch.reward, batch.lab.state.position[..., 0])


# -- time and ends ----------------------------------------------------------------------------------------------------
def test_an_episode_is_as_long_as_a_trial_else_as_a_run(own_world):
    assert Batch(read_world("avoid", robots=4)).limit == 300
    assert Batch(read_world(own_world())).limit == 50
    assert Batch(read_world("avoid", robots=4), steps=7).limit == 7


def test_a_world_is_late_at_the_limit_and_not_before_and_never_when_it_has_ended(own_world):
    batch = Batch(read_world(own_world(limit=6)), 16, steps=40)
    batch.reset(2)
    for step in range(1, 41):
        batch.step(np.ones((16, 3, 2)))
        assert (batch.late == (~batch.ended & (step == 40))).all()
        assert (batch.ended == (batch.lab.state.crashes >= 6).any(axis=1)).all()
    assert 0 < batch.ended.sum() < 16


# -- who learns -------------------------------------------------------------------------------------------------------
def test_other_groups_follow_their_own_controllers(own_world):
    world = read_world(own_world(other=OTHERS.replace("<odometry/>", "")))
    fast, slow = (Batch(world, 3, steps=17, compiled=compiled) for compiled in (True, False))
    assert fast._step_parts and not slow._step_parts
    assert same(course(fast, 50), course(slow, 50))
    batch = Batch(world, 2)
    batch.reset(1)
    start = batch.lab.state.position.copy()
    for _ in range(10):
        batch.step(np.zeros((2, 3, 2)))
    assert np.array_equal(batch.lab.state.position[:, :3], start[:, :3])
    assert (batch.lab.state.position[:, 3:] != start[:, 3:]).all()


def test_a_named_group_learns_with_all_its_sensors_even_without_a_network(own_world):
    world = read_world(own_world(controller="<braitenberg/>", other=OTHERS))
    assert Batch(world, group="ants").inputs.shape == (1, 3, 23)
    assert Batch(world, group="others").inputs.shape == (1, 2, 18)  # and odometry as it is: it has no range
    assert Batch(world, group="others", without=["odometry"]).inputs.shape == (1, 2, 15)
    with pytest.raises(WorldError, match=r"no groups with a neural controller.*; there are: 'ants', 'others'"):
        Batch(world)


def test_a_world_without_fitness_has_nothing_to_teach():
    with pytest.raises(WorldError, match="'corral' has no <fitness>"):
        Batch(read_world("corral"), group=read_world("corral").groups[0].name)


# -- actions ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("actions, complaint", [
    (np.zeros((2, 4)), "of the shape \\(2, 4, 2\\), not float64 of the shape \\(2, 4\\)"),
    (np.full((2, 4, 2), "fast"), "must be numbers"),
    (np.where(np.arange(16).reshape(2, 4, 2) == 11, np.nan, 0.0), "action \\(1, 1, 1\\) is not a number"),
])
def test_a_wrong_action_is_refused_and_nothing_moves(actions, complaint):
    batch = Batch(read_world("avoid", robots=4), 2)
    batch.reset(1)
    with pytest.raises(FormigaError, match=complaint):
        batch.step(actions)
    assert batch.lab.state.step.tolist() == [0, 0]


@pytest.mark.parametrize("compiled", [True, False])
def test_actions_are_top_speeds_cut_at_one(compiled):
    batch = Batch(read_world("avoid", robots=1), 3, compiled=compiled)
    batch.reset(1)
    batch.step([[[0.5, -0.25]], [[7.0, -7.0]], [[np.inf, -np.inf]]])
    top = batch.group.robot.top_speed
    assert batch.lab.state.drive[:, 0].tolist() == [[0.5 * top, -0.25 * top], [top, -top], [top, -top]]


def test_a_batch_is_reset_before_it_steps():
    with pytest.raises(FormigaError, match="reset before its first step"):
        Batch(read_world("avoid", robots=4)).step(np.zeros((1, 4, 2)))
