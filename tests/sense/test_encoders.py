"""Wheel encoders: what the wheels tell."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from formiga.engine.spatial.model import columns
from formiga.loop import Simulation
from formiga.sense.encoders import Encoders, in_ticks
from formiga.world.model import Arena, Contact, Group, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import MiroSot, SBot
from tests.engine.space import drive as move
from tests.engine.space import spatial
from tests.reference.lab import bench, drive

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
POSES = [(0.1, 0.2, 0.3), (2.0, 0.0, -1.0)]


def test_a_wheel_s_angle_is_the_way_of_its_rim_over_its_radius():
    simulation = drive(bench(SBot(), POSES, sensors=[Encoders()]), 0.04, -0.08, 25)
    np.testing.assert_allclose(simulation.readings["a"]["encoders"], np.broadcast_to((2.5 * 2.0, 2.5 * -4.0), (1, 2, 2)))


@pytest.mark.parametrize("ticks", [1, 7, 360])
def test_ticks_are_whole_and_never_ahead_of_the_wheel(ticks, rng):
    angle = rng.uniform(-30.0, 30.0, (4, 3, 2))
    counted = in_ticks(angle, ticks)
    tick = 2 * np.pi / ticks
    np.testing.assert_allclose(counted / tick, np.round(counted / tick), atol=1e-9)
    assert (counted <= angle + 1e-12).all() and (angle - counted < tick + 1e-12).all()


def test_reading_an_encoder_does_not_lend_the_state(rng):
    simulation = bench(SBot(), POSES, sensors=[Encoders()])
    simulation.readings["a"]["encoders"][...] = 99.0
    assert not simulation.state.wheel_angle.any()


def test_a_wheel_in_space_reads_the_angle_of_its_joint():
    """MuJoCo's own joint angle, from when the robot had settled, also while it starts, brakes and turns."""
    rover = read_text(f'<world engine="spatial"><machine name="r" file="{ROBOTS / "rover.xml"}" left="left" right="right" '
                      'wheel_radius="3cm" wheel_base="12cm" radius="9cm" lift="3cm"><at x="0" y="0" heading="0"/><encoders/>'
                      '</machine></world>')
    sim = Simulation(rover)
    places = columns(sim.model.mj, mujoco.mjtState.mjSTATE_QPOS)[sim.model.wheel_joint[0]]
    start = sim.state.own.integration[0, places].copy()
    for left, right in ((0.08, 0.08), (-0.08, 0.02), (0.0, 0.0), (0.05, -0.08)):
        move(sim, 0.3, (left, right))
        assert sim.state.wheel_angle[0, 0] == pytest.approx(sim.state.own.integration[0, places] - start, abs=1e-12)


@pytest.mark.parametrize("base", ["sliding", "wheels"])
def test_treels_turn_as_they_are_told_while_the_floor_slips_under_them(base):
    """Against a wall an encoder goes on counting, though the robot stands."""
    sim = Simulation(spatial(Arena(width=0.4, depth=0.4), robot=SBot(base=base), sensors=(Encoders(),)))
    move(sim, 4.0, (0.08, 0.08))
    assert sim.readings["r"]["encoders"][0, 0] == pytest.approx(4.0 * 4.0)
    assert sim.state.position[0, 0, 0] < 0.15


def test_a_motor_that_lags_turns_its_wheel_by_the_integral_of_its_speed():
    """omega = u (1 - exp(-t/T)), so r phi = u (t - T (1 - exp(-t/T))). [Klancar et al. 2003, eq. 2]"""
    robot, u, t = MiroSot(), 0.5, 0.2
    group = Group(robot, name="r", place=(At(x=0, y=0, heading=1.0),))
    world = World(contact=Contact(model="impulse"), dt=0.02, groups=(group,))
    sim = move(Simulation(world), t, (u, u))
    lag = robot.motor_lag
    assert sim.state.wheel_angle[0, 0] * robot.wheel_radius == pytest.approx(u * (t - lag * (1.0 - np.exp(-t / lag))), rel=1e-6)
    turned = move(Simulation(world), t, (-u, u)).state
    assert turned.heading[0, 0] - 1.0 == pytest.approx(turned.wheel_angle[0, 0, 1] * robot.wheel_radius * 2 / robot.wheel_base)
