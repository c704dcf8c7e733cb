"""Keys that run texts: pressed, held, repeated, let go, lost."""

from hypothesis import given
from hypothesis import strategies as st

from formiga.console import CommandSpec, Console


def test_a_key_runs_its_text_whatever_the_case_of_its_name(desk):
    desk.run("bind ctrl+SHIFT+up 'do a; do b'")
    assert desk.press("Ctrl+Shift+ArrowUp").done and desk.did == ["a", "b"]
    assert desk.press("ArrowUp") is None and desk.press("AudioVolumeUp") is None and desk.errors == []


def test_binding_a_key_again_works_and_says_what_it_replaced(desk):
    desk.run("bind w 'do a'; bind W 'do a'")
    assert desk.said == []
    desk.run("\nbind W do b", where="x.fsh")
    assert desk.said == ["x.fsh:2: w ran 'do a' (console:1); now it runs 'do b'."]
    desk.press("w")
    assert desk.did == ["b"]


def test_binds_are_shown_as_they_can_be_typed_and_forgotten(desk):
    desk.run("bind Space 'do a'; bind ; bind space; unbind SPACE; bind")
    assert desk.said == ['bind Space "do a"', 'bind Space "do a"', "no key is bound."]
    assert desk.press("Space") is None


def test_a_held_key_repeats_without_pressing_again_and_lets_go_once(desk):
    desk.run("bind w '+go 1; do also'")
    for _ in range(5):
        desk.press("w")
    desk.release("w")
    desk.release("w")
    assert desk.did == ["+go 1", "also", "-go 1"]
    desk.press("w")
    assert desk.did[3:] == ["+go 1", "also"]


def test_a_key_without_plus_runs_once_a_press_and_nothing_when_it_goes_up(desk):
    desk.run("bind w 'do a; wait 1; do b'")
    desk.press("w")
    desk.press("w")
    assert desk.release("w") is None and desk.did == ["a"]
    desk.pass_time(1)
    assert desk.did == ["a", "b"]


def test_letting_go_ends_what_the_key_holds_up(desk):
    desk.run("alias +beacon 'do on; wait 1; do off; wait 1; +beacon'; alias -beacon 'do dark'; bind b +beacon")
    task = desk.press("b")
    desk.pass_time(3, steps=3)
    assert desk.did == ["on", "off", "on", "off"]
    desk.release("b")
    desk.pass_time(3, steps=3)
    assert desk.did == ["on", "off", "on", "off", "dark"] and task.stopped


def test_plus_without_minus_is_fine(desk):
    desk.run("alias +x 'do x'; bind x +x")
    desk.press("x")
    desk.release("x")
    assert desk.did == ["x"] and desk.errors == []


def test_letting_go_undoes_what_was_pressed_even_if_the_key_was_bound_again(desk):
    desk.run("bind w +go")
    desk.press("w")
    desk.run("bind w 'do other'")
    desk.release("w")
    desk.press("w")
    desk.release("w")
    assert desk.did == ["+go", "-go", "other"]
    desk.run("bind w +go")
    desk.press("w")
    desk.run("unbind w")
    desk.release("w")
    assert desk.did[3:] == ["+go", "-go"]


def test_a_modifier_that_changes_while_a_key_is_held_does_not_leave_it_stuck(desk):
    desk.run("bind w +go; bind Shift+w 'do fast'")
    desk.press("w")
    desk.press("Shift+w")  # the same key repeats, with Shift held now
    desk.release("Shift+w")
    assert desk.did == ["+go", "-go"]


def test_two_people_hold_the_same_key_each_for_themselves(desk):
    desk.run("bind w +go; bind s 'do s'")
    for who in ("ann", "bob", "ann"):
        desk.press("w", who)
    desk.release("w", "ann")
    assert desk.did == ["+go", "+go", "-go"]
    desk.release("w", "eve")
    desk.press("s", "bob")
    desk.console.release_all("bob")
    desk.console.release_all("bob")
    assert desk.did[3:] == ["s", "-go"]
    assert desk.press("w", "bob") is not None


def test_commands_know_who_pressed(desk):
    who = []
    desk.console.add([CommandSpec("who", "who", "Keeps it.", lambda call: who.append(call.who))])
    desk.run("bind w 'who; wait 1; who'")
    desk.press("w", "ann")
    desk.pass_time(1)
    desk.run("who", who="bob")
    assert who == ["ann", "ann", "bob"]


def test_an_error_of_a_bind_stands_where_it_was_bound_and_the_key_goes_on_working(desk):
    desk.run("\n\nbind w 'do a; fail'", where="keys.fsh")
    for _ in range(2):
        desk.press("w")
        desk.release("w")
    assert desk.errors == ["keys.fsh:3: it did not work."] * 2 and desk.did == ["a", "a"]


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
        down.append((call.who, call.args[0]))
        assert len(set(down)) == len(down), "pressed twice"

    def minus(call):
        down.remove((call.who, call.args[0]))
        balance.append(call.args[0])

    console.add([CommandSpec("+x", "+x", "Down.", plus), CommandSpec("-x", "-x", "Up.", minus)])
    console.run("bind w '+x w'; bind s '+x s'; bind Ctrl+s '+x S'")
    for kind, what, who in events:
        if kind == "press":
            console.press(what, who)
        elif kind == "release":
            console.release(what, who)
        elif kind == "lost":
            console.release_all(who)
            assert not any(owner == who for owner, _ in down)
        else:
            console.run(what)
    console.release_all("A")
    console.release_all("B")
    assert down == []
