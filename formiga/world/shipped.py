"""Where a world comes from that was given by name or by path."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from formiga.errors import WorldError, suggest
from formiga.world import reader
from formiga.world.model import World

Given = World | str | os.PathLike[str]


def world_of(given: Given, /, **parameters: str | float) -> World:
    """The world itself, the one in a file, or the shipped one of that name; `parameters` replace its `<param>` values."""
    if isinstance(given, World):
        if parameters:
            raise WorldError(f"'{next(iter(parameters))}' is a parameter of a world's file, and this world was read already.")
        return given
    return reader.read(world_file(given), parameters)


def world_file(given: str | os.PathLike[str]) -> str:
    """The file of a world, by its path or by the name of a shipped world."""
    try:
        path = os.fsdecode(given)
    except TypeError as wrong:
        raise WorldError(f"a world is given as a World, the name of a shipped one or a file, not as {given!r}.") from wrong
    if os.path.isfile(path) or path.endswith(".xml") or os.sep in path:
        return path
    shipped = shipped_worlds()
    if path in shipped:
        return os.fspath(shipped[path])
    if os.path.exists(path):
        return path  # a folder, for one; the reader says so
    raise WorldError(f"there is no world '{path}'.{suggest(path, shipped)} Shipped worlds: {', '.join(shipped)}. "
                     "A file of your own is given by its path, such as mine.xml.")


def shipped_worlds() -> dict[str, Path]:
    """The worlds that come with formiga: name -> file."""
    folder = Path(str(resources.files("formiga") / "worlds"))
    return {file.stem: file for file in sorted(folder.glob("*.xml"))}


__all__ = ["Given", "shipped_worlds", "world_file", "world_of"]
