"""Whatever a text asks for, it ends, says why, and the console goes on."""

import itertools

import pytest

from formiga.console import CommandSpec, ConsoleError, limits


@pytest.mark.parametrize("text", [
    "alias a a; a",
    "alias a 'do; a'; a",
    "alias a 'wait 0; a'; a",
    "alias a b; alias b a; a",
    "alias a 'b; a'; alias b 'do'; a",
    "alias a 'alias a \"do; a\"; a'; a",
])
def test_a_loop_without_a_wait_ends_with_its_line_and_the_limit(workspace, text):
    message = workspace.fails(text, where="x.fsh")
    assert message.startswith("x.fsh:1: 10000 commands without a `wait`, the most that is allowed.")
    assert len(workspace.did) <= limits.BUDGET and not workspace.run("do a").failed


def test_the_budget_is_for_a_stretch_between_waits_and_not_a_command_less(workspace):
    full = "\n".join(["do"] * (limits.BUDGET - 1)) + "\nwait 1\n"
    task = workspace.run(full * 3 + "do end")
    workspace.pass_time(3, steps=3)
    assert task.done and not task.failed and workspace.did[-1] == "end"
    assert not workspace.run("\n".join(["do"] * limits.BUDGET)).failed
    assert workspace.fails("\n".join(["do"] * (limits.BUDGET + 1)), where="x.fsh").startswith("x.fsh:10000: 10000 commands")


def test_a_blinking_lamp_blinks_for_ever_peacefully(workspace):
    task = workspace.run("alias blink 'do toggle; wait 1; blink'; blink")
    workspace.pass_time(20_000, steps=20_000)
    assert len(workspace.did) == 20_001 and not task.done and len(task.frames) <= 1
    workspace.console.stop()
    workspace.pass_time(1)
    assert len(workspace.did) == 20_001


def test_the_last_command_of_an_alias_does_not_deepen(workspace):
    for depth in range(1, 200):
        workspace.console.alias(f"a{depth}", f"do {depth}; a{depth - 1}")
    workspace.console.alias("a0", "do bottom")
    assert not workspace.run("a199; do end").failed and workspace.did[-2:] == ["bottom", "end"]


def test_calls_inside_each_other_have_a_limit(workspace):
    def nest(depth):
        workspace.console.alias("a0", "do bottom")
        for level in range(1, depth):
            workspace.console.alias(f"a{level}", f"a{level - 1}; do {level}")
        return f"a{depth - 1}; do end"

    assert not workspace.run(nest(limits.DEPTH - 1)).failed and workspace.did[-1] == "end"
    assert "more than 32 deep" in workspace.fails(nest(limits.DEPTH + 2))
    assert "more than 32 deep" in workspace.fails("alias a 'a; do x'; a")


def test_a_script_that_runs_itself_ends(workspace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "self.fsh").write_text("do a\nexec self.fsh\ndo b", encoding="utf-8")
    assert workspace.fails("exec self.fsh").startswith("self.fsh:2: aliases and scripts call each other more than 32 deep.")
    assert "b" not in workspace.did


def test_only_so_many_texts_wait_at_once_and_stop_still_works(workspace):
    for _ in range(limits.TASKS):
        assert not workspace.run("wait 1; do a").failed
    refused = workspace.fails("do b; wait 1; do c")
    assert refused == "console:1: 64 scripts are waiting, the most that is allowed. `stop` ends them."
    assert not workspace.run("do now").failed
    workspace.pass_time(1)
    assert workspace.did == ["b", "now"] + ["a"] * limits.TASKS and workspace.console.tasks == []
    for _ in range(limits.TASKS):
        workspace.run("alias blink 'wait 1; blink'; blink")
    assert not workspace.run("stop").failed and workspace.console.tasks == []


def test_commands_that_run_texts_cannot_run_each_other_for_ever(workspace):
    again = CommandSpec("again", "again", "Runs itself.", lambda call: call.console.run("again", where="x.fsh"))
    workspace.console.add([again])
    workspace.run("again")
    assert workspace.errors == ["x.fsh:1: commands start each other more than 32 deep."] and workspace.console.tasks == []


def test_variables_cannot_grow_a_text_without_end(workspace):
    workspace.run("var x 0123456789")
    doubling = itertools.takewhile(lambda _: not workspace.errors, itertools.repeat("var x $x$x"))
    assert sum(1 for text in doubling if workspace.run(text)) < 20
    assert workspace.errors == ["console:1: with its variables filled in the command has more than 10000 characters, the most "
                                "that is allowed."]
    assert "more than 10000" in workspace.fails("echo " + "$x " * 3000)


@pytest.mark.parametrize("what, make", [
    ("aliases", "alias n{} do"), ("variables", "var n{} 1"), ("binds", "bind {} do"),
])
def test_names_have_a_limit_and_old_ones_can_still_change(workspace, what, make):
    name = chr if what == "binds" else str
    start = 0x4E00  # Chinese letters: keys enough
    for number in range(limits.NAMES):
        assert not workspace.run(make.format(name(start + number))).failed
    assert workspace.fails(make.format(name(start + limits.NAMES))) == (
        f"console:1: there are 1000 {what} already, the most that is allowed.")
    assert not workspace.run(make.format(name(start))).failed


def test_names_have_a_longest_length(workspace):
    assert not workspace.run(f"alias {'a' * 64} do; var {'a' * 64} 1").failed
    for text in (f"alias {'a' * 65} do", f"var {'a' * 65} 1", "a" * 9000, f"echo $b{'a' * 9000}", f"help {'a' * 9000}",
                 f"wait {'a' * 9000}", f"bind {'a' * 9000} x"):
        assert len(workspace.fails(text)) < 2 * limits.NAME * 10


def test_an_alias_has_a_longest_text(workspace):
    with pytest.raises(ConsoleError, match=r"^arena.xml:1: the text has 10001 characters"):
        workspace.console.alias("a", "a" * 10_001, where="arena.xml")


def test_history_forgets_the_oldest_lines(workspace):
    for number in range(limits.HISTORY + 10):
        workspace.run(f"do {number}")
    assert len(workspace.console.history) == limits.HISTORY and workspace.console.history[0] == "do 10"
