"""Worlds by name: shipped ones, and those of studies. One rule, whatever asks."""

from __future__ import annotations

import pytest

from formiga.errors import WorldError
from formiga.world import shipped
from formiga.world.shipped import known_worlds, named_world, shipped_worlds, study_worlds, world_file

WORLD = '<world name="w"><arena width="1" depth="1"/></world>'


@pytest.fixture
def study(tmp_path, monkeypatch):
    """study(name, files, listed) makes the folder of a study beside the shipped ones."""
    there = dict(shipped.study_folders())
    monkeypatch.setattr(shipped, "study_folders", lambda: there)

    def make(name, *files, listed=()):
        folder = there[name] = tmp_path / name
        folder.mkdir()
        (folder / "paper.toml").write_text(f"worlds = {list(listed)!r}" if listed else "")
        for file in files:
            (folder / f"{file}.xml").write_text(WORLD)
        return folder

    return make


def test_a_study_s_name_is_its_main_world_and_the_others_have_their_files_names(study):
    folder = study("maze", "known", "world", "unknown", listed=["corral"])
    assert list(study_worlds(folder)) == ["maze", "maze/known", "maze/unknown", "corral"]
    assert named_world("maze") == named_world("maze/world") == folder / "world.xml"
    assert named_world("maze/known") == folder / "known.xml" and named_world("maze/corral") is None
    assert world_file("maze/unknown") == str(folder / "unknown.xml")
    assert {"maze", "maze/known", "maze/unknown", "corral"} <= set(known_worlds())
    assert len(set(known_worlds().values())) == len(known_worlds())  # each once


def test_without_a_main_world_the_name_is_the_first_file_else_the_first_that_is_listed(study):
    folder = study("maze", "unknown", "known")
    assert named_world("maze") == folder / "known.xml"
    study("paths", listed=["mixed", "corral"])
    assert named_world("paths") == shipped_worlds()["mixed"]


def test_a_shipped_world_keeps_its_name(study):
    folder = study("corral", "world")
    assert named_world("corral") == shipped_worlds()["corral"]
    assert named_world("corral/world") == folder / "world.xml" == known_worlds()["corral/world"]


def test_a_study_whose_paper_is_not_right_hides_no_other_world_and_no_other_mistake(study):
    (study("odd", "world") / "paper.toml").write_text("title =")
    told = []
    known = known_worlds(told.append)
    assert {"corral", "bootstrap"} <= set(known) and "odd" not in known
    assert len(told) == 1 and "odd" in str(told[0]) and "Invalid value" in str(told[0])
    with pytest.raises(WorldError, match=r"there is no world 'corall'\. Did you mean 'corral'\?"):
        world_file("corall")
    with pytest.raises(WorldError, match="Invalid value"):
        world_file("odd")


def test_a_misspelt_world_of_a_study_gets_a_suggestion_and_a_missing_file_none():
    with pytest.raises(WorldError, match=r"swarmodd/world: no such file\. Did you mean 'swarmod/world'\?"):
        world_file("swarmodd/world")
    assert world_file("nowhere/of/mine") == "nowhere/of/mine"


def test_a_file_comes_before_a_name(study, tmp_path, monkeypatch):
    folder = study("maze", "world")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bootstrap").write_text(WORLD)
    assert world_file("bootstrap") == "bootstrap"
    assert world_file("maze") == str(folder / "world.xml")  # a folder of that name is none
    assert world_file("maze/world.xml") == "maze/world.xml"


@pytest.mark.parametrize("name, words", [
    ("maze/knwon", "the study 'maze' has no world 'maze/knwon'. Did you mean 'maze/known'? Its worlds: maze."),
    ("pure", "the study 'pure' has no world; `formiga view pure` shows its result."),
    ("pure/world", "the study 'pure' has no world 'pure/world'. It has no world."),
    ("maz", "there is no world 'maz'. Did you mean 'maze'? Shipped worlds: aggregate, "),
    ("coral", "Did you mean 'corral'?"),
    ("bootstap", "Did you mean 'bootstrap'?"),
])
def test_a_name_that_is_none_gets_a_suggestion(study, name, words):
    study("maze", "known")
    study("pure")
    with pytest.raises(WorldError) as refused:
        world_file(name)
    assert words in str(refused.value)
