"""What is learned: what plays the others, how an episode starts, and what is rewarded."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from formiga.errors import FormigaError, suggest, whole
from formiga.soccer import league
from formiga.world.model import World

LEAGUES = {"soccer": 3, "soccer5": 5}  # name -> players of a team
CONTROL_PERIOD = 0.025                 # s, as in rSoccer [Martins et al. 2021]
EPISODE = 30.0                         # s
BEHAVIOURS = ("still", "random", "chase")
STARTS = ("random", "kickoff")
TERMS = ("goal", "ball", "move", "energy")


@dataclass(frozen=True)
class Task:
    """The options of a soccer environment. The weights are those of rSoccer's VSS environment [Martins et al. 2021]."""

    robot: int = 0                 # the one that learns, if it is only one: its number in its team
    mates: str = "random"          # what the others of its team do: one of BEHAVIOURS
    opponents: str = "random"      # what the other team does
    start: str = "random"          # all anywhere; or `kickoff`, of either team
    goal: float = 10.0             # weight of a goal: for the team that scored, and against the other
    ball: float = 0.8              # of the way that the ball goes towards the other goal
    move: float = 0.2              # of the speed towards the ball
    energy: float = 0.02           # of the speed that the wheels are ordered

    def __post_init__(self) -> None:
        for name, allowed in (("mates", BEHAVIOURS), ("opponents", BEHAVIOURS), ("start", STARTS)):
            given = getattr(self, name)
            if given not in allowed:
                raise FormigaError(f"{name} '{given}' is unknown.{suggest(str(given), allowed)} "
                                   f"It may be: {', '.join(allowed)}.")
        for name in TERMS:
            given = getattr(self, name)
            if not isinstance(given, int | float) or not isfinite(given):
                raise FormigaError(f"the weight '{name}' must be a number, not {given!r}.")

    @property
    def weights(self) -> tuple[float, ...]:
        """In the order of TERMS."""
        return tuple(float(getattr(self, name)) for name in TERMS)


OPTIONS = tuple(option.name for option in fields(Task))
WORLD = ("players", "preset", "dt", "tyres", "shape")  # what may be said about a league's world


def read(given: World | str, params: dict[str, Any]) -> tuple[World, Task]:
    """A league's world, or one that was read already, and what is to be learned in it."""
    known = (*WORLD, *OPTIONS) if isinstance(given, str) else OPTIONS
    for name in params:
        if name not in known:
            raise FormigaError(f"a soccer environment has no option '{name}'.{suggest(name, known)} "
                               f"It has: {', '.join(known)}.")
    task = Task(**{name: value for name, value in params.items() if name in OPTIONS})
    if isinstance(given, World):
        return given, task
    described = {"players": LEAGUES[given], "dt": CONTROL_PERIOD} | {name: params[name] for name in WORLD if name in params}
    return league.world(**described, seconds=EPISODE, name=given), task


def limit(world: World, steps: int | None) -> int:
    """Steps of an episode: as many as are asked for, else those of 30 s."""
    return whole("max_episode_steps", max(1, round(EPISODE / world.dt)) if steps is None else steps, 1, 2**53)


__all__ = ["BEHAVIOURS", "LEAGUES", "OPTIONS", "STARTS", "TERMS", "Task", "limit", "read"]
