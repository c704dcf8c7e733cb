"""A Parquet file -> what was recorded, and whether running it again gives the same."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from formiga import runs
from formiga.engine.parts import Part
from formiga.errors import RecordingError
from formiga.geometry import TURN
from formiga.loop import Simulation
from formiga.record import trust
from formiga.record.format import (
    BYTES_PER_ROW,
    COLUMNS,
    DIFFERING,
    FORMAT,
    IN_SPACE,
    MOVING,
    RAISED,
    bodies_of,
    channels_in,
    groups_in,
    measured,
    measures_of,
    more_drive,
    movables_rows,
    others,
    own,
    schema_of,
)
from formiga.record.notes import notes_of
from formiga.record.tables import POSES, TABLES, framed, read_further, table_file
from formiga.state import Floats
from formiga.supervisor import Note
from formiga.world.model import World
from formiga.world.variants import Varied

LARGEST_NUMBER = 1e9          # in a column: metres, radians, metres a second
LARGEST_IN_MEMORY = 8 << 30   # bytes, of a table that is asked for in one piece
UNIT = 1e-6                   # by how much the length of a quaternion may differ from 1

MOVABLES = ("x", "y", "heading", *MOVING)
BODY = ("x", "y", *RAISED)


class Poses(NamedTuple):
    """A recording as arrays: S recorded steps, W worlds, N robots, M things that can be pushed, B bodies in space."""

    time: Floats          # (S,) s
    x: Floats             # (S, W, N) m
    y: Floats             # (S, W, N) m
    heading: Floats       # (S, W, N) rad
    left: Floats          # (S, W, N) m/s at the wheel's rim
    right: Floats         # (S, W, N) m/s; of a drive that has not two wheels, its second channel, as `left` is its first
    crashed: Any          # (S, W, N)
    alive: Any            # (S, W, N)
    velocity: Floats        # (S, W, N, 3) m/s, m/s, rad/s: velocity and spin; zero if nothing can be pushed
    movables: Floats         # (S, W, M, 6) x y heading, velocity and spin
    bodies: Floats        # (S, W, B, 7) x y z and a quaternion w x y z, of `recording.parts`; none in the plane
    drive: Floats         # (S, W, N, D) all channels of the drives, `left` and `right` first


@dataclass(frozen=True)
class Difference:
    """The first place at which a run and its recording are not the same."""

    step: int
    world: int
    robot: int
    column: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        return (f"step {self.step}, world {self.world}, robot {self.robot}: {self.column} was {self.recorded!r}, "
                f"is {self.replayed!r}")


@dataclass(frozen=True)
class Recording:
    """A run that was recorded. The table is read from the file when it is asked for."""

    path: Path
    meta: dict[str, Any]       # all that the file says about the run
    world: World
    seed: int
    worlds: int
    engine: str
    steps: NDArray[np.int64]   # those that are recorded
    ending: str                # 'complete', 'interrupted' or 'failed'
    parts: tuple[Part, ...]    # the bodies of a run in space; () in the plane
    missing: tuple[str, ...]   # tags of own elements whose code is not loaded: placeholders stand for them
    _file: pq.ParquetFile
    varied: Varied | None = None  # of worlds that differ, the description of each

    @property
    def code(self) -> dict[str, str]:
        """The user's own code that the recording brought along: file -> text. Reading it runs nothing."""
        found: dict[str, str] = {}
        for number, each in enumerate(self.meta["code"]):
            found[each["file"] if each["file"] not in found else f"{number}/{each['file']}"] = each["text"]
        return found

    @property
    def format(self) -> int:
        """1: robots; 2: and what they push; 3: and everything else that moves in space; 4: robots, in worlds that differ."""
        return self.meta["format"]

    def described(self, number: int) -> World:
        """The description of one world, by its number."""
        return self.world if self.varied is None else self.varied.worlds[self.numbered(number)]

    def numbered(self, world: int) -> int:
        """The number of a world, if there is one of that number."""
        try:
            number = operator.index(world)
        except TypeError:
            number = -1
        if not 0 <= number < self.worlds:
            raise RecordingError(f"{self.path}: there is no world {world!r}; they are numbered from 0 to {self.worlds - 1}.")
        return number

    @property
    def channels(self) -> int:
        """Columns that have what drives did: 2, or as many as the drive with most channels has."""
        return channels_in(self._file.schema_arrow)

    @property
    def rows(self) -> int:
        """Of each world in each step."""
        return bodies_of(self.world, self.parts)

    @property
    def touched(self) -> bool:
        """Whether the run was changed by hand while it ran: then running it again would not give the same."""
        return self.meta["touched"]

    @property
    def notes(self) -> list[tuple[int, Note]]:
        """What a supervisor showed, if there was one: (step, note) for each step at which that changed, in order."""
        return notes_of(self.meta["notes"], self.meta["last_step"]) or []

    def table(self, name: str = POSES) -> pa.Table:
        """All rows; or those of a further table that was recorded with them, such as 'readings'."""
        if name != POSES:
            return read_further(self.path, name)
        self._refuse_large(self._file.metadata.num_rows)
        return pa.concat_tables([schema_of(self.format, self.channels).empty_table(), *self.blocks()]).unify_dictionaries()

    def frame(self, name: str = POSES) -> Any:
        """The same as a DataFrame of pandas."""
        return framed(self.table(name))

    @property
    def tables(self) -> list[str]:
        """The names of all tables that there are."""
        return [POSES, *(name for name in TABLES if table_file(self.path, name).exists())]

    def poses(self, world: int | None = None) -> Poses:
        """All rows as arrays (steps, worlds, robots); or those of one world (steps, 1, robots), and no others in memory."""
        world = None if world is None else self.numbered(world)
        shape, robots = (len(self.steps), self.worlds if world is None else 1, self.rows), self.world.robots
        self._refuse_large(prod(shape))
        kinds = measures_of(self.format, self.channels)
        arrays: dict[str, Any] = {name: np.empty(shape, dtype) for name, dtype in kinds.items()}
        row = 0
        for block in self.blocks():
            rows = block if world is None else block.filter(pc.equal(block["world"], world))
            for name, values in arrays.items():
                values.reshape(-1)[row:row + rows.num_rows] = rows[name].to_numpy()
            row += rows.num_rows
        for name, values in arrays.items():
            if values.dtype == np.float64 and not (np.abs(values) <= LARGEST_NUMBER).all():  # also what is no number
                raise RecordingError(f"{self.path}: damaged; column '{name}' has values that no run gives.")
        time = np.multiply(self.steps, self.world.dt, dtype=np.float64)
        bodies = np.empty((*shape[:2], 0, 7))
        more = more_drive(self.channels)
        drive = np.stack([arrays[name][..., :robots] for name in ("left", "right", *more)], axis=-1)
        arrays = {name: values for name, values in arrays.items() if name not in more}
        if self.format in (FORMAT, DIFFERING):
            nothing = np.broadcast_to(0.0, (*shape, 3))
            return Poses(time, **arrays, velocity=nothing, movables=np.empty((*shape[:2], 0, 6)), bodies=bodies, drive=drive)
        movables = np.stack([arrays[name][..., robots:] for name in MOVABLES], axis=-1)
        if self.format == IN_SPACE:
            bodies, rest = self._bodies(arrays), others(self.parts)
            movables = movables[:, :, [rest.index(row) for row in movables_rows(self.world, self.parts)]]
        velocity = np.stack([arrays.pop(name)[..., :robots] for name in MOVING], axis=-1)
        return Poses(time, **{name: values[..., :robots] for name, values in arrays.items() if name not in RAISED},
                     velocity=velocity, movables=movables, bodies=bodies, drive=drive)

    def _bodies(self, arrays: dict[str, Any]) -> Floats:
        """All bodies in the order of `parts`, from the rows of the robots and those of the others."""
        rows = np.stack([arrays[name] for name in BODY], axis=-1)
        bodies = np.empty((*rows.shape[:2], len(self.parts), 7))
        bodies[:, :, [*own(self.parts), *others(self.parts)]] = rows
        size = (bodies[..., TURN] ** 2).sum(axis=-1)
        if not (np.abs(size - 1.0) <= UNIT).all():
            raise RecordingError(f"{self.path}: damaged; a body has a turn that is none.")
        return bodies

    def blocks(self) -> Iterator[pa.Table]:
        """The rows in order, some at a time, whatever the size of the file."""
        row, columns = 0, [name for name in self._file.schema_arrow.names if name != "group"]
        for number in range(self._file.num_row_groups):
            try:
                block = self._file.read_row_group(number, columns)
            except trust.BAD_PARQUET as wrong:
                raise RecordingError(f"{self.path}: damaged; rows from {row} on cannot be read.") from wrong
            self._check_order(block, row)
            row += block.num_rows
            groups = groups_in(self.world, self.rows, block["robot"].to_numpy())
            yield block.add_column(COLUMNS.get_field_index("group"), COLUMNS.field("group"), groups)

    def frames(self) -> Iterator[pa.Table]:
        """The rows of one recorded step at a time."""
        size, rest = self.worlds * self.rows, schema_of(self.format, self.channels).empty_table()
        for block in self.blocks():
            rest = pa.concat_tables([rest, block])
            while rest.num_rows >= size > 0:
                yield rest.slice(0, size)
                rest = rest.slice(size)

    def replay(self, threads: int | None = None) -> Difference | None:
        """Run it again: None if every bit is the same, else the first difference. A run that was touched is refused."""
        if self.touched:
            raise RecordingError(f"{self.path}: this run was changed by hand while it ran, or recorded from its middle on; "
                                 "running it again would be another run, so there is nothing to compare.")
        if self.missing:
            raise RecordingError(f"{self.path}: it cannot be run again without the code of <{self.missing[0]}>; "
                                 f"{trust.HOW_TO_LOAD}.")
        again = _Comparison(self)
        last = int(self.steps[-1])
        runs.simulate(self.world, max(1, last) * self.world.dt, self.seed, self.worlds, self.engine, threads=threads,
                      record=again, varied=self.varied, watch=lambda share: again.found is not None or again.step >= last)
        return again.found or again.missing()

    def _check_order(self, block: pa.Table, row: int) -> None:
        bodies = max(1, self.rows)
        index = np.arange(row, row + block.num_rows)
        expected = {"robot": index % bodies, "world": index // bodies % self.worlds,
                    "step": self.steps[index // (bodies * self.worlds)]}
        for name, values in expected.items():
            if not np.array_equal(block[name].to_numpy(), values):
                raise RecordingError(f"{self.path}: column '{name}' is out of order after row {row}; it was changed.")

    def _refuse_large(self, rows: int) -> None:
        size = rows * (BYTES_PER_ROW[self.format] + 8 * (self.channels - 2))
        if size > LARGEST_IN_MEMORY:
            raise RecordingError(f"{self.path}: {size / 2**30:.1f} GB are too many at once; use blocks() or frames().")


class _Comparison:
    """A recorder that compares instead."""

    def __init__(self, recording: Recording) -> None:
        self.steps, self.frames, self.recording = iter(recording.steps.tolist()), recording.frames(), recording
        self.due = next(self.steps, None)
        self.step = -1
        self.found: Difference | None = None

    def __call__(self, shards: Sequence[Simulation]) -> None:
        self.step += 1
        frame = next(self.frames, None) if self.step == self.due and self.found is None else None
        if frame is None:
            return
        self.due = next(self.steps, None)
        if self.recording.parts and tuple(shards[0].model.parts) != self.recording.parts:
            raise RecordingError(f"{self.recording.path}: its bodies are not those of its world; it was changed, or this "
                                 "formiga builds robots in another way.")
        now = [measured(shard.state, self.recording.world, self.recording.parts) for shard in shards]
        worlds = sum(shard.state.worlds for shard in shards)
        for name in now[0]:
            new, old = np.concatenate([columns[name] for columns in now]), frame[name].to_numpy().reshape(worlds, -1)
            if len(different := np.argwhere(_bits(new) != _bits(old))):
                at = tuple(different[0].tolist())
                self.found = Difference(self.step, at[0], at[1], name, old[at].item(), new[at].item())
                return

    def missing(self) -> Difference | None:
        """What the run did not reach, because it ended earlier than the recording."""
        if next(self.frames, None) is None or self.due is None:
            return None
        return Difference(self.due, 0, 0, "step", self.due, self.step)


def _bits(values: Any) -> Any:
    return np.ascontiguousarray(values).view(np.uint64 if values.dtype == np.float64 else np.uint8)


def read_table(recording: str | os.PathLike[str], name: str = POSES) -> pa.Table:
    """A table of a recording: its poses, or one that was recorded with them; RecordingError with one sentence if there is none.
    """
    return read_recording(recording).table() if name == POSES else read_further(recording, name)


def read_recording(path: str | os.PathLike[str], *, run_code: bool = False) -> Recording:
    """The recording in a file; RecordingError with one sentence if it is not one.

    Elements of the user's own whose code is not loaded become placeholders: tables, poses and pictures need no code.
    run_code: run the code that the recording brought along (`recording.code`) to have them. Only for files that you trust.
    """
    file = Path(path)
    parquet = trust.open_parquet(file)
    meta = trust.read_meta(file, parquet)
    if run_code:
        trust.run_code(file, meta)
    unknown = trust.missing_elements(file, meta)
    world = trust.read_world(file, meta, unknown)
    parts = trust.read_parts(file, meta, world)
    varied = trust.read_variants(file, meta, world)
    steps = trust.read_steps(file, meta, parquet.metadata.num_rows, world, parts)
    return Recording(file, meta, world, meta["seed"], meta["worlds"], meta["engine"], steps, meta["ending"], parts,
                     tuple(unknown), parquet, varied)
