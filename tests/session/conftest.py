"""A small world with something of everything, and a session in a workspace."""

from __future__ import annotations

import pytest

import formiga
from tests.session.workspace import Workspace

EVERYTHING = """<world name="workspace" doc="Something of everything" dt="0.1" seconds="5">
  <arena width="3" depth="2"/>
  <lamp x="1" y="0.5" name="left"/>
  <lamp x="1" y="-0.5" intensity="0.5" on="false" name="right"/>
  <cylinder x="0" y="0.6" radius="8cm"/>
  <cylinder x="0" y="-0.6" radius="8cm"/>
  <rectangle x="-1.2" y="0" width="20cm" depth="40cm" heading="30deg" name="box"/>
  <polygon points="1.2 0.8 1.4 0.8 1.3 0.9" name="rock"/>
  <wall points="-0.5 0.9 0.5 0.9" name="rail"/>
  <cylinders count="2" radius="4cm" gap="5cm" seed="3" name="trees"/>
  <zone x="0.5" y="0" radius="20cm" name="nest"/>
  <sbot count="4" name="swarm" profile="draft"><scatter x="-0.4" y="0" width="0.8" depth="0.8"/><proximity/><light/>
    <braitenberg/></sbot>
  <disc count="2" name="rovers" radius="5cm" wheel_base="8cm" top_speed="20cm/s" position_noise="0.1">
    <scatter x="0.6" y="0" width="0.8" depth="0.8"/><odometry/><random_walk/></disc>
  <sbot name="car"><at x="-1" y="-0.7" heading="0.5"/><proximity/></sbot>
  <contact/>
  <camera x="1" y="1" z="1" name="corner"/>
</world>"""


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    file = tmp_path_factory.mktemp("world") / "workspace.xml"
    file.write_text(EVERYTHING)
    return formiga.read_world(file)


@pytest.fixture
def workspace(world):
    return Workspace(world)


@pytest.fixture
def world_file(tmp_path):
    """world_file('<arena .../>') -> the path of a world with that inside."""

    def write(inside: str, name: str = "mine", **attributes: str) -> str:
        written = "".join(f' {key}="{value}"' for key, value in attributes.items())
        file = tmp_path / f"{name}.xml"
        file.write_text(f'<world name="{name}"{written}>\n{inside}\n</world>')
        return str(file)

    return write


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
