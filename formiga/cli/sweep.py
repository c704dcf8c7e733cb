"""formiga sweep: a grid of parameters and seeds into one table, and on where it was left."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from math import floor, isnan, log10
from typing import TYPE_CHECKING, Any

import click

from formiga.cli import options
from formiga.cli.progress import Shown, Signals, bar_with

if TYPE_CHECKING:
    from formiga.plot.intervals import Interval
    from formiga.sweeps import Sweep

MOST_ROWS = 24      # of points that the summary shows
HELP = "help"       # instead of names of measures


@dataclass(frozen=True)
class Asked:
    """The options of a sweep."""

    given: tuple[str, ...]
    seeds: int
    seed: int
    measure: str
    seconds: float | None
    engine: str | None
    jobs: int | None
    cluster: str | None
    out: str | None


@click.command("sweep")
@click.argument("world", required=False)
@click.option("--set", "given", metavar="NAME=VALUES", multiple=True,
              help="Values of a <param> of the world: a list, robots=10,20,30, or a range with its step, loss=0:1:0.1. Several "
                   "--set: all combinations.")
@click.option("--seeds", type=int, default=10, show_default=True, metavar="N", help="Runs of each combination.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N",
              help="The same seed gives the same table.")
@click.option("--measure", default="", metavar="NAMES",
              help="What is measured of each run, with commas between; `--measure help` lists what there is. Default: fitness "
                   "if the world has one, and contact_rate.")
@click.option("--seconds", type=float, metavar="S", help="To simulate; default: as the world says.")
@options.engine
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="At a time on this machine; default: all cores.")
@click.option("--cluster", metavar="A", help="Address of a Dask scheduler, such as tcp://127.0.0.1:8786, that does it instead.")
@click.option("--out", metavar="DIR", help="Folder for everything; default: WORLD-sweep. A sweep that is there goes on.")
@options.own_elements
@click.option("--quiet", is_flag=True, help="Prints complaints only.")
@options.gather(asked=Asked)
def command(world: str | None, asked: Asked, own: tuple[str, ...], quiet: bool) -> int:
    """Run a world over a grid of parameters and seeds, into one table.

    WORLD is a file or the name of a shipped world. The folder gets sweep.parquet, a row for each run with its parameters, its
    seed and its measures, and sweep.png, each measure over the first parameter with 95 % intervals over the runs.

    The same command again goes on where the sweep was left, however it ended; with more values or more seeds it adds them.
    Ctrl-C keeps all runs that are done. The table does not depend on --jobs, on a cluster, or on interruptions.
    """
    from formiga import sweeps

    options.load(own)
    if asked.measure.strip() == HELP:
        click.echo(listed())
        return 0
    if world is None:
        raise click.UsageError("Name a WORLD, a file or one of `formiga list worlds`.")
    folder = asked.out or f"{os.path.splitext(os.path.basename(world))[0] or 'world'}-sweep"
    with ExitStack() as stack:
        signals = stack.enter_context(Signals("without the runs under way", compiling=True))
        bar = stack.enter_context(Bar(quiet, signals))
        try:
            swept = sweeps.sweep(world, sweeps.read_settings(asked.given), seeds=asked.seeds, seed=asked.seed,
                                 measure=asked.measure, seconds=asked.seconds, engine=asked.engine,
                                 jobs=asked.jobs or os.cpu_count() or 1, cluster=asked.cluster, out=folder, progress=bar,
                                 say=lambda text: bar.say(f"formiga: {text}"))
        except KeyboardInterrupt:
            if not bar.total:
                raise
            swept = None
    if swept is None or swept.interrupted:
        done = bar.done if swept is None else len(swept.table)
        click.echo(f"formiga: interrupted; {done:,} of {bar.total:,} runs are done and kept in {folder}; the same command goes "
                   "on from there", err=True)
        return signals.code
    if not quiet:
        click.echo(words(swept))
    return 0


def listed() -> str:
    """All measures, with what they say about themselves."""
    from formiga.measures import described

    known = described()
    width = max(map(len, known)) + 2
    return "\n".join(f"{name:<{width}}{words}".rstrip() for name, words in known.items())


def words(swept: Sweep) -> str:
    """The mean of each measure at each point, as far as they fit; and where the table is."""
    import numpy as np

    from formiga.plot.intervals import interval

    names, grid = list(swept.grid.parameters), swept.grid
    shape = grid.points, grid.seeds
    means = [estimates(interval(swept.table[name].to_numpy().reshape(shape), axis=1)) for name in swept.measures]
    rows = [[*names, *(f"{name}" for name in swept.measures)]]
    for point in range(min(grid.points, MOST_ROWS)):
        values = [_word(value) for value in grid.point(point).values()]
        rows.append([*values, *(each[point] for each in means)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["   ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
    if grid.points > MOST_ROWS:
        lines.append(f"... and {grid.points - MOST_ROWS:,} points more")
    exploded = int(np.count_nonzero(swept.table["ended"].to_numpy(zero_copy_only=False) == "exploded"))
    if exploded:
        lines.append(f"{exploded:,} runs ended because their motion exploded; see the column 'ended'")
    what = "means with 95 % intervals" if grid.seeds > 1 else "one run each"
    runs = f"{grid.runs:,} runs, {grid.points:,} points x {grid.seeds:,} seeds: {what}"
    return "\n".join([runs, *lines, f"table   {swept.folder}/sweep.parquet", f"figure  {swept.folder}/sweep.png"])


def estimates(found: Interval) -> list[str]:
    """'0.588 (0.453 to 0.722)' for each point; all with as many decimals as show three digits of half the widest interval."""
    import numpy as np

    half = found.high - found.mean
    widest = float(np.max(half, initial=0.0, where=np.isfinite(half)))
    form = f".{min(max(2 - floor(log10(widest)), 0), 9)}f" if widest else ".4g"
    return [f"{mean:{form}}" if isnan(low) else f"{mean:{form}} ({low:{form}} to {high:{form}})"
            for mean, low, high in zip(*found, strict=True)]


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class Bar(Shown):
    """Runs that are done, of all, and the time left. True: a signal asks to end."""

    def __init__(self, quiet: bool, signals: Signals) -> None:
        super().__init__(quiet)
        self.done = self.total = 0
        self._signals = signals

    def made(self) -> Any:
        """The bar, of a number of runs that is not known yet."""
        from rich.progress import MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

        bar = bar_with(MofNCompleteColumn(), TimeElapsedColumn(), "left", TimeRemainingColumn())
        self._task = bar.add_task("runs", total=None)
        return bar

    def __call__(self, done: int, total: int) -> bool:
        self.done, self.total = done, total
        if self.live is not None:
            self.live.update(self._task, completed=done, total=total)
        return self._signals.stop()
