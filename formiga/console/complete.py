"""What a half-typed line may become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formiga.console.errors import ConsoleError
from formiga.console.parse import Variable, half_typed, is_writable, quoted

if TYPE_CHECKING:
    from formiga.console.console import Console


def completions(console: Console, text: str) -> list[str]:
    """Candidates for the last word, written as they must be typed, in the order of the alphabet; [] if there are none."""
    try:
        words, last, start = half_typed(text)
    except ConsoleError:
        return []
    typed = text[start:]
    dollar = typed.rfind("$")
    if dollar >= 0 and not typed.startswith("'") and _is_name(name := typed[dollar + 1 :].removeprefix("{")):
        brace = typed.startswith("{", dollar + 1)
        written = [f"${{{one}}}" if brace else f"${one}" for one in console.known_variables() if one.startswith(name)]
        return [typed[:dollar] + one for one in written]
    plain = [_plain(word) for word in (*words, last)]
    if None in plain:
        return []
    args = [word for word in plain if word is not None]
    if len(args) == 1:
        candidates = {*console.commands, *console.aliases}
    else:
        spec = console.commands.get(args[0])
        candidates = set(spec.complete(args[1:])) if spec is not None and spec.complete is not None else set()
    return [quoted(one) for one in sorted(candidates) if one.startswith(args[-1]) and is_writable(one)]


def _plain(word: tuple[str | Variable, ...]) -> str | None:
    """The text of a word; None if a variable is in it."""
    parts = [part for part in word if isinstance(part, str)]
    return "".join(parts) if len(parts) == len(word) else None


def _is_name(text: str) -> bool:
    return text == "" or (text.isascii() and text.replace("_", "a").isalnum() and not text[0].isdecimal())
