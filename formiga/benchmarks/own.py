"""Own code at the speed of ours: one sensor of 50 neighbours, written as formiga would, with a kernel, and with its blocks.

The sensor gives range and bearing of the 50 nearest robots within 4.4 m, with noise, in a crowd of one robot for each square
metre; and the same of those that no wall or obstacle hides. All of them give the same numbers, which is checked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import atan2, sqrt
from pathlib import Path
from typing import Any

import numpy as np

import formiga
from formiga.benchmarks.measure import Columns, show
from formiga.engine.above.between import clear
from formiga.engine.above.cells import fill_world
from formiga.engine.above.looking import own_cells
from formiga.engine.above.neighbours import nearest
from formiga.geometry import wrapped
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.loop import Simulation
from formiga.noise import either, stream
from formiga.sense import SensorView
from formiga.world.elements import flag, forget, length, name, registered, stand_in
from formiga.world.model import World
from formiga.world.reader import read_text

MOST, NOISE = 50, 0.02
ROBOTS, SECONDS = 1_000, 0.5                 # s, of a row
FORMS = {"kernel": "an own kernel", "blocks": "own numpy with blocks", "numpy": "own numpy alone"}
GOALS = {"kernel": 1.2, "blocks": 5.0}       # times the time of a step with the sensor as formiga would write it, at most
CROWD = """<world name="own" dt="0.1"><arena width="{side}" depth="{side}"/>{obstacles}<disc name="crowd" count="{robots}"
radius="0.085" wheel_base="0.14" top_speed="0.1"><scatter/><random_walk period="2"/></disc></world>"""
COLUMNS: Columns = (("what", "sensor", "{}"), ("sight", "line of\nsight", "{}"), ("robots", "robots", "{:,}"),
                    ("millions", "M robot-\nsteps/s", "{:.3f}"), ("ratio", "times the\ntime of ours", "{:.2f}"))


@kernel()
def near_world(w, position, heading, first, last, reach, sight, radius, widest, shapes, near, cells, square, number, robots,
               keys, steps, channel, out):
    """All of it in one kernel: the 50 nearest, whether they are in sight, range and bearing with noise."""
    for i in range(first, last):
        x, y = position[w, i, 0], position[w, i, 1]
        start = stream(keys[w], i, steps[w], channel)
        count = nearest(w, i, x, y, reach, out.shape[2], cells, square, number, robots)
        for k in range(out.shape[2]):
            j = number[k]
            if k >= count or (sight and not clear(w, x, y, position[w, j, 0] - x, position[w, j, 1] - y, True, radius, widest,
                                                  shapes, near, cells)):
                out[w, i - first, k, 0], out[w, i - first, k, 1] = reach, 0.0
                continue
            bearing = wrapped(atan2(position[w, j, 1] - y, position[w, j, 0] - x) - heading[w, i])
            out[w, i - first, k, 0] = sqrt(square[k]) + either(start, 2 * k, NOISE)
            out[w, i - first, k, 1] = bearing + either(start, 2 * k + 1, NOISE)


@dataclass(frozen=True)
class Ours:
    """The sensor as formiga would write it."""

    reach: float = length(4.4)
    sight: bool = flag(False)
    name: str = name("near")

    def read(self, scene: SensorView) -> Any:
        """As its kernels have it."""
        return scene.run_stages(self)

    def stages(self, scene: SensorView) -> tuple[Any, list[Stage]]:
        """The readings (W, n, 50, 2), and the kernels that fill them."""
        state, model, cells = scene.state, scene.model, own_cells(scene.state)
        above: Any = model
        N, out = state.position.shape[1], np.zeros((*scene.shape, MOST, 2))
        keys, steps, _, channel = scene.noise.source("noise")
        return out, [Stage(fill_world, (state.position, cells)), Stage(near_world, (
            state.position, state.heading, scene.robots.start, scene.robots.stop, self.reach, self.sight, above.radius,
            above.widest, model.fixed.shapes, above.between(), cells, np.empty(N), np.empty(N, np.int64), np.arange(N), keys,
            steps, channel, out))]


def world(robots: int, sight: bool) -> World:
    """A crowd of one robot for each square metre; with a quarter as many cylinders if they hide something."""
    side = max(2.0, sqrt(robots))
    obstacles = f'<cylinders count="{robots // 4}" radius="0.1"/>' if sight else ""
    return read_text(CROWD.format(side=side, robots=robots, obstacles=obstacles))


def run(full: bool = False) -> dict[str, Any]:
    """The rows; printed as a table."""
    if Ours not in (known.cls for known in registered().values()):
        stand_in("neighbours", "sensor", Ours)
    formiga.load_elements(Path(__file__).with_name("own_neighbours.py"))
    own = {form: registered("sensor")[f"own-neighbours-{form}"].cls for form in FORMS}
    try:
        rows = [row for sight in (False, True) for row in _rows(ROBOTS, sight, own, SECONDS * (5.0 if full else 1.0))]
    finally:
        for form in FORMS:
            forget(f"own-neighbours-{form}")
    missed = [row for row in rows if row["goal"] and row["ratio"] > row["goal"]]
    notes = [f"{row['what']}: {row['ratio']:.2f} times the time of ours, more than {row['goal']:g}." for row in missed]
    show("own: a sensor of 50 neighbours, one core; the best of several blocks of steps", rows, notes, COLUMNS)
    return {"rows": rows}


def _rows(robots: int, sight: bool, own: dict[str, Any], seconds: float) -> list[dict[str, Any]]:
    described = world(robots, sight)
    forms = {"ours": Ours, **{form: cls for form, cls in own.items() if not (sight and form == "numpy")}}
    labs = {}
    for form, cls in forms.items():
        (group,) = described.groups
        labs[form] = Simulation(replace(described, groups=(replace(group, sensors=(cls(sight=sight),)),)))
        labs[form].step()
    first = labs["ours"].readings["crowd"]["near"]
    if not all(np.allclose(lab.readings["crowd"]["near"], first) for lab in labs.values()):
        raise RuntimeError("the sensors of `bench own` differ.")
    best = {form: float("inf") for form in forms}
    end = time.perf_counter() + seconds * len(forms)
    while time.perf_counter() < end:
        for form, lab in labs.items():  # in turns, so that all are disturbed alike
            began = time.perf_counter()
            for _ in range(5):
                lab.step()
            best[form] = min(best[form], (time.perf_counter() - began) / 5)
    return [{"what": FORMS.get(form, "as formiga writes it"), "form": form, "sight": "walls" if sight else "none",
             "robots": robots, "robot_steps_per_s": robots / took, "ratio": took / best["ours"], "goal": GOALS.get(form)}
            for form, took in best.items()]
