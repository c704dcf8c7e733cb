"""What is drawn over a scene, as arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from formiga.view import overlays
from formiga.view.frame import Rays
from formiga.view.mesh import rgb
from formiga.view.overlays import MOST_NAMES, NEAR_TO_FAR, NOTHING, SHIFT_SCALE
from formiga.view.robots import robot_meshes
from formiga.view.trails import Trails
from formiga.world.model import Group, World
from formiga.world.robots import SBot


def test_beams_go_from_orange_to_blue_and_are_pale_where_they_met_nothing():
    share = np.array([0.0, 1 / 3, 0.9999, 1.0])
    rays = Rays(np.zeros((4, 3)), np.ones((4, 3)), share)
    points, colours = overlays.beams(rays)
    assert points.shape == colours.shape == (4, 2, 3)
    assert (points[:, 0] == 0.0).all() and (points[:, 1] == 1.0).all()
    assert colours[0, 0] == pytest.approx(rgb(NEAR_TO_FAR[0]))
    assert colours[1, 0] == pytest.approx(rgb(NEAR_TO_FAR[1]), abs=1)
    assert colours[2, 0] == pytest.approx(rgb(NEAR_TO_FAR[-1]), abs=1)
    assert colours[3, 0] == pytest.approx(rgb(NOTHING))
    assert len(overlays.beams(None).points) == 0


def test_links_join_the_middles_of_robots(frame):
    height = overlays.heights(frame.world)
    points, _ = overlays.links(replace(frame, links=[(0, 4)]), height)
    assert points[0, 0] == pytest.approx((0.5, -0.5, 0.05)) and points[0, 1] == pytest.approx((-1.5, 1.0, 0.05))
    assert len(overlays.links(frame, height).points) == 0


def test_shifts_are_drawn_for_those_that_were_moved(frame):
    shifts = np.zeros((5, 2))
    shifts[3] = (0.001, -0.002)
    arrows = overlays.shifts(replace(frame, shifts=shifts), overlays.heights(frame.world))
    assert arrows.shape == (1, 2, 3)
    assert (arrows[0, 1] - arrows[0, 0]) == pytest.approx((SHIFT_SCALE * 0.001, -SHIFT_SCALE * 0.002, 0.0), abs=1e-6)
    assert arrows[0, 0, 2] > 0.1  # above the robot


def test_a_crowd_has_no_names_but_that_of_the_selected_one(still):
    few, many = (World(groups=(Group(SBot(), count),)) for count in (MOST_NAMES, MOST_NAMES + 1))
    assert len(overlays.names(still(few, np.zeros((MOST_NAMES, 2))))) == MOST_NAMES
    crowd = still(many, np.zeros((MOST_NAMES + 1, 2)))
    assert overlays.names(crowd) == {}
    assert overlays.names(replace(crowd, selected=7)) == {7: "7"}


def test_lights_turn_with_their_robot_and_dead_robots_have_none(still):
    world = World(groups=(Group(SBot(), 3),))
    leds = np.zeros((3, 8, 3), np.uint8)
    leds[:, 0] = (0, 255, 0)
    frame = still(world, np.array([(1.0, 2.0), (0.0, 0.0), (0.0, 0.0)]), [0.5, 0.0, 0.0], leds=leds,
                  alive=np.array([True, False, True]))
    points, colours, size = overlays.lights(frame)
    x, y, z = 1.06 * robot_meshes(SBot()).lights[0]
    c, s = np.cos(0.5), np.sin(0.5)
    assert points == pytest.approx(np.array([(1.0 + c * x - s * y, 2.0 + s * x + c * y, z), (x, y, z)]), abs=1e-6)
    assert colours.tolist() == [[0, 255, 0], [0, 255, 0]] and 0.0 < size < 0.05
    assert len(overlays.lights(replace(frame, leds=np.zeros((3, 0, 3), np.uint8)))[0]) == 0


def test_a_robot_has_the_colour_of_its_group(world):
    colours = overlays.colours(world)
    assert colours[:3].tolist() == [list(rgb("#d55e00"))] * 3 and colours[3:].tolist() == [list(rgb("#0072b2"))] * 2
    assert overlays.colours(World()).shape == (0, 3)


# -- trails -----------------------------------------------------------------------------------------------------------
def drive(trails: Trails, still, steps: int, robots: int = 2, speed: float = 0.02, first: int = 0):
    world = World(groups=(Group(SBot(), robots),))
    for step in range(first, first + steps):
        trails.add(still(world, np.full((robots, 2), speed * step), step=step))


def whole(trails: Trails) -> np.ndarray:
    return np.concatenate([trails.segments(piece) for piece in trails.numbers])


def test_a_trail_leads_to_the_robot_without_gaps(still):
    trails = Trails()
    drive(trails, still, 100, robots=1)
    segments = whole(trails)
    assert segments[0, 0, :2] == pytest.approx((0.0, 0.0)) and segments[-1, 1, :2] == pytest.approx((1.98, 1.98))
    assert segments[1:, 0] == pytest.approx(segments[:-1, 1])


def test_only_the_newest_piece_changes(still):
    trails = Trails()
    drive(trails, still, 60)
    before = {piece: trails.segments(piece) for piece in trails.numbers}
    drive(trails, still, 1, first=60)
    changed = [piece for piece in before if not np.array_equal(before[piece], trails.segments(piece))]
    assert set(changed) <= set(list(trails.numbers)[-2:])


def test_a_trail_forgets_its_beginning(still):
    trails = Trails()
    drive(trails, still, 1000)
    assert len(trails.pieces) == Trails.PIECES and trails.first > 0
    assert len(whole(trails)) <= 2 * Trails.PIECE * Trails.PIECES


def test_a_robot_that_hardly_moves_leaves_few_places(still):
    trails = Trails()
    drive(trails, still, 500, speed=1e-5)
    assert len(whole(trails)) <= 4
    assert whole(trails)[-1, 1, :2] == pytest.approx((499e-5, 499e-5))


def test_a_run_that_begins_again_has_another_trail(still):
    trails = Trails()
    drive(trails, still, 50)
    drive(trails, still, 3)
    assert len(whole(trails)) == 2 * 2
    drive(trails, still, 3, robots=5, first=10)
    assert len(whole(trails)) == 2 * 5


def test_a_step_that_is_shown_twice_is_taken_once(still):
    trails = Trails()
    drive(trails, still, 5)
    before = whole(trails)
    drive(trails, still, 1, first=4)
    assert np.array_equal(before, whole(trails))


def test_trails_of_a_crowd_are_shorter(still):
    trails = Trails()
    drive(trails, still, 200, robots=1000)
    assert len(whole(trails)) <= Trails.MOST
