"""Figures of a sweep: a measure over a parameter, with its mean and interval over the runs of each point."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from formiga.errors import FormigaError, suggest
from formiga.measures import described
from formiga.plot.intervals import Interval, interval
from formiga.plot.look import COLUMN, HEAT, PALETTE, STYLE, look
from formiga.plot.quantities import is_number
from formiga.record.format import KEY
from formiga.state import Floats

MARKS = "osD^vPX*"
HEIGHT = 2.4                # inches, of a panel
MOST_LINES = 8              # in one panel that are told apart
MOST_NAMED = 16             # in a legend; of more lines every second, third ...
MOST_PANELS = 24            # of a figure
DODGE = 0.12                # between lines over texts, of the step from one text to the next


def swept(table: pa.Table, measure: str, *, x: str | None = None, lines: str | None = None, where: dict[str, Any] | None = None,
          level: float = 0.95, axes: Axes | None = None) -> Axes:
    """A measure over a parameter x, one line for each value of the parameter `lines`, with Student's interval over the runs.

    table: of a sweep. x, lines: default: the first and the second parameter with several values. where: values of further
    parameters, which choose rows; runs of all values of a parameter that is not named here are taken together.
    """
    table = _chosen(table, where or {})
    many = _swept(table)
    x = _column(table, x) if x else (many[0] if many else _parameters(table)[0] if _parameters(table) else None)
    others = [name for name in many if name != x and name not in (where or {})]
    lines = _column(table, lines) if lines else (others[0] if others else None)
    axes = _axes() if axes is None else axes
    values = _numbers(table, measure)
    place, ticks = _places(table, x)
    groups = [None] if lines is None else _values(table, lines)
    for number, group in enumerate(groups):
        rows = np.ones(len(values), np.bool_) if lines is None else _equal(table, lines, group)
        order = np.argsort(place[rows], kind="stable")
        there, first = np.unique(place[rows][order], return_index=True)
        if not len(there):
            continue
        found = [interval(each, level) for each in np.split(values[rows][order], first[1:])]
        shift = 0.0 if ticks is None else DODGE * (number - (len(groups) - 1) / 2) * min(1.0, 4.0 / len(groups))
        named = lines is not None and number % -(-len(groups) // MOST_NAMED) == 0
        label = f"{lines} = {_word(group)}" if named else None
        _line(axes, there + shift, found, number, label, joined=ticks is None)
    _dress(axes, x or "", measure, ticks, lines is not None)
    if x is not None and pa.types.is_integer(table[x].type):
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))  # there is no half of a robot
    return axes


def heat(table: pa.Table, measure: str, x: str | None = None, y: str | None = None, *, where: dict[str, Any] | None = None,
         axes: Axes | None = None, **options: Any) -> Axes:
    """The mean of a measure over two parameters, as coloured cells; options: of matplotlib's `imshow`, such as cmap."""
    table = _chosen(table, where or {})
    many = _swept(table)
    if (x is None or y is None) and len(many) < 2:
        raise FormigaError(f"a heat map needs two parameters with several values; this sweep has {', '.join(many) or 'none'}.")
    x = _column(table, x) if x else next(name for name in many if name != y)
    y = _column(table, y) if y else next(name for name in many if name != x)
    dressed = look() if axes is None else nullcontext()       # the colour bar looks as the axes that it belongs to
    axes = _axes() if axes is None else axes
    values = _numbers(table, measure)
    across, along = _values(table, x), _values(table, y)
    at = [[_equal(table, name, each) for each in every] for name, every in ((x, across), (y, along))]
    means = np.array([[interval(values[column & row]).mean for column in at[0]] for row in at[1]])
    image = axes.imshow(means, **{"origin": "lower", "aspect": "auto", "cmap": HEAT, **options})
    for axis, every, name in ((axes.xaxis, across, x), (axes.yaxis, along, y)):
        step = max(1, -(-len(every) // 10))
        axis.set_ticks(np.arange(0, len(every), step), [_word(each) for each in every[::step]])
        axis.set_label_text(name)
    if (whole := axes.get_figure()) is not None:
        with dressed:
            whole.colorbar(image, ax=axes, label=_label(measure))
    return axes


def figure(table: pa.Table, names: Sequence[str] | None = None) -> Figure:
    """All measures below each other; further parameters beside each other, a panel for each value of the third."""
    names = list(names or _about(table).get("measures") or ["seconds"])
    many = _swept(table)
    columns: list[dict[str, Any]] = [{}]
    if len(many) > 2:
        columns = [{many[2]: value} for value in _values(table, many[2])][:max(1, MOST_PANELS // max(1, len(names)))]
    names = names[:max(1, MOST_PANELS // len(columns))]
    with look():
        whole = Figure(figsize=(COLUMN * len(columns), HEIGHT * max(1, len(names))), layout="constrained")
        panels = whole.subplots(max(1, len(names)), len(columns), squeeze=False, sharex=True, sharey="row")
    for number, (row, name) in enumerate(zip(panels, names, strict=False)):
        for panel, chosen in zip(row, columns, strict=True):
            swept(table, name, x=many[0] if many else None, lines=many[1] if len(many) > 1 else None, where=chosen, axes=panel)
            panel.label_outer()
            if chosen and number == 0:
                panel.set_title(", ".join(f"{key} = {_word(value)}" for key, value in chosen.items()))
            if panel is not panels[0, -1] and panel.get_legend() is not None:
                panel.get_legend().remove()
    return whole


def _axes() -> Axes:
    """A panel as wide as a column, in the look of all figures."""
    with look():
        return Figure(figsize=(COLUMN, HEIGHT), layout="constrained").subplots()


# -- a line -----------------------------------------------------------------------------------------------------------
def _line(axes: Axes, at: Any, found: list[Interval], number: int, label: str | None, joined: bool) -> None:
    """Means with their intervals: a band behind a line that joins them, or bars."""
    mean, low, high = (np.array([float(part) for part in each]) for each in zip(*found, strict=True))
    colour, mark = PALETTE[number % len(PALETTE)], MARKS[(number + number // len(PALETTE)) % len(MARKS)]
    if joined and len(at) > 1:
        axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(at, mean, color=colour, marker=mark, markersize=3.5, linewidth=1.2, label=label)
    else:
        bars = np.nan_to_num([mean - low, high - mean])
        axes.errorbar(at, mean, bars, color=colour, marker=mark, markersize=4, linestyle="none", elinewidth=1.2, capsize=2.5,
                      label=label)


def _dress(axes: Axes, x: str, measure: str, ticks: list[str] | None, legend: bool) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(_label(measure))
    if ticks is not None:
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set_xlim(-0.5, len(ticks) - 0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    if legend:
        named = len(axes.get_legend_handles_labels()[1])
        axes.legend(frameon=False, fontsize=STYLE["legend.fontsize"], ncols=-(-named // MOST_LINES))


def _label(measure: str) -> str:
    """'nearest (m)': with the unit that the docstring of a measure begins with, if it does."""
    unit, comma, _ = described().get(measure, "").partition(", ")
    return f"{measure} ({unit})" if comma and 0 < len(unit) <= 6 and " " not in unit else measure


# -- the table --------------------------------------------------------------------------------------------------------
def _about(table: pa.Table) -> dict[str, Any]:
    """What the table says about its sweep."""
    try:
        about = json.loads((table.schema.metadata or {})[KEY])
        if isinstance(about, dict) and isinstance(about["parameters"], list):
            return about
    except (KeyError, ValueError):
        pass
    raise FormigaError("this table is not that of a sweep; `formiga.sweep(...).table` is one, and so is what "
                       "`pyarrow.parquet.read_table` reads from its sweep.parquet.")


def _parameters(table: pa.Table) -> list[str]:
    return [name for name in _about(table)["parameters"] if name in table.column_names]


def _swept(table: pa.Table) -> list[str]:
    """The parameters with several values in the table."""
    return [name for name in _parameters(table) if len(_values(table, name)) > 1]


def _column(table: pa.Table, name: str) -> str:
    if name not in table.column_names:
        raise FormigaError(f"the table has no column '{name}'.{suggest(name, table.column_names)} It has: "
                           f"{', '.join(table.column_names)}.")
    return name


def _numbers(table: pa.Table, name: str) -> Floats:
    """A column of numbers."""
    column = table[_column(table, name)]
    if not is_number(column.type):
        raise FormigaError(f"the column '{name}' has no numbers, but {column.type}.")
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)


def _values(table: pa.Table, name: str) -> list[Any]:
    """The values of a column, each once: numbers in their order, texts as they come."""
    found = table[name].unique().to_pylist()
    return found if any(isinstance(each, str | bool) for each in found) else sorted(found)


def _equal(table: pa.Table, name: str, value: Any) -> Any:
    """Which rows have that value."""
    column = table[_column(table, name)]
    return np.asarray(column.to_numpy(zero_copy_only=False) == value, np.bool_)


def _chosen(table: pa.Table, where: dict[str, Any]) -> pa.Table:
    """The rows with these values."""
    _about(table)
    for name, value in where.items():
        rows = _equal(table, name, value)
        if not rows.any():
            raise FormigaError(f"no row has {name} = {_word(value)}; there are: {', '.join(map(_word, _values(table, name)))}.")
        table = table.filter(pa.array(rows))
    return table


def _places(table: pa.Table, x: str | None) -> tuple[Any, list[str] | None]:
    """Where each row stands on the axis, and the words below it if that is none of numbers."""
    if x is None:
        return np.zeros(len(table)), ["all"]
    values = _values(table, x)
    if any(isinstance(each, str | bool) for each in values):
        at = {each: place for place, each in enumerate(values)}
        return np.array([at[each] for each in table[x].to_pylist()], np.float64), [_word(each) for each in values]
    return np.asarray(table[x].to_numpy(zero_copy_only=False), np.float64), None


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


__all__ = ["figure", "heat", "swept"]
