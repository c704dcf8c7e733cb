"""Running texts: the language's own commands, variables, aliases, waiting, errors."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formiga.console import CommandSpec, Console, ConsoleError, quote
from formiga.errors import Where


# -- a line
def test_commands_run_in_their_order(workspace):
    task = workspace.run('do a; do "b  c" \'d\'\ndo e # and no more')
    assert workspace.did == ["a", "b  c d", "e"]
    assert task.done and not task.failed and workspace.console.tasks == []


def test_the_example_of_the_manual_runs_as_it_reads(workspace, tmp_path):
    workspace.console.provide("seed", lambda: 7)
    script = tmp_path / "phases.fsh"
    script.write_text("""# phases.fsh
alias dark "do disable lamp; echo lights out"
do lamp.intensity 0.5; wait 180     # simulated seconds
dark
echo "it is $time s, seed $seed"
""", encoding="utf-8")
    task = workspace.console.run_file(script)
    workspace.pass_time(179.9, steps=1799)
    assert workspace.did == ["lamp.intensity 0.5"] and not task.done
    workspace.pass_time(0.1)
    assert workspace.did[1:] == ["disable lamp"] and workspace.said == ["lights out", "it is 180 s, seed 7"] and task.done


# -- errors
@pytest.mark.parametrize("text, message", [
    ("ehco x", "console:1: there is no command 'ehco'. Did you mean 'echo'? `help` lists all."),
    ("do a\n\nzzz", "console:3: there is no command 'zzz'. `help` lists all."),
    ("echo $tiem", "console:1: there is no variable '$tiem'. Did you mean '$time'? Known: $time. `var` sets one."),
    ("wait", "console:1: wait: it needs 1 argument, not 0. Usage: wait SECONDS"),
    ("wait 1 2", "console:1: wait: it takes at most 1 argument, not 2. Usage: wait SECONDS"),
    ("wait soon", "console:1: wait: SECONDS 'soon' is not a number. Usage: wait SECONDS"),
    ("wait nan", "console:1: wait: SECONDS 'nan' is not a number. Usage: wait SECONDS"),
    ("wait -1", "console:1: wait: SECONDS -1 is out of range; it must be at least 0. Usage: wait SECONDS"),
    ("stop now", "console:1: stop: it takes no arguments, not 1. Usage: stop"),
    ("do a; fail", "console:1: it did not work."),
    ("load bad.xml", "bad.xml:14: <lamp> has no attribute 'brihgt'."),
    ("help ecko", "console:1: there is no command 'ecko'. Did you mean 'echo'? `help` lists all."),
    ("unalias x", "console:1: there is no alias 'x'."),
    ("alias x", "console:1: there is no alias 'x'."),
    ("unbind w", "console:1: there is no bind of 'w'."),
    ("alias echo 'do x'", "console:1: 'echo' is a command; an alias needs a name of its own."),
    ("alias a;b c", "console:1: there is no alias 'a'."),
    ("alias a=b c", "console:1: 'a=b' cannot be the name of an alias: letters"),
    ("alias a 'do \"'", "console:1: a \" opens here"),
    ("alias go 'do $1'; go", "console:1: the alias 'go' takes 1 argument, not 0. It is: do $1"),
    ("alias go 'do'; go 1", "console:1: the alias 'go' takes no arguments, not 1. It is: do"),
    ("do $1", "console:1: there is no argument $1 here. Only an alias has arguments"),
    ("bind w 'do $1'", "console:1: a key gives no arguments, so $1 has no value."),
    ("bind Ctl+w x", "console:1: there is no key 'Ctl+w'. Did you mean 'Ctrl'?"),
    ("var 1a x", "console:1: '1a' cannot be the name of a variable"),
    ("var time 3", "console:1: $time is given by the laboratory and cannot be set."),
    ("exec nowhere.fsh", "console:1: nowhere.fsh: there is no such file."),
    ('""', "console:1: there is no command ''."),
    ("a 'b", "console:1: a ' opens here"),
])
def test_an_error_says_the_line_and_what_is_allowed(workspace, text, message):
    assert workspace.fails(text).startswith(message)
    assert not workspace.run("do still here").failed and workspace.did[-1] == "still here"


def test_an_error_ends_its_own_text_and_no_other(workspace):
    other = workspace.run("wait 1; do other")
    workspace.fails("do a; fail; do b")
    workspace.pass_time(1)
    assert workspace.did == ["a", "other"] and other.done and not other.failed


def test_an_error_after_a_wait_says_its_line_too(workspace):
    task = workspace.run("wait 1\ndo a\nfail\ndo b", where="x.fsh")
    workspace.pass_time(1)
    assert task.failed and workspace.errors == ["x.fsh:3: it did not work."] and workspace.did == ["a"]


def test_an_error_inside_an_alias_stands_where_the_alias_was_defined(workspace):
    workspace.run("\n\nalias broken 'do a; nothing'", where="x.fsh")
    assert workspace.fails("broken").startswith("x.fsh:3: there is no command 'nothing'.")


def test_a_mistake_of_ours_is_not_swallowed_and_leaves_the_console_usable(workspace):
    with pytest.raises(ZeroDivisionError):
        workspace.run("bug; do a")
    task = workspace.run("wait 1; bug")
    other = workspace.run("wait 1; do b")
    with pytest.raises(ZeroDivisionError):
        workspace.pass_time(1)
    assert task.failed and task.done
    workspace.console.advance()
    assert other.done and workspace.did == ["b"] and workspace.console.tasks == []


def test_errors_go_to_say_if_nobody_else_takes_them():
    said = []
    Console(said.append, lambda: 0.0).run("nothing")
    assert said == ["console:1: there is no command 'nothing'. `help` lists all."]


def test_two_commands_of_one_name_are_a_mistake_of_ours(workspace):
    with pytest.raises(ValueError, match="'do'"):
        workspace.console.add([CommandSpec("do", "do", "Again.", print)])
    with pytest.raises(ValueError, match="no name"):
        workspace.console.add([CommandSpec("a b", "a b", "Two words.", print)])


# -- help
def test_help_lists_every_command_with_its_first_line(workspace):
    workspace.run("alias dark 'do x'; help")
    listed = "\n".join(workspace.said)
    for spec in workspace.console.commands.values():
        assert spec.usage in listed and spec.summary in listed and spec.doc.strip()
    assert workspace.said[-1] == "aliases: dark"


def test_help_explains_one_command_or_alias(workspace):
    workspace.run("alias dark 'do x; do y'; help wait; help dark")
    assert workspace.said[0] == "wait SECONDS" and "simulated time" in workspace.said[1]
    assert workspace.said[-1] == 'alias dark "do x; do y"'


# -- variables
def test_variables_are_filled_in_when_the_command_runs(workspace):
    workspace.run("var x 1; do $x; var x 2; do $x \"${x}0\" '$x' $$x")
    assert workspace.did == ["1", "2 20 $x $x"]


def test_a_value_stays_one_word_and_is_never_read_as_commands(workspace):
    workspace.run("var x 'a b; do evil # \"'; do $x; var name do; $name $x")
    assert workspace.did == ["a b; do evil # \"", "a b; do evil # \""]


def test_time_is_written_for_people(workspace):
    workspace.time = 3 * 0.1
    workspace.run("do $time")
    workspace.time = 10.0
    workspace.run("do $time")
    assert workspace.did == ["0.3", "10"]


def test_var_shows_one_or_all(workspace):
    workspace.run("var x 'a b'; var x; var")
    assert workspace.said == ['var x "a b"', "var time 0", 'var x "a b"']


# -- aliases
def test_an_alias_runs_its_text_and_goes_on_behind_it(workspace):
    workspace.run("alias two 'do a; do b'; alias four 'two; two'; four; do c")
    assert workspace.did == ["a", "b", "a", "b", "c"]


def test_an_alias_takes_the_arguments_that_it_uses(workspace):
    workspace.run("alias go 'do $2 $1 ${1}x'; alias twice 'go $1 A; go \"$1 $1\" B'; twice 'p q'")
    assert workspace.did == ["A p q p qx", "B p q p q p q p qx"]


def test_double_quotes_fill_in_now_and_single_quotes_later(workspace):
    workspace.run("var x 1; alias now \"do $x\"; alias later 'do $x'; var x 2; now; later")
    assert workspace.did == ["1", "2"]


def test_an_alias_may_be_defined_without_quotes_if_it_is_one_command(workspace):
    workspace.run("alias say do 'a; b' \"c\"; say")
    assert workspace.did == ["a; b c"]


def test_aliases_are_shown_as_they_can_be_typed(workspace):
    workspace.run("alias b 'do \"x y\"'; alias a 'do 1'; alias; alias b")
    assert workspace.said == ['alias a "do 1"', r'alias b "do \"x y\""', r'alias b "do \"x y\""']
    shown = list(workspace.said)
    workspace.run("unalias a; unalias b; alias")
    assert workspace.said[3:] == ["there are no aliases."]
    workspace.run("\n".join(shown) + "\na; b")
    assert workspace.did == ["1", "x y"]


def test_an_alias_may_change_while_it_runs(workspace):
    workspace.run("alias a 'alias a \"do new\"; do old'; a; a")
    assert workspace.did == ["old", "new"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20), max_size=5))
def test_whatever_words_go_through_alias_and_bind_come_out_the_same(words):
    got = []
    console = Console(print, lambda: 0.0)
    console.add([CommandSpec("take", "take WORDS...", "Keeps them.", lambda call: got.append(call.args))])
    console.run(quote(["alias", "a", quote(["take", *words])]) + ";a;" + quote(["bind", "w", "take", *words, ""]))
    console.press("w")
    assert got == [words, [*words, ""]]


# -- waiting
def test_wait_lets_simulated_time_pass(workspace):
    task = workspace.run("do a; wait 0.3; do b; wait 0.2; do c")
    seen = []
    for _ in range(6):
        workspace.pass_time(0.1)
        seen.append(len(workspace.did))
    assert seen == [1, 1, 2, 2, 3, 3] and task.done


@given(st.integers(1, 2000), st.sampled_from([0.01, 0.1, 0.05, 1 / 3, 0.02]), st.integers(0, 10**6))
def test_a_wait_of_so_many_steps_takes_exactly_so_many(steps, dt, before):
    """Sums of decimal fractions are never exact; a wait is one step neither early nor late for it."""
    now = before
    console = Console(print, lambda: now * dt)
    task = console.run(f"wait {steps * dt!r}")
    passed = 0
    while not task.done:
        now, passed = now + 1, passed + 1
        console.advance()
    assert passed == steps


def test_a_wait_shorter_than_a_step_takes_one_step(workspace):
    workspace.time = 1e9  # where 1e-9 s is less than the spacing of floats
    workspace.run("wait 1e-9; do a")
    workspace.console.advance()  # no time has passed
    assert workspace.did == []
    workspace.pass_time(0.1)
    assert workspace.did == ["a"]


def test_wait_0_is_no_wait(workspace):
    assert workspace.run("wait 0; do a; wait 0.0; do b").done and workspace.did == ["a", "b"]


def test_a_text_that_ends_with_a_wait_is_done_after_it(workspace):
    task = workspace.run("wait 1")
    assert not task.done and workspace.console.tasks == [task]
    workspace.pass_time(1)
    assert task.done and workspace.console.tasks == []


def test_when_the_clock_starts_again_a_wait_takes_as_long_as_it_had_left(workspace):
    workspace.time = 100.0
    workspace.console.advance()
    workspace.run("wait 10; do a")
    workspace.pass_time(4)
    workspace.time = 0.0
    workspace.console.advance()
    workspace.pass_time(5.5)
    assert workspace.did == []
    workspace.pass_time(0.5)
    assert workspace.did == ["a"]


def test_tasks_that_are_due_together_go_on_in_the_order_of_their_start(workspace):
    workspace.run("wait 2; do a; wait 1; do d")
    workspace.run("wait 1; wait 1; do b")
    workspace.run("wait 2; do c")
    workspace.pass_time(3, steps=3)
    assert workspace.did == ["a", "b", "c", "d"]


def test_an_alias_waits_and_then_goes_on_behind_its_call(workspace):
    workspace.run("alias slow 'do a; wait 1; do b'; slow; do c")
    assert workspace.did == ["a"]
    workspace.pass_time(1)
    assert workspace.did == ["a", "b", "c"]


def test_stop_ends_all_others_and_goes_on(workspace):
    waiting = [workspace.run("wait 1; do never") for _ in range(3)]
    last = workspace.run("stop; do a; wait 1; do b")
    workspace.pass_time(5)
    assert workspace.did == ["a", "b"] and last.done and not last.stopped
    assert all(task.done and task.stopped and not task.failed for task in waiting)


def test_a_task_may_be_stopped_from_outside_and_from_its_own_command(workspace):
    first, second = workspace.run("wait 1; do never"), workspace.run("wait 1; do b")
    workspace.console.stop(first)
    workspace.pass_time(1)
    assert workspace.did == ["b"] and first.stopped and not second.stopped
    workspace.console.add([CommandSpec("halt", "halt", "Ends everything.", lambda call: call.console.stop())])
    task = workspace.run("do c; halt; do never")
    assert workspace.did == ["b", "c"] and task.stopped and workspace.console.tasks == []
    workspace.console.stop(task)  # once more does no harm


def test_a_command_can_hold_its_text_until_something_has_happened(workspace):
    answer = []
    workspace.console.add([CommandSpec("ask", "ask", "Waits for an answer.", lambda call: call.hold(lambda: bool(answer)))])
    task = workspace.run("ask; do a")
    workspace.pass_time(10, steps=10)
    assert workspace.did == [] and not task.done
    answer.append("yes")
    workspace.console.advance()
    assert workspace.did == ["a"] and task.done


def test_a_hold_that_fails_ends_its_task_with_the_line(workspace):
    def until():
        raise ConsoleError("the window is gone.")

    workspace.console.add([CommandSpec("ask", "ask", "Waits for an answer.", lambda call: call.hold(until))])
    task = workspace.run("do a\nask\ndo b", where="x.fsh")
    workspace.console.advance()
    assert task.failed and workspace.errors == ["x.fsh:2: the window is gone."] and workspace.console.tasks == []


# -- scripts
def test_exec_runs_a_file_beside_the_script_that_says_so(workspace, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.fsh").write_text("do main\nexec sub/one.fsh\ndo end", encoding="utf-8")
    (tmp_path / "sub" / "one.fsh").write_text("exec two.fsh; do one", encoding="utf-8")
    (tmp_path / "sub" / "two.fsh").write_text("\ufeffdo two é\nfail", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert workspace.fails("exec main.fsh") == "sub/two.fsh:2: it did not work."
    assert workspace.did == ["main", "two é"]


@pytest.mark.parametrize("content, message", [
    (b"do a\ndo \xff\n", "bad.fsh:2: is not UTF-8 text (byte 8)."),
    (b"do a\n" * 200_001, "console:1: bad.fsh: has more than 1000000 bytes, the most that a script may have."),
    (b"do a\ndo 'b", "bad.fsh:2: a ' opens here and is not closed on its line."),
    (b"do a\0", "bad.fsh:1: U+0000 is a control character; a command may not hold it."),
])
def test_a_file_that_is_no_script_says_why_and_runs_nothing(workspace, tmp_path, monkeypatch, content, message):
    (tmp_path / "bad.fsh").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert workspace.fails("exec bad.fsh") == message and workspace.did == []


def test_a_folder_and_a_device_are_no_scripts(workspace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert workspace.fails("exec folder") == "console:1: folder: is not a plain file."
    assert workspace.fails("exec /dev/zero") == "console:1: /dev/zero: is not a plain file."
    assert "cannot be the name of a file" in workspace.fails('exec ""')
    assert "cannot be read" in workspace.fails(f"exec {'x' * 5000}")


def test_a_script_that_is_not_there_is_named_once(workspace, tmp_path):
    task = workspace.console.run_file(tmp_path / "none.fsh")
    assert task.failed and workspace.errors == [f"{tmp_path / 'none.fsh'}: there is no such file."]


# -- history
def test_history_remembers_what_was_typed_and_nothing_else(workspace):
    for text in ["do a", "do a", "  do b ", "", "nonsense", "do a"]:
        workspace.run(text)
    workspace.run("do script", where="x.fsh")
    workspace.run("do world", where=Where("arena.xml", 3), trusted=False)
    assert workspace.console.history == ["do a", "do b", "nonsense", "do a"]


# -- everything at once
SCRAPS = st.sampled_from([*"ab;#\"'\\$\n w", "alias ", "bind ", "var ", "wait 1;",
                          "alias a '", "bind w ", "$1", "do ", "stop;", "help "])


@given(st.lists(st.lists(SCRAPS, max_size=30).map("".join), max_size=5))
def test_no_text_can_break_the_console(texts):
    time = 0.0
    did = []
    console = Console(lambda text: None, lambda: time)
    console.add([CommandSpec("do", "do WORDS...", "Counts.", lambda call: did.append(call.args))])
    tasks = []
    for number, text in enumerate(texts):
        tasks.append(console.run(text, trusted=bool(number % 2)))
        console.press("w")
        time += 0.5
        console.advance()
        console.complete(text)
        console.release("w")
    console.stop()
    assert all(task.done for task in tasks) and console.tasks == []
    did.clear()
    assert not console.run("do still here").failed and did == [["still", "here"]]


def test_importing_the_language_loads_nothing_heavy():
    program = """
import sys, formiga.console
heavy = [name for name in ("numpy", "numba", "lxml", "asyncio") if name in sys.modules]
sys.exit(f"imported: {heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
