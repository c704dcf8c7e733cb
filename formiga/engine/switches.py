"""When sources of light, sound and warmth are on: see `world.sources.Switched`."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from formiga.kernels import kernel
from formiga.world.sources import EARLY

NEVER = np.iinfo(np.int64).max


class Switches(NamedTuple):
    """Of S sources, for kernels."""

    first: Any     # (S,) bool, whether it is on at the start
    turns: Any     # (S, T) int64, steps from which on it is switched over; NEVER where it has fewer turns


def switches(sources: Sequence[Any], dt: float) -> Switches:
    """Those of some sources of a world with this control period: what is read before step k is what holds at time k dt."""
    turns = np.full((len(sources), max((len(source.switched) for source in sources), default=0)), NEVER, np.int64)
    for row, source in zip(turns, sources, strict=True):
        row[: len(source.switched)] = [min(ceil(min(time / dt, 2.0**62) - EARLY), NEVER) for time in source.switched]
    return Switches(np.array([source.on for source in sources], np.bool_), turns)


def ever_on(thing: Any) -> bool:
    """Whether a source is on at some time."""
    return bool(thing.on or thing.switched)


@kernel(inline="always")
def is_on(n, step, switches):
    """Whether source n is on at a step."""
    on = switches.first[n]
    for k in range(switches.turns.shape[1]):
        on ^= step >= switches.turns[n, k]
    return on


__all__ = ["Switches", "ever_on", "is_on", "switches"]
