"""The public Python face: read a world, run it, read what was recorded."""

from __future__ import annotations

import os
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import resources
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from formiga import control, evolve, loop  # noqa: F401  they register their elements, which the reader then knows
from formiga.errors import FormigaError, RecordingError, WorldError, suggest
from formiga.loop import Run, Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.view.picture import Picture
from formiga.world import reader, writer
from formiga.world.model import World

BYTES_PER_ROBOT = 300      # of state and working memory, at the very least
RECORDING = "run.parquet"  # in the folder `out`
_own_files: set[str] = set()


# -- worlds -----------------------------------------------------------------------------------------------------------
def read_world(path_or_name: str | os.PathLike[str], /, **parameters: str | float) -> World:
    """The world in a file, or the shipped world of that name; `parameters` replace its `<param>` values."""
    given = os.fspath(path_or_name)
    if os.path.isfile(given) or given.endswith(".xml") or os.sep in given:
        return reader.read(given, parameters)
    shipped = shipped_worlds()
    if given in shipped:
        return reader.read(shipped[given], parameters)
    if os.path.exists(given):
        return reader.read(given, parameters)  # a folder, for one; the reader says so
    raise WorldError(f"there is no world '{given}'.{suggest(given, shipped)} Shipped worlds: {', '.join(shipped)}. "
                     "A file of your own is given by its path, such as mine.xml.")


def shipped_worlds() -> dict[str, Path]:
    """The worlds that come with formiga: name -> file."""
    folder = Path(str(resources.files("formiga") / "worlds"))
    return {file.stem: file for file in sorted(folder.glob("*.xml"))}


def write_world(world: World, path: str | os.PathLike[str]) -> None:
    """Write a world into an XML file, all of it or nothing."""
    writer.write(world, path)


def check_world(world: World, engine: str | None = None) -> None:
    """Build it, place the robots, read every sensor and let every controller decide once; WorldError if that fails."""
    lab = Simulation(world, engine=engine)
    control.decide_all(world, lab.state, lab.readings)


# -- runs -------------------------------------------------------------------------------------------------------------
def simulate(world: World | str | os.PathLike[str], seconds: float | None = None, seed: int = 0, worlds: int = 1,
             engine: str | None = None, *, threads: int | None = None, out: str | os.PathLike[str] | None = None,
             every: int = 1, picture: str | os.PathLike[str] | None = None, progress: Callable[[float], None] | None = None,
             stop: Callable[[], bool] = lambda: False) -> Run:
    """Run `worlds` copies of a world; with `out`, record every `every`th step into out/run.parquet; with `picture`, draw
    the first world at the end, with everybody's trail, into that file.

    `progress` is told the share that is done; `stop` is asked, after every block of steps, whether to end early.
    Ctrl-C while recording keeps what was done.
    """
    if not isinstance(world, World):
        world = read_world(world)
    _refuse_too_many(worlds * world.robots)
    if worlds < 1:
        raise WorldError(f"{worlds} worlds cannot run; there must be at least 1.")
    drawing = Picture(world, picture) if picture is not None else None
    with ExitStack() as stack:
        record = None
        if out is not None:
            folder = stack.enter_context(folder_for(out))
            record = stack.enter_context(Recorder(folder / RECORDING, world, seed, worlds, engine, every))
        listeners = [each for each in (record, drawing) if each is not None]
        run = loop.simulate(world, seconds, seed, worlds, engine, threads=threads, record=_tell(listeners),
                            progress=progress, stop=stop)
        if record is not None:
            record.ending = "interrupted" if run.interrupted else "complete"
            run.recording = record.path
    if drawing is not None:
        drawing.save()
    return run


def _tell(listeners: Sequence[loop.Recorder]) -> loop.Recorder | None:
    """One recorder that tells all of them; None if there are none, so that the loop need not stop for anybody."""
    def record(shards: list[Simulation]) -> None:
        for listener in listeners:
            listener(shards)

    return record if listeners else None


def _refuse_too_many(robots: int) -> None:
    least, memory = robots * BYTES_PER_ROBOT, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if least > memory:
        raise WorldError(f"{robots} robots in all worlds need at least {least / 2**30:.0f} GB of memory; this machine has "
                         f"{memory / 2**30:.0f} GB. Try fewer worlds.")


@contextmanager
def folder_for(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder for results, made if need be. After an error, folders that we made and that stayed empty go again."""
    folder = Path(path)
    try:
        made = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as wrong:
        raise RecordingError(f"{folder}: is a file; results need a folder.") from wrong
    except (OSError, ValueError) as wrong:
        raise RecordingError(f"{folder}: cannot be made ({getattr(wrong, 'strerror', None) or wrong}).") from wrong
    try:
        yield folder
    except BaseException:
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


# -- a user's own elements --------------------------------------------------------------------------------------------
def load_elements(file: str | os.PathLike[str]) -> None:
    """Run a Python file of the user's own, whose `@element`s world files may then name. No world file can do this."""
    path = os.path.abspath(file)
    if os.path.isdir(path):
        raise FormigaError(f"{file}: is a directory; elements are in a Python file.")
    if not os.path.exists(path):
        raise FormigaError(f"{file}: no such file.")
    name = f"formiga_own_{Path(path).stem}_{zlib.crc32(path.encode()):08x}"  # two files of one name stay apart
    spec = spec_from_loader(name, SourceFileLoader(name, path))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look up the names of types
    _own_files.add(path)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as wrong:
        del sys.modules[name]
        raise FormigaError(own_line(wrong, os.fspath(file)) or f"{file}: {_words(wrong)}") from wrong


def own_line(error: BaseException, shown: str | None = None) -> str | None:
    """'mine.py:12: ZeroDivisionError: division by zero', if the error came from a file of the user's own."""
    if isinstance(error, SyntaxError) and error.filename in _own_files:
        return f"{shown or error.filename}:{error.lineno or 1}: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in _own_files]
    return f"{shown or frames[-1].filename}:{frames[-1].lineno or 1}: {_words(error)}" if frames else None


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, FormigaError) else f"{type(error).__name__}: {text}".rstrip(": ")


__all__ = ["check_world", "load_elements", "read_recording", "read_world", "shipped_worlds", "simulate", "write_world"]
