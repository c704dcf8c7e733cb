"""A script without a window, from Python: S3's experiment, and every way for it to end."""

import json

import numpy as np
import pytest

import formiga
from formiga.errors import FormigaError
from formiga.session.headless import run_script
from tests.reference.lab import same_state

LAMPS = """<world name="lamps" dt="0.1" seconds="4">
  <arena width="4" depth="2"/>
  <lamp x="-1.5" y="0" name="west"/>
  <lamp x="1.5" y="0" on="false" name="east"/>
  <sbot count="3" name="swarm"><at x="-0.2" y="0.5" heading="1.5"/><at x="0" y="0" heading="1.5"/>
    <at x="0.2" y="-0.5" heading="1.5"/><light/><braitenberg sensor="light" light="light" pull="1"/></sbot>
</world>"""
SWITCH = """# phases.fsh: the light comes from the west, then from the east
echo west
wait 2
disable west; enable east
echo "east at $time s"
wait 1
disable east
"""


@pytest.fixture
def lab(tmp_path):
    """lab(script text, ...) -> run_script of it on the world with two lamps, and what was said."""
    (tmp_path / "lamps.xml").write_text(LAMPS)

    def run(text, world=None, **settings):
        (tmp_path / "phases.fsh").write_text(text)
        said = []
        world = world or formiga.read_world(tmp_path / "lamps.xml")
        run, finished = run_script(world, tmp_path / "phases.fsh", say=said.append, **settings)
        return run, finished, said

    return run


def light(run, name):
    return next(thing for thing in run.world.things if getattr(thing, "name", "") == name).on


def test_two_lamps_are_switched_at_their_times_and_the_robots_see_it(lab, tmp_path):
    run, finished, said = lab(SWITCH, out=tmp_path)
    assert finished and said[:2] == ["west", "east at 2 s"] and run.seconds == pytest.approx(4.0)
    assert not light(run, "west") and not light(run, "east")
    recording = formiga.read_recording(tmp_path / "run.parquet")
    assert recording.touched and recording.steps.tolist() == list(range(41)) and run.recording == recording.path
    poses = recording.poses()
    plain = formiga.simulate(tmp_path / "lamps.xml", 2.0)
    assert np.array_equal(poses.x[20, 0], plain.state.position[0, :, 0])  # the same until the switch
    longer = formiga.simulate(tmp_path / "lamps.xml", 4.0)
    assert (poses.x[40, 0] != longer.state.position[0, :, 0]).all()


def test_an_empty_script_is_the_run_that_simulate_gives(lab, tmp_path):
    run, finished, _ = lab("# nothing\n", world=formiga.read_world("mixed"), seconds=3.0, seed=5, out=tmp_path)
    plain = formiga.simulate("mixed", 3.0, seed=5)
    assert finished and not same_state(run.state, plain.state) and run.seconds == plain.seconds and run.seed == 5
    recording = formiga.read_recording(run.recording)
    assert not recording.touched and recording.ending == "complete" and recording.replay() is None
    timed = {"start_seconds", "elapsed_seconds", "real_time_factor", "robot_steps_per_s"}
    assert {key: value for key, value in run.metrics.items() if key not in timed} == {
        key: value for key, value in plain.metrics.items() if key not in timed}


def test_the_same_script_gives_the_same_bits(lab):
    text = SWITCH + "spawn swarm; set swarm.count 6\n"
    one, other = lab(text, seed=3)[0], lab(text, seed=3)[0]
    assert one.world.robots == 6 and not same_state(one.state, other.state)


def test_a_robot_is_driven_by_a_script_with_binds_and_aliases(lab):
    run, finished, _ = lab("alias go 'drive 1 $1 $2'\ngo 1 1; wait 1; go 0 0; wait 1; drive 1 off\n", seconds=1.95)
    top = run.world.groups[0].robot.top_speed
    assert run.state.position[0, 1] - (0, 0) == pytest.approx([top * np.cos(1.5), top * np.sin(1.5)])
    assert finished


def test_a_script_that_is_not_at_its_end_says_so(lab):
    run, finished, _ = lab("wait 99; echo never")
    assert not finished and run.seconds == pytest.approx(4.0)


def test_quit_ends_the_run_early(lab, tmp_path):
    run, _, _ = lab("wait 1; quit; echo gone", out=tmp_path)
    assert run.seconds == pytest.approx(1.0) and len(formiga.read_recording(run.recording).steps) == 11
    assert not run.interrupted


def test_steps_of_the_script_itself_count(lab):
    run, _, _ = lab("step 30; echo there")
    assert run.seconds == pytest.approx(4.0) and run.state.step[0] == 40 and run.metrics["robot_steps"] == 120


def test_time_goes_on_after_a_reset(lab):
    run, finished, _ = lab("wait 1; reset; wait 1; echo two")
    assert finished and run.seconds == pytest.approx(4.0) and run.state.step[0] == 30
    assert run.metrics["robot_steps"] == 120


def test_robots_that_come_and_go_are_counted_while_they_are_there(lab):
    run, _, _ = lab("wait 1; remove 0; wait 1; spawn swarm; spawn swarm")
    assert run.metrics["robot_steps"] == 10 * 3 + 10 * 2 + 20 * 4


def test_an_edit_at_the_start_is_in_the_recording_and_a_later_one_ends_it(lab, tmp_path):
    run, _, said = lab("spawn swarm; wait 2; spawn swarm", out=tmp_path)
    recording = formiga.read_recording(run.recording)
    assert recording.world.robots == 4 and recording.steps[-1] == 20 and run.world.robots == 5
    assert f"recorded {tmp_path}/run.parquet, until the world changed" in said


@pytest.mark.parametrize("text, words", [
    ("echo a\nwait 1\nspede 3\n", "phases.fsh:3: there is no command 'spede'. Did you mean 'speed'?"),
    ("wait 1; disable wset", "phases.fsh:1: there is nothing named 'wset'. Did you mean 'west'?"),
    ("set west.x far", "phases.fsh:1: west.x: 'far' is not a length"), ("exec other.fsh", "other.fsh: there is no such file"),
    ("alias a 'b'; a", "there is no command 'b'"), ("wait 1\n\n\ndrive 7 1 1", "phases.fsh:4: there is no robot '7'"),
])
def test_the_first_mistake_ends_it_and_what_was_recorded_is_kept(lab, tmp_path, text, words):
    with pytest.raises(FormigaError) as wrong:
        lab(text, out=tmp_path)
    assert words in str(wrong.value) and "\n" not in str(wrong.value)
    assert formiga.read_recording(tmp_path / "run.parquet").ending == "failed"


@pytest.mark.parametrize("text, words", [("echo 'open", "phases.fsh:1: a ' opens here"),
                                         ("x" * 20_000, "more than 10000 characters")])
def test_a_script_that_cannot_be_read_is_refused_before_anything_is_written(lab, tmp_path, text, words):
    with pytest.raises(FormigaError, match=words):
        lab(text, out=tmp_path)
    assert not (tmp_path / "run.parquet").exists()


@pytest.mark.parametrize("name, words", [("none.fsh", "there is no such file"), (".", "is not a plain file")])
def test_a_script_that_is_no_file_is_refused(tmp_path, name, words):
    with pytest.raises(FormigaError, match=words):
        run_script(formiga.read_world("line"), tmp_path / name, out=tmp_path)
    assert not (tmp_path / "run.parquet").exists()


def test_a_mistake_in_the_worlds_own_script_ends_it_too(lab, tmp_path):
    (tmp_path / "own.xml").write_text(LAMPS.replace("</world>", '<script run="save x.xml"/></world>'))
    with pytest.raises(FormigaError, match=r"own\.xml:7: 'save' works on files"):
        lab("echo hi", world=formiga.read_world(tmp_path / "own.xml"), out=tmp_path)
    assert not (tmp_path / "run.parquet").exists()


def test_the_users_settings_do_not_count_here(lab, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "formiga").mkdir()
    (tmp_path / "formiga" / "settings.fsh").write_text("nonsense\n")
    assert lab("echo hi", seconds=0.1)[2] == ["hi"]


def test_somebody_may_stop_it(lab, tmp_path):
    asked = []
    run, finished, _ = lab("wait 3; echo late", out=tmp_path, stop=lambda: len(asked) >= 1, progress=asked.append)
    assert run.interrupted and not finished and run.seconds == pytest.approx(2.0)
    assert formiga.read_recording(run.recording).ending == "interrupted"


def test_an_interruption_in_the_middle_keeps_the_recording(lab, tmp_path):
    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lab("wait 3", out=tmp_path, progress=interrupt)
    recording = formiga.read_recording(tmp_path / "run.parquet")
    assert recording.ending == "interrupted" and len(recording.steps) == 21


def test_a_picture_shows_the_world_at_the_end(lab, tmp_path):
    lab("wait 1; spawn swarm; move west 0 0.8; wait 1; remove swarm.0", picture=tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_a_world_that_ends_by_itself_ends_the_run(lab, tmp_path):
    (tmp_path / "tight.xml").write_text("""<world dt="0.1" seconds="60"><arena width="0.5" depth="0.5"/>
        <contact crash_limit="1"/><sbot name="car"><at x="0" y="0" heading="0"/></sbot></world>""")
    run, _, said = lab("drive car 1 1", world=formiga.read_world(tmp_path / "tight.xml"))
    assert run.seconds < 10.0 and run.metrics["worlds_ended"] == 1 and "the world ended" in said[-1]


def test_another_world_may_be_loaded_on_the_way(lab, tmp_path):
    run, _, said = lab("wait 1; load line; wait 1; echo there", out=tmp_path)
    assert run.world.name == "line" and run.seconds == pytest.approx(4.0) and "there" in said
    assert json.loads(json.dumps(run.metrics))["robot_steps"] == 30 + 30
