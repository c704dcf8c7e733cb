"""Wandering through corridors: it keeps to them, takes each arm of a crossing as often, turns round and touches nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from formiga.control.wander import ABEAM, BEHIND, FORGETS, LOST, QUARTER, TWO, WIDE, Wander, bearings, choose, ways, within
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.scanner import Scanner
from formiga.units import DEG
from formiga.world.model import Contact, Group, Wall, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import Disc
from formiga.world.robots.omni import Omni
from tests.reference import openings as plain
from tests.reference.lab import distance_to_segment
from tests.runs import assert_same, both

ROBOT = Disc(0.1, 0.16, 0.4)
TOWARDS = {"e": (1, 0), "n": (0, 1), "w": (-1, 0), "s": (0, -1)}


def crossing(arms, length=6.0):
    """Walls of corridors, 1 m wide, that meet in the origin: one to each side that is named, with a dead end."""
    walls = []
    for side, (x, y) in TOWARDS.items():
        corners = [np.array((x, y)) * far + 0.5 * s * np.array((-y, x)) for far in (0.5, length) for s in (-1, 1)]
        pairs = ((0, 2), (1, 3), (2, 3)) if side in arms else ((0, 1),)
        walls += [Wall((*corners[a], *corners[b])) for a, b in pairs]
    return walls


def sonar(beams, reach=3.0, name="sonar"):
    return Scanner(beams, 360.0 * DEG, reach=reach, name=name)


def lab(walls, starts, beams=16, open=0.9, pause=1.5, seed=0, compiled=True, **more):
    """One robot in each world, from starts (W, 3)."""
    starts = np.asarray(starts, float)
    group = Group(ROBOT, 1, "a", (At(*starts[0]),), (sonar(beams),), Wander(open=open, near=0.3, pause=pause, **more))
    return Simulation(World(contact=Contact("stop"), things=tuple(walls), groups=(group,)), seed, len(starts),
                      start=(starts[:, None, :2], starts[:, 2:]), compiled=compiled)


def took(simulation):
    """The arm in which the robot of each world is."""
    x, y = np.moveaxis(simulation.state.position[:, 0], -1, 0)
    return np.select([np.hypot(x, y) < 0.7, x > np.abs(y), -x > np.abs(y), y > 0.0], ["", "e", "w", "n"], "s")


# -- openings -----------------------------------------------------------------------------------------------------------
def ends(scan, angles, open=1.0):
    out = np.full((len(scan), 2), np.nan)
    return out[:bearings(np.array(scan, float), np.array(angles, float), open, out)]


@given(st.lists(st.booleans(), min_size=1, max_size=24), st.floats(-7.0, 7.0), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_openings_are_those_of_asking_each_beam_and_its_neighbours(long, first, random):
    """Rings with beams at any angles, in order, from any first one; the order of the openings does not matter."""
    steps = np.array([random.uniform(0.2, 1.0) for _ in long])
    angles = first + 2.0 * np.pi * np.cumsum(steps) / steps.sum()
    angles = (angles + np.pi) % (2.0 * np.pi) - np.pi
    found, expected = ends(np.where(long, 2.0, 0.5), angles), plain.bearings(np.where(long, 2.0, 0.5), angles, 1.0)
    assert len(found) == len(expected)
    for low, high in found:
        assert abs(low) <= np.pi + 1e-12 and low < high <= low + 2.0 * np.pi + 1e-9
        assert any(abs(np.sin(0.5 * (low - one))) < 1e-9 and high - low == pytest.approx(other - one)
                   for one, other in expected)
    inside = [any(within(angle, low, high) for low, high in found) for angle in angles]
    assert inside == long                                          # each long beam in one, and no short one


def test_an_opening_reaches_half_way_to_the_short_beams_beside_it_also_across_the_back():
    angles = np.radians(np.arange(-180.0, 180.0, 45.0))
    scan = [2.0, 2.0, 0.5, 0.5, 2.0, 0.5, 0.5, 2.0]                # ahead, and from 135 over 180 to 225 degrees
    assert np.degrees(ends(scan, angles)) == pytest.approx(np.array([(-22.5, 22.5), (112.5, 247.5)]))
    assert ends([0.5] * 8, angles).shape == (0, 2) and ends([0.5], [0.0]).shape == (0, 2)
    assert ends([1.0] * 8, angles).tolist() == [[-np.pi, np.pi]]   # as long as `open` is long enough
    assert np.degrees(ends([2.0, 0.5], [0.0, np.pi])) == pytest.approx(np.array([(-90.0, 90.0)]))


def test_a_wide_opening_has_as_many_ways_as_arms_of_a_crossing_that_look_like_one():
    """From the middle of a crossing of corridors of width 1 an arm is 2 asin(0.5 / open) wide; arms stand at right angles."""
    for open in (0.8, 0.9, 1.0):
        arm = 2.0 * np.arcsin(0.5 / open)
        for arms in (1, 2, 3):
            assert ways(-0.3, -0.3 + arm + (arms - 1) * QUARTER) == arms
    assert [ways(0.0, wide) for wide in (TWO, TWO + 1e-9, TWO + QUARTER, TWO + QUARTER + 1e-9, 6.0)] == [1, 2, 2, 3, 4]
    assert ways(-np.pi, np.pi) == 1


# -- choices ------------------------------------------------------------------------------------------------------------
def chosen(found, course=FORGETS, may=True, chance=0.0, travel=0.0):
    """What is chosen from openings by (middle, width) in degrees, the course in degrees, too."""
    rows = np.radians([(middle - 0.5 * wide, middle + 0.5 * wide) for middle, wide in found]).reshape(-1, 2)
    way, new = choose(rows, len(rows), course if course == FORGETS else np.radians(course), np.radians(travel), may, chance)
    return pytest.approx(np.degrees(way), abs=1e-9), new


CORRIDOR = [(0, 67), (180, 67)]
FOUR = [(0, 67), (90, 67), (-90, 67), (180, 67)]
MERGED = [(0, 247), (180, 67)]      # three arms that look like one


def test_in_a_corridor_the_opening_ahead_is_followed_however_it_turns():
    for course in (-30.0, 0.0, 30.0):
        for may in (True, False):
            assert chosen(CORRIDOR, course, may, 0.99) == (0.0, False)
            assert chosen([(25, 67), (-155, 67)], course, may) == (25.0, False)


@pytest.mark.parametrize("found, expected", [(FOUR, [0, 90, -90]), (MERGED, [0, 247 / 3, -247 / 3]),
                                             ([(45, 157), (180, 67), (-90, 67)], [45 + 157 / 4, 45 - 157 / 4, -90]),
                                             ([(90, 67), (-90, 67), (180, 67)], [90, -90]), ([(0, 67), (-90, 67)], [0, -90])])
def test_in_the_mouth_of_an_arm_each_way_that_is_not_behind_is_as_probable(found, expected):
    chances = (np.arange(600) + 0.5) / 600
    rows = np.radians([(middle - 0.5 * wide, middle + 0.5 * wide) for middle, wide in found])
    picked = [choose(rows, len(rows), 0.0, 0.0, True, chance) for chance in chances]
    assert all(new for _, new in picked)
    way, times = np.unique(np.degrees([way for way, _ in picked]).round(6), return_counts=True)
    assert way == pytest.approx(sorted(expected), abs=1e-5) and (times == 600 / len(expected)).all()
    if found in (FOUR, MERGED):
        assert not any(choose(rows, len(rows), 0.0, 0.0, False, chance)[1] for chance in chances)


def test_without_leave_to_choose_the_course_goes_straight_through():
    assert chosen(FOUR, 5.0, False) == (0.0, False) and chosen(FOUR, 80.0, False) == (90.0, False)
    assert chosen(MERGED, 17.0, False) == (17.0, False)            # through a wide opening on the course itself
    assert chosen([(20, np.degrees(WIDE) - 1)], 0.0, False) == (20.0, False)
    assert chosen([(20, np.degrees(WIDE) + 1)], 0.0, False) == (0.0, False)


def test_before_the_mouth_of_an_arm_nothing_is_chosen():
    """Until an opening reaches ABEAM to one side, arms are not yet to be seen alike."""
    side = np.degrees(ABEAM)
    before, there = ([(0, 67), (side - 30 + off, 60), (180, 67)] for off in (-0.1, 0.1))
    assert chosen(before, 0.0, True, 0.99) == (0.0, False) and chosen(there, 0.0, True, 0.99) == (side - 29.9, True)
    mirrored = [(0, 67), (-side + 29.9, 60), (180, 67)]
    assert chosen(mirrored, 0.0, True, 0.99) == (-side + 29.9, True)


def test_a_way_that_ends_is_left_for_any_other_that_is_not_behind():
    side = np.degrees(LOST) + 35.0
    ahead_closed = [(side, 60), (-side, 60), (180, 67)]
    assert chosen(ahead_closed, 0.0, False, 0.1) == (side, True) and chosen(ahead_closed, 0.0, False, 0.9) == (-side, True)
    assert chosen([(side, 60), (180, 67)], 0.0) == (side, False)   # where there is but one it is no choice
    assert chosen([(np.degrees(LOST) - 1, 20), (180, 67)], 0.0) == (np.degrees(LOST) - 1, False)       # past what is in the way


def test_corners_and_gaps_are_passed_and_not_chosen():
    """A corner of a bend is open for a beam or two; a robot in a corridor leaves a gap on either side of itself."""
    bend = [(-45, 22), (56, 90), (180, 67)]
    assert all(chosen(bend, 0.0, may, chance) == (56.0, False) for may in (True, False) for chance in (0.0, 0.99))
    assert chosen([(-20, 22), (25, 15), (180, 67)], 0.0) == (-20.0, False)
    assert chosen([(-45, 22), (180, 67)], 0.0) == (-180.0, False)


def test_what_is_behind_and_abeam_counts_from_the_way_so_far_and_not_from_a_turn_that_has_begun():
    """In a bend to the left, half round it: behind is where the robot came from, 50 degrees further right than behind it."""
    bend = [(22, 67), (135, 67)]
    assert all(chosen(bend, 18.0, True, chance, travel=-50.0) == (22.0, False) for chance in (0.0, 0.99))
    assert {chosen(bend, 18.0, True, chance)[1] for chance in (0.0, 0.99)} == {True}
    assert chosen([(135, 67)], 18.0, travel=-50.0) == (135.0, False)


def test_in_a_dead_end_it_turns_round_and_where_nothing_is_open_it_keeps_its_course_or_turns():
    assert chosen([(180, 67)], 0.0) == (-180.0, False) and chosen([(-170, 67)], 10.0) == (-170.0, False)
    assert chosen([(180, 67)]) == (-180.0, False)
    assert chosen([], 40.0) == (40.0, False) and chosen([]) == (90.0, False)
    side = np.degrees(BEHIND)
    assert chosen([(side - 1, 40), (-side - 1, 40)], 0.0, chance=0.99) == (side - 1, False)      # one of them is behind


def test_at_the_start_any_way_ahead_is_taken_and_in_the_open_it_goes_straight_on():
    assert chosen(CORRIDOR) == (0.0, False) and chosen(FOUR, chance=0.99, may=False)[1]
    assert choose(np.array([(-np.pi, np.pi)]), 1, FORGETS, 0.0, True, 0.7) == (0.0, False)
    assert choose(np.array([(-np.pi, np.pi)]), 1, 0.4, 0.0, True, 0.7) == (0.4, False)


# -- in a world ---------------------------------------------------------------------------------------------------------
def test_the_wheels_are_those_of_the_equation(rng):
    """course - sum of (1 - range / near) x direction x 2; turn 2 x bearing, at most `turn`; speed x cos^2."""
    for _ in range(20):
        start = (rng.uniform(-4, -2), rng.uniform(-0.35, 0.35), rng.uniform(-0.2, 0.2))
        simulation = lab(crossing("ew"), [start])
        scan, angle = simulation.readings["a"]["sonar"][0, 0], np.array(sonar(16).angles)
        middles = [0.5 * (low + high) for low, high in plain.bearings(scan, angle, 0.9)]
        course = min(((middle + np.pi) % (2 * np.pi) - np.pi for middle in middles), key=abs)   # at the start, of the way ahead
        push = 2.0 * np.where(scan < 0.3, 1.0 - scan / 0.3, 0.0)
        x, y = np.cos(course) - (push * np.cos(angle)).sum(), np.sin(course) - (push * np.sin(angle)).sum()
        aim = np.arctan2(y, x)
        turn, ahead = np.clip(2.0 * aim, -1.0, 1.0), 0.3 * max(0.0, np.cos(aim)) ** 2
        simulation.step()
        expected = np.clip([ahead - 0.08 * turn, ahead + 0.08 * turn], -0.4, 0.4)
        np.testing.assert_allclose(simulation.state.drive[0, 0], expected, atol=1e-12)


@pytest.mark.parametrize("turned", [0.0, 0.4, 2.0])
def test_in_a_corridor_it_comes_to_the_middle_and_stays_there_whichever_way_the_corridor_goes(turned, rng):
    c, s = np.cos(turned), np.sin(turned)
    turn = np.array([[c, s], [-s, c]])
    walls = [Wall((*(np.array(a) @ turn), *(np.array(b) @ turn)))
             for a, b in (((0, -0.5), (30, -0.5)), ((0, 0.5), (30, 0.5)), ((0, -0.5), (0, 0.5)), ((30, -0.5), (30, 0.5)))]
    starts = np.column_stack([rng.uniform(3, 5, 40), rng.uniform(-0.2, 0.2, 40), rng.uniform(-0.3, 0.3, 40)])
    starts[:, :2] = starts[:, :2] @ turn
    starts[:, 2] += turned
    simulation, aside, along = lab(walls, starts, beams=24), [], []
    for _ in range(500):
        simulation.step()
        x, y = np.moveaxis(simulation.state.position[:, 0] @ turn.T, -1, 0)
        along.append(x)
        aside.append(np.abs(y))
    assert simulation.state.crashes.sum() == 0 and np.max(aside[200:]) < 0.2 and np.median(aside[200:]) < 0.08
    assert (np.diff(along, axis=0)[100:] > 0.0).all() and np.min(along[-1]) > 15.0       # on and on, at nearly its speed


@pytest.mark.parametrize("arms", ["wnes", "wne", "wes", "wns"])
@pytest.mark.parametrize("beams, open", [(16, 0.9), (24, 1.0), (36, 1.2), (72, 0.9)])
def test_each_arm_of_a_crossing_that_is_not_behind_is_taken_equally_often(arms, beams, open, rng):
    """Eight starts with 120 runs each, by the chi-square test at a level of 1 in 10,000 for all together and for each."""
    starts = np.column_stack([rng.uniform(-2.3, -2.0, 8), rng.uniform(-0.25, 0.25, 8), rng.uniform(-0.2, 0.2, 8)])
    simulation = lab(crossing(arms), np.repeat(starts, 120, axis=0), beams, open)
    assert simulation.advance(170)
    found = np.array([[(each == arm).sum() for arm in arms[1:]] for each in took(simulation).reshape(8, 120)])
    assert (found.sum(axis=1) == 120).all() and simulation.state.crashes.sum() == 0
    assert stats.chisquare(found.sum(axis=0)).pvalue > 1e-4 and stats.chisquare(found, axis=1).pvalue.min() > 1e-4


def test_a_choice_does_not_depend_on_that_of_the_next_world_or_robot():
    simulation = lab(crossing("wns"), np.repeat([(-2.0, 0.0, 0.0)], 2000, axis=0))
    simulation.advance(150)
    up = took(simulation) == "n"
    assert abs(np.corrcoef(up[:-1], up[1:])[0, 1]) < 4.5 / np.sqrt(2000)
    assert abs(up.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(2000)


def test_it_goes_round_a_bend_and_turns_round_in_a_dead_end(rng):
    starts = np.column_stack([np.full(30, -2.0), rng.uniform(-0.25, 0.25, 30), rng.uniform(-0.2, 0.2, 30)])
    bend, reached = lab(crossing("wn", 3.0), starts), np.zeros((30, 2))
    for _ in range(60):
        bend.advance(10)
        x, y = np.moveaxis(bend.state.position[:, 0], -1, 0)
        assert (y[x < -0.6] < 0.35).all() and (x[y > 0.6] > -0.35).all()       # in one corridor or in the other
        reached = np.maximum(reached, np.column_stack([y, np.where(reached[:, 0] > 1.9, -x, -9.0)]))
    assert bend.state.crashes.sum() == 0
    assert (reached > 1.9).all() and (reached < 2.9).all()                     # to one end, and to the other


def test_between_two_choices_it_goes_straight_through_crossings():
    """After a choice it goes as far as `pause` before it chooses again: two crossings that are 3 m apart."""
    walls = []
    for x in (0.0, 3.0):
        for wall in crossing("nwes", 1.5):
            x0, y0, x1, y1 = wall.points
            if not (x0 == x1 and abs(x0) == 1.5):
                walls.append(Wall((x0 + x, y0, x1 + x, y1)))
    walls += [Wall((x, y, x + 3.5, y)) for x in (-5.0, 4.5) for y in (-0.5, 0.5)]
    for pause, all_straight in ((1.5, False), (5.0, True)):
        simulation = lab(walls, np.repeat([(-3.0, 0.0, 0.0)], 300, axis=0), pause=pause)
        simulation.advance(130)
        straight = simulation.state.position[:, 0, 0] > 0.6
        assert 60 < straight.sum() < 140
        simulation.advance(90)
        on = simulation.state.position[straight, 0, 0] > 3.5
        assert on.all() == all_straight and on.any()


MAZE = """<world name="maze" dt="0.1"><contact model="stop"/>{walls}
<disc name="a" count="6" radius="10cm" wheel_base="16cm" top_speed="40cm/s" heading_noise="0.05">{places}
<scanner name="sonar" beams="16" field="360deg" reach="3m" noise="1cm" errors="uniform"/>
<wander open="90cm" near="30cm" pause="2m"/></disc></world>"""


def maze():
    """Blocks of 3 m x 2 m, nine of them, with corridors of 1 m between them and around them."""
    boxes = [(1 + 4 * i, 1 + 3 * j, 4 + 4 * i, 3 + 3 * j) for i in range(3) for j in range(3)] + [(0, 0, 13, 10)]
    walls = "".join(f'<wall points="{a} {b} {c} {d}"/>' for x0, y0, x1, y1 in boxes for a, b, c, d in (
        (x0, y0, x1, y0), (x1, y0, x1, y1), (x1, y1, x0, y1), (x0, y1, x0, y0)))
    places = "".join(f'<at x="{x}" y="{y}" heading="{h}"/>' for x, y, h in (
        (0.5, 2, 90), (4.5, 5, -90), (6, 0.5, 0), (12.5, 8, 90), (2, 9.5, 180), (7, 3.5, 0)))
    return read_text(MAZE.format(walls=walls, places=places).replace('heading="90"', 'heading="90deg"').replace(
        'heading="-90"', 'heading="-90deg"').replace('heading="180"', 'heading="180deg"'))


def test_over_a_long_run_no_wall_is_touched_and_every_corridor_is_visited():
    """Six robots that meet and pass each other, 15 minutes in four worlds."""
    world = maze()
    simulation, nearest, seen = Simulation(world, 2, 4), np.inf, set()
    segments = [(wall.points[:2], wall.points[2:]) for wall in world.things if isinstance(wall, Wall)]
    for step in range(900):
        simulation.advance(10)
        for place in simulation.state.position.reshape(-1, 2):
            seen.add((int(place[0]), int(place[1])))
            if step % 20 == 0:
                nearest = min(nearest, min(distance_to_segment(place, a, b) for a, b in segments))
    corridors = {(x, y) for x in range(13) for y in range(10) if x % 4 == 0 or y % 3 == 0}
    assert seen == corridors and nearest > 0.12 and simulation.state.crashes.sum() == 0


# -- the same bits ------------------------------------------------------------------------------------------------------
def test_the_compiled_loop_decides_the_same_also_after_a_reset():
    fast, slow = both(maze(), 300, again=[True, False, True])
    assert_same(fast, slow)
    assert fast.advance(1) and not slow.advance(1)
    assert len({key[1] for key in fast.state.memory} & {"course", "gone"}) == 2


def test_the_same_seed_gives_the_same_run_alone_and_in_a_batch_and_another_seed_another():
    world = maze()
    many, alone, other = Simulation(world, 7, 3), Simulation(world, 7, 1, first_world=2), Simulation(world, 8, 3)
    for simulation in (many, alone, other):
        simulation.advance(400)
    assert np.array_equal(many.state.position[2:], alone.state.position)
    assert not np.allclose(many.state.position, other.state.position)
    assert not np.allclose(many.state.position[0], many.state.position[1])
    first = many.state.position.copy()
    many.reset()
    many.advance(400)
    assert np.array_equal(many.state.position, first)


# -- what is refused ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("robot, sensor, message", [
    (ROBOT, sonar(16, name="other"), "reads 'sonar', but the robots carry: other"),
    (Omni(), sonar(16), "<wander> drives two wheels")])
def test_what_it_cannot_use_is_refused_with_a_message(robot, sensor, message):
    group = Group(robot, 1, "a", (At(0.0, 0.0),), (sensor,), Wander())
    with pytest.raises(WorldError, match=message):
        Simulation(World(groups=(group,), contact=Contact("none"))).step()


@pytest.mark.parametrize("sensor, words", [
    ('<encoders name="sonar"/>', "is <encoders>"),
    ('<light name="sonar"/>', "is <light>"),                                         # a ring, but of no distances
    ('<proximity name="sonar" angles="0 90deg 180deg 270deg" reach="5m"/>', "is <proximity>"),
    ('<scanner name="sonar" field="180deg" reach="5m"/>', "sees 180 degrees"),
    ('<scanner name="sonar" field="360deg" reach="4m"/>', "reaches 4 m, so it could see nothing that is `open`")])
def test_a_sensor_without_distances_all_around_is_refused(sensor, words):
    text = f'''<world><arena width="3" depth="3"/><sbot name="a"><at x="0" y="0"/>{sensor}
<wander/></sbot></world>'''
    with pytest.raises(WorldError) as refused:
        Simulation(read_text(text, "w.xml")).step()
    assert str(refused.value) == (f"w.xml:2: <wander> sensor: 'sonar' {words}; it takes a <scanner> of 360 degrees that "
                                  "reaches 4.5 m or more.")
