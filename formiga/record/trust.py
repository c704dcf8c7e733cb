"""What a file must be before we believe that it is a recording. It may come from a stranger.

Nothing in it is run unless that is asked for, nothing outside it is read, and nothing is larger than it may be. Every
complaint is one sentence.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from formiga.engine.parts import Part
from formiga.errors import RecordingError, WorldError
from formiga.record.format import (
    BYTES_PER_ROW,
    COLUMNS,
    DIFFERING,
    EMBEDDED,
    ENDINGS,
    IN_SPACE,
    KEY,
    LONGEST_WORD,
    MOST_CHANNELS,
    MOST_PARTS,
    ROWS,
    SCHEMAS,
    SPATIAL,
    WITH_MOVABLES,
    are_columns,
    bodies_of,
    elements_of,
    movables_rows,
    named_files,
    own,
    steps_recorded,
    unsealed,
)
from formiga.record.notes import notes_of
from formiga.record.variants import worlds_of
from formiga.world.elements import ROLES, Element, registered
from formiga.world.kinds import HUGE, NAME
from formiga.world.model import World
from formiga.world.own import MAIN, Source, run_source
from formiga.world.placeholder import placeholder
from formiga.world.reader import read_text
from formiga.world.variants import Varied

LARGEST_META = 64 << 20                # bytes
MOST_OWN, MOST_ATTRIBUTES, LONGEST_NAME = 1_000, 1_000, 255
RECORDED_MAIN = "formiga_recorded_main"  # the module that a script becomes when a recording brings it along
HOW_TO_LOAD = ("load your own file first (--with, load_elements), or run the code that is in the recording, if you trust it "
               "(--run-code, run_code=True)")
MOST_STEPS_WITHOUT_ROWS = 10_000_000   # of a world that has no robots,
MOST_WORLDS_WITHOUT_ROWS = 1_000_000   # and how many of it
BAD_PARQUET = (OSError, pa.ArrowException, ValueError, OverflowError, MemoryError)
_unpacked: list[TemporaryDirectory[str]] = []  # files of worlds that were read; they go when Python ends


def open_parquet(file: Path) -> pq.ParquetFile:
    """The file, if its columns are ours and its row groups fit into memory one at a time."""
    try:
        if file.is_dir():
            raise RecordingError(f"{file}: is a folder; a recording is one file, such as {file / 'run.parquet'}.")
        if not file.exists():
            raise RecordingError(f"{file}: no such file.")
        if not file.is_file():
            raise RecordingError(f"{file}: not a file.")
        parquet = pq.ParquetFile(file, page_checksum_verification=True)
        groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
        columns = parquet.schema_arrow
    except PermissionError as wrong:
        raise RecordingError(f"{file}: cannot be read ({wrong.strerror or wrong}).") from wrong
    except BAD_PARQUET as wrong:
        raise RecordingError(f"{file}: not a recording, or cut short: not a whole Parquet file.") from wrong
    if KEY not in (parquet.metadata.metadata or {}):
        raise RecordingError(f"{file}: a Parquet file, but not a recording of formiga.")
    if missing := [name for name in COLUMNS.names if name not in (*columns.names, "group")]:
        raise RecordingError(f"{file}: not a whole recording; it has no column '{missing[0]}'.")
    if not any(are_columns(columns, each) for each in SCHEMAS):
        raise RecordingError(f"{file}: its columns are not those of a recording: {', '.join(COLUMNS.names)}.")
    if sum(group.num_rows for group in groups) != parquet.metadata.num_rows:
        raise RecordingError(f"{file}: damaged; its row groups do not have the rows that it claims.")
    largest = 4 * ROWS * (max(BYTES_PER_ROW.values()) + 8 * MOST_CHANNELS)
    if any(not 0 <= group.num_rows <= ROWS or group.total_byte_size > largest for group in groups):
        raise RecordingError(f"{file}: a row group has more than {ROWS} rows; formiga did not write that.")
    return parquet


def read_meta(file: Path, parquet: pq.ParquetFile) -> dict[str, Any]:
    """What the file says about the run, each part of the right type and in range."""
    meta = parse_meta(parquet.metadata.metadata[KEY])
    if meta is None:
        raise RecordingError(f"{file}: what it says about the run cannot be read; it is damaged.")
    known = meta.get("format")
    if type(known) is not int or known not in SCHEMAS:
        raise RecordingError(f"{file}: a recording of format {str(known)[:20]}, written by formiga "
                             f"{_written_by(meta)}; this one reads formats {min(SCHEMAS)} to {max(SCHEMAS)}.")
    if not are_columns(parquet.schema_arrow, known):
        raise RecordingError(f"{file}: damaged; a recording of format {meta['format']} has other columns.")
    rules: dict[str, Any] = {
        "world": lambda value: isinstance(value, str), "engine": lambda value: isinstance(value, str),
        "files": lambda value: isinstance(value, dict), "seed": whole_number(0, 2**63 - 1),
        "worlds": whole_number(1, 2**31 - 1),
        "every": whole_number(1, 2**63 - 1), "last_step": whole_number(0, 2**31 - 1), "ending": lambda value: value in ENDINGS,
    }
    for name, fits in rules.items():
        if name not in meta or not fits(meta[name]):
            raise RecordingError(f"{file}: damaged; it does not say '{name}' of the run.")
    if type(meta.setdefault("touched", False)) is not bool:  # older recordings do not have it
        raise RecordingError(f"{file}: damaged; it does not say whether the run was 'touched'.")
    if not (_are_own(meta.setdefault("own", [])) and _is_code(meta.setdefault("code", []))):
        raise RecordingError(f"{file}: damaged; what it says about elements of the user's own makes no sense.")
    if notes_of(meta.setdefault("notes", []), meta["last_step"]) is None:
        raise RecordingError(f"{file}: damaged; the notes of its supervisor make no sense.")
    return meta


def _are_own(own: Any) -> bool:
    """Whether a value is a list of what `placeholder.about` tells, with `module` and `loose`."""
    def fits(each: Any) -> bool:
        return (isinstance(each, dict) and all(_is_word(each.get(key)) for key in ("tag", "called", "module"))
                and re.fullmatch(NAME, each["tag"]) is not None and re.fullmatch(NAME, each["called"]) is not None
                and each.get("role") in ROLES and isinstance(each.get("loose"), bool)
                and isinstance(each.get("attributes"), list) and len(each["attributes"]) <= MOST_ATTRIBUTES
                and all(map(_is_word, each["attributes"])) and isinstance(each.get("facts"), dict)
                and all(type(value) in (int, float) and 0.0 <= value <= HUGE for value in each["facts"].values()))

    return isinstance(own, list) and len(own) <= MOST_OWN and all(map(fits, own))


def _is_code(code: Any) -> bool:
    """Whether a value is a list of modules: their names, files and texts."""
    return isinstance(code, list) and len(code) <= MOST_OWN and all(
        isinstance(each, dict) and _is_word(each.get("module")) and _is_word(each.get("file"))
        and "/" not in each["file"] and isinstance(each.get("text"), str) for each in code)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


def parse_meta(text: bytes) -> dict[str, Any] | None:
    """The JSON object that the text is, or None if it is none, or not as it was written."""
    try:
        meta = json.loads(text) if len(text) <= LARGEST_META else None
        return unsealed(meta) if isinstance(meta, dict) else None
    except (ValueError, RecursionError):
        return None


def whole_number(least: int, most: int) -> Any:
    """Whether a value is a whole number in that range."""
    return lambda value: type(value) is int and least <= value <= most


def _written_by(meta: dict[str, Any]) -> str:
    versions = meta.get("versions")
    return str(versions.get("formiga"))[:20] if isinstance(versions, dict) else "of an unknown version"


def missing_elements(file: Path, meta: dict[str, Any]) -> dict[str, Element]:
    """By tag, what stands for each own element of the recording whose code is not loaded here."""
    known = registered()
    missing = [each for each in meta["own"] if each["tag"] not in known]
    if needed := [each["tag"] for each in missing if each["loose"]]:
        raise RecordingError(f"{file}: <{needed[0]}> is a thing of its own that can be pushed, which cannot be read without "
                             f"its code; {HOW_TO_LOAD}.")
    return {each["tag"]: placeholder(each["tag"], each["role"], each["attributes"], each["called"], each["facts"])
            for each in missing}


def run_code(file: Path, meta: dict[str, Any]) -> None:
    """Run the code that the recording brought along, for elements that are not registered yet."""
    known = registered()
    wanted = [each["tag"] for each in meta["own"] if each["tag"] not in known]
    if not wanted:
        return
    for each in meta["code"]:
        module = RECORDED_MAIN if each["module"] == MAIN else each["module"]
        if module not in sys.modules:
            run_source(Source(module, f"{file}/{each['file']}", each["text"]))
    if lost := [tag for tag in wanted if tag not in registered()]:
        raise RecordingError(f"{file}: its code does not give <{lost[0]}>.")


def read_world(file: Path, meta: dict[str, Any], unknown: Mapping[str, Element] | None = None) -> World:
    """The recorded world. Its files are those in the recording: it can name no others, and include none.

    unknown: by tag, what stands for elements that are not registered.
    """
    if "<include" in meta["world"]:  # in XML, '<' never stands in an attribute
        raise RecordingError(f"{file}: its world includes other files; formiga did not write that.")
    folder = _unpack(file, meta["files"])
    beside = os.path.join(folder, "world.xml") if folder else str(file)
    try:
        world = read_text(meta["world"], beside, unknown=unknown)
        named = [path for _, _, path in named_files(elements_of(world))]
    except WorldError as wrong:
        raise RecordingError(f"{file}: its world cannot be read: {str(wrong).replace(f'{beside}:', 'line ')}") from wrong
    if "engine" in meta and (meta["engine"] == SPATIAL) != (meta["format"] == IN_SPACE):  # an evolution's file has none
        raise RecordingError(f"{file}: damaged; a run of the engine '{meta['engine'][:20]}' is not in format {meta['format']}.")
    if meta["format"] != IN_SPACE and bool(world.movables) != (meta["format"] == WITH_MOVABLES):
        raise RecordingError(f"{file}: damaged; in a recording of format {meta['format']} there is "
                             f"{'something' if meta['format'] == WITH_MOVABLES else 'nothing'} that can be pushed.")
    if strangers := [path for path in named if not folder or not path.startswith(folder + os.sep)]:
        raise RecordingError(f"{file}: its world names {strangers[0]!r}, which is not in the recording.")
    return world


def read_variants(file: Path, meta: dict[str, Any], world: World) -> Varied | None:
    """The worlds of a batch that differ, each with the elements and files that the recording says; None if they do not."""
    if meta["format"] != DIFFERING:
        return None
    paths = [path for _, _, path in named_files(elements_of(world))]
    folder = os.path.dirname(os.path.dirname(paths[0])) if paths else _unpack(file, meta["files"])
    worlds = worlds_of(meta.get("variants"), meta["worlds"], world, folder)
    if worlds is None:
        raise RecordingError(f"{file}: damaged; what it says about the worlds that differ makes no sense.")
    return Varied(worlds)


def read_parts(file: Path, meta: dict[str, Any], world: World) -> tuple[Part, ...]:
    """The bodies of a run in space: as many as there can be, each of a robot or a thing of the world; () in the plane.

    Whether they are those that the engine gives this world is found out when it is built.
    """
    if meta["format"] != IN_SPACE:
        return ()
    given, found = meta.get("parts"), []
    if not isinstance(given, list) or len(given) > MOST_PARTS:
        raise RecordingError(f"{file}: damaged; it does not say which bodies moved.")
    of_robots, of_things = whole_number(-1, world.robots - 1), whole_number(-1, len(world.things) - 1)
    for each in given:
        if not (isinstance(each, list) and len(each) == 3 and of_robots(each[0]) and of_things(each[1])
                and isinstance(each[2], str) and 0 < len(each[2]) <= LONGEST_WORD and (each[0] < 0) != (each[1] < 0)):
            raise RecordingError(f"{file}: damaged; what it says about the bodies that moved makes no sense.")
        found.append(Part(*each))
    parts = tuple(found)
    if len(set(parts)) < len(parts) or len(own(parts)) != world.robots:
        raise RecordingError(f"{file}: damaged; not every robot has one body of its own.")
    try:
        movables_rows(world, parts)
    except KeyError as missing:
        raise RecordingError(f"{file}: damaged; a thing that can be pushed has no body.") from missing
    return parts


def read_steps(file: Path, meta: dict[str, Any], rows: int, world: World, parts: tuple[Part, ...]) -> NDArray[np.int64]:
    """The steps that are recorded, if there are as many rows as they need."""
    last, every, worlds = meta["last_step"], meta["every"], meta["worlds"]
    count = last // every + 1 + (last % every > 0)
    if rows != count * worlds * bodies_of(world, parts) or count > max(rows, MOST_STEPS_WITHOUT_ROWS) \
            or worlds > max(rows, MOST_WORLDS_WITHOUT_ROWS):
        others = f" and {len(world.movables)} things that can be pushed" if world.movables else ""
        others = f" and {bodies_of(world, parts) - world.robots} other bodies" if parts else others
        raise RecordingError(f"{file}: damaged; {rows} rows do not make {count} steps of {worlds} worlds with {world.robots} "
                             f"robots{others}.")
    return steps_recorded(last, every)


def _unpack(file: Path, files: dict[str, Any]) -> str | None:
    """The recorded files in a temporary folder of ours, under names that cannot leave it."""
    if not files:
        return None
    folder = TemporaryDirectory(prefix="formiga-")
    _unpacked.append(folder)
    here = os.path.realpath(folder.name)
    for name, contents in files.items():
        if not EMBEDDED.fullmatch(name) or name.split("/")[1] in (".", "..") or not isinstance(contents, str):
            raise RecordingError(f"{file}: damaged; a file in it has the name {name[:40]!r}.")
        try:
            data = base64.b64decode(contents, validate=True)
            os.makedirs(os.path.join(here, name.split("/")[0]), exist_ok=True)
            Path(here, name).write_bytes(data)
        except (OSError, ValueError) as wrong:
            raise RecordingError(f"{file}: {name} in it cannot be unpacked ({wrong}).") from wrong
    return here
