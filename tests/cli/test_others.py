"""formiga check, list, schema, bench and study."""

import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from lxml import etree

from formiga.cli.list import ROLES, details
from formiga.lab import known_worlds, shipped_worlds
from formiga.world.elements import registered
from tests.studies.shelf import shelf

__all__ = ["shelf"]


# -- check ------------------------------------------------------------------------------------------------------------
def test_check_says_what_is_in_each_world(call):
    result = call("check", "corral", shipped_worlds()["mixed"])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "corral: ok: 20 robots in 1 group, 6 obstacles, planar",
        f"{shipped_worlds()['mixed']}: ok: 12 robots in 2 groups, 5 obstacles, planar"]


def test_check_looks_at_every_file_and_ends_with_2_if_one_is_wrong(call, tmp_path):
    (tmp_path / "bad.xml").write_text("<world>\n  <arena width='1m' depth='1kg'/>\n</world>")
    result = call("check", tmp_path / "none.xml", "line", tmp_path / "bad.xml")
    assert (result.exit_code, result.stdout) == (2, "line: ok: 1 robot in 1 group, 0 obstacles, planar\n")
    assert [line.removeprefix(f"formiga: {tmp_path}/").split(": ")[0] for line in result.stderr.splitlines()] == [
        "none.xml", "bad.xml:2"]


@pytest.mark.parametrize("inside, words", [
    ("<sbot count='100'/>", "w.xml:1: 100 robots of radius 0.058 m do not fit in 1 m x 1 m; placed "),
    ("<sbot><at x='0.5' y='0'/></sbot>", "stands in a wall or an obstacle"),
    ("<sbot><braitenberg/></sbot>", "reads 'proximity', but the robots carry: none"),
    ("<sbot><proximity samples='w.xml'/></sbot>", "w.xml: a table needs at least two samples"),
])
def test_check_finds_what_only_placing_sensing_and_deciding_can_find(refused, inside, words, tmp_path):
    (tmp_path / "w.xml").write_text(f"<world><arena width='1' depth='1'/>{inside}</world>")
    assert words in refused("check", tmp_path / "w.xml")


def test_a_complaint_quotes_no_character_that_commands_the_terminal(refused, tmp_path):
    (tmp_path / "world.xml").write_text('<world name="a&#x9b;2J&#x202e;é"/>', "utf-8")
    assert r"name: 'a\x9b2J\u202eé' is not a name" in refused("check", tmp_path / "world.xml")


def test_check_without_a_world_is_a_usage_error(call):
    assert call("check").exit_code == 2


# -- list -------------------------------------------------------------------------------------------------------------
def test_list_has_a_line_for_every_registered_element(call):
    for section, role in [("robots", "robot"), ("sensors", "sensor"), ("controllers", "controller"),
                          ("placements", "placement"), ("things", "thing"), ("settings", "setting"), ("page", "page")]:
        lines = call("list", section).stdout.splitlines()
        assert [line.split()[0] for line in lines] == list(registered(role))


def test_list_cuts_no_sentence_short(call):
    for section in ("robots", "sensors", "controllers", "placements", "things", "actuators", "settings", "searches", "page"):
        for line in call("list", section).stdout.splitlines():
            assert line.rstrip().endswith((".", "]", ")")), line


def test_a_recording_given_as_a_world_is_told_apart(refused, tmp_path):
    path = tmp_path / "run.parquet"
    path.write_bytes(b"PAR1\x15\x04")
    for command in ("check", "run"):
        assert refused(command, path) == f"{path}: is a recording, not a world; `formiga view {path}` plays it."


def test_list_shows_every_shipped_world_and_those_of_studies_with_their_one_line(call):
    lines = call("list", "worlds").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(known_worlds())
    assert set(shipped_worlds()) | {"bootstrap", "swarmod/world"} <= set(known_worlds())
    assert all(len(line.split()) > 3 for line in lines)


def test_list_tells_which_study_is_not_right_once_and_shows_the_others(call, shelf):
    shelf.add("good")
    file = shelf.add("odd") / "paper.toml"
    (shelf.folder / "odd" / "world.xml").write_text("<world")
    for damage, words in (("title =", "Invalid value (at end of document)."),
                          ("worlds = [3]", "'worlds' must be a list of texts, of at least one, not [3].")):
        file.write_text(f'id = "R1"\ntitle = "T"\nauthors = ["A"]\nyear = 2001\nvenue = "V"\n{damage}')
        result = call("list")
        assert "  good  R50, Of good" in result.stdout and "  corral " in result.stdout and "\nbenches\n" in result.stdout
        assert (result.exit_code, result.stderr) == (2, f"formiga: {file}: {words}\n")
    assert call("list", "studies", "good").exit_code == 0


def test_list_without_a_section_has_all_of_them(call):
    words = call("list").stdout
    assert [line for line in words.splitlines() if line and not line.startswith(" ")] == [
        section for section in ("worlds", "robots", "sensors", "links", "estimators", "controllers", "placements", "things",
                                "actuators", "settings", "fitness", "searches", "page", "studies", "benches")
        if section != "actuators" or registered("actuator")]
    assert "  swarmod" in words.split("\nstudies")[1] and "  avoid24" in words.split("benches")[1]


def test_list_of_one_sensor_shows_its_attributes_with_units_defaults_and_words(call):
    lines = call("list", "sensors", "proximity").stdout.splitlines()
    assert "  reach      a length, above 0 m; default 0.15 m; measured from the sensor" in lines
    assert ("  samples    a file; optional; your own table instead: CSV lines 'distance in m, reading'; with technique "
            "sampling also 'distance in m, angle in rad, reading'") in lines
    assert "profile draft: mount 0.06, share 0.35, noise 0.15 0.2, ambient 4" in lines


def test_list_of_one_robot_shows_what_must_be_given_and_what_its_group_has(call):
    lines = [line.split() for line in call("list", "robots", "disc").stdout.splitlines()]
    assert "required;" in next(line for line in lines if line[0] == "wheel_base")
    assert "robots;" in next(line for line in lines if line[0] == "count")


def test_list_of_one_element_tells_how_python_imports_it(call):
    for section, role in ROLES.items():
        ours = {tag: known for tag, known in registered(role).items() if known.cls.__module__.startswith("formiga.")}
        for tag, known in ours.items():
            line = details(section, tag, known.doc)[-1]
            space = {}
            exec(line.removeprefix("in Python: "), space)
            assert space[known.cls.__name__] is known.cls
    assert call("list", "estimators", "odometry").stdout.endswith("in Python: from formiga.estimate.odometry import Odometry\n")


def test_list_shows_elements_of_studies_before_a_world_has_named_one():
    command = [sys.executable, "-m", "formiga", "list", "estimators", "three_state"]      # in a process that has read no world
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0 and found.stdout.startswith("Three-state collaborative Monte Carlo localization")
    assert "in Python: from formiga.studies.three_state.elements import ThreeState\n" in found.stdout
    assert "default 1000000;" in found.stdout


def test_list_of_one_world_shows_its_params(call):
    lines = call("list", "worlds", "corral").stdout.splitlines()
    assert "20 robots in 1 group, 6 obstacles, planar" in lines and "  robots  param, default 20" in lines


def test_list_of_something_unknown_gets_a_suggestion(refused, call):
    assert "there is no 'proximty' among the sensors. Did you mean 'proximity'?" in refused("list", "sensors", "proximty")
    assert call("list", "gadgets").exit_code == 2


def test_list_shows_a_users_own_elements(call):
    own = call("list", "sensors", "--with", "examples/02_own_elements.py").stdout
    assert "whiskers" in own and "Two feelers" in own


# -- schema -----------------------------------------------------------------------------------------------------------
def test_the_schema_accepts_every_shipped_world(call, tmp_path):
    assert call("schema", "--out", tmp_path / "formiga.xsd").output == ""
    schema = etree.XMLSchema(etree.parse(tmp_path / "formiga.xsd"))
    for file in shipped_worlds().values():
        schema.assertValid(etree.parse(file))
    assert call("schema").stdout == (tmp_path / "formiga.xsd").read_text()


def test_a_schema_that_cannot_be_written_is_refused(refused, tmp_path):
    assert "cannot be written" in refused("schema", "--out", tmp_path / "missing" / "x.xsd")
    assert "cannot be written" in refused("schema", "--out", tmp_path)


# -- bench and study: what they hand on -------------------------------------------------------------------------------
@pytest.fixture
def handed(monkeypatch, tmp_path):
    """What the benchmarks and studies were called with."""
    calls = []
    benches = SimpleNamespace(BENCHES={"fast": "...", "slow": "..."}, run=lambda *a: calls.append(a))
    monkeypatch.setitem(sys.modules, "formiga.benchmarks", benches)
    monkeypatch.setattr("formiga.studies.folders", lambda: {"ants": tmp_path})
    monkeypatch.setattr("formiga.studies.run", lambda *a: calls.append(a) or 1)
    return calls


def test_sigterm_ends_a_bench_as_ctrl_c_does_with_its_own_exit_code(call, monkeypatch):
    """What it has started is closed, and not left behind."""
    closed = []

    def run(*given):
        try:
            signal.raise_signal(signal.SIGTERM)
            time.sleep(60)
        finally:
            closed.append(True)

    monkeypatch.setitem(sys.modules, "formiga.benchmarks", SimpleNamespace(BENCHES={"slow": "..."}, run=run))
    before = signal.getsignal(signal.SIGTERM)
    try:
        result = call("bench", "slow")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (result.exit_code, result.stderr, closed) == (143, "formiga: interrupted\n", [True])


def test_bench_runs_what_is_named_or_everything(call, handed, tmp_path):
    file = tmp_path / "b.json"
    assert call("bench").exit_code == call("bench", "slow", "--full", "--json", file).exit_code == 0
    assert handed == [(["fast", "slow"], None, False), (["slow"], str(file), True)]


def test_study_ends_with_the_studys_own_exit_code(call, handed):
    assert call("study", "ants", "--full", "--jobs", 2, "--out", "figures").exit_code == 1
    assert call("study", "ants", "--cluster", "tcp://host:1").exit_code == 1
    assert call("study", "ants", "--keep").exit_code == 1
    assert handed == [("ants", True, 2, None, "figures", None, False), ("ants", False, 1, None, None, "tcp://host:1", False),
                      ("ants", False, 1, None, None, None, True)]


@pytest.mark.parametrize("arguments, words", [
    (("bench", "fats"), "there is no bench 'fats'. Did you mean 'fast'?"),
    (("study", "ant"), "there is no study 'ant'. Did you mean 'ants'?"),
    (("bench", "--json", "/proc/x"), "/proc/x: cannot be written"),
    (("study", "ants", "--json", "/proc/x"), "/proc/x: cannot be written"),
    (("study",), "which study? There are: ants; --all runs all of them."),
    (("study", "ants", "--all"), "--all runs all studies, 'ants' among them; give a NAME or --all."),
    (("study", "--all", "--json", "x.json"), "--json is for one study; with --all each has its NAME.json"),
    (("study", "ants", "--again"), "--again is for --all; one study is always run."),
])
def test_bench_and_study_refuse_what_cannot_be_before_they_start(refused, handed, arguments, words):
    assert words in refused(*arguments)
    assert handed == []
