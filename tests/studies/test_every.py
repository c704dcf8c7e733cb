"""`formiga study --all`: it goes on after a failure, stops after Ctrl-C with what is done, and then goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import html

from formiga.errors import FormigaError
from formiga.studies import every
from formiga.studies.every import How, run_all
from tests.studies.shelf import MISSED


@pytest.fixture
def said():
    return []


@pytest.fixture
def go(shelf, said, tmp_path):
    """Run all into one folder; the exit code."""
    return lambda **how: run_all(How(**{"full": False, "out": tmp_path / "out"} | how), say=said.append)


def reported(tmp_path):
    page = html.fromstring((tmp_path / "out" / "studies.html").read_text(encoding="utf-8"))
    return {each.get("id").removeprefix("paper-"): each for each in page.iter("article")}


def test_there_is_a_line_for_each_study_and_a_report_with_all_rows(shelf, go, said, tmp_path):
    shelf.add("good", drawn=True)
    shelf.add("wide", MISSED)
    assert go() == 1
    assert [" ".join(line.split()[:7]) for line in said[:2]] == ["good 1 met 0 missed 1 reported",
                                                                 "wide 0 met 1 missed 1 reported"]
    assert said[2] == f"report: {tmp_path / 'out' / 'studies.html'}"
    articles = reported(tmp_path)
    assert list(articles) == ["good", "wide"] and "too wide" in articles["wide"].text_content()
    assert len(articles["good"].xpath(".//figure/img[starts-with(@src, 'data:image/webp;base64,')]")) == 1
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["good.json", "good.png", "studies.html", "wide.json"]


def test_all_met_ends_with_0(shelf, go):
    shelf.add("good")
    assert go() == 0


@pytest.mark.parametrize("body, words", [
    ("yield 1 / 0", "ZeroDivisionError: division by zero (study.py:11)"),
    ("from formiga.errors import FormigaError; raise FormigaError('no data <here>')", "no data <here>"),
])
def test_a_study_that_fails_is_said_and_the_others_go_on(shelf, go, said, tmp_path, body, words):
    shelf.add("bad", body)
    shelf.add("good")
    assert go() == 1
    assert said[0] == f"bad   failed: {words}" and said[1].startswith("good     1 met")
    assert words in reported(tmp_path)["bad"].text_content()
    assert not (tmp_path / "out" / "bad.json").exists()


def test_a_study_whose_paper_is_not_right_is_said_and_the_others_go_on(shelf, go, said, tmp_path):
    file = shelf.add("bad") / "paper.toml"
    file.write_text("title =")
    shelf.add("good")
    assert go() == 1
    assert said[0] == f"failed: {file}: Invalid value (at end of document)." and said[1].startswith("good     1 met")
    assert list(reported(tmp_path)) == ["good"]
    assert str(file) in html.fromstring((tmp_path / "out" / "studies.html").read_text(encoding="utf-8")).text_content()


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on_with_the_rest(shelf, go, said, tmp_path, monkeypatch):
    shelf.add("a")
    shelf.add("b", "raise KeyboardInterrupt")
    shelf.add("c")
    with pytest.raises(KeyboardInterrupt):
        go()
    assert said[-1].startswith("interrupted: 1 of 3 studies are done")
    assert json.loads((tmp_path / "out" / "a.json").read_text())["study"] == "a"
    articles = reported(tmp_path)
    assert "length (m)" in articles["a"].text_content() and "It was not run." in articles["c"].text_content()
    ran = []
    monkeypatch.setattr(every.harness, "perform", lambda study, *given: ran.append(study.__module__) or ([], 0.0))
    assert go() == 0
    assert ran == ["formiga.studies.b.study", "formiga.studies.c.study"]


@pytest.mark.parametrize("change, again", [
    (lambda found: found, False),
    (lambda found: found | {"formiga": "0.0.1"}, True),
    (lambda found: found | {"form": "full"}, True),
    (lambda found: found | {"figures": ["good"]}, True),  # which is not there
    (lambda found: found | {"study": "another"}, True),
    (lambda found: [], True),
])
def test_a_result_of_another_version_or_form_or_a_damaged_one_is_made_again(shelf, go, said, tmp_path, change, again):
    shelf.add("good")
    go()
    file = tmp_path / "out" / "good.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    said.clear()
    go()
    assert ("was there" in said[0]) is not again and len(said) == 3 - (not again or len(said) == 2)
    assert json.loads(file.read_text())["form"] == "quick"
    said.clear()
    go(again=True)
    assert "was there" not in said[0]


def test_keep_also_puts_the_results_where_the_gallery_shows_them(shelf, go, said):
    folder = shelf.add("good", drawn=True)
    go()
    go(keep=True)
    assert not [line for line in said if "was there" in line]  # one that is not kept yet is run again,
    go(keep=True)
    assert [line for line in said if "was there" in line]      # one that is kept is not
    assert sorted(each.name for each in (folder / "result").iterdir()) == ["good.webp", "result.json"]


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(shelf, said):
    shelf.add("good", "raise AssertionError('it was run')")
    with pytest.raises(FormigaError, match="cannot be made a folder"):
        run_all(How(False, Path("/proc/nowhere")), say=said.append)
    assert not said
