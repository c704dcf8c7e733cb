"""Motors of joints between solids, and what joints bear."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.joint_load import JointLoad
from formiga.world.model import Joint, Physics, Solid
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from formiga.world.writer import to_text
from tests.engine.space import drive, spatial

POST = Solid(name="post", size=(0.1, 0.1, 0.1), z=1.0, fixed=True)
DISC = Solid(name="disc", shape="cylinder", size=(0.2, 0.02), z=1.2, mass=0.5)
AXLE = Joint(name="axle", one="post", other="disc", kind="hinge", x=0, y=0, z=1.2, motor=0.0, top=10.0, strength=0.1)
BEAM = Solid(name="beam", size=(0.6, 0.05, 0.05), x=0.4, z=1.0, mass=1.0)
WHEEL = Solid(name="wheel", shape="cylinder", size=(0.1, 0.03), x=0.2, z=1.0, roll=pi / 2, mass=0.1)
STEERED = Joint(name="hub", one="post", other="wheel", kind="hinge2", x=0.2, y=0, z=1.0, axis2=(0, 1, 0), lower=-0.5, upper=0.5,
                motor=0.0, mode="position", strength=0.2, motor2=0.0, top2=20.0, strength2=0.1)


def now(sim, name):
    """What is true of a thing."""
    names = [each.name for each in sim.world.things]
    return sim.engine.inspect_thing(sim.model, sim.state, names.index(name))


# -- motors -----------------------------------------------------------------------------------------------------------------
def test_a_motor_turns_as_fast_as_it_is_ordered_and_no_faster_than_its_top():
    sim = Simulation(spatial(POST, DISC, AXLE))
    for order, speed in ((4.0, 4.0), (-7.0, -7.0), (50.0, 10.0), (0.0, 0.0)):
        sim.order("axle", order)
        drive(sim, 1.0)
        assert now(sim, "axle")["speed"] == pytest.approx(speed, abs=1e-3)
    with pytest.raises(WorldError, match=r"no motor 'axel'\. Did you mean 'axle'\?"):
        sim.order("axel", 1.0)


def test_a_torque_speeds_a_disc_up_by_its_inertia():
    """omega = tau t / I, I = m r^2 / 2."""
    sim = Simulation(spatial(POST, DISC, replace(AXLE, mode="torque", top=None)))
    sim.order("axle", 0.01)
    drive(sim, 1.0)
    assert now(sim, "axle")["speed"] == pytest.approx(0.01 * 1.0 / (0.5 * 0.5 * 0.1**2), rel=1e-6)
    assert now(sim, "axle")["effort"] == pytest.approx(0.01)


def test_a_motor_speeds_up_with_its_strength_and_no_more():
    """Far from its order it pulls with all of its strength: omega = tau t / I, with the disc and the motor's own rotor."""
    sim = Simulation(spatial(POST, replace(DISC, mass=5.0), AXLE))  # I = 0.025 kg m^2, the rotor's 0.0005: 2.55 s to its top
    sim.order("axle", 10.0)
    for _ in range(3):
        drive(sim, 0.5)
        assert now(sim, "axle")["effort"] == pytest.approx(0.1, rel=0.011)
    assert now(sim, "axle")["speed"] == pytest.approx(1.5 * 0.1 / (0.025 + 0.0005), rel=0.015)
    drive(sim, 4.0)
    assert now(sim, "axle")["speed"] == pytest.approx(10.0, abs=0.01) and abs(now(sim, "axle")["effort"]) < 0.002


@pytest.mark.parametrize("angle", [-1.0, 0.0, 0.6])
def test_a_motor_that_holds_a_pendulum_pulls_with_the_torque_of_its_weight(angle):
    """m g L/2 cos(angle) above the level, about -y; a motor that is too weak lets it hang."""
    arm = Joint(name="arm", one="post", other="beam", x=0.1, y=0, z=1.0, kind="hinge", axis=(0, -1, 0), lower=-3.0, upper=3.0,
                motor=angle, mode="position", strength=4.0)
    sim = drive(Simulation(spatial(POST, BEAM, arm)), 4.0)
    facts = now(sim, "arm")
    assert facts["effort"] == pytest.approx(9.81 * 0.3 * np.cos(facts["at"]), abs=2e-3)
    assert facts["torque"] == pytest.approx([0.0, -facts["effort"], 0.0], abs=2e-3)  # the joint bears what its motor gives
    assert facts["at"] == pytest.approx(angle, abs=0.05)  # with all of its strength at 0.05 rad off
    weak = drive(Simulation(spatial(POST, BEAM, replace(arm, strength=0.2))), 0.5)
    assert now(weak, "arm")["at"] < angle - 0.1 or angle == -1.0


@pytest.mark.parametrize("steer", [0.25, -0.6])
def test_a_hinge2_steers_a_tricycle_round_the_circle_of_its_geometry(steer):
    """The rear axle's middle goes round a circle of R = L / tan(steer), where the lines of both axles meet."""
    length, radius = 0.3, 0.05
    body = Solid(name="body", size=(0.4, 0.1, 0.02), z=3 * radius, mass=1.0)  # above its wheels
    wheels = [Solid(name=name, shape="sphere", size=(2 * radius,), x=x, y=y, z=radius, mass=0.1)
              for name, x, y in (("front", length / 2, 0.0), ("left", -length / 2, 0.15), ("right", -length / 2, -0.15))]
    fork = Joint(name="fork", one="body", other="front", kind="hinge2", x=length / 2, y=0, z=radius, axis2=(0, 1, 0), lower=-1,
                 upper=1, motor=steer, mode="position", strength=1.0, motor2=4.0, top2=10.0, strength2=0.2)
    axles = [Joint(name=f"axle_{w.name}", one="body", other=w.name, kind="hinge", x=w.x, y=w.y, z=radius, axis=(0, 1, 0))
             for w in wheels[1:]]
    sim = drive(Simulation(spatial(body, *wheels, fork, *axles)), 2.0)
    path = []
    for _ in range(30):
        facts = now(drive(sim, 0.1), "body")
        path.append((facts["x"], facts["y"], facts["yaw"]))
    x, y, yaw = np.array(path).T
    x, y = x - length / 2 * np.cos(yaw), y - length / 2 * np.sin(yaw)
    way = np.hypot(np.diff(x), np.diff(y)).sum()
    assert way / (np.unwrap(yaw)[-1] - yaw[0]) == pytest.approx(length / np.tan(steer), rel=0.03)
    assert way == pytest.approx(2.9 * 4.0 * radius * np.cos(steer), rel=0.03)  # the front wheel rolls, and does not slip


def test_a_hinge2_steers_about_one_axis_and_spins_about_the_other():
    """After a turn of 0.3 about z the wheel's axle is at 0.3 from y, however far it has rolled."""
    sim = Simulation(spatial(POST, WHEEL, STEERED))
    sim.order("hub", 0.3)
    sim.order("hub.2", 10.0)
    drive(sim, 2.0)
    facts = now(sim, "hub")
    assert (facts["at"], facts["speed2"], facts["order2"]) == pytest.approx((0.3, 10.0, 10.0), abs=2e-3)
    row = [part.thing for part in sim.model.parts].index(1)
    w, x, y, z = sim.state.bodies[0, row, 3:]
    axle = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])  # the cylinder's own z
    assert np.abs(axle) == pytest.approx([np.sin(0.3), np.cos(0.3), 0.0], abs=5e-3)
    sim.order("hub", 2.0)  # beyond its limit
    drive(sim, 1.0)
    assert now(sim, "hub")["at"] == pytest.approx(0.5, abs=2e-3)


def test_an_angular_motor_turns_two_free_bodies_against_each_other_and_keeps_their_momentum():
    """I1 w1 + I2 w2 = 0 and w2 - w1 as ordered; it holds no point, so both stay where they are. MuJoCo's implicit steps damp
    two free bodies one by one, so momentum is kept to the order of the step: here 0.5 ms."""
    one = Solid(name="one", shape="sphere", size=(0.2,), z=1.0, mass=1.0)
    other = Solid(name="other", shape="sphere", size=(0.2,), x=0.5, z=1.0, mass=3.0)
    motor = Joint(name="motor", kind="angular", one="one", other="other", x=0, y=0, z=1.0, motor=1.0, strength=0.05)
    sim = drive(Simulation(spatial(one, other, motor, settings=(Physics(gravity=0.0, step=0.0005),))), 1.5)
    before = [now(sim, name)["yaw"] for name in ("one", "other")]
    drive(sim, 0.5)
    turned = np.array([now(sim, name)["yaw"] for name in ("one", "other")]) - before
    assert turned == pytest.approx([-0.75 * 0.5, 0.25 * 0.5], rel=5e-3)
    assert now(sim, "other")["x"] == pytest.approx(0.5, abs=1e-6)


def test_an_angular_motor_says_how_far_and_how_fast_it_turned_and_what_torque_both_sides_bear():
    """I w' = tau about a symmetry axis of two spheres, so both sides turn about one axis, askew in the world."""
    one = Solid(name="one", shape="sphere", size=(0.2,), z=1.0, mass=1.0, roll=0.4)
    other = Solid(name="other", shape="sphere", size=(0.2,), x=0.5, z=1.0, mass=1.0, pitch=1.0)
    motor = Joint(name="motor", kind="angular", one="one", other="other", x=0, y=0, z=1.0, axis=(3, 0, 4), motor=0.002,
                  mode="torque", strength=0.01)
    facts = now(drive(Simulation(spatial(one, other, motor, settings=(Physics(gravity=0.0),))), 1.0), "motor")
    inertia = 0.4 * 1.0 * 0.1**2
    assert facts["speed"] == pytest.approx(2.0 * 0.002 / inertia * 1.0, rel=1e-6)
    assert facts["at"] == pytest.approx(0.002 / inertia, rel=0.02)
    assert facts["torque_other"] == pytest.approx(0.002 * np.array([0.6, 0.0, 0.8]), abs=1e-9)
    assert (facts["torque_one"] == -facts["torque_other"]).all() and not facts["force_other"].any()


def test_an_angular_motor_stops_at_its_limits():
    ball = Solid(name="ball", shape="sphere", size=(0.1,), z=0.8, mass=0.5)
    socket = Joint(name="socket", one="post", other="ball", x=0, y=0, z=0.8)
    motor = Joint(name="motor", kind="angular", one="post", other="ball", x=0, y=0, z=0.8, motor=2.0, strength=0.05, lower=-0.4,
                  upper=1.0)
    sim = drive(Simulation(spatial(POST, ball, socket, motor)), 2.0)
    assert now(sim, "ball")["yaw"] == pytest.approx(1.0, abs=1e-3)
    sim.order("motor", -2.0)
    drive(sim, 2.0)
    assert now(sim, "ball")["yaw"] == pytest.approx(-0.4, abs=1e-3)


def test_an_order_wakes_a_world_that_sleeps_and_goes_on_after_an_edit():
    sim = drive(Simulation(spatial(POST, DISC, AXLE)), 3.0)
    sim.order("axle", 3.0)
    drive(sim, 1.0)
    assert now(sim, "axle")["speed"] == pytest.approx(3.0, abs=1e-3)
    heavier = replace(sim.world, things=(POST, replace(DISC, mass=0.6), AXLE))
    edited = sim.edited(heavier, np.empty((0, 2)), np.empty(0), np.empty(0, np.int64))
    assert edited.state.motor_command[0, 0] == 3.0 and now(edited, "axle")["at"] == now(sim, "axle")["at"]
    sim.reset()
    assert sim.state.motor_command[0, 0] == 0.0


@pytest.mark.parametrize("order", ["fast", [1.0, 2.0, 3.0], float("nan")])
def test_an_order_that_is_no_number_for_each_world_is_refused(order):
    with pytest.raises(WorldError, match="the order of 'axle' must be a"):
        Simulation(spatial(POST, DISC, AXLE), worlds=2).order("axle", order)


def test_a_world_of_a_batch_moves_as_it_does_alone():
    many, alone = Simulation(spatial(POST, WHEEL, STEERED), worlds=3), Simulation(spatial(POST, WHEEL, STEERED))
    many.order("hub.2", [2.0, 5.0, 9.0])
    alone.order("hub.2", 5.0)
    drive(many, 1.0)
    drive(alone, 1.0)
    assert (many.state.bodies[1] == alone.state.bodies[0]).all() and (many.state.loads[1] == alone.state.loads[0]).all()


def test_a_world_that_is_saved_begins_as_it_stands():
    sim = Simulation(spatial(POST, WHEEL, STEERED))
    sim.order("hub", 0.3)
    sim.order("hub.2", 4.0)
    drive(sim, 2.0)
    changes = sim.engine.as_it_stands(sim.model, sim.state)
    things = tuple(replace(thing, **(changes.get(number) or {})) for number, thing in enumerate(sim.world.things))
    saved = Simulation(read_text(to_text(replace(sim.world, things=things))))
    drive(sim, 1.0)
    drive(saved, 1.0)
    assert saved.state.motor_command[0].tolist() == [0.3, 4.0]
    assert now(saved, "wheel")["yaw"] == pytest.approx(now(sim, "wheel")["yaw"], abs=2e-2)
    for each in (sim, saved):
        each.order("hub", 0.0)   # straight ahead is where it was before
        assert now(drive(each, 1.0), "hub")["at"] == pytest.approx(0.0, abs=1e-3)
        assert abs(np.sin(now(each, "wheel")["yaw"])) < 1e-2


# -- what joints bear ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("more", [{}, {"break_torque": 100.0}], ids=["tree", "equality"])
def test_a_joint_says_what_it_bears_on_both_sides(more):
    """A beam of 1 kg held at its end, 0.3 m from its middle. On the beam: m g up, and about its own middle the torque that
    keeps it level, m g L/2 about -y. On the post, 0.1 m from the joint: m g down, and m g (L/2 + 0.1) the other way round."""
    held = Joint(name="held", one="post", other="beam", x=0.1, y=0, z=1.0, kind="fixed", **more)
    sim = drive(Simulation(spatial(POST, BEAM, held)), 3.0)
    facts, weight = now(sim, "held"), 9.81
    assert facts["force"] == pytest.approx([0.0, 0.0, weight], abs=0.05)
    assert facts["torque"] == pytest.approx([0.0, -0.3 * weight, 0.0], abs=0.05)
    assert facts["force_other"] == pytest.approx([0.0, 0.0, weight], abs=0.05)
    assert facts["torque_other"] == pytest.approx([0.0, 0.0, 0.0], abs=0.05)
    assert facts["force_one"] == pytest.approx([0.0, 0.0, -weight], abs=0.05)
    assert facts["torque_one"] == pytest.approx([0.0, 0.4 * weight, 0.0], abs=0.08)


def test_the_pull_in_a_pendulum_is_its_weight_and_what_keeps_it_on_its_circle():
    """At the lowest point, released at 60 degrees: m g (3 - 2 cos 60) = 2 m g."""
    bob = Solid(name="bob", shape="sphere", size=(0.02,), x=0.5 * np.sin(pi / 3), z=1.0 - 0.5 * np.cos(pi / 3), mass=1.0)
    hinge = Joint(name="pin", one="post", other="bob", x=0.0, y=0.0, z=1.0, kind="hinge", axis=(0, 1, 0))
    sim = Simulation(spatial(replace(POST, size=(0.02, 0.02, 0.02)), bob, hinge, dt=0.002, settings=(Physics(step=0.001),)))
    pulls = [float(np.linalg.norm(now(drive(sim, 0.002), "pin")["force"])) for _ in range(300)]
    assert max(pulls) == pytest.approx(2.0 * 9.81, rel=5e-3)


def test_a_hinge_between_free_bodies_feels_a_torque_across_its_axis():
    hinge = Joint(name="held", one="post", other="beam", x=0.1, y=0, z=1.0, kind="hinge", axis=(0, 0, 1), break_force=1000.0)
    sim = drive(Simulation(spatial(POST, BEAM, hinge)), 1.0)
    assert abs(now(sim, "held")["torque"][1]) == pytest.approx(0.3 * 9.81, rel=0.1)


def test_a_robot_reads_what_a_joint_bears_in_its_own_frame():
    held = Joint(name="held", one="post", other="beam", x=0.1, y=0, z=1.0, kind="fixed")
    world = spatial(POST, BEAM, held, robot=SBot(), at=((1.5, 0.0, pi / 2),), sensors=(JointLoad(joint="held"),))
    reading = drive(Simulation(world), 1.0).readings["r"]["joint_load"][0, 0]
    assert reading[[2, 8]] == pytest.approx([-9.81, 9.81], abs=0.05)
    assert reading[3:6] == pytest.approx([0.4 * 9.81, 0.0, 0.0], abs=0.1)  # the torque about y is about its x
    with pytest.raises(WorldError, match=r"<joint_load> joint: there is no joint 'hold'\. Did you mean 'held'\?"):
        drive(Simulation(replace(world, groups=(replace(world.groups[0], sensors=(JointLoad(joint="hold"),)),))), 0.1)


# -- what is refused --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("attributes", "expected"), [
    ('kind="ball" motor="1"', "<joint> kind: only hinge and slider and angular and universal and hinge2 joints have limits"),
    ('kind="hinge" motor2="1"', "<joint> kind: only universal and hinge2 joints have a second axis with limits and motors"),
    ('kind="hinge" top="3"', '<joint> motor: it has none, so it has no mode and no top. Say what it is ordered at the start'),
    ('kind="hinge" motor="0" mode="position" top="3"', "<joint> top: a motor in position mode has limits: lower, upper"),
    ('kind="hinge2" axis2="0 0 2"', "<joint> axis2: the two axes of a hinge2 joint are not the same"),
    ('kind="angular"', "<joint> kind: an angular joint is a motor; say what it is ordered at the start"),
    ('kind="angular" motor="0" lower="-4" upper="1"', "<joint> lower: the limits of an angular motor are within half a turn"),
    ('kind="ball" start="1"', "<joint> start: a ball joint has no such axis"),
    ('kind="hinge" start2="1"', "<joint> start2: a hinge joint has no such axis"),
    ('kind="hinge2" lower2="1" upper2="0"', "<joint> lower2: the lower limit is not below the upper one"),
    ('kind="hinge2" motor="0" break_force="1"',
     "<joint> kind: only ball, fixed, hinge joints without limits and motors can break"),
])
def test_a_bad_joint_is_one_message_with_its_line(attributes, expected):
    with pytest.raises(WorldError) as wrong:
        read_text(f'<world engine="spatial">\n<joint one="a" other="b" x="0" y="0" z="0" {attributes}/></world>', "w.xml")
    assert str(wrong.value).startswith(f"w.xml:2: {expected}") and "\n" not in str(wrong.value)


def test_an_angular_motor_turns_no_robots_and_the_plane_has_none():
    motor = Joint(name="motor", kind="angular", one="floor", other="r.0", x=0, y=0, z=0, motor=1.0)
    with pytest.raises(WorldError, match=r"an angular motor turns solids; 'r\.0' is none"):
        Simulation(spatial(motor, robot=SBot()))
    with pytest.raises(WorldError, match="<solid> needs three dimensions"):
        Simulation(spatial(POST, DISC, AXLE), engine="planar")
