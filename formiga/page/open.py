"""What the open dialog shows: worlds and recordings in the folder in which the laboratory was started, and recent ones.

It only lists. A file is opened by the console's `load`, which reads data and runs no code. No folder outside of the one where
the server was started is listed, also not through a link.
"""

from __future__ import annotations

import os
import time
from typing import Any

from formiga.session import recent

MOST = 500             # entries of one folder
KINDS = {".xml": "world", ".parquet": "recording"}


def listing(base: str, folder: str) -> dict[str, Any]:
    """{"folder", "above", "entries": [{"name", "path", "kind", "about"}], "error"}; `folder` is relative to `base`."""
    root = os.path.realpath(base)
    here = os.path.realpath(os.path.join(root, folder)) if "\0" not in folder else ""
    if not inside(root, here) or not os.path.isdir(here):
        return {"folder": "", "above": None, "entries": [], "error": f"there is no folder '{folder[:80]}' here."}
    shown, entries, error = os.path.relpath(here, root), [], ""
    try:
        with os.scandir(here) as found:
            for each in found:
                if entry := _entry(each, root):
                    entries.append(entry)
                if len(entries) >= MOST:
                    error = f"only {MOST} of its files are shown; type the path of another."
                    break
    except OSError as wrong:
        error = f"the folder cannot be read ({wrong.strerror})."
    entries.sort(key=lambda entry: (entry["kind"] != "folder", entry["name"].lower()))
    above = None if here == root else os.path.relpath(os.path.dirname(here), root)
    return {"folder": "" if shown == "." else shown, "above": "" if above == "." else above, "entries": entries, "error": error}


def _entry(each: os.DirEntry[str], root: str) -> dict[str, Any] | None:
    """A folder, a world or a recording; nothing of what is hidden, something else, or leads out of the root."""
    real, suffix = os.path.realpath(each.path), os.path.splitext(each.name)[1]
    if each.name.startswith(".") or not inside(root, real):
        return None
    if each.is_dir():
        return {"name": each.name, "path": os.path.relpath(real, root), "kind": "folder", "about": ""}
    if suffix not in KINDS or not each.is_file():
        return None
    return {"name": each.name, "path": each.path, "kind": KINDS[suffix], "about": about(each.path)}


def recents() -> list[dict[str, Any]]:
    """The files that were opened lately, as entries."""
    return [{"name": os.path.basename(file), "path": file, "kind": KINDS.get(os.path.splitext(file)[1], "world"),
             "about": f"{_short(os.path.dirname(file))} · {about(file)}"} for file in recent.files()]


def about(file: str) -> str:
    """How large a file is and when it was written, in words."""
    try:
        found = os.stat(file)
    except OSError:
        return ""
    size = found.st_size
    large = f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{max(1, round(size / 1024))} kB"
    return f"{time.strftime('%d %b %Y %H:%M', time.localtime(found.st_mtime))} · {large}"


def inside(root: str, path: str) -> bool:
    """Whether a real path is a folder or one of the files below it."""
    return path == root or path.startswith(os.path.join(root, ""))


def _short(folder: str) -> str:
    home = os.path.expanduser("~")
    return f"~{folder[len(home):]}" if inside(home, folder) else folder


__all__ = ["about", "inside", "listing", "recents"]
