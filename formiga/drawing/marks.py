"""What was drawn: marks, each of a kind, with its numbers. They are data: recorded, sent, and painted in several ways."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#4d4d4d")
# the first six are safe for the colour-blind [Okabe & Ito 2008]; robot 8 has the colour of robot 0 again

COLUMNS = {                       # kind -> columns of its numbers
    "points": "x y z",
    "lines": "x y z x y z",
    "polygon": "x y z",           # one polygon, a corner a row
    "text": "x y z",              # with a word a row
    "pose": "x y z heading xx xy yy turn",          # variances; all zero: none is known
    "particles": "x y z heading weight",            # weight: a share of the largest
    "grid": "",                   # any number of columns: shares from 0 to 1, of rows from south to north; see `Mark.at`
    "path": "x y z",              # one path, a place a row
}
KINDS = {kind: len(columns.split()) for kind, columns in COLUMNS.items()}
MOST_ROWS = {"points": 50_000, "lines": 50_000, "polygon": 200, "text": 200, "pose": 5_000, "particles": 50_000,
             "grid": 2_000, "path": 20_000}        # of one mark
MOST_CELLS = 1_000_000            # of a grid
MOST_NUMBERS = 4_000_000          # of all layers together
MOST_MARKS, MOST_TEXTS = 2_000, 200                # of a layer
MOST_LAYERS, LONGEST_NAME, LONGEST_TEXT = 32, 40, 200
LARGEST = 1e6                     # m, from the origin


class Mark(NamedTuple):
    """One mark. Places are in metres, headings in radians; z is 0 on the floor.

    A row that is `on` a robot is in that robot's frame: x ahead, y to the left, z up from its foot.
    """

    kind: str                     # of KINDS
    numbers: NDArray[np.float32]  # (K, C): columns of COLUMNS
    colours: NDArray[np.uint8]    # (1, 3) for all rows, or (K, 3)
    size: float                   # m: radius of points, width of lines, radius of a pose; of a grid the side of a cell
    on: NDArray[np.int32]         # (0,): in the world's frame; (1,) or (K,): numbers of the robots whose frames count
    words: tuple[str, ...] = ()   # of a text, one a row
    at: tuple[float, ...] = ()    # of a grid: x, y, z of its south-west corner, and the heading of its rows


Drawings = dict[str, tuple[Mark, ...]]  # layer -> marks


def same(one: tuple[Mark, ...], other: tuple[Mark, ...]) -> bool:
    """Whether two layers show the same."""
    return len(one) == len(other) and all(
        a is b or (a.kind == b.kind and a.size == b.size and a.words == b.words and a.at == b.at
                   and np.array_equal(a.numbers, b.numbers) and np.array_equal(a.colours, b.colours)
                   and np.array_equal(a.on, b.on))
        for a, b in zip(one, other, strict=True))


def is_name(layer: Any) -> bool:
    """Whether this may be the name of a layer."""
    return isinstance(layer, str) and layer.isprintable() and 0 < len(layer.strip()) <= len(layer) <= LONGEST_NAME


def wrong(mark: Mark) -> str:
    """What is not as it must be, or nothing. For marks from files, which may come from anywhere."""
    kind, numbers = mark.kind, mark.numbers
    if kind not in KINDS:
        return f"there is no kind of mark '{kind}'"
    if numbers.ndim != 2 or (kind != "grid" and numbers.shape[1] != KINDS[kind]) or prod(numbers.shape) > MOST_CELLS:
        return f"{kind} cannot have numbers of the shape {numbers.shape}"
    K = len(numbers)
    if not 0 < K <= MOST_ROWS[kind]:
        return f"{kind} cannot have {K} rows"
    if not (np.abs(numbers) <= LARGEST).all():  # also what is no number
        return f"{kind} with numbers that are none"
    if mark.colours.shape not in ((1, 3), (K, 3)) or mark.on.shape not in ((0,), (1,), (K,)) or (mark.on < 0).any():
        return f"{kind} with {mark.colours.shape} colours on {mark.on.shape} robots"
    if not 0.0 < mark.size <= LARGEST:
        return f"{kind} of the size {mark.size}"
    if len(mark.words) != (K if kind == "text" else 0) or any(
            len(word) > LONGEST_TEXT or not word.isprintable() for word in mark.words):
        return f"{kind} with {len(mark.words)} words"
    if len(mark.at) != (4 if kind == "grid" else 0) or not all(abs(each) <= LARGEST for each in mark.at):
        return f"{kind} at {mark.at}"
    return ""


def blend(before: Drawings, after: Drawings, share: float) -> Drawings:
    """Poses at `share` of the way from where they were, if there are as many; all other marks as they are after."""
    return {layer: tuple(_between(old, new, share) for old, new in zip(before[layer], marks, strict=True))
            if len(before.get(layer, ())) == len(marks) else marks for layer, marks in after.items()}


def _between(old: Mark, new: Mark, share: float) -> Mark:
    if old.kind != "pose" or new.kind != "pose" or old.numbers.shape != new.numbers.shape \
            or not np.array_equal(old.on, new.on):
        return new
    way: Any = new.numbers - old.numbers
    way[:, 3] = (way[:, 3] + np.pi) % (2.0 * np.pi) - np.pi  # the short way round
    return new._replace(numbers=old.numbers + np.float32(share) * way)


__all__ = ["COLOURS", "COLUMNS", "Drawings", "KINDS", "Mark", "blend", "is_name", "same", "wrong"]
