"""What is written is read back as the same world."""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from formiga.errors import WorldError
from formiga.world.elements import profiled
from formiga.world.model import Arena, Contact, Cylinder, Group, World
from formiga.world.placement import At, Scatter
from formiga.world.reader import read, read_text
from formiga.world.robots import SBot
from formiga.world.writer import to_text, write
from tests.world import examples


@given(examples.worlds())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_any_world_survives_writing_and_reading(world):
    assert read_text(to_text(world)) == world


def test_only_what_differs_is_written():
    things = Arena(1.5, 1.5), Cylinder(0.1 + 0.2, 0, 1 / 3)
    world = World("corral", contact=Contact(crash_limit=60), things=things, groups=(
        Group(profiled(SBot, "draft"), 10, place=(Scatter(gap=0.01),),
              sensors=(examples.Eye(0.15, profile="draft", noise=0.05),)),
        Group(profiled(SBot, "draft", motor_noise=0.0), name="pair", place=(At(0, 0), At(1, 0, -0.0)),
              sensors=(examples.Eye(0.15),)),
    ))
    assert to_text(world) == """\
<world name="corral">
  <contact crash_limit="60"/>
  <arena width="1.5" depth="1.5"/>
  <cylinder x="0.30000000000000004" y="0.0" radius="0.3333333333333333"/>
  <sbot profile="draft" count="10">
    <scatter gap="0.01"/>
    <example_eye reach="0.15"/>
  </sbot>
  <sbot profile="draft" motor_noise="0.0" name="pair">
    <at x="0.0" y="0.0"/>
    <at x="1.0" y="0.0" heading="-0.0"/>
    <example_eye reach="0.15" profile="tr"/>
  </sbot>
</world>
"""


def test_params_and_defaults_are_written_as_what_they_gave():
    text = '<world><param name="n" value="4"/><defaults><sbot profile="draft"/></defaults><sbot count="${n}"/></world>'
    assert to_text(read_text(text)) == '<world>\n  <sbot profile="draft" count="4"/>\n</world>\n'


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.xml"
    write(World("first", doc="formigão"), path)
    assert read(path) == World("first", doc="formigão")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WorldError, match="cannot be written \\(No space left on device\\)"):
        write(World("second"), path)
    assert read(path).name == "first"
    assert os.listdir(tmp_path) == ["a.xml"]


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(WorldError, match="cannot be written \\(No such file or directory\\)"):
        write(World(), tmp_path / "no/a.xml")
