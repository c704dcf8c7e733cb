"""The course of an evolution as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from formiga.evolve.checkpoint import Evolution
from formiga.files import whole_file


def draw(evolution: Evolution, path: Path) -> None:
    """Best, mean and spread of the fitness over the generations, and the crashes of the best below it."""
    import matplotlib

    matplotlib.use("agg", force=False)
    from matplotlib.figure import Figure

    fitness = evolution.table()
    generations = np.arange(len(fitness))
    best = fitness.argmax(axis=1)
    low, high = np.percentile(fitness, [10, 90], axis=1)
    further = [name for name in ("speed", "crash_rate") if name in evolution.columns]
    figure = Figure(figsize=(7.5, 5.2 if further else 3.8), layout="constrained")
    panels = figure.subplots(2 if further else 1, 1, sharex=True, squeeze=False, height_ratios=[2, 1] if further else [1])[:, 0]
    top = panels[0]
    top.fill_between(generations, low, high, color="#0072b2", alpha=0.15, linewidth=0, label="10th to 90th percentile")
    top.plot(generations, fitness.mean(axis=1), color="#0072b2", label="mean")
    top.plot(generations, fitness.max(axis=1), color="#d55e00", label="best")
    top.set_ylabel("fitness")
    title = f"{evolution.world.name}, seed {evolution.seed}: {len(fitness)} generations of {evolution.search.population}"
    top.set_title(title, loc="left", fontsize=11)
    top.legend(frameon=False, loc="lower right")
    colours = {"speed": "#009e73", "crash_rate": "#cc79a7"}
    words = {"speed": "speed, in top speeds", "crash_rate": "crash rate"}
    for name in further:
        panels[1].plot(generations, evolution.table(name)[generations, best], color=colours[name], label=words[name])
    if further:
        panels[1].set_ylabel("of the best")
        panels[1].set_ylim(-0.02, 1.02)
        panels[1].legend(frameon=False, loc="center right")
    panels[-1].set_xlabel("generation")
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    with whole_file(path) as beside:
        figure.savefig(beside, format="png", dpi=130)
