"""What commands show while they work: texts of files, programs and clients are shown as they are."""

import sys
from types import SimpleNamespace

import pytest

from formiga.cli.evolve import Board
from formiga.cli.match import Progress
from formiga.cli.progress import Display, Signals
from formiga.cli.sweep import Bar

HOSTILE = "a [/b] [red] \x1b]0;mine\x07 " + 30 * "long "
KINDS = {"run": lambda: Display("driven [/b]", 1.0, quiet=False), "sweep": lambda: Bar(False, Signals()),
         "evolve": lambda: Board(quiet=False), "match": lambda: Progress(quiet=False)}


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_quoted_as_it_is_and_commands_no_terminal(kind, terminal, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with KINDS[kind]() as shown:
        assert (shown.live is not None) == terminal
        shown.say(HOSTILE)
    assert HOSTILE.replace("\x1b", "\\x1b").replace("\x07", "\\x07") in capsys.readouterr().err


def test_a_bar_shows_the_names_of_teams_as_they_are(monkeypatch, capsys):
    sides = SimpleNamespace(name="[/b]", score=1), SimpleNamespace(name="[red]", score=0)
    match = SimpleNamespace(share=0.5, note=lambda: SimpleNamespace(sides=sides, title="[/i]", clock="0:01", text="goal"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress(quiet=False) as shown:
        shown(match)
        shown.live.refresh()
    told = capsys.readouterr().err
    assert "[/b] 1:0 [red]" in told and "[/i] 0:01  goal" in told
