"""Script files: plain text in UTF-8, .fsh by habit."""

from __future__ import annotations

from pathlib import Path

from formiga.console import limits
from formiga.console.errors import ConsoleError
from formiga.errors import reason

SUFFIX = ".fsh"


def read_script(path: Path) -> str:
    """The text of a script file. What is wrong with the file is a ConsoleError that names it."""
    try:
        if not path.is_file():  # a device or a pipe could give bytes for ever, or none
            raise ConsoleError(f"{path}: there is no such file." if not path.exists() else f"{path}: is not a plain file.")
        with path.open("rb") as file:
            data = file.read(limits.TEXT + 1)
    except (OSError, ValueError) as wrong:
        raise ConsoleError(f"{path}: cannot be read ({reason(wrong)}).") from wrong
    if len(data) > limits.TEXT:
        raise ConsoleError(f"{path}: has more than {limits.TEXT} bytes, the most that a script may have.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = 1 + data.count(b"\n", 0, wrong.start)
        raise ConsoleError(f"{path}:{line}: is not UTF-8 text (byte {wrong.start}).") from wrong
