"""A small world, and one recording of it that all tests here may read."""

from pathlib import Path

import pytest

import formiga

SMALL = """<world name="small" dt="0.1" seconds="2">
  <arena width="1" depth="1"/>
  <cylinder x="0" y="0" radius="5cm"/>
  <sbot count="3" name="swarm" profile="draft"><scatter/><proximity/><braitenberg/></sbot>
  <disc count="2" name="rovers" radius="4cm" wheel_base="6cm" top_speed="10cm/s"><scatter/><random_walk/></disc>
</world>"""


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    file = tmp_path_factory.mktemp("world") / "small.xml"
    file.write_text(SMALL)
    return formiga.read_world(file)


@pytest.fixture(scope="session")
def recorded(world, tmp_path_factory) -> Path:
    """3 worlds, 21 steps with the start, 5 robots."""
    return formiga.simulate(world, 2.0, seed=5, worlds=3, out=tmp_path_factory.mktemp("out")).recording
