"""Robots that talk: up to 8 messages a period with range and bearing, along a line of sight, with and without obstacles."""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from formiga.benchmarks import cpp
from formiga.benchmarks.measure import COLUMNS, Columns, apart, measure, show
from formiga.comm import account
from formiga.comm.inbox import BEARING, RANGE
from formiga.comm.range_and_bearing import RangeAndBearing
from formiga.control.spread import Spread
from formiga.engine.above.hearing import DROPPED, HEARD
from formiga.loop import Simulation
from formiga.units import CM
from formiga.world.model import Arena, Contact, Cylinders, Group, World
from formiga.world.placement import Scatter
from formiga.world.robots.disc import Disc

SIZES = ((1, 1_000), (1, 10_000), (256, 16))  # (worlds, robots in each); each without obstacles and with one for four robots
FEW, CROWD = 1_000, 10_000                    # the sizes whose costs are compared
BLOCK, BLOCKS = 0.02, 50                      # s, and how many: short ones, so that other work disturbs not all
COMM_COLUMNS: Columns = (*COLUMNS[:2], ("obstacles", "discs", "{:,}"), *COLUMNS[2:-1], ("heard", "heard", "{:.2f}"))


def world(robots: int, obstacles: int = 0) -> World:
    """Robots of AVOID-24, one for each square metre, that hear about 9 others and listen to the nearest 8 of them."""
    side = sqrt(robots)
    robot = Disc(radius=8.5 * CM, wheel_base=14.0 * CM, top_speed=10.0 * CM)
    link = RangeAndBearing(range=1.7, most=cpp.MOST, sight="bodies")
    group = Group(robot, robots, "robots", (Scatter(),), links=(link,), controller=Spread())
    things: tuple[Any, ...] = (Arena(side, side), *((Cylinders(obstacles, 10.0 * CM),) if obstacles else ()))
    return World(name="comm", contact=Contact(model="reposition"), things=things, groups=(group,))


def run(full: bool = False, sizes: tuple[tuple[int, int], ...] | None = None) -> dict[str, Any]:
    """The rows, printed as a table, and how the cost of a robot grows with their number."""
    rows = []
    for worlds, robots in sizes or SIZES:
        for obstacles in (0, robots // 4):
            rows.append(measure(world(robots, obstacles), worlds, blocks=(3 if full else 1) * BLOCKS, block=BLOCK,
                                twin=cpp.Talking, compare=differ, more=partial(messages, obstacles=obstacles)))
    cost = {(row["robots"], row["obstacles"] > 0): row["ns_per_robot_step"] for row in rows if row["worlds"] == 1}
    summary: dict[str, Any] = {}
    notes = []
    for obstacles, words in ((False, "without"), (True, "with")):
        if {(FEW, obstacles), (CROWD, obstacles)} <= cost.keys():
            growth = cost[CROWD, obstacles] / cost[FEW, obstacles]
            summary[f"cost_of_a_robot_10000_to_1000_{words}_obstacles"] = growth
            notes.append(f"A robot among {CROWD:,} costs {growth:.2f} times one among {FEW:,}, {words} obstacles.")
    show("comm: up to 8 messages with a line of sight, one core; the best of several blocks of steps", rows, notes,
         COMM_COLUMNS)
    return {"rows": rows, "summary": summary}


def messages(simulation: Simulation, obstacles: int) -> dict[str, Any]:
    """Obstacles of a row, and messages that were heard and dropped for each that was sent."""
    counts = account(simulation.world, simulation.state)
    sent = max(1.0, counts["messages_sent"])
    return {"obstacles": obstacles, "heard": counts["messages_heard"] / sent, "dropped": counts["messages_dropped"] / sent}


def differ(simulation: Simulation, twin: cpp.Talking) -> float:
    """The largest difference of poses, and of ranges, bearings and numbers of the last messages.

    Infinite if a crash was counted differently, or a message was heard, dropped or sent by another robot.
    """
    heard, dropped, message, sender = twin.heard()
    group, state = simulation.world.groups[0], simulation.state
    link = group.links[0]
    counts, inbox = (state.memory[f"{group.name}/{link.name}", name] for name in ("traffic", "inbox"))
    same = (np.array_equal(counts[..., HEARD], heard) and np.array_equal(counts[..., DROPPED], dropped)
            and np.array_equal(state.memory[f"{group.name}/{link.name}", "sender"], sender))
    if not same:
        return float("inf")
    away = np.abs(inbox[..., RANGE:] - message)
    turn = away[..., BEARING - RANGE]
    away[..., BEARING - RANGE] = np.minimum(turn, 2.0 * np.pi - turn)  # straight behind is at both ends
    return max(apart(simulation, twin), float(away.max()))
