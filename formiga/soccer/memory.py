"""The two memories between a team and the field: what the camera saw, and what the robots shall do. [Klancar et al. 2003]

Memory 1 (SIGHT) is written by the camera's side, a simulator or the vision program of real robots, and read by the team.
Memory 2 (ORDERS) is written by the team. A team program cannot tell which of the two it plays in. memory.h is the same
in C; docs/tutorials/soccer-teams.md has the table. How a memory is shared stands in formiga/link/memory.py. A vision program
without memfds maps two plain files instead (`Feed(folder=...)`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import isfinite, pi, remainder
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formiga.link import TURN, Exchange, LinkError, Record, Reply
from formiga.soccer.talk import Call, Foul, Game, Sight

if TYPE_CHECKING:
    from formiga.world.field import Field  # a team program loads no worlds

MOST = 11                      # robots in a team, in the layout; `players` says how many there are

PITCH = tuple((name, "<f8") for name in (
    "length", "width", "goal_width", "goal_depth", "corner", "circle", "area_width", "area_depth", "penalty_spot",
    "side", "wheel_base", "top_speed", "ball_radius", "period",
))
SIGHT = Record("sight", 1, (
    ("players", "<u4"),                # in each team
    *TURN,                             # state: 1 while there is a game, 0 when the team may end; the picture's number, time
    *PITCH,                            # m, m/s at the rim, s between pictures
    ("blue_attacks", "<i4"),           # 1: to the right (+x), -1: to the left
    ("half", "<i4"),                   # 0 before the start
    ("score", "<i4", (2,)),            # blue, yellow
    ("clock", "<f8"),                  # s played in this half
    ("call", "<i4"),                   # number of the referee's last call; what it was follows
    ("foul", "<i4"),                   # talk.Foul
    ("call_team", "<i4"),              # 0 blue, 1 yellow, 2 neither
    ("quadrant", "<i4"),
    ("call_half", "<i4"),
    ("spare", "<i4"),
    ("call_time", "<f8"),
    ("ball", "<f8", (4,)),             # x y vx vy
    ("robots", "<f8", (2, MOST, 6)),   # blue, yellow: x y heading vx vy spin
    ("present", "<u1", (2, MOST)),     # 0: switched off, or not seen
    ("spare2", "<u1", (2,)),
))
ORDERS = Record("orders", 2, (
    ("players", "<u4"),
    *TURN,                             # state: 1 once a team has opened it; number and time of the picture that it answers
    ("speeds", "<f8", (MOST, 2)),      # v (m/s), omega (rad/s, counter-clockwise)
    ("placed_for", "<i4"),             # number of the call that the places answer; -1: none
    ("spare", "<i4"),
    ("places", "<f8", (MOST, 3)),      # x y heading wanted after a call; NaN: left open
))


class TeamError(LinkError):
    """A team that cannot be found or started."""


# -- memory 1 ---------------------------------------------------------------------------------------------------------
class Pitch(NamedTuple):
    """The field and the robots in numbers: m, m/s, s. The small league's, unless told otherwise."""

    length: float = 1.5
    width: float = 1.3
    goal_width: float = 0.4
    goal_depth: float = 0.15
    corner: float = 0.07
    circle: float = 0.2
    area_width: float = 0.7
    area_depth: float = 0.15
    penalty_spot: float = 0.375
    side: float = 0.075        # of a robot
    wheel_base: float = 0.075
    top_speed: float = 1.32    # of a wheel's rim
    ball_radius: float = 0.02135
    period: float = 0.033      # between pictures

    def on(self, field: Field) -> Pitch:
        """The same with the sizes of a field."""
        return self._replace(length=field.length, width=field.width, goal_width=field.goal_width, goal_depth=field.goal_depth,
                             corner=field.corner, circle=field.circle, area_width=field.area_width,
                             area_depth=field.area_depth, penalty_spot=field.penalty_spot)


def fill_sight(values: Any, sight: Sight, game: Game, blue_attacks: int) -> None:
    """Put a picture into the fields of SIGHT, but for its number and its time."""
    players = sight.robots.shape[1]
    values["ball"] = sight.ball
    values["robots"][:, :players] = sight.robots
    values["present"][:, :players] = sight.present
    values["blue_attacks"], values["half"], values["score"] = blue_attacks, game.half, game.score
    values["clock"], values["call"] = game.clock, game.frame
    call = game.call
    values["foul"], values["call_team"], values["quadrant"] = call.foul, call.team, call.quadrant
    values["call_half"], values["call_time"] = call.half, call.time


# -- memory 2 ---------------------------------------------------------------------------------------------------------
class Answer(NamedTuple):
    """What a team wrote, as far as it makes sense."""

    frame: int
    speeds: list[tuple[float, float]]               # (P) v, omega; zero where the team wrote no number
    placed_for: int                                 # number of the call that the places answer
    places: list[list[float]]                       # (MOST) x y heading, not looked at yet: see `places_in`
    damage: str                                     # what was wrong with it: "", "head", "frame" or "numbers"


def answer_in(reply: Reply, players: int) -> Answer:
    """The orders in a reply. A damaged one has none."""
    if reply.damage:
        return Answer(-1, [(0.0, 0.0)] * players, -1, [], reply.damage)
    speeds, damage = speeds_in(reply.values, players)
    placed_for = int(reply.values["placed_for"])
    return Answer(reply.frame, speeds, placed_for, reply.values["places"].tolist() if placed_for >= 0 else [], damage)


def speeds_in(values: Any, players: int) -> tuple[list[tuple[float, float]], str]:
    """(P) v, omega of ORDERS, zero where a team wrote no number; and "numbers" if it did so."""
    speeds, damage = [], ""
    for v, omega in values["speeds"][:players].tolist():
        if not (isfinite(v) and isfinite(omega)):
            v, omega, damage = 0.0, 0.0, "numbers"
        speeds.append((v, omega))
    return speeds, damage


def places_in(places: list[list[float]], players: int, far: float = 10.0) -> Any:
    """Places (P, 3) that a team asked for; NaN for a robot whose place is left open, or no place at all."""
    asked = np.full((players, 3), np.nan)
    for i, (x, y, heading) in enumerate(places[:players]):
        if abs(x) <= far and abs(y) <= far and isfinite(heading):  # a NaN is not <= anything
            asked[i] = x, y, remainder(heading, 2 * pi)
    return asked


# -- the camera's side ------------------------------------------------------------------------------------------------
NO_CALL = Call(Foul.GAME_ON, 2, 0, 1, 0.0)
NO_GAME = Game((0, 0), 1, 0.0, NO_CALL, 0)


class Feed:
    """Both memories of one team, seen from the camera and the radio: a simulator's side, or that of a vision program.

        with Feed(players=3, folder="/dev/shm/vision") as feed:      # python my_team.py --memory /dev/shm/vision/sight ...
            for sight in recorded:
                feed.show(sight)
                speeds = feed.answer(sight.frame, wait=0.1)

    A team cannot tell this from a match, so a recorded game, or real robots, drive the same program.
    """

    def __init__(self, players: int = 3, pitch: Pitch = Pitch(), *, folder: str | os.PathLike[str] | None = None,  # noqa: B008
                 name: str = "team") -> None:
        if not 1 <= players <= MOST:
            raise TeamError(f"{players} players: a team has 1 to {MOST}.")
        self.players, self.blue_attacks = players, 1
        self.exchange = Exchange(SIGHT, ORDERS, name=name, folder=folder)
        sight, orders = self.exchange.asked, self.exchange.answered
        sight.values["players"], sight.values["blue_attacks"] = players, 1
        for size, value in pitch._asdict().items():
            sight.values[size] = value
        sight.write()
        orders.values["players"], orders.values["placed_for"], orders.values["places"] = players, -1, np.nan
        orders.write()

    @property
    def files(self) -> tuple[int, int]:
        """The descriptors that a team program inherits."""
        return self.exchange.files

    @property
    def paths(self) -> list[str]:
        """What a team program opens: for another process, inherited (`pass_fds`) or by their names."""
        return self.exchange.paths

    @property
    def opened(self) -> bool:
        """Whether a team has opened its memories."""
        return self.exchange.opened

    def show(self, sight: Sight, game: Game = NO_GAME) -> None:
        """A new picture. Never waits."""
        fill_sight(self.exchange.question, sight, game, self.blue_attacks)
        self.exchange.show(int(sight.frame), float(sight.time))

    def take(self) -> Answer | None:
        """What the team's memory holds now; None while it is being written."""
        reply = self.exchange.take()
        return None if reply is None else answer_in(reply, self.players)

    def answer(self, frame: int, wait: float) -> Answer | None:
        """The team's answer to a picture, or to a later one; None if there is none within `wait` seconds."""
        reply = self.exchange.answer(frame, wait)
        return None if reply is None else answer_in(reply, self.players)

    def play(self, sights: Iterable[Sight], wait: float = 1.0) -> list[Answer | None]:
        """Show recorded pictures one after the other, each as soon as the last one is answered; what the team answered."""
        answers = []
        for sight in sights:
            self.show(sight)
            answers.append(self.answer(sight.frame, wait))
        return answers

    def close(self) -> None:
        """Tell the team that the game is over, and release the memories."""
        self.exchange.close()

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["Answer", "Feed", "MOST", "NO_GAME", "ORDERS", "Pitch", "SIGHT", "TeamError", "answer_in", "fill_sight", "places_in",
           "speeds_in"]
