"""What a program outside is asked and what it answers: two memories for one group of robots in all worlds of a batch.

    QUESTION  bytes 0..95: magic, version, kind 21, size, sequence, worlds, state, frame, time, robots, words, period, group
              from 96 on:  a table in plain text, `words` bytes long, that says what stands where; then the arrays
    ANSWER    bytes 0..47: magic, version, kind 22, size, sequence, worlds, state, frame, time; then the arrays

Each line of the table is one array: what it is, its name, its type (f8, i8, u1 ...), the byte at which it begins, its shape.

    own clock f8 296 2                 (worlds,) s since the start of each world
    own crashed u1 312 2 5             (worlds, robots)
    reading proximity f8 328 2 5 15    of sensors, what links hear, what estimators believe: (worlds, robots, ...)
    order drive f8 48 2 5 2            these four kinds stand in the answer: drive, joints, leds, sound
    message radio f8 208 2 5 3         over each link
    channel left -0.08 0.08            the numbers of a drive: name, least, most
    joint turret velocity -1 1         the numbers of joints: name, mode, least, most

docs/reference/remote.md has all of it; link/clients/ has it as one file of Python and one of C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.link import TURN, LinkError, Record
from formiga.world.contract import channels
from formiga.world.model import Group, loudspeakers

QUESTION, ANSWER = 21, 22              # kinds of memories
NAME = 32                              # bytes of the group's name
PLAIN: tuple[Any, ...] = (             # of the question, in front of its table
    ("worlds", "<u4"),
    *TURN,                             # the question's number; s that the run has lasted, whatever began again
    ("robots", "<u4"),                 # of the group, in each world
    ("words", "<u4"),                  # bytes of the table
    ("period", "<f8"),                 # s from one question to the next
    ("group", f"S{NAME}"),             # its name
)
FIRST = 96                             # byte at which the table begins ...
FIRST_ORDER = 48                       # ... and the byte of the first array of the answer
LARGEST = 2**31 - 1                    # bytes of a record of numpy


@dataclass(frozen=True)
class Entry:
    """One line of the table that names an array."""

    what: str                  # own, reading, order or message
    name: str
    kind: str                  # f8, u1 ...
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return int(np.dtype(self.kind).itemsize * np.prod(self.shape, dtype=np.int64))

    @property
    def field(self) -> str:
        """Its name in the record."""
        return f"{self.what} {self.name}"

    def line(self, place: int) -> str:
        """Its line, if it stands there."""
        return " ".join((self.what, self.name, self.kind, str(place), *map(str, self.shape)))


@dataclass(frozen=True)
class Turns:
    """The two records of a group, and the table that says what stands in them."""

    question: Record
    answer: Record
    table: str
    asked: tuple[Entry, ...]
    answered: tuple[Entry, ...]


def turns_of(group: Group, worlds: int, readings: dict[str, Any]) -> Turns:
    """The records of a group whose readings have these shapes and types."""
    both = worlds, group.count
    asked = [Entry("own", "clock", "f8", (worlds,)), Entry("own", "crashed", "u1", both)]
    asked += [Entry("reading", source.name, _plain(readings[source.name].dtype), readings[source.name].shape)
              for source in group.sources]
    sizes = {"drive": (channels(group.robot),), "joints": (len(group.robot.joints),), "leds": (group.robot.leds, 3),
             "sound": (loudspeakers(group), 2)}
    answered = [Entry("order", name, "f8", (*both, *size)) for name, size in sizes.items() if size[0]]
    answered += [Entry("message", link.name, "f8", (*both, link.numbers)) for link in group.links]
    drive = group.robot.drive
    limits = [] if drive is None else [f"channel {name} {-float(most)!r} {float(most)!r}"
                                       for name, most in zip(drive.channels, drive.limits, strict=True)]
    limits += [f"joint {joint.name} {joint.mode} {float(joint.low)!r} {float(joint.high)!r}" for joint in group.robot.joints]
    for what, entries in (("readings", asked), ("orders", answered)):
        if (size := sum(entry.size + 8 for entry in entries)) > LARGEST - 2**20:    # the rest is for the table
            raise LinkError(f"the {what} of '{group.name}' in {worlds:,} worlds are {size:,} bytes; a program gets less than "
                            f"{LARGEST:,}. Take fewer worlds, robots or readings.")
    orders, fields = _placed(answered, FIRST_ORDER)
    answer = Record(f"answer of {group.name}", ANSWER, (("worlds", "<u4"), *TURN, *fields))
    words, room = "", 0
    while True:                        # the table's own length moves the places that it tells
        lines, fields = _placed(asked, FIRST + room)
        words = "\n".join((*lines, *orders, *limits)) + "\n"
        if len(words.encode()) <= room:
            break
        room = -(-len(words.encode()) // 8) * 8
    question = Record(f"question of {group.name}", QUESTION, (*PLAIN, ("table", f"S{room}"), *fields))
    return Turns(question, answer, words, tuple(asked), tuple(answered))


def _placed(entries: list[Entry], first: int) -> tuple[list[str], list[Any]]:
    """Lines and fields of arrays, one behind the other, each at a multiple of 8."""
    lines, fields, place = [], [], first
    for number, entry in enumerate(entries):
        lines.append(entry.line(place))
        fields.append((entry.field, f"<{entry.kind}", entry.shape))
        place += entry.size
        if gap := -place % 8:
            fields.append((f"gap {number}", "u1", (gap,)))
            place += gap
    return lines, fields


def _plain(kind: Any) -> str:
    """The type of a reading, as any language has it."""
    return "u1" if kind.kind == "b" else f"{kind.kind}{kind.itemsize}"


__all__ = ["ANSWER", "Entry", "FIRST", "FIRST_ORDER", "NAME", "PLAIN", "QUESTION", "Turns", "turns_of"]
