"""The spatial engine: driving, and the promises that it shares with the planar one."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from formiga.control.braitenberg import Braitenberg
from formiga.control.random_walk import RandomWalk
from formiga.engine.spatial.gripping import rings
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.runs import simulate
from formiga.sense.proximity import Proximity
from formiga.world.model import Arena, Contact, Cylinder, Group, Physics, Platform, Ramp, Rectangle, Solid, World
from formiga.world.placement import Scatter
from formiga.world.reader import read_text
from formiga.world.robots import Disc, MiroSot, SBot
from tests.engine.space import BASES, NAMES, drive, spatial


# -- driving ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("robot", BASES, ids=NAMES)
def test_two_seconds_at_four_radians_per_second_are_16_centimetres(robot):
    """[digest of S3, acceptance 1: 2 %]"""
    sim = drive(Simulation(spatial(robot=robot)), 2.0, (0.08, 0.08))
    assert sim.state.position[0, 0] == pytest.approx([0.16, 0.0], abs=0.02 * 0.16)


@pytest.mark.parametrize("robot", BASES, ids=NAMES)
def test_one_second_of_opposite_wheels_is_1684_milliradians(robot):
    """[digest of S3, acceptance 1: 3 %]"""
    sim = drive(Simulation(spatial(robot=robot)), 1.0, (-0.08, 0.08))
    assert sim.state.heading[0, 0] == pytest.approx(1.684, rel=0.03)
    assert np.hypot(*sim.state.position[0, 0]) < 5e-3


@pytest.mark.parametrize("robot", [Disc(radius=0.05, wheel_base=0.08, top_speed=0.2), MiroSot()], ids=["disc", "mirosot"])
def test_other_robots_slide_too(robot):
    sim = drive(Simulation(spatial(robot=robot)), 1.0, (0.1, 0.1))
    assert sim.state.position[0, 0] == pytest.approx([0.1, 0.0], abs=3e-3)


def test_headings_are_not_wrapped():
    sim = drive(Simulation(spatial(robot=SBot())), 6.0, (-0.08, 0.08))
    assert sim.state.heading[0, 0] == pytest.approx(6 * 1.684, rel=0.03)


def test_a_sliding_robot_leaves_an_arc_as_the_planar_one_does():
    ends = []
    for engine in ("planar", "spatial"):
        sim = Simulation(spatial(robot=SBot()), engine=engine)
        drive(sim, 5.0, (0.05, 0.08))
        ends.append(np.append(sim.state.position[0, 0], sim.state.heading[0, 0]))
    assert ends[1] == pytest.approx(ends[0], abs=0.02)


@pytest.mark.parametrize("robot", BASES, ids=NAMES)
def test_nobody_drives_through_a_wall_an_obstacle_or_another_robot(robot):
    sim = Simulation(spatial(Arena(width=0.6, depth=0.6), Cylinder(x=0.15, y=0.1, radius=0.05), robot=robot,
                             at=[(-0.15, -0.15, 0.3), (0.1, -0.15, 2.0), (-0.15, 0.15, -1.0)], controller=RandomWalk()))
    for _ in range(300):
        sim.step()
        place = rings(sim.model, sim.state.bodies[0])[:, :2]  # of their shells; who stands on wheels tilts when it bumps
        assert np.abs(place).max() < 0.3 - robot.radius + 4e-3
        assert np.hypot(*(place - (0.15, 0.1)).T).min() > robot.radius + 0.05 - 4e-3
        assert min(np.hypot(*(place[a] - place[b])) for a, b in ((0, 1), (0, 2), (1, 2))) > 2 * robot.radius - 4e-3
    assert sim.state.crashes.sum() > 0


def test_a_robot_pushes_a_wall_with_friction_times_weight_and_then_slips():
    """The strain of its treels grows to mu m g and stays there; and when it turns round nothing kicks."""
    sim = Simulation(spatial(Arena(width=0.4, depth=0.4), robot=SBot(), at=[(0.1, 0.0, 0.0)]))
    drive(sim, 3.0, (0.08, 0.08))
    data = sim.state.scratch.data
    assert data.qfrc_applied[0] == pytest.approx(0.7 * 9.81, rel=0.01)
    drive(sim, 0.1, (-0.08, -0.08))
    assert sim.state.velocity[0, 0, 0] == pytest.approx(-0.08, abs=0.03)


def test_dead_robots_stand_still_and_crash_limits_end_worlds():
    world = spatial(Arena(width=0.4, depth=0.4), robot=SBot(), at=[(0.1, 0.0, 0.0)], contact=Contact(crash_limit=3))
    sim = drive(Simulation(world), 3.0, (0.08, 0.08))
    assert sim.state.done[0] and sim.state.crashes[0, 0] == 3
    world = spatial(Arena(width=0.4, depth=0.4), robot=SBot(), at=[(0.1, 0.0, 0.0), (-0.1, 0.0, 0.0)],
                    contact=Contact(crash_limit=3, at_limit="die"))
    sim = drive(Simulation(world), 3.0, (0.08, 0.08), (0.0, 0.0))
    assert not sim.state.alive[0, 0] and sim.state.alive[0, 1] and not sim.state.done[0]


def test_with_contact_none_robots_pass_through_each_other_but_stand_on_the_ground():
    world = spatial(robot=SBot(base="wheels"), at=[(0.0, 0.0, 0.0), (0.3, 0.0, pi)], contact=Contact(model="none"))
    sim = drive(Simulation(world), 4.0, (0.08, 0.08), (0.08, 0.08))
    assert sim.state.position[0, 0, 0] > 0.28 and not sim.state.crashes.any()
    assert np.abs(sim.state.bodies[0, sim.model.chassis, 2]).max() < 1e-3


# -- the promises ------------------------------------------------------------------------------------------------------------
def crowd(robots=6, **more):
    group = Group(SBot(**more), count=robots, name="r", place=(Scatter(),), sensors=(Proximity(),), controller=Braitenberg())
    return World(engine="spatial", things=(Arena(width=1.2, depth=1.2),), groups=(group,))


def test_a_world_of_a_batch_is_that_world_alone_bit_for_bit_also_when_it_grips():
    batch, alone = Simulation(crowd(), seed=3, worlds=3), Simulation(crowd(), seed=3, worlds=1, first_world=2)
    rng = np.random.default_rng(0)
    for k in range(60):
        if k % 5 == 0:
            closed = rng.random((3, 6)) < 0.8
            batch.state.joint_command[:, :, 2], alone.state.joint_command[:, :, 2] = closed, closed[2:]
        batch.step()
        alone.step()
    assert_array_equal(batch.state.own.integration[2:], alone.state.own.integration)
    assert_array_equal(batch.state.bodies[2:], alone.state.bodies)
    assert_array_equal(batch.state.grips[2:], alone.state.grips)


def test_threads_change_nothing():
    one, two = (simulate(crowd(), 3.0, seed=1, worlds=4, threads=threads).state for threads in (1, 2))
    assert_array_equal(one.own.integration, two.own.integration)
    assert_array_equal(one.position, two.position)


def test_a_reset_starts_the_chosen_worlds_as_they_began():
    sim = Simulation(crowd(), seed=2, worlds=2)
    first = sim.state.own.integration.copy()
    for _ in range(20):
        sim.step()
    kept = sim.state.own.integration[0].copy()
    sim.reset([False, True])
    assert_array_equal(sim.state.own.integration, [kept, first[1]])
    for _ in range(20):
        sim.step()
    again = Simulation(crowd(), seed=2, worlds=2)
    for _ in range(20):
        again.step()
    assert_array_equal(sim.state.own.integration[1], again.state.own.integration[1])


def test_solvers_agree_on_a_chain():
    ends = []
    for solver in ("auto", "direct", "iterative"):
        sim = Simulation(spatial(robot=SBot(), at=[(0.136 * k, 0.0, pi) for k in range(5)], settings=(Physics(solver=solver),)))
        sim.state.joint_command[0, 1:, 2] = 1.0
        drive(sim, 2.0, *[(0.05, 0.08)] * 5)
        assert (sim.state.grips[0, 1:, 0] == 1).all()
        ends.append(sim.state.position[0].copy())
    assert ends[1] == pytest.approx(ends[0], abs=2e-3)
    assert ends[2] == pytest.approx(ends[0], abs=5e-3)


def test_rays_in_space_and_rays_in_the_plane_see_the_same_around_a_robot_on_wheels():
    """The same room, once as a level floor and once with a ramp far away, which makes rays go through MuJoCo."""
    room = (Arena(width=0.7, depth=0.7, height=0.4), Cylinder(x=0.2, y=0.1, radius=0.05, height=0.4),
            Rectangle(x=-0.2, y=0.15, width=0.1, depth=0.1, height=0.4))
    far = Ramp(x=20.0, y=0.0, width=0.2, depth=0.2, height=0.05)
    seen = []
    for things in (room, (*room, far)):
        world = spatial(*things, robot=SBot(base="wheels"), at=[(0.0, 0.0, 0.4), (-0.1, -0.15, 2.0)],
                        sensors=(Proximity(noise=(0.0,), response="reciprocal"),))
        seen.append(Simulation(world).readings["r"]["proximity"])
    assert (seen[0] > 0).sum() > 5
    assert seen[1] == pytest.approx(seen[0], abs=0.02)


def test_an_eye_sees_a_red_ball_ahead_and_not_behind():
    from formiga.errors import MissingExtra
    from formiga.sense.camera import Camera

    ball = Solid(name="ball", shape="sphere", size=(0.2,), x=0.5, z=0.12, colour="#ff0000")
    sim = Simulation(spatial(ball, robot=SBot(), at=[(0.0, 0.0, 0.0), (0.0, 0.4, pi)], sensors=(Camera(width=32, height=24),)))
    try:
        image = sim.readings["r"]["eye"].astype(int)
    except MissingExtra as missing:
        pytest.skip(str(missing))
    assert image.shape == (1, 2, 24, 32, 3)
    red = (image[0, :, :, :, 0] > 100) & (image[0, :, :, :, 1] < 60)
    assert red[0, 9:15, 13:19].mean() > 0.5 and not red[1, :15].any()  # below it sees its own turret


def test_a_world_at_rest_sleeps_and_an_edit_wakes_it():
    """A box rests on a table; when somebody takes the table away it falls."""
    table, box = Platform(x=0, y=0, width=0.4, depth=0.4, height=0.3), Solid(name="box", size=(0.1, 0.1, 0.1))
    sim = drive(Simulation(spatial(table, box)), 5.0)
    asleep = sim.state.own.integration.copy()
    drive(sim, 1.0)
    assert_array_equal(sim.state.own.integration, asleep)
    without = sim.edited(replace(sim.world, things=(box,)), np.zeros((0, 2)), np.zeros(0), np.zeros(0, int))
    assert drive(without, 2.0).state.bodies[0, 0, 2] == pytest.approx(0.05, abs=2e-3)


# -- the control period -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dt, message", [
    ("1e-9", r"<text>:1: <world> dt: in space a control period lasts at least 1e-05 s, not 1e-09 s\."),
    ("1e9", r"<text>:1: <world> dt: a control period of 1e\+09 s has more than 10000 steps of motion of 0.02 s; in space it "
            r"lasts at most 200 s here\."),
])
def test_a_control_period_that_is_too_short_or_too_long_is_refused(dt, message):
    with pytest.raises(WorldError, match=message):
        Simulation(read_text(f'<world engine="spatial" dt="{dt}"><arena width="1" depth="1"/><sbot/></world>'))


def test_robots_settle_in_few_steps_also_where_steps_are_short(monkeypatch):
    """With 30,000 steps of 10 us before the start, a world would take half a minute to begin."""
    own = mujoco.mj_step1  # before which nothing else of a step is called
    for step in ("1e-5", "10ms"):
        world = read_text(f'<world engine="spatial" dt="0.1"><physics step="{step}"/><arena width="1" depth="1"/>'
                          '<ramp x="3" y="0" width="1" depth="1" height="5cm"/><sbot><at x="0" y="0"/></sbot></world>')
        calls = []
        monkeypatch.setattr(mujoco, "mj_step1", lambda mj, data, calls=calls: (calls.append(1), own(mj, data)))
        state = Simulation(world).state
        assert 30 <= sum(calls) <= 300
        assert state.bodies[0, 0, 2] == pytest.approx(0.0, abs=1e-3) and state.own.integration[0, 0] == 0.0
