"""The public Python face: read a world, run it, read what was recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from formiga import control, evolve, loop
from formiga.control.neural import Network
from formiga.errors import RecordingError, WorldError, reason
from formiga.loop import Run, Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.record.tables import Tables, known_names, read_table
from formiga.rollout import genes
from formiga.score import plan
from formiga.view.picture import Picture
from formiga.world import writer
from formiga.world.document import Document
from formiga.world.model import World
from formiga.world.own import load_elements, own_line, own_mistakes
from formiga.world.shipped import Given, shipped_worlds, world_file, world_of

RECORDING = "run.parquet"  # in the folder `out`


# -- worlds -----------------------------------------------------------------------------------------------------------
def read_world(path_or_name: str | os.PathLike[str], /, **parameters: str | float) -> World:
    """The world in a file, or the shipped world of that name; `parameters` replace its `<param>` values."""
    return world_of(path_or_name, **parameters)


def read_document(path_or_name: str | os.PathLike[str], /, **parameters: str | float) -> Document:
    """The same together with the text that it was read from, so that an edited world can be written back into it."""
    return Document.read(world_file(path_or_name), parameters)


def write_world(world: Given, path: str | os.PathLike[str]) -> None:
    """Write a world into an XML file, all of it or nothing."""
    writer.write(world_of(world), path)


def check_world(world: Given, engine: str | None = None) -> None:
    """Build it, place the robots, read every sensor, let every controller decide once, and draw; WorldError if that fails.

    A world that says how it is evolved, or that has a network and a <fitness>, is refused with the words of `evolve`, too.
    """
    world = world_of(world)
    thinkers = [group for group in world.groups if isinstance(group.controller, Network)]
    blank = {group.name: np.zeros(genes(world, group)) for group in thinkers if group.controller.genotype is None}
    lab = Simulation(world, engine=engine, genotypes=blank)  # a network that waits for its genes is no mistake
    control.decide_all(world, lab.state, lab.readings)
    lab.drawings()
    if world.search is not None or (thinkers and world.fitness):
        evolve.check(world if engine is None else replace(world, engine=engine))
    else:
        for group in world.groups[:1]:
            plan(world, group)


# -- runs -------------------------------------------------------------------------------------------------------------
def simulate(world: Given, seconds: float | None = None, seed: int = 0, worlds: int = 1,
             engine: str | None = None, *, threads: int | None = None, out: str | os.PathLike[str] | None = None,
             every: int = 1, tables: Sequence[str] = (), picture: str | os.PathLike[str] | None = None,
             progress: Callable[[float], None] | None = None,
             stop: Callable[[], bool] = lambda: False) -> Run:
    """Run `worlds` copies of a world; with `out`, record every `every`th step into out/run.parquet, and what `tables` names
    (joints, messages, readings, orders, events) into files beside it; with `picture`, draw the first world at the end, with the
    robots' trails, into that file.

    `progress` is told the share that is done; `stop` is asked, after every block of steps, whether to end early.
    Ctrl-C while recording keeps what was done. A world whose motion explodes ends there, `run.log.exploded` says when and
    where, and the recording is kept, with the ending 'failed'.
    """
    world = world_of(world)
    loop.refuse_too_many(worlds * world.robots, world)
    if worlds < 1:
        raise WorldError(f"{worlds} worlds cannot run; there must be at least 1.")
    drawing = Picture(world, picture) if picture is not None else None
    wanted = known_names(tables)
    with ExitStack() as stack:
        record = more = None
        if out is not None:
            folder = stack.enter_context(folder_for(out))
            record = Recorder(folder / RECORDING, world, seed, worlds, engine, every, drawings="drawings" in wanted)
            if others := [name for name in wanted if name != "drawings"]:  # drawings are the recorder's own
                more = stack.enter_context(Tables(folder / RECORDING, others, every, record))
            stack.enter_context(record)
        elif wanted:
            raise RecordingError("tables are written beside a recording: say where it goes, with `out` (--out DIR).")
        listeners = [each for each in (record, more, drawing) if each is not None]
        run = loop.simulate(world, seconds, seed, worlds, engine, threads=threads, record=_tell(listeners),
                            progress=progress, stop=stop)
        if record is not None:
            record.ending = "failed" if run.log.exploded else "interrupted" if run.interrupted else "complete"
            run.recording = record.path
    if drawing is not None:
        drawing.save()
    return run


def _tell(listeners: Sequence[loop.Recorder]) -> loop.Recorder | None:
    """One recorder that tells all of them; None if there are none, so that the loop can take steps in blocks."""
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
        raise RecordingError(f"{folder}: cannot be made ({reason(wrong)}).") from wrong
    try:
        yield folder
    except BaseException:
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


__all__ = ["Given", "Run", "Simulation", "World", "check_world", "load_elements", "own_line", "own_mistakes", "read_document",
           "read_recording", "read_table", "read_world", "shipped_worlds", "simulate", "write_world"]
