"""Geometry of the plane beside shapely and closed forms; rotations in space beside scipy and MuJoCo."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from shapely.geometry import LineString, Point

from formiga.geometry import (
    IDENTITY,
    about,
    about_z,
    between,
    conjugate,
    crossing,
    direction,
    enters_capsule,
    enters_disc,
    from_euler,
    lattice_index,
    matrix,
    multiply,
    nearest_on_segment,
    normalized,
    passes_disc,
    relative,
    rotate,
    rotate_back,
    rotated,
    to_body,
    to_euler,
    to_world,
    up_axis,
    wrap,
    wrapped,
    yaw,
    yaw_of,
)
from formiga.kernels import kernel

place = st.floats(-2.0, 2.0, allow_subnormal=False).map(lambda v: round(v, 6))
points = st.tuples(place, place)


@given(points, points, points)
def test_the_nearest_point_of_a_segment_is_on_it_and_nothing_is_nearer(p, a, b):
    q = nearest_on_segment(*p, *a, *b)
    line = LineString([a, b]) if a != b else Point(a)
    assert np.hypot(q[0] - p[0], q[1] - p[1]) == pytest.approx(Point(p).distance(line), abs=1e-9)
    assert line.distance(Point(q)) < 1e-9


@kernel()
def directions(x, y, out):
    """Of many vectors."""
    for k in range(len(x)):
        out[k] = direction(x[k], y[k])


def test_a_direction_is_the_angle_of_a_vector(rng):
    x, y = rng.normal(size=(2, 10_000)) * 10.0 ** rng.uniform(-8.0, 8.0, (2, 10_000))
    turn = np.arange(64) * np.pi / 32
    x = np.concatenate([x, np.cos(turn), [1.0, 0.0, -1.0, 0.0, 3.0, -3.0, 0.0]])
    y = np.concatenate([y, np.sin(turn), [0.0, 1.0, 0.0, -1.0, 3.0, -3.0, 0.0]])
    found = np.empty(len(x))
    directions(x, y, found)
    np.testing.assert_allclose(found, np.arctan2(y, x), rtol=1e-15, atol=0.0)


@given(points, points, points, points)
def test_crossing_fractions_lead_to_the_same_point(p, u, g, e):
    along, across = crossing(g[0] - p[0], g[1] - p[1], *u, *e)
    if np.isfinite(along) and abs(u[0] * e[1] - u[1] * e[0]) > 1e-6:
        np.testing.assert_allclose(np.add(p, np.multiply(along, u)), np.add(g, np.multiply(across, e)), atol=1e-7)
    elif not np.isfinite(along):
        assert u[0] * e[1] - u[1] * e[0] == 0.0


radii = st.floats(0.01, 1.0)


@given(points, points, points, radii)
def test_a_way_enters_a_disc_at_its_rim_and_not_before(p, d, c, r):
    t = enters_disc(*p, *d, *c, r)
    away = lambda s: np.hypot(p[0] + s * d[0] - c[0], p[1] + s * d[1] - c[1])  # noqa: E731
    if t <= 1.0:
        assert t >= 0.0 and away(t) == pytest.approx(r, abs=1e-6)
        assert all(away(s) > r - 1e-9 for s in np.linspace(0.0, t, 20)[:-1])
    elif away(0.0) > r + 1e-9 and d != (0.0, 0.0):
        assert LineString([p, np.add(p, d)]).distance(Point(c)) > r - 1e-7


@given(points, points, points, points, radii)
def test_a_way_from_outside_enters_a_capsule_at_its_skin_and_not_before(p, d, a, b, r):
    t = enters_capsule(*p, *d, *a, *b, r)
    line = LineString([a, b]) if a != b else Point(a)
    away = lambda s: Point(p[0] + s * d[0], p[1] + s * d[1]).distance(line)  # noqa: E731
    if away(0.0) <= r:
        return
    if t <= 1.0:
        assert t >= 0.0 and away(t) == pytest.approx(r, abs=1e-6)
        assert all(away(s) > r - 1e-9 for s in np.linspace(0.0, t, 20)[:-1])
    elif away(0.0) > r + 1e-9 and d != (0.0, 0.0):
        assert LineString([p, np.add(p, d)]).distance(line) > r - 1e-7


@given(points, points, points, radii)
def test_a_way_passes_a_disc_if_it_comes_nearer_than_it_began(p, d, c, r):
    way = LineString([p, np.add(p, d)]) if d != (0.0, 0.0) else Point(p)
    nearest, began = way.distance(Point(c)), Point(p).distance(Point(c))
    if nearest < r - 1e-9 and nearest < began - 1e-9:
        assert passes_disc(*p, *d, *c, r)
    if nearest > r + 1e-9 or nearest > began - 1e-15:
        assert not passes_disc(*p, *d, *c, r) or nearest < r + 1e-9


@pytest.mark.parametrize("value, cell", [(-1e300, 0), (-0.5, 0), (0.0, 0), (0.99, 0), (1.0, 1), (6.99, 6), (7.0, 6), (1e300, 6),
                                         (float("inf"), 6), (float("-inf"), 0), (float("nan"), 0)])
def test_every_number_has_a_cell(value, cell):
    assert lattice_index(value, 7) == cell


# -- rotations --------------------------------------------------------------------------------------------------------
@pytest.fixture
def pairs(rng):
    """Random rotations (5, 40, 4), the same as scipy has them, and vectors (5, 40, 3)."""
    q = normalized(rng.normal(size=(5, 40, 4)))
    return q, Rotation.from_quat(q.reshape(-1, 4), scalar_first=True), rng.normal(size=(5, 40, 3))


def same_rotation(ours, theirs):
    """q and -q are the same rotation."""
    return np.abs((ours.reshape(-1, 4) * theirs.as_quat(scalar_first=True)).sum(axis=-1)) == pytest.approx(1.0, abs=1e-12)


def test_a_vector_is_rotated_as_by_scipy_and_back(pairs):
    q, theirs, vector = pairs
    there = rotate(q, vector)
    np.testing.assert_allclose(there.reshape(-1, 3), theirs.apply(vector.reshape(-1, 3)), atol=1e-12)
    np.testing.assert_allclose(rotate_back(q, there), vector, atol=1e-12)
    np.testing.assert_allclose(rotate_back(q, vector).reshape(-1, 3), theirs.inv().apply(vector.reshape(-1, 3)), atol=1e-12)


def test_one_rotation_serves_many_vectors_and_one_vector_many_rotations(pairs):
    q, _, vector = pairs
    np.testing.assert_array_equal(rotate(q[0, 0], vector), [[rotate(q[0, 0], v) for v in row] for row in vector])
    np.testing.assert_array_equal(rotate(q, vector[0, 0]), [[rotate(each, vector[0, 0]) for each in row] for row in q])
    np.testing.assert_array_equal(rotate(q[0, 0], vector[0, 0]), rotated(*q[0, 0], *vector[0, 0]))  # and in kernels


def test_no_rotations_give_no_vectors():
    """A world without solids or robots has empty arrays."""
    assert rotate(np.empty((3, 0, 4)), np.empty((3, 0, 3))).shape == (3, 0, 3) and matrix(np.empty((0, 4))).shape == (0, 3, 3)
    assert yaw(np.empty((0, 4))).shape == (0,)


def test_a_product_is_the_first_rotation_and_then_the_second(pairs):
    q, theirs, vector = pairs
    assert same_rotation(multiply(q, q[::-1]), theirs * Rotation.from_quat(q[::-1].reshape(-1, 4), scalar_first=True))
    np.testing.assert_allclose(rotate(multiply(q, q[::-1]), vector), rotate(q, rotate(q[::-1], vector)), atol=1e-12)
    np.testing.assert_allclose(multiply(q, conjugate(q)), np.broadcast_to(IDENTITY, q.shape), atol=1e-12)
    np.testing.assert_allclose(multiply(q, relative(q, q[::-1])), q[::-1], atol=1e-12)


def test_a_matrix_is_that_of_scipy_and_its_last_column_is_the_axis_that_points_up(pairs):
    q, theirs, _ = pairs
    np.testing.assert_allclose(matrix(q).reshape(-1, 3, 3), theirs.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(up_axis(q), matrix(q)[..., 2], atol=1e-12)


def test_euler_angles_are_about_x_then_y_then_z_of_the_world(rng):
    angles = rng.uniform((-3.1, -1.5, -3.1), (3.1, 1.5, 3.1), (200, 3))
    q = from_euler(*angles.T)
    assert same_rotation(q, Rotation.from_euler("xyz", angles))
    np.testing.assert_allclose(np.stack(to_euler(q), axis=-1), angles, atol=1e-9)
    np.testing.assert_allclose(yaw(q), angles[:, 2], atol=1e-9)
    assert to_euler(from_euler(0.0, np.pi / 2, 0.0))[1] == pytest.approx(np.pi / 2)  # no arcsine of more than 1


def test_an_axis_of_any_length_gives_its_rotation_and_one_of_no_length_none(rng):
    axis, angle = rng.normal(size=(200, 3)), rng.uniform(-6.0, 6.0, 200)
    unit = axis / np.linalg.norm(axis, axis=1, keepdims=True)
    assert same_rotation(about(axis, angle), Rotation.from_rotvec(unit * angle[:, None]))
    np.testing.assert_array_equal(about((0.0, 0.0, 0.0), 1.0), IDENTITY)
    np.testing.assert_allclose(about_z(angle), about((0.0, 0.0, 2.0), angle), atol=1e-15)


def test_a_heading_is_found_again_between_minus_pi_and_pi(rng):
    headings = rng.uniform(-10.0, 10.0, (4, 50))
    expected = np.arctan2(np.sin(headings), np.cos(headings))
    np.testing.assert_allclose(yaw(about_z(headings)), expected, atol=1e-12)
    np.testing.assert_allclose([[wrapped(h) for h in row] for row in headings], expected, atol=1e-12)
    np.testing.assert_allclose(wrap(headings), expected, atol=1e-12)
    assert wrap(np.pi) == -np.pi == wrap(-np.pi)


def test_the_yaw_of_kernels_is_the_yaw_of_arrays(pairs):
    """But for the last bit: numpy has its own arcus tangent."""
    q, _, _ = pairs
    np.testing.assert_allclose([[yaw_of(*each) for each in row] for row in q], yaw(q), rtol=1e-15)


def test_a_pose_takes_points_to_the_world_and_back(pairs):
    q, theirs, point = pairs
    pose = np.concatenate([point[::-1], q], axis=-1)
    there = to_world(pose, point)
    np.testing.assert_allclose((there - point[::-1]).reshape(-1, 3), theirs.apply(point.reshape(-1, 3)), atol=1e-12)
    np.testing.assert_allclose(to_body(pose, there), point, atol=1e-12)


def test_half_way_between_two_rotations_is_the_short_way(rng):
    axis, start = rng.normal(size=3), normalized(rng.normal(size=4))
    end = -multiply(about(axis, 0.8), start)  # the sign says nothing about the rotation
    assert abs(between(start, end, 0.5) @ multiply(about(axis, 0.4), start)) == pytest.approx(1.0)
    np.testing.assert_allclose(between(start, end, 0.0), start, atol=1e-15)
    np.testing.assert_allclose(between(start, end, 1.0), -end, atol=1e-15)


def test_the_spatial_engine_gets_the_numbers_that_mujoco_computes_to_the_last_bit(rng):
    """So its worlds are the same whichever of the two computes. Only the sign of a zero may differ."""
    for k in range(300):
        p, q, v = normalized(rng.normal(size=4)), normalized(rng.normal(size=4)), rng.normal(size=3)
        angles = rng.uniform(-4.0, 4.0, 3) * (rng.random(3) > 0.5)
        if k % 3 == 0:
            q = about_z(angles[0])
        product, turned, axes, euler = np.empty(4), np.empty(3), np.empty(9), np.empty(4)
        mujoco.mju_mulQuat(product, p, q)
        mujoco.mju_rotVecQuat(turned, v, q)
        mujoco.mju_quat2Mat(axes, q)
        mujoco.mju_euler2Quat(euler, angles[::-1].copy(), "zyx")
        ours = multiply(p, q), rotate(q, v), matrix(q).ravel(), from_euler(*angles)
        for one, other in zip(ours, (product, turned, axes, euler), strict=True):
            np.testing.assert_array_equal(one, other)
