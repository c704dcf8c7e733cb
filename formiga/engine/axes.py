"""How long the axes of a state are for a world."""

from __future__ import annotations

from formiga.world.contract import channels
from formiga.world.model import World, loudspeakers

FEWEST_CHANNELS = 2  # recordings have a column for a left and a right wheel


def sizes_of(world: World) -> dict[str, int]:
    """Lengths of the axes that a world's description decides: see `state.State`."""
    robots = [group.robot for group in world.groups]
    return {"robot": world.robots, "channel": max((channels(robot) for robot in robots), default=0) or FEWEST_CHANNELS,
            "light": max((robot.leds for robot in robots), default=0), "movable": len(world.movables),
            "speaker": max((loudspeakers(group) for group in world.groups), default=0),
            "motor": len(world.motors), "load": 0,
            "word": sum(medium.numbers for medium in world.media.values())}
