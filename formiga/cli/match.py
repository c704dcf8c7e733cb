"""formiga match: two team programs play robot soccer, headless or in the browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import click

from formiga.cli import PAGE_FAILED, UNFINISHED, options
from formiga.cli.progress import Shown, bar_of_share

if TYPE_CHECKING:
    from formiga.soccer.match import Match

F = TypeVar("F", bound=Callable[..., Any])
EVERY = 0.1          # s between two changes of the progress line
MOST_SHOWN = 20      # troubles


class Speed(click.ParamType):
    """A number above 0, or inf."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """From what was typed."""
        try:
            speed = float(value)
        except ValueError:
            speed = 0.0
        if not speed > 0.0:
            self.fail(f"'{value}' is no speed; it is a number above 0, such as 0.5, 1 or 4, or inf.", param, ctx)
        return speed


class Address(click.ParamType):
    """HOST:PORT, or none."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """From what was typed."""
        if not isinstance(value, str):
            return value
        host, colon, port = value.rpartition(":")
        if value == "none":
            return value
        if not (colon and host and port.isdecimal() and 0 < int(port) < 2**16):
            self.fail(f"'{value}' is no address; one looks like 127.0.0.1:20011.", param, ctx)
        return host, int(port)


class Names(click.ParamType):
    """Names with commas between them."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """From what was typed."""
        return tuple(name.strip() for name in value.split(",")) if isinstance(value, str) else value


@dataclass(frozen=True)
class Game:
    """What a match and a tournament have in common: the options of `game_options`."""

    players: int
    half: float
    halves: int
    preset: str | None
    collisions: str | None
    rules: str | None
    strict: bool | None
    names: tuple[str, ...]
    latency: float
    noise: float
    vanish: float
    velocity: str

    @property
    def seen(self) -> dict[str, Any]:
        """What was said about the camera, as Camera takes it."""
        return {"latency": self.latency, "noise": self.noise, "vanish": self.vanish, "velocity": self.velocity}

    @property
    def played(self) -> dict[str, Any]:
        """The rest, as Terms takes it."""
        return {"players": self.players, "half_seconds": self.half, "halves": self.halves, "preset": self.preset,
                "collisions": self.collisions, "rules": self.rules, "strict": self.strict}


@dataclass(frozen=True)
class Online:
    """Where FIRASim's clients are: the options of `network_options`."""

    vision: tuple[Any, ...]
    commands: Any
    referee: Any
    placement: Any
    interface: str | None
    wait: float

    @property
    def addresses(self) -> dict[str, Any]:
        """What was said about the network, as Network takes it."""
        given: dict[str, Any] = {"vision": list(self.vision) or None, "commands": self.commands, "interface": self.interface}
        found = {name: value for name, value in given.items() if value is not None}
        for name, value in (("referee", self.referee), ("placement", self.placement)):
            if value is not None:
                found[name] = None if value == "none" else value
        return found


@dataclass(frozen=True)
class Window:
    """Whether and where it is shown in the browser."""

    view: bool
    port: int | None
    no_browser: bool


def game_options(command: F) -> F:
    """What a match and a tournament have in common."""
    for option in reversed((
        click.option("--players", type=click.IntRange(1, 5), default=3, show_default=True, metavar="P", help="In each team."),
        click.option("--half", type=float, default=300.0, show_default=True, metavar="S", help="Seconds of each half."),
        click.option("--halves", type=click.IntRange(1, 2), default=2, show_default=True, metavar="N"),
        click.option("--preset", metavar="P", help="Robots, ball and field: mirosot, golf or firasim. "
                                                   "[default: mirosot; firasim with a network team]"),
        click.option("--collisions", metavar="C", help="Robots as square bodies, or, as in the old model, each as a circle: "
                                                       "discs that no hit turns. [default: square]"),
        click.option("--rules", metavar="R", help="mirosot, vsss, or none if another program is the referee. "
                                                  "[default: mirosot; vsss with a network team]"),
        click.option("--strict/--no-strict", default=None,
                     help="Refuses a placement that the rules do not allow, or only one in which robots collide. "
                          "[default: yes; no with the rules vsss]"),
        click.option("--names", type=Names(), default=(), metavar="A,B,...",
                     help="Of the teams, as they are shown; in their order."),
        click.option("--latency", type=click.FloatRange(0.0, 10.0), default=0.0, metavar="S",
                     help="Of the camera, in seconds."),
        click.option("--noise", type=click.FloatRange(0.0, 1.0), default=0.0, metavar="M",
                     help="Of the camera: standard deviation of a place, in metres."),
        click.option("--vanish", type=click.FloatRange(0.0, 1.0), default=0.0, metavar="P",
                     help="How likely the camera overlooks something in a picture."),
        click.option("--velocity", type=click.Choice(["true", "difference"]), default="true", show_default=True,
                     help="As it is, or from two pictures, as a real vision program has it."),
    )):
        command = option(command)
    return command


def network_options(command: F) -> F:
    """Where FIRASim's clients are."""
    for option in reversed((
        click.option("--vision", type=Address(), multiple=True, metavar="H:P",
                     help="Where pictures are sent. Repeatable. [default: 224.0.0.1:10002]"),
        click.option("--commands", type=Address(), metavar="H:P", help="Where we listen. [default: 127.0.0.1:20011]"),
        click.option("--referee", type=Address(), metavar="H:P",
                     help="Where calls are sent, or none. [default: 224.5.23.2:10003]"),
        click.option("--placement", type=Address(), metavar="H:P",
                     help="Where teams say where they want to stand, or none. [default: 224.5.23.2:10004]"),
        click.option("--interface", metavar="H", help="Multicast goes through the network that has this address of ours. "
                                                      "[default: only this machine]"),
        click.option("--wait", type=click.FloatRange(0.0, 86400.0), default=60.0, show_default=True, metavar="S",
                     help="Seconds until the match begins without a team that is not there."),
    )):
        command = option(command)
    return command


@click.command("match")
@click.argument("blue", metavar="TEAM")
@click.argument("yellow", metavar="TEAM")
@game_options
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N",
              help="The same seed gives the same match, in lock-step. Blue kicks off if it is even.")
@click.option("--speed", type=Speed(), metavar="X",
              help="Simulated seconds in one: 0.5, 1, 4, inf. [default: inf; 1 with a network team or --view]")
@click.option("--lockstep/--no-lockstep", default=None,
              help="Waits for both answers to each picture. [default: yes; no with a network team]")
@click.option("--view", is_flag=True, help="In the browser.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="P", help="Of the page; default: 8017, or the next free one.")
@click.option("--no-browser", is_flag=True, help="Only serves the page, and tells where it is.")
@click.option("--out", metavar="FILE.parquet", help="Records the match; `formiga view FILE.parquet` shows it again.")
@options.json_file
@network_options
@click.option("--quiet", is_flag=True, help="Prints complaints only.")
@options.gather(game=Game, online=Online, window=Window)
def command(blue: str, yellow: str, game: Game, seed: int, speed: float | None, lockstep: bool | None, window: Window,
            out: str | None, json_path: str | None, online: Online, quiet: bool) -> int:
    """Let two teams play: the first in blue, from left to right, the second in yellow.

    TEAM is a shipped one (chaser, colony), a program of yours in Python (path/to/team.py) or in any language (path/to/program),
    started in a process of its own and reached through shared memory; or `network`, for programs that speak FIRASim's
    protocol and come by themselves; `network:NAME` gives such a team a name.

    Ctrl-C ends the match, says how it stood and ends the programs. The exit code is 1 if a team could not play to the end, 2 if
    its program could not start.
    """
    import json

    from formiga.cli.progress import Signals
    from formiga.errors import FormigaError
    from formiga.files import write_whole
    from formiga.soccer.arrange import Terms, arrange
    from formiga.soccer.camera import Camera
    from formiga.soccer.roster import check_names, find_team

    if game.names:
        check_names(game.names, 2)
    if out is not None and not out.endswith(".parquet"):
        raise FormigaError(f"{out}: a recording is a file such as match.parquet.")
    options.refuse_unwritable(json_path, out)
    real_time = window.view or any(find_team(team).network for team in (blue, yellow))
    failed = 0
    with ExitStack() as stack:
        signals = stack.enter_context(Signals("the match", compiling=True))
        terms = Terms(**game.played, lockstep=lockstep, camera=Camera(**game.seen), wait=online.wait, network=online.addresses)
        match = stack.enter_context(arrange(blue, yellow, terms, seed=seed, names=game.names))
        match.meet()  # before kernels are compiled, or a page is opened, for a match that cannot be played
        pace = speed or (1.0 if real_time else inf)
        if window.view:
            failed = _in_browser(match, seed, pace, window, out, signals.stop)
            match.interrupted = not match.over
        else:
            _headless(match, seed, pace, out, quiet, signals.stop)
        result = match.result()
    result["recording"] = out
    if json_path is not None:
        write_whole(json_path, json.dumps(result, indent=1) + "\n")
    if not quiet:
        show(result)
    if match.interrupted:
        done = " : ".join(map(str, result["score"]))
        click.echo(f"formiga: interrupted at {result['simulated_seconds']:.1f} s; it stood {done}", err=True)
        return signals.code
    return report(result) or failed


def _many(count: int, what: str) -> str:
    """1 goal, 2 goals."""
    return f"{count} {what}{'s' * (count != 1)}"


def report(result: dict[str, Any], where: str = "") -> int:
    """Say which teams could not play to the end, and why; the exit code."""
    for colour, why in result.get("failures", {}).items():
        click.echo(f"formiga: {where}{result[colour]} ({colour}) did not play to the end: {why}", err=True)
    return UNFINISHED if result.get("failures") else 0


def _headless(match: Match, seed: int, speed: float, out: str | None, quiet: bool, stop: Callable[[], bool]) -> None:
    from formiga.loop import Simulation
    from formiga.record.recorder import Recorder

    with ExitStack() as stack:
        progress = stack.enter_context(Progress(quiet))
        Simulation(match.world, seed).step()  # compiles what is not compiled yet, before any clock
        record = None
        if out is not None:
            record = stack.enter_context(Recorder(out, match.world, seed))
        match.play(Simulation(match.world, seed), speed=speed, record=record, progress=progress, stop=stop)
        if record is not None and match.interrupted:
            record.ending = "interrupted"


def _in_browser(match: Match, seed: int, speed: float, window: Window, out: str | None, stop: Callable[[], bool]) -> int:
    import threading
    import webbrowser

    from formiga.cli.view import _print, _screen, say_other_port
    from formiga.page.page import Page
    from formiga.page.server import PORT, free_port
    from formiga.session import Session

    host, port = "127.0.0.1", window.port or PORT
    free_port(host, port)
    session = Session(match.world, seed=seed, hear=_print, supervisor=match)
    session.speed = speed
    with Page(session, host, port) as page:
        say_other_port(page, port)
        click.echo(f"the match is at {page.url}   (Ctrl-C ends it)")
        if not window.no_browser and _screen():
            threading.Thread(target=webbrowser.open, args=[page.url], daemon=True).start()
        if out is not None:
            session.record(out)
        session.play()
        session.run(stop)
    return PAGE_FAILED if page.faults.count else 0


class Progress(Shown):
    """The score and the clock on a terminal. It is called after each step."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet)
        self._next = 0.0

    def made(self) -> Any:
        """The bar, before the first step."""
        bar = bar_of_share()
        self._task = bar.add_task("kick-off", total=1.0, now="")
        return bar

    def __call__(self, match: Match) -> None:
        if self.live is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY
        note = match.note()
        blue, yellow = note.sides
        self.live.update(self._task, completed=match.share, now=f"{note.title} {note.clock}  {note.text}",
                         description=f"{blue.name} {blue.score}:{yellow.score} {yellow.name}")


# -- the result in words ---------------------------------------------------------------------------------------------
def show(result: dict[str, Any]) -> None:
    """Score, statistics, what was called, what went wrong, how fast it went."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 132
    blue, yellow, score = escape(result["blue"]), escape(result["yellow"]), result["score"]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column(f"[bold #1f6feb]{blue}[/]", justify="right")
    table.add_column(f"[bold #b08d00]{yellow}[/]", justify="right")
    table.add_row("[bold]goals[/]", f"[bold]{score[0]}[/]", f"[bold]{score[1]}[/]")
    teams = result["statistics"]["teams"]
    for name, key, form in (("possession", "possession", "{:.0%}"), ("shots", "shots", "{}"),
                            ("  on goal", "shots_on_goal", "{}"), ("saves", "saves", "{}"), ("own goals", "own_goals", "{}"),
                            ("touches of the ball", "touches", "{}"), ("run, m", "distance", "{:.1f}")):
        table.add_row(name, *(form.format(teams[team][key]) for team in ("blue", "yellow")))
    for name, many in (("penalty", "penalties"), ("goal kick", "goal kicks")):
        table.add_row(many, *(str(sum(call["what"] == name and call["team"] == team for call in result["calls"]))
                              for team in ("blue", "yellow")))
    console.print(table)
    for goal in result["goals"]:
        minutes, seconds = divmod(int(goal["clock"]), 60)
        console.print(f"{minutes}:{seconds:02d}  half {goal['half']}  {goal['score'][0]}:{goal['score'][1]}  "
                      f"goal for {goal['team']}{', ' if goal['by'] else ''}{goal['by']}")
    free = sum(call["what"] == "free ball" for call in result["calls"])
    circles = ", robots collide as circles" if result["collisions"] == "circle" else ""
    console.print(f"{result['players']} against {result['players']}{circles}, rules {result['rules']}, seed {result['seed']}, "
                  f"{_many(len(result['goals']), 'goal')}, {_many(free, 'free ball')}")
    console.print(speed_words(result))
    for refusal in result["refusals"][:MOST_SHOWN]:
        console.print(f"{refusal['time']:.1f} s  {refusal['call']}: {refusal['why']}", soft_wrap=True)
    if len(result["refusals"]) > MOST_SHOWN:
        console.print(f"... and {_many(len(result['refusals']) - MOST_SHOWN, 'refused place')} more; --json has them")
    for trouble in result["troubles"][:MOST_SHOWN]:
        console.print(f"[red]{trouble['time']:.1f} s  {escape(trouble['who'])}: {escape(trouble['what'])}[/]", soft_wrap=True)
    if len(result["troubles"]) > MOST_SHOWN:
        console.print(f"[red]... and {len(result['troubles']) - MOST_SHOWN} troubles more; --json has them[/]")
    for team, text in result["last_words"].items():
        if text.strip():
            console.print(f"the last words of {team}'s program:", escape(text.strip()), sep="\n", soft_wrap=True)
    if result.get("recording"):
        console.print(f"recording: {escape(result['recording'])}", soft_wrap=True)


def speed_words(result: dict[str, Any]) -> str:
    """How long was played, how fast the match went from its kick-off on, and how well it kept up; pauses do not count."""
    pace = result["pace"]
    how = "in lock-step" if result["lockstep"] else "without waiting for answers"
    simulated = result["simulated_seconds"] - result["waited_seconds"]
    text = (f"{result['played_seconds']:.1f} s of play; {simulated:.1f} s in {pace['wall_seconds']:.1f} s, {how}, "
            f"{pace['real_time_factor'] or 0:.2f} times real time; the simulator used {pace['cpu_share'] or 0:.0%} of a core")
    if pace["speed"] is None:
        return text
    return (f"{text}\n{pace['frames']} pictures, {pace['missed_frames']} missed; late by {pace['late_ms']['median']:.2f} ms "
            f"(median), {pace['late_ms']['p99']:.2f} ms (99 %), {pace['late_ms']['most']:.1f} ms (most)")
