"""The study of three-state localization: its machine against a slow twin, its reports, its building, and its quick form."""

from dataclasses import replace

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.map.grid import FREE, Grid
from formiga.sense.teammates import BEARING, RANGE, SEEN
from formiga.studies.three_state import runs, study, tracks
from formiga.studies.three_state.elements import RESIDUAL, STATE, TO, X, Y
from formiga.studies.three_state.machine import GLOBAL, RULES, TRACKING, UNDECIDED, Machine, Thresholds, Windows
from formiga.studies.three_state.runs import Course, Lift, Team, Yard
from formiga.world.placement import At
from tests.reference import three_state as reference
from tests.runs import assert_same
from tests.studies import pages

STUDY = "three_state"


def small(*poses, **changed):
    """The study's world with few particles; rovers at these poses, if there are any."""
    world = runs.world_of(Team(max(2, len(poses))))
    group = world.groups[0]
    filter = replace(group.estimators[1], **{"first": 0, "most": 1500, "reported": 300} | changed)
    at = tuple(At(x=x, y=y, heading=heading) for x, y, heading in poses) or group.place
    return replace(world, groups=(replace(group, estimators=(group.estimators[0], filter), place=at),))


def memory(lab, name):
    return lab.state.memory["rovers/belief", name]


# -- the machine ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", RULES)
def test_the_machine_goes_on_as_algorithm_1_line_by_line(kind, rng):
    thresholds, windows = Thresholds(), Windows(4, 7, 3)
    machine, rovers = Machine(RULES[kind], thresholds, windows), 300
    state, count, past = np.zeros(rovers, np.int64), np.zeros(rovers, np.int64), np.zeros((rovers, machine.longest))
    slow = [(GLOBAL, 0, [0.0] * 7)] * rovers
    seen = set()
    for _ in range(60):
        near = rng.random(rovers) < 0.7
        off = np.where(near, rng.uniform(0.0, 2.0, rovers), rng.uniform(0.0, 40.0, rovers))
        apart = rng.uniform(0.0, 12.0, rovers)
        past = np.concatenate([off[:, None], past[:, :-1]], axis=1)
        before = state
        state, count = machine.next(state, count + 1, past, apart)
        seen |= set(zip(before.tolist(), state.tolist(), strict=True))
        for i, (flag, instants, residuals) in enumerate(slow):
            residuals = [off[i], *residuals[:-1]]
            slow[i] = (*reference.instant(flag, instants + 1, residuals, apart[i], kind, thresholds, windows), residuals)
        assert state.tolist() == [flag for flag, _, _ in slow] and count.tolist() == [number for _, number, _ in slow]
    changes = {pair for pair in seen if pair[0] != pair[1]}
    assert changes == {"three": {(0, 2), (2, 1), (2, 0), (1, 2)}, "printed": {(0, 2), (2, 1), (2, 0), (1, 0)},
                       "two": {(0, 1), (1, 0)}}[kind]


# -- reports ------------------------------------------------------------------------------------------------------------------
FACING = (2.5, 20.0, np.pi / 2), (2.5, 24.0, -np.pi / 2)


def told(lab):
    """Messages of the last step, (reports, 3) of each rover of the first world."""
    return lab.orders["rovers"].message["radio"][0].reshape(len(lab.state.position[0]), -1, 3)


def test_a_report_is_made_of_the_senders_belief_and_never_of_the_truth():
    lab = Simulation(small(*FACING), seed=3)
    for _ in range(5):
        lab.step()
    memory(lab, "belief")[0, 0, :3] = 61.0, 7.0, 0.3          # the first rover believes something else
    lab.forget_look()
    seen, belief = lab.readings["rovers"]["teammates"][0], lab.readings["rovers"]["belief"][0]
    lab.step()
    first = told(lab)[0]
    assert first[0, TO] == 1.0 and (first[1:, TO] == -1.0).all()
    far, angle = seen[0, 1, RANGE], belief[0, 2] + seen[0, 1, BEARING]
    assert first[0, X] == belief[0, 0] + far * np.cos(angle) and first[0, Y] == belief[0, 1] + far * np.sin(angle)
    assert np.hypot(*(first[0, [X, Y]] - lab.state.position[0, 1])) > 30.0


def test_what_a_rover_says_does_not_depend_on_where_it_truly_is(rng):
    """The same readings and beliefs with other true poses: the controller has the same orders, bit for bit."""
    from formiga.control import decide_all

    lab = Simulation(small(*FACING), seed=3)
    for _ in range(8):
        lab.step()
    readings, world = lab.readings, lab.world
    orders = []
    for _ in range(2):
        orders.append(decide_all(world, lab.state, readings, lab.programs)["rovers"])
        lab.state.position[...] = rng.uniform(0.0, 60.0, lab.state.position.shape)
        lab.state.heading[...] = rng.uniform(-3.0, 3.0, lab.state.heading.shape)
    assert np.array_equal(orders[0].message["radio"], orders[1].message["radio"], equal_nan=True)
    assert (orders[0].message["radio"][0, :, TO] >= 0.0).all()          # they see each other


def test_a_rover_without_teammates_in_sight_is_silent_and_reports_reach_only_the_rover_that_they_name():
    lab = Simulation(small((2.5, 20.0, 0.0), (70.0, 2.5, 0.0), (2.5, 24.0, 0.0)), seed=3)
    for _ in range(30):
        lab.step()
        assert np.isnan(told(lab)[1]).all()
    assert memory(lab, "instants")[0].tolist()[1] == 0 and memory(lab, "instants")[0, 0] == memory(lab, "instants")[0, 2] > 0


def test_reports_draw_particles_around_them_unless_the_rover_is_tracking():
    lab = Simulation(small((2.5, 20.0, 0.0), (70.0, 2.5, 0.0)), seed=3)
    for _ in range(60):
        lab.step()
    memory(lab, "belief")[0, :, STATE] = TRACKING, UNDECIDED
    report = np.array([41.0, 2.5])
    memory(lab, "reports")[0, :, 0], memory(lab, "reported")[0, :, 0] = report, True
    lab.step()                                                                       # at step 60 they look at a scan
    around = np.hypot(*np.moveaxis(memory(lab, "particles")[0, ..., :2] - report, -1, 0)) < 2.5
    around &= np.arange(1500) < memory(lab, "count")[0, :, None]
    assert memory(lab, "instants")[0].tolist() == [1, 1] and not memory(lab, "reported").any()
    assert memory(lab, "count")[0, 1] == 1500 and around[1].sum() >= 300 and around[0].sum() < 50
    turns = memory(lab, "particles")[0, 1, around[1], 2]
    assert np.histogram(turns, bins=8, range=(-np.pi, np.pi))[0].min() > 0.5 * around[1].sum() / 8    # any heading
    np.testing.assert_allclose(memory(lab, "particles")[0, 1, around[1], :2].std(axis=0), 0.5, rtol=0.25)


def test_a_report_beside_the_free_cells_is_brought_back_and_one_far_away_is_dropped():
    world = small()
    filter, grid = world.groups[0].estimators[1], world.map("map")
    places = np.array([[[2.0, 30.0], [5.4, 30.0 - 7.5], [15.0, 25.0], [-30.0, 400.0]]])
    known = np.array([[True, True, True, True]])
    weight = filter._snap(grid, places, known)
    assert known.tolist() == [[True, True, False, False]] and weight[0, 0] == 1.0
    np.testing.assert_allclose(places[0, 1], (4.95, 22.55), atol=0.06)
    assert weight[0, 1] == pytest.approx(np.exp(-0.5 * (0.45 / 0.5) ** 2), abs=0.12)


def test_a_wild_report_is_dropped_also_where_the_edge_of_the_map_is_free():
    grid = Grid(np.full((30, 40), FREE, np.int8), 0.1)
    places, known = np.array([[[2.0, 1.0], [-0.5, 1.0], [-1.5, 1.0], [1e300, -1e300]]]), np.full((1, 4), True)
    small().groups[0].estimators[1]._snap(grid, places, known)
    assert known.tolist() == [[True, True, False, False]] and places[0, :2].tolist() == [[2.0, 1.0], [0.05, 1.05]]


def test_rovers_that_agree_begin_to_track_and_one_that_disagrees_goes_back():
    lab = Simulation(small(*FACING, n_u2p=2, n_p2u=2, g2u=500.0), seed=3)
    lab.step()
    lab.step()
    memory(lab, "particles")[...] = np.concatenate([lab.state.position, lab.state.heading[..., None]], axis=-1)[:, :, None]
    memory(lab, "belief")[..., :2] = lab.state.position
    for _ in range(60):
        lab.step()
    assert (memory(lab, "belief")[0, :, STATE] == TRACKING).all()
    assert (lab.readings["rovers"]["belief"][0, :, RESIDUAL] < 1.0).all()
    memory(lab, "particles")[0, 1, :, :2] += (25.0, 0.0)
    memory(lab, "belief")[0, 1, 0] += 25.0
    states = []
    for _ in range(80):
        lab.step()
        states.append(memory(lab, "belief")[0, :, STATE].copy())
    assert (np.array(states) != TRACKING).any(axis=0).all()


def test_one_world_of_a_batch_is_that_world_alone_and_a_restart_begins_anew():
    world = small((2.5, 20.0, np.pi / 2), (2.5, 24.0, -np.pi / 2), (30.0, 2.5, 0.0))
    batch, alone, again = Simulation(world, 4, 3), Simulation(world, 4, 1, first_world=2), Simulation(world, 4, 3)
    for _ in range(45):
        for lab in (batch, alone, again):
            lab.step()
    for key, values in alone.state.memory.items():
        assert np.array_equal(batch.state.memory[key][2], values[0], equal_nan=True), key
    again.reset(np.array([False, True, False]))
    for _ in range(45):
        again.step()
    assert np.array_equal(memory(again, "particles")[1], memory(batch, "particles")[1])


def test_a_look_does_not_change_what_a_filter_remembers():
    one, other = Simulation(small(*FACING), 4), Simulation(small(*FACING), 4)
    for _ in range(25):
        one.step()
        other.readings  # noqa: B018
        other.forget_look()
        other.step()
    assert_same(one, other)


def test_rovers_believe_and_report_in_space_too():
    lab = Simulation(small(*FACING), 4, engine="spatial")
    for _ in range(25):
        lab.step()
    assert np.isfinite(lab.readings["rovers"]["belief"]).all() and (memory(lab, "instants") > 0).all()


@pytest.mark.parametrize("changed, words", [
    ({"most": 500, "reported": 300}, "<three_state> reported: 300 of at most 500 particles leave fewer than `least`, 300"),
    ({"tracking": 2000}, "<three_state> tracking: 2000 particles are more than `most`, 1500"),
    ({"radio": "laser"}, "no link 'laser'"),
    ({"scan": "teammates"}, "which gives no distances"),
    ({"odometry": "teammates"}, "which gives no poses"),
])
def test_a_filter_that_cannot_work_says_so(changed, words):
    with pytest.raises(WorldError, match=words):
        Simulation(small(**changed), 1).step()


def test_messages_that_hold_no_reports_are_refused():
    world = small()
    group = world.groups[0]
    odd = replace(world, groups=(replace(group, links=(replace(group.links[0], numbers=8),)),))
    with pytest.raises(WorldError, match="a report has 3 numbers, and messages over 'radio' have 8"):
        Simulation(odd, 1).step()


@pytest.mark.parametrize("changed, words", [
    ({"teammates": "laser"}, "<patrol> teammates: 'laser' is <scanner>; it takes <teammates>."),
    ({"belief": "odometry"}, "<patrol> belief: 'odometry' is <odometry>; it takes <three_state>."),
    ({"belief": "teammates"}, "<patrol> belief: 'teammates' is <teammates>; it takes <three_state>."),
    ({"radio": "sonar"}, "'rovers' has no link 'sonar'. It has: radio."),
])
def test_a_controller_that_cannot_report_says_so(changed, words):
    world = small()
    group = world.groups[0]
    other = replace(world, groups=(replace(group, controller=replace(group.controller, **changed)),))
    with pytest.raises(WorldError, match=words):
        Simulation(other, 1).step()


def test_reports_of_another_group_over_the_same_radio_are_of_other_rovers():
    world = small((2.5, 20.0, 0.0), (70.0, 2.5, 0.0))
    group = world.groups[0]
    strangers = replace(group, name="strangers", place=tuple(At(2.5, y, 0.0) for y in (23.0, 26.0)))
    lab = Simulation(replace(world, groups=(group, strangers)), 3)
    heard = 0
    for _ in range(30):
        lab.step()
        heard += lab.readings["rovers"]["radio"][0, 0, :, 0].sum()
    assert heard > 0 and memory(lab, "instants").tolist() == [[0, 0]]
    assert (lab.state.memory["strangers/belief", "instants"] > 0).all()


def test_the_page_sees_particles_teammates_and_states():
    lab = Simulation(small(*FACING), 1)
    for _ in range(12):
        lab.step()
    drawn = lab.drawings()
    assert {"belief", "teammates", "states"} <= set(drawn)
    assert [word for mark in drawn["states"] for word in mark.words] == ["global", "global"]


# -- the building and the runs ------------------------------------------------------------------------------------------------
def test_the_maps_of_the_worlds_are_the_building():
    for symmetric in (False, True):
        grid = runs.world_of(Team(1, symmetric=symmetric)).map("map")
        assert np.array_equal(grid.occupied, runs.plan(not symmetric))
        np.testing.assert_allclose(grid.corners[[0, 2]], [(-1.0, -1.0), (81.0, 66.0)], atol=1e-9)


def test_runs_are_the_same_however_they_are_shared_out(monkeypatch):
    world = small((2.5, 20.0, 0.0), (30.0, 2.5, 0.0))
    monkeypatch.setattr(runs, "world_of", lambda team: world)
    whole = runs.perform(Team(2, 3, seconds=12.0))
    parts = [runs.perform(Team(2, 1, first, seconds=12.0)) for first in range(3)]
    assert np.array_equal(whole.error, runs.joined(parts).error) and np.array_equal(whole.state, runs.joined(parts).state)
    assert whole.error.shape == (3, 12, 2)
    assert [(team.first, team.worlds) for team in runs.teams(6, 25)] == [(0, 10), (10, 10), (20, 5)]


def test_a_kidnapped_rover_is_one_that_tracks_and_is_right_and_its_reports_are_counted(monkeypatch):
    lab = Simulation(small((2.5, 20.0, np.pi / 2), (2.5, 24.0, -np.pi / 2)), 3, 2)
    for _ in range(22):
        lab.step()
    memory(lab, "belief")[:, :, :2] = lab.state.position
    memory(lab, "belief")[0, :, STATE] = GLOBAL, TRACKING
    memory(lab, "belief")[1, :, STATE] = UNDECIDED, GLOBAL
    lab.forget_look()
    watch, before = runs.Watch(lab), lab.state.position.copy()
    watch.kidnap(Team(2, 2))
    assert watch.rover.tolist() == [1, -1] and watch.carried[1] == 0.0
    assert np.array_equal(lab.state.position[1], before[1]) and np.array_equal(lab.state.position[0, 0], before[0, 0])
    assert np.hypot(*(lab.state.position[0, 1] - before[0, 1])) == pytest.approx(watch.carried[0]) and watch.carried[0] > 1.0
    for number in (1, 2, 3):
        memory(lab, "instants")[0, 1] += 1
        watch.count()
        assert watch.reports.tolist() == [number, 0]
    lab.forget_look()                                     # which brings back what was remembered before it
    memory(lab, "belief")[0, 1, STATE] = UNDECIDED
    memory(lab, "instants")[0, 1] += 4
    watch.count()
    memory(lab, "instants")[0, 1] += 5
    watch.count()
    assert watch.reports.tolist() == [4, 0]


def test_a_fork_lift_leaves_as_much_as_it_is_to_and_the_walls_are_around_what_is_there():
    world, yard = runs.world_of(Team(2)), Yard(seed=1, occupancy=0.7)
    assert len(yard.corners) == 96 and yard.share == 1.0 and yard.places.sum() == 95
    now, times = 600.0, []
    for _ in range(60):
        ready = yard.next_time(now)
        times.append(ready - now)
        yard.operate(np.array([[2.5, 2.5]]))
        now = ready
    assert min(times) >= 3.0 and yard.share == pytest.approx(0.7, abs=0.02)
    from formiga.engine.flatten import as_grid

    grid = as_grid(yard.world(world), resolution=0.5)
    middles = yard.corners + 2.5
    assert np.array_equal(grid.at(middles) != 0, yard.there)
    assert (grid.at(np.array([[2.5, 2.5], [77.5, 62.5], [40.0, 32.5]])) == 0).all()
    assert yard.world(world).map("map").occupied.sum() == world.map("map").occupied.sum()      # the rovers' map stays


def test_a_fork_lift_puts_no_pallet_on_a_rover():
    yard = Yard(seed=1, occupancy=0.0)
    yard.next_time(0.0)
    middle = (yard.corners[yard.goal] + 2.5)[None]
    assert yard.operate(middle) and not yard.there[yard.goal]
    assert not yard.operate(middle) and not yard.there[yard.goal]
    assert yard.operate(middle + 20.0) and yard.there[yard.goal]


def test_a_run_with_a_fork_lift_goes_on_with_the_same_beliefs(monkeypatch):
    world = small((2.5, 20.0, 0.0), (30.0, 2.5, 0.0))
    monkeypatch.setattr(runs, "world_of", lambda team: world)
    found = runs.change(Lift(0.5, 0, seconds=60.0, latest=10.0))
    assert found.began == 10.0 and not found.tracking and found.error.shape == (60, 2) and found.left < 1.0


# -- what is asked of runs --------------------------------------------------------------------------------------------------
def course(error, state):
    error, state = np.asarray(error, np.float32), np.asarray(state, np.int8)
    none = np.full(len(error), -1)
    return Course(error, state, none, np.zeros(len(error), int), np.zeros(len(error)))


def test_switches_and_false_certainty_are_counted_from_states():
    state = np.zeros((1, 300, 3), int)
    state[0, 50:80, 0] = state[0, 120:, 0] = state[0, 250:, 1] = TRACKING
    error = np.zeros((1, 300, 3))
    error[0, 280:, 1] = 60.0
    first, last = tracks.switches(course(error, state))
    assert first[0, :2].tolist() == [50.0, 250.0] and last[0, :2].tolist() == [120.0, 250.0] and np.isnan(first[0, 2])
    assert tracks.false_certainty(course(error, state)) == pytest.approx(20 / 150)
    assert tracks.right(course(error, state)) == 0.0 and tracks.right(course(error * 0.0, state)) == 1.0


def test_a_team_that_is_wrong_misses_its_rows():
    def table(share):
        error = np.zeros((30, 1200, 4))
        error[: round(30 * (1 - share))] = 60.0
        return course(error, np.full(error.shape, TRACKING))

    good = {1: table(0.7), 3: table(0.83), 4: table(0.95), 5: table(1.0), 6: table(1.0), 7: table(1.0)}
    assert [row.claim for row in study.team_sizes(good) if row.verdict == "missed"] == []
    bad = good | {3: table(0.6), 4: table(0.5)}
    missed = [row.claim for row in study.team_sizes(bad) if row.verdict == "missed"]
    assert len(missed) == 4 and [claim[:8] for claim in missed[:2]] == ["3 rovers", "4 rovers"]
    assert "1 < 3" in missed[2] and "after 1000 s" in missed[3]
    lost = [row.claim[:8] for row in study.team_sizes({number: table(0.0) for number in good}) if row.verdict == "met"]
    assert lost == []                                     # 7 rovers are as slow as 4 if neither ever know where they are


def test_kidnappings_that_are_not_noticed_are_missed_rows():
    found = Course(np.full((3, 1750, 2), 40.0, np.float32), np.full((3, 1750, 2), TRACKING, np.int8), np.array([0, 1, -1]),
                   np.array([3, 25, 0]), np.array([30.0, 40.0, 0.0]))
    assert [row.verdict for row in study.kidnaps(found)][:2] == ["missed", "missed"]


# -- the study ----------------------------------------------------------------------------------------------------------------
def test_the_quick_form_is_quick_and_meets_all_it_asks(result):
    _, code, done = result
    assert code == 0 and done["runs"] == study.QUICK.runs and done["form"] == "quick"
    assert [row["claim"] for row in done["rows"] if row["verdict"] == "missed"] == []
    assert sum(row["verdict"] == "met" for row in done["rows"]) >= 8


def test_the_manual_has_what_the_quick_form_prints(result):
    pages.check_pages("three_state", result[2]["rows"])


def test_the_result_that_the_gallery_shows_is_of_this_study(result):
    pages.check_kept("three_state", result[2]["rows"])


def test_seen_is_the_first_column_of_teammates():
    assert (SEEN, RANGE, BEARING) == (0, 1, 2)
