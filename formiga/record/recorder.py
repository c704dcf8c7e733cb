"""State -> a Parquet file. A file that has its final name is always whole.

    with Recorder("run.parquet", world, seed=7) as record:
        runs.simulate(world, 60.0, seed=7, record=record)
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from formiga.engine.axes import sizes_of
from formiga.engine.parts import Part
from formiga.errors import FormigaError, RecordingError, reason, whole
from formiga.loop import Simulation
from formiga.record import variants
from formiga.record.format import (
    DIFFERING,
    IN_SPACE,
    KEY,
    ROWS,
    bodies_of,
    describe,
    groups_in,
    measured,
    measures_of,
    own,
    schema_of,
    sealed,
)
from formiga.record.notes import MOST_NOTES, words_of
from formiga.record.tables import Tables, remove_tables
from formiga.supervisor import Note
from formiga.world.model import World
from formiga.world.variants import Varied

LAST_STEP = 2**31 - 1  # that the column can hold


class Recorder:
    """Records a run: called with its shards at the start and after every step, in the order of their worlds.

    It writes into a hidden file beside `path`, which takes the name when the block ends. After Ctrl-C, SIGTERM or an
    error the file has what was done until then, and says so; if not even the start was recorded, there is no file.
    Rows wait in memory, at most ROWS of them or those of one step. Every `every`th step is recorded, and the last one.
    Steps and time count from where the recording starts, which may be in the middle of a run; any thread may do all this.

    What is drawn into the first world goes into a table beside the file, if anything is; drawings: also if nothing is. wrong:
    told what is wrong with a drawing, which is then left out; None: it is raised. varied: worlds that differ, of which `world`
    is the first.
    """

    def __init__(self, path: str | os.PathLike[str], world: World, seed: int = 0, worlds: int = 1,
                 engine_name: str | None = None, every: int = 1, *, drawings: bool = False,
                 wrong: Callable[[FormigaError], None] | None = None, varied: Varied | None = None) -> None:
        if whole("every:", every, -(2**63), 2**31 - 1) < 1:
            raise RecordingError(f"every {every} steps cannot be recorded; it must be at least 1.")
        self.path = Path(path)
        self.ending = "complete"           # may be set to "interrupted" before the block ends
        self.touched = False               # may be set, too: the run was changed by hand, so it cannot be run again
        self.written = False               # whether the file has its name
        self._meta = describe(world, seed, worlds, engine_name or world.engine, every)
        if varied is not None:
            self._meta |= {"format": DIFFERING, "variants": variants.told(varied.worlds, self._meta["files"])}
        self._every, self._dt = every, world.dt
        self._world, self._parts = world, tuple[Part, ...]()  # those of the model, as soon as there is one
        self._shape = (worlds, bodies_of(world))
        self._robots = world.robots
        self._format: int = self._meta["format"]
        channels = sizes_of(world)["channel"]
        self._schema, self._measures = schema_of(self._format, channels), measures_of(self._format, channels)
        self._notes: list[tuple[int, dict[str, Any]]] = []  # step, what was shown
        self._drawings = Tables(self.path, ["drawings"], every, self, if_any=not drawings, wrong=wrong)
        self._file: Any = None
        self._writer: Any = None
        self._step = -1                    # of the last call
        self._shards: Sequence[Simulation] = ()
        self._steps: list[int] = []        # waiting in these arrays
        self._waiting: dict[str, Any] = {}
        self._recorded = -1                # last step that is recorded
        self._busy = False                 # writing: a signal has to wait
        self._late: int | None = None      # the signal that waits
        self._signals: dict[int, Any] = {} # what they did before

    def __enter__(self) -> Recorder:
        self._beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            if self.path.is_dir():
                raise RecordingError(f"{self.path}: is a folder; a recording is one file.")
            self._file = open(self._beside, "wb")
            self._writer = pq.ParquetWriter(
                self._file, self._schema, compression="zstd", write_page_checksum=True,
                write_statistics=["step", "time", "world"], use_dictionary=["step", "time", "world", "robot", "group"],
                use_byte_stream_split=[name for name, kind in self._measures.items() if kind == np.float64])
            self._drawings.__enter__()
        except (OSError, ValueError) as wrong:
            self._abandon()
            raise self._error(wrong) from wrong
        except RecordingError:
            self._abandon()
            raise
        self._catch_signals()
        return self

    def __call__(self, shards: Sequence[Simulation]) -> None:
        """Take one step of all worlds."""
        if self._step < 0:
            self._prepare(shards)
        self._refuse_others(shards)
        self._step, self._shards = self._step + 1, shards
        if any(shard.touched for shard in shards) or (self._step == 0 and any(shard.state.step.any() for shard in shards)):
            self.touched = True  # ordered from outside, or begun in the middle: what the seed gives is another run
        if self._step % self._every == 0:
            self._take()
        self._drawings(shards)
        late, self._late = self._late, None
        if late is not None:
            _stop(late)

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """A block, such as one that writes more of the same step, in which signals wait."""
        busy, self._busy = self._busy, True
        try:
            yield
        finally:
            self._busy = busy
        late, self._late = self._late, None
        if late is not None:
            _stop(late)

    def note(self, note: Note) -> None:
        """Keep what a supervisor shows, at the step that was taken last.

        Only what is new is kept; of too many, always the last. A supervisor may change the run, so it cannot be run again.
        """
        self.touched = True
        new = words_of(note)
        if self._notes and self._notes[-1][1] == new:
            return
        if len(self._notes) == MOST_NOTES:
            self._notes.pop()
        self._notes.append((max(0, self._step), new))

    def _prepare(self, shards: Sequence[Simulation]) -> None:
        """Room for the rows of some steps, now that a model says what moves in space."""
        if self._format == IN_SPACE and shards:
            self._parts = tuple(shards[0].model.parts)
            if len(own(self._parts)) != self._robots:
                raise RecordingError(f"{self.path}: not every robot of this run has a pose of its own in space.")
            self._meta["parts"] = [list(part) for part in self._parts]
            self._shape = self._shape[0], bodies_of(self._world, self._parts)
        room = max(1, ROWS // max(1, self._shape[0] * self._shape[1]))
        self._waiting = {name: np.empty((room, *self._shape), dtype) for name, dtype in self._measures.items()}

    def _refuse_others(self, shards: Sequence[Simulation]) -> None:
        worlds, robots = sum(shard.state.worlds for shard in shards), shards[0].world.robots if shards else 0
        if (worlds, robots) != (self._shape[0], self._robots):
            raise RecordingError(f"{self.path}: a recording of {self._shape[0]} worlds with {self._robots} robots cannot "
                                 f"take {worlds} worlds with {robots}. End it, and begin another.")
        if self._format == IN_SPACE:
            if shards and tuple(shards[0].model.parts) != self._parts:
                raise RecordingError(f"{self.path}: a recording with {len(self._parts)} bodies cannot take "
                                     f"{len(shards[0].model.parts)} others. End it, and begin another.")
        elif shards and robots + len(shards[0].world.movables) != self._shape[1]:
            raise RecordingError(f"{self.path}: a recording with {self._shape[1] - robots} things that can be pushed cannot "
                                 f"take {len(shards[0].world.movables)}. End it, and begin another.")

    def _take(self) -> None:
        if self._step > LAST_STEP:
            raise RecordingError(f"{self.path}: a recording has at most {LAST_STEP} steps.")
        row, first = len(self._steps), 0
        for shard in self._shards:
            last = first + shard.state.worlds
            for name, values in measured(shard.state, self._world, self._parts).items():
                self._waiting[name][row, first:last] = values
            first = last
        self._steps.append(self._step)  # counted when all of it is there: an interruption leaves no half step
        if len(self._steps) == len(self._waiting["x"]):
            self._write()

    def _write(self) -> None:
        self._busy = True  # stays true after an exception: then the contents of the file are unknown
        steps, self._steps = np.array(self._steps, np.int32), []
        worlds, bodies = self._shape
        size = worlds * bodies
        robot = np.tile(np.arange(bodies, dtype=np.int32), worlds * len(steps))
        columns = {
            "step": np.repeat(steps, size), "time": np.repeat(steps * self._dt, size),
            "world": np.tile(np.repeat(np.arange(worlds, dtype=np.int32), bodies), len(steps)),
            "robot": robot, "group": groups_in(self._world, bodies, robot),
            **{name: values[:len(steps)].reshape(-1) for name, values in self._waiting.items()},
        }
        try:
            self._writer.write_table(pa.table(columns, schema=self._schema), row_group_size=ROWS)
        except OSError as wrong:
            self._abandon()
            raise self._error(wrong) from wrong
        self._recorded = int(steps[-1])
        self._busy = False

    # -- the end ------------------------------------------------------------------------------------------------------
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        broken, self._busy = self._busy, True
        if kind is not None:
            self.ending = "failed" if issubclass(kind, Exception) else "interrupted"
        try:
            try:
                if broken:
                    self._abandon()
                else:
                    self._finish(midway=kind is not None)
            finally:
                self._drawings.__exit__(kind, error, None)
        except BaseException as wrong:
            self._abandon()
            if isinstance(wrong, OSError):
                raise self._error(wrong) from wrong
            raise
        finally:
            if _in_main_thread():
                for number, before in self._signals.items():
                    signal.signal(number, before)
            else:
                self._busy = False  # only the main thread can give the signals back; from now on ours do what those did
        if self._late is not None and kind is None:
            _stop(self._late)

    def _finish(self, midway: bool) -> None:
        if self._step >= 0 and self._step % self._every and not midway:
            self._take()
        if self._steps:
            self._write()
            self._busy = True
        started = not midway or self._step > 0
        if self._recorded < 0 or (not started and (self.ending == "failed" or self.path.exists())):
            # what is refused in the first step writes nothing, and Ctrl-C before it replaces nothing
            self._abandon()
            return
        meta = {**self._meta, "last_step": self._recorded, "ending": self.ending, "touched": bool(self.touched)}
        if self._notes:
            meta["notes"] = [(min(step, self._recorded), words) for step, words in self._notes]
        self._writer.add_key_value_metadata({KEY: sealed(meta)})
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._beside, self.path)
        self.written = True
        remove_tables(self.path)

    def _abandon(self) -> None:
        """Leave nothing behind."""
        if self._writer is not None:
            self._writer.is_open = False  # or it would try to write again when it is collected
        if self._file is not None:
            with suppress(OSError, ValueError):
                self._file.close()
            with suppress(OSError):
                self._beside.unlink(missing_ok=True)

    def _error(self, wrong: Exception) -> RecordingError:
        return RecordingError(f"{self.path}: cannot be written ({reason(wrong)}).")

    # -- signals: the default action, unless a handler is installed; never in the middle of a write -------------------------
    def _catch_signals(self) -> None:
        if not _in_main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                self._signals[number] = signal.signal(number, self._signalled)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        if not self._busy:
            _stop(number)
        self._late = number


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _stop(number: int) -> None:
    if not _in_main_thread():
        _thread.interrupt_main(signal.Signals(number))  # whose signal it was
        return
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
