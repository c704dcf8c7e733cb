"""Neighbours and lines of sight: as their plain twins have them, in both engines, whatever else runs in the batch."""

import numpy as np
import pytest

from formiga.engine.above.neighbours import gather, select, sort
from formiga.errors import WorldError
from formiga.kernels.program import Program
from formiga.loop import Simulation
from formiga.noise import Noise
from formiga.sense import SensorView
from formiga.world.reader import read_text
from tests.reference import around

ENGINES = ["planar", "spatial"]
ROOM = """<world name="room" engine="{engine}"><arena width="3" depth="2.4"/>{things}<contact model="none"/>
<disc count="{count}" name="a" radius="0.05" wheel_base="0.08" top_speed="0.1"><scatter/></disc>
<disc count="3" name="b" radius="0.09" wheel_base="0.1"
 top_speed="0.1"><scatter/></disc></world>"""
THINGS = """<cylinder x="0.5" y="0.2" radius="0.2"/><cylinder x="-0.8" y="-0.5" radius="0.1"/>
<wall points="-0.4 -0.9 -0.3 0.6"/><wall points="0.2 -0.7 1.2 -0.5"/><rectangle x="-1" y="0.7" width="0.3" depth="0.2"/>"""


def room(engine="planar", count=30, things=THINGS, worlds=2, seed=3):
    return Simulation(read_text(ROOM.format(engine=engine, count=count, things=things)), seed, worlds)


def scene(lab, group=0):
    chosen, robots = lab.world.groups[group], lab.world.slices[group]
    return SensorView(lab.engine, lab.model, lab.state, chosen, robots, Noise(lab.state.key, lab.state.step, robots), "a/x")


def assert_listed(found, lab, first, reach, most):
    """`found` are the neighbours of the robots from `first` on, and no others."""
    for w in range(lab.state.worlds):
        lists = around.neighbours(lab.state.position[w], lab.state.heading[w], reach, most)
        for i in range(found.count.shape[1]):
            expected = lists[first + i]
            count = len(expected)
            assert found.count[w, i] == count
            assert found.number[w, i, :count].tolist() == [number for number, *_ in expected]
            np.testing.assert_allclose(found.distance[w, i, :count], [away for _, away, _ in expected], atol=1e-12)
            turn = found.bearing[w, i, :count] - [bearing for *_, bearing in expected]
            np.testing.assert_allclose((turn + np.pi) % (2.0 * np.pi), np.pi, atol=1e-9)
            assert (found.number[w, i, count:] == -1).all() and np.isinf(found.distance[w, i, count:]).all()
            assert (found.bearing[w, i, count:] == 0.0).all() and np.isnan(found.place[w, i, count:]).all()
            assert np.array_equal(found.place[w, i, :count], lab.state.position[w, found.number[w, i, :count]])


# -- neighbours -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("reach", "most"), [(0.4, 4), (0.4, 60), (5.0, 10), (np.inf, 40), (0.0, 3)])
def test_neighbours_are_the_nearest_of_all_others(engine, reach, most):
    lab = room(engine)
    for group, first in ((0, 0), (1, 30)):
        assert_listed(scene(lab, group).neighbours(reach, most), lab, first, reach, most)


def test_robots_at_the_same_distance_come_in_the_order_of_their_numbers(rng):
    """On a lattice nearly all distances are there several times."""
    lab = room(count=46, things="")
    for w in range(2):
        lab.state.position[w] = 0.25 * rng.permutation([(x, y) for x in range(-3, 4) for y in range(-3, 4)])
    for reach, most in ((0.51, 5), (0.51, 30), (1.0, 20)):
        assert_listed(scene(lab).neighbours(reach, most), lab, 0, reach, most)


def test_stages_list_the_same_neighbours_step_after_step():
    """Lists that become shorter forget what was in them."""
    lab = room()
    near, stages = scene(lab).neighbour_stages(0.5, 12)
    program = Program(stages, 2)
    for spread in (1.0, 0.2, 1.5, 0.9):
        lab.state.position *= spread
        program.run(0, 2)
        assert_listed(near, lab, 0, 0.5, 12)
        for one, other in zip(near, scene(lab).neighbours(0.5, 12), strict=True):
            assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 50, 300])
def test_selecting_and_sorting_order_by_distance_then_number(rng, count):
    square, number = rng.integers(0, 12, count).astype(float), rng.permutation(count)
    expected = sorted(zip(square, number, strict=True))
    for most in {1, count // 3 or 1, max(1, count)}:
        s, n = square.copy(), number.copy()
        if count > most:
            select(count, most, s, n)
        kept = min(count, most)
        sort(kept, s, n, np.arange(count))
        assert list(zip(s[:kept], n[:kept], strict=True)) == expected[:kept]


def test_gathering_finds_each_robot_once():
    lab = room(worlds=1)
    scene(lab).neighbours(1.0, 1)  # fills the cell list
    square, number = np.empty(33), np.empty(33, np.int64)
    assert gather(0, -1, 0.0, 0.0, 10.0, lab.state.scratch.cells, square, number) == 33
    assert sorted(number) == list(range(33))
    np.testing.assert_allclose(square, (lab.state.position[0, number] ** 2).sum(axis=1))


# -- lines of sight ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("walls_only", [True, False])
def test_lines_of_sight_match_the_distance_of_each_line_from_each_thing(engine, walls_only, rng):
    lab = room(engine)
    view = scene(lab)
    targets = rng.uniform(-1.0, 1.0, (2, 30, 12, 2)) * [1.9, 1.6]          # some are outside
    targets[:, :, :6] = view.neighbours(2.0, 6).place
    seen = view.line_of_sight(view.position, targets, walls_only)
    fixed, radius = lab.model.fixed, np.repeat([0.05, 0.09], [30, 3])
    blocked = 0
    for w, i, p in np.ndindex(seen.shape):
        robots = [] if walls_only else np.column_stack([lab.state.position[w], radius])
        gap = around.clearance(lab.state.position[w, i], targets[w, i, p], fixed.segments, fixed.discs, robots)
        if abs(gap) > 1e-9 or gap == 0.0:
            assert seen[w, i, p] == (gap > 0.0), (w, i, p, gap)
            blocked += gap <= 0.0
    assert 50 < blocked < seen.size - 50


@pytest.mark.parametrize("pairs", [1, 7])
def test_many_walls_hide_what_each_of_them_hides(pairs, rng):
    """Hundreds of short walls: a line must look into every cell on its way."""
    ends = rng.uniform(-1.4, 1.4, (300, 2))
    walls = "".join(f'<wall points="{x} {y} {x + dx} {y + dy}"/>'
                    for (x, y), (dx, dy) in zip(ends, rng.uniform(-0.08, 0.08, (300, 2)), strict=True))
    lab = room(things=walls, worlds=1)
    origins, targets = (rng.uniform(-1.1, 1.1, (1, 30, pairs, 2)) for _ in range(2))
    seen = scene(lab).line_of_sight(origins, targets)
    alone = np.array([[around.clearance(origins[0, i, p], targets[0, i, p], lab.model.fixed.segments, [], []) > 0.0
                       for p in range(pairs)] for i in range(30)])
    assert np.array_equal(seen[0], alone)
    assert np.array_equal(seen, scene(lab).line_of_sight(targets, origins))


def test_what_is_no_place_is_not_in_sight_and_a_place_sees_itself():
    view = scene(room())
    here = view.position[:, :, None]
    assert view.line_of_sight(view.position, here, walls_only=False).all()
    assert not view.line_of_sight(view.position, np.full((2, 30, 3, 2), np.nan)).any()
    assert not view.line_of_sight(view.position, np.full((2, 30, 3, 2), np.inf)).any()
    with pytest.raises(WorldError, match=r"targets \(worlds, robots, pairs, 2\); these are \(2, 30, 2\) and \(2, 30, 2\)"):
        view.line_of_sight(view.position, view.position)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_world_of_a_batch_sees_what_it_sees_alone(engine):
    batch = room(engine, worlds=3)
    alone = Simulation(batch.world, 3, 1, first_world=2)
    many, one = (scene(lab).neighbours(0.6, 8) for lab in (batch, alone))
    for several, single in zip(many, one, strict=True):
        assert np.array_equal(several[2:], single, equal_nan=True)
    for walls_only in (True, False):
        several = scene(batch).line_of_sight(scene(batch).position, many.place, walls_only)
        assert np.array_equal(several[2:], scene(alone).line_of_sight(scene(alone).position, one.place, walls_only))


def test_stages_see_the_same_as_the_call():
    lab = room()
    view = scene(lab)
    near, look = view.neighbour_stages(1.0, 9)
    for walls_only in (True, False):
        seen, check = view.sight_stages(view.position, near.place, walls_only)
        program = Program([*look, *check], 2)
        for spread in (1.0, 0.7, 1.1):
            lab.state.position *= spread
            program.run(0, 2)
            assert np.array_equal(seen, view.line_of_sight(view.position, view.neighbours(1.0, 9).place, walls_only))
