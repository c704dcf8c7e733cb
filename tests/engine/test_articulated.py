"""Robots with joints: modes and limits of their motors, the start posture, heights and attitudes, and robots of one's own."""

from dataclasses import dataclass, replace
from math import cos, pi, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import formiga
from formiga.control.orders import Orders
from formiga.errors import WorldError
from formiga.geometry import from_euler
from formiga.loop import Simulation
from formiga.world import elements
from formiga.world.contract import Actuator
from formiga.world.elements import element, length, number, speed
from formiga.world.model import Group, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import Disc, SBot
from formiga.world.writer import to_text

LONG = 0.2
ARM = f"""<mujoco><compiler angle="radian"/><worldbody><body name="base" pos="0 0 0.05">
  <geom type="cylinder" size="0.05 0.05" mass="2"/>
  <body name="upper" pos="0 0 0.05"><joint name="shoulder" axis="0 -1 0" range="-1.5 1.5"/>
    <geom type="capsule" fromto="0 0 0 {LONG} 0 0" size="0.01" mass="0.1"/>
    <body name="lower" pos="{LONG} 0 0"><joint name="elbow" axis="0 -1 0" range="-2.5 2.5"/>
      <geom type="capsule" fromto="0 0 0 {LONG} 0 0" size="0.01" mass="0.05"/>
      <body name="hand" pos="{LONG} 0 0"><joint name="reach" type="slide" axis="1 0 0" range="0 0.1"/>
        <geom type="box" size="0.01 0.01 0.01" mass="0.02"/></body></body></body></body></worldbody>
  <actuator>
    <position name="lift" joint="shoulder" kp="50" kv="5" ctrlrange="-1.2 1.2"/>
    <velocity name="bend" joint="elbow" kv="2"/>
    <motor name="push" joint="reach" ctrlrange="-3 3"/>
  </actuator>
  <keyframe><key name="up" qpos="0.5 -0.3 0.02"/></keyframe></mujoco>"""
FIXED = 'fixed="true"'


@pytest.fixture
def world(tmp_path):
    """world(attributes, inside) -> a world with one such arm; it is on line 3."""
    (tmp_path / "arm.xml").write_text(ARM)

    def write(attributes=FIXED, inside='<at x="0" y="0" heading="0"/>', things="", robot=None):
        (tmp_path / "arm.xml").write_text(robot or ARM)
        path = tmp_path / "mine.xml"
        path.write_text(f'<world engine="spatial" dt="0.05">\n<arena width="4" depth="4"/>\n'
                        f'<machine name="arm" file="arm.xml" {attributes}>{inside}</machine>{things}\n</world>')
        return formiga.read_world(path)

    return write


def joints(sim, *orders, steps=1, group="arm"):
    for _ in range(steps):
        sim.step({group: Orders(joints=np.array([[orders]], float))})
    return sim.state


# -- motors of an MJCF file ------------------------------------------------------------------------------------------------
def test_modes_and_limits_of_joints_are_those_of_the_actuators(world):
    robot = world().groups[0].robot
    assert robot.joints == (Actuator("lift", "position", -1.2, 1.2), Actuator("bend", "velocity"),
                            Actuator("push", "torque", -3.0, 3.0))


def test_an_order_beyond_the_limits_is_refused_with_the_joint_and_what_it_takes(world):
    with pytest.raises(WorldError, match=r"joint 'lift' of robot 0 of 'arm' is 1.3; it takes -1.2 to 1.2 \(position\)"):
        joints(Simulation(world()), 1.3, 0.0, 0.0)


def test_a_machine_without_wheels_has_no_drive_and_refuses_orders_for_one(world):
    sim = Simulation(world())
    assert sim.world.groups[0].robot.drive is None
    with pytest.raises(WorldError, match=r"'arm' have no drive"):
        sim.step({"arm": np.zeros((1, 1, 2))})
    joints(sim, 0.5, 0.0, 0.0, steps=5)
    assert not sim.state.drive.any() and not sim.state.wheel_angle.any()


# -- the start posture ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("posture", ["shoulder 0.5, elbow -0.3, reach 2cm", "lift 0.5, bend -0.3, push 0.02", "up"])
def test_a_robot_starts_in_its_posture_by_joints_by_motors_or_by_a_key(world, posture):
    sim = Simulation(world(f'{FIXED} posture="{posture}"'))
    assert_allclose(sim.state.joint_position[0, 0], (0.5, -0.3, 0.02))
    hand = sim.state.bodies[0, sim.model.part_rows("hand", slice(0, 1))[0]]  # of two links, shoulder and elbow pointing up
    assert_allclose(hand[:3], (LONG * cos(0.5) + (LONG + 0.02) * cos(0.2), 0.0,
                               0.1 + LONG * sin(0.5) + (LONG + 0.02) * sin(0.2)))


def test_angles_may_be_written_in_degrees(world):
    sim = Simulation(world(f'{FIXED} posture="shoulder 45deg"'))
    assert sim.state.joint_position[0, 0, 0] == pytest.approx(pi / 4)


def test_motors_in_position_mode_hold_the_posture_and_the_others_are_ordered_nothing(world):
    sim = Simulation(world(f'{FIXED} posture="shoulder 0.5"'))
    assert_array_equal(sim.state.joint_command[0, 0], (0.5, 0.0, 0.0))
    for _ in range(40):
        sim.step()
    weight = 9.81 * (0.1 * LONG / 2 + 0.05 * 1.5 * LONG + 0.02 * 2.1 * LONG)  # at most, about the shoulder
    assert abs(sim.state.joint_position[0, 0, 0] - 0.5) < weight / 50.0
    assert abs(Simulation(world(FIXED)).state.joint_command).max() == 0.0


def test_a_posture_beyond_what_its_motor_takes_is_held_at_the_limit(world):
    sim = Simulation(world(f'{FIXED} posture="shoulder 1.4"'))
    assert sim.state.joint_position[0, 0, 0] == pytest.approx(1.4) and sim.state.joint_command[0, 0, 0] == pytest.approx(1.2)


def test_a_restarted_world_begins_in_the_posture_again(world):
    sim = Simulation(world(f'{FIXED} posture="up"'), worlds=2)
    began = sim.state.own.integration.copy()
    for _ in range(10):
        sim.step({"arm": Orders(joints=np.full((2, 1, 3), (-0.5, 0.3, 0.0)))})
    sim.reset(np.array([False, True]))
    assert_array_equal(sim.state.own.integration[1], began[1])
    assert sim.state.joint_command[0, 0, 0] == -0.5 and sim.state.joint_command[1, 0, 0] == 0.5


def test_a_joint_at_rest_follows_an_order_back_to_zero(world):
    """A world at rest sleeps; an order of 0 wakes it, if the joint was ordered something else before."""
    sim = Simulation(world(FIXED, things='<physics gravity="0"/>'))
    joints(sim, 0.5, 0.0, 0.0, steps=400)
    assert sim.state.joint_position[0, 0, 0] == pytest.approx(0.5, abs=1e-3)
    joints(sim, 0.0, 0.0, 0.0, steps=100)
    assert sim.state.joint_position[0, 0, 0] == pytest.approx(0.0, abs=1e-3)


def test_a_posture_survives_the_writer(world):
    old = world(f'{FIXED} posture="shoulder 0.5, elbow -0.3"')
    assert read_text(to_text(old)) == old


@pytest.mark.parametrize("posture, message", [
    ("sholder 0.5, elbow 1", r"'arm.xml' has no joint 'sholder'. Did you mean 'shoulder'\? It has: shoulder, elbow, reach"),
    ("down", r"'arm.xml' has no <key name=\"down\">. It has: up. Joints are given as"),
    ("shoulder 1.6, elbow 0", r"joint 'shoulder' at 1.6 rad is out of its range, -1.5 to 1.5 rad"),
    ("reach 20cm, elbow 0", r"joint 'reach' at 0.2 m is out of its range, 0 to 0.1 m"),
    ("shoulder x, elbow 0", r"'shoulder x' is not a joint and a number"),
    ("shoulder 5cm, elbow 0", r"'shoulder 5cm' is not a joint and a number"),
    ("shoulder 0.1, lift 0.2", r"joint 'lift' is given twice"),
])
def test_a_posture_that_cannot_be_is_refused_with_file_and_line(world, posture, message):
    with pytest.raises(WorldError, match=r"mine\.xml:3: <machine> posture: " + message) as refused:
        Simulation(world(f'{FIXED} posture="{posture}"'))
    assert "\n" not in str(refused.value)


def test_a_posture_in_the_ground_in_another_body_or_in_itself_is_refused(world):
    with pytest.raises(WorldError, match=r"mine\.xml:3: the ground and 'arm.0' overlap by 0\.\d+ m at the start. Move one of "
                                         "them, or change the posture"):
        Simulation(world(f'{FIXED} posture="shoulder -1.2"'))
    with pytest.raises(WorldError, match=r"mine\.xml:\d: .*('arm.0' and 'box'|'box' and 'arm.0') overlap by"):
        Simulation(world(FIXED, things='<solid name="box" size="10cm 10cm 40cm" x="0.42" fixed="true"/>'))
    wide = ARM.replace("-2.5 2.5", "-3.1 3.1").replace('pos="0 0 0.05"><joint', 'pos="0 0 0.04"><joint')
    with pytest.raises(WorldError, match=r"mine\.xml:3: (chassis and (hand|lower)|(hand|lower) and chassis) of 'arm.0' "
                                         r"overlap by 0\.\d+ m at the start. Change its posture"):
        Simulation(world(f'{FIXED} posture="elbow -3.05, shoulder 0"', robot=wide))


def test_a_free_robot_in_a_posture_is_set_down_on_its_lowest_point(world):
    for shape, size, high in (("sphere", "0.03", 0.03), ("box", "0.03 0.03 0.02", 0.02), ("capsule", "0.02 0.05", 0.07),
                              ("cylinder", "0.02 0.05", 0.05), ("ellipsoid", "0.02 0.03 0.04", 0.04)):
        body = f"""<mujoco><worldbody><body name="b"><geom type="box" size="0.05 0.05 0.01" mass="1"/>
          <body name="leg"><joint name="leg" axis="0 1 0"/><geom type="{shape}" size="{size}" pos="0 0 -0.3" mass="0.1"/></body>
          </body></worldbody></mujoco>"""
        sim = Simulation(world('posture="leg 0.4"', robot=body))
        z = sim.state.bodies[0, sim.model.chassis[0], 2]
        if shape == "sphere":
            high = 0.3 * cos(0.4) + high
        elif shape == "box":
            high = 0.3 * cos(0.4) + 0.03 * sin(0.4) + high * cos(0.4)
        elif shape == "capsule":
            high = 0.3 * cos(0.4) + 0.02 + 0.05 * cos(0.4)
        elif shape == "cylinder":
            high = 0.3 * cos(0.4) + 0.02 * sin(0.4) + 0.05 * cos(0.4)
        else:
            high = 0.3 * cos(0.4) + np.hypot(0.02 * sin(0.4), high * cos(0.4))
        assert z == pytest.approx(high, abs=1e-9), shape


# -- four legs -----------------------------------------------------------------------------------------------------------------
def test_the_shipped_robot_on_four_legs_stands_and_trots():
    world = formiga.read_world("quadruped")
    robot = world.groups[0].robot
    assert len(robot.joints) == 12 and {joint.mode for joint in robot.joints} == {"position"} and robot.drive is None
    standing = Simulation(replace(world, groups=(replace(world.groups[0], controller=None),)))
    began = standing.state.bodies[0, standing.model.chassis[0], 2]
    for _ in range(100):
        standing.step()
    pose = standing.state.bodies[0, standing.model.chassis[0]]
    assert pose[2] == pytest.approx(began, abs=0.01) and np.abs(standing.state.position[0, 0] - (0.0, -0.75)).max() < 0.02
    walking = Simulation(world)
    for _ in range(300):
        walking.step()
        assert walking.readings["dog"]["inclinometer"][0, 0, 2] < 0.3
    assert walking.state.position[0, 0, 0] > 0.3 and walking.state.heading[0, 0] > 1.0
    for _ in range(2400):  # to 54 s: it stays on the floor that the page shows
        walking.step()
    assert np.abs(walking.state.position[0, 0]).max() < 1.1 and walking.state.heading[0, 0] > 4.0 * pi


def test_a_gait_is_a_sine_about_the_posture_and_needs_joints_in_position_mode(world):
    sim = Simulation(formiga.read_world("quadruped"))
    for _ in range(7):
        sim.step()
    gait, t = sim.world.groups[0].controller, 6 * 0.02
    swing = np.resize(gait.amplitude, 12) * np.sin(2 * pi * (t / gait.period + np.array(gait.phase)))
    wanted = np.tile((0.0, 0.8, -1.6), 4) + swing
    assert_allclose(sim.state.joint_command[0, 0], wanted, atol=1e-12)
    with pytest.raises(WorldError, match=r"mine\.xml:3: <gait> orders positions, and joint 'bend' of 'arm' takes none"):
        Simulation(world(FIXED, '<at x="0" y="0" heading="0"/><gait amplitude="0.1"/>')).step()


# -- heights and attitudes ---------------------------------------------------------------------------------------------------
TILTED = '<at x="0.1" y="-0.2" z="0.7" roll="20deg" pitch="-0.5" heading="1"/>'


def test_a_fixed_machine_stands_as_its_at_says(world):
    sim = Simulation(world(FIXED, TILTED))
    for _ in range(3):
        pose = sim.state.bodies[0, sim.model.chassis[0]]
        assert_allclose(pose[:3], (0.1, -0.2, 0.7), atol=1e-12)
        assert abs(pose[3:] @ from_euler(pi / 9, -0.5, 1.0)) == pytest.approx(1.0, abs=1e-12)
        sim.step()


def test_a_free_robot_falls_from_where_its_at_has_it(world):
    """z = h - g t^2 / 2, the middle of its mass; the free joint's own place is that of a body without joints here."""
    ball = '<mujoco><worldbody><body name="b"><geom size="0.05"/></body></worldbody></mujoco>'
    sim = Simulation(world("", '<at x="0" y="0" z="2" roll="0.3" pitch="0.2" heading="1"/>', robot=ball))
    assert_allclose(sim.state.bodies[0, 0, :3], (0.0, 0.0, 2.0))
    assert abs(sim.state.bodies[0, 0, 3:] @ from_euler(0.3, 0.2, 1.0)) == pytest.approx(1.0, abs=1e-12)
    for _ in range(10):
        sim.step()
    assert sim.state.bodies[0, 0, 2] == pytest.approx(2.0 - 9.81 * 0.5**2 / 2, abs=0.03)  # steps of 10 ms


@pytest.mark.parametrize("robot", [SBot(), Disc(0.1, 0.1, 0.2)], ids=["sbot", "disc"])
def test_a_robot_on_a_drive_starts_in_the_air_on_wheels(robot):
    place = (At(0.0, 0.0, 0.5, z=0.4, pitch=0.3),)
    sim = Simulation(World(engine="spatial", groups=(Group(robot, place=place),)))
    pose = sim.state.bodies[0, sim.model.chassis[0]]
    assert_allclose(pose[:3], (0.0, 0.0, 0.4), atol=1e-12)
    assert abs(pose[3:] @ from_euler(0.0, 0.3, 0.5)) == pytest.approx(1.0, abs=1e-12)
    sim.step()
    assert sim.state.bodies[0, sim.model.chassis[0], 2] < 0.39
    with pytest.raises(WorldError, match="'sbot' cannot slide: a raised or tilted <at> puts it on wheels"):
        Simulation(World(engine="spatial", groups=(Group(SBot(base="sliding"), place=place),)))


@pytest.mark.parametrize("given", ['z="1"', 'roll="0.1"', 'pitch="10deg"'])
def test_in_the_plane_a_height_or_an_attitude_is_refused(given):
    text = f'<world>\n<arena width="2" depth="2"/><sbot>\n<at x="0" y="0" {given}/></sbot></world>'
    with pytest.raises(WorldError, match=r"<text>:3: <at> z, roll and pitch need three dimensions: engine=\"spatial\""):
        Simulation(read_text(text))


def test_heights_survive_the_writer(world):
    old = world(FIXED, TILTED)
    assert read_text(to_text(old)) == old


def test_an_edit_and_a_saved_world_keep_the_pose_of_a_fixed_machine(world, tmp_path):
    from tests.session.workspace import Workspace

    workspace = Workspace(world(FIXED, TILTED))
    before = workspace.session.sim.state.bodies[0, workspace.session.sim.model.chassis[0]].copy()
    workspace.steps(2)
    workspace.run(f"spawn lamp 1 1; save {tmp_path / 'later.xml'}")
    for sim in (workspace.session.sim, Simulation(formiga.read_world(tmp_path / "later.xml"))):
        assert_allclose(sim.state.bodies[0, sim.model.chassis[0]], before, atol=1e-9)


def test_a_bad_posture_ends_a_command_with_2_and_one_line(world, tmp_path):
    from click.testing import CliRunner

    from formiga.cli import cli

    world(f'{FIXED} posture="sholder 0.5, elbow 1"')
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "mine.xml")], prog_name="formiga")
    assert result.exit_code == 2 and "mine.xml:3: <machine> posture: 'arm.xml' has no joint 'sholder'" in result.output
    assert "Traceback" not in result.output


# -- robots that are not alive -------------------------------------------------------------------------------------------------
def test_joints_of_a_robot_that_dies_stay_where_they_are(world):
    """In position mode they hold their last command, in velocity mode they stop, in torque mode they are without power."""
    sim = Simulation(world(f'{FIXED} posture="shoulder 0.5"', things='<physics gravity="0"/>'))
    joints(sim, 0.8, 0.5, 1.0, steps=30)
    sim.state.alive[0, 0] = False
    place = sim.state.joint_position[0, 0].copy()
    joints(sim, -1.0, -0.5, -1.0, steps=40)
    assert_array_equal(sim.state.joint_command[0, 0], (0.8, 0.5, 1.0))
    assert_allclose(sim.state.joint_position[0, 0, :2], (0.8, place[1]), atol=0.02)
    assert sim.state.joint_effort[0, 0, 2] == 0.0


def test_a_robot_that_dies_keeps_its_grip():
    places = (At(0.0, 0.0, 0.0), At(0.137, 0.0, 0.0))
    sim = Simulation(World(engine="spatial", groups=(Group(SBot(), place=places, name="r"),)))
    closed = np.array([[(0.0, 0.0, 1.0), (0.0, 0.0, 0.0)]])
    for _ in range(3):
        sim.step({"r": Orders(joints=closed)})
    assert sim.state.grips[0, 0, 0] != 0.0
    sim.state.alive[0, 0] = False
    for _ in range(3):
        sim.step({"r": Orders(joints=0.0 * closed)})
    assert sim.state.grips[0, 0, 0] != 0.0
    sim.state.alive[0, 0] = True
    sim.step({"r": Orders(joints=0.0 * closed)})
    assert sim.state.grips[0, 0, 0] == 0.0


# -- a robot of one's own, in one file ----------------------------------------------------------------------------------------
@pytest.fixture
def mast():
    """A class of robot with a mast on its drive."""
    before = dict(elements._registry)

    @element("mast_robot", role="robot")
    @dataclass(frozen=True)
    class Mast:
        """A drum on two wheels with a mast that turns and one that grows."""

        radius: float = length(0.1)
        wheel_base: float = length(0.12)
        top_speed: float = speed(0.5)
        height: float = length(0.1)
        mass: float = number(1.0)
        joints = (Actuator("mast", "position", -3.0, 3.0), Actuator("grow", "velocity"))

        def build_part(self, build):
            """The mast stands on the drum."""
            base = build.base()
            build.shell(base)
            mast = build.body(base, "mast", at=(0.0, 0.0, 0.21))
            build.geom(mast, "capsule", (0.01,), to=(0.1, 0.0, 0.0), mass=0.02)
            build.hinge(mast, "mast", axis=(0.0, 0.0, 1.0))
            build.motor("mast", "mast", strength=0.1)
            top = build.body(mast, "top", at=(0.1, 0.0, 0.0))
            build.geom(top, "sphere", (0.01,), mass=0.01)
            build.slider(top, "up", axis=(0.0, 0.0, 1.0), limits=(0.0, 0.2))
            build.motor("grow", "up", strength=1.0, gain=100.0, damping=10.0)

    yield Mast
    elements._registry.clear()
    elements._registry.update(before)


@pytest.mark.parametrize("ramp", [False, True], ids=["sliding", "on wheels"])
def test_a_robot_of_ones_own_drives_and_moves_the_joints_that_it_builds(mast, ramp):
    from formiga.world.ground import Ramp

    things = (Ramp(x=1.0, y=1.0, width=0.3, depth=0.3, height=0.05),) if ramp else ()
    sim = Simulation(World(engine="spatial", things=things, groups=(Group(mast(), place=(At(0.0, 0.0, 0.0),), name="r"),)))
    assert [part.name for part in sim.model.parts if part.robot == 0 and part.name not in ("left", "right")] == [
        "chassis", "mast", "top"]
    for _ in range(20):
        sim.step({"r": Orders(np.full((1, 1, 2), 0.1), np.array([[[1.0, 0.05]]]))})
    assert sim.state.position[0, 0] == pytest.approx((0.2, 0.0), abs=0.01)
    assert sim.state.joint_position[0, 0] == pytest.approx((1.0, 0.1), abs=0.02)
    top = sim.state.bodies[0, sim.model.part_rows("top", slice(0, 1))[0]]
    base = sim.state.bodies[0, sim.model.chassis[0]]
    assert top[:3] - base[:3] == pytest.approx((0.1 * cos(1.0), 0.1 * sin(1.0), 0.31), abs=0.01)


def test_a_robot_that_forgets_a_motor_a_base_or_a_name_is_told_so(mast):
    def refused(build_part):
        own = type("Own", (mast,), {"build_part": build_part, "__doc__": "Own."})
        element("own_mast", role="robot")(dataclass(frozen=True)(own))
        with pytest.raises(WorldError) as wrong:
            Simulation(World(engine="spatial", groups=(Group(own(), place=(At(0.0, 0.0, 0.0),)),)))
        return str(wrong.value)

    assert "cannot build <own_mast>: it builds no base." in refused(lambda self, build: None)
    assert "it builds no motor for its joint 'mast'." in refused(lambda self, build: build.shell(build.base()))
    assert "it builds a motor 'mst', which is none of its joints. Did you mean 'mast'?" in refused(
        lambda self, build: build.motor("mst", "mast", strength=1.0))


def test_a_robot_without_a_drive_stands_on_its_foot_and_can_be_pushed_over():
    before = dict(elements._registry)

    @element("own_post", role="robot")
    @dataclass(frozen=True)
    class Post:
        """A post."""

        radius: float = length(0.05)
        height: float = length(0.3)
        mass: float = number(1.0)

    try:
        sim = Simulation(World(engine="spatial", groups=(Group(Post(), place=(At(0.0, 0.0, 0.0),)),)))
        for _ in range(20):
            sim.step()
        assert sim.state.bodies[0, 0, 2] == pytest.approx(0.0, abs=2e-3)
        fell = Simulation(World(engine="spatial", groups=(Group(Post(), place=(At(0.0, 0.0, 0.0, z=0.1, roll=0.6),)),)))
        for _ in range(20):
            fell.step()
        assert fell.state.bodies[0, 0, 2] == pytest.approx(0.05, abs=5e-3)  # it lies on its side
    finally:
        elements._registry.clear()
        elements._registry.update(before)
