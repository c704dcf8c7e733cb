"""The C++ twin does the same work: the same poses and the same crashes, up to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.benchmarks import avoid24, comm, cpp, rollout, swarmod
from formiga.benchmarks.measure import TOLERANCE, advance
from formiga.loop import Simulation
from formiga.rollout import rollout as roll
from formiga.world.model import World

pytestmark = pytest.mark.skipif(cpp.compiler() is None, reason="there is no g++ here")


@pytest.mark.parametrize("world, worlds", [
    (avoid24.world(16), 3), (avoid24.world(300), 1),
    (swarmod.world(1), 20), (swarmod.world(16), 4), (swarmod.world(200), 1),
], ids=lambda value: f"{value.name}-{value.robots}" if isinstance(value, World) else str(value))
def test_plain_cpp_ends_where_the_engine_ends(world, worlds):
    simulation = Simulation(world, seed=3, worlds=worlds)
    twin = cpp.Plain(simulation)
    start = simulation.state.position.copy()
    advance(simulation, 150)
    twin.steps(150)
    position, heading, crashes, _ = twin.read()
    assert np.abs(position - start).max() > 0.5  # they went somewhere, so agreeing means something
    np.testing.assert_allclose(position, simulation.state.position, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(heading, simulation.state.heading, rtol=0, atol=TOLERANCE)
    np.testing.assert_array_equal(crashes, simulation.state.crashes)
    if world.robots > 1:
        assert crashes.sum() > 0  # contacts were part of the work


@pytest.mark.parametrize("robots, obstacles, worlds", [(16, 0, 3), (16, 4, 3), (300, 75, 1)])
def test_plain_cpp_hears_the_messages_that_the_engine_hears(robots, obstacles, worlds):
    simulation = Simulation(comm.world(robots, obstacles), seed=3, worlds=worlds)
    twin = cpp.Talking(simulation)
    start = simulation.state.position.copy()
    advance(simulation, 150)
    twin.steps(150)
    assert comm.differ(simulation, twin) <= TOLERANCE
    heard, dropped, _, sender = twin.heard()
    assert np.abs(simulation.state.position - start).max() > 0.5 and simulation.state.crashes.sum() > 0
    assert (heard.sum(axis=1) > 100 * robots).all() and dropped.sum() > 0 and (sender >= 0).any()


def test_a_message_that_only_one_of_them_heard_is_a_difference():
    simulation = Simulation(comm.world(16))
    twin = cpp.Talking(simulation)
    advance(simulation, 20)
    twin.steps(20)
    assert comm.differ(simulation, twin) <= TOLERANCE
    simulation.state.memory["robots/range_and_bearing", "traffic"][0, 3, 1] += 1
    assert comm.differ(simulation, twin) == np.inf


def test_plain_cpp_starts_from_where_the_simulation_is():
    simulation = Simulation(avoid24.world(16))
    advance(simulation, 10)
    position, heading, _, _ = cpp.Plain(simulation).read()
    np.testing.assert_array_equal(position, simulation.state.position)
    np.testing.assert_array_equal(heading, simulation.state.heading)


@pytest.mark.parametrize("robots", [1, 16])
def test_plain_cpp_rolls_a_generation_to_the_same_poses_and_the_same_fitness(robots):
    world = rollout.world(robots)
    genotypes = rollout.population(world, 8)
    assert rollout.apart(world, genotypes, 3, 150) <= TOLERANCE


def test_plain_cpp_counts_crashes_and_fitness_as_rollout_does():
    world = rollout.world(16)
    genotypes = rollout.population(world, 5)
    twin = cpp.Plain(rollout.start(world, genotypes, 2))
    twin.steps(100)
    _, _, crashes, total = twin.read()
    tried = roll(world, genotypes, rollout.SEED, 2, 100 * world.dt)
    np.testing.assert_array_equal(crashes.sum(axis=1), tried.crashes.ravel())
    np.testing.assert_allclose(total / 100, tried.fitness.ravel(), rtol=1e-6)
    assert crashes.sum() > 0 and np.ptp(tried.fitness) > 0.1  # they did not all stand still
