"""formiga run: the summary, the recording, and every way to ask for something that cannot be."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import formiga
from formiga.cli import progress
from formiga.cli.run import summarise
from formiga.kernels import cache
from formiga.world.own import module_name

BROKEN = """
from dataclasses import dataclass
from formiga.world.elements import element, number

@element("broken", role="controller")
@dataclass(frozen=True)
class Broken:
    '''Divides.'''
    by: float = number(0.0)

    def decide(self, view):
        return 1.0 / self.by
"""


# -- what it says -----------------------------------------------------------------------------------------------------
def test_the_default_world_runs_and_the_summary_says_how_it_went(call):
    result = call("run", "--seconds", 2)
    words = result.stdout.splitlines()
    assert result.exit_code == 0 and words[0].split() == ["corral", "20", "robots,", "1", "world,", "seed", "0,", "planar"]
    assert [line.split("  ")[0] for line in words[1:]] == ["simulated", "speed", "crashes", "worlds ended"]
    assert words[1].split()[1:4] == ["2.0", "s", "in"]


def test_the_json_summary_is_that_of_the_same_run_from_python(call, tmp_path):
    file = tmp_path / "summary.json"
    assert call("run", "mixed", "--seconds", 3, "--seed", 9, "--worlds", 4, "--json", file).exit_code == 0
    ours = summarise(formiga.simulate("mixed", 3.0, seed=9, worlds=4), 4, None, 3.0)
    theirs = json.loads(file.read_text())
    timed = {"start_seconds", "elapsed_seconds", "real_time_factor", "robot_steps_per_s"}
    assert theirs.keys() == ours.keys()
    assert {key: value for key, value in theirs.items() if key not in timed} == {
        key: value for key, value in ours.items() if key not in timed}
    assert theirs["robot_steps"] == 4 * 30 * 12


def test_out_gets_a_recording_and_a_summary_and_nothing_else(call, tmp_path):
    out = tmp_path / "new" / "folder"
    result = call("run", "corral", "--seconds", 1, "--seed", 3, "--every", 4, "--out", out)
    assert sorted(os.listdir(out)) == ["run.parquet", "summary.json"]
    recording = formiga.read_recording(out / "run.parquet")
    assert (recording.seed, recording.steps.tolist(), recording.ending) == (3, [0, 4, 8, 10], "complete")
    assert str(out / "run.parquet") in result.stdout
    assert json.loads((out / "summary.json").read_text())["recording"] == str(out / "run.parquet")


def test_set_replaces_params(call, tmp_path):
    call("run", "corral", "--set", "robots=3", "--set", "side=3", "--seconds", 0.1, "--out", tmp_path)
    world = formiga.read_recording(tmp_path / "run.parquet").world
    assert (world.robots, world.arena.width) == (3, 3.0)


def test_quiet_prints_nothing(call, tmp_path):
    result = call("run", "line", "--seconds", 1, "--quiet", "--out", tmp_path)
    assert (result.exit_code, result.output) == (0, "")


def test_what_is_compiled_is_named_once_and_only_if_it_takes_long(monkeypatch):
    said, waiting = [], []

    class Timer:
        """One that the test lets run out."""

        def __init__(self, seconds, then):
            self.start, self.cancel = lambda: waiting.append(then), waiting.clear

    monkeypatch.setattr(progress.threading, "Timer", Timer)
    with progress.Compiling(said.append):
        for module in ("formiga.engine.above.beams", "formiga.engine.planar.contact", "formiga.engine.above.beams"):
            for listener in cache.listeners:
                listener(module)
        assert said == [] and len(waiting) == 1
        waiting[0]()
        cache.listeners[-1]("formiga.sense.proximity")
        cache.listeners[-1]("formiga.engine.above.beams")
        cache.listeners[-1](module_name("/somewhere/my_flock.py"))
    assert said == [f"{progress.COMPILING} above beams, planar contact", "compiling sense proximity", "compiling my_flock.py"]
    assert not cache.listeners and not waiting


def test_what_is_compiled_already_is_not_told(call):
    call("run", "line", "--seconds", 0.1)  # compiled by now
    assert call("run", "line", "--seconds", 5).stderr == ""


# -- what it refuses --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "0", "-1", "1e308"])
def test_a_time_that_cannot_be_simulated_is_refused_and_nothing_is_written(refused, seconds, tmp_path):
    message = refused("run", "line", f"--seconds={seconds}", "--out", tmp_path / "a", "--json", tmp_path / "b")
    assert message.endswith("s cannot be simulated; the time must be above 0.") or seconds == "1e308"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("option", ["--seed=-1", "--seed=x", f"--seed={2**63}", "--worlds=0", "--worlds=1.5", "--threads=0",
                                    "--every=0", "--seconds=soon", "--set=robots", "--set==3", "--nonsense"])
def test_an_option_that_makes_no_sense_is_a_usage_error(call, option):
    result = call("run", "line", option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0].startswith("Usage: formiga run") and "Error: " in result.stderr


def test_unknown_worlds_engines_and_params_get_a_suggestion(refused):
    assert "there is no world 'coral'. Did you mean 'corral'? Shipped worlds: aggregate" in refused("run", "coral")
    assert "there is no engine 'plannar'. Did you mean 'planar'?" in refused("run", "--engine", "plannar")
    assert "there is no param 'robbots' to set. Did you mean 'robots'?" in refused("run", "--set", "robbots=3")


def test_files_that_cannot_be_read_are_refused(refused, tmp_path):
    assert refused("run", tmp_path / "none.xml").endswith("none.xml: no such file.")
    assert refused("run", tmp_path).endswith("is a directory; a world is one XML file.")
    (tmp_path / "bad.xml").write_text("<world>\n<arena width='1'/>\n</world>")
    assert "bad.xml:2: <arena> needs 'depth'" in refused("run", tmp_path / "bad.xml")


@pytest.mark.parametrize("option, path, words", [
    ("--out", "file", "is a file; results need a folder"),
    ("--out", "file/below", "cannot be made (Not a directory)"),
    ("--out", "bad", "bad/summary.json: is a folder"),
    ("--out", "/proc/formiga", "cannot be made"),
    ("--json", "missing/x.json", "cannot be written (No such file or directory)"),
    ("--json", "bad", "is a folder; a file is needed"),
    ("--json", "/proc/x.json", "cannot be written"),
    ("--json", "x" * 300, "cannot be written (File name too long)"),
])
def test_an_output_that_cannot_be_written_is_refused_before_the_run(refused, option, path, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "bad" / "summary.json").mkdir(parents=True)
    assert words in refused("run", "line", "--seconds", 1e9, option, path)  # a run that started would not end
    assert sorted(os.listdir(tmp_path)) == ["bad", "file"] and (tmp_path / "file").read_text() == "mine"


def test_more_robots_than_the_memory_holds_are_refused_at_once(refused):
    assert "need at least" in refused("run", "corral", "--worlds", 1_000_000, "--set", "robots=100000")


def test_sensors_that_read_more_than_the_memory_holds_are_refused_at_once_with_their_line(refused, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PHYS_PAGES": 2**20}.get(name, 4096))  # 4 GB, whatever there is
    angles = " ".join(map(str, range(4096)))
    for sensor in ('<scanner beams="4096"/>', f'<proximity angles="{angles}"/>'):
        (tmp_path / "world.xml").write_text('<world><arena width="1000" depth="1000"/>\n<sbot count="100000" name="ants">'
                                            f"<grid spacing=\"1\"/>\n{sensor}</sbot></world>")
        words = refused("run", tmp_path / "world.xml")
        assert "world.xml:3: <" in words and "what the robots in all worlds read needs at least 6 GB of memory" in words


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8), max_size=4))
def test_whatever_is_typed_ends_with_2_and_no_traceback(call, words):
    """Words after a world that does not exist, so none of them can make a run start."""
    result = call("run", "no such world", *words)
    assert result.exit_code in (0, 2)
    assert result.exit_code == 2 or "--help" in words or "-h" in words


# -- a user's own code ------------------------------------------------------------------------------------------------
WORLD = '<world><arena width="1" depth="1"/><sbot><broken/></sbot></world>'


def test_an_error_in_the_users_own_controller_is_one_line_with_its_place(refused, tmp_path):
    (tmp_path / "mine.py").write_text(BROKEN)
    (tmp_path / "w.xml").write_text(WORLD)
    message = refused("run", tmp_path / "w.xml", "--with", tmp_path / "mine.py")
    assert message == f"{tmp_path}/mine.py:12: ZeroDivisionError: float division by zero"


def test_an_error_of_ours_keeps_its_traceback(call, monkeypatch):
    monkeypatch.setattr("formiga.lab.simulate", lambda *_, **__: 1 / 0)
    result = call("--debug", "run")
    assert result.exit_code != 0 and result.stderr.startswith("Traceback")
    assert "\nZeroDivisionError: division by zero\n" in result.stderr


def test_a_world_file_alone_never_runs_code(refused, tmp_path):
    (tmp_path / "mine.py").write_text(BROKEN)
    (tmp_path / "w.xml").write_text(WORLD)
    assert "<broken> is unknown" in refused("run", tmp_path / "w.xml")


def test_save_in_a_script_keeps_comments_params_and_counts(call, tmp_path):
    """As the laboratory does; only what has changed is written as a number."""
    text = ('<!-- mine -->\n<world name="own" seconds="1">\n  <param name="n" value="2"/>  <!-- how many -->\n'
            '  <arena width="2" depth="${n}"/>\n  <cylinder x="${n/4}" y="30cm" radius="15cm" name="post"/>\n'
            '  <sbot count="${n}">\n    <scatter/>\n  </sbot>\n</world>\n')
    (tmp_path / "own.xml").write_text(text)
    (tmp_path / "s.fsh").write_text(f"move post 0.3 -0.5\nsave {tmp_path}/saved.xml\n")
    result = call("run", tmp_path / "own.xml", "--script", tmp_path / "s.fsh", "--engine", "spatial", "--set", "n=3")
    assert result.exit_code == 0 and "could not be kept" not in result.stdout
    saved = (tmp_path / "saved.xml").read_text()
    changed = text.replace('value="2"', 'value="3"').replace('x="${n/4}" y="30cm"', 'x="0.3" y="-0.5"')
    assert saved.partition("\n")[2] == changed.replace('seconds="1"', 'seconds="1" engine="spatial"')
