"""What all studies share: the class that each derives from, rows with their verdicts, tables, figures and the JSON.

    class Study(harness.Study):
        def rows(self, full, workers):
            yield from compare("speed of", published.SPEEDS, measured)
            runs = workers.map(trial, range(20 if full else 2))
            yield mean_row("time to gather (s)", 41.0, runs, tolerance=3.0)

A study stands in a folder of its own, as class Study in `study.py`. Rows are counted on the screen as they are found, and
printed in tables at the end. A study of pure dynamics needs no world.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from formiga.errors import FormigaError
from formiga.files import whole_file, write_whole
from formiga.pool import Pool, pool
from formiga.studies.parts import remembered
from formiga.world.model import World
from formiga.world.reader import read

# Where the number on the left comes from, and what its column is called. They are never mixed in one table.
ORIGINS = {
    "published": ("Published numbers", "paper"),
    "reconstructed": ("Reconstructed: not readable in the texts, but derived; the manual tells how", "expected"),
    "measured": ("Measured: on another simulator, while it ran", "theirs"),
    "law": ("Laws and promises: nothing is published, but it must hold", "must be"),
    "definition": ("Definitions: what the study takes from its text as it is; nothing is compared", "text"),
}


VERDICTS = {"met": "green", "missed": "bold red", "reported": "cyan"}  # and their colours in a terminal
FORMS = ("quick", "full")
Draw = Callable[[Path], None]  # draws a figure into a PNG file


class Study:
    """A published system, reproduced. One object is one run of the study, so `rows` may keep what the figures need."""

    runs = 1  # seeds, or independent runs, behind the numbers

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """The claims in the order of the paper. Quick takes seconds; `full` has all runs that the claims need.

        `workers.map(function, tasks)` shares out long work, and gives the same results in the same order however many work.
        """
        raise NotImplementedError

    def figures(self) -> dict[str, Draw]:
        """Name of a file, without `.png`, -> what draws it. Asked for after the rows."""
        return {}


@dataclass(frozen=True)
class Published:
    """Numbers of a paper, with their place in it and how far ours may be off; the note says why that far."""

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
    spread: float | None = None  # standard deviation of the runs, if ours is their mean
    runs: int | None = None      # how many they are

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
    """A figure worth knowing, of which no value is published and nothing is claimed."""
    return Row(claim, "-", ours, origin=origin, note=note, verdict="reported")


def without(package: str, claim: str) -> Row:
    """A comparison that is left out, because the other program is not installed."""
    return reported(claim, f"left out: pip install 'formiga[studies]' for {package}")


def definition(claim: str, value: Any, where: str = "", note: str = "") -> Row:
    """A number that the study sets to what its text says: it cannot fail, so it is listed apart and never counted as met."""
    return Row(claim, value, "-", origin="definition", where=where, note=note, verdict="reported")


def at_most(claim: str, limit: float, ours: float, origin: str = "law", **more: Any) -> Row:
    """A claim of the form 'at most so much'."""
    return Row(claim, f"<= {limit:g}", float(ours), origin=origin, verdict="met" if ours <= limit else "missed", **more)


def at_least(claim: str, limit: float, ours: float, origin: str = "law", **more: Any) -> Row:
    """A claim of the form 'at least so much'."""
    return Row(claim, f">= {limit:g}", float(ours), origin=origin, verdict="met" if ours >= limit else "missed", **more)


def mean_row(claim: str, published: float, runs: Sequence[float], tolerance: float = 0.0, **more: Any) -> Row:
    """A claim about the mean of independent runs; their standard deviation is shown beside it."""
    mean, spread, count = summary(runs)
    return Row(claim, published, mean, tolerance, spread=spread, runs=count, **more)


def summary(runs: Sequence[float]) -> tuple[float, float, int]:
    """Mean, standard deviation (n - 1; 0 for a single run) and number of independent runs."""
    values = np.asarray(runs, np.float64)
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0, len(values)


def counted(number: int, noun: str = "seed") -> str:
    """'1 seed', '2 seeds'."""
    return f"{number} {noun}{'s' * (number != 1)}"


def seed_of(seed: int, *key: int) -> int:
    """A seed for each key, such as (experiment, run): independent of those of all other keys."""
    return int(np.random.SeedSequence(seed, spawn_key=key).generate_state(1)[0])


def world(study: str, parameters: dict[str, str | float] | None = None, file: str = "world.xml") -> World:
    """A world file in the folder of a study."""
    return read(str(files(f"formiga.studies.{study}").joinpath(file)), parameters or {})


@contextmanager
def canvas(path: Path, rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 4.8),
           dpi: int = 130) -> Iterator[tuple[Any, Any]]:
    """Figure and axes to draw on, of this size in inches; at the end of the block they are written as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    picture, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    try:
        yield picture, axes
        picture.savefig(path, dpi=dpi, format="png")
    finally:
        plt.close(picture)


def dots(panel: Any, place: float, runs: Sequence[float], **style: Any) -> None:
    """A dot for each run, side by side around a place on the horizontal axis."""
    panel.plot(place + np.linspace(-0.12, 0.12, len(runs)), runs, "o", **style)


def compare(claim: str, published: Published, ours: dict[str, float], origin: str = "published") -> Iterator[Row]:
    """A row for each value of a Published."""
    for key, value in published.values.items():
        yield Row(f"{claim} {key}", value, ours[key], published.tolerance, origin, published.where, published.note)


def run(name: str, study: Study, full: bool, jobs: int, json_path: str | None, out: Path | None,
        cluster: str | None = None, keep: Callable[[str, Study], object] | None = None) -> int:
    """Run a study on so many processes or on a cluster, and show it; 1 if a row was missed. `keep` is given the JSON, too."""
    console = terminal()
    if out:
        folder(out)
    with pool(jobs, cluster) as workers, console.status(f"study {name} ...") as status:
        try:
            rows, seconds = perform(study, full, workers, lambda text: status.update(f"study {name}: {text}"), name)
        except KeyboardInterrupt:
            if full:
                console.print(f"interrupted: the parts of {name} that are done are kept; the same command goes on with them")
            raise
    show(console, name, rows, seconds)
    text = as_text(name, study, rows, full, seconds)
    if json_path:
        write_whole(json_path, text)
    if out:
        for target in write(out, name, text, study):
            console.print(f"figure: {target}")
    if keep:
        console.print(f"kept: {keep(text, study)}")
    return int(any(row.verdict == "missed" for row in rows))


def perform(study: Study, full: bool, workers: Pool, hear: Callable[[str], object], name: str = "") -> tuple[list[Row], float]:
    """The rows, and the seconds that they took. `hear` is told of each row, and of the parts between rows.

    name: of the study, whose full form then goes on where it was interrupted.
    """
    began, rows = time.perf_counter(), list[Row]()
    long = full and bool(name)
    with remembered(workers, name, lambda text: hear(f"{len(rows)} rows, {text}")) if long else nullcontext(workers) as hands:
        for row in study.rows(full, hands):
            rows.append(row)
            hear(f"{len(rows)} rows, {row.claim}")
    return rows, time.perf_counter() - began


def as_text(name: str, study: Study, rows: Iterable[Row], full: bool, seconds: float) -> str:
    """A result as JSON, as --json writes it. It names its figures, which stand beside it if there is a folder."""
    import formiga

    figures = list(study.figures())
    for stem in figures:
        if stem != name and not stem.startswith(f"{name}-"):  # results of all studies may stand in one folder
            raise ValueError(f"the figure '{stem}' of the study {name} is to be called {name} or {name}-...")
    result = {"study": name, "rows": [as_json(row) for row in rows], "runs": study.runs, "seconds": seconds,
              "form": FORMS[full], "date": time.strftime("%Y-%m-%d"), "formiga": formiga.__version__, "figures": figures}
    return json.dumps(result, indent=1) + "\n"


def write(out: Path, name: str, text: str, study: Study) -> list[Path]:
    """Write a result and its figures into a folder; the figures' files. None takes its name before all are written."""
    targets = {out / f"{stem}.png": draw for stem, draw in study.figures().items()}
    with ExitStack() as stack:
        stack.enter_context(whole_file(out / f"{name}.json")).write_text(text, encoding="utf-8")  # the last to take its name
        for target, draw in targets.items():
            draw(stack.enter_context(whole_file(target)))
    return list(targets)


def folder(path: Path) -> Path:
    """Make a folder, or say why that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise FormigaError(f"{path}: cannot be made a folder ({wrong.strerror}).") from wrong
    return path


def terminal() -> Console:
    """Where tables are printed."""
    console = Console()
    if not console.is_terminal:
        console.width = 132  # a file or a pipe has no width of its own
    return console


def show(console: Console, name: str, rows: Iterable[Row], seconds: float) -> None:
    """The tables, one for each origin of numbers."""
    rows = list(rows)
    for origin, (title, left) in ORIGINS.items():
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("claim")
        for column in (left, "ours", "difference", "tolerance", "verdict"):
            table.add_column(column, justify="left" if column == "verdict" else "right", no_wrap=True)
        for row in rows:
            if row.origin == origin:
                table.add_row(row.claim, shown(row.published), shown(row.ours) + spread(row), difference(row),
                              tolerance(row), f"[{VERDICTS[row.verdict]}]{row.verdict}[/]")
        if table.row_count:
            console.print(table)
    for row in rows:
        if row.verdict == "missed" and row.note:
            console.print(f"missed: {row.claim}: {row.note}")
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    console.print(f"study {name}: {verdicts} in {seconds:.1f} s")


def shown(value: Any) -> str:
    """A value for a table cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def spread(row: Row) -> str:
    """' +- 0.3', if ours is the mean of several runs."""
    return "" if row.spread is None else f" +- {row.spread:.2g}"


def difference(row: Row) -> str:
    """ours - paper, where both are numbers."""
    both = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (row.published, row.ours))
    return f"{row.ours - row.published:+.2g}" if both else ""


def tolerance(row: Row) -> str:
    """How far ours may be off, where both are numbers."""
    return f"{row.tolerance:.3g}" if difference(row) else ""


def as_json(row: Row) -> dict[str, Any]:
    """A row for the JSON file, in plain numbers; JSON has no infinity, so what is not finite becomes a text."""
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in asdict(row).items()}
    return {key: str(value) if isinstance(value, float) and not isfinite(value) else value for key, value in plain.items()}


__all__ = ["FORMS", "ORIGINS", "VERDICTS", "Draw", "Pool", "Published", "Row", "Study", "as_json", "as_text", "at_least",
           "at_most", "canvas", "compare", "counted", "definition", "difference", "dots", "folder", "mean_row", "perform",
           "reported", "run", "seed_of", "show", "shown", "spread", "summary", "terminal", "tolerance", "world",
           "write"]
