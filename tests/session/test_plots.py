"""`plot`: quantities of robots, groups and things, and what a user's own controller remembers, as numbers over time."""

from __future__ import annotations

import os

import numpy as np
import pytest

from formiga import lab
from formiga.session import Session, recent
from formiga.session.plots import MOST, quantity, sampled
from formiga.world import elements
from tests.session.workspace import Workspace

TIRED = """from dataclasses import dataclass
import numpy as np
from formiga.world.elements import element, number

@element("tired", role="controller")
@dataclass(frozen=True)
class Tired:
    '''Slower and slower.'''
    loss: float = number(0.5)

    def decide(self, view):
        energy = view.memory("energy", np.full(view.shape, 8.0))
        energy *= self.loss
        return np.zeros((*view.shape, 2))
"""


def test_quantities_are_those_of_the_state(workspace):
    workspace.steps(3)
    session = workspace.session
    state = session.sim.state
    assert quantity(session, "swarm.2.x") == state.position[0, 2, 0]
    assert quantity(session, "swarm.x") == pytest.approx(state.position[0, :4, 0].mean())
    assert np.array_equal(quantity(session, "swarm.1.proximity"), session.sim.readings["swarm"]["proximity"][0, 1][:24])
    assert np.allclose(quantity(session, "swarm.proximity"), session.sim.readings["swarm"]["proximity"][0].mean(axis=0)[:24])
    assert quantity(session, "6.speed") == state.drive[0, 6].mean() and quantity(session, "left.on") == 1.0
    assert quantity(session, "left.intensity") == 0.25


def test_what_a_controller_of_ones_own_remembers_can_be_plotted(tmp_path, monkeypatch):
    monkeypatch.setattr(elements, "_registry", dict(elements._registry))
    (tmp_path / "tired.py").write_text(TIRED)
    lab.load_elements(tmp_path / "tired.py")
    (tmp_path / "a.xml").write_text('<world><arena width="2" depth="2"/><sbot count="3" name="s"><scatter/><tired/></sbot>'
                                    "</world>")
    workspace = Workspace(str(tmp_path / "a.xml"))
    workspace.steps(1)
    workspace.run("plot s.1.energy; plot s.energy")
    assert workspace.session.frame().extra["plots"] == {"s.1.energy": [4.0], "s.energy": [4.0]}
    workspace.steps(2)
    assert quantity(workspace.session, "s.energy") == 1.0 and workspace.run("get s.1.energy") == "1.0"


def test_plots_are_added_removed_and_told(workspace):
    assert workspace.run("plot") == "nothing is plotted."
    workspace.run("plot swarm.x; plot swarm.0.y on; plot swarm.x on")
    assert workspace.run("plot") == "swarm.0.y, swarm.x"
    workspace.run("plot swarm.x")
    assert workspace.session.plots == ["swarm.0.y"]
    workspace.run("plot swarm.0.y off; plot car.heading; plot none")
    assert workspace.session.plots == []
    for number in range(MOST):
        workspace.run(f"plot swarm.{number % 4}.{'xy'[number // 4]}")
    assert f"there are {MOST} plots already" in workspace.refused("plot car.x")


@pytest.mark.parametrize("line, words", [
    ("plot speed", "is not NAME.QUANTITY"), ("plot swarm.sped", "have no 'sped'. Did you mean 'speed'?"),
    ("plot nobody.x", "there is nothing named 'nobody'"), ("plot left.name", "is no number"),
    ("plot car.x maybe", "Allowed: on, off"), ("plot none car.x", "at most 1")])
def test_what_cannot_be_plotted_is_refused(workspace, line, words):
    assert words in workspace.refused(line)


def test_another_world_keeps_the_plots_that_it_has(workspace):
    workspace.run("plot swarm.x; plot rovers.x; load corral")
    assert workspace.session.plots == ["swarm.x"]
    workspace.run("plot swarm.7.y; remove swarm.5 swarm.6 swarm.7 swarm.8 swarm.9; set swarm.count 3")
    assert list(sampled(workspace.session)) == ["swarm.x"]


# -- recent files -----------------------------------------------------------------------------------------------------
def test_files_that_were_opened_or_recorded_are_remembered(folder, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    (folder / "a.xml").write_text('<world name="a"><arena width="2" depth="2"/><sbot><scatter/></sbot></world>')
    said: list[str] = []
    session = Session("corral", hear=lambda kind, text, window: said.append(text))
    session.console.run("load a.xml; record run.parquet; step; record off; load line; load none.xml")
    assert recent.files() == [str(folder / "run.parquet"), str(folder / "a.xml")]
    session.console.run("load a.xml")
    assert recent.files() == [str(folder / "a.xml"), str(folder / "run.parquet")]
    assert not [name for name in os.listdir(folder / "config" / "formiga") if name.endswith(".tmp")]
    Workspace("a.xml").run("record other.parquet; step; record off")   # a session without settings of its own keeps none
    assert len(recent.files()) == 2


@pytest.mark.parametrize("text", ["", "[", "[" * 60_000, '{"a": 1}', '[1, null, "relative", "/a\\u0000b"]'])
def test_a_list_of_recent_files_that_is_damaged_is_an_empty_one(tmp_path, monkeypatch, text):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "formiga").mkdir()
    recent.path().write_text(text)
    assert recent.files() == []
