"""The laboratory in three dimensions: outputs by console and keys, what happened, solvers, edits while it runs."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import formiga
from formiga.errors import FormigaError
from formiga.session import headless
from formiga.session.headless import run_script
from formiga.world.reader import read_text
from tests.session.test_running import Clock, turn
from tests.session.workspace import Workspace

# Two s-bots nose to tail: the first can grip the second. A third stands away, and a box and a puck lie about.
PAIR = """<world name="pair" engine="spatial" dt="0.1" seconds="5">
  <arena width="3" depth="2"/>
  <lamp x="1" y="0.5"/>
  <solid name="crate" size="10cm 10cm 10cm" x="0.6" y="0.5" mass="0.3"/>
  <puck name="puck" x="-0.5" y="0.5" radius="5cm"/>
  <trigger name="gate" x="-1" y="0" width="20cm" depth="20cm"/>
  <sbot name="s"><at x="0" y="0" heading="0"/><at x="0.135" y="0" heading="0"/><at x="-0.8" y="0" heading="180deg"/></sbot>
  <bind key="g" run="out s.0.grip 1"/>
  <bind key="h" run="out s.0.grip 0"/>
</world>"""


@pytest.fixture(scope="module")
def pair():
    return read_text(PAIR)


@pytest.fixture
def workspace(pair):
    return Workspace(pair)


def grips(workspace):
    return workspace.session.sim.state.grips[0, :, :2].tolist()


# -- outputs ------------------------------------------------------------------------------------------------------------
def test_a_key_of_the_world_closes_a_gripper_and_another_opens_it_without_any_python(workspace):
    workspace.session.console.press("g")
    workspace.steps(1)
    assert grips(workspace)[0] == [1.0, 1.0] and "s.0 grips s.1" in workspace.said[-1][1]
    workspace.session.console.press("h")
    workspace.steps(1)
    assert grips(workspace)[0] == [0.0, 0.0]


def test_out_drives_wheels_by_name_and_both_go_together(workspace):
    workspace.run("out s.2.wheel_l 1; out s.2.wheel_r 0.5")
    assert workspace.session.manual.drives == {2: (1.0, 0.5)}
    workspace.run("out s.2.wheel_l off")
    assert not workspace.session.manual.drives


def test_out_without_a_name_tells_the_selected_robot(workspace):
    assert "no robot is selected; click one, or name it, such as s.0.grip" in workspace.refused("out grip 1")
    workspace.run("select s.2; out turret 0.5")
    workspace.steps(10)
    assert workspace.session.manual.joints == {(2, "turret"): 0.5}
    assert float(workspace.run("get s.2.turret_at")) == pytest.approx(0.5, abs=0.05)


def test_out_tells_a_whole_group(workspace):
    workspace.run("out s.grip 1")
    assert sorted(workspace.session.manual.joints) == [(0, "grip"), (1, "grip"), (2, "grip")]


def test_the_only_robot_of_a_world_needs_no_name():
    workspace = Workspace(read_text('<world engine="spatial"><sbot><at x="0" y="0" heading="0"/></sbot></world>'))
    workspace.run("out arm 0; out wheel_r 1")
    assert workspace.session.manual.drives == {0: (0.0, 1.0)} and workspace.session.manual.joints == {(0, "arm"): 0.0}


@pytest.mark.parametrize(("text", "message"), [
    ("out s.0.gripp 1", "s.0 has no wheel, joint, light or sound 'gripp'. Did you mean 'grip'? It has: wheel_l, wheel_r, "
                        "turret, arm, grip, red, green, blue, red_1 to blue_8."),
    ("out s.0.wheel_l 2", "VALUE 2 is out of range; it must be from -1 to 1."),
    ("out s.0.grip much", "VALUE 'much' is not a number."),
    ("out s.0.grip nan", "VALUE 'nan' is not a number."),
    ("out crate.grip 1", "'crate' is not one robot"),
    ("out s.9.grip 1", "there is no robot 's.9'"),
    ("out s.0.grip", "it needs 2 arguments"),
])
def test_what_cannot_be_told_is_said(workspace, text, message):
    assert message in workspace.refused(text)


def test_in_the_plane_a_robot_has_wheels_and_leds_and_no_joint_to_be_told():
    workspace = Workspace(read_text('<world><sbot><at x="0" y="0" heading="0"/></sbot></world>'))
    refused = workspace.refused("out grip 1")
    assert "sound 'grip'. It has: wheel_l, wheel_r, red, green, blue, red_1 to blue_8 (in the plane; " in refused
    workspace.run("out wheel_l 1")
    workspace.steps(1)
    assert workspace.session.sim.state.drive[0, 0].tolist() == [pytest.approx(0.08), 0.0]


def test_off_gives_an_output_back_and_it_stays_as_it_was_told_last(workspace):
    workspace.run("out s.0.grip 1")
    workspace.steps(1)
    workspace.run("out s.0.grip off")
    workspace.steps(1)
    assert not workspace.session.manual.joints and grips(workspace)[0] == [1.0, 1.0]


def test_a_gripper_that_was_torn_open_is_not_closed_again_by_what_it_was_told_before(workspace):
    workspace.run("set s.grip_force 0.05")
    workspace.run("out s.0.grip 1; drive s.1 1 1")
    workspace.steps(5)
    assert grips(workspace)[0] == [0.0, 0.0]
    assert workspace.session.sim.log.counts["lost"] == 1


def test_outputs_are_offered_while_somebody_types(workspace):
    offered = workspace.session.console.commands["out"].complete
    assert {"grip", "wheel_l", "s.grip"} <= set(offered(["g"])) and "s.0.grip" in set(offered(["s.0.g"]))
    assert list(offered(["grip", ""])) == ["off"]


def test_info_tells_how_a_robot_stands_what_its_joints_do_and_what_it_holds(workspace):
    workspace.run("out s.0.grip 1; drive s.0 1 1")
    workspace.steps(3)
    words = workspace.run("info s.0")
    for name in ("z", "tilt", "pull", "turret", "turret_at", "turret_force", "grip"):
        assert f"\ns.0.{name}  " in words, name
    assert "s.0.holds  s.1" in words and workspace.run("get s.1.held_by") == "s.0"
    assert workspace.run("get s.1.holds") == "nothing"
    assert float(workspace.run("get s.0.grip_force")) > 0.0


# -- what happened --------------------------------------------------------------------------------------------------------
def test_what_happens_is_said_and_listed(workspace):
    assert workspace.run("events") == "nothing has happened yet."
    workspace.said.clear()
    workspace.run("out s.0.grip 1; drive s.2 1 1")
    workspace.steps(25)
    said = [text for _, text in workspace.said]
    assert any("s.0 grips s.1" in text for text in said) and any("s.2 comes into 'gate'" in text for text in said)
    words = workspace.run("events")
    assert "s.0 grips s.1" in words and words.splitlines()[-1] == "in all: 1 grip, 1 came into a zone"
    assert len(workspace.run("events 1").splitlines()) == 2


def test_only_a_few_events_are_said_in_a_second(workspace):
    for step in range(9):
        workspace.run(f"out s.0.grip {1 - step % 2}")
        workspace.session.step()
    assert workspace.session.sim.log.counts["grip"] + workspace.session.sim.log.counts["release"] == 9
    workspace.said.clear()
    workspace.run("out s.0.grip 0")
    workspace.session.step()
    assert [text for _, text in workspace.said if "lets go" in text]  # another second has begun


def exploding(workspace):
    """Make the next step of a workspace's world explode: no motion is that fast."""
    sim = workspace.session.sim
    model, data = sim.model.mj, sim.state.scratch.data
    everything = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_setState(model, data, sim.state.own.integration[0], everything)
    data.qvel[model.body_dofadr[model.body_rootid[model.body("r1/chassis").id]]] = 1e9
    mujoco.mj_getState(model, data, sim.state.own.integration[0], everything)


def test_a_motion_that_explodes_pauses_says_where_and_ends_the_world(workspace):
    workspace.session.play()
    workspace.steps(3)
    exploding(workspace)
    workspace.said.clear()
    workspace.session.step()
    kind, text = workspace.said[-1]
    assert kind == "error" and "exploded at 0.3 s" in text and "at the chassis of s." in text and text.endswith("Paused.")
    assert workspace.session.failed and not workspace.session.playing
    workspace.session.step()
    assert "the world ended at 0.3 s: the motion exploded" in workspace.said[-1][1]
    workspace.run("reset")
    workspace.steps(2)


def test_a_script_whose_world_explodes_ends_with_its_run_and_keeps_its_recording(pair, tmp_path, monkeypatch):
    script = tmp_path / "s.fsh"
    script.write_text("wait 0.4; echo now")

    class Bad(headless.Session):
        def step(self):
            if self.sim.state.step[0] == 5:
                exploding(type("D", (), {"session": self}))
            super().step()

    monkeypatch.setattr(headless, "Session", Bad)
    (tmp_path / "out").mkdir()
    run, finished = run_script(pair, script, 2.0, out=tmp_path / "out")
    assert finished and run.seconds == pytest.approx(0.5) and len(run.log.exploded) == 1
    recording = formiga.read_recording(tmp_path / "out" / "run.parquet")
    assert recording.ending == "failed" and recording.steps[-1] >= 5


# -- solvers, engines ---------------------------------------------------------------------------------------------------------
def test_the_solver_can_be_chosen_while_it_runs(workspace):
    assert workspace.run("solver") == "auto"
    workspace.steps(2)
    before = workspace.session.sim.state.position.copy()
    workspace.run("solver iterative")
    assert workspace.run("solver") == "iterative" and workspace.run("get physics.solver") == "iterative"
    assert np.array_equal(before, workspace.session.sim.state.position)
    workspace.steps(2)
    assert "Allowed: auto, direct, iterative" in workspace.refused("solver quick")


def test_the_plane_has_no_solver():
    workspace = Workspace("line")
    assert "the planar engine solves no forces" in workspace.refused("solver direct")


def test_a_planar_world_can_be_opened_in_space_and_taken_there_while_it_runs():
    assert Workspace("line", engine="spatial").session.sim.model.poses
    workspace = Workspace("line")
    workspace.steps(5)
    where = workspace.session.poses()[0]
    workspace.run("set world.engine spatial")
    assert workspace.session.sim.model.poses and np.allclose(workspace.session.poses()[0], where, atol=1e-9)
    workspace.steps(5)
    workspace.run("set world.engine planar")
    workspace.steps(2)


def test_there_is_no_third_engine():
    with pytest.raises(FormigaError, match="there is no engine 'cubic'"):
        Workspace("line", engine="cubic")


# -- edits ------------------------------------------------------------------------------------------------------------------
def busy(workspace):
    """Grip, turn a turret, drive, push: so that there is something to go on."""
    workspace.run("out s.0.grip 1; drive s.0 1 0.7; drive s.1 0.4 0.9; drive s.2 0.5 1; out s.2.turret 0.8")
    workspace.steps(12)


def same_motion(one, other, leave=()):
    for name, values in one.sim.state.arrays().items():
        assert name in leave or np.array_equal(values, other.sim.state.arrays()[name]), name


@pytest.mark.parametrize("edit", ["set lamp.intensity 0.5", "toggle lamp", "set crate.colour '#000000'",
                                  "set puck.colour '#000000'"])
def test_an_edit_of_something_else_changes_no_bit_of_the_motion(pair, edit):
    plain, workspace = Workspace(pair), Workspace(pair)
    busy(plain)
    busy(workspace)
    workspace.run(edit)
    plain.steps(15)
    workspace.steps(15)
    same_motion(plain.session, workspace.session)
    assert grips(workspace)[0] == [1.0, 1.0]


@pytest.mark.parametrize("edit", ["spawn sbot 1 -0.7", "spawn lamp 1 1 name=sun", "spawn solid 1 -0.7 'size=0.1 0.1 0.1'",
                                  "spawn cylinder 1.2 -0.8 radius=0.05", "spawn puck 1 -0.5 radius=0.05", "remove puck",
                                  "remove crate", "remove s.2", "move s.2 -0.9 -0.5 1", "move puck -0.7 0.7",
                                  "move crate 0.8 0.6"])
def test_robots_that_an_edit_does_not_touch_go_on_where_they_were(pair, edit):
    """Those that hold each other, to numbers that the solver leaves: other bodies make other equations."""
    plain, workspace = Workspace(pair), Workspace(pair)
    busy(plain)
    busy(workspace)
    workspace.run(edit)
    ours, theirs = workspace.session.sim.state, plain.session.sim.state
    for name in ("position", "heading", "velocity", "joint_position", "joint_command"):
        assert np.array_equal(getattr(ours, name)[0, :2], getattr(theirs, name)[0, :2]), name
    assert np.array_equal(ours.grips[0, 0], theirs.grips[0, 0])
    plain.steps(10)
    workspace.steps(10)
    assert grips(workspace)[0] == [1.0, 1.0]
    assert np.allclose(workspace.session.sim.state.position[0, :2], plain.session.sim.state.position[0, :2], atol=1e-4)
    assert np.allclose(workspace.session.sim.state.pull[0, :2], plain.session.sim.state.pull[0, :2], atol=0.1)


def test_a_robot_that_goes_takes_what_it_held_out_of_its_grip_and_numbers_follow(workspace):
    workspace.run("spawn s 0.6 -0.5")
    workspace.run("out s.0.grip 1; out s.3.turret 0.3")
    workspace.steps(2)
    workspace.run("remove s.2")
    assert grips(workspace)[0] == [1.0, 1.0] and workspace.session.manual.joints == {(0, "grip"): 1.0, (2, "turret"): 0.3}
    workspace.run("remove s.1")
    assert grips(workspace)[0] == [0.0, 0.0]
    workspace.steps(2)


def test_who_is_moved_stands_there_at_rest_and_holds_nothing(workspace):
    busy(workspace)
    workspace.run("out s.0.grip off; drive s.0 off; move s.0 -0.2 -0.6 90deg")
    state = workspace.session.sim.state
    assert np.allclose(state.position[0, 0], (-0.2, -0.6), atol=1e-4) and state.heading[0, 0] == pytest.approx(np.pi / 2)
    assert grips(workspace)[0] == [0.0, 0.0]
    workspace.run("undo")
    assert grips(workspace)[0] == [1.0, 1.0]
    workspace.steps(3)


def test_a_loose_thing_that_is_moved_lies_there_and_goes_on_from_there(workspace):
    workspace.run("move puck 0.3 -0.5")
    workspace.steps(3)
    assert np.allclose(workspace.session.sim.state.movables[0, 0, :2], (0.3, -0.5), atol=1e-3)
    workspace.session.changes.drag("thing", 3, 0.1, -0.4, True)
    workspace.steps(1)
    assert np.allclose(workspace.session.sim.state.movables[0, 0, :2], (0.1, -0.4), atol=1e-3)


def test_a_robot_that_is_switched_off_stands_and_goes_on_when_it_is_switched_on(workspace):
    workspace.run("drive s.2 1 1")
    workspace.steps(5)
    workspace.run("disable s.2")
    workspace.steps(3)
    there = workspace.session.poses()[0][2]
    workspace.steps(5)
    assert np.allclose(workspace.session.poses()[0][2], there, atol=1e-4)
    workspace.run("enable s.2")
    workspace.steps(5)
    assert np.linalg.norm(workspace.session.poses()[0][2] - there) > 0.02


def test_undo_goes_back_to_the_last_bit(workspace):
    busy(workspace)
    before = {name: values.copy() for name, values in workspace.session.sim.state.arrays().items()}
    workspace.run("spawn s 1 -0.7")
    workspace.steps(5)
    workspace.run("undo")
    for name, values in workspace.session.sim.state.arrays().items():
        assert np.array_equal(values, before[name]), name


def test_reset_gives_the_run_of_the_seed_again(workspace):
    plain = Workspace(workspace.session.world)
    busy(workspace)
    workspace.run("reset")
    assert not workspace.session.manual.joints and not workspace.session.sim.log.counts
    same_motion(plain.session, workspace.session)


# -- files --------------------------------------------------------------------------------------------------------------------
def test_a_saved_world_begins_where_this_one_is_and_runs_the_same_from_either_side(workspace, folder):
    busy(workspace)
    workspace.run("move crate 0.9 0.2")
    workspace.steps(3)
    workspace.run("save later.xml")
    later = formiga.read_world("later.xml")
    begun, left = formiga.Simulation(later).state, workspace.session.sim.state
    assert later.engine == "spatial" and np.allclose(begun.position, left.position, atol=2e-3)
    crate = next(thing for thing in later.things if getattr(thing, "name", "") == "crate")
    assert crate.z == pytest.approx(0.05, abs=2e-3)
    formiga.write_world(later, "again.xml")
    one, other = (Workspace(formiga.read_world(file)) for file in ("later.xml", "again.xml"))
    for each in (one, other):
        each.run("drive s.0 1 0.5; out s.1.turret 1; drive s.1 0.2 1")
        each.steps(30)
    same_motion(one.session, other.session)


JOINED = """<world engine="spatial">
  <solid name="post" size="4cm 4cm 20cm" fixed="true" x="0" y="0"/>
  <solid name="door" size="20cm 2cm 10cm" x="0.13" y="0" z="0.1" mass="0.2"/>
  <joint name="hinge" kind="hinge" one="post" other="door" x="0.03" y="0" z="0.1" axis="0 0 1" lower="-2" upper="2" motor="1"/>
  <solid name="a" size="10cm 10cm 10cm" x="1" y="0"/>
  <solid name="b" size="10cm 10cm 10cm" x="1.1" y="0"/>
  <joint name="glue" kind="fixed" one="a" other="b" x="1.05" y="0" z="0.05" break_force="500"/>
</world>"""


def test_joints_go_on_after_an_edit_and_in_a_saved_world(folder):
    plain, workspace = Workspace(read_text(JOINED)), Workspace(read_text(JOINED))
    for each in (plain, workspace):
        each.steps(8)
    workspace.run("spawn lamp 0 3")
    plain.steps(5)
    workspace.steps(5)
    same_motion(plain.session, workspace.session)
    workspace.run("save now.xml")
    later = Workspace(formiga.read_world("now.xml"))
    assert np.allclose(later.session.sim.state.bodies, workspace.session.sim.state.bodies, atol=1e-5)
    door = next(thing for thing in later.session.world.things if thing.name == "hinge")
    assert door.start > 0.5 and (door.lower, door.upper) == (-2.0, 2.0)  # it has turned; its limits stay where they were
    later.steps(3)


# -- recordings -----------------------------------------------------------------------------------------------------------
def test_nobody_is_told_anything_in_a_recording(pair, folder):
    workspace = Workspace(pair)
    workspace.run("record run.parquet")
    workspace.steps(3)
    workspace.run("record off")
    replay = Workspace("run.parquet")
    assert "robots in a recording cannot be driven" in replay.refused("out s.0.grip 1")
    assert "tilt" in replay.run("info s.0") and replay.run("events") == "a recording keeps no events."
    with pytest.raises(FormigaError, match="has the engine that it was recorded with"):
        Workspace("run.parquet", engine="planar")


@pytest.mark.parametrize("recorded", [False, True])
def test_slow_motion_in_space_shows_all_bodies_on_the_way_between_two_steps(pair, folder, recorded):
    workspace = Workspace(pair)
    if recorded:
        workspace.run("record run.parquet; drive s.2 1 1")
        workspace.steps(3)
        workspace.run("record off")
        workspace = Workspace("run.parquet")
    session = workspace.session
    session.pace.clock = clock = Clock()
    workspace.run("speed 0.1; play" if recorded else "drive s.2 1 1; speed 0.1; play")
    before = session.frame(exact=True)
    clock.now += 1.001
    turn(session)
    assert session.sim.state.step[0] == 1
    after = session.frame(exact=True)
    clock.now += 0.5
    half = session.frame()
    assert half.parts == after.parts and not np.allclose(before.bodies, after.bodies)
    np.testing.assert_allclose(half.bodies[:, :3], 0.5 * (before.bodies + after.bodies)[:, :3], atol=1e-3)
    chassis = next(row for row, part in enumerate(half.parts) if (part.robot, part.name) == (2, "chassis"))
    np.testing.assert_allclose(half.place[2], half.bodies[chassis, :3])
    np.testing.assert_allclose(np.linalg.norm(half.turn, axis=1), 1.0)
