"""Things that can be pushed in a session, and a supervisor of its run."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import formiga
from formiga.control import Orders, merge_all
from formiga.errors import FormigaError
from formiga.session.ground import Ground
from formiga.supervisor import Note, Side
from formiga.world.reader import read_text
from tests.session.workspace import Workspace

FIELD = """<world name="field" dt="0.05" seconds="5">
  <contact model="impulse"/>
  <field/>
  <ball x="0.2" y="0"/>
  <puck x="-0.3" y="0.3" radius="5cm"/>
  <block x="-0.3" y="-0.3" width="10cm" depth="6cm" heading="30deg"/>
  <mirosot name="blue" colour="#1f6feb"><at x="-0.1" y="0" heading="0"/><at x="-0.6" y="0" heading="0"/></mirosot>
  <mirosot name="yellow" colour="#f2c200"><at x="0.6" y="0" heading="180deg"/><at x="0.6" y="0.3" heading="180deg"/></mirosot>
</world>"""


@pytest.fixture(scope="module")
def field():
    return read_text(FIELD)


@pytest.fixture
def workspace(field):
    return Workspace(field)


def movables(workspace):
    return workspace.session.sim.state.movables[0].copy()


def board(goals, text):
    return Note("first half", f"0:{goals:02d}", text, (Side("blue", "ants", goals), Side("yellow", "bees", 0)))


class Match:
    """A supervisor that drives blue ahead, counts its steps as goals, and is over after some of them."""

    name = "match"

    def __init__(self, steps=10**9):
        self.steps, self.watched, self.closed, self.rests, self.order = steps, 0, 0, 0, []

    @property
    def over(self):
        return self.watched >= self.steps

    def before(self, sim):
        self.order.append(("before", int(sim.state.step[0])))
        return {"blue": np.full((1, 2, 2), 0.3), "yellow": np.zeros((1, 2, 2))}

    def after(self, sim):
        self.order.append(("after", int(sim.state.step[0])))
        self.watched += 1

    def resume(self):
        self.rests += 1

    def note(self):
        return board(self.watched, "GOAL" if self.watched == 2 else "")

    def close(self):
        self.closed += 1


# -- pictures ---------------------------------------------------------------------------------------------------------
def test_a_picture_shows_what_is_pushed_where_it_is(workspace):
    workspace.run("drive blue.0 1 1; step 20")
    frame = workspace.session.frame(exact=True)
    assert np.array_equal(frame.movables[:, :2], movables(workspace)[:, :2]) and frame.movables[0, 0] > 0.3
    assert frame.movables_turn[2, 3] == pytest.approx(np.sin(0.5 * movables(workspace)[2, 2]))


def test_between_two_steps_a_ball_is_between_two_places(workspace):
    workspace.run("drive blue.0 1 1; step 12")
    session = workspace.session
    before, clock = movables(workspace)[0, 0], session.pace.clock()
    session.pace.clock = lambda: clock
    session.play()
    session.step()
    after = movables(workspace)[0, 0]
    clock += 0.25 * session.world.dt
    assert after > before and session.frame().movables[0, 0] == pytest.approx(before + 0.25 * (after - before))
    assert session.frame(exact=True).movables[0, 0] == after


def test_contacts_are_shown_if_somebody_wants_to_see_them(workspace):
    workspace.run("drive blue.0 1 1; step 3")
    assert workspace.session.frame().touches is None
    workspace.run("overlay contacts on")
    for _ in range(20):
        workspace.run("step")
        touches = workspace.session.frame().touches
        if len(touches):
            break
    x, _, nx, ny, impulse, one, other = touches[0]
    assert {int(one), int(other)} == {0, 4} and impulse > 0.0  # blue.0, and the ball: 4 robots come before it
    assert np.hypot(nx, ny) == pytest.approx(1.0) and abs(nx) == pytest.approx(1.0, abs=0.1)
    ball, robot = movables(workspace)[0, 0], workspace.session.poses()[0][0, 0]
    assert robot < x < ball and np.sign(nx) == (1.0 if one == 4 else -1.0)  # towards the first of the two


def test_a_world_in_which_nobody_has_a_mass_has_no_contacts_to_show():
    workspace = Workspace("packed")
    workspace.run("overlay contacts on; step 2")
    touches = workspace.session.frame().touches
    assert touches is None or len(touches) == 0


# -- places -----------------------------------------------------------------------------------------------------------
def test_a_ball_that_is_dragged_lies_still_there_and_begins_where_it_did(workspace):
    workspace.run("drive blue.0 1 1; step 15")
    world, before = workspace.session.world, movables(workspace)
    assert before[0, 3] > 0.1
    workspace.session.changes.drag("thing", 1, 0.1, -0.5, True)
    workspace.session.changes.drag("thing", 1, 0.0, -0.5, False)
    now = movables(workspace)
    assert now[0].tolist() == [0.0, -0.5, before[0, 2], 0.0, 0.0, 0.0, 0.0, 0.0] and np.array_equal(now[1:], before[1:])
    assert workspace.session.world is world and workspace.session.touched
    workspace.run("undo")
    assert np.array_equal(movables(workspace), before)  # both places were one drag
    workspace.run("reset")
    assert movables(workspace)[0, :2].tolist() == [0.2, 0.0]


@pytest.mark.parametrize("x, y", [(0.6, 0.0), (0.0, 0.64), (-0.3, 0.27), (0.0, 5.0), (float("nan"), 0.0)])
def test_where_a_ball_cannot_lie_it_stays_behind(workspace, x, y):
    before = movables(workspace)
    workspace.session.changes.drag("thing", 1, x, y, True)
    assert np.array_equal(movables(workspace), before) and not workspace.said


def test_move_puts_what_is_pushed_somewhere_else(workspace):
    workspace.run("move block 0.1 0.5 90deg; move ball -0.5 -0.5")
    assert movables(workspace)[2, :3] == pytest.approx((0.1, 0.5, 0.5 * np.pi))
    assert movables(workspace)[0, :2].tolist() == [-0.5, -0.5]
    workspace.run("move block 0.2 0.5")
    assert movables(workspace)[2, 2] == pytest.approx(0.5 * np.pi)  # as it lay
    assert workspace.refused("move ball 0.6 0.02") == "ball cannot lie at (0.6, 0.02): yellow.0 is in the way."
    assert "puck is in the way" in workspace.refused("move ball -0.3 0.25")
    assert "a wall or an obstacle is in the way" in workspace.refused("move puck 0 0.63")


def test_what_is_pushed_is_in_the_way_of_robots_where_it_is_now(workspace):
    assert workspace.refused("move blue.1 -0.3 -0.25") == "blue.1 cannot stand at (-0.3, -0.25): block is in the way."
    workspace.run("move block 0 0.5; move blue.1 -0.3 -0.25")
    assert workspace.session.poses()[0][1].tolist() == [-0.3, -0.25]
    before = workspace.session.poses()[0]
    workspace.session.changes.drag("robot", 1, 0.0, 0.5, True)
    assert np.array_equal(workspace.session.poses()[0], before)


def test_places_are_drawn_where_nothing_lies():
    world = read_text('<world><arena width="0.5" depth="0.5"/><contact model="impulse"/>'
                      '<puck x="0" y="0" radius="12cm"/></world>')
    places = Ground(world).free_places(np.empty((0, 2)), 0.03, 0.0, 5, np.random.default_rng(1))
    assert (np.hypot(*places.T) >= 0.15).all()


def test_nobody_stands_behind_the_board(field):
    """The box around a field is larger than the field: beside the goals nothing is played."""
    ground = Ground(field)
    for x, y, inside in ((0.8, 0.0, True), (0.8, 0.4, False), (-0.85, -0.3, False), (0.0, 5.0, False), (0.72, 0.62, False)):
        assert (ground.in_the_way(np.full((4, 2), 9.0), x, y, 0.01) == "") == inside
    places = ground.free_places(np.full((4, 2), 9.0), 0.03, 0.0, 40, np.random.default_rng(1))
    assert ((np.abs(places[:, 0]) < 0.72) | (np.abs(places[:, 1]) < 0.17)).all()


def test_the_console_knows_where_the_ball_is_and_how_it_moves(workspace):
    workspace.run("drive blue.0 1 1; step 15")
    ball = movables(workspace)[0]
    for name, value in zip(("x", "y", "heading", "vx", "vy", "spin"), ball):
        assert float(workspace.run(f"get ball.{name}")) == value
    assert f"ball.x  {float(ball[0])!r}" in workspace.run("info ball") and "ball.mass  0.046" in workspace.run("info ball")
    assert workspace.run("get ball.radius") == "0.02135" and workspace.run("get puck.x") == "-0.3"
    assert "ball has no" in workspace.refused("get ball.vz").replace("'", "")


def test_a_world_is_saved_with_what_is_pushed_where_it_lies(workspace, tmp_path):
    workspace.run(f"drive blue.0 1 1; step 15; move block 0.3 0.5 1; save {tmp_path / 'now.xml'}")
    again = Workspace(str(tmp_path / "now.xml"))
    kept = [0, 1, 3, 4]  # how a round thing is turned is not described
    assert np.array_equal(movables(again)[:, kept], movables(workspace)[:, kept])
    assert movables(again)[2, 2] == movables(workspace)[2, 2] == 1.0
    assert [thing.name for thing in again.session.world.movables] == ["ball", "puck", "block"]


def test_things_to_push_can_be_added_and_taken_away(workspace):
    workspace.run("step 3; spawn puck 0.4 0.4 radius=3cm; spawn block 0 0.5 width=5cm depth=5cm")
    assert movables(workspace).shape == (5, 8) and movables(workspace)[3, :2].tolist() == [0.4, 0.4]
    workspace.steps(2)
    workspace.run("remove puck; step 2")
    assert [thing.name for thing in workspace.session.world.movables] == ["ball", "block", "puck2", "block2"]


# -- recordings -------------------------------------------------------------------------------------------------------
def test_a_replay_shows_what_was_pushed_at_every_moment(workspace, tmp_path):
    tape, seen = tmp_path / "run.parquet", []
    workspace.run(f"drive blue.0 1 1; overlay contacts on; record {tape}")
    for _ in range(25):
        workspace.steps(1)
        seen.append(workspace.session.frame(exact=True))
    workspace.run("record off")
    player = Workspace(str(tape))
    player.run("overlay contacts on")
    for frame in seen:
        player.session.step()
        shown = player.session.frame(exact=True)
        assert np.array_equal(shown.movables, frame.movables) and np.array_equal(shown.movables_turn, frame.movables_turn)
        assert shown.touches is None and shown.note is None
    assert float(player.run("get ball.x")) == movables(workspace)[0, 0] > 0.3
    player.run("seek 0.25")
    assert np.array_equal(player.session.frame().movables, seen[4].movables)
    assert "a recording cannot be changed" in player.refused("move ball 0 0.5")


def test_a_ball_that_is_moved_by_hand_stays_on_the_tape(workspace, tmp_path):
    tape = tmp_path / "run.parquet"
    workspace.run(f"record {tape}; step 2; move ball 0 0.5; step 2; record off")
    recording = formiga.read_recording(tape)
    assert recording.touched and recording.poses().movables[:, 0, 0, 1].tolist() == [0.0, 0.0, 0.0, 0.5, 0.5]


def test_an_exported_page_has_the_ball_in_every_picture(workspace, tmp_path):
    from formiga.session.film import recorded

    workspace.run(f"drive blue.0 1 1; record {tmp_path / 'x.parquet'}; step 20; record off")
    replay = Workspace(str(tmp_path / "x.parquet")).session.replay
    frames = list(recorded(replay))
    assert np.array_equal([frame.movables[0, 0] for frame in frames], replay.poses.movables[:, 0, 0, 0]) and len(frames) == 21


# -- a supervisor ----------------------------------------------------------------------------------------------------------
def test_a_supervisor_is_called_before_and_after_each_step(field):
    match = Match()
    workspace = Workspace(field, supervisor=match)
    workspace.steps(3)
    assert match.order == [("before", 0), ("after", 1), ("before", 1), ("after", 2), ("before", 2), ("after", 3)]
    assert workspace.session.poses()[0][1, 0] > -0.6 and workspace.session.poses()[0][2, 0] == 0.6
    assert workspace.session.frame().note == board(3, "")


def test_a_robot_that_is_driven_by_hand_does_not_follow_the_supervisor(field):
    workspace = Workspace(field, supervisor=Match())
    workspace.run("drive blue.1 -0.5 -0.5; drive yellow.1 1 1; step 10")
    x = workspace.session.poses()[0][:, 0]
    assert x[0] > -0.1 and x[1] < -0.6 and x[3] < 0.6 and x[2] == 0.6
    workspace.run("drive blue.1 off; step 10")
    assert workspace.session.poses()[0][1, 0] > x[1]


def test_by_hand_comes_before_a_supervisor_and_leaves_it_the_others():
    told = {"blue": Orders(np.ones((1, 2, 2)))}
    by_hand = {"blue": Orders(np.array([[[np.nan, np.nan], [3.0, 4.0]]])), "yellow": Orders(np.zeros((1, 1, 2)))}
    both = merge_all(by_hand, told)
    assert both["blue"].drive.tolist() == [[[1.0, 1.0], [3.0, 4.0]]] and both["yellow"].drive.tolist() == [[[0.0, 0.0]]]
    assert (told["blue"].drive == 1.0).all() and merge_all({}, {}) == {} and merge_all({}, told) == told


def test_a_supervisor_without_orders_leaves_the_robots_to_their_controllers(field):
    class Watching(Match):
        def before(self, sim):
            return None if sim.state.step[0] < 2 else {"blue": np.full((1, 2, 2), np.nan)}

    workspace = Workspace(field, supervisor=Watching())
    alone = Workspace(field)
    workspace.steps(4)
    alone.steps(4)
    assert np.array_equal(workspace.session.poses()[0], alone.session.poses()[0])


def test_a_match_that_is_over_pauses_and_says_the_result_and_no_step_is_taken_any_more(field):
    match = Match(steps=3)
    workspace = Workspace(field, supervisor=match)
    workspace.session.play()
    for _ in range(3):
        workspace.session.step()
    assert not workspace.session.playing and workspace.said[-1] == ("note", "the match is over: ants 3, bees 0.")
    workspace.session.play()
    workspace.session.step()
    assert not workspace.session.playing and workspace.session.sim.state.step[0] == 3 and len(match.order) == 6


@pytest.mark.parametrize("line, words", [
    ("reset", "it cannot begin again"), ("seed 3", "it cannot begin again"), ("set ball.mass 1", "its world stays as it is"),
    ("spawn puck 0 0.5 radius=3cm", "its world stays as it is"), ("remove puck", "its world stays as it is"),
    ("undo", "time does not go back")])
def test_while_a_match_is_played_its_world_and_its_time_are_left_alone(field, line, words):
    workspace = Workspace(field, supervisor=Match())
    workspace.run("step 2; move blue.1 -0.5 -0.5; move ball 0 0.5")
    assert workspace.refused(line) == f"the match is under way, so {words}. `load` another world ends it."
    workspace.steps(2)


def test_another_world_closes_the_supervisor_and_can_be_changed(field):
    match = Match()
    workspace = Workspace(field, supervisor=match)
    workspace.run("step 2; load line; step 2; reset")
    assert match.closed == 1 and match.watched == 2 and workspace.session.frame().note is None and not workspace.session.touched


def test_a_world_that_cannot_be_read_leaves_the_supervisor_where_it_is(field):
    match = Match()
    workspace = Workspace(field, supervisor=match)
    workspace.refused("load no_such_world")
    workspace.steps(1)
    assert match.closed == 0 and match.watched == 1


@pytest.mark.parametrize("how", ["quit", "stop", "failure"])
def test_a_supervisor_is_closed_when_the_session_ends_however_it_ends(field, how):
    match = Match()
    session = Workspace(field, supervisor=match).session
    if how == "quit":
        session.console.run("step 2; quit")
        session.run()
    elif how == "stop":
        session.run(lambda: True)
    else:
        session.post(lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            session.run()
    assert match.closed == 1


def test_a_supervisor_that_fails_pauses_the_session_with_one_message(field):
    class Clumsy(Match):
        def before(self, sim):
            raise FormigaError("both teams are gone.")

    workspace = Workspace(field, supervisor=Clumsy())
    workspace.session.play()
    workspace.session.step()
    assert workspace.said[-1] == ("error", "both teams are gone. Paused.") and not workspace.session.playing


def test_a_supervisor_follows_the_pace_of_the_session(field):
    """Ten times real time is ten times as many steps; a pause is one for both."""
    match = Match()
    session = Workspace(field, supervisor=match).session
    clock = 0.0
    session.pace.clock = lambda: clock
    session.play()
    for speed, expected in ((1.0, 20), (10.0, 200)):
        session.speed = speed
        before = match.watched
        for _ in range(1000):
            clock += 0.001
            session.steps.advance()
        assert match.watched - before == pytest.approx(expected, abs=1)
    session.play(False)
    before, clock = match.watched, clock + 5.0
    assert not session.steps.advance() and match.watched == before


def test_a_recorded_match_shows_its_scoreboard_again_at_every_moment(field, tmp_path):
    workspace = Workspace(field, supervisor=Match())
    workspace.run(f"record {tmp_path / 'match.parquet'}")
    workspace.steps(5)
    workspace.run("record off")
    recording = formiga.read_recording(tmp_path / "match.parquet")
    assert recording.touched and len(recording.notes) == 6
    player = Workspace(str(tmp_path / "match.parquet"))
    for step in (0, 5, 2, 3):
        player.run(f"seek {step * field.dt}")
        assert player.session.frame().note == board(step, "GOAL" * (step == 2))


def test_a_slow_supervisor_delays_others_by_no_more_than_a_step(field):
    """Pictures and commands come between its steps."""
    class Slow(Match):
        def before(self, sim):
            self.thinking.wait(0.05)
            return super().before(sim)

    match = Slow()
    match.thinking = threading.Event()
    session = Workspace(field, supervisor=match).session
    session.play()
    over = threading.Event()
    thread = threading.Thread(target=session.run, args=[over.is_set])
    thread.start()
    try:
        steps = [session.look(10.0).step for _ in range(5)]
    finally:
        over.set()
        thread.join(10)
    assert not thread.is_alive() and steps == sorted(steps) and match.closed == 1
