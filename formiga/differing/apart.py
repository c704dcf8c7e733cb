"""Worlds that differ, one by one: each is a simulation of its own, with its own description, on its rows of the batch's state.

It serves where there is no list of stages for all worlds: readings that are asked for, orders from outside, elements without
kernels. It is as slow as so many runs, and knows nothing of how stages are merged, so it is what tests compare them with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from formiga.control import Orders
from formiga.errors import CannotDiffer, FormigaError, WorldError
from formiga.sense import Readings
from formiga.state import State

PARTS = ("drive", "joints", "leds", "sound")


class Row(State):
    """One world of a batch: its arrays are rows of those of the batch, and so is what its elements remember."""

    whole: State
    number: int

    @classmethod
    def of(cls, state: State, whole: State, number: int) -> Row:
        """The row of a batch, with the working memory of the state of one world."""
        row = cls(**{each.name: getattr(state, each.name) for each in fields(State)})
        row.whole, row.number, row.memory, row.forgotten = whole, number, {}, {}
        row.again()
        return row

    def again(self) -> None:
        """Show the arrays that the batch has now."""
        self.show(self.whole, slice(self.number, self.number + 1))
        self.genotypes = {name: genes[self.number:self.number + 1] for name, genes in self.whole.genotypes.items()}

    def remember(self, owner: str, name: str, first: Any) -> Any:
        """As in `State`: a row of the memory of all worlds, which is made when the first of them asks for it."""
        if first is not None:
            key, first = (owner, name), np.asarray(first)
            whole = self.whole.memory.get(key)
            if whole is None:
                whole = self.whole.memory[key] = np.zeros((self.whole.worlds, *first.shape[1:]), first.dtype)
                self.whole.forgotten[key] = np.ones(whole.shape[:2], np.bool_)
            if whole.shape[1:] != first.shape[1:]:
                raise CannotDiffer(f"how many numbers '{owner}' remembers", self.number)
            self._share(key)
        return super().remember(owner, name, first)

    def share_all(self) -> None:
        """Remember all that the batch does, also what its compiled stages have made since: what is looked at and then forgotten
        is put back to it."""
        for key in self.whole.memory:
            self._share(key)

    def _share(self, key: tuple[str, str]) -> None:
        whole = self.whole.memory[key]
        if key not in self.memory or self.memory[key].base is not whole:
            rows = slice(self.number, self.number + 1)
            self.memory[key], self.forgotten[key] = whole[rows], self.whole.forgotten[key][rows]


class Apart:
    """All worlds of a batch, each as a simulation of its own. make: that of one world, by its number; first: what is added to
    that for people, when several threads share a batch."""

    def __init__(self, state: State, make: Callable[[int], Any], first: int = 0) -> None:
        self._first = first
        self._state, self._shown = state, list(state.arrays().values())
        self._runs = [make(number) for number in range(state.worlds)]
        for number, run in enumerate(self._runs):
            run.state = Row.of(run.state, state, number)

    def readings(self) -> Readings:
        """Group -> name -> array (worlds, robots, ...)."""
        each = self._in_each(lambda run: run.readings)
        return {group: {name: _together([readings[group][name] for readings in each], f"the readings '{name}' of '{group}'")
                        for name in found} for group, found in each[0].items()}

    def step(self, orders: dict[str, Orders]) -> dict[str, Orders]:
        """One control period of each, with orders from outside; the orders that came of it."""
        self._in_each(lambda run: run.step({name: _row(given, run.state.number) for name, given in orders.items()}))
        done = [run.orders for run in self._runs]
        return {name: _joined([each[name] for each in done]) for name in done[0]}

    def forget_look(self) -> None:
        """Forget the readings of all."""
        for run in self._runs:
            run.forget_look()

    def _in_each(self, what: Callable[[Any], Any]) -> list[Any]:
        arrays = list(self._state.arrays().values())
        replaced = any(now is not shown for now, shown in zip(arrays, self._shown, strict=True))
        found, self._shown = [], arrays
        for run in self._runs:
            self._state.refuse_halted()
            if replaced or self._state.genotypes:
                run.state.again()
            run.state.share_all()
            try:
                found.append(what(run))
            except CannotDiffer:
                raise
            except FormigaError as wrong:
                kind = WorldError if isinstance(wrong, WorldError) else FormigaError
                number = run.state.number + self._first
                raise kind(f"{str(wrong).removesuffix('.')} (world {number} of the batch).") from wrong
        return found


def _together(rows: Sequence[Any], what: str) -> Any:
    for number, row in enumerate(rows):
        if row.shape != rows[0].shape or row.dtype != rows[0].dtype:
            raise CannotDiffer(f"the shape of {what}", number)
    return np.concatenate(rows)


def _row(given: Orders, number: int) -> Orders:
    """The orders (W, n, ...) of one world."""
    rows = slice(number, number + 1)
    message = given.message
    if isinstance(message, dict):
        message = {name: np.asarray(each)[rows] for name, each in message.items()}
    elif message is not None:
        message = np.asarray(message)[rows]
    return Orders(**{part: None if getattr(given, part) is None else np.asarray(getattr(given, part))[rows] for part in PARTS},
                  message=message)


def _joined(rows: Sequence[Orders]) -> Orders:
    """The orders of all worlds."""
    parts = {part: None if getattr(rows[0], part) is None else np.concatenate([getattr(row, part) for row in rows])
             for part in PARTS}
    message: Any = rows[0].message
    if isinstance(message, dict):
        message = {name: np.concatenate([row.message[name] for row in rows]) for name in message}
    elif message is not None:
        message = np.concatenate([row.message for row in rows])
    return Orders(**parts, message=message)


__all__ = ["Apart"]
