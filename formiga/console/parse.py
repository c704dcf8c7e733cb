r"""Text -> commands. Nothing is carried out here, and no variable is looked up.

    speed max                           # one command a line; a # at the start of a word begins a comment
    set lamp.intensity 0.5; wait 180    # or several, separated by ;
    echo "it is $time s" 'costs 5 $'    # $name and ${name} are filled in, but not inside '...'
    alias dark "disable lamp;\
                echo off"               # a backslash at its end continues a line

Inside "..." a backslash makes \" \\ \$ \n \t \r; outside quotes it takes the special meaning from the character behind it.
`$$` is a dollar sign. Parts that touch are one word: a"b c"$d. A value that is filled in never becomes two words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from formiga.console import limits
from formiga.console.errors import ConsoleError
from formiga.errors import Where

CONSOLE = "console"  # the file name of what was typed


class Variable(NamedTuple):
    """A part of a word that is known when the command runs: $time, or $1 for the first argument of an alias."""

    name: str


Word = tuple[str | Variable, ...]  # an empty tuple is the empty word, written ""


class Command(NamedTuple):
    """One command: its words, the name first, and where it is written."""

    words: tuple[Word, ...]
    where: Where

    @property
    def name(self) -> str | None:
        """The command's name, if that is known before it runs."""
        return self.words[0][0] if len(self.words[0]) == 1 and isinstance(self.words[0][0], str) else None


def parse(text: str, where: str | Where = CONSOLE) -> list[Command]:
    """The commands of a text.

    where: the file it is (its lines are counted from 1), or a place if it stands inside another text, as an alias does;
    then every command is said to stand there.
    """
    return Scanner(text, where).scan()


def quote(words: Iterable[str]) -> str:
    """A text that parses to one command with exactly these words. (No words give the empty text.)"""
    return " ".join(map(quoted, words))


def quoted(word: str) -> str:
    """A word, in quotes if it needs them."""
    if wrong := _FORBIDDEN.search(word):
        raise ConsoleError(_control(wrong[0]))
    if word and not _SPECIAL.search(word) and not word.startswith("#"):
        return word
    return f'"{word.translate(_ESCAPED)}"'


def is_writable(word: str) -> bool:
    """Whether a text can hold this word: no control characters."""
    return _FORBIDDEN.search(word) is None


def highest_argument(commands: Iterable[Command]) -> int:
    """2 for a text that uses $1 and $2: how many arguments it takes."""
    names = (part.name for command in commands for word in command.words for part in word if isinstance(part, Variable))
    return max((int(name) for name in names if name.isdecimal()), default=0)


# -- how it is done ---------------------------------------------------------------------------------------------------
_ESCAPES = {'"': '"', "\\": "\\", "$": "$", "n": "\n", "t": "\t", "r": "\r"}          # inside "..."
_ESCAPED = str.maketrans({meant: "\\" + written for written, meant in _ESCAPES.items()})
_BARE_ESCAPES = "\\\"'$;# "                                                          # outside quotes
_SPECIAL = re.compile(r"""[\s;"'\\$]""")
_PLAIN = re.compile(r"""[^\s;"'\\$]+""")
_IN_DOUBLE = re.compile(r'[^"\\$\n]+')
_IN_SINGLE = re.compile(r"[^'\n]*")
_COMMENT = re.compile(r"[^\n]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[1-9](?![0-9])")  # $1 .. $9 are the arguments of an alias
_TOO_LONG = f"the line has more than {limits.LINE} characters, the most that is allowed."
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")  # they could steer a terminal


class Scanner:
    """Reads a text from left to right, once. With `open_ended` the text is half typed: what is open at its end is fine."""

    def __init__(self, text: str, where: str | Where = CONSOLE, open_ended: bool = False) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.at = 0                      # the character to read next
        self.fixed = isinstance(where, Where)
        self.where = where if isinstance(where, Where) else Where(where, 1)
        self.open_ended = open_ended
        self.commands: list[Command] = []
        self.words: list[Word] = []      # of the command that is being read
        self.word: list[str | Variable] | None = None  # the word that is being read, if any
        self.word_start = 0
        self.command_where = self.where  # where that command begins
        self.line_start = 0

    def scan(self) -> list[Command]:
        self._check()
        while self.at < len(self.text):
            self._step()
        if not self.open_ended:
            self._end_line()
        return self.commands

    def _step(self) -> None:
        """Read what begins here: a separator, a comment, or the next part of a word."""
        character = self.text[self.at]
        if character == "\n":
            self._end_line()
            self._next_line()
        elif character == ";":
            self._end_command()
            self.at += 1
        elif character.isspace():
            self._end_word()
            self.at += 1
        elif character == "#" and self.word is None:
            self.at = self._match(_COMMENT).end()
        elif self.text.startswith("\\\n", self.at):
            self._continue_line()
        else:
            self._begin_word()
            if character == '"':
                self._double()
            elif character == "'":
                self._single()
            elif character == "\\":
                self._escape()
            elif character == "$":
                self._variable()
            else:
                self._add(self._take(_PLAIN))

    # -- parts of a word
    def _double(self) -> None:
        opened = self.where
        self.at += 1
        self._add("")
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return
            if character == "\n":
                break
            if self.text.startswith("\\\n", self.at):
                self._continue_line()
            elif character == "\\":
                self._escape_in_double()
            elif character == "$":
                self._variable()
            else:
                self._add(self._take(_IN_DOUBLE))
        self._unfinished('a " opens here and is not closed on its line', opened)

    def _single(self) -> None:
        self.at += 1
        self._add(self._take(_IN_SINGLE))
        if self.text[self.at : self.at + 1] == "'":
            self.at += 1
        else:
            self._unfinished("a ' opens here and is not closed on its line", self.where)

    def _escape(self) -> None:
        after = self.text[self.at + 1 : self.at + 2]
        if not after:
            self._unfinished("a backslash ends the text; there is no line to continue", self.where)
        elif after not in _BARE_ESCAPES:
            raise ConsoleError(f"'\\{after}' means nothing outside quotes. A backslash itself is written \\\\.", self.where)
        self._add(after)
        self.at += 1 + len(after)

    def _escape_in_double(self) -> None:
        after = self.text[self.at + 1 : self.at + 2]
        if not after:
            self.at += 1  # the quote is open, and that will be said
        elif after in _ESCAPES:
            self._add(_ESCAPES[after])
            self.at += 2
        else:
            raise ConsoleError(f"'\\{after}' means nothing inside \"...\"; allowed are \\\" \\\\ \\$ \\n \\t \\r. "
                               "Inside '...' a backslash is a backslash.", self.where)

    def _variable(self) -> None:
        if self.text.startswith("$$", self.at):
            self._add("$")
            self.at += 2
            return
        braces = self.text.startswith("${", self.at)
        found = _NAME.match(self.text, self.at + (2 if braces else 1))
        end = found.end() if found else self.at + (2 if braces else 1)
        if end == len(self.text) and self.open_ended:
            self.at = end
            return
        if found is None or (braces and self.text[end : end + 1] != "}"):
            meant = "'${' needs a name and a '}', as in ${time}" if braces else "'$' needs a name behind it, as in $time"
            raise ConsoleError(f"{meant}. The sign itself is written $$.", self.where)
        assert self.word is not None
        self.word.append(Variable(found[0]))
        self.at = end + braces

    # -- words, commands, lines
    def _begin_word(self) -> None:
        if self.word is None:
            self.word = []
            self.word_start = self.at
            if not self.words:
                self.command_where = self.where

    def _add(self, text: str) -> None:
        """Put text behind the word; texts that touch are one part, so that equal words are equal tuples."""
        assert self.word is not None
        if self.word and isinstance(self.word[-1], str):
            self.word[-1] += text
        elif text:
            self.word.append(text)

    def _end_word(self) -> None:
        if self.word is not None:
            self.words.append(tuple(self.word))
            self.word = None

    def _end_command(self) -> None:
        self._end_word()
        if self.words:
            self.commands.append(Command(tuple(self.words), self.command_where))
            self.words = []

    def _end_line(self) -> None:
        self._end_command()
        self.line_start = self.at + 1

    def _continue_line(self) -> None:
        self.at += 1
        self._next_line()
        end = self.text.find("\n", self.at)
        if (end if end >= 0 else len(self.text)) - self.line_start > limits.LINE:
            raise ConsoleError(_TOO_LONG, self.where)

    def _next_line(self) -> None:
        self.at += 1
        if not self.fixed:
            self.where = Where(self.where.file, self.where.line + 1)

    # -- complaints
    def _check(self) -> None:
        """Look at the whole text before any of it is read, so that reading stays quick whatever comes."""
        if len(self.text) > limits.TEXT:
            raise ConsoleError(f"the text has {len(self.text)} characters; at most {limits.TEXT} are allowed.", self.where)
        for number, line in enumerate(self.text.split("\n"), start=1):
            wrong = _FORBIDDEN.search(line)
            if wrong is not None or len(line) > limits.LINE:
                where = self.where if self.fixed else Where(self.where.file, number)
                raise ConsoleError(_TOO_LONG if wrong is None else _control(wrong[0]), where)

    def _unfinished(self, what: str, where: Where) -> None:
        if not (self.open_ended and self.at >= len(self.text) - 1):
            raise ConsoleError(f"{what}.", where)

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self.text, self.at)
        assert found is not None
        return found

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = self._match(pattern)
        self.at = found.end()
        return found[0]


def _control(character: str) -> str:
    return f"U+{ord(character):04X} is a control character; a command may not hold it."


def half_typed(text: str) -> tuple[Sequence[Word], Word, int]:
    """The last command of a half-typed text: its finished words, the word being typed (maybe empty), and where that begins.

    The place counts from the start of `text`; a completion replaces everything from there on.
    """
    scanner = Scanner(text, open_ended=True)
    scanner.scan()
    start = scanner.word_start if scanner.word is not None else len(scanner.text)
    return scanner.words, tuple(scanner.word or ()), len(text) - (len(scanner.text) - start)
