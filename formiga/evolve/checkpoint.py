"""The file from which an evolution goes on: DIR/evolution.parquet, one row for each generation and individual.

    evolution = begin("out", world, size=112, seed=7)     # or resume("out")
    while not evolution.done:
        evolution.tell(evaluate(evolution.ask()))         # ... and the file has one generation more

Neither genes nor the state of the search are in it. Both follow from the seed and the fitness that was told, so resuming
tells the recorded fitness to a new search, without a simulation, and is where the old one was: the file has the hash of
the population that must come next. No code is in it either: it may come from a stranger, and is checked like a recording.
"""

from __future__ import annotations

import json
import os
import platform
import re
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from formiga.errors import FormigaError
from formiga.evolve.search import Course, Floats, Search, check_fitness
from formiga.files import whole_file
from formiga.record.format import EMBEDDED, KEY, embed, sealed, versions
from formiga.record.trust import BAD_PARQUET, parse_meta, whole_number
from formiga.record.trust import read_world as read_recorded_world
from formiga.world.elements import of
from formiga.world.kinds import NAME
from formiga.world.model import World
from formiga.world.nodes import LARGEST_FILE
from formiga.world.writer import to_text

FILE = "evolution.parquet"
FORMAT = 1
KIND = "evolution"
COLUMNS = {"generation": pa.int32(), "individual": pa.int32(), "fitness": pa.float64()}
MOST_CELLS = 50_000_000  # of the table: 400 MB


class CheckpointError(FormigaError):
    """An evolution that cannot be written, or whose file cannot be trusted."""


class Evolution:
    """A search under way and its file, which is whole and up to date after every generation."""

    def __init__(self, file: Path, world: World, size: int, seed: int, course: Course | None = None) -> None:
        if not isinstance(world.search, Search):
            raise CheckpointError("the world has no search; it needs <genetic> or <cma_es>.")
        self.file, self.world, self.size, self.seed = file, world, size, seed
        self.search: Search = world.search
        self.columns: dict[str, list[Floats]] = {"fitness": []}  # of each generation, and further ones that were told
        self._course = course or self.search.start(size, seed)
        self._about: dict[str, Any] | None = None

    @property
    def generation(self) -> int:
        """The generation that is evaluated now: as many have been told."""
        return self._course.generation

    @property
    def done(self) -> bool:
        """Whether all generations have been told."""
        return self.generation >= self.search.generations

    def ask(self) -> Floats:
        """The population to be evaluated now, (population, size)."""
        return self._course.ask()

    def tell(self, fitness: Any, **further: Any) -> None:
        """The fitness (population,) of the genotypes asked and further columns, the same in every generation; writes."""
        if self.done:
            raise CheckpointError(f"{self.file}: all {self.search.generations} generations are done; resume with more.")
        told = {name: check_fitness(values, self.search.population, self.generation, name)
                for name, values in {"fitness": fitness, **further}.items()}
        if self.generation == 0:
            self.columns = {name: [] for name in told}
            self._refuse_too_large()
        if set(told) != set(self.columns):
            raise CheckpointError(f"{self.file}: generation {self.generation} brings the columns {', '.join(told)}, but those "
                                  f"before it have {', '.join(self.columns)}.")
        self._course.tell(told["fitness"])
        for name, values in told.items():
            self.columns[name].append(values)
        self.write()

    def table(self, name: str = "fitness") -> Floats:
        """A column as (generations, population)."""
        return np.array(self.columns[name], np.float64).reshape(-1, self.search.population)

    def genes(self, generation: int, individual: int) -> Floats:
        """The genotype (size,) of any individual of any generation, by asking and telling again until then."""
        if not (0 <= generation <= self.generation and 0 <= individual < self.search.population):
            raise CheckpointError(f"{self.file}: has no individual {individual} in generation {generation}; there are "
                                  f"{self.search.population} in each of {self.generation + 1}.")
        return replay(self.search, self.size, self.seed, self.columns["fitness"][:generation]).ask()[individual]

    def best(self) -> tuple[int, int, float]:
        """(generation, individual, fitness) of the best so far; the first of several."""
        if not self.generation:
            raise CheckpointError(f"{self.file}: no genotype has been evaluated yet.")
        fitness = self.table()
        at = int(fitness.argmax())
        return at // self.search.population, at % self.search.population, float(fitness.flat[at])

    # -- writing ------------------------------------------------------------------------------------------------------
    def write(self) -> None:
        """Write the file, all of it or nothing."""
        count, size = self.generation, self.search.population
        fields = [pa.field(name, COLUMNS.get(name, pa.float64()), nullable=False)
                  for name in ("generation", "individual", *self.columns)]
        arrays = [np.repeat(np.arange(count, dtype=np.int32), size), np.tile(np.arange(size, dtype=np.int32), count),
                  *(self.table(name).reshape(-1) for name in self.columns)]
        about = sealed({**self.about(), "generations": count, "population_check": fingerprint(self._course.ask())})
        table = pa.table(arrays, schema=pa.schema(fields, metadata={KEY: about}))
        with whole_file(self.file, CheckpointError) as beside, open(beside, "wb") as stream:
            pq.write_table(table, stream, compression="zstd", write_page_checksum=True)
            stream.flush()
            os.fsync(stream.fileno())

    def about(self) -> dict[str, Any]:
        """All about the evolution that does not change."""
        if self._about is None:
            packed, files = embed(self.world)
            text = to_text(packed)
            if len(text.encode()) > LARGEST_FILE:
                raise CheckpointError(f"the world is larger than {LARGEST_FILE >> 20} MB as XML; it could not be read back.")
            self._about = {
                "format": FORMAT, "kind": KIND, "world": text, "files": files, "seed": self.seed, "size": self.size,
                "search": described(self.search), "versions": ours(),
                "platform": platform.platform(),
            }
        return self._about

    def _refuse_too_large(self) -> None:
        if (cells := self.search.generations * self.search.population * (len(self.columns) + 2)) > MOST_CELLS:
            raise CheckpointError(f"{self.search.generations} generations of {self.search.population} make a table of "
                                  f"{cells} numbers; it may have {MOST_CELLS}. Lower 'generations' or 'population'.")
        for name in self.columns:
            if name in ("generation", "individual") or not re.fullmatch(NAME, name):
                raise CheckpointError(f"'{name}' cannot be a column of an evolution; choose another name.")


def begin(folder: str | os.PathLike[str], world: World, size: int, seed: int = 0) -> Evolution:
    """A new evolution of a world that has a search, with `size` genes. The file is written at once, still empty."""
    file = _file(folder)
    if os.path.lexists(file):
        raise CheckpointError(f"{file}: there is an evolution already; resume it, or choose another folder.")
    evolution = Evolution(file, world, size, seed)
    evolution._refuse_too_large()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise CheckpointError(f"{file.parent}: cannot be made ({wrong.strerror or wrong}).") from wrong
    evolution.write()
    return evolution


def resume(folder: str | os.PathLike[str], generations: int | None = None) -> Evolution:
    """The evolution in a folder, where it was left; with a new end, if `generations` says so."""
    file = _file(folder)
    meta, columns = _read(file)
    try:
        world = read_recorded_world(file, meta)
        if not isinstance(world.search, Search) or meta["search"] != described(world.search):
            raise CheckpointError(f"{file}: damaged; its search is not that of its world.")
        population = world.search.population
        tables = _check_rows(file, columns, meta["generations"], population)
        course = replay(world.search, meta["size"], meta["seed"], list(tables["fitness"]))
        if fingerprint(course.ask()) != meta["population_check"]:
            reason = "damaged" if meta.get("versions") == ours() and meta.get("platform") == platform.platform() else (
                f"made by another version or on another kind of machine ({_other(meta)})")
            raise CheckpointError(f"{file}: {reason}: telling its fitness again gives other genes, so it cannot go on here.")
        if generations is not None:
            world = replace(world, search=replace(world.search, generations=generations))
        evolution = Evolution(file, world, meta["size"], meta["seed"], course)
    except CheckpointError:
        raise
    except FormigaError as wrong:  # from a world, a search or an unpacked file; some name the file already
        raise CheckpointError(f"{file}: {str(wrong).removeprefix(f'{file}: ')}") from wrong
    evolution.columns = {name: list(values) for name, values in tables.items()}
    evolution._refuse_too_large()
    return evolution


def replay(search: Search, size: int, seed: int, told: list[Floats]) -> Course:
    """The course of a search after it was told these fitnesses."""
    course = search.start(size, seed)
    for fitness in told:
        course.tell(fitness)
    return course


def described(search: Search) -> dict[str, Any]:
    """The tag and the attributes of a search, as JSON has them."""
    return json.loads(json.dumps({"element": of(search).tag, **asdict(search)}))


def fingerprint(population: Floats) -> str:
    """A hash of the genes, rounded so that the last bits of another processor do not count."""
    rounded = np.round(population, 9) + 0.0  # -0 and 0 are the same gene
    return sha256(np.ascontiguousarray(rounded, "<f8").tobytes()).hexdigest()


def ours() -> dict[str, str]:
    """The versions on which the genes depend."""
    found = versions()
    with suppress(PackageNotFoundError):
        found["cmaes"] = version("cmaes")
    return found


# -- reading: nothing in the file is believed before it is checked ----------------------------------------------------
def _file(folder: str | os.PathLike[str]) -> Path:
    if "\0" in os.fspath(folder):
        raise CheckpointError(f"{os.fspath(folder)!r}: cannot be the name of a folder.")
    path = Path(folder)
    return path if path.name == FILE else path / FILE


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the file says about the evolution, and its columns as arrays."""
    try:
        if not file.exists():
            raise CheckpointError(f"{file}: no such file; there is no evolution to resume.")
        if not file.is_file():
            raise CheckpointError(f"{file}: not a file.")
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            meta = _read_meta(file, parquet)
            _check_columns(file, parquet, meta)
            table = parquet.read()
            columns = {name: table.column(name).to_numpy() for name in table.column_names}
    except PermissionError as wrong:
        raise CheckpointError(f"{file}: cannot be read ({wrong.strerror or wrong}).") from wrong
    except BAD_PARQUET as wrong:
        raise CheckpointError(f"{file}: not an evolution, or cut short: not a whole Parquet file.") from wrong
    return meta, columns


def _read_meta(file: Path, parquet: pq.ParquetFile) -> dict[str, Any]:
    text = (parquet.metadata.metadata or {}).get(KEY)
    if text is None:
        raise CheckpointError(f"{file}: a Parquet file, but not an evolution of formiga.")
    meta = parse_meta(text)
    if meta is None:
        raise CheckpointError(f"{file}: what it says about the evolution cannot be read; it is damaged.")
    if meta.get("kind") != KIND:
        raise CheckpointError(f"{file}: a file of formiga, but not an evolution.")
    if type(meta.get("format")) is not int or meta["format"] != FORMAT:
        raise CheckpointError(f"{file}: an evolution of format {str(meta.get('format'))[:20]} ({_other(meta)}); this "
                              f"formiga reads format {FORMAT}.")
    rules: dict[str, Any] = {
        "world": lambda value: isinstance(value, str),
        "files": lambda value: isinstance(value, dict) and all(EMBEDDED.fullmatch(name) for name in value),
        "search": lambda value: isinstance(value, dict), "seed": whole_number(0, 2**63 - 1), "size": whole_number(1, 2**31 - 1),
        "generations": whole_number(0, 2**31 - 1), "population_check": lambda value: isinstance(value, str),
    }
    for name, fits in rules.items():
        if name not in meta or not fits(meta[name]):
            raise CheckpointError(f"{file}: damaged; it does not say '{name}' of the evolution.")
    return meta


def _check_columns(file: Path, parquet: pq.ParquetFile, meta: dict[str, Any]) -> None:
    """The right columns, and not so many rows that they could fill the memory."""
    columns, rows = parquet.schema_arrow, parquet.metadata.num_rows
    if len(set(columns.names)) != len(columns.names) or columns.names[:len(COLUMNS)] != list(COLUMNS):
        raise CheckpointError(f"{file}: its columns are not those of an evolution: {', '.join(COLUMNS)} ...")
    for field in columns:
        if field.type != COLUMNS.get(field.name, pa.float64()) or field.nullable or not re.fullmatch(NAME, field.name):
            raise CheckpointError(f"{file}: its column {field.name[:40]!r} is not one of an evolution.")
    if rows < 0 or rows * len(columns) > MOST_CELLS:
        raise CheckpointError(f"{file}: {rows} rows are more than an evolution has.")
    groups = [parquet.metadata.row_group(number).num_rows for number in range(parquet.num_row_groups)]
    if sum(groups) != rows or any(count < 0 for count in groups):
        raise CheckpointError(f"{file}: damaged; its row groups do not have the rows that it claims.")


def _check_rows(file: Path, columns: dict[str, Any], count: int, population: int) -> dict[str, Floats]:
    """The told columns as (generations, population), if every individual of every generation is there, in order."""
    rows = len(columns["generation"])
    if rows != count * population:
        raise CheckpointError(f"{file}: damaged; {rows} rows do not make {count} generations of {population}.")
    at = np.arange(rows)
    if (columns["generation"] != at // population).any() or (columns["individual"] != at % population).any():
        raise CheckpointError(f"{file}: damaged; its rows are not in the order of generations and individuals.")
    told = {name: np.array(values).reshape(count, population) for name, values in columns.items()
            if name not in ("generation", "individual")}
    for name, values in told.items():
        if not np.isfinite(values).all():
            raise CheckpointError(f"{file}: damaged; its column '{name}' has a value that is not a finite number.")
    return told


def _other(meta: dict[str, Any]) -> str:
    """What wrote the file, as far as it differs from what reads it."""
    theirs = meta.get("versions")
    if not isinstance(theirs, dict):
        return "of an unknown version"
    differ = [f"{name} {str(theirs.get(name, 'none'))[:20]}, here {mine}" for name, mine in ours().items()
              if theirs.get(name) != mine]
    return "; ".join(differ) or f"formiga {str(theirs.get('formiga'))[:20]}"
