"""The cell list of the robots, beside plain binning; and the table of fixed things, beside looking at all of them."""

import numpy as np
import pytest

from formiga.engine.above import cells as cell_lists
from formiga.engine.fixed import Region
from formiga.loop import Simulation
from formiga.sense.scanner import Scanner
from formiga.world.model import Cylinder, Wall, World
from formiga.world.robots import Disc
from tests.reference.lab import bench, distance_to_segment


def binned(position, cells):
    """For every cell, the robots in it: floor of the place in cells, and the nearest cell for who is outside."""
    column = np.clip(np.floor((position[:, 0] - cells.x0) * (1.0 / cells.size)), 0, cells.columns - 1).astype(int)
    row = np.clip(np.floor((position[:, 1] - cells.y0) * (1.0 / cells.size)), 0, cells.rows - 1).astype(int)
    return {cell: [i for i in range(len(position)) if row[i] * cells.columns + column[i] == cell]
            for cell in range(cells.columns * cells.rows)}


def listed(w, cells):
    return {cell: list(cells.order[w, cells.start[w, cell]:cells.start[w, cell + 1]])
            for cell in range(cells.columns * cells.rows)}


@pytest.mark.parametrize("robots", [1, 2, 50])
def test_the_cell_list_equals_plain_binning(rng, robots):
    cells = cell_lists.make(3, robots, Region(-1.0, 0.0, 2.0, 1.0), 0.2)
    for _ in range(20):
        position = rng.uniform(-2.0, 3.0, (3, robots, 2))
        cell_lists.fill(position, cells)
        for w in range(3):
            assert listed(w, cells) == binned(position[w], cells)
            assert np.array_equal(np.stack([cells.x[w], cells.y[w]], axis=-1), position[w, cells.order[w]])


def test_the_cell_list_notices_when_a_single_robot_moved_by_the_smallest_amount(rng):
    cells = cell_lists.make(1, 30, Region(0.0, 0.0, 1.0, 1.0), 0.1)
    position = rng.uniform(0.0, 1.0, (1, 30, 2))
    cell_lists.fill(position, cells)
    for i in range(30):
        x = cells.x0 + cells.size * rng.integers(1, cells.columns)
        for place in (np.nextafter(x, 2.0), np.nextafter(x, 0.0)):  # just this side of a border, and just the other
            position[0, i, 0] = place
            cell_lists.fill(position, cells)
            assert listed(0, cells) == binned(position[0], cells)


def test_two_robots_that_change_places_are_listed_where_they_are_now():
    cells = cell_lists.make(1, 2, Region(0.0, 0.0, 1.0, 1.0), 0.1)
    cell_lists.fill(np.array([[[0.05, 0.05], [0.95, 0.95]]]), cells)
    swapped = np.array([[[0.95, 0.95], [0.05, 0.05]]])
    cell_lists.fill(swapped, cells)
    assert listed(0, cells) == binned(swapped[0], cells)


def test_a_robot_that_is_moved_by_hand_is_seen_where_it_is_after_looking_again():
    simulation = bench(Disc(0.05, 0.1, 0.1), [(0, 0, 0), (1, 0, 0), (0, 2, 0)], sensors=[Scanner(1, 0.0, mount=0.05)])
    scan = lambda: simulation.readings["a"]["scanner"][0, 0, 0]  # noqa: E731
    assert scan() == pytest.approx(0.9)
    simulation.state.position[0, 1] = (0.5, 0.0)
    assert scan() == pytest.approx(0.9)  # readings stay as they were read ...
    simulation.look_again()
    assert scan() == pytest.approx(0.4)  # ... until somebody looks again
    simulation.state.position[0, 1], simulation.state.position[0, 2] = (3.0, 0.0), (0.3, 0.0)
    simulation.look_again()
    assert scan() == pytest.approx(0.2)


# -- the table of fixed things --------------------------------------------------------------------------------------
def in_table(x, y, table):
    """What the table lists for a place: floor of the place in cells, the nearest cell for places outside."""
    column = int(np.clip(np.floor((x - table.x0) / table.size), 0, table.columns - 1))
    row = int(np.clip(np.floor((y - table.y0) / table.size), 0, table.rows - 1))
    cell = row * table.columns + column
    return table.items[table.start[cell]:table.start[cell + 1]]


@pytest.mark.parametrize("radius", [0.02, 0.3, 5.0])
def test_every_place_finds_all_fixed_things_within_the_radius_in_its_cell(rng, radius):
    for _ in range(10):
        start = rng.uniform(-1.0, 1.0, (8, 2))
        things = [Wall((*a, *b)) for a, b in zip(start, start + rng.normal(0.0, 0.4, (8, 2)))]
        things += [Cylinder(*rng.uniform(-1.0, 1.0, 2), r) for r in rng.uniform(0.01, 0.4, 5)]
        things += [Wall((0.2, 0.3, 0.2, 0.3))]  # a wall of one point is a point
        model = Simulation(World(things=tuple(things))).model
        table = model.near(radius)
        for x, y in rng.uniform(-2.0, 2.0, (100, 2)):
            gaps = [distance_to_segment((x, y), s[:2], s[2:4]) - s[4] for s in model.fixed.shapes]
            items = in_table(x, y, table)
            assert np.all(np.diff(items) > 0)
            assert set(np.flatnonzero(np.array(gaps) <= radius)) <= set(items)


def test_the_table_of_nothing_is_empty_everywhere():
    table = Simulation(World()).model.near(0.1)
    assert len(in_table(3.0, -7.0, table)) == 0
