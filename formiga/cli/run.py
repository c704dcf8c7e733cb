"""formiga run: headless, with a progress bar and a summary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from formiga.cli import EXPLODED, UNFINISHED, complain, options
from formiga.cli.check import counted
from formiga.errors import FormigaError

if TYPE_CHECKING:
    from formiga.cli.progress import Display
    from formiga.runs import Run, Watch
    from formiga.world.document import Document
    from formiga.world.model import World


MOST_EXPLOSIONS = 10    # that are told one by one


@dataclass(frozen=True)
class Asked:
    """The options of a run."""

    engine: str | None
    seconds: float | None
    seed: int
    worlds: int
    threads: int | None
    speed: float | None
    out: str | None
    every: int
    record: tuple[str, ...]
    picture: str | None
    programs: dict[str, str]
    patience: float
    script: str | None
    rosbridge: str | None


@click.command("run")
@click.argument("world", default="corral")
@options.engine
@click.option("--seconds", type=float, metavar="S", help="To simulate; default: as the world says.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N",
              help="The same seed gives the same run.")
@click.option("--worlds", type=click.IntRange(1, 1_000_000), default=1, show_default=True, metavar="W",
              help="Copies of the world, each with its own noise and start.")
@click.option("--threads", type=click.IntRange(1, 1024), metavar="N",
              help="Default: all cores. Changes the speed and nothing else.")
@click.option("--speed", type=click.FloatRange(0.0, min_open=True), metavar="S",
              help="Times real time, for programs outside that live by the clock; default: as fast as it can (inf), with "
                   "--rosbridge 1.")
@click.option("--out", metavar="DIR",
              help="Records into DIR/run.parquet, and writes DIR/summary.json. Those of an earlier run are replaced.")
@click.option("--every", type=click.IntRange(1, 2**31 - 1), default=1, show_default=True, metavar="N",
              help="Records every N steps.")
@click.option("--record", metavar="NAMES", default="", callback=lambda ctx, parameter, text: _names(text),
              help="Also records joints, readings, beliefs, messages, orders, events, drawings or metrics, with commas between "
                   "them, into DIR/run.joints.parquet ...; metrics:NAME is one measure alone.")
@click.option("--picture", metavar="FILE", help="Draws the first world at the end, with trails, into FILE.png, .svg or .pdf.")
@options.programs
@click.option("--patience", type=click.FloatRange(0.0), default=10.0, show_default=True, metavar="S",
              help="On the clock, that the run waits for programs that come by themselves to drive a group with a <remote>.")
@click.option("--script", metavar="FILE.fsh", help="Console commands that act while it runs: switch lamps, drive, spawn ...")
@options.rosbridge
@options.json_file
@options.settings
@options.own_elements
@click.option("--quiet", is_flag=True, help="Prints complaints only.")
@options.gather(asked_for=Asked)
def command(world: str, asked_for: Asked, settings: dict[str, str], own: tuple[str, ...], json_path: str | None,
            quiet: bool) -> int:
    """Run a world and print a summary.

    WORLD is a file or a name; `formiga list worlds` shows the shipped ones and those of studies.

    Ctrl-C ends the run at the next step and keeps what was done; a second one ends at once. A motion in space that explodes
    ends its world, is told with its time and body, and makes the exit code 1. So does a program given with --program that
    ended, or did not answer any more, before the run was over.
    """
    from formiga import lab
    from formiga.cli.progress import Display, Signals

    out, picture, worlds, engine = asked_for.out, asked_for.picture, asked_for.worlds, asked_for.engine
    options.load(own)
    if asked_for.record and asked_for.out is None:
        raise FormigaError("--record writes tables beside a recording: say where it goes, with --out DIR.")
    document = lab.read_document(world, **settings)
    described = document.world
    for group, program in asked_for.programs.items():
        described = lab.attach(described, group, program)
    asked = described.seconds if asked_for.seconds is None else asked_for.seconds
    with ExitStack() as stack:
        if out is not None:
            stack.enter_context(lab.folder_for(out))
        summary_path = os.path.join(out, "summary.json") if out is not None else None
        options.refuse_unwritable(json_path, summary_path, picture)
        signals = stack.enter_context(Signals(compiling=True))
        show = Display(described.name, asked, quiet)
        bridge = _bridge(asked_for, stack, show.say, quiet)
        stack.enter_context(show)
        if asked_for.script is None:
            run = lab.simulate(described, asked_for.seconds, asked_for.seed, worlds, engine, threads=asked_for.threads, out=out,
                               every=asked_for.every, record=asked_for.record or None, picture=picture,
                               watch=lab.Together(*_watches(asked_for, described, show, signals.stop), *bridge))
        else:
            run = _scripted(document, asked_for.script, asked_for, quiet, show, signals.stop)
        summary = summarise(run, worlds, engine, asked, picture)
        for path in (json_path, summary_path):
            _write(path, summary)
    if not quiet:
        click.echo(_words(summary))
    if run.interrupted:
        kept = f"; kept {run.recording}" if run.recording else ""
        click.echo(f"formiga: interrupted at {run.seconds:.1f} s of {asked:g} s{kept}", err=True)
        return signals.code
    for event in run.log.exploded[:MOST_EXPLOSIONS]:
        number, kept = f"world {event.world}: " if worlds > 1 else "", f"; kept {run.recording}" if run.recording else ""
        complain(f"{number}{event.text}{kept}.", EXPLODED)
    if run.log.exploded:
        return EXPLODED
    return UNFINISHED if run.log.failures else 0      # whose line was told when it happened


def _watches(asked: Asked, world: World, show: Display, stop: Callable[[], bool]) -> Iterator[Watch]:
    """What accompanies a run: its progress bar and its end by a signal, and its clock."""
    from formiga import lab

    def tell(share: float) -> bool:
        show(share)
        return stop()

    yield lab.Progress(tell)
    yield lab.Awaited(asked.patience, stop, lambda line: show.say(f"formiga: {line}"))
    speed = 1.0 if asked.rosbridge and asked.speed is None else asked.speed
    if speed is not None:
        yield lab.Paced(speed, world.dt)


def _bridge(asked: Asked, stack: ExitStack, say: Callable[[str], None], quiet: bool) -> list[Watch]:
    """The server for ROS tools, open until the stack is closed; [] if none is asked for."""
    if asked.rosbridge is None:
        return []
    if asked.worlds > 1 or asked.script is not None:
        raise FormigaError("--rosbridge serves one world, without a script: leave --worlds and --script out.")
    from formiga.ros import Rosbridge
    from formiga.ros.server import address_of

    bridge = stack.enter_context(Rosbridge(address_of(asked.rosbridge), say))
    if not quiet or bridge.server.open_to_others:         # then clients need the token
        say(f"rosbridge: {bridge.server.url}")
    return [bridge]


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _scripted(document: Document, script: str, asked: Asked, quiet: bool, progress: Any, stop: Any) -> Run:
    """The run of a world with a script. What the script says goes to stdout; what goes wrong ends it."""
    from formiga.session.headless import run_script

    if asked.worlds > 1 or asked.every > 1 or asked.record or asked.speed or asked.programs:
        raise FormigaError("--script works on one world, as fast as it can, and records every step: leave --worlds, --every, "
                           "--record, --speed and --program out.")

    def say(text: str) -> None:
        if not quiet:
            click.echo(text)

    run, finished = run_script(document, script, asked.seconds, asked.seed, engine=asked.engine, out=asked.out,
                               picture=asked.picture, say=say, progress=progress, stop=stop)
    if not finished and not run.interrupted:
        click.echo(f"formiga: {script}: it was not at its end after {run.seconds:g} s; --seconds makes the run longer.",
                   err=True)
    return run


def summarise(run: Run, worlds: int, engine: str | None, asked: float,
              picture: str | None = None) -> dict[str, Any]:
    """What the summary says, for JSON and for people."""
    return {
        "world": run.world.name, "seed": run.seed, "worlds": worlds, "robots": run.world.robots,
        "engine": engine or run.world.engine, "asked_seconds": asked, "interrupted": run.interrupted, **run.metrics,
        "events": dict(run.log.counts), "happened": run.log.words(), "programs": list(run.log.told),
        "failures": dict(run.log.failures),
        "exploded": [event.text for event in run.log.exploded],
        "recording": None if run.recording is None else str(run.recording), "picture": picture,
    }


def _write(path: str | None, summary: dict[str, Any]) -> None:
    import json

    from formiga.files import write_whole

    if path is not None:
        write_whole(path, json.dumps(summary, indent=2) + "\n")


def _words(summary: dict[str, Any]) -> str:
    each = f", each of {summary['worlds']} worlds" if summary["worlds"] > 1 else ""
    lines = {
        summary["world"]: f"{counted(summary['robots'], 'robot')}, {counted(summary['worlds'], 'world')}, "
                          f"seed {summary['seed']}, {summary['engine']}",
        "simulated": f"{summary['simulated_seconds']:.1f} s in {summary['elapsed_seconds']:.2f} s, "
                     f"{summary['real_time_factor']:,.0f} times real time{each}",
        "speed": f"{summary['robot_steps_per_s']:,.0f} robot-steps/s",
        "crashes": f"{summary['crashes']:,} (in {100 * summary['contact_rate']:.2f} % of all robot-steps)",
        "worlds ended": f"{summary['worlds_ended']} of {summary['worlds']}",
    }
    if summary.get("messages_sent"):
        lines["messages"] = (f"{summary['messages_sent']:,.0f} sent ({summary['kilobits_sent']:,.0f} kbit), "
                             f"{summary['messages_heard']:,.0f} heard, {summary['messages_lost']:,.0f} lost, "
                             f"{summary['messages_dropped']:,.0f} dropped")
    if summary["happened"]:
        lines["events"] = summary["happened"]
    if summary["unresolved_steps"] > len(summary["exploded"]):
        lines["too crowded"] = f"in {summary['unresolved_steps']:,} steps some robots were left closer than they should be"
    if summary["recording"]:
        lines["recording"] = summary["recording"]
    if summary["picture"]:
        lines["picture"] = summary["picture"]
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:<{width}}{text}" for name, text in lines.items())

