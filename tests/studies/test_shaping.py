"""The shaping study: its method against a slow twin, its faults, its filters, and its quick form as a whole."""

from dataclasses import replace

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.locate.kalman import correct
from formiga.loop import Simulation
from formiga.sense.beacon_ranges import ANSWERS
from formiga.studies.shaping import runs, study
from formiga.studies.shaping.method import FAULT, FIX, NONE, ROW, Rules, choose
from formiga.studies.shaping.rounds import course
from formiga.studies.shaping.runs import FIFO, KALMAN, KEEPS_OUT, PAPER, PARTICLES, Task
from formiga.world.elements import of
from formiga.world.reader import read_text
from tests.reference import shaping as reference
from tests.runs import assert_same, both
from tests.studies import pages

STUDY = "shaping"


def streams(params, steps, forms=(PAPER,), seed=3):
    """Ranges (T, K), ways (T, 2), and what each form delivers (T, 7) after each interrogation of the first world."""
    world = runs.world_of(params, forms)
    simulation = Simulation(world, seed)
    read = {name: [] for name in ("ranges", "displacement", *forms)}
    for _ in range(steps):
        for name, kept in read.items():
            kept.append(simulation.readings["robot"][name][0, 0].copy())
        simulation.step()
    found = {name: np.array(kept) for name, kept in read.items()}
    return found["ranges"], found["displacement"][:, :2], found, world


# -- the course -----------------------------------------------------------------------------------------------------------
def test_a_round_is_510_m_and_its_speed_is_a_parabola_on_each_straight():
    world = runs.world_of({})
    rounds = world.groups[0].controller
    places = course(rounds.points, 1.0, world.dt)
    corners = np.reshape(rounds.points, (-1, 2))
    assert np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).sum() == 510.0 and len(places) == runs.LAP
    first = places[: 1051] - (2.5, 2.5)                      # 35 m in 52.5 s
    time = 0.05 * np.arange(1051)
    speed = 4.0 * (time / 52.5) * (1.0 - time / 52.5)
    np.testing.assert_allclose(np.gradient(first[:, 1], 0.05)[1:-1], speed[1:-1], atol=1e-3)
    assert not first[:, 0].any() and first[-1, 1] == pytest.approx(35.0)


def test_the_robot_is_where_the_course_says_at_every_step():
    world = runs.world_of({})
    simulation, places = Simulation(world, worlds=2), course(world.groups[0].controller.points, 1.0, world.dt)
    for steps in (1, 999, 10_000, 4_300, 10):
        simulation.advance(steps)
        there = places[simulation.state.step % runs.LAP]
        np.testing.assert_allclose(simulation.state.position[:, 0], there, atol=1e-6)


# -- the method -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("params", [{}, {"scaled": 0.2, "factor": 0.5}, {"answer": 0.6, "misplaced": 0.4}])
def test_delivered_positions_are_those_of_the_slow_twin(params):
    ranges, ways, found, world = streams(params, 80)
    places = next(thing for thing in world.things if of(thing).tag == "beacons").places
    twin = reference.run(ranges, ways, places, misplaced=params.get("misplaced", 0.2))
    np.testing.assert_allclose(found[PAPER][:, :2], twin, atol=1e-4)      # six steps of Gauss and Newton leave so much


def test_the_compiled_step_and_the_readable_loop_give_the_same_bits_also_after_a_restart():
    world = runs.world_of({"scaled": 0.1, "factor": 0.5, "silent": 0.1}, (KEEPS_OUT, FIFO, KALMAN, PARTICLES))
    assert_same(*both(world, steps=45, again=[True, False, True]))


def test_one_world_of_a_batch_is_that_world_alone():
    world = runs.world_of({"scaled": 0.1, "factor": 2.0}, (KEEPS_OUT, PARTICLES))
    batch, alone = Simulation(world, 4, 3), Simulation(world, 4, 1, first_world=2)
    for simulation in (batch, alone):
        simulation.advance(60)
    for key, memory in alone.state.memory.items():
        np.testing.assert_array_equal(memory[0], batch.state.memory[key][2], err_msg=str(key))


def test_worlds_with_other_faults_in_one_batch_are_as_they_are_alone():
    values = {"misplaced": [0.2, 0.3], "answer": [0.9, 0.6], "scaled": [0.0, 0.1]}
    batch = Simulation("shaping", 3, params=values)
    batch.advance(30)
    for w in range(2):
        alone = Simulation("shaping", 3, first_world=w, params={name: each[w] for name, each in values.items()})
        alone.advance(30)
        for name in ("ranges", "shaping"):
            np.testing.assert_array_equal(alone.readings["robot"][name][0], batch.readings["robot"][name][w])


def test_no_true_pose_reaches_the_robot():
    """The same readings from another place: the belief follows the readings, whatever is true."""
    world = runs.world_of({})
    simulations = [Simulation(world, 1) for _ in range(2)]
    for step in range(40):
        for simulation in simulations:
            simulation.step()
        simulations[1].state.position[...] += 0.0 if step else 1.0
    here, there = (runs.remembered(simulation, KEEPS_OUT, "fix")[0] for simulation in simulations)
    moved = there[FIX.x: FIX.y + 1] - here[FIX.x: FIX.y + 1]
    np.testing.assert_allclose(moved, 1.0, atol=0.8)


def test_without_noise_the_place_is_exact_with_either_collection():
    clean = {"sigma": 0.0, "slip": 0.0, "misplaced": 0.0, "answer": 1.0}
    outcome = runs.perform(Task(clean, (PAPER, FIFO), 1, 120))
    assert all(track.error.max() < 1e-6 for track in outcome.tracks.values())


def test_the_buffer_of_a_fifo_renews_itself_in_ten_interrogations():
    """40 readings, four at a time: a kidnapped robot has one mixed estimate at most."""
    outcome = runs.perform(Task({"blackout": "10.3 40.3", "answer": 1.0}, (PAPER, FIFO), 4, 100))
    back, wrong = runs.recoveries(outcome.tracks[FIFO].error, [40.3], 0.05, 1.5, 1.0)
    assert back.all() and wrong.max() <= 1
    lost = outcome.tracks[PAPER].error[:, 60:79]
    assert lost.min() > 1.5 and runs.recoveries(outcome.tracks[PAPER].error, [40.3], 0.05, 1.5, 1.0)[0].all()


@pytest.mark.parametrize("form", [PAPER, FIFO])
def test_without_readings_the_variance_grows_by_the_share_of_the_way_of_each_step(form):
    """[Eq. 3, of the place that dead reckoning delivers and of the readings in the buffer]"""
    world = runs.world_of({"answer": 1.0}, (form,))
    group = world.groups[0]
    deaf = replace(group, sensors=(replace(group.sensors[0], blackout=(10.3, 99.0)), *group.sensors[1:]))
    simulation = Simulation(replace(world, groups=(deaf,)), 3)
    simulation.advance(210)                       # the last estimate has been made of what was heard until 10.3 s
    fix, rows = (runs.remembered(simulation, form, name)[0] for name in ("fix", "rows"))
    total = 0.0
    for _ in range(300):
        way = simulation.readings["robot"]["displacement"][0, 0, :2]
        total += 0.05**2 * float(way @ way)
        simulation.step()
    later, moved = (runs.remembered(simulation, form, name)[0] for name in ("fix", "rows"))
    assert total > 1e-3
    if form == FIFO:                              # which goes on with the readings that it has
        np.testing.assert_allclose(moved[-1, ROW.variance] - rows[-1, ROW.variance], total, rtol=1e-9)
    else:
        np.testing.assert_allclose(later[[FIX.xx, FIX.yy]] - fix[[FIX.xx, FIX.yy]], total, rtol=1e-9)


def test_the_covariance_of_a_delivered_place_is_the_inverse_of_the_curvature_of_half_the_cost():
    ranges, ways, found, world = streams({"answer": 1.0}, 10)
    belief = found[PAPER][-1]
    places = next(thing for thing in world.things if of(thing).tag == "beacons").places
    rows = []
    for j in range(10):
        for k in reference.nearest(ranges, 4):
            rows.append([*(places[k] + ways[j + 1:].sum(axis=0)), ranges[j, k], 1.04])
    rows = np.array(rows)
    unit = (belief[:2] - rows[:, :2]) / np.linalg.norm(belief[:2] - rows[:, :2], axis=1)[:, None]
    expected = np.linalg.inv(unit.T @ unit / 1.04)
    np.testing.assert_allclose(belief[[3, 4, 4, 5]], expected.reshape(-1), rtol=2e-3)


def test_a_silent_tag_is_flagged_after_five_missing_answers_and_no_longer_when_it_answers():
    world = runs.world_of({"mute": "0", "answer": 0.95}, (PAPER,))
    simulation = Simulation(world, 2)
    flagged = []
    for _ in range(16):
        simulation.step()
        flagged.append(runs.remembered(simulation, PAPER, "faults")[0, 0, FAULT.mute])
    assert flagged.index(1.0) == 9 + 5      # it is due from the first estimate on, which the tenth step makes
    assert runs.remembered(simulation, PAPER, "faults")[0, 1:, FAULT.mute].sum() == 0.0


def used_and_fix(params, steps, **changes):
    """The beacons in use, `fix` and `faults` of the first world after so many steps; changes: of <shaping>."""
    world = runs.world_of({"answer": 1.0} | params)
    group = world.groups[0]
    shaping = replace(group.estimators[0], name="shaping", **changes)
    simulation = Simulation(replace(world, groups=(replace(group, estimators=(shaping,)),)), 2)
    simulation.advance(steps)
    used, fix, faults = (runs.remembered(simulation, "shaping", name)[0] for name in ("used", "fix", "faults"))
    return sorted(used.astype(int)), fix, faults


def test_a_silent_tag_that_is_due_leaves_three_unless_it_is_replaced():
    """The robot starts among the tags 0, 1, 9, 10."""
    assert used_and_fix({}, 30)[0] == [0, 1, 9, 10]
    assert used_and_fix({"mute": "0"}, 30)[0] == [-1, 1, 9, 10]
    replaced = used_and_fix({"mute": "0"}, 30, replace=True)[0]
    assert {1, 9, 10} < set(replaced) and -1 not in replaced


def test_a_robot_whose_due_tags_are_all_silent_looks_at_what_it_hears():
    silent = used_and_fix({"mute": "0 1 9 10"}, 30)[0]
    assert max(silent) >= 0 and not {0, 1, 9, 10} & set(silent)


def test_the_mirror_image_of_a_place_makes_it_unreliable_however_well_it_fits():
    others = " ".join(str(k) for k in range(162) if k not in (0, 1))     # both left are at x = 0
    for margin, reliable in ((9.0, 0.0), (0.0, 1.0)):
        fix = used_and_fix({"mute": others}, 10, margin=margin)[1]
        assert fix[FIX.misfit] < 1.35 and fix[FIX.rival] < 9.0 and fix[FIX.reliable] == reliable


def test_a_tag_at_its_neighbours_place_is_flagged_and_the_blame_of_the_worst_spares_the_others():
    outcome = runs.perform(Task({"moved": "40 0 5"}, (PAPER, KEEPS_OUT), 4, 460))     # the robot is past it by then
    for form, flagged, others in ((PAPER, 4, True), (KEEPS_OUT, 3, False)):
        ever = outcome.tracks[form].faults[..., FAULT.ever_wrong] > 0.0
        assert ever[:, 40].sum() >= flagged and np.delete(ever, 40, axis=1).any() == others


def test_a_tag_with_an_alarm_is_left_out_if_so_asked():
    heard = np.array([3.0, 1.0, 2.0, 5.0, 4.0, NONE]).reshape(1, 1, 1, 6)
    faults, used = np.zeros((1, 1, 6, len(FAULT))), np.empty((1, 1, 4))
    faults[0, 0, 2, FAULT.wrong] = 1.0
    for exclude, chosen in ((0.0, [1, 2, 0, 4]), (1.0, [1, 0, 4, 3])):
        choose(0, 0, Rules(1.0, 0.05, 0.95, 1.0, 1.35, 2.0, 9.0, 1e-6, 1.0, exclude, 0.0, 0.25, 0.05), heard, faults, used)
        assert used[0, 0].tolist() == chosen


def test_two_processes_find_what_one_finds():
    from formiga.pool import pool

    tasks = [Task({}, (PAPER, FIFO), 2, 20), Task({"silent": 0.1}, (KEEPS_OUT,), 2, 20)]
    with pool(1) as alone, pool(2) as pair:
        ours, theirs = alone.map(runs.perform, tasks), pair.map(runs.perform, tasks)
    for one, other in zip(ours, theirs, strict=True):
        for form, track in one.tracks.items():
            np.testing.assert_array_equal(track.error, other.tracks[form].error)


# -- what cannot be -------------------------------------------------------------------------------------------------------
FILE = """<world dt="0.05"><contact model="none"/><beacons columns="4" rows="4" spacing="5m"/><beacons name="few" points="0 0"/>
<omni radius="0.3m" distance="0.2m" top_speed="2m/s"><at x="2" y="2" heading="0"/><beacon_ranges/>
<beacon_ranges name="other" beacons="few"/><displacement/>%s</omni></world>"""


@pytest.mark.parametrize("text, words", [
    ('<shaping beacons="few"/>', "<shaping> beacons: 'few' are on its map, and 'ranges' reads the <beacons> 'beacons'"),
    ('<range_kalman ranges="other"/>', "beacons: 'beacons' are on its map, and 'other' reads the <beacons> 'few'"),
    ('<range_particles ranges="displacement"/>', "reads 'displacement', which is <displacement>; it takes a <beacon_ranges>"),
    ('<shaping odometer="other"/>', "reads 'other', which is <beacon_ranges>; it takes a <displacement>"),
    ('<shaping step="1e-6"/>', "step, turn: a search would try 979,011,960 places; at most 2,000,000"),
    ('<shaping turn="1e-6"/>', "places; at most 2,000,000 are allowed. Enlarge step or turn"),
    ('<rounds points="1 1 1 1"/>', "<rounds> points: all of them are the same place"),
    ('<rounds points="0 0 1 0" top_speed="1e-6"/>', "<rounds> points: a round takes 3e+06 s at 1e-06 m/s; at most 10,000,000"),
])
def test_what_the_kernels_cannot_do_is_refused_with_the_place_in_the_file(text, words):
    """A beacon that is on no map would be written beyond the end of an array; a search without memory would be no search."""
    with pytest.raises(WorldError, match="<text>:3") as refused:
        Simulation(read_text(FILE % text)).advance(1)
    assert words in str(refused.value)


# -- the filters ----------------------------------------------------------------------------------------------------------
def test_the_kalman_filter_is_that_of_the_library_reading_by_reading():
    ranges, ways, found, world = streams({"answer": 0.8}, 60, (KALMAN,))
    places = next(thing for thing in world.things if of(thing).tag == "beacons").places
    mean, covariance = np.array([2.5, 2.5]), 1.02**2 * np.eye(2)
    for t in range(60):
        mean, covariance = mean + ways[t], covariance + 0.05**2 * (ways[t] @ ways[t]) * np.eye(2)
        for k in np.argsort(np.where(np.isnan(ranges[t]), np.inf, ranges[t]))[:4]:
            if not np.isnan(ranges[t, k]):
                off = mean - places[k]
                away = np.linalg.norm(off)
                mean, covariance = correct(mean, covariance, np.array([ranges[t, k] - away]), off[None] / away,
                                           np.array([[1.02**2]]), angles=())
        np.testing.assert_allclose(found[KALMAN][t, :2], mean, atol=1e-9)
        np.testing.assert_allclose(found[KALMAN][t, [3, 4, 5]], covariance[[0, 0, 1], [0, 1, 1]], atol=1e-9)


def test_particles_find_the_robot_from_anywhere_in_the_hall():
    outcome = runs.perform(Task({}, (PARTICLES,), 4, 60))
    assert outcome.tracks[PARTICLES].error[:, 40:].mean() < 0.5


# -- what is asked of outcomes --------------------------------------------------------------------------------------------
def test_the_longest_time_above_a_bound_and_recoveries_are_counted():
    error = np.array([[0.0, 3.0, 3.0, 0.0, 3.0], [0.0, 0.0, 0.0, 2.5, 1.0]])
    assert runs.longest(error, 2.0) == 2 and runs.longest(error, 9.0) == 0
    back, wrong = runs.recoveries(error, [0.9], 0.05, 1.5, 1.0)      # estimates at 0.45, 0.95, 1.45, 1.95 s
    assert back.tolist() == [[False, True]] and wrong.tolist() == [[2, 0]]
    assert runs.recoveries(error, [1.2], 0.05, 1.5, 1.0)[0].tolist() == [[True, False]]


def test_a_place_is_faulty_where_a_faulty_beacon_is_or_seems_to_be_among_the_nearest():
    places = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [7.0, 0.0], [9.0, 0.0]])
    truth = np.array([[[x, y, 0.5 if x == 7.0 else 1.0, 1.0] for x, y in places]])
    path = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])              # there it seems to be at 3.5, 3 and 1 m
    found = runs.faulty_near(runs.Outcome({}, path, places, truth))
    assert found.tolist() == [[False, False, True]]


def test_a_row_of_the_table_that_is_far_off_is_missed():
    def outcome(error):
        return runs.Outcome({PAPER: runs.Track(np.full((2, 30), error), np.ones((2, 30), bool), np.zeros((2, 3, 7)))},
                            np.zeros((30, 2)), np.zeros((3, 2)), np.ones((2, 3, 4)))

    assert next(study.compared("nominal", outcome(0.33))).verdict == "met"
    assert next(study.compared("nominal", outcome(0.40))).verdict == "missed"
    assert next(study.compared("boost", outcome(0.90))).verdict == "missed"


def silent_outcome(false_alarms=0, unseen=0):
    """Two made-up runs of ten minutes along ten tags, of which the first is silent."""
    path, places = np.linspace((0.0, 0.0), (45.0, 0.0), 1200), np.array([[5.0 * k, 1.0] for k in range(10)])
    truth, faults = np.ones((2, 10, 4)), np.zeros((2, 10, len(FAULT)))
    truth[:, 0, ANSWERS] = 0.0
    faults[:, 0, FAULT.mute] = faults[:, 0, FAULT.ever_mute] = 1.0
    faults[0, 0, FAULT.mute] -= unseen
    faults[0, 1: 1 + false_alarms, FAULT.ever_mute] = 1.0          # until its next answer: no longer at the end
    track = runs.Track(np.full((2, 1200), 0.3), np.ones((2, 1200), bool), faults)
    return dict.fromkeys(("single silence", "extensive silence"), runs.Outcome({PAPER: track}, path, places, truth))


def test_a_false_alarm_and_a_silent_tag_that_is_not_found_are_missed_rows():
    def missed(**wrong):
        return {row.claim.split(": ")[1] for row in study.silence(silent_outcome(**wrong)) if row.verdict == "missed"}

    assert missed() == set() and missed(false_alarms=1) == {"answering tags ever flagged, in 2 runs"}
    assert missed(unseen=1) == {"silent tags flagged, of 2 that the path came near"}


def test_the_world_has_the_numbers_of_table_i():
    world = runs.world_of({}, (PAPER,))
    robot, rows = world.groups[0], {row.claim: row.published for row in study.definitions()}
    ranges, odometer, shaping = robot.sensors[0], robot.sensors[1], robot.estimators[0]
    beacons = next(thing for thing in world.things if of(thing).tag == "beacons")
    assert rows == {"side of the squares of tags (m)": beacons.spacing, "reading range (m)": ranges.reach,
                    "range deviation (m)": ranges.sigma, "interrogation period (s)": world.dt,
                    "estimation period (s)": shaping.period, "readings in the buffer": shaping.size,
                    "tags in use": shaping.tags, "odometry deviation, share of the way": odometer.noise,
                    "top speed (m/s)": robot.controller.top_speed}
    assert (ranges.answer, beacons.misplaced, shaping.sigma, shaping.misplaced, shaping.share) == (0.95, 0.2, 1.0, 0.2, 0.05)


# -- the study ------------------------------------------------------------------------------------------------------------
def test_the_quick_form_is_quick_and_meets_all_laws(result):
    _, code, done = result
    missed = [row["claim"] for row in done["rows"] if row["verdict"] == "missed"]
    assert done["runs"] == study.QUICK.seeds and 0 < done["seconds"] < 60 and code == int(bool(missed))
    assert [row["claim"] for row in done["rows"] if row["verdict"] == "missed" and row["origin"] == "law"] == []
    assert len(done["rows"]) > 70


def test_the_manual_has_what_the_quick_form_prints(result):
    pages.check_pages("shaping", result[2]["rows"])


def test_the_result_that_the_gallery_shows_is_of_this_study(result):
    pages.check_kept("shaping", result[2]["rows"])


def test_the_world_draws_rings_beliefs_and_alarms():
    from formiga.studies import harness

    simulation = Simulation(harness.world("shaping", {"mute": "0 1 9"}), 1)
    simulation.advance(400)
    drawn = simulation.drawings()
    assert {"ranges", "shaping", "alarms"} <= set(drawn)
    assert [mark.kind for mark in drawn["shaping"]].count("path") == sum(
        runs.remembered(simulation, "shaping", "used")[0] >= 0.0)
    assert "silent" in [word for mark in drawn["alarms"] for word in mark.words]
