"""Frames: what is seen of a session, and what the overlays and the inspector show."""

import numpy as np
import pytest

from formiga.errors import FormigaError
from formiga.session.plots import quantity
from tests.session.workspace import Workspace


def test_a_frame_holds_the_state_and_keeps_it(workspace):
    workspace.steps(3)
    state, frame = workspace.session.sim.state, workspace.session.frame()
    assert np.array_equal(frame.place[:, :2], state.position[0]) and not frame.place[:, 2].any()
    assert np.allclose(2.0 * np.arctan2(frame.turn[:, 3], frame.turn[:, 0]) - state.heading[0], 0.0, atol=1e-9)
    assert (frame.step, frame.time, frame.world) == (3, workspace.session.time, workspace.session.world)
    kept = frame.place.copy()
    workspace.steps(5)
    assert np.array_equal(frame.place, kept)


def test_the_version_grows_only_when_something_has_to_be_drawn_again(workspace):
    version = [workspace.session.frame().version]
    for line, grows in (("step", 0), ("move car -1.2 -0.7", 0), ("disable swarm.0", 0), ("drive car 1 1", 0), ("reset", 0),
                        ("disable left", 1), ("spawn swarm", 1), ("undo", 1), ("load line", 1)):
        workspace.run(line)
        version.append(workspace.session.frame().version)
        assert version[-1] - version[-2] == grows, line


def test_nothing_is_computed_that_nobody_looks_at(workspace):
    frame = workspace.session.frame()
    assert frame.rays is None and frame.shifts is None and frame.links is None and "robot" not in frame.extra


def test_beams_end_where_the_sensors_see_something(workspace):
    workspace.run("overlay beams on; step 2")
    session = workspace.session
    rays = session.frame().rays
    assert rays.start.shape == rays.end.shape and len(rays.share) == 5 * 15  # swarm and car have a ring of 15
    length = np.linalg.norm(rays.end - rays.start, axis=1)
    reach = session.world.group("swarm").sensors[0].reach
    assert np.allclose(length, rays.share * reach) and (rays.share <= 1.0).all() and (rays.share < 1.0).any()


def test_links_are_between_robots_that_reach_each_other(workspace):
    workspace.run("overlay links on")
    session = workspace.session
    position, _ = session.poses()
    found = {tuple(sorted(pair)) for pair in session.frame().links.tolist()}
    reach, radius = np.zeros(7), np.zeros(7)
    for group, robots in zip(session.world.groups, session.world.slices, strict=True):
        radius[robots] = group.robot.radius
        reach[robots] = max([each.reach for each in group.sensors if np.isfinite(each.reach)], default=0.0)
    expected = {(a, b) for a in range(7) for b in range(a + 1, 7)
                if np.linalg.norm(position[a] - position[b]) - radius[a] - radius[b] <= max(reach[a], reach[b])}
    assert found == expected


def test_shifts_show_who_was_moved_by_a_contact():
    workspace = Workspace("packed")
    workspace.run("overlay shifts on; step")
    frame = workspace.session.frame()
    moved = np.linalg.norm(frame.shifts, axis=1) > 0.0
    assert moved.any() and not moved[~frame.crashed].any()


def test_the_inspector_tells_what_the_state_says(workspace):
    workspace.run("step 4; select rovers.1; drive rovers.1 1 1; step")
    robot, state = workspace.session.frame().extra["robot"], workspace.session.sim.state
    assert (robot["name"], robot["group"], robot["number"], robot["robot"]) == ("rovers.1", "rovers", 5, "disc")
    assert (robot["x"], robot["y"]) == tuple(state.position[0, 5]) and robot["heading"] == state.heading[0, 5]
    assert tuple(robot["channels"].values()) == tuple(state.drive[0, 5]) and robot["driven"]
    assert np.array_equal(robot["readings"]["odometry"], workspace.session.sim.readings["rovers"]["odometry"][0, 1])


@pytest.mark.parametrize("world", ["phototaxis", "aggregate"])
def test_the_inspector_shows_the_neurons_of_a_network(world):
    workspace = Workspace(world)
    workspace.run("select 0; step 3")
    layers = workspace.session.frame().extra["robot"]["layers"]
    assert layers and all(np.isfinite(values).all() for values in layers.values())


def test_the_summary_is_of_everybody(workspace):
    workspace.steps(3)
    summary, state = workspace.session.frame().extra["summary"], workspace.session.sim.state
    assert summary["crashed"] == state.crashed[0].mean()
    assert summary["speed"] == pytest.approx(np.abs(state.drive[0].mean(axis=-1)).mean())


def test_selecting_and_overlays_are_only_for_looking(workspace):
    workspace.run("select swarm.2; overlay beams; overlay trails; overlay beams")
    assert workspace.session.selected == 2 and workspace.session.overlays == {"trails"} and not workspace.session.touched
    workspace.run("overlay none; select none")
    assert workspace.session.selected == -1 and not workspace.session.overlays
    assert workspace.run("get selected") == "none"


def test_lists_name_what_there_is(workspace):
    assert workspace.run("list robots").splitlines()[0] == "swarm: 4 x sbot; sensors: proximity, light; controller: braitenberg"
    assert "right: lamp (off)" in workspace.run("list things") and "left: lamp\n" in workspace.run("list")
    assert "corral: " in workspace.run("list worlds") and "proximity: " in workspace.run("list sensors")
    assert "braitenberg: " in workspace.run("list controllers") and "sbot: " in workspace.run("list kinds")
    assert "Space: pause" in workspace.run("list binds") and workspace.run("list aliases") == "no aliases"
    assert workspace.run("list cameras") == "no page is open" and "beams: off" in workspace.run("list overlays")


def test_info_tells_everything_about_something(workspace):
    about = workspace.run("info")
    assert about.startswith("workspace: Something of everything\n7 robots, 10 things, planar engine, steps of 0.1 s")
    assert "left.intensity  0.25" in workspace.run("info left") and "swarm.count  4" in workspace.run("info swarm")
    assert "swarm.1.proximity  " in workspace.run("info swarm.1")
    assert "contact.model  reposition" in workspace.run("info contact")
    assert "swarm.controller.gain  " in workspace.run("info swarm.controller")
    assert "world.dt  0.1" in workspace.run("info world")


class Eyes:
    """Cameras that take down what they are told."""

    def __init__(self):
        self.told = []

    def cameras(self):
        return ["overview", "top"]

    def __getattr__(self, name):
        return lambda *what: self.told.append((name, *what)) or True


def test_cameras_are_told_what_somebody_wants_to_see(workspace):
    eyes = workspace.session.windows = Eyes()
    assert workspace.run("camera") == "overview, top" and workspace.session.console.complete("camera t") == ["top"]
    workspace.run("camera top; camera save mine; follow car first; select 2; follow; follow off; screenshot; export a.html")
    assert [call[:3] for call in eyes.told] == [
        ("camera", "top", None), ("save_camera", "mine", None), ("follow", 6, True), ("follow", 2, False),
        ("follow", None, False), ("screenshot", None, None), ("export", eyes.told[-1][1], None)]


@pytest.mark.parametrize("line, words", [("follow", "no robot is selected"), ("follow $selected first", "no robot is selected"),
                                         ("follow left", "is not one robot"),
                                         ("follow 0 above", "Allowed: behind, eyes, first."),
                                         ("follow off now", "at most 1"), ("camera a b", "at most 1"),
                                         ("camera save", "NAME is missing")])
def test_cameras_are_not_told_what_makes_no_sense(workspace, line, words):
    workspace.session.windows = Eyes()
    assert words in workspace.refused(line) and not workspace.session.windows.told


def test_a_sensor_that_fails_leaves_the_inspector_without_readings(workspace, monkeypatch):
    workspace.run("select 0")

    def broken(*_):
        raise FormigaError("no.")

    monkeypatch.setattr("formiga.sense.read_all", broken)
    workspace.session.sim.look_again()
    assert workspace.session.frame().extra["robot"]["readings"] == {}


@pytest.mark.parametrize("world, steps, robot", [("omni", 140, 0), ("quadruped", 100, 0)])
def test_speed_is_what_is_travelled_aside_and_on_legs_too(world, steps, robot):
    """The omni robot drives aside after 5.6 s; the one on legs has no drive."""
    workspace = Workspace(world)
    workspace.steps(steps)
    session = workspace.session
    start = session.sim.state.position[0, robot].copy()
    shown = []
    for _ in range(20):
        workspace.steps(1)
        shown.append(session.frame().extra["summary"]["speed"])
    travelled = np.linalg.norm(session.sim.state.position[0, robot] - start) / (20 * session.world.dt)
    assert travelled > 0.05 and np.mean(shown) == pytest.approx(travelled, rel=0.3)
    assert quantity(session, f"{session.world.groups[0].name}.speed")[0] == pytest.approx(shown[-1])
