"""Cells and where they are; walls of cells and cells of walls; distances and beams over them, beside plain twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from formiga.map import FREE, OCCUPIED, UNKNOWN, Grid
from formiga.map.distances import distances
from formiga.map.grid import trinary
from formiga.map.rays import cast
from formiga.map.walls import fill, from_walls, rectangles, segments
from tests.reference import grids

MASKS = arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9)))
MANY = settings(max_examples=200, deadline=None)


def random_grid(rng, rows=12, columns=17, share=0.2):
    cells = rng.choice([OCCUPIED, FREE, UNKNOWN], (rows, columns), p=[share, 0.9 - share, 0.1]).astype(np.int8)
    return Grid(cells, rng.uniform(0.03, 0.3), *rng.uniform(-5.0, 5.0, 2), rng.uniform(-4.0, 4.0))


def test_the_middle_of_a_cell_lies_in_that_cell(rng):
    for _ in range(20):
        grid = random_grid(rng)
        every = np.moveaxis(np.indices(grid.shape), 0, -1)
        assert np.array_equal(grid.cell_of(grid.centre_of(every)), every)
        assert np.array_equal(grid.at(grid.centre_of(every)), grid.cells)


def test_nothing_is_known_beyond_a_grid(rng):
    grid = random_grid(rng)
    beyond = grid.world_of(np.array([(-0.5, 3.0), (3.0, -0.5), (17.5, 3.0), (3.0, 12.5)]))
    assert (grid.at(beyond) == UNKNOWN).all()


def test_the_corner_of_the_first_cell_is_the_origin_and_rows_go_along_yaw():
    grid = Grid(np.zeros((2, 4), np.int8), 0.5, 1.0, 2.0, np.pi / 2)
    assert grid.corners == pytest.approx(np.array([(1.0, 2.0), (1.0, 4.0), (0.0, 4.0), (0.0, 2.0)]))
    assert grid.centre == pytest.approx((0.5, 3.0))


def test_brightness_becomes_cells_as_map_server_has_it():
    """254 is free, 205 unknown, 0 occupied: the shades that map_saver writes; the first row of an image is the top."""
    grey = np.array([[254, 205], [0, 100]]) / 255.0
    assert trinary(grey, 0.65, 0.196).tolist() == [[OCCUPIED, UNKNOWN], [FREE, UNKNOWN]]
    assert trinary(grey, 0.65, 0.196, negate=True).tolist() == [[FREE, UNKNOWN], [OCCUPIED, OCCUPIED]]
    raw = np.array([[0, 100, 255, 40]]) / 255.0
    assert trinary(raw, 0.65, 0.196, raw=True).tolist() == [[FREE, OCCUPIED, UNKNOWN, UNKNOWN]]
    assert trinary(1.0 - raw, 0.65, 0.196, negate=True, raw=True).tolist() == [[FREE, OCCUPIED, UNKNOWN, UNKNOWN]]


def test_a_cell_at_a_threshold_is_unknown():
    """occupied above the one, free below the other: p = 1, 0.75, 0.5, 0.25, 0, exact in binary."""
    grey = np.array([[0.0, 0.25, 0.5, 0.75, 1.0]])
    assert trinary(grey, 0.75, 0.25).tolist() == [[OCCUPIED, UNKNOWN, UNKNOWN, UNKNOWN, FREE]]
    assert trinary(grey, 0.5, 0.5).tolist() == [[OCCUPIED, OCCUPIED, UNKNOWN, FREE, FREE]]


# -- walls ---------------------------------------------------------------------------------------------------------------------
@given(MASKS)
@MANY
def test_cells_to_walls_and_back_are_the_same_cells(mask):
    assert np.array_equal(fill(segments(mask), mask.shape), mask)


@given(MASKS)
@MANY
def test_walls_are_the_edges_of_cells_and_nothing_else_each_in_one_run(mask):
    edges = []
    for x0, y0, x1, y1 in segments(mask).astype(int):
        assert (x0 == x1) != (y0 == y1)
        edges += [(x, y0, False) for x in range(x0, x1)] + [(x0, y, True) for y in range(y0, y1)]
    assert len(edges) == len(set(edges))
    assert set(edges) == grids.boundary(mask)


@given(MASKS)
@MANY
def test_no_two_walls_could_be_one(mask):
    walls = {tuple(wall) for wall in segments(mask).tolist()}
    assert not [(one, other) for one in walls for other in walls
                if one[2:] == other[:2] and (one[0] == other[2] or one[1] == other[3])]


@given(MASKS)
@MANY
def test_rectangles_cover_each_cell_once(mask):
    covered = np.zeros(mask.shape, int)
    for x0, y0, x1, y1 in rectangles(mask).astype(int):
        covered[y0:y1, x0:x1] += 1
    assert np.array_equal(covered, mask.astype(int))


def test_a_room_is_eight_walls_and_four_blocks():
    mask = np.ones((40, 60), bool)
    mask[2:-2, 2:-2] = False
    assert len(segments(mask)) == 8 and len(rectangles(mask)) == 4


def test_rectangles_are_of_rows_or_of_columns_whichever_gives_fewer():
    comb = np.ones((2, 7), bool)
    comb[1, 1::2] = False            # a bar with four teeth: five rectangles along it, seven across
    assert sorted(map(tuple, rectangles(comb).tolist())) == [(0, 0, 7, 1), *((x, 1, x + 1, 2) for x in (0, 2, 4, 6))]
    assert sorted(map(tuple, rectangles(comb.T).tolist())) == [(0, 0, 1, 7), *((1, y, 2, y + 1) for y in (0, 2, 4, 6))]


def test_the_walls_of_a_world_as_cells():
    """A wall of no thickness marks the cells that it passes through, a disc and a solid those whose middles they hold."""
    shapes = np.array([(0.5, 0.5, 3.5, 0.5, 0.0), (5.0, 5.0, 5.0, 5.0, 1.0)])
    box = np.array([(0.0, 3.0, 2.0, 3.0, 0), (2.0, 3.0, 2.0, 5.0, 0), (2.0, 5.0, 0.0, 5.0, 0), (0.0, 5.0, 0.0, 3.0, 0)], float)
    grid = from_walls(shapes, box, (0.0, 0.0, 7.0, 7.0), 1.0)
    expected = np.zeros((7, 7), bool)
    expected[0, :4] = expected[4:6, 4:6] = expected[3:5, :2] = True
    assert np.array_equal(grid.occupied, expected)


def test_a_slanting_wall_leaves_no_gap(rng):
    for _ in range(30):
        wall = rng.uniform(0.0, 9.0, 4)
        grid = from_walls([[*wall, 0.0]], np.zeros((0, 5)), (0.0, 0.0, 9.0, 9.0), 0.3)
        along = np.linspace(wall[:2], wall[2:], 500)
        assert (grid.at(along) == OCCUPIED).all()
        assert np.count_nonzero(grid.occupied) <= 2 + 2 * np.abs(wall[2:] - wall[:2]).sum() / 0.3


# -- distances and beams -------------------------------------------------------------------------------------------------------
def test_distances_are_those_of_trying_every_cell(rng):
    for _ in range(5):
        grid = random_grid(rng, share=0.1)
        assert distances(grid) == pytest.approx(grids.distances(grid))
    assert np.isinf(distances(Grid(np.zeros((3, 4), np.int8), 0.1))).all()
    assert distances(Grid(np.full((3, 4), UNKNOWN, np.int8), 0.1), unknown=True).max() == 0.0


@pytest.mark.parametrize("unknown", [False, True])
def test_distances_to_surfaces_are_those_of_trying_every_cell(rng, unknown):
    for share in (0.1, 0.5, 0.85):
        for _ in range(3):
            grid = random_grid(rng, share=share)
            assert distances(grid, unknown, surface=True) == pytest.approx(grids.distances(grid, unknown, surface=True))


@given(MASKS)
@MANY
def test_outside_of_walls_the_surface_is_as_far_as_the_walls(mask):
    grid = Grid(np.where(mask, OCCUPIED, FREE).astype(np.int8), 0.1)
    free, far = grid.free, distances(grid, surface=True)
    assert far[free] == pytest.approx(distances(grid)[free])
    deep = distances(Grid(np.where(mask, FREE, OCCUPIED).astype(np.int8), 0.1))     # from inside to what is not a wall
    assert (far[~free] >= deep[~free] - 0.1 - 1e-9).all()


def test_distances_grow_towards_the_inside_of_a_block_as_they_do_outside():
    cells = np.full((15, 25), FREE, np.int8)
    cells[5:10, 5:20] = OCCUPIED
    far = distances(Grid(cells, 0.1), surface=True)
    assert far[7, 5:13] == pytest.approx([0.0, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2])
    assert far[7, 5:2:-1] == pytest.approx([0.0, 0.1, 0.2]) and far[4, 4] == pytest.approx(0.1 * np.sqrt(2.0))
    assert distances(Grid(cells, 0.1))[5:10, 5:20].max() == 0.0


def test_what_is_beyond_a_grid_makes_no_surface():
    """Walls at the border show their inner side alone; a map of nothing but walls shows none."""
    cells = np.full((6, 8), FREE, np.int8)
    cells[:3] = OCCUPIED
    assert distances(Grid(cells, 0.5), surface=True)[:, 0].tolist() == [1.0, 0.5, 0.0, 0.5, 1.0, 1.5]
    for full in (OCCUPIED, FREE):
        assert np.isinf(distances(Grid(np.full((3, 4), full, np.int8), 0.1), surface=True)).all()
    corner = np.full((3, 3), OCCUPIED, np.int8)
    corner[2, 2] = FREE
    assert distances(Grid(corner, 1.0), surface=True)[0, 0] == pytest.approx(np.sqrt(5.0))
    assert np.isinf(distances(Grid(np.full((3, 4), UNKNOWN, np.int8), 0.1), unknown=True, surface=True)).all()


def test_beams_over_a_grid_match_the_boxes_of_all_cells(rng):
    for _ in range(10):
        grid = random_grid(rng, share=0.06)
        x, y = np.moveaxis(grid.world_of(rng.uniform(-4.0, 20.0, (8, 2))), -1, 0)
        poses = np.stack([x, y, rng.uniform(-7.0, 7.0, 8)], axis=-1)
        angles, reach = rng.uniform(-4.0, 4.0, 11), 8 * grid.resolution
        fast = cast(grid, poses.reshape(2, 4, 3), angles, reach)
        assert fast.shape == (2, 4, 11)
        slow = np.array([grids.cast(grid, pose, angles, reach) for pose in poses])
        differ = np.isfinite(fast.reshape(8, 11)) != np.isfinite(slow)
        assert (np.abs(np.minimum(fast.reshape(8, 11), slow)[differ] - reach) < 1e-9).all()
        both = np.isfinite(slow) & ~differ
        assert fast.reshape(8, 11)[both] == pytest.approx(slow[both], abs=1e-9)


def test_a_beam_along_the_axes_from_a_corner_of_cells_ends(rng):
    grid = Grid(np.pad(np.zeros((5, 5), np.int8), 1, constant_values=OCCUPIED), 1.0)
    for heading in np.arange(8) * np.pi / 4:
        assert np.isfinite(cast(grid, [3.0, 3.0, heading], [0.0], 100.0)).all()
    assert cast(grid, [3.0, 3.0, 0.0], [0.0, np.pi / 2], 100.0) == pytest.approx([3.0, 3.0])
    assert cast(grid, [0.5, 0.5, 0.0], [0.0], 1.0) == 0.0
    assert np.isinf(cast(grid, [np.nan, 0.5, 0.0], [0.0], 1.0)).all()


@pytest.mark.parametrize("pose", [(np.nan, 0.5, 0.0), (0.5, 0.5, np.nan), (0.5, 0.5, np.inf), (np.inf, 0.5, 0.0)])
def test_a_beam_from_a_pose_that_is_no_number_meets_nothing(pose):
    with np.errstate(invalid="ignore"):
        assert cast(Grid(np.full((4, 4), OCCUPIED, np.int8), 0.25), pose, [0.0, 1.0], 9.0).tolist() == [np.inf, np.inf]


def test_unknown_cells_end_beams_only_if_asked():
    grid = Grid(np.array([[FREE, FREE, UNKNOWN, FREE, OCCUPIED]], np.int8), 0.5)
    assert cast(grid, [0.25, 0.25, 0.0], [0.0], 10.0) == pytest.approx(1.75)
    assert cast(grid, [0.25, 0.25, 0.0], [0.0], 10.0, unknown=True) == pytest.approx(0.75)
    with pytest.raises(ValueError, match=r"x, y and heading"):
        cast(grid, [0.25, 0.25], [0.0], 10.0)
