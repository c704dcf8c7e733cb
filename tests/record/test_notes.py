"""Notes of a supervisor in recordings, those of today and the scoreboards in files that were written before."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import formiga
from formiga.errors import RecordingError
from formiga.record import recorder as recorder_module
from formiga.record.format import KEY, LONGEST_WORD, MORE_COLUMNS, SEAL
from formiga.record.notes import MOST_NOTES, OLD_WORDS, WORDS, note_of, words_of
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.session import Session
from formiga.supervisor import Note, Side
from formiga.world.reader import read_text

# Written at commit 73cafd4, before there were supervisors: chaser against colony, one robot each, two halves of 6 s, seed 6.
BEFORE = Path(__file__).parent / "data" / "match_before_notes.parquet"

PUSHING = """<world name="pushing" dt="0.05" seconds="2">
  <arena width="1" depth="1"/>
  <contact model="impulse"/>
  <ball x="0.1" y="0" vx="0.4"/>
  <mirosot name="pushers"><at x="-0.2" y="0" heading="0"/><random_walk/></mirosot>
</world>"""


def board(ours=0, others=0, *, title="first half", clock="0:00", text="", name="ants"):
    return Note(title, clock, text, (Side("blue", name, ours), Side("yellow", "bees", others)))


def old(**changed):
    """A scoreboard as files had it before."""
    return {"blue": "ants", "yellow": "bees", "score": [0, 0], "clock": "0:00", "half": "first half", "note": "", **changed}


@pytest.fixture(scope="module")
def pushing():
    return read_text(PUSHING)


@pytest.fixture(scope="module")
def recorded(pushing, tmp_path_factory):
    return played(pushing, tmp_path_factory.mktemp("notes") / "run.parquet", [board()] * 21).path


def played(pushing, path, notes, every=1):
    lab = formiga.Simulation(pushing)
    with Recorder(path, pushing, every=every) as record:
        for note in notes:
            record([lab])
            record.note(note)
            lab.step()
    return read_recording(path)


# -- written and read -------------------------------------------------------------------------------------------------
def test_notes_are_kept_at_the_steps_at_which_they_changed(pushing, tmp_path):
    notes = [board(), board(), board(text="FREE BALL"), board(1, clock="0:01"), board(1, clock="0:01")]
    assert played(pushing, tmp_path / "run.parquet", notes).notes == [(0, notes[0]), (2, notes[2]), (3, notes[3])]


@pytest.mark.parametrize("note", [
    Note(), Note("trial 3"), Note(text="<b>ü"), Note(sides=(Side("a", "one"),)),
    Note("x", "0:01", "y", tuple(Side(f"group {k}", f"side {k}", k) for k in range(7)))])
def test_a_note_of_any_supervisor_comes_back_as_it_was(pushing, tmp_path, note):
    assert played(pushing, tmp_path / "run.parquet", [note]).notes == [(0, note)]


def test_a_run_with_a_supervisor_cannot_be_run_again(pushing, tmp_path):
    recording = played(pushing, tmp_path / "run.parquet", [board()])
    assert recording.touched
    with pytest.raises(RecordingError, match="nothing to compare"):
        recording.replay()


def test_of_too_many_notes_the_last_one_is_always_there(pushing, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "MOST_NOTES", 3)
    notes = [board(step) for step in range(6)]
    assert [(step, note.sides[0].score) for step, note in played(pushing, tmp_path / "x.parquet", notes).notes] == [
        (0, 0), (1, 1), (5, 5)]


def test_a_name_without_end_is_cut(pushing, tmp_path):
    recording = played(pushing, tmp_path / "run.parquet", [board(name="a" * 10_000, text="<b>ü")])
    assert recording.notes == [(0, board(name="a" * LONGEST_WORD, text="<b>ü"))]


def test_a_note_of_a_step_that_was_not_recorded_any_more_is_that_of_the_last(pushing, tmp_path):
    lab = formiga.Simulation(pushing)
    with pytest.raises(ZeroDivisionError), Recorder(tmp_path / "run.parquet", pushing, every=5) as record:
        for step in range(8):
            record([lab])
            record.note(board(step))
            lab.step()
        raise ZeroDivisionError
    recording = read_recording(tmp_path / "run.parquet")
    assert recording.steps[-1] == 5 and recording.notes[-1] == (5, board(7))


# -- files of before --------------------------------------------------------------------------------------------------
def test_a_match_that_was_recorded_before_there_were_notes_has_the_same_scoreboard():
    """The numbers were printed by the commit that wrote the file."""
    notes = read_recording(BEFORE).notes
    teams = (("blue", "chaser"), ("yellow", "colony"))
    assert all(tuple(side[:2] for side in note.sides) == teams for _, note in notes)
    assert notes[-1][1].headline == "chaser  1 : 0  colony   0:06"
    assert notes[-1][1][:3] == ("the end", "0:06", "the match is over, 1:0")
    assert {note.title for _, note in notes} == {"before the match", "first half", "second half", "the end"}
    goal = next(note for _, note in notes if note.sides[0].score == 1)
    assert goal.text == "goal for blue, 1:0" and [side.score for side in notes[0][1].sides] == [0, 0]


def test_a_session_shows_the_scoreboard_of_such_a_file_at_every_moment():
    session = Session(str(BEFORE), own_settings=False)
    first, last = session.frame().note, None
    session.seek(1e9)
    last = session.frame().note
    assert (first.title, first.outcome) == ("before the match", "chaser 0, colony 0")
    assert (last.title, last.outcome) == ("the end", "chaser 1, colony 0")


def test_an_old_scoreboard_is_a_note():
    assert note_of(old(score=[2, 1], note="GOAL", clock="4:31")) == board(2, 1, text="GOAL", clock="4:31")


# -- files that are not what they should be ---------------------------------------------------------------------------
def on_file(recorded):
    """The words in a file, as they stand there, but for their seal: a test that changes them is about what it changed."""
    meta = json.loads(pq.ParquetFile(recorded).metadata.metadata[KEY])
    del meta[SEAL]
    return meta


def rewritten(recorded, folder, notes):
    file = folder / "changed.parquet"
    with pq.ParquetWriter(file, MORE_COLUMNS) as writer:
        writer.write_table(read_recording(recorded).table())
        writer.add_key_value_metadata({KEY: json.dumps(on_file(recorded) | {"notes": notes})})
    return read_recording(file)


NEW = words_of(board())


@pytest.mark.parametrize("notes", [
    7, [[0]], [[0, []]], [[0, {}]],
    *(notes for good in (NEW, old()) for notes in (
        [[0, good]] * (MOST_NOTES + 1), [[21, good]], [[-1, good]], [[5, good], [4, good]], [[0.0, good]], [[True, good]],
        [[0, good | {"more": 1}]], [[0, good | {"clock": 12}]], [[0, good | {"clock": "x" * (LONGEST_WORD + 1)}]])),
    *([[0, old(score=score)]] for score in ([1, 2, 3], [1, -2], [1, True], [1, float("nan")], "12", 7, [1, 2**31])),
    [[0, old(note="x" * (LONGEST_WORD + 1))]], [[0, old(blue=7)]],
    *([[0, NEW | {"sides": sides}]] for sides in (
        7, [7], [["blue", "ants"]], [["blue", "ants", -1]], [["blue", "ants", True]], [["blue", "ants", 2**31]],
        [["blue", 7, 0]], [[7, "ants", 0]], [["blue", "x" * (LONGEST_WORD + 1), 0]], [["blue", "ants", 0]] * 101)),
])
def test_notes_that_make_no_sense_are_one_sentence(recorded, tmp_path, notes):
    with pytest.raises(RecordingError, match="damaged; the notes of its supervisor make no sense") as caught:
        rewritten(recorded, tmp_path, notes)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


KEYS = sorted({*WORDS, *OLD_WORDS, "sides", "score", "blue", "x"})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner)))
def test_whatever_stands_there_instead_of_notes_is_refused_or_empty(recorded, tmp_path_factory, notes):
    try:
        assert rewritten(recorded, tmp_path_factory.mktemp("x"), notes).notes == []
    except RecordingError as wrong:
        assert "the notes of its supervisor" in str(wrong)
