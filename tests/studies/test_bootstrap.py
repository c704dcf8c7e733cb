"""The bootstrap study: its quick form as a whole, its independence of who computes, and its verdicts on made-up runs."""

import struct
from dataclasses import astuple

import numpy as np
import pytest

from formiga.pool import pool
from formiga.rollout import genes
from formiga.studies.bootstrap import study
from formiga.studies.bootstrap.study import FULL, POLICIES, QUICK, Budget, Outcome, comparison, decide, evolve, generation_0
from tests.studies import pages

STUDY = "bootstrap"


def test_the_quick_form_is_quick_and_decides_only_what_is_certain(result):
    _, code, done = result
    verdicts = {row["claim"]: row["verdict"] for row in done["rows"]}
    assert code == 0 and done["runs"] == QUICK.runs and 0 < done["seconds"] < 60
    assert {claim.partition(" (")[0] for claim, verdict in verdicts.items() if verdict != "reported"} == {
        "stop: of 20 trials, those that last as long as the first collision of their robots' centres says",
        "stop, packed: 10 robots survive shorter than 5", "stop, packed: 15 robots survive shorter than 10",
        "stop, 15 robots: they survive shorter packed than spaced", "generation 0: survives longer"}
    undecided = next(row for row in done["rows"] if "evolves better" in row["claim"])
    assert undecided["published"] == "reposition" and undecided["ours"] == "3 runs: too few" and undecided["where"]


def test_the_study_says_everything_that_its_verdicts_were_found_by(result):
    claims = " | ".join(row["claim"] for row in result[2]["rows"])
    for words in ("reposition, run 3", "stop, run 3", "generation 5: evolves better", "generation 5: p-value",
                  *(f"ended by crashes, {policy}" for policy in POLICIES),
                  *(f"generation 5: median fitness in the test, {policy}" for policy in POLICIES)):
        assert words in claims, words
    values = {row["claim"]: row["ours"] for row in result[2]["rows"]}
    runs = [values[f"reposition, run {n}: fitness in the common test, generation 5"][0] for n in (1, 2, 3)]
    median = values["generation 5: median fitness in the test, reposition"]
    assert median == pytest.approx(float(np.median(runs)), abs=1e-4)


def test_the_result_that_the_gallery_shows_is_of_this_study(result):
    pages.check_kept("bootstrap", result[2]["rows"])


def test_the_manual_has_what_the_quick_form_prints(result):
    pages.check_pages("bootstrap", result[2]["rows"])


def test_the_figure_is_a_picture(result):
    picture = (result[0] / "out" / "bootstrap.png").read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and width > 800 and height > 300 and len(picture) > 10_000


def test_the_worlds_are_those_of_the_digest():
    """32 genes, 15 robots that start apart but packed, 300 steps; the test differs in start and policy only."""
    world, test = study.arena("reposition"), study.common_test()
    assert genes(world, world.groups[0]) == 32 and world.groups[0].count == 15
    assert round(world.seconds / world.dt) == 300 and world.contact.crash_limit == 60 and world.contact.at_limit == "end"
    assert (world.contact.model, world.contact.mode, test.contact.model) == ("reposition", "minimal", "stop")
    assert test.fitness == world.fitness and test.things == world.things
    assert FULL.runs == 10 and FULL.judged == (5, 30) and study.TEST_TRIALS == 20


@pytest.mark.parametrize("packed", [True, False])
def test_no_robot_starts_in_a_collision_and_packs_are_tighter_than_the_test(packed):
    from formiga.loop import Simulation

    world = study.arena("stop") if packed else study.common_test()
    position = Simulation(world, 3, 100).state.position
    apart = np.linalg.norm(position[:, :, None] - position[:, None], axis=-1) + 10.0 * np.eye(15)
    nearest = apart.min(axis=2)
    assert nearest.min() > 0.176  # two collision circles
    assert nearest.max() < 0.196 if packed else nearest.min() > 0.236
    assert np.abs(position).max() < 0.75 - 0.088


def test_two_processes_find_what_one_finds():
    budget = Budget(runs=1, population=6, trials=1, judged=(1,))
    tasks = [(policy, run, budget) for policy in POLICIES for run in range(2)]
    with pool(1) as alone, pool(2) as pair:
        ours, theirs = alone.map(evolve, tasks), pair.map(evolve, tasks)
    for one, other in zip(ours, theirs, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(astuple(one), astuple(other), strict=True))
    assert len({float(outcome.survival.mean()) for outcome in ours}) == 4  # and every run is another one


def sample(shift, count=10):
    return list(np.linspace(0.0, 1.0, count) + shift)


def verdicts(ours, theirs):
    first, *rest = comparison(5, ours, theirs)
    assert all(row.verdict == "reported" for row in rest)
    return first.ours, first.verdict


def test_a_clear_difference_is_met_its_opposite_missed_and_none_reported():
    assert verdicts(sample(0.9), sample(0.0)) == ("reposition", "met")
    assert verdicts(sample(0.0), sample(0.9)) == ("stop", "missed")
    assert verdicts(sample(0.0), sample(0.05)) == ("neither", "reported")
    assert verdicts(sample(0.0), sample(0.0)) == ("neither", "reported")
    assert verdicts([0.0] * 10, [0.0] * 10) == ("neither", "reported")  # all stand still


def test_too_few_runs_decide_nothing_however_clear_they_look():
    for ours, theirs in ((9.0, 0.0), (0.0, 9.0)):
        assert verdicts(sample(ours, 3), sample(theirs, 3)) == ("3 runs: too few", "reported")


def test_the_p_value_is_the_share_of_orders_that_are_as_good():
    """Three above three: 1 of the 20 ways to share out six ranks."""
    assert decide([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])[1] == pytest.approx(1 / 20)
    rows = {row.claim: row.ours for row in comparison(5, [4.0, 5.0, 1.5], [1.0, 2.0, 3.0])}
    assert rows["generation 5: share of pairs of runs that reposition wins"] == pytest.approx(7 / 9)


def test_a_shorter_life_under_reposition_would_be_missed():
    def lived(seconds):
        return [Outcome(seconds + np.linspace(0.0, 1.0, 10), 0.5, np.zeros(1), np.zeros(1), np.zeros(1)) for _ in range(2)]

    assert next(generation_0({"reposition": lived(9.0), "stop": lived(7.0)})).verdict == "met"
    assert next(generation_0({"reposition": lived(7.0), "stop": lived(7.0)})).verdict == "missed"
    assert next(generation_0({"reposition": lived(7.0), "stop": lived(9.0)})).verdict == "missed"


def test_a_crash_limit_that_counted_otherwise_would_miss_the_predicted_ends(monkeypatch):
    genotypes = study.genotypes_of_generation_0(4)
    (row,) = study.stopped(genotypes)
    assert row.verdict == "met" and row.ours == 4
    found = study.first_collisions
    monkeypatch.setattr(study, "first_collisions", lambda *given: found(*given) + 1)
    assert next(study.stopped(genotypes)).verdict == "missed"
