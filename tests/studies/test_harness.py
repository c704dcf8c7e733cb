"""The harness of studies, on a study of our own: verdicts, tables, JSON, exit codes."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from formiga import studies
from formiga.errors import FormigaError
from formiga.studies import harness
from formiga.studies.harness import Published, Row, at_least, at_most, compare, counted, mean_row, reported, seed_of, summary
from tests.studies import pages


class Fake(harness.Study):
    """Rows that were written down, and figures if there are any."""

    runs = 3

    def __init__(self, found, drawn):
        self.found, self.drawn = found, drawn

    def rows(self, full, workers):
        return iter(self.found)

    def figures(self):
        return {"fake": self.drawn} if self.drawn else {}


def fake(*rows, figure=None):
    return Fake(rows, figure)


@pytest.mark.parametrize("published, ours, tolerance, verdict", [
    (1.0, 1.0, 0.0, "met"), (1.0, 1.05, 0.1, "met"), (1.0, 1.2, 0.1, "missed"), (1.0, 0.95, 0.1, "met"),
    (1, np.float64(1.0), 0.0, "met"), (2.5, float("nan"), 9.0, "missed"), (True, True, 0.0, "met"),
    (True, False, 0.0, "missed"), ([1, 2], [1, 2], 0.0, "met"), ([1, 2], [2, 1], 0.0, "missed"),
    ("north", "north", 0.0, "met"), ("north", "south", 9.0, "missed"),
])
def test_a_row_is_met_within_its_tolerance(published, ours, tolerance, verdict):
    assert Row("claim", published, ours, tolerance).verdict == verdict


def test_an_upper_bound_is_met_up_to_itself():
    assert [at_most("claim", 3.0, ours).verdict for ours in (2.9, 3.0, 3.1)] == ["met", "met", "missed"]
    assert at_most("claim", 3.0, float("nan")).verdict == "missed"


def test_a_row_of_unknown_origin_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="no origin 'hearsay'"):
        Row("claim", 1, 1, origin="hearsay")


def test_a_study_that_meets_its_numbers_ends_with_0_and_one_that_misses_with_1(capsys, tmp_path):
    paper = Published("Table 1", {"x": 1.0, "y": 2.0}, 0.1, "why we think so")
    good = list(compare("value of", paper, {"x": 1.05, "y": 2.0}))
    wrong = list(compare("value of", Published("Table 1", {"x": 7.0}, 0.1, "why we think so"), {"x": 1.05}))
    assert harness.run("fake", fake(*good, reported("speed", 5)), False, 1, None, None) == 0
    assert "missed:" not in capsys.readouterr().out
    assert harness.run("fake", fake(*good, *wrong), False, 1, str(tmp_path / "r.json"), None) == 1
    printed = capsys.readouterr().out
    assert "missed: value of x: why we think so" in printed and "2 met, 1 missed" in printed
    rows = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert [row["verdict"] for row in rows] == ["met", "met", "missed"]
    assert rows[2]["published"] == 7.0 and rows[2]["ours"] == 1.05 and rows[2]["tolerance"] == 0.1


def test_the_json_is_plain_and_has_design_s_fields(tmp_path, capsys):
    rows = [Row("a", 1, np.float64(1.0)), Row("b", True, np.bool_(True)), Row("c", [1, 2], [1, 2]), Row("d", 3, np.int64(3)),
            reported("e", "text")]
    harness.run("fake", fake(*rows), False, 1, str(tmp_path / "r.json"), tmp_path / "made" / "here")
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["study"] == "fake" and result["runs"] == 3 and result["seconds"] >= 0.0
    for row in result["rows"]:
        assert {"claim", "published", "ours", "tolerance", "verdict"} <= row.keys()
    assert json.loads((tmp_path / "made" / "here" / "fake.json").read_text()) == result


def test_the_json_of_a_figure_that_is_not_finite_is_still_json(tmp_path, capsys):
    """NaN and Infinity are Python's, not JSON's: other readers refuse the whole file."""
    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    study = fake(Row("a", 1.0, float("inf")), Row("b", 1.0, float("nan")))
    harness.run("fake", study, False, 1, str(tmp_path / "r.json"), None)
    result = json.loads((tmp_path / "r.json").read_text(), parse_constant=refuse)
    assert [row["ours"] for row in result["rows"]] == ["inf", "nan"]


def test_a_definition_is_listed_apart_and_never_counted_as_met(capsys):
    row = harness.definition("side of a robot (m)", 0.075, "section 2")
    assert (row.verdict, row.origin, row.published) == ("reported", "definition", 0.075)
    harness.show(harness.Console(width=132), "s", [row], 1.0)
    printed = capsys.readouterr().out
    assert "Definitions: what the study takes from its text" in printed
    assert "0 met, 0 missed, 1 reported" in printed


def test_origins_are_never_mixed_in_one_table(capsys):
    rows = [Row("from paper", 1, 1), Row("derived", 1, 1, origin="reconstructed"), Row("must hold", 1, 1, origin="law")]
    harness.run("fake", fake(*rows), False, 1, None, None)
    printed = capsys.readouterr().out
    texts = ("Published numbers", "from paper", "Reconstructed", "derived", "Laws", "must hold")
    places = [printed.index(text) for text in texts]
    assert places == sorted(places)


def test_the_figure_is_drawn_only_where_it_is_wanted(tmp_path, capsys):
    study = fake(Row("a", 1, 1), figure=lambda path: path.write_bytes(b"a picture"))
    harness.run("fake", study, False, 1, None, None)
    assert list(tmp_path.iterdir()) == []
    harness.run("fake", study, False, 1, None, tmp_path)
    assert (tmp_path / "fake.png").read_bytes() == b"a picture"
    assert f"figure:{tmp_path / 'fake.png'}" in "".join(capsys.readouterr().out.split())  # in any number of lines
    assert {each.name for each in tmp_path.iterdir()} == {"fake.png", "fake.json"}


def test_a_figure_that_fails_leaves_no_part_of_a_file_and_no_rows_without_their_figure(tmp_path, capsys):
    def fails(path):
        path.write_bytes(b"a part of a pict")
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError, match="no ink"):
        harness.run("fake", fake(Row("a", 1, 1), figure=fails), False, 1, None, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_canvas_becomes_a_png_of_the_size_asked_for(tmp_path):
    from matplotlib.image import imread

    with harness.canvas(tmp_path / "drawn", 1, 2, (3.0, 2.0), dpi=100) as (_, (left, right)):
        harness.dots(left, 1.0, [1.0, 2.0, 4.0], color="black")
        right.plot([0.0, 1.0], [0.0, 1.0])
    assert imread(tmp_path / "drawn", format="png").shape[:2] == (200, 300)
    (marks,) = left.lines
    assert marks.get_xdata().mean() == pytest.approx(1.0) and list(marks.get_ydata()) == [1.0, 2.0, 4.0]


# -- many runs --------------------------------------------------------------------------------------------------------
def test_a_lower_bound_is_met_down_to_itself():
    assert [at_least("claim", 3.0, ours).verdict for ours in (3.1, 3.0, 2.9)] == ["met", "met", "missed"]
    assert at_least("claim", 3.0, float("nan")).verdict == "missed"


def test_a_mean_is_judged_and_its_spread_is_shown_and_written(tmp_path, capsys):
    row = mean_row("time (s)", 10.0, [9.0, 10.0, 12.0], tolerance=0.5)
    assert row.ours == pytest.approx(31.0 / 3.0) and row.spread == pytest.approx(np.sqrt(7.0 / 3.0))
    assert row.runs == 3 and row.verdict == "met"
    assert mean_row("time (s)", 9.0, [9.0, 10.0, 12.0], tolerance=0.5).verdict == "missed"
    harness.run("fake", fake(row), False, 1, str(tmp_path / "r.json"), None)
    assert "10.3333 +- 1.5" in capsys.readouterr().out
    (written,) = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert written["runs"] == 3 and written["spread"] == pytest.approx(row.spread)


def test_a_single_run_has_no_spread():
    assert summary([4.0]) == (4.0, 0.0, 1)
    assert [counted(number) for number in (1, 2)] == ["1 seed", "2 seeds"] and counted(3, "run") == "3 runs"


def test_every_key_has_a_seed_of_its_own_and_always_the_same():
    seeds = {seed_of(8, *key) for key in [(), (0,), (1,), (0, 1), (1, 0)]}
    assert len(seeds) == 5 and seed_of(8, 0, 1) == int(np.random.SeedSequence(8, spawn_key=(0, 1)).generate_state(1)[0])
    assert seed_of(9) != seed_of(8)


# -- a study of pure dynamics -----------------------------------------------------------------------------------------
PENDULUM = '''"""How long a pendulum takes."""

from math import pi, sqrt

from formiga.studies import harness
from formiga.studies.harness import Published, compare

PERIOD = Published("Table 1", {"1 m": 2.006}, 0.001, "the table has three decimals")


class Study(harness.Study):
    """No world, no robots."""

    def rows(self, full, workers):
        (period,) = workers.map(lambda length: 2.0 * pi * sqrt(length / 9.81), [1.0])
        yield from compare("period (s) of", PERIOD, {"1 m": period if not full else 3.0})
'''


PAPER = 'id = "R99"\ntitle = "How long it swings"\nauthors = ["C. Huygens"]\nyear = 1673\nvenue = "Paris"\n'


@pytest.fixture
def pendulum(tmp_path):
    """A function that runs formiga in a process that has one more study, which has no world."""
    folder = tmp_path / "studies" / "pendulum"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""How long it swings."""\n')
    (folder / "paper.toml").write_text(PAPER)
    (folder / "study.py").write_text(PENDULUM)
    script = ("import sys, formiga.studies as s; s.__path__.append(sys.argv.pop(1)); "
              "from formiga.__main__ import main; sys.exit(main())")

    def formiga(*words):
        return subprocess.run([sys.executable, "-c", script, str(folder.parent), *words], capture_output=True, text=True,
                              cwd=tmp_path, env=os.environ)

    return formiga


def test_a_study_without_a_world_is_listed_and_runs(pendulum, tmp_path):
    listed = pendulum("list", "studies")
    lines = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    assert ["pendulum", "R99, How long it swings [C. Huygens, 1673]"] in lines, listed.stderr
    done = pendulum("study", "pendulum", "--json", "result.json", "--out", "figures")
    assert done.returncode == 0 and "1 met, 0 missed" in done.stdout, done.stderr
    (row,) = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert row["where"] == "Table 1" and row["ours"] == pytest.approx(2.006, abs=1e-3)
    assert [each.name for each in (tmp_path / "figures").iterdir()] == ["pendulum.json"]


def test_a_study_without_a_world_may_miss_its_numbers(pendulum):
    done = pendulum("study", "pendulum", "--full")
    assert done.returncode == 1 and "missed: period (s) of 1 m: the table has three decimals" in done.stdout


def test_a_study_that_does_not_exist_is_refused():
    with pytest.raises(FormigaError, match=r"there is no study 'swarmot'\. Did you mean 'swarmod'"):
        studies.run("swarmot")


def test_an_output_folder_that_cannot_be_made_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("x")

    class Begun(harness.Study):
        def rows(self, full, workers):
            raise AssertionError("the work was begun")

    with pytest.raises(FormigaError, match="cannot be made a folder"):
        harness.run("fake", Begun(), False, 1, None, tmp_path / "file" / "below")


def test_a_json_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FormigaError, match="cannot be written"):
        harness.run("fake", fake(Row("a", 1, 1)), False, 1, str(tmp_path / "folder"), None)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"] and not list((tmp_path / "folder").iterdir())


# -- numbers in the manual ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("text", "ours", "same"), [
    ("0.16", 0.1604, True), ("0.1604", 0.16042, True), ("0.161", 0.1604, False), ("3", 3, True), ("4", 3, False),
    ("-0.03", -0.026, True), ("yes", "yes", True), ("yes", "no", False), ("1.7, 5", "1.7, 5", True),
    ("yes", True, True), ("no", True, False)])
def test_a_number_of_a_page_is_that_of_the_study_rounded_to_its_digits(text, ours, same):
    assert pages.same(text, ours) is same


def test_a_page_with_another_number_or_an_unknown_claim_is_named(monkeypatch):
    monkeypatch.setattr(pages, "tables", lambda study: [("a.md", "way (m)", "0.17"), ("a.md", "weight", "1")])
    with pytest.raises(AssertionError, match=r"a.md: way \(m\): the page has 0.17, the study 0.16\na.md: 'weight' is no row"):
        pages.check_pages("any", [{"claim": "    way (m)", "ours": 0.16}])
