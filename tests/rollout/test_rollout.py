"""The compiled rollout and the readable loop: the same bits, whatever the network, the contacts, the threads."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from formiga import rollout as module
from formiga.control.neural import Perceptron, learner
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.rollout import genes, lacking, rollout
from formiga.world.elements import element
from formiga.world.reader import read_text

WORLD = """<world name="w" dt="0.1" seconds="12"><arena width="1.2" depth="1.0"/>{things}
<contact model="{contact}" mode="{mode}" crash_limit="{limit}" at_limit="{at}" counts="{counts}"/>
<sbot count="{robots}" profile="{profile}" name="swarm"><scatter/>{sensors}<{network}/>{more}</sbot>{fitness}</world>"""
ALL = "".join(f'<fitness of="{each}"/>' for each in ("speed straightness clearance", "aggregation", "dispersion coverage",
                                                     "light")) + '<fitness of="crashes" weight="-0.7"/>'
LAMPS = '<lamp x="0.4" y="0.1" z="30cm"/><lamp x="-0.3" y="-0.2" name="low"/><cylinder x="0.1" y="0.1" radius="6cm"/>'


def world(network="perceptron", robots=5, contact="reposition", mode="minimal", limit=0, at="end", counts="steps", profile="tr",
          sensors="<proximity/>", things='<lamp x="0.4" y="0.1"/>', fitness=ALL, more=""):
    return read_text(WORLD.format(**locals()))


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("fitness", "steps", "crashes", "speed"))


@pytest.mark.parametrize("how", [
    {}, {"network": 'mlp hidden="5 3"'}, {"network": 'elman hidden="3"'}, {"network": 'ctrnn hidden="3"'},
    {"contact": "stop", "limit": 15}, {"contact": "stop", "limit": 9, "at": "die"}, {"mode": "published"}, {"contact": "none"},
    {"mode": "published", "counts": "objects", "limit": 40, "at": "die"}, {"contact": "stop", "counts": "objects", "limit": 25},
    {"profile": "draft"}, {"profile": "draft", "network": "ctrnn", "contact": "stop", "limit": 30},
    {"sensors": "<proximity/><light/>", "network": 'perceptron inputs="light proximity"', "things": LAMPS},
    {"sensors": '<light of="robots" name="others"/><light of="lamps" noise="0.2"/>', "things": LAMPS, "more": "<glow/>",
     "network": 'elman inputs="others light"', "fitness": '<fitness of="light"/>'},
    {"sensors": '<proximity response="reciprocal" reach="20cm" closed="true" noise="0"/>', "fitness": '<fitness of="speed"/>'},
], ids=str)
def test_the_compiled_rollout_is_the_readable_loop_bit_for_bit(how, rng):
    described = world(**how)
    group = learner(described)
    assert not lacking(described, group)
    genotypes = rng.uniform(-1, 1, (4, genes(described, group)))
    fast, slow = (rollout(described, genotypes, 11, 3, compiled=compiled) for compiled in (True, False))
    assert same(fast, slow)
    assert len(np.unique(fast.fitness)) > 6  # and they are not all the same by being nothing


def test_the_state_at_the_end_is_the_same_too(rng, monkeypatch):
    """Not only what is reported: poses, wheels, clocks, who lives."""
    kept = []
    monkeypatch.setattr(module, "_tried", lambda lab, *rest, _before=module._tried: kept.append(lab) or _before(lab, *rest))
    described = world(contact="stop", limit=12, profile="draft")
    genotypes = rng.uniform(-1, 1, (6, 32))
    for compiled in (True, False):
        rollout(described, genotypes, 5, 2, compiled=compiled)
    fast, slow = (lab.state for lab in kept)
    for name in ("position", "heading", "drive", "wheel_angle", "crashed", "crashes", "alive", "done", "step", "unresolved"):
        assert np.array_equal(getattr(fast, name), getattr(slow, name)), name
    assert fast.done.any() and not fast.done.all()


def test_threads_and_company_change_nothing(rng):
    genotypes = rng.uniform(-1, 1, (7, 32))
    described = world(robots=4)
    together = rollout(described, genotypes, 3, 4)
    assert same(together, rollout(described, genotypes, 3, 4, threads=3))
    for g in (0, 6):
        alone = rollout(described, genotypes[g:g + 1], 3, 4)
        assert np.array_equal(alone.fitness[0], together.fitness[g])
    fewer = rollout(described, genotypes, 3, 2)
    assert np.array_equal(fewer.fitness, together.fitness[:, :2])


def test_all_genotypes_start_from_the_same_places_and_other_seeds_from_others(rng):
    described = world()
    twins = np.repeat(rng.uniform(-1, 1, (1, 32)), 3, axis=0)
    tried = rollout(described, twins, 1, 5)
    assert (tried.fitness == tried.fitness[0]).all() and len(np.unique(tried.fitness[0])) == 5
    assert not (rollout(described, twins, 2, 5).fitness == tried.fitness).any()


def test_a_trial_that_ends_early_is_divided_by_all_its_steps():
    """One step of praise in a trial of 120 is a 120th."""
    genotype = np.zeros((1, 32))
    genotype[0, [0, 16]] = 1.0
    crashing = world(robots=1, contact="stop", limit=1, fitness='<fitness of="speed"/>')
    tried = rollout(crashing, genotype, 0, 6)
    assert (tried.steps < tried.asked).all()
    full = 2.0 / (1.0 + np.exp(-10.0)) - 1.0
    assert tried.fitness == pytest.approx(full * (tried.steps - 0) / tried.asked, abs=full / tried.asked * 1.001)
    assert (tried.crashes == 1).all() and tried.crash_rate == pytest.approx(1.0 / tried.steps)


def test_copies_of_a_world_have_the_same_start_and_the_same_noise():
    described = world(robots=3)
    lab = Simulation(described, seed=4, worlds=2, copies=3, genotypes={"swarm": np.zeros(32)})
    assert lab.state.worlds == 6 and np.array_equal(lab.state.position[:2], lab.state.position[4:])
    assert np.array_equal(lab.readings["swarm"]["proximity"][:2], lab.readings["swarm"]["proximity"][2:4])
    alone = Simulation(described, seed=4, worlds=2)
    assert np.array_equal(alone.state.position, lab.state.position[:2])


@pytest.mark.parametrize("how, reason", [
    ({"sensors": '<proximity/><encoders/>'}, "the sensor 'encoders' (<encoders>)"),
    ({"sensors": '<proximity/><proximity name="second" technique="cone"/>'}, "the sensor 'second' (<proximity>)")])
def test_a_world_without_a_kernel_goes_through_the_loop_and_says_why(how, reason, rng):
    described = world(**how)
    assert lacking(described, learner(described)) == reason
    genotypes = rng.uniform(-1, 1, (2, 32))
    plain = rollout(world(), genotypes, 2, 2)
    assert same(rollout(described, genotypes, 2, 2), plain)  # nobody reads the other sensor, so nothing else changes


def test_a_network_of_the_users_own_thinks_for_itself(own_registry):
    """One that inherits from ours, and does something else."""
    @element("sleepy", role="controller")
    @dataclass(frozen=True)
    class Sleepy(Perceptron):
        """Stands still."""

        def decide(self, view):
            return np.zeros((*view.shape, 2))

    described = world(network="sleepy")
    assert lacking(described, learner(described)) == "the controller <sleepy>"
    assert (rollout(described, np.ones((1, 32)), 2, 2).speed == 0.0).all()


def test_terms_of_the_users_own_go_through_the_loop(own, rng):
    described = world(fitness='<fitness of="speed"/>')
    mine = own("fitness", reward=lambda view: np.ones(view.position.shape[:2]))
    genotypes = rng.uniform(-1, 1, (2, 32))
    plain = rollout(described, genotypes, 2, 2)
    rewarded = rollout(replace(described, fitness=(*described.fitness, mine)), genotypes, 2, 2)
    assert rewarded.fitness == pytest.approx(plain.fitness + 1.0)


@pytest.mark.parametrize("genotypes, message", [
    (np.zeros((2, 31)), "31 genes, but <perceptron> of 'swarm' with 15 inputs has 32"),
    (np.zeros(32), "must be numbers from -1 to 1"), (np.full((1, 32), np.nan), "must be numbers from"),
    (np.zeros((0, 32)), "must be numbers"), (np.full((1, 32), 1.5), "must be numbers from -1 to 1")])
def test_genotypes_that_do_not_fit_are_refused(genotypes, message):
    for compiled in (True, False):
        with pytest.raises(WorldError, match=message):
            rollout(world(), genotypes, compiled=compiled)


@pytest.mark.parametrize("how, message", [
    ({"seconds": float("nan")}, "cannot be simulated"), ({"seconds": -1.0}, "cannot be simulated"),
    ({"seconds": float("inf")}, "cannot be simulated"), ({"trials": 0}, "out of range")])
def test_trials_that_cannot_be_are_refused(how, message):
    with pytest.raises(WorldError, match=message):
        rollout(world(), np.zeros((1, 32)), **how)


def test_a_world_that_does_not_say_what_is_good_has_no_rollout():
    with pytest.raises(WorldError, match="does not say what is good"):
        rollout(world(fitness=""), np.zeros((1, 32)))


def test_more_worlds_than_fit_into_memory_are_refused_at_once():
    with pytest.raises(WorldError, match="GB of memory; this machine has"):
        Simulation(world(), worlds=2**31)
