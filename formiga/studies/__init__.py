"""The outermost ring: one folder per published system. Only the command line and the page's gallery import one."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from importlib.machinery import FileFinder
from pathlib import Path
from typing import TYPE_CHECKING

from formiga.errors import FormigaError, Hear, left_out, suggest

if TYPE_CHECKING:
    from formiga.studies.harness import Study
    from formiga.studies.paper import Paper
    from formiga.studies.results import Result


def folders() -> dict[str, Path]:
    """Name -> folder, of all studies: every package here is one."""
    return {module.name: Path(module.module_finder.path) / module.name for module in pkgutil.iter_modules(__path__)
            if module.ispkg and isinstance(module.module_finder, FileFinder)}


def shelf(hear: Hear | None = None) -> list[Paper]:
    """What all studies say about themselves, in the order of the shelf of papers: S1, S2, ..., R01, R02, ...

    With `hear` a study whose paper.toml is wrong is left out, and told.
    """
    papers = []
    for name in folders():
        with left_out(hear):
            papers.append(about(name))
    return sorted(papers, key=lambda paper: (not paper.id.startswith("S"), paper.id, paper.study))


def known(hear: Hear | None = None) -> dict[str, str]:
    """Name -> what it is, of all studies; `hear` as in `shelf`."""
    return {paper.study: paper.line for paper in shelf(hear)}


def require(name: str) -> Path:
    """The folder of a study; refuse one that does not exist."""
    if name not in (there := folders()):
        raise FormigaError(f"there is no study '{name}'.{suggest(name, there)} There are: {', '.join(there)}.")
    return there[name]


def about(name: str) -> Paper:
    """What a study says about itself."""
    from formiga.studies.paper import read_paper

    return read_paper(require(name))


def kept(name: str) -> Result | None:
    """The result that stands in a study's folder, if there is one; nothing is run."""
    from formiga.studies.results import kept_result

    return kept_result(require(name))


def study(name: str) -> Study:
    """A study, ready to run once."""
    if not (file := require(name) / "study.py").is_file():
        raise FormigaError(f"{file}: is not there; it is to have the class Study.")
    found: Study = import_module(f"{__name__}.{name}.study").Study()
    return found


def run(name: str, full: bool = False, jobs: int = 1, json_path: str | None = None, out_dir: str | None = None,
        cluster: str | None = None, keep: bool = False) -> int:
    """Reproduce a published system: print it row by row, write JSON and figures. 0: all met, 1: something missed.

    keep: the result becomes the one that the gallery shows.
    """
    from formiga.studies import harness, results

    folder = require(name)
    if keep:
        results.place(folder)  # if that cannot be, it is said before a study that takes minutes
    return harness.run(name, study(name), full, jobs, json_path, Path(out_dir) if out_dir else None, cluster,
                       (lambda text, done: results.keep(folder, text, done.figures())) if keep else None)
