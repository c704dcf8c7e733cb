"""What was drawn into a run is recorded beside it, and shown again as it was; a table of a stranger is read with care."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import formiga
from formiga import Simulation
from formiga.drawing import Pen, Sheet, same
from formiga.errors import RecordingError, WorldError
from formiga.record import drawings
from formiga.record.drawings import Changes, Timeline
from formiga.record.tables import SCHEMAS, STAMP, Tables, drawings_of, table_file
from tests.drawing.artist import LAYERS, studio

pytestmark = pytest.mark.usefixtures("own_registry")


def shown(one, other):
    """Whether two moments show the same."""
    return one.keys() == other.keys() and all(same(one[layer], other[layer]) for layer in one)


def test_a_recorded_run_shows_at_every_step_what_was_drawn_then(tmp_path):
    world = studio()
    run = formiga.simulate(world, 1.5, seed=4, out=tmp_path)
    lab, timeline = Simulation(world, 4), drawings_of(run.recording)
    for step in range(16):
        assert shown(timeline.at(step), lab.drawings()) and list(timeline.at(step)) == LAYERS
        lab.step()
    assert not timeline.wrong


def test_a_world_in_which_nothing_draws_has_no_such_table(tmp_path):
    run = formiga.simulate("corral", 0.5, out=tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["run.parquet"]
    assert drawings_of(run.recording).at(3) == {} and not drawings_of(run.recording).wrong
    asked = formiga.simulate("corral", 0.5, out=tmp_path, record=["drawings"])
    assert formiga.read_table(asked.recording, "drawings").num_rows == 0


def test_a_new_recording_removes_the_drawings_of_the_one_before(tmp_path):
    formiga.simulate("line", 0.5, out=tmp_path)
    assert table_file(tmp_path / "run.parquet", "drawings").exists()
    formiga.simulate("corral", 0.5, out=tmp_path)
    assert not table_file(tmp_path / "run.parquet", "drawings").exists()


def test_of_a_batch_the_first_world_is_drawn(tmp_path):
    run = formiga.simulate("line", 1.0, seed=2, worlds=4, out=tmp_path, threads=2)
    lab = Simulation("line", 2)
    for _ in range(10):
        lab.step()
    assert shown(drawings_of(run.recording).at(10), lab.drawings())
    assert drawings_of(run.recording, 2).at(10) == {}


def test_what_a_script_draws_is_recorded_where_it_changes(tmp_path):
    with Tables(tmp_path / "run.parquet", ["drawings"]) as tables:
        lab = Simulation("corral")
        tables([lab])
        for step in range(1, 9):
            lab.step()
            if step == 3:
                lab.pen("plan").path([(0, 0), (1, 1)])
            if step == 6:
                lab.pen("plan").clear()
            tables([lab])
    table = formiga.read_table(tmp_path / "run.parquet", "drawings")
    assert table["step"].to_pylist() == [3, 6] and table["kind"].to_pylist() == ["path", ""]
    timeline = Timeline(table)
    assert [list(timeline.at(step)) for step in (2, 3, 5, 6)] == [[], ["plan"], ["plan"], []]


def draw(numbers):
    sheet = Sheet()
    Pen(sheet, "cloud").particles(numbers)
    return sheet.drawings


def test_a_layer_that_stays_as_it_is_costs_nothing_and_a_large_table_takes_fewer_moments(monkeypatch, rng):
    changes, fixed = Changes(), draw(rng.uniform(0, 1, (100, 3)))
    assert len(changes.take(fixed)["kind"]) == 1
    assert all(len(changes.take(draw(fixed["cloud"][0].numbers[:, [0, 1, 3]]))["kind"]) == 0 for _ in range(3))
    monkeypatch.setattr(drawings, "LARGE", 10_000)
    changes, taken = Changes(), []
    for step in range(400):
        if changes.due(step, 0.1):
            taken.append(step)
            changes.take(draw(rng.uniform(0, 1, (200, 3))))
    assert taken[:5] == [0, 1, 2, 3, 4] and len(taken) < 80
    assert np.diff(taken).max() >= 16  # ever rarer


def test_quick_control_periods_are_drawn_some_25_times_a_second():
    changes = Changes()
    assert sum(changes.due(step, 0.005) for step in range(200)) == 25
    assert sum(changes.due(step, 0.02) for step in range(50)) == 25
    assert sum(changes.due(step, 0.1) for step in range(10)) == 10


def test_a_drawing_that_fails_ends_a_recorded_run_with_its_message_and_leaves_nothing(tmp_path):
    from formiga.world.reader import read_text
    from tests.drawing.test_sketch import SCRIBES, make

    make(lambda self, view, pen: pen.points(np.full((2, 2), np.nan)))
    with pytest.raises(WorldError, match=r"desk.xml:5: <scribe> of 'desk' cannot be drawn"):
        formiga.simulate(read_text(SCRIBES, "desk.xml"), 1.0, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


# -- tables of strangers ------------------------------------------------------------------------------------------------
@pytest.fixture
def recorded(tmp_path):
    return formiga.simulate("line", 1.0, out=tmp_path).recording


def replaced(recording: Path, **columns) -> None:
    """Write the table again with other columns, under the same stamp."""
    table = formiga.read_table(recording, "drawings")
    stamp = pq.read_metadata(table_file(recording, "drawings")).metadata[STAMP]
    for name, values in columns.items():
        kind = SCHEMAS["drawings"].field(name).type
        array = pa.array(values, type=pa.string()).dictionary_encode() if pa.types.is_dictionary(kind) else \
            pa.array(values, type=kind)
        table = table.set_column(table.schema.get_field_index(name), SCHEMAS["drawings"].field(name), array)
    with pq.ParquetWriter(table_file(recording, "drawings"), SCHEMAS["drawings"]) as writer:
        writer.write_table(table.cast(SCHEMAS["drawings"]))
        writer.add_key_value_metadata({STAMP: stamp})


@pytest.mark.parametrize("change, words", [
    (lambda rows: {"kind": ["virus"] * rows}, "there is no kind of mark 'virus'"),
    (lambda rows: {"columns": [0] * rows}, "numbers in 0 columns"),
    (lambda rows: {"columns": [3] * rows}, "pose with 8 numbers in 3 columns"),
    (lambda rows: {"columns": [4] * rows}, "pose cannot have numbers of the shape (2, 4)"),
    (lambda rows: {"numbers": [[np.nan] * 8] * rows}, "pose with numbers that are none"),
    (lambda rows: {"numbers": [[1e30] * 8] * rows}, "pose with numbers that are none"),
    (lambda rows: {"colours": [[0, 0, 0, 0]] * rows}, "pose with 8 numbers"),
    (lambda rows: {"size": [-1.0] * rows}, "pose of the size -1.0"),
    (lambda rows: {"robots": [[-5]] * rows}, "colours on (1,) robots"),
    (lambda rows: {"words": [["x"]] * rows}, "pose with 1 words"),
    (lambda rows: {"at": [[1.0] * 9] * rows}, "pose at"),
    (lambda rows: {"step": list(range(rows))[::-1]}, "its steps are out of order"),
    (lambda rows: {"layer": ["x" * 1000] * rows}, "some whose names are none"),
    (lambda rows: {"layer": ["two\nlines"] * rows}, "some whose names are none"),
    (lambda rows: {"kind": ["text"] * rows, "columns": [3] * rows, "numbers": [[0.0] * 3] * rows, "words": [["a\nb"]] * rows},
     "text with 1 words"),
])
def test_a_table_that_no_run_gives_is_one_message_and_shows_nothing(recorded, change, words):
    replaced(recorded, **change(formiga.read_table(recorded, "drawings").num_rows))
    timeline = drawings_of(recorded)
    assert words in timeline.wrong and timeline.wrong.endswith("nothing of it is shown.") and "\n" not in timeline.wrong
    assert timeline.wrong.startswith(str(table_file(recorded, "drawings"))) and timeline.at(5) == {}


def test_a_file_that_is_none_or_of_another_run_or_too_large_is_one_message(recorded, tmp_path, monkeypatch):
    path = table_file(recorded, "drawings")
    whole = path.read_bytes()
    for data in (b"", b"PAR1", whole[:-20], whole[:200] + b"\0" * 50 + whole[250:]):
        path.write_bytes(data)
        assert "damaged" in drawings_of(recorded).wrong
    other = formiga.simulate("line", 0.5, seed=9, out=tmp_path / "other").recording
    path.write_bytes(table_file(other, "drawings").read_bytes())
    assert "another run" in drawings_of(recorded).wrong
    with pytest.raises(RecordingError):
        formiga.read_table(recorded, "drawings")
    path.write_bytes(whole)
    with monkeypatch.context() as small:
        small.setattr(drawings, "MOST_ROWS", 2)
        assert "larger than formiga writes" in drawings_of(recorded).wrong
    with monkeypatch.context() as small:
        small.setattr(drawings, "LARGEST", 20)
        assert "too many at once" in drawings_of(recorded).wrong
    pq.write_table(pa.table({"x": [1]}), path)
    assert "other columns" in drawings_of(recorded).wrong
