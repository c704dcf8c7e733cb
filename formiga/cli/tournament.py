"""formiga tournament: each team against each other, a table, and everything in a folder from which it goes on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from formiga.cli import options
from formiga.cli.match import Game, Online, Speed, game_options, network_options, report

if TYPE_CHECKING:
    from formiga.soccer.tournament import Fixture, Tournament


@click.command("tournament")
@click.argument("teams", nargs=-1, required=True, metavar="TEAM TEAM ...")
@click.option("--rounds", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N",
              help="How often each pair meets.")
@click.option("--both", is_flag=True, help="In each round twice, once in each colour.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N")
@click.option("--out", metavar="DIR", default="tournament", show_default=True,
              help="The folder for all results. If it has this tournament already, it goes on.")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, metavar="N",
              help="Matches at a time; each has three processes.")
@click.option("--replays", is_flag=True, help="Also records every match.")
@game_options
@click.option("--speed", type=Speed(), metavar="X", help="Simulated seconds in one. [default: inf; 1 with a network team]")
@network_options
@click.option("--quiet", is_flag=True, help="Prints complaints only.")
@options.gather(game=Game, online=Online)
def command(teams: tuple[str, ...], rounds: int, both: bool, seed: int, out: str, jobs: int, replays: bool, game: Game,
            speed: float | None, online: Online, quiet: bool) -> int:
    """Let several teams play a round robin, and print the table.

    TEAM is as of `formiga match`. Each result is written as soon as a match is over: after Ctrl-C, or anything else, the same
    command goes on with the matches that are left. Three points for a win, one for a draw.

    Ctrl-C ends the matches under way, which are then played again. The exit code is 1 if a team could not play a match to its
    end, 2 if a match came to no result, because a program could not start say.
    """
    from math import isfinite

    from formiga.cli.progress import Signals
    from formiga.soccer.camera import Camera
    from formiga.soccer.league import world
    from formiga.soccer.referee import find_rules
    from formiga.soccer.roster import find_team
    from formiga.soccer.tournament import Settings, Tournament

    networked = any(find_team(team).network for team in teams)  # all of this complains now, and not in the first match
    world(game.players, game.preset or "mirosot", shape=game.collisions or "square")
    find_rules(game.rules or "mirosot")
    Camera(**game.seen)
    if not (isfinite(game.half) and game.half > 0.0):
        raise click.BadParameter(f"a half of {game.half:g} s cannot be played; the time must be above 0.",
                                 param_hint="'--half'")
    terms: dict[str, Any] = {**game.played, "camera": game.seen}
    if networked:
        terms |= {"wait": online.wait, "network": online.addresses}
    if speed is not None and isfinite(speed):
        terms["speed"] = speed
    contest = Tournament(out, Settings(teams, rounds, both, seed, terms, replays, game.names))
    with Signals("the matches under way") as signals:
        board = Board(contest, quiet)
        if networked and jobs > 1:
            click.echo("with a network team, matches are played one at a time.", err=True)
        finished = contest.play(jobs, progress=board, stop=signals.stop)
    if not quiet:
        show(contest)
    code = max((report(result, f"match {number:04d}: ") for number, result in sorted(contest.results.items())), default=0)
    for number, why in contest.failed.items():
        click.echo(f"formiga: match {number:04d} came to no result: {why}", err=True)
    if not finished:
        click.echo(f"formiga: interrupted; {len(contest.left)} of {len(contest.fixtures)} matches are left. "
                   "The same command goes on.", err=True)
        return signals.code
    return 2 if contest.failed else code


class Board:
    """A line for each match that has ended."""

    def __init__(self, contest: Tournament, quiet: bool) -> None:
        self._contest, self._quiet = contest, quiet
        self._before = len(contest.results)
        if not quiet and self._before:
            left = f"{len(contest.left)} are left" if contest.left else "nothing is left to play"
            click.echo(f"{contest.folder}: {self._before} of {len(contest.fixtures)} matches were played; {left}.", err=True)

    def __call__(self, fixture: Fixture, result: dict[str, Any] | None) -> None:
        if self._quiet:
            return
        labels, done = self._contest.labels, len(self._contest.results)
        score = "no result" if result is None else f"{result['score'][0]} : {result['score'][1]}"
        trouble = f"   ({len(result['troubles'])} troubles)" if result is not None and result["troubles"] else ""
        width = len(str(len(self._contest.fixtures)))
        click.echo(f"{done:>{width}} of {len(self._contest.fixtures)}   {labels[fixture.blue]} {score} "
                   f"{labels[fixture.yellow]}{trouble}", err=not sys.stdout.isatty())


def show(contest: Tournament) -> None:
    """The table."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 132
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("", "team", "played", "won", "drawn", "lost", "goals", "difference", "points"):
        table.add_column(column, justify="left" if column == "team" else "right")
    for place, row in enumerate(contest.table, 1):
        table.add_row(str(place), escape(row.team), *map(str, (row.played, row.won, row.drawn, row.lost)),
                      f"{row.goals}:{row.against}", f"{row.difference:+d}", f"[bold]{row.points}[/]")
    console.print(table)
    circles = ", robots collide as circles" if contest.settings.match.get("collisions") == "circle" else ""
    console.print(f"{len(contest.results)} of {len(contest.fixtures)} matches played{circles}; everything is in "
                  f"{escape(str(contest.folder))}", soft_wrap=True)
