"""formiga study: a published system, reproduced."""

from __future__ import annotations

from importlib import import_module

import click

from formiga.cli import options


@click.command("study")
@click.argument("name")
@click.option("--quick/--full", "quick", default=True,
              help="Under a minute (default), or all runs that the claims need.")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, metavar="N", help="Processes.")
@click.option("--cluster", metavar="A", help="Address of a Dask scheduler, such as tcp://127.0.0.1:8786, that does it instead.")
@options.json_file
@click.option("--out", metavar="DIR", help="Where figures go.")
def command(name: str, quick: bool, jobs: int, cluster: str | None, json_path: str | None, out: str | None) -> int:
    """Reproduce a published system.

    Paper, ours, difference and verdict, row by row. The exit code is 1 if a number is missed. `formiga list
    studies` shows the names.
    """
    studies = import_module("formiga.studies")
    studies.require(name)
    options.refuse_unwritable(json_path)
    return int(studies.run(name, not quick, jobs, json_path, out, cluster))
