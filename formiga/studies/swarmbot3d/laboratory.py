"""Acceptance 10: the laboratory without code. A world file and its keys, writing and reading, mistakes, the console."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from formiga import lab
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.session.session import Session
from formiga.studies.harness import Row, reported
from formiga.studies.swarmbot3d.scene import TOP

LAW = "law"
SAME = ("bodies", "own.integration", "grips", "joint_command")
EXPERIMENTS = ("avoidance3d", "phototaxis3d", "assembly", "rough", "pulling", "trough")
CAR = """<world name="car" engine="spatial" dt="0.1">
  <arena width="3" depth="3" height="40cm"/>
  <sbot name="car" model="detailed"><at x="0" y="0" heading="0"/></sbot>
  <alias name="+go" run="out car.wheel_l 1; out car.wheel_r 1"/>
  <alias name="-go" run="out car.wheel_l 0; out car.wheel_r 0"/>
  <bind key="ArrowUp" run="+go"/>
  <bind key="g" run="out car.turret 0.5"/>
</world>
"""
WRONG = """<world name="wrong" engine="spatial">
  <arena width="3" depth="3"/>
  <terrain width="3" depth="3" amplitud="4cm"/>
  <sbot/>
</world>
"""


def without_code() -> Iterator[Row]:
    """All of it in a folder that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="formiga-study-") as folder:
        yield from keys(Path(folder) / "car.xml")
        yield from mistake(Path(folder) / "wrong.xml")
        yield from round_trip(Path(folder))
        yield from console(Path(folder))


def keys(path: Path) -> Iterator[Row]:
    """A robot of XML, driven by keys; no Python of the user's."""
    path.write_text(CAR)
    session = Session(str(path), own_settings=False)
    for _ in range(5):
        session.step()
    session.console.press("ArrowUp")
    start = session.sim.state.position[0, 0].copy()
    for _ in range(20):
        session.step()
    way = float(np.linalg.norm(session.sim.state.position[0, 0] - start))
    session.console.release("ArrowUp")
    for _ in range(10):
        session.step()
    stopped = session.sim.state.position[0, 0].copy()
    session.console.press("g")
    for _ in range(10):
        session.step()
    still = float(np.linalg.norm(session.sim.state.position[0, 0] - stopped))
    yield Row("XML and keys, no code: way while the key is down for 2 s (m)", 2.0 * TOP, way, 0.02 * 2.0 * TOP, LAW)
    yield Row("    after it is let go (m in 1 s)", 0.0, still, 2e-3, LAW)
    yield Row("    another key turns the turret (rad in 1 s)", 0.5, float(session.sim.state.joint_position[0, 0, 0]), 0.05, LAW)


def mistake(path: Path) -> Iterator[Row]:
    """A wrong attribute: file, line, and what was meant."""
    path.write_text(WRONG)
    try:
        lab.read_world(path)
        said = "nothing"
    except FormigaError as wrong:
        said = str(wrong).replace(str(path.parent) + "/", "")
    yield Row("a wrong attribute is reported with file, line and what was meant", True,
              said.startswith("wrong.xml:3") and "'amplitude'" in said, origin=LAW)
    yield reported(f"    in these words: {said}", "")


def round_trip(folder: Path) -> Iterator[Row]:
    """Written, read and run again: bit for bit the same motion."""
    for name in EXPERIMENTS:
        world = lab.read_world(name)
        lab.write_world(world, folder / f"{name}.xml")
        runs = [Simulation(each, seed=5) for each in (world, lab.read_world(folder / f"{name}.xml"))]
        for run in runs:
            for _ in range(30):
                run.step()
        same = all(np.array_equal(runs[0].state.arrays()[part], runs[1].state.arrays()[part]) for part in SAME)
        yield Row(f"{name}: exported and imported, the same trajectory", True, same, origin=LAW)


def console(folder: Path) -> Iterator[Row]:
    """bind, alias, exec; switches while it runs."""
    said: list[str] = []
    (folder / "more.fsh").write_text("alias dark 'disable west; disable east; echo all dark'\nbind k dark\n")
    session = Session(lab.read_world("phototaxis3d"), own_settings=False, hear=lambda kind, text, window: said.append(text))
    session.console.run(f"exec '{folder / 'more.fsh'}'")
    session.step()
    before = session.sim.readings["swarm"]["light"].max()
    session.console.press("k")
    session.step()
    after = session.sim.readings["swarm"]["light"].max()
    yield Row("console: exec, alias, bind; the key puts out both lamps", True,
              bool(before > 0.0 and after == 0.0 and "all dark" in said), origin=LAW)
    place = session.sim.state.position[0].copy()
    session.console.run("enable west")
    kept = float(np.abs(session.sim.state.position[0] - place).max())
    yield Row("    a switch moves no robot (m)", 0.0, kept, 1e-9, LAW)
