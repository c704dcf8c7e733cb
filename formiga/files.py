"""Files that are written whole or not at all, and a cache folder that is private to the user."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


def private_cache(name: str, home: str | None = None) -> Path | None:
    """A folder for what can be computed again, or None. Only this user can write to it, because its content is trusted.

    Windows has neither owners nor modes of this kind; there it is in the user's own profile, which others cannot write.
    """
    if sys.platform == "win32":
        folder = Path(home or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")) / "formiga" / name
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        return folder if os.access(folder, os.W_OK) else None
    user = os.getuid()
    home = home or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for base in (Path(home) / "formiga", Path(tempfile.gettempdir()) / f"formiga-{user}"):
        folder = base / name
        with suppress(OSError):  # no home, or one that cannot be written
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            if _keeps_names(base.parent) and _is_ours(base, user) and _is_ours(folder, user) and os.access(folder, os.W_OK):
                return folder
    return None


def _keeps_names(folder: Path) -> bool:
    """Whether no other user can replace a folder in it: it is not writable for all, or it is sticky, as /tmp is."""
    mode = folder.stat().st_mode
    return not mode & stat.S_IWOTH or bool(mode & stat.S_ISVTX)


def _is_ours(folder: Path, user: int) -> bool:
    about = folder.lstat()
    return stat.S_ISDIR(about.st_mode) and about.st_uid == user and not about.st_mode & 0o022
