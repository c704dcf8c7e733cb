"""formiga evolve: breed a world's controller, with a live curve, and go on where it was left."""

from __future__ import annotations

import os
import shlex
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from formiga.cli import options
from formiga.cli.progress import Shown, Signals
from formiga.errors import FormigaError

if TYPE_CHECKING:
    from formiga.evolve import Report

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 60       # of the curve, in characters
EVERY = 2.0      # s between lines where there is no terminal


@dataclass(frozen=True)
class Size:
    """How much is evaluated; None: as the world says."""

    generations: int | None
    population: int | None
    trials: int | None


@dataclass(frozen=True)
class Workers:
    """Where it is evaluated."""

    jobs: int | None
    cluster: str | None


@click.command("evolve")
@click.argument("world", required=False)
@click.option("--generations", type=click.IntRange(1, 2**31 - 1), metavar="G",
              help="Instead of the world's own; also to go on for longer.")
@click.option("--population", type=click.IntRange(2, 100_000), metavar="P", help="Genotypes of a generation.")
@click.option("--trials", type=click.IntRange(1, 1_000_000), metavar="T", help="Evaluations of each genotype.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), metavar="N",
              help="The same seed gives the same evolution. [default: 0]")
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="At a time on this machine; default: all cores.")
@click.option("--cluster", metavar="A", help="Address of a Dask scheduler, such as tcp://127.0.0.1:8786, that does it instead.")
@click.option("--out", metavar="DIR", help="A new folder for everything; default: WORLD-evolved.")
@click.option("--resume", metavar="DIR", help="Goes on with the evolution in that folder.")
@click.option("--test", type=click.IntRange(2, 1_000_000), default=100, show_default=True, metavar="N",
              help="Unseen starts on which the champion is measured at the end.")
@options.json_file
@options.settings
@options.own_elements
@click.option("--quiet", is_flag=True, help="Prints complaints only.")
@options.gather(size=Size, workers=Workers)
def command(world: str | None, size: Size, seed: int | None, workers: Workers, out: str | None, resume: str | None, test: int,
            json_path: str | None, settings: dict[str, str], own: tuple[str, ...], quiet: bool) -> int:
    """Evolve the network of a world.

    WORLD is a file or the name of a shipped world that has a <fitness> and a network: avoid, aggregate, disperse,
    phototaxis, avoid3d. The folder gets the table of all generations (evolution.parquet), from which it can go on at any
    time, the fitness curve (fitness.png), and the champion: its genes (champion.json), a world that runs it (champion.xml),
    a recorded trial (champion.parquet) and its figures on unseen starts (summary.json).

    Ctrl-C ends after the generation under way, tests the champion so far and keeps everything; a second one ends at once and
    loses that generation.
    """
    import json

    from formiga import lab
    from formiga.evolve import evolve
    from formiga.files import write_whole

    if world is None and resume is None:
        raise click.UsageError("Name a WORLD, or a folder to go on with: --resume DIR.")
    if resume is not None and out is not None:
        raise click.UsageError("--out is for a new evolution; --resume goes on in its own folder.")
    if resume is not None and not os.path.isdir(resume):
        raise FormigaError(f"{resume}: no such folder; there is no evolution to resume.")
    options.load(own)
    described = None if world is None else lab.read_world(world, **settings)
    if described is None and settings:
        raise click.UsageError("--set changes a WORLD, and none is named.")
    folder = resume or out or f"{described.name if described else 'world'}-evolved"
    options.refuse_unwritable(json_path)
    with_own = "".join(f" --with {shlex.quote(file)}" for file in own)
    go_on = f"go on with: formiga evolve --resume {shlex.quote(folder)}{with_own}"
    with ExitStack() as stack:
        if resume is None:
            stack.enter_context(lab.folder_for(folder))
        signals = stack.enter_context(Signals("after this generation"))
        board = stack.enter_context(Board(quiet))
        try:
            outcome = evolve(folder, described, seed, generations=size.generations, population=size.population,
                             trials=size.trials, jobs=workers.jobs or os.cpu_count() or 1, cluster=workers.cluster,
                             resume=resume is not None, test=test, progress=board, stop=signals.stop)
        except KeyboardInterrupt:
            if not os.path.exists(os.path.join(folder, "evolution.parquet")):
                raise
            click.echo(f"formiga: interrupted; {go_on}", err=True)
            return signals.code
        if json_path is not None:
            write_whole(json_path, json.dumps(outcome.summary, indent=1) + "\n")
    if not quiet:
        click.echo(words(outcome.summary, folder, with_own))
    if outcome.interrupted:
        click.echo(f"formiga: interrupted after generation {outcome.evolution.generation} of "
                   f"{outcome.evolution.search.generations}; {go_on}", err=True)
        return signals.code
    return 0


def words(summary: dict[str, Any], folder: str, with_own: str) -> str:
    """The summary in words; with_own: the options that load what the world needs."""
    champion = summary["champion"]

    def percent(name: str, digits: int) -> str:
        mean, low, high = (100 * champion[name][key] for key in ("mean", "low", "high"))
        return f"{mean:.{digits}f} % ({low:.{digits}f} to {high:.{digits}f})"

    fitness = champion["fitness"]
    lines = {
        summary["world"]: f"{summary['generations']} generations of {summary['population']}, {summary['trials']} trials each, "
                          f"{summary['genes']} genes, seed {summary['seed']}",
        "champion": f"individual {champion['individual']} of generation {champion['generation']}; on {champion['trials']} "
                    "unseen starts, with 95 % confidence:",
        "  fitness": f"{fitness['mean']:.3f} ({fitness['low']:.3f} to {fitness['high']:.3f})",
        "  speed": f"{percent('speed', 1)} of top speed",
        "  crashes": f"in {percent('crash_rate', 2)} of all robot-steps",
        "see it": f"formiga run {shlex.quote(os.path.join(folder, 'champion.xml'))}{with_own} --picture champion.png",
        "curve": os.path.join(folder, "fitness.png"),
    }
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:<{width}}{text}" for name, text in lines.items())


class Board(Shown):
    """The generation, the best, the mean, the speed, the time left, and the curve so far; lines where there is no terminal."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet)
        self._said = 0.0

    def made(self) -> Any:
        """A place for the curve."""
        from rich.console import Console
        from rich.live import Live

        return Live(console=Console(stderr=True), refresh_per_second=8, transient=True)

    def __call__(self, report: Report) -> None:
        if report.evaluations_per_s == 0.0:  # it begins
            return
        if self.live is not None:
            self.live.update(plot(report))
        elif not self.quiet and (time.monotonic() - self._said > EVERY or report.generation == report.generations):
            self._said = time.monotonic()
            self.say(headline(report))


def headline(report: Report) -> str:
    """generation 12 of 40   best 0.612   mean 0.431   2,310 evaluations/s   0:07 left"""
    minutes, seconds = divmod(round(report.seconds_left), 60)
    return (f"generation {report.generation} of {report.generations}   best {report.best[-1]:.3f}   "
            f"mean {report.mean[-1]:.3f}   {report.evaluations_per_s:,.0f} evaluations/s   {minutes}:{seconds:02d} left")


def plot(report: Report) -> Any:
    """The headline, and a curve of blocks: the best above, the mean below, on one scale."""
    from rich.text import Text

    low, high = min(report.mean), max(report.best)
    text = Text(f"{headline(report)}\n")
    for name, values, colour in (("best", report.best, "#d55e00"), ("mean", report.mean, "#0072b2")):
        text.append(f"{name} ")
        text.append(sparkline(values, low, high), colour)
        text.append("\n")
    text.append(f"     from {low:.3f} to {high:.3f}", "dim")
    return text


def sparkline(values: list[float], low: float, high: float) -> str:
    """A curve in one line; of many generations, the last of each few."""
    step = -(-len(values) // WIDTH)
    shown = values[::-1][::step][::-1]
    scale = (len(BLOCKS) - 1) / (high - low) if high > low else 0.0
    return "".join(BLOCKS[min(len(BLOCKS) - 1, max(0, round((value - low) * scale)))] for value in shown)
