"""Networks: the same numbers as with matrices, genes where the layout says, and files that are numbers and nothing else."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import formiga
from formiga.control.neural import Ctrnn, Elman, Mlp, Perceptron, learner
from formiga.control.neural import genotype as genotypes
from formiga.control.neural.think import think_all
from formiga.errors import WorldError
from formiga.lab import check_world
from formiga.loop import Simulation
from formiga.sense.encoders import Encoders
from formiga.sense.proximity import Proximity
from formiga.world.model import Arena, Group, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from tests.reference import networks as reference

INPUTS, DT, TOP = 6, 0.1, 0.08


def outputs(network, genes, xs, worlds=1):
    """What a network says to a sequence of inputs (T, W, n, I), as outputs (T, W, n, 2) in 0..1."""
    weights = network.express(genes, INPUTS, DT)
    shape = network.shape(INPUTS)
    neurons = np.zeros((*xs.shape[1:3], network.memory(INPUTS)))
    said = []
    for x in xs:
        wheels = np.empty((*x.shape[:2], 2))
        think_all(network.KIND, np.array(shape), weights, DT, np.full(2, TOP), np.ascontiguousarray(x), neurons,
                  np.empty((2, max(shape))), wheels)
        said.append(0.5 * (wheels / TOP + 1.0))
    return np.array(said)


@pytest.mark.parametrize("hidden", [(), (4,), (7, 3), (2, 9, 5)])
def test_a_layered_network_is_a_chain_of_matrices(hidden, rng):
    network = Mlp(hidden=hidden) if hidden else Perceptron()
    genes = rng.uniform(-1, 1, (3, network.size(INPUTS)))
    xs = rng.uniform(0, 1, (2, 3, 4, INPUTS))
    said = outputs(network, genes, xs)
    for t, w, i in np.ndindex(2, 3, 4):
        expected = reference.layered(network.span * genes[w], network.shape(INPUTS), xs[t, w, i])
        assert_allclose(said[t, w, i], expected, atol=1e-12)


def test_an_elman_network_sees_itself_one_step_ago(rng):
    network = Elman(hidden=4)
    genes = rng.uniform(-1, 1, (2, network.size(INPUTS)))
    xs = rng.uniform(0, 1, (9, 2, 3, INPUTS))
    said = outputs(network, genes, xs)
    for w, i in np.ndindex(2, 3):
        assert_allclose(said[:, w, i], reference.elman(network.span * genes[w], INPUTS, 4, xs[:, w, i]), atol=1e-12)


def test_a_ctrnn_follows_beers_equations(rng):
    network = Ctrnn(hidden=5, span=3.0)
    genes = rng.uniform(-1, 1, (2, network.size(INPUTS)))
    xs = rng.uniform(0, 1, (30, 2, 3, INPUTS))
    said, weights = outputs(network, genes, xs), network.express(genes, INPUTS, DT)
    for w, i in np.ndindex(2, 3):
        assert_allclose(said[:, w, i], reference.ctrnn(weights[w], INPUTS, 5, xs[:, w, i], DT), atol=1e-12)


def test_a_lonely_neuron_decays_with_its_time_constant():
    """tau dy/dt = -y + u x has the solution u x (1 - exp(-t / tau)); Euler's method gives u x (1 - (1 - dt/tau)^n)."""
    network = Ctrnn(hidden=1, fastest=0.1, slowest=10.0)
    genes = np.zeros((1, network.size(1)))
    genes[0, 0], genes[0, 2] = 0.0, 0.3                 # tau = sqrt(0.1 * 10) = 1 s, u = 3
    genes[0, -1] = 1.0                                  # the right wheel listens
    weights = network.express(genes, 1, DT)
    assert weights[0, 0] == pytest.approx(1.0)
    neurons, wheels = np.zeros((1, 1, 1)), np.empty((1, 1, 2))
    for _ in range(20):
        think_all(network.KIND, np.array(network.shape(1)), weights, DT, np.full(2, TOP), np.ones((1, 1, 1)), neurons,
                  np.empty((2, 2)), wheels)
    assert neurons[0, 0, 0] == pytest.approx(3.0 * (1.0 - 0.9**20))
    assert wheels[0, 0, 0] == 0.0 and wheels[0, 0, 1] > 0.0


def test_time_constants_lie_in_their_range_and_weights_in_theirs(rng):
    network = Ctrnn(hidden=3, fastest=0.2, slowest=5.0, span=4.0)
    ends = np.ones((1, network.size(2)))
    genes = np.concatenate([rng.uniform(-1, 1, (50, network.size(2))), ends, -ends])
    weights = network.express(genes, 2, DT)
    taus = weights[:, [0, 7, 14]]
    assert taus.min() == pytest.approx(0.2) and taus.max() == pytest.approx(5.0)
    assert np.abs(np.delete(weights, [0, 7, 14], axis=1)).max() == pytest.approx(4.0)


@pytest.mark.parametrize("network, size", [
    (Perceptron(), 32), (Mlp(hidden=(4,)), 74), (Elman(hidden=5), 117), (Ctrnn(hidden=5), 122)])
def test_the_s_bots_fifteen_sensors_make_so_many_genes(network, size):
    assert network.size(15) == size


# -- in a world -------------------------------------------------------------------------------------------------------
IR = Proximity()


def world(network, count=2, sensors=(IR,)):
    places = tuple(At(0.3 * i, 0.0, 0.0) for i in range(count))
    return World(things=(Arena(2.0, 2.0),), groups=(Group(SBot(), count, "swarm", places, sensors, network),))


def test_zero_genes_stand_still_and_biases_drive():
    lab = Simulation(world(Perceptron()), genotypes={"swarm": np.zeros(32)})
    lab.step()
    assert (lab.state.drive == 0.0).all()
    genes = np.zeros(32)
    genes[[0, 16]] = 1.0
    lab = Simulation(world(Perceptron()), genotypes={"swarm": genes})
    lab.step()
    assert_allclose(lab.state.drive[0, 0], 0.08 * (2.0 / (1.0 + np.exp(-10.0)) - 1.0))


def test_every_world_has_its_own_genes():
    genes = np.zeros((3, 32))
    genes[:, 0] = genes[:, 16] = [-1.0, 0.0, 1.0]
    lab = Simulation(world(Perceptron()), worlds=3, genotypes={"swarm": genes})
    lab.step()
    assert list(np.sign(lab.state.drive[:, 0, 0])) == [-1.0, 0.0, 1.0]


def test_genes_survive_a_reset_and_memory_does_not(rng):
    network = Ctrnn(hidden=2)
    lab = Simulation(world(network), genotypes={"swarm": rng.uniform(-1, 1, network.size(15))})
    first = []
    for _ in range(2):
        for _ in range(5):
            lab.step()
            first.append(lab.state.drive.copy())
        lab.reset()
    assert_allclose(first[:5], first[5:], atol=0)


def test_a_genotype_file_gives_the_same_run_as_its_genes(tmp_path, rng):
    genes = rng.uniform(-1, 1, 32)
    genotypes.write(tmp_path / "mine.json", genotypes.Genotype("perceptron", genes))
    by_file = Simulation(world(Perceptron(genotype=str(tmp_path / "mine.json"))), worlds=2)
    by_hand = Simulation(world(Perceptron()), worlds=2, genotypes={"swarm": genes})
    for _ in range(20):
        by_file.step()
        by_hand.step()
    assert (by_file.state.position == by_hand.state.position).all()


def test_an_evolved_brain_travels_in_a_recording(tmp_path, rng):
    genotypes.write(tmp_path / "mine.json", genotypes.Genotype("perceptron", rng.uniform(-1, 1, 32)))
    run = formiga.simulate(world(Perceptron(genotype=str(tmp_path / "mine.json"))), 2.0, out=tmp_path / "out")
    (tmp_path / "mine.json").unlink()
    again = formiga.simulate(formiga.read_recording(run.recording).world, 2.0)
    assert (again.state.position == run.state.position).all()


def test_the_learner_is_the_only_group_with_a_network_or_the_named_one():
    alone = world(Perceptron())
    assert learner(alone).name == "swarm"
    two = replace(alone, groups=(*alone.groups, replace(alone.groups[0], name="other", place=(At(0, 0.5, 0), At(0, -0.5, 0)))))
    assert learner(two, "other").name == "other"
    with pytest.raises(WorldError, match=r"2 groups with a network.*'swarm', 'other'; say which"):
        learner(two)
    with pytest.raises(WorldError, match="no group 'othr'"):
        learner(two, "othr")
    with pytest.raises(WorldError, match="no groups with a network"):
        learner(formiga.read_world("corral"))
    with pytest.raises(WorldError, match="its controller is no network"):
        learner(formiga.read_world("corral"), "swarm")


@pytest.mark.parametrize("search, group, complaint", [
    ("<genetic/>", "", "mine.xml:3: world 'world' has no groups with a network"),
    ('<cma_es group="pin"/>', "pin", "mine.xml:3: there is no group 'pin' to evolve; there are: 'ants'."),
    ('<cma_es group="ants"/>', "ants", "mine.xml:3: 'ants' cannot evolve"),
    ("", "", "mine.xml:1: world 'world' has no groups with a network"),
])
def test_a_world_that_cannot_evolve_is_refused_with_the_line_of_its_search(search, group, complaint):
    text = f'<world><arena width="1" depth="1"/>\n<sbot name="ants"/>\n{search}</world>'
    with pytest.raises(WorldError) as refused:
        learner(read_text(text, "mine.xml"), group)
    assert str(refused.value).startswith(complaint)


# -- what goes wrong --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("network, sensors, message", [
    (Perceptron(), (Proximity(),), "has no genotype yet. `formiga evolve` finds one; or name a file with its 32 genes"),
    (Perceptron(inputs="sonar"), (Proximity(),), "carries no sensor 'sonar'; it carries: proximity"),
    (Perceptron(inputs=" "), (Proximity(),), "names no sensor"),
    (Perceptron(inputs="encoders"), (Proximity(), Encoders()), "<encoders> has no full reading"),
])
def test_a_network_that_cannot_think_says_why(network, sensors, message):
    with pytest.raises(WorldError, match=message):
        Simulation(world(network, sensors=sensors)).step()


def test_a_world_whose_network_waits_for_genes_is_still_a_good_world():
    check_world(world(Perceptron()))
    with pytest.raises(WorldError, match="carries no sensor 'sonar'"):
        check_world(world(Perceptron(inputs="sonar")))  # but what no genes could mend is found


def test_genes_of_the_wrong_number_are_refused(tmp_path):
    with pytest.raises(WorldError, match="31 genes, but <perceptron> of 'swarm' with 15 inputs has 32"):
        Simulation(world(Perceptron()), genotypes={"swarm": np.zeros(31)}).step()
    genotypes.write(tmp_path / "short.json", genotypes.Genotype("perceptron", np.zeros(31)))
    with pytest.raises(WorldError, match=r"short.json: 31 genes, but <perceptron>"):
        Simulation(world(Perceptron(genotype=str(tmp_path / "short.json")))).step()
    genotypes.write(tmp_path / "other.json", genotypes.Genotype("elman", np.zeros(32)))
    with pytest.raises(WorldError, match=r"other.json: a genotype of a <elman>, not of a <perceptron>"):
        Simulation(world(Perceptron(genotype=str(tmp_path / "other.json")))).step()
    with pytest.raises(WorldError, match=r"must be finite numbers \(genes,\) or \(worlds, genes\)"):
        Simulation(world(Perceptron()), worlds=2, genotypes={"swarm": np.zeros((3, 32))})
    with pytest.raises(WorldError, match="no group 'crowd'; there are: swarm"):
        Simulation(world(Perceptron()), genotypes={"crowd": np.zeros(32)})


def test_a_ctrnn_faster_than_the_world_is_refused():
    lab = Simulation(world(Ctrnn(fastest=0.05)), genotypes={"swarm": np.zeros(122)})
    with pytest.raises(WorldError, match=r"fastest: 0.05 s is below the control period, 0.1 s"):
        lab.step()
    with pytest.raises(WorldError, match="1 s is below 'fastest', 2 s"):
        Simulation(world(Ctrnn(fastest=2.0, slowest=1.0)), genotypes={"swarm": np.zeros(122)}).step()
    with pytest.raises(WorldError, match=r"2\.5 is not a whole number"):
        Mlp(hidden=(2.5,))


GOOD = {"formiga": "genotype", "format": 1, "controller": "perceptron", "genes": [0.5], "about": {}}


@pytest.mark.parametrize("content, message", [
    ("", "not a genotype, or cut short"), ("{", "not a genotype, or cut short"), ("[1]", "not a genotype of formiga"),
    ('{"a": NaN}', "not a genotype, or cut short"), (json.dumps({**GOOD, "format": 2}), "format 2; this formiga reads"),
    (json.dumps({**GOOD, "genes": [1.5]}), "from -1 to 1"), (json.dumps({**GOOD, "genes": ["x"]}), "from -1 to 1"),
    (json.dumps({**GOOD, "genes": [True]}), "from -1 to 1"), (json.dumps({**GOOD, "genes": {}}), "from -1 to 1"),
    (json.dumps({**GOOD, "controller": 3}), "what controller"), ("[" * 100_000, "not a genotype, or cut short"),
])
def test_a_file_that_is_no_genotype_is_refused_in_one_sentence(content, message, tmp_path):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(WorldError, match=message) as wrong:
        genotypes.read(tmp_path / "x.json")
    assert "x.json" in str(wrong.value) and "\n" not in str(wrong.value)


def test_every_digit_of_a_gene_is_kept(tmp_path, rng):
    genes = rng.uniform(-1, 1, 100)
    genotypes.write(tmp_path / "g.json", genotypes.Genotype("mlp", genes, {"seed": 3}))
    found = genotypes.read(tmp_path / "g.json")
    assert (found.genes == genes).all() and found.about == {"seed": 3} and found.controller == "mlp"
