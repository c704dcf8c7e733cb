"""What an engine says happened in a step, and the columns of its lists of contacts and forces."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """A joint broke, a gripper lost its hold, a robot came into a zone, the motion exploded."""

    world: int      # number among those of the state
    time: float     # s
    kind: str       # 'grip' 'lost' 'release' 'break' 'enter' 'leave' 'explode'
    text: str


class Touch:
    """Columns of `Engine.contacts`. Bodies are robots, then movables; -1 is fixed."""

    PLACE, NORMAL, IMPULSE, BODIES = slice(0, 2), slice(2, 4), 4, slice(5, 7)  # m; to the first body; N s; numbers of the two
    COLUMNS = 7


class Pull:
    """Columns of `Engine.forces`."""

    PLACE, FORCE, KIND = slice(0, 3), slice(3, 6), 6  # m; N, on the holder; GRIP or JOINT
    GRIP, JOINT = 0.0, 1.0
    COLUMNS = 7


__all__ = ["Event", "Pull", "Touch"]
