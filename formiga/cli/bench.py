"""formiga bench: speed tables of this machine."""

from __future__ import annotations

import signal
import threading
from importlib import import_module
from types import FrameType

import click

from formiga.cli import SIGNALLED, Ended, options
from formiga.errors import FormigaError, suggest


@click.command("bench")
@click.argument("name", nargs=-1)
@click.option("--full", is_flag=True, help="All sizes, however long it takes.")
@options.json_file
def command(name: tuple[str, ...], full: bool, json_path: str | None) -> None:
    """Measure the speed of this machine.

    NAME is one of `formiga list benches`; without one, all of them.
    """
    benchmarks = import_module("formiga.benchmarks")
    for each in name:
        if each not in benchmarks.BENCHES:
            raise FormigaError(f"there is no bench '{each}'.{suggest(each, benchmarks.BENCHES)} "
                               f"There are: {', '.join(benchmarks.BENCHES)}.")
    options.refuse_unwritable(json_path)
    heard: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        heard.append(number)
        raise KeyboardInterrupt  # as after Ctrl-C: what a bench has started is ended too

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)
    try:
        benchmarks.run(list(name or benchmarks.BENCHES), json_path, full)
    except KeyboardInterrupt:
        if heard:
            raise Ended(SIGNALLED + heard[0]) from None
        raise
