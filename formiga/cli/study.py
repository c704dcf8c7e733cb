"""formiga study: a published system, reproduced; or all of them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from formiga.cli import options
from formiga.errors import FormigaError

REPORTS = "studies"   # the folder of --all, if --out names no other


@dataclass(frozen=True)
class Workers:
    """Where the runs of a study happen."""

    jobs: int
    cluster: str | None


@dataclass(frozen=True)
class Results:
    """What is written, and where."""

    json_path: str | None
    out: str | None
    keep: bool


@click.command("study")
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="All studies, a line each, and one report: studies.html in --out.")
@click.option("--quick/--full", "quick", default=True,
              help="Under a minute (default), or all runs that the claims need.")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, metavar="N", help="Processes.")
@click.option("--cluster", metavar="A", help="Address of a Dask scheduler, such as tcp://127.0.0.1:8786, that does it instead.")
@options.json_file
@click.option("--out", metavar="DIR", help=f"Where results and figures go; with --all the default is {REPORTS}.")
@click.option("--keep", is_flag=True, help="The result becomes the one that the gallery shows.")
@click.option("--again", is_flag=True, help="With --all: also studies whose result of this form and version is in --out.")
@options.gather(workers=Workers, results=Results)
def command(name: str | None, every: bool, quick: bool, again: bool, workers: Workers, results: Results) -> int:
    """Reproduce a published system.

    Paper, ours, difference and verdict, row by row. The exit code is 1 if a number is missed. `formiga list
    studies` shows the names.

    --all goes on after a study that fails. Ctrl-C keeps what is done; the same command then runs the others.
    """
    studies = import_module("formiga.studies")
    if every:
        if name is not None:
            raise FormigaError(f"--all runs all studies, '{name}' among them; give a NAME or --all.")
        if results.json_path is not None:
            raise FormigaError("--json is for one study; with --all each has its NAME.json in the folder of --out.")
        run = import_module("formiga.studies.every")
        how = run.How(not quick, Path(results.out or REPORTS), again, results.keep)
        return int(run.run_all(how, workers.jobs, workers.cluster, say=click.echo))
    if name is None:
        raise FormigaError(f"which study? There are: {', '.join(studies.folders())}; --all runs all of them.")
    if again:
        raise FormigaError("--again is for --all; one study is always run.")
    studies.require(name)
    options.refuse_unwritable(results.json_path)
    return int(studies.run(name, not quick, workers.jobs, results.json_path, results.out, workers.cluster, results.keep))
