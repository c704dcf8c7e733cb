"""The examples of the manual's pages on the laboratory and its console are carried out, as their readers would.

    ```fsh title="in drive"       a script, in that world; title="square.fsh": a file that later examples use
    ```console title="in corral"  lines after '> ' are typed, those below are the answer
    ```text                       a script, in a world that has what it names
    ```sh                         what begins with formiga run or formiga check; ```python prints the ```output below it

tests/docs looks at the list of commands, the limits and the tutorial.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from formiga.cli import cli
from formiga.console import parse
from formiga.session import Session, settings

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {name: (DOCS / shelf / f"{name}.md").read_text(encoding="utf-8")
         for shelf, name in (("reference", "console"), ("guides", "laboratory"))}
LISTING = "<!-- commands: written by docs/commands.py -->"  # what `help` says: no scripts


class Block(NamedTuple):
    """A fenced part of a page."""

    page: str
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}.md:{self.line}"

    @property
    def world(self) -> str:
        if self.title.startswith("in "):
            return self.title.removeprefix("in ")
        if self.title == "experiment.fsh":
            return "lamps"
        if self.title == "square.fsh":
            return "car.xml"
        return "corral" if "swarm" in self.text else "drive"


def blocks():
    for page, text in PAGES.items():
        text = text.partition(LISTING)[0]
        for found in re.finditer(r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```$', text, re.DOTALL | re.MULTILINE):
            yield Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2] or "", found[3])


BLOCKS = list(blocks())
ANSWERS = [each for each in BLOCKS if each.language == "text" and re.match(r"\S+:\d+: ", each.text)]
SCRIPTS = [each for each in BLOCKS if each.language in ("fsh", "text") and each not in ANSWERS]
TYPED = [each for each in BLOCKS if each.language == "console"]


class Eyes:
    """Stands in for a window, which the examples with cameras need."""

    def cameras(self):
        return ["overview", "top"]

    def camera(self, name, who):
        assert name in self.cameras()

    def follow(self, robot, eyes, who):
        pass

    def renumbered(self, now):
        pass


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with all files of the manual, and settings of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for each in BLOCKS:
        if "." in each.title:
            (tmp_path / each.title).write_text(each.text, encoding="utf-8")
    (tmp_path / "car.xml").write_text(next(each.text for each in BLOCKS if each.language == "xml"), encoding="utf-8")
    return tmp_path


class Workspace:
    """A session, and what it said since somebody last asked."""

    def __init__(self, world):
        self.said = []
        self.session = Session(world, hear=lambda kind, text, window: self.said.append((kind, text)), own_settings=False)
        self.session.windows = Eyes()
        self.said.clear()

    def typed(self, line):
        self.said.clear()
        self.session.console.run(line)
        return "\n".join(text for _, text in self.said)


def test_the_manual_has_examples_of_every_kind():
    assert len(SCRIPTS) >= 9 and len(TYPED) >= 2 and {each.page for each in SCRIPTS} == set(PAGES)


@pytest.mark.parametrize("block", SCRIPTS, ids=str)
def test_a_script_of_the_manual_runs_without_a_mistake(folder, block):
    workspace = Workspace(block.world)
    task = workspace.session.console.run(block.text, str(folder / "example.fsh"))
    for _ in range(300):  # 30 s: what waits for ever, or for minutes, has said by then whether it can
        if task.done or workspace.session.ended:
            break
        workspace.session.step()
    for key in [command.words[1][0] for command in parse(block.text) if command.name == "bind"]:
        workspace.session.console.press(key)
        workspace.session.step()
        workspace.session.console.release(key)
    assert not task.failed and not [text for kind, text in workspace.said if kind == "error"], workspace.said


@pytest.mark.parametrize("block", TYPED, ids=str)
def test_a_typed_line_of_the_manual_gets_the_answer_that_is_printed_there(folder, block):
    workspace = Workspace(block.world)
    for line, answer in re.findall(r"^> (.*)\n((?:(?!> ).*\n)*)", block.text, re.MULTILINE):
        assert workspace.typed(line) == answer.rstrip("\n"), line


def test_the_messages_of_the_manual_are_those_of_the_console(folder):
    workspace = Workspace("drive")
    said = [workspace.typed("speeed 3"), workspace.typed("disable lanp").replace("console:1", "phases.fsh:4")]
    assert [block.text.splitlines() for block in ANSWERS] == [said]


def test_every_command_and_every_first_bind_is_in_the_manual_as_it_is():
    for spec in Session("line", own_settings=False).console.commands.values():
        assert f"\n{spec.usage}\n    {spec.summary}\n" in PAGES["console"], spec.name
    keys = PAGES["laboratory"].partition("## Keys")[2].partition("\n## ")[0]
    for command in parse(settings.defaults()):
        assert f"`{command.words[1][0]}`" in keys, command


def test_what_is_typed_into_a_terminal_works_and_leads_to_the_figures(folder):
    typed = [line for each in BLOCKS if each.language == "sh" and each.page == "console" for line in each.text.splitlines()]
    assert len(typed) == 2
    for line in typed:
        command, *arguments = line.split()
        assert command == "formiga"
        done = subprocess.run([sys.executable, "-m", "formiga", *arguments], capture_output=True, text=True, timeout=120)
        said = [each for each in done.stderr.splitlines() if not each.startswith("compiling")]
        assert (done.returncode, said) == (0, []), line
        if "square" in line:
            lines = done.stdout.splitlines()
            assert lines[0] == "back at 28 s" and (folder / "square.png").exists()
            assert [float(each) for each in lines[1:3]] == pytest.approx([0.0, -0.5], abs=0.005)
        else:
            assert done.stdout.startswith("west is out at 180 s\neast is out at 360 s\n")
    program = subprocess.run([sys.executable, "near.py"], capture_output=True, text=True, timeout=120)
    assert (program.returncode, program.stdout) == (0, next(each.text for each in BLOCKS if each.language == "output"))


def test_pause_and_speed_change_nothing_without_a_page_and_an_export_is_refused(folder, capsys):
    (folder / "held.fsh").write_text("pause on; speed 0.001; wait 1; echo 'at' $time; quit\n")
    (folder / "film.fsh").write_text("export a.html\n")
    for script, code, said in (("held.fsh", 0, "at 1\n"), ("film.fsh", 2, "no page is open")):
        with pytest.raises(SystemExit) as ended:
            cli.main(["run", "line", "--script", script])
        words = "".join(capsys.readouterr())
        assert ended.value.code == code and said in words, words
