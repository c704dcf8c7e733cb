"""A program that plays over the network, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
from math import cos, hypot, pi, remainder, sin
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formiga.link import sockets
from formiga.soccer.network import Network
from formiga.soccer.programs import firasim_client
from formiga.soccer.talk import BLUE, YELLOW, Call, Foul
from tests.soccer.wires import HERE, ON, PATIENCE, RADIUS, Ear, game, hub_of, sight, soon

ROOT = Path(__file__).parents[2]


# -- a team program in a process of its own ---------------------------------------------------------------------------
class Toy:
    """Robots that do what their wheels say, at once, and a ball that is pushed away by whom it touches."""

    def __init__(self, base: float = 0.085, dt: float = 0.016) -> None:
        seen = sight()
        self.robots, self.ball, self.base, self.dt = seen.robots.copy(), np.array([0.1, 0.1]), base, dt

    def step(self, wheels) -> None:
        for team in (BLUE, YELLOW):
            for robot, (left, right) in zip(self.robots[team], wheels[team], strict=True):
                speed, turn = (left + right) / 2 * self.dt, (right - left) / self.base * self.dt
                robot[:3] += speed * cos(robot[2]), speed * sin(robot[2]), turn
                gap = self.ball - robot[:2]
                if 0.0 < (away := hypot(*gap)) < 0.06:
                    self.ball += gap / away * (0.06 - away)

    def sight(self, frame: int):
        return sight(frame, robots=self.robots.copy(), ball=np.array([*self.ball, 0.0, 0.0]))


def start(colour: str, hub: Network, eyes: tuple[str, int], *more: str) -> subprocess.Popen:
    """The shipped network team, ready to see."""
    program = subprocess.Popen(
        [sys.executable, "-m", "formiga.soccer.programs.firasim_client", "--colour", colour, "--vision", sockets.written(eyes),
         "--commands", sockets.written(hub.commands), "--patience", str(PATIENCE), *more],
        cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == f"{colour} listens at {sockets.written(eyes)}\n"
    return program


def free_address() -> tuple[str, int]:
    with Ear() as ear:
        return ear.address


def play(frames: int) -> tuple[Toy, list[np.ndarray]]:
    """Two network teams in lock-step, each with an address of its own, in the toy world."""
    toy, log = Toy(), []
    eyes, ears = [free_address(), free_address()], [free_address(), free_address()]
    with hub_of(vision=eyes, referee=ears, placement=(HERE, 0)) as hub:
        teams = [start(colour, hub, eyes[team], "--referee", sockets.written(ears[team]), "--placement",
                       sockets.written(hub.placement)) for team, colour in enumerate(("blue", "yellow"))]
        try:
            bridges = [hub.bridge(BLUE), hub.bridge(YELLOW)]
            for frame in range(frames):
                for bridge in bridges:
                    bridge.show(toy.sight(frame), game())
                wheels = np.array([bridge.orders(frame, PATIENCE) for bridge in bridges])
                log.append(wheels)
                toy.step(wheels)
            assert not [line for bridge in bridges for line in bridge.troubles()]
        finally:
            for each in teams:
                each.kill()
                each.communicate()
    return toy, log


def test_two_network_teams_in_lock_step_play_the_same_game_twice():
    first, wheels = play(120)
    second, again = play(120)
    assert np.array_equal(wheels, again)
    assert np.array_equal(first.robots, second.robots)
    assert (np.abs(wheels) > 0.1).any(axis=(0, 2, 3)).all()            # both do something


def test_the_shipped_team_keeps_its_goal_and_pushes_the_ball_to_the_other():
    """Alone on the field: the other team's robots stand."""
    toy, eyes = Toy(), free_address()
    toy.robots[YELLOW, :, 1] = 0.6
    with hub_of(vision=[eyes]) as hub:
        team = start("blue", hub, eyes, "--referee", sockets.written(free_address()))
        try:
            bridge = hub.bridge(BLUE)
            for frame in range(2500):
                bridge.show(toy.sight(frame), game())
                toy.step([bridge.orders(frame, PATIENCE), np.zeros((3, 2))])
                if toy.ball[0] > 0.75:
                    break
        finally:
            team.kill()
            team.communicate()
    assert toy.ball[0] > 0.75 and abs(toy.ball[1]) < 0.2               # a goal
    keeper = toy.robots[BLUE, 0]
    assert hypot(keeper[0] + 0.69, 0.0) < 0.05 and abs(keeper[1]) < 0.25


def test_the_shipped_team_stands_still_at_a_call_and_says_where_it_wants_to_kick_off():
    toy, eyes, ears = Toy(), free_address(), free_address()
    with hub_of(vision=[eyes], referee=ears, placement=(HERE, 0)) as hub:
        team = start("yellow", hub, eyes, "--referee", sockets.written(ears), "--placement", sockets.written(hub.placement))
        try:
            bridge = hub.bridge(YELLOW)
            frames = iter(range(10_000))

            def drives() -> bool:
                frame = next(frames)
                bridge.show(toy.sight(frame), game())
                return bool(np.abs(bridge.orders(frame, PATIENCE)).max() > 0.0)

            assert soon(drives)
            bridge.tell(Call(Foul.KICKOFF, YELLOW, 0, 1, 1.0))
            soon(lambda: not drives())
            places = soon(lambda: [] if (wanted := bridge.placement()) is None else [wanted])[0]
            assert (places[:, 0] > 0.05).all() and (np.abs(places[:, :2]) < [0.75, 0.65]).all()  # its own half
            assert_allclose(np.abs([remainder(heading, 2 * pi) for heading in places[:, 2]]), pi)  # looking at the other goal
            bridge.tell(ON._replace(time=2.0))
            soon(drives)
        finally:
            team.kill()
            team.communicate()


def test_the_toy_world_turns_left_when_its_right_wheel_is_faster():
    """The judge of the tests above, judged: -10 and 10 rad/s turn a FIRASim robot at 4.71 rad/s."""
    toy = Toy()
    toy.step(np.broadcast_to([-10.0 * RADIUS, 10.0 * RADIUS], (2, 3, 2)))
    assert toy.robots[BLUE, 0, 2] / toy.dt == pytest.approx(4.71, abs=0.01)


def unknown(_: str) -> str:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("given, said", [
    ("127.0.0.1", "'127.0.0.1' is no address; one looks like 127.0.0.1:20011"), ("127.0.0.1:99999", "is no address"),
    ("nowhere.invalid:10002", "is no machine that is known here: Name or service"),
    ("192.0.2.200:10002", "must be addresses of this machine or of a group")])
def test_the_shipped_client_says_in_one_line_what_is_wrong_with_an_address(given, said, monkeypatch, capsys):
    referee = sockets.written(free_address())
    monkeypatch.setattr(sys, "argv", ["firasim_client", "--colour", "blue", "--referee", referee, "--vision", given])
    if "nowhere" in given:  # without asking a name server
        monkeypatch.setattr(firasim_client.socket, "gethostbyname", unknown)
    with pytest.raises(SystemExit) as ended:
        firasim_client.main()
    assert ended.value.code == 2 and said in capsys.readouterr().err.splitlines()[-1]
