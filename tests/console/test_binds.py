"""Keys that run texts: pressed, held, repeated, let go, lost."""

from hypothesis import given
from hypothesis import strategies as st

from formiga.console import CommandSpec, Console


def test_a_key_runs_its_text_whatever_the_case_of_its_name(workspace):
    workspace.run("bind ctrl+SHIFT+up 'do a; do b'")
    assert workspace.press("Ctrl+Shift+ArrowUp").done and workspace.did == ["a", "b"]
    assert workspace.press("ArrowUp") is None and workspace.press("AudioVolumeUp") is None and workspace.errors == []


def test_binding_a_key_again_works_and_says_what_it_replaced(workspace):
    workspace.run("bind w 'do a'; bind W 'do a'")
    assert workspace.said == []
    workspace.run("\nbind W do b", where="x.fsh")
    assert workspace.said == ["x.fsh:2: w ran 'do a' (console:1); now it runs 'do b'."]
    workspace.press("w")
    assert workspace.did == ["b"]


def test_binds_are_shown_as_they_can_be_typed_and_forgotten(workspace):
    workspace.run("bind Space 'do a'; bind ; bind space; unbind SPACE; bind")
    assert workspace.said == ['bind Space "do a"', 'bind Space "do a"', "no key is bound."]
    assert workspace.press("Space") is None


def test_a_held_key_repeats_without_pressing_again_and_lets_go_once(workspace):
    workspace.run("bind w '+go 1; do also'")
    for _ in range(5):
        workspace.press("w")
    workspace.release("w")
    workspace.release("w")
    assert workspace.did == ["+go 1", "also", "-go 1"]
    workspace.press("w")
    assert workspace.did[3:] == ["+go 1", "also"]


def test_a_key_without_plus_runs_once_a_press_and_nothing_when_it_goes_up(workspace):
    workspace.run("bind w 'do a; wait 1; do b'")
    workspace.press("w")
    workspace.press("w")
    assert workspace.release("w") is None and workspace.did == ["a"]
    workspace.pass_time(1)
    assert workspace.did == ["a", "b"]


def test_letting_go_ends_what_the_key_holds_up(workspace):
    workspace.run("alias +beacon 'do on; wait 1; do off; wait 1; +beacon'; alias -beacon 'do dark'; bind b +beacon")
    task = workspace.press("b")
    workspace.pass_time(3, steps=3)
    assert workspace.did == ["on", "off", "on", "off"]
    workspace.release("b")
    workspace.pass_time(3, steps=3)
    assert workspace.did == ["on", "off", "on", "off", "dark"] and task.stopped


def test_plus_without_minus_is_fine(workspace):
    workspace.run("alias +x 'do x'; bind x +x")
    workspace.press("x")
    workspace.release("x")
    assert workspace.did == ["x"] and workspace.errors == []


def test_letting_go_undoes_what_was_pressed_even_if_the_key_was_bound_again(workspace):
    workspace.run("bind w +go")
    workspace.press("w")
    workspace.run("bind w 'do other'")
    workspace.release("w")
    workspace.press("w")
    workspace.release("w")
    assert workspace.did == ["+go", "-go", "other"]
    workspace.run("bind w +go")
    workspace.press("w")
    workspace.run("unbind w")
    workspace.release("w")
    assert workspace.did[3:] == ["+go", "-go"]


def test_a_modifier_that_changes_while_a_key_is_held_does_not_leave_it_stuck(workspace):
    workspace.run("bind w +go; bind Shift+w 'do fast'")
    workspace.press("w")
    workspace.press("Shift+w")  # the same key repeats, with Shift held now
    workspace.release("Shift+w")
    assert workspace.did == ["+go", "-go"]


def test_two_people_hold_the_same_key_each_for_themselves(workspace):
    workspace.run("bind w +go; bind s 'do s'")
    for sender in ("ann", "bob", "ann"):
        workspace.press("w", sender)
    workspace.release("w", "ann")
    assert workspace.did == ["+go", "+go", "-go"]
    workspace.release("w", "eve")
    workspace.press("s", "bob")
    workspace.console.release_all("bob")
    workspace.console.release_all("bob")
    assert workspace.did[3:] == ["s", "-go"]
    assert workspace.press("w", "bob") is not None


def test_commands_know_their_sender(workspace):
    sender = []
    workspace.console.add([CommandSpec("sender", "sender", "Keeps it.", lambda call: sender.append(call.sender))])
    workspace.run("bind w 'sender; wait 1; sender'")
    workspace.press("w", "ann")
    workspace.pass_time(1)
    workspace.run("sender", sender="bob")
    assert sender == ["ann", "ann", "bob"]


def test_an_error_of_a_bind_stands_where_it_was_bound_and_the_key_goes_on_working(workspace):
    workspace.run("\n\nbind w 'do a; fail'", where="keys.fsh")
    for _ in range(2):
        workspace.press("w")
        workspace.release("w")
    assert workspace.errors == ["keys.fsh:3: it did not work."] * 2 and workspace.did == ["a", "a"]


KEYS = st.sampled_from(["w", "W", "Shift+w", "s", "Ctrl+s", "ArrowUp", "Nonsense"])
EVENTS = st.one_of(
    st.tuples(st.just("press"), KEYS, st.sampled_from("AB")), st.tuples(st.just("release"), KEYS, st.sampled_from("AB")),
    st.tuples(st.just("lost"), st.none(), st.sampled_from("AB")), st.tuples(st.just("run"), st.sampled_from(
        ["bind w '+x w'", "bind s '+x s'", "unbind w", "bind Shift+w '+x W'", "bind ArrowUp '+x u'", "nonsense"]), st.none()))


@given(st.lists(EVENTS, max_size=40))
def test_every_plus_has_exactly_one_minus_once_all_keys_are_up(events):
    down, balance = [], []
    console = Console(lambda text: None, lambda: 0.0)

    def plus(call):
        down.append((call.sender, call.args[0]))
        assert len(set(down)) == len(down), "pressed twice"

    def minus(call):
        down.remove((call.sender, call.args[0]))
        balance.append(call.args[0])

    console.add([CommandSpec("+x", "+x", "Down.", plus), CommandSpec("-x", "-x", "Up.", minus)])
    console.run("bind w '+x w'; bind s '+x s'; bind Ctrl+s '+x S'")
    for kind, what, sender in events:
        if kind == "press":
            console.press(what, sender)
        elif kind == "release":
            console.release(what, sender)
        elif kind == "lost":
            console.release_all(sender)
            assert not any(owner == sender for owner, _ in down)
        else:
            console.run(what)
    console.release_all("A")
    console.release_all("B")
    assert down == []
