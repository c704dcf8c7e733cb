"""formiga view: the laboratory in the browser."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from formiga.cli import PAGE_FAILED, options

if TYPE_CHECKING:
    from formiga.page.page import Page


@click.command("view")
@click.argument("what", required=False, metavar="[WORLD|RECORDING]")
@click.option("--port", type=click.IntRange(1, 65535), metavar="P", help="Default: 8017, or the next free one.")
@click.option("--host", metavar="H", default="127.0.0.1", help="The address that is listened at; default: this machine alone.")
@click.option("--no-browser", is_flag=True, help="Only serves the page, and tells where it is.")
@options.engine
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N")
@click.option("--script", metavar="FILE.fsh", help="Console commands to begin with.")
@click.option("--paused", is_flag=True, help="Does not start to play by itself.")
@options.settings
@options.own_elements
@click.option("--run-code", is_flag=True, help="Runs the code that a RECORDING brought along. Only if you trust it.")
def command(what: str | None, port: int | None, host: str, no_browser: bool, engine: str | None, seed: int,
            script: str | None, paused: bool, settings: dict[str, str], own: tuple[str, ...], run_code: bool) -> int:
    """Open the laboratory in the browser: play, pause, drag, inspect, edit, record, replay.

    WORLD is a file or the name of a shipped world, RECORDING a run.parquet that `formiga run --out` or the laboratory wrote.
    Without either the page shows what there is. Ctrl-C ends it. The exit code is 1 if something failed in the page itself.

    Elements of your own whose code is not loaded are left out of the picture of a RECORDING; --with or --run-code brings them.
    """
    from formiga import lab
    from formiga.cli.progress import Compiling, Signals
    from formiga.console import parse, read_script
    from formiga.page.page import Page
    from formiga.page.server import PORT, free_port
    from formiga.session import Session

    if run_code and not (what or "").endswith(".parquet"):
        raise click.UsageError("--run-code is for a RECORDING, such as run.parquet.")
    options.load(own)
    free_port(host, port or PORT)
    if script is not None:
        parse(read_script(Path(script)), script)  # a mistake in it is said now, and not when a page is open
    with Compiling():
        given = lab.read_recording(what, run_code=True) if run_code and what else what or "corral"
        session = Session(given, seed=seed, parameters=settings, hear=_print, engine=engine, own=own)
        with Signals("the laboratory") as signals, Page(session, host, port or PORT, gallery=what is None) as page:
            say_other_port(page, port or PORT)
            click.echo(f"the laboratory is open at {page.url}   (Ctrl-C ends it)")
            if page.server.open_to_others:
                click.echo("others in your network can reach it, drive it, and write files with it.", err=True)
            if not no_browser and _screen():
                threading.Thread(target=webbrowser.open, args=[page.url], daemon=True).start()
            session.play(not paused)
            if script is not None:
                session.console.run_file(script)
            session.run(signals.stop)
    return PAGE_FAILED if page.faults.count else 0  # the page has said how many


def say_other_port(page: Page, wanted: int) -> None:
    """Say that the port that was wanted is taken, if it is."""
    if page.server.port != wanted:
        click.echo(f"port {wanted} is in use; this is port {page.server.port}.")


def _screen() -> bool:
    """Whether there is a screen to open a browser on; a text browser would only take the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _print(kind: str, text: str, window: object) -> None:
    """What goes wrong, and what was written, is also said in the terminal."""
    if kind != "out":
        click.echo(f"formiga: {text}" if kind == "error" else text, err=kind == "error")
