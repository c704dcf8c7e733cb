"""Worlds in space in files: what was written runs the same, and what is wrong is said with file and line."""

import numpy as np
import pytest

import formiga
from formiga.errors import WorldError
from formiga.lab import check_world
from formiga.loop import Simulation

ALL = """<world name="all" engine="spatial" dt="0.1">
  <physics solver="direct" iterations="25" step="5ms" gravity="9.7"/>
  <arena width="4" depth="3"/>
  <material name="ice" friction="0.05" restitution="0.3" softness="1mm"/>
  <touch one="ice" other="plain" friction="0.2" restitution="0.1"/>
  <ramp x="1" y="0.5" width="60cm" depth="50cm" height="8cm" heading="10deg"/>
  <platform x="-1.2" y="0.8" width="40cm" depth="40cm" height="3cm"/>
  <hole x="1.2" y="-0.9" width="30cm" depth="20cm" deep="25cm"/>
  <solid name="post" size="4cm 4cm 20cm" fixed="true" x="0" y="1"/>
  <solid name="door" size="20cm 2cm 10cm" x="0.13" y="1" z="0.12" mass="0.2" material="ice"/>
  <joint name="hinge" kind="hinge" one="post" other="door" x="0.03" y="1" z="0.12" lower="-1" upper="1" motor="0.7"/>
  <solid name="egg" shape="capsule" size="6cm 12cm" x="0.4" y="-0.4" roll="30deg" colour="#ffffff"/>
  <trigger name="gate" x="0.5" y="0" width="30cm" depth="30cm" say="somebody came"/>
  <puck x="-0.6" y="0" radius="5cm"/>
  <sbot count="3" name="s" model="detailed" grasp="loose" grip_force="9"><at x="0" y="0" heading="0"/><at x="-0.3" y="0.3"/>
    <at x="0.6" y="0.5" heading="0"/><proximity/><light/><braitenberg/></sbot>
</world>"""
ROUGH = """<world name="rough" engine="spatial">
  <terrain width="3" depth="3" amplitude="3cm" grain="40cm" seed="5" cells="60"/>
  <sbot count="3" name="s" base="wheels"><scatter width="1" depth="1"/><proximity/><random_walk/></sbot></world>"""


@pytest.mark.parametrize("text", [ALL, ROUGH], ids=["all", "rough"])
def test_a_world_that_was_written_and_read_again_runs_the_same_to_the_last_bit(tmp_path, text):
    (tmp_path / "one.xml").write_text(text)
    world = formiga.read_world(tmp_path / "one.xml")
    formiga.write_world(world, tmp_path / "two.xml")
    again = formiga.read_world(tmp_path / "two.xml")
    assert again == world
    one, other = Simulation(world, 3), Simulation(again, 3)
    for _ in range(30):
        one.step()
        other.step()
    for name, values in one.state.arrays().items():
        assert np.array_equal(values, other.state.arrays()[name]), name


WRONG = {
    '<physics solver="quick"/>': "<physics> solver: 'quick' is not allowed. It takes: auto, direct, iterative",
    '<physics gravity="-1"/>': "<physics> gravity",
    '<physics speed="1"/>': "<physics> has no attribute 'speed'. It accepts: solver, iterations, step, gravity, "
                             "integrator.",
    '<material friction="1"/>': "<material> needs 'name'",
    '<material name="ice" friction="-1"/>': "<material> friction",
    '<touch one="ice"/>': "<touch> needs 'other'",
    '<touch one="ice" other="glass"/>': "there is no material 'ice'",
    '<solid size="1 1"/>': "<solid> size: a box has 3 numbers, not 2",
    '<solid size="1 1 1" shape="cone"/>': "<solid> shape: 'cone' is not allowed",
    '<solid size="1 1 1" mass="0"/>': "<solid> mass",
    '<solid size="1 1 1" weight="2"/>': "<solid> has no attribute 'weight'",
    '<solid size="1 1 1" material="ice"/>': "there is no material 'ice'",
    '<joint one="a" other="b" x="0" y="0" z="0"/>': "<joint> joins nothing called 'a'",
    '<joint one="floor" other="b" x="0" y="0"/>': "<joint> needs 'z'",
    '<joint one="a" other="b" x="0" y="0" z="0" kind="bolt"/>': "<joint> kind: 'bolt' is not allowed",
    '<joint one="a" other="b" x="0" y="0" z="0" kind="hinge" lower="1"/>': "<joint> has both limits, or none",
    '<trigger x="0" y="0" width="1"/>': "<trigger> needs 'depth'",
    '<terrain width="1"/>': "<terrain> needs 'depth'",
    '<terrain width="1" depth="1" image="hills.png"/>': "<terrain> image: no file 'hills.png'",
    '<hole x="0" y="0" width="1" depth="1" deep="0"/>': "<hole> deep",
    '<ramp x="0" y="0" width="1" depth="1"/>': "<ramp> needs 'height'",
    '<platform x="0" y="0" width="1" depth="1" height="one"/>': "<platform> height",
    '<sbot model="plain"/>': "<sbot> model: 'plain' is not allowed",
    '<sbot grip_force="0"/>': "<sbot> grip_force",
    '<sbot base="sliding" model="detailed"/>': "'sbot' cannot slide",
    '<machine/>': "<machine> needs 'file'",
}


@pytest.mark.parametrize("element", WRONG)
def test_what_is_wrong_is_said_with_its_file_and_line(tmp_path, element):
    file = tmp_path / "mine.xml"
    file.write_text(f'<world name="mine" engine="spatial">\n\n  {element}\n</world>')
    with pytest.raises(WorldError) as wrong:
        check_world(formiga.read_world(file))
    assert f"{file}:3: " in str(wrong.value) and WRONG[element] in str(wrong.value), wrong.value


@pytest.mark.parametrize("element", ['<solid size="1 1 1"/>', '<physics/>', '<terrain width="1" depth="1"/>',
                                     '<trigger x="0" y="0" width="1" depth="1"/>', '<material name="ice"/>'])
def test_the_plane_refuses_what_needs_space_with_its_line(tmp_path, element):
    file = tmp_path / "mine.xml"
    file.write_text(f'<world name="mine">\n\n  {element}\n</world>')
    with pytest.raises(WorldError, match=r"mine\.xml:3: .*needs three dimensions"):
        check_world(formiga.read_world(file))
