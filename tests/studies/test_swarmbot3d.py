"""Study S3 as a whole: every row met or reported, written down as JSON and as a picture; and its own measures, checked.

Times are reported in the quick form, and never asserted here."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from formiga import lab
from formiga.control.sequence import Sequence
from formiga.engine.ground import terrain_heights
from formiga.loop import Simulation
from formiga.studies.swarmbot3d import chains, robot, scene, sensing, speed, swarm
from formiga.world.ground import Terrain
from tests.studies import pages

STUDY = "swarmbot3d"


def test_the_study_meets_all_its_numbers(result):
    _, code, study = result
    assert [(row["claim"], row["ours"]) for row in study["rows"] if row["verdict"] not in ("met", "reported")] == []
    assert code == 0 and study["study"] == "swarmbot3d" and study["runs"] == 2


def test_the_study_has_a_row_for_every_claim_of_the_digest(result):
    """Acceptance 1 to 10, and what the issue adds."""
    claims = " | ".join(row["claim"] for row in result[2]["rows"])
    for words in ("simplified, sliding: way", "simplified, on wheels: turn", "detailed: way", "light: two sources read as one",
                  "light behind a wall", "sound behind a wall", "ray (5 rays) and the nearest point in the cone",
                  "sampling and shadow",
                  "on terrain: rays", "5.1: 64 free robots, direct faster", "5.2: 25 connected robots, iterative faster",
                  "5.3: at 64 robots rays are the slowest", "5.4: 8 robots, sound faster", "avoidance, 2 seeds",
                  "with the sensors cut", "phototaxis, 1 seed", "one lamp off", "both off", "own script",
                  "runs with a connection within 120 s", "pulled with 5 N: holds", "it breaks", "gripped pair",
                  "traction, pulled",
                  "lifting 0.7 kg", "falls through", "as a share of that on flat ground", "XML and keys", "a wrong attribute",
                  "exported and imported", "console: exec, alias, bind", "pulling, 2 seeds of 20 s", "trough of 15 cm, 2 seeds",
                  "one alone falls in",
                  "evolved in the plane, 1 robot, 1 seed of 60 s, in space", "everything stays a number", "kinetic energy",
                  "a motion that explodes"):
        assert words in claims, words
    for row in result[2]["rows"]:
        assert {"claim", "published", "ours", "tolerance", "verdict"} <= row.keys()


def test_nothing_is_called_published_that_is_not_in_the_thesis(result):
    """It prints the sigmoid, which is a definition, and speeds, which are those of `formiga bench s3`."""
    assert [row for row in result[2]["rows"] if row["origin"] == "published"] == []
    (row,) = [row for row in result[2]["rows"] if row["origin"] == "definition"]
    assert row["where"].startswith("Tran-Dinh 2005") and row["verdict"] == "reported"


def test_the_result_that_the_gallery_shows_is_of_this_study(result):
    pages.check_kept("swarmbot3d", result[2]["rows"])


def test_the_manual_has_the_lifts_that_the_study_prints(result):
    pages.check_pages("swarmbot3d", result[2]["rows"])


def test_speeds_are_only_reported_in_the_quick_form(result):
    rows = [row for row in result[2]["rows"] if row["claim"].startswith("5.")]
    assert len(rows) == 12 and {row["verdict"] for row in rows} == {"reported"}


def test_the_figure_is_a_picture(result):
    picture = (result[0] / "out" / "swarmbot3d.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and picture[-8:-4] == b"IEND"
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 1200 and height > 900 and len(picture) > 50_000
    assert json.loads((result[0] / "out" / "swarmbot3d.json").read_text()) == result[2]


# -- its own measures ---------------------------------------------------------------------------------------------------------
def test_the_ground_under_a_robot_is_that_of_the_terrain(rng):
    terrain = Terrain(width=2.0, depth=1.0, amplitude=0.04, seed=3, x=0.5, y=-0.2)
    height = terrain_heights(terrain)
    rows, columns = height.shape
    i, j = rng.integers(0, rows - 1, 50), rng.integers(0, columns - 1, 50)
    corners = np.stack([0.5 - 1.0 + 2.0 * j / (columns - 1), -0.2 - 0.5 + 1.0 * i / (rows - 1)], axis=-1)
    np.testing.assert_allclose(swarm.ground_under(terrain, corners), height[i, j], atol=1e-9)
    half = corners + (1.0 / (columns - 1), 0.0)
    np.testing.assert_allclose(swarm.ground_under(terrain, half), 0.5 * (height[i, j] + height[i, j + 1]), atol=1e-9)


def test_a_robot_in_the_ground_is_noticed():
    world = lab.read_world("rough", robots=3)
    terrain = next(thing for thing in world.things if isinstance(thing, Terrain))
    simulation = Simulation(world)
    assert swarm.lowest(simulation, terrain) == pytest.approx(0.02, abs=0.008)
    simulation.state.bodies[0, simulation.model.chassis[1], 2] -= 0.1
    assert swarm.lowest(simulation, terrain) < -0.06


def test_clearance_is_the_gap_to_the_nearest_wall_post_or_robot():
    world = lab.read_world("avoid", robots=3)
    place = np.array([[0.0, 0.3], [0.0, 0.45], [0.7, -0.3]])
    r = world.groups[0].robot.radius
    np.testing.assert_allclose(swarm.clearance(world, place), [0.15 - 2 * r, 0.15 - 2 * r, 0.05 - r], atol=1e-12)


def test_with_its_sensors_cut_a_robot_drives_as_the_rule_does_without_readings():
    world = lab.read_world("avoidance3d", robots=1)
    blind = replace(world.groups[0].sensors[0], reach=1e-6)
    one = Simulation(replace(world, groups=(replace(world.groups[0], sensors=(blind,)),)))
    ahead = Sequence(moves=(2.0, scene.TOP, scene.TOP))
    other = Simulation(replace(world, groups=(replace(world.groups[0], controller=ahead),)))
    for simulation in (one, other):
        for _ in range(10):
            simulation.step()
    np.testing.assert_array_equal(one.state.bodies, other.state.bodies)


@pytest.mark.parametrize("team, held", [(1, True), (2, True), (3, False)])
def test_a_tug_of_war_pulls_with_the_friction_of_each_team(team, held):
    """One s-bot pulls with mu m g = 6.87 N, and a grip gives at 14.72 N."""
    holds, force, said = robot.tug_of_war(team)
    assert holds is held
    if held:
        assert force == pytest.approx(team * 0.7 * 9.81, rel=0.02) and not any("loses" in text for text in said)


def test_two_sensors_look_the_same_way_in_a_batch_as_alone():
    poses = np.array([[0.15, 0.0, 2.0], [0.0, -0.2, 1.0]])
    post = (sensing.Cylinder(x=0.0, y=0.0, radius=0.06, height=0.4),)
    both = sensing.looks("shadow", poses, post)
    np.testing.assert_array_equal(both[1], sensing.looks("shadow", poses[1:], post)[0])
    assert both.shape == (2, 15) and both.max() > 0.3


def test_without_its_grips_nobody_crosses_the_trough(monkeypatch):
    """So it is the chain that does it, and not the sizes."""
    monkeypatch.setattr(chains.lab, "read_world", _open_grips(lab.read_world))
    track, chain, force, _ = chains.cross((0, chains.GAP))
    assert force == 0.0 and (track[-1][chain, 0] < 0.15).all() and track[-1][0, 2] < -0.05


def _open_grips(read):
    def opened(*given, **parameters):
        world = read(*given, **parameters)
        return replace(world, groups=tuple(replace(group, controller=replace(group.controller, joints=None))
                                           for group in world.groups))
    return opened


def test_shapes_are_judged_when_the_runs_are_long():
    took = {(table, robots, name): 1.0 for table, rows in speed.CELLS.items() for robots, names in rows.items()
            for name in names}
    took |= {("5.1", 32, "direct"): 2.0, ("5.1", 64, "direct"): 3.0, ("5.2", 8, "direct"): 2.0, ("5.2", 25, "direct"): 9.0,
             ("5.3", 64, "ray"): 2.0, ("5.4", 8, "light"): 2.0, ("5.4", 64, "light"): 2.0}
    verdicts = {row.claim: row.verdict for row in speed.shapes(took, full=True)}
    assert verdicts["5.1: time grows with the robots (16, 32, 64; direct)"] == "met"
    assert verdicts["5.1: 64 free robots, direct faster than iterative"] == "missed"
    assert verdicts["5.2: 25 connected robots, iterative faster than direct"] == "met"
    assert verdicts["5.3: at 64 robots rays are the slowest, before sampling and shadow"] == "met"
    assert {row.verdict for row in speed.shapes(took, full=False)} == {"reported"}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at children in /proc")
def test_ctrl_c_while_speeds_are_measured_ends_that_process_without_a_traceback_of_its_own():
    """A terminal sends SIGINT to a whole process group: to the study, and to what it has started."""
    code = "from formiga.studies.swarmbot3d import speed; speed.measure(True)"
    study = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stderr=subprocess.PIPE, text=True)
    children, found, deadline = Path(f"/proc/{study.pid}/task/{study.pid}/children"), [], time.monotonic() + 60
    while not found and time.monotonic() < deadline:
        time.sleep(0.02)
        with suppress(FileNotFoundError):  # of a child that has just ended
            found = [pid for pid in children.read_text().split() if "libmujoco" in Path(f"/proc/{pid}/maps").read_text()]
    groups = [os.getpgid(int(pid)) for pid in found]
    os.killpg(study.pid, signal.SIGINT)
    assert study.communicate(timeout=60)[1].count("Traceback") == 1
    assert groups and study.pid not in groups  # SIGINT is for the study alone, which ends them
    assert not any(Path(f"/proc/{pid}").exists() for pid in found)


def test_the_scene_s_distance_is_within_a_gripper_s_reach():
    body = scene.SBot()
    assert 2 * body.radius < scene.APART < 2 * body.radius + body.grip_reach
