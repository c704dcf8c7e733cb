"""Layers of drawings in a session: live, replayed, switched, wrong."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.drawing import same
from formiga.drawing.marks import MOST_LAYERS
from formiga.session.film import recorded
from formiga.world.reader import read_text
from tests.drawing.artist import LAYERS, studio
from tests.drawing.test_sketch import SCRIBES, make
from tests.session.workspace import Workspace

pytestmark = pytest.mark.usefixtures("own_registry")


@pytest.fixture
def work(folder):
    return Workspace(studio())


def test_a_frame_has_what_is_drawn_now_and_every_new_layer_is_on(work):
    work.steps(3)
    frame = work.session.frame()
    assert list(frame.drawings) == LAYERS and frame.extra["layers"] == dict.fromkeys(LAYERS, True)
    assert frame.drawings["text"][0].words == ("t = 0.3 s",)
    assert all(same(frame.drawings[layer], marks) for layer, marks in work.session.sim.drawings().items())


def test_layers_are_switched_from_the_console(work):
    work.run("layer particles off; layer grid")
    frame = work.session.frame()
    assert set(LAYERS) - set(frame.drawings) == {"particles", "grid"}
    assert [name for name, on in frame.extra["layers"].items() if not on] == ["particles", "grid"]
    assert "grid: off" in work.run("layer") and "text: on" in work.run("layer")
    work.run("layer none")
    assert work.session.frame().drawings == {}
    work.run("layer all; step")
    assert list(work.session.frame().drawings) == LAYERS
    assert "particles" in work.session.console.complete("layer par")


def test_a_world_in_which_nothing_draws_has_no_layers(folder):
    work = Workspace("corral")
    assert work.session.frame().drawings == {} and work.session.frame().extra["layers"] == {}
    assert work.run("layer") == "nothing is drawn."


def test_watching_does_not_change_a_run(folder):
    watched, alone = Workspace(studio()), Workspace(studio())
    for _ in range(10):
        watched.steps(1)
        watched.session.frame()
        alone.steps(1)
    for one, other in zip(watched.session.sim.state.arrays().values(), alone.session.sim.state.arrays().values(), strict=True):
        assert np.array_equal(one, other)
    assert all(work.session.sim.readings for work in (watched, alone))  # both have looked at this step, which counts once
    assert np.array_equal(watched.session.sim.state.memory["swarm/artist", "seen"],
                          alone.session.sim.state.memory["swarm/artist", "seen"])


def test_elements_draw_once_in_a_step_however_many_pictures_are_taken(folder):
    drawn = []
    make(lambda self, view, pen: drawn.append(float(view.time[0, 0])))
    work = Workspace(read_text(SCRIBES, "desk.xml"))
    for _ in range(4):
        work.steps(1)
        for _ in range(5):
            work.session.frame()
    assert len(drawn) == 4


def test_a_replay_shows_what_was_drawn_and_calls_no_code(work, folder):
    work.run("record run.parquet; step 12")
    now = work.session.frame(exact=True).drawings
    work.run("record off; load run.parquet")
    drawn = []
    type(work.session.sim.world.groups[0].sensors[0]).draw = lambda self, view, pen: drawn.append(1)
    for step in (12, 3, 12):
        work.run(f"seek {step / 10}")
        frame = work.session.frame(exact=True)
        assert frame.drawings["text"][0].words == (f"t = {step / 10:.1f} s",)
    assert list(frame.drawings) == LAYERS and all(same(frame.drawings[layer], now[layer]) for layer in LAYERS)
    assert not drawn
    work.run("layer grid off")
    assert "grid" not in work.session.frame().drawings and work.session.frame().extra["layers"]["grid"] is False


def test_frames_of_a_film_have_the_layers_that_are_on(work, folder):
    work.run("record run.parquet; step 5; record off; load run.parquet; layer points off")
    frames = list(recorded(work.session.replay, work.session.layers.off))
    assert all(set(frame.drawings) == set(LAYERS) - {"points"} for frame in frames)
    assert [frame.drawings["text"][0].words[0] for frame in frames] == [f"t = {k / 10:.1f} s" for k in range(6)]


def test_a_broken_table_of_drawings_is_said_once_and_the_replay_plays(work, folder):
    work.run("record run.parquet; step 5; record off")
    (folder / "run.drawings.parquet").write_bytes(b"PAR1 nothing")
    assert "run.drawings.parquet: damaged" in work.run("load run.parquet")
    assert work.session.frame().drawings == {}
    work.run("seek 0.3")


def test_poses_are_between_two_steps_while_it_plays(work, monkeypatch):
    work.steps(3)
    session = work.session
    session.frame()
    before = session.frame(exact=True).drawings["odometry"][0].numbers.copy()
    work.steps(1)
    after = session.frame(exact=True).drawings["odometry"][0].numbers
    monkeypatch.setattr(type(session.steps), "share", lambda self: 0.5)
    between = session.frame().drawings["odometry"][0].numbers
    assert between[:, :2] == pytest.approx(0.5 * (before + after)[:, :2], abs=1e-6) and (before != after).any()


def test_what_is_drawn_wrongly_is_said_once_and_the_run_goes_on(folder):
    make(lambda self, view, pen: pen.points(np.full((2, 2), np.nan)))
    work = Workspace(read_text(SCRIBES, "desk.xml"))
    for _ in range(5):
        work.session.step()
        assert work.session.frame().drawings == {}
    errors = [text for kind, text in work.said if kind == "error"]
    assert len(errors) == 1 and errors[0].startswith("desk.xml:5: <scribe> of 'desk' cannot be drawn")
    assert not work.session.failed


def test_too_many_layers_are_noted_once(folder):
    make(lambda self, view, pen: [pen.layer(f"{k} {view.time[0, 0]:.1f}").points([(0, 0)]) for k in range(10)])
    work = Workspace(read_text(SCRIBES, "desk.xml"))
    for _ in range(8):
        work.session.step()
        work.session.frame()
    assert len(work.session.layers.names) == MOST_LAYERS
    notes = [text for kind, text in work.said if kind == "note"]
    assert 1 <= len(notes) <= 5 and "at most 32 layers" in notes[0]


def test_a_supervisor_draws_with_a_pen_of_the_run(folder):
    """What is drawn while nothing steps is seen, too."""
    work = Workspace("corral")
    work.session.frame()
    pen = work.session.sim.pen("plan")
    pen.points([(0.0, 0.0)])
    assert list(work.session.frame().drawings) == ["plan"]
    pen.clear()
    assert work.session.frame().drawings == {}


def test_a_script_without_a_page_records_drawings_too(folder):
    from formiga.record.tables import drawings_of
    from formiga.session.headless import run_script

    (folder / "go.fsh").write_text("wait 0.5\n")
    run, _ = run_script(studio(), folder / "go.fsh", 1.0, out=folder)
    assert list(drawings_of(run.recording).at(10)) == LAYERS
