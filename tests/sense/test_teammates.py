"""The camera that recognizes teammates: which of them it sees, where, and how wrongly; in the plane and in space."""

import numpy as np
import pytest
from scipy import stats

from formiga.control.random_walk import RandomWalk
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.teammates import BEARING, MOST, RANGE, SEEN, Teammates
from formiga.units import DEG
from formiga.world.model import Arena, Contact, Cylinder, Cylinders, Group, Rectangle, Wall, World
from formiga.world.placement import At, Scatter
from formiga.world.reader import read_text
from formiga.world.robots import Disc
from tests.reference import messages as reference

RADIUS = 0.08
DISC = Disc(RADIUS, 0.14, 0.1)
ENGINES = "planar", "spatial"


def team(sensor, places=(), things=(), others=(), engine="planar", **more):
    """Robots at places (x, y, heading), and a second group of others that see nothing."""
    groups = [Group(DISC, len(at), name, tuple(At(*map(float, each)) for each in at), sensors)
              for name, at, sensors in (("a", places, (sensor,)), ("b", others, ())) if len(at)]
    return Simulation(World(engine=engine, contact=Contact("none"), things=tuple(things), groups=tuple(groups)), **more)


def crowd(sensor, count=25, engine="planar", **more):
    """Robots at random places among walls and obstacles, and a second group among them."""
    things = Arena(4.0, 4.0), Cylinders(6, 0.1), Wall((-1.0, -0.5, 0.7, 0.9)), Rectangle(1.0, -1.0, 0.5, 0.3, 0.4)
    groups = (Group(DISC, count, "a", (Scatter(),), (sensor,), RandomWalk()),
              Group(DISC, 8, "b", (Scatter(),), (), RandomWalk()))
    return Simulation(World(engine=engine, contact=Contact("none"), things=things, groups=groups), **more)


def pairs(lab, world=0):
    """Which robot sees which, as tuples."""
    return [tuple(pair) for pair in np.argwhere(lab.readings["a"]["teammates"][world, ..., SEEN] > 0.0).tolist()]


def true(lab):
    """Ranges and bearings (W, n, n) from each robot to each."""
    n = lab.world.groups[0].count
    place, heading = lab.state.position[:, :n], lab.state.heading[:, :n]
    away = place[:, None] - place[:, :, None]
    return np.linalg.norm(away, axis=-1), np.angle(np.exp(1j * (np.arctan2(away[..., 1], away[..., 0]) - heading[..., None])))


# -- which are seen -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sight", ["walls", "bodies"])
def test_those_are_seen_that_asking_every_pair_gives_at_their_true_range_and_bearing(engine, sight):
    """The twin of messages says what is in the way; then the field of view counts. Others hide, and are not told."""
    lab = crowd(Teammates(1.6, 250.0 * DEG, sight), engine=engine, seed=7, worlds=2)
    for _ in range(3):
        lab.step()
        far, bearing = true(lab)
        reading = lab.readings["a"]["teammates"]
        fixed = lab.model.above.fixed if engine == "spatial" else lab.model.fixed
        for w in range(2):
            expected = np.zeros((25, 25), bool)
            audible = reference.audible(lab.state.position[w], np.zeros(33), np.full(33, RADIUS), fixed.segments, fixed.discs,
                                        np.full(33, 1.6), np.ones(33, bool), sight)
            for i, found in enumerate(audible[:25]):
                expected[i, [j for j in found if j < 25]] = True
            expected &= np.abs(bearing[w]) <= 125.0 * DEG
            assert np.array_equal(reading[w, ..., SEEN], expected) and 40 < expected.sum() < 500
            np.testing.assert_allclose(reading[w, ..., RANGE], np.where(expected, far[w], 0.0), atol=1e-12)
            np.testing.assert_allclose(reading[w, ..., BEARING], np.where(expected, bearing[w], 0.0), atol=1e-9)
        assert np.isfinite(reading).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_reach_is_between_centres(engine):
    near, far = 1.0 - 1e-9, 1.0 + 1e-9
    assert pairs(team(Teammates(1.0), [(0, 0, 0), (near, 0, 0), (0, -far, 0)], engine=engine)) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("heading", [0.0, 2.0, -9.0])
def test_the_field_of_view_is_centred_on_the_heading(heading):
    around = np.radians([0, 44, 46, -44, -46, 180])
    ring = [(0.0, 0.0, heading), *((np.cos(a + heading), np.sin(a + heading), 0.0) for a in around)]
    for field, expected in ((90.0, [1, 2, 4]), (360.0, [1, 2, 3, 4, 5, 6]), (0.1, [1])):
        seen = team(Teammates(2.0, field * DEG, "walls"), ring).readings["a"]["teammates"][0, 0]
        assert np.flatnonzero(seen[:, SEEN]).tolist() == expected
    seen = team(Teammates(2.0, sight="walls"), ring).readings["a"]["teammates"][0, 0]
    np.testing.assert_allclose(seen[1:6, BEARING], around[:5], atol=1e-9)


def test_all_around_means_behind_too():
    """A bearing of half a turn is within a field of 360 degrees, as a file gives it and as Python does."""
    world = read_text('''<world><disc radius="8cm" wheel_base="14cm" top_speed="10cm/s" name="a" count="2">
    <at x="0" y="0" heading="0"/><at x="-1" y="0" heading="0"/><teammates field="360deg"/></disc></world>''')
    assert pairs(Simulation(world)) == pairs(team(Teammates(), [(0, 0, 0), (-1, 0, 0)])) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("thing", [Wall((0.5, -1.0, 0.5, 1.0)), Cylinder(0.5, 0.0, 0.1), Rectangle(0.5, 0.0, 0.2, 0.2, 0.0)])
def test_walls_and_obstacles_hide_teammates_whatever_the_sight(engine, thing):
    for sight in ("walls", "bodies"):
        lab = team(Teammates(3.0, sight=sight), [(0, 0, 0), (0, 2, 0), (1, 0, 0)], [thing], engine=engine)
        assert pairs(lab) == [(0, 1), (1, 0), *([(1, 2), (2, 1)] if not isinstance(thing, Wall) else [])]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("aside, sight, hidden", [(0.0, "bodies", True), (0.0799, "bodies", True), (0.0801, "bodies", False),
                                                  (0.0, "walls", False)])
def test_a_robot_in_between_hides_another_if_the_sensor_says_so(engine, aside, sight, hidden):
    """A teammate, or a robot of another group: that is not told apart, so it is not seen itself."""
    lab = team(Teammates(3.0, sight=sight), [(0, 0, 0), (1, aside, 0), (2, 0, 0)], engine=engine)
    assert ((0, 2) in pairs(lab)) == ((2, 0) in pairs(lab)) == (not hidden) and (0, 1) in pairs(lab)
    other = team(Teammates(3.0, sight=sight), [(0, 0, 0), (2, 0, 0)], others=[(1, aside, 0)], engine=engine)
    assert pairs(other) == ([] if hidden else [(0, 1), (1, 0)])


def test_a_robot_alone_and_one_on_top_of_another_read_numbers():
    assert team(Teammates(), [(0, 0, 0)]).readings["a"]["teammates"].tolist() == [[[[0.0, 0.0, 0.0]]]]
    reading = team(Teammates(), [(1, 1, 0.3), (1, 1, 0.3)]).readings["a"]["teammates"]
    assert np.isfinite(reading).all() and reading[0, 0, 1, SEEN] == 1.0 and reading[0, 0, 1, RANGE] == 0.0


# -- errors -------------------------------------------------------------------------------------------------------------
def test_ranges_err_by_a_share_of_themselves_and_bearings_by_an_angle():
    places = [(0, 0, 0.5), (1, 0, 0), (0, 3, 2)]
    lab = team(Teammates(9.0, range_noise=0.05, bearing_noise=2.0 * DEG), places, worlds=4000)
    exact, reading = team(Teammates(9.0), places).readings["a"]["teammates"][0], lab.readings["a"]["teammates"]
    ones = ~np.eye(3, dtype=bool)
    assert (reading[..., SEEN] == ones).all() and not reading[:, ~ones].any() and np.isfinite(reading).all()
    ranges, bearings = ((reading[..., RANGE] / np.where(ones, exact[..., RANGE], 1.0) - 1.0)[:, ones],
                        np.angle(np.exp(1j * (reading - exact)[..., BEARING]))[:, ones])
    for error, sigma in ((ranges, 0.05), (bearings, 2.0 * DEG)):
        assert all(stats.kstest(each / sigma, "norm").pvalue > 1e-4 for each in error.T)
    both = np.hstack([ranges, bearings])                        # each pair of robots, and each of the two errors by itself
    assert np.abs(np.corrcoef(both.T) - np.eye(12)).max() < 4.5 / np.sqrt(4000)
    lab.step({"a": np.zeros((4000, 3, 2))})
    again = (lab.readings["a"]["teammates"][..., RANGE] / np.where(ones, exact[..., RANGE], 1.0) - 1.0)[:, ones]
    assert abs(np.corrcoef(ranges.ravel(), again.ravel())[0, 1]) < 4.5 / np.sqrt(ranges.size)


def test_however_large_the_errors_ranges_are_not_negative_and_bearings_go_all_around():
    lab = team(Teammates(9.0, range_noise=3.0, bearing_noise=400.0 * DEG), [(0, 0, 0), (1, 0, 0)], worlds=300)
    reading = lab.readings["a"]["teammates"]
    assert np.isfinite(reading).all() and reading[..., RANGE].min() == 0.0 and reading[..., RANGE].max() > 5.0
    assert (np.abs(reading[..., BEARING]) <= np.pi).all() and np.abs(reading[..., BEARING]).max() > 3.0
    low, high = lab.world.groups[0].sensors[0].bounds(DISC)
    assert (reading >= low).all() and (reading <= high).all()


def test_without_errors_a_reading_is_within_its_bounds():
    lab = crowd(Teammates(1.6))
    low, high = lab.world.groups[0].sensors[0].bounds(DISC)
    assert high[RANGE] == 1.6 and (lab.readings["a"]["teammates"] >= low).all()
    assert (lab.readings["a"]["teammates"] <= high).all()


# -- runs ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ENGINES)
def test_a_world_of_a_batch_has_the_bits_that_it_has_alone(engine):
    sensor = Teammates(2.0, range_noise=0.1, bearing_noise=5.0 * DEG)
    many, alone = crowd(sensor, 10, engine, seed=3, worlds=4), crowd(sensor, 10, engine, seed=3, worlds=1, first_world=2)
    for _ in range(5):
        assert np.array_equal(many.readings["a"]["teammates"][2:3], alone.readings["a"]["teammates"])
        many.step()
        alone.step()
    before = many.readings["a"]["teammates"].copy()
    many.look_again()
    assert np.array_equal(many.readings["a"]["teammates"], before)


def test_both_engines_see_the_same_at_the_start():
    sensor = Teammates(2.0, range_noise=0.1, bearing_noise=5.0 * DEG)
    flat, space = (crowd(sensor, engine=engine, seed=3).readings["a"]["teammates"] for engine in ENGINES)
    np.testing.assert_allclose(flat, space, atol=1e-9)
    assert flat[..., SEEN].any()


def test_more_robots_than_can_be_told_apart_are_refused_with_a_message():
    text = '''<world><arena width="9" depth="9"/>
    <disc radius="8cm" wheel_base="14cm" top_speed="10cm/s" name="a" count="{}"><scatter/>
    <teammates/></disc></world>'''
    assert Simulation(read_text(text.format(MOST), "w.xml")).readings["a"]["teammates"].shape == (1, MOST, MOST, 3)
    message = r"^w.xml:3: <teammates> tells at most 200 robots apart; 'a' has 201. <range_and_bearing> serves swarms.$"
    with pytest.raises(WorldError, match=message):
        Simulation(read_text(text.format(MOST + 1), "w.xml")).readings  # noqa: B018


@pytest.mark.parametrize("engine", ENGINES)
def test_a_line_is_drawn_from_each_robot_to_those_that_it_sees(engine):
    lab = team(Teammates(1.5), [(0, 0, 0.3), (1, 0, 2.0), (0, 1, -1.0), (9, 9, 0)], engine=engine)
    marks = lab.drawings()["teammates"]
    assert [mark.kind for mark in marks] == ["lines"] * 3 and [mark.on.tolist() for mark in marks] == [[0], [1], [2]]
    for robot, mark in enumerate(marks):
        heading, place = lab.state.heading[0, robot], lab.state.position[0, robot]
        c, s = np.cos(heading), np.sin(heading)
        ends = place + mark.numbers[:, 3:5] @ np.array([[c, s], [-s, c]])
        np.testing.assert_allclose(ends, np.delete(lab.state.position[0, :3], robot, axis=0), atol=1e-6)
        assert not mark.numbers[:, :2].any()
