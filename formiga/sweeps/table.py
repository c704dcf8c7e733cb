"""The table of a sweep, one row for each run: its parameters, run and seed, its measures, and how it ended."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from formiga.errors import MissingExtra
from formiga.files import whole_file
from formiga.plot.look import look
from formiga.plot.swept import figure, swept
from formiga.record.format import KEY
from formiga.sweeps.grid import Grid, SweepError
from formiga.sweeps.journal import Results
from formiga.sweeps.trial import ENDINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


@dataclass(frozen=True)
class Sweep:
    """What came out of a sweep."""

    table: pa.Table              # a row for each run that is done, in the order of the grid
    grid: Grid                   # the parameters with their values, and how many seeds
    measures: tuple[str, ...]    # names of the columns with what was measured
    interrupted: bool = False    # whether runs are lacking, because `progress` has ended it
    folder: Path | None = None   # with sweep.parquet and sweep.png, if one was asked for

    def frame(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            return self.table.to_pandas()
        except ImportError as wrong:
            raise MissingExtra("a frame needs pandas; install it with: pip install pandas") from wrong

    def plot(self, measure: str | None = None, **options: Any) -> Axes:
        """One measure, by default the first, over the first swept parameter; options as `formiga.plot.swept` takes them."""
        return swept(self.table, measure or self.measures[0], **options)

    def figure(self) -> Any:
        """All measures, as in sweep.png: a matplotlib figure."""
        return figure(self.table)


def table_of(results: Results, about: dict[str, Any]) -> pa.Table:
    """The rows of all runs that are there."""
    grid, there = results.grid, results.there.ravel()
    rows = np.flatnonzero(there)
    point, run = np.divmod(rows, grid.seeds)
    columns: dict[str, Any] = {}
    each = grid.points
    for name, values in grid.parameters.items():
        each //= len(values)
        place = point // each % len(values)
        columns[name] = pa.array(list(values), TYPES[type(values[0])]).take(pa.array(place))
    columns["run"] = pa.array(run, pa.int64())
    columns["seed"] = pa.array(np.full(len(rows), about["seed"]), pa.int64())
    for number, name in enumerate(about["measures"]):
        columns[name] = pa.array(results.values[..., number].ravel()[rows])
    columns["seconds"] = pa.array(results.seconds.ravel()[rows])
    columns["ended"] = pa.array(ENDINGS).take(pa.array(results.ended.ravel()[rows]))
    fields = [pa.field(name, column.type, nullable=False) for name, column in columns.items()]
    said = {**about, "parameters": list(grid.parameters)}
    return pa.table(list(columns.values()), schema=pa.schema(fields, metadata={KEY: json.dumps(said)}))


def write(table: pa.Table, path: Path) -> bool:
    """Write a table, all of it or nothing; whether that has changed the file. The same table gives the same bytes."""
    before = path.read_bytes() if path.is_file() else None
    with whole_file(path, SweepError) as beside:
        with open(beside, "wb") as stream:
            pq.write_table(table, stream, compression="zstd", write_page_checksum=True)
            stream.flush()
            os.fsync(stream.fileno())
        return before != beside.read_bytes()


def draw(table: pa.Table, path: Path) -> None:
    """Draw a table into a PNG file, all of it or nothing."""
    with look(), whole_file(path, SweepError) as beside:
        figure(table).savefig(beside, format="png")


__all__ = ["Sweep", "draw", "table_of", "write"]
