"""A team program behind its two memories, as the match sees it. It may be slow, dead or faulty; the game goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from formiga.link import LinkError, Remote, Words
from formiga.soccer import league
from formiga.soccer.memory import Feed, Pitch, TeamError, fill_sight, places_in, speeds_in
from formiga.soccer.talk import BLUE, MOST_NOTES, NAMES, Call, Game, Sight
from formiga.world.model import World

HOLD = 1.0     # s of game time without an answer after which the robots stand still
WORDS = Words(question="picture", refused="its orders are not followed", time="the game", idle="its robots stand still")


def pitch_of(world: World) -> Pitch:
    """What a team is told about the field, the ball and the robots of a world of soccer."""
    field, ball, _ = league.teams(world)
    robot = world.group(NAMES[BLUE]).robot
    return Pitch(side=robot.side, wheel_base=robot.wheel_base, top_speed=robot.top_speed, ball_radius=ball.radius,
                 period=world.dt).on(field)


class MemoryBridge:
    """A team program and its two memories. [implements talk.Bridge]

    It is started as `command --memory SIGHT ORDERS --colour blue` and hears and says nothing else. In lock-step (`wait` > 0)
    each picture is waited for. A team that misses one is reported, and not waited for until it answers again; its robots go on
    for HOLD seconds of game time, then stand. patience: s for a first answer, in lock-step.
    """

    def __init__(self, name: str, command: Sequence[str], colour: int, players: int, pitch: Pitch = Pitch(), *,  # noqa: B008
                 patience: float = 10.0) -> None:
        self.name, self.colour, self.players = name, colour, players
        self._half_base, self._top = 0.5 * pitch.wheel_base, pitch.top_speed
        self._notes: deque[str] = deque(maxlen=MOST_NOTES)
        self._call = -1                                        # number of the last call that was shown
        self._places: tuple[int, list[list[float]]] = (-1, [])
        self._still = self._wheels = np.zeros((players, 2))
        try:
            self._feed = Feed(players, pitch, name=f"{name}-{NAMES[colour]}")
        except LinkError as wrong:
            raise TeamError(f"Team {name}: {wrong}") from wrong
        try:
            self._remote = Remote(f"Team {name}", command, self._feed.exchange, arguments=("--colour", NAMES[colour]),
                                  silence=HOLD, patience=patience, words=WORDS, accept=self._accept)
        except LinkError as wrong:
            raise TeamError(str(wrong)) from wrong

    @property
    def blue_attacks(self) -> int:
        """1: blue plays to the right, -1: to the left. Teams are told with the next picture."""
        return self._feed.blue_attacks

    @blue_attacks.setter
    def blue_attacks(self, way: int) -> None:
        self._feed.blue_attacks = way

    @property
    def alive(self) -> bool:
        """Whether its program runs."""
        return self._remote.alive

    @property
    def there(self) -> bool:
        """Whether its program has opened its memories."""
        return self.ready(0.0)

    @property
    def pid(self) -> int:
        """Of its program; also the number of its process group."""
        return self._remote.pid

    def start(self, wait: float) -> None:
        """Wait until the program has opened its memories, at most so many seconds and as long as a first answer is waited for.

        One that ended before could not start: TeamError, with the last line that it printed.
        """
        try:
            self._remote.start(wait)
        except LinkError as wrong:
            raise TeamError(f"Team {self.name} ({NAMES[self.colour]}) could not start: its program ended "
                            f"({self._remote.how}).") from wrong

    def ready(self, wait: float) -> bool:
        """Wait until the program has opened its memories, at most so many seconds."""
        return self._remote.ready(wait)

    def failure(self) -> str:
        """Why the team could not play until now, '' if it could."""
        return self._remote.failure()

    def show(self, sight: Sight, game: Game) -> None:
        """Hand over a picture. Never waits."""
        self._call = int(game.frame)
        fill_sight(self._remote.question, sight, game, self.blue_attacks)
        self._remote.show(int(sight.frame), float(sight.time))

    def orders(self, frame: int, wait: float) -> Any:
        """Wheel speeds (P, 2), left and right, m/s at the rim, within the motors' limits. Never raises."""
        return self._still if self._remote.ask(frame, wait) is None else self._wheels

    def tell(self, call: Call) -> None:
        """Nothing to do: the memory holds how the game stands, and the next picture brings the call with it."""

    def placement(self) -> Any:
        """Where it wants its robots, (P, 3) with NaN for those left open, if it has answered the last call; else None."""
        if not self._remote.alive:
            return None
        self._remote.refresh()
        call, places = self._places
        return places_in(places, self.players) if call == self._call else None

    def troubles(self) -> list[str]:
        """What went wrong since this was last asked."""
        return self._remote.troubles()

    def log(self) -> str:
        """What was noted, and the last 64 KiB that the program printed."""
        return "".join(f"{line}\n" for line in self._notes) + self._remote.log()

    def note(self, line: str) -> None:
        """Put a line into its log."""
        self._notes.append(line)

    def close(self) -> None:
        """Tell the program that the game is over, then end it and all that it started."""
        self._remote.close()

    def __enter__(self) -> MemoryBridge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self, values: Any) -> tuple[str, str] | None:
        """Take an answer as wheel speeds: v -+ omega base / 2, within the motors' limits."""
        speeds, damage = speeds_in(values, self.players)
        half, top = self._half_base, self._top
        self._wheels = np.array([(max(-top, min(top, v - omega * half)), max(-top, min(top, v + omega * half)))
                                 for v, omega in speeds])
        placed_for = int(values["placed_for"])
        self._places = (placed_for, values["places"].tolist() if placed_for >= 0 else [])
        return ("numbers", "sent speeds that are no numbers; such robots stand still") if damage else None


__all__ = ["HOLD", "MemoryBridge", "pitch_of"]
