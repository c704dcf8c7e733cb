"""Tables beside a recording: readings, beliefs, messages and more of the run, one Parquet file each; columns.py has their rows.

    with Tables("out/run.parquet", ["joints", "events"]) as tables:
        runs.simulate(world, 60.0, record=tables)
    read_further("out/run.parquet", "joints")        # out/run.joints.parquet

A file that has its final name is always whole, and it is of the same run as the recording beside it. Drawings (see drawings.py)
are written with every recording of a run that has some. Rows wait in memory, at most ROWS of them, or HEAVY numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from formiga.errors import FormigaError, MissingExtra, RecordingError, reason, suggest
from formiga.loop import Simulation
from formiga.measures import Measure, find, momentary
from formiga.record import drawings, former
from formiga.record.columns import INDICES, NUMBERS, READERS, SCHEMAS, TABLES, Columns, Words, array_of, metrics, size_of
from formiga.record.drawings import Changes, Timeline
from formiga.record.format import KEY, ROWS
from formiga.record.trust import BAD_PARQUET, parse_meta
from formiga.state import State

if TYPE_CHECKING:
    from formiga.record.recorder import Recorder

STAMP = b"formiga.recording"  # key under which a table says to which recording it belongs
POSES, METRICS, ORDERS, DRAWINGS = "poses", "metrics", "orders", "drawings"
NAMES = (POSES, *TABLES)       # of what can be recorded; the poses always are
HEAVY = 1_000_000              # numbers in lists that wait in memory, at most, beside those of one moment
LARGEST_IN_MEMORY = 8 << 30    # bytes, of a table that is read in one piece


class Asked(NamedTuple):
    """What is recorded of a run beside its poses."""

    names: tuple[str, ...]           # of tables
    measures: dict[str, Measure]     # for the table of metrics


def table_file(recording: str | os.PathLike[str], name: str) -> Path:
    """Where a table of a recording is: run.parquet -> run.joints.parquet."""
    path = Path(recording)
    return path.with_name(f"{path.stem}.{name}.parquet")


def asked(record: Iterable[str | Measure]) -> Asked:
    """Names of tables, 'metrics:NAME' for one measure, functions that are measures; RecordingError for what is none of them.

    'metrics' alone is all measures that can be asked at any moment, so not fitness.
    """
    if isinstance(record, str) or not isinstance(record, Iterable):
        raise RecordingError(f"what is recorded is a list of names, such as ['readings'], not {record!r}. There are: "
                             f"{', '.join(NAMES)}.")
    names, measures = dict[str, None](), dict[str, Measure]()
    for each in record:
        if callable(each):
            new = {_called(each): each}
        elif isinstance(each, str) and each.startswith(f"{METRICS}:"):
            name = each.removeprefix(f"{METRICS}:")
            new = {name: find(name)}
        else:
            new = momentary() if each == METRICS else {}
        for name, measure in new.items():
            if measures.setdefault(name, measure) is not measure:
                raise RecordingError(f"two of the metrics are called '{name}'; give one of the functions another name.")
        names[METRICS if new else known_name(each)] = None
    names.pop(POSES, None)
    return Asked(tuple(names), measures)


def known_name(name: Any) -> str:
    """The name of a table; RecordingError if there is none of that name."""
    if not isinstance(name, str) or name not in NAMES:
        wrong = name if isinstance(name, str) else repr(name)
        raise RecordingError(f"there is no table '{wrong}' of a run.{suggest(wrong, NAMES)} There are: {', '.join(NAMES)}.")
    return name


def _called(function: Any) -> str:
    try:
        return str(function.__name__)
    except AttributeError:
        raise RecordingError(f"a metric needs a name: write it as a function, with def, not {function!r}.") from None


class Tables:
    """Writes tables: called with a run's shards at the start and after every step, as a `Recorder` is.

    names: as `simulate` takes them, or what was made of them. recorder: of the recording beside which they stand. They are put
    in place if it was, with its stamp; its signals wait until a step is taken as a whole. if_any: write only those that have
    rows; wrong: told what is wrong with a drawing, which is then left out; None: it is raised.
    """

    def __init__(self, recording: str | os.PathLike[str], names: Iterable[str | Measure] | Asked, every: int = 1,
                 recorder: Recorder | None = None, *, if_any: bool = False,
                 wrong: Callable[[FormigaError], None] | None = None) -> None:
        self._recording, self._recorder = Path(recording), recorder
        wanted = names if isinstance(names, Asked) else asked(names)
        self._readers = {**READERS, METRICS: lambda shard, step: metrics(shard, wanted.measures)}
        self.paths = {name: table_file(recording, name) for name in wanted.names}
        self._if_any, self._rows = if_any, dict.fromkeys(self.paths, 0)
        self._changes, self._wrong = Changes(), wrong
        self._every, self._step = every, -1
        self._steps: dict[int, Any] = {}                # number of a shard's first world -> the steps of its worlds so far
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in self.paths}
        self._held = dict.fromkeys(self.paths, 0)       # rows that wait
        self._numbers = dict.fromkeys(self.paths, 0)    # in their lists
        self._files: dict[str, Any] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._broken = False    # the contents of a file are unknown

    def __enter__(self) -> Tables:
        for name, path in self.paths.items():
            try:
                self._files[name] = open(_beside(path), "wb")
                self._writers[name] = _writer(self._files[name], name)
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
                self._steps[first] = shard.state.step.copy()
                first += shard.state.worlds
            for name in self.paths:
                if self._held[name] >= ROWS or self._numbers[name] > HEAVY:
                    self._write(name)

    def _take(self, name: str, shard: Simulation, first: int) -> None:
        found: list[pa.Table] = []
        for columns in self._drawn(shard, first) if name == DRAWINGS else self._readers[name](shard, self._step):
            if name == ORDERS and shard.state.done.any():
                columns = self._obeyed(columns, shard.state, first)
            count = len(columns["world"])
            self._rows[name], self._held[name] = self._rows[name] + count, self._held[name] + count
            self._numbers[name] += self._changes.waiting if name == DRAWINGS else size_of(columns)
            columns |= {"step": np.full(count, self._step, np.int32), "time": np.full(count, self._step * shard.world.dt),
                        "world": np.asarray(columns["world"], np.int32) + first}
            arrays = [array_of(columns[field.name], field.type) for field in SCHEMAS[name]]
            found.append(pa.Table.from_arrays(arrays, schema=SCHEMAS[name]))
        if len(found) > 1 and shard.state.worlds > 1:  # world after world, however they are shared out
            together = pa.concat_tables(found)
            found = [together.take(np.argsort(together["world"].to_numpy(), kind="stable"))]
        self._waiting[name] += found

    def _obeyed(self, columns: Columns, state: State, first: int) -> Columns:
        """The rows of orders without those of worlds that had ended before: they took no step."""
        rows = (state.step != self._steps.get(first))[columns["world"]]
        return {name: Words(values.numbers[rows], values.words) if isinstance(values, Words) else values[rows]
                for name, values in columns.items()}

    def _drawn(self, shard: Simulation, first: int) -> Iterator[Columns]:
        """What is drawn into the first world."""
        if first == 0 and self._changes.due(self._step, shard.world.dt):
            self._changes.waiting = 0
            yield self._changes.take(shard.drawings(self._wrong))

    def _write(self, name: str) -> None:
        if not self._waiting[name]:
            return
        broken, self._broken = self._broken, True
        try:
            self._writers[name].write_table(pa.concat_tables(self._waiting[name]).unify_dictionaries(), row_group_size=ROWS)
        except OSError as wrong:
            raise _unwritable(self.paths[name], wrong) from wrong
        self._waiting[name], self._held[name], self._numbers[name], self._broken = [], 0, 0, broken

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


def read_further(recording: str | os.PathLike[str], name: str, most: int | None = None) -> pa.Table:
    """A table that was written beside a recording; RecordingError with one sentence if there is none, or if it takes more than
    `most` bytes of memory."""
    if not isinstance(recording, str | os.PathLike) or not Path(recording).name:
        raise RecordingError(f"{recording!r} is not the path of a recording.")
    if known_name(name) == POSES:
        raise RecordingError(f"{recording}: the poses are the recording itself; read_recording(...).table() has them.")
    path = table_file(recording, name)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            columns = file.schema_arrow
            if not (columns.equals(SCHEMAS[name]) or former.is_former(columns, name)):
                raise RecordingError(f"{path}: it has other columns than a table of {name}: {', '.join(columns.names)}.")
            table = _all_of(file, path, LARGEST_IN_MEMORY if most is None else most)
            stamp = (file.metadata.metadata or {}).get(STAMP)
            if len(table) != file.metadata.num_rows:
                raise ValueError("its row groups do not have the rows that it claims")
        table.validate(full=True)
    except FileNotFoundError as wrong:
        raise RecordingError(f"{path}: there is no such file; record=['{name}'], or `formiga run --out DIR --record {name}`, "
                             "writes it.") from wrong
    except BAD_PARQUET as wrong:
        raise RecordingError(f"{path}: damaged, or not a table of a run.") from wrong
    if stamp is not None and Path(recording).is_file() and stamp != _stamp(Path(recording)):
        raise RecordingError(f"{path}: this is a table of another run than the recording {Path(recording).name} beside it.")
    if former.is_former(table.schema, name):
        about = _about(Path(recording)) if Path(recording).is_file() else {}
        table = former.renewed(table, name, path, about.get("groups", []))
    return table


def framed(table: pa.Table) -> Any:
    """A DataFrame of pandas: words are categories, lists are arrays."""
    try:
        return table.to_pandas()
    except ImportError as wrong:
        raise MissingExtra("DataFrames need pandas; install it with: pip install 'formiga[pandas]'. A table of Arrow needs "
                           "nothing more: .table(...).") from wrong


def _all_of(file: pq.ParquetFile, path: Path, most: int) -> pa.Table:
    """All rows, if they take at most so many bytes, which are counted as they come: a stranger's file may hold more than it
    says, and when libparquet is asked what a damaged one says of a column, it ends the process."""
    size = sum(file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups))
    batches: list[pa.RecordBatch] = []
    if size <= most:
        size = 0
        for batch in file.iter_batches(ROWS):
            batches.append(batch)
            if (size := size + batch.nbytes) > most:
                break
    if size > most:
        raise RecordingError(f"{path}: {size / 2**30:.1f} GB are too many at once; read some of its row groups, with "
                             "pyarrow.parquet.ParquetFile.")
    return pa.Table.from_batches(batches, file.schema_arrow)


def drawings_of(recording: str | os.PathLike[str], world: int = 0) -> Timeline:
    """What was drawn into a world of a recording: nothing, if there is no such table; `wrong` says why it cannot be read."""
    path = table_file(recording, "drawings")
    if world or not path.exists():  # only the first world is drawn
        return Timeline()
    try:
        table = read_further(recording, DRAWINGS, drawings.LARGEST)
        if len(table) > drawings.MOST_ROWS:
            return Timeline(wrong=f"{path}: it is larger than formiga writes; nothing of it is shown.")
        return Timeline(table)
    except RecordingError as wrong:
        return Timeline(wrong=f"{str(wrong).rstrip('.')}; nothing of it is shown.")
    except BAD_PARQUET as wrong:
        why = f": {wrong}" if type(wrong) is ValueError else ""
        return Timeline(wrong=f"{path}: damaged, or not a table of drawings{why}; nothing of it is shown.")


def _stamp(recording: Path) -> bytes:
    """What a recording says about its run, in short: the same for its tables."""
    return sha256(_text(recording)).hexdigest().encode()


def _about(recording: Path) -> dict[str, Any]:
    """What a recording says about its run; nothing if that is damaged."""
    return parse_meta(_text(recording)) or {}


def _text(recording: Path) -> bytes:
    try:
        return bytes((pq.read_metadata(recording).metadata or {}).get(KEY, b""))
    except BAD_PARQUET as wrong:
        raise RecordingError(f"{recording}: damaged, or not a recording.") from wrong


def _unwritable(path: Path, wrong: Exception) -> RecordingError:
    return RecordingError(f"{path}: cannot be written ({reason(wrong)}).")


def _writer(file: Any, name: str) -> pq.ParquetWriter:
    """Numbers in lists, which are mostly all different, are stored byte by byte: a quarter smaller with noise."""
    lists = [f"{column}.list.element" for column, kind in TABLES[name].items() if kind == NUMBERS]
    given = {"use_byte_stream_split": lists, "use_dictionary": [*INDICES, *TABLES[name]]} if lists else {}
    return pq.ParquetWriter(file, SCHEMAS[name], compression="zstd", write_page_checksum=True, **given)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


__all__ = ["DRAWINGS", "METRICS", "NAMES", "POSES", "SCHEMAS", "TABLES", "Asked", "Tables", "asked", "drawings_of", "framed",
           "known_name", "read_further", "remove_tables", "table_file"]
