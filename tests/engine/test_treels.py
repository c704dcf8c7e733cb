"""Robots on treels: driving on slopes and hills, standing still, pushing, tipping; and the law of the level floor."""

from __future__ import annotations

import re
from importlib.resources import files
from math import atan, cos, degrees, pi, radians, sin, tan

import mujoco
import numpy as np
import pytest

from formiga.engine.spatial import robots
from formiga.engine.spatial.model import EVERYTHING
from formiga.engine.spatial.motion import stepper
from formiga.geometry import matrix
from formiga.loop import Simulation
from formiga.world.model import Arena, Group, Physics, Ramp, Solid, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from tests.engine.space import drive, spatial

WHEELS = SBot(base="wheels")
FAR = Solid(name="far", size=(0.1, 0.1, 0.1), x=5.0, y=5.0)  # in a world with such things, MuJoCo finds the contacts of treels


def up_a_ramp(angle, heading, speed, seconds=2.0):
    """m/s on a ramp, after a second in which it finds its speed."""
    ramp = Ramp(x=0.0, y=0.0, width=3.0, depth=2.0, height=3.0 * tan(radians(angle)))
    sim = drive(Simulation(spatial(ramp, robot=WHEELS, at=((-0.3, 0.0, heading),))), 1.0, (speed, speed))
    start = sim.state.bodies[0, 0, :3].copy()
    drive(sim, seconds, (speed, speed))
    return float(np.linalg.norm(sim.state.bodies[0, 0, :3] - start)) / seconds


def tilt(sim):
    """Degrees from the vertical, of the first robot."""
    return degrees(np.arccos(min(1.0, matrix(sim.state.bodies[0, sim.model.chassis[0], 3:7])[2, 2])))


# -- driving --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("things", [(), (FAR,)], ids=["floor", "contacts"])
@pytest.mark.parametrize("model", ["simple", "detailed"])
def test_on_the_level_it_is_as_fast_as_it_is_told(model, things):
    sim = drive(Simulation(spatial(*things, robot=SBot(base="wheels", model=model))), 1.0, (0.08, 0.08))
    start = sim.state.position[0, 0, 0]
    assert drive(sim, 2.0, (0.08, 0.08)).state.position[0, 0, 0] - start == pytest.approx(0.16, rel=0.01)


@pytest.mark.parametrize("heading", [0.0, pi / 2, pi], ids=["up", "across", "down"])
@pytest.mark.parametrize("angle", [5, 15, 25])
def test_orders_are_kept_on_ramps(angle, heading):
    for speed in (0.08, 0.005):
        assert up_a_ramp(angle, heading, speed) == pytest.approx(speed, rel=0.02)


@pytest.mark.parametrize("heading", [0.0, 1.0, pi])
@pytest.mark.parametrize("angle", [5, 10, 15])
def test_a_robot_that_stands_on_a_slope_does_not_creep(angle, heading):
    assert up_a_ramp(angle, heading, 0.0) < 0.02e-3


def test_a_slope_is_too_steep_where_friction_ends():
    """mu = tan(angle): a robot with half the friction of rubber stands at 24 degrees, and slides at 29."""
    ends = []
    for angle in (24.0, 29.0):
        ramp = Ramp(x=0.0, y=0.0, width=3.0, depth=2.0, height=3.0 * tan(radians(angle)))
        robot = SBot(base="wheels", friction=0.5)
        sim = drive(Simulation(spatial(ramp, robot=robot, at=((0.4, 0.0, 0.0),))), 0.5, (0.0, 0.0))
        start = sim.state.bodies[0, 0, :3].copy()
        drive(sim, 0.5, (0.0, 0.0))
        ends.append(float(np.linalg.norm(sim.state.bodies[0, 0, :3] - start)))
    steep = 0.5 * 9.81 * (sin(radians(29.0)) - 0.5 * cos(radians(29.0)))  # m/s^2, times t^2/2 from a start at some speed
    assert ends[0] < 1e-3 and ends[1] > 0.5 * steep * 0.5**2 and degrees(atan(0.5)) == pytest.approx(26.6, abs=0.1)


def test_the_world_rough_is_crossed_nearly_as_fast_as_a_level_one():
    """At least 70 % of the speed on level ground, and as much in the last quarter of a minute."""
    text = (files("formiga") / "worlds" / "rough.xml").read_text().replace('name="robots" value="8"', 'name="robots" value="2"')
    mean = {}
    for ground in ("hills", "level"):
        sim = Simulation(read_text(text if ground == "hills" else re.sub("<terrain.*/>", "", text)))
        way = [sim.state.bodies[0, sim.model.chassis, :3].copy()]
        for _ in range(600):
            sim.step()
            way.append(sim.state.bodies[0, sim.model.chassis, :3].copy())
        speed = np.linalg.norm(np.diff(way, axis=0), axis=2).mean(axis=1) / sim.world.dt
        mean[ground] = speed.mean(), speed[450:].mean()
    for hills, level in zip(mean["hills"], mean["level"], strict=True):
        assert hills >= 0.7 * level


# -- pushing and tipping --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("things", [(Arena(width=1, depth=1),),
                                    (Solid(name="rock", size=(0.1, 0.3, 0.2), x=0.45, mass=500.0),)], ids=["wall", "rock"])
def test_what_pushes_at_something_heavy_keeps_its_nose_down(things):
    sim = drive(Simulation(spatial(*things, robot=WHEELS, at=((0.25, 0.0, 0.0),))), 5.0, (0.08, 0.08))
    assert tilt(sim) < 1.0 and abs(sim.state.position[0, 0, 1]) < 1e-3


def dropped(step, things, order, seconds=2.0):
    """Energy (J) over time of twelve robots that fall 12 cm on whatever side of them is below."""
    draw = np.random.default_rng(5)
    place = tuple(At(x=3.0 * k, y=0.0, z=0.12, roll=draw.uniform(-pi, pi), pitch=draw.uniform(-1.5, 1.5)) for k in range(12))
    groups = (Group(WHEELS, name="r", count=12, place=place),)
    sim = Simulation(World(engine="spatial", settings=(Physics(step=step),), groups=groups, things=things))
    mj, data, energy = sim.model.mj, mujoco.MjData(sim.model.mj), []
    mj.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    for _ in range(round(seconds / sim.world.dt)):
        sim.step({"r": np.full((1, 12, 2), order)})
        mujoco.mj_setState(mj, data, sim.state.own.integration[0], EVERYTHING)
        mujoco.mj_forward(mj, data)
        energy.append(float(data.energy.sum()))
    return np.array(energy)


@pytest.mark.parametrize("things", [(), (FAR,)], ids=["floor", "contacts"])
@pytest.mark.parametrize("step", [0.0025, 0.01])
def test_robots_that_fell_over_gain_no_energy(things, step):
    """Treels that stand still do no work, whichever way they touch the floor."""
    energy = dropped(step, things, 0.0)
    assert np.diff(energy)[3:].max() < 2e-3 and energy[-1] < energy[0]


@pytest.mark.parametrize("step", [0.02, 0.05])
def test_long_steps_shoot_no_robot_up(step):
    energy = dropped(step, (), 0.08)
    assert energy.max() < energy[0] + 0.05 and energy[-1] < 0.8 * energy[0]


# -- the law of the level floor ---------------------------------------------------------------------------------------------
def test_the_floor_bears_the_weight_and_robots_sink_by_a_tenth_of_a_millimetre():
    sim = drive(Simulation(spatial(robot=WHEELS)), 0.5, (0.0, 0.0))
    loads = sim.state.scratch.data.userdata[3:5]
    assert loads.sum() == pytest.approx(WHEELS.friction * WHEELS.mass * 9.81, rel=1e-6)
    assert sim.state.bodies[0, 0, 2] == pytest.approx(-1e-4, rel=1e-3)


@pytest.mark.parametrize("step", [0.001, 0.0025, 0.01, 0.02])
def test_a_robot_that_is_dropped_comes_to_rest_upright_with_any_step(step):
    place = (At(x=0.0, y=0.0, z=0.05, roll=0.2, pitch=-0.15, heading=0.5),)
    sim = Simulation(World(engine="spatial", settings=(Physics(step=step),), groups=(Group(WHEELS, name="r", place=place),)))
    drive(sim, 1.5, (0.0, 0.0))
    assert tilt(sim) < 0.05 and abs(sim.state.bodies[0, 0, 2]) < 2e-4


def test_the_floor_s_law_moves_robots_as_contacts_of_mujoco_do():
    """The same orders with contacts that MuJoCo finds and solves: starts, turns and stops."""
    ends = []
    for things in ((), (FAR,)):
        sim = Simulation(spatial(*things, robot=WHEELS))
        for left, right in ((0.08, 0.08), (-0.08, 0.08), (0.02, 0.08), (0.0, 0.0)):
            drive(sim, 1.0, (left, right))
        ends.append(np.append(sim.state.position[0, 0], sim.state.heading[0, 0]))
    assert ends[0] == pytest.approx(ends[1], abs=4e-3)


def test_a_robot_that_is_pulled_up_on_one_side_tips_at_the_edge_of_its_treels():
    """Statics: F = m g a / (a + x), pulled up at x ahead, turning about the rear ends at a behind. The pull grows in 0.5 s."""
    a, x, weight = robots.TREEL * WHEELS.radius, 0.05, WHEELS.mass * 9.81
    lifted = []
    for share in (0.93, 1.07):
        sim = Simulation(spatial(robot=WHEELS))
        body, data = sim.model.mj.body("r0/chassis").id, sim.state.scratch.data
        once = stepper(sim.model, data, np.zeros((1, 1, 3)))
        for k in range(100):
            force = min(1.0, k / 50) * share * weight * a / (a + x)
            data.xfrc_applied[body] = 0.0, 0.0, force, 0.0, -force * x, 0.0
            once()
        lifted.append(degrees(np.arccos(min(1.0, data.xmat[body, 8]))))
    assert lifted[0] < 0.2 and lifted[1] > 1.0
