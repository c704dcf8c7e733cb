"""Sensors that sit somewhere else than in the middle of the chassis: on an arm's last link, tilted, beside the axis."""

from math import asin, cos, pi, sin, tan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import formiga
from formiga.control.orders import Orders
from formiga.errors import MissingExtra, WorldError
from formiga.loop import Simulation
from formiga.sense.proximity import Proximity
from formiga.sense.scanner import Scanner
from formiga.world.model import Arena, Group, Lamp, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from formiga.world.writer import to_text

LONG, HIGH = 0.2, 0.4
ARM = f"""<mujoco><compiler angle="radian"/><worldbody><body name="base" pos="0 0 {HIGH}">
  <geom type="sphere" size="0.03" mass="2"/>
  <body name="upper"><joint name="shoulder" axis="0 -1 0"/>
    <geom type="capsule" fromto="0.05 0 0 {LONG} 0 0" size="0.01" mass="0.01"/>
    <body name="lower" pos="{LONG} 0 0"><joint name="elbow" axis="0 -1 0"/>
      <geom type="capsule" fromto="0 0 0 {LONG} 0 0" size="0.01" mass="0.01"/></body></body></body></worldbody>
  <actuator><position name="shoulder" joint="shoulder" kp="50" kv="5"/>
    <position name="elbow" joint="elbow" kp="50" kv="5"/></actuator></mujoco>"""


@pytest.fixture
def world(tmp_path):
    """world(sensor, shoulder, elbow, things) -> the arm on line 3 in such a posture, and a wall 1 m ahead of its base."""
    (tmp_path / "arm.xml").write_text(ARM)

    def write(sensor, shoulder=0.0, elbow=0.0, things=""):
        path = tmp_path / "mine.xml"
        path.write_text(f'<world engine="spatial" dt="0.05">\n<physics gravity="0"/>{things}\n'
                        '<machine name="arm" file="arm.xml" fixed="true" '
                        f'posture="shoulder {shoulder}, elbow {elbow}">\n{sensor}'
                        '<at x="0" y="0" heading="0"/></machine>\n'
                        '<solid name="wall" size="20cm 4 4" x="1.1" z="2" fixed="true"/></world>')
        return formiga.read_world(path)

    return write


def scan(sim, name="scanner"):
    return sim.readings["arm"][name][0, 0]


# -- rays -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shoulder, elbow", [(0.0, 0.0), (0.5, 0.3), (1.2, -1.5), (0.6, -0.6)])
def test_a_beam_on_the_last_link_measures_from_where_the_arm_has_it(world, shoulder, elbow):
    """The link begins at L (cos a, sin a) and points along a + b: the wall at x = 1 is (1 - L cos a) / cos(a + b) - d away."""
    sim = Simulation(world('<scanner beams="1" field="0" reach="3" on="lower" x="20cm"/>', shoulder, elbow))
    ahead = cos(shoulder + elbow)
    assert scan(sim)[0] == pytest.approx((1.0 - LONG * cos(shoulder) - LONG * ahead) / ahead, abs=1e-6)


def test_its_reading_changes_as_the_arm_moves(world):
    sim = Simulation(world('<scanner beams="1" field="0" reach="3" on="lower" x="20cm"/>'))
    before = scan(sim)[0]
    for _ in range(100):
        sim.step({"arm": Orders(joints=np.array([[[0.6, 0.2]]]))})
    a, b = sim.state.joint_position[0, 0]
    assert a == pytest.approx(0.6, abs=0.01)
    assert before == pytest.approx(0.6) and scan(sim)[0] == pytest.approx((1 - LONG * cos(a)) / cos(a + b) - LONG, abs=1e-6)


@pytest.mark.parametrize("given, wanted", [
    ('pitch="30deg"', HIGH / sin(pi / 6)),                                 # down to the floor
    ('pitch="-30deg"', (1.0 - LONG) / cos(pi / 6)),                        # up to the wall
    ('yaw="40deg"', (1.0 - LONG) / cos(2 * pi / 9)),
    ('x="10cm" z="5cm"', 0.7),
    ('roll="90deg" heading="30deg"', (1.0 - LONG) / cos(pi / 6)),          # the plane of the fan is upright
    ('roll="-90deg" heading="30deg"', HIGH / sin(pi / 6)),
])
def test_a_pose_on_a_part_is_a_translation_and_then_roll_pitch_and_yaw(world, given, wanted):
    sim = Simulation(world(f'<scanner beams="1" field="0" reach="3" on="lower" {given}/>'))
    assert scan(sim)[0] == pytest.approx(wanted, abs=1e-6)


def test_proximity_sits_on_a_part_and_does_not_see_its_own_robot(world):
    ring = '<proximity angles="0 180deg" mount="0" reach="90cm" response="linear" share="0" noise="0" {}/>'
    sim = Simulation(world(ring.format('on="lower"')))
    assert_allclose(scan(sim, "proximity"), (1.0 - 0.8 / 0.9, 0.0), atol=1e-6)  # behind it is only its own arm
    cone = Simulation(world(ring.format('on="lower" technique="cone" cone="60deg"')))
    assert_allclose(scan(cone, "proximity"), (1.0 - 0.8 / 0.9, 0.0), atol=1e-6)


def test_the_first_body_goes_by_its_own_name_too(world):
    seen = [scan(Simulation(world(f'<scanner beams="5" reach="3" on="{name}" z="0"/>'))) for name in ("base", "chassis")]
    assert_array_equal(*seen)
    assert seen[0][2] == pytest.approx(1.0, abs=1e-6)


# -- attitude ------------------------------------------------------------------------------------------------------------------
def test_an_inclinometer_on_a_link_reads_the_angles_of_the_joints(world):
    sim = Simulation(world('<inclinometer on="lower"/>', 0.5, 0.3))
    assert_allclose(scan(sim, "inclinometer"), (0.0, -0.8, 0.8), atol=1e-9)
    tilted = Simulation(world('<inclinometer on="lower" roll="0.4"/>', 0.5, 0.3))
    roll, pitch, _ = scan(tilted, "inclinometer")
    assert (roll, pitch) == pytest.approx((0.4, -0.8), abs=1e-9)  # roll comes before the joints turn it about y


def test_an_accelerometer_at_the_end_of_a_link_feels_it_turn(world):
    """At a distance r from the axis, r w^2 towards it and r dw/dt across."""
    sim = Simulation(world('<accelerometer on="lower" x="20cm"/><accelerometer name="near" on="upper"/>'))
    far, near = [], []
    for _ in range(10):
        sim.step({"arm": Orders(joints=np.array([[[1.0, 0.0]]]))})
        far.append(scan(sim, "accelerometer").copy())
        near.append(scan(sim, "near").copy())
    assert np.abs(far).max() > 1.0 and np.abs(near).max() < 1e-9


# -- images -------------------------------------------------------------------------------------------------------------
def red(sim):
    try:
        image = sim.readings["arm"]["eye"][0, 0].astype(int)
    except MissingExtra as missing:
        pytest.skip(str(missing))
    return np.argwhere((image[..., 0] > 100) & (image[..., 1] < 60) & (image[..., 2] < 60)), image.shape


BALL = '<solid name="ball" shape="sphere" size="10cm" x="0.8" y="0" z="{z}" colour="#ff0000" fixed="true"/>'
EYE = '<eye on="lower" x="3cm" width="96" height="72" {}/>'


@pytest.mark.parametrize("shoulder", [0.0, 0.15, 0.3, -0.2])
def test_a_ball_is_in_the_image_where_the_arm_turns_the_camera(world, shoulder):
    """Row of the ball's middle: h/2 + f tan(angle under the axis), f = (w/2) / tan(field/2)."""
    found, (height, width, _) = red(Simulation(world(EYE.format(""), shoulder, 0.0, BALL.format(z=HIGH))))
    place = np.array([cos(shoulder), sin(shoulder)]) * (LONG + 0.03)
    below = shoulder - np.arctan2(-place[1], 0.8 - place[0])
    focal = 0.5 * width / tan(pi / 4)
    assert found[:, 0].mean() + 0.5 == pytest.approx(height / 2 + focal * tan(below), abs=2.0)
    assert found[:, 1].mean() + 0.5 == pytest.approx(width / 2, abs=1.0)
    away = np.hypot(0.8 - place[0], place[1])
    assert np.ptp(found[:, 1]) + 1 == pytest.approx(2 * focal * tan(asin(0.05 / away)), abs=3.0)


def test_the_image_moves_while_the_arm_does_and_a_rolled_camera_turns_it(world):
    sim = Simulation(world(EYE.format(""), 0.0, 0.0, BALL.format(z=HIGH)))
    rows = [red(sim)[0][:, 0].mean()]
    for _ in range(3):
        sim.step({"arm": Orders(joints=np.array([[[0.4, 0.0]]]))})
        rows.append(red(sim)[0][:, 0].mean())
    assert (np.diff(rows) > 0.5).all()  # the camera turns up, the ball goes down
    upright, rolled = (red(Simulation(world(EYE.format(given), 0.0, 0.0, BALL.format(z=HIGH + 0.15))))[0].mean(axis=0)
                       for given in ("", 'roll="90deg"'))
    assert upright[0] < 30 and abs(upright[1] - 47.5) < 1.0      # above the middle
    assert rolled[1] < 40 and abs(rolled[0] - 35.5) < 1.0        # turned to the right about its axis, it sees it on its left


# -- in the plane --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_on_the_chassis_a_sensor_has_x_y_and_yaw_in_both_engines(engine):
    """Looking to the left from (0.05, 0.02) in the robot's frame, the wall at y = 1 is 0.98 away."""
    sensors = (Scanner(beams=1, field=0.0, x=0.05, y=0.02, yaw=pi / 2), Scanner(beams=3, field=pi, x=0.3, name="ahead"),
               Proximity(angles=(0.0,), mount=0.0, reach=2.0, response="linear", share=0.0, noise=(0.0,), y=0.1, yaw=-pi / 2),
               Proximity(angles=(0.0,), mount=0.0, reach=2.0, response="linear", share=0.0, noise=(0.0,), x=-0.5, name="back",
                         technique="cone", cone=0.01))
    world = World(engine=engine, things=(Arena(2.0, 2.0),),
                  groups=(Group(SBot(), place=(At(0.0, 0.0, 0.0),), sensors=sensors, name="arm"),))
    readings = {name: reading[0, 0] for name, reading in Simulation(world).readings["arm"].items()}
    assert readings["scanner"][0] == pytest.approx(0.98)
    assert_allclose(readings["ahead"], (1.0, 0.7, 1.0))
    assert readings["proximity"][0] == pytest.approx(1.0 - 1.1 / 2.0) and readings["back"][0] == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize("given", ['on="turret"', 'z="5cm"', 'roll="1"', 'pitch="1"'])
@pytest.mark.parametrize("tag", ["proximity", "scanner", "inclinometer", "eye"])
def test_in_the_plane_other_poses_are_refused_at_build(tag, given):
    text = f'<world>\n<arena width="2" depth="2"/><sbot>\n<{tag} {given}/></sbot></world>'
    with pytest.raises(WorldError, match=rf"<text>:3: <{tag}> in the plane a sensor sits on the chassis, with x, y and yaw"):
        Simulation(read_text(text))


def test_a_part_that_the_robot_does_not_have_is_refused_at_build(world):
    with pytest.raises(WorldError, match=r"mine\.xml:4: <scanner> on: 'arm' has no part 'lowr'. Did you mean 'lower'\? "
                                         r"It has: chassis, base, upper, lower\."):
        Simulation(world('<scanner on="lowr"/>'))


@pytest.mark.parametrize("technique, given", [("shadow", 'x="1cm"'), ("sampling", 'yaw="1"')])
def test_techniques_that_look_around_the_axis_stay_there(technique, given):
    with pytest.raises(WorldError, match=rf"<text>:2: .*'{technique}' looks around the robot's own axis; .*, cone or moving"):
        read_text(f'<world><arena width="2" depth="2"/><sbot>\n<proximity technique="{technique}" {given}/></sbot></world>')


def test_a_turret_carries_a_scanner_around():
    """The s-bot's turret turns against its chassis; in the plane of the floor 0.6 of its height is the default."""
    sensors = (Scanner(beams=1, field=0.0, on="turret", z=0.06),)
    world = World(engine="spatial", things=(Arena(2.0, 2.0), Lamp(0.0, 0.0)), groups=(
        Group(SBot(), place=(At(0.4, 0.0, 0.0),), sensors=sensors, name="arm"),))
    sim = Simulation(world)
    assert scan(sim)[0] == pytest.approx(0.6, abs=1e-3)
    for _ in range(20):
        sim.step({"arm": Orders(np.zeros((1, 1, 2)), np.array([[[pi / 2, 0.0, 0.0]]]))})
    turned = sim.state.joint_position[0, 0, 0] + sim.state.heading[0, 0]
    assert abs(turned) > 3.0 and scan(sim)[0] == pytest.approx(1.4 / abs(cos(turned)), abs=0.01)


def test_poses_survive_the_writer():
    old = read_text('<world><arena width="2" depth="2"/><sbot><scanner on="turret" x="1cm" z="2cm" yaw="1"/></sbot></world>')
    assert read_text(to_text(old)) == old


def test_the_laboratory_draws_the_beams_where_they_are(world):
    """From the link's end to the wall, in the page's overlay."""
    from formiga.session.watch import rays
    from tests.session.workspace import Workspace

    workspace = Workspace(world('<scanner beams="1" field="0" reach="3" on="lower" x="20cm"/>', 0.5, -0.5))
    drawn = rays(workspace.session)
    start = (LONG * cos(0.5) + LONG, 0.0, HIGH + LONG * sin(0.5))
    assert_allclose(drawn.start, [start], atol=1e-9)
    assert_allclose(drawn.end, [(1.0, 0.0, start[2])], atol=1e-6)
