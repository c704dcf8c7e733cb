"""Re-positioning, beside the plain twin over all pairs, and the digest's own numbers. [S1, acceptance 7]"""

import numpy as np
import pytest

from formiga.engine.planar.contact import PUBLISHED_ROUNDS, ROUNDS, SHALLOW_ROUNDS
from formiga.loop import Simulation
from formiga.units import CM
from formiga.world.model import Arena, Cylinder, Group, Wall, World
from formiga.world.placement import At
from formiga.world.robots import Disc, SBot
from tests.reference import contact as twin
from tests.reference.lab import MODELS, bench, drive, fixed, overlaps, put

CORNER = (Wall((0.0, 0.0, 5.0, 0.0)), Wall((0.0, 0.0, 0.0, 5.0)))
SETTINGS = {
    "in the open": (15, (), 0.0),
    "at a wall": (10, (Wall((-3.0, 0.0, 3.0, 0.0)),), 0.09),
    "in a corner": (10, CORNER, 0.09),
    "around a cylinder": (8, (Cylinder(0.2, -0.1, 0.15),), 0.14),
    "at a slanted wall": (6, (Wall((-3.0, -2.4, 3.0, 1.8)),), 0.09),
}


def packs(rng, setting, count, side):
    """Random centres (count, robots, 2) that begin inside the walls, and the things around them."""
    robots, things, low = SETTINGS[setting]
    return rng.uniform(low, low + side, (count, robots, 2)), things


def resolved(centres, mode, things=(), robot=None):
    """One step at standstill from these centres (worlds, robots, 2)."""
    worlds, robots, _ = centres.shape
    simulation = bench(robot or SBot(), [(20.0 + i, 20.0, 0.0) for i in range(robots)], things, mode, worlds=worlds)
    put(simulation, centres)
    return drive(simulation, 0.0, 0.0)


@pytest.mark.parametrize("mode", ["minimal", "published"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_packs_move_as_in_the_plain_twin_where_the_published_rule_suffices(rng, setting, mode):
    centres, things = packs(rng, setting, 20 if setting == "in the open" else 10, 1.2 if setting == "in the open" else 0.7)
    simulation = resolved(centres, mode, things)
    model, state, compared = simulation.model, simulation.state, 0
    for w in range(len(centres)):
        expected, crashed, rounds, swept = twin.resolve(centres[w], model.safety, *fixed(simulation), mode)
        first = twin.resolve(centres[w], model.safety, *fixed(simulation), mode, limit=1)[0]
        shallow = mode == "minimal" and np.hypot(*(first - centres[w]).T).max() <= 3.0 * model.longest
        if swept or rounds > (SHALLOW_ROUNDS if shallow else PUBLISHED_ROUNDS):
            continue
        compared += 1
        np.testing.assert_allclose(state.position[w], expected, atol=1e-9)
        assert np.array_equal(state.crashed[w], crashed)
        assert state.scratch.rounds[w] == rounds
    assert compared >= 3


def test_robots_of_different_size_move_as_in_the_plain_twin(rng):
    groups = tuple(Group(Disc(r, 0.1, 0.1, c), 4, n, tuple(At(9.0 + i, 9.0) for i in range(4)))
                   for r, c, n in ((0.03, 0.0, "a"), (0.12, 0.05, "b"), (0.06, 0.01, "c")))
    for mode in ("minimal", "published"):
        simulation = Simulation(World(contact=MODELS[mode], groups=groups), 1, 15)
        centres = rng.uniform(0.0, 0.8, (15, 12, 2))
        put(simulation, centres)
        simulation.step()
        compared = 0
        for w in range(15):
            expected, crashed, rounds, _ = twin.resolve(centres[w], simulation.model.safety, (), (), mode)
            if rounds <= 30:
                compared += 1
                np.testing.assert_allclose(simulation.state.position[w], expected, atol=1e-9)
                assert np.array_equal(simulation.state.crashed[w], crashed)
            assert overlaps(simulation.state.position[w], simulation.model.safety, (), ())[0] < 1e-7
        assert compared >= 4


@pytest.mark.parametrize("mode", ["minimal", "published"])
@pytest.mark.parametrize("side, robots, things", [(30, 15, ()), (60, 15, ()), (90, 15, ()), (30, 10, CORNER)])
def test_every_random_pack_ends_without_overlap_inside_the_walls(rng, side, robots, things, mode):
    """100 packs each, as the digest asks; at most 500 rounds."""
    low = 8.8 * CM if things else 0.0
    centres = rng.uniform(low, low + side * CM, (100, robots, 2))
    simulation = resolved(centres, mode, things)
    assert simulation.state.scratch.rounds.max() < ROUNDS
    for w in range(100):
        pairs, walls = overlaps(simulation.state.position[w], simulation.model.safety, *fixed(simulation))
        assert pairs < 1e-7 and walls < 1e-7
    if things:
        assert simulation.state.position.min() > 8.8 * CM - 1e-7


@pytest.mark.parametrize("mode", ["minimal", "published"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_loose_packs_at_walls_and_cylinders_end_without_overlap_on_their_own_side(rng, setting, mode):
    centres, things = packs(rng, setting, 50, 0.8)
    simulation = resolved(centres, mode, things)
    assert simulation.state.scratch.rounds.max() < ROUNDS
    for w in range(50):
        assert max(overlaps(simulation.state.position[w], simulation.model.safety, *fixed(simulation))) < 1e-7
    if setting in ("at a wall", "in a corner"):
        assert simulation.state.position[..., 1].min() > 0.0


@pytest.mark.parametrize("slant", [0.0, 20.0, 50.0])
def test_published_goes_back_from_a_wall_along_its_line_of_escape_as_fig_9_draws_it(slant):
    """Robots 1 and 2 send robot 3 straight down; it stops on that line where its collision circle touches the wall."""
    below = 0.14
    ex, ey = 2.0 * np.cos(np.radians(slant)), 2.0 * np.sin(np.radians(slant))
    centres = np.array([[[-0.06, 0.12], [0.06, 0.12], [0.0, 0.0]]])
    simulation = resolved(centres, "published", (Wall((-ex, -below - ey, ex, -below + ey)),))
    x, y = simulation.state.position[0, 2]
    assert x == pytest.approx(0.0, abs=1e-12)
    assert y == pytest.approx(0.088 / np.cos(np.radians(slant)) - below, abs=1e-7)


def test_published_flees_a_cylinder_from_its_centre_as_from_a_robot():
    """Centre to centre, not by the overlap: 1 cm too near sends the robot away by its collision radius."""
    simulation = resolved(np.array([[[0.178, 0.0]]]), "published", (Cylinder(0.0, 0.0, 0.1),))
    assert simulation.state.position[0, 0] == pytest.approx((0.178 + 0.088, 0.0), abs=1e-12)


def moved(centres, mode):
    """Displacements in cm of one pack given in cm."""
    before = np.array([centres]) * CM
    return np.linalg.norm(resolved(before, mode).state.position - before, axis=-1)[0] / CM


def test_the_middle_of_a_symmetric_chain_stays_and_its_ends_flee():
    chain = [(0, 0), (12, 0), (24, 0)]
    np.testing.assert_allclose(moved(chain, "minimal"), (5.6, 0.0, 5.6), atol=0.01)
    np.testing.assert_allclose(moved(chain, "published"), (8.8, 0.0, 8.8), atol=0.01)


def test_a_collapsed_chain_of_five_opens_from_its_ends():
    np.testing.assert_allclose(moved([(4 * n, 0) for n in range(5)], "minimal"), (27.2, 13.6, 0.0, 13.6, 27.2), atol=0.01)


def test_a_pair_shares_its_overlap():
    pair = [(0, 0), (17.1, 0)]
    np.testing.assert_allclose(moved(pair, "minimal"), (0.25, 0.25), atol=0.01)
    np.testing.assert_allclose(moved(pair, "published"), (8.8, 8.8), atol=0.01)


@pytest.mark.parametrize("mode", ["minimal", "published"])
@pytest.mark.parametrize("robots", [2, 3, 7])
def test_robots_on_one_and_the_same_point_come_apart(robots, mode):
    simulation = resolved(np.full((1, robots, 2), 0.3), mode)
    assert np.isfinite(simulation.state.position).all()
    assert overlaps(simulation.state.position[0], simulation.model.safety, (), ())[0] < 1e-7


@pytest.mark.parametrize("mode", ["minimal", "published"])
def test_a_robot_in_the_clearance_of_a_wall_is_put_exactly_at_its_edge(mode):
    """One wall, one robot: the resultant is the overlap, and there is nothing to add to it but the spare 1 %."""
    simulation = resolved(np.array([[[0.5, 0.07]]]), mode, (Wall((0.0, 0.0, 1.0, 0.0)),))
    x, y = simulation.state.position[0, 0]
    assert x == pytest.approx(0.5, abs=1e-12)
    assert 0.088 - 1e-8 <= y <= 0.088 + 0.011 * 0.018


@pytest.mark.parametrize("mode", ["minimal", "published"])
def test_a_robot_that_touches_nothing_is_not_moved_by_a_bit(mode):
    simulation = resolved(np.array([[[0.3, 0.3], [0.5, 0.5], [0.1, 0.2]]]), mode, (Arena(50.0, 50.0),))
    assert np.array_equal(simulation.state.position, [[[0.3, 0.3], [0.5, 0.5], [0.1, 0.2]]])
    assert not simulation.state.crashed.any() and simulation.state.scratch.rounds[0] == 0


@pytest.mark.parametrize("mode", ["minimal", "published"])
def test_the_centre_of_mass_of_a_free_pair_stays_where_it_was(rng, mode):
    centres = rng.uniform(0.0, 0.1, (50, 2, 2))
    np.testing.assert_allclose(resolved(centres, mode).state.position.mean(1), centres.mean(1), atol=1e-12)


def test_ten_robots_at_full_speed_are_moved_by_little_in_mode_minimal(rng):
    """The digest measured at most 1.05 cm a step over 1500 steps in a 150 cm box; the motion itself is at most 0.8 cm."""
    poses = [(0.25 * (i % 5) - 0.5, 0.3 * (i // 5), 0.7 * i) for i in range(10)]
    simulation = bench(SBot(), poses, (Arena(1.5, 1.5),), "minimal")
    furthest = 0.0
    for _ in range(1500):
        before = simulation.state.position.copy()
        drive(simulation, *rng.uniform(-0.02, 0.08, (2, 1, 10)))
        furthest = max(furthest, np.linalg.norm(simulation.state.position - before, axis=-1).max())
        assert simulation.state.scratch.rounds[0] < ROUNDS
    assert furthest < 2.5 * CM  # wheel speeds, and with them the collisions, are ours, so only the size is the digest's
    assert max(overlaps(simulation.state.position[0], simulation.model.safety, *fixed(simulation))) < 1e-7


@pytest.mark.parametrize("mode", ["minimal", "published"])
def test_where_there_is_no_room_the_rounds_end_and_nobody_leaves_the_box(mode):
    """Twenty s-bots of 17.6 cm in a box of 40 cm cannot fit."""
    simulation = bench(SBot(), [(9 + i, 9, 0) for i in range(20)], (Wall((0, 0, 0.4, 0, 0.4, 0.4, 0, 0.4, 0, 0)),), mode)
    put(simulation, np.random.default_rng(1).uniform(0.1, 0.3, (1, 20, 2)))
    for _ in range(3):
        drive(simulation, 0.05, 0.08)
        assert simulation.state.scratch.rounds[0] == ROUNDS
        assert simulation.state.position.min() > 0.0 and simulation.state.position.max() < 0.4
