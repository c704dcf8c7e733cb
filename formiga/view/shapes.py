"""Marks -> the few shapes that every picture can paint: dots, strokes, areas, labels and images, in the world's frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import Any, NamedTuple

import numpy as np

from formiga.drawing import Mark
from formiga.geometry import rotate, yaw

CORNERS = 48                      # of a ring or an ellipse
WITHIN = 2.4477                   # standard deviations of an ellipse that holds 95 %: sqrt(-2 ln 0.05)
ASIDE = 1.96                      # standard deviations of an angle that hold 95 %
STROKE = 1.5                      # length of a pose's stroke, of its radius
PALEST = 0.25                     # of its colour: a particle without weight
FILL = 0.35                       # how much of what is behind an area it hides
THICK = 0.1                       # width of the strokes of a pose, of its radius
MOST_SIZES = 12                   # that are told apart in one layer


class Dots(NamedTuple):
    """Points of one size."""

    places: Any                   # (K, 3) m
    colours: Any                  # (K, 3) 0..255
    size: float                   # m, radius


class Strokes(NamedTuple):
    """Segments of one width."""

    points: Any                   # (S, 2, 3) m
    colours: Any                  # (S, 3) 0..255
    size: float                   # m, width


class Area(NamedTuple):
    """A filled polygon."""

    corners: Any                  # (K, 3) m
    colour: Any                   # (3,) 0..255


class Label(NamedTuple):
    """A word over a place."""

    text: str
    place: Any                    # (3,) m
    colour: Any                   # (3,) 0..255


class Image(NamedTuple):
    """A picture in shades of one colour that lies on the floor."""

    shades: Any                   # (rows, columns) 0..255, from clear to full, the northernmost row first
    colour: Any                   # (3,) 0..255
    wide: float                   # m
    deep: float                   # m
    middle: Any                   # (3,) m
    heading: float                # rad


@dataclass
class Shapes:
    """Those of one layer."""

    dots: list[Dots] = field(default_factory=list)
    strokes: list[Strokes] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)


def shapes(marks: tuple[Mark, ...], place: Any, turn: Any) -> Shapes:
    """The shapes of a layer, of robots at places (N, 3) with turns (N, 4). Dots of one size are together, and so are strokes
    of one width."""
    found = Shapes()
    for mark in marks:
        placed = settled(mark, place, turn)
        if len(placed.numbers):
            PAINT[placed.kind](placed, found)
    found.dots, found.strokes = _merged(found.dots), _merged(found.strokes)
    return found


def settled(mark: Mark, places: Any, turns: Any) -> Mark:
    """The mark in the world's frame, robots being at places (N, 3); without rows on robots that there are not."""
    if not len(mark.on):
        return mark
    nothing = np.zeros(0, np.int32)
    if mark.kind == "grid":
        robot = int(mark.on[0])
        if robot >= len(places):
            return mark._replace(numbers=mark.numbers[:0])
        x, y, z, heading = mark.at
        x, y, z = places[robot] + rotate(turns[robot], np.array((x, y, z)))
        return mark._replace(at=(float(x), float(y), float(z), heading + float(yaw(turns[robot]))), on=nothing)
    there = np.broadcast_to(mark.on, len(mark.numbers)) < len(places)
    on = np.broadcast_to(mark.on, len(mark.numbers))[there]
    numbers: Any = mark.numbers[there].astype(np.float64)
    colours = mark.colours[there] if len(mark.colours) == len(there) else mark.colours
    words = tuple(word for word, is_there in zip(mark.words, there, strict=False) if is_there)
    place, turn = places[on], turns[on]
    for first in (0, 3) if mark.kind == "lines" else (0,):
        numbers[:, first:first + 3] = place + rotate(turn, numbers[:, first:first + 3])
    if mark.kind in ("pose", "particles"):
        ahead = yaw(turn)
        numbers[:, 3] += ahead
        if mark.kind == "pose":
            c, s, (xx, xy, yy) = np.cos(ahead), np.sin(ahead), numbers[:, 4:7].T.copy()
            numbers[:, 4] = c * c * xx - 2.0 * c * s * xy + s * s * yy
            numbers[:, 5] = c * s * (xx - yy) + (c * c - s * s) * xy
            numbers[:, 6] = s * s * xx + 2.0 * c * s * xy + c * c * yy
    return mark._replace(numbers=numbers, colours=colours, words=words, on=nothing)


# -- one function for each kind; the mark is in the world's frame ---------------------------------------------------------
def _points(mark: Mark, found: Shapes) -> None:
    found.dots.append(Dots(mark.numbers, _colours(mark), mark.size))


def _lines(mark: Mark, found: Shapes) -> None:
    found.strokes.append(Strokes(mark.numbers.reshape(-1, 2, 3), _colours(mark), mark.size))


def _path(mark: Mark, found: Shapes) -> None:
    points = np.stack([mark.numbers[:-1], mark.numbers[1:]], axis=1)
    found.strokes.append(Strokes(points, np.broadcast_to(mark.colours[0], (len(points), 3)), mark.size))


def _polygon(mark: Mark, found: Shapes) -> None:
    found.areas.append(Area(mark.numbers, mark.colours[0]))
    rim = np.stack([mark.numbers, np.roll(mark.numbers, -1, axis=0)], axis=1)
    found.strokes.append(Strokes(rim, np.broadcast_to(mark.colours[0], (len(rim), 3)), mark.size))


def _text(mark: Mark, found: Shapes) -> None:
    found.labels += [Label(*each) for each in zip(mark.words, mark.numbers, _colours(mark), strict=True)]


def _pose(mark: Mark, found: Shapes) -> None:
    """A ring with a stroke; around it the ellipse, and to both sides of the stroke the spread of the heading.

        ellipse: place + k (a e1 cos t + b e2 sin t), a^2 and b^2 being the eigenvalues of the covariance, e1 and e2 its axes
    """
    place, heading = mark.numbers[:, :3], mark.numbers[:, 3]
    xx, xy, yy, turn = mark.numbers[:, 4:].T
    colours, width, round_ = _colours(mark), THICK * mark.size, np.linspace(0.0, 2.0 * pi, CORNERS + 1)
    circle = np.stack([np.cos(round_), np.sin(round_)])                                   # (2, T)
    _closed(place, np.broadcast_to(mark.size * circle, (len(place), *circle.shape)), colours, width, found)
    _ahead(place, heading, STROKE * mark.size, colours, width, found)
    known = (xx > 0.0) | (yy > 0.0)
    if known.any():
        covariance = np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -2)[known].astype(np.float64)
        values, axes = np.linalg.eigh(covariance)
        ellipse = WITHIN * (axes * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ circle
        _closed(place[known], ellipse, colours[known], width, found)
    known = turn > 0.0
    for sign in (-1.0, 1.0) if known.any() else ():
        aside = np.minimum(ASIDE * np.sqrt(turn[known]), pi)
        _ahead(place[known], heading[known] + sign * aside, STROKE * mark.size, colours[known], 0.6 * width, found)


def _particles(mark: Mark, found: Shapes) -> None:
    share = PALEST + (1.0 - PALEST) * mark.numbers[:, 4:]
    colours = (255.0 - share * (255.0 - _colours(mark))).astype(np.uint8)
    order = np.argsort(mark.numbers[:, 4], kind="stable")                                  # the strongest on top
    place, colours = mark.numbers[order, :3], colours[order]
    found.dots.append(Dots(place, colours, mark.size))
    _ahead(place, mark.numbers[order, 3], 3.5 * mark.size, colours, 0.5 * mark.size, found)


def _grid(mark: Mark, found: Shapes) -> None:
    rows, columns = mark.numbers.shape
    x, y, z, heading = mark.at
    wide, deep, c, s = columns * mark.size, rows * mark.size, np.cos(heading), np.sin(heading)
    shades = np.round(255.0 * np.clip(mark.numbers[::-1], 0.0, 1.0)).astype(np.uint8)
    middle = np.array((x + 0.5 * (c * wide - s * deep), y + 0.5 * (s * wide + c * deep), z))
    found.images.append(Image(shades, mark.colours[0], wide, deep, middle, heading))


PAINT = {"points": _points, "lines": _lines, "polygon": _polygon, "text": _text, "pose": _pose, "particles": _particles,
         "grid": _grid, "path": _path}


def _closed(place: Any, around: Any, colours: Any, width: float, found: Shapes) -> None:
    """Outlines (K, 2, T) around places (K, 3)."""
    count = around.shape[2]
    line = np.repeat(place[:, None, :], count, axis=1)
    line[..., :2] += np.swapaxes(around, 1, 2)
    points = np.stack([line[:, :-1], line[:, 1:]], axis=2).reshape(-1, 2, 3)
    found.strokes.append(Strokes(points, np.repeat(colours, count - 1, axis=0), width))


def _ahead(place: Any, heading: Any, length: float, colours: Any, width: float, found: Shapes) -> None:
    """A stroke from each place (K, 3) in the direction of its heading (K,)."""
    tip = place.copy()
    tip[:, 0] += length * np.cos(heading)
    tip[:, 1] += length * np.sin(heading)
    found.strokes.append(Strokes(np.stack([place, tip], axis=1), colours, width))


def _colours(mark: Mark) -> Any:
    """(K, 3)."""
    return np.broadcast_to(mark.colours, (len(mark.numbers), 3))


def _merged(all_of_them: list[Any]) -> list[Any]:
    """One for each size; sizes that can hardly be told apart are one."""
    kinds: dict[str, list[Any]] = {}
    for each in all_of_them:
        if len(each[0]):
            name = f"{each.size:.2g}"
            kinds.setdefault(name if name in kinds or len(kinds) < MOST_SIZES else next(iter(kinds)), []).append(each)
    return [type(some[0])(np.concatenate([each[0] for each in some]).astype(np.float32),
                          np.concatenate([each[1] for each in some]).astype(np.uint8), some[0].size) for some in kinds.values()]


__all__ = ["Area", "Dots", "FILL", "Image", "Label", "Shapes", "Strokes", "settled", "shapes"]
