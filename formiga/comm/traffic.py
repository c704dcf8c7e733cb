"""The account of messages: what every link of every robot sent, heard, lost and could not take."""

from __future__ import annotations

from typing import Any

from formiga.engine.above.hearing import DROPPED, HEARD, LOST, SENT
from formiga.state import State
from formiga.world.model import World

COUNTS = {"messages_sent": SENT, "messages_heard": HEARD, "messages_lost": LOST, "messages_dropped": DROPPED}


def traffic_of(state: State, group: str, link: str) -> Any:
    """Counts (W, n, 4) since the start, in the columns of COUNTS, or None if the link has no account."""
    return state.memory.get((f"{group}/{link}", "traffic"))


def account(world: World, state: State) -> dict[str, float]:
    """The sums over all worlds, robots and links, and what was sent in kbit; empty if no robot has a link.

    lost: by the link's loss. dropped: there were more than a robot can hear at once.
    """
    if not world.media:
        return {}
    total, bits = [0, 0, 0, 0], 0
    for group in world.groups:
        for link in group.links:
            if (counts := traffic_of(state, group.name, link.name)) is not None:
                sums = counts.sum(axis=(0, 1)).tolist()
                total = [one + other for one, other in zip(total, sums, strict=True)]
                bits += sums[SENT] * link.numbers * link.bits
    return {name: float(total[column]) for name, column in COUNTS.items()} | {"kilobits_sent": bits / 1000.0}


__all__ = ["COUNTS", "account", "traffic_of"]
