"""Messages between robots: laws of range, sight, loss, delay, rate and hops, on both engines."""

from math import inf, pi, radians, tan

import numpy as np
import pytest
from scipy.stats import binom

from formiga.comm.inbox import Inbox
from formiga.comm.radio import Radio
from formiga.comm.range_and_bearing import RangeAndBearing
from formiga.comm.traffic import account, traffic_of
from formiga.control import Orders
from formiga.control.spread import Spread
from formiga.errors import WorldError
from formiga.lab import simulate
from formiga.loop import Simulation
from formiga.world.model import Arena, Contact, Cylinders, Group, Rectangle, Wall, World
from formiga.world.placement import At, Scatter
from formiga.world.reader import read_text
from formiga.world.robots import Disc
from tests.reference import messages as reference

DISC = Disc(0.08, 0.14, 0.1)
SIGHTS = "none", "walls", "bodies"


def line(links, places, things=(), controller=None, worlds=1, seed=0, engine=None, robot=DISC, dt=0.1, **options):
    """Robots that stand at places (x, y, heading), all with the same links."""
    at = tuple(At(*map(float, place)) for place in places)
    group = Group(robot, len(places), "a", at, (), controller, links=tuple(links))
    world = World(dt=dt, contact=Contact("none"), things=tuple(things), groups=(group,), engine=engine or "planar")
    return Simulation(world, seed, worlds, **options)


def say(lab, message, link=None):
    """One period in which all robots send; message: (robots, numbers), NaN for silence."""
    given = np.broadcast_to(np.asarray(message, float), (lab.state.worlds, *np.shape(message))).copy()
    lab.step({"a": Orders(drive=np.zeros((*given.shape[:2], 2)), message=given if link is None else {link: given})})


def heard(lab, link, robot=0, world=0):
    """The numbers that a robot hears, one for each message."""
    reading = lab.readings["a"][link][world, robot]
    return reading[reading[:, 0] > 0.0, -1].tolist()


def numbers(lab):
    """Each robot says its own number."""
    return np.arange(lab.state.position.shape[1], dtype=float)[:, None]


# -- against the twin -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("compiled", [True, False])
def test_who_is_heard_is_what_asking_every_pair_gives(sight, compiled, rng):
    link = RangeAndBearing(0.9, sight, most=32)
    things = (Arena(4.0, 4.0), Cylinders(8, 0.1), Wall((-1.0, -0.5, 0.7, 0.9)), Rectangle(1.0, -1.0, 0.5, 0.3, 0.4))
    group = Group(DISC, 40, "a", (Scatter(),), (), Spread() if compiled else None, links=(link,))
    world = World(things=things, groups=(group,), contact=Contact("none"))
    lab = Simulation(world, 7, 2, compiled=compiled)
    for step in range(4):
        silent = rng.random(40) < 0.2
        if compiled:
            lab.step()
            silent[:] = False
        else:
            say(lab, np.where(silent, np.nan, np.arange(40))[:, None])
        readings = lab.readings["a"]["range_and_bearing"]
        senders = lab.state.memory["a/range_and_bearing", "sender"]
        for w in range(2):
            place, heading = lab.state.position[w], lab.state.heading[w]
            fixed = lab.model.fixed
            expected = reference.audible(place, np.zeros(40), np.full(40, 0.08), fixed.segments, fixed.discs, np.full(40, 0.9),
                                         ~silent, sight)
            for i, found in enumerate(expected):
                assert senders[w, i][senders[w, i] >= 0].tolist() == found, step
                way = place[found] - place[i]
                rows = readings[w, i, :len(found)]
                np.testing.assert_allclose(rows[:, 1], np.hypot(*way.T), atol=1e-12)
                off = rows[:, 2] - (np.arctan2(way[:, 1], way[:, 0]) - heading[i])
                np.testing.assert_allclose(np.cos(off), 1.0, atol=1e-12)
                assert (np.abs(rows[:, 2]) <= pi).all() and not readings[w, i, len(found):].any()


def test_nearest_first_and_what_does_not_fit_is_counted():
    lab = line([RangeAndBearing(5.0, "none", most=3)], [(0, 0, 0), (2, 0, 0), (0.5, 0, 0), (-1, 0, 0), (0, 0.5, 0), (0, -4, 0)])
    say(lab, numbers(lab))
    assert heard(lab, "range_and_bearing") == [2.0, 4.0, 3.0]  # 2 and 4 are equally far
    assert traffic_of(lab.state, "a", "range_and_bearing")[0, 0].tolist() == [1, 3, 0, 2]


def test_nothing_is_heard_beyond_the_range_of_the_sender():
    near, far = 1.0 - 1e-9, 1.0 + 1e-9
    lab = line([Radio(1.0)], [(0, 0, 0), (near, 0, 0), (0, -far, 0)])
    say(lab, numbers(lab))
    assert heard(lab, "radio") == [1.0]
    assert heard(lab, "radio", 1) == [0.0] and heard(lab, "radio", 2) == []


def test_groups_with_links_of_one_name_hear_each_other_each_as_far_as_the_sender_reaches():
    weak, strong = (Group(DISC, 1, name, (At(x, 0.0),), (), links=(Radio(reach, name="net"),))
                    for name, x, reach in (("weak", 0.0, 1.0), ("strong", 2.0, 3.0)))
    other = Group(DISC, 1, "other", (At(1.0, 0.0),), (), links=(Radio(9.0, name="elsewhere"),))
    lab = Simulation(World(groups=(weak, other, strong), contact=Contact("none")))
    lab.step({group.name: Orders(message=np.full((1, 1, 1), 7.0)) for group in lab.world.groups})
    assert lab.readings["weak"]["net"][0, 0, 0].tolist() == [1.0, 7.0] and not lab.readings["strong"]["net"].any()
    assert not lab.readings["other"]["elsewhere"].any()


@pytest.mark.parametrize("sight, expected", [("none", [2.0]), ("walls", []), ("bodies", [])])
def test_a_wall_stops_what_needs_a_line_of_sight(sight, expected):
    lab = line([RangeAndBearing(3.0, sight)], [(0, 0, 0), (0, 5, 0), (1, 0, 0)], [Wall((0.5, -1, 0.5, 1))])
    say(lab, numbers(lab))
    assert heard(lab, "range_and_bearing") == expected


@pytest.mark.parametrize("aside, sight, expected", [
    (0.0, "bodies", [1.0]), (0.0799, "bodies", [1.0]), (0.0801, "bodies", [1.0, 2.0]), (0.0, "walls", [1.0, 2.0])])
def test_a_robot_in_between_stops_a_message_if_the_link_says_so(aside, sight, expected):
    lab = line([RangeAndBearing(3.0, sight)], [(0, 0, 0), (1, aside, 0), (2, 0, 0)])
    say(lab, numbers(lab))
    assert heard(lab, "range_and_bearing") == expected


def test_a_wide_robot_stops_a_message_also_if_its_middle_is_beyond_the_range():
    small = Group(Disc(0.05, 0.08, 0.1), 2, "a", (At(0.0, 0.0), At(0.95, 0.0)), (), links=(RangeAndBearing(1.0),))
    for y, expected in ((0.89, []), (0.91, [1.0])):  # it is 0.9 m wide, and 1.07 m and more away
        wide = Group(Disc(0.9, 1.4, 0.1), 1, "wide", (At(0.6, y),))
        lab = Simulation(World(groups=(small, wide), contact=Contact("none")))
        lab.step({"a": Orders(message=np.arange(2.0).reshape(1, 2, 1))})
        assert heard(lab, "range_and_bearing") == expected


# -- beams and heights ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_cone_from_above_has_the_footprint_of_its_height_and_aperture(engine):
    """2 m above, 20 degrees: 0.728 m. [digest of R18: Fig. 1d]"""
    foot = 2.0 * tan(radians(20.0))
    assert foot == pytest.approx(0.728, abs=1e-3)
    eye = Group(DISC, 1, "eye", (At(0.0, 0.0),), (), links=(Radio(9.0, beam="down", aperture=radians(20.0), height=2.0),))
    feet = Group(DISC, 2, "a", (At(foot - 0.002, 0.0), At(0.0, -foot - 0.002)), (), links=(Radio(0.1, height=0.0),))
    lab = Simulation(World(groups=(eye, feet), contact=Contact("none"), engine=engine))
    lab.step({"eye": Orders(message=np.full((1, 1, 1), 3.0))})
    assert heard(lab, "radio", 0) == [3.0] and heard(lab, "radio", 1) == []


def test_a_cone_from_below_is_heard_above_and_not_below():
    def antenna(name, x, height, **beam):
        return Group(DISC, 1, name, (At(x, 0.0),), (), links=(Radio(9.0, height=height, **beam),))

    across = tan(radians(30.0))
    lab = Simulation(World(contact=Contact("none"), groups=(
        antenna("sender", 0.0, 2.0, beam="up", aperture=radians(30.0)), antenna("above", across - 0.01, 3.0),
        antenna("aside", across + 0.01, 3.0), antenna("below", 0.1, 1.0))))
    lab.step({"sender": Orders(message=np.full((1, 1, 1), 4.0))})
    assert [bool(lab.readings[name]["radio"].any()) for name in ("above", "aside", "below")] == [True, False, False]


def test_a_beam_ahead_is_heard_by_those_before_the_sender():
    lab = line([Radio(3.0, beam="ahead", aperture=radians(30.0))],
               [(0, 0, 0), (1, 0.57, 0), (1, 0.58, 0), (-1, 0, 0)])  # tan 30 deg = 0.577
    say(lab, [[5.0], [np.nan], [np.nan], [np.nan]])
    assert [heard(lab, "radio", i) for i in (1, 2, 3)] == [[5.0], [], []]


def test_a_flat_beam_misses_what_is_far_above():
    high = Group(DISC, 1, "high", (At(1.0, 0.0),), (), links=(Radio(5.0, height=1.0),))
    flat = Group(DISC, 1, "a", (At(0.0, 0.0),), (), links=(Radio(5.0, height=0.0, aperture=radians(44.0)),))
    lab = Simulation(World(groups=(high, flat), contact=Contact("none")))
    lab.step({name: Orders(message=np.ones((1, 1, 1))) for name in ("high", "a")})
    assert not lab.readings["high"]["radio"].any() and lab.readings["a"]["radio"].any()  # its own goes everywhere


def test_an_antenna_sees_over_what_is_lower():
    for height, expected in ((0.3, [1.0]), (0.05, [])):
        wall = Wall((0.5, -1, 0.5, 1), height=0.2)
        lab = line([RangeAndBearing(3.0, "bodies", height=height)], [(0, 0, 0), (1, 0, 0)], [wall])
        say(lab, numbers(lab))
        assert heard(lab, "range_and_bearing") == expected


@pytest.mark.parametrize("sight", SIGHTS)
def test_both_engines_hear_the_same(sight):
    places = [(0.3 * (k % 5), 0.35 * (k // 5) + 0.03 * (k % 3), 0.4 * k) for k in range(20)]
    things = (Wall((0.45, -0.2, 0.45, 0.5)), Rectangle(0.9, 0.9, 0.1, 0.1))
    plane, space = (line([RangeAndBearing(0.8, sight, most=20, numbers=1)], places, things, engine=engine)
                    for engine in ("planar", "spatial"))
    for lab in (plane, space):
        say(lab, numbers(lab))
    readings = [lab.readings["a"]["range_and_bearing"] for lab in (plane, space)]
    senders = [lab.state.memory["a/range_and_bearing", "sender"] for lab in (plane, space)]
    assert np.array_equal(*senders) and (senders[0] >= 0).sum() > 20
    np.testing.assert_allclose(*readings, atol=1e-6)


# -- luck, time and noise ---------------------------------------------------------------------------------------------------
def test_the_rate_of_loss_is_that_of_independent_messages():
    lab = line([Radio(9.0, loss=0.3)], [(0, 0, 0), (1, 0, 0), (2, 0, 0)], worlds=200)
    for _ in range(20):
        say(lab, numbers(lab))
    _ = lab.readings
    counts = traffic_of(lab.state, "a", "radio")
    sent = 200 * 20 * 3 * 2  # each is heard by two
    lost = int(counts[..., 2].sum())
    assert counts[..., 1:3].sum() == sent
    low, high = binom.interval(1.0 - 1e-6, sent, 0.3)
    assert low <= lost <= high
    each = counts[..., 2].sum(axis=(1,)) / 120  # worlds differ
    assert each.std() == pytest.approx((0.3 * 0.7 / 120) ** 0.5, rel=0.25)


def test_luck_and_noise_of_a_message_depend_on_no_other_message(rng):
    """Half of the robots fall silent: the others are heard or lost as before, and measured as before."""
    link = RangeAndBearing(9.0, "none", most=16, loss=0.4, range_noise=0.2, bearing_noise=0.3)
    places, silent = np.column_stack([rng.uniform(-2.0, 2.0, (12, 2)), np.zeros(12)]), np.arange(12) % 2 == 0

    def rows(said):
        """(world, robot, sender) -> the row of what is heard."""
        lab = line([link], places, worlds=20)
        say(lab, said)
        reading, senders = lab.readings["a"]["range_and_bearing"], lab.state.memory["a/range_and_bearing", "sender"]
        return {(w, i, int(senders[w, i, k])): reading[w, i, k].tolist() for w, i, k in np.argwhere(senders >= 0).tolist()}

    every = rows(np.arange(12.0)[:, None])
    assert len(every) == pytest.approx(0.6 * 20 * 12 * 11, rel=0.1)
    assert rows(np.where(silent, np.nan, np.arange(12.0))[:, None]) == {
        key: row for key, row in every.items() if not silent[key[2]]}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.52])
def test_a_delay_is_exact(delay, compiled):
    group = Group(DISC, 2, "a", (At(0.0, 0.0), At(1.0, 0.0)), (), None, links=(Radio(3.0, delay=delay),))
    lab = Simulation(World(groups=(group,), contact=Contact("none")), compiled=compiled)
    late = round(delay / 0.1)
    for t in range(12):
        expected = [float(t - 1 - late)] if t >= 1 + late else []
        assert heard(lab, "radio") == expected
        say(lab, [[float(t)], [float(t)]])


def test_a_queue_begins_empty_after_a_restart():
    lab = line([Radio(3.0, delay=0.3)], [(0, 0, 0), (1, 0, 0)], worlds=2)
    for t in range(6):
        say(lab, [[float(t)], [float(t)]])
    assert heard(lab, "radio", world=1)
    lab.reset(np.array([True, False]))
    for _ in range(4):
        assert heard(lab, "radio") == [] and heard(lab, "radio", world=1)
        say(lab, [[9.0], [9.0]])
    assert heard(lab, "radio") == [9.0]


@pytest.mark.parametrize("rate, period", [(0.0, 1), (10.0, 1), (5.0, 2), (3.0, 3), (1.0, 10)])
def test_a_rate_lets_one_message_in_so_many_periods_through(rate, period):
    lab = line([Radio(3.0, rate=rate)], [(0, 0, 0), (1, 0, 0)])
    when = []
    for t in range(30):
        say(lab, [[float(t)], [np.nan]])
        if heard(lab, "radio", 1):
            when.append(t)
    assert when == list(range(0, 30, period))
    assert traffic_of(lab.state, "a", "radio")[0, 0, 0] == len(when)


@pytest.mark.parametrize("noise, spread", [("uniform", 3 ** -0.5), ("normal", 1.0)])
def test_ranges_and_bearings_err_as_the_link_says(noise, spread):
    lab = line([RangeAndBearing(9.0, range_noise=0.1, bearing_noise=0.2, noise=noise)], [(0, 0, 0.5), (2, 0, 0)], worlds=4000)
    say(lab, numbers(lab))
    rows = lab.readings["a"]["range_and_bearing"][:, 0, 0]
    share, angle = rows[:, 1] / 2.0 - 1.0, rows[:, 2] + 0.5
    for error, size in ((share, 0.1), (angle, 0.2)):
        assert error.std() == pytest.approx(size * spread, rel=0.06) and abs(error.mean()) < 4 * size * spread / 4000 ** 0.5
        assert noise == "normal" or np.abs(error).max() <= size
    assert abs(np.corrcoef(share, angle)[0, 1]) < 0.08


# -- what is sent -----------------------------------------------------------------------------------------------------------
def test_a_message_goes_on_until_it_is_changed_and_nan_is_silence():
    lab = line([Radio(3.0)], [(0, 0, 0), (1, 0, 0)])
    assert heard(lab, "radio") == []                       # nothing was sent before the start
    say(lab, [[1.0], [2.0]])
    lab.step({"a": np.zeros((1, 2, 2))})                   # nothing is said about messages: as before
    assert heard(lab, "radio") == [2.0]
    lab.state.outbox[...] = np.nan
    lab.look_again()
    assert heard(lab, "radio") == []


def test_numbers_are_cut_at_the_limit_of_their_link():
    lab = line([Radio(3.0, numbers=2, limit=1.5)], [(0, 0, 0), (1, 0, 0)])
    say(lab, [[9.0, -9.0], [0.5, 1.0]])
    assert lab.readings["a"]["radio"][0, 1, 0].tolist() == [1.0, 1.5, -1.5]


def test_numbers_that_a_kernel_sends_are_cut_too():
    text = NOISY.format(n=12).replace("loss=", 'limit="1" loss=')
    compiled, readable = (Simulation(read_text(text), 2, compiled=way) for way in (True, False))
    for _ in range(5):
        compiled.step()
        readable.step()
    assert np.nanmax(compiled.state.outbox[:, :12]) == 1.0 and np.nanmax(compiled.state.outbox[:, 12:]) > 1.0
    assert same(compiled.state, readable.state)


def test_a_robot_that_is_not_alive_neither_sends_nor_hears():
    lab = line([Radio(3.0)], [(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    lab.state.alive[0, 1] = False
    say(lab, numbers(lab))
    assert [heard(lab, "radio", i) for i in range(3)] == [[2.0], [], [0.0]]


def test_two_links_of_a_robot_do_not_mix():
    lab = line([Radio(9.0, numbers=2), RangeAndBearing(9.0, numbers=1)], [(0, 0, 0), (1, 0, 0)])
    both = {"radio": np.full((1, 2, 2), 4.0), "range_and_bearing": np.full((1, 2, 1), 5.0)}
    lab.step({"a": Orders(message=both)})
    lab.step({"a": Orders(message={"radio": np.full((1, 2, 2), 6.0)})})
    assert lab.readings["a"]["radio"][0, 0, 0].tolist() == [1.0, 6.0, 6.0]
    assert lab.readings["a"]["range_and_bearing"][0, 0, 0].tolist() == [1.0, 1.0, 0.0, 5.0]


def test_an_inbox_names_the_columns_of_a_reading():
    links = RangeAndBearing(9.0, numbers=2), Radio(9.0, numbers=2)
    lab = line(links, [(0, 0, 0.5), (2, 0, 0), (0, 3, 0)])
    said = np.array([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])
    lab.step({"a": Orders(message={link.name: said for link in links})})
    situated, radio = (Inbox.at(lab.state, lab.world.groups[0], link, lab.readings["a"]) for link in links)
    for inbox in (situated, radio):
        assert inbox.message[0, 0, :2].tolist() == [[3.0, 4.0], [5.0, 6.0]] and inbox.count.tolist() == [[2, 2, 2]]
        assert inbox.sender[0, 0, :3].tolist() == [1, 2, -1] and inbox.heard[0, 0, :3].tolist() == [True, True, False]
    assert situated.range[0, 0, :2] == pytest.approx([2.0, 3.0])
    assert situated.bearing[0, 0, :2] == pytest.approx([-0.5, pi / 2 - 0.5])
    assert radio.range is None and radio.bearing is None


# -- hops ---------------------------------------------------------------------------------------------------------------------
def test_hops_are_breadth_first_distances_after_as_many_periods(rng):
    """Each robot says one more than the least that it hears; robot 0 says 0. On a frozen line and in frozen crowds."""
    crowds = [np.column_stack([np.arange(12) * 0.9, np.zeros(12)]), *(rng.uniform(0.0, 5.0, (40, 2)) for _ in range(3))]
    for place in crowds:
        lab = line([Radio(1.0, most=64)], [(*each, 0.0) for each in place])
        expected, hops = reference.hops(place, 1.0, 0), np.full(len(place), np.inf)
        hops[0] = 0.0
        for t in range(1, 20):
            say(lab, np.where(np.isfinite(hops), hops, np.nan)[:, None])
            inbox = lab.readings["a"]["radio"][0]
            least = np.where(inbox[..., 0] > 0.0, inbox[..., 1], np.inf).min(axis=1)
            hops = np.minimum(hops, least + 1.0)
            known = (expected >= 0) & (expected <= t)  # one hop in a period, and no faster
            assert np.array_equal(np.isfinite(hops), known)
            assert np.array_equal(hops[known], expected[known])


# -- the same bits ------------------------------------------------------------------------------------------------------------
NOISY = """<world name="w" dt="0.1" seconds="5"><arena width="3" depth="3"/><cylinders count="4" radius="10cm"/>
<disc name="swarm" count="{n}" radius="8cm" wheel_base="14cm" top_speed="10cm/s"><scatter/>
<range_and_bearing range="1m" most="4" loss="0.2" delay="0.2" range_noise="0.2" bearing_noise="20deg" rate="5"/><spread/></disc>
<disc name="others" count="5" radius="8cm" wheel_base="14cm" top_speed="10cm/s"><scatter/>
<range_and_bearing range="2m" most="2" noise="normal" range_noise="0.1"/><spread gain="2"/></disc></world>"""


def messages_of(state):
    return {key: values for key, values in state.memory.items() if key[0].endswith("range_and_bearing")}


def same(one, other):
    a, b = messages_of(one), messages_of(other)
    return np.array_equal(one.position, other.position) and a.keys() == b.keys() and all(
        np.array_equal(a[key], b[key]) for key in a) and np.array_equal(one.outbox, other.outbox, equal_nan=True)


def test_readable_and_compiled_steps_threads_and_batches_give_the_same_bits():
    world = read_text(NOISY.format(n=12))
    compiled, readable = Simulation(world, 3, 4), Simulation(world, 3, 4, compiled=False)
    for _ in range(40):
        compiled.step()
        readable.step()
    assert not compiled._compiled.lacking
    assert same(compiled.state, readable.state)
    alone = Simulation(world, 3, 1, first_world=2)
    for _ in range(40):
        alone.step()
    assert np.array_equal(alone.state.position[0], compiled.state.position[2])
    among = messages_of(compiled.state)
    assert all(np.array_equal(values[0], among[key][2]) for key, values in messages_of(alone.state).items())
    one, two = (simulate(world, 4.0, 3, 4, threads=threads) for threads in (1, 2))
    assert same(one.state, two.state) and one.metrics["messages_heard"] == two.metrics["messages_heard"] > 0


@pytest.mark.parametrize("compiled", [True, False])
def test_a_world_that_starts_again_hears_and_counts_as_at_first(compiled):
    world = read_text(NOISY.format(n=8))
    again, first = (Simulation(world, 3, 2, compiled=compiled) for _ in range(2))
    for _ in range(15):
        again.step()
    again.reset([True, False])
    for _ in range(12):
        again.step()
        first.step()
    assert np.array_equal(again.state.position[0], first.state.position[0])
    expected = messages_of(first.state)
    assert all(np.array_equal(values[0], expected[key][0]) for key, values in messages_of(again.state).items())
    assert traffic_of(again.state, "swarm", "range_and_bearing")[1, 0, 0] == 13  # heard at steps 1, 3 ... 25 of 27


def test_asking_for_readings_counts_no_message_twice():
    world = read_text(NOISY.format(n=8))
    for compiled in (True, False):
        quiet, asked = (Simulation(world, 1, 2, compiled=compiled) for _ in range(2))
        for _ in range(15):
            quiet.step()
            _ = asked.readings, asked.readings
            asked.look_again()
            _ = asked.readings
            asked.step()
        assert same(quiet.state, asked.state)


def test_numbers_of_robots_do_not_matter_to_what_they_hear():
    """The same robots in another order hear the same robots: there is no order of delivery."""
    places = [(0.31 * (k % 6), 0.27 * (k // 6), 0.2 * k) for k in range(24)]
    order = np.random.default_rng(4).permutation(24)
    one = line([RangeAndBearing(0.7, most=24)], places)
    other = line([RangeAndBearing(0.7, most=24)], [places[k] for k in order])
    say(one, numbers(one))
    say(other, order[:, None].astype(float))
    for k in range(24):
        assert heard(other, "range_and_bearing", k) and \
            set(heard(other, "range_and_bearing", k)) == set(heard(one, "range_and_bearing", int(order[k])))


def test_an_edit_keeps_messages_and_accounts_of_those_that_stay():
    world = read_text(NOISY.format(n=6))
    lab = Simulation(world, 5)
    for _ in range(10):
        lab.step()
    kept = np.array([0, 1, 2, 3, 4, 6, 7, 8, 9, 10])
    fewer = read_text(NOISY.format(n=5))
    after = lab.edited(fewer, lab.state.position[0, kept], lab.state.heading[0, kept], kept)
    assert np.array_equal(after.state.outbox[0], lab.state.outbox[0, kept], equal_nan=True)
    key = "swarm/range_and_bearing", "traffic"
    assert np.array_equal(after.state.memory[key][0], lab.state.memory[key][0, :5])
    after.step()


def test_after_an_edit_what_is_on_its_way_has_the_present_numbers_of_its_senders():
    """Each robot says its number. Robots 1 and 4 are taken away while a second of messages is late."""
    places = [(0.5 * k, 0.0, 0.0) for k in range(6)]
    kept = np.array([0, 2, 3, 5])
    link, at = RangeAndBearing(9.0, "none", delay=1.0), tuple(At(*places[k]) for k in kept)
    lab = line([link], places)
    for _ in range(15):
        say(lab, numbers(lab))
    fewer = World(contact=Contact("none"), groups=(Group(DISC, 4, "a", at, links=(link,)),))
    after = lab.edited(fewer, lab.state.position[0, kept], lab.state.heading[0, kept], kept)
    for _ in range(14):
        say(after, kept[:, None].astype(float))
        reading = after.readings["a"]["range_and_bearing"][0]
        sender = after.state.memory["a/range_and_bearing", "sender"][0]
        assert (reading[:, :3, 0] == 1.0).all() and (reading[:, 3:] == 0.0).all() and (sender[:, 3:] == -1).all()
        assert np.array_equal(reading[:, :3, -1], kept[sender[:, :3]])
        assert (np.diff(reading[:, :3, 1]) >= 0.0).all()


def test_the_account_is_in_the_metrics_of_a_run():
    run = simulate(read_text(NOISY.format(n=8)), 2.0)
    sent = run.metrics["messages_sent"]
    assert run.metrics["kilobits_sent"] == pytest.approx(sent * 32 / 1000.0)
    assert run.metrics["messages_lost"] > 0 and inf > run.metrics["messages_heard"] > run.metrics["messages_dropped"] > 0
    assert "messages_sent" not in simulate("line", 1.0).metrics


def test_a_message_has_the_bits_of_all_its_numbers():
    lab = line([Radio(3.0, numbers=3, bits=8)], [(0, 0, 0), (1, 0, 0)])
    for _ in range(4):
        say(lab, np.ones((2, 3)))
    _ = lab.readings
    assert account(lab.world, lab.state)["kilobits_sent"] == 4 * 2 * 3 * 8 / 1000.0


# -- bad input ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("message, complaint", [
    (np.zeros((1, 2, 3)), r"messages of 'a' over 'radio' must be numbers of the shape .* = \(1, 2, 2\), not .*\(1, 2, 3\)"),
    (np.array([[["x", "y"], ["x", "y"]]]), "must be numbers"),
    ([[[1.0], [1.0, 2.0]]], "rows of different lengths"),
    (np.full((1, 2, 2), np.inf), "robot 0 has .*inf.* Give finite numbers"),
    (np.array([[[1.0, np.nan], [1.0, 1.0]]]), "robot 0 has .*nan.* make all of them NaN"),
    ({"raido": np.zeros((1, 2, 2))}, "no link 'raido'. Did you mean 'radio'?"),
])
def test_a_message_that_cannot_be_sent_is_refused(message, complaint):
    lab = line([Radio(3.0, numbers=2)], [(0, 0, 0), (1, 0, 0)])
    with pytest.raises(WorldError, match=complaint):
        lab.step({"a": Orders(message=message)})
    assert lab.state.step[0] == 0 and np.isnan(lab.state.outbox).all()


def test_robots_without_a_link_or_with_several_say_so():
    with pytest.raises(WorldError, match=r"have no link to send a message with. Give them a <radio>"):
        line([], [(0, 0, 0)]).step({"a": Orders(message=np.zeros((1, 1, 1)))})
    with pytest.raises(WorldError, match="several links: give messages as a dict, by the names radio, range_and_bearing"):
        line([Radio(), RangeAndBearing()], [(0, 0, 0)]).step({"a": Orders(message=np.zeros((1, 1, 1)))})


@pytest.mark.parametrize("inside, complaint", [
    ('<radio numbers="0"/>', r"w.xml:2: <radio> numbers: .*at least 1"),
    ('<radio ragne="3"/>', r"w.xml:2: <radio> has no attribute 'ragne'. Did you mean 'range'?"),
    ('<radio loss="1.5"/>', r"w.xml:2: <radio> loss: .*at most 1"),
    ('<radio/><radio/>', r"second .* with the name 'radio'"),
    ('<radio name="proximity"/><proximity/>', r"second sensor, link or estimator with the name 'proximity'"),
    ('<radio delay="1e6"/>', r"w.xml:2: <radio> delay: 1e\+06 s are 10000000 control periods; at most 10000"),
    ('<radio/><spread link="radio"/>', r"w.xml:2: <spread> needs a link that measures ranges and bearings"),
    ('<spread/>', r"w.xml:2: the controller of 'a' asks for messages, but 'a' has no link 'range_and_bearing'.* has: none"),
])
def test_a_wrong_link_is_refused_with_its_line(inside, complaint):
    text = f'<world><sbot name="b"><at x="3" y="0"/></sbot>\n<sbot name="a"><at x="0" y="0"/>{inside}</sbot></world>'
    with pytest.raises(WorldError, match=complaint):
        Simulation(read_text(text, "w.xml"), compiled=False).step()


@pytest.mark.parametrize("inside", ['<radio numbers="1024" most="4096"/>', '<radio most="100" delay="900"/>'])
def test_inboxes_and_queues_that_do_not_fit_into_memory_are_refused_before_they_are_made(inside):
    text = f'<world><sbot name="a"><at x="0" y="0"/></sbot>\n<sbot name="b" count="1000">{inside}</sbot></world>'
    with pytest.raises(WorldError, match=r"w.xml:2: <radio> of 'b': what the robots .* GB of memory; this machine has"):
        Simulation(read_text(text, "w.xml"), worlds=100)


@pytest.mark.parametrize("rate", [1e-300, 1e-12])
def test_at_a_rate_of_next_to_nothing_only_the_first_message_is_sent(rate):
    lab = line([Radio(3.0, rate=rate)], [(0, 0, 0), (1, 0, 0)])
    for _ in range(5):
        say(lab, numbers(lab))
    assert traffic_of(lab.state, "a", "radio")[..., 0].sum() == 2


def test_links_of_one_name_have_messages_of_one_length():
    text = """<world><sbot name="a"><at x="0" y="0"/><radio numbers="2"/></sbot>
    <sbot name="b"><at x="1" y="0"/><radio numbers="3"/></sbot></world>"""
    with pytest.raises(WorldError, match=r"w.xml:2: <radio> 'radio' has messages of 3 numbers; another link .* has 2"):
        read_text(text, "w.xml")
