"""LaTeX to MathML while the pages are built, so that a page with equations needs no script and no network.

`$$ ... $$` is an equation on its own, `$...$` one in a line of text. Code is left alone. A command that latex2mathml
does not know is a warning, so `mkdocs build --strict` stops on it.
"""

from __future__ import annotations

import html
import logging
import re
from typing import Any

from latex2mathml.converter import convert

log = logging.getLogger("mkdocs.hooks.mathml")

# Code comes first, so that a dollar in it is never seen as mathematics. Nothing but a fence spans an empty line.
PIECES = re.compile(r"""
      ^(?P<indent>[ ]*)(?P<fence>`{3,}|~{3,}) .*\n (?:.*\n)*? (?P=indent)(?P=fence) [ ]*$
    | (?P<code>`+)(?!`) (?:(?!\n\s*\n)[\s\S])+? (?<!`)(?P=code)(?!`)
    | \$\$ (?P<block> (?:(?!\n\s*\n)[\s\S])+? ) \$\$
    | (?<![\\$\w]) \$ (?P<line> [^\s$`{] (?:[^$`\n]*[^\s$`\\])? ) \$ (?![\w$])
    """, re.VERBOSE | re.MULTILINE)
HELD = re.compile(r"mathml(\d+)held")
CODE = re.compile(r"<(pre|code)\b.*?</\1>", re.DOTALL)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put every equation aside before Markdown takes its underscores for emphasis."""
    page.equations = []

    def hold(piece: re.Match[str]) -> str:
        if piece["fence"] or piece["code"]:
            return piece[0]
        page.equations.append((piece[0], piece["block"], piece["line"]))
        return f"mathml{len(page.equations) - 1}held"

    return PIECES.sub(hold, markdown)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Put them back: as MathML, or as they were written where they turn out to stand in indented code."""
    def source(held: re.Match[str]) -> str:
        return html.escape(page.equations[int(held[1])][0], quote=False)

    def equation(held: re.Match[str]) -> str:
        _, block, line = page.equations[int(held[1])]
        return mathml(block or line, "block" if block else "inline", page.file.src_uri)

    content = CODE.sub(lambda code: HELD.sub(source, code[0]), content)
    return HELD.sub(equation, content)


def mathml(latex: str, display: str, page: str) -> str:
    """One equation as a <math> element."""
    latex = " ".join(latex.split())
    try:
        element = convert(latex, display=display)
    except Exception as wrong:  # latex2mathml has a dozen exceptions without a common base
        log.warning("%s: '%s' is not LaTeX that latex2mathml reads: %r", page, latex, wrong)
        return f"<code>{html.escape(latex)}</code>"
    if "\\" in element:
        log.warning("%s: '%s' uses a command that latex2mathml does not know", page, latex)
    return element
