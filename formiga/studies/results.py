"""What came of a study, as files: the rows as JSON, and figures beside it.

A run with `--out DIR` writes DIR/NAME.json and PNG figures. One with `--keep` writes result/result.json and small WebP figures
into the study's own folder: that is the result which the gallery shows, and which is shipped.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from formiga.errors import FormigaError, reason
from formiga.files import whole_file
from formiga.studies.harness import FORMS, ORIGINS, VERDICTS, Draw, Row

KEPT = "result"             # folder in that of a study
LARGEST = 16 << 20          # bytes of a file with rows
LARGEST_INT = 2**63         # above it a number is not one of a study, and might be too large for a float
WIDEST = 1400               # pixels of a kept figure
STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True)
class Result:
    """A run of a study: what `--json` writes."""

    study: str
    rows: tuple[Row, ...]
    runs: int
    seconds: float
    form: str                # quick or full
    date: str                # 2026-11-18
    formiga: str             # its version
    figures: tuple[Path, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have each verdict."""
        return {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in VERDICTS}


def read_result(file: Path) -> Result:
    """A result that was written, with its figures beside it. FormigaError if it is not one, or not a whole one."""
    try:
        if file.stat().st_size > LARGEST:
            raise FormigaError(f"{file}: is larger than {LARGEST >> 20} MB, so it is not the result of a study.")
        found = json.loads(file.read_text(encoding="utf-8"))
        json.dumps(found, ensure_ascii=False).encode()  # an escaped half of a character pair is no text
    except OSError as wrong:
        raise FormigaError(f"{file}: cannot be read ({reason(wrong)}).") from wrong
    except (ValueError, RecursionError) as wrong:
        raise FormigaError(f"{file}: is not JSON ({wrong}).") from wrong
    try:
        return _result(found, file.parent)
    except Damaged as wrong:
        raise FormigaError(f"{file}: is not the result of a study: {wrong}.") from wrong


def kept_result(folder: Path) -> Result | None:
    """The result that a study's folder has; None if it was never run with --keep."""
    file = folder / KEPT / "result.json"
    if not file.exists():
        return None
    if (found := read_result(file)).study != folder.name:
        raise FormigaError(f"{file}: is the result of another study, {found.study[:100]!r}.")
    return found


def place(folder: Path) -> Path:
    """Where results are kept in a study's folder, made if need be; refused if nothing can be written there."""
    into = folder / KEPT
    try:
        into.mkdir(exist_ok=True)
    except OSError as wrong:
        raise FormigaError(f"{into}: cannot be made ({wrong.strerror}).") from wrong
    if not os.access(into, os.W_OK):
        raise FormigaError(f"{into}: cannot be written, so no result can be kept there.")
    return into


def keep(folder: Path, text: str, figures: dict[str, Draw]) -> Path:
    """Put a result into a study's folder: rows and figures, none of which takes its name before all are written."""
    into = place(folder)
    with ExitStack() as stack:
        stack.enter_context(whole_file(into / "result.json")).write_text(text, encoding="utf-8")  # the last to take its name
        for stem, draw in figures.items():
            beside = stack.enter_context(whole_file(into / f"{stem}.webp"))
            draw(beside)                              # as PNG
            beside.write_bytes(small(beside))
    for other in into.glob("*.webp"):
        if other.stem not in figures:
            other.unlink()
    return into / "result.json"


def small(picture: Path, widest: int = WIDEST) -> bytes:
    """A picture as WebP, at most so many pixels wide."""
    from io import BytesIO

    from PIL import Image

    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    if image.width > widest:
        image = image.resize((widest, round(image.height * widest / image.width)), Image.Resampling.LANCZOS)
    buffer = BytesIO()
    image.save(buffer, "WEBP", quality=82, method=6)
    return buffer.getvalue()


# -- reading ----------------------------------------------------------------------------------------------------------
class Damaged(Exception):
    """What is wrong in a file of rows."""


Kinds = tuple[type, ...]
NUMBER: Kinds = (int, float)
TEXT: Kinds = (str,)
VALUE: Kinds = (str, int, float, bool, list)
PARTS: dict[str, Kinds] = {"study": TEXT, "runs": (int,), "seconds": NUMBER, "form": TEXT, "date": TEXT, "formiga": TEXT,
                           "figures": (list,), "rows": (list,)}
CELLS: dict[str, Kinds] = {"claim": TEXT, "published": VALUE, "ours": VALUE, "tolerance": NUMBER, "origin": TEXT, "where": TEXT,
                           "note": TEXT, "verdict": TEXT, "spread": (*NUMBER, type(None)), "runs": (int, type(None))}


def _result(found: Any, folder: Path) -> Result:
    _check(found, PARTS, "it")
    if found["form"] not in FORMS:
        raise Damaged(f"the form is {' or '.join(FORMS)}, not {found['form'][:40]!r}")
    return Result(**{name: found[name] for name in ("study", "runs", "seconds", "form", "date", "formiga")},
                  rows=tuple(_row(each, f"rows[{number}]") for number, each in enumerate(found["rows"])),
                  figures=tuple(_figure(each, folder) for each in found["figures"]))


def _row(found: Any, place: str) -> Row:
    _check(found, CELLS, place)
    if found["origin"] not in ORIGINS or found["verdict"] not in VERDICTS:
        raise Damaged(f"{place} has an origin or a verdict that is unknown")
    return Row(**{each.name: found[each.name] for each in fields(Row)})


def _check(found: Any, parts: dict[str, Kinds], place: str) -> None:
    if not isinstance(found, dict):
        raise Damaged(f"{place} is not an object")
    for name, kinds in parts.items():
        if name not in found:
            raise Damaged(f"{place} has no '{name}'")
        value = found[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds) or (
                isinstance(value, int) and abs(value) > LARGEST_INT):
            raise Damaged(f"'{name}' of {place} is {repr(value)[:40]}")


def _figure(stem: Any, folder: Path) -> Path:
    if not isinstance(stem, str) or not STEM.fullmatch(stem):
        raise Damaged(f"{str(stem)[:40]!r} is not the name of a figure")
    for file in (folder / f"{stem}.webp", folder / f"{stem}.png"):
        if file.is_file():
            _check_picture(file)
            return file
    raise Damaged(f"its figure {stem} is not there")


def _check_picture(file: Path) -> None:
    from PIL import Image

    try:
        with Image.open(file) as picture:
            picture.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as wrong:  # what its readers raise
        raise Damaged(f"its figure {file.name} is not a whole picture") from wrong


__all__ = ["Result", "keep", "kept_result", "place", "read_result", "small"]
