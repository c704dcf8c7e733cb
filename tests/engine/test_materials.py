"""Materials and pairs of them: walls, obstacles, what lies about, and robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import (
    Arena,
    Ball,
    Block,
    Contact,
    Cylinder,
    Cylinders,
    Group,
    Material,
    Puck,
    Rectangle,
    Touch,
    Wall,
    World,
)
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import Disc, MiroSot, SBot
from formiga.world.writer import to_text
from tests.engine.space import drive, spatial

RUBBER = Material(name="rubber", restitution=0.9, friction=0.0)
BALL = Ball(x=0.0, y=0.0, vx=0.5, rolling=0.0, viscous=0.0, restitution=0.0, wall_restitution=0.0)


def rebound(*things, robot=None, at=()):
    """Speed with which a ball that came with 0.5 m/s along x goes back."""
    sim = Simulation(spatial(*things, robot=robot, at=at, dt=0.02))
    while sim.state.movables[0, 0, 3] > 0.1:
        sim.step()
    sim.step()
    sim.step()
    return -sim.state.movables[0, 0, 3]


@pytest.mark.parametrize("thing", [
    Arena(width=0.6, depth=0.6, material="rubber"), Wall((0.3, -0.5, 0.3, 0.5), material="rubber"),
    Rectangle(x=0.4, y=0.0, width=0.2, depth=0.4, material="rubber"), Cylinder(x=0.4, y=0.0, radius=0.1, material="rubber"),
    Block(x=0.4, y=0.0, width=0.2, depth=0.2, mass=1e4, material="rubber"),
    Puck(x=0.4, y=0.0, radius=0.1, mass=1e4, material="rubber"),
], ids=lambda thing: type(thing).__name__)
def test_what_a_ball_bounces_off_has_the_restitution_of_its_material(thing):
    assert rebound(BALL, thing, RUBBER) == pytest.approx(0.9 * 0.5, rel=0.03)
    assert abs(rebound(BALL, replace(thing, material=None))) < 0.1


def test_scattered_obstacles_are_of_their_material_and_others_are_not():
    posts = Cylinders(count=3, radius=0.05, seed=4, material="rubber"), Cylinders(count=2, radius=0.04, name="plain")
    model = Simulation(spatial(Arena(width=2, depth=2), *posts, Cylinder(x=0.9, y=0.9, radius=0.03), RUBBER)).model
    radii = {round(float(model.mj.geom_size[geom, 0]), 3): model.mj.geom_friction[geom, 0] for geom in range(model.mj.ngeom)
             if model.mj.geom_type[geom] == 5}
    assert radii == {0.05: 0.0, 0.04: 0.3, 0.03: 0.3}


@pytest.mark.parametrize("robot", [Disc(radius=0.06, wheel_base=0.1, top_speed=0.1, mass=1.0), MiroSot()], ids=["disc", "box"])
def test_robots_have_the_restitution_of_their_material(robot):
    def back(material):
        group = Group(robot, name="r", place=(At(x=0.4, y=0.0, heading=0.0),), material=material)
        sim = Simulation(World(engine="spatial", dt=0.02, groups=(group,), things=(replace(BALL, mass=0.001), RUBBER)))
        while sim.state.movables[0, 0, 3] > 0.1:
            sim.step()
        drive(sim, 0.04)
        return -sim.state.movables[0, 0, 3]

    assert back("rubber") == pytest.approx(0.45, rel=0.05)
    assert back(None) == pytest.approx(0.5 * robot.restitution, abs=0.08)


@pytest.mark.parametrize("base", ["auto", "wheels"])
@pytest.mark.parametrize(("extra", "moves"), [
    ((), True), ((Material(name="ground", friction=0.0),), False), ((Touch(one="tyre", other="ground", friction=0.0),), False)])
def test_wheels_of_a_material_drive_by_its_friction_and_a_touch_overrules_it(base, extra, moves):
    group = Group(SBot(base=base), name="r", place=(At(x=0.0, y=0.0, heading=0.0),), wheel_material="tyre")
    world = World(engine="spatial", groups=(group,), things=(Material(name="tyre", friction=0.8), *extra))
    sim = drive(Simulation(world), 1.0, (0.08, 0.08))
    assert (sim.state.position[0, 0, 0] > 0.07) == moves and (moves or sim.state.position[0, 0, 0] < 0.01)


def test_a_touch_of_shells_is_that_of_walls_and_robots_without_a_material():
    """As walls and robots have it, and only where two of them can meet."""
    world = spatial(Arena(width=2, depth=2), Touch(one="shell", other="shell", friction=0.7), robot=SBot(base="wheels"),
                    at=((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)))
    pairs = Simulation(world).model.mj.pair_friction[:, 0]
    assert len(pairs) == 4 * 2 + 1 and (pairs == 0.7).all()  # four walls and two robots, and the robots themselves
    assert Simulation(replace(world, contact=Contact(model="none"))).model.mj.npair == 8  # robots pass through each other


def test_materials_are_written_and_read_and_refused_where_they_mean_nothing():
    text = """<world engine="spatial"><material name="ice" friction="0.05"/><arena width="2" depth="2" material="ice"/>
    <puck x="0" y="0" radius="5cm" material="ice"/>
    <sbot material="ice" wheel_material="ground"><at x="0.5" y="0"/></sbot></world>"""
    world = read_text(text)
    again = read_text(to_text(world))
    assert again.arena.material == "ice" and again.groups[0].material == "ice" and again.groups[0].wheel_material == "ground"
    with pytest.raises(WorldError, match=r"w.xml:2: there is no material 'icy'. Did you mean 'ice'"):
        Simulation(read_text(text.replace('radius="5cm" material="ice"', 'radius="5cm" material="icy"'), "w.xml"))
    with pytest.raises(WorldError, match=r"a <material> needs three dimensions"):
        Simulation(World(things=(Arena(width=2, depth=2, material="ice"),)))
    with pytest.raises(WorldError, match=r"a <material> needs three dimensions"):
        Simulation(World(groups=(Group(SBot(), material="ice"),), things=(Arena(width=2, depth=2),)))


def test_a_sliding_puck_stops_by_the_friction_of_its_material():
    """v^2 / (2 mu g)."""
    sim = Simulation(spatial(Puck(x=0.0, y=0.0, radius=0.05, friction=0.9, material="ice"), Material(name="ice", friction=0.1)))
    first = sim.model.mj.joint("movable0").dofadr[0]
    sim.state.own.integration[0, sim.model.speeds[first]] = 0.5
    drive(sim, 2.0)
    assert sim.state.movables[0, 0, 0] == pytest.approx(0.25 / (2 * 0.1 * 9.81), rel=0.03)
    assert np.abs(sim.state.movables[0, 0, 1]) < 1e-3
