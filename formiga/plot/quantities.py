"""A quantity of runs over time, one sample for each world of each run: from poses, metrics, readings, beliefs, or any table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from formiga.errors import FormigaError, suggest
from formiga.plot.sources import recording_of, robots_of
from formiga.record.recording import Poses, Recording
from formiga.state import Floats

UNITS = {"x": "m", "y": "m", "heading": "rad", "left": "m/s", "right": "m/s", "speed": "m/s", "crashed": "", "alive": ""}
WORDS = {"metrics": "metric", "readings": "sensor", "beliefs": "estimator"}     # table -> column of names
RUNS = ("run", "seed", "world", "trial")                                        # columns of a table that tell its runs apart
NAMED = re.compile(r"(?:(poses|metrics|readings|beliefs):)?(.+?)(?:\[(\d+)\])?")

Quantity = str | Callable[[Poses], Any]


class Course(NamedTuple):
    """Samples (S, K) at times (S,), NaN where a run has ended; and the unit, if it is known."""

    time: Floats
    samples: Floats
    unit: str


def course(data: Any, quantity: Quantity, group: str | None = None) -> Course:
    """The samples of a quantity. Those of one world are its mean over robots, which are not independent of each other."""
    if not isinstance(quantity, str) and not callable(quantity):
        raise FormigaError(f"a quantity is a name, such as 'speed', or a function of the poses, not {quantity!r}.")
    if not isinstance(data, pa.Table) and "DataFrame" in type(data).__name__:
        data = pa.Table.from_pandas(data, preserve_index=False)
    if isinstance(data, pa.Table):
        return _of_table(data, quantity)
    several = isinstance(data, Iterable) and not isinstance(data, str)
    found = [_of_recording(recording_of(each), quantity, group) for each in (data if several else [data])]
    if not found:
        raise FormigaError("there are no runs to draw.")
    return _together(found)


def name_of(quantity: Quantity) -> str:
    """What an axis calls it."""
    if isinstance(quantity, str):
        return quantity.rpartition(":")[2].replace("_", " ")
    try:
        return quantity.__name__.replace("_", " ")
    except AttributeError:  # such as a functools.partial
        return type(quantity).__name__


def _of_recording(recording: Recording, quantity: Quantity, group: str | None) -> Course:
    if callable(quantity):
        poses = recording.poses()
        values = np.asarray(quantity(poses), np.float64)
        if values.shape != (len(poses.time), recording.worlds):
            raise FormigaError(f"the quantity '{name_of(quantity)}' must be numbers (steps, worlds) = "
                               f"({len(poses.time)}, {recording.worlds}), not of the shape {values.shape}.")
        return Course(poses.time, values, "")
    match = NAMED.fullmatch(quantity)
    table, name, index = match.groups() if match else (None, quantity, None)
    homes = {each: known for each, known in _known(recording).items() if table in (None, each)}
    having = [each for each, known in homes.items() if name in known]
    if not having:
        everything = [each for known in homes.values() for each in known]
        listed = "; ".join(f"{each}: {', '.join(known)}" for each, known in homes.items() if known)
        raise FormigaError(f"{recording.path}: there is no '{name}' in it.{suggest(str(name), everything)} It has "
                           f"{listed or 'nothing'}. More is recorded where it is asked for: record=['readings', 'beliefs', "
                           "'metrics'].")
    if len(having) > 1:
        raise FormigaError(f"{recording.path}: there are several '{name}'; say which: "
                           f"{', '.join(f'{each}:{name}' for each in having)}.")
    if having[0] == "poses":
        return _of_poses(recording, str(name), group)
    found = recording.table(having[0])
    found = found.filter(pc.equal(found[WORDS[having[0]]].cast(pa.string()), name))
    if having[0] == "metrics":
        return _of_rows(found, found["value"].to_numpy(), ("world",), "")
    if group is not None:
        robots_of(recording.world, group)
        found = found.filter(pc.equal(found["group"].cast(pa.string()), group))
    return _of_rows(found, _picked(found["values"], str(name), index), ("world",), "")


def _known(recording: Recording) -> dict[str, list[str]]:
    """Table -> names of quantities in it."""
    words = {table: recording.table(table)[column].unique().to_pylist() for table, column in WORDS.items()
             if table in recording.tables}
    return {"poses": list(UNITS), **words}


def _of_poses(recording: Recording, name: str, group: str | None) -> Course:
    poses, robots = recording.poses(), robots_of(recording.world, group)
    if name == "speed":
        way = np.hypot(np.diff(poses.x[..., robots], axis=0), np.diff(poses.y[..., robots], axis=0))
        return Course(poses.time[1:], (way / np.diff(poses.time)[:, None, None]).mean(axis=2), UNITS[name])
    return Course(poses.time, np.asarray(poses._asdict()[name][..., robots], np.float64).mean(axis=2), UNITS[name])


def _picked(lists: pa.ChunkedArray, name: str, index: str | None) -> Floats:
    """One number of each list."""
    lengths = set(pc.unique(pc.list_value_length(lists)).to_pylist())
    least, place = min(lengths, default=0), int(index or 0)
    if index is None and lengths != {1}:
        raise FormigaError(f"'{name}' has {max(lengths, default=0)} numbers; say which one, as '{name}[0]'.")
    if place >= least:
        raise FormigaError(f"'{name}' has {least} numbers, from '{name}[0]' to '{name}[{max(0, least - 1)}]'.")
    return np.asarray(pc.list_element(lists, place).to_numpy(), np.float64)


def _of_table(table: pa.Table, quantity: Quantity) -> Course:
    """A tidy table with a column `time`, one of the quantity, and some that tell runs apart."""
    if callable(quantity):
        raise FormigaError("a quantity of a table is the name of one of its columns.")
    if {"metric", "value"} <= set(table.column_names) and quantity not in table.column_names:
        table = table.filter(pc.equal(table["metric"].cast(pa.string()), quantity)).drop_columns(["metric"])
        table = table.rename_columns([quantity if name == "value" else name for name in table.column_names])
    for name in ("time", quantity):
        if name not in table.column_names:
            raise FormigaError(f"the table has no column '{name}'.{suggest(name, table.column_names)} It has: "
                               f"{', '.join(table.column_names)}.")
    runs = tuple(name for name in RUNS if name in table.column_names)
    for name in ("time", quantity):
        if not is_number(table[name].type):
            raise FormigaError(f"the column '{name}' has no numbers, but {table[name].type}.")
    return _of_rows(table, np.asarray(table[quantity].to_numpy(), np.float64), runs, "")


def is_number(kind: pa.DataType) -> bool:
    """Whether the values of a column can be averaged."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _of_rows(table: pa.Table, values: Floats, runs: tuple[str, ...], unit: str) -> Course:
    """The mean of the rows of each moment and run."""
    time, moment = np.unique(table["time"].to_numpy(), return_inverse=True)
    run = np.zeros(len(values), np.int64)
    if runs and len(values):
        numbers = [np.unique(table[name].to_numpy(), return_inverse=True)[1] for name in runs]
        run = np.unique(numbers, axis=1, return_inverse=True)[1].reshape(-1)
    if len(values) == 0:
        raise FormigaError("there are no rows to draw.")
    shape = len(time), int(run.max()) + 1
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (moment, run), values)
    np.add.at(count, (moment, run), 1.0)
    with np.errstate(invalid="ignore"):
        return Course(time, total / count, unit)


def _together(found: list[Course]) -> Course:
    """Samples of all runs at the times of the longest; what a shorter one does not have is NaN."""
    time = max((each.time for each in found), key=len)
    samples = []
    for each in found:
        at = np.searchsorted(time, each.time - 1e-9)
        fits = (at < len(time)) & (np.abs(time[np.minimum(at, len(time) - 1)] - each.time) < 1e-6)
        if (~fits[:-1]).any():  # the last moment of a run may lie between those of the others
            raise FormigaError("the runs were recorded at other times: give them the same control period and the same `every`.")
        values = np.full((len(time), each.samples.shape[1]), np.nan)
        values[at[fits]] = each.samples[fits]
        samples.append(values)
    return Course(time, np.concatenate(samples, axis=1), found[0].unit)


__all__ = ["Course", "Quantity", "course", "name_of"]
