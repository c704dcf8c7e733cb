"""Team programs in processes of their own: started, waited for, hung, killed, mad, and ended. Real processes, all of them."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from formiga.link import process
from formiga.soccer import memory
from formiga.soccer.bridge import MemoryBridge
from formiga.soccer.memory import NO_GAME, Feed
from formiga.soccer.roster import find_team, shipped
from formiga.soccer.talk import BLUE, YELLOW, Call, Foul, Game, Sight
from tests.soccer.processes import gone

HERE = Path(memory.__file__).parent
ENV = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
WAIT = 30.0      # s that a test waits before it says that something never came; the machine may be busy
compiler = shutil.which("cc") or shutil.which("gcc")
needs_c = pytest.mark.skipif(compiler is None, reason="there is no C compiler")

ECHO = """
from formiga.soccer.team import Team
with Team.from_arguments() as team:
    for see in team:
        for i in range(team.players):
            team.drive(i, 0.001 * see.frame, 0.0)
"""


@pytest.fixture
def start(tmp_path):
    """start(text of a program, ...): its bridge; everything is closed after the test."""
    bridges = []

    def begin(program, colour=BLUE, name="team", players=3, **options):
        if "\n" in program:
            (tmp_path / f"{name}.py").write_text(program)
            program = str(tmp_path / f"{name}.py")
        spec = find_team(program)
        bridges.append(MemoryBridge(spec.name, spec.command, colour, players, **{"patience": WAIT, **options}))
        return bridges[-1]

    yield begin
    for bridge in bridges:
        bridge.close()


def sight(frame, rng=None, players=3):
    rng = rng or np.random.default_rng(frame)
    robots = rng.uniform(-0.6, 0.6, (2, players, 6))
    return Sight(frame, 0.033 * frame, rng.uniform(-0.5, 0.5, 4), robots, np.ones((2, players), bool))


def ask(bridge, frame, wait=WAIT, game=NO_GAME):
    bridge.show(sight(frame, players=bridge.players), game)
    return bridge.orders(frame, wait)


def soon(what, seconds=WAIT):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    return what()


# -- playing ----------------------------------------------------------------------------------------------------------
def test_in_lock_step_each_picture_gets_its_own_answer(start):
    team = start(ECHO)
    for frame in range(200):
        assert ask(team, frame) == pytest.approx(np.full((3, 2), 0.001 * frame))
    assert team.troubles() == [] and team.alive


def test_speeds_become_those_of_the_wheels_and_stay_within_the_motors(start):
    team = start("""
from formiga.soccer.team import Team
with Team.from_arguments() as team:
    for see in team:
        team.drive(0, 0.5, 4.0)
        team.drive(1, 1e308, 1e308)
        team.drive(2, -9.0, 0.0)
""")
    assert ask(team, 0) == pytest.approx(np.array([[0.35, 0.65], [1.32, 1.32], [-1.32, -1.32]]))


def test_both_teams_think_at_the_same_time_and_are_asked_one_after_the_other(start):
    blue, yellow = start(ECHO, BLUE, "one"), start(ECHO, YELLOW, "two")
    for frame in range(20):
        for team in (blue, yellow):
            team.show(sight(frame), NO_GAME)
        for team in (blue, yellow):
            assert team.orders(frame, WAIT)[0, 0] == pytest.approx(0.001 * frame)


def test_without_waiting_the_newest_answer_counts_and_robots_stand_when_none_comes(start):
    team = start("""
from formiga.soccer.team import Team
import time
with Team.from_arguments() as team:
    for see in team:
        team.drive(0, 0.3, 0.0)
        team.answer()
        if see.frame >= 3:
            time.sleep(3600.0)
""")
    assert team.ready(WAIT)
    team.show(sight(3), NO_GAME)
    assert soon(lambda: team.orders(3, 0.0)[0, 0] == 0.3)
    for frame in range(4, 40):  # more than a second of the game
        team.show(sight(frame), NO_GAME)
        wheels = team.orders(frame, 0.0)
        assert wheels[0, 0] == (0.3 if 0.033 * (frame - 3) < 1.0 else 0.0)
    assert team.troubles() == ["answered no picture for 1 s of the game; its robots stand still"]


def test_a_team_hears_a_call_and_says_where_it_wants_to_stand(start):
    team = start("""
from formiga.soccer.team import Team, Foul
with Team.from_arguments() as team:
    for see in team:
        if see.new_call and see.call.foul is Foul.KICKOFF:
            team.place(0, -0.7, 0.1, 0.0)
            team.place(1, -0.2, float("nan"), 0.0)
""", YELLOW)
    kickoff = Game((0, 0), 1, 0.0, Call(Foul.KICKOFF, YELLOW, 0, 1, 0.0), 1)
    for frame in range(5):
        ask(team, frame, game=kickoff)
        asked = team.placement()
        assert asked[0, :2] == pytest.approx((0.7, -0.1)) and abs(asked[0, 2]) == pytest.approx(np.pi)  # in the field's frame
        assert np.isnan(asked[1:]).all()
    ask(team, 5, game=kickoff._replace(call=Call(Foul.GAME_ON, 2, 0, 1, 0.0), frame=2))
    assert team.placement() is None
    ask(team, 6, game=kickoff._replace(frame=3))
    assert team.placement() is not None


def test_the_same_program_answers_a_recorded_feed_as_it_answers_a_match(start, tmp_path):
    """The memories are all that a program knows: a vision program with plain files gets the same orders, bit for bit."""
    recorded = [sight(frame) for frame in range(100)]
    for name in shipped():
        bridge = start(name)
        played = []
        for seen in recorded:
            bridge.show(seen, NO_GAME)
            played.append(bridge.orders(seen.frame, WAIT))
        with Feed(folder=tmp_path / name) as feed:
            program = subprocess.Popen([*find_team(name).command, "--memory", *feed.paths, "--colour", "blue"], env=ENV)
            assert soon(lambda feed=feed: feed.opened)
            answers = feed.play(recorded, WAIT)
        assert program.wait(WAIT) == 0  # it ends with the feed
        for wheels, answer in zip(played, answers, strict=True):
            speeds = np.array(answer.speeds)
            expected = np.clip(np.stack([speeds[:, 0] - 0.0375 * speeds[:, 1], speeds[:, 0] + 0.0375 * speeds[:, 1]], axis=1),
                               -1.32, 1.32)
            assert (wheels == expected).all()
        assert np.ptp(played, axis=0).max() > 0.1  # it did something


@pytest.mark.parametrize("players", [1, 2, 3, 5])
@pytest.mark.parametrize("name", shipped())
def test_shipped_teams_play_with_any_number_and_never_say_nonsense(name, players, start):
    team = start(name, YELLOW, players=players)
    for frame in range(50):
        for foul in (Foul(frame % 8),):
            game = Game((0, 0), 1, 0.0, Call(foul, frame % 3, frame % 5, 1, 0.0), frame)
            wheels = ask(team, frame, game=game)
            assert wheels.shape == (players, 2) and np.isfinite(wheels).all()
    assert team.troubles() == [] and team.log() == ""


# -- C ----------------------------------------------------------------------------------------------------------------
@needs_c
@pytest.mark.parametrize("colour", [BLUE, YELLOW])
def test_the_team_in_c_runs_to_the_ball(colour, start, tmp_path):
    """Compiled, started as a real team, and driven by its orders: robots that do nothing but what it says come to the ball."""
    subprocess.run([compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", HERE / "example.c", "-o", tmp_path / "ants",
                    "-lm"], check=True)
    team = start(str(tmp_path / "ants"), colour)
    assert team.name == "ants"
    sign = 1.0 if colour == BLUE else -1.0
    robots = np.zeros((2, 3, 6))
    robots[colour, :, :2] = sign * np.array([[-0.6, 0.2], [-0.4, 0.3], [-0.3, -0.4]])
    robots[colour, :, 2] = [2.0, -3.0, 1.0]
    ball = np.array([0.2 * sign, 0.1, 0.0, 0.0])
    nearest = np.inf
    for frame in range(120):
        team.show(Sight(frame, 0.033 * frame, ball, robots, np.ones((2, 3), bool)), NO_GAME)
        left, right = team.orders(frame, WAIT).T
        v, omega = (left + right) / 2, (right - left) / 0.075
        mine = robots[colour]
        mine[:, 0] += 0.033 * v * np.cos(mine[:, 2])
        mine[:, 1] += 0.033 * v * np.sin(mine[:, 2])
        mine[:, 2] += 0.033 * omega
        nearest = min(nearest, *np.hypot(*(mine[1:, :2] - ball[:2]).T))
    assert nearest < 0.0375 * 2**0.5 + 0.02135  # a corner reaches it
    assert robots[colour, 0, :2] == pytest.approx((-0.69 * sign, 0.1), abs=0.03)  # the keeper is between ball and goal
    assert team.troubles() == [] and team.alive
    team.close()


# -- hanging ----------------------------------------------------------------------------------------------------------
def test_a_stopped_team_is_reported_once_no_longer_waited_for_and_welcome_back(start):
    team, other = start(ECHO, BLUE, "stopped"), start(ECHO, YELLOW, "other")
    for frame in range(10):
        ask(team, frame), ask(other, frame)
    os.kill(team.pid, signal.SIGSTOP)
    assert soon(lambda: Path(f"/proc/{team.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T")
    waited = []
    for frame in range(10, 200):
        began = time.monotonic()
        ask(team, frame, wait=0.3)
        waited.append(time.monotonic() - began >= 0.3)
        assert ask(other, frame)[0, 0] == pytest.approx(0.001 * frame)  # the other plays on
    assert waited[0] and sum(waited) < 20  # a busy machine may take 0.3 s for something else
    assert team.troubles() == ["answered no picture for 0.3 s; it is not waited for until it answers again"]
    assert (team.orders(199, 0.0) == 0.0).all() and team.alive and other.troubles() == []
    os.kill(team.pid, signal.SIGCONT)
    frames = iter(range(200, 100_000))
    assert soon(lambda: ask(team, frame := next(frames), wait=0.3)[0, 0] == pytest.approx(min(0.001 * frame, 1.32)))
    assert "answers again" in team.troubles()


def test_a_team_that_died_in_the_middle_of_writing_is_no_danger(start):
    team = start("""
from formiga.soccer.team import Team
from formiga.link.memory import SEQUENCE
import time
with Team.from_arguments() as team:
    for see in team:
        if see.frame == 2:
            team._peer._answered._words[SEQUENCE] += 1
            time.sleep(3600.0)
""")
    for frame in range(2):
        ask(team, frame)
    for frame in range(2, 10):
        assert (ask(team, frame, wait=0.2) == 0.0).all()
    assert team.troubles() == ["answered no picture for 0.2 s (it stopped in the middle of writing one); it is not waited for "
                               "until it answers again"]


# -- dying ------------------------------------------------------------------------------------------------------------
def test_killing_a_team_is_told_with_its_signal_and_the_other_plays_on(start):
    team, other = start(ECHO, BLUE, "killed"), start(ECHO, YELLOW, "other")
    for frame in range(5):
        ask(team, frame), ask(other, frame)
    os.kill(team.pid, signal.SIGKILL)
    for frame in range(5, 100):
        wheels = ask(team, frame)
        assert ask(other, frame)[0, 0] == pytest.approx(0.001 * frame)
    assert (wheels == 0.0).all() and not team.alive and other.alive
    assert team.troubles() == ["its program ended (signal 9, killed)"] and team.troubles() == []
    assert team.placement() is None


@pytest.mark.parametrize("line, how", [
    ("raise ValueError('no plan')", "its program ended (exit code 1: ValueError: no plan)"),
    ("raise SystemExit(3)", "its program ended (exit code 3)"),
    ("raise SystemExit(0)", "its program ended (exit code 0)"),
])
def test_a_program_that_ends_says_how(line, how, start):
    team = start(f"""
from formiga.soccer.team import Team
with Team.from_arguments() as team:
    for see in team:
        if see.frame == 1:
            {line}
""")
    ask(team, 0)
    ask(team, 1)
    assert soon(lambda: not team.alive) and team.troubles() == [how]


def test_a_program_that_ends_before_it_has_played_is_not_waited_for(start):
    team = start("import no_such_module\n", patience=3600.0)
    assert not team.ready(3600.0)
    assert (ask(team, 0, wait=3600.0) == 0.0).all()
    assert team.troubles() == ["its program ended (exit code 1: ModuleNotFoundError: No module named 'no_such_module')"]
    assert "Traceback" in team.log()


# -- madness ----------------------------------------------------------------------------------------------------------
SCRIBBLE = """
import mmap, os, random, sys
path = sys.argv[sys.argv.index("--memory") + 2]
file = os.open(path, os.O_RDWR)
size = os.fstat(file).st_size
page = mmap.mmap(file, size)
for attempt in (lambda: os.ftruncate(file, 0), lambda: os.ftruncate(file, 1 << 30)):
    try:
        attempt()
    except OSError:
        print("refused", flush=True)
chance = random.Random(1)
while True:
    start = chance.choice([0, 20, 24, 32, 48])
    page[start:] = chance.randbytes(size - start)
"""


def test_a_team_that_scribbles_in_its_memory_harms_only_itself(start):
    mad, sane = start(SCRIBBLE, BLUE, "mad", patience=0.5), start(ECHO, YELLOW, "sane")
    assert soon(lambda: mad.log().count("refused") == 2)
    lines = []
    for frame in range(300):
        wheels = ask(mad, frame, wait=0.05)
        assert wheels.shape == (3, 2) and np.isfinite(wheels).all() and (np.abs(wheels) <= 1.32).all()
        asked = mad.placement()
        assert asked is None or (np.isnan(asked) | (np.abs(asked) <= 10.0)).all()
        assert ask(sane, frame)[0, 0] == pytest.approx(0.001 * frame)
        lines += mad.troubles()
    assert any("wrote over the head of its memory" in line for line in lines)
    assert len(lines) <= 5 * (1 + 300 * 0.033)  # at most one line of a kind in a second of the game
    assert sane.troubles() == []


def test_what_a_program_prints_is_kept_but_not_all_of_it(start):
    team = start("""
from formiga.soccer.team import Team
import sys
with Team.from_arguments() as team:
    for see in team:
        print("x" * 9999)
        print("picture", see.frame, file=sys.stderr)
        team.drive(0, 0.5, 0.0)
""")
    for frame in range(100):  # a megabyte: its pipe would have been full long ago
        assert ask(team, frame)[0, 0] == 0.5
    assert soon(lambda: team.log().endswith("picture 99\n"))
    assert len(team.log()) <= process.LOG + 4 and team.log().startswith("...\n")


# -- ending -----------------------------------------------------------------------------------------------------------
def test_closing_gives_a_program_time_to_end_by_itself(start, tmp_path):
    team = start(f"""
from formiga.soccer.team import Team
with Team.from_arguments() as team:
    for see in team:
        pass
print("good bye", file=open({str(tmp_path / "said")!r}, "w"))
""")
    ask(team, 0)
    team.close()
    team.close()
    assert (tmp_path / "said").read_text() == "good bye\n"
    assert gone(team.pid) and team.troubles() == [] and not team.alive
    assert (team.orders(1, WAIT) == 0.0).all() and team.placement() is None and not team.ready(WAIT)


STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
                                                "print('ignores', flush=True); time.sleep(3600)"], stdout=subprocess.PIPE)
child.stdout.readline()
print("child", child.pid, flush=True)
while True:
    time.sleep(1.0)
"""


@pytest.mark.parametrize("stopped", [False, True])
def test_closing_ends_a_program_that_does_not_want_to_and_what_it_started(stopped, start):
    team = start(STUBBORN)
    assert soon(lambda: "child" in team.log())
    child = int(team.log().split()[1])
    if stopped:
        os.kill(team.pid, signal.SIGSTOP)
    team.close()
    assert gone(team.pid) and soon(lambda: gone(child))


def test_closing_gives_everything_back(start):
    def count():
        return len(os.listdir("/proc/self/fd")), Path("/proc/self/maps").read_text().count("memfd:formiga")

    before = count()
    for _ in range(2):
        team = start(ECHO)
        ask(team, 0)
        team.close()
        assert count() == before


SIMULATOR = """
import sys, time
from formiga.soccer.bridge import MemoryBridge
from formiga.soccer.roster import find_team
spec = find_team(sys.argv[1])
team = MemoryBridge(spec.name, spec.command, 0, 3)
while "child" not in team.log():
    time.sleep(0.01)
print(team.pid, team.log().split()[1], flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_team_outlives_its_simulator(death, tmp_path):
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    simulator = subprocess.Popen([sys.executable, "-c", SIMULATOR, tmp_path / "stubborn.py"], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env=ENV)
    pids = [int(word) for word in simulator.stdout.readline().split()]
    assert len(pids) == 2 and not any(gone(pid) for pid in pids)
    simulator.send_signal(death)
    simulator.communicate()
    assert soon(lambda: all(gone(pid) for pid in pids))


def test_a_bridge_may_be_started_in_a_thread_that_ends(start):
    """What Linux offers to end children with their parent ends them with the thread that started them."""
    from threading import Thread

    teams = []
    thread = Thread(target=lambda: teams.append(start(ECHO)))
    thread.start()
    thread.join()
    for frame in range(20):
        assert ask(teams[0], frame)[0, 0] == pytest.approx(0.001 * frame)
    assert teams[0].alive
