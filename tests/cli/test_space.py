"""The command line in three dimensions: --engine, what happened, and motions that explode."""

import json

import formiga
from formiga.engine.events import Event
from formiga.engine.spatial import pipeline

GRIP = """<world name="grip" engine="spatial" dt="0.1" seconds="1">
  <sbot name="s"><at x="0" y="0" heading="0"/><at x="0.135" y="0" heading="0"/></sbot>
  <script run="out s.0.grip 1; wait 0.3; out s.0.grip 0"/>
</world>"""


def test_a_planar_world_runs_in_space(call, tmp_path):
    result = call("run", "line", "--engine", "spatial", "--seconds", 1, "--out", tmp_path)
    assert result.exit_code == 0 and result.stdout.splitlines()[0].endswith("spatial")
    assert formiga.read_recording(tmp_path / "run.parquet").engine == "spatial"


def test_a_world_is_checked_in_space(call, refused):
    assert call("check", "line", "--engine", "spatial").stdout.strip().endswith("spatial")
    result = call("check", "mixed", "--engine", "spatial")
    assert result.exit_code == 2 and "mixed.xml:10: 'swarm' has position_noise" in result.stderr
    assert "there is no engine 'cubic'" in refused("run", "line", "--engine", "cubic")


def test_the_summary_counts_what_happened(call, tmp_path):
    world, script, out = tmp_path / "grip.xml", tmp_path / "s.fsh", tmp_path / "out"
    world.write_text(GRIP)
    script.write_text("wait 0.1")
    result = call("run", world, "--script", script, "--out", out)
    assert result.exit_code == 0 and "events        1 grip, 1 release" in result.stdout, result.output
    assert "s.0 grips s.1" in result.stdout
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["events"], summary["exploded"]) == ({"grip": 1, "release": 1}, [])


def exploding(monkeypatch, at=3, world=0):
    """A motion that explodes after some steps."""
    step = pipeline.step

    def bad(model, state, wheels):
        step(model, state, wheels)
        if state.step[world] == at and not state.done[world]:
            state.done[world] = True
            text = "the motion exploded at 0.3 s, at the chassis of s.0; the world ends here"
            state.scratch.events.append(Event(world, 0.3, "explode", text))

    monkeypatch.setattr(pipeline, "step", bad)


def test_a_motion_that_explodes_ends_the_run_with_its_time_and_body_and_keeps_the_recording(call, tmp_path, monkeypatch):
    exploding(monkeypatch)
    result = call("run", "line", "--engine", "spatial", "--out", tmp_path)
    assert result.exit_code == 1 and "events" in result.stdout and "1 explosion" in result.stdout
    assert result.stderr == (f"formiga: the motion exploded at 0.3 s, at the chassis of s.0; the world ends here; kept "
                             f"{tmp_path / 'run.parquet'}.\n")
    recording = formiga.read_recording(tmp_path / "run.parquet")
    assert (recording.ending, recording.steps[-1]) == ("failed", 3)
    assert json.loads((tmp_path / "summary.json").read_text())["events"] == {"explode": 1}


def test_of_a_batch_the_world_that_explodes_is_named_and_the_others_go_on(call, monkeypatch):
    exploding(monkeypatch, world=1)
    result = call("run", "line", "--engine", "spatial", "--worlds", 3, "--threads", 1, "--seconds", 1)
    assert result.exit_code == 1 and result.stderr.startswith("formiga: world 1: the motion exploded")
    assert "1 of 3" in result.stdout


def test_a_script_and_an_explosion_end_the_same_way(call, tmp_path, monkeypatch):
    exploding(monkeypatch)
    script = tmp_path / "s.fsh"
    script.write_text("wait 0.1; echo hello")
    result = call("run", "line", "--engine", "spatial", "--script", script, "--out", tmp_path / "out")
    assert result.exit_code == 1 and result.stderr.startswith("formiga: the motion exploded at 0.3 s"), result.stderr
    assert formiga.read_recording(tmp_path / "out" / "run.parquet").ending == "failed"
