"""A shelf of made-up studies, which stand in for the shipped ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from formiga import studies
from formiga.studies import every, paper, report, results  # noqa: F401  found now, before the shelf hides their folder

PAPER = '''id = "{id}"
title = {title}
authors = ["A. Author", "B. Other"]
year = 2001
venue = "A journal"
'''
README = "# A study\n\n**Claim.** What `it` says.\n\n**What we get.** A [page](other.md) and [more](https://example.org).\n"
STUDY = '''"""Made up."""

from formiga.studies import harness
from formiga.studies.harness import Row, reported


class Study(harness.Study):
    """Rows that are written down."""

    def rows(self, full, workers):
        {body}

    def figures(self):
        return {{"{name}": self.draw}} if {drawn} else {{}}

    def draw(self, path):
        with harness.canvas(path, size=(2.0, 1.0)) as (_, axes):
            axes.plot([0.0, 1.0])
'''
GOOD = 'yield Row("length (m)", 1.0, 1.01, 0.1, where="Table 1"); yield reported("speed", 3.5)'
MISSED = 'yield Row("width (m)", 1.0, 2.0, 0.1, note="too wide"); yield reported("speed", 3.5)'


class Shelf:
    """Studies in a folder of a test; `add` puts one there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, body: str = GOOD, drawn: bool = False, title: str = "Of {name}", readme: str = README,
            id: str = "R50") -> Path:
        folder = self.folder / name
        folder.mkdir()
        (folder / "__init__.py").write_text('"""Made up."""\n')
        (folder / "paper.toml").write_text(PAPER.format(id=id, title=json.dumps(title.format(name=name))))
        (folder / "README.md").write_text(readme)
        (folder / "study.py").write_text(STUDY.format(body=body, name=name, drawn=drawn))
        return folder

    def keep(self, name: str, *rows: dict, **changed) -> Path:
        """A result in the study's folder, as --keep writes it."""
        plain = {"claim": "length (m)", "published": 1.0, "ours": 1.01, "tolerance": 0.1, "origin": "published", "where": "",
                 "note": "", "verdict": "met", "spread": None, "runs": None}
        found = {"study": name, "rows": [plain | row for row in rows], "runs": 1, "seconds": 2.0, "form": "quick",
                 "date": "2026-11-18", "formiga": "0.1.0", "figures": []}
        file = self.folder / name / "result" / "result.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(found | changed))
        return file


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """An empty shelf in place of the shipped studies."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    before = set(sys.modules)
    monkeypatch.setattr(studies, "__path__", [str(folder)])
    monkeypatch.setattr("formiga.world.shipped.study_folders", lambda: {each.parent.name: each.parent
                                                                        for each in sorted(folder.glob("*/paper.toml"))})
    yield Shelf(folder)
    for name in set(sys.modules) - before:
        if name.startswith("formiga.studies.") and str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
