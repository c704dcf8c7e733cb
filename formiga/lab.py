"""The public Python face: read a world, run it, read what was recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from formiga import batch, control, evolve, runs
from formiga.control.neural import Network
from formiga.control.remote import attach
from formiga.errors import RecordingError, reason
from formiga.loop import Simulation
from formiga.measures import Measure
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording, read_table
from formiga.record.stored import RECORDING, Stored, stored_for_now
from formiga.record.tables import DRAWINGS, Tables, asked
from formiga.rollout import genes
from formiga.runs import Awaited, Paced, Progress, Run, Together, Watch
from formiga.score import plan
from formiga.view.picture import Picture
from formiga.world import writer
from formiga.world.document import Document
from formiga.world.model import World
from formiga.world.own import load_elements, own_line, own_mistakes
from formiga.world.shipped import Given, known_worlds, named_world, shipped_worlds, world_file, world_of
from formiga.world.variants import Params


# -- worlds -----------------------------------------------------------------------------------------------------------
def read_world(path_or_name: str | os.PathLike[str], /, **parameters: str | float) -> World:
    """The world in a file, or that of a name: a shipped one or a study's; `parameters` replace its `<param>` values."""
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
def simulate(world: Given | Document, seconds: float | None = None, seed: int = 0, worlds: int | None = None,
             engine: str | None = None, *, params: Params | None = None, threads: int | None = None,
             out: str | os.PathLike[str] | None = None, every: int = 1, record: Sequence[str | Measure] | None = None,
             picture: str | os.PathLike[str] | None = None,
             watch: Watch | Callable[[float], object] | None = None) -> Run:
    """Run `worlds` copies of a world; with `out`, record every `every`th step into out/run.parquet, and what `record` names
    (joints, readings, beliefs, messages, orders, events, metrics, drawings) into files beside it; with `picture`, draw the
    first world at the end, with the robots' trails, into that file.

    params: name of a <param> of the file -> one value, or an array or a list of one for each world. Then the worlds differ, and
    each has the bits that it has alone; worlds=None: as many as there are values, else 1. What must be the same in all worlds
    of a batch, such as the number of robots, is refused.
    record: 'metrics' are all measures that are known, 'metrics:NAME' one of them; a function of a simulation that returns a
    number for each world is a measure, too. With `record`, also an empty one, and without `out` the tables are kept as long as
    the run that is returned: `run.table("readings")`, `run.frame()`.
    watch: a function that is told the share that is done after every block of steps, and ends the run by returning something
    true; or a `Watch`, which can also order robots from outside in every step.
    Ctrl-C while recording into a folder keeps what was done. A world whose motion explodes ends there, `run.log.exploded` says
    when and where, and the recording is kept, with the ending 'failed'.
    """
    world, worlds, varied = batch.described(world, params, worlds)
    batch.refuse_too_many(worlds * world.robots, world)
    drawing = Picture(world, picture) if picture is not None else None
    wanted = asked(record or ())
    with ExitStack() as stack:
        recorder = more = stored = None
        if out is not None:
            stored = Stored(stack.enter_context(folder_for(out)) / RECORDING)
        elif record is not None:
            stored = stored_for_now()
        if stored is not None:
            recorder = Recorder(stored.path, world, seed, worlds, engine, every, drawings=DRAWINGS in wanted.names,
                                varied=varied)
            further = wanted._replace(names=tuple(name for name in wanted.names if name != DRAWINGS))
            if further.names:  # drawings are the recorder's own
                more = stack.enter_context(Tables(stored.path, further, every, recorder))
            stack.enter_context(recorder)
        listeners = [each for each in (recorder, more, drawing) if each is not None]
        run = runs.simulate(world, seconds, seed, worlds, engine, threads=threads, record=_tell(listeners), varied=varied,
                            watch=watch)
        if recorder is not None:
            recorder.ending = "failed" if run.log.exploded else "interrupted" if run.interrupted else "complete"
            run.stored, run.recording = stored, recorder.path if out is not None else None
    if drawing is not None:
        drawing.save()
    return run


def _tell(listeners: Sequence[runs.Recorder]) -> runs.Recorder | None:
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


__all__ = ["RECORDING", "Awaited", "Given", "Paced", "Progress", "Run", "Simulation", "Together", "Watch", "World", "attach",
           "check_world", "known_worlds", "load_elements", "named_world", "own_line", "own_mistakes", "read_document",
           "read_recording", "read_table", "read_world", "shipped_worlds", "simulate", "write_world"]
