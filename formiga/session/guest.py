"""What a session asks of a program that plays in it: a match, with teams that drive the robots and a referee."""

from __future__ import annotations

from typing import Any, Protocol

from formiga.loop import Simulation
from formiga.view.frame import Scoreboard


class Guest(Protocol):
    """A match in a session. It drives robots before each step, and may move them after it."""

    @property
    def over(self) -> bool:
        """Whether there is nothing left to play."""

    def drive(self, sim: Simulation) -> dict[str, Any]:
        """Before each step: orders for it, as `Simulation.step` takes them."""

    def watch(self, sim: Simulation) -> None:
        """After each step; may change the state."""

    def rest(self) -> None:
        """There was a pause since the last step."""

    def scoreboard(self) -> Scoreboard | None:
        """How the match stands."""

    def close(self) -> None:
        """End the match, and the programs of its teams."""


__all__ = ["Guest"]
