"""Whole matches: in this process with made-up teams, where a rule is to be seen; with real programs, where they may fail."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from math import inf
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import formiga.soccer.match as match_module
from formiga.cli import cli
from formiga.errors import FormigaError
from formiga.link.pace import Pace
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.session import Session
from formiga.soccer import league
from formiga.soccer.arrange import arrange
from formiga.soccer.camera import Camera
from formiga.soccer.match import Match
from formiga.soccer.network import Place, Replacement
from formiga.soccer.placing import inside
from formiga.soccer.referee import Phase
from formiga.soccer.talk import BLUE, YELLOW, Foul
from tests.soccer.processes import SLOW, all_gone, children

ROOT = Path(__file__).parents[2]


class Fake:
    """A team in this process. think(sight, game) -> (P, 2); wishes: foul -> (P, 3)."""

    there = alive = True

    def log(self):
        return ""

    def __init__(self, name, think=None, wishes=None):
        self.name, self.think, self.wishes = name, think, wishes or {}
        self.sights, self.games, self.calls, self.closed = [], [], [], False

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
    """Everybody drives at the ball."""
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


# -- recordings -------------------------------------------------------------------------------------------------------------
def test_a_recorded_match_has_every_step_and_the_board(tmp_path):
    match, sim = made(Fake("a", chase(BLUE)), Fake("b", chase(YELLOW)), half_seconds=4.0)
    with Recorder(tmp_path / "m.parquet", match.world, 0) as record:
        match.play(sim, record=record)
    recording = read_recording(tmp_path / "m.parquet")
    assert recording.steps[-1] == round(match.time / match.world.dt) and recording.touched
    assert_allclose(recording.poses().x[-1, 0, :6], sim.state.position[0, :, 0])


# -- real programs ------------------------------------------------------------------------------------------------------------
def program(tmp_path, name, body):
    file = tmp_path / f"{name}.py"
    file.write_text("import os, sys, time\nfrom formiga.soccer.team import Team\nwith Team.from_arguments() as team:\n"
                    "    for see in team:\n" + "".join(f"        {line}\n" for line in body.splitlines()))
    return str(file)


ATTACK = """for i, me in enumerate(see.own):
    team.drive(i, 0.6, 4.0 * me.bearing(see.ball.x, see.ball.y))"""


@pytest.fixture(autouse=True)
def findable(monkeypatch):
    """Programs of a test find this formiga."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_real_programs_in_lock_step_play_the_same_match_twice(tmp_path):
    def ends():
        with arrange("chaser", program(tmp_path, "mine", ATTACK), seed=3, half_seconds=6.0, patience=SLOW) as match:
            sim = Simulation(match.world, 3)
            match.play(sim)
            assert match.result()["troubles"] == []
            return match.result()["calls"], sim.state.position.tobytes() + sim.state.movables.tobytes()

    first, again = ends(), ends()
    assert first == again


def test_a_program_that_dies_is_reported_with_its_last_words_and_the_other_plays_on(tmp_path):
    dies = program(tmp_path, "dies", "if see.frame == 90:\n    raise ValueError('no legs left')\n" + ATTACK)
    with arrange("chaser", "chaser", half_seconds=0.1) as match:
        assert match.names == ("chaser", "chaser 2")  # so that a trouble is somebody's
    with arrange(dies, program(tmp_path, "lives", ATTACK), half_seconds=6.0, halves=1, patience=SLOW) as match:
        sim = Simulation(match.world, 0)
        match.play(sim)
        result = match.result()
    assert result["over"] and any(trouble["who"] == "dies" and "ended" in trouble["what"] for trouble in result["troubles"])
    assert "no legs left" in result["last_words"]["blue"] and "yellow" not in result["last_words"]
    run = result["statistics"]["robots"]
    assert max(robot["distance"] for robot in run["yellow"]) > 0.5


def test_a_program_that_hangs_is_reported_and_not_waited_for(tmp_path):
    hangs = program(tmp_path, "hangs", "time.sleep(1000.0 if see.frame == 70 else 0.0)\n" + ATTACK)
    with arrange(program(tmp_path, "lives", ATTACK), hangs, half_seconds=4.0, halves=1, patience=0.5) as match:
        match.play(Simulation(match.world, 0))
        result = match.result()
    assert result["over"] and any(trouble["who"] == "hangs" for trouble in result["troubles"])
    assert result["pace"]["wall_seconds"] < SLOW


def test_a_team_that_never_comes_is_not_waited_for_for_ever(tmp_path):
    never = tmp_path / "never.py"
    never.write_text("import time\ntime.sleep(1000)\n")
    with arrange(str(never), "chaser", half_seconds=0.5, halves=1, lockstep=False, wait=1.0) as match:
        match.play(Simulation(match.world, 0), speed=8.0)
    assert match.over and any("not there after 1 s" in trouble["what"] for trouble in match.troubles)


def test_a_network_team_and_a_program_play_each_other_in_real_time():
    """A real client of FIRASim's protocol in a process of its own, on ports of this test."""
    vision, commands = free_ports(2)
    network = {"vision": [("127.0.0.1", vision)], "commands": ("127.0.0.1", commands), "referee": None, "placement": None}
    client = subprocess.Popen([sys.executable, "-m", "formiga.soccer.programs.firasim_client", "--colour", "yellow", "--vision",
                               f"127.0.0.1:{vision}", "--commands", f"127.0.0.1:{commands}"], cwd=ROOT)
    try:
        with arrange("chaser", "network", half_seconds=3.0, halves=1, rules="mirosot", network=network, wait=SLOW) as match:
            match.play(Simulation(match.world, 0), speed=1.0)
            result = match.result()
    finally:
        client.kill()
        client.wait()
    assert result["over"] and not result["lockstep"] and result["dt"] == 0.016
    assert all(max(robot["distance"] for robot in robots) > 0.1 for robots in result["statistics"]["robots"].values())


def free_ports(count):
    """Ports that nobody uses now."""
    import socket

    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


# -- the command -----------------------------------------------------------------------------------------------------------
def formiga(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "formiga", *map(str, arguments)], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)


def test_the_command_plays_prints_and_writes(tmp_path):
    process = formiga("match", "chaser", "colony", "--half", 3, "--seed", 5, "--json", tmp_path / "m.json", "--out",
                      tmp_path / "m.parquet")
    stdout, stderr = process.communicate(timeout=4 * SLOW)
    assert process.returncode == 0, stderr
    assert "chaser" in stdout and "possession" in stdout and "lock-step" in stdout
    result = json.loads((tmp_path / "m.json").read_text())
    assert result["over"] and result["seed"] == 5 and (result["blue"], result["yellow"]) == ("chaser", "colony")
    assert read_recording(tmp_path / "m.parquet").ending == "complete"
    assert sorted(os.listdir(tmp_path)) == ["m.json", "m.parquet"]


@pytest.fixture
def compiled():
    """The kernels of a match are compiled; until then Ctrl-C ends it without a score."""
    Simulation(league.world(), seed=0).step()


def test_ctrl_c_ends_the_match_says_how_it_stood_and_leaves_no_process(compiled, tmp_path):
    process = formiga("match", "chaser", "chaser", "--half", 100000, "--json", tmp_path / "m.json")
    end = time.monotonic() + 4 * SLOW
    while len(started := children(process.pid)) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(3.0)
    started = children(process.pid)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=SLOW)
    assert process.returncode == 130 and "formiga: interrupted at" in stderr and "Traceback" not in stderr
    assert "possession" in stdout and json.loads((tmp_path / "m.json").read_text())["interrupted"]
    assert started and all_gone(started)


def test_a_match_in_the_browser_is_served_and_ends_with_its_score(compiled):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = formiga("match", "chaser", "chaser", "--view", "--no-browser", "--half", 1000, "--port", port)
        said = process.stdout.readline()
    try:
        assert re.fullmatch(rf"port {port} is in use; this is port \d+\.\n", said), said
        line = process.stdout.readline()
        found = re.fullmatch(r"the match is at (http://127\.0\.0\.1:\d+)   \(Ctrl-C ends it\)\n", line)
        assert found, line + process.stderr.read()
        with urlopen(found[1], timeout=SLOW) as page:
            assert page.status == 200
        time.sleep(2.0)
        started = children(process.pid)
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=SLOW)
    finally:
        process.kill()
    assert process.returncode == 143 and "possession" in stdout and "formiga: interrupted at" in stderr
    assert "Traceback" not in stderr and started and all_gone(started)


@pytest.mark.parametrize("arguments, words", [
    (("chaser", "coloni"), "Did you mean 'colony'"), (("chaser", "colony", "--preset", "golv"), "Did you mean 'golf'"),
    (("chaser", "colony", "--rules", "vss"), "Did you mean 'vsss'"), (("chaser", "colony", "--speed", "0"), "no speed"),
    (("chaser", "colony", "--half", "-1"), "cannot be played"), (("chaser", "network", "--commands", "here"), "no address"),
    (("chaser", "colony", "--out", "match.mp4"), "a recording is a file such as match.parquet")])
def test_what_cannot_be_is_refused_with_one_message(arguments, words):
    result = command(*arguments)
    assert result.exit_code == 2 and words in result.stderr and "Traceback" not in result.output


def command(*arguments):
    """`formiga match`, in this process."""
    return CliRunner().invoke(cli, ["match", *map(str, arguments)], prog_name="formiga")


@pytest.mark.parametrize("more", [(), ("--no-lockstep", "--speed", 8), ("--view", "--no-browser")])
def test_a_program_that_cannot_start_is_said_and_nothing_is_played(tmp_path, more):
    broken = tmp_path / "broken.py"
    broken.write_text("print('hello')\nimport a_module_that_there_is_not\n")
    result = command(broken, "chaser", "--half", 1, "--json", tmp_path / "m.json", *more)
    assert result.exit_code == 2 and result.stderr == (
        "formiga: Team broken (blue) could not start: its program ended (exit code 1: ModuleNotFoundError: "
        "No module named 'a_module_that_there_is_not').\n")
    assert "possession" not in result.stdout and not (tmp_path / "m.json").exists()


def test_a_match_that_a_team_could_not_finish_ends_with_its_score_and_an_exit_code(tmp_path):
    dies = program(tmp_path, "dies", "if see.frame == 30:\n    raise ValueError('no legs left')\n" + ATTACK)
    hangs = program(tmp_path, "hangs", "time.sleep(1000.0 if see.frame == 40 else 0.0)\n" + ATTACK)
    result = command(dies, hangs, "--half", 0.5, "--halves", 1, "--json", tmp_path / "m.json")
    assert result.exit_code == 1 and "possession" in result.stdout
    why = ["its program ended (exit code 1: ValueError: no legs left)", "it does not answer any more"]
    assert result.stderr == (f"formiga: dies (blue) did not play to the end: {why[0]}\n"
                             f"formiga: hangs (yellow) did not play to the end: {why[1]}\n")
    stored = json.loads((tmp_path / "m.json").read_text())
    assert stored["over"] and stored["failures"] == dict(zip(("blue", "yellow"), why, strict=True))


def test_network_teams_have_the_names_that_they_were_given_and_one_that_never_came_is_said(tmp_path):
    vision, commands = free_ports(2)
    result = command("network:ants of Lisbon", "network", "--half", 0.1, "--halves", 1, "--wait", 0.1, "--rules", "mirosot",
                     "--speed", "inf", "--vision", f"127.0.0.1:{vision}", "--commands", f"127.0.0.1:{commands}", "--referee",
                     "none", "--placement", "none", "--json", tmp_path / "m.json")
    assert result.exit_code == 1 and "ants of Lisbon" in result.stdout
    assert (f"formiga: ants of Lisbon (blue) did not play to the end: no commands for it came to 127.0.0.1:{commands}\n"
            in result.stderr)
    stored = json.loads((tmp_path / "m.json").read_text())
    assert (stored["blue"], stored["yellow"]) == ("ants of Lisbon", "network") and set(stored["failures"]) == {"blue", "yellow"}
    assert {"ants of Lisbon", "network"} <= {trouble["who"] for trouble in stored["troubles"]}


def test_speed_is_as_fast_as_it_goes_unless_told():
    assert Pace(inf, 0.033).figures(1.0)["speed"] is None
