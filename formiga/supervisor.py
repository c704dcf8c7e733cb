"""A program that accompanies a run from outside, and what it shows about it: the referee of a match, the timekeeper of a trial.

A supervisor is called around each step. It may give orders to robots and change the state; what it has to tell a person it
returns as a Note, which the page shows, a film draws and a recording keeps.

    class Trial:
        over, name = False, "trial"

        def before(self, sim):
            return None                                  # the robots' own controllers drive

        def after(self, sim):
            self.over = sim.state.step[0] >= 600

        def note(self):
            return Note(title="foraging", text="time is up" if self.over else "")
        ...
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from formiga.loop import Simulation


class Side(NamedTuple):
    """One side of a contest."""

    group: str     # the group of robots that belongs to it, and lends it its colour
    name: str      # as it is shown
    score: int = 0


class Note(NamedTuple):
    """What a supervisor shows at one moment. An empty field is not shown."""

    title: str = ""                # 'first half', 'trial 3'
    clock: str = ""                # '4:31'
    text: str = ""                 # the latest remark: 'FREE BALL'
    sides: tuple[Side, ...] = ()   # a contest's, in the order in which they are shown

    @property
    def headline(self) -> str:
        """The note in one line: 'ants  1 : 0  bees   4:31'."""
        if len(self.sides) == 2:
            one, other = self.sides
            standing = f"{one.name}  {one.score} : {other.score}  {other.name}"
        else:
            standing = "   ".join(f"{side.name} {side.score}" for side in self.sides)
        return "   ".join(part for part in (standing or self.title, self.clock) if part)

    @property
    def outcome(self) -> str:
        """How it stands, within a sentence: 'ants 1, bees 0'; '' without sides."""
        return ", ".join(f"{side.name} {side.score}" for side in self.sides)


class Supervisor(Protocol):
    """What a session asks of a program that accompanies its run."""

    name: str  # what is under way, in messages: 'match'

    @property
    def over(self) -> bool:
        """Whether no further step is to be taken."""

    def before(self, sim: Simulation) -> dict[str, Any] | None:
        """Before each step: orders for it, as `Simulation.step` takes them."""

    def after(self, sim: Simulation) -> None:
        """After each step; may change the state."""

    def resume(self) -> None:
        """The run was paused since the last step; that time does not count."""

    def note(self) -> Note | None:
        """What to show now; None: nothing."""

    def close(self) -> None:
        """The run has ended: end the programs of others, and release everything."""


__all__ = ["Note", "Side", "Supervisor"]
