"""Robots from a user's own file, in MJCF and in URDF, with formiga's sensors, controllers and keys."""

from pathlib import Path

import numpy as np
import pytest

import formiga
from formiga import lab
from formiga.control import Orders
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.contract import joint_names
from tests.session.workspace import Workspace

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
ROVER = 'left="left" right="right" wheel_radius="3cm" wheel_base="12cm" radius="9cm" lift="3cm"'
SMOOTH = {"rover.xml": "", "rover.urdf": 'smooth="front back"'}


@pytest.fixture
def world(tmp_path):
    """world(file, attributes, inside, page) -> the world in a file with one such machine; it is on line 3."""

    def write(file, attributes=ROVER, inside='<at x="0" y="0" heading="0"/>', page=""):
        path = tmp_path / "mine.xml"
        path.write_text(f'<world name="mine" engine="spatial">\n<arena width="4" depth="4"/>\n'
                        f'<machine name="rover" file="{file}" {attributes}>{inside}</machine>{page}\n</world>')
        return formiga.read_world(path)

    return write


@pytest.fixture
def robot(tmp_path):
    """robot(text) -> the path of a file of somebody's."""

    def write(text, name="robot.xml"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def drive(simulation, left, right, steps):
    for _ in range(steps):
        simulation.step({"rover": np.full((1, 1, 2), (left, right))})
    return simulation.state


# -- it drives ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("file", SMOOTH)
def test_it_drives_straight_as_far_as_its_wheels_turn_and_turns_if_they_differ(world, file):
    simulation = Simulation(world(ROBOTS / file, f"{ROVER} {SMOOTH[file]}"))
    state = drive(simulation, 0.1, 0.1, 20)
    assert state.position[0, 0] == pytest.approx((0.2, 0.0), abs=0.005) and abs(state.heading[0, 0]) < 0.01
    assert state.bodies[0, 0, 2] == pytest.approx(0.03, abs=1e-3)
    state = drive(simulation, -0.05, 0.05, 10)
    assert 0.6 < state.heading[0, 0] < 1.1  # 0.83 rad if nothing slips


@pytest.mark.parametrize("file", SMOOTH)
def test_it_carries_sensors_and_a_controller_of_ours(world, file):
    inside = '<at x="1.7" y="0" heading="0.3"/><proximity mount="9cm" reach="30cm"/><odometry/><braitenberg/>'
    simulation = Simulation(world(ROBOTS / file, f"{ROVER} {SMOOTH[file]}", inside))
    before, headings = simulation.readings["rover"]["proximity"].copy(), []
    for _ in range(100):
        simulation.step()
        headings.append(float(simulation.state.heading[0, 0]))
        assert np.isfinite(simulation.state.own.integration).all()
    assert before.any() and np.abs(simulation.state.position).max() < 2.0
    assert simulation.readings["rover"]["odometry"].any() and np.ptp(headings) > 0.5


def test_motors_besides_the_wheels_are_joints_by_their_names(world):
    simulation = Simulation(world(ROBOTS / "rover.xml"))
    assert joint_names(simulation.world.groups[0].robot) == ("mast",)
    for _ in range(10):
        simulation.step({"rover": Orders(joints=[[[1.0]]])})
    assert simulation.state.joint_position[0, 0, 0] == pytest.approx(1.0, abs=0.1)


def test_a_machine_without_wheels_has_joints_only(world):
    workspace = Workspace(world(ROBOTS / "rover.xml", 'lift="3cm"'))
    assert "It has: left, right, mast." in workspace.refused("out wheel_l 1")
    assert "rover.0 has no drive; `out` orders its joints" in workspace.refused("drive 0 1 1")
    workspace.run("out left 5; out right 5")
    workspace.steps(10)
    assert workspace.session.sim.state.position[0, 0, 0] > 0.1


def test_keys_drive_it_without_any_python(world):
    workspace = Workspace(world(ROBOTS / "rover.xml", page="""<bind key="Up" run="+ahead"/>
        <alias name="+ahead" run="out wheel_l 0.5; out wheel_r 0.5"/><alias name="-ahead" run="drive rover 0 0"/>
        <bind key="m" run="out mast 2"/>"""))
    workspace.session.console.press("Up")
    workspace.session.console.press("m")
    workspace.steps(10)
    workspace.session.console.release("Up")
    state = workspace.session.sim.state
    assert state.position[0, 0, 0] == pytest.approx(0.15, abs=0.02) and state.joint_position[0, 0, 0] > 1.0
    workspace.steps(5)
    assert abs(state.velocity[0, 0, 0]) < 0.01


def test_the_example_is_driven_by_its_keys():
    workspace = Workspace(str(ROBOTS.parent / "06_rover.xml"))
    workspace.session.console.press("ArrowUp")
    workspace.session.console.press("m")
    workspace.steps(10)
    workspace.session.console.release("ArrowUp")
    assert workspace.session.sim.state.position[0, 0, 0] > 0.2 and workspace.session.sim.state.joint_position[0, 0, 0] > 0.8
    workspace.session.console.press("ArrowLeft")
    workspace.steps(10)
    assert workspace.session.sim.state.heading[0, 0] > 0.5


def test_several_of_them_are_in_one_world_and_bump_into_each_other(world):
    places = '<at x="0" y="0" heading="0"/><at x="0.25" y="0" heading="180deg"/>'
    simulation = Simulation(world(ROBOTS / "rover.xml", inside=places))
    for _ in range(30):
        simulation.step({"rover": np.full((1, 2, 2), 0.1)})
    gap = np.linalg.norm(simulation.state.position[0, 1] - simulation.state.position[0, 0])
    assert simulation.state.crashes.all() and gap > 0.14


def test_it_is_edited_saved_and_read_again_like_any_other(world, tmp_path):
    workspace, plain = Workspace(world(ROBOTS / "rover.xml")), Workspace(world(ROBOTS / "rover.xml"))
    for each in (workspace, plain):
        each.run("drive rover 1 0.5; out rover.mast 1")
        each.steps(10)
    workspace.run("spawn lamp 1 1")
    for each in (workspace, plain):
        each.steps(10)
    assert np.array_equal(workspace.session.sim.state.own.integration, plain.session.sim.state.own.integration)
    workspace.run(f"save {tmp_path / 'later.xml'}")
    later = Simulation(formiga.read_world(tmp_path / "later.xml"))
    assert np.allclose(later.state.position, workspace.session.sim.state.position, atol=1e-3)


# -- it does not --------------------------------------------------------------------------------------------------------------
BODY = '<body name="b"><geom size="0.1"/></body>'
OTHER = '<body name="c"><geom size="0.1"/></body>'
WRONG = {
    "broken": ('<mujoco><worldbody><body></worldbody></mujoco>', "", "cannot be used as a robot (it is no XML"),
    "no_body": ('<mujoco><worldbody><geom size="1"/></worldbody></mujoco>', "",
                "it has no bodies at the top, and a robot has one"),
    "two_bodies": (f"<mujoco><worldbody>{BODY}{OTHER}</worldbody></mujoco>", "",
                   "it has 2 bodies at the top, and a robot has one"),
    "unknown_motor": (f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", 'left="a" right="b"',
                      "there is no motor 'a' in 'robot.xml'; it has: none."),
    "not_a_robot": ("import os; os.remove('everything')", "", "cannot be used as a robot ("),
    "empty": ("", "", "cannot be used as a robot ("),
    "unknown_element": (f"<mujoco><worldbody>{BODY}</worldbody><wings/></mujoco>", "", "wings"),
    "no_mass": ('<mujoco><worldbody><body name="b"><geom size="0.1" mass="0"/></body></worldbody></mujoco>', "", "mass"),
    "plugin": (f'<mujoco><extension><plugin plugin="evil.so"/></extension><worldbody>{BODY}</worldbody></mujoco>', "",
               "evil.so"),
    "smooth": (f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", 'smooth="caster"', "it has no body 'caster' to be smooth"),
    "no_mesh": ('<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body><geom type="mesh" mesh="m"/></body>'
                "</worldbody></mujoco>", "", "m.stl"),
    "another_tree": ('<urdf><link name="a"/></urdf>', "", "cannot be used as a robot ("),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_is_no_robot_is_refused_in_one_line_with_that_of_the_world(world, robot, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    text, attributes, message = WRONG[case]
    with pytest.raises(WorldError) as refused:
        lab.check_world(world(robot(text), attributes))
    words = str(refused.value)
    assert message in words and "\n" not in words and "mine.xml:3: <machine>" in words, words
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.xml", "robot.xml"]  # and nobody writes a log


def test_a_file_that_is_not_there_is_refused_with_file_and_line(world, tmp_path):
    for file, message in (("nowhere.xml", "no file 'nowhere.xml'"), (".", "")):
        with pytest.raises(WorldError, match=r"mine\.xml:3: .*machine.*" + message):
            lab.check_world(world(file))


def test_one_wheel_is_not_enough(world):
    with pytest.raises(WorldError, match=r"mine\.xml:3: .*has both wheels, or none"):
        world(ROBOTS / "rover.xml", 'left="left"')


def test_in_the_plane_there_is_no_machine(world):
    with pytest.raises(WorldError, match=r"mine\.xml:3: <machine> needs three dimensions"):
        Simulation(world(ROBOTS / "rover.xml"), engine="planar")


@pytest.mark.parametrize("other", ["/etc/passwd", "../../secret.stl", "C:\\secret.stl"])
def test_a_file_that_names_others_outside_of_its_folder_is_refused(world, robot, other):
    spy = robot(f'''<mujoco><asset><mesh name="m" file="{other}"/></asset>
<worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>''')
    with pytest.raises(WorldError, match=r"mine.xml:3: .*robot.xml:1 names .* not in its own folder"):
        Simulation(world(spy, attributes=""))


# -- one that stays where it is -----------------------------------------------------------------------------------------
ARM = """<mujoco><worldbody><body name="base" pos="0.3 0.2 0.04" euler="0 0 90">{joint}
  <geom type="cylinder" size="0.05 0.04" mass="1"/>
  <body name="link" pos="0 0 0.05"><joint name="shoulder" axis="0 0 1"/>
    <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.01" mass="0.1"/></body></body></worldbody>
  <actuator><velocity name="shoulder" joint="shoulder" kv="1"/></actuator></mujoco>"""
TWO = '<at x="-1" y="0.5" heading="0.7"/><at x="0.8" y="-0.4" heading="-2"/>'


def test_two_fixed_arms_stand_where_the_world_puts_them_and_stay_there(world, robot):
    simulation = Simulation(world(robot(ARM.format(joint="")), 'fixed="true" lift="1cm"', TWO), worlds=2)
    model, state = simulation.model, simulation.state
    for _ in range(10):
        simulation.step({"rover": Orders(joints=np.full((2, 2, 1), 0.5))})
        for number, (x, y, heading) in enumerate([(-1.0, 0.5, 0.7), (0.8, -0.4, -2.0)]):
            pose = state.bodies[0, model.chassis[number]]  # upright, its origin 4 cm and 1 cm above the ground
            assert pose[:3] == pytest.approx((x, y, 0.05), abs=1e-12)
            assert pose[3:] == pytest.approx((np.cos(heading / 2), 0, 0, np.sin(heading / 2)), abs=1e-12)
            assert state.position[0, number] == pytest.approx((x, y), abs=1e-12)
            assert state.heading[0, number] == pytest.approx(heading, abs=1e-12)
    data = simulation.state.scratch.data  # and so it is in MuJoCo's own model
    for number, x in enumerate((-1.0, 0.8)):
        assert data.body(f"r{number}/base").xpos[0] == pytest.approx(x, abs=1e-12)
    assert (state.joint_position[:, :, 0] > 0.4).all()  # their joints move: 1 s at 0.5 rad/s
    assert np.array_equal(state.bodies[0], state.bodies[1])


def test_fixed_arms_are_scattered_placed_by_hand_and_outlast_an_edit(world, robot):
    scattered = world(robot(ARM.format(joint='<freejoint/>')), 'fixed="true" count="2"', "<scatter/>")
    lab_ = Simulation(scattered, seed=3, worlds=2)
    places = [lab_.state.bodies[w, lab_.model.chassis, :2] for w in range(2)]
    assert np.abs(places[0] - places[1]).min() > 1e-3  # each world has places of its own
    assert np.array_equal(places[1], lab_.state.position[1])
    one = Simulation(scattered, seed=3)
    one.step({"rover": Orders(joints=np.full((1, 2, 1), 0.5))})
    one.state.position[0, 1], one.state.heading[0, 1] = (1.2, -1.1), 0.4
    one.look_again()
    assert one.state.bodies[0, one.model.chassis[1], :2] == pytest.approx((1.2, -1.1), abs=1e-12)
    again = one.edited(scattered, one.state.position[0], one.state.heading[0], [0, 1])
    assert np.array_equal(again.state.own.integration, one.state.own.integration)


def test_a_fixed_machine_whose_first_body_has_a_joint_is_refused(world, robot):
    hinged = robot(ARM.format(joint='<joint name="yaw" axis="0 0 1"/>'))
    with pytest.raises(WorldError, match=r"mine.xml:3: .*it is fixed, and its first body 'base' has the joint 'yaw'"):
        Simulation(world(hinged, 'fixed="true"'))
