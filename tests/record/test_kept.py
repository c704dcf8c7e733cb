"""What a run recorded beside its poses is what it had, row by row; kept with the run or in a folder, it reads the same."""

from __future__ import annotations

import builtins
import gc
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import formiga
from formiga import Simulation, measures
from formiga.errors import FormigaError, MissingExtra, RecordingError, WorldError
from formiga.record import tables
from formiga.record.columns import SCHEMAS
from formiga.record.tables import Tables
from formiga.world.reader import read_text
from tests.reference.tables import rows

DATA = Path(__file__).parent / "data"
TALK = """<world name="talk" dt="0.1" seconds="1">
  <arena width="2" depth="2"/>
  <sbot name="ants" count="2"><scatter/><proximity/><ground/><range_and_bearing numbers="1" range="3m"/>
    <odometry/><spread/></sbot>
  <disc name="rovers" count="1" radius="8cm" wheel_base="10cm" top_speed="10cm/s" leds="1"><scatter/><encoders/>
    <odometry name="dead" ticks="8"/><range_and_bearing numbers="1" range="3m"/><spread/></disc>
</world>"""
EVERYTHING = ["readings", "beliefs", "messages", "orders", "joints"]


# -- rows ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("world, worlds, seconds, filled", [
    (TALK, 3, 0.6, {"readings", "beliefs", "messages", "orders"}),
    ("mixed", 2, 0.3, {"readings", "orders"}),
    ("car", 1, 0.5, {"orders"}),
    ("quadruped", 1, 0.1, {"joints", "orders"}),
    ("rough", 1, 0.2, {"readings", "orders", "joints"}),
])
def test_every_table_has_what_the_same_run_has_by_hand(world, worlds, seconds, filled):
    world = read_text(world, "talk.xml") if world.startswith("<") else formiga.read_world(world)
    run = formiga.simulate(world, seconds, seed=7, worlds=worlds, record=EVERYTHING, threads=2)
    lab, expected = Simulation(world, 7, worlds, compiled=False), {name: [] for name in EVERYTHING}
    last = round(seconds / world.dt)
    for step in range(last + 1):
        for name in EVERYTHING:
            expected[name] += rows(lab, name, step)
        if step < last:
            lab.step()
    for name in EVERYTHING:
        table = run.table(name)
        assert table.schema.equals(SCHEMAS[name]) and table.to_pylist() == expected[name], name
    assert {name for name in EVERYTHING if run.table(name).num_rows} >= filled
    assert run.tables[0] == "poses" and {*EVERYTHING} <= {*run.tables}


def test_a_world_that_has_ended_has_no_orders_from_then_on(tmp_path):
    text = """<world name="ends" dt="0.1"><param name="reach" value="1cm"/><arena width="1.2" depth="1.2"/>
<contact crash_limit="1"/><sbot count="3" leds="1"><scatter/><proximity reach="${reach}"/><braitenberg/></sbot></world>"""
    (tmp_path / "ends.xml").write_text(text)
    for params in (None, {"reach": ["1cm", "2cm", "1cm", "2cm", "1cm", "2cm"]}):
        runs = [formiga.simulate(tmp_path / "ends.xml", 2.0, worlds=6, params=params, threads=threads, every=2,
                                 record=["orders"]) for threads in (1, 4)]
        table, taken = runs[0].table("orders").to_pandas(), runs[0].state.step
        assert 0 < runs[0].state.done.sum() < 6 and runs[1].table("orders").equals(runs[0].table("orders"))
        for world in range(6):
            assert sorted(set(table[table.world == world].step)) == list(range(2, taken[world] + 1, 2))


def test_poses_have_the_group_of_each_robot_and_none_for_what_is_pushed():
    run = formiga.simulate("soccer", 0.2, worlds=2, record=[])
    groups = {number: group.name for group, robots in zip(run.world.groups, run.world.slices, strict=True)
              for number in range(robots.start, robots.stop)}
    table = run.table()
    assert table["group"].to_pylist() == [groups.get(robot) for robot in table["robot"].to_pylist()]
    assert None in set(table["group"].to_pylist()) and len(set(groups.values())) == 3 and run.tables == ["poses"]


def test_threads_and_shards_write_the_same_rows_of_all_tables_in_the_same_order():
    world = read_text(TALK, "talk.xml")
    one, other = (formiga.simulate(world, 0.4, seed=2, worlds=5, record=[*EVERYTHING, "metrics", "events"], threads=threads)
                  for threads in (1, 3))
    for name in one.tables:
        assert one.table(name).equals(other.table(name)) and (one.table(name).num_rows or name in ("joints", "events")), name


def test_an_image_is_one_row_with_all_its_numbers_and_few_wait_in_memory(monkeypatch):
    """However large a reading is: what waits is counted in numbers, not in rows."""
    monkeypatch.setattr(tables, "HEAVY", 1_000)
    waiting, write = [], Tables._write

    def watched(self, name):
        waiting.append(self._numbers[name])
        write(self, name)

    monkeypatch.setattr(Tables, "_write", watched)
    run = formiga.simulate("office", 1.0, record=["readings"])
    numbers = sum(len(values) for values in run.table("readings")["values"].to_pylist())
    each = numbers / 11
    assert numbers > 5_000 and len(waiting) > 5 and max(waiting) <= 1_000 + each


def test_only_every_so_many_steps_are_taken_and_the_recording_beside_them_agrees(tmp_path):
    run = formiga.simulate("avoid", 1.0, every=4, out=tmp_path, record=["readings", "metrics:crashes"])
    assert set(run.table()["step"].to_pylist()) == {0, 4, 8, 10}
    assert set(run.table("readings")["step"].to_pylist()) == {0, 4, 8} == set(run.table("metrics")["step"].to_pylist())


# -- metrics ------------------------------------------------------------------------------------------------------------
def test_metrics_are_what_the_measures_say_at_every_step(own_registry):
    @formiga.measure
    def farthest(sim):
        """m, of the robot that is farthest from the middle."""
        return np.hypot(*np.moveaxis(sim.state.position, -1, 0)).max(axis=1)

    def nearest(sim):
        return np.hypot(*np.moveaxis(sim.state.position, -1, 0)).min(axis=1)

    run = formiga.simulate("avoid", 0.5, seed=4, worlds=3, record=["metrics:farthest", nearest, "metrics:crashes"], threads=2)
    found = run.table("metrics").to_pylist()
    lab, expected = Simulation("avoid", 4, 3), []
    for step in range(6):
        for world in range(3):
            far = [float(np.hypot(x, y)) for x, y in lab.state.position[world]]
            for name, value in (("farthest", max(far)), ("nearest", min(far)), ("crashes", lab.state.crashes[world].sum())):
                expected.append({"step": step, "time": step * lab.world.dt, "world": world, "metric": name, "value": value})
        lab.step()
    assert found == expected
    everything = formiga.simulate("avoid", 0.1, record=["metrics"]).table("metrics")
    assert set(everything["metric"].to_pylist()) == set(measures.known()) - {"fitness"} >= {"farthest", "crashes", "spread"}


def test_a_measure_that_does_not_fit_the_world_is_one_sentence_with_its_name_file_and_line(own_registry, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("""import formiga

@formiga.measure
def heard(sim):
    return sim.readings["swarm"]["radio"][..., 0].sum(axis=1)

@formiga.measure
def total(sim):
    return sim.state.crashes.sum()
""")
    formiga.load_elements(mine)
    for record, words in (("metrics", f"{mine}:5: KeyError: 'radio' (in the measure 'heard', of the world 'avoid')."),
                          ("metrics:total", f"{mine}:7: the measure 'total' must return numbers of the shape (worlds,) = (2,), "
                                            "not int64 of the shape ().")):
        with pytest.raises(WorldError) as caught:
            formiga.simulate("avoid", 0.3, worlds=2, threads=1, out=tmp_path / "new", record=[record])
        assert str(caught.value) == words and not (tmp_path / "new").exists()
    one = formiga.simulate("avoid", 0.3, record=["metrics:crashes"])         # the others are recorded as ever
    assert set(one.table("metrics")["metric"].to_pylist()) == {"crashes"}


@pytest.mark.parametrize("record, kind, words", [
    (["metrics:cohesoin"], WorldError, "there is no measure 'cohesoin'"),
    (["metrics:fitness"], WorldError, "the measure 'fitness' is added up in every step of a run, as in a sweep"),
    (["metric"], RecordingError, "there is no table 'metric' of a run. Did you mean 'metrics'?"),
    ([lambda sim: 0.0], WorldError, r"the measure '<lambda>' must return numbers of the shape \(worlds,\) = \(1,\)"),
    ([lambda sim: [0.0], lambda sim: [1.0]], RecordingError, "two of the metrics are called '<lambda>'"),
    (readings := "readings", RecordingError, r"a list of names, such as \['readings'\], not 'readings'"),
])
def test_what_cannot_be_recorded_is_refused_in_one_sentence_and_leaves_nothing(tmp_path, record, kind, words):
    with pytest.raises(kind, match=words) as caught:
        formiga.simulate("avoid", 0.3, out=tmp_path / "new", record=record)
    assert "\n" not in str(caught.value) and not (tmp_path / "new").exists()


# -- where they are -----------------------------------------------------------------------------------------------------
def test_without_a_folder_tables_live_as_long_as_their_run():
    run = formiga.simulate("avoid", 0.3, record=["orders"])
    folder = run.stored.path.parent
    assert run.recording is None and folder.is_dir() and run.table("orders").num_rows and len(run.frame("orders"))
    stored = run.stored
    del run
    gc.collect()
    assert folder.is_dir() and stored.table().num_rows  # something still needs it
    del stored
    gc.collect()
    assert not folder.exists()


def test_a_run_that_fails_leaves_no_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def wrong(sim):
        raise ZeroDivisionError

    with pytest.raises(WorldError, match="ZeroDivisionError"):
        formiga.simulate("avoid", 0.3, record=[wrong])
    gc.collect()
    assert not list(tmp_path.glob("formiga-run-*"))


def test_a_run_that_was_not_recorded_says_how_it_would_be():
    run = formiga.simulate("avoid", 0.1)
    assert run.tables == []
    for ask in (run.table, run.frame):
        with pytest.raises(RecordingError, match=r"was not recorded: simulate\(..., record="):
            ask("readings")


def test_a_run_its_recording_and_the_file_give_the_same_tables(tmp_path):
    run = formiga.simulate("avoid", 0.3, out=tmp_path, record=["readings"])
    recording = formiga.read_recording(run.recording)
    assert recording.tables == run.tables == ["poses", "readings"]
    for name in run.tables:
        assert run.table(name).equals(recording.table(name)) and run.table(name).equals(formiga.read_table(run.recording, name))
        assert run.frame(name).equals(recording.frame(name)) and list(run.frame(name)) == run.table(name).column_names
    with pytest.raises(RecordingError, match=r"there is no such file; record=.'beliefs'.*--record beliefs"):
        run.table("beliefs")
    with pytest.raises(RecordingError, match=r"there is no table 'reading' of a run\. Did you mean 'readings'\?"):
        recording.table("reading")


def test_an_interrupted_run_keeps_what_was_done_of_all_tables(tmp_path):
    def stop(share):
        return share > 0.45

    run = formiga.simulate("avoid", 1.0, out=tmp_path, record=["readings", "metrics:crashes"], watch=stop)
    assert run.interrupted and formiga.read_recording(run.recording).ending == "interrupted"
    assert {max(run.table(name)["step"].to_pylist()) for name in run.tables} == {5}

    def break_off(share):
        if share > 0.45:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        formiga.simulate("avoid", 1.0, out=tmp_path / "ctrl-c", record=["readings"], watch=break_off)
    recording = formiga.read_recording(tmp_path / "ctrl-c" / "run.parquet")
    assert recording.ending == "interrupted"
    assert {max(recording.table(name)["step"].to_pylist()) for name in recording.tables} == {5}


def test_pandas_is_optional_and_a_missing_one_is_one_sentence(monkeypatch):
    run, load = formiga.simulate("avoid", 0.1, record=[]), builtins.__import__

    def without(name, *args, **more):
        if name.partition(".")[0] == "pandas":
            raise ImportError(f"No module named '{name}'")
        return load(name, *args, **more)

    class Table:
        def to_pandas(self):
            import pandas  # noqa: F401

    monkeypatch.setattr(builtins, "__import__", without)
    assert run.table().num_rows
    with pytest.raises(MissingExtra, match=r"DataFrames need pandas; install it with: pip install 'formiga\[pandas\]'"):
        tables.framed(Table())


# -- tables of earlier versions -----------------------------------------------------------------------------------------
def test_tables_that_were_written_before_there_were_groups_read_as_they_are_written_now():
    """The files are of formiga before readings were lists; the world that they hold gives the same readings today."""
    file = DATA / "before_groups.parquet"
    assert "group" not in pq.read_schema(file).names
    recording = formiga.read_recording(file)
    lab = Simulation(recording.world, recording.seed, recording.worlds)
    expected = {"readings": [], "messages": [], "orders": []}
    for step in range(4):
        for name in expected:
            expected[name] += rows(lab, name, step)
        lab.step()
    beliefs_and_links = {"odometry", "range_and_bearing"}  # which were among the readings
    for name, by_hand in expected.items():
        table = recording.table(name)
        assert table.schema.equals(SCHEMAS[name])
        found = [row for row in table.to_pylist() if row.get("sensor") not in beliefs_and_links]
        order = lambda row: (row["step"], row["world"], row["robot"], row.get("sender", 0), row.get("name", ""))  # noqa: E731
        assert sorted(found, key=order) == sorted(by_hand, key=order) and len(found) > 10
    assert recording.table()["group"].to_pylist()[:3] == ["ants", "ants", "rovers"]


def test_a_former_table_without_its_recording_has_no_groups_and_a_damaged_one_is_refused(tmp_path):
    shutil.copy(DATA / "before_groups.readings.parquet", tmp_path / "run.readings.parquet")
    table = formiga.read_table(tmp_path / "run.parquet", "readings")
    assert table["group"].null_count == table.num_rows > 0
    former = pq.read_table(tmp_path / "run.readings.parquet")
    pq.write_table(former.slice(1), tmp_path / "run.readings.parquet")
    with pytest.raises(RecordingError, match="damaged; column 'index' is out of order"):
        formiga.read_table(tmp_path / "run.parquet", "readings")


def test_a_table_that_would_fill_the_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    run = formiga.simulate("avoid", 0.3, out=tmp_path, record=["readings"])
    monkeypatch.setattr(tables, "LARGEST_IN_MEMORY", 500)
    with pytest.raises(RecordingError, match="GB are too many at once; read some of its row groups"):
        run.table("readings")


def test_the_group_in_a_file_is_not_believed(tmp_path):
    """It follows from the world; a file from a stranger may say what it likes."""
    run = formiga.simulate("avoid", 0.2, out=tmp_path)
    table, meta = pq.read_table(run.recording), pq.read_metadata(run.recording).metadata
    at = table.schema.get_field_index("group")
    other = pa.array(["x" * 1000] * table.num_rows).dictionary_encode()
    changed = table.set_column(at, table.schema.field(at), other)
    with pq.ParquetWriter(tmp_path / "changed.parquet", table.schema.remove_metadata()) as writer:
        writer.write_table(changed.cast(table.schema))
        writer.add_key_value_metadata({b"formiga": meta[b"formiga"]})
    assert json.loads(meta[b"formiga"])["groups"][0]["name"] == run.world.groups[0].name
    assert set(formiga.read_recording(tmp_path / "changed.parquet").table()["group"].to_pylist()) == {run.world.groups[0].name}


# -- the command line -----------------------------------------------------------------------------------------------------
def test_the_command_records_what_it_is_told_and_knows_the_former_option(tmp_path):
    from click.testing import CliRunner

    from formiga.cli import cli

    def run(*words):
        return CliRunner().invoke(cli, ["run", "avoid", "--seconds", "0.2", *words])

    assert run("--out", str(tmp_path), "--record", "readings, metrics:crashes").exit_code == 0
    assert sorted(each.name for each in tmp_path.glob("*.parquet")) == [
        "run.metrics.parquet", "run.parquet", "run.readings.parquet"]
    for words, complaint in ((["--record", "orders"], "say where it goes, with --out DIR"),
                             (["--record", "order", "--out", str(tmp_path / "new")], "Did you mean 'orders'?")):
        refused = run(*words)
        with pytest.raises(FormigaError, match="") if isinstance(refused.exception, FormigaError) else _exits(refused):
            raise refused.exception
        assert complaint in (str(refused.exception) + refused.output) and not (tmp_path / "new").exists()


def _exits(result):
    assert result.exit_code == 2
    return pytest.raises(SystemExit)
