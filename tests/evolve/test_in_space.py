"""Evolution in three dimensions: the same results for any batch and any number of processes; and what `check` says of it."""

import json

import numpy as np
import pytest

import formiga
from formiga.errors import FormigaError
from formiga.evolve import champion, evolve
from formiga.evolve.checkpoint import resume as read
from formiga.lab import check_world
from formiga.rollout import rollout
from formiga.world.reader import read_text

SMALL = {"generations": 2, "population": 4, "trials": 2, "test": 3}


def tiny(name):
    """A shipped world with trials of a second."""
    world = formiga.read_world(name, robots=2)
    object.__setattr__(world.search, "seconds", 1.0)
    return world


@pytest.mark.parametrize("name", ["avoid", "avoid3d"])
def test_both_engines_evolve_and_jobs_change_nothing(name, tmp_path):
    kept = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        outcome = evolve(folder, tiny(name), 5, jobs=jobs, **SMALL)
        genes = json.loads((folder / champion.GENOTYPE).read_text())["genes"]
        kept.append((read(folder).table().tolist(), genes, outcome.champion.tested.fitness.tolist()))
    assert kept[0] == kept[1]
    assert np.isfinite(kept[0][0]).all() and len(set(np.ravel(kept[0][0]))) > 1
    described = formiga.read_world(folder / champion.WORLD)
    assert described.engine == formiga.read_world(name).engine
    replay = formiga.read_recording(folder / champion.REPLAY)
    again = formiga.simulate(described, 1.0, replay.seed)
    assert again.state.position[0, :, 0] == pytest.approx(replay.poses().x[-1, 0], abs=0)


def test_a_genotype_is_worth_the_same_alone_and_among_others():
    genotypes = np.random.default_rng(2).uniform(-1, 1, (3, 32))
    together = rollout(tiny("avoid3d"), genotypes, seed=3, trials=2, seconds=2.0)
    for number, genotype in enumerate(genotypes):
        alone = rollout(tiny("avoid3d"), genotype[None], seed=3, trials=2, seconds=2.0)
        assert np.array_equal(alone.fitness[0], together.fitness[number])
    assert np.array_equal(rollout(tiny("avoid3d"), genotypes, seed=3, trials=2, seconds=2.0, threads=2).fitness,
                          together.fitness)


# -- formiga check ----------------------------------------------------------------------------------------------------
WORLD = """<world name="w" engine="{engine}"><arena width="1" depth="1"/><sbot name="a"><proximity/>{controller}</sbot>
<sbot name="b"><proximity/>{other}</sbot>{fitness}{search}</world>"""
GOOD = {"controller": "<perceptron/>", "other": "<braitenberg/>", "fitness": '<fitness of="speed"/>', "search": "<genetic/>"}


@pytest.mark.parametrize("engine", ["planar", "spatial"])
@pytest.mark.parametrize("change", [
    {"controller": "<braitenberg/>"},
    {"other": "<perceptron/>"},
    {"other": "<perceptron/>", "search": ""},
    {"fitness": ""},
    {"fitness": '<fitness of="light"/>'},
    {"fitness": '<fitness of="sped"/>', "search": ""},
    {"search": '<genetic group="b"/>'},
    {"search": '<genetic group="c"/>'},
    {"controller": '<perceptron inputs="light"/>'},
    {"controller": '<mlp hidden="900 900"/>', "search": '<genetic population="100000"/>'},
])
def test_check_says_what_evolve_says(engine, change, tmp_path):
    world = read_text(WORLD.format(engine=engine, **(GOOD | change)))
    with pytest.raises(FormigaError) as evolving:
        evolve(tmp_path / "out", world)
    with pytest.raises(FormigaError) as checking:
        check_world(world)
    assert str(checking.value) == str(evolving.value)


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_check_takes_a_step_with_a_term_of_ones_own(engine, own, tmp_path):
    term = own("fitness", reward=lambda view: np.zeros(3))
    world = read_text(WORLD.format(engine=engine, **(GOOD | {"fitness": f"<{type(term).__name__}/>".replace("Own", "own-")})))
    with pytest.raises(FormigaError, match="must give finite numbers"):
        check_world(world)


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_check_agrees_to_what_only_an_environment_learns_in(engine):
    """A <fitness> without a network is a reward; nothing is said about evolution."""
    check_world(read_text(WORLD.format(engine=engine, **(GOOD | {"controller": "<braitenberg/>", "search": ""}))))
    check_world(read_text(WORLD.format(engine=engine, **GOOD)))
