"""Readings as inputs of networks and learners: one row of numbers for each robot, in the ranges that the readings declare.

    low >= 0, as in (0, full):   x = (reading - low) / (high - low), cut to 0..1
    low < 0:                     x = (reading - middle) / half of the range, cut to -1..1
    an infinite end:             x = reading, cut at the other end
Each number of a reading has its own range: see `bounds` in `formiga.world.contract`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.elements import of, where
from formiga.world.model import Group


@dataclass(frozen=True)
class Scale:
    """x = (reading - zero) / one, cut to low .. high; each (B,), for the numbers of one reading in a row."""

    name: str
    shape: tuple[int, ...]     # of the reading of one robot
    zero: Floats
    one: Floats
    low: Floats
    high: Floats

    @property
    def bounded(self) -> bool:
        """Whether all of it has a range."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @cached_property
    def plain(self) -> bool:
        """Whether all of it is reading / full, cut to 0..1."""
        return bool((self.zero == 0.0).all() and (self.low == 0.0).all() and (self.high == 1.0).all()
                    and (self.one == self.one[:1]).all() and len(self.one))

    @property
    def labels(self) -> list[str]:
        """A name for each of its numbers: 'light[3]', or 'ground[3,0]' if a reading has two axes."""
        if not self.shape:
            return [self.name]
        return [f"{self.name}[{','.join(map(str, index))}]" for index in np.ndindex(*self.shape)]


def givers(group: Group) -> dict[str, Any]:
    """Name -> the sensor, link or estimator that gives the reading of that name."""
    return {source.name: source for source in group.sources}


def scale_of(giver: Any, group: Group, shape: tuple[int, ...]) -> Scale:
    """The scale of a reading of that shape, from the range that its giver declares; a clear error if it is none."""
    place = f"{where(giver)}<{of(giver).tag}> of '{group.name}' declares a range of its readings (`bounds`)"
    given = giver.bounds(group.robot)
    try:
        low, high = (np.broadcast_to(np.asarray(end, np.float64), shape).reshape(-1) for end in given)
    except (TypeError, ValueError) as wrong:
        raise WorldError(f"{place} that does not fit them: it must be two numbers, or two arrays that fit a reading {shape} of "
                         "one robot.") from wrong
    if not (low <= high).all() or (low == np.inf).any() or (high == -np.inf).any():
        raise WorldError(f"{place} that is none: the least number must not be above the largest.")
    known, signed = np.isfinite(low) & np.isfinite(high), low < 0.0
    with np.errstate(invalid="ignore"):
        middle, size = np.where(signed, 0.5 * (low + high), low), np.where(signed, 0.5 * (high - low), high - low)
    return Scale(giver.name, tuple(shape), zero=np.where(known, middle, 0.0), one=np.where(known & (size > 0.0), size, 1.0),
                 low=np.where(known, np.where(signed, -1.0, 0.0), low), high=np.where(known, 1.0, high))


def scaled(readings: Sequence[Any], scales: Sequence[Scale]) -> Floats:
    """Readings (W, n, ...) as one array of inputs (W, n, I)."""
    parts = [_scaled(np.asarray(reading, np.float64).reshape(*reading.shape[:2], -1), scale)
             for reading, scale in zip(readings, scales, strict=True)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _scaled(reading: Floats, scale: Scale) -> Floats:
    if scale.plain:
        return np.clip(reading / scale.one[0], 0.0, 1.0)
    return np.clip((reading - scale.zero) / scale.one, scale.low, scale.high)


def scale_stages(readings: Sequence[Floats], scales: Sequence[Scale], x: Floats | None = None) -> tuple[list[Stage], Floats]:
    """What `scaled` does as stages of a compiled program, and the inputs x (W, n, I) that they fill."""
    rows = [_rows(reading) for reading in readings]
    ends = np.cumsum([0, *(each.shape[2] for each in rows)]).tolist()
    if x is None:
        x = np.zeros((*rows[0].shape[:2], ends[-1]))
    stages = [Stage(scale_world, (each, float(scale.one[0]), at, x)) if scale.plain else
              Stage(scale_each_world, (each, scale.zero, scale.one, scale.low, scale.high, at, x))
              for each, scale, at in zip(rows, scales, ends, strict=False)]
    return stages, x


def _rows(reading: Any) -> Any:
    """The same array as (W, n, B), without a copy: a program looks into it in every step."""
    if reading.ndim == 3:
        return reading
    rows = reading.reshape(*reading.shape[:2], -1)
    if rows.size and not np.shares_memory(rows, reading):
        raise WorldError("the array of a reading that kernels fill must be contiguous.")
    return rows


@kernel()
def scale_world(w, reading, full, at, x):
    """Readings (W, n, B) of one sensor -> its inputs x[..., at : at + B], in full readings, cut to 0..1."""
    for i in range(reading.shape[1]):
        for k in range(reading.shape[2]):
            x[w, i, at + k] = min(1.0, max(0.0, reading[w, i, k] / full))


@kernel()
def scale_each_world(w, reading, zero, one, low, high, at, x):
    """The same where each number has its own range: zero, one, low and high are (B,)."""
    for i in range(reading.shape[1]):
        for k in range(reading.shape[2]):
            x[w, i, at + k] = min(high[k], max(low[k], (reading[w, i, k] - zero[k]) / one[k]))


__all__ = ["Scale", "givers", "scale_of", "scale_stages", "scaled"]
