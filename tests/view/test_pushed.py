"""What can be pushed, the robots of soccer and their field: as bodies, as scenes, as pictures."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import pi
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from formiga.geometry import about_z, rotate
from formiga.units import CM
from formiga.view import bodies, overlays, pitch
from formiga.view.cameras import top
from formiga.view.frame import frame as frame_of
from formiga.view.frame import movables_poses
from formiga.view.mesh import block, rgb
from formiga.view.nodes import as_light
from formiga.view.overlays import PUSH
from formiga.view.picture import draw_movables, draw_robots, draw_world
from formiga.view.pointer import anchor
from formiga.view.robots import SPOTS, robot_meshes
from formiga.view.rolling import Rolling
from formiga.view.trails import LIFT, Trails
from formiga.world.looks.outlines import chamfered, circle, offset, rectangle
from formiga.world.model import Arena, Ball, Block, Contact, Field, Group, Puck, Rectangle, World
from formiga.world.placement import At
from formiga.world.robots import MiroSot
from tests.view.test_mesh import is_closed, volume

DENTED = (0.04, 0.04, -0.04, 0.04, -0.04, -0.04, 0.04, -0.04, 0.02, 0.0)
CUBES = [MiroSot(), MiroSot(profile="firasim", wheel_base=8.5 * CM), MiroSot(shape="circle"), MiroSot(points=DENTED),
         MiroSot(points=tuple(np.reshape(DENTED, (-1, 2))[::-1].ravel().tolist()))]
THINGS = (Field(), Ball(x=0.2, y=0.1), Rectangle(0.0, 0.5, 0.1, 0.1), Puck(-0.3, 0.2, 0.05),
          Puck(-0.3, -0.2, 0.05, name="other"), Block(0.4, -0.3, 0.5, 0.1, 0.06),
          Block(-0.5, 0.0, points=(0.06, 0.0, -0.03, 0.05, -0.03, -0.05), name="wedge"))


@pytest.fixture
def world() -> World:
    """Two teams of two, a ball, two pucks that are alike, a box and a wedge."""
    groups = (Group(MiroSot(colour="#1f6feb"), 2, "blue", (At(-0.6, 0.0), At(-0.2, 0.3))),
              Group(MiroSot(colour="#f2c200"), 2, "yellow", (At(0.6, 0.0), At(0.2, -0.4))))
    return World(things=THINGS, groups=groups, contact=Contact("impulse"))


@pytest.fixture
def frame(world, still):
    return still(world, np.array([(-0.6, 0.0), (-0.2, 0.3), (0.6, 0.0), (0.2, -0.4)]))


def handle(scene, name):
    return scene._nodes.named[name].handle


# -- bodies -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("robot", CUBES, ids=str)
def test_a_soccer_robot_is_closed_cheap_and_as_large_as_what_others_meet(robot):
    looks = robot_meshes(robot).flat
    assert all(is_closed(mesh) and volume(mesh) > 0.0 for mesh in (looks.body, looks.paint, looks.spot))
    assert len(looks.body.faces) < 1000
    outline = np.array(robot.outline or circle(robot.side / 2, 32))
    every = np.concatenate([looks.body.vertices, looks.paint.vertices, looks.spot.vertices])
    for axis in (0, 1):
        assert every[:, axis].min() == pytest.approx(outline[:, axis].min(), abs=0.003)
        assert every[:, axis].max() == pytest.approx(outline[:, axis].max(), abs=0.003)
    assert every[:, 2].min() == pytest.approx(0.0, abs=1e-6) and every[:, 2].max() == pytest.approx(robot.height, rel=0.04)


@pytest.mark.parametrize("robot", CUBES, ids=str)
def test_its_white_stroke_is_at_the_front_and_its_patch_is_seen_from_above(robot):
    looks = robot_meshes(robot).flat
    white = looks.body.vertices[(looks.body.colours == 255).all(axis=1)]
    assert white[:, 0].min() > 0.0 and white[:, 1].max() == pytest.approx(-white[:, 1].min())
    assert looks.spot.vertices[:, 0].max() < white[:, 0].min()  # apart
    shell = looks.body.vertices[(looks.body.colours != 255).any(axis=1)]
    assert shell[:, 2].max() < looks.paint.vertices[:, 2].max() < looks.spot.vertices[:, 2].max()


def test_a_block_is_a_prism_without_its_sharp_edges():
    plain, cut = 0.1 * 0.2 * 0.05, block(rectangle(0.1, 0.2), 0.0, 0.05, 0.004)
    assert is_closed(cut) and 0.95 * plain < volume(cut) < plain
    assert block(rectangle(0.1, 0.2)[::-1], 0.0, 0.05, 0.004).vertices == pytest.approx(cut.vertices)  # either way round


def test_only_outer_corners_are_cut_off():
    corner = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
    assert len(chamfered(corner, 0.1)) == 6 + 5
    assert (chamfered(corner, 0.1) == (1.0, 1.0)).all(axis=1).sum() == 1


@pytest.mark.parametrize("by", [0.1, -0.1])
def test_an_outline_that_is_moved_outwards_keeps_its_distance(by):
    square, round_ = offset(rectangle(2.0, 1.0), by), offset(circle(1.0, 64), by)
    assert np.ptp(square, axis=0) == pytest.approx((2.0 + 2 * by, 1.0 + 2 * by))
    assert np.hypot(*round_.T) == pytest.approx(1.0 + by, abs=1e-3)


def test_a_ball_is_a_ball_of_two_colours_a_puck_is_round_and_a_block_has_its_outline():
    ball, puck = bodies.movable(Ball(radius=0.02)), bodies.movable(Puck(0.0, 0.0, 0.05, height=0.03))
    box = bodies.movable(THINGS[5])
    assert np.linalg.norm(ball.vertices, axis=1) == pytest.approx(0.02) and is_closed(ball)
    assert volume(ball) == pytest.approx(4 / 3 * pi * 0.02**3, rel=0.06)
    colours, count = np.unique(ball.colours[ball.faces[:, 0]], axis=0, return_counts=True)
    assert len(colours) == 2 and count[0] == count[1] and list(rgb("#e87d1e")) in colours.tolist()
    assert np.hypot(*puck.vertices[:, :2].T).max() == pytest.approx(0.05) and puck.vertices[:, 2].max() == 0.03
    assert np.ptp(box.vertices, axis=0) == pytest.approx((0.1, 0.06, 0.08)) and is_closed(box)


# -- the field --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("field", [Field(), Field("middle", 2.2, 1.8), Field(corner=0.0), Field(circle=0.0, area_depth=0.0)],
                         ids=["small", "middle", "without corners", "without a circle"])
def test_nothing_is_painted_outside_and_nothing_of_the_board_stands_inside(field):
    for line in pitch.lines(field):
        assert (np.abs(line).max(axis=0) <= (field.length / 2 + pitch.LINE, field.width / 2 + pitch.LINE)).all()
    board = pitch.board(field, 0.01)
    assert is_closed(board)
    inside = (np.abs(board.vertices[:, 0]) < field.length / 2 - field.corner - 1e-9) & (
        np.abs(board.vertices[:, 1]) < field.width / 2 - 1e-9)
    assert not inside.any() and board.vertices[:, 2].max() == field.height
    around = field.length * field.width + 2 * field.goal_depth * field.goal_width
    floor = pitch.floor(field)
    a, b, c = (floor.vertices[floor.faces[:, k], :2] for k in range(3))
    assert 0.5 * np.cross(np.c_[b - a, np.zeros(len(a))], np.c_[c - a, np.zeros(len(a))])[:, 2].sum() == pytest.approx(around)


def test_the_field_is_the_same_from_both_sides():
    points = np.concatenate([line.mean(axis=0)[None] for line in pitch.lines(Field())]).round(9)
    assert sorted(map(tuple, points.tolist())) == sorted(map(tuple, (-points + 0.0).tolist()))


def test_a_field_has_a_floor_lines_a_board_and_goals_in_the_colours_of_its_teams(scene, frame):
    scene.show(frame)
    assert {"pitch/floor", "pitch/lines", "pitch/board", "pitch/blue", "pitch/yellow"} <= set(scene._nodes.named)
    assert "grid" not in scene._nodes.named
    assert handle(scene, "pitch/blue").vertices[:, 0].max() == pytest.approx(-0.75)
    assert handle(scene, "pitch/yellow").vertices[:, 0].min() == pytest.approx(0.75)
    assert scene._pointer.region.x1 < 1.2  # the floor ends a little behind the goals
    scene.show(replace(frame, version=2, world=replace(frame.world, things=(Arena(2.0, 2.0), *THINGS[1:]))))
    assert not any(name.startswith("pitch/") for name in scene._nodes.named)


def test_the_board_can_be_clicked_but_not_dragged_and_a_click_on_the_field_is_on_the_floor(scene, frame):
    picked, floored = [], []
    scene.on_pick(lambda target, event: picked.append(target))
    scene.on_floor(lambda x, y, event: floored.append((x, y)))
    scene.show(frame)
    click(scene, 0.0, 0.655)
    click(scene, 0.72, 0.62)  # the block in the corner
    click(scene, 0.0, -0.2)
    assert picked == [("thing", 0), ("thing", 0)] and floored == [pytest.approx((0.0, -0.2))]
    assert not getattr(handle(scene, "pitch/board")._impl, "drag_cb", [])


def test_from_above_there_is_room_for_a_scoreboard(world):
    assert top(world).position[2] > top(World(things=(Arena(1.8, 1.3),))).position[2]


# -- the scene --------------------------------------------------------------------------------------------------------
def click(scene, x, y, z=3.0):
    asyncio.run(scene._pointer.clicked(SimpleNamespace(ray_origin=(x, y, z), ray_direction=(0.0, 0.0, -1.0), modifier=None)))


def moved(frame, **places):
    """The same frame a step later, with loose things somewhere else: ball=(x, y, heading) ..."""
    names = [thing.name for thing in frame.world.movables]
    poses = np.column_stack([frame.movables[:, :2], 2.0 * np.arctan2(frame.movables_turn[:, 3], frame.movables_turn[:, 0])])
    for name, pose in places.items():
        poses[names.index(name)] = pose
    return replace(frame, step=frame.step + 1, **movables_poses(frame.world, poses))


def test_things_that_look_alike_are_one_batch_where_the_frame_says(scene, frame):
    scene.show(frame)
    batches = {name: handle(scene, name) for name in scene._nodes.named if name.startswith("movables/")}
    assert sorted(len(batch.batched_positions) for batch in batches.values()) == [1, 1, 1, 2]
    places = np.concatenate([batch.batched_positions for batch in batches.values()])
    expected = frame.movables.round(5).astype(np.float32)
    assert sorted(map(tuple, places.round(5).tolist())) == sorted(map(tuple, expected.tolist()))
    assert frame.movables[0] == pytest.approx((0.2, 0.1, Ball().radius)) and frame.movables[1, 2] == 0.0


def test_a_frame_in_which_a_ball_rolls_sends_two_arrays_and_one_in_which_nothing_does_sends_none(scene, frame):
    scene.show(frame)
    queue, messages = scene.api._queue_scene_message, []
    scene.api._queue_scene_message = lambda message: (messages.append(message), queue(message))[1]
    try:
        scene.show(moved(frame))
        assert messages == []
        scene.show(moved(frame, ball=(0.21, 0.1, 0.0)))
        assert len(messages) == 2
    finally:
        scene.api._queue_scene_message = queue


def test_robots_of_a_team_have_spots_of_their_own_and_both_teams_the_same(scene, frame):
    scene.show(frame)
    blue, yellow = (handle(scene, f"robots/{at}/spot") for at in (0, 1))
    assert blue.batched_colors.tolist() == as_light(np.array([rgb(SPOTS[0]), rgb(SPOTS[1])])).tolist()
    assert yellow.batched_colors.tolist() == blue.batched_colors.tolist()
    assert blue.batched_positions == pytest.approx(frame.place[:2], abs=1e-6)
    assert len({tuple(rgb(spot)) for spot in SPOTS}) == 5  # as many as play in a team


def test_a_click_finds_the_ball_and_a_puck_where_they_are_now(scene, frame):
    picked = []
    scene.on_pick(lambda target, event: picked.append(target))
    scene.show(frame)
    scene.show(moved(frame, ball=(-0.1, -0.5, 0.0), other=(0.1, 0.1, 0.0)))
    click(scene, -0.1, -0.5)
    click(scene, 0.1, 0.1)
    click(scene, 0.6, 0.0)
    assert picked == [("thing", 1), ("thing", 4), ("robot", 2)]


def test_what_is_pushed_is_dragged_by_where_it_is_and_not_by_where_it_began(scene, frame):
    now = moved(frame, ball=(-0.1, -0.5, 0.0), wedge=(0.3, 0.3, 1.0))
    assert anchor(now, ("thing", 1)) == pytest.approx((-0.1, -0.5)) and anchor(now, ("thing", 6)) == pytest.approx((0.3, 0.3))
    assert anchor(now, ("thing", 2)) == (0.0, 0.5)
    scene.show(now)
    held = {name for name, part in scene._nodes.named.items() if getattr(part.handle._impl, "drag_cb", [])}
    assert {"movables/0", "movables/1", "robots/0/spot"} <= held


def test_a_hit_is_part_of_the_play_where_bodies_have_masses(scene, frame):
    crashed = replace(frame, crashed=np.ones(4, bool))
    scene.show(crashed)
    assert "over/crashed" not in scene._nodes.named
    scene.show(replace(crashed, version=2, world=replace(frame.world, contact=Contact(), things=())))
    assert handle(scene, "over/crashed").visible


def test_a_frame_of_a_state_has_its_loose_things(world):
    from formiga.loop import Simulation

    state = Simulation(world).state
    state.movables[0, 3, :3] = 0.1, 0.2, 0.3
    now = frame_of(world, state)
    assert now.movables[3] == pytest.approx((0.1, 0.2, 0.0)) and now.movables_turn[3] == pytest.approx(about_z(0.3))
    state.movables[0, 3] = 0.0
    assert now.movables[3, 0] == 0.1  # a copy


# -- rolling ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ahead", [0.0, 1.0, 4.0])
def test_a_ball_rolls_without_sliding(frame, ahead):
    """After a quarter of its girth the point that was on top is in front, whichever way it went."""
    rolling, way = Rolling(), np.array([np.cos(ahead), np.sin(ahead)])
    rolling.turn(frame)
    quarter = 0.5 * pi * Ball().radius
    for share in np.linspace(0.0, 1.0, 20):
        x, y = frame.movables[0, :2] + share * quarter * way
        turn = rolling.turn(moved(frame, ball=(x, y, 0.0)))
    assert rotate(turn[0], np.array([0.0, 0.0, 1.0])) == pytest.approx((*way, 0.0), abs=1e-9)
    assert turn[3] == pytest.approx(frame.movables_turn[3])  # a block only slides


# -- overlays ---------------------------------------------------------------------------------------------------------
def test_contacts_push_both_bodies_apart_and_a_wall_is_not_pushed(frame):
    """Robot 1 hits the ball (body 4 + 0), robot 2 a wall; the normal points to the first body."""
    touches = np.array([(0.1, 0.2, 0.0, 1.0, 0.05, 1, 4), (0.7, 0.0, -1.0, 0.0, 0.1, 2, -1)])
    arrows = overlays.contacts(replace(frame, touches=touches))
    assert arrows.shape == (3, 2, 3)
    way = arrows[:, 1] - arrows[:, 0]
    shortest, grows, _ = PUSH
    weak, strong = shortest + 0.05 * grows, shortest + 0.1 * grows
    assert way == pytest.approx(np.array([(0.0, weak, 0.0), (-strong, 0.0, 0.0), (0.0, -weak, 0.0)]), abs=1e-6)
    assert (arrows[..., 2] > MiroSot().height).all() and arrows[0, 0, :2] == pytest.approx((0.1, 0.2))


def test_a_hard_hit_is_not_drawn_across_the_field_and_no_hit_is_nothing(frame):
    touches = np.array([(0.0, 0.0, 1.0, 0.0, 1e6, 0, -1)])
    arrow = overlays.contacts(replace(frame, touches=touches))[0]
    assert np.linalg.norm(arrow[1] - arrow[0]) == pytest.approx(PUSH[2])
    assert len(overlays.contacts(frame)) == len(overlays.contacts(replace(frame, touches=np.zeros((0, 7))))) == 0


def test_the_ball_leaves_a_trail_on_the_floor(frame):
    trails = Trails()
    for step in range(40):
        x = 0.2 + 0.01 * step
        trails.add(replace(moved(frame, ball=(x, 0.1, 0.0)), step=step))
    ball = np.concatenate([trails.segments(piece).reshape(-1, 9, 2, 3)[:, 4] for piece in trails.numbers])  # 4 robots, 5 things
    assert ball[0, 0] == pytest.approx((0.2, 0.1, LIFT)) and ball[-1, 1, 0] == pytest.approx(0.59)
    assert ball[1:, 0] == pytest.approx(ball[:-1, 1])


def test_who_is_put_somewhere_else_leaves_a_gap(frame):
    """A goal: everybody is put back, and nobody drove there."""
    frame, trails = replace(frame, world=replace(frame.world, dt=0.03)), Trails()
    for step in range(60):
        x = 0.2 + 0.01 * step if step < 30 else -0.6 + 0.01 * (step - 30)
        trails.add(replace(moved(frame, ball=(x, 0.1, 0.0)), step=step))
    ball = np.concatenate([trails.segments(piece).reshape(-1, 9, 2, 3)[:, 4] for piece in trails.numbers])
    long = np.linalg.norm(ball[:, 1] - ball[:, 0], axis=1)
    assert long.max() < 0.05 and (long == 0.0).any()
    assert ball[:, :, 0].min() == pytest.approx(-0.6) and ball[:, :, 0].max() == pytest.approx(0.49)


def test_the_trails_of_a_scene_have_the_colours_of_robots_and_things(scene, frame):
    scene.overlays = {"trails"}
    for step in range(5):
        scene.show(replace(moved(frame, ball=(0.2 + 0.05 * step, 0.1, 0.0)), step=step))
    colours = handle(scene, "over/trail/0").colors.reshape(-1, 9, 2, 3)
    assert colours[0, 4, 0].tolist() == as_light(overlays.pale(rgb(Ball().colour))).tolist()
    assert colours[0, 0, 0].tolist() == as_light(overlays.pale(rgb("#1f6feb"))).tolist()


# -- from above -------------------------------------------------------------------------------------------------------
def pixels(draw):
    """What is drawn on 2 m x 2 m around the origin: the colour at a place."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure(figsize=(4, 4), dpi=300)
    canvas, axes = FigureCanvasAgg(figure), figure.add_axes((0.0, 0.0, 1.0, 1.0))
    draw(axes)
    axes.set(xlim=(-1.0, 1.0), ylim=(-1.0, 1.0))
    axes.set_axis_off()
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[::-1, :, :3].astype(int)
    return lambda x, y: image[int(600 * (y + 1.0)), int(600 * (x + 1.0))]


def test_the_field_and_all_that_is_pushed_is_seen_from_above(world, frame):
    heading = np.array([0.0, 0.25 * pi, 0.0, 0.0])

    def draw(axes):
        draw_world(axes, world)
        draw_robots(axes, world, frame.place[:, :2], heading, frame.place[None, :, :2])
        poses = np.column_stack([frame.movables[:, :2], np.zeros(5)])
        draw_movables(axes, world, poses[:, :2], poses[:, 2], poses[None, :, :2])

    at = pixels(draw)
    assert at(0.5, 0.55) == pytest.approx(rgb(Field().colour)) and at(-0.95, 0.95) == pytest.approx((255, 255, 255))
    assert at(0.0, -0.3) == pytest.approx(rgb(Field().line_colour), abs=8)  # the centre line
    assert at(0.2, 0.1) == pytest.approx(rgb(Ball().colour)) and at(-0.3, 0.2) == pytest.approx(rgb(THINGS[3].colour))
    assert at(-0.6 - 0.03, 0.03) == pytest.approx(rgb("#1f6feb"))             # a square has corners ...
    assert at(-0.2 - 0.031, 0.3 + 0.031) == pytest.approx(rgb(Field().colour))  # ... and this one is turned
    assert at(-0.2, 0.3 + 0.042) == pytest.approx(rgb("#1f6feb"))


def test_a_picture_of_a_run_has_the_trail_of_what_was_pushed(tmp_path):
    import formiga
    from formiga.view.picture import Picture

    things = (Arena(2.0, 1.0), Ball(vx=1.0))
    world = World(things=things, groups=(Group(MiroSot(), place=(At(-0.8, 0.3),)),), contact=Contact("impulse"), dt=0.05)
    picture = Picture(world, tmp_path / "x.png")
    formiga.runs.simulate(world, 0.5, record=picture)
    trail = np.array(picture.trail)
    assert trail.shape == (11, 2, 2) and (np.diff(trail[:, 1, 0]) > 0.0).all() and trail[-1, 1, 0] > 0.3
    picture.save()
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
