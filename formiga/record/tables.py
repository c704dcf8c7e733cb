"""Tables beside a recording: joints, messages, readings, orders, events and drawings of the run, one Parquet file each.

    with Tables("out/run.parquet", ["joints", "events"]) as tables:
        loop.simulate(world, 60.0, record=tables)
    read_table("out/run.parquet", "joints")        # out/run.joints.parquet

A row of `joints`, `readings` and `orders` is one number of one robot at one step. Orders are those of the step that led here,
so the start has none; readings are what the sensors say here. A file that has its final name is always whole, and it is of the
same run as the recording beside it. Drawings (see drawings.py) are written with every recording of a run that has some.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from formiga.comm.inbox import Inbox
from formiga.control import Orders
from formiga.errors import FormigaError, RecordingError, reason, suggest
from formiga.loop import Simulation
from formiga.record.drawings import COLUMNS, Changes, Timeline, too_large
from formiga.record.format import KEY, ROWS
from formiga.record.trust import BAD_PARQUET
from formiga.world.model import Group

if TYPE_CHECKING:
    from formiga.record.recorder import Recorder

STAMP = b"formiga.recording"  # key under which a table says to which recording it belongs
WORD = pa.dictionary(pa.int32(), pa.string())
INDICES = {"step": pa.int32(), "time": pa.float64(), "world": pa.int32()}
SCHEMAS = {name: pa.schema([pa.field(column, kind, nullable=False) for column, kind in (INDICES | columns).items()])
           for name, columns in {
    "joints": {"robot": pa.int32(), "joint": WORD, "position": pa.float64(), "effort": pa.float64(), "command": pa.float64()},
    "messages": {"robot": pa.int32(), "link": WORD, "sender": pa.int32(), "range": pa.float64(), "bearing": pa.float64(),
                 "index": pa.int32(), "value": pa.float64()},
    "readings": {"robot": pa.int32(), "sensor": WORD, "index": pa.int32(), "value": pa.float64()},
    "orders": {"robot": pa.int32(), "part": WORD, "name": WORD, "value": pa.float64()},
    "events": {"kind": WORD, "text": pa.string()},
    "drawings": COLUMNS,
}.items()}

HEAVY = 1_000_000    # numbers of drawings that wait in memory, at most, beside those of one moment

Columns = dict[str, Any]


def table_file(recording: str | os.PathLike[str], name: str) -> Path:
    """Where a table of a recording is: run.parquet -> run.joints.parquet."""
    path = Path(recording)
    return path.with_name(f"{path.stem}.{name}.parquet")


def known_names(names: Sequence[str]) -> list[str]:
    """The names of tables, each once; RecordingError for what is not a list of them."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise RecordingError(f"tables are a list of names, such as ['joints'], not {names!r}. There are: {', '.join(SCHEMAS)}.")
    found = [name if isinstance(name, str) else repr(name) for name in names]
    for name in found:
        if name not in SCHEMAS:
            raise RecordingError(f"there is no table '{name}' of a run.{suggest(name, SCHEMAS)} "
                                 f"There are: {', '.join(SCHEMAS)}.")
    return list(dict.fromkeys(found))


class Tables:
    """Writes the named tables: called with a run's shards at the start and after every step, as a `Recorder` is.

    recorder: of the recording beside which they stand. They are put in place if it was, with its stamp; its signals wait until
    a step is taken as a whole. if_any: write only those that have rows; wrong: told what is wrong with a drawing, which is then
    left out; None: it is raised.
    """

    def __init__(self, recording: str | os.PathLike[str], names: Sequence[str], every: int = 1,
                 recorder: Recorder | None = None, *, if_any: bool = False,
                 wrong: Callable[[FormigaError], None] | None = None) -> None:
        self._recording, self._recorder = Path(recording), recorder
        self.paths = {name: table_file(recording, name) for name in known_names(names)}
        self._if_any, self._rows = if_any, dict.fromkeys(self.paths, 0)
        self._changes, self._wrong = Changes(), wrong
        self._every, self._step = every, -1
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in self.paths}
        self._files: dict[str, Any] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._broken = False    # the contents of a file are unknown

    def __enter__(self) -> Tables:
        for name, path in self.paths.items():
            try:
                self._files[name] = open(_beside(path), "wb")
                self._writers[name] = pq.ParquetWriter(self._files[name], SCHEMAS[name], compression="zstd",
                                                       write_page_checksum=True)
            except (OSError, ValueError) as wrong:
                self._abandon()
                raise _unwritable(path, wrong) from wrong
        return self

    def __call__(self, shards: Sequence[Simulation]) -> None:
        """Take one step of all worlds."""
        with self._recorder.undisturbed() if self._recorder else nullcontext():
            self._step += 1
            first = 0
            for shard in shards:
                for name in self.paths:
                    if name == "events" or self._step % self._every == 0:
                        self._take(name, shard, first)
                first += shard.state.worlds
            for name, tables in self._waiting.items():
                if sum(table.num_rows for table in tables) >= ROWS or (name == "drawings" and self._changes.waiting > HEAVY):
                    self._write(name)

    def _take(self, name: str, shard: Simulation, first: int) -> None:
        for columns in self._drawn(shard, first) if name == "drawings" else READERS[name](shard, self._step):
            count = len(columns["world"])
            self._rows[name] += count
            columns |= {"step": np.full(count, self._step, np.int32), "time": np.full(count, self._step * shard.world.dt),
                        "world": np.asarray(columns["world"], np.int32) + first}
            arrays = [_column(columns[field.name], field.type) for field in SCHEMAS[name]]
            self._waiting[name].append(pa.Table.from_arrays(arrays, schema=SCHEMAS[name]))

    def _drawn(self, shard: Simulation, first: int) -> Iterator[Columns]:
        """What is drawn into the first world."""
        if first == 0 and self._changes.due(self._step, shard.world.dt):
            yield self._changes.take(shard.drawings(self._wrong))

    def _write(self, name: str) -> None:
        if not self._waiting[name]:
            return
        if name == "drawings":
            self._changes.waiting = 0
        broken, self._broken = self._broken, True
        try:
            self._writers[name].write_table(pa.concat_tables(self._waiting[name]).unify_dictionaries(), row_group_size=ROWS)
        except OSError as wrong:
            raise _unwritable(self.paths[name], wrong) from wrong
        self._waiting[name], self._broken = [], broken

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            # An error before the first step replaces nothing, unless the recording was replaced.
            keep = self._step > (0 if kind else -1) if self._recorder is None else self._recorder.written and self._step >= 0
            if keep and not self._broken:
                wanted = [name for name in self.paths if self._rows[name] or not self._if_any]
                for name in wanted:
                    self._finish(name)
                for name in wanted:
                    os.replace(_beside(self.paths[name]), self.paths[name])
        finally:
            self._abandon()

    def _finish(self, name: str) -> None:
        """The rest of a table, on the disk."""
        self._write(name)
        try:
            if self._recorder is not None:
                self._writers[name].add_key_value_metadata({STAMP: _stamp(self._recording)})
            self._writers[name].close()
            self._files[name].flush()
            os.fsync(self._files[name].fileno())
        except OSError as wrong:
            raise _unwritable(self.paths[name], wrong) from wrong

    def _abandon(self) -> None:
        """Leave no unfinished file behind."""
        for writer in self._writers.values():
            with suppress(OSError, ValueError):
                writer.close()
            writer.is_open = False  # or it would try to write again when it is collected
        for file in self._files.values():
            with suppress(OSError, ValueError):
                file.close()
        for path in self.paths.values():
            with suppress(OSError):
                _beside(path).unlink(missing_ok=True)


def remove_tables(recording: Path) -> None:
    """Remove the tables of the recording that had this name before: they are not those of the one that has it now."""
    for name in SCHEMAS:
        with suppress(OSError):
            table_file(recording, name).unlink(missing_ok=True)


def read_table(recording: str | os.PathLike[str], name: str) -> pa.Table:
    """A table that was written beside a recording; RecordingError with one sentence if there is none."""
    if not isinstance(recording, str | os.PathLike) or not Path(recording).name:
        raise RecordingError(f"{recording!r} is not the path of a recording.")
    known_names([name])
    path = table_file(recording, name)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table, stamp = file.read(), (file.metadata.metadata or {}).get(STAMP)
        table.validate(full=True)
    except FileNotFoundError as wrong:
        raise RecordingError(f"{path}: there is no such file; `formiga run --out DIR --tables {name}` writes it.") from wrong
    except BAD_PARQUET as wrong:
        raise RecordingError(f"{path}: damaged, or not a table of a run.") from wrong
    if not table.schema.equals(SCHEMAS[name]):
        raise RecordingError(f"{path}: it has other columns than a table of {name}: {', '.join(table.schema.names)}.")
    if stamp is not None and Path(recording).is_file() and stamp != _stamp(Path(recording)):
        raise RecordingError(f"{path}: this is a table of another run than the recording {Path(recording).name} beside it.")
    return table


def drawings_of(recording: str | os.PathLike[str], world: int = 0) -> Timeline:
    """What was drawn into a world of a recording: nothing, if there is no such table; `wrong` says why it cannot be read."""
    path = table_file(recording, "drawings")
    if world or not path.exists():  # only the first world is drawn
        return Timeline()
    try:
        if too_large(pq.read_metadata(path)):
            return Timeline(wrong=f"{path}: it is larger than formiga writes; nothing of it is shown.")
        return Timeline(read_table(recording, "drawings"))
    except RecordingError as wrong:
        return Timeline(wrong=f"{str(wrong).rstrip('.')}; nothing of it is shown.")
    except BAD_PARQUET as wrong:
        why = f": {wrong}" if type(wrong) is ValueError else ""
        return Timeline(wrong=f"{path}: damaged, or not a table of drawings{why}; nothing of it is shown.")


def _stamp(recording: Path) -> bytes:
    """What a recording says about its run, in short: the same for its tables."""
    try:
        about = (pq.read_metadata(recording).metadata or {}).get(KEY, b"")
    except BAD_PARQUET as wrong:
        raise RecordingError(f"{recording}: damaged, or not a recording.") from wrong
    return sha256(about).hexdigest().encode()


def _unwritable(path: Path, wrong: Exception) -> RecordingError:
    return RecordingError(f"{path}: cannot be written ({reason(wrong)}).")


def _column(values: Any, kind: pa.DataType) -> pa.Array:
    if pa.types.is_list(kind):
        return pa.array(list(values), type=kind)
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


def _messages(shard: Simulation, step: int) -> Iterator[Columns]:
    """One row for each number of each message that was heard; range and bearing are NaN for a link that measures none."""
    readings, state = shard.readings, shard.state
    for group, robots in _each(shard):
        for link in group.links:
            inbox = Inbox.at(state, group, link, readings[group.name])
            if inbox is None:
                continue
            world, robot, row = np.nonzero(inbox.heard)
            at, each, none = (world, robot, row), link.numbers, np.full(len(world), np.nan)
            yield {"world": np.repeat(world, each), "robot": np.repeat(robots.start + robot, each),
                   "link": np.full(len(world) * each, link.name), "sender": np.repeat(inbox.sender[at], each),
                   "range": np.repeat(none if inbox.range is None else inbox.range[at], each),
                   "bearing": np.repeat(none if inbox.bearing is None else inbox.bearing[at], each),
                   "index": np.tile(np.arange(each), len(world)), "value": inbox.message[at].reshape(-1)}


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


READERS = {"joints": _joints, "messages": _messages, "readings": _readings, "orders": _orders, "events": _events}

__all__ = ["SCHEMAS", "Tables", "drawings_of", "known_names", "read_table", "remove_tables", "table_file"]
