"""Numbers in the manual that a study prints: a table behind the comment

    <!-- rows of formiga study NAME, quick -->

has in its first column claims of the study, word for word, and in its last what the quick form gives, rounded in any way.
Rows that are not the same in every run, such as times, do not belong there.
"""

import re
from pathlib import Path

from formiga import studies
from formiga.studies import harness

ROOT = Path(__file__).parents[2]
TABLE = re.compile(r"<!-- rows of formiga study (\w+), quick -->\n+((?:\|.*\n)+)")


def tables(study):
    """(page, claim, printed) of every line."""
    for page in sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "formiga" / "studies").rglob("README.md")]):
        for name, table in TABLE.findall(page.read_text(encoding="utf-8")):
            if name == study:
                for line in table.splitlines()[2:]:
                    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                    yield page.name, cells[0], cells[-1].replace("−", "-")


def check_pages(study, rows):
    """Every printed number is that of the study; there is at least one."""
    found, wrong = {row["claim"].strip(): row["ours"] for row in rows}, []
    printed = list(tables(study))
    assert printed, f"no page has a table of rows of {study}"
    for page, claim, text in printed:
        if claim not in found:
            wrong.append(f"{page}: '{claim}' is no row of the study")
        elif not same(text, found[claim]):
            wrong.append(f"{page}: {claim}: the page has {text}, the study {found[claim]}")
    assert not wrong, "\n".join(wrong)


def same(text, ours):
    """Whether a printed number is ours, rounded to its digits."""
    if isinstance(ours, bool) or not isinstance(ours, int | float):
        return text == harness.shown(ours)
    digits = len(text.partition(".")[2])
    return f"{ours:.{digits}f}" == text or (ours == 0 and float(text) == 0)


# -- the result that is shipped ---------------------------------------------------------------------------------------
NUMBERS = re.compile(r"[-+]?\d(?:[\d.,]*\d)?(?:(?:, | x )[-+]?\d(?:[\d.,]*\d)?)*")
PLURAL = re.compile(r"\b(seed|run|game|team|trial|world)s\b")


def masked(claim):
    """A claim without its numbers, which the full form may have others of: '# seed', '# games of # s'."""
    return PLURAL.sub(r"\1", NUMBERS.sub("#", claim)).strip()


def check_kept(study, rows):
    """The result in the study's folder, which the gallery shows, is one of the study as it is: a renamed, new or removed
    claim, or another published number, asks for `formiga study NAME --full --keep`.

    The full form has further rows, and other numbers in claims, such as that of seeds; nine tenths of the claims must be there.
    """
    kept = studies.kept(study)
    assert kept is not None and kept.study == study and kept.rows
    advice = f"make it again: formiga study {study} --full --keep"
    if kept.form == "quick":
        assert [(row.claim, row.origin) for row in kept.rows] == [(row["claim"], row["origin"]) for row in rows], advice
    claims = {(masked(row.claim), row.origin) for row in kept.rows}
    gone = {row["claim"] for row in rows if (masked(row["claim"]), row["origin"]) not in claims}
    assert len(gone) <= 0.1 * len(rows), f"{advice}; it has no {sorted(gone)}"
    ours = {row["claim"]: (row["published"], row["tolerance"]) for row in rows if row["origin"] in ("published", "definition")}
    old = [row.claim for row in kept.rows if row.claim in ours and row.published != ours[row.claim][0]]
    assert not old, f"{advice}; other numbers are published for {old}"
