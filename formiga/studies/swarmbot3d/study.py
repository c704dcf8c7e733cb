"""S-bots in space: driving, gripping, four experiments, two chains, speed. `formiga study swarmbot3d`

Acceptance 1 to 10 of our digest of the thesis, claim by claim. The thesis publishes speeds and a sigmoid; nearly all else that
it shows is pictures and words, so the criteria are the digest's own, and are called laws here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from formiga.studies import harness
from formiga.studies.harness import Pool, Row
from formiga.studies.swarmbot3d import chains, laboratory, robot, sensing, speed, swarm

FULL, HOUR = 20, 3600.0
QUICK = {"avoidance": 2, "phototaxis": 1, "assembly": 1, "terrain": 1, "champion": 1, "chains": 2}  # some 10 s on one core


class Study(harness.Study):
    """The runs, and what they say."""

    def __init__(self) -> None:
        self.runs = 1
        self.contact: dict[str, list[float]] = {}
        self.gathered: list[swarm.Gathering] = []
        self.tracks: Any = None
        self.took: speed.Seconds = {}
        self.thesis: speed.Seconds = {}

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """All claims; quick has fewer seeds and says how many, full has 20 and an hour on hills."""
        seeds = dict.fromkeys(QUICK, FULL) if full else QUICK
        self.runs = max(seeds.values())
        yield from robot.driving()
        yield from sensing.light_and_sound()
        yield from sensing.techniques()
        self.took, self.thesis = speed.measure(full)
        yield from speed.shapes(self.took, full)
        found, self.contact = swarm.avoidance(workers, seeds["avoidance"])
        yield from found
        found, self.gathered = swarm.phototaxis(workers, seeds["phototaxis"])
        yield from found
        yield from swarm.assembly(workers, seeds["assembly"])
        yield from robot.gripping()
        yield from robot.lifting()
        yield from swarm.terrain(workers, seeds["terrain"])
        yield from laboratory.without_code()
        yield from chains.pulling(workers, seeds["chains"])
        found, self.tracks = chains.trough(workers, seeds["chains"], full)
        yield from found
        yield from swarm.champion(workers, seeds["champion"])
        yield from swarm.stability(HOUR if full else 30.0)

    def figures(self) -> dict[str, harness.Draw]:
        """Four panels in one."""
        return {"swarmbot3d": self.figure}

    def figure(self, path: Path) -> None:
        """Four panels: contact with and without sensors, the lamps, the trough, and speed."""
        with harness.canvas(path, 2, 2, (12.0, 8.4)) as (_, axes):
            self._contact(axes[0, 0])
            self._lamps(axes[0, 1])
            self._trough(axes[1, 0])
            self._speed(axes[1, 1])

    def _contact(self, panel: Any) -> None:
        for place, shares in enumerate(self.contact.values()):
            panel.bar(place, 100.0 * np.mean(shares), width=0.55, color=("#009e73", "#d55e00")[place], alpha=0.45)
            harness.dots(panel, place, [100.0 * share for share in shares], color="#333333")
        panel.axhline(5.0, color="#888888", linestyle="--", linewidth=1.0)
        panel.set_xticks(range(len(self.contact)), list(self.contact))
        panel.set(title="Avoidance: 10 s-bots, 60 s, a dot for each seed", ylabel="time in contact (%)")

    def _lamps(self, panel: Any) -> None:
        track = np.array([run.track for run in self.gathered])
        time = 1.0 + np.arange(track.shape[1])
        panel.fill_between(time, track.min(axis=0), track.max(axis=0), color="#e69f00", alpha=0.25, linewidth=0.0)
        panel.plot(time, track.mean(axis=0), color="#b37400")
        for when, words in zip((0.0, *np.cumsum(swarm.PHASES)[:2]), ("both lamps", "west goes out", "both out"), strict=True):
            panel.axvline(when, color="#888888", linestyle="--", linewidth=1.0)
            panel.text(when + 4.0, 1.15 * track.max(), words, va="top")
        panel.axhline(swarm.NEAR, color="#cccccc", linewidth=1.0)
        panel.set(title="Phototaxis: 20 s-bots, mean over seeds", xlabel="time (s)", ylabel="distance to the lamp (m)",
                  ylim=(0.0, 1.2 * track.max()))

    def _trough(self, panel: Any) -> None:
        from matplotlib.patches import Rectangle

        gap, radius, high = chains.GAP, 0.058, 0.10
        for x0, x1 in ((-0.75, -gap / 2), (gap / 2, 0.75)):
            panel.fill_between((x0, x1), -0.2, 0.0, color="#d8d2c4")
        chain, alone = self.tracks[:, :-1], self.tracks[:, -1]
        bridge = int(np.argmin(np.abs(chain[:, 1, 0])))  # the second robot is over the middle
        for k in range(chain.shape[1]):
            x, _, z = chain[bridge, k]
            panel.add_patch(Rectangle((x - radius, z + 0.01), 2 * radius, high, color="#d55e00", alpha=0.55, linewidth=0.0))
        panel.plot(chain[:, 0, 0], chain[:, 0, 2], color="#d55e00", linewidth=1.4, label="four in a chain; foot of the first")
        panel.plot(alone[:, 0], alone[:, 2], color="#0072b2", linewidth=1.6, label="one alone")
        panel.set(title=f"A trough of 15 cm, after {0.1 * (bridge + 1):.1f} s", xlabel="x (m)", ylabel="z (m)", aspect="equal",
                  xlim=(-0.55, 0.55), ylim=(-0.2, 0.25))
        panel.legend(loc="upper right", frameon=False)

    def _speed(self, panel: Any) -> None:
        kinds = {("5.1", "auto"): ("free", "#0072b2"), ("5.2", "auto"): ("connected", "#d55e00")}
        theirs = {("5.1", "direct"): ("free", "#0072b2"), ("5.2", "iterative"): ("connected", "#d55e00")}
        for times, which, style, source in ((self.took, kinds, "o-", "ours"), (self.thesis, theirs, "s--", "thesis")):
            for (table, name), (kind, colour) in which.items():
                points = sorted((robots, 100.0 / took) for (where, robots, how), took in times.items()
                                if (where, how) == (table, name) and took == took)
                if points:
                    panel.plot(*zip(*points, strict=True), style, color=colour, label=f"{kind}, {name}, {source}")
        panel.axhline(1.0, color="#888888", linewidth=1.0)
        panel.set(title="Speed on one core; the thesis's in 2005", xlabel="robots", ylabel="times real time", xscale="log",
                  yscale="log", xticks=(8, 16, 25, 32, 64))
        panel.set_xticklabels(("8", "16", "25", "32", "64"))
        panel.minorticks_off()
        panel.legend(framealpha=1.0, edgecolor="none")  # over the line of real time
