"""A world's own text steers the world and touches no file, by no way around."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formiga.console import CommandSpec, Console
from formiga.errors import Where

WORLD = Where("arena.xml", 12)


def test_a_worlds_text_may_not_use_files_and_is_told_what_to_do(workspace):
    assert workspace.fails("do a; save x", where=WORLD, trusted=False) == (
        "arena.xml:12: 'save' works on files; a world's own text may not. Type it yourself, or put it into a script that you "
        "run with `exec`.")
    assert "works on files" in workspace.fails("exec x.fsh", where=WORLD, trusted=False)
    assert workspace.did == ["a"] and not workspace.run("save x").failed


@pytest.mark.parametrize("world, user", [
    ("alias a 'save x'", "a"),
    ("alias a 'save x'", "alias b 'a'; b"),
    ("alias a 'alias b \"save x\"'", "a; b"),
    ("alias a 'bind w \"save x\"'; a", "do nothing"),
    ("var x save", "$x file"),
    ("var x /etc/passwd", "save $x"),
    ("var x 'save y'", "alias a \"$x\"; a"),
    ("var x 'save y'", "var z $x; bind w \"$z\""),
    ("alias a 'wait 1; save x'", "a"),
    ("alias a 'var x save'", "a; $x y"),
    ("bind w 'save x'", "do nothing"),
    ("bind w +a; alias -a 'save x'", "do nothing"),
    ("alias a 'do $1; save x'", "a 1"),
    ("wait 1; save x", "do nothing"),
])
def test_there_is_no_way_around_it(workspace, world, user):
    workspace.run(world, where=WORLD, trusted=False)
    workspace.run(user)
    workspace.press("w")
    workspace.release("w")
    workspace.pass_time(5, steps=5)
    assert not any(done.startswith("save") for done in workspace.did)
    assert any("works on files" in error for error in workspace.errors)


def test_a_world_may_not_use_files_through_an_alias_of_the_user_either(workspace):
    workspace.run("alias keep 'save mine'")
    assert workspace.fails("keep", where=WORLD, trusted=False).startswith("console:1: 'save' works on files")
    assert not workspace.run("keep").failed and workspace.did == ["save mine"]


def test_letting_go_of_a_worlds_key_is_not_trusted_more_than_pressing_it(workspace):
    workspace.run("alias -keep 'save mine'; alias +keep 'do nothing'")
    workspace.run("bind w +keep", where=WORLD, trusted=False)
    workspace.press("w")
    workspace.release("w")
    assert workspace.did == ["nothing"] and "works on files" in workspace.errors[0]


def test_what_the_user_types_beside_a_worlds_alias_stays_trusted(workspace):
    workspace.run("alias a 'do a'", where=WORLD, trusted=False)
    workspace.run("a; save x; wait 1; a; save y")
    workspace.pass_time(1)
    assert workspace.did == ["a", "save x", "a", "save y"]


def test_a_worlds_definitions_go_with_it_and_those_of_the_user_come_back(workspace):
    workspace.run("bind w 'do mine'; alias a 'do mine'; var x mine")
    for _ in range(2):  # a world that defines it twice hides the user's once
        workspace.run("bind w 'do worlds'; alias a 'do worlds'; var y worlds; bind s 'do worlds'", where=WORLD, trusted=False)
    task = workspace.run("wait 1; do never", where=WORLD, trusted=False)
    mine = workspace.run("wait 1; do later")
    workspace.run("a")
    workspace.console.forget_untrusted()
    workspace.run("a; do $x")
    workspace.press("w")
    workspace.pass_time(1)
    assert workspace.did == ["worlds", "mine", "mine", "mine", "later"] and task.stopped and mine.done
    assert workspace.press("s") is None and "y" not in workspace.console.variables


def test_a_user_may_bind_over_a_world(workspace):
    workspace.run("bind w 'do worlds'", where=WORLD, trusted=False)
    workspace.run("bind w 'save x'")
    workspace.press("w")
    workspace.console.forget_untrusted()
    workspace.release("w")
    workspace.press("w")
    assert workspace.did == ["save x", "save x"]


def test_a_provided_value_may_be_of_a_world(workspace):
    workspace.console.provide("title", lambda: "x; save y", trusted=False)
    workspace.run("do $title")
    assert "works on files" in workspace.fails("save $title") and "works on files" in workspace.fails('alias a "do $title"; a')
    assert workspace.did == ["x; save y", "x"]


NAMES = st.sampled_from(["a", "b"])
SINGLE = st.sampled_from(["save", "a", "b", "$x", "var x save", "wait 1", "var x a", "bind w $x", "alias b $x", "alias a save"])
BODY = st.lists(SINGLE, min_size=1, max_size=3).map("; ".join)
ALIAS = st.tuples(NAMES, BODY).map(lambda it: f"alias {it[0]} '{it[1]}'")
LINE = st.one_of(BODY, ALIAS, BODY.map(lambda text: f"bind w '{text}'"))


@given(st.lists(st.tuples(LINE, st.booleans()), max_size=8))
def test_a_file_command_runs_only_if_every_text_that_led_to_it_is_trusted(lines):
    """No trusted line here says `save`, so whatever saves was led there by the world."""
    time, saved = 0.0, []
    console = Console(lambda text: None, lambda: time)
    console.add([CommandSpec("save", "save", "Counts.", lambda call: saved.append(call.where), files=True)])
    for text, trusted in lines:
        console.run(text.replace("save", "echo") if trusted else text, trusted=trusted)
        console.press("w")
        console.release("w")
        time += 1
        console.advance()
    assert saved == []


def test_a_worlds_text_may_forget_its_own_definitions_and_nobody_elses(workspace):
    workspace.console.alias("mine", "echo mine")
    workspace.console.bind("w", "echo mine")
    for text in ("unalias mine", "unbind w"):
        assert "a world's own text may not forget it" in workspace.console.run(text, "arena.xml", trusted=False).error
    workspace.console.run("alias mine 'echo theirs'; bind w 'echo theirs'; unalias mine; unbind w", "arena.xml", trusted=False)
    assert workspace.console.aliases["mine"].text == workspace.console.binds["w"].text == "echo mine"
    workspace.console.run("unalias mine; unbind w")
    assert "mine" not in workspace.console.aliases and "w" not in workspace.console.binds
