"""Optional tables beside a recording: joints, readings, orders and events of the same run, one tidy Parquet file each.

    with Tables("out/run.parquet", ["joints", "events"]) as tables:
        loop.simulate(world, 60.0, record=tables)
    read_table("out/run.parquet", "joints")        # out/run.joints.parquet

A row of `joints`, `readings` and `orders` is one number of one robot at one step. Orders are those of the step that led here,
so the start has none; readings are what the sensors say here. A file that has its final name is always whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from formiga.control import Orders
from formiga.errors import RecordingError, reason, suggest
from formiga.loop import Simulation
from formiga.record.format import ROWS
from formiga.record.trust import BAD_PARQUET
from formiga.world.model import Group

WORD = pa.dictionary(pa.int32(), pa.string())
INDICES = {"step": pa.int32(), "time": pa.float64(), "world": pa.int32()}
SCHEMAS = {name: pa.schema([pa.field(column, kind, nullable=False) for column, kind in (INDICES | columns).items()])
           for name, columns in {
    "joints": {"robot": pa.int32(), "joint": WORD, "position": pa.float64(), "effort": pa.float64(), "command": pa.float64()},
    "readings": {"robot": pa.int32(), "sensor": WORD, "index": pa.int32(), "value": pa.float64()},
    "orders": {"robot": pa.int32(), "part": WORD, "name": WORD, "value": pa.float64()},
    "events": {"kind": WORD, "text": pa.string()},
}.items()}

Columns = dict[str, Any]


def table_file(recording: str | os.PathLike[str], name: str) -> Path:
    """Where a table of a recording is: run.parquet -> run.joints.parquet."""
    path = Path(recording)
    return path.with_name(f"{path.stem}.{name}.parquet")


def refuse_unknown(names: Sequence[str]) -> None:
    """RecordingError for a name that is not that of a table."""
    for name in names:
        if name not in SCHEMAS:
            raise RecordingError(f"there is no table '{name}' of a run.{suggest(name, SCHEMAS)} "
                                 f"There are: {', '.join(SCHEMAS)}.")


class Tables:
    """Writes the named tables: called with a run's shards at the start and after every step, as a `Recorder` is."""

    def __init__(self, recording: str | os.PathLike[str], names: Sequence[str], every: int = 1) -> None:
        refuse_unknown(names)
        self.paths = {name: table_file(recording, name) for name in dict.fromkeys(names)}
        self._every, self._step = every, -1
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in self.paths}
        self._writers: dict[str, pq.ParquetWriter] = {}

    def __enter__(self) -> Tables:
        for name, path in self.paths.items():
            try:
                self._writers[name] = pq.ParquetWriter(_beside(path), SCHEMAS[name], compression="zstd",
                                                       write_page_checksum=True)
            except (OSError, ValueError) as wrong:
                self._abandon()
                raise RecordingError(f"{path}: cannot be written ({reason(wrong)}).") from wrong
        return self

    def __call__(self, shards: Sequence[Simulation]) -> None:
        """Take one step of all worlds."""
        self._step += 1
        first = 0
        for shard in shards:
            for name in self.paths:
                if name == "events" or self._step % self._every == 0:
                    self._take(name, shard, first)
            first += shard.state.worlds
        for name, tables in self._waiting.items():
            if sum(table.num_rows for table in tables) >= ROWS:
                self._write(name)

    def _take(self, name: str, shard: Simulation, first: int) -> None:
        for columns in READERS[name](shard, self._step):
            count = len(columns["world"])
            columns |= {"step": np.full(count, self._step, np.int32), "time": np.full(count, self._step * shard.world.dt),
                        "world": np.asarray(columns["world"], np.int32) + first}
            arrays = [_column(columns[field.name], field.type) for field in SCHEMAS[name]]
            self._waiting[name].append(pa.Table.from_arrays(arrays, schema=SCHEMAS[name]))

    def _write(self, name: str) -> None:
        tables, self._waiting[name] = self._waiting[name], []
        if tables:
            self._writers[name].write_table(pa.concat_tables(tables).unify_dictionaries(), row_group_size=ROWS)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if self._step < 0 or (kind is not None and self._step == 0):  # an error before the first step replaces nothing
                return
            for name, writer in self._writers.items():
                self._write(name)
                writer.close()
            for path in self.paths.values():
                os.replace(_beside(path), path)
        except OSError as wrong:
            raise RecordingError(f"{next(iter(self.paths.values()))}: cannot be written ({reason(wrong)}).") from wrong
        finally:
            self._abandon()

    def _abandon(self) -> None:
        """Leave no unfinished file behind."""
        for writer in self._writers.values():
            with suppress(OSError, ValueError):
                writer.close()
        for path in self.paths.values():
            with suppress(OSError):
                _beside(path).unlink(missing_ok=True)


def read_table(recording: str | os.PathLike[str], name: str) -> pa.Table:
    """A table that was written beside a recording; RecordingError with one sentence if there is none."""
    refuse_unknown([name])
    path = table_file(recording, name)
    try:
        table = pq.read_table(path)
    except FileNotFoundError as wrong:
        raise RecordingError(f"{path}: there is no such file; `formiga run --out DIR --tables {name}` writes it.") from wrong
    except (*BAD_PARQUET, OSError) as wrong:
        raise RecordingError(f"{path}: damaged, or not a table of a run.") from wrong
    if not table.schema.equals(SCHEMAS[name]):
        raise RecordingError(f"{path}: it has other columns than a table of {name}: {', '.join(table.schema.names)}.")
    return table


def _column(values: Any, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, type=pa.string()).dictionary_encode()
    return pa.array(np.array(values), type=kind)  # a copy: pa.array shares the memory of the state, which goes on


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


# -- a step -> columns; world and robot are numbers inside the shard ----------------------------------------------------------
def _each(shard: Simulation) -> Iterator[tuple[Group, slice]]:
    return zip(shard.world.groups, shard.world.slices, strict=True)


def _flat(values: Any, robots: slice) -> Columns:
    """World, robot and index of values (W, n, ...), one row for each number."""
    shape = values.shape[0], values.shape[1], int(np.prod(values.shape[2:], dtype=np.int64))
    world, robot, index = (part.reshape(-1) for part in np.indices(shape))
    return {"world": world, "robot": robots.start + robot, "index": index}


def _joints(shard: Simulation, step: int) -> Iterator[Columns]:
    state = shard.state
    for group, robots in _each(shard):
        K = min(len(group.robot.joints), state.joint_position.shape[2])  # none in an engine without joints
        if K == 0:
            continue
        flat = _flat(state.joint_position[:, robots, :K], robots)
        names = np.array([joint.name for joint in group.robot.joints])[flat.pop("index")]
        yield flat | {"joint": names, **{column: values[:, robots, :K].reshape(-1) for column, values in (
            ("position", state.joint_position), ("effort", state.joint_effort), ("command", state.joint_command))}}


def _readings(shard: Simulation, step: int) -> Iterator[Columns]:
    readings = shard.readings
    for group, robots in _each(shard):
        for sensor, values in readings[group.name].items():
            flat = _flat(values, robots)
            yield flat | {"sensor": np.full(len(flat["world"]), sensor), "value": values.reshape(-1).astype(np.float64)}


def _orders(shard: Simulation, step: int) -> Iterator[Columns]:
    if step == 0:
        return
    for group, robots in _each(shard):
        given = shard.orders.get(group.name, Orders())
        drive = group.robot.drive
        named = (("drive", given.drive, drive.channels if drive else ()),
                 ("joint", given.joints, [joint.name for joint in group.robot.joints]))
        for part, values, names in named:
            if values is None:
                continue
            flat = _flat(values, robots)
            yield flat | {"name": np.array(names)[flat.pop("index")], "part": np.full(values.size, part),
                          "value": np.asarray(values, np.float64).reshape(-1)}


def _events(shard: Simulation, step: int) -> Iterator[Columns]:
    events = shard.engine.events(shard.model, shard.state) if step else []
    if events:
        yield {"world": [event.world for event in events], "kind": [event.kind for event in events],
               "text": [event.text for event in events]}


READERS = {"joints": _joints, "readings": _readings, "orders": _orders, "events": _events}

__all__ = ["SCHEMAS", "Tables", "read_table", "table_file"]
