"""Other threads: what they post is done in order between two steps, and what they see is whole."""

import threading
import time

import numpy as np
import pytest

from formiga.errors import FormigaError
from formiga.session.inbox import MOST
from tests.session.workspace import Workspace

PATIENCE = 30.0  # s; nothing here takes a tenth of one, but machines are busy


@pytest.fixture
def running(workspace):
    """A workspace whose session runs in a thread of its own."""
    over = threading.Event()
    thread = threading.Thread(target=workspace.session.run, args=[over.is_set])
    thread.start()
    yield workspace
    over.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_picture_shows_all_that_was_posted_before(running):
    session = running.session
    for number in range(20):
        x = -1.3 + 0.01 * number
        assert session.post(lambda x=x: session.console.run(f"move car {x} -0.8"))
        assert session.look(PATIENCE).place[6, 0] == pytest.approx(x)


def test_what_is_posted_is_done_in_order(running):
    done: list[int] = []
    for number in range(200):
        while not running.session.post(lambda number=number: done.append(number)):
            time.sleep(0.001)
    running.session.look(PATIENCE)
    assert done == list(range(200))


def test_a_picture_is_whole_while_it_plays_as_fast_as_it_goes(running):
    """Time and poses of a frame are of one step; a frame never changes afterwards."""
    session = running.session
    session.post(lambda: session.console.run("remove swarm rovers; drive car 0.001 0.001; speed max; play"))
    seen = []
    for _ in range(30):
        frame = session.look(PATIENCE)
        seen.append((frame, frame.step, frame.place.copy()))
    speed = 0.001 * session.world.group("car").robot.top_speed
    for frame, step, place in seen:
        assert frame.step == step and np.array_equal(frame.place, place)
        assert frame.time == pytest.approx(step * 0.1)
        assert frame.place[0, 0] == pytest.approx(-1.0 + speed * frame.time * np.cos(0.5))
    assert [step for _, step, _ in seen] == sorted(step for _, step, _ in seen)


def test_many_may_look_at_once(running):
    session = running.session
    session.post(lambda: session.console.run("speed max; play"))
    found = []

    def look():
        for _ in range(10):
            found.append(session.look(PATIENCE))

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(found) == 60 and all(frame is not None for frame in found)


def test_nobody_waits_for_a_session_that_does_not_answer(workspace):
    assert workspace.session.look(timeout=0.01) is None
    workspace.session.answer()  # nobody waits for that picture any more, so none is made
    made = []
    workspace.session.frame = lambda: made.append(1)
    workspace.session.look(timeout=0.01)
    workspace.session.answer()
    assert not made


def test_an_inbox_that_is_full_says_so_and_is_emptied(workspace):
    taken = [workspace.session.post(lambda: None) for _ in range(MOST + 5)]
    assert taken == [True] * MOST + [False] * 5
    workspace.session.answer()
    assert workspace.session.post(lambda: None)


def test_what_somebody_posts_in_an_answer_waits_for_the_next(workspace):
    calls = []

    def again():
        calls.append(1)
        workspace.session.post(again)

    workspace.session.post(again)
    workspace.session.answer()
    assert calls == [1]


def test_an_error_in_what_was_posted_is_said_and_the_next_is_done(workspace):
    done = []

    def wrong():
        raise FormigaError("not like this.")

    workspace.session.post(wrong)
    workspace.session.post(lambda: done.append(1))
    workspace.session.answer()
    assert workspace.said == [("error", "not like this.")] and done == [1]


def test_a_robot_that_is_gone_when_the_click_arrives_is_not_selected(running):
    session = running.session
    session.post(lambda: session.console.run("remove swarm"))
    session.post(lambda: setattr(session, "selected", 6))
    session.post(lambda: session.changes.drag("robot", 6, 0.0, 0.0, True))
    session.post(lambda: session.changes.drag("thing", 60, 0.0, 0.0, True))
    frame = session.look(PATIENCE)
    assert frame.selected == -1 and "robot" not in frame.extra
    session.post(lambda: setattr(session, "selected", 2))
    assert session.look(PATIENCE).extra["robot"]["name"] == "car.0"


def test_it_plays_in_real_time(running):
    """Very roughly: a loaded machine may be late, but it is never early."""
    session = running.session
    began = time.monotonic()
    session.post(session.play)
    while session.look(PATIENCE).time < 0.5:
        assert time.monotonic() - began < PATIENCE
    assert time.monotonic() - began > 0.4


def test_hearers_may_come_and_go_while_it_speaks(world):
    workspace = Workspace(world)
    late: list[str] = []

    def once(kind, text, window):
        workspace.session.hearers.remove(once)
        workspace.session.hearers.append(lambda kind, text, window: late.append(text))

    workspace.session.hearers.append(once)
    workspace.run("echo one; echo two")
    assert late == ["two"]
