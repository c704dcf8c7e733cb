"""How figures look: the size of a printed column, letters that can be read there, colours that all readers can tell apart."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from formiga.errors import FormigaError
from formiga.files import whole_file

COLUMN = 3.5                # inches, of one of two columns on a page
PAGE = 8.0                  # inches, of axes on which lines and signs have their full weight
TALLEST = 1.6               # of a figure, in its widths
KINDS = (".pdf", ".svg", ".eps", ".png")

# vermillion and blue first; light colours last  [Okabe & Ito 2008, Color Universal Design]
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442")
HEAT = "cividis"            # lightness grows evenly, also for colour-blind readers and in print without colours

STYLE: dict[str, Any] = {
    "font.size": 8.0, "axes.labelsize": 8.0, "axes.titlesize": 8.0, "legend.fontsize": 7.0, "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
    "ytick.major.size": 2.5, "lines.linewidth": 1.2, "legend.frameon": False, "axes.spines.top": False,
    "axes.spines.right": False, "figure.dpi": 150.0, "savefig.dpi": 300.0,
    "pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none",  # letters stay letters, as publishers ask
}


def look() -> AbstractContextManager[None]:
    """The look of these figures, for axes of one's own.

        with plot.look():
            figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
        plot.visits(run, left)
    """
    from matplotlib import rc_context
    from matplotlib.rcsetup import cycler

    style: Any = {**STYLE, "axes.prop_cycle": cycler(color=list(PALETTE))}
    return rc_context(style)


def new_axes(tall: float = 0.62) -> Any:
    """Axes in a figure as wide as a column, `tall` times as high."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(COLUMN, COLUMN * tall), layout="constrained")[1]


def weight_on(axes: Any) -> float:
    """Of lines and signs that are drawn for a page, on axes that may be smaller."""
    box = axes.get_position()
    return float(min(1.0, max(0.35, axes.figure.get_figwidth() * box.width / PAGE)))


def save(axes: Any, path: str | os.PathLike[str]) -> None:
    """Write the figure of some axes into a file: .pdf, .svg and .eps stay sharp at any size, .png has 300 dots an inch."""
    if Path(path).suffix not in KINDS:
        raise FormigaError(f"{path}: '{Path(path).suffix}' is not a kind of figure. It may be: {', '.join(KINDS)}.")
    figure = axes.figure
    trim: Any = {} if figure.get_layout_engine() else {"bbox_inches": "tight", "pad_inches": 0.02}  # a layout keeps its width
    with look(), whole_file(path) as beside:
        figure.savefig(beside, format=Path(path).suffix[1:], **trim)


__all__ = ["COLUMN", "HEAT", "PALETTE", "TALLEST", "look", "new_axes", "save", "weight_on"]
