"""A robot of the user's own with its own look, in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.view.robots import robot_meshes
from formiga.world.own import load_elements
from formiga.world.reader import read_text
from tests.page.conftest import until

pytestmark = pytest.mark.xdist_group("browser")

MINE = '''from dataclasses import dataclass
from formiga.world.elements import element, length
from formiga.world.looks import WHITE, Drum, Look, Prism

@element("buoy", role="robot")
@dataclass(frozen=True)
class Buoy:
    "A robot without wheels, with a magenta lid that is wider than its body."
    radius: float = length(0.1)

    def look(self):
        return Look((Drum(self.radius, 0.0, 0.1), Drum(2.0 * self.radius, 0.1, 0.12, colour="#ff00ff"),
                     Prism([(0.1, 0.0), (0.0, 0.05), (0.0, -0.05)], 0.12, 0.13, colour=WHITE)))
'''
WORLD = """<world name="own" dt="0.1" seconds="2"><arena width="1.4" depth="1"/>
  <buoy name="b"><at x="-0.3" y="0" heading="0"/><at x="0.3" y="0" heading="0"/></buoy></world>"""


def test_the_look_of_an_own_robot_is_what_the_window_shows(laboratory, folder, unharmed, window, own_registry):
    (folder / "mine.py").write_text(MINE)
    load_elements(folder / "mine.py")
    world = read_text(WORLD)
    laboratory.begin(world)
    nodes, mesh = laboratory.page.scene._nodes.named, robot_meshes(world.groups[0].robot).flat.body
    until(lambda: "robots/0/body" in nodes and nodes["robots/0/body"].owner.mesh is mesh)
    lid = mesh.vertices
    assert np.abs(lid[:, :2]).max() == pytest.approx(0.2) and lid[:, 2].max() == pytest.approx(0.13)
    window.settle("top")

    def magenta():
        """Share of the pixels around both robots that have the colour of the lid."""
        picture, found = window.picture().astype(int), []
        for x in (-0.3, 0.3):
            column, row = (round(value) for value in window.at(x - 0.1, 0.0, 0.12))  # beside the white arrow
            patch = picture[row - 2 : row + 3, column - 2 : column + 3]
            found.append(((patch[..., 0] > 150) & (patch[..., 2] > 150) & (patch[..., 1] < 110)).mean())
        return min(found)

    until(lambda: magenta() > 0.9, 60)
