"""formiga view: the laboratory in the browser."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from formiga.cli import PAGE_FAILED, options

if TYPE_CHECKING:
    from formiga.page.page import Page
    from formiga.session import Session


@dataclass(frozen=True)
class Served:
    """Where the laboratory is open."""

    port: int | None
    host: str
    no_browser: bool
    rosbridge: str | None


@click.command("view")
@click.argument("what", required=False, metavar="[WORLD|RECORDING]")
@click.option("--port", type=click.IntRange(1, 65535), metavar="P", help="Default: 8017, or the next free one.")
@click.option("--host", metavar="H", default="127.0.0.1", help="The address that is listened at; default: this machine alone.")
@click.option("--no-browser", is_flag=True, help="Only serves the page, and tells where it is.")
@options.rosbridge
@options.engine
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N")
@click.option("--script", metavar="FILE.fsh", help="Console commands to begin with.")
@options.programs
@click.option("--paused", is_flag=True, help="Does not start to play by itself.")
@options.settings
@options.own_elements
@click.option("--run-code", is_flag=True, help="Runs the code that a RECORDING brought along. Only if you trust it.")
@options.gather(served=Served)
def command(what: str | None, served: Served, engine: str | None, seed: int, script: str | None, programs: dict[str, str],
            paused: bool, settings: dict[str, str], own: tuple[str, ...], run_code: bool) -> int:
    """Open the laboratory in the browser: play, pause, drag, inspect, edit, record, replay.

    WORLD is a file, the name of a shipped world or that of a study, RECORDING a run.parquet that `formiga run --out` or the
    laboratory wrote. Without either the page shows what there is; for a study without a world it shows the result.
    Ctrl-C ends it. The exit code is 1 if something failed in the page itself.

    Elements of your own whose code is not loaded are left out of the picture of a RECORDING; --with or --run-code brings them.
    """
    from formiga import lab, studies
    from formiga.cli.progress import Compiling, Signals
    from formiga.console import parse, read_script
    from formiga.page.page import Page
    from formiga.page.server import PORT, free_port
    from formiga.ros.server import address_of
    from formiga.session import Session

    if run_code and not (what or "").endswith(".parquet"):
        raise click.UsageError("--run-code is for a RECORDING, such as run.parquet.")
    options.load(own)
    host, port = served.host, served.port or PORT
    free_port(host, port)
    address = address_of(served.rosbridge) if served.rosbridge is not None else None
    if script is not None:
        parse(read_script(Path(script)), script)  # a mistake in it is said now, and not when a page is open
    with Compiling():
        paper = what if what in studies.folders() and lab.named_world(what) is None else ""  # its result is all there is to see
        given = lab.read_recording(what, run_code=True) if run_code and what else "" if paper else what
        session = Session(given or "corral", seed=seed, parameters=settings, hear=_print, engine=engine, own=own,
                          programs=programs)
        with Signals("the laboratory") as signals, \
                Page(session, host, port, gallery=what is None, paper=paper) as page, ExitStack() as stack:
            say_other_port(page, port)
            if address is not None:
                _open_bridge(address, session, page, stack)
            click.echo(f"the laboratory is open at {page.url}   (Ctrl-C ends it)")
            if page.server.open_to_others:
                click.echo("others in your network can reach it, drive it, and write files with it.", err=True)
            if not served.no_browser and _screen():
                threading.Thread(target=webbrowser.open, args=[page.url], daemon=True).start()
            session.play(not paused)
            if script is not None:
                session.console.run_file(script)
            session.run(signals.stop)
    return PAGE_FAILED if page.faults.count else 0  # the page has said how many


def _open_bridge(address: tuple[str, int], session: Session, page: Page, stack: ExitStack) -> None:
    """Serve the session to ROS tools, with the token of its page, until the stack is closed."""
    from formiga.ros import Rosbridge

    bridge = Rosbridge(address, lambda text: session.say(text, "note"), page.token)
    session.outside = stack.enter_context(bridge)
    if session.replay is None:
        bridge.use(session.sim)
    click.echo(f"rosbridge: {bridge.server.url}")


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
