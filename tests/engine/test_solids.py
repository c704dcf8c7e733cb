"""Solids, joints, what lies about, and materials."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import Arena, Ball, Block, Joint, Material, Physics, Puck, Ramp, Solid, Touch, Weld
from formiga.world.reader import read_text
from formiga.world.robots import Disc, MiroSot, SBot
from tests.engine.space import drive, events, solid_heights, spatial


# -- solids and joints ----------------------------------------------------------------------------------------------------
def test_a_solid_falls_as_it_should():
    """z = z0 - g t^2 / 2, in steps of 10 ms."""
    sim = Simulation(spatial(Solid(name="stone", size=(0.1,), shape="sphere", z=2.0)))
    drive(sim, 0.5)
    assert solid_heights(sim)["stone"] == pytest.approx(2.0 - 0.5 * 9.81 * 0.25, abs=0.03)
    drive(sim, 1.5)
    assert solid_heights(sim)["stone"] == pytest.approx(0.05, abs=2e-3)


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


def test_a_touch_overrules_both_materials():
    def slid(*touch):
        ramp = Ramp(x=0.0, y=0.0, width=0.8, depth=0.6, height=0.4)
        box = Solid(name="box", size=(0.1, 0.1, 0.06), x=0.1, z=0.25 + 0.04, pitch=-np.arctan(0.5), mass=0.5, material="stuff")
        sim = drive(Simulation(spatial(ramp, box, Material(name="stuff", friction=0.9), *touch)), 0.9)
        return sim.state.bodies[0, 0, 0]

    assert slid(Touch(one="stuff", other="ground", friction=0.05)) < slid() - 0.05


@pytest.mark.parametrize("step", [0.01, 0.001])
@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_a_ball_bounces_by_its_restitution_and_never_higher_than_it_fell(restitution, step):
    """From 0.5 m: e^2 x 0.5 m, roughly; 1 is taken as 0.99."""
    ball = Solid(name="ball", shape="sphere", size=(0.1,), z=0.55, material="rubber")
    sim = Simulation(spatial(ball, Material(name="rubber", friction=0.5, restitution=restitution), dt=0.01,
                             settings=(Physics(step=step),)))
    heights = []
    for _ in range(150):
        sim.step()
        heights.append(sim.state.bodies[0, 0, 2] - 0.05)
    low = int(np.argmin(heights[:60]))
    assert max(heights[low:]) == pytest.approx(0.5 * restitution**2, abs=0.09)


def test_a_fast_ball_stays_in_the_arena_and_gains_no_speed():
    for speed in (1.0, 3.0, 6.0):
        sim = Simulation(spatial(Arena(width=3, depth=3), Ball(x=0.0, y=0.02, vx=speed), robot=MiroSot(), at=[(0.0, 1.0, 0.0)]))
        for _ in range(40):
            sim.step()
            assert np.abs(sim.state.movables[0, 0, :2]).max() < 1.5 + 0.03
            assert np.hypot(*sim.state.movables[0, 0, 3:5]) < 1.1 * speed


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


def test_a_soft_material_gives_about_as_far_as_it_says():
    box = Solid(name="box", shape="sphere", size=(0.2,), mass=1.0, material="foam")
    sim = drive(Simulation(spatial(box, Material(name="foam", softness=0.02))), 4.0)
    assert 0.1 - sim.state.bodies[0, 0, 2] == pytest.approx(0.02, rel=0.6)


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
