"""What a team program in Python uses.

    from formiga.soccer.team import Team

    with Team.from_arguments() as team:
        for see in team:                                   # waits for the next picture
            for i, me in enumerate(see.own):
                team.drive(i, v=0.5, omega=4.0 * me.bearing(see.ball.x, see.ball.y))

The program runs in a process of its own and sees the game only through two memories (memory.py): the same program plays in
the simulator and with real robots. Every team sees itself playing from left to right: its own goal is at negative x.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from math import atan2, hypot, nan, pi, remainder
from typing import Any, NamedTuple

from formiga.link import Peer
from formiga.soccer.memory import ORDERS, SIGHT, Pitch, TeamError
from formiga.soccer.talk import NAMES, Foul


class Ball(NamedTuple):
    """m, m/s."""

    x: float
    y: float
    vx: float
    vy: float


class Robot(NamedTuple):
    """m, rad, m/s, rad/s; heading 0 looks at the other team's goal."""

    x: float
    y: float
    heading: float
    vx: float
    vy: float
    spin: float
    seen: bool                 # false: switched off, or hidden from the camera; the numbers are old

    def bearing(self, x: float, y: float) -> float:
        """How far to turn left to look at a point, -pi to pi."""
        return remainder(atan2(y - self.y, x - self.x) - self.heading, 2 * pi)

    def distance(self, x: float, y: float) -> float:
        """To a point."""
        return hypot(x - self.x, y - self.y)


class Called(NamedTuple):
    """What the referee called last."""

    number: int                # counts the calls
    foul: Foul
    ours: bool | None          # whose ball it is; None: neither team's
    quadrant: int              # 0: none; 1 top right as the team sees it, then counter-clockwise


class Picture(NamedTuple):
    """What the camera saw, as the team sees it."""

    frame: int
    time: float                # s
    ball: Ball
    own: list[Robot]
    others: list[Robot]
    score: tuple[int, int]     # own, others
    half: int
    clock: float               # s played in this half
    call: Called
    new_call: bool             # the referee has called since the last picture: time to `place`


class Team:
    """A team's two memories, opened. Iterate to see; `drive` and `place` to answer. Each picture is answered by what was
    ordered since it was seen, when the loop comes round; a robot without an order stands still."""

    def __init__(self, sight: str, orders: str, colour: str, *, mirror: bool = True) -> None:
        """mirror: turn the field round if the team plays from right to left, so that it always sees itself on the left."""
        if colour not in NAMES:
            raise TeamError(f"colour '{colour}' is unknown; a team is {' or '.join(NAMES)}.")
        self.colour, self._mine, self._mirror = colour, NAMES.index(colour), mirror
        self._call, self._turned = -1, False
        self._peer = Peer(SIGHT, ORDERS, sight, orders)
        first, self._orders = self._peer.question, self._peer.answer
        self.players = min(int(first["players"]), first["robots"].shape[1])
        self.field = Pitch(*(float(first[name]) for name in Pitch._fields))
        self._speeds, self._places = self._orders["speeds"], self._orders["places"]
        self._orders["placed_for"], self._speeds[:], self._places[:] = -1, 0.0, nan
        self._peer.send()

    @classmethod
    def from_arguments(cls, arguments: Sequence[str] | None = None, *, mirror: bool = True) -> Team:
        """The team that the simulator started: --memory SIGHT ORDERS --colour blue. Other arguments are the program's own."""
        parser = argparse.ArgumentParser(description="A team program of robot soccer; `formiga match` starts it.")
        parser.add_argument("--memory", nargs=2, required=True, metavar=("SIGHT", "ORDERS"), help="the two memories")
        parser.add_argument("--colour", choices=NAMES, required=True)
        given, _ = parser.parse_known_args(arguments)
        sight, orders = given.memory
        return cls(sight, orders, given.colour, mirror=mirror)

    # -- seeing -------------------------------------------------------------------------------------------------------
    def __iter__(self) -> Iterator[Picture]:
        """The pictures, the newest each time: a slow program misses some. Ends with the game."""
        while (picture := self.look()) is not None:
            yield picture
            self.answer()

    def look(self) -> Picture | None:
        """Wait for the next picture; None when the game is over."""
        seen = self._peer.look()
        return None if seen is None else self._picture(seen)

    def _picture(self, record: Any) -> Picture:
        mine, players = self._mine, self.players
        attacks = int(record["blue_attacks"]) * (1 if mine == 0 else -1)
        self._turned = self._mirror and attacks < 0
        ball, robots = record["ball"].tolist(), record["robots"][:, :players].tolist()
        present = record["present"][:, :players].tolist()
        if self._turned:  # half a turn: everything that moves keeps its sense of rotation
            ball = [-value for value in ball]
            teams = [[Robot(-x, -y, remainder(heading + pi, 2 * pi), -vx, -vy, spin, bool(seen))
                      for (x, y, heading, vx, vy, spin), seen in zip(robots[k], present[k])] for k in (0, 1)]
        else:
            teams = [[Robot._make([*robot, bool(seen)]) for robot, seen in zip(robots[k], present[k])] for k in (0, 1)]
        number, whose, quadrant = int(record["call"]), int(record["call_team"]), int(record["quadrant"])
        called = Called(number, Foul(int(record["foul"])), whose == mine if whose < 2 else None,
                        (quadrant + 1) % 4 + 1 if self._turned and quadrant else quadrant)
        new, self._call = number != self._call, number
        if new:
            self._orders["placed_for"], self._places[:] = -1, nan
        score = record["score"].tolist()
        return Picture(self._peer.frame, float(record["time"]), Ball(*ball), teams[mine], teams[1 - mine],
                       (score[mine], score[1 - mine]), int(record["half"]), float(record["clock"]), called, new)

    # -- answering ----------------------------------------------------------------------------------------------------
    def drive(self, robot: int, v: float, omega: float) -> None:
        """Speed (m/s, ahead) and turning rate (rad/s, to the left) of one robot."""
        self._speeds[robot] = v, omega

    def wheels(self, robot: int, left: float, right: float) -> None:
        """The same as the speeds of the two wheels' rims (m/s)."""
        self._speeds[robot] = 0.5 * (left + right), (right - left) / self.field.wheel_base

    def place(self, robot: int, x: float, y: float, heading: float = 0.0) -> None:
        """Where a robot wants to stand after the referee's call. The referee may put it elsewhere."""
        self._orders["placed_for"] = self._call
        self._places[robot] = (-x, -y, remainder(heading + pi, 2 * pi)) if self._turned else (x, y, heading)

    def answer(self) -> None:
        """Send what was ordered since the last picture. The loop does this by itself."""
        self._peer.reply()
        self._speeds[:] = 0.0

    def close(self) -> None:
        """Stop the robots."""
        self._speeds[:] = 0.0
        self._peer.send()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["Ball", "Called", "Foul", "Picture", "Pitch", "Robot", "Team"]
