"""Recordings are whole, bounded in memory, the same for any number of threads, and keep what was done."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest

import formiga
from formiga import Watch, runs
from formiga.errors import FormigaError, RecordingError
from formiga.record import recorder as recorder_module
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording


def files(folder):
    """All names in a folder, hidden ones too."""
    return sorted(os.listdir(folder))


class Kaput(Exception):
    """Raised by a test in the middle of a run."""


# -- what is in it ----------------------------------------------------------------------------------------------------
def test_the_table_has_the_state_of_every_step_world_and_robot(world, tmp_path):
    lab = formiga.Simulation(world, seed=5, worlds=2)
    with Recorder(tmp_path / "run.parquet", world, 5, 2) as record:
        expected = []
        for step in range(11):
            if step:
                lab.step()
            record([lab])
            expected.append((lab.state.position.copy(), lab.state.heading.copy(), lab.state.drive.copy(),
                             lab.state.crashed.copy(), lab.state.alive.copy()))
    poses = read_recording(tmp_path / "run.parquet").poses()
    position, heading, wheels, crashed, alive = (np.stack(each) for each in zip(*expected))
    for ours, theirs in [(poses.x, position[..., 0]), (poses.y, position[..., 1]), (poses.heading, heading),
                         (poses.left, wheels[..., 0]), (poses.right, wheels[..., 1]), (poses.crashed, crashed),
                         (poses.alive, alive), (poses.time, np.arange(11) * world.dt)]:
        np.testing.assert_array_equal(ours, theirs)


def test_rows_are_in_the_order_step_world_robot_and_have_the_promised_types(recorded):
    table = pq.read_table(recorded)
    assert {field.name: str(field.type) for field in table.schema} == {
        "step": "int32", "time": "double", "world": "int32", "robot": "int32",
        "group": "dictionary<values=string, indices=int32, ordered=0>", "x": "double", "y": "double",
        "heading": "double", "left": "double", "right": "double", "crashed": "bool", "alive": "bool"}
    index = np.arange(21 * 3 * 5)
    np.testing.assert_array_equal(table["step"], index // 15)
    np.testing.assert_array_equal(table["world"], index // 5 % 3)
    np.testing.assert_array_equal(table["robot"], index % 5)


def test_the_file_says_what_was_run_and_with_what(recorded, world):
    meta = read_recording(recorded).meta
    assert (meta["format"], meta["seed"], meta["worlds"], meta["engine"], meta["dt"], meta["every"]) == (
        1, 5, 3, "planar", 0.1, 1)
    assert meta["versions"].keys() == {"formiga", "python", "numpy", "numba"}
    assert meta["versions"]["numpy"] == np.__version__
    assert meta["groups"] == [{"name": "swarm", "robot": "sbot", "count": 3, "radius": world.groups[0].robot.radius},
                              {"name": "rovers", "robot": "disc", "count": 2, "radius": 0.04}]
    assert (meta["last_step"], meta["ending"]) == (20, "complete")


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_a_single_bit_of_the_rows(recorded, world, threads, tmp_path):
    other = formiga.simulate(world, 2.0, seed=5, worlds=3, threads=threads, out=tmp_path).recording
    assert pq.read_table(other).equals(pq.read_table(recorded))


@pytest.mark.parametrize("every, steps", [(7, [0, 7, 14, 20]), (10, [0, 10, 20]), (50, [0, 20])])
def test_every_nth_step_is_recorded_and_the_last_one(recorded, world, every, steps, tmp_path):
    recording = read_recording(formiga.simulate(world, 2.0, seed=5, worlds=3, every=every, out=tmp_path).recording)
    assert recording.steps.tolist() == steps
    np.testing.assert_array_equal(recording.poses().x, read_recording(recorded).poses().x[steps])


def test_row_groups_are_bounded_and_nothing_is_lost_between_them(recorded, world, monkeypatch, tmp_path):
    monkeypatch.setattr(recorder_module, "ROWS", 64)  # 4 steps of 15 rows
    cut = formiga.simulate(world, 2.0, seed=5, worlds=3, out=tmp_path).recording
    metadata = pq.ParquetFile(cut).metadata
    assert max(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)) == 60
    assert pq.read_table(cut).equals(pq.read_table(recorded))


def test_a_step_with_more_rows_than_a_row_group_is_split(recorded, world, monkeypatch, tmp_path):
    monkeypatch.setattr(recorder_module, "ROWS", 4)
    cut = formiga.simulate(world, 2.0, seed=5, worlds=3, out=tmp_path).recording
    assert pq.ParquetFile(cut).metadata.row_group(0).num_rows == 4
    assert pq.read_table(cut).equals(pq.read_table(recorded))
    assert read_recording(cut).replay() is None


# -- in the middle, by hand, from anywhere --------------------------------------------------------------------------------
def test_a_recording_that_begins_in_the_middle_counts_from_there_and_is_touched(world, tmp_path):
    lab = formiga.Simulation(world, seed=5)
    for _ in range(7):
        lab.step()
    with Recorder(tmp_path / "run.parquet", world, 5) as record:
        start = lab.state.position.copy()
        for _ in range(4):
            record([lab])
            lab.step()
    recording = read_recording(tmp_path / "run.parquet")
    assert recording.touched and recording.steps.tolist() == [0, 1, 2, 3]
    poses = recording.poses()
    np.testing.assert_array_equal(poses.time, np.arange(4) * world.dt)
    np.testing.assert_array_equal(poses.x[0], start[..., 0])


def test_a_run_is_touched_if_somebody_says_so_before_the_end(recorded, world, tmp_path):
    assert not read_recording(recorded).touched
    lab = formiga.Simulation(world)
    with Recorder(tmp_path / "run.parquet", world) as record:
        record([lab])
        lab.step({"swarm": np.full((1, 3, 2), 0.01)})
        record([lab])
        record.touched = True
    recording = read_recording(tmp_path / "run.parquet")
    assert recording.touched and recording.meta["touched"] is True
    with pytest.raises(RecordingError, match=r"run\.parquet: this run was changed by hand while it ran, or recorded from"):
        recording.replay()


def test_robots_that_come_in_the_middle_are_one_sentence_and_what_was_done_is_kept(world, tmp_path):
    lab, other = formiga.Simulation(world), formiga.Simulation(formiga.read_world("line"))
    with pytest.raises(RecordingError, match="1 worlds with 5 robots cannot take 1 worlds with 1"), \
         Recorder(tmp_path / "run.parquet", world) as record:
        record([lab])
        lab.step()
        record([lab])
        record([other])
    assert read_recording(tmp_path / "run.parquet").steps.tolist() == [0, 1]


def test_any_thread_may_record(recorded, world, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(formiga.simulate, world, 2.0, seed=5, worlds=3, out=tmp_path).result().recording
    assert pq.read_table(other).equals(pq.read_table(recorded)) and not read_recording(other).touched
    assert signal.getsignal(signal.SIGINT) is before


def test_a_recording_that_begins_in_the_main_thread_may_end_in_another_and_ctrl_c_still_works(world, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    record = Recorder(tmp_path / "run.parquet", world)
    try:
        record.__enter__()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(record, [formiga.Simulation(world)]).result()
            pool.submit(record.__exit__, None, None, None).result()
        assert read_recording(tmp_path / "run.parquet").ending == "complete"
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5.0)
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_a_signal_that_waits_for_another_thread_reaches_the_main_one(world, tmp_path):
    with pytest.raises(KeyboardInterrupt), Recorder(tmp_path / "run.parquet", world) as record, ThreadPoolExecutor(1) as pool:
        record._late = signal.SIGINT  # as if it had come while rows were written
        pool.submit(record, [formiga.Simulation(world)]).result()
        time.sleep(5.0)
    assert read_recording(tmp_path / "run.parquet").ending == "interrupted"


# -- how it ends ------------------------------------------------------------------------------------------------------
def test_the_final_name_appears_only_at_the_end_and_replaces_what_was_there(world, tmp_path):
    target = tmp_path / "run.parquet"
    target.write_text("old")
    with Recorder(target, world) as record:
        runs.simulate(world, 1.0, record=record)
        assert target.read_text() == "old"
    assert read_recording(target).steps[-1] == 10
    assert files(tmp_path) == ["run.parquet"]


def test_a_run_that_is_stopped_keeps_what_was_done(world, tmp_path):
    seen = []
    run = formiga.simulate(world, 100.0, out=tmp_path, watch=lambda share: seen.append(share) or len(seen) == 7)
    recording = read_recording(run.recording)
    assert run.interrupted and (recording.ending, recording.steps[-1]) == ("interrupted", 7)
    assert recording.replay() is None


@pytest.mark.parametrize("error, ending", [(KeyboardInterrupt, "interrupted"), (SystemExit, "interrupted"),
                                           (Kaput, "failed")])
def test_an_exception_in_the_middle_keeps_what_was_done(world, error, ending, tmp_path):
    def burst(share):
        if share >= 0.5:
            raise error

    with pytest.raises(error):
        formiga.simulate(world, 1.0, out=tmp_path, watch=burst)
    recording = read_recording(tmp_path / "run.parquet")
    assert (recording.ending, recording.steps[-1]) == (ending, 5)
    assert recording.replay() is None
    assert files(tmp_path) == ["run.parquet"]


def test_a_run_that_cannot_start_leaves_no_file_and_no_folder(world, tmp_path):
    with pytest.raises(FormigaError, match="there is no engine"):
        formiga.simulate(world, 1.0, engine="jelly", out=tmp_path / "a" / "b")
    assert files(tmp_path) == []


def test_a_run_that_is_refused_in_its_first_step_writes_nothing_and_replaces_nothing(world, tmp_path):
    path = tmp_path / "wrong.xml"
    path.write_text('<world><arena width="3" depth="3"/>'
                    '<omni name="o"><at x="0" y="0"/><sequence moves="3 0.2 0.2"/></omni></world>')
    wrong, record = formiga.read_world(path), ["orders", "readings"]
    with pytest.raises(FormigaError, match="<sequence> drives two wheels"):
        formiga.simulate(wrong, 1.0, out=tmp_path / "new", record=record)
    assert not (tmp_path / "new").exists()
    formiga.simulate(world, 0.2, out=tmp_path / "old", record=record)
    before = {each.name: each.read_bytes() for each in (tmp_path / "old").iterdir()}
    with pytest.raises(FormigaError, match="<sequence> drives two wheels"):
        formiga.simulate(wrong, 1.0, out=tmp_path / "old", record=record)
    assert {each.name: each.read_bytes() for each in (tmp_path / "old").iterdir()} == before


@pytest.mark.parametrize("number, code", [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_a_signal_to_a_python_program_keeps_a_readable_recording(number, code, tmp_path):
    """Sent by the program to itself after 25 steps, so no luck is needed."""
    program = f"""
        import os, formiga
        count = [0]
        def tell(share):
            count[0] += 1
            if count[0] == 25:
                os.kill(os.getpid(), {int(number)})
        formiga.simulate("line", seconds=1000, out={str(tmp_path)!r}, watch=tell)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=120)
    assert done.returncode in (code, 128 + number)
    recording = read_recording(tmp_path / "run.parquet")
    assert recording.ending == "interrupted" and recording.steps[-1] >= 25
    assert files(tmp_path) == ["run.drawings.parquet", "run.parquet"]  # its odometry draws


def test_a_signal_in_the_middle_of_a_write_waits_until_the_rows_are_whole(world, tmp_path, monkeypatch):
    """The worst moment: rows have left the buffer, and are not yet counted."""
    monkeypatch.setattr(recorder_module, "ROWS", 15)
    write = recorder_module.pq.ParquetWriter.write_table

    def interrupted_write(self, table, row_group_size):
        write(self, table, row_group_size=row_group_size)
        if table["step"][0].as_py() == 5:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(recorder_module.pq.ParquetWriter, "write_table", interrupted_write)
    with pytest.raises(KeyboardInterrupt):
        formiga.simulate(world, 2.0, worlds=3, out=tmp_path)
    recording = read_recording(tmp_path / "run.parquet")
    assert (recording.ending, recording.steps[-1]) == ("interrupted", 5)
    assert recording.poses().x.shape == (6, 3, 5)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# -- what can go wrong with the file ----------------------------------------------------------------------------------
def test_a_missing_folder_is_one_sentence_before_the_run(world, tmp_path):
    with pytest.raises(RecordingError, match=r"run\.parquet: cannot be written \(No such file or directory\)\.$"), \
         Recorder(tmp_path / "nowhere" / "run.parquet", world):
        pytest.fail("the run must not start")
    assert files(tmp_path) == []


def test_a_folder_in_place_of_the_file_is_one_sentence_before_the_run(world, tmp_path):
    with pytest.raises(RecordingError, match="is a folder; a recording is one file"), Recorder(tmp_path, world):
        pytest.fail("the run must not start")


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_an_output_folder_that_is_a_file_is_refused(world, out, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RecordingError):
        formiga.simulate(world, 1.0, out=tmp_path / out)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_read_only_folder_is_refused(world):
    """Permissions do not bind root, so root becomes nobody for a moment."""
    formiga.simulate(world, 0.1)  # so that everything is loaded that only root may read
    user = os.geteuid()
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        if user == 0:
            os.seteuid(65534)
        try:
            with pytest.raises(RecordingError, match="Permission denied"):
                formiga.simulate(world, 1.0, out=folder)
        finally:
            os.seteuid(user)
        assert os.listdir(folder) == []


@pytest.mark.parametrize("rows", [15, 1 << 17], ids=["while it runs", "at the end"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(world, rows, tmp_path, monkeypatch):
    """The limit on the size of a file stands for a disk that is full; Python ignores the signal that goes with it."""
    monkeypatch.setattr(recorder_module, "ROWS", rows)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        with pytest.raises(RecordingError, match=r"run\.parquet: cannot be written \(File too large\)\.$"):
            formiga.simulate(world, 20.0, worlds=3, out=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files(tmp_path) == []


def test_recording_every_zero_steps_is_refused(world, tmp_path):
    with pytest.raises(RecordingError, match="at least 1"):
        formiga.simulate(world, 1.0, out=tmp_path, every=0)


class Pushed(Watch):
    """Orders all robots to drive on, in every step."""

    every_step = True

    def before(self, shards):
        return {shards[0].world.groups[0].name: np.full((1, shards[0].world.groups[0].count, 2), 0.01)}


@pytest.mark.parametrize("watch, touched", [(None, False), (Pushed(), True)])
def test_a_run_that_was_ordered_from_outside_is_not_said_to_follow_from_its_seed(world, watch, touched, tmp_path):
    recording = read_recording(formiga.simulate(world, 0.5, out=tmp_path, watch=watch).recording)
    assert recording.touched is touched
    if touched:
        with pytest.raises(FormigaError, match="running it again would be another run"):
            recording.replay()
    else:
        assert recording.replay() is None
