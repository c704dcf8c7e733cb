"""Whole matches: in this process with made-up teams, where a rule is to be seen; with real programs, where they may fail."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import formiga.soccer.match as match_module
from formiga.engine.events import Touch
from formiga.errors import FormigaError
from formiga.link.pace import Pace
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.session import Session
from formiga.soccer import league
from formiga.soccer.camera import Camera
from formiga.soccer.match import Match
from formiga.soccer.network import Place, Replacement
from formiga.soccer.placing import inside
from formiga.soccer.referee import Phase
from formiga.soccer.talk import BLUE, YELLOW, Foul

ROOT = Path(__file__).parents[2]


class Fake:
    """A team in this process. think(sight, game) -> (P, 2); wishes: foul -> (P, 3)."""

    there = alive = True

    def log(self):
        return "".join(self.notes)

    def note(self, line):
        self.notes.append(line)

    def __init__(self, name, think=None, wishes=None):
        self.name, self.think, self.wishes = name, think, wishes or {}
        self.sights, self.games, self.calls, self.notes, self.closed = [], [], [], [], False

    def show(self, sight, game):
        self.sights.append(sight)
        self.games.append(game)

    def orders(self, frame, wait):
        assert frame == self.sights[-1].frame
        if self.think is None:
            return np.zeros((len(self.sights[-1].robots[0]), 2))
        return self.think(self.sights[-1], self.games[-1])

    def tell(self, call):
        self.calls.append(call)

    def placement(self):
        return self.wishes.get(self.games[-1].call.foul)

    def troubles(self):
        return []

    def start(self, wait):
        pass

    def failure(self):
        return ""

    def close(self):
        self.closed = True


def chase(colour):
    """All robots drive at the ball."""
    def think(sight, game):
        x, y, heading = np.moveaxis(sight.robots[colour][:, :3], -1, 0)
        turn = (np.arctan2(sight.ball[1] - y, sight.ball[0] - x) - heading + np.pi) % (2 * np.pi) - np.pi
        return np.stack([np.cos(turn) - 0.3 * turn, np.cos(turn) + 0.3 * turn], axis=-1)

    return think


def made(blue=None, yellow=None, *, world=None, **options):
    world = world or league.world()
    match = Match(world, (blue or Fake("blues"), yellow or Fake("yellows")), **{"half_seconds": 10.0, **options})
    return match, Simulation(world, options.get("seed", 0))


def step(match, sim, count=1):
    for _ in range(count):
        sim.step(match.before(sim))
        match.after(sim)


def play_until(match, sim, phase, limit=2000):
    while match.referee.phase is not phase:
        step(match, sim)
        assert (limit := limit - 1) > 0
    return match, sim


# -- what teams are shown and told -----------------------------------------------------------------------------------------
def test_both_teams_see_the_same_pictures_and_hear_every_call_before_they_are_asked():
    match, sim = made(Fake("a", chase(BLUE)), Fake("b", chase(YELLOW)), half_seconds=5.0)
    match.play(sim)
    one, other = match.bridges
    assert [sight.frame for sight in one.sights] == list(range(len(one.sights)))
    for a, b in zip(one.sights, other.sights, strict=True):
        assert_array_equal(a.robots, b.robots)
    assert one.calls == other.calls == [each.call for each in match.referee.log if each.call is not None]
    shown = {game.frame: game.call for game in one.games}  # every call is in a picture, too
    assert [shown[number] for number in sorted(shown)] == one.calls
    assert one.calls[0].foul == Foul.KICKOFF and one.calls[-1].foul == Foul.HALT


def test_a_picture_is_of_now_and_its_velocities_are_those_of_the_state():
    match, sim = made(Fake("a", chase(BLUE)), Fake("b", chase(YELLOW)))
    play_until(match, sim, Phase.PLAYING)
    step(match, sim, 4)
    sight = match.bridges[0].sights[-1]
    assert sight.time == pytest.approx(float(sim.state.step[0]) * match.world.dt)
    assert_allclose(sight.robots[..., :2].reshape(-1, 2), sim.state.position[0])
    assert_allclose(sight.robots[..., 3:].reshape(-1, 3), sim.state.velocity[0])
    assert_allclose(sight.ball, sim.state.movables[0, 0, [0, 1, 3, 4]])
    assert np.abs(sight.robots[..., 3:]).max() > 0.1


def test_nobody_drives_before_the_game_is_on():
    full = lambda sight, game: np.full((3, 2), 1.0)  # noqa: E731
    match, sim = made(Fake("a", full), Fake("b", full))
    start = sim.state.position.copy()
    while match.referee.phase is Phase.CALLED:
        step(match, sim)
        if match.referee.phase is Phase.CALLED:
            assert_array_equal(sim.state.position, start)
    placed = sim.state.position.copy()
    play_until(match, sim, Phase.PLAYING)
    assert_array_equal(sim.state.position, placed)
    step(match, sim, 3)
    assert (sim.state.position != placed).any()


def test_orders_beyond_the_top_speed_are_clipped_and_nonsense_is_standing_still():
    for nonsense in (np.full((3, 2), np.nan), np.full((3, 2), np.inf), "fast", None, np.zeros((7, 7))):
        match, sim = made(Fake("a", lambda sight, game, bad=nonsense: bad), Fake("b", lambda sight, game: np.full((3, 2), 1e9)))
        play_until(match, sim, Phase.PLAYING)
        wheels = match.before(sim)
        assert wheels["blue"].shape == (1, 3, 2) and not wheels["blue"].any()
        assert_allclose(wheels["yellow"], match.world.group("yellow").robot.top_speed)


# -- the same again ---------------------------------------------------------------------------------------------------------
def test_the_same_seed_gives_the_same_match_and_another_seed_another():
    def ends(seed):
        match, sim = made(Fake("a", chase(BLUE)), Fake("b", chase(YELLOW)), seed=seed, camera=Camera(noise=0.002, vanish=0.02))
        match.play(sim)
        result = match.result()
        del result["pace"]
        return result, sim.state.position.tobytes() + sim.state.movables.tobytes()

    (one, place), (same, again), (_, elsewhere) = ends(4), ends(4), ends(6)
    assert (one, place) == (same, again) and place != elsewhere


@pytest.mark.parametrize("seed, first", [(0, BLUE), (1, YELLOW)])
def test_the_seed_says_who_kicks_off(seed, first):
    match, sim = made(seed=seed, half_seconds=3.0)
    match.play(sim)
    offs = [call.team for call in match.bridges[0].calls if call.foul == Foul.KICKOFF]
    assert offs == [first, 1 - first]


# -- goals and places ---------------------------------------------------------------------------------------------------
def test_a_ball_shot_into_the_goal_counts_and_everything_is_put_back_for_the_kick_off():
    match, sim = play_until(*made(), Phase.PLAYING)
    ball = sim.state.movables[0, 0]
    ball[:2], ball[3:5] = (0.55, 0.12), (1.5, 0.0)
    for _ in range(30):
        step(match, sim)
    assert match.referee.score == [1, 0] and [side.score for side in match.note().sides] == [1, 0]
    assert "goal for blue, 1:0" in match.note().text
    assert [goal["team"] for goal in match.goals] == ["blue"]
    play_until(match, sim, Phase.STOPPED)
    assert_allclose(sim.state.movables[0, 0, :2], 0.0, atol=0.0021)  # the hand is not exact
    assert not sim.state.movables[0, 0, 2:].any() and not sim.state.velocity.any() and not sim.state.drive.any()
    places = np.array(league.places(match.field, 3, match.referee.foul, 0.075)[1]).reshape(-1, 3)
    assert match.referee.foul.team == YELLOW
    assert_allclose(sim.state.position[0], places[:, :2], atol=0.0021)
    turn = sim.state.heading[0] - places[:, 2]
    assert_allclose((turn + np.pi) % (2 * np.pi) - np.pi, 0.0, atol=0.06)


def test_a_team_stands_where_it_wished_and_what_is_not_allowed_is_logged():
    wished = np.array([(-0.6, 0.0, 0.0), (-0.2, 0.3, 1.0), (0.2, 0.3, 0.0)])
    match, sim = made(Fake("a", wishes={Foul.KICKOFF: wished}), rules="mirosot")
    play_until(match, sim, Phase.STOPPED)
    assert_allclose(sim.state.position[0, :2], wished[:2, :2], atol=0.0021)
    assert sim.state.position[0, 2, 0] < 0.0
    remarks = [each.why for each in match.referee.log if each.kind == "remark"]
    assert len(remarks) == 1 and "blue 2" in remarks[0] and "own half" in remarks[0]
    assert any(call["what"] == "remark" for call in match.result()["calls"])


def test_a_refused_place_is_in_the_teams_log_and_in_the_result_and_strict_is_the_rules_choice():
    wished = np.array([(-0.6, 0.0, 0.0), (-0.2, 0.3, 0.0), (0.2, 0.3, 0.0)]), np.array([(0.6, 0.0, 0.0), (-0.23, 0.33, 0.0),
                                                                                        (0.2, -0.3, 0.0)])
    found = {}
    for rules in ("mirosot", "vsss"):
        teams = [Fake(name, wishes={Foul.KICKOFF: wish}) for name, wish in zip("ab", wished, strict=True)]
        match, sim = made(*teams, rules=rules)
        play_until(match, sim, Phase.STOPPED)
        result = match.result()
        assert [each["why"] for each in result["refusals"]] == teams[0].notes + teams[1].notes
        assert result["strict"] == (rules == "mirosot")
        found[rules] = [(each["team"], each["robot"], each["call"]) for each in result["refusals"]]
    assert found == {"mirosot": [("blue", 2, "blue's kick-off"), ("yellow", 1, "blue's kick-off")],
                     "vsss": [("yellow", 1, "blue's kick-off")]}
    assert "yellow 1 may not stand at (-0.23, 0.33): blue 1 is there" in teams[1].notes


def test_on_the_old_model_robots_are_discs_that_hit_along_the_line_of_centres_and_do_not_turn():
    """3 cm off the middle: J = (1 + e) v cos(a) M/2 with sin(a) = 3 cm / 7.5 cm, for equal masses M. [reconstructed]"""
    match, sim = made(world=league.world(shape="circle", preset="golf"))
    state, robot = sim.state, match.pieces.robot
    assert match.result()["collisions"] == "circle"
    state.position[0, :2], state.heading[0, :2] = [(-0.65, -0.3), (0.05, -0.27)], 0.0
    while not len(hits := sim.engine.contacts(sim.model, state)):
        sim.step({"blue": np.array([[(1.0, 1.0), (0.0, 0.0), (0.0, 0.0)]])})
        assert state.position[0, 0, 0] < 0.05
    cosine = np.sqrt(1.0 - (0.03 / 0.075) ** 2)
    assert hits[0, Touch.IMPULSE] == pytest.approx((1.0 + robot.restitution) * cosine * robot.mass / 2, rel=0.01)
    assert_allclose(np.abs(hits[0, Touch.NORMAL]), [cosine, 0.4], atol=0.01)
    assert_allclose(state.heading[0, :2], 0.0, atol=1e-12)


def test_if_both_have_said_where_they_stand_nobody_waits():
    class Said(Fake):
        def placement(self):
            return np.full((3, 3), np.nan)

    match, sim = made(Said("a"), Said("b"))
    step(match, sim)
    assert match.referee.phase is Phase.STOPPED


# -- what should never happen ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("where, words", [((2.0, 0.0), "left the field"), ((np.nan, 0.0), "not a number"),
                                          ((0.745, 0.645), "left the field")])
def test_a_ball_that_is_lost_is_put_back_reported_and_a_free_ball(where, words):
    match, sim = play_until(*made(), Phase.PLAYING)
    step(match, sim, 3)
    sim.state.movables[0, 0, :2] = where
    match.after(sim)
    assert np.isfinite(sim.state.movables).all() and inside(sim.state.movables[0, 0, :2], np.array(match.field.board))
    assert words in match.troubles[0]["what"] and match.troubles[0]["who"] == "simulator"
    assert match.referee.foul.foul == Foul.FREE_BALL
    play_until(match, sim, Phase.PLAYING)


def test_a_robot_that_is_lost_is_put_back_and_reported():
    match, sim = play_until(*made(), Phase.PLAYING)
    step(match, sim, 3)
    before = sim.state.position.copy()
    sim.state.position[0, 4] = np.nan
    match.after(sim)
    assert_allclose(sim.state.position, before)
    assert match.troubles[0]["what"] == "yellow 1 left the field; it was put back"
    step(match, sim, 3)


# -- a trainer ------------------------------------------------------------------------------------------------------------
class Hub:
    """Says once what is to be put elsewhere."""

    def __init__(self):
        self.next, self.closed = [], False

    def replacements(self):
        given, self.next = self.next, []
        return given

    def close(self):
        self.closed = True


def test_a_trainer_puts_robots_and_the_ball_elsewhere_and_switches_robots_off():
    hub = Hub()
    full = lambda sight, game: np.full((3, 2), 0.5)  # noqa: E731
    match, sim = made(Fake("a", full), hub=hub, rules="none", world=league.world(3, "firasim"))
    step(match, sim, 2)
    hub.next = [Replacement((0.1, 0.2, 0.3, -0.4), (Place(YELLOW, 1, 0.3, -0.5, 1.5, True),
                                                    Place(BLUE, 0, np.nan, np.nan, np.nan, False)))]
    match.after(sim)
    assert_allclose(sim.state.movables[0, 0, [0, 1, 3, 4]], (0.1, 0.2, 0.3, -0.4))
    assert_allclose(sim.state.position[0, 4], (0.3, -0.5))
    assert sim.state.heading[0, 4] == 1.5
    sight = match.bridges[0].sights[-1]
    assert_array_equal(sight.present, [[False, True, True], [True, True, True]])
    assert_array_equal(match.before(sim)["blue"][0, :, 0] != 0.0, [False, True, True])
    hub.next = [Replacement(None, (Place(YELLOW, 0, 0.1, 0.2, 0.0, True),))]  # on the ball
    match.after(sim)
    assert 0.06 < np.hypot(*(sim.state.position[0, 3] - sim.state.movables[0, 0, :2])) < 0.15
    match.close()
    assert hub.closed and all(bridge.closed for bridge in match.bridges)


# -- statistics -----------------------------------------------------------------------------------------------------------
def test_a_robot_that_pushes_the_ball_has_it_runs_and_shoots():
    def push(sight, game):
        orders = np.zeros((3, 2))
        orders[1] = 1.0  # the attacker stands behind the ball
        return orders

    match, sim = play_until(*made(Fake("a", push)), Phase.PLAYING)
    sim.state.position[0, 3:] = [(0.5, 0.5), (0.3, 0.5), (0.1, 0.5)]  # out of its way
    match.statistics.stopped(sim.state.position[0])
    where = sim.state.position[0, 1].copy()
    for _ in range(200):
        step(match, sim)
        if match.goals:
            break
    figures = match.result()["statistics"]
    ours, theirs = figures["teams"]["blue"], figures["teams"]["yellow"]
    assert ours["possession"] == 1.0 and ours["touches"] >= 1 and theirs["touches"] <= ours["touches"]
    assert ours["distance"] >= np.hypot(*(sim.state.position[0, 1] - where)) - 1e-3 > 0.1 and theirs["distance"] < 0.1
    assert ours["shots"] >= 1


# -- pace -------------------------------------------------------------------------------------------------------------------
class Clock:
    """Time that passes as it is told."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def test_deadlines_do_not_drift_however_long_the_steps_take():
    clock = Clock()
    pace = Pace(2.0, 0.01, clock, clock.sleep)
    for k in range(1, 1001):
        pace.wait()
        assert clock.now == pytest.approx(100.0 + 0.005 * k)
        clock.now += 0.001 + 0.003 * (k % 2)  # work
    assert pace.missed == 0 and pace.figures(10.0)["missed_frames"] == 0


def test_a_late_picture_is_missed_and_the_next_ones_catch_up():
    clock = Clock()
    pace = Pace(1.0, 0.01, clock, clock.sleep)
    pace.wait()
    clock.now += 0.035  # two and a half periods late
    for _ in range(10):
        pace.wait()
    assert pace.missed == 2
    assert clock.now == pytest.approx(100.11)
    clock.now += 5.0    # the machine slept
    pace.wait()
    assert pace.missed == pytest.approx(2 + 499, abs=1)
    pace.wait()
    assert clock.now == pytest.approx(105.12)


def test_a_speed_that_is_none_is_refused():
    for speed in (0.0, -1.0, float("nan")):
        with pytest.raises(FormigaError, match="speed"):
            Pace(speed, 0.01)


def test_a_match_at_a_given_speed_takes_its_time():
    match, sim = made(half_seconds=0.5, halves=1)
    began = time.perf_counter()
    match.play(sim, speed=4.0)
    assert time.perf_counter() - began >= match.time / 4.0 * 0.99
    pace = match.result()["pace"]
    assert pace["real_time_factor"] <= 4.05 and (pace["frames"] - 1) * match.world.dt == pytest.approx(match.time)


def test_the_pace_of_a_match_in_a_session_counts_neither_its_start_nor_pauses_nor_what_comes_after(monkeypatch):
    """The clock goes on by a period in each step, so it is played in real time, whatever else takes time."""
    clock, period = Clock(), league.world().dt
    monkeypatch.setattr(match_module, "Pace", partial(Pace, clock=clock, sleep=clock.sleep))

    def think(sight, game):
        clock.now += 3.0 if sight.frame == 0 else period  # a program takes its time to load
        return np.zeros((3, 2))

    match, _ = made(Fake("a", think), half_seconds=0.5, halves=1)
    clock.now += 50.0                       # a page is opened
    session = Session(match.world, supervisor=match, own_settings=False)
    session.play()
    for _ in range(10):
        session.step()
    session.play(False)
    clock.now += 20.0
    session.step()                          # one by hand
    clock.now += 30.0
    session.play()
    while not match.over:
        session.step()
    clock.now += 100.0                      # the page stays open
    pace = match.result()["pace"]
    assert pace["wall_seconds"] == pytest.approx(match.time - period, abs=1e-3)  # the first step is computed in no time
    assert pace["real_time_factor"] == pytest.approx(1.0, abs=0.1)


def test_the_report_counts_neither_the_wait_for_teams_nor_a_pause_at_the_end(monkeypatch):
    """20 pictures of waiting, the kick-off, 2 s of play, and a pause in which the match is ended."""
    clock, period = Clock(), league.world().dt
    monkeypatch.setattr(match_module, "Pace", partial(Pace, clock=clock, sleep=clock.sleep))

    class Late(Fake):
        there = property(lambda self: len(self.sights) > 20)

    def think(sight, game):
        clock.now += period
        return np.zeros((3, 2))

    match, _ = made(Late("a", think), lockstep=False, wait=1000.0)
    session = Session(match.world, supervisor=match, own_settings=False)
    session.play()
    while match.referee.clock < 2.0:
        session.step()
    session.play(False)
    clock.now += 500.0
    result = match.result()
    pace, since = result["pace"], match.time - result["waited_seconds"]
    assert result["waited_seconds"] == pytest.approx(20 * period, abs=1.5 * period)
    assert result["played_seconds"] == pytest.approx(2.0, abs=1.5 * period)  # of what passed since, two were the kick-off's
    assert pace["wall_seconds"] == pytest.approx(since, abs=1.5 * period) and since == pytest.approx(4.0, abs=3 * period)
    assert pace["frames"] == pytest.approx(since / period, abs=1.5) and pace["real_time_factor"] == pytest.approx(1.0, abs=0.02)


# -- recordings -------------------------------------------------------------------------------------------------------------
def test_a_recorded_match_has_every_step_and_the_board(tmp_path):
    match, sim = made(Fake("a", chase(BLUE)), Fake("b", chase(YELLOW)), half_seconds=4.0)
    with Recorder(tmp_path / "m.parquet", match.world, 0) as record:
        match.play(sim, record=record)
    recording = read_recording(tmp_path / "m.parquet")
    assert recording.steps[-1] == round(match.time / match.world.dt) and recording.touched
    assert_allclose(recording.poses().x[-1, 0, :6], sim.state.position[0, :, 0])
