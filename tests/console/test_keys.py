"""One name for each key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formiga.console import ConsoleError, canonical_key
from formiga.console.keys import MODIFIERS, NAMED, known_key


@pytest.mark.parametrize("text, name", [
    ("w", "w"), ("W", "w"), ("7", "7"), ("arrowup", "ArrowUp"), ("UP", "ArrowUp"), (" ", "Space"), ("space", "Space"),
    ("esc", "Escape"), ("f12", "F12"), ("?", "?"), ("+", "+"), ("Ctrl++", "Ctrl++"), ("plus", "+"), ("Ctrl+ ", "Ctrl+Space"),
    ("shift+alt+ctrl+x", "Ctrl+Alt+Shift+x"), ("Control + S", "Ctrl+s"), ("Shift+W", "Shift+w"), ("Shift+1", "Shift+1"),
    ("Shift+?", "?"), ("Ctrl+Shift+?", "Ctrl+?"), ("Ñ", "ñ"), ("-", "-"), (";", ";"), ("Ctrl+-", "Ctrl+-"),
])
def test_a_key_has_one_name(text, name):
    assert canonical_key(text) == name


@pytest.mark.parametrize("text, part", [
    ("ArowUp", "there is no key 'ArowUp'. Did you mean 'ArrowUp'?"),
    ("escpe", "Did you mean 'Escape'?"),
    ("Ctl+s", "Did you mean 'Ctrl'?"),
    ("F13", "there is no key 'F13'."),
    ("", "there is no key ''"),
    ("ww", "one of: ArrowUp, ArrowDown"),
    ("Ctrl", "'Ctrl' holds a modifier but no key"),
    ("Ctrl+Shift", "holds a modifier but no key"),
    ("Ctrl+", "there is no key 'Ctrl+'"),
    ("\x1b", "there is no key"),
    ("x" * 100_000, "xxx...'"),
])
def test_an_unknown_key_says_what_was_meant_and_what_is_allowed(text, part):
    with pytest.raises(ConsoleError) as wrong:
        canonical_key(text)
    assert part in str(wrong.value) and len(str(wrong.value)) < 500
    assert known_key(text) is None


@given(st.permutations(MODIFIERS).flatmap(lambda order: st.integers(0, 3).map(lambda n: order[:n])),
       st.sampled_from(NAMED) | st.characters(exclude_categories=["C", "Z"]), st.booleans())
def test_the_order_and_case_of_what_is_written_do_not_matter_and_a_name_is_its_own_name(modifiers, base, loud):
    text = "+".join([*modifiers, base])
    name = canonical_key(text)
    assert canonical_key(name) == name
    swapped = "+".join([*reversed(modifiers), base])
    assert canonical_key(swapped) == name
    if base.isascii():
        assert canonical_key(text.upper() if loud else text.lower()) == name


@given(st.text(max_size=20))
def test_any_text_is_a_key_or_a_console_error(text):
    try:
        name = canonical_key(text)
    except ConsoleError:
        return
    assert canonical_key(name) == name
