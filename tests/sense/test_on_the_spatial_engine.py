"""Sensors on the real engine in space: the same readings on a level floor, and what only space has."""

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.units import DEG
from formiga.world.reader import read_text

pytest.importorskip("mujoco")

LEVEL = """<world name="w"><arena width="1.2" depth="1.2"/><cylinder x="0.3" y="0.2" radius="6cm"/>
<lamp x="0.4" y="-0.3" z="30cm" colour="#ff0000"/><speaker x="-0.4" y="0.1"/><heater x="0" y="0.5"/>
<sbot count="6" name="a"><scatter/>{}<loudspeaker/></sbot></world>"""
RINGS = "".join(f'<proximity profile="s3" technique="{each}" name="{each}"/>'
                for each in ("ray", "cone", "moving", "sampling", "shadow"))
OTHERS = '<microphone/><thermometer noise="0.1"/><barrier/><omnicamera/><ground/><light/>'


def both(sensors):
    """The same robots at the same places: readings of the plane and of space."""
    world = read_text(LEVEL.format(sensors))
    flat = Simulation(world, 3)
    space = Simulation(world, 3, engine="spatial")
    for state in (flat.state, space.state):
        state.leds[...] = (0, 255, 0)
    return flat.readings["a"], space.readings["a"]


def test_on_a_level_floor_both_engines_read_the_same():
    flat, space = both(RINGS + OTHERS)
    for name, reading in flat.items():
        np.testing.assert_allclose(space[name], reading, atol=1e-3, err_msg=name)
        assert reading.any() or name == "barrier"


def alone(sensors, things="", x=0.0):
    """One s-bot that heads along x."""
    return Simulation(read_text(f"""<world name="w" engine="spatial">{things}
<sbot name="a"><at x="{x}" y="0" heading="0"/>{sensors}</sbot></world>"""))


def test_standing_still_a_robot_is_level_and_feels_its_weight_and_no_pull():
    simulation = alone('<inclinometer/><accelerometer/><traction/><motors/><ground noise="0"/>')
    for _ in range(5):
        simulation.step({"a": np.zeros((1, 1, 2))})
    readings = {name: reading[0, 0] for name, reading in simulation.readings["a"].items()}
    assert np.abs(readings["inclinometer"]).max() < 1 * DEG
    np.testing.assert_allclose(readings["accelerometer"], [0, 0, 9.81], atol=0.1)
    assert readings["traction"][1] < 0.1 and readings["motors"].shape == (6,)
    np.testing.assert_allclose(readings["ground"], 2 / 3, atol=0.05)


def test_a_turret_that_turns_is_seen_by_the_motors_sensor():
    from formiga.control import Orders

    simulation = alone("<motors/>")
    for _ in range(10):
        simulation.step({"a": Orders(np.zeros((1, 1, 2)), joints=np.array([[[0.5, 0.0, 0.0]]]))})
    assert simulation.readings["a"]["motors"][0, 0, 0] == pytest.approx(0.5, abs=0.1)


def test_an_inclinometer_leans_on_a_ramp():
    simulation = alone("<inclinometer/>", '<ramp x="0" y="0" width="2" depth="2" height="0.3"/>')
    for _ in range(5):
        simulation.step({"a": np.zeros((1, 1, 2))})
    roll, pitch, tilt = simulation.readings["a"]["inclinometer"][0, 0]
    assert -16 * DEG < pitch < -7 * DEG  # nose up by the slope, 8.5 degrees, and what its casters give
    assert abs(roll) < 1 * DEG and tilt == pytest.approx(abs(pitch), abs=0.1 * DEG)


def test_ground_sensors_read_nothing_over_a_hole():
    simulation = alone('<ground noise="0"/>', '<arena width="2" depth="2"/><hole x="0.16" y="0" width="0.3" depth="0.6"/>')
    reading = simulation.readings["a"]["ground"][0, 0]
    assert (reading[[0, 3]] == 0.0).all() and (reading[[1, 2]] > 0.5).all()  # its edge is 1 cm ahead of the robot's centre


@pytest.mark.parametrize("technique", ["sampling", "shadow"])
def test_techniques_that_know_only_level_ground_say_so(technique):
    simulation = alone(f'<proximity technique="{technique}"/>', '<terrain width="2" depth="2" amplitude="4cm"/>')
    with pytest.raises(WorldError, match=rf"technique '{technique}' needs a level floor"):
        _ = simulation.readings


def test_a_solid_ahead_can_be_gripped_unless_it_says_no():
    for more, x, seen in (("", 0.095, 1.0), ('grippable="false"', 0.095, 0.0), ("", 0.3, 0.0),
                          ('shape="cylinder"', 0.095, 1.0)):
        size = "4cm 6cm" if "cylinder" in more else "4cm 4cm 6cm"
        simulation = alone("<barrier/>", f'<solid x="{x}" y="0" size="{size}" {more}/>')
        assert simulation.readings["a"]["barrier"][0, 0, 0] == seen
