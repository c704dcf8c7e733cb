"""The few relations between points, segments and discs, beside shapely and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import LineString, Point

from formiga.geometry import crossing, enters_capsule, enters_disc, lattice_index, nearest_on_segment, passes_disc

place = st.floats(-2.0, 2.0, allow_subnormal=False).map(lambda v: round(v, 6))
points = st.tuples(place, place)


@given(points, points, points)
def test_the_nearest_point_of_a_segment_is_on_it_and_nothing_is_nearer(p, a, b):
    q = nearest_on_segment(*p, *a, *b)
    line = LineString([a, b]) if a != b else Point(a)
    assert np.hypot(q[0] - p[0], q[1] - p[1]) == pytest.approx(Point(p).distance(line), abs=1e-9)
    assert line.distance(Point(q)) < 1e-9


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
