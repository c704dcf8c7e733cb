"""Published beside ours: the rows of a study, their verdicts, the printed tables, the JSON.

A study has `rows(full, workers)`, a generator of Row; `figure(path)`, if it draws; and RUNS. `workers.map` shares out long
work. It is a module; or an object of the module's class Study, if the figure needs what the rows found.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from formiga.errors import FormigaError
from formiga.files import write_whole
from formiga.pool import pool

# Where the number on the left comes from, and what its column is called. They are never mixed in one table.
ORIGINS = {
    "published": ("Published numbers", "paper"),
    "reconstructed": ("Reconstructed: not readable in the texts, but derived; the manual tells how", "expected"),
    "measured": ("Measured: on another simulator, while it ran", "theirs"),
    "law": ("Laws and promises: nothing is published, but it must hold", "must be"),
}


@dataclass(frozen=True)
class Published:
    """A paper's numbers, with their place."""

    where: str
    values: dict[Any, Any]
    tolerance: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One claim: what it says, what we get, and whether that is the same."""

    claim: str
    published: Any
    ours: Any
    tolerance: float = 0.0
    origin: str = "published"
    where: str = ""
    note: str = ""
    verdict: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.origin not in ORIGINS:
            raise ValueError(f"no origin '{self.origin}'")
        if not self.verdict:
            object.__setattr__(self, "verdict", "met" if self.agrees() else "missed")

    def agrees(self) -> bool:
        """Whether ours is the published value, within the tolerance."""
        if isinstance(self.published, str | list | bool):
            return self.published == self.ours
        return bool(abs(float(self.ours) - float(self.published)) <= self.tolerance)


def reported(claim: str, ours: Any, origin: str = "law", note: str = "") -> Row:
    """A figure worth knowing that nobody published and nothing is claimed about."""
    return Row(claim, "-", ours, origin=origin, note=note, verdict="reported")


def at_most(claim: str, limit: float, ours: float, origin: str = "law", **more: Any) -> Row:
    """A claim of the form 'at most so much'."""
    return Row(claim, f"<= {limit:g}", float(ours), origin=origin, verdict="met" if ours <= limit else "missed", **more)


def compare(claim: str, published: Published, ours: dict[str, float], origin: str = "published") -> Iterator[Row]:
    """A row for each value of a Published."""
    for key, value in published.values.items():
        yield Row(f"{claim} {key}", value, ours[key], published.tolerance, origin, published.where, published.note)


def run(name: str, study: Any, full: bool, jobs: int, json_path: str | None, out: Path | None,
        cluster: str | None = None) -> int:
    """Run a study on so many processes or on a cluster, and show it; 1 if a row was missed."""
    console = Console()
    if not console.is_terminal:
        console.width = 132  # a file or a pipe has no width of its own
    if out:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise FormigaError(f"{out}: cannot be made a folder ({wrong.strerror}).") from wrong
    began = time.perf_counter()
    rows: list[Row] = []
    with pool(jobs, cluster) as workers, console.status(f"study {name} ...") as status:
        for row in study.rows(full, workers):
            rows.append(row)
            status.update(f"study {name}: {len(rows)} rows, {row.claim}")
    seconds = time.perf_counter() - began
    show(console, name, rows, seconds)
    result = {"study": name, "rows": [as_json(row) for row in rows], "runs": getattr(study, "RUNS", 1), "seconds": seconds}
    text = json.dumps(result, indent=1) + "\n"
    if json_path:
        write_whole(json_path, text)
    if out:
        write_whole(out / f"{name}.json", text)
        if hasattr(study, "figure"):
            study.figure(out / f"{name}.png")
            console.print(f"figure: {out / f'{name}.png'}")
    return 1 if any(row.verdict == "missed" for row in rows) else 0


def show(console: Console, name: str, rows: Iterable[Row], seconds: float) -> None:
    """The tables, one for each origin of numbers."""
    rows = list(rows)
    colours = {"met": "green", "missed": "bold red", "reported": "cyan"}
    for origin, (title, left) in ORIGINS.items():
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("claim")
        for column in (left, "ours", "difference", "tolerance", "verdict"):
            table.add_column(column, justify="left" if column == "verdict" else "right", no_wrap=True)
        for row in rows:
            if row.origin == origin:
                table.add_row(row.claim, shown(row.published), shown(row.ours), difference(row),
                              f"{row.tolerance:g}" if difference(row) else "", f"[{colours[row.verdict]}]{row.verdict}[/]")
        if table.row_count:
            console.print(table)
    for row in rows:
        if row.verdict == "missed" and row.note:
            console.print(f"missed: {row.claim}: {row.note}")
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in colours}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    console.print(f"study {name}: {verdicts} in {seconds:.1f} s")


def shown(value: Any) -> str:
    """A value for a table cell."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def difference(row: Row) -> str:
    """ours - paper, where both are numbers."""
    both = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (row.published, row.ours))
    return f"{row.ours - row.published:+.2g}" if both else ""


def as_json(row: Row) -> dict[str, Any]:
    """A row for the JSON file, in plain numbers; JSON has no infinity, so what is not finite becomes a text."""
    plain = {key: value.item() if hasattr(value, "item") else value for key, value in asdict(row).items()}
    return {key: str(value) if isinstance(value, float) and not isfinite(value) else value for key, value in plain.items()}
