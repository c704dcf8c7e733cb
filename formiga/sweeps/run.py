"""A sweep from its first run, or from where it was left, to its table.

The table depends on the world, the grid and the conditions alone: not on jobs, on a cluster, on how the runs are shared out
over tasks, or on how often the sweep was interrupted.
"""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from formiga import measures
from formiga.errors import FormigaError, whole
from formiga.lab import folder_for
from formiga.loop import Simulation
from formiga.pool import Pool, pool
from formiga.record.format import embed, versions
from formiga.runs import steps_in
from formiga.sweeps import table as tables
from formiga.sweeps.grid import TAKEN, Grid, Point, SweepError, probes
from formiga.sweeps.journal import FILES, FORMAT, Journal, Results
from formiga.sweeps.table import Sweep
from formiga.sweeps.trial import Conditions, Done, Stopped, Task, packed, perform, runs_at_once
from formiga.world.elements import where
from formiga.world.model import World
from formiga.world.own import own_elements, own_mistakes, sources_of
from formiga.world.params import written
from formiga.world.shipped import Given, world_of
from formiga.world.writer import to_text

KIND = "sweep"
PROBES = 20             # values of each parameter whose worlds are read before the first run
TASKS = 4               # for each worker at least, if there are so many runs, so that none waits long for the slowest
CLUSTER_TASKS = 64      # where the number of workers is unknown
PAUSE = 0.1             # s, after which `progress` is told again although nothing has changed

Made = Given | Callable[..., World]


def sweep(world: Made, parameters: Mapping[str, Any] | None = None, *, seeds: int = 10, seed: int = 0,
          measure: Sequence[str] | str | None = None, seconds: float | None = None, engine: str | None = None, jobs: int = 1,
          cluster: str | None = None, out: str | os.PathLike[str] | None = None,
          progress: Callable[[int, int], object] | None = None, say: Callable[[str], None] = lambda text: None) -> Sweep:
    """Run a world at every point of a grid of parameters, so many times each, and measure every run.

    world: the name of a shipped world or a file, whose <param> elements get the values; or a function of the parameters that
    returns a World. parameters: name -> values. seeds: runs of each point; run k is world k of `simulate(world, seed=seed)`.
    measure: names of measures; default: fitness if the world has one, and contact_rate. jobs: so many tasks at a time, in
    threads where everything has kernels, else in processes; cluster: address of a Dask scheduler. out: a folder for
    sweep.parquet and sweep.png; a sweep that was interrupted there goes on, and one that is done takes further values and
    seeds. progress: told several times a second how many runs of how many are done; true ends the sweep here. say: told what
    else is worth knowing.
    """
    grid = Grid.of(parameters, seeds)
    asked = Conditions(whole("seed", seed, 0, 2**63 - 1), seconds, engine, _names(measure))
    conditions, about, threads = _prepared(world, grid, asked)
    with ExitStack() as stack:
        if out is None:
            results, journal = Results(grid, len(conditions.measures)), None
        else:
            folder = stack.enter_context(folder_for(out))
            journal = Journal(folder, about, grid, say, lambda point: _fingerprint(_made(world, point)))
            stack.callback(journal.close)
            results = journal.results
        workers = stack.enter_context(pool(jobs, cluster if results.done < grid.runs else None, threads=threads))
        take = results.take if journal is None else journal.add
        interrupted = results.done < grid.runs and _run(world, conditions, results, workers, take, progress)
        table = tables.table_of(results, about)
        if journal is not None and not interrupted:
            journal.sync()
            _keep(table, journal.folder)
    return Sweep(table, grid, conditions.measures, interrupted, None if journal is None else journal.folder)


def _keep(table: Any, folder: Path) -> None:
    """Write the table and its figure; the figure only if it is another table than before."""
    file, picture = (folder / name for name in FILES)
    if tables.write(table, file) or not picture.is_file():
        tables.draw(table, picture)


# -- what is swept ----------------------------------------------------------------------------------------------------
def _names(measure: Sequence[str] | str | None) -> tuple[str, ...]:
    """The measures that are asked for; none yet if the world decides."""
    given = measure.replace(",", " ").split() if isinstance(measure, str) else measure or ()
    if not isinstance(given, Sequence):
        raise SweepError(f"measures are given by their names, such as ['contact_rate'], not as {given!r}.")
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise SweepError(f"a measure is given by its name, not as {name!r}; a function becomes one with @formiga.measure.")
        measures.find(name)
    if twice := [name for name in names if names.count(name) > 1]:
        raise SweepError(f"the measure '{twice[0]}' is asked for twice.")
    return names


def _prepared(world: Made, grid: Grid, conditions: Conditions) -> tuple[Conditions, dict[str, Any], bool]:
    """The conditions with the measures that the world decides on, what describes the sweep, and whether threads can share the
    work: compiled steps let go of Python's lock, the readable loop does not. Mistakes are found here, before the first run, as
    far as reading a world with each value and building the first can find them."""
    if callable(world):
        _refuse_misfit(world, grid.point(0))
    read: dict[str, str] = {}
    for number, point in enumerate(probes(grid, PROBES)):
        made = _made(world, point)
        read[json.dumps([written(name, value) for name, value in point.items()])] = _fingerprint(made)
        if number == 0:
            first = made
    names = conditions.measures or (*(["fitness"] if first.fitness and first.groups else []), "contact_rate")
    if taken := next((name for name in names if name in grid.parameters), None):
        raise SweepError(f"a parameter '{taken}' cannot be swept beside the measure of that name: they are one column.")
    names = tuple(name for name in names if name not in TAKEN)     # `seconds` is always there
    conditions = Conditions(conditions.seed, conditions.seconds, conditions.engine, names)
    steps_in(first, conditions.seconds)
    if (idle := next((group for group in first.groups if group.outside and not group.controller.command), None)) is not None:
        raise SweepError(f"{where(idle.controller)}no program drives '{idle.name}', so its robots would stand in all runs. In "
                         "Python, sweep a function of the parameters that returns formiga.attach(world, group, command).")
    if "fitness" in names:
        measures.judged(first)
    with own_mistakes():
        lab = Simulation(first, conditions.seed, 1, conditions.engine)
        compiled = lab.advance(0) and not ("fitness" in names and measures.add_up(lab, 1).lacking)
    code = [source.text for source in sources_of(own_elements(), measures.own(names).values())]
    return conditions, {
        "kind": KIND, "format": FORMAT, "world": first.name, "worlds": read,
        "parameters": {name: list(values) for name, values in grid.written.items()}, "seeds": grid.seeds,
        "seed": conditions.seed, "seconds": conditions.seconds, "engine": conditions.engine, "measures": list(names),
        "code": _hash(*code) if code else None, "versions": versions(conditions.engine or first.engine)}, compiled


def _made(world: Made, point: Point) -> World:
    """The world at a point; what is wrong with it names the point."""
    try:
        with own_mistakes():
            made = world(**point) if callable(world) else world_of(world, **point)
    except FormigaError as wrong:
        raise SweepError(f"{_named(point)}{wrong}") from wrong
    if not isinstance(made, World):
        raise SweepError(f"a function that makes the worlds of a sweep must return a World, not {type(made).__name__}.")
    return made


def _refuse_misfit(function: Callable[..., World], point: Point) -> None:
    """Complain about a function that does not take the parameters of the sweep by their names."""
    try:
        takes = inspect.signature(function)
    except ValueError:  # one that is not written in Python may have none
        return
    try:
        takes.bind(**point)
    except TypeError as wrong:
        raise SweepError(f"the function that makes the worlds takes {takes}, and the sweep gives it ({', '.join(point)}) by "
                         f"name: {wrong}.") from wrong


def _named(point: Point) -> str:
    values = ", ".join(f"{name}={written(name, value)[:40]}" for name, value in point.items())
    return f"with {values}: " if point else ""


def _fingerprint(world: World) -> str:
    """Of all that a world says, with the contents of the files that it names."""
    inside, files = embed(world)
    return _hash(to_text(inside), json.dumps(files))


def _hash(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:16]


# -- the runs ---------------------------------------------------------------------------------------------------------
def _run(world: Made, conditions: Conditions, results: Results, workers: Pool, take: Callable[[Done], None],
         progress: Callable[[int, int], object] | None) -> bool:
    """The runs that are lacking; whether `progress` has ended them."""
    stopped, told, at = False, -1, 0.0

    def stop() -> bool:
        nonlocal stopped, told, at
        if progress is not None and not stopped and (told != results.done or time.monotonic() - at > PAUSE):
            stopped = bool(progress(results.done, results.grid.runs))
            told, at = results.done, time.monotonic()
        return stopped

    here = stop if workers.size == 1 else lambda: stopped        # `progress` is told by this thread alone
    do = perform if workers.elsewhere else partial(perform, stop=here)
    with suppress(Stopped), closing(workers.each(do, _tasks(world, conditions, results, workers), stop)) as all_done:
        try:
            for done in all_done:
                take(done)
            stop()
        finally:
            stopped = True                                       # other threads leave their tasks in the middle
    return results.done < results.grid.runs


def _tasks(world: Made, conditions: Conditions, results: Results, workers: Pool) -> Iterator[Task]:
    """Tasks of all runs that are lacking, one point after another; made as they are needed."""
    grid, own = results.grid, measures.own(conditions.measures)
    several = CLUSTER_TASKS if workers.size is None else 1 if workers.size == 1 else TASKS * workers.size
    share = max(1, ceil((grid.runs - results.done) / several))
    for number in range(grid.points):
        lacking = np.flatnonzero(~results.there[number])
        if not len(lacking):
            continue
        point = grid.point(number)
        made = _made(world, point)
        most = min(share, runs_at_once(made, steps_in(made, conditions.seconds)))
        given = packed(made, own, workers.elsewhere)
        for some in np.split(lacking, np.flatnonzero(np.diff(lacking) > 1) + 1):   # runs that follow each other
            for first in range(int(some[0]), int(some[-1]) + 1, most):
                count = min(most, int(some[-1]) + 1 - first)
                yield Task(number, _named(point).removesuffix(": "), first, count, given, conditions)


__all__ = ["sweep"]
