"""An element that draws all eight kinds, each into a layer of its own; and a world in which it does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.drawing import KINDS
from formiga.world import elements
from formiga.world.elements import element, name
from formiga.world.reader import read_text

WORLD = """<world name="studio" dt="0.1" seconds="5"><arena width="2.4" depth="2.2"/>
  <sbot count="3" name="swarm"><scatter/><artist/><proximity/><odometry/><braitenberg/></sbot></world>"""
SPACE = WORLD.replace('dt="0.1"', 'dt="0.1" engine="spatial"')
LAYERS = [*KINDS, "own", "odometry"]


def artist() -> type:
    """The element, registered for this test alone (fixture own_registry)."""
    elements._registry.pop("artist", None)

    @element("artist", role="sensor")
    @dataclass(frozen=True)
    class Artist:
        """Draws all eight kinds."""

        name: str = name("artist")

        def read(self, scene):
            """How often it has looked, (W, n, 1)."""
            seen = scene.memory("seen", np.zeros((scene.state.worlds, scene.group.count, 1)))
            seen += 1.0
            return seen.copy()

        def draw(self, view, pen):
            t, n = float(view.state.step[0] * view.dt), view.group.count
            rng = np.random.default_rng(3)
            here = np.concatenate([view.state.position[:, view.robots], view.state.heading[:, view.robots, None]], -1)
            pen.layer("points").points(rng.uniform(-1.0, 1.0, (30, 2)))
            pen.layer("lines").lines((0.0, 0.0), np.column_stack([np.cos(t + np.arange(6)), np.sin(t + np.arange(6))]))
            pen.layer("polygon").polygon([(-1, 0.4), (-0.6, 0.4), (-0.6, 0.8 + 0.1 * np.sin(t)), (-0.8, 0.55), (-1, 0.8)])
            pen.layer("text").text((0.0, 0.9), f"t = {t:.1f} s")
            spread = np.broadcast_to(np.diag([0.004, 0.001, 0.02]), (1, n, 3, 3))
            pen.layer("pose").pose(here + [0.15, 0.1, 0.2], spread)
            cloud = here[:, :, None] + rng.normal(0.0, [0.06, 0.06, 0.3], (1, n, 50, 3))
            pen.layer("particles").particles(cloud, rng.uniform(0.0, 1.0, (1, n, 50)) ** 2)
            x = np.linspace(0.0, 1.0, 20)
            pen.layer("grid").grid(np.add.outer(x, 2.0 * x) / 3.0, 0.03, (0.3, -0.95, 0.1))
            pen.layer("path").path(np.column_stack([np.linspace(-1, 0, 40), -0.5 + 0.2 * np.sin(np.linspace(0, 6, 40) + t)]))
            pen.layer("own").on().lines((0.0, 0.0), np.broadcast_to((0.2, 0.0), (1, n, 1, 2)))
            pen.layer("own").on(0).text((0.0, 0.0), "robot 0")
            view.state.position += 100.0                      # a bad manner, which must change nothing
            view.memory("seen", np.zeros((1, n, 1)))[...] = -1.0
            view.readings["artist"][...] = -1.0

    return Artist


def studio(text: str = WORLD):
    """The world."""
    artist()
    return read_text(text, "studio.xml")
