"""A push is what motors, floor and masses make it: the substep does not show. And nothing is so fast that it passes through."""

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from formiga.loop import Simulation
from formiga.world.model import Ball, Block, Contact, Group, Puck, Wall, Weld, World
from formiga.world.movables import GRAVITY
from formiga.world.placement import At
from formiga.world.robots import Disc, MiroSot
from formiga.world.robots.omni import Omni

SUBSTEPS = (0.02, 0.005, 0.001, 0.0002)
DISC = Disc(radius=0.05, wheel_base=0.08, top_speed=1.0, mass=0.5)        # no lag: its tyres push with at most 0.6 m g = 2.9 N
ROUND = MiroSot(shape="circle", side=0.1)                                 # T = 0.06 s: with m (u - v)/T
CART = Omni(mass=0.5, motor_lag=0.05)
FIRM = Omni(mass=0.5)


def push(robot, substep, *, mass, friction, speed=0.3, seconds=3.0, gap=2e-4, joints=()):
    """(speed, way) of a puck that a robot has driven against for so long."""
    puck = Puck(robot.radius + 0.1 + gap, 0.0, 0.1, mass, friction=friction, name="puck")
    world = World(dt=0.02, contact=Contact("impulse", substep=substep), things=(puck, *joints),
                  groups=(Group(robot, 1, "r", (At(0.0, 0.0, 0.0),)),))
    simulation = Simulation(world)
    wheels = robot.drive.jacobian @ (speed, 0.0, 0.0) if isinstance(robot, Omni) else np.full(2, speed)
    for _ in range(round(seconds / world.dt)):
        simulation.step({"r": wheels[None, None]})
    movable = simulation.state.movables[0, 0]
    return float(movable[3]), float(movable[0] - puck.x)


@pytest.mark.parametrize("substep", SUBSTEPS)
@pytest.mark.parametrize("robot, mass, friction, expected", [
    (DISC, 5.0, 0.3, 0.0), (DISC, 0.5, 0.3, 0.3), (DISC, 0.5, 0.7, 0.0), (DISC, 0.5, 0.5, 0.3),
    (ROUND, 5.0, 0.3, 0.0), (ROUND, 0.5, 0.3, 0.3 - 0.3 * GRAVITY * 0.06), (ROUND, 0.5, 0.45, 0.3 - 0.45 * GRAVITY * 0.06),
    (CART, 0.5, 0.3, 0.3 - 0.3 * GRAVITY * 0.05), (CART, 0.5, 0.65, 0.0), (FIRM, 0.5, 0.5, 0.3), (FIRM, 5.0, 0.3, 0.0)])
def test_the_speed_of_a_push_follows_from_force_friction_and_mass_at_every_substep(substep, robot, mass, friction, expected):
    """v = u - mu M g T/m where motors have the lag T; u without one, if mu M g is less than the grip of the tyres. What must
    stand, stands: not even a creep of a tenth of a millimetre in a second."""
    speed, way = push(robot, substep, mass=mass, friction=friction)
    assert speed == pytest.approx(expected, rel=0.01, abs=1e-5)
    if expected == 0.0:
        assert abs(way) < 3e-4
    else:
        assert way == pytest.approx(push(robot, 0.0005, mass=mass, friction=friction)[1], rel=0.03)


@pytest.mark.parametrize("substep", SUBSTEPS)
def test_a_push_begins_as_the_equation_of_motion_says(substep):
    """(m + M) dv/dt = m (u - v)/T, from rest, without friction: v = u (1 - exp(-t m/((m + M) T)))."""
    for seconds in (0.1, 0.4):
        speed, _ = push(ROUND, substep, mass=2.0, friction=0.0, seconds=seconds)
        assert speed == pytest.approx(0.3 * (1.0 - exp(-seconds * 0.5 / (2.5 * 0.06))), rel=0.02)


@pytest.mark.parametrize("substep", SUBSTEPS)
@pytest.mark.parametrize("mass, expected", [(5.0, 0.0), (0.5, 0.3)])
def test_what_is_welded_to_a_robot_is_drawn_by_the_same_forces(substep, mass, expected):
    speed, way = push(DISC, substep, mass=mass, friction=0.3, joints=(Weld("r.0", "puck"),), gap=0.01)
    assert speed == pytest.approx(expected, rel=0.02, abs=1e-4) and (expected > 0.0 or abs(way) < 3e-4)


# -- fast bodies --------------------------------------------------------------------------------------------------------
ROOM = Wall((-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5, -0.5, -0.5))
THINGS = {"ball": Ball(wall_restitution=1.0, rolling=0.0, viscous=0.0, name="a"),
          "puck": Puck(0.0, 0.0, 0.03, friction=0.0, wall_restitution=0.9, name="a"),
          "square": Block(0.0, 0.0, width=0.075, depth=0.075, friction=0.0, wall_restitution=0.9, name="a"),
          "bead": Ball(radius=0.001, wall_restitution=1.0, rolling=0.0, viscous=0.0, name="a"),
          "plate": Block(0.0, 0.0, width=0.1, depth=0.004, friction=0.0, wall_restitution=0.9, name="a")}


@pytest.mark.parametrize("speed", [10.0, 30.0, 100.0])
@pytest.mark.parametrize("name", THINGS)
def test_nothing_leaves_a_room_at_up_to_a_hundred_metres_a_second(rng, name, speed):
    """Bodies of some centimetres all the way; what is a few millimetres thick may run out of substeps: then the control period
    ends early, inside, and `unresolved` counts it."""
    worlds = 30
    simulation = Simulation(World(dt=0.033, contact=Contact("impulse"), things=(ROOM, THINGS[name])), 0, worlds)
    movables, bearing = simulation.state.movables[:, 0], rng.uniform(0.0, 2.0 * np.pi, worlds)
    movables[:, :2] = rng.uniform(-0.35, 0.35, (worlds, 2))
    movables[:, 2:] = np.stack([bearing, speed * np.cos(bearing), speed * np.sin(bearing), rng.uniform(-20.0, 20.0, worlds),
                                *np.zeros((movables.shape[1] - 6, worlds))], axis=-1)
    for _ in range(5):
        simulation.step()
        assert (np.abs(movables[:, :2]) < 0.5).all()
    late = simulation.state.unresolved > 0
    assert not late.any() if name in ("ball", "puck", "square") else speed < 100.0 or late.all()


@pytest.mark.parametrize("speed", [10.0, 100.0])
@pytest.mark.parametrize("one, other", [("ball", "square"), ("square", "square"), ("bead", "plate"), ("ball", "ball")])
def test_two_that_fly_at_each_other_do_not_change_places(rng, one, other, speed):
    worlds = 30
    things = (replace(THINGS[one], name="a"), replace(THINGS[other], name="b"))
    simulation = Simulation(World(dt=0.033, contact=Contact("impulse"), things=things), 0, worlds)
    movables = simulation.state.movables
    movables[:, 0, 0], movables[:, 1, 0] = -rng.uniform(0.1, 2.0, worlds), rng.uniform(0.1, 2.0, worlds)
    movables[:, 0, 3], movables[:, 1, 3] = speed, -speed
    for _ in range(8):
        simulation.step()
        assert (movables[:, 0, 0] < movables[:, 1, 0]).all()
