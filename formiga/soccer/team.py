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

from formiga.soccer.memory import OrderMemory, Pitch, SightMemory, TeamError, open_memory
from formiga.soccer.talk import NAMES, Foul

LOOK = 0.002  # s: a vision program that rings nobody is looked at this often


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
    ours: bool | None          # whose ball it is; None: nobody's
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
        self._sight: SightMemory = open_memory(SightMemory, sight)
        self._orders: OrderMemory = open_memory(OrderMemory, orders)
        self._sequence, self._frame, self._call, self._turned = 0, -1, -1, False
        if all(self._sight.read() is None for _ in range(100)):
            raise TeamError(f"{sight}: its writer stopped in the middle of a picture.")
        first = self._sight.record
        self.players = min(int(first["players"]), first["robots"].shape[1])
        self.field = Pitch(*(float(first[name]) for name in Pitch._fields))
        self._orders.read()
        self._orders.record["frame"], self._orders.record["state"], self._orders.record["placed_for"] = -1, 1, -1
        self._speeds, self._places = self._orders.record["speeds"], self._orders.record["places"]
        self._speeds[:], self._places[:] = 0.0, nan
        self._orders.write()

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
        """The pictures, the newest each time: who is slow misses some. Ends with the game."""
        while (picture := self.look()) is not None:
            yield picture
            self.answer()

    def look(self) -> Picture | None:
        """Wait for the next picture; None when the game is over."""
        sight, record = self._sight, self._sight.record
        while True:
            self._sequence = sight.sequence
            if not self._sequence & 1 and sight.read() is not None:
                if record["state"] == 0:
                    return None
                if record["frame"] not in (-1, self._frame):
                    return self._picture(record)
            sight.wait(self._sequence, LOOK)

    def _picture(self, record: Any) -> Picture:
        mine, players = self._mine, self.players
        self._frame = int(record["frame"])
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
            self._orders.record["placed_for"], self._places[:] = -1, nan
        score = record["score"].tolist()
        return Picture(self._frame, float(record["time"]), Ball(*ball), teams[mine], teams[1 - mine],
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
        self._orders.record["placed_for"] = self._call
        self._places[robot] = (-x, -y, remainder(heading + pi, 2 * pi)) if self._turned else (x, y, heading)

    def answer(self) -> None:
        """Send what was ordered since the last picture. The loop does this by itself."""
        record = self._orders.record
        record["frame"], record["time"] = self._frame, self._sight.record["time"]
        self._orders.write()
        self._speeds[:] = 0.0

    def close(self) -> None:
        """Stop the robots."""
        self._speeds[:] = 0.0
        self._orders.write()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["Ball", "Called", "Foul", "Picture", "Pitch", "Robot", "Team"]
