"""What was recorded can be read, and run again with the same bits; files of strangers are looked at with care."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import formiga
from formiga.errors import RecordingError
from formiga.record import recording as recording_module
from formiga.record.format import COLUMNS, KEY, ROWS
from formiga.record.recording import read_recording

CSV = "0, 40\n0.05, 20\n0.15, 2\n"


# -- reading and running again ----------------------------------------------------------------------------------------
def test_the_world_comes_back_equal(recorded, world):
    recording = read_recording(recorded)
    assert recording.world == world
    assert (recording.seed, recording.worlds, recording.engine, recording.ending) == (5, 3, "planar", "complete")


@pytest.mark.parametrize("threads", [1, 3])
def test_running_it_again_gives_the_same_bits(recorded, threads):
    assert read_recording(recorded).replay(threads) is None


def test_the_smallest_change_of_one_number_is_found_where_it_is(recorded, tmp_path):
    table = read_recording(recorded).table()
    y = table["y"].to_numpy().copy()
    row = 13 * 15 + 2 * 5 + 4
    y[row] = np.nextafter(y[row], 10.0)
    at = COLUMNS.get_field_index("y")
    found = rewritten(recorded, tmp_path, table.set_column(at, COLUMNS.field("y"), pa.array(y))).replay()
    assert (found.step, found.world, found.robot, found.column) == (13, 2, 4, "y")
    assert found.recorded == np.nextafter(found.replayed, 10.0)
    assert str(found).startswith("step 13, world 2, robot 4: y was ")


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e300])
def test_places_that_no_run_gives_are_refused(recorded, tmp_path, value):
    table = read_recording(recorded).table()
    x = table["x"].to_numpy().copy()
    x[7] = value
    changed = rewritten(recorded, tmp_path, table.set_column(COLUMNS.get_field_index("x"), COLUMNS.field("x"), pa.array(x)))
    with pytest.raises(RecordingError, match="damaged; column 'x' has values that no run gives"):
        changed.poses()


def test_a_run_that_ends_earlier_than_its_recording_is_a_difference(tmp_path):
    """Recorded without a crash limit; the world in the file then gets one that ends it at once."""
    run = formiga.simulate(formiga.read_world("packed", robots=4), 3.0, out=tmp_path)
    limited = formiga.read_world("swarmod", robots=4, crash_limit=1).contact
    meta = read_recording(run.recording).meta
    meta["world"] = meta["world"].replace('mode="published"', f'mode="published" crash_limit="{limited.crash_limit}"')
    found = rewritten(run.recording, tmp_path, meta=meta).replay()
    assert found is not None and found.column in ("step", "alive", "left", "x", "crashed")


def test_frames_are_the_recorded_steps_one_by_one(recorded):
    recording = read_recording(recorded)
    frames = list(recording.frames())
    assert [frame["step"][0].as_py() for frame in frames] == recording.steps.tolist()
    np.testing.assert_array_equal([frame["x"] for frame in frames], recording.poses().x.reshape(21, 15))


def test_a_recording_too_large_for_memory_is_refused_in_one_piece_but_read_in_blocks(recorded, monkeypatch):
    monkeypatch.setattr(recording_module, "LARGEST_IN_MEMORY", 1000)
    recording = read_recording(recorded)
    with pytest.raises(RecordingError, match=r"use blocks\(\) or frames\(\)"):
        recording.poses()
    assert sum(block.num_rows for block in recording.blocks()) == 21 * 15


@pytest.mark.parametrize("rows", [4, 64, 1 << 17])
def test_one_world_of_many_is_read_alone(recorded, tmp_path, monkeypatch, rows):
    recording = rewritten(recorded, tmp_path, rows=rows)
    everything = recording.poses()
    monkeypatch.setattr(recording_module, "LARGEST_IN_MEMORY", 21 * 5 * 66)  # room for one of three
    for world in range(3):
        alone = recording.poses(world)
        np.testing.assert_array_equal(alone.time, everything.time)
        for ours, theirs in zip(alone[1:], everything[1:]):
            np.testing.assert_array_equal(ours, theirs[:, [world]])
    for world in (-1, 3):
        with pytest.raises(RecordingError, match=f"there is no world {world}; they are numbered from 0 to 2"):
            recording.poses(world)


def test_a_recording_from_before_they_could_be_touched_is_not(recorded, tmp_path):
    meta = read_recording(recorded).meta
    del meta["touched"]
    old = rewritten(recorded, tmp_path, meta=meta)
    assert not old.touched and old.replay() is None


def test_a_file_that_the_world_names_travels_with_the_recording(tmp_path):
    (tmp_path / "table.csv").write_text(CSV)
    (tmp_path / "w.xml").write_text('<world><arena width="1" depth="1"/><sbot count="3"><scatter/>'
                                    '<proximity samples="table.csv"/><braitenberg/></sbot></world>')
    recorded = formiga.simulate(tmp_path / "w.xml", 5.0, out=tmp_path / "out").recording
    (tmp_path / "table.csv").unlink()
    recording = read_recording(recorded)
    copy = recording.world.groups[0].sensors[0].samples
    assert copy != str(tmp_path / "table.csv")
    with open(copy) as stream:
        assert stream.read() == CSV
    assert recording.replay() is None


def test_a_file_that_is_gone_before_the_run_is_one_sentence(tmp_path):
    (tmp_path / "table.csv").write_text(CSV)
    (tmp_path / "w.xml").write_text('<world><arena width="1" depth="1"/><sbot><proximity samples="table.csv"/></sbot></world>')
    world = formiga.read_world(tmp_path / "w.xml")
    (tmp_path / "table.csv").unlink()
    with pytest.raises(RecordingError, match=r"table\.csv: the world names it, but"):
        formiga.simulate(world, 1.0, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# -- files that are not what they should be ---------------------------------------------------------------------------
def rewritten(recorded, folder, table=None, meta=None, schema=COLUMNS, key=KEY, rows=ROWS):
    """The recording again, with another table or other words about it."""
    file = folder / "changed.parquet"
    table = read_recording(recorded).table() if table is None else table
    meta = read_recording(recorded).meta if meta is None else meta
    with pq.ParquetWriter(file, schema) as writer:
        writer.write_table(table, row_group_size=rows)
        writer.add_key_value_metadata({key: meta if isinstance(meta, str) else json.dumps(meta)})
    return read_recording(file)


def test_what_is_not_there_or_not_a_file_is_one_sentence(tmp_path):
    with pytest.raises(RecordingError, match=r"none\.parquet: no such file\.$"):
        read_recording(tmp_path / "none.parquet")
    with pytest.raises(RecordingError, match="is a folder; a recording is one file, such as"):
        read_recording(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordingError, match="not a file"):
        read_recording(tmp_path / "pipe")


@pytest.mark.parametrize("contents", [b"", b"PAR1", b"<world/>", b"PAR1" * 4])
def test_what_is_not_parquet_is_one_sentence(contents, tmp_path):
    (tmp_path / "x").write_bytes(contents)
    with pytest.raises(RecordingError, match=r"x: not a recording, or cut short: not a whole Parquet file\.$"):
        read_recording(tmp_path / "x")


def test_parquet_of_somebody_else_is_one_sentence(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x")
    with pytest.raises(RecordingError, match=r"x: a Parquet file, but not a recording of formiga\.$"):
        read_recording(tmp_path / "x")


def test_a_missing_column_is_named(recorded, tmp_path):
    table = read_recording(recorded).table().drop_columns(["heading"])
    with pytest.raises(RecordingError, match="it has no column 'heading'"):
        rewritten(recorded, tmp_path, table, schema=table.schema)


def test_a_column_of_another_type_is_refused(recorded, tmp_path):
    table = read_recording(recorded).table()
    table = table.set_column(4, "x", table["x"].cast(pa.float32()))
    with pytest.raises(RecordingError, match="its columns are not those of a recording"):
        rewritten(recorded, tmp_path, table, schema=table.schema)


def test_rows_in_another_order_are_refused(recorded, tmp_path):
    table = read_recording(recorded).table()
    backwards = rewritten(recorded, tmp_path, table.take(list(range(table.num_rows))[::-1]))
    with pytest.raises(RecordingError, match="out of order"):
        backwards.poses()


def test_too_few_rows_are_refused(recorded, tmp_path):
    with pytest.raises(RecordingError, match="314 rows do not make 21 steps of 3 worlds with 5 robots"):
        rewritten(recorded, tmp_path, read_recording(recorded).table().slice(1))


@pytest.mark.parametrize("change, complaint", [
    ({"format": 2}, "a recording of format 2"),
    ({"format": None}, "a recording of format None"),
    ({"world": "<world"}, "its world cannot be read: .*not well-formed"),
    ({"world": 7}, "does not say 'world'"),
    ({"world": "<world><include file='/etc/hostname'/></world>"}, "includes other files"),
    ({"world": "<world><sbot><proximity samples='/etc/hostname'/></sbot></world>"}, "is not in the recording"),
    ({"world": "<world><sbot><telepathy/></sbot></world>"},
     "changed.parquet: its world cannot be read: line 1: <telepathy> is unknown"),
    ({"seed": -1}, "does not say 'seed'"),
    ({"seed": True}, "does not say 'seed'"),
    ({"worlds": 0}, "does not say 'worlds'"),
    ({"every": 0}, "does not say 'every'"),
    ({"last_step": 2**31}, "does not say 'last_step'"),
    ({"last_step": 10**9}, "rows do not make"),
    ({"ending": "happily"}, "does not say 'ending'"),
    ({"files": {"../../escape": ""}}, "a file in it has the name '../../escape'"),
    ({"files": {"0/..": ""}}, r"a file in it has the name '0/\.\.'"),
    ({"files": {"0/a": "not base64!"}}, "cannot be unpacked"),
    ({"files": []}, "does not say 'files'"),
    ({"touched": 1}, "does not say whether the run was 'touched'"),
    ({"touched": None}, "does not say whether the run was 'touched'"),
])
def test_words_that_do_not_fit_are_one_sentence(recorded, change, complaint, tmp_path):
    meta = {**read_recording(recorded).meta, **change}
    with pytest.raises(RecordingError, match=complaint) as caught:
        rewritten(recorded, tmp_path, meta=meta)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "7", "{", "[" * 100_000, '{"seed": ' + "9" * 5000 + "}"])
def test_words_that_are_not_a_json_object_are_one_sentence(recorded, text, tmp_path):
    with pytest.raises(RecordingError, match="what it says about the run cannot be read"):
        rewritten(recorded, tmp_path, meta=text)


@pytest.mark.parametrize("claim", [{"last_step": 2**31 - 1, "every": 2}, {"worlds": 2**31 - 1}])
def test_a_world_without_robots_cannot_claim_a_billion_steps_or_worlds(recorded, tmp_path, claim):
    """It has no rows that could be counted, and the list of steps, or the keys of the worlds, alone would fill the memory."""
    meta = {**read_recording(recorded).meta, "world": "<world/>", **claim}
    with pytest.raises(RecordingError, match="do not make"):
        rewritten(recorded, tmp_path, read_recording(recorded).table().slice(0, 0), meta)


def test_a_huge_row_group_is_refused_before_it_is_read(recorded, tmp_path):
    """A million equal rows take next to nothing in the file."""
    table = pa.table({name: pa.repeat(pa.scalar(0, kind) if not pa.types.is_boolean(kind) else False, 1 << 20)
                      for name, kind in zip(COLUMNS.names, COLUMNS.types) if name != "group"})
    table = table.add_column(4, COLUMNS.field("group"), pa.nulls(1 << 20, COLUMNS.field("group").type)).cast(COLUMNS)
    with pytest.raises(RecordingError, match="a row group has more than"):
        rewritten(recorded, tmp_path, table, rows=1 << 20)


def use(file):
    """Everything that a recording can be asked for."""
    recording = read_recording(file)
    return recording.world, recording.poses(), recording.table().num_rows


@given(st.data())
def test_a_recording_that_is_cut_short_is_always_a_recording_error(recorded, tmp_path_factory, data):
    whole = recorded.read_bytes()
    file = tmp_path_factory.mktemp("cut") / "x.parquet"
    file.write_bytes(whole[:data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(RecordingError) as caught:
        use(file)
    assert "\n" not in str(caught.value)


@given(st.data())
def test_a_garbled_recording_is_a_recording_error_or_reads_the_same_poses(recorded, tmp_path_factory, data):
    """Pages have checksums, so no wrong number comes out; bytes that nobody reads may change without harm."""
    whole = bytearray(recorded.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("garbled") / "x.parquet"
    file.write_bytes(whole)
    try:
        _, poses, _ = use(file)
    except RecordingError as error:
        assert "\n" not in str(error)
    else:
        for ours, theirs in zip(poses, read_recording(recorded).poses()):
            np.testing.assert_array_equal(ours, theirs)


# -- bits that flip -----------------------------------------------------------------------------------------------------------
def test_whatever_bit_of_the_words_about_a_run_flips_it_is_noticed(recorded, tmp_path):
    """A seed, a step or a wall's place that is another one would look as good as the right one."""
    whole, text = recorded.read_bytes(), pq.ParquetFile(recorded).metadata.metadata[KEY]
    first, named = whole.index(text), text.index(b'"seal"')
    for at in [*range(0, named, 11), named + 20]:
        damaged = bytearray(whole)
        damaged[first + at] ^= 1
        (tmp_path / "run.parquet").write_bytes(damaged)
        with pytest.raises(RecordingError, match=r"run\.parquet: .*damaged"):
            read_recording(tmp_path / "run.parquet")


def test_a_recording_of_before_there_were_seals_is_read(recorded, tmp_path):
    old = rewritten(recorded, tmp_path)
    assert b'"seal"' not in pq.ParquetFile(old.path).metadata.metadata[KEY]
    assert old.meta == read_recording(recorded).meta and old.table().equals(read_recording(recorded).table())
