"""Recordings of runs in three dimensions: a third format, in which every body that moves has its rows."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import formiga
from formiga.errors import FormigaError, RecordingError
from formiga.record import recorder as recorder_module
from formiga.record.format import KEY, MOST_PARTS, SEAL, SPACE_COLUMNS
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.session.film import recorded as frames_of
from formiga.session.replay import Replay
from formiga.world.reader import read_text

SPACE = """<world name="space" engine="spatial" dt="0.1" seconds="2">
  <arena width="1.4" depth="1"/>
  <ramp x="0.4" y="0.3" width="0.3" depth="0.2" height="5cm"/>
  <solid name="crate" size="0.08 0.08 0.08" x="0.5" y="-0.3" z="0.3" roll="0.4"/>
  <puck name="coin" x="-0.1" y="0" radius="3cm"/>
  <sbot name="swarm" model="detailed"><at x="-0.4" y="0" heading="0"/><at x="0.1" y="0.3" heading="0"/><random_walk/></sbot>
  <disc name="rover" radius="6cm" wheel_base="8cm" top_speed="10cm/s"><at x="-0.4" y="-0.3" heading="0"/><random_walk/></disc>
</world>"""
STEPS, WORLDS = 11, 2
KEPT = ("position", "heading", "bodies", "movables", "velocity")


@pytest.fixture(scope="module")
def space():
    return read_text(SPACE)


@pytest.fixture(scope="module")
def run(space, tmp_path_factory):
    """A recording, and the states that it was made from."""
    path, lab, states = tmp_path_factory.mktemp("out") / "run.parquet", formiga.Simulation(space, seed=3, worlds=WORLDS), []
    with Recorder(path, space, 3, WORLDS, "spatial") as record:
        for step in range(STEPS):
            if step:
                lab.step()
            record([lab])
            states.append({name: getattr(lab.state, name).copy() for name in KEPT})
    return path, {name: np.stack([state[name] for state in states]) for name in states[0]}, lab.model.parts


@pytest.fixture(scope="module")
def recorded(run):
    return run[0]


# -- what is in it ----------------------------------------------------------------------------------------------------
def test_every_body_is_recorded_at_every_step_and_in_every_world(run):
    path, states, parts = run
    recording = read_recording(path)
    poses = recording.poses()
    assert recording.parts == parts and recording.format == 3
    np.testing.assert_array_equal(poses.bodies, states["bodies"])
    np.testing.assert_array_equal(np.stack([poses.x, poses.y], -1), states["position"])
    np.testing.assert_array_equal(poses.heading, states["heading"])
    np.testing.assert_array_equal(poses.movables, states["movables"][..., :6])
    np.testing.assert_array_equal(poses.velocity, states["velocity"])
    crate = next(row for row, part in enumerate(parts) if part.thing == 2)
    assert poses.bodies[0, 0, crate, 2] == pytest.approx(0.3) and poses.bodies[-1, 0, crate, 2] < 0.1  # it fell


def test_robots_come_first_and_then_all_other_bodies_in_the_order_of_the_model(recorded, run):
    table, parts = pq.read_table(recorded), run[2]
    others = [part for part in parts if part.name != "chassis"]
    assert table.num_rows == STEPS * WORLDS * (3 + len(others)) and table.schema.equals(SPACE_COLUMNS, check_metadata=False)
    assert table["robot"].to_pylist()[:4] == [0, 1, 2, 3] and table["alive"][3].as_py()
    turret = 3 + others.index(next(part for part in others if part.name == "turret" and part.robot == 1))
    assert (table["x"][turret].as_py(), table["z"][turret].as_py()) == tuple(
        run[1]["bodies"][0, 0, parts.index(others[turret - 3]), [0, 2]])


def test_the_words_say_which_mujoco_computed_it(recorded, world, tmp_path):
    import mujoco

    assert read_recording(recorded).meta["versions"]["mujoco"] == mujoco.__version__
    assert "mujoco" not in read_recording(formiga.simulate(world, 0.2, out=tmp_path).recording).meta["versions"]


def test_running_it_again_gives_the_same_bits(space, tmp_path):
    recording = read_recording(formiga.simulate(space, 1.0, seed=3, worlds=2, out=tmp_path).recording)
    assert recording.replay(1) is None and recording.replay(2) is None


def test_one_world_of_many_is_read_alone_and_frames_are_whole_steps(recorded):
    recording = read_recording(recorded)
    everything = recording.poses()
    for world in range(WORLDS):
        for ours, theirs in zip(recording.poses(world)[1:], everything[1:]):
            np.testing.assert_array_equal(ours, theirs[:, [world]])
    assert [frame.num_rows for frame in recording.frames()] == [WORLDS * recording.rows] * STEPS


def test_row_groups_are_bounded_and_nothing_is_lost_between_them(recorded, space, monkeypatch, tmp_path):
    before = formiga.simulate(space, 1.0, seed=3, out=tmp_path / "a").recording
    monkeypatch.setattr(recorder_module, "ROWS", 40)
    after = formiga.simulate(space, 1.0, seed=3, out=tmp_path / "b").recording
    assert pq.ParquetFile(after).metadata.num_row_groups == 3 and pq.read_table(before).equals(pq.read_table(after))


def test_bodies_that_come_in_the_middle_are_one_sentence(space, tmp_path):
    more = read_text(SPACE.replace("<puck", '<solid name="pipe" shape="sphere" size="0.05"/><puck'))
    with pytest.raises(RecordingError, match=r"a recording with \d+ bodies cannot take \d+ others"), \
         Recorder(tmp_path / "run.parquet", space, engine_name="spatial") as record:
        record([formiga.Simulation(space)])
        record([formiga.Simulation(space)])
        record([formiga.Simulation(more)])
    assert read_recording(tmp_path / "run.parquet").steps.tolist() == [0, 1]


# -- played again -----------------------------------------------------------------------------------------------------
def test_a_replay_is_where_every_body_was(run):
    path, states, _ = run
    replay = Replay(read_recording(path), {"world": "1"})
    for index in (STEPS - 1, 0, 4):
        replay.show(index)
        np.testing.assert_array_equal(replay.sim.state.bodies[0], states["bodies"][index, 1])
        np.testing.assert_array_equal(replay.sim.state.movables[0, :, :6], states["movables"][index, 1, :, :6])


def test_exported_frames_have_every_body(run):
    path, states, parts = run
    frames = list(frames_of(Replay(read_recording(path))))
    assert len(frames) == STEPS and all(each.parts == parts for each in frames)
    np.testing.assert_array_equal(frames[-1].bodies, states["bodies"][-1, 0])
    chassis = [row for row, part in enumerate(parts) if part.name == "chassis"]
    np.testing.assert_array_equal(frames[-1].place, states["bodies"][-1, 0, chassis, :3])


# -- files that are not what they should be ---------------------------------------------------------------------------
def on_file(recorded):
    """The words in a file, as they stand there, but for their seal: a test that changes them is about what it changed."""
    meta = json.loads(pq.ParquetFile(recorded).metadata.metadata[KEY])
    del meta[SEAL]
    return meta


def rewritten(recorded, folder, table=None, meta=None, schema=SPACE_COLUMNS):
    file = folder / "changed.parquet"
    table = read_recording(recorded).table() if table is None else table
    with pq.ParquetWriter(file, schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: json.dumps(on_file(recorded) if meta is None else meta)})
    return read_recording(file)


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e12])
@pytest.mark.parametrize("column", ["z", "qw", "qy"])
def test_places_and_turns_that_no_run_gives_are_refused(recorded, tmp_path, column, value):
    changed = rewritten(recorded, tmp_path, with_value(recorded, column, value))
    with pytest.raises(RecordingError, match=f"damaged; column '{column}' has values that no run gives"):
        changed.poses()


@pytest.mark.parametrize("value", [0.0, 2.0, 1e-4])
def test_a_turn_that_is_none_is_refused(recorded, tmp_path, value):
    changed = rewritten(recorded, tmp_path, with_value(recorded, "qw", value))
    with pytest.raises(RecordingError, match="damaged; a body has a turn that is none"):
        changed.poses()


def with_value(recorded, column, value):
    table = read_recording(recorded).table()
    values = table[column].to_numpy().copy()
    values[5] = value
    return table.set_column(SPACE_COLUMNS.names.index(column), SPACE_COLUMNS.field(column), pa.array(values))


@pytest.mark.parametrize("change, complaint", [
    (lambda parts: None, "does not say which bodies moved"),
    (lambda parts: {"0": parts}, "does not say which bodies moved"),
    (lambda parts: [[0, -1, "x"]] * (MOST_PARTS + 1), "does not say which bodies moved"),
    (lambda parts: [*parts[:-1], 7], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [0, -1]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [3, -1, "tail"]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [-2, 0, "tail"]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [-1, 99, "tail"]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [True, -1, "tail"]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [0, -1, "x" * 81]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [0, -1, ""]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [0, 0, "tail"]], "the bodies that moved makes no sense"),
    (lambda parts: [*parts[:-1], [-1, -1, "tail"]], "the bodies that moved makes no sense"),
    (lambda parts: [part for part in parts if part[2] != "chassis"], "not every robot has one body of its own"),
    (lambda parts: [*parts, parts[0]], "not every robot has one body of its own"),
    (lambda parts: [part for part in parts if part[1] != 3], "a thing that can be pushed has no body"),
    (lambda parts: parts[1:] if parts[0][2] != "chassis" else [*parts, [0, -1, "tail"]], "rows do not make .* other bodies"),
])
def test_bodies_that_do_not_fit_are_one_sentence(recorded, tmp_path, change, complaint):
    meta = on_file(recorded)
    meta["parts"] = change(meta["parts"])
    with pytest.raises(RecordingError, match=complaint) as caught:
        rewritten(recorded, tmp_path, meta=meta)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change, complaint", [
    ({"format": 2}, "a recording of format 2 has other columns"),
    ({"format": True}, "a recording of format True"),
    ({"engine": "planar"}, "a run of the engine 'planar' is not in format 3"),
])
def test_words_that_do_not_fit_are_one_sentence(recorded, tmp_path, change, complaint):
    with pytest.raises(RecordingError, match=complaint):
        rewritten(recorded, tmp_path, meta=on_file(recorded) | change)


def test_bodies_of_another_kind_of_robot_are_found_when_it_is_played(recorded, tmp_path):
    """As many as there were, but not those that the engine gives this world."""
    meta = on_file(recorded)
    at = next(row for row, part in enumerate(meta["parts"]) if part[2] == "arm")
    meta["parts"][at][2] = "tail"
    with pytest.raises(FormigaError, match="its bodies are not those of its world"):
        Replay(rewritten(recorded, tmp_path, meta=meta))


@given(st.data())
def test_a_recording_that_is_cut_short_or_garbled_is_one_sentence_or_reads_the_same(recorded, tmp_path_factory, data):
    whole = bytearray(recorded.read_bytes())
    if data.draw(st.booleans()):
        whole = whole[:data.draw(st.integers(0, len(whole) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 8))):
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("garbled") / "x.parquet"
    file.write_bytes(whole)
    try:
        poses = read_recording(file).poses()
    except RecordingError as error:
        assert "\n" not in str(error)
    else:
        for ours, theirs in zip(poses, read_recording(recorded).poses()):
            np.testing.assert_array_equal(ours, theirs)
