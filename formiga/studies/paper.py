"""What a study says about itself: its paper.toml, and the words of its README.

    id = "R13"                                    # as on the shelf of papers
    title = "Orbital obstacle avoidance algorithm for reliable and on-line mobile robot navigation"
    authors = ["L. Adouane"]
    year = 2009
    venue = "ROBOTICA 2009, Castelo Branco"
    doi = "10.1000/182"                           # if there is one
    worlds = ["corral"]                           # shipped worlds that show it, beside those in the study's folder

The claim is the paragraph of the README that begins with **Claim.**, so it is written once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from formiga.errors import FormigaError, suggest
from formiga.world.shipped import PAPER, about, study_worlds

CLAIM = "**Claim.**"
TYPES: dict[str, Any] = {"id": str, "title": str, "authors": list, "year": int, "venue": str, "doi": str, "worlds": list}
OPTIONAL = ("doi", "worlds")


@dataclass(frozen=True)
class Paper:
    """A published system and the study of it."""

    study: str                   # name of the study
    folder: Path
    id: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    doi: str
    worlds: dict[str, Path]      # name -> file, the main one first

    @property
    def by(self) -> str:
        """The authors in a line: 'F. Vicentini, E. Tuci', or 'F. Mondada et al.' for more than four."""
        return ", ".join(self.authors) if len(self.authors) <= 4 else f"{self.authors[0]} et al."

    @property
    def line(self) -> str:
        """For a list: 'S1, Swarmod: a 2D s-bot's simulator [F. Vicentini, E. Tuci, 2006]'."""
        return f"{self.id}, {self.title} [{self.by}, {self.year}]"

    def words(self) -> tuple[str, str]:
        """The claim, and the rest of the README behind it; Markdown."""
        file = self.folder / "README.md"
        try:
            parts = file.read_text(encoding="utf-8").split("\n\n")
        except (OSError, UnicodeDecodeError) as wrong:
            raise FormigaError(f"{file}: cannot be read ({wrong}).") from wrong
        for number, part in enumerate(parts):
            if part.startswith(CLAIM):
                return part.removeprefix(CLAIM).strip(), "\n\n".join(parts[number + 1:]).strip()
        raise FormigaError(f"{file}: no paragraph begins with {CLAIM}; it says what the paper claims.")


def read_paper(folder: Path) -> Paper:
    """The paper of the study in a folder."""
    found, file = about(folder), folder / PAPER
    for name in found:
        if name not in TYPES:
            raise FormigaError(f"{file}: '{name}' is unknown.{suggest(name, TYPES)} It may say: {', '.join(TYPES)}.")
    for name, kind in TYPES.items():
        if name not in found and name not in OPTIONAL:
            raise FormigaError(f"{file}: '{name}' is missing; it must say: "
                               f"{', '.join(each for each in TYPES if each not in OPTIONAL)}.")
        if name in found and not _fits(found[name], kind):
            words = {str: "a text", int: "a whole number", list: "a list of texts, of at least one"}[kind]
            raise FormigaError(f"{file}: '{name}' must be {words}, not {found[name]!r}.")
    given = {each.name: found[each.name] for each in fields(Paper) if each.name in found}
    return Paper(**given | {"study": folder.name, "folder": folder, "authors": tuple(found["authors"]),
                            "doi": found.get("doi", ""), "worlds": study_worlds(folder)})


def _fits(value: Any, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each.strip() for each in value)
    return type(value) is kind and value != ""


__all__ = ["Paper", "read_paper"]
