"""Maps of walls along the axes: what a sensor is to see, beside solving for every crossing and beside the grid's beams."""

import numpy as np
import pytest

from formiga.map import FREE, OCCUPIED, Grid
from formiga.map.lines import expected, lines_of, lines_of_grid
from formiga.map.rays import cast
from tests.reference import locate as plain

BOXES = [(-0.3, -0.2, 0.3, 0.2), (0.6, 0.3, 0.8, 0.7)]
ROOM = (-1.0, -0.75, 1.0, 0.75)


def test_what_a_sensor_sees_is_the_nearest_wall_that_faces_it(rng):
    lines = lines_of(BOXES, ROOM)
    poses = np.column_stack([rng.uniform(-0.95, 0.95, 200), rng.uniform(-0.7, 0.7, 200), rng.uniform(-4.0, 4.0, 200)])
    sensors = rng.uniform((-0.1, -0.1, -3.0), (0.1, 0.1, 3.0), (6, 3))
    distance, wall = expected(lines, poses, sensors, 1.0)
    for p in range(200):
        for k in range(6):
            far, which = plain.expected(lines, poses[p], sensors[k], 1.0)
            assert wall[p, k] == which and distance[p, k] == pytest.approx(far, abs=1e-9)


def test_each_wall_is_seen_from_its_own_side_alone():
    lines = lines_of(BOXES[:1])
    east, west = (expected(lines, (x, 0.0, heading), (0.0, 0.0, 0.0), 2.0) for x, heading in ((-1.0, 0.0), (1.0, np.pi)))
    assert east[0] == pytest.approx([0.7]) and west[0] == pytest.approx([0.7]) and east[1] != west[1]
    inside, _ = expected(lines, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 2.0)
    assert inside[0] == np.inf            # from within a block no side is seen
    assert lines.normals[east[1][0]].tolist() == [-1.0, 0.0] and len(lines) == 4


def test_walls_of_a_grid_are_where_its_beams_end(rng):
    cells = np.where(rng.random((12, 15)) < 0.25, OCCUPIED, FREE).astype(np.int8)
    grid = Grid(cells, 0.2, -1.0, 2.0)
    lines = lines_of_grid(grid)
    free = np.argwhere(grid.free)
    poses = np.column_stack([grid.centre_of(free[rng.integers(len(free), size=300)]) + rng.uniform(-0.09, 0.09, (300, 2)),
                             rng.uniform(-4.0, 4.0, 300)])
    angles = np.array([0.1, 1.3, -2.0])
    by_lines, _ = expected(lines, poses, np.column_stack([0.0 * angles, 0.0 * angles, angles]), 3.0)
    by_cells = cast(grid, poses, angles, 3.0)
    assert np.where(np.isinf(by_lines), 9.0, by_lines) == pytest.approx(np.where(np.isinf(by_cells), 9.0, by_cells), abs=1e-9)


@pytest.mark.parametrize("poses, sensors, what", [(np.zeros((6, 2)), np.zeros((1, 3)), "poses"),
                                                  (np.zeros(3), np.zeros((3, 2)), "sensors")])
def test_poses_and_sensors_without_a_heading_are_refused(poses, sensors, what):
    with pytest.raises(ValueError, match=rf"{what} must be an array \(..., 3\)"):
        expected(lines_of(BOXES), poses, sensors, 1.0)


def test_boxes_without_an_inside_and_turned_grids_are_refused():
    with pytest.raises(ValueError, match="x0 < x1"):
        lines_of([(1.0, 0.0, 0.0, 1.0)])
    with pytest.raises(ValueError, match="boxes must be x0 y0 x1 y1"):
        lines_of([(0.0, 1.0, 2.0)])
    with pytest.raises(ValueError, match="a room must be x0 y0 x1 y1"):
        lines_of((), (0.0, 1.0))
    with pytest.raises(ValueError, match="rows lie along x"):
        lines_of_grid(Grid(np.zeros((2, 2), np.int8), 0.1, yaw=0.2))
