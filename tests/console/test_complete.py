"""What a half-typed line may become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formiga.console import CommandSpec, Console, parse


@pytest.fixture
def console():
    console = Console(print, lambda: 0.0)
    console.add([CommandSpec("enable", "enable THING", "Switches on.", print,
                             complete=lambda args: ["lamp", "lamp two", "wall", "bad\x1b"] if len(args) == 1 else ["second"])])
    console.run("alias ember 'echo x'; bind w 'echo x'; var tint red; var title x")
    return console


@pytest.mark.parametrize("text, expected", [
    ("e", ["echo", "ember", "enable", "exec"]),
    ("echo a; en", ["enable"]),
    ("zz", []),
    ("enable ", ["lamp", '"lamp two"', "wall"]),
    ("enable la", ["lamp", '"lamp two"']),
    ('enable "lamp t', ['"lamp two"']),
    ("enable lamp ", ["second"]),
    ("nothing ", []),
    ("ember ", []),
    ("help em", ["ember"]),
    ("unalias ", ["ember"]),
    ("unbind ", ["w"]),
    ("bind Arrow", ["ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp"]),
    ("bind x em", ["ember"]),
    ("echo $t", ["$time", "$tint", "$title"]),
    ("echo a${ti", ["a${time}", "a${tint}", "a${title}"]),
    ('echo "it is $tim', ['"it is $time']),
    ("echo '$t", []),
    ("var t", ["tint", "title"]),
    ("'en", ["enable"]),
    ("echo \\q en", []),
    ("echo $time en", []),
])
def test_the_last_word_may_become_these(console, text, expected):
    assert console.complete(text) == expected


def test_a_completion_replaces_the_last_word_and_then_parses(console):
    for text in ("enable la", 'echo x; enable "lamp t', "bind Arr", "e"):
        for candidate in console.complete(text):
            assert parse(text[: console.last_word(text)] + candidate)


def test_exec_completes_scripts_and_folders(console, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.fsh", "two.fsh", "other.txt", ".hidden.fsh"):
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "three.fsh").touch()
    assert console.complete("exec ") == ["one.fsh", "sub/", "two.fsh"]
    assert console.complete("exec sub/") == ["sub/three.fsh"]
    assert console.complete("exec nowhere/") == [] and console.complete("exec a b") == []


@given(st.text(max_size=30) | st.text(st.sampled_from("echo ab$t{}\"'\\;# "), max_size=20))
def test_completing_never_fails_and_every_candidate_is_known(text):
    console = Console(print, lambda: 0.0)
    assert 0 <= console.last_word(text) <= len(text)
    for candidate in console.complete(text):
        assert isinstance(candidate, str) and candidate
