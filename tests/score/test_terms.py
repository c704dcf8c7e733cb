"""What robots are rewarded for: every term at its ends, sums of products, and terms of the user's own."""

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.score import TERMS, Fitness, Score
from formiga.sense.proximity import Proximity
from formiga.world.model import Arena, Contact, Group, Lamp, Wall, World
from formiga.world.placement import At, Scatter
from formiga.world.robots import SBot


def lab_of(terms, places, things=(), wheels=(0.08, 0.08), worlds=1, contact="none"):
    group = Group(SBot(), len(places), "swarm", tuple(At(*place) for place in places), (Proximity(noise=(0.0,)),))
    world = World(contact=Contact(contact), things=(Arena(2.0, 2.0), *things), groups=(group,), fitness=tuple(terms))
    lab = Simulation(world, worlds=worlds)
    score = Score(world, lab.engine, lab.model, lab.state, group)
    score.see(lab.readings["swarm"])
    lab.step({"swarm": np.broadcast_to(wheels, (worlds, len(places), 2)).astype(float)})
    return lab, score


def rewarded(term, places=((0.0, 0.0, 0.0),), **how):
    """The reward of every robot after one step."""
    lab, score = lab_of([Fitness(term)], places, **how)
    return score.add(~lab.state.done)[0]


@pytest.mark.parametrize("wheels, speed, straightness", [
    ((0.08, 0.08), 1.0, 1.0), ((0.04, 0.04), 0.5, 1.0), ((-0.08, -0.08), 0.0, 1.0), ((0.08, -0.08), 0.0, 0.0),
    ((0.08, 0.0), 0.5, 0.5), ((0.0, 0.0), 0.0, 1.0)])
def test_speed_and_straightness_go_by_the_wheels(wheels, speed, straightness):
    assert rewarded("speed", wheels=wheels) == pytest.approx([speed])
    assert rewarded("straightness", wheels=wheels) == pytest.approx([straightness])
    assert rewarded("speed straightness", wheels=wheels) == pytest.approx([speed * straightness])


def test_clearance_is_one_minus_the_largest_reading_that_was_decided_on():
    wall = Wall((-1.0, 0.058 + 0.03, 1.0, 0.058 + 0.03))
    lab, score = lab_of([Fitness("clearance")], [(0.0, 0.0, 0.0)], (wall,))
    largest = float(score.readings["proximity"].max())
    assert 15.0 < largest < 40.0
    assert score.add(~lab.state.done)[0] == pytest.approx([1.0 - largest / 40.0])
    assert rewarded("clearance") == pytest.approx([1.0])


def test_a_crash_is_one():
    near = Wall((0.095, -1.0, 0.095, 1.0))
    assert rewarded("crashes", contact="reposition", things=(near,)) == pytest.approx([1.0])
    assert rewarded("crashes", contact="reposition") == pytest.approx([0.0])


def test_aggregation_is_largest_at_the_centre_of_the_group():
    places = [(-0.5, 0.0, 0.0), (0.0, 0.0, 0.0), (0.5, 0.0, 0.0)]
    ends, middle = 1.0 - 0.5 / np.sqrt(2.0), 1.0
    assert rewarded("aggregation", places, wheels=(0.0, 0.0)) == pytest.approx([ends, middle, ends])


def test_dispersion_is_the_distance_to_the_nearest_in_fair_shares_of_the_arena():
    places = [(-0.5, 0.0, 0.0), (-0.3, 0.0, 0.0), (0.5, 0.6, 0.0)]
    share = np.sqrt(4.0 / 3.0)
    expected = np.array([0.2, 0.2, np.hypot(0.8, 0.6)]) / share
    assert rewarded("dispersion", places, wheels=(0.0, 0.0)) == pytest.approx(expected)


def test_light_is_how_bright_all_lamps_that_are_on_make_the_place():
    lamps = (Lamp(0.3, 0.4, name="a"), Lamp(0.1, 0.0, on=False, name="b"), Lamp(-1.0, 0.0, name="c", intensity=2.0))
    assert rewarded("light", things=lamps, wheels=(0.0, 0.0)) == pytest.approx([np.tanh(0.5 * (0.25 / 0.25 + 2.0))])
    assert rewarded("light", things=(Lamp(0.0, 0.0),), wheels=(0.0, 0.0)) == pytest.approx([np.tanh(0.5 * 0.25 / 0.058**2)])


def test_coverage_counts_each_cell_once_however_long_somebody_stays():
    lab, score = lab_of([Fitness("coverage")], [(0.05, 0.05, 0.0), (0.05, 0.05, 0.0), (-0.9, 0.9, 0.0)], wheels=(0.0, 0.0))
    for _ in range(5):
        assert score.add(~lab.state.done)[0] == pytest.approx([2 / 256] * 3)
    lab.step({"swarm": np.full((1, 3, 2), 0.08)})
    for _ in range(20):
        lab.step({"swarm": np.full((1, 3, 2), 0.08)})
    assert score.add(~lab.state.done)[0][0] > 2 / 256


def test_fitness_is_a_weighted_sum_of_products_and_the_total_a_mean_over_robots():
    terms = [Fitness("speed straightness", 2.0), Fitness("straightness", -0.5)]
    lab, score = lab_of(terms, [(0.0, 0.0, 0.0), (0.5, 0.5, 0.0)], wheels=(0.08, 0.0))
    assert score.add(~lab.state.done)[0] == pytest.approx([2.0 * 0.25 - 0.25] * 2)
    assert score.total == pytest.approx([0.25])


def test_a_world_that_has_ended_is_rewardd_no_more():
    _, score = lab_of([Fitness("straightness")], [(0.0, 0.0, 0.0)], worlds=3)
    reward = score.add(np.array([True, False, True]))
    assert reward[:, 0] == pytest.approx([1.0, 0.0, 1.0]) and score.total == pytest.approx([1.0, 0.0, 1.0])


def test_every_term_stays_between_zero_and_one(rng):
    group = Group(SBot(), 6, "swarm", (Scatter(),), (Proximity(),))
    terms = tuple(Fitness(term) for term in TERMS)
    for term in terms:
        world = World(things=(Arena(1.5, 1.0), Lamp(0.2, 0.1)), groups=(group,), fitness=(term,))
        lab = Simulation(world, worlds=3)
        score = Score(world, lab.engine, lab.model, lab.state, group)
        for _ in range(40):
            score.see(lab.readings["swarm"])
            lab.step({"swarm": rng.uniform(-0.1, 0.1, (3, 6, 2))})
            reward = score.add(~lab.state.done)
            assert (reward >= 0.0).all() and (reward <= 1.0).all(), term


def test_a_term_of_the_users_own_is_added(own):
    mine = own("fitness", reward=lambda view: view.position[..., 0] * 2.0)
    lab, score = lab_of([Fitness("straightness"), mine], [(0.25, 0.0, 0.0), (0.5, 0.5, 0.0)], wheels=(0.0, 0.0))
    assert score.add(~lab.state.done)[0] == pytest.approx([1.5, 2.0])
    assert score.total == pytest.approx([1.75])


def test_a_term_of_the_users_own_must_reward_everybody_with_a_number(own):
    for wrong, words in ((lambda view: 1.0, r"not \(\)\."),
                         (lambda view: view.position[..., 0] * np.nan, "not with not-a-number or infinity among them")):
        lab, score = lab_of([own("fitness", reward=wrong)], [(0.0, 0.0, 0.0)])
        with pytest.raises(WorldError, match=f"must give finite numbers .* {words}"):
            score.add(~lab.state.done)


@pytest.mark.parametrize("terms, arena, sensors, message", [
    ("sped", True, True, r"no term 'sped'. Did you mean 'speed'\? There are: speed, straightness"),
    ("", True, True, "names no term"), ("speed clearance speed", True, True, "names 'speed' twice"),
    ("light", True, True, "needs a <lamp> that is on"),
    ("clearance", True, False, "looks at <proximity>, which 'swarm' does not carry"),
    ("speed dispersion", True, True, "at least two robots"),
    ("coverage", False, True, "this world has no <arena>"),
])
def test_reward_that_cannot_be_given_is_refused(terms, arena, sensors, message):
    group = Group(SBot(), 1, "swarm", (At(0.0, 0.0, 0.0),), (Proximity(),) if sensors else ())
    world = World(things=(Arena(2.0, 2.0),) if arena else (), groups=(group,), fitness=(Fitness(terms),))
    lab = Simulation(world)
    with pytest.raises(WorldError, match=message):
        Score(world, lab.engine, lab.model, lab.state, group)


def test_a_term_with_the_earlier_name_of_its_method_still_counts(own):
    mine = own("fitness", praise=lambda glimpse: glimpse.wheels[..., 0])
    lab, score = lab_of([mine], [(0.0, 0.0, 0.0)], wheels=(0.04, 0.08))
    assert score.add(~lab.state.done).tolist() == [[0.04]]
