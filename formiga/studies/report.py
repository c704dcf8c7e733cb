"""Results as HTML: the page of one paper, its card, and the report of all. The gallery shows the first two, a file the third.

Whatever comes from a file is text here, and escaped; the words of a README are Markdown, rendered without the HTML in it, with
links to the outside alone. All pictures are data: addresses, so nothing is ever fetched.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from formiga import lab
from formiga.errors import FormigaError
from formiga.studies.harness import ORIGINS, VERDICTS, Row, difference, shown, spread, tolerance
from formiga.studies.paper import Paper
from formiga.studies.results import Result, small

NOT_RUN = "not run"
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # of the report: no code, and nothing is fetched
MORE = "What we get, and what had to be reconstructed"
PICTURES = "pictures"           # beside shipped worlds; made by docs/screenshots.py
THUMBNAIL = 480                 # pixels, the width of a card's picture
LONG = 14                       # characters of a value that may be broken into lines

Outcome = Result | str | None   # what came of a study: a result, what failed in words, or nothing yet


# -- pictures ---------------------------------------------------------------------------------------------------------
def data(picture: bytes) -> str:
    """A WebP picture as an address that holds it."""
    return f"data:image/webp;base64,{base64.b64encode(picture).decode()}"


@cache
def _shrunk(file: Path, changed: float, widest: int) -> bytes:
    return small(file, widest)


def figure(file: Path, widest: int = 1400) -> str:
    """A figure of a result as an address; PNGs are made smaller."""
    if file.suffix == ".webp" and widest >= 1400:
        return data(file.read_bytes())
    return data(_shrunk(file, file.stat().st_mtime, widest))


def thumbnail(world: Path) -> str:
    """The picture of a world: that of its name in `pictures` beside it; '' if there is none."""
    picture = world.parent / PICTURES / f"{world.stem}.webp"
    return data(picture.read_bytes()) if picture.exists() else ""


def portrait(paper: Paper, outcome: Outcome) -> str:
    """The picture of a card: the study's first world that has one, else its first figure, else a blank."""
    for file in paper.worlds.values():
        if picture := thumbnail(file):
            return f'<img src="{picture}" alt="">'
    if isinstance(outcome, Result) and outcome.figures:
        return f'<img class="figure" src="{figure(outcome.figures[0], THUMBNAIL)}" alt="">'
    return "<div></div>"


# -- parts ------------------------------------------------------------------------------------------------------------
def card(paper: Paper, outcome: Outcome, failed: str = "failed") -> str:
    """What a card shows: picture, title, authors, year, and the verdicts of a quick or a full run. failed: in place of them."""
    form = f" · {outcome.form} form" if isinstance(outcome, Result) else ""
    return (f'{portrait(paper, outcome)}<h3>{escape(paper.title)}</h3><p class="by">{escape(paper.by)} · {paper.year}{form}</p>'
            f"{verdicts(outcome, failed)}")


def verdicts(outcome: Outcome, failed: str = "failed") -> str:
    """The counts as coloured figures over a bar of their shares; or why there are none."""
    if outcome is None:
        return '<div class="verdicts none">no result yet</div>'
    if isinstance(outcome, str):
        return f'<div class="verdicts none">{escape("not run" if outcome == NOT_RUN else failed)}</div>'
    counts = outcome.counts
    figures = "".join(f'<span class="{verdict}{"" if count else " zero"}"><b>{count}</b> {verdict}</span>'
                      for verdict, count in counts.items())
    bar = "".join(f'<i class="{verdict}" style="flex-grow:{count}"></i>' for verdict, count in counts.items() if count)
    return f'<div class="verdicts">{figures}</div><div class="share" aria-hidden="true">{bar}</div>'


def article(paper: Paper, outcome: Outcome, buttons: bool = False) -> str:
    """The page of one paper. `buttons`: its worlds can be opened from here."""
    try:
        claim, rest = map(markdown, paper.words())
    except FormigaError as wrong:
        claim, rest = f"<p>{escape(str(wrong))}</p>", ""
    doi = f" · doi:{escape(paper.doi)}" if paper.doi else ""
    more = f'<details class="more"><summary>{MORE}</summary>{rest}</details>' if rest else ""
    return (f'<article class="paper" id="paper-{escape(paper.study)}"><header><p class="place">{escape(paper.id)} · study '
            f"<code>{escape(paper.study)}</code></p><h2>{escape(paper.title)}</h2>"
            f'<p class="by">{escape(", ".join(paper.authors))} · {paper.year}</p>'
            f'<p class="venue">{escape(paper.venue)}{doi}</p></header>'
            f'<div class="claim">{claim}</div>{worlds(paper, buttons)}{results(paper, outcome)}{more}</article>')


@cache
def _doc(world: Path) -> str:
    return lab.read_world(world).doc


def worlds(paper: Paper, buttons: bool) -> str:
    """The worlds in which one sees it happen: as buttons, or as what to type."""
    if not paper.worlds:
        return ""
    made = []
    for name, file in paper.worlds.items():
        doc = escape(_doc(file))
        if not buttons:
            made.append(f"<li><code>formiga view {escape(name)}</code><span>{doc}</span></li>")
            continue
        picture = thumbnail(file)
        image = f'<img src="{picture}" alt="">' if picture else "<div></div>"
        made.append(f'<button class="world" data-world="{escape(name)}" title="{doc}">{image}<span><b>{escape(name)}</b>'
                    f"<small>{doc}</small></span></button>")
    return (f'<div class="worlds">{"".join(made)}</div>' if buttons else f'<ul class="commands">{"".join(made)}</ul>')


def results(paper: Paper, outcome: Outcome) -> str:
    """Verdicts, what was missed, figures, and all rows."""
    if not isinstance(outcome, Result):
        said = (f"There is no result yet; <code>formiga study {escape(paper.study)} --keep</code> makes one." if outcome is None
                else "It was not run." if outcome == NOT_RUN else escape(outcome))
        return f'<p class="fault">{said}</p>'
    runs = f"{outcome.runs} independent runs, " if outcome.runs > 1 else ""
    facts = f"{outcome.form} form, {runs}{outcome.seconds:.0f} s, {outcome.date}, formiga {outcome.formiga}"
    groups = {origin: rows for origin in ORIGINS if (rows := [row for row in outcome.rows if row.origin == origin])}
    command = f"formiga study {paper.study}{' --full' if outcome.form == 'full' else ''}"
    return (f'<section class="outcome">{verdicts(outcome)}<p class="facts">{escape(facts)} · <code>{escape(command)}</code></p>'
            f"{missed(outcome.rows)}"
            + "".join(f'<figure><img src="{figure(file)}" alt="figure {escape(file.stem)} of the study"></figure>'
                      for file in outcome.figures)
            + "".join(table(origin, rows, first=origin == next(iter(groups))) for origin, rows in groups.items())
            + "</section>")


def missed(rows: Iterable[Row]) -> str:
    """The rows that were missed, in words; nothing if there are none."""
    found = [f"<li><b>{escape(row.claim.strip())}</b>: {ORIGINS[row.origin][1]} {escape(shown(row.published))}, ours "
             f"{escape(shown(row.ours))}{': ' if row.note else ''}{escape(row.note)}</li>"
             for row in rows if row.verdict == "missed"]
    return f'<div class="missing"><h3>Missed</h3><ul>{"".join(found)}</ul></div>' if found else ""


def table(origin: str, rows: list[Row], first: bool) -> str:
    """All rows of one origin, as the terminal shows them; those from one place of the paper stand together.

    It is folded, unless it is the first or has a row that was missed.
    """
    title, left = ORIGINS[origin]
    title, _, rest = title.partition(":")
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
    summary = " ".join(f'<span class="{verdict}">{count} {verdict}</span>' for verdict, count in counts.items() if count)
    heads = "".join(f"<th{' class=number' if each in (left, 'ours', 'difference', 'tolerance') else ''}>{each}</th>"
                    for each in ("claim", left, "ours", "difference", "tolerance", "verdict"))
    bodies = "".join(f"<tbody>{_place(where)}{''.join(_row(row, left) for row in together)}</tbody>"
                     for where, together in groupby(rows, key=lambda row: row.where))
    opened = " open" if counts["missed"] or first else ""
    return (f'<details class="rows"{opened}><summary><b>{escape(title)}</b><em>{escape(rest.strip())}</em>'
            f'<span class="counts">{summary}</span></summary><table><thead><tr>{heads}</tr></thead>{bodies}</table></details>')


def _place(where: str) -> str:
    return f'<tr class="where"><td colspan="6">{escape(where)}</td></tr>' if where else ""


def _row(row: Row, left: str) -> str:
    note = f"<small>{escape(row.note)}</small>" if row.note and row.verdict == "missed" else ""
    says = "says part" if row.claim.startswith(" ") else "says"  # of the row above
    return (f'<tr class="{row.verdict}"><td class="{says}">{escape(row.claim.strip())}{note}</td>'
            f'{_number(left, shown(row.published))}'
            f'{_number("ours", shown(row.ours) + spread(row).replace(" +- ", " ± "))}{_number("difference", difference(row))}'
            f'{_number("tolerance", tolerance(row))}<td class="verdict">{row.verdict}</td></tr>')


def _number(head: str, text: str) -> str:
    text = "" if text == "-" else text
    return f'<td class="number{" long" if len(text) > LONG else ""}" data-head="{head}">{escape(text)}</td>'


@cache
def _renderer() -> Any:
    from markdown_it import MarkdownIt

    rules = MarkdownIt("js-default", {"html": False, "linkify": False}).disable("image")
    rules.add_render_rule("link_open", lambda self, tokens, at, options, env: _link(tokens[at]))
    rules.add_render_rule("link_close", lambda self, tokens, at, options, env: "</a>")
    return rules


def _link(token: Any) -> str:
    """A link to the outside opens in a window of its own; one to another file of ours leads nowhere from here."""
    address = token.attrGet("href") or ""
    if not address.startswith(("https://", "http://")):
        return "<a>"
    return f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">'


def markdown(text: str) -> str:
    """Words of a README as HTML."""
    return str(_renderer().render(text))


# -- the report -------------------------------------------------------------------------------------------------------
def style() -> str:
    """The style sheet of cards and articles."""
    return (resources.files("formiga.studies") / "report.css").read_text(encoding="utf-8")


def document(entries: list[tuple[Paper, Outcome]], facts: str, wrong: Iterable[str] = ()) -> str:
    """One file that holds everything, and opens from disk. wrong: what is said of studies that could not be read."""
    found = [outcome for _, outcome in entries if isinstance(outcome, Result)]
    counts = {verdict: sum(each.counts[verdict] for each in found) for verdict in VERDICTS}
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    cards = "".join(f'<a class="card" href="#paper-{escape(paper.study)}">{card(paper, outcome)}</a>'
                    for paper, outcome in entries)
    articles = "".join(f'{article(*entry)}<p class="up"><a href="#top">all papers</a></p>' for entry in entries)
    faults = "".join(f'<p class="fault">{escape(each)}</p>' for each in wrong)
    summary = f"{len(found)} of {len(entries)} studies: {total}. {escape(facts)}."
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            f'<title>Papers, reproduced - formiga</title><link rel="icon" href="data:,"><style>{style()}</style></head>'
            f'<body class="report" id="top"><header class="top"><h1>Papers, reproduced</h1><p>{summary}</p>{faults}</header>'
            f'<main><nav class="grid" aria-label="papers">{cards}</nav>{articles}</main>'
            "</body></html>\n")


__all__ = ["NOT_RUN", "Outcome", "article", "card", "data", "document", "style", "thumbnail"]
