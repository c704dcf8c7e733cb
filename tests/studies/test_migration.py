"""The migration study: its quick form as a whole, and what would make its rows fail."""

import struct

import numpy as np
import pytest

from formiga.pool import pool
from formiga.studies.migration import elements, processes, study, trials
from formiga.studies.migration.processes import Course, Trial
from tests.studies import pages

STUDY = "migration"


def test_the_quick_form_is_quick_and_misses_one_claim_that_is_close(result):
    _, code, done = result
    rows = {row["claim"]: row for row in done["rows"]}
    missed = {claim: row["ours"] for claim, row in rows.items() if row["verdict"] == "missed"}
    assert missed == {"gates: the same without gates (20 seeds)": pytest.approx(2.92, abs=0.01)} and code == 1
    assert 0 < done["seconds"] < 60 and done["runs"] == study.SEEDS
    judged = [claim.partition(":")[0] for claim, row in rows.items() if row["verdict"] == "met"]
    assert set(judged) == {"kinematics", "sensor", "pairs", "filter", "odometry alone", "ablations", "gates", "Remote",
                           "migration", "faults"}


def test_a_claim_that_is_only_published_in_words_or_not_at_all_is_no_published_number(result):
    published = [row["claim"] for row in result[2]["rows"] if row["origin"] == "published"]
    assert len(published) == 2 and all(words in " ".join(published) for words in ("at 7 cm", "the same file"))


def test_the_result_that_the_gallery_shows_is_of_this_study(result):
    pages.check_kept("migration", result[2]["rows"])


def test_the_manual_has_what_the_quick_form_prints(result):
    pages.check_pages("migration", result[2]["rows"])


def test_the_figure_is_a_picture(result):
    picture = (result[0] / "out" / "migration.png").read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and width > 1000 and height > 600 and len(picture) > 20_000


def test_the_robot_is_another_plant_than_the_simulator():
    """Were they alike, migration would prove nothing."""
    one, other = (trials.world_of(file).groups[0] for file in ("world.xml", "plant.xml"))
    known, real = one.robot.drive, other.robot.drive
    np.testing.assert_allclose(real.errors, (0.02, -0.01, 0.005))
    assert real.distance == pytest.approx(1.015 * known.distance) and not np.allclose(real.inverse, known.inverse, rtol=0.005)
    sharp, off = one.sensors[0], other.sensors[0]
    assert off.k1 == pytest.approx(1.02 * sharp.k1) and off.k2 == pytest.approx(0.98 * sharp.k2)
    assert off.spread == pytest.approx(1.5 * sharp.spread) and off.spread_per_m == pytest.approx(1.5 * sharp.spread_per_m)
    assert off.width == pytest.approx(0.012) and np.array_equal(off.seats, sharp.seats)
    assert trials.world_of("plant.xml").dt == 0.01
    assert other.sensors[1].slip / np.sqrt(processes.STEPS) == pytest.approx(one.sensors[1].slip)     # as much in a turn


def test_all_worlds_have_the_map_and_the_course_of_the_remote():
    known = processes.remote_module().Map(processes.MAP)
    for file in ("world.xml", "plant.xml", "box.xml"):
        world = trials.world_of(file)
        filter_ = next(each for each in world.groups[0].estimators if isinstance(each, elements.WallPairs))
        lines = filter_.lines
        ours = zip(lines.upright, lines.at, lines.low, lines.high, lines.ahead, strict=True)
        np.testing.assert_allclose(sorted(ours), sorted(known.lines))
        controller = world.groups[0].controller
        assert list(zip(controller.points[::2], controller.points[1::2], strict=True)) * controller.laps == known.course


@pytest.mark.parametrize("k1, k2, noise, missed", [
    (0.1881, 4.6779, 3e-5, []), (0.20, 4.6779, 3e-5, ["k1"]), (0.1881, 4.75, 3e-5, ["k2"]),
    (0.1881, 4.6779, 4e-5, ["variance"])])
def test_a_sensor_of_other_constants_than_the_paper_s_is_a_missed_row(rng, k1, k2, noise, missed):
    d = study.DISTANCES[:, None]
    volts = 1.0 / (k1 + k2 * d) + np.sqrt(noise * (1.0 + d)) * rng.normal(size=(len(d), study.SAMPLES * study.REPEATS))
    found = [row.claim for row in study.sensor(volts) if row.verdict == "missed"]
    assert len(found) == len(missed) and all(word in claim for word, claim in zip(missed, found, strict=True)), found


def straight(offset=0.0, belief=0.0, spread=1e-4, at=8, sha="a"):
    """A made-up course that believes an error."""
    clock = np.arange(0.0, 2.0, 0.04)
    truth = np.column_stack([clock - 0.65, np.full_like(clock, offset - 0.475), 0.0 * clock])
    truth[-1, :2] = -0.65, -0.475
    log = np.zeros((len(clock), 16))
    log[:, 2], log[:, 3:6], log[:, 6:12], log[:, 15] = clock, truth + (belief, 0, 0), (spread, 0, 0, spread, 0, spread), at
    return Course(0, clock, truth, log, sha, 8)


def verdicts(simulated, real):
    return {row.claim: row.verdict for row in study.migrated([simulated], [real]) if row.verdict != "reported"}


def test_the_claims_of_migration_fail_where_they_should(monkeypatch):
    monkeypatch.setattr(processes, "hash_of", lambda file: "a")
    good = straight(belief=0.01)
    assert set(verdicts(good, straight(belief=0.015)).values()) == {"met"}
    lost = straight(belief=0.01)           # it believes that it is at the end of its course, and its robot is elsewhere
    lost.truth[-1, :2] += (0.5, 0.0)
    lost.log[-1, 3:5] += (0.5, 0.0)
    for wrong, words in ((lost, "end their course"), (straight(belief=0.03), "error in place"),
                         (straight(0.06, 0.01), "the path"),
                         (straight(belief=0.01, at=7), "end their course"), (straight(belief=0.01, sha="b"), "the same file")):
        missed = [claim for claim, verdict in verdicts(good, wrong).items() if verdict == "missed"]
        assert len(missed) == 1 and words in missed[0], missed


def test_another_belief_than_the_laboratory_s_would_be_seen():
    runs = trials.course(3, 2, seconds=1.0)
    log = np.zeros((2, 25, 16))
    for w in range(2):
        log[w, :, 3:6] = runs.belief[:, w]
    courses = [Course(0, runs.clock, runs.truth[:, w], log[w], "a", 8) for w in range(2)]
    assert study.same_belief(runs, courses).verdict == "met"
    courses[1].log[20, 4] += 2e-6
    assert study.same_belief(runs, courses).verdict == "missed"


def test_two_processes_find_what_one_finds():
    tasks = [Trial(seed, lost=0.05) for seed in range(2)]
    with pool(1) as alone, pool(2) as pair:
        ours, theirs = alone.map(lap, tasks), pair.map(lap, tasks)
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one.truth, other.truth) and np.array_equal(one.log[:, :12], other.log[:, :12])
    assert not np.array_equal(ours[0].truth, ours[1].truth)


def lap(trial):
    return processes.on_robot(trial, 3.0)
