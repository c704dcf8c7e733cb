"""The notes of a supervisor, as a recording keeps them: [step, words] for each step at which the words changed.

    {"title": "first half", "clock": "4:31", "text": "", "sides": [["blue", "ants", 1], ["yellow", "bees", 0]]}

Files written before formiga had supervisors hold the scoreboards of matches instead: the name of each side under that of its
group, in the order in which they are shown, and the title and the text under other words.

    {"blue": "ants", "yellow": "bees", "score": [1, 0], "clock": "4:31", "half": "first half", "note": ""}
"""

from __future__ import annotations

from typing import Any

from formiga.record.format import LONGEST_WORD
from formiga.supervisor import Note, Side

MOST_NOTES = 20_000     # one a second for five hours
MOST_SIDES = 100
WORDS = ("title", "clock", "text")
OLD_WORDS = ("half", "clock", "note")   # title, clock and text of an older file


def words_of(note: Note) -> dict[str, Any]:
    """A note as JSON holds it; words without end are cut."""
    return {**{name: str(value)[:LONGEST_WORD] for name, value in zip(WORDS, note[:3], strict=True)},
            "sides": [[str(side.group)[:LONGEST_WORD], str(side.name)[:LONGEST_WORD], int(side.score)]
                      for side in note.sides[:MOST_SIDES]]}


def note_of(words: Any) -> Note | None:
    """The note that a file holds, in the new form or in the old one; None if it is neither."""
    if not isinstance(words, dict):
        return None
    if words.keys() == {*WORDS, "sides"}:
        texts, sides = [words[name] for name in WORDS], words["sides"]
    elif words.keys() >= {*OLD_WORDS, "score"}:
        texts, score = [words[name] for name in OLD_WORDS], words["score"]
        groups = [name for name in words if name not in (*OLD_WORDS, "score")]
        if not isinstance(score, list) or len(score) != len(groups):
            return None
        sides = [[group, words[group], points] for group, points in zip(groups, score, strict=True)]
    else:
        return None
    if not (all(map(_is_word, texts)) and isinstance(sides, list) and len(sides) <= MOST_SIDES and all(map(_is_side, sides))):
        return None
    title, clock, text = texts
    return Note(title, clock, text, tuple(Side(*side) for side in sides))


def notes_of(noted: Any, last: int) -> list[tuple[int, Note]] | None:
    """The notes that a file holds, whose last step is `last`; None if something else stands there."""
    if not isinstance(noted, list) or len(noted) > MOST_NOTES:
        return None
    found: list[tuple[int, Note]] = []
    for each in noted:
        if not (isinstance(each, list | tuple) and len(each) == 2 and type(each[0]) is int):
            return None
        step, note = each[0], note_of(each[1])
        if note is None or not (found[-1][0] if found else 0) <= step <= last:
            return None
        found.append((step, note))
    return found


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_WORD


def _is_side(value: Any) -> bool:
    return (isinstance(value, list) and len(value) == 3 and _is_word(value[0]) and _is_word(value[1])
            and type(value[2]) is int and 0 <= value[2] < 2**31)


__all__ = ["MOST_NOTES", "note_of", "notes_of", "words_of"]
