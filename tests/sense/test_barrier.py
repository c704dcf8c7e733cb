"""The gripper's light barrier: what can be gripped, where the gripper points."""

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.barrier import Barrier
from formiga.state import Grip
from formiga.units import CM, DEG
from formiga.world.contract import joint_names
from formiga.world.model import Ball, Block, Contact, Cylinder, Physics, Puck, Solid, Wall
from formiga.world.robots import SBot
from tests.engine.space import spatial
from tests.reference.lab import bench

BOTH = pytest.mark.parametrize("technique", ["simple", "ray"])
RIM = 5.8 * CM


def grippable(technique, things=(), poses=((0.0, 0.0, 0.0),), **changes):
    """What each robot's barrier says."""
    sensor = Barrier(technique, **changes)
    return list(bench(SBot(), poses, things, Contact("impulse"), [sensor]).readings["a"]["barrier"][0, :, 0])


@BOTH
@pytest.mark.parametrize("gap, seen", [(0.1, 1.0), (1.0, 1.0), (2.1, 1.0), (2.3, 0.0), (5.0, 0.0)])
def test_a_robot_ahead_is_grippable_within_reach_of_the_rim(technique, gap, seen):
    assert grippable(technique, poses=[(0, 0, 0), (2 * RIM + gap * CM, 0, 0)]) == [seen, 0.0]


@BOTH
@pytest.mark.parametrize("bearing, seen", [(0, 1.0), (10, 1.0), (-10, 1.0), (60, 0.0), (-60, 0.0), (180, 0.0)])
def test_only_what_is_between_the_fingers_counts(technique, bearing, seen):
    away = RIM + 2 * CM + 1 * CM
    puck = Puck(away * np.cos(bearing * DEG), away * np.sin(bearing * DEG), 2 * CM)
    assert grippable(technique, [puck]) == [seen]


def test_the_simple_barrier_ends_exactly_at_its_cone():
    for bearing, seen in ((19.9, 1.0), (20.1, 0.0), (-19.9, 1.0), (-20.1, 0.0)):
        away = RIM + 2 * CM
        assert grippable("simple", [Puck(away * np.cos(bearing * DEG), away * np.sin(bearing * DEG), 1 * CM)]) == [seen]


@BOTH
def test_balls_pucks_and_blocks_can_be_gripped_and_walls_and_obstacles_not(technique):
    away = RIM + 1 * CM
    assert grippable(technique, [Ball(x=away + 0.0213)]) == [1.0]
    assert grippable(technique, [Block(away + 0.05, 0.0, 0.0, 0.1, 0.1)]) == [1.0]
    assert grippable(technique, [Block(away + 0.05, 0.3, 0.0, 0.1, 0.1)]) == [0.0]
    assert grippable(technique, [Wall((away, -1, away, 1))]) == [0.0]
    assert grippable(technique, [Cylinder(away + 0.05, 0.0, 0.05)]) == [0.0]


@BOTH
def test_a_block_is_seen_by_its_outline_and_not_by_the_circle_around_it(technique):
    long = {"width": 2 * CM, "depth": 1.0}
    assert grippable(technique, [Block(RIM + 1.5 * CM, 0.4, 0.0, **long)]) == [1.0]
    assert grippable(technique, [Block(RIM + 1.5 * CM, 0.0, 90 * DEG, depth=2 * CM, width=1.0)]) == [1.0]
    assert grippable(technique, [Block(RIM + 4.5 * CM, 0.0, 0.0, **long)]) == [0.0]


@BOTH
def test_a_thing_that_says_it_is_not_grippable_is_not_seen(technique, monkeypatch):
    puck = Puck(RIM + 3 * CM, 0.0, 2 * CM)
    assert grippable(technique, [puck]) == [1.0]
    monkeypatch.setattr(Puck, "grippable", False, raising=False)
    assert grippable(technique, [puck]) == [0.0]
    monkeypatch.setattr(SBot, "grippable", False, raising=False)
    assert grippable(technique, poses=[(0, 0, 0), (0.12, 0, 0)]) == [0.0, 0.0]


@BOTH
def test_the_gripper_turns_with_the_robot_and_with_its_turret(technique):
    puck = Puck(0.0, RIM + 3 * CM, 2 * CM)
    assert grippable(technique, [puck]) == [0.0] and grippable(technique, [puck], [(0, 0, 90 * DEG)]) == [1.0]
    simulation = bench(SBot(), [(0, 0, 0)], [puck], Contact("impulse"), [Barrier(technique)])
    for turret, seen in ((90, 1.0), (45, 0.0), (-90, 0.0)):
        simulation.state.joint_position = np.array([[[turret * DEG, 0.3, 0.0]]])
        simulation.look_again()
        assert simulation.readings["a"]["barrier"][0, 0, 0] == seen


def test_worlds_of_a_batch_have_barriers_of_their_own():
    simulation = bench(SBot(), [(0, 0, 0), (1, 0, 0)], sensors=[Barrier()], worlds=2)
    simulation.state.position[1, 1, 0] = 2 * RIM + 1 * CM
    simulation.look_again()
    assert simulation.readings["a"]["barrier"][:, 0, 0].tolist() == [0.0, 1.0]


@BOTH
def test_whatever_the_gripper_takes_was_seen_before_it_closed(technique, rng):
    """Robots, pucks and solids at random around a jaw; those that are too far away are neither held nor seen."""
    held = 0
    for k in range(60):
        away, bearing = RIM + rng.uniform(0.0, 6.0) * CM, rng.uniform(-50, 50) * DEG
        x, y, turn = away * np.cos(bearing), away * np.sin(bearing), rng.uniform(-3, 3)
        size = tuple(rng.uniform(0.4, 6.0, 3) * CM)
        thing = [Solid(size=size, x=x, y=y, z=7 * CM, yaw=turn, fixed=True),
                 Solid(size=size[:1], shape="sphere", x=x, y=y, z=7 * CM),
                 Solid(size=size, x=x, y=y, z=7 * CM, yaw=turn, pitch=0.4)][k % 3]
        near = [(0, 0, 0), (x + RIM * np.cos(bearing), y + RIM * np.sin(bearing), 0)] if k % 4 == 0 else [(0, 0, 0)]
        world = spatial(*([thing] if len(near) == 1 else []), robot=SBot(), at=near, sensors=(Barrier(technique),),
                        settings=(Physics(gravity=0.0),))
        try:
            sim = Simulation(world)
        except WorldError:  # it begins in the robot
            continue
        seen = sim.readings["r"]["barrier"][0, 0, 0]
        sim.state.joint_command[0, 0, joint_names(SBot()).index("grip")] = 1.0
        sim.step()
        grips = sim.state.grips[0, 0, Grip.MODE] != 0.0
        assert seen == 1.0 or not grips
        assert not grips or sim.readings["r"]["barrier"][0, 0, 0] == 1.0
        held += grips
    assert held > 5
