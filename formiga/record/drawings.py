"""What was drawn into a run, as a table: a row for each mark, written where its layer has changed.

A layer that stays as it is costs nothing, however long. One that changes all the time is taken some 25 times in a simulated
second, and less often when the table becomes large. A row without a kind: its layer is empty from then on.
"""

from __future__ import annotations

from bisect import bisect_right
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa

from formiga.drawing.marks import MOST_LAYERS, MOST_MARKS, Drawings, Mark, is_name, same, wrong
from formiga.drawing.marks import MOST_NUMBERS as MOST_SHOWN

PERIOD = 0.04               # s between two moments that are taken, at least
LARGE = 4_000_000           # numbers, after which only every other moment is taken; and again after as many
ROW = 30                    # numbers, that a row counts in addition
MOST_ROWS, LARGEST = 500_000, 1 << 29               # of a table that is read: rows, bytes in memory
COLUMNS = {"layer": pa.dictionary(pa.int32(), pa.string()), "kind": pa.dictionary(pa.int32(), pa.string()),
           "columns": pa.int32(), "numbers": pa.list_(pa.float32()), "colours": pa.list_(pa.uint8()), "size": pa.float64(),
           "robots": pa.list_(pa.int32()), "words": pa.list_(pa.string()), "at": pa.list_(pa.float64())}


class Changes:
    """The rows of a run, moment by moment."""

    def __init__(self) -> None:
        self._last: Drawings = {}
        self._every, self._room = 1, LARGE
        self.waiting = 0                       # numbers since `waiting` was last set to 0

    def due(self, step: int, dt: float) -> bool:
        """Whether this moment is taken."""
        return step % (self._every * max(1, ceil(PERIOD / dt - 1e-9))) == 0

    def take(self, drawn: Drawings) -> dict[str, Any]:
        """Columns of the layers that have changed."""
        changed = {layer: drawn.get(layer, ()) for layer in {**self._last, **drawn}
                   if not same(self._last.get(layer, ()), drawn.get(layer, ()))}
        self._last = dict(drawn)
        rows = [(layer, mark) for layer, marks in changed.items() for mark in marks or (None,)]
        size = sum(ROW + (mark.numbers.size if mark else 0) for _, mark in rows)
        self._room, self.waiting = self._room - size, self.waiting + size
        if self._room < 0:
            self._room, self._every = LARGE, 2 * self._every
        marks = [mark for _, mark in rows]
        return {"world": np.zeros(len(rows), np.int32), "layer": [layer for layer, _ in rows],
                "kind": [mark.kind if mark else "" for mark in marks],
                "columns": [mark.numbers.shape[1] if mark else 0 for mark in marks],
                "numbers": [mark.numbers.ravel() if mark else [] for mark in marks],
                "colours": [mark.colours.ravel() if mark else [] for mark in marks],
                "size": [mark.size if mark else 0.0 for mark in marks],
                "robots": [mark.on if mark else [] for mark in marks],
                "words": [list(mark.words) if mark else [] for mark in marks],
                "at": [list(mark.at) if mark else [] for mark in marks]}


class Timeline:
    """What was drawn when. `wrong`: why nothing is known, if that is so."""

    def __init__(self, table: pa.Table | None = None, wrong: str = "") -> None:
        """ValueError, with words, for a table that is not one of drawings."""
        self.wrong = wrong
        self._moments: dict[str, tuple[list[int], list[tuple[Mark, ...]]]] = {}  # layer -> steps, and what was drawn from each
        if table is not None:
            self._read(table)

    @property
    def layers(self) -> list[str]:
        """Their names."""
        return list(self._moments)

    def at(self, step: int) -> Drawings:
        """What was drawn at a step, as far as a page can show it."""
        found, size = {}, 0
        for layer, (steps, marks) in self._moments.items():
            last = bisect_right(steps, step) - 1
            size += sum(mark.numbers.size for mark in marks[last]) if last >= 0 else 0
            if last >= 0 and marks[last] and size <= MOST_SHOWN:
                found[layer] = marks[last]
        return found

    def _read(self, table: pa.Table) -> None:
        steps = table["step"].to_numpy()
        if (np.diff(steps) < 0).any() or (steps < 0).any():
            raise ValueError("its steps are out of order")
        numbers, colours, robots, at = (_lists(table[name]) for name in ("numbers", "colours", "robots", "at"))
        layers, kinds, words = (table[name].to_pylist() for name in ("layer", "kind", "words"))
        columns, sizes, worlds = (table[name].to_pylist() for name in ("columns", "size", "world"))
        if len(set(layers)) > MOST_LAYERS or not all(map(is_name, set(layers))):
            raise ValueError(f"it has more than {MOST_LAYERS} layers, or some whose names are none")
        for row, (step, layer, kind) in enumerate(zip(steps.tolist(), layers, kinds, strict=True)):
            moments, drawn = self._moments.setdefault(layer, ([], []))
            if not moments or moments[-1] != step:
                moments.append(step)
                drawn.append(())
            if not kind or worlds[row]:
                continue
            values, width = numbers(row), columns[row]
            if width <= 0 or len(values) % width or len(colours(row)) % 3 or len(drawn[-1]) == MOST_MARKS:
                raise ValueError(f"row {row}: {kind} with {len(values)} numbers in {width} columns")
            mark = Mark(kind, values.reshape(-1, width), colours(row).reshape(-1, 3), sizes[row], robots(row),
                        tuple(words[row]), tuple(at(row).tolist()))
            if why := wrong(mark):
                raise ValueError(f"row {row}: {why}")
            drawn[-1] = (*drawn[-1], mark)


def _lists(column: pa.ChunkedArray) -> Any:
    """row -> its numbers, as a view of all."""
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    offsets, values = array.offsets.to_numpy(), array.values.to_numpy(zero_copy_only=False)
    if array.null_count or array.values.null_count:
        raise ValueError("it has gaps")
    return lambda row: values[offsets[row]:offsets[row + 1]]


__all__ = ["COLUMNS", "Changes", "Timeline"]
