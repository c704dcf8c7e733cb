"""S1's loop: s-bots with 15 noisy infra-red beams that avoid, and are moved apart when they do not. [papers/S1]"""

from __future__ import annotations

from math import sqrt
from typing import Any

from formiga.benchmarks.measure import measure, show
from formiga.control.braitenberg import Braitenberg
from formiga.sense.proximity import Proximity
from formiga.world.model import Arena, Contact, Group, World
from formiga.world.placement import Scatter
from formiga.world.robots.sbot import SBot

SIZES = ((1_000, 1), (100, 16), (1, 1_024), (1, 10_000))  # (worlds, robots in each)
SIDE, ROBOTS = 1.5, 10                                    # S1's arena: 150 cm x 150 cm for 10 robots


def world(robots: int) -> World:
    """As crowded as S1's arena, and not smaller."""
    side = SIDE * max(1.0, sqrt(robots / ROBOTS))
    group = Group(SBot(profile="tr"), robots, "robots", (Scatter(),), (Proximity(profile="tr"),), Braitenberg())
    contact = Contact(model="reposition", mode="minimal")
    return World(name="swarmod", contact=contact, things=(Arena(side, side),), groups=(group,))


def run(full: bool = False, sizes: tuple[tuple[int, int], ...] | None = None) -> dict[str, Any]:
    """The rows, printed as a table."""
    rows = [measure(world(robots), worlds, blocks=21 if full else 7) for worlds, robots in sizes or SIZES]
    show("swarmod: 15 noisy beams, reposition, one core; the best of several blocks of steps", rows, [])
    return {"rows": rows}
