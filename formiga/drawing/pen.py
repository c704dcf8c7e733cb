"""The pen: one method for each kind of mark. It checks what it is given, and takes no more than a page can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from re import fullmatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.drawing.marks import (
    COLOURS,
    LARGEST,
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_CELLS,
    MOST_LAYERS,
    MOST_MARKS,
    MOST_NUMBERS,
    MOST_ROWS,
    MOST_TEXTS,
    Drawings,
    Mark,
    is_name,
)
from formiga.errors import WorldError

EACH = -1                        # every robot, each in its own frame
POINT, LINE, PARTICLE = 0.15, 0.08, 0.1   # of a robot's radius, if no size is given: of points, of lines, of particles
Colour = str | Sequence[str] | None


class Sheet:
    """Marks in layers, and notes about what was too much."""

    def __init__(self) -> None:
        self._layers: dict[str, list[Mark]] = {}
        self._texts: Counter[str] = Counter()      # layer -> how many
        self._numbers: Counter[str] = Counter()
        self.notes: list[str] = []
        self.changes = 0                           # grows with everything that is drawn or cleared

    def add(self, layer: str, mark: Mark) -> None:
        """One more mark, if there is room."""
        self.changes += 1
        marks = self._layers.get(layer, [])
        if not marks and len(self._layers) == MOST_LAYERS:
            self.note(f"at most {MOST_LAYERS} layers are drawn; '{layer}' is one more")
        elif len(marks) == MOST_MARKS:
            self.note(f"layer '{layer}': at most {MOST_MARKS:,} marks are drawn")
        elif self._texts[layer] + len(mark.words) > MOST_TEXTS:
            self.note(f"layer '{layer}': at most {MOST_TEXTS} texts are drawn")
        elif self._numbers.total() + mark.numbers.size > MOST_NUMBERS:
            self.note(f"layer '{layer}': at most {MOST_NUMBERS:,} numbers are drawn, in all layers together")
        else:
            self._layers.setdefault(layer, []).append(mark)
            self._texts[layer] += len(mark.words)
            self._numbers[layer] += mark.numbers.size

    def note(self, text: str) -> None:
        """Say once what was too much."""
        if text not in self.notes:
            self.notes.append(text)

    def clear(self, layer: str) -> None:
        """Begin a layer anew."""
        self.changes += 1
        for kept in (self._layers, self._texts, self._numbers):
            kept.pop(layer, None)

    @property
    def drawings(self) -> Drawings:
        """Layer -> marks."""
        return {layer: tuple(marks) for layer, marks in self._layers.items()}


class Pen:
    """Draws into one layer. World coordinates in metres, headings in radians; a place is x y, or x y z.

    Arrays of an element go in as they are: (1, robots, ...), the one world that is drawn and the robots of its group. Then each
    robot has a colour of its own. Without those axes a mark has the colour of its layer. colour: '#0072b2', or a list with one
    for each robot or row.
    """

    def __init__(self, sheet: Sheet, layer: str, robots: range = range(0), radius: float = 0.05, height: float = 0.0, *,
                 on: int | None = None) -> None:
        """robots: numbers of those that draw; radius, height: of a robot, in m; on: the robot whose frame counts, or EACH."""
        if not is_name(layer):
            raise WorldError(f"a layer has a name of 1 to {LONGEST_NAME} letters, not {str(layer)[:LONGEST_NAME]!r}.")
        self._sheet, self._layer, self._robots = sheet, layer, robots
        self._radius, self._height, self._on = radius, height, on

    # -- other pens -----------------------------------------------------------------------------------------------------
    def layer(self, name: str) -> Pen:
        """The same pen in another layer, which has a switch of its own."""
        return Pen(self._sheet, name, self._robots, self._radius, self._height, on=self._on)

    def on(self, robot: int | None = None) -> Pen:
        """A pen in the frame of one robot of the group, counted from 0: x ahead, y to the left, z up; without z, on its top.

        None: each robot in its own frame, for arrays (1, robots, ...). What is drawn moves along with the robot.
        """
        if robot is not None and not (isinstance(robot, int | np.integer) and 0 <= robot < len(self._robots)):
            raise WorldError(f"pen.on({robot!r}): there are {len(self._robots)} robots, numbered from 0.")
        on = EACH if robot is None else self._robots[robot]
        return Pen(self._sheet, self._layer, self._robots, self._radius, self._height, on=on)

    def clear(self) -> None:
        """Take away what is in this layer."""
        self._sheet.clear(self._layer)

    # -- the eight kinds --------------------------------------------------------------------------------------------------
    def points(self, places: Any, *, colour: Colour = None, size: float | None = None) -> None:
        """Dots at places (K, 2) or (K, 3); size: their radius in m."""
        rows, owner = self._rows("points", places, 2)
        self._add("points", self._places(rows), owner, colour, self._size("points", size, POINT))

    def lines(self, starts: Any, ends: Any, *, colour: Colour = None, width: float | None = None) -> None:
        """Straight lines from places (K, 2) or (K, 3) to as many others; a single place serves for all."""
        both = [self._array("lines", each) for each in (starts, ends)]
        try:
            a, b = np.broadcast_arrays(*both)
        except ValueError:
            raise self._wrong("lines", f"as many ends as starts, not {both[1].shape} and {both[0].shape}") from None
        first, owner = self._rows("lines", a, 2)
        last, _ = self._rows("lines", b, 2)
        self._add("lines", np.hstack([self._places(first), self._places(last)]), owner, colour,
                  self._size("lines", width, LINE))

    def polygon(self, corners: Any, *, colour: Colour = None) -> None:
        """An area with corners (K, 2) or (K, 3), at least three, in order; it is see-through."""
        self._each("polygon", corners, 3, colour, self._size("polygon", None, LINE))

    def path(self, places: Any, *, colour: Colour = None, width: float | None = None) -> None:
        """A line through places (K, 2) or (K, 3) in order."""
        self._each("path", places, 1, colour, self._size("path", width, LINE))

    def text(self, place: Any, words: str | Sequence[str], *, colour: Colour = None) -> None:
        """Words above a place; or a list of them, one for each of places (K, 2) or (K, 3). The page has one colour for all."""
        rows, owner = self._rows("text", place, 2)
        said = [words] * (len(rows) == 1) if isinstance(words, str) else _list(words)
        if len(said) != len(rows) or not all(isinstance(each, str) for each in said):
            raise self._wrong("text", f"a text for each of {len(rows)} places")
        said = [each[:LONGEST_TEXT] for each in said]
        spoken = [bool(each.strip()) for each in said]
        rows, owner, said = rows[spoken], owner[spoken], [each for each in said if each.strip()]
        if len(rows) > MOST_TEXTS:
            self._left_out("texts", MOST_TEXTS, len(rows))
            rows, owner, said = rows[:MOST_TEXTS], owner[:MOST_TEXTS], said[:MOST_TEXTS]
        clean = tuple("".join(letter if letter.isprintable() else " " for letter in each) for each in said)
        if len(rows):
            self._add("text", self._places(rows), owner, colour, self._radius, words=clean)

    def pose(self, poses: Any, covariance: Any = None, *, colour: Colour = None, size: float | None = None) -> None:
        """A ring with a stroke ahead at a pose x y heading (3,), or at many (K, 3); size: radius of the ring in m.

        covariance (2, 2) of x y, or (3, 3) of x y heading, one for each pose: adds the ellipse that holds 95 % of a normal
        distribution, and strokes to both sides that hold 95 % of the headings.
        """
        rows, owner = self._rows("pose", poses, 1, (3,))
        spread = np.zeros((len(rows), 4))
        if covariance is not None:
            given = self._array("pose", covariance)
            side = given.shape[-1] if given.ndim >= 2 else 0
            if side not in (2, 3) or given.shape[-2] != side or given.size != len(rows) * side**2:
                raise self._wrong("pose", f"a covariance (2, 2) or (3, 3) for each of {len(rows)} poses, not {given.shape}")
            each = given.reshape(-1, side, side)
            spread[:, 0], spread[:, 1], spread[:, 2] = each[:, 0, 0], 0.5 * (each[:, 0, 1] + each[:, 1, 0]), each[:, 1, 1]
            spread[:, 3] = each[:, 2, 2] if side == 3 else 0.0
            if (spread[:, [0, 2, 3]] < 0.0).any():
                raise self._wrong("pose", "variances that are not negative")
        self._add("pose", np.hstack([self._flat(rows), rows[:, 2:], spread]), owner, colour, self._size("pose", size, 1.0))

    def particles(self, poses: Any, weights: Any = None, *, colour: Colour = None, size: float | None = None) -> None:
        """Particles at poses x y heading (P, 3), a dot and a stroke each; those of little weight (P,) are pale."""
        rows, owner = self._rows("particles", poses, 2, (3,))
        share = np.ones(len(rows))
        if weights is not None:
            given = self._array("particles", weights).reshape(-1)
            if len(given) != len(rows) or (given < 0.0).any():
                raise self._wrong("particles", f"weights that are not negative, one for each of {len(rows)} particles")
            for robot in np.unique(owner):
                largest = given[owner == robot].max()
                share[owner == robot] = given[owner == robot] / largest if largest > 0.0 else 1.0
        self._add("particles", np.column_stack([self._flat(rows), rows[:, 2], share]), owner, colour,
                  self._size("particles", size, PARTICLE))

    def grid(self, values: Any, resolution: float, origin: Any = (0.0, 0.0), *, colour: Colour = None, low: float = 0.0,
             high: float = 1.0) -> None:
        """Cells (rows, columns) on the floor: clear at `low`, in full colour at `high`; NaN is unknown, and clear.

        Row 0 is the southernmost. resolution: side of a cell in m; origin: x y of the outer corner of cell (0, 0), and
        the heading of the rows, if it is not 0.
        """
        cells = self._numbers("grid", values)
        cells = cells[0] if cells.ndim == 3 and len(cells) == 1 else cells
        if cells.ndim != 2 or not cells.size:
            raise self._wrong("grid", f"values (rows, columns), not {cells.shape}")
        if cells.size > MOST_CELLS or len(cells) > MOST_ROWS["grid"]:
            raise self._wrong("grid", f"at most {MOST_CELLS:,} cells in {MOST_ROWS['grid']:,} rows, not {cells.shape}")
        corner = self._array("grid", origin).reshape(-1)
        if len(corner) not in (2, 3) or self._on == EACH:
            raise self._wrong("grid", "an origin x y, or x y heading, in the world's frame or in that of one robot")
        ends = self._numbers("grid", (low, high))
        if ends.shape != (2,) or not np.isfinite(ends).all() or not low < high:
            raise self._wrong("grid", f"low below high, not {low} and {high}")
        side = self._size("grid", resolution, 1.0)
        share = np.clip((np.nan_to_num(cells, nan=low, posinf=high, neginf=low) - low) / (high - low), 0.0, 1.0)
        shades = np.round(255.0 * share) / 255.0  # as many as a screen distinguishes
        at = (float(corner[0]), float(corner[1]), 0.0, float(corner[2]) if len(corner) == 3 else 0.0)
        self._add("grid", shades, np.zeros(1, np.int64), colour, side, at=at)

    # -- what they share ----------------------------------------------------------------------------------------------------
    def _wrong(self, kind: str, needed: str) -> WorldError:
        return WorldError(f"pen.{kind} in the layer '{self._layer}' needs {needed}.")

    def _array(self, kind: str, given: Any) -> NDArray[np.float64]:
        """Numbers, all of them finite."""
        found = self._numbers(kind, given)
        bad = ~(np.abs(found) <= LARGEST)
        if bad.any():
            at = tuple(int(each) for each in np.argwhere(bad)[0])
            raise self._wrong(kind, f"finite numbers up to {LARGEST:g}, not {found[bad][0]} at {list(at)}")
        return found

    def _numbers(self, kind: str, given: Any) -> NDArray[np.float64]:
        try:
            return np.asarray(given).astype(np.float64, casting="same_kind", copy=False)
        except (TypeError, ValueError):
            raise self._wrong(kind, f"numbers, not {type(given).__name__}") from None

    def _rows(self, kind: str, given: Any, axes: int, width: tuple[int, ...] = (2, 3)) -> tuple[Any, Any]:
        """Rows (K, 2 or 3) of what may have two more axes (1, robots, ...), and to which robot of the group each belongs."""
        found = self._array(kind, given)
        if found.ndim == 1 and axes == 2:
            found = found[None]
        words = " or ".join(f"(K, {each})" for each in width)
        if found.ndim < axes or found.ndim > axes + 2 or found.shape[-1] not in width \
                or (found.ndim == axes + 2 and len(found) != 1):
            raise self._wrong(kind, f"an array {words}, with (1, robots) before it if it is of each robot, not {found.shape}")
        n, columns = len(self._robots), found.shape[-1]
        if found.ndim == axes + 2:
            found = found[0]
        elif found.ndim == 3 and found.shape[:2] == (1, n):
            found = found[0].reshape(n, *[1] * (axes - 1), columns)  # one of each robot
        several = found.ndim == axes + 1
        if self._on == EACH and not (several and len(found) == n):
            raise self._wrong(kind, f"an array (1, {n}, ...) with something for each robot of pen.on(), not {np.shape(given)}")
        count = len(found) if several else 1
        rows = found.reshape(-1, columns)
        return rows, np.repeat(np.arange(count), len(rows) // max(count, 1)) if several else np.full(len(rows), -1)

    def _places(self, rows: Any) -> Any:
        """Places (K, 3): on the floor, or on top of a robot, if they have no height of their own."""
        if rows.shape[1] == 3:
            return rows
        return np.column_stack([rows, np.full(len(rows), 0.0 if self._on is None else self._height)])

    @staticmethod
    def _flat(rows: Any) -> Any:
        """Places (K, 3) on the floor, of poses."""
        return np.column_stack([rows[:, :2], np.zeros(len(rows))])

    def _size(self, kind: str, given: float | None, share: float) -> float:
        if given is None:
            return share * self._radius
        if not isinstance(given, int | float | np.number) or not 0.0 < given <= LARGEST:
            raise self._wrong(kind, f"a size in m above 0, not {given!r}")
        return float(given)

    def _each(self, kind: str, given: Any, fewest: int, colour: Colour, size: float) -> None:
        """A mark of its own for each robot."""
        rows, owner = self._rows(kind, given, 2)
        shades, places = self._colours(kind, colour, owner), self._places(rows)
        for robot in np.unique(owner):
            own = np.flatnonzero(owner == robot)
            if len(own) < fewest:
                raise self._wrong(kind, f"at least {fewest} places, not {len(own)}")
            if len(own) > MOST_ROWS[kind]:
                self._left_out(f"places of a {kind}", MOST_ROWS[kind], len(own))
                own = own[:: -(-len(own) // MOST_ROWS[kind])]
            self._put(kind, places[own], shades[own[:1]] if len(shades) > 1 else shades, size, self._frames(owner[own[:1]]))

    def _add(self, kind: str, numbers: Any, owner: Any, colour: Colour, size: float, **more: Any) -> None:
        """One mark of many rows. What is too much is thinned out."""
        if not len(numbers):
            return
        shades, frames = self._colours(kind, colour, owner), self._frames(owner)
        if kind != "grid" and len(numbers) > MOST_ROWS[kind]:
            self._left_out(kind, MOST_ROWS[kind], len(numbers))
            chosen = slice(None, None, -(-len(numbers) // MOST_ROWS[kind]))
            numbers = numbers[chosen]
            shades, frames = shades[chosen] if len(shades) > 1 else shades, frames[chosen] if len(frames) > 1 else frames
        self._put(kind, numbers, shades, size, frames, **more)

    def _left_out(self, what: str, most: int, given: int) -> None:
        self._sheet.note(f"layer '{self._layer}': at most {most:,} {what} are drawn; of {given:,} some are left out")

    def _put(self, kind: str, numbers: Any, colours: Any, size: float, on: Any, **more: Any) -> None:
        self._sheet.add(self._layer, Mark(kind, np.ascontiguousarray(numbers, np.float32), colours, size, on, **more))

    def _frames(self, owner: Any) -> NDArray[np.int32]:
        """In whose frames rows are: see `Mark.on`."""
        if self._on is None:
            return np.zeros(0, np.int32)
        if self._on != EACH:
            return np.array([self._on], np.int32)
        return np.array(owner + self._robots.start, np.int32)

    def _colours(self, kind: str, given: Colour, owner: Any) -> NDArray[np.uint8]:
        """(1, 3) or (K, 3)."""
        K, several = len(owner), owner[0] >= 0 if len(owner) else False
        if given is None:
            if self._on is not None and self._on != EACH:
                return OWN[[self._on % len(OWN)]]
            if not several or kind == "grid":
                return OWN[[sum(self._layer.encode()) % (len(OWN) - 1)]]
            return OWN[(self._robots.start + owner) % len(OWN)]
        chosen = [given] if isinstance(given, str) else _list(given)
        if not chosen or not all(isinstance(each, str) and fullmatch("#[0-9a-fA-F]{6}", each) for each in chosen):
            raise self._wrong(kind, f"a colour such as '#0072b2', not {given!r}"[:200])
        if len(chosen) in (1, K):
            return _rgb(chosen)
        if several and len(chosen) == owner[-1] + 1:
            return _rgb(chosen)[owner]
        raise self._wrong(kind, f"one colour, or one for each of {K} rows, not {len(chosen)}")


def _list(given: Any) -> list[Any]:
    """Several, as a list; empty if they are not several."""
    return list(given) if isinstance(given, Iterable) and not (isinstance(given, np.ndarray) and given.ndim == 0) else []


def _rgb(colours: Sequence[str]) -> NDArray[np.uint8]:
    return np.array([[int(each[k:k + 2], 16) for k in (1, 3, 5)] for each in colours], np.uint8).reshape(-1, 3)


OWN = _rgb(COLOURS)

__all__ = ["Pen", "Sheet"]
