"""What a robot hears over a link, as named columns: the reading of the link is one array, and this is a view of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.state import Floats, State
from formiga.world.model import Group

HEARD, RANGE, BEARING = 0, 1, 2  # columns of a reading; a link without ranges and bearings has its numbers right after HEARD


@dataclass(frozen=True)
class Inbox:
    """Messages (W, n, most, ...), nearest first. Rows that hold none are zero, and come last."""

    heard: Any                 # (W, n, most) whether there is a message
    message: Floats            # (W, n, most, numbers)
    sender: Any                # (W, n, most) number of the robot that sent it, over all groups; -1 for none
    range: Floats | None       # (W, n, most) m, measured; None for a link that does not measure
    bearing: Floats | None     # (W, n, most) rad, measured, from the heading of the robot that hears

    @classmethod
    def of(cls, link: Any, reading: Floats, sender: Any) -> Inbox:
        """The columns of a link's reading (W, n, most, columns)."""
        measures = reading.shape[-1] > 1 + link.numbers
        if sender is None:
            sender = np.full(reading.shape[:3], -1)
        return cls(reading[..., HEARD] > 0.0, reading[..., -link.numbers:], sender,
                   reading[..., RANGE] if measures else None, reading[..., BEARING] if measures else None)

    @classmethod
    def at(cls, state: State, group: Group, link: Any, readings: dict[str, Any]) -> Inbox | None:
        """What a group hears over a link, from its readings; None for a link that keeps no account, such as a user's own."""
        sender = state.memory.get((f"{group.name}/{link.name}", "sender"))
        return None if sender is None or link.name not in readings else cls.of(link, readings[link.name], sender)

    @property
    def count(self) -> Any:
        """How many messages each robot hears, (W, n)."""
        return self.heard.sum(axis=-1)


__all__ = ["BEARING", "HEARD", "Inbox", "RANGE"]
