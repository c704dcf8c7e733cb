"""Tables as earlier versions wrote them, as they are written now.

They had no groups, and in `readings` and `messages` a row for each number, with its place in a column `index`. Beliefs were
among the readings, and stay there.
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from formiga.errors import RecordingError
from formiga.record.columns import SCHEMAS, TABLES, schema_of
from formiga.record.format import WORD


def is_former(schema: pa.Schema, name: str) -> bool:
    """Whether these are the columns that this table had."""
    if "group" not in TABLES[name]:
        return False
    columns = {column: kind for column, kind in TABLES[name].items() if column != "group"}
    if "values" in columns:
        del columns["values"]
        columns |= {"index": pa.int32(), "value": pa.float64()}
    return bool(schema.equals(schema_of(columns)))


def renewed(table: pa.Table, name: str, path: Path, groups: Any) -> pa.Table:
    """The same table with groups, and with a list for each reading. groups: what the recording says of them, if it is there."""
    columns = {column: table[column] for column in table.schema.names}
    if "index" in columns:
        index = columns.pop("index").to_numpy()
        first = np.flatnonzero(index == 0)
        begun = np.maximum.accumulate(np.where(index == 0, np.arange(len(index)), 0))
        if (index != np.arange(len(index)) - begun).any() or (len(index) and index[0] != 0):
            raise RecordingError(f"{path}: damaged; column 'index' is out of order.")
        numbers = columns.pop("value").to_numpy()
        columns = {column: values.take(first) for column, values in columns.items()}
        columns["values"] = pa.ListArray.from_arrays(pa.array(np.append(first, len(index)).astype(np.int32)), pa.array(numbers))
    columns["group"] = _groups(columns["robot"].to_numpy(), groups)
    return pa.table([columns[column] for column in SCHEMAS[name].names], schema=SCHEMAS[name])


def _groups(robots: Any, groups: Any) -> pa.DictionaryArray:
    """The group of each robot; none where that is not known."""
    fits = isinstance(groups, list) and all(isinstance(each, dict) and isinstance(each.get("name"), str)
                                            and type(each.get("count")) is int and each["count"] >= 0 for each in groups)
    ends = list(accumulate(each["count"] for each in groups)) if fits else []
    numbers = np.searchsorted(np.array(ends, np.float64), robots, side="right").astype(np.int32)
    names = pa.array([each["name"] for each in groups] if fits else [], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=numbers >= len(ends)), names).cast(WORD)


__all__ = ["is_former", "renewed"]
