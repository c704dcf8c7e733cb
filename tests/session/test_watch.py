"""Frames: what is seen of a session, and what the overlays and the inspector show."""

import numpy as np
import pytest

from formiga.errors import FormigaError
from tests.session.desk import Desk


def test_a_frame_holds_the_state_and_keeps_it(desk):
    desk.steps(3)
    state, frame = desk.session.sim.state, desk.session.frame()
    assert np.array_equal(frame.place[:, :2], state.position[0]) and not frame.place[:, 2].any()
    assert np.allclose(2.0 * np.arctan2(frame.turn[:, 3], frame.turn[:, 0]) - state.heading[0], 0.0, atol=1e-9)
    assert (frame.step, frame.time, frame.world) == (3, desk.session.time, desk.session.world)
    kept = frame.place.copy()
    desk.steps(5)
    assert np.array_equal(frame.place, kept)


def test_the_version_grows_only_when_something_has_to_be_drawn_again(desk):
    version = [desk.session.frame().version]
    for line, grows in (("step", 0), ("move car -1.2 -0.7", 0), ("disable swarm.0", 0), ("drive car 1 1", 0), ("reset", 0),
                        ("disable left", 1), ("spawn swarm", 1), ("undo", 1), ("load line", 1)):
        desk.run(line)
        version.append(desk.session.frame().version)
        assert version[-1] - version[-2] == grows, line


def test_nothing_is_computed_that_nobody_looks_at(desk):
    frame = desk.session.frame()
    assert frame.rays is None and frame.shifts is None and frame.links is None and "robot" not in frame.extra


def test_beams_end_where_the_sensors_see_something(desk):
    desk.run("overlay beams on; step 2")
    session = desk.session
    rays = session.frame().rays
    assert rays.start.shape == rays.end.shape and len(rays.share) == 5 * 15  # swarm and car have a ring of 15
    length = np.linalg.norm(rays.end - rays.start, axis=1)
    reach = session.world.group("swarm").sensors[0].reach
    assert np.allclose(length, rays.share * reach) and (rays.share <= 1.0).all() and (rays.share < 1.0).any()


def test_links_are_between_robots_that_reach_each_other(desk):
    desk.run("overlay links on")
    session = desk.session
    position, _ = session.poses()
    found = {tuple(sorted(pair)) for pair in session.frame().links.tolist()}
    reach, radius = np.zeros(7), np.zeros(7)
    for group, robots in zip(session.world.groups, session.world.slices, strict=True):
        radius[robots] = group.robot.radius
        reach[robots] = max([each.reach for each in group.sensors if hasattr(each, "reach")], default=0.0)
    expected = {(a, b) for a in range(7) for b in range(a + 1, 7)
                if np.linalg.norm(position[a] - position[b]) - radius[a] - radius[b] <= max(reach[a], reach[b])}
    assert found == expected


def test_shifts_show_who_was_moved_by_a_contact():
    desk = Desk("packed")
    desk.run("overlay shifts on; step")
    frame = desk.session.frame()
    moved = np.linalg.norm(frame.shifts, axis=1) > 0.0
    assert moved.any() and not moved[~frame.crashed].any()


def test_the_inspector_tells_what_the_state_says(desk):
    desk.run("step 4; select rovers.1; drive rovers.1 1 1; step")
    robot, state = desk.session.frame().extra["robot"], desk.session.sim.state
    assert (robot["name"], robot["group"], robot["number"], robot["robot"]) == ("rovers.1", "rovers", 5, "disc")
    assert (robot["x"], robot["y"]) == tuple(state.position[0, 5]) and robot["heading"] == state.heading[0, 5]
    assert (robot["left"], robot["right"]) == tuple(state.drive[0, 5]) and robot["driven"]
    assert np.array_equal(robot["readings"]["odometry"], desk.session.sim.readings["rovers"]["odometry"][0, 1])


@pytest.mark.parametrize("world", ["phototaxis", "aggregate"])
def test_the_inspector_shows_the_neurons_of_a_network(world):
    desk = Desk(world)
    desk.run("select 0; step 3")
    layers = desk.session.frame().extra["robot"]["layers"]
    assert layers and all(np.isfinite(values).all() for values in layers.values())


def test_the_summary_is_of_everybody(desk):
    desk.steps(3)
    summary, state = desk.session.frame().extra["summary"], desk.session.sim.state
    assert summary["crashed"] == state.crashed[0].mean()
    assert summary["speed"] == pytest.approx(np.abs(state.drive[0].mean(axis=-1)).mean())


def test_selecting_and_overlays_are_only_for_looking(desk):
    desk.run("select swarm.2; overlay beams; overlay trails; overlay beams")
    assert desk.session.selected == 2 and desk.session.overlays == {"trails"} and not desk.session.touched
    desk.run("overlay none; select none")
    assert desk.session.selected == -1 and not desk.session.overlays
    assert desk.run("get selected") == "none"


def test_lists_name_what_there_is(desk):
    assert desk.run("list robots").splitlines()[0] == "swarm: 4 x sbot; sensors: proximity, light; controller: braitenberg"
    assert "right: lamp (off)" in desk.run("list things") and "left: lamp\n" in desk.run("list")
    assert "corral: " in desk.run("list worlds") and "proximity: " in desk.run("list sensors")
    assert "braitenberg: " in desk.run("list controllers") and "sbot: " in desk.run("list kinds")
    assert "Space: pause" in desk.run("list binds") and desk.run("list aliases") == "no aliases"
    assert desk.run("list cameras") == "no page is open" and "beams: off" in desk.run("list overlays")


def test_info_tells_everything_about_something(desk):
    assert desk.run("info").startswith("desk: Something of everything\n7 robots, 10 things, planar engine, steps of 0.1 s")
    assert "left.intensity  0.25" in desk.run("info left") and "swarm.count  4" in desk.run("info swarm")
    assert "swarm.1.proximity  " in desk.run("info swarm.1") and "contact.model  reposition" in desk.run("info contact")
    assert "swarm.controller.gain  " in desk.run("info swarm.controller") and "world.dt  0.1" in desk.run("info world")


class Eyes:
    """Cameras that take down what they are told."""

    def __init__(self):
        self.told = []

    def cameras(self):
        return ["overview", "top"]

    def __getattr__(self, name):
        return lambda *what: self.told.append((name, *what)) or True


def test_cameras_are_told_what_somebody_wants_to_see(desk):
    eyes = desk.session.eyes = Eyes()
    assert desk.run("camera") == "overview, top" and desk.session.console.complete("camera t") == ["top"]
    desk.run("camera top; camera save mine; follow car first; select 2; follow; follow off; screenshot; export a.html")
    assert [call[:3] for call in eyes.told] == [
        ("camera", "top", None), ("save_camera", "mine", None), ("follow", 6, True), ("follow", 2, False),
        ("follow", None, False), ("screenshot", None, None), ("export", eyes.told[-1][1], None)]


@pytest.mark.parametrize("line, words", [("follow", "no robot is selected"), ("follow $selected first", "no robot is selected"),
                                         ("follow left", "is not one robot"),
                                         ("follow 0 above", "Allowed: behind, eyes, first."),
                                         ("follow off now", "at most 1"), ("camera a b", "at most 1"),
                                         ("camera save", "NAME is missing")])
def test_cameras_are_not_told_what_makes_no_sense(desk, line, words):
    desk.session.eyes = Eyes()
    assert words in desk.refused(line) and not desk.session.eyes.told


def test_a_sensor_that_fails_leaves_the_inspector_without_readings(desk, monkeypatch):
    desk.run("select 0")

    def broken(*_):
        raise FormigaError("no.")

    monkeypatch.setattr("formiga.sense.read_all", broken)
    desk.session.sim.look_again()
    assert desk.session.frame().extra["robot"]["readings"] == {}
