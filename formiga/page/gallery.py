"""What the gallery shows: the shipped worlds, grouped, each with a line and a picture; and papers, with what came of them.

A paper's result is read from the file in its study's folder, as data: nothing is run, and no study is imported.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from formiga import lab, studies
from formiga.errors import FormigaError
from formiga.studies import report
from formiga.studies.results import KEPT

OTHERS = "Others"
MOST = 64               # rendered pages that are held


@cache
def gallery() -> list[dict[str, Any]]:
    """[{"name": topic, "worlds": [{"name", "doc", "picture"}]}], in the order in which the topics first appear."""
    topics: dict[str, list[dict[str, str]]] = {}
    for name, file in lab.shipped_worlds().items():
        world = lab.read_world(name)
        entry = {"name": name, "doc": world.doc, "picture": report.thumbnail(file)}
        topics.setdefault(world.topic or OTHERS, []).append(entry)
    order = sorted(topics, key=lambda topic: (topic == OTHERS, topic != "First steps", topic))
    return [{"name": topic, "worlds": topics[topic]} for topic in order]


def papers() -> list[dict[str, str]]:
    """[{"name", "card"}] of all studies, in the order of the shelf: S1, S2, ... R01, R02, ...

    Behind them {"fault"}, what is wrong, of each study whose paper.toml cannot be read.
    """
    faults: list[dict[str, str]] = []
    shelf = studies.shelf(lambda wrong: faults.append({"fault": str(wrong)}))
    return [_card(*_which(paper.study)) for paper in shelf] + faults


def paper(name: str) -> dict[str, str]:
    """{"title", "article"}: the page of one."""
    return _page(*_which(name))


def _which(name: str) -> tuple[str, float]:
    """A study, and when its result was kept: what was rendered for these stays as it is."""
    file = studies.require(name) / KEPT / "result.json"
    return name, file.stat().st_mtime if file.exists() else 0.0


@lru_cache(MOST)
def _card(name: str, changed: float) -> dict[str, str]:
    return {"name": name, "card": report.card(studies.about(name), outcome(name), failed="its result is damaged")}


@lru_cache(MOST)
def _page(name: str, changed: float) -> dict[str, str]:
    about = studies.about(name)
    return {"title": about.title, "article": report.article(about, outcome(name), buttons=True)}


def outcome(name: str) -> report.Outcome:
    """The result in a study's folder; if it is damaged, what is wrong with it."""
    try:
        return studies.kept(name)
    except FormigaError as wrong:
        return str(wrong)


__all__ = ["gallery", "paper", "papers"]
