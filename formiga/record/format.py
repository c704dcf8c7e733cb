"""What a recording is: a Parquet table, one row for each step, world and robot, and one JSON text about the run.

The text is in the file's key-value metadata, under `formiga`. It has all that is needed to run the same again: the
world as XML, the contents of files that the world names, the seed, the engine, the versions that computed it. For elements
of the user's own it also has `own`, what is to be known about each without its code, and `code`, the text of their modules,
which is never run unless it is asked for. Pages of the table have checksums of their own; the text has `seal`, its hash, by
which a damaged one is known.

The column `group` has the name of each robot's group; bodies that are no robots have none. It follows from the world and the
number of the robot, so it is made anew when a file is read, and older files, which were written without it, read the same.

A world with things that can be pushed is recorded in format 2: they follow the robots of their world as if they were more of
them, in the order of `world.movables`, and every body has a velocity and a spin.

A run with a supervisor has its notes among the words, see notes.py.

If a drive has more than two channels, as that of an omnidirectional robot, the further ones are in columns drive2, drive3 ...
at the end; `left` and `right` are the first two channels of any drive.

A run in three dimensions is recorded in format 3: every body has a height and a turn, too, and the robots are followed by all
other bodies that move (turrets, arms, wheels, solids, what can be pushed), in the order of the engine's `model.parts`, which is
among the words as `parts`: for each body the number of its robot or -1, that of its thing or -1, and its name.

A batch of worlds that differ is recorded in format 4: columns as in format 1, and `variants` among the words, see variants.py.
"""

from __future__ import annotations

import base64
import copy
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from formiga.engine.parts import Part
from formiga.errors import RecordingError, reason
from formiga.geometry import TURN, yaw
from formiga.state import Movable, State
from formiga.world.elements import of
from formiga.world.model import Group, World
from formiga.world.movables import MOVABLES
from formiga.world.nodes import LARGEST_FILE, MOST_ELEMENTS
from formiga.world.own import own_elements, sources_of
from formiga.world.placeholder import about
from formiga.world.writer import to_text

FORMAT, WITH_MOVABLES, IN_SPACE, DIFFERING = 1, 2, 3, 4
SPATIAL = "spatial"  # the engine whose runs are in space
CHASSIS = "chassis"  # the part of a robot that is in the robot's own row
KEY = b"formiga"
SEAL = "seal"
ENDINGS = ("complete", "interrupted", "failed")
EMBEDDED = re.compile(r"[0-9]{1,6}/[^/\\\0]{1,255}")  # names of files inside a recording: '0/table.csv'

WORD = pa.dictionary(pa.int32(), pa.string())
INDICES = {"step": pa.int32(), "time": pa.float64(), "world": pa.int32(), "robot": pa.int32(), "group": WORD}
KINDS = {np.float64: pa.float64(), np.bool_: pa.bool_()}


def _columns(*arrays: str) -> dict[str, pa.DataType]:
    """The columns that arrays of the state fill, as their declaration says."""
    declared = State.declared()
    return {column: KINDS[declared[name].dtype] for name in arrays for column in declared[name].columns}


FLAT = ("position", "heading", "drive", "crashed", "alive")  # arrays of the state that every recording has
MEASURED, MOVING, RAISED = _columns(*FLAT), _columns("velocity"), _columns("bodies")  # not in format 1; only in format 3
COLUMNS = pa.schema([pa.field(name, kind, nullable=name == "group") for name, kind in (INDICES | MEASURED).items()])
MORE_COLUMNS = pa.schema([*COLUMNS, *(pa.field(name, kind, nullable=False) for name, kind in MOVING.items())])
SPACE_COLUMNS = pa.schema([*MORE_COLUMNS, *(pa.field(name, kind, nullable=False) for name, kind in RAISED.items())])
DTYPES = {name: np.dtype(kind.to_pandas_dtype()) for name, kind in MEASURED.items()}
MORE_DTYPES = DTYPES | {name: np.dtype(kind.to_pandas_dtype()) for name, kind in MOVING.items()}
SPACE_DTYPES = MORE_DTYPES | {name: np.dtype(kind.to_pandas_dtype()) for name, kind in RAISED.items()}
SCHEMAS = {FORMAT: COLUMNS, WITH_MOVABLES: MORE_COLUMNS, IN_SPACE: SPACE_COLUMNS, DIFFERING: COLUMNS}
MEASURES = {FORMAT: DTYPES, WITH_MOVABLES: MORE_DTYPES, IN_SPACE: SPACE_DTYPES, DIFFERING: DTYPES}
BYTES_PER_ROW = {FORMAT: 66, WITH_MOVABLES: 90, IN_SPACE: 130, DIFFERING: 66}  # in memory
MOST_CHANNELS = 64  # of a drive
ROWS = 1 << 17      # of a row group, at most: 8 to 16 MB in memory
MOST_PARTS = 1_000_000
LONGEST_WORD = 80       # characters of a name


def more_drive(channels: int) -> tuple[str, ...]:
    """Columns of the channels of drives that have more than two: drive2, drive3 ... after `left` and `right`."""
    return tuple(f"drive{k}" for k in range(2, channels))


def schema_of(format: int, channels: int = 2) -> pa.Schema:
    """All columns of a recording whose drives have so many channels, at most; more than two stand at the end."""
    return pa.schema([*SCHEMAS[format], *(pa.field(name, pa.float64(), nullable=False) for name in more_drive(channels))])


def are_columns(columns: pa.Schema, format: int) -> bool:
    """Whether these are the columns of a recording in that format; older ones have no groups."""
    expected = schema_of(format, channels_in(columns))
    return columns.equals(expected) or columns.equals(expected.remove(expected.get_field_index("group")))


def measures_of(format: int, channels: int = 2) -> dict[str, Any]:
    """Those that are measured, and their types."""
    return MEASURES[format] | dict.fromkeys(more_drive(channels), np.dtype(np.float64))


def channels_in(columns: pa.Schema) -> int:
    """How many channels the drives of a recording with these columns have."""
    return 2 + sum(name in columns.names for name in more_drive(MOST_CHANNELS))


def format_of(world: World, engine: str) -> int:
    """In which format a run of this world is recorded."""
    return IN_SPACE if engine == SPATIAL else WITH_MOVABLES if world.movables else FORMAT


def bodies_of(world: World, parts: tuple[Part, ...] = ()) -> int:
    """How many rows a world has in each step: its robots, then the things that can be pushed, or in space all other bodies."""
    return world.robots + (len(others(parts)) if parts else len(world.movables))


def groups_in(world: World, bodies: int, rows: NDArray[np.int32]) -> pa.DictionaryArray:
    """The column `group` of rows, from the number of the body in each of them (below `bodies`)."""
    numbers = np.full(bodies, -1, np.int32)
    for number, robots in enumerate(world.slices):
        numbers[robots] = number
    found = numbers[rows]
    names = pa.array([group.name for group in world.groups], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(found, mask=found < 0), names)


def others(parts: tuple[Part, ...]) -> list[int]:
    """The rows of a state's `bodies` that are not a robot's own."""
    return [row for row, part in enumerate(parts) if part.robot < 0 or part.name != CHASSIS]


def own(parts: tuple[Part, ...]) -> list[int]:
    """For each robot, the row of a state's `bodies` that is its own."""
    found = {part.robot: row for row, part in enumerate(parts) if part.robot >= 0 and part.name == CHASSIS}
    return [found[robot] for robot in sorted(found)]


def movables_rows(world: World, parts: tuple[Part, ...]) -> list[int]:
    """For each thing that can be pushed, its row of a state's `bodies`."""
    found = {part.thing: row for row, part in enumerate(parts) if part.thing >= 0}
    return [found[index] for index, thing in enumerate(world.things) if isinstance(thing, MOVABLES)]


def measured(state: Any, world: World | None = None, parts: tuple[Part, ...] = ()) -> dict[str, Any]:
    """The columns of a state, each (worlds, bodies); what can be pushed has no wheels, and nothing happens to it.

    world, parts: of a run in space.
    """
    robots = _filled(state, *FLAT)
    robots |= {name: state.drive[..., k] for k, name in enumerate(more_drive(state.drive.shape[2]), start=2)}
    if parts and world is not None:
        return _in_space(robots, state, world, parts)
    if state.movables.shape[1] == 0:
        return robots
    robots |= _filled(state, "velocity")
    lying = np.moveaxis(state.movables[..., Movable.MOTION], -1, 0)
    things: dict[str, Any] = dict(zip(("x", "y", "heading", "vx", "vy", "spin"), lying, strict=True))
    nothing = np.zeros(state.movables.shape[:2])
    things |= {"left": nothing, "right": nothing, "crashed": nothing > 0.0, "alive": nothing == 0.0}
    return {name: np.concatenate([values, things.get(name, nothing)], axis=1) for name, values in robots.items()}


def _filled(state: State, *arrays: str) -> dict[str, Any]:
    """The columns of some arrays, each (worlds, robots)."""
    declared, found = State.declared(), dict[str, Any]()
    for name in arrays:
        values, columns = getattr(state, name), declared[name].columns
        found |= {columns[0]: values} if values.ndim == 2 else {column: values[..., k] for k, column in enumerate(columns)}
    return found


def _in_space(robots: dict[str, Any], state: Any, world: World, parts: tuple[Part, ...]) -> dict[str, Any]:
    """Robots with z and turn from their own bodies, then all other bodies; of these, what can be pushed has speeds."""
    robots |= _filled(state, "velocity")
    rest, raised = state.bodies[:, others(parts)], state.bodies[:, own(parts), 2:]
    nothing = np.zeros(rest.shape[:2])
    things = {"x": rest[..., 0], "y": rest[..., 1], "heading": yaw(rest[..., TURN]), "left": nothing, "right": nothing,
              "crashed": nothing > 0.0, "alive": nothing == 0.0, **{name: nothing.copy() for name in MOVING}}
    at = [others(parts).index(row) for row in movables_rows(world, parts)]
    for column, name in enumerate(("heading", *MOVING), start=2):
        things[name][:, at] = state.movables[..., column]
    for column, name in enumerate(RAISED):
        robots[name], things[name] = raised[..., column], rest[..., 2 + column]
    return {name: np.concatenate([values, things.get(name, nothing)], axis=1) for name, values in robots.items()}


def steps_recorded(last: int, every: int) -> NDArray[np.int64]:
    """Every so many steps, and the last one."""
    return np.unique(np.append(np.arange(0, last + 1, every), last))


def describe(world: World, seed: int, worlds: int, engine: str, every: int) -> dict[str, Any]:
    """All about a run that is known before it starts."""
    packed, files = embed(world)
    text = to_text(packed)
    if len(text.encode()) > LARGEST_FILE or text.count("<") > MOST_ELEMENTS:
        raise RecordingError(f"the world has more than {LARGEST_FILE >> 20} MB or {MOST_ELEMENTS} elements as XML; it could "
                             "not be read back.")
    return {
        **own_parts(world),
        "format": format_of(world, engine), "world": text, "files": files, "seed": seed, "worlds": worlds,
        "engine": engine, "dt": world.dt, "every": every, "versions": versions(engine), "platform": platform.platform(),
        "groups": [{"name": group.name, "robot": of(group.robot).tag, "count": group.count,
                    "radius": group.robot.radius} for group in world.groups],
    }


def own_parts(world: World) -> dict[str, Any]:
    """`own` and `code` of a world that has elements of the user's own, else nothing."""
    things = list(elements_of(world))
    elements = own_elements(things)
    if not elements:
        return {}
    code: list[dict[str, str]] = []
    for source in sources_of(elements):
        if len(source.text.encode()) > LARGEST_FILE:
            raise RecordingError(f"{source.file}: larger than {LARGEST_FILE >> 20} MB; a recording does not take it.")
        code.append({"module": source.module, "file": os.path.basename(source.file), "text": source.text})
    return {"own": [{**about(known, [thing for thing in things if type(thing) is known.cls]), "module": known.cls.__module__,
                     "loose": issubclass(known.cls, MOVABLES)} for known in elements], "code": code}


def sealed(meta: dict[str, Any]) -> str:
    """The text about a run, with a hash of itself: a flipped bit could make another number, or another world."""
    return json.dumps({**meta, SEAL: _seal(meta)})


def unsealed(meta: dict[str, Any]) -> dict[str, Any] | None:
    """What was sealed, or None if it is not that any more. Older files have no seal."""
    if SEAL not in meta:
        return meta
    inner = {name: value for name, value in meta.items() if name != SEAL}
    return inner if _seal(inner) == meta[SEAL] else None


def _seal(meta: dict[str, Any]) -> str:
    return sha256(json.dumps(meta).encode()).hexdigest()


def versions(engine: str = "") -> dict[str, str]:
    """What computed the run. The same versions on the same kind of processor give the same bits."""
    found = {"python": platform.python_version()}
    for package in ("formiga", "numpy", "numba", *(["mujoco"] if engine == SPATIAL else [])):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a checkout that was never installed
            found[package] = "unknown"
    return found


# -- files that a world names -----------------------------------------------------------------------------------------
def named_files(things: Iterable[Any]) -> Iterator[tuple[Any, str, str]]:
    """(element, attribute, path) of every file that the elements name."""
    for thing in things:
        for attribute, kind in of(thing).kinds.items():
            if kind.base == "file" and getattr(thing, attribute) is not None:
                yield thing, attribute, getattr(thing, attribute)


def elements_of(world: World) -> Iterator[Any]:
    """Every element of a world."""
    yield from (world.contact, *world.settings, *world.things, *world.fitness, *world.page)
    if world.search is not None:
        yield world.search
    for group in world.groups:
        yield group.robot
        for parts in group.carried.values():
            yield from parts


def embed(world: World) -> tuple[World, dict[str, str]]:
    """The world with its files renamed to '0/table.csv' ..., and their contents (base64) under these names."""
    files: dict[str, str] = {}

    def packed(thing: Any) -> Any:
        for _, attribute, path in named_files([thing]):
            folder, bundle = len(files), thing.bundle(attribute) or {os.path.basename(path): contents(path)}
            files.update({f"{folder}/{name}": base64.b64encode(contents).decode() for name, contents in bundle.items()})
            thing = copy.copy(thing)
            # not replace(): a class of the user's may open its file
            object.__setattr__(thing, attribute, f"{folder}/{next(iter(bundle))}")
        return thing

    def packed_group(group: Group) -> Group:
        changed = replace(group, robot=packed(group.robot))
        for role, parts in group.carried.items():
            changed = changed.carrying(role, tuple(map(packed, parts)))
        return changed

    return replace(world, things=tuple(map(packed, world.things)), settings=tuple(map(packed, world.settings)),
                   fitness=tuple(map(packed, world.fitness)), groups=tuple(map(packed_group, world.groups)),
                   search=None if world.search is None else packed(world.search),
                   page=tuple(each for each in world.page if not any(named_files([each])))), files  # without scripts


def contents(path: str) -> bytes:
    """Of a file that a world names."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as wrong:
        raise RecordingError(f"{path}: the world names it, but it cannot be read for the recording "
                             f"({reason(wrong)}).") from wrong
    if len(data) > LARGEST_FILE:
        raise RecordingError(f"{path}: larger than {LARGEST_FILE >> 20} MB; a recording does not take it.")
    return data
