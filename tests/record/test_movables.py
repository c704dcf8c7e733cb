"""Recordings of what is pushed: a second format, beside the first one, which stays as it was."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import formiga
from formiga.errors import RecordingError
from formiga.record import recorder as recorder_module
from formiga.record.format import COLUMNS, KEY, MORE_COLUMNS, SEAL, measured
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.world.reader import read_text

PUSHING = """<world name="pushing" dt="0.05" seconds="2">
  <arena width="1" depth="1"/>
  <contact model="impulse"/>
  <ball x="0.1" y="0" vx="0.4"/>
  <block x="-0.05" y="0" width="6cm" depth="6cm" heading="0.3"/>
  <mirosot name="pushers"><at x="-0.2" y="0" heading="0"/><at x="0.3" y="0.3" heading="3.1"/><random_walk/></mirosot>
</world>"""


@pytest.fixture(scope="module")
def pushing():
    return read_text(PUSHING)


@pytest.fixture(scope="module")
def recorded(pushing, tmp_path_factory):
    """2 worlds, 21 steps with the start, 2 robots and 2 things."""
    return formiga.simulate(pushing, 1.0, seed=3, worlds=2, out=tmp_path_factory.mktemp("out")).recording


# -- what is in it ----------------------------------------------------------------------------------------------------
def test_what_is_pushed_is_recorded_at_every_step_and_in_every_world(pushing, tmp_path):
    lab, expected = formiga.Simulation(pushing, seed=3, worlds=2), []
    with Recorder(tmp_path / "run.parquet", pushing, 3, 2) as record:
        for step in range(11):
            if step:
                lab.step()
            record([lab])
            expected.append((lab.state.movables[..., :6].copy(), lab.state.velocity.copy(), lab.state.position.copy()))
    poses = read_recording(tmp_path / "run.parquet").poses()
    movables, velocity, position = (np.stack(each) for each in zip(*expected))
    np.testing.assert_array_equal(poses.movables, movables)
    np.testing.assert_array_equal(poses.velocity, velocity)
    np.testing.assert_array_equal(np.stack([poses.x, poses.y], axis=-1), position)
    assert poses.alive.shape == (11, 2, 2) and poses.alive.all() and np.abs(movables[-1, 0, 1] - movables[0, 0, 1]).max() > 0.01


def test_things_follow_the_robots_of_their_world_as_if_they_were_more_of_them(recorded, pushing):
    table = pq.read_table(recorded)
    assert table.num_rows == 21 * 2 * 4 and table["robot"].to_pylist()[:4] == [0, 1, 2, 3]
    ball = {name: table[name][2].as_py() for name in MORE_COLUMNS.names}
    assert (ball["x"], ball["vx"], ball["left"], ball["crashed"], ball["alive"]) == (0.1, 0.4, 0.0, False, True)
    assert read_recording(recorded).meta["format"] == 2 and read_recording(recorded).world == pushing


def test_a_world_in_which_nothing_is_pushed_is_recorded_as_ever(world, tmp_path):
    recorded = formiga.simulate(world, 0.5, seed=5, out=tmp_path).recording
    recording, schema = read_recording(recorded), pq.ParquetFile(recorded).schema_arrow
    assert recording.meta["format"] == 1 and schema.equals(COLUMNS) and "notes" not in on_file(recorded)
    poses = recording.poses()
    assert poses.movables.shape == (6, 1, 0, 6) and poses.velocity.shape == (6, 1, 5, 3) and not poses.velocity.any()
    assert set(measured(formiga.Simulation(world).state)) == {"x", "y", "heading", "left", "right", "crashed", "alive"}


@pytest.mark.parametrize("threads", [1, 2])
def test_running_it_again_gives_the_same_bits(recorded, threads):
    assert read_recording(recorded).replay(threads) is None


@pytest.mark.parametrize("column", ["x", "vy", "spin", "heading"])
def test_the_smallest_change_of_a_ball_is_found(recorded, tmp_path, column):
    table = read_recording(recorded).table()
    values = table[column].to_numpy().copy()
    row = 7 * 8 + 4 + 2  # step 7, world 1, the ball
    values[row] = np.nextafter(values[row], 10.0)
    at = MORE_COLUMNS.names.index(column)
    found = rewritten(recorded, tmp_path, table.set_column(at, MORE_COLUMNS.field(column), pa.array(values))).replay()
    assert (found.step, found.world, found.robot, found.column) == (7, 1, 2, column)


def test_one_world_of_many_is_read_alone_and_frames_are_whole_steps(recorded):
    recording = read_recording(recorded)
    everything = recording.poses()
    for world in range(2):
        for ours, theirs in zip(recording.poses(world)[1:], everything[1:]):
            np.testing.assert_array_equal(ours, theirs[:, [world]])
    assert [frame.num_rows for frame in recording.frames()] == [8] * 21


def test_row_groups_are_bounded_and_nothing_is_lost_between_them(recorded, pushing, monkeypatch, tmp_path):
    monkeypatch.setattr(recorder_module, "ROWS", 30)  # 3 steps of 8 rows
    cut = formiga.simulate(pushing, 1.0, seed=3, worlds=2, out=tmp_path).recording
    assert pq.ParquetFile(cut).metadata.row_group(0).num_rows == 24
    assert pq.read_table(cut).equals(pq.read_table(recorded))


def test_things_that_come_in_the_middle_are_one_sentence(pushing, tmp_path):
    fewer = read_text(PUSHING.replace("<block", "<!-- <block").replace('heading="0.3"/>', 'heading="0.3"/> -->'))
    with pytest.raises(RecordingError, match="a recording with 2 things that can be pushed cannot take 1"), \
         Recorder(tmp_path / "run.parquet", pushing) as record:
        record([formiga.Simulation(pushing)])
        record([formiga.Simulation(pushing)])
        record([formiga.Simulation(fewer)])
    assert read_recording(tmp_path / "run.parquet").steps.tolist() == [0, 1]


def test_a_world_of_things_alone_has_rows_of_its_own(tmp_path):
    world = read_text('<world dt="0.05"><arena width="1" depth="1"/><contact model="impulse"/><ball vx="0.5"/></world>')
    recording = read_recording(formiga.simulate(world, 0.5, out=tmp_path).recording)
    assert recording.poses().x.shape == (11, 1, 0) and recording.poses().movables[-1, 0, 0, 0] > 0.1
    assert recording.replay() is None


# -- files that are not what they should be ---------------------------------------------------------------------------
def on_file(recorded):
    """The words in a file, as they stand there, but for their seal: a test that changes them is about what it changed."""
    meta = json.loads(pq.ParquetFile(recorded).metadata.metadata[KEY])
    del meta[SEAL]
    return meta


def rewritten(recorded, folder, table=None, meta=None, schema=MORE_COLUMNS):
    file = folder / "changed.parquet"
    table = read_recording(recorded).table() if table is None else table
    with pq.ParquetWriter(file, schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: json.dumps(on_file(recorded) if meta is None else meta)})
    return read_recording(file)


@pytest.mark.parametrize("value", [np.inf, np.nan, -1e300])
@pytest.mark.parametrize("column", ["y", "vx", "spin"])
def test_places_and_speeds_that_no_run_gives_are_refused(recorded, tmp_path, column, value):
    table = read_recording(recorded).table()
    values = table[column].to_numpy().copy()
    values[6] = value  # of a thing
    at = MORE_COLUMNS.names.index(column)
    changed = rewritten(recorded, tmp_path, table.set_column(at, MORE_COLUMNS.field(column), pa.array(values)))
    with pytest.raises(RecordingError, match=f"damaged; column '{column}' has values that no run gives"):
        changed.poses()


@pytest.mark.parametrize("change, complaint", [
    ({"format": 1}, "a recording of format 1 has other columns"),
    ({"format": 5}, "a recording of format 5, written by formiga .*; this one reads formats 1 to 4"),
    ({"format": 3}, "a recording of format 3 has other columns"),
    ({"world": "<world><sbot/></world>"}, "in a recording of format 2 there is something that can be pushed"),
    ({"world": "<world><contact model='impulse'/><ball/></world>"},
     "168 rows do not make 21 steps of 2 worlds with 0 robots and 1 things that can be pushed"),
])
def test_words_that_do_not_fit_are_one_sentence(recorded, change, complaint, tmp_path):
    with pytest.raises(RecordingError, match=complaint) as caught:
        rewritten(recorded, tmp_path, meta=on_file(recorded) | change)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_columns_of_the_first_format_cannot_claim_the_second(recorded, tmp_path):
    table = read_recording(recorded).table().select(COLUMNS.names)
    with pytest.raises(RecordingError, match="a recording of format 2 has other columns"):
        rewritten(recorded, tmp_path, table, schema=COLUMNS)
    first = on_file(recorded) | {"format": 1}
    with pytest.raises(RecordingError, match="in a recording of format 1 there is nothing that can be pushed"):
        rewritten(recorded, tmp_path, table, first, schema=COLUMNS)
