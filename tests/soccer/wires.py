"""For tests of the network: pictures to show, a hub on ports that the system gives, and a client as team programs have it."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from formiga.link import sockets
from formiga.soccer.network import Network
from formiga.soccer.talk import Call, Foul, Game, Sight
from formiga.soccer.wire.fira_pb2 import Environment, Packet
from formiga.world.field import Field

HERE = "127.0.0.1"
RADIUS, TOP = 0.02, 2.0     # m of a wheel, m/s at its rim
BALL = 0.0215               # m, radius of the ball
PATIENCE = 20.0             # s that anything may take on a busy machine
ON = Call(Foul.GAME_ON, 2, 0, 1, 0.0)

needs_multicast = pytest.mark.skipif(not sockets.arrives("224.0.0.1", HERE) or not sockets.arrives("224.5.23.2", HERE),
                                     reason="this machine carries no multicast")


def game(score: tuple[int, int] = (0, 0), call: Call = ON) -> Game:
    """A game that is on."""
    return Game(score, 1, 0.0, call, 1)


def sight(frame: int = 0, players: int = 3, dt: float = 0.016, **changed: Any) -> Sight:
    """Robots in two columns, the ball off the centre."""
    robots = np.zeros((2, players, 6))
    robots[..., 0] = np.array([[-0.3], [0.3]])
    robots[..., 1] = np.linspace(-0.4, 0.4, players)
    robots[1, :, 2] = np.pi
    return Sight(frame, frame * dt, np.array([0.1, -0.05, 0.0, 0.0]), robots, np.ones((2, players), bool))._replace(**changed)


@contextlib.contextmanager
def hub_of(players: int = 3, **given: Any) -> Iterator[Network]:
    """A hub whose ports the system chooses; nothing goes out unless a test says where to."""
    given = {"vision": (), "commands": (HERE, 0), "referee": None, "placement": None} | given
    with Network(players, Field(), RADIUS, TOP, BALL, **given) as hub:
        yield hub


class Ear:
    """A socket that listens as existing programs do: a buffer of 1,024 bytes, and the group joined if there is one."""

    def __init__(self, host: str = HERE, port: int = 0, join: str = "") -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((host, port))
        self.socket.settimeout(PATIENCE)
        if join:                                      # on any interface: what most of them write
            with contextlib.suppress(OSError):        # no default route
                self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(join) + bytes(4))
        self.address = self.socket.getsockname()

    def hear(self) -> bytes:
        """The next packet."""
        return self.socket.recv(1024)

    def see(self) -> Environment:
        """The next picture."""
        return Environment.FromString(self.hear())

    def silent(self) -> bool:
        """Whether nothing is there. Datagrams on loopback arrive before `sendto` returns."""
        self.socket.settimeout(0.0)
        try:
            self.socket.recv(1024)
            return False
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)

    def __enter__(self) -> Ear:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()


class Mouth:
    """A program that sends."""

    def __init__(self, to: tuple[str, int]) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if not sockets.is_multicast(to):
            self.socket.bind((HERE, 0))
        self.to = to

    @property
    def name(self) -> str:
        """As complaints call it."""
        return sockets.written(self.socket.getsockname())

    def say(self, data: bytes) -> None:
        self.socket.sendto(data, self.to)

    def drive(self, *wheels: tuple[int, bool, float, float], answered: int = 0) -> None:
        """Commands: id, yellow, left, right (rad/s)."""
        self.say(commands(*wheels, answered=answered))

    def __enter__(self) -> Mouth:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()


def commands(*wheels: tuple[int, bool, float, float], answered: int = 0) -> bytes:
    """id, yellow, left, right (rad/s) -> a packet."""
    packet = Packet(answered=answered)
    for robot, yellow, left, right in wheels:
        packet.cmd.robot_commands.add(id=robot, yellowteam=yellow, wheel_left=left, wheel_right=right)
    return packet.SerializeToString()


def soon(found: Callable[[], Any]) -> Any:
    """What `found` returns, as soon as that is something."""
    until = time.monotonic() + PATIENCE
    while not (value := found()):
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.002)
    return value
