"""What an engine's bodies are called: which robot or thing each belongs to, and which part of it it is."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """A body that moves, one row of the state's `bodies`."""

    robot: int      # number of the robot that it belongs to, or -1
    thing: int      # number of the thing in `world.things`, or -1
    name: str       # 'chassis', 'turret', 'arm', 'left', 'right', or what the user's own file calls it; 'body' of a thing
