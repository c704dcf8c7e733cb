"""Laws of the searches: reproducible, inside the borders, and better by the generation."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from formiga.errors import FormigaError, WorldError
from formiga.evolve import CmaEs, Genetic
from formiga.evolve.search import reflect
from formiga.world.reader import read_text
from formiga.world.writer import to_text

SEARCHES = [
    Genetic(population=20), Genetic(population=21, selection="truncation", crossover=0.5, rate=0.3, elite=2),
    Genetic(population=2, elite=0, mutation=2.0), CmaEs(population=20), CmaEs(population=2), CmaEs(population=3, sigma=3.0),
]
every_search = pytest.mark.parametrize("search", SEARCHES, ids=lambda search: f"{type(search).__name__}-{search.population}")


def sphere(genes):
    """Best, and 0, where every gene is 0.3."""
    return -np.sum((genes - 0.3) ** 2, axis=1)


def follow(search, fitness, generations, size=4, seed=7):
    """The populations that a search asks, (generations + 1, population, size)."""
    course = search.start(size, seed)
    asked = [course.ask()]
    for _ in range(generations):
        course.tell(fitness(asked[-1]))
        asked.append(course.ask())
    return np.array(asked)


# -- both -------------------------------------------------------------------------------------------------------------
@every_search
def test_the_same_seed_gives_the_same_bits_and_another_seed_gives_others(search):
    run = follow(search, sphere, 6)
    np.random.seed(1)  # nobody listens to the global generator
    assert_array_equal(run, follow(search, sphere, 6))
    assert not np.any(run == follow(search, sphere, 6, seed=8))


@every_search
def test_telling_the_same_fitness_again_asks_the_same_populations(search):
    run = follow(search, sphere, 6)
    told = iter([sphere(population) for population in run])
    assert_array_equal(run, follow(search, lambda genes: next(told), 6))


@every_search
def test_the_course_depends_on_the_fitness_only_by_its_order(search):
    assert_array_equal(follow(search, sphere, 6), follow(search, lambda genes: 5.0 + 0.25 * sphere(genes), 6))


@every_search
@pytest.mark.parametrize("fitness", [
    lambda genes: genes.sum(axis=1), lambda genes: np.abs(genes).sum(axis=1), lambda genes: np.zeros(len(genes))])
def test_genes_stay_in_their_range_even_when_the_best_are_at_its_border(search, fitness):
    run = follow(search, fitness, 60)
    assert run.dtype == np.float64 and run.shape == (61, search.population, 4)
    assert np.abs(run).max() <= 1.0


@pytest.mark.parametrize("best", [0.0, 0.3, -1.0, 1.0])
@pytest.mark.parametrize("search, near", [
    (CmaEs(population=20), 1e-6), (Genetic(population=60, mutation=0.02), 0.05),
    (Genetic(population=60, mutation=0.02, selection="truncation"), 0.05)])
def test_a_hill_is_climbed_wherever_its_top_is_inside_or_at_the_border(search, near, best):
    for seed in range(3):
        last = follow(search, lambda genes: -np.sum((genes - best) ** 2, axis=1), 150, size=5, seed=seed)[-1]
        assert np.abs(last - best).max(axis=1).min() < near


def test_a_cloud_that_has_shrunk_to_a_point_stays_there():
    run = follow(CmaEs(population=12), sphere, 1200)
    assert_allclose(run[-1], 0.3, atol=1e-9)
    assert_array_equal(run[-1], run[-2])


@every_search
def test_asking_twice_gives_the_same_and_a_changed_answer_changes_nothing(search):
    course = search.start(3, 0)
    asked = course.ask()
    course.ask()[:] = 99.0
    assert_array_equal(asked, course.ask())


@every_search
@pytest.mark.parametrize("wrong, message", [
    (lambda n: [np.nan] + [0.0] * (n - 1), "individual 0 in generation 0 is nan"),
    (lambda n: [0.0] * (n - 1) + [-np.inf], "in generation 0 is -inf; it must be a finite number"),
    (lambda n: [0.0] * (n + 1), "must have the shape"), (lambda n: "much", "not an array of numbers"),
    (lambda n: [None] * n, "is nan|not an array"),
])
def test_fitness_that_is_not_a_number_each_is_refused_and_changes_nothing(search, wrong, message):
    course = search.start(3, 0)
    asked = course.ask()
    with pytest.raises(FormigaError, match=message):
        course.tell(wrong(search.population))
    assert_array_equal(asked, course.ask())


@pytest.mark.parametrize("search", [Genetic(population=100_000), CmaEs(population=100)])
def test_more_genes_than_fit_into_memory_are_refused(search):
    with pytest.raises(FormigaError, match="lower 'population'"):
        search.start(20_000, 0)
    with pytest.raises(WorldError, match="genes: 0 is out of range"):
        search.start(0, 0)


# -- genetic ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("elite", [1, 3])
@pytest.mark.parametrize("selection", ["tournament", "truncation"])
def test_the_elite_is_never_lost_under_a_fitness_without_noise(selection, elite):
    search = Genetic(population=15, elite=elite, selection=selection, mutation=0.5)
    for seed in range(5):
        for before, after in zip(*(lambda run: (run[:-1], run[1:]))(follow(search, sphere, 20, seed=seed))):
            best = before[np.argsort(-sphere(before), kind="stable")[:elite]]
            assert_array_equal(after[:elite], best)


def children(fitness, **attributes):
    """Who is whose parent in one generation without mutation: the index of the parent that each gene came from."""
    search = Genetic(mutation=0.0, elite=0, population=len(fitness), **attributes)
    course = search.start(30, 1)
    parents = course.ask()
    course.tell(fitness)
    matches = course.ask()[:, None, :] == parents[None, :, :]  # (child, parent, gene); genes are all different
    assert (matches.sum(axis=1) == 1).all()
    return matches.argmax(axis=1)


def test_crossover_takes_every_gene_from_one_of_two_parents_at_its_own_place():
    owners = children(np.arange(100.0), crossover=1.0)
    couples = [len(set(row)) for row in owners.tolist()]
    assert max(couples) == 2 and np.mean(couples) > 1.9
    assert abs(np.mean(owners == owners[:, :1]) - 0.5) < 0.1  # half of the genes each, and all of those with one parent


def test_without_crossover_a_child_has_one_parent():
    owners = children(np.arange(100.0), crossover=0.0)
    assert (owners == owners[:, :1]).all()


def test_truncation_gives_the_best_and_only_them_the_same_number_of_children():
    owners = children(np.arange(50.0)[::-1], selection="truncation", parents=0.2)[:, 0]
    assert_array_equal(np.bincount(owners, minlength=50), [5] * 10 + [0] * 40)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_tournament_of_k_selects_the_place_n_over_k_plus_1_on_average(size, rng):
    """The least of k uniform numbers has the mean 1/(k+1) and the variance k/((k+1)^2 (k+2))."""
    fitness, count = rng.random(5000), 5000
    places = np.argsort(np.argsort(-fitness))[children_of(fitness, tournament=size)]
    spread = np.sqrt(size / (size + 2)) / (size + 1) / np.sqrt(count)
    assert abs(places.mean() / count - 1 / (size + 1)) < 5 * spread


def children_of(fitness, **attributes):
    course = Genetic(mutation=0.0, elite=0, population=len(fitness), **attributes).start(1, 1)
    parents = course.ask()[:, 0]
    course.tell(fitness)
    order = np.argsort(parents)
    return order[np.searchsorted(parents[order], course.ask()[:, 0])]


def test_of_equals_the_first_is_the_elite():
    course = Genetic(population=10, elite=2).start(3, 0)
    first = course.ask()
    course.tell([0, 1, 2, 1, 2, 2, 0, 0, 0, 0])
    assert_array_equal(course.ask()[:2], first[[2, 4]])


@pytest.mark.parametrize("rate", [0.0, 0.2, 1.0])
def test_so_many_genes_mutate_as_the_rate_says_and_by_so_much_as_the_deviation_says(rate):
    course = Genetic(population=400, elite=0, mutation=0.01, rate=rate, tournament=1).start(50, 3)
    before = course.ask()
    course.tell(np.zeros(400))
    change = np.abs(course.ask()[:, None, :] - before[None, :, :]).sum(axis=2)
    mother = before[change.argmin(axis=1)]
    moved = (course.ask() - mother)[np.abs(mother) < 0.95]  # away from the borders
    assert abs(np.mean(moved != 0.0) - rate) < 5 * np.sqrt(rate * (1 - rate) / moved.size) + 1e-12
    if rate:
        assert moved[moved != 0.0].std() == pytest.approx(0.01, rel=0.05)


def test_reflection_is_a_mirror_at_each_border_and_leaves_what_is_inside(rng):
    inside = rng.uniform(-1.0, 1.0, 1000)
    assert_array_equal(reflect(inside), inside)
    for mirrored in (2.0 - inside, -2.0 - inside, inside + 4.0, inside - 8.0):
        assert_allclose(reflect(mirrored), inside, atol=1e-14)
    assert np.abs(reflect(rng.normal(0.0, 1e6, 10_000))).max() <= 1.0


def test_an_elite_that_leaves_no_child_is_refused():
    with pytest.raises(WorldError, match="elite: 5 of a population of 5 leave no child"):
        Genetic(population=5, elite=5)


# -- in a world file --------------------------------------------------------------------------------------------------
def test_a_search_is_read_from_a_world_and_written_back():
    world = read_text('<world><genetic population="8" mutation="0.3" seconds="2s" group="swarm"/></world>')
    assert world.search == Genetic(population=8, mutation=0.3, seconds=2.0, group="swarm")
    assert read_text(to_text(world)) == world
    assert read_text('<world><cma_es sigma="0.2"/></world>').search == CmaEs(sigma=0.2)
    with pytest.raises(WorldError, match="at least 2"):
        read_text('<world><genetic population="1"/></world>')


def test_importing_the_searches_loads_none_of_their_libraries():
    program = "import sys, formiga.evolve; sys.exit(str([m for m in ('cmaes', 'joblib', 'distributed') if m in sys.modules]))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr.strip() == "[]"
