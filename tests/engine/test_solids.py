"""Solids, joints, what lies about, and materials."""

from __future__ import annotations

from dataclasses import replace
from math import pi, sqrt

import mujoco
import numpy as np
import pytest

from formiga.engine.spatial.model import EVERYTHING, columns
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import (
    Arena,
    Ball,
    Block,
    Contact,
    Group,
    Joint,
    Material,
    Physics,
    Puck,
    Ramp,
    Solid,
    Touch,
    Wall,
    Weld,
    World,
)
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import Disc, MiroSot, SBot
from tests.engine.space import drive, events, solid_heights, spatial


# -- solids and joints ----------------------------------------------------------------------------------------------------
def test_a_solid_falls_as_it_should():
    """s = g t^2 / 2 within 0.1 %, in steps of 10 ms."""
    sim = Simulation(spatial(Solid(name="stone", size=(0.1,), shape="sphere", z=2.0)))
    drive(sim, 0.5)
    assert 2.0 - solid_heights(sim)["stone"] == pytest.approx(0.5 * 9.81 * 0.25, rel=1e-3)
    drive(sim, 1.5)
    assert solid_heights(sim)["stone"] == pytest.approx(0.05, abs=2e-3)


@pytest.mark.parametrize("beside", ["sliding", "wheels", "box", "air"])
def test_free_fall_is_exact_beside_robots_and_things_that_touch(beside):
    """There the motion is in Euler's steps of 10 ms, which alone would be 1 % ahead after 1 s. Robots fall as stones do."""
    stone = Solid(name="stone", size=(0.1,), shape="sphere", x=2.0, z=6.0)
    robot = {"sliding": SBot(), "wheels": SBot(base="wheels"), "air": SBot(base="wheels")}.get(beside)
    place = At(x=0.0, y=0.0, z=6.0 if beside == "air" else None)
    groups = () if robot is None else (Group(robot, name="r", place=(place,)),)
    things = (stone,) if robot else (stone, Solid(name="box", size=(0.1, 0.1, 0.1)))
    sim = Simulation(World(engine="spatial", groups=groups, things=() if beside == "air" else things))
    row = 0 if beside == "air" else [part.thing for part in sim.model.parts].index(0)
    drive(sim, 1.0)
    assert 6.0 - sim.state.bodies[0, row, 2] == pytest.approx(0.5 * 9.81, rel=1e-6)


def test_a_pendulum_swings_with_its_period():
    """A small ball on a hinge: T = 2 pi sqrt(l / g), l = 0.5 m; after half a period it is on the other side."""
    post = Solid(name="post", size=(0.02, 0.02, 0.02), x=0.0, z=2.0, fixed=True)
    bob = Solid(name="bob", shape="sphere", size=(0.02,), x=0.5 * np.sin(0.1), z=2.0 - 0.5 * np.cos(0.1), mass=1.0)
    hinge = Joint(one="post", other="bob", x=0.0, y=0.0, z=2.0, kind="hinge", axis=(0, 1, 0))
    sim = Simulation(spatial(post, bob, hinge, dt=0.01, settings=(Physics(step=0.001),)))
    half = pi * sqrt(0.5 / 9.81)
    drive(sim, round(half, 2))
    row = [part.thing for part in sim.model.parts].index(1)
    assert sim.state.bodies[0, row, 0] == pytest.approx(-0.5 * np.sin(0.1), rel=0.02)


def double_pendulum(**physics):
    """Largest error of the energy in 20 s, over the work of gravity from the start to the lowest posture: two rods of 0.5 m and
    1 kg that begin level. It swings all over, so nothing but its energy can be foretold."""
    post = Solid(name="post", size=(0.02, 0.02, 0.02), z=2.0, fixed=True)
    rods = [Solid(name=f"rod{k}", shape="capsule", size=(0.04, 0.42), x=0.25 + 0.5 * k, y=0.05 * k, z=2, pitch=pi / 2, mass=1.0)
            for k in (0, 1)]
    hinges = [Joint(name=other, one=one, other=other, x=x, y=0.0, z=2.0, kind="hinge", axis=(0, 1, 0))
              for one, other, x in (("post", "rod0", 0.0), ("rod0", "rod1", 0.5))]
    sim = Simulation(spatial(post, *rods, *hinges, settings=(Physics(**physics),)))
    mj, data, energy = sim.model.mj, mujoco.MjData(sim.model.mj), []
    mj.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    for _ in range(200):
        mujoco.mj_setState(mj, data, sim.state.own.integration[0], EVERYTHING)
        mujoco.mj_forward(mj, data)
        energy.append(data.energy.sum())
        sim.step()
    return float(np.abs(np.array(energy) - energy[0]).max() / (9.81 * (0.25 + 0.75)))


def test_the_energy_of_a_double_pendulum_stays_within_five_percent():
    assert double_pendulum() < 0.05
    assert double_pendulum(integrator="implicit") > 0.05  # why worlds of solids have the other one


@pytest.mark.parametrize(("text", "message"), [
    ('<sbot base="wheels"><at x="0" y="0"/></sbot>', "does not go with robots on wheels"),
    ('<ball x="0" y="0"/>', "does not go with balls, or things that bounce")])
def test_runge_and_kutta_s_method_is_refused_where_steps_are_done_in_halves(text, message):
    with pytest.raises(WorldError, match=f':1: <physics integrator="rk4"> {message}'):
        Simulation(read_text(f'<world engine="spatial"><physics integrator="rk4"/><arena width="1" depth="1"/>{text}</world>'))


def test_a_joint_knows_its_force_and_breaks_above_its_limit():
    """Two kilograms hang on a ball joint: 19.62 N. It breaks if it can bear less."""
    def hang(limit):
        post = Solid(name="post", size=(0.1, 0.1, 0.1), z=1.0, fixed=True)
        load = Solid(name="load", size=(0.1, 0.1, 0.1), z=0.5, mass=2.0)
        wire = Joint(one="post", other="load", x=0, y=0, z=0.75, break_force=limit, name="wire")
        return Simulation(spatial(post, load, wire))

    sim = hang(30.0)
    assert not events(sim, 2.0)
    assert sim.state.own.couplings[0, 0, :4] == pytest.approx([1.0, 0.0, 0.0, 19.62], abs=0.1)
    sim = hang(15.0)
    found = events(sim, 2.0)
    assert [event.kind for event in found] == ["break"] and "'wire' breaks at" in found[0].text
    assert sim.state.own.couplings[0, 0, 0] == 0.0 and solid_heights(sim)["load"] < 0.06


def test_a_fixed_joint_that_can_break_is_stiff_and_knows_its_torque():
    """A beam of 1 kg and 0.6 m, held at its end: m g L / 2 = 2.94 N m."""
    post = Solid(name="post", size=(0.1, 0.1, 0.1), z=1.0, fixed=True)
    beam = Solid(name="beam", size=(0.6, 0.05, 0.05), x=0.4, z=1.0, mass=1.0)
    joint = Joint(one="post", other="beam", x=0.1, y=0, z=1.0, kind="fixed", break_torque=100.0)
    sim = drive(Simulation(spatial(post, beam, joint)), 5.0)
    assert sim.state.bodies[0, 0, 2] == pytest.approx(1.0, abs=0.01)
    assert np.linalg.norm(sim.state.own.couplings[0, 0, 1:4]) == pytest.approx(9.81, rel=0.02)
    assert np.linalg.norm(sim.state.own.couplings[0, 0, 4:7]) == pytest.approx(0.5 * 9.81 * 0.6, rel=0.05)


def test_traction_feels_joints_too():
    sim = Simulation(spatial(Joint(one="floor", other="r.0", x=0, y=0, z=0.07, kind="fixed", name="nail"), robot=SBot()))
    drive(sim, 2.0, (0.08, 0.08))
    assert sim.state.pull[0, 0, 0] < -3.0


def test_a_motor_turns_a_hinge_and_limits_stop_it():
    base = Solid(name="base", size=(0.2, 0.2, 0.1), z=0.3, fixed=True)
    blade = Solid(name="blade", size=(0.2, 0.02, 0.02), z=0.4, x=0.1, mass=0.1)

    def run(**more):
        hinge = Joint(one="base", other="blade", x=0, y=0, z=0.4, kind="hinge", motor=1.0, strength=0.5, **more)
        sim = drive(Simulation(spatial(base, blade, hinge)), 1.0)
        return sim.state.bodies[0, 0, :2]

    free, stopped = run(), run(lower=-0.3, upper=0.3)
    assert np.arctan2(*free[::-1]) == pytest.approx(1.0, abs=0.05)
    assert np.arctan2(*stopped[::-1]) == pytest.approx(0.3, abs=0.03)


def test_a_slider_slides_along_its_axis_only():
    rail = Solid(name="rail", size=(1.0, 0.05, 0.05), z=0.5, fixed=True)
    cart = Solid(name="cart", size=(0.1, 0.05, 0.05), z=0.56, mass=0.3)
    slider = Joint(one="rail", other="cart", x=0, y=0, z=0.56, kind="slider", axis=(1, 0, 0), motor=0.2, strength=5.0)
    sim = drive(Simulation(spatial(rail, cart, slider)), 1.0)
    assert sim.state.bodies[0, 0, :3] == pytest.approx([0.2, 0.0, 0.56], abs=0.02)


@pytest.mark.parametrize("kind", ["ball", "fixed", "universal"])
def test_a_body_that_hangs_on_a_joint_stays_there(kind):
    post = Solid(name="post", size=(0.1, 0.1, 0.1), z=1.0, fixed=True)
    load = Solid(name="load", size=(0.05, 0.05, 0.05), z=0.7, mass=0.5)
    sim = drive(Simulation(spatial(post, load, Joint(one="post", other="load", x=0, y=0, z=0.85, kind=kind))), 2.0)
    assert sim.state.bodies[0, 0, :3] == pytest.approx([0.0, 0.0, 0.7], abs=5e-3)


def test_a_ring_of_joints_holds():
    """Four boxes, each joined to the next by a hinge that cannot be part of the tree all around."""
    corners = [(0.2, 0.0), (0.0, 0.2), (-0.2, 0.0), (0.0, -0.2)]
    boxes = [Solid(name=f"b{k}", size=(0.1, 0.1, 0.1), x=x, y=y, mass=0.3) for k, (x, y) in enumerate(corners)]
    joints = [Joint(one=f"b{k}", other=f"b{(k + 1) % 4}", x=(corners[k][0] + corners[(k + 1) % 4][0]) / 2,
                    y=(corners[k][1] + corners[(k + 1) % 4][1]) / 2, z=0.05, kind="hinge", name=f"j{k}") for k in range(4)]
    sim = drive(Simulation(spatial(*boxes, *joints)), 2.0)
    place = sim.state.bodies[0, :, :3]
    assert np.hypot(*(place[:, :2] - place[:, :2].mean(axis=0)).T) == pytest.approx(0.2, abs=0.02)


def test_a_joint_may_hold_a_robot_to_the_floor():
    sim = Simulation(spatial(Joint(one="floor", other="r.0", x=0, y=0, z=0.07, kind="fixed", break_force=3.0, name="nail"),
                             robot=SBot(base="wheels")))
    found = events(sim, 2.0, (0.08, 0.08))
    assert [event.kind for event in found] == ["break"] and sim.state.position[0, 0, 0] > 0.05


def test_a_weld_of_the_plane_holds_in_space():
    world = spatial(Puck(x=0.2, y=0.0, radius=0.05, mass=0.3, name="puck"), Weld(one="r.0", other="puck"), robot=SBot())
    sim = drive(Simulation(world), 2.0, (0.06, 0.06))
    assert sim.state.movables[0, 0, 0] - sim.state.position[0, 0, 0] == pytest.approx(0.2, abs=5e-3)
    assert sim.state.position[0, 0, 0] > 0.08


# -- what lies about, materials ------------------------------------------------------------------------------------------------
def test_a_robot_pushes_a_block_and_it_stops_by_friction():
    sim = Simulation(spatial(Block(x=0.12, y=0.0, width=0.08, depth=0.08, mass=0.2), robot=SBot()))
    drive(sim, 2.0, (0.08, 0.08))
    pushed = sim.state.movables[0, 0, 0]
    assert pushed > 0.2
    drive(sim, 1.0, (-0.08, -0.08))
    assert sim.state.movables[0, 0, 0] == pytest.approx(pushed, abs=0.01)


@pytest.mark.parametrize(("friction", "slides"), [(0.1, True), (0.9, False)])
def test_a_block_slides_on_a_slope_if_friction_is_less_than_its_tangent(friction, slides):
    """tan = 0.5 on the ramp. The smoother of two materials counts, so the ground's 1.0 does not."""
    ramp = Ramp(x=0.0, y=0.0, width=0.8, depth=0.6, height=0.4)
    box = Solid(name="box", size=(0.1, 0.1, 0.06), x=0.1, z=0.25 + 0.04, pitch=-np.arctan(0.5), mass=0.5, material="stuff")
    sim = Simulation(spatial(ramp, box, Material(name="stuff", friction=friction)))
    drive(sim, 0.5)
    before = solid_heights(sim)["box"]
    drive(sim, 0.4)
    assert (solid_heights(sim)["box"] < before - 0.02) == slides


@pytest.mark.parametrize("facing", [0, 22.5, 45, 60, 90])
def test_a_block_slips_at_the_angle_of_friction_whatever_way_the_ramp_faces(facing):
    """tan(angle) = mu: 26.57 degrees for 0.5. A box of 10 cm stands at half a degree less and slips at half a degree more."""
    turn = np.radians(facing)
    for degrees, slips in ((26.07, False), (27.07, True)):
        slope = np.radians(degrees)
        ramp = Ramp(x=0.0, y=0.0, width=2.0, depth=0.6, height=2.0 * np.tan(slope), heading=turn)
        box = Solid(name="box", size=(0.1, 0.1, 0.06), z=np.tan(slope) + 0.0301 / np.cos(slope), pitch=-slope, yaw=turn,
                    mass=0.5, material="stuff")
        sim = drive(Simulation(spatial(ramp, box, Material(name="stuff", friction=0.5))), 0.5)
        before = solid_heights(sim)["box"]
        drive(sim, 1.0)  # at 27.07 degrees it goes (sin - mu cos) g t^2 / 2 along the slope, 4.9 cm of them by t = 1 s
        assert (solid_heights(sim)["box"] < before - 0.02) == slips
        assert abs(solid_heights(sim)["box"] - before) < 0.003 or slips


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_block_slides_v_squared_over_two_mu_g_in_every_direction(friction):
    """s = v^2 / 2 mu g. Without friction it never stops, nor does it leave the floor."""
    v, h = 1.0, 0.01
    way = np.radians([0, 22.5, 45, 67.5, 90, 200])
    blocks = [Block(name=f"b{k}", x=np.cos(a), y=np.sin(a), width=0.1, depth=0.1, height=0.02, friction=friction)
              for k, a in enumerate(way)]
    sim = drive(Simulation(spatial(*blocks, settings=(Physics(step=h),))), 0.2)
    for k, a in enumerate(way):
        x = sim.model.mj.joint(f"movable{k}").dofadr[0]
        sim.state.own.integration[0, sim.model.speeds[x : x + 2]] = v * np.cos(a), v * np.sin(a)
    sim.state.scratch.awake[:] = True
    drive(sim, 1.0)
    slid = np.hypot(*sim.state.movables[0, :, :2].T) - 1.0
    expected = v / 1.0 if friction == 0.0 else v**2 / (2 * friction * 9.81)
    np.testing.assert_allclose(slid, expected, rtol=0.02)


def test_a_touch_overrules_both_materials():
    def slid(*touch):
        ramp = Ramp(x=0.0, y=0.0, width=0.8, depth=0.6, height=0.4)
        box = Solid(name="box", size=(0.1, 0.1, 0.06), x=0.1, z=0.25 + 0.04, pitch=-np.arctan(0.5), mass=0.5, material="stuff")
        sim = drive(Simulation(spatial(ramp, box, Material(name="stuff", friction=0.9), *touch)), 0.9)
        return sim.state.bodies[0, 0, 0]

    assert slid(Touch(one="stuff", other="ground", friction=0.05)) < slid() - 0.05


@pytest.mark.parametrize(("restitution", "step", "mass", "height"), [
    (0.2, 0.0025, 0.01, 0.1), (0.5, 0.01, 5.0, 0.37), (0.8, 0.001, 0.5, 1.0), (0.95, 0.005, 0.1, 0.5), (1.0, 0.01, 2.0, 0.5)])
@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_what_falls_rebounds_to_the_square_of_its_restitution(shape, restitution, step, mass, height):
    """e^2 H, whatever the mass, the speed and the step: Newton's law of impact."""
    size = (0.1,) if shape == "sphere" else (0.1, 0.1, 0.1)
    ball = Solid(name="ball", shape=shape, size=size, z=height + 0.05, mass=mass, material="rubber")
    sim = Simulation(spatial(ball, Material(name="rubber", friction=0.5, restitution=restitution), dt=step,
                             settings=(Physics(step=step),)))
    heights = []
    for _ in range(round(2.5 * sqrt(2.0 * height / 9.81) / step)):
        sim.step()
        heights.append(sim.state.bodies[0, 0, 2] - 0.05)
    low = int(np.argmin(heights[:round(1.3 * sqrt(2.0 * height / 9.81) / step)]))
    assert sqrt(max(heights[low:]) / height) == pytest.approx(restitution, rel=0.03)


@pytest.mark.parametrize(("one", "other", "touch", "expected"),
                         [(0.9, 0.2, None, 0.9), (0.0, 0.5, None, 0.5), (0.9, 0.9, 0.3, 0.3)])
def test_of_two_restitutions_the_larger_one_counts_and_a_touch_overrules_both(one, other, touch, expected):
    """Whichever of the two is the smoother one. Two spheres of 0.2 and 0.6 kg meet: u' = -e u, momentum is kept."""
    a = Solid(name="a", shape="sphere", size=(0.1,), x=-0.2, z=1.0, mass=0.2, material="a")
    b = Solid(name="b", shape="sphere", size=(0.1,), x=0.2, z=1.0, mass=0.6, material="b")
    made = Material(name="a", friction=0.2, restitution=one), Material(name="b", friction=0.7, restitution=other)
    pair = (Touch(one="b", other="a", restitution=touch),) if touch is not None else ()
    sim = Simulation(spatial(a, b, *made, *pair, settings=(Physics(step=0.005, gravity=0.0),)))
    speeds = columns(sim.model.mj, mujoco.mjtState.mjSTATE_QVEL)
    sim.state.own.integration[0, speeds[[0, 6]]] = 1.0, -0.5
    drive(sim, 0.5)
    after = sim.state.own.integration[0, speeds[[0, 6]]]
    assert after[1] - after[0] == pytest.approx(1.5 * expected, rel=0.01)
    assert 0.2 * after[0] + 0.6 * after[1] == pytest.approx(0.2 - 0.3, abs=1e-6)


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_bodies_bounce_by_the_same_rule_on_both_engines(engine):
    """A ball meets a wall with its wall_restitution, and a puck with the larger of the two."""
    ball = Ball(x=0.0, y=0.0, vx=0.6, restitution=0.3, wall_restitution=0.6, rolling=0.0, viscous=0.0, felt=True)
    wall = Wall((0.3, -1.0, 0.3, 1.0), height=0.3)
    world = World(engine=engine, things=(wall, ball), dt=0.01, contact=Contact(model="impulse"))
    sim = Simulation(world)
    while sim.state.movables[0, 0, 3] > 0.0:
        sim.step()
    sim.step()
    assert sim.state.movables[0, 0, 3] == pytest.approx(-0.6 * 0.6, rel=0.02)
    puck = Puck(x=0.0, y=0.0, radius=0.05, mass=5.0, friction=1.0, restitution=0.8, wall_restitution=0.1)
    sim = Simulation(replace(world, things=(replace(ball, x=-0.2), puck)))
    while sim.state.movables[0, 0, 3] > 0.0:
        sim.step()
    sim.step()
    assert sim.state.movables[0, 0, 3] == pytest.approx(0.6 * (0.046 - 0.8 * 5.0) / 5.046, rel=0.02)


def test_a_fast_ball_stays_in_the_arena_and_gains_no_speed():
    for speed in (1.0, 3.0, 6.0):
        sim = Simulation(spatial(Arena(width=3, depth=3), Ball(x=0.0, y=0.02, vx=speed), robot=MiroSot(), at=[(0.0, 1.0, 0.0)]))
        for _ in range(40):
            sim.step()
            assert np.abs(sim.state.movables[0, 0, :2]).max() < 1.5 + 0.03
            assert np.hypot(*sim.state.movables[0, 0, 3:5]) < 1.1 * speed


@pytest.mark.parametrize("ball", [
    Ball(vx=0.5, vy=0.1, viscous=0.05), Ball(vx=0.3, vy=0.3, law="per_axis"), Ball(vx=0.8, profile="firasim", sliding=0.3)])
def test_a_ball_rolls_in_space_by_the_laws_of_the_plane(ball):
    """Viscous and dry friction, of the vector or of each axis; and 5/7 of the speed after it slid. [Klancar et al. 2003]"""
    runs = [Simulation(World(engine=engine, things=(ball,), contact=Contact(model="impulse")))
            for engine in ("planar", "spatial")]
    for _ in range(12):
        plane, space = (drive(sim, 0.5).state.movables[0, 0, :2] for sim in runs)
        assert space == pytest.approx(plane, abs=2e-3 + 0.005 * np.hypot(*plane))


def test_a_ball_rolls_down_a_slope_with_five_sevenths_of_gravity_along_it():
    ramp = Ramp(x=0.0, y=0.0, width=1.0, depth=0.6, height=0.2)
    for sliding in (0.0, 1.0):
        sim = Simulation(spatial(ramp, Ball(x=0.3, y=0.0, rolling=0.0, viscous=0.0, sliding=sliding, wall_restitution=0.0)))
        x, slope = [], np.arctan(0.2)
        for _ in range(8):
            x.append(drive(sim, 0.1).state.movables[0, 0, 0])
        along = -np.diff(x, 2)[2:].mean() / 0.01 / np.cos(slope)
        assert along == pytest.approx(5.0 / 7.0 * 9.81 * np.sin(slope), rel=0.03)


def test_flat_things_are_pushed_too():
    world = spatial(Puck(x=0.2, y=0.0, radius=0.04, height=0.01), robot=Disc(radius=0.05, wheel_base=0.08, top_speed=0.2))
    sim = drive(Simulation(world), 3.0, (0.1, 0.1))
    assert sim.state.movables[0, 0, 0] > 0.3


def test_a_rolling_ball_slows_down_and_its_place_is_its_middle():
    sim = Simulation(spatial(Ball(x=0.0, y=0.0, vx=1.2)))
    speeds = []
    for _ in range(40):
        sim.step()
        speeds.append(np.hypot(*sim.state.movables[0, 0, 3:5]))
    assert max(speeds[1:]) < 1.2 and speeds[-1] < speeds[5] and (np.diff(speeds[5:]) < 1e-3).all()
    assert sim.state.bodies[0, 0, 2] == pytest.approx(sim.world.things[0].radius, abs=2e-3)


@pytest.mark.parametrize("friction", [0.2, 1.0])
def test_a_soft_material_gives_as_far_as_it_says_under_a_point(friction):
    box = Solid(name="box", shape="sphere", size=(0.2,), mass=1.0, material="foam")
    sim = drive(Simulation(spatial(box, Material(name="foam", softness=0.02, friction=friction))), 3.0)
    assert 0.1 - sim.state.bodies[0, 0, 2] == pytest.approx(0.02, rel=0.05)



def test_the_floor_is_of_the_material_ground():
    def slid(*things):
        box = Solid(name="box", size=(0.1, 0.1, 0.04), mass=0.5, material="slick")
        sim = Simulation(spatial(box, Material(name="slick", friction=2.0), *things))
        sim.state.own.integration[0, 1 + sim.model.mj.nq] = 1.0
        return drive(sim, 2.0).state.bodies[0, 0, 0]

    assert slid() == pytest.approx(1.0 / (2 * 9.81), abs=0.02)  # v^2 / 2 mu g, mu = 1: the floor is the smoother one
    for smooth in (Material(name="ground", friction=0.1), Touch(one="slick", other="ground", friction=0.1)):
        assert slid(smooth) == pytest.approx(1.0 / (2 * 0.1 * 9.81), rel=0.1)


def test_bodies_that_overlap_at_the_start_are_refused_with_the_line_of_the_later_one():
    solid = '<solid name="{}" size="0.2 0.2 0.2" z="0.2"/>\n'
    text = f'<world engine="spatial">\n<arena width="2" depth="2"/>\n{solid.format("one")}{solid.format("other")}</world>'
    with pytest.raises(WorldError, match=r"^w\.xml:[34]: 'one' and 'other' overlap by .* m at the start"):
        Simulation(read_text(text, "w.xml"))
