"""The parts of contact model `impulse`, one by one: outlines, gaps and normals, impulses, the ball's law.

Shapely decides about overlaps and areas, pymunk about impulses; the twin in tests/reference/impacts.py about the rest.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pymunk
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import typeof
from numba.core.registry import cpu_target

from formiga.engine.above import outline, outlines
from formiga.engine.above.outlines import Corners, with_normals
from formiga.engine.fixed import Fixed
from formiga.engine.planar.impulse import bodies as module
from formiga.engine.planar.impulse import forces, impact
from formiga.engine.planar.impulse.bodies import (
    INVERSE_INERTIA,
    INVERSE_MASS,
    MARKS,
    MOVING,
    SPIN,
    VX,
    X,
    bodies,
    make_workspace,
)
from formiga.engine.planar.impulse.parts import meet
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import Block, Contact, Puck, World
from formiga.world.movables import rectangle
from formiga.world.reader import read_text
from tests.reference import impacts as plain
from tests.reference.impacts import Body, Disc

SIDE, MASS, INERTIA = 0.075, 0.5, 0.5 * 0.075**2 / 6.0
SQUARE = np.array(rectangle(SIDE, SIDE))


def table(shapes):
    """The kernels' table of corners, for shapes of the twin."""
    rows, first, radius = [], [0], []
    for shape in shapes:
        round_one = isinstance(shape, Disc)
        rows += [(*shape.centre, 0.0, 0.0)] if round_one else with_normals([tuple(corner) for corner in shape])
        radius.append(shape.radius if round_one else 0.0)
        first.append(len(rows))
    return Corners(np.array(first), np.array(radius), np.array(rows, float))


def meetings(ones, others):
    """`meet` of pair after pair."""
    corners = table([*ones, *others])
    return [meet(k, len(ones) + k, corners) for k in range(len(ones))]


def as_shapely(shape):
    if isinstance(shape, Disc):
        return shapely.Point(shape.centre).buffer(shape.radius, 256)
    return shapely.Polygon(shape) if len(shape) > 2 else shapely.LineString(shape)


def random_shape(rng, kind, spread):
    if kind == "disc":
        return Disc(rng.uniform(-spread, spread, 2), rng.uniform(0.01, 0.05))
    if kind == "wall":
        return rng.uniform(-1.5 * spread, 1.5 * spread, (2, 2))
    own = SQUARE if kind == "square" else plain.random_convex(rng, 0.06)
    return plain.placed(own, *rng.uniform(-spread, spread, 2), rng.uniform(0.0, 2.0 * np.pi))


KINDS = [("square", "square", 10_000), ("convex", "convex", 4000), ("square", "wall", 4000), ("convex", "disc", 4000),
         ("disc", "square", 4000), ("disc", "disc", 1000), ("disc", "wall", 2000)]


# -- gaps, normals, points --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("one, other, count", KINDS)
def test_two_parts_overlap_exactly_if_shapely_says_so(rng, one, other, count):
    ones, others = ([random_shape(rng, kind, 0.06) for _ in range(count)] for kind in (one, other))
    gaps = np.array([m.gap for m in meetings(ones, others)])
    a, b = (np.array([as_shapely(shape) for shape in shapes]) for shapes in (ones, others))
    overlap, apart = shapely.intersects(a, b), shapely.distance(a, b)
    measure = shapely.length if other == "wall" else shapely.area
    clear = overlap & (measure(shapely.intersection(a, b)) > (1e-6 if other == "wall" else 1e-9)) | (apart > 1e-6)
    if "disc" in (one, other):
        clear &= np.abs(gaps) > 1e-5  # shapely's discs have 1024 sides
    assert clear.mean() > 0.98 and 0.1 < overlap.mean() < 0.9
    assert np.array_equal(gaps[clear] < 0.0, overlap[clear])


@pytest.mark.parametrize("one, other, count", KINDS)
def test_moving_by_the_overlap_along_the_normal_parts_them_and_no_shorter_way_does(rng, one, other, count):
    """The normal points to A. Every direction that could be shorter is tried by the twin."""
    ones, others = ([random_shape(rng, kind, 0.05) for _ in range(300)] for kind in (one, other))
    deep = 0
    for a, b, m in zip(ones, others, meetings(ones, others)):
        if m.gap < -1e-5:
            deep += 1
            assert m.gap == pytest.approx(plain.separation(a, b), abs=1.1e-6)  # of two equal ones A's side is taken
            n = np.array([m.nx, m.ny])
            moved = [Disc(a.centre + far * n, a.radius) if isinstance(a, Disc) else a + far * n
                     for far in (-m.gap + 1e-9, -m.gap - 1e-5)]
            assert plain.separation(moved[0], b) >= -1e-8 and plain.separation(moved[1], b) < 0.0
            assert np.hypot(m.nx, m.ny) == pytest.approx(1.0, abs=1e-12) and m.points > 0
    assert deep > 50


def brought_near(rng, a, b, gap):
    """B, moved in a random direction until it is as far as `gap` along its way from touching A; None: they do not overlap."""
    if plain.separation(a, b) > 0.0:
        return None
    angle, low, high = rng.uniform(0.0, 2.0 * np.pi), 0.0, 0.6
    way = np.array([np.cos(angle), np.sin(angle)])
    at = lambda far: Disc(b.centre + far * way, b.radius) if isinstance(b, Disc) else b + far * way  # noqa: E731
    for _ in range(28):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if plain.separation(a, at(middle)) < 0.0 else (low, middle)
    return at(high + gap)


@pytest.mark.parametrize("one, other", [("square", "square"), ("convex", "convex"), ("convex", "wall"), ("square", "disc")])
@pytest.mark.parametrize("gap", [1e-4, -2e-5])
def test_who_is_about_to_touch_has_the_true_gap_and_a_point_between_both(rng, one, other, gap):
    """What the engine calls touching: within 0.5 mm."""
    tried = 0
    for _ in range(150):
        a, b = random_shape(rng, one, 0.03), random_shape(rng, other, 0.03)
        if (b := brought_near(rng, a, b, gap)) is None:
            continue
        m, back = meetings([a, b], [b, a])
        tried += 1
        true = plain.distance(a, b) if gap > 0.0 else plain.separation(a, b)
        assert m.points > 0 and m.near == pytest.approx(true, abs=2e-6)
        assert (m.gap, m.nx, m.ny) == pytest.approx((back.gap, -back.nx, -back.ny), abs=3e-2)  # of equal ones either
        for shape in (a, b):
            assert as_shapely(shape).distance(shapely.Point(m.px, m.py)) < 0.51 * abs(m.near) + 1e-6
    assert tried > 40


def test_a_side_along_a_side_touches_at_both_ends_of_what_they_share():
    """The case of the paper's impulse: faces meet over y in [-0.0075, 0.0375], the middle is at 0.015."""
    m, = meetings([SQUARE], [SQUARE + (SIDE + 1e-4, 0.03)])
    assert m.points == 2 and (m.nx, m.ny) == (-1.0, 0.0)
    assert sorted([m.py, m.qy]) == pytest.approx([-0.0075, 0.0375]) and m.px == m.qx == pytest.approx(0.0375 + 5e-5)
    assert m.near == m.far == pytest.approx(1e-4)


# -- tables -----------------------------------------------------------------------------------------------------------
def test_kernels_are_handed_few_wide_arrays():
    """A kernel's compile time grows with the numbers that describe its arrays: once 440 for each that knows bodies and room."""
    made = bodies(World(contact=Contact("impulse"), things=(Puck(0.0, 0.0, 0.05, name="a"),)))
    desk = make_workspace(made, Fixed(np.zeros((0, 5)), np.zeros(0)), 8)
    numbers = cpu_target.target_context.get_arg_packer([typeof(made), typeof(desk)]).argument_types
    assert len(numbers) <= 160


# -- outlines ---------------------------------------------------------------------------------------------------------
def star(rng, corners):
    angle = 2.0 * np.pi * (np.arange(corners) + rng.uniform(0.0, 0.8, corners)) / corners
    return rng.uniform(0.02, 0.1, corners)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


NOTCHED = np.array([(0.0375, 0.0375), (-0.0375, 0.0375), (-0.0375, -0.0375), (0.0375, -0.0375), (0.0375, -0.02), (0.02, -0.02),
                    (0.02, 0.02), (0.0375, 0.02)])


@given(seed=st.integers(0, 2**32 - 1), corners=st.integers(3, 24), backwards=st.booleans())
@settings(max_examples=200)
def test_a_dented_outline_is_cut_into_convex_parts_that_are_the_same_area(seed, corners, backwards):
    points = star(np.random.default_rng(seed), corners)
    whole = shapely.Polygon(points)
    parts = outline.convex_parts(tuple(map(tuple, points[::-1] if backwards else points)))
    cut = [shapely.Polygon(part) for part in parts]
    for part, shape in zip(parts, cut):
        assert outline.area(part) > 0.0 and shape.convex_hull.area == pytest.approx(shape.area, rel=1e-9)
    assert sum(shape.area for shape in cut) == pytest.approx(whole.area, rel=1e-9)  # none overlaps another
    assert shapely.union_all(cut).symmetric_difference(whole).area < 1e-9 * whole.area
    assert len(parts) <= max(1, corners - 2)


def test_a_robot_with_a_notch_is_three_boxes_and_a_convex_outline_stays_whole():
    parts = outline.convex_parts(tuple(map(tuple, NOTCHED)))
    assert len(parts) == 3 and sum(map(outline.area, parts)) == pytest.approx(0.075**2 - 0.0175 * 0.04)
    assert outline.convex_parts(tuple(map(tuple, SQUARE))) == [list(map(tuple, SQUARE))]


def test_corners_in_the_middle_of_a_side_and_doubled_ones_do_not_count():
    tidy = outline.tidy(((0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)))
    assert tidy == [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]


@pytest.mark.parametrize("points, what", [
    (((0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)), "crosses itself|has no area"),
    (((0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, -1.0)), "crosses itself"),
    (((0.0, 0.0), (1.0, 0.0), (2.0, 0.0)), "has no area"), (((0.0, 0.0), (0.0, 0.0), (0.0, 0.0)), "has no area"),
])
def test_an_outline_without_an_inside_is_refused_by_name(points, what):
    block = Block(0.0, 0.0, points=tuple(value for point in points for value in point), name="odd")
    with pytest.raises(WorldError, match=f"'odd': the outline ({what})"):
        bodies(World(contact=Contact("impulse"), things=(block,)))


def test_inertia_is_that_of_a_plate(rng):
    assert outline.inertia([tuple(corner) for corner in SQUARE], MASS) == pytest.approx(MASS * SIDE**2 / 6.0, rel=1e-12)
    for corners in (NOTCHED, star(rng, 7), plain.random_convex(rng, 0.1) + 0.3):
        assert outline.inertia([tuple(corner) for corner in corners], 2.0) == pytest.approx(
            plain.polygon_inertia(corners, 2.0), rel=2e-3)


# -- impulses ---------------------------------------------------------------------------------------------------------
def free_bodies(rng, count):
    """Blocks and pucks of random masses and outlines: the engine's table, and each with its own shape."""
    things = []
    for k in range(count):
        if k % 3:
            points = plain.random_convex(rng, 0.06)
            things.append(Block(0.0, 0.0, points=tuple(points.ravel()), mass=rng.uniform(0.05, 2.0), name=f"b{k}"))
        else:
            things.append(Puck(0.0, 0.0, rng.uniform(0.01, 0.05), rng.uniform(0.05, 2.0), name=f"b{k}"))
    return bodies(World(contact=Contact("impulse"), things=tuple(things))), things


@pytest.fixture(scope="module")
def random_pairs():
    """The pairs that two tests share: to bring one near takes the slow twin a few milliseconds."""
    return near_pairs(np.random.default_rng(20060305), 2000)


@pytest.fixture
def random_contacts(random_pairs):
    """random_contacts(count): (table, Room.moving, things, contacts) of the first pairs; the state is the test's own."""
    made, moving, things, contacts = random_pairs
    return lambda count: (made, moving.copy(), things, [each for each in contacts if each[0] < 2 * count])


def near_pairs(rng, count):
    """(table, Room.moving, things, contacts): pairs that overlap by a micrometre and move at random."""
    made, things = free_bodies(rng, 2 * count)
    moving, contacts = np.zeros((2 * count, MOVING)), []
    pose, speed = parts_of(moving)
    speed[...] = rng.normal(0.0, 1.0, (2 * count, 3)) * (1.0, 1.0, 10.0)
    for k in range(count):
        one, other = 2 * k, 2 * k + 1
        pose[one, 2], pose[other, 2] = rng.uniform(0.0, 2.0 * np.pi, 2)
        a = shape_of(things[one], pose[one])
        b = brought_near(rng, a, shape_of(things[other], pose[other]), -1e-6)
        pose[other, :2] = b.centre if isinstance(b, Disc) else b[0] - shape_of(things[other], pose[other])[0]
        m, = meetings([a], [b])
        if m.points == 1 or m.far > 1e-5:  # a side that lies along a side has two points elsewhere, and one in the middle here
            contacts.append((one, other, m))
    pose[:, 3], pose[:, 4] = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    return made, moving, things, contacts


def parts_of(moving):
    """Poses (B, 5) and speeds (B, 3) in the engine's table."""
    return moving[:, X:VX], moving[:, VX:SPIN + 1]


def free(made):
    """Marks of bodies that no tyres hold: they slip."""
    return np.ones((len(made.kind), MARKS), np.int64)


def shape_of(thing, pose):
    if isinstance(thing, Puck):
        return Disc(pose[:2].copy(), thing.radius)
    return plain.placed(thing.outline, *pose[:3])


def body_of(number, made, pose, speed):
    return Body(1.0 / made.fact[number, INVERSE_MASS], 1.0 / made.fact[number, INVERSE_INERTIA], pose[number, :2].copy(),
                speed[number, :2].copy(), speed[number, 2])


def test_impulses_are_those_of_the_printed_equation_and_keep_its_laws(rng, random_contacts):
    """Momentum, angular momentum, restitution and the loss of energy, (1 - eps^2) v^2 / 2K, on random bodies."""
    made, moving, _, contacts = random_contacts(1000)
    pose, speed = parts_of(moving)
    hits = 0
    for one, other, m in contacts:
        eps, n, p = rng.uniform(0.0, 1.0), np.array([m.nx, m.ny]), np.array([m.px, m.py])
        a, b = (body_of(k, made, pose, speed) for k in (one, other))
        v = n @ (a.point_velocity(p) - b.point_velocity(p))
        expected, after, behind = plain.impact(a, b, p, n, eps)
        j = impact.collide(one, other, *n, *p, eps, 0.0, made.fact, moving, free(made))
        ours = [body_of(k, made, pose, speed) for k in (one, other)]
        assert j == pytest.approx(expected, rel=1e-10, abs=1e-13) and (j > 0.0) == (v < 0.0)
        for mine, theirs in zip(ours, (after, behind)):
            np.testing.assert_allclose([*mine.velocity, mine.spin], [*theirs.velocity, theirs.spin], atol=1e-10)
        np.testing.assert_allclose(plain.momentum(*ours), plain.momentum(a, b), atol=1e-10)
        assert plain.angular_momentum(*ours) == pytest.approx(plain.angular_momentum(a, b), abs=1e-10)
        if j > 0.0:
            hits += 1
            K = (1.0 + eps) * -v / j
            assert n @ (ours[0].point_velocity(p) - ours[1].point_velocity(p)) == pytest.approx(-eps * v, abs=1e-10)
            assert plain.kinetic(a, b) - plain.kinetic(*ours) == pytest.approx((1.0 - eps**2) * v**2 / (2.0 * K), abs=1e-10)
    assert hits > 300


def chipmunk(thing, pose, speed, made, number, elasticity):
    """The same body in pymunk."""
    body = pymunk.Body(1.0 / made.fact[number, INVERSE_MASS], 1.0 / made.fact[number, INVERSE_INERTIA])
    body.position, body.angle = tuple(pose[:2]), pose[2]
    body.velocity, body.angular_velocity = tuple(speed[:2]), speed[2]
    shape = pymunk.Circle(body, thing.radius) if isinstance(thing, Puck) else pymunk.Poly(body, [*map(tuple, thing.outline)])
    shape.elasticity, shape.friction = elasticity, 0.0
    return body, shape


def test_impulses_are_those_of_chipmunk(rng, random_contacts):
    """One impact of two free bodies. Its elasticity is the product of both shapes'; overlaps are not corrected."""
    made, moving, things, contacts = random_contacts(2000)
    pose, speed = parts_of(moving)
    hits = 0
    for one, other, m in contacts:
        eps = rng.uniform(0.0, 1.0)
        space = pymunk.Space(threaded=False)
        space.iterations, space.collision_slop, space.collision_bias = 50, 0.0, 1.0
        theirs = [chipmunk(things[k], pose[k], speed[k], made, k, eps**0.5) for k in (one, other)]
        space.add(*(part for both in theirs for part in both))
        space.step(1e-9)
        if impact.collide(one, other, m.nx, m.ny, m.px, m.py, eps, 0.0, made.fact, moving, free(made)) > 0.0:
            hits += 1
        for k, (body, _) in zip((one, other), theirs):
            np.testing.assert_allclose(speed[k], [*body.velocity, body.angular_velocity], rtol=1e-3, atol=2e-3)
    assert hits > 600


TABLE = [(0.5, 0.30242, 0.39516, 0.60484, 9.67742), (0.0, 0.20161, 0.59677, 0.40323, 6.45161),
         (1.0, 0.40323, 0.19355, 0.80645, 12.90323)]


@pytest.mark.parametrize("eps, j, after, behind, spin", TABLE)
def test_an_offset_hit_is_that_of_the_digest_s_table(eps, j, after, behind, spin):
    """Squares of 7.5 cm and 0.5 kg, B at (0.075, 0.03), p = (0.0375, 0.015); evaluated by hand from eq. 21."""
    blocks = tuple(Block(0.0, 0.0, width=SIDE, depth=SIDE, mass=MASS, name=f"b{k}") for k in range(2))
    made = bodies(World(contact=Contact("impulse"), things=blocks))
    moving = np.zeros((2, MOVING))
    pose, speed = parts_of(moving)
    pose[...] = (0.0, 0.0, 0.0, 1.0, 0.0), (0.075, 0.03, 0.0, 1.0, 0.0)
    speed[0, 0] = 1.0
    hit = lambda: impact.collide(0, 1, -1.0, 0.0, 0.0375, 0.015, eps, 0.0, made.fact, moving, free(made))  # noqa: E731
    assert hit() == pytest.approx(j, abs=1e-5)
    np.testing.assert_allclose(speed, [(after, 0.0, spin), (behind, 0.0, spin)], atol=1e-5)
    assert hit() == 0.0  # they part now


# -- the ball's law ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dry, viscous", [(0.14, 0.0), (0.14, 0.15), (0.0, 0.15), (0.05, 1.5)])
def test_a_ball_slows_as_small_euler_steps_say_and_never_turns_round(dry, viscous):
    slow = 1e-2
    for speed in (1.0, 0.2, 0.012, 0.009):
        v, expected = speed, speed
        for _ in range(30):
            v = forces.slowed(v, dry, viscous, slow, 0.005)
            for _ in range(500):
                expected -= 1e-5 * (dry * min(1.0, expected / slow) + viscous * expected)
            assert v == pytest.approx(expected, abs=2e-5) and 0.0 <= v <= speed


def test_a_ball_that_would_stop_within_the_step_does_not_go_back():
    for h in (0.001, 0.033, 1.0, 100.0):
        for speed in (1e-6, 1e-3, 0.01, 0.1):
            later = forces.slowed(speed, 0.14, 0.1, 1e-3, h)
            assert 0.0 <= later <= speed


def test_corners_of_all_parts_go_counter_clockwise(rng):
    for _ in range(100):
        for part in outline.convex_parts(tuple(map(tuple, star(rng, 9)[::-1]))):
            normals = [np.array(row[2:]) for row in with_normals(part)]
            assert all(n @ np.array(b) >= n @ np.array(a) - 1e-12 for n, (a, b) in zip(normals, pairwise([*part, part[0]])))
            middle = np.mean(part, axis=0)
            assert all(n @ (np.array(corner) - middle) > 0.0 for n, corner in zip(normals, part))


def test_a_control_period_that_would_take_minutes_is_refused():
    text = '<world dt="{}">\n<arena width="2" depth="2"/><contact model="impulse"/><ball x="0" y="0" vx="1"/></world>'
    with pytest.raises(WorldError, match=r"w\.xml:1: <world> dt: .* lasts at most 60 s, not 1e\+09 s"):
        Simulation(read_text(text.format("1e9"), "w.xml"))
    Simulation(read_text(text.format("60"), "w.xml"))


def test_corners_that_are_written_twice_begin_no_side_and_an_outline_without_area_is_refused():
    block = '<world><arena width="2" depth="2"/><contact model="impulse"/><block x="0" y="0" points="{}"/></world>'
    twice = read_text(block.format("-0.1 -0.1 0.1 -0.1 0.1 -0.1 0 0.1"))
    assert np.isfinite(Simulation(twice).state.movables).all()
    with pytest.raises(WorldError, match="the outline has no area"):
        Simulation(read_text(block.format("0.1 0.1 0.1 0.1 0.1 0.1")))


# -- many of a kind -----------------------------------------------------------------------------------------------------------
L = ((0.0, 0.0), (0.06, 0.0), (0.06, 0.02), (0.02, 0.02), (0.02, 0.06), (0.0, 0.06))
MIXED = """<world><arena width="3" depth="3"/><contact model="impulse"/><mirosot count="3"/><sbot count="2"/>
  <ball x="1" y="1"/><block x="-1" y="-1" points="{}"/><mirosot name="more" profile="firasim" count="2"/></world>"""


def test_the_table_of_bodies_has_each_body_as_if_it_were_alone():
    world = read_text(MIXED.format(" ".join(f"{value}" for corner in L for value in corner)))
    table, alone = bodies(world), []
    for group in world.groups:
        alone += [bodies(replace(world, groups=(replace(group, count=1),), things=()))] * group.count
    alone += [bodies(replace(world, groups=(), things=(thing,))) for thing in world.movables]
    assert len(table.kind) == len(alone) == 9 and table.robots == 7
    for number, one in enumerate(alone):
        parts = slice(table.first_part[number], table.first_part[number + 1])
        corners = slice(table.first[parts.start], table.first[parts.stop])
        assert table.kind[number] == one.kind[0]
        np.testing.assert_array_equal(table.fact[number], one.fact[0])
        np.testing.assert_array_equal(table.radius[parts], one.radius)
        np.testing.assert_array_equal(table.corner[corners], one.corner)
        np.testing.assert_array_equal(np.diff(table.first[parts.start:parts.stop + 1]), np.diff(one.first))


def test_a_million_robots_are_worked_out_as_often_as_one(monkeypatch):
    """Each had lists of its own: more than a gigabyte, before it was said that they do not fit."""
    asked = []
    for each in (module, outlines):
        monkeypatch.setattr(each, "with_normals", lambda part: asked.append(part) or with_normals(part))
    for count in (1, 1_000_000):
        world = read_text(f'<world><arena width="2" depth="2"/><contact model="impulse"/><mirosot count="{count}"/></world>')
        asked.clear()
        assert len(bodies(world).corner) == 4 * count and len(asked) <= 2
