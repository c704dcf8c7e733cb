"""The getters that all commands share."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formiga.console import Call, CommandSpec, Console, ConsoleError, Task
from formiga.errors import Where

SPEC = CommandSpec("cmd", "cmd A [B]", "Does something.\n\nAnd more.", lambda call: None)


def call(*args, file="console"):
    where = Where(file, 3)
    return Call(list(args), where, None, True, Console(print, lambda: 0.0), SPEC, Task(where, None, True))


def test_a_good_argument_is_what_it_says():
    assert call("a", "2.5", "7", "on").word(0, "A") == "a"
    assert call("2.5").number(0, "A", least=0, most=3) == 2.5 and call("-1e3").number(0, "A") == -1000
    assert call("7").whole(0, "A", least=7, most=7) == 7 and call("-7").whole(0, "A") == -7
    assert call("on").switch(0, "A") is True and call("off").switch(0, "A") is False
    assert call("a", "b", "c d").rest(1) == "b c d"
    assert call("lamp").word(0, "A", among=["lamp", "wall"]) == "lamp"
    assert SPEC.summary == "Does something."


def test_a_missing_argument_has_its_default():
    nothing = call()
    assert nothing.word(0, "A", default="x") == "x" and nothing.number(0, "A", default=1.5) == 1.5
    assert nothing.whole(0, "A", default=0) == 0 and nothing.switch(0, "A", default=False) is False
    for get in (nothing.word, nothing.number, nothing.whole, nothing.switch):
        with pytest.raises(ConsoleError, match=r"^console:3: cmd: A is missing. Usage: cmd A \[B\]$"):
            get(0, "A")


@pytest.mark.parametrize("ask, message", [
    (lambda: call("x").number(0, "A"), "A 'x' is not a number."),
    (lambda: call("inf").number(0, "A"), "A 'inf' is not a number."),
    (lambda: call("1_0").number(0, "A"), "A '1_0' is not a number."),
    (lambda: call("5").number(0, "A", most=4), "A 5 is out of range; it must be at most 4."),
    (lambda: call("5").number(0, "A", least=6), "A 5 is out of range; it must be at least 6."),
    (lambda: call("5").number(0, "A", 0, 1), "A 5 is out of range; it must be from 0 to 1."),
    (lambda: call("2.0").whole(0, "A"), "A '2.0' is not a whole number."),
    (lambda: call("-").whole(0, "A"), "A '-' is not a whole number."),
    (lambda: call("9" * 5000).whole(0, "A"), "is not a whole number."),
    (lambda: call("0").whole(0, "A", least=1), "A 0 is out of range; it must be at least 1."),
    (lambda: call("yes").switch(0, "A"), "A 'yes' is unknown. Allowed: on, off."),
    (lambda: call("lmap").word(0, "A", ["lamp", "wall"]), "A 'lmap' is unknown. Did you mean 'lamp'? Allowed: lamp, wall."),
    (lambda: call("a").exactly(2), "it needs 2 arguments, not 1."),
    (lambda: call("a", "b").exactly(1), "it takes at most 1 argument, not 2."),
    (lambda: call("a").most(0), "it takes no arguments, not 1."),
])
def test_a_bad_argument_says_what_is_allowed_and_shows_the_usage(ask, message):
    with pytest.raises(ConsoleError) as wrong:
        ask()
    assert message in str(wrong.value) and str(wrong.value).startswith("console:3: cmd: ")
    assert str(wrong.value).endswith("Usage: cmd A [B]")


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_a_console_error(text):
    for get in (call(text).number, call(text).whole):
        with contextlib.suppress(ConsoleError):
            assert math.isfinite(get(0, "A"))


def test_a_file_is_beside_the_script_or_in_the_current_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert str(call("a.xml").path(0, "FILE")) == "a.xml"
    assert str(call("a.xml", file="scripts/x.fsh").path(0, "FILE")) == "scripts/a.xml"
    assert str(call("/tmp/a.xml", file="scripts/x.fsh").path(0, "FILE")) == "/tmp/a.xml"
    assert call("~/a.xml").path(0, "FILE") == tmp_path / "a.xml"
