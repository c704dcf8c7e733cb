"""Files that are whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from formiga.errors import FormigaError


@contextmanager
def whole_file(path: str | os.PathLike[str], error: type[FormigaError] = FormigaError) -> Iterator[Path]:
    """A temporary file beside `path` to write into; it takes the name at the end, or is removed if something fails."""
    if "\0" in os.fspath(path):
        raise error(f"{os.fspath(path)!r}: cannot be the name of a file.")
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            yield beside
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as wrong:
        raise error(f"{path}: cannot be written ({wrong.strerror or wrong}).") from wrong


def write_whole(path: str | os.PathLike[str], text: str, error: type[FormigaError] = FormigaError) -> None:
    """Write a text file, all of it or nothing."""
    with whole_file(path, error) as beside:
        beside.write_text(text, encoding="utf-8")
