"""Recording from a session, and playing what was recorded."""

import json

import numpy as np
import pytest

import formiga
from formiga.errors import FormigaError, RecordingError
from formiga.record.recorder import Recorder
from tests.session.workspace import Workspace


@pytest.fixture
def tape(tmp_path):
    return tmp_path / "run.parquet"


def recorded(workspace, tape, steps=10, first=""):
    workspace.run(f"{first}; record {tape}")
    workspace.steps(steps)
    workspace.run("record off")
    return formiga.read_recording(tape)


# -- recording --------------------------------------------------------------------------------------------------------
def test_a_run_recorded_from_its_start_can_be_run_again_bit_for_bit(workspace, tape):
    recording = recorded(workspace, tape, 20)
    assert not recording.touched and recording.ending == "complete" and recording.steps.tolist() == list(range(21))
    assert recording.replay() is None


def test_it_says_where_it_was_recorded(workspace, tape):
    assert workspace.run(f"record {tape}") == f"recording into {tape}; `record off` ends it"
    assert not tape.exists()
    assert workspace.run("record off") == f"recorded {tape}"
    assert tape.exists()
    assert workspace.run("record off") == "nothing is being recorded."


def test_an_edited_world_that_is_reset_is_untouched_again(workspace, tape):
    workspace.run("set left.intensity 2; remove swarm.0; step 3; drive car 1 1; step")
    recording = recorded(workspace, tape, 10, "reset")
    assert not recording.touched and recording.world.robots == 6 and recording.replay() is None


@pytest.mark.parametrize("what", ["drive car 1 1", "disable swarm.0", "move car -1.2 -0.7", "set left.intensity 3",
                                  "disable left", "set swarm.proximity.noise 0.2", "set contact.model stop"])
@pytest.mark.parametrize("when", ["before", "while"])
def test_a_run_that_somebody_touched_says_so(workspace, tape, what, when):
    if when == "before":
        workspace.run(what)
    workspace.run(f"record {tape}")
    workspace.steps(3)
    if when == "while":
        workspace.run(what)
    workspace.steps(3)
    workspace.run("record off")
    recording = formiga.read_recording(tape)
    assert recording.touched and recording.steps.tolist() == list(range(7))
    with pytest.raises(RecordingError, match="this run was changed by hand"):
        recording.replay()


def test_a_recording_from_the_middle_on_counts_from_there_and_is_touched(workspace, tape):
    workspace.steps(5)
    before = workspace.session.poses()[0]
    recording = recorded(workspace, tape, 4)
    assert recording.touched and recording.steps.tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(recording.poses().x[0, 0], before[:, 0])


@pytest.mark.parametrize("line, why", [("spawn swarm", "the world changed"), ("remove box", "the world changed"),
                                       ("move box -1.2 0.2", "the world changed"), ("reset", "the world was reset"),
                                       ("seed 3", "the world was reset"), ("load line", "another world was opened")])
def test_what_a_file_cannot_hold_ends_it_and_that_is_said(workspace, tape, line, why):
    workspace.run(f"record {tape}")
    workspace.steps(3)
    assert f"recorded {tape}, until {why}" in workspace.run(line)
    assert workspace.session.recorder is None and formiga.read_recording(tape).steps.tolist() == [0, 1, 2, 3]


def test_undo_ends_it_too(workspace, tape):
    workspace.run(f"set left.x 0.9; record {tape}; step")
    assert "until an edit was undone" in workspace.run("undo")


def test_an_edit_before_the_first_step_begins_the_recording_again(workspace, tape):
    workspace.run(f"record {tape}; spawn swarm; spawn cylinder 1.3 0.3 radius=5cm; remove rovers")
    workspace.steps(3)
    workspace.run("record off")
    recording = formiga.read_recording(tape)
    assert recording.touched and recording.world.robots == 6 and recording.steps.tolist() == [0, 1, 2, 3]
    assert sorted(path.name for path in tape.parent.iterdir() if path.suffix in (".parquet", ".tmp")) == [tape.name]


def test_only_one_recording_at_a_time(workspace, tape):
    workspace.run(f"record {tape}; step")
    assert "is being recorded already; `record off` ends it." in workspace.refused(f"record {tape.with_name('other.parquet')}")
    workspace.run("step; record off")
    assert len(formiga.read_recording(tape).steps) == 3


def test_the_name_is_made_up_if_nobody_gives_one(workspace, folder):
    for number in (1, 2):
        workspace.run("record; step; record off")
        assert (folder / f"workspace-{number}.parquet").exists()


def test_a_full_disk_pauses_the_run_with_a_message_and_loses_only_the_recording(workspace, tape, monkeypatch):
    workspace.run(f"record {tape}")
    monkeypatch.setattr(Recorder, "__call__", lambda self, shards: (_ for _ in ()).throw(RecordingError("no space left.")))
    workspace.session.play()
    workspace.session.step()
    assert workspace.said[-1] == ("error", "no space left. Paused.") and not workspace.session.playing
    assert workspace.session.recorder is None
    monkeypatch.undo()
    workspace.steps(3)


def test_a_session_that_ends_keeps_what_is_being_recorded(workspace, tape):
    workspace.run(f"record {tape}; step 3; quit")
    workspace.session.run()
    assert len(formiga.read_recording(tape).steps) == 4 and formiga.read_recording(tape).ending == "complete"


def test_a_session_that_is_interrupted_says_so_in_its_recording(workspace, tape):
    def interrupt():
        raise KeyboardInterrupt

    workspace.run(f"record {tape}; step 3")
    workspace.session.post(interrupt)
    with pytest.raises(KeyboardInterrupt):
        workspace.session.run()
    assert formiga.read_recording(tape).ending == "interrupted"


# -- replay -----------------------------------------------------------------------------------------------------------
def test_a_replay_shows_the_recorded_poses_at_every_moment(workspace, tape):
    recording = recorded(workspace, tape, 12, "drive car 1 0.2")
    player = Workspace(str(tape))
    poses = recording.poses()
    for number in range(13):
        frame, state = player.session.frame(), player.session.sim.state
        assert frame.step == number and frame.time == poses.time[number] == player.session.time
        assert np.array_equal(frame.place[:, 0], poses.x[number, 0]) and np.array_equal(frame.place[:, 1], poses.y[number, 0])
        assert np.array_equal(state.heading[0], poses.heading[number, 0])
        assert np.array_equal(frame.drive[:, 0], poses.left[number, 0])
        assert np.array_equal(frame.crashes, poses.crashed[:number + 1, 0].sum(axis=0))
        player.session.step()
    assert player.session.failed and not player.session.playing


def test_sensors_look_at_what_was_recorded(workspace, tape, world):
    workspace.run(f"record {tape}")
    workspace.steps(6)
    seen = workspace.session.sim.readings["swarm"]["light"].copy()
    workspace.run("record off")
    player = Workspace(str(tape))
    player.run("seek 0.6")
    told = player.run("get swarm.0.light")
    assert np.array_equal([float(word) for word in told.split()], seen[0, 0].ravel())
    player.run("select rovers.0")
    assert "odometry" not in player.session.frame().extra["robot"]["readings"]  # it would need the whole run


@pytest.mark.parametrize("seconds, step", [(0, 0), (0.5, 5), (0.55, 5), (1e9, 10), (0.3, 3), (0.7, 7)])
def test_seek_goes_to_the_last_moment_that_is_not_after(workspace, tape, seconds, step):
    recorded(workspace, tape)
    player = Workspace(str(tape))
    player.run(f"seek {seconds}")
    assert player.session.sim.state.step[0] == step


def test_play_at_the_end_begins_again(workspace, tape):
    recorded(workspace, tape)
    player = Workspace(str(tape))
    player.run("seek 99; play")
    assert player.session.time == 0.0 and player.session.playing
    player.run("seek 0.4; reset")
    assert player.session.time == 0.0


def test_a_recording_plays_at_its_pace_also_if_not_every_step_is_in_it(tmp_path):
    formiga.simulate("line", 2.0, out=tmp_path, every=4)
    player = Workspace(str(tmp_path / "run.parquet"))
    times = [player.session.time]
    while player.session.replay.index < player.session.replay.last:
        assert player.session.steps.next_time > player.session.time
        player.session.step()
        times.append(player.session.time)
    assert times == pytest.approx([0.0, 0.4, 0.8, 1.2, 1.6, 2.0])


def test_one_world_of_a_batch_is_chosen_by_its_number(tmp_path):
    run = formiga.simulate("mixed", 1.0, seed=2, worlds=3, out=tmp_path)
    workspace = Workspace("line")
    workspace.run(f"load {run.recording} world=2; seek 1")
    assert np.array_equal(workspace.session.poses()[0], run.state.position[2])
    assert "there is no world '3'; they are numbered from 0 to 2." in workspace.refused(f"load {run.recording} world=3")
    assert "there is no world 'x'" in workspace.refused(f"load {run.recording} world=x")
    assert "a recording has no 'robots' to choose" in workspace.refused(f"load {run.recording} robots=3")


@pytest.mark.parametrize("line, words", [
    ("set left.x 0", "a recording cannot be changed"), ("spawn swarm 1 0", "a recording cannot be changed"),
    ("remove swarm", "a recording cannot be changed"), ("disable left", "a recording cannot be changed"),
    ("move car -1.2 -0.7", "a recording cannot be changed"), ("drive 0 1 1", "robots in a recording cannot be driven"),
    ("record x.parquet", "this is a recording already"), ("seed 3", "the seed that it was recorded with"),
    ("undo", "nothing to undo"), ("controller swarm none", "a recording cannot be changed"),
])
def test_a_recording_cannot_be_changed(workspace, tape, line, words):
    recorded(workspace, tape)
    player = Workspace(str(tape))
    player.run("seek 0.5")
    assert words in player.refused(line)


def test_a_world_has_no_timeline(workspace):
    assert workspace.refused("seek 1") == "only recordings have a timeline. `record` one, then `load` it."


def test_a_moment_of_a_recording_is_saved_as_a_world(workspace, tape, tmp_path):
    recorded(workspace, tape)
    player = Workspace(str(tape))
    player.run(f"seek 0.7; save {tmp_path / 'moment.xml'}")
    again = Workspace(str(tmp_path / "moment.xml"))
    assert np.array_equal(again.session.poses()[0], player.session.poses()[0])


def test_a_file_that_is_no_recording_changes_nothing(workspace, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1nonsense")
    for name in ("bad.parquet", "missing.parquet"):
        assert name in workspace.refused(f"load {tmp_path / name}")
    with pytest.raises(FormigaError):
        workspace.session.open(str(tmp_path / "bad.parquet"))


def test_meta_says_touched_as_json_does(workspace, tape):
    recording = recorded(workspace, tape)
    assert json.dumps(recording.meta["touched"]) == "false"
