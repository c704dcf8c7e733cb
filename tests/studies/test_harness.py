"""The harness of studies, on a study of our own: verdicts, tables, JSON, exit codes."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from formiga import studies
from formiga.errors import FormigaError
from formiga.studies import harness
from formiga.studies.harness import Published, Row, at_most, compare, reported


def fake(*rows, figure=None):
    study = SimpleNamespace(rows=lambda full, jobs: iter(rows), RUNS=3)
    if figure:
        study.figure = figure
    return study


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


def test_origins_are_never_mixed_in_one_table(capsys):
    rows = [Row("from paper", 1, 1), Row("derived", 1, 1, origin="reconstructed"), Row("must hold", 1, 1, origin="law")]
    harness.run("fake", fake(*rows), False, 1, None, None)
    printed = capsys.readouterr().out
    texts = ("Published numbers", "from paper", "Reconstructed", "derived", "Laws", "must hold")
    places = [printed.index(text) for text in texts]
    assert places == sorted(places)


def test_the_figure_is_drawn_only_where_it_is_wanted(tmp_path, capsys):
    drawn = []
    study = fake(Row("a", 1, 1), figure=drawn.append)
    harness.run("fake", study, False, 1, None, None)
    assert drawn == []
    harness.run("fake", study, False, 1, None, tmp_path)
    assert drawn == [tmp_path / "fake.png"]


def test_a_study_that_does_not_exist_is_refused():
    with pytest.raises(FormigaError, match=r"there is no study 'swarmot'\. Did you mean 'swarmod'"):
        studies.run("swarmot")


def test_an_output_folder_that_cannot_be_made_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("x")

    def rows(full, jobs):
        raise AssertionError("the work was begun")
        yield

    with pytest.raises(FormigaError, match="cannot be made a folder"):
        harness.run("fake", SimpleNamespace(rows=rows), False, 1, None, tmp_path / "file" / "below")


def test_a_json_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FormigaError, match="cannot be written"):
        harness.run("fake", fake(Row("a", 1, 1)), False, 1, str(tmp_path / "folder"), None)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"] and not list((tmp_path / "folder").iterdir())
