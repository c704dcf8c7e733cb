"""Where a world comes from that was given by name or by path.

    corral             a shipped world, of formiga/worlds
    maze/known         known.xml in the folder of the study `maze`
    maze               the first world of that study, unless a shipped world has the name: its world.xml, else the first
                       other file in the order of the alphabet, else the first shipped world that its paper.toml lists
"""

from __future__ import annotations

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from formiga.errors import Hear, WorldError, left_out, suggest
from formiga.world import reader
from formiga.world.model import World

Given = World | str | os.PathLike[str]
PAPER = "paper.toml"   # what a study says about itself; a folder that has one is a study
FIRST = "world"        # the stem of a study's main world


def world_of(given: Given, /, **parameters: str | float) -> World:
    """The world itself, the one in a file, or the one of that name; `parameters` replace its `<param>` values."""
    if isinstance(given, World):
        if parameters:
            raise WorldError(f"'{next(iter(parameters))}' is a parameter of a world's file, and this world was read already.")
        return given
    return reader.read(world_file(given), parameters)


def world_file(given: str | os.PathLike[str]) -> str:
    """The file of a world, by its path, by the name of a shipped world or by that of a study."""
    try:
        path = os.fsdecode(given)
    except TypeError as wrong:
        raise WorldError(f"a world is given as a World, the name of a shipped one or a file, not as {given!r}.") from wrong
    if os.path.isfile(path) or path.endswith(".xml"):
        return path
    if (found := named_world(path)) is not None:
        return os.fspath(found)
    study, slash, _ = path.partition("/")
    if slash and study in (studies := study_folders()):
        own = list(study_worlds(studies[study]))
        there = f"Its worlds: {', '.join(own)}." if own else "It has no world."
        files = [f"{study}/{file.stem}" for file in studies[study].glob("*.xml")]
        raise WorldError(f"the study '{study}' has no world '{path}'.{suggest(path, [*own, *files])} {there}")
    if os.path.exists(path):
        return path  # a folder, for one; the reader says so
    if os.sep in path:
        if close := suggest(path, known_worlds(hear=lambda wrong: None)):
            raise WorldError(f"{path}: no such file.{close}")
        return path
    if path in study_folders():
        raise WorldError(f"the study '{path}' has no world; `formiga view {path}` shows its result.")
    shipped, known = shipped_worlds(), known_worlds(hear=lambda wrong: None)  # one message, about this world
    others = ", ".join(name for name in known if name not in shipped)
    raise WorldError(f"there is no world '{path}'.{suggest(path, [*known, *study_folders()])} Shipped worlds: "
                     f"{', '.join(shipped)}. Worlds of studies: {others}. "
                     "A file of your own is given by its path, such as mine.xml.")


# -- names ------------------------------------------------------------------------------------------------------------
def named_world(name: str) -> Path | None:
    """The file of a shipped world or of a study's, None if there is none of that name."""
    if (shipped := shipped_worlds().get(name)) is not None:
        return shipped
    study, slash, _ = name.partition("/")
    folder = study_folders().get(study)
    if folder is None:
        return None
    if slash:
        return next((file for file in folder.glob("*.xml") if f"{study}/{file.stem}" == name), None)
    return next(iter(study_worlds(folder).values()), None)


def known_worlds(hear: Hear | None = None) -> dict[str, Path]:
    """All worlds that have a name, each once, by the shortest one: shipped ones, then those of studies.

    With `hear` a study whose paper.toml is wrong is left out, and told.
    """
    known = shipped_worlds()
    for folder in study_folders().values():
        with left_out(hear):
            known |= study_worlds(folder)
    return known


def shipped_worlds() -> dict[str, Path]:
    """The worlds that come with formiga: name -> file."""
    folder = Path(str(resources.files("formiga") / "worlds"))
    return {file.stem: file for file in sorted(folder.glob("*.xml"))}


def study_folders() -> dict[str, Path]:
    """The studies that come with formiga: name -> folder."""
    folder = Path(str(resources.files("formiga") / "studies"))
    return {file.parent.name: file.parent for file in sorted(folder.glob(f"*/{PAPER}"))}


def study_worlds(folder: Path) -> dict[str, Path]:
    """The worlds of a study by their shortest names: its own, the main one first, then those that its paper.toml lists."""
    own = sorted(folder.glob("*.xml"), key=lambda file: (file.stem != FIRST, file.stem))
    listed = about(folder).get("worlds", [])
    shipped = shipped_worlds()
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise WorldError(f"{folder / PAPER}: 'worlds' must be a list of texts, of at least one, not {listed!r}.")
    for name in listed:
        if name not in shipped:
            raise WorldError(f"{folder / PAPER}: there is no shipped world '{name}'.{suggest(name, shipped)}")
    short = folder.name not in shipped  # for the first; one of a shipped name has its long name alone
    return {folder.name if short and file is own[0] else f"{folder.name}/{file.stem}": file for file in own} | {
        name: shipped[name] for name in listed}


def about(folder: Path) -> dict[str, Any]:
    """What a study's paper.toml says."""
    file = folder / PAPER
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as wrong:
        raise WorldError(f"{file}: cannot be read ({wrong.strerror}).") from wrong
    except ValueError as wrong:
        raise WorldError(f"{file}: {wrong}.") from wrong


__all__ = ["PAPER", "Given", "about", "known_worlds", "named_world", "shipped_worlds", "study_folders", "study_worlds",
           "world_file", "world_of"]
