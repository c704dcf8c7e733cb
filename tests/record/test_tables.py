"""Tables beside a recording: what they hold is what the run had, and they are whole or not there."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import formiga
from formiga import Simulation
from formiga.control import Orders
from formiga.errors import RecordingError
from formiga.record.recording import read_recording, read_table
from formiga.record.tables import SCHEMAS, Tables, table_file

DATA = Path(__file__).parent / "data"


def test_joints_and_events_of_a_run_in_space(tmp_path):
    with Tables(tmp_path / "run.parquet", ["joints", "events", "orders"], every=2) as tables:
        lab = Simulation("pulling", 3)
        tables([lab])
        group = lab.world.groups[0]
        told = np.zeros((1, group.count, 3))
        told[..., 2] = 1.0
        for _ in range(6):
            lab.step({group.name: Orders(joints=told)})
            tables([lab])
    joints = read_table(tmp_path / "run.parquet", "joints")
    robots = lab.world.robots
    assert joints.schema == SCHEMAS["joints"] and sorted(set(joints["step"].to_pylist())) == [0, 2, 4, 6]
    last = joints.slice(joints.num_rows - 3 * robots)
    assert last["joint"].to_pylist() == ["turret", "arm", "grip"] * robots
    assert np.array_equal(last["position"].to_numpy(), lab.state.joint_position.reshape(-1))
    assert np.array_equal(last["command"].to_numpy(), lab.state.joint_command.reshape(-1))
    events = read_table(tmp_path / "run.parquet", "events")
    assert events.num_rows == sum(lab.log.counts.values()) > 0
    assert events["text"].to_pylist() == [event.text for event in lab.log.last]
    assert "joint" in read_table(tmp_path / "run.parquet", "orders")["part"].to_pylist()


@pytest.mark.parametrize("tables", [["joint"], ["events", "wheels"]])
def test_a_table_that_there_is_not_is_refused_before_the_run(tmp_path, tables):
    with pytest.raises(RecordingError, match=r"there is no table '\w+' of a run.* There are: poses, joints, "
                                             r"readings, beliefs, messages, orders, events"):
        formiga.simulate("avoid", 0.5, out=tmp_path / "new", record=tables)
    assert not (tmp_path / "new").exists()


def test_what_is_not_such_a_table_is_refused_in_one_sentence(tmp_path):
    file = tmp_path / "run.parquet"
    with pytest.raises(RecordingError, match=r"no such file; .*`formiga run --out DIR --record joints`, writes it"):
        read_table(file, "joints")
    table_file(file, "joints").write_bytes(b"PAR1 garbage")
    with pytest.raises(RecordingError, match="damaged, or not a table"):
        read_table(file, "joints")
    pq.write_table(pa.table({"a": [1]}), table_file(file, "joints"))
    with pytest.raises(RecordingError, match="other columns than a table of joints: a"):
        read_table(file, "joints")


def test_an_error_in_the_middle_keeps_whole_files_and_leaves_nothing_hidden(tmp_path):
    lab = Simulation("avoid", 3)
    with pytest.raises(ZeroDivisionError), Tables(tmp_path / "run.parquet", ["orders", "readings"]) as tables:
        tables([lab])
        lab.step()
        tables([lab])
        raise ZeroDivisionError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.orders.parquet", "run.readings.parquet"]
    assert read_table(tmp_path / "run.parquet", "orders").num_rows == 2 * lab.world.robots
    with pytest.raises(ZeroDivisionError), Tables(tmp_path / "none.parquet", ["orders"]):
        raise ZeroDivisionError
    assert not list(tmp_path.glob("*none*"))


def full_disk(monkeypatch, name):
    """No table with a column of this name can be written."""
    write = pq.ParquetWriter.write_table

    def refuse(writer, table, row_group_size=None):
        if name in table.schema.names:
            raise OSError(28, "No space left on device")
        write(writer, table, row_group_size)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", refuse)


def test_a_table_that_cannot_be_written_is_not_there_and_the_message_names_it(tmp_path, monkeypatch):
    lab = Simulation("avoid")
    rows = sum(values.size for values in lab.readings[lab.world.groups[0].name].values())
    monkeypatch.setattr("formiga.record.tables.ROWS", 2 * rows)  # in the middle of the run
    full_disk(monkeypatch, "sensor")
    with pytest.raises(RecordingError, match=r"run\.readings\.parquet: cannot be written \(No space left on device\)"):
        formiga.simulate("avoid", 0.5, out=tmp_path, record=["readings", "orders"])
    assert [path.name for path in tmp_path.iterdir()] == ["run.parquet"]  # what was done until then


def test_tables_of_a_recording_that_cannot_be_written_replace_nothing(tmp_path, monkeypatch):
    first = formiga.simulate("avoid", 0.5, seed=1, out=tmp_path, record=["orders"])
    before = read_table(first.recording, "orders")
    full_disk(monkeypatch, "heading")
    with pytest.raises(RecordingError, match=r"run\.parquet: cannot be written"):
        formiga.simulate("avoid", 0.3, seed=2, out=tmp_path, record=["orders"])
    assert read_table(first.recording, "orders").equals(before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.orders.parquet", "run.parquet"]


def test_a_new_recording_leaves_no_tables_of_the_one_before(tmp_path):
    formiga.simulate("avoid", 0.3, seed=1, out=tmp_path, record=["orders", "readings"])
    run = formiga.simulate("avoid", 0.3, seed=2, out=tmp_path, record=["orders"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.orders.parquet", "run.parquet"]
    with pytest.raises(RecordingError, match="no such file"):
        read_table(run.recording, "readings")


def test_a_table_of_another_run_is_refused(tmp_path):
    one, two = (formiga.simulate("avoid", 0.3, seed=seed, out=tmp_path / str(seed), record=["orders"]) for seed in (1, 2))
    table_file(one.recording, "orders").replace(table_file(two.recording, "orders"))
    with pytest.raises(RecordingError, match=r"a table of another run than the recording run\.parquet beside it"):
        read_table(two.recording, "orders")


def test_damage_in_the_data_of_a_table_is_found(tmp_path):
    run = formiga.simulate("avoid", 0.3, out=tmp_path, record=["orders"])
    file = table_file(run.recording, "orders")
    whole = file.read_bytes()
    values = pq.read_metadata(file).row_group(0).column(SCHEMAS["orders"].get_field_index("value"))
    last = (values.dictionary_page_offset or values.data_page_offset) + values.total_compressed_size - 1
    file.write_bytes(whole[:last] + bytes([whole[last] ^ 0x55]) + whole[last + 1:])
    with pytest.raises(RecordingError, match="damaged, or not a table"):
        read_table(run.recording, "orders")


FLIPPED = """
import sys
from pathlib import Path
from formiga.errors import RecordingError
from formiga.record.recording import read_table
from formiga.record.tables import table_file
for name in sys.argv[2:]:
    file, expected = table_file(sys.argv[1], name), read_table(sys.argv[1], name)
    whole = file.read_bytes()
    for at in range(len(whole) - 8 - int.from_bytes(whole[-8:-4], "little"), len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:])
        try:
            assert read_table(sys.argv[1], name).equals(expected), (name, at)
        except RecordingError as wrong:
            assert "\\n" not in str(wrong)
    file.write_bytes(whole)
"""


def test_whatever_bit_of_what_a_table_says_of_itself_flips_it_is_refused_or_reads_the_same(tmp_path):
    """In a process of its own, since libparquet could end it."""
    run = formiga.simulate("line", 0.5, out=tmp_path, record=["metrics:crashes", "drawings"])
    done = subprocess.run([sys.executable, "-c", FLIPPED, run.recording, "metrics", "drawings"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("tables", ["orders", 5, [5], [None]])
def test_what_is_not_a_list_of_tables_is_refused(tmp_path, tables):
    with pytest.raises(RecordingError, match="There are: poses, joints, readings, beliefs, messages"):
        formiga.simulate("avoid", 0.3, out=tmp_path / "new", record=tables)


def test_names_of_tables_may_come_one_by_one(tmp_path):
    run = formiga.simulate("avoid", 0.3, out=tmp_path, record=iter(["orders"]))
    assert read_table(run.recording, "orders").num_rows


@pytest.mark.parametrize("path", [None, "", 5])
def test_what_is_not_the_path_of_a_recording_has_no_tables(path):
    with pytest.raises(RecordingError, match="is not the path of a recording"):
        read_table(path, "orders")


# -- recordings of earlier versions --------------------------------------------------------------------------------------
WRITTEN = json.loads((DATA / "written.json").read_text())


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_a_recording_of_an_earlier_version_reads_as_it_was_written(name):
    """The files were written, and their figures read, by formiga at the commit before states were declared."""
    recording, expected = read_recording(DATA / name), WRITTEN[name]
    assert (recording.format, recording.seed, recording.worlds) == tuple(expected[key] for key in ("format", "seed", "worlds"))
    assert recording.world.robots == expected["robots"]
    table = recording.table()
    assert [name for name in table.schema.names if name != "group"] == list(expected["last"])
    assert table["group"].to_pylist() == [next((group.name for group, robots in zip(
        recording.world.groups, recording.world.slices, strict=True) if robots.start <= robot < robots.stop), None)
        for robot in table["robot"].to_pylist()]
    for column, value in expected["last"].items():
        assert float(table[column].to_numpy()[-1]) == value
        assert float(np.mean(table[column].to_numpy().astype(float))) == expected["mean"][column]


@pytest.mark.parametrize("name", ["format1.parquet", "format2.parquet"])
def test_a_run_of_an_earlier_version_gives_the_same_bits_today(name):
    assert read_recording(DATA / name).replay(1) is None
