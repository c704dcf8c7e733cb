"""What the simulator and the teams say to each other, whichever way it travels.

A team sees what the camera saw and what the referee called; it answers with wheel speeds. It never sees the simulation.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple, Protocol

BLUE, YELLOW = 0, 1
NAMES = ("blue", "yellow")
MOST_NOTES = 100           # lines that are kept of what was noted in a team's log


class Foul(IntEnum):
    """What a referee can call; numbers as in VSSRef."""

    FREE_KICK = 0
    PENALTY_KICK = 1
    GOAL_KICK = 2
    FREE_BALL = 3
    KICKOFF = 4
    STOP = 5
    GAME_ON = 6
    HALT = 7


class Sight(NamedTuple):
    """What the camera saw, P robots in each team. Metres and radians; x towards the goal on the right, y up."""

    frame: int             # counts from 0
    time: float            # s, when the picture was taken
    ball: Any              # (4,) x y vx vy
    robots: Any            # (2, P, 6) x y heading vx vy spin; blue, yellow
    present: Any           # (2, P) bool: false for a robot that is switched off or was not seen


class Call(NamedTuple):
    """What the referee called."""

    foul: Foul
    team: int              # whose ball it is: BLUE, YELLOW, or 2 for neither
    quadrant: int          # 0: none; 1 top right, then counter-clockwise
    half: int              # 1, 2
    time: float            # s of simulated time


class Game(NamedTuple):
    """How it stands."""

    score: tuple[int, int]
    half: int              # 1, 2; 0 before the start
    clock: float           # s played in this half
    call: Call             # the last one
    frame: int             # number of the last call, so that a team sees a new one


class Bridge(Protocol):
    """One team, as the match sees it: a program that may be slow, dead or faulty, and must never stop the game."""

    name: str

    @property
    def there(self) -> bool:
        """Whether the team is ready to play: its program has opened its memories, or has sent commands."""

    @property
    def alive(self) -> bool:
        """Whether its program runs, as far as it is known."""

    def log(self) -> str:
        """The last that its program printed, as far as it is known, and what was noted."""

    def note(self, line: str) -> None:
        """Put a line into its log: a place that it wished for was refused, say."""

    def show(self, sight: Sight, game: Game) -> None:
        """Hand over a picture. Never waits."""

    def orders(self, frame: int, wait: float) -> Any:
        """Wheel speeds (P, 2) in m/s at the rim: the newest. wait > 0: up to so many seconds for the answer to `frame`."""

    def tell(self, call: Call) -> None:
        """Hand over what the referee called."""

    def placement(self) -> Any:
        """Where the team wants its robots after a call, (P, 3) x y heading with NaN for those it leaves open; or None."""

    def troubles(self) -> list[str]:
        """What went wrong since this was last asked, a line each: 'its program ended (signal 9)'."""

    def start(self, wait: float) -> None:
        """Wait until the program has started, at most so many seconds; TeamError if it ended before."""

    def failure(self) -> str:
        """Why the team could not play until now, '' if it could. Asked before `close`."""

    def close(self) -> None:
        """End the program, if it is ours, and give everything back."""
