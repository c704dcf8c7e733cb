"""Names of keys and of the buttons of a mouse: one spelling for each, whatever a person or a browser writes.

    w  7  ArrowUp  Space  F5  Ctrl+s  Ctrl+Alt+Shift+Enter  ?  ñ  MouseRight  Alt+MouseLeft

A key that writes a character has that character as its name, letters in lower case. Shift before a sign is dropped: the
sign says it already ("Shift+/" is "?" on one keyboard and "7" on another, so a browser reports "Shift+?").
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import NamedTuple

from formiga.console.errors import ConsoleError, brief
from formiga.console.limits import NAME
from formiga.errors import suggest

MODIFIERS = ("Ctrl", "Alt", "Shift")  # in the order in which they are written
NAMED = (
    "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Space", "Enter", "Escape", "Tab", "Backspace", "Delete", "Insert",
    "Home", "End", "PageUp", "PageDown", *(f"F{number}" for number in range(1, 13)),
    "MouseLeft", "MouseMiddle", "MouseRight", "MouseBack", "MouseForward",
)
_OTHER_NAMES = {
    "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight", "spacebar": "Space", "return": "Enter",
    "esc": "Escape", "del": "Delete", "ins": "Insert", "pgup": "PageUp", "pgdn": "PageDown", "plus": "+", "minus": "-",
}
_KEYS = {name.lower(): name for name in NAMED} | _OTHER_NAMES
_MODIFIERS = {name.lower(): name for name in MODIFIERS} | {"control": "Ctrl", "option": "Alt"}


class Key(NamedTuple):
    """A key and what is held with it."""

    modifiers: tuple[str, ...]
    base: str

    def __str__(self) -> str:
        return "+".join((*self.modifiers, self.base))


def canonical_key(text: str) -> str:
    """The one spelling of a key: 'control+SHIFT+up' -> 'Ctrl+Shift+ArrowUp'. An unknown key is a ConsoleError."""
    return str(read_key(text))


def read_key(text: str) -> Key:
    held, name = set(), text
    while (plus := name.find("+", 1)) > 0 and name[plus + 1 :]:  # from 1: the key + itself
        modifier = _MODIFIERS.get(name[:plus].strip().lower())
        if modifier is None:
            break
        held.add(modifier)
        name = name[plus + 1 :]
    base = _base(name)
    if base is None:
        raise ConsoleError(_complaint(text, name))
    if len(base) == 1 and not base.isalnum():
        held.discard("Shift")
    return Key(tuple(modifier for modifier in MODIFIERS if modifier in held), base)


def known_key(text: str) -> Key | None:
    """The key, or None: a browser also reports keys that have no name here, and those are ignored."""
    try:
        return read_key(text)
    except ConsoleError:
        return None


def _base(name: str) -> str | None:
    if name == " ":
        return "Space"
    name = name.strip()
    if len(name) == 1 and name.isprintable():
        return name.lower() if len(name.lower()) == 1 else name
    return _KEYS.get(name.lower())


def _complaint(text: str, name: str) -> str:
    shown = brief(text)
    if name.strip().lower() in _MODIFIERS:
        return f"'{shown}' holds a modifier but no key; write it as in Ctrl+s."
    first, plus, _ = name.partition("+")
    allowed = MODIFIERS if plus else NAMED  # Ctl+s: the mistake is in front of the +
    lower = {proper.lower(): proper for proper in allowed}
    meant = next((suggest(lower[one], allowed) for one in get_close_matches(first.strip().lower()[:NAME], lower, n=1)), "")
    return (f"there is no key '{shown}'.{meant} A key is a letter, a digit or a sign, or one of: {', '.join(NAMED)}; "
            f"with {', '.join(f'{modifier}+' for modifier in MODIFIERS)} in front if those are held.")
