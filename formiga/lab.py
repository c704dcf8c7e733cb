"""The public Python face: read a world, run it, read what was recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import resources
from pathlib import Path

import numpy as np

from formiga import control, evolve, loop  # noqa: F401  they register their elements, which the reader then knows
from formiga.control.neural import Network
from formiga.errors import RecordingError, WorldError, suggest
from formiga.loop import Run, Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.rollout import genes
from formiga.score import plan
from formiga.view.picture import Picture
from formiga.world import reader, writer
from formiga.world.model import World
from formiga.world.own import load_elements, own_line

RECORDING = "run.parquet"  # in the folder `out`


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
    thinkers = [group for group in world.groups if isinstance(group.controller, Network)]
    blank = {group.name: np.zeros(genes(world, group)) for group in thinkers if group.controller.genotype is None}
    lab = Simulation(world, engine=engine, genotypes=blank)  # a network that waits for its genes is no mistake
    control.decide_all(world, lab.state, lab.readings)
    for group in thinkers or world.groups[:1]:
        plan(world, group)


# -- runs -------------------------------------------------------------------------------------------------------------
def simulate(world: World | str | os.PathLike[str], seconds: float | None = None, seed: int = 0, worlds: int = 1,
             engine: str | None = None, *, threads: int | None = None, out: str | os.PathLike[str] | None = None,
             every: int = 1, picture: str | os.PathLike[str] | None = None, progress: Callable[[float], None] | None = None,
             stop: Callable[[], bool] = lambda: False) -> Run:
    """Run `worlds` copies of a world; with `out`, record every `every`th step into out/run.parquet; with `picture`, draw
    the first world at the end, with everybody's trail, into that file.

    `progress` is told the share that is done; `stop` is asked, after every block of steps, whether to end early.
    Ctrl-C while recording keeps what was done. A world whose motion explodes ends there, `run.log.exploded` says when and
    where, and the recording is kept, with the ending 'failed'.
    """
    if not isinstance(world, World):
        world = read_world(world)
    loop.refuse_too_many(worlds * world.robots)
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
            record.ending = "failed" if run.log.exploded else "interrupted" if run.interrupted else "complete"
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


__all__ = ["check_world", "load_elements", "own_line", "read_recording", "read_world", "shipped_worlds", "simulate",
           "write_world"]
