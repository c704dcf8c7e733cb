"""Elements that a study brings for worlds of its own: formiga/studies/NAME/elements.py. A world may use them by their tags.

They are registered when a world that is read names one, so that `formiga view NAME` needs no --with, and worlds without them
need no study. No file from elsewhere is ever run: only those that come with formiga.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module, resources
from pathlib import Path

from formiga.world.elements import Element, again, registered

ELEMENT = re.compile(r'^@element\("([\w-]+)"', re.MULTILINE)


@cache
def tags() -> dict[str, str]:
    """Tag -> name of the study that brings it."""
    folder = Path(str(resources.files("formiga") / "studies"))
    return {tag: file.parent.name for file in sorted(folder.glob("*/elements.py"))
            for tag in ELEMENT.findall(file.read_text(encoding="utf-8"))}


def bring(tag: str) -> Element | None:
    """The element of that tag, if a study brings it."""
    if (study := tags().get(tag)) is None:
        return None
    again(import_module(f"formiga.studies.{study}.elements").__name__)
    return registered().get(tag)


def bring_all() -> None:
    """Register the elements of all studies, as the schema does."""
    for tag in tags():
        bring(tag)


__all__ = ["bring", "bring_all", "tags"]
