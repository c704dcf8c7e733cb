"""Rules of the house that a reader would otherwise have to count: probes, parameters, lengths of files, words.

Each limit is what there is today. It is lowered when there is less; it is never raised.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for path in (ROOT / "formiga").rglob("*.py") if not path.name.endswith("_pb2.py"))  # generated

PROBES = 9                  # hasattr and getattr with a name that is written down
PERSONS = 2                 # words for persons: two names of the soccer rules and of a report that programs read
DOCS_PERSONS = 1            # in the manual: a word that a message had before
MOST_PARAMETERS = 12        # of a function that is no kernel
MOST_LINES = 500            # of a file

LONG_FILES: dict[str, int] = {}       # file -> its lines today
LONG_SIGNATURES: dict[str, int] = {}  # file:function -> its parameters today

PERSON = re.compile(r"\b(?:who|somebody|nobody|everybody|anybody)\b", re.IGNORECASE)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# -- counting ---------------------------------------------------------------------------------------------------------
def probes(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every hasattr and getattr that names its attribute."""
    for node in ast.walk(ast.parse(source)):
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("hasattr", "getattr")
                and len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and isinstance(node.args[1].value, str)):
            yield node.lineno, ast.unparse(node)


def signatures(source: str) -> Iterator[tuple[str, int, int]]:
    """(name, line, number of parameters) of every function that is no kernel; `self` and `cls` do not count."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            made_by = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
            if not any(isinstance(each, ast.Name) and each.id == "kernel" for each in made_by):
                given = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                yield node.name, node.lineno, len([each for each in given if each not in ("self", "cls")])


def persons(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every word for a person in a comment or a string. Names in the code are not looked at."""
    texts = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in texts:
            text = token.string
            if token.type == tokenize.STRING and "f" in text[:2].lower():  # before Python 3.12 its code is a part of it
                text = re.sub(r"\{[^{}]*\}", lambda code: " " * len(code[0]), text)
            for found in PERSON.finditer(text):
                line = token.start[0] + text.count("\n", 0, found.start())
                yield line, source.splitlines()[line - 1].strip()


def listed(found: list[str]) -> str:
    return "\n  ".join(["", *found])


# -- the rules --------------------------------------------------------------------------------------------------------
def test_the_package_asks_few_objects_what_they_are():
    """An attribute is declared: in a class, with a default in its base, or in a Protocol."""
    found = [f"{name(path)}:{line}: {text}" for path in FILES for line, text in probes(path.read_text(encoding="utf-8"))]
    assert len(found) <= PROBES, f"{len(found)} probes, allowed are {PROBES}:{listed(found)}"


def test_no_function_but_a_kernel_takes_many_parameters():
    found = {f"{name(path)}:{function}": (line, number) for path in FILES
             for function, line, number in signatures(path.read_text(encoding="utf-8")) if number > MOST_PARAMETERS}
    new = [f"{each} (line {line}): {number}" for each, (line, number) in found.items() if number > LONG_SIGNATURES.get(each, 0)]
    assert not new, f"more than {MOST_PARAMETERS} parameters:{listed(new)}"
    gone = sorted(LONG_SIGNATURES.keys() - found.keys())
    assert not gone, f"no longer needed in LONG_SIGNATURES:{listed(gone)}"


def test_no_file_is_long():
    lines = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    found = {each: number for each, number in lines.items() if number > MOST_LINES}
    new = [f"{each}: {number}" for each, number in found.items() if number > LONG_FILES.get(each, 0)]
    assert not new, f"more than {MOST_LINES} lines, or longer than before:{listed(new)}"
    gone = sorted(LONG_FILES.keys() - found.keys())
    assert not gone, f"no longer needed in LONG_FILES:{listed(gone)}"


def test_bodies_robots_and_threads_are_no_persons():
    found = [f"{name(path)}:{line}: {text}" for path in FILES for line, text in persons(path.read_text(encoding="utf-8"))]
    assert len(found) <= PERSONS, f"{len(found)} words for persons, allowed are {PERSONS}:{listed(found)}"


def test_the_manual_has_no_words_for_persons_either():
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += [path for folder in ("docs", "formiga/studies") for path in sorted((ROOT / folder).rglob("*.md"))]
    found = [f"{name(path)}:{number}: {line.strip()}" for path in pages
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) for _ in PERSON.finditer(line)]
    assert len(found) <= DOCS_PERSONS, f"{len(found)} words for persons, allowed are {DOCS_PERSONS}:{listed(found)}"


# -- the counting itself ----------------------------------------------------------------------------------------------
def test_probes_are_those_that_name_an_attribute():
    source = "hasattr(x, 'a')\ngetattr(x, 'b', None)\ngetattr(x, name)\nx.getattr('c', 'd')\n"
    assert [line for line, _ in probes(source)] == [1, 2]


@pytest.mark.parametrize("text, number", [
    ("def f(a, b, /, c, *more, d, **named): ...", 4), ("class A:\n    def f(self, a, b): ...", 2),
    ("@click.command()\nasync def f(a): ...", 1)])
def test_parameters_are_counted_without_self(text, number):
    assert [each[2] for each in signatures(text)] == [number]


def test_kernels_may_take_any_number_of_parameters():
    assert not list(signatures("@kernel()\ndef f(a): ...\n@kernel(inner=True)\ndef g(a): ..."))


def test_words_are_found_in_comments_docstrings_and_messages_alone():
    source = 'def f(who):  # Nobody\n    """One line,\n    and who?"""\n    raise E(f"{who} and somebody")\nwhole = "whom"\n'
    assert [line for line, _ in persons(source)] == [1, 3, 4]
