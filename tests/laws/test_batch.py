"""One world of a batch is that world alone, bit for bit; threads, order and repetition change nothing."""

import numpy as np
import pytest

from formiga.control.braitenberg import Braitenberg
from formiga.control.random_walk import RandomWalk
from formiga.control.turn_away import TurnAway
from formiga.estimate.odometry import Odometry
from formiga.loop import Simulation
from formiga.runs import simulate
from formiga.sense.proximity import Proximity
from formiga.sense.scanner import Scanner
from formiga.world.elements import profiled
from formiga.world.model import Arena, Contact, Cylinders, Group, Wall, World
from formiga.world.placement import Connected, Scatter
from formiga.world.robots import Disc, SBot
from tests.reference.lab import same_state

CONTACTS = {"none": Contact("none"), "stop": Contact("stop", crash_limit=40), "minimal": Contact("reposition", crash_limit=60),
            "published": Contact("reposition", "published", 25, "die"),
            "objects": Contact("reposition", "published", 60, "die", "objects")}


def crowd(contact="minimal"):
    """Two kinds of robots, everything noisy, in a narrow place."""
    sbots = Group(profiled(SBot, "draft"), 7, "sbots", (Connected(),),
                  (profiled(Proximity, "draft"),), Braitenberg(), estimators=(Odometry(),))
    discs = Group(Disc(0.05, 0.08, 0.5, 0.01, motor_noise=0.1, position_noise=0.1, heading_noise=0.2), 5, "discs", (Scatter(),),
                  (Scanner(16, noise=0.01),), RandomWalk(0.7))
    return World(contact=CONTACTS[contact], things=(Arena(1.5, 1.2), Wall((0.1, -0.6, 0.2, -0.3)), Cylinders(2, 0.05)),
                 groups=(sbots, discs))


@pytest.mark.parametrize("contact", CONTACTS)
def test_each_world_of_a_batch_equals_that_world_alone(contact):
    batch = Simulation(crowd(contact), 11, 5)
    alone = [Simulation(crowd(contact), 11, 1, first_world=k) for k in range(5)]
    for _ in range(120):
        batch.step()
        for simulation in alone:
            simulation.step()
    assert contact == "none" or batch.state.crashes.sum() > 50
    for k, simulation in enumerate(alone):
        assert same_state(simulation.state, batch.state, slice(k, k + 1)) == []
        for group in ("sbots", "discs"):
            for sensor, reading in simulation.readings[group].items():
                assert np.array_equal(reading[0], batch.readings[group][sensor][k])
        for key, memory in simulation.state.memory.items():
            assert np.array_equal(memory[0], batch.state.memory[key][k])


@pytest.mark.parametrize("contact", ["stop", "minimal"])
def test_threads_change_no_bit(contact):
    runs = [simulate(crowd(contact), 10.0, seed=3, worlds=7, threads=threads) for threads in (1, 2, 3, 7)]
    for run in runs[1:]:
        assert same_state(run.state, runs[0].state) == []
        assert run.state.memory.keys() == runs[0].state.memory.keys()
        for key, memory in run.state.memory.items():
            assert np.array_equal(memory, runs[0].state.memory[key])


def test_worlds_that_have_ended_are_the_same_whether_or_not_steps_went_on_after_their_end():
    """With a recorder the run stops with the last world's end; without, a block of steps may go on after it."""
    blocks = simulate(crowd(), 10.0, seed=3, worlds=7)
    single = simulate(crowd(), 10.0, seed=3, worlds=7, record=lambda shards: None)
    assert single.state.done.all() and not single.state.drive.any()
    assert same_state(blocks.state, single.state) == []


def test_the_memory_of_a_world_that_has_ended_stays_however_many_steps_follow():
    """Odometry adds up what the wheels turned, and a random walk counts down: neither goes on after the end."""
    single = simulate(crowd("stop"), 10.0, seed=3, worlds=7, record=lambda shards: None)
    longer = Simulation(crowd("stop"), 3, 7)
    for _ in range(int(single.state.step.max()) + 40):
        longer.step()
    assert longer.state.done.all()
    assert len(single.state.memory) >= 2
    for key, memory in single.state.memory.items():
        assert np.array_equal(memory, longer.state.memory[key]), key


def test_two_runs_with_one_seed_are_the_same_and_with_two_seeds_are_not():
    one, again, other = (simulate(crowd(), 5.0, seed=seed, worlds=2) for seed in (3, 3, 4))
    assert same_state(one.state, again.state) == []
    assert not np.isclose(one.state.position, other.state.position).any(axis=-1).any()


def test_the_worlds_of_a_batch_differ_from_each_other():
    position = simulate(crowd(), 5.0, seed=3, worlds=4).state.position
    for a in range(4):
        for b in range(a):
            assert not np.isclose(position[a], position[b]).any(axis=-1).any()


def test_reading_the_sensors_or_not_changes_nothing():
    looked, blind = Simulation(crowd(), 1, 2), Simulation(crowd(), 1, 2)
    for _ in range(30):
        looked.readings  # noqa: B018
        looked.look_again()
        looked.readings  # noqa: B018
        looked.step()
        blind.step()
    assert same_state(looked.state, blind.state) == []


def avoiders(order):
    """Two groups without noise, told apart by size, in one room."""
    angles = tuple(np.linspace(0, 2 * np.pi, 12, endpoint=False))
    groups = {name: Group(Disc(r, 0.1, 0.2), 3, name, (Scatter(width=0.6, depth=1.2, x=x),),
                          (Proximity(angles=angles, mount=r, response="reciprocal", noise=(0.0,), share=0.0),), TurnAway())
              for name, r, x in (("small", 0.04, -0.5), ("large", 0.09, 0.5))}
    return World(things=(Arena(2.0, 1.5),), groups=tuple(groups[name] for name in order))


def test_the_order_of_groups_changes_no_trajectory_beyond_rounding():
    """Sums over neighbours may be taken in another order; everything else is the same."""
    one, other = Simulation(avoiders(("small", "large"))), Simulation(avoiders(("large", "small")))
    other.state.position[...] = one.state.position[:, [3, 4, 5, 0, 1, 2]]
    other.state.heading[...] = one.state.heading[:, [3, 4, 5, 0, 1, 2]]
    for _ in range(60):
        one.step()
        other.step()
    np.testing.assert_allclose(other.state.position[:, [3, 4, 5, 0, 1, 2]], one.state.position, atol=1e-9)
    np.testing.assert_allclose(other.state.heading[:, [3, 4, 5, 0, 1, 2]], one.state.heading, atol=1e-9)


def test_a_world_without_robots_runs():
    simulation = Simulation(World(things=(Wall((0, 0, 1, 0)),)), worlds=2)
    for _ in range(3):
        simulation.step()
    assert list(simulation.state.step) == [3, 3] and not simulation.state.done.any()
    assert Simulation(World()).readings == {}
