"""formiga run --script: what goes where, how it ends, and what is left."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest

import formiga
from tests.cli.test_processes import PIPES, wait_for_rows

LAMPS = """<world name="lamps" dt="0.1" seconds="3">
  <arena width="2" depth="2"/><lamp x="-0.5" y="0" name="west"/><lamp x="0.5" y="0" on="false" name="east"/>
  <sbot count="2" name="swarm"><scatter/><light/><braitenberg sensor="light" light="light" pull="1"/></sbot></world>"""


@pytest.fixture
def lamps(tmp_path, monkeypatch):
    """A current folder with a world of two lamps, and a script that switches them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lamps.xml").write_text(LAMPS)
    (tmp_path / "phases.fsh").write_text("echo west\nwait 1\ndisable west; enable east\necho \"east at $time s\"\n")
    return tmp_path


def told(stderr):
    """The lines of stderr but those on compiling."""
    return [line for line in stderr.splitlines() if not line.startswith("compiling")]


def test_what_the_script_says_comes_before_the_summary(call, lamps):
    result = call("run", "lamps.xml", "--script", "phases.fsh")
    lines = result.stdout.splitlines()
    assert (result.exit_code, told(result.stderr)) == (0, []) and lines[:2] == ["west", "east at 1 s"]
    assert lines[2].split()[:3] == ["lamps", "2", "robots,"] and lines[3].split()[:4] == ["simulated", "3.0", "s", "in"]


def test_quiet_says_nothing_at_all(call, lamps):
    result = call("run", "lamps.xml", "--script", "phases.fsh", "--quiet", "--out", "out")
    assert (result.exit_code, result.output) == (0, "")


def test_the_recording_and_the_summary_are_those_of_the_run(call, lamps):
    result = call("run", "lamps.xml", "--script", "phases.fsh", "--out", "out", "--seed", 3, "--json", "a.json")
    assert result.exit_code == 0 and sorted(os.listdir("out")) == ["run.parquet", "summary.json"]
    recording, summary = formiga.read_recording("out/run.parquet"), json.loads((lamps / "out" / "summary.json").read_text())
    assert recording.touched and recording.steps[-1] == 30 and recording.seed == summary["seed"] == 3
    assert summary == json.loads((lamps / "a.json").read_text())
    assert (summary["simulated_seconds"], summary["robot_steps"]) == (pytest.approx(3.0), 60)
    assert summary["recording"] == "out/run.parquet" and str(summary["recording"]) in result.stdout
    plain = formiga.simulate("lamps.xml", 1.0, seed=3)
    assert np.array_equal(recording.poses().x[10, 0], plain.state.position[0, :, 0])


def test_a_script_that_changes_nothing_leaves_a_recording_that_can_be_run_again(call, lamps):
    (lamps / "look.fsh").write_text("list; wait 1; info swarm.0\n")
    assert call("run", "lamps.xml", "--script", "look.fsh", "--out", "out").exit_code == 0
    assert formiga.read_recording("out/run.parquet").replay() is None


def test_a_run_that_is_too_short_for_its_script_is_mentioned(call, lamps):
    result = call("run", "lamps.xml", "--script", "phases.fsh", "--seconds", 0.5)
    assert result.exit_code == 0
    assert result.stderr == "formiga: phases.fsh: it was not at its end after 0.5 s; --seconds makes the run longer.\n"


@pytest.mark.parametrize("text, words", [("speed fast", "bad.fsh:1: speed: FACTOR 'fast' is not a number."),
                                         ("\n\nspede 3", "bad.fsh:3: there is no command 'spede'. Did you mean 'speed'?"),
                                         ("echo 'open", "bad.fsh:1: a ' opens here"),
                                         ("undo", "bad.fsh:1: there is nothing to undo.")])
def test_a_mistake_in_the_script_is_one_line_with_its_place(refused, lamps, text, words):
    (lamps / "bad.fsh").write_text(text)
    assert words in refused("run", "lamps.xml", "--script", "bad.fsh")


def test_a_mistake_on_the_way_keeps_what_was_recorded_until_then(call, lamps):
    (lamps / "bad.fsh").write_text("echo begin; wait 1\ndisable wset\n")
    result = call("run", "lamps.xml", "--script", "bad.fsh", "--out", "out")
    assert result.exit_code == 2 and result.stdout.splitlines()[0] == "begin"
    assert result.stderr == "formiga: bad.fsh:2: there is nothing named 'wset'. Did you mean 'west'? `list` shows all.\n"
    recording = formiga.read_recording("out/run.parquet")
    assert recording.ending == "failed" and recording.steps[-1] == 10


def test_a_script_that_is_not_there_is_refused_and_nothing_is_written(refused, lamps):
    before = sorted(os.listdir())
    assert refused("run", "lamps.xml", "--script", "none.fsh", "--out", "out") == "none.fsh: there is no such file."
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("option", [("--worlds", 2), ("--every", 2)])
def test_batches_have_no_scripts(refused, lamps, option):
    message = refused("run", "lamps.xml", "--script", "phases.fsh", *option)
    assert "--script works on one world, as fast as it can, and records every step" in message


def test_an_engine_that_is_not_there_is_refused_here_too(refused, lamps):
    message = refused("run", "lamps.xml", "--script", "phases.fsh", "--engine", "plannar")
    assert "there is no engine 'plannar'. Did you mean 'planar'?" in message


def test_the_engine_that_was_asked_for_is_the_one_that_runs(call, lamps):
    assert call("run", "lamps.xml", "--script", "phases.fsh", "--engine", "planar", "--json", "a.json").exit_code == 0
    assert json.loads((lamps / "a.json").read_text())["engine"] == "planar"


def test_quit_is_a_way_to_end(call, lamps):
    (lamps / "short.fsh").write_text("wait 0.5; quit\n")
    result = call("run", "lamps.xml", "--script", "short.fsh", "--json", "a.json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads((lamps / "a.json").read_text())["simulated_seconds"] == pytest.approx(0.5)


def test_paths_in_a_script_are_beside_it(call, lamps):
    (lamps / "below").mkdir()
    (lamps / "below" / "a.fsh").write_text("exec b.fsh; save here.xml\n")
    (lamps / "below" / "b.fsh").write_text("echo from b\n")
    result = call("run", "lamps.xml", "--script", "below/a.fsh", "--seconds", 0.1)
    assert result.exit_code == 0 and result.stdout.startswith("from b\n") and (lamps / "below" / "here.xml").exists()


def test_a_picture_is_drawn_of_a_world_that_changed(call, lamps):
    (lamps / "more.fsh").write_text("wait 1; spawn swarm; wait 1; remove swarm.0\n")
    assert call("run", "lamps.xml", "--script", "more.fsh", "--picture", "a.png").exit_code == 0
    assert (lamps / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_ctrl_c_keeps_the_recording_and_ends_with_130(start, tmp_path):
    (tmp_path / "long.fsh").write_text("alias blink 'set swarm.proximity.noise 0.1; wait 100; blink'\nblink\n")
    out = tmp_path / "out"
    out.mkdir()
    process = start("run", "corral", "--script", tmp_path / "long.fsh", "--seconds", 1_000_000, "--out", out, **PIPES)
    wait_for_rows(out)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in stderr and "crashes" in stdout
    recording = formiga.read_recording(out / "run.parquet")
    assert recording.ending == "interrupted" and recording.touched
    assert f"kept {out}/run.parquet" in stderr
    assert json.loads((out / "summary.json").read_text())["interrupted"]
    assert "not at its end" not in stderr


def test_a_reader_that_has_seen_enough_ends_it(start, tmp_path):
    (tmp_path / "talk.fsh").write_text("alias talk 'echo on and on and on; wait 0.1; talk'\ntalk\n")
    process = start("run", "line", "--script", tmp_path / "talk.fsh", "--seconds", 1_000_000, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    assert process.stdout.readline() == "on and on and on\n"
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert "Traceback" not in process.stderr.read()
