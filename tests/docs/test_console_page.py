"""The manual says what the program does: its list of commands, its limits, its tutorial."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from formiga.console import limits, parse
from formiga.session import Session

DOCS = Path(__file__).parents[2] / "docs"
CONSOLE, LABORATORY = ((DOCS / name).read_text(encoding="utf-8") for name in ("reference/console.md", "guides/laboratory.md"))


@pytest.fixture(scope="module")
def commands():
    spec = importlib.util.spec_from_file_location("docs_commands", DOCS / "commands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_is_in_the_manual_with_its_usage_and_its_help(commands):
    for name, spec in commands.known().items():
        assert f"\n{spec.usage}\n    {spec.summary}\n" in CONSOLE, f"{name} is missing: python docs/commands.py"
    assert commands.renewed(CONSOLE) == CONSOLE, "the list is not of now: python docs/commands.py"


def test_every_command_has_a_group(commands):
    assert {commands.module_of(spec) for spec in commands.known().values()} <= set(commands.GROUPS)


@pytest.mark.parametrize("page", [CONSOLE, LABORATORY], ids=["console", "laboratory"])
def test_the_examples_can_be_read(page, commands):
    known, found = commands.known(), 0
    for block in re.findall(r"```text\n(.*?)```", page.partition(commands.BEGIN)[0], re.DOTALL):
        if re.match(r"\S+:\d+: ", block):  # what the console answers
            continue
        made = set(re.findall(r"^alias (\S+)", block, re.MULTILINE))
        for command in parse(block):
            assert command.name in known.keys() | made, command.name
            found += 1
    assert found > 3


def test_the_limits_are_those_of_the_console():
    for limit in (limits.BUDGET, limits.DEPTH, limits.TASKS, limits.LINE, limits.NAMES):
        assert f" {limit:,}" in CONSOLE.partition("## Limits")[2].partition("##")[0]
    assert limits.LINE == limits.EXPANDED and limits.TEXT == 1_000_000


def test_the_first_line_of_every_help_is_a_whole_sentence():
    """`help` lists it alone."""
    for name, spec in Session("line", own_settings=False).console.commands.items():
        assert spec.summary.endswith("."), f"{name}: {spec.summary}"


def test_the_keys_of_the_manual_are_those_that_are_bound():
    console = Session("line", own_settings=False).console
    shown = re.findall(r"\| `([^`]+)` \|", LABORATORY.partition("## Keys")[2].partition("\n## ")[0])
    assert sorted(shown) == sorted(console.binds)


def test_the_car_of_the_tutorial_drives_while_its_key_is_held(tmp_path):
    (tmp_path / "car.xml").write_text(re.search(r"```xml[^\n]*\n(.*?)```", LABORATORY, re.DOTALL)[1])
    said = []
    session = Session(str(tmp_path / "car.xml"), hear=lambda kind, text, window: said.append((kind, text)), own_settings=False)
    for line in re.findall(r"^(alias|bind) (.*)$", LABORATORY, re.MULTILINE):
        session.console.run(" ".join(line))
    start = session.sim.state.position[0, 0, 1]
    session.console.press("w")
    for _ in range(5):
        session.step()
    session.console.release("w")
    there = session.sim.state.position[0, 0, 1]
    session.step()
    assert there > start + 0.03 and session.sim.state.position[0, 0, 1] == there
    session.console.press("d")
    session.step()
    assert session.sim.state.heading[0, 0] < 1.5707
    session.console.press("h")
    assert not session.world.things[2].on
    assert not [text for kind, text in said if kind == "error"]
