"""All studies, one after another: a line each, and one report. `formiga study --all`

Each result is a file as soon as its study has ended, and the report is written anew with it; so whatever ends the command,
Ctrl-C or a power cut, leaves what was done. The same command then goes on with the studies whose result of this form and
version of formiga is not there yet.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

import formiga
from formiga import studies
from formiga.errors import FormigaError
from formiga.files import write_whole
from formiga.pool import Pool, pool
from formiga.studies import harness, report, results

REPORT = "studies.html"
LONGEST = 200                # characters of an error in a line

Say = Callable[[str], object]


@dataclass(frozen=True)
class How:
    """What is asked for. again: also studies whose result is there; keep: in the studies' own folders, too."""

    full: bool
    out: Path
    again: bool = False
    keep: bool = False

    @property
    def form(self) -> str:
        """quick or full."""
        return harness.FORMS[self.full]


def run_all(how: How, jobs: int = 1, cluster: str | None = None, names: Iterable[str] | None = None, say: Say = print) -> int:
    """Run all studies, or those of these names; 1 if one missed a row or failed. Ctrl-C raises, after the report."""
    wrong: list[str] = []                # of studies whose paper.toml cannot be read: the others go on
    shelf = map(studies.about, names) if names else studies.shelf(lambda error: wrong.append(str(error)))
    papers = {paper.study: paper for paper in shelf}
    wanted = list(papers)
    done: dict[str, results.Result | str] = {}
    target = harness.folder(how.out) / REPORT
    console = harness.terminal()
    width = max(map(len, wanted), default=0)

    def write() -> None:
        facts = f"{how.form.capitalize()} form, {time.strftime('%Y-%m-%d')}, formiga {formiga.__version__}"
        write_whole(target, report.document([(papers[name], done.get(name, report.NOT_RUN)) for name in wanted], facts, wrong))

    write()  # if that cannot be, it is said now
    for each in wrong:
        say(f"failed: {each}")
    for name in wanted if how.keep else ():
        results.place(studies.require(name))
    try:
        with pool(jobs, cluster) as workers:
            for name in wanted:
                with console.status(f"study {name} ...") as status:
                    done[name], words = _one(name, how, workers, status.update, say)
                say(f"{name:<{width}}  {words}")
                write()
    except KeyboardInterrupt:
        say(f"interrupted: {len(done)} of {len(wanted)} studies are done, and {target} shows them; the same command goes on")
        raise
    say(f"report: {target}")
    return int(bool(wrong) or any(isinstance(each, str) or each.counts["missed"] for each in done.values()))


def _one(name: str, how: How, workers: Pool, hear: Say, say: Say) -> tuple[results.Result | str, str]:
    """The result of a study, or what failed; and its line."""
    file = how.out / f"{name}.json"
    if not how.again and (there := _there(file, how, say)) is not None:
        return there, f"{line(there)}  (was there; --again runs it again)"
    try:
        study = studies.study(name)
        rows, seconds = harness.perform(study, how.full, workers, lambda text: hear(f"study {name}: {text}"), name)
        text = harness.as_text(name, study, rows, how.full, seconds)
        harness.write(how.out, name, text, study)
        if how.keep:
            results.keep(studies.require(name), text, study.figures())
    except FormigaError as wrong:
        return str(wrong), f"failed: {wrong}"
    except Exception as wrong:  # a mistake in a study; the others go on
        last = traceback.extract_tb(wrong.__traceback__)[-1]
        said = shorten(f"{type(wrong).__name__}: {wrong}", LONGEST, placeholder=" ...")
        said = f"{said} ({Path(last.filename).name}:{last.lineno})"
        return said, f"failed: {said}"
    result = results.read_result(file)
    return result, line(result)


def _there(file: Path, how: How, say: Say) -> results.Result | None:
    """The result that a run before has left, if it is a whole one of this form and version."""
    if not file.exists():
        return None
    try:
        found = results.read_result(file)
    except FormigaError as wrong:
        say(f"{wrong} The study is run again.")
        return None
    if (found.study, found.form, found.formiga) != (file.stem, how.form, formiga.__version__):
        return None
    kept = studies.require(file.stem) / results.KEPT / "result.json"
    if how.keep and not (kept.exists() and kept.read_bytes() == file.read_bytes()):
        return None  # it is to be kept, and is not yet
    return found


def line(result: results.Result) -> str:
    """'103 met    1 missed   29 reported     6.6 s'."""
    counts = "  ".join(f"{count:4d} {verdict}" for verdict, count in result.counts.items())
    return f"{counts}  {result.seconds:7.1f} s"


__all__ = ["REPORT", "How", "run_all"]
