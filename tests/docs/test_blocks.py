"""Every fenced block of the README and the manual does what it says, as printed.

    ```python     runs by itself, in a folder of its page, as if it were a file there
    ```sh         each line that starts with `formiga` is run here, without a process of its own. Of commands that do not end by
                  themselves, or that have long tests of their own (view, match, tournament, study, bench), the arguments are
                  parsed and the files must be there. `make`, `pip install`: the target, the extra must exist
    ```xml        a whole <world> is checked as `formiga check` does, with the elements of the page's own files; a part of one
                  stands in a world with an arena
    ```json, ```yaml, ```c are read by what reads them

title="mine.py" behind the language makes it a file in the folder of the page, before its first block runs. Two comments in
front of a block say what is different here:

    <!-- in the tests: 600_000 -> 2_000 -->             this text is replaced: it would take too long
    <!-- not run in the tests: it needs SLURM -->       it is only parsed

The blocks of console.md, and those of laboratory.md in the console's own language, are run by tests/test_docs_console.py.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import click
import pytest
import yaml
from click.testing import CliRunner

import formiga
from formiga import lab, measures
from formiga.cli import cli
from formiga.world import elements, own
from formiga.world.reader import read_text

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
PAGES.remove(ROOT / "docs" / "reference" / "console.md")
FENCE = re.compile(r'((?:^<!--[^\n]*-->\n)*)^```(\w*)(?: title="(.*?)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
REPLACED, NOT_RUN = re.compile(r"<!-- in the tests: (.*?) -> (.*?) -->"), re.compile(r"<!-- not run in the tests: (.+?) -->")
PARSED = {"view", "match", "tournament", "study", "bench"}
ELSEWHERE = {"text", "console", "fsh", "output", ""}     # the console's own language, and what programs answer
OTHERS = {"make", "pip", "python", "dask", "ssh"}        # commands that are not ours


class Block(NamedTuple):
    """A fenced part of a page."""

    page: Path
    line: int
    language: str
    title: str
    text: str            # as it is run
    runs: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, with what its comments say about them."""
    found, text = [], page.read_text(encoding="utf-8")
    for each in FENCE.finditer(text):
        body = each[4]
        for old, new in REPLACED.findall(each[1]):
            assert old in body, f"{page.name}: '{old}' is not in the block below"
            body = body.replace(old, new)
        line, runs = text.count("\n", 0, each.start(2)) + 1, not NOT_RUN.search(each[1])
        found.append(Block(page, line, each[2], each[3] or "", body, runs))
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch, own_registry):
    """An empty folder, into which nothing of the manual leaks out of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(own, "_loaded", dict(own._loaded))
    monkeypatch.setattr(sys, "argv", ["manual.py"])
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_does_what_it_says(page, folder):
    kept = [(found, dict(found)) for found in (elements._registry, measures._known)]
    for each in blocks(page):
        if "." in each.title:
            (folder / each.title).write_text(each.text, encoding="utf-8")
    for each in blocks(page):
        assert each.language in KINDS.keys() | ELSEWHERE, f"{each}: what is '{each.language}'?"
        if each.language in KINDS:
            try:
                KINDS[each.language](each)
            except (Exception, SystemExit) as wrong:
                raise AssertionError(f"{each}: {type(wrong).__name__}: {wrong}") from wrong
        for found, known in kept:  # each block is a program of its own
            found.clear()
            found.update(known)


def python(block):
    code = compile(block.text, str(block), "exec", dont_inherit=True)
    if block.runs:
        exec(code, {"__name__": "__main__", "__file__": str(block)})


def sh(block):
    for line in block.text.splitlines():
        command, *arguments = shlex.split(line, comments=True) or ["#"]
        if command == "formiga":
            typed(block, arguments)
        elif command == "make":
            assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
        elif command == "pip":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert all(extra in extras for extra in re.findall(r"formiga\[(\w+)\]", line)), line
        elif command == "python" and arguments[0].endswith(".py") and block.runs:
            done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
        else:
            assert command in OTHERS | {"#"}, line


def typed(block, arguments):
    if arguments[0] in PARSED or not block.runs:
        command = cli.get_command(click.Context(cli), arguments[0])
        assert command is not None, arguments
        context = command.make_context(arguments[0], arguments[1:])
        world = context.params.get("world") or context.params.get("what")
        if isinstance(world, str) and not Path(world).exists() and not world.endswith(".parquet"):
            formiga.read_world(world)
        return
    result = CliRunner().invoke(cli, arguments, prog_name="formiga")
    assert result.exit_code == 0, result.output


def xml(block):
    whole = block.text if "<world" in block.text else f'<world><arena width="3" depth="3"/>{block.text}</world>'
    for file in Path.cwd().glob("*.py"):
        if re.search(r"@(formiga\.)?element", file.read_text(encoding="utf-8")):  # as if it were named with --with
            lab.load_elements(file)
    if block.runs:
        lab.check_world(read_text(whole, block.title or str(block)))  # the files that it names lie beside it


def parsed_json(block):
    assert json.loads(block.text)["formiga"] == "genotype"


def parsed_yaml(block):
    assert isinstance(yaml.safe_load(block.text), dict)


def c(block):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    done = subprocess.run([compiler, "-fsyntax-only", "-Wall", "-Werror", "-x", "c", "-I", ROOT / "formiga" / "soccer",
                           "-I", ROOT / "formiga" / "link" / "clients", "-"], input=block.text, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr


KINDS = {"python": python, "sh": sh, "xml": xml, "json": parsed_json, "yaml": parsed_yaml, "c": c}


# -- the rest of a page -----------------------------------------------------------------------------------------------
def test_the_example_that_a_page_prints_is_the_example():
    printed = next(each for each in blocks(ROOT / "docs" / "guides" / "environments.md") if "stable_baselines3" in each.text)
    assert printed.text == (ROOT / "examples" / "04_train.py").read_text(encoding="utf-8")


SHELVES = ("tutorials", "guides", "reference", "papers")


def test_the_start_page_leads_to_every_shelf_and_a_shelf_to_its_pages():
    docs = ROOT / "docs"
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    start = (docs / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in docs.glob("*.md")] == ["index.md"]
    assert {page.parent.name for page in docs.glob("*/*.md")} == set(SHELVES)
    for shelf in SHELVES:
        assert f"]({shelf}/index.md)" in start, shelf
        index = (docs / shelf / "index.md").read_text(encoding="utf-8")
        for page in (docs / shelf).glob("*.md"):
            assert page.name == "index.md" or f"]({page.name})" in index, page
            assert re.search(rf"[-:] {shelf}/{page.name}\n", menu), page


def links(page):
    """Targets of the links and pictures of a page that are files; code is left out."""
    text = re.sub(r"```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target.partition("#")[0] for target in targets if not re.match(r"https?:|#|mailto:", target)]


READ_ELSEWHERE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "formiga").rglob("*.md"))]


@pytest.mark.parametrize("page", READ_ELSEWHERE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_link_outside_the_manual_leads_to_a_file(page):
    """`mkdocs build --strict` looks at those within the manual."""
    assert not [target for target in links(page) if not (page.parent / target).exists()]



def test_pages_that_the_code_names_exist():
    """Comments and messages say where more is written."""
    files = [file for kind in ("*.py", "*.h", "*.md", "*.xml") for file in (ROOT / "formiga").rglob(kind)]
    named = {(file, page) for file in files for page in re.findall(r"\bdocs/[\w/-]+\.md", file.read_text(encoding="utf-8"))}
    assert named and not [(file, page) for file, page in named if not (ROOT / page).is_file()]


# -- the shelf of papers ----------------------------------------------------------------------------------------------
def test_the_shelf_of_papers_lists_all_26_systems_and_those_that_are_here_can_be_run():
    from formiga import studies

    shelf = ROOT / "docs" / "papers"
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")]
            for line in (shelf / "index.md").read_text(encoding="utf-8").splitlines() if re.match(r"\| [SR]\d", line)]
    assert [row[0] for row in rows] == ["S1", "S2", "S3", *(f"R{number:02}" for number in range(1, 24))]
    named = [row[3].strip("`") for row in rows]
    assert len(set(named)) == len(named) and all(name.isidentifier() for name in named)
    for row, name in zip(rows, named, strict=True):
        assert row[4] in ("here", "planned"), row
        page = re.match(r"\[.*\]\((.*)\)", row[1])
        assert (row[4] == "here") == (name in studies.known()) == bool(page), row
        assert page is None or (shelf / page[1]).is_file(), row


@pytest.fixture(scope="module")
def api():
    """docs/api.py, which writes the reference."""
    spec = importlib.util.spec_from_file_location("docs_api", ROOT / "docs" / "api.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_reference_is_of_now(api):
    for page in api.PAGES:
        assert (api.FOLDER / page).read_text(encoding="utf-8") == api.written(page), f"{page} is not of now: python docs/api.py"


def test_the_reference_is_complete(api):
    """Every name of the package's face, every kind of attribute, every public method of what own code is given."""
    sections = [section for _, sections in api.PAGES.values() for section in sections.values()]
    listed = {(module, name): members for module, names in sections for name, members in names.items()}
    assert {name for module, name in listed if module == "formiga"} == set(formiga.__all__)
    kinds = {name for name, value in vars(elements).items() if inspect.isfunction(value) and not name.startswith("_")
             and isinstance(made(value), dataclasses.Field)}
    assert kinds == {name for module, name in listed if module == "formiga.world.elements"}
    given = [("formiga.sense", "SensorView"), ("formiga.estimate", "RobotView"), ("formiga.control", "View"),
             ("formiga.control", "Orders"), ("formiga.engine.command", "Command"), ("formiga.comm.inbox", "Inbox"),
             ("formiga.score", "RewardView")]
    text = (api.FOLDER / "own-code.md").read_text(encoding="utf-8")
    for module, name in given:
        assert (module, name) in listed
        for member in api.public(getattr(importlib.import_module(module), name)):
            assert f"**`{name}.{member}" in text or name == "Orders", f"{name}.{member} is not in the reference"
    for module, name in listed:
        assert inspect.getdoc(getattr(importlib.import_module(module), name)), f"{module}.{name} has no docstring"


def made(function):
    """What a function of `world.elements` returns for a default of None, if it takes one."""
    try:
        return function(None, options=("a",)) if function.__name__ == "choice" else function(None)
    except Exception:
        return None
