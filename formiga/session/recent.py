"""The worlds and recordings that were opened lately: a short list beside the user's settings."""

from __future__ import annotations

import json
import os
from pathlib import Path

from formiga.errors import FormigaError
from formiga.files import write_whole
from formiga.session import settings

MOST = 12              # files on the list
LARGEST = 1 << 16      # bytes of the list itself


def path() -> Path:
    """The file that holds the list."""
    return settings.folder() / "recent.json"


def files() -> list[str]:
    """Full paths, the latest first; those that are gone are left out. A list that cannot be read is an empty one."""
    try:
        with open(path(), encoding="utf-8") as stream:
            found = json.loads(stream.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        return []
    known = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    return [each for each in known[:MOST] if os.path.isabs(each) and "\0" not in each and os.path.isfile(each)]


def note(file: str | os.PathLike[str]) -> None:
    """Put a file at the head of the list."""
    full = os.path.abspath(file)
    before = files()
    if before[:1] == [full]:
        return
    try:
        path().parent.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise FormigaError(f"{path().parent}: cannot be made ({wrong.strerror}).") from wrong
    write_whole(path(), json.dumps([full, *(each for each in before if each != full)][:MOST], indent=1) + "\n")


__all__ = ["files", "note", "path"]
