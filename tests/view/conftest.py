"""Shared by the tests of what people see: a viser server that nobody watches, and worlds with frames."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.geometry import about_z
from formiga.units import DEG
from formiga.view.frame import Frame
from formiga.world.model import Arena, Cylinder, Group, Lamp, Polygon, Rectangle, Wall, World, Zone
from formiga.world.robots import Disc, SBot

THINGS = (Arena(4.0, 3.0), Wall((-1.0, 0.0, 0.0, 0.0, 0.0, 1.0)), Rectangle(1.0, 1.0, 0.4, 0.2, 30.0 * DEG),
          Polygon((-1.0, -1.0, -0.5, -1.0, -0.7, -0.6)), Cylinder(1.0, -1.0, 0.1), Lamp(1.5, 0.0, 0.3),
          Zone(0.5, 0.5, radius=0.2))


def _still(world: World, place, heading=None, **more) -> Frame:
    count = len(place)
    given = {"version": 1, "step": 0, "leds": np.zeros((count, 8, 3), np.uint8), "crashed": np.zeros(count, bool),
             "alive": np.ones(count, bool), **more}
    return Frame(world, given.pop("version"), given.pop("step"), 0.0, np.column_stack([place, np.zeros(count)]),
                 about_z(np.zeros(count) if heading is None else np.asarray(heading, float)), np.zeros((count, 2)),
                 given.pop("leds"), given.pop("crashed"), given.pop("alive"), np.zeros(count, int), **given)


@pytest.fixture
def world() -> World:
    """Everything that can stand in a world, three s-bots and two discs."""
    return World(things=THINGS, groups=(Group(SBot(), 3, "swarm"), Group(Disc(0.085, 0.14, 0.1, leds=4), 2, "rovers")))


@pytest.fixture
def still():
    """still(world, places (N, 2), headings (N,), selected=3, ...): a frame."""
    return _still


@pytest.fixture
def frame(world) -> Frame:
    """Of that world."""
    return _still(world, np.array([(0.5, -0.5), (0.8, -0.5), (1.1, -0.5), (-1.5, 0.5), (-1.5, 1.0)]))


@pytest.fixture(scope="session")
def server():
    """On a free port of this machine; says nothing."""
    import rich
    import viser

    rich.get_console().quiet = True
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield server
    server.stop()


@pytest.fixture
def scene(server):
    from formiga.view.canvas import Canvas

    scene = Canvas(server.scene)
    yield scene
    scene.clear()
    server.scene.remove_click_callback("all")
