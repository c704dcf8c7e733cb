"""What an engine says happened in a step."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """A joint broke, a gripper lost its hold, a robot came into a zone, the motion exploded."""

    world: int      # number among those of the state
    time: float     # s
    kind: str       # 'grip' 'lost' 'release' 'break' 'enter' 'leave' 'explode'
    text: str


__all__ = ["Event"]
