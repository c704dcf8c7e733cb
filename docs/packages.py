"""pictures/packages.svg, the drawing of the packages: `python docs/packages.py` after one has come or gone.

tests/test_layers.py holds the drawing to the layers.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

PAGE = Path(__file__).with_name("pictures") / "packages.svg"
TITLE = "The packages of formiga: data flows down, imports point up"
ROWS = {  # what stands in a row -> what it is; those of the step itself are STORY
    ("units", "errors", "files", "geometry", "kernels", "noise"): "what all is written in",
    ("console", "drawing", "link", "map"): "keys and scripts; marks; programs in other processes; grids from images",
    ("locate",): "libraries of arrays: where a robot is",
    ("world",): "what is there",
    ("state",): "what is true now",
    ("engine",): "how it moves",
    ("sense",): "state -> readings",
    ("comm",): "what was sent -> what is heard",
    ("estimate",): "readings -> beliefs",
    ("control",): "readings and beliefs -> orders",
    ("act",): "orders -> command",
    ("score",): "rewards",
    ("differing",): "stages of worlds that differ",
    ("batch", "compiled", "sketch"): "worlds of a batch; the step as kernels; drawings",
    ("loop",): "the step",
    ("measures", "runs", "supervisor"): "a run to its end, its numbers; a referee and notes",
    ("pool",): "worker processes, clusters",
    ("ros", "rollout", "sampling"): "topics for ROS tools; many trials at once; sensors on a bench",
    ("record", "view"): "state -> tables, pictures",
    ("evolve", "plot", "soccer"): "what people do with the lab",
    ("envs", "lab"): "the Python face; learning environments",
    ("session", "sweeps"): "a world that a person works on; grids of runs",
    ("studies",): "papers",
    ("page",): "its page in the browser",
    ("benchmarks",): "speed claims",
    ("cli",): "one file for each command",
}
STORY = {"world", "state", "engine", "sense", "comm", "estimate", "control", "act", "loop"}
STYLE = """
  .box{fill:#fff7f0;stroke:#d9622b;stroke-width:1.5} .lib{fill:#f4f4f1;stroke:#8a8a80;stroke-width:1.2}
  text{font-family:system-ui,sans-serif;fill:#222} .name{font-weight:600;font-size:16px} .small{font-size:12.5px;fill:#444}
  .flow{stroke:#444;stroke-width:1.6;fill:none;marker-end:url(#tip)} .band{fill:#fafaf7;stroke:#ddd}
"""
TIP = ('<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="7" refY="4.5" orient="auto">'
       '<path d="M0,0 L9,4.5 L0,9 z" fill="#444"/></marker></defs>')
WIDTH, STEP = 910, 46


def drawn() -> str:
    """The drawing as it should be."""
    height = STEP * len(ROWS) + 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{TITLE}">',
             f"<title>{TITLE}</title><style>{STYLE}</style>{TIP}", f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    for number, (names, words) in enumerate(ROWS.items()):
        y, x = 20 + STEP * number, 20.0
        parts.append(f'<rect class="band" x="10" y="{y - 5}" width="{WIDTH - 20}" height="42" rx="6"/>')
        for name in names:
            wide = round(28 + 9.6 * len(name))
            kind = "box" if name in STORY else "lib"
            parts.append(f'<rect class="{kind}" x="{x:g}" y="{y}" width="{wide}" height="32" rx="7"/>'
                         f'<text class="name" x="{x + wide / 2:.0f}" y="{y + 21}" text-anchor="middle">{name}</text>')
            x += wide + 10
        parts.append(f'<text class="small" x="{max(575.0, x + 10):g}" y="{y + 21}">{escape(words)}</text>')
    return "\n".join([*parts, f'<path class="flow" d="M902,20 L902,{height - 24}"/></svg>', ""])


if __name__ == "__main__":
    PAGE.write_text(drawn(), encoding="utf-8")
