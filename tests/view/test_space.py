"""What there is in three dimensions: parts that move by themselves, ground that is not flat, forces, a robot's own camera."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from formiga.engine.fixed import Region
from formiga.engine.parts import Part
from formiga.geometry import about, about_z, multiply, rotate, rotate_back
from formiga.view import bodies, ground, overlays
from formiga.view.cameras import first_person, overview
from formiga.view.crowd import solid_pose
from formiga.view.frame import blend, frame, space_poses
from formiga.view.gltf import normals
from formiga.view.picking import first_hit
from formiga.view.picture import draw_world
from formiga.view.posture import posture
from formiga.view.robots import robot_meshes
from formiga.view.trails import Trails
from formiga.world.ground import Hole, Platform, Ramp, Terrain
from formiga.world.model import Arena, Ball, Group, Lamp, Puck, World
from formiga.world.robots import Disc, SBot
from formiga.world.solids import Solid, Trigger

NAMES = ("chassis", "left", "right", "turret", "arm")
PARTS = tuple(Part(robot, -1, name) for robot in range(2) for name in NAMES)
TILTED = multiply(about((0.0, 0.0, 1.0), 0.4), about((1.0, 0.0, 0.0), 0.3))


@pytest.fixture
def pair() -> World:
    return World(engine="spatial", things=(Arena(2.0, 2.0),), groups=(Group(SBot(), 2, "swarm"),))


def standing(world, still, parts=PARTS, **more):
    """Two s-bots: all bodies of the first at rest, the second one tilted and its turret turned, its arm raised."""
    robot, bodies_ = SBot(), np.zeros((len(parts), 7))
    for row, part in enumerate(parts):
        if part.robot < 0:
            bodies_[row] = (0.1, 0.2, 0.3, *TILTED)
            continue
        foot, turn = ((-0.3, 0.0, 0.0), about_z(0.0)) if part.robot == 0 else ((0.3, 0.1, 0.05), TILTED)
        head = turn if part.robot == 0 else multiply(turn, about((0.0, 0.0, 1.0), 1.0))
        x, z = robot.arm_pivot
        where = {"left": (0.0, 0.0475, 0.02), "right": (0.0, -0.0475, 0.02), "arm": (x, 0.0, z)}.get(part.name, (0.0, 0.0, 0.0))
        carried = head if part.name in ("arm", "turret") else turn
        own = multiply(head, about((0.0, 1.0, 0.0), -0.5 * part.robot)) if part.name == "arm" else carried
        bodies_[row] = (*(np.array(foot) + rotate(carried, np.array(where))), *own)
    base = still(world, np.zeros((2, 2)))
    return replace(base, **{**space_poses(world, parts, bodies_), **more})


def handle(scene, name):
    return scene._nodes.named[name].handle


# -- frames -----------------------------------------------------------------------------------------------------------
def test_a_robots_own_pose_is_that_of_its_chassis(pair, still):
    now = standing(pair, still)
    assert now.place[1] == pytest.approx((0.3, 0.1, 0.05)) and now.turn[1] == pytest.approx(TILTED)
    assert now.bodies.shape == (10, 7) and now.parts == PARTS


def test_a_loose_things_place_is_its_foot_or_the_middle_of_a_ball():
    world = World(things=(Ball(radius=0.02), Arena(1.0, 1.0), Puck(0.5, 0.0, radius=0.03)))
    parts = (Part(-1, 2, "body"), Part(-1, 0, "body"))  # in any order
    rows = np.array([(0.5, 0.0, 0.1, *TILTED), (-0.5, 0.0, 0.0, *TILTED)])
    poses = space_poses(world, parts, rows)
    assert poses["movables"][1] == pytest.approx((0.5, 0.0, 0.1))
    assert poses["movables"][0] == pytest.approx((-0.5, 0.0, 0.0))


def test_half_way_between_two_poses_a_turn_goes_the_short_way():
    before = np.array([(0.0, 0.0, 0.0, *about((0, 0, 1), 0.2))])
    after = np.array([(1.0, 0.0, 2.0, *(-about((0, 0, 1), 0.6)))])  # the same turn with the other sign
    middle = blend(before, after, 0.5)[0]
    assert middle[:3] == pytest.approx((0.5, 0.0, 1.0)) and abs(middle[3:] @ about((0, 0, 1), 0.4)) == pytest.approx(1.0)


def test_a_part_without_a_body_goes_rigidly_with_what_carries_it(pair, still):
    whole = standing(pair, still)
    fewer = standing(pair, still, tuple(part for part in PARTS if part.name in ("chassis", "turret")))
    looks = robot_meshes(SBot())
    for name in ("arm", "left"):
        rigid, own = (posture(each, looks, slice(0, 2), name)[:, :3] for each in (fewer, whole))
        np.testing.assert_allclose(rigid, own)
    flat = still(pair, np.array([(0.0, 0.0), (1.0, 0.0)]), [0.0, 1.0])
    np.testing.assert_allclose(posture(flat, looks, slice(1, 2), "turret")[0, :3], (1.0, 0.0, 0.0))


# -- the scene --------------------------------------------------------------------------------------------------------
def test_parts_that_move_have_batches_of_their_own_and_the_paint_is_on_the_turret(scene, pair, still):
    now = standing(pair, still)
    scene.show(now)
    for name in NAMES:
        rows = [row for row, part in enumerate(PARTS) if part.name == name]
        assert handle(scene, f"robots/0/part/{name}").batched_positions == pytest.approx(now.bodies[rows, :3], abs=1e-6)
    turret = now.bodies[[row for row, part in enumerate(PARTS) if part.name == "turret"]]
    assert handle(scene, "robots/0/painted/turret").batched_wxyzs == pytest.approx(turret[:, 3:], abs=1e-6)
    assert "robots/0/body" not in scene._nodes.named


def test_in_the_plane_a_robot_is_one_body_as_ever(scene, pair, still):
    scene.show(still(pair, np.array([(0.0, 0.0), (1.0, 0.0)])))
    assert {name for name in scene._nodes.named if name.startswith("robots/")} == {"robots/0/body", "robots/0/paint"}


def test_from_space_to_the_plane_and_back_nothing_is_left_over(scene, pair, still):
    scene.show(standing(pair, still))
    scene.show(still(pair, np.array([(0.0, 0.0), (1.0, 0.0)]), version=2))
    assert not any(name.startswith("robots/0/part/") for name in scene._nodes.named)
    scene.show(standing(pair, still, version=3))
    assert "robots/0/part/arm" in scene._nodes.named and "robots/0/body" not in scene._nodes.named


def test_lights_sit_on_the_turret(pair, still):
    leds = np.zeros((2, 8, 3), np.uint8)
    leds[1, 0] = 255
    now = standing(pair, still, leds=leds)
    points, _, _ = overlays.lights(now)
    turret = now.bodies[PARTS.index(Part(1, -1, "turret"))]
    assert points[0] == pytest.approx(turret[:3] + rotate(turret[3:], 1.06 * robot_meshes(SBot()).lights[0]), abs=1e-6)


def test_a_frame_that_is_the_same_sends_nothing_in_space_too(scene, pair, still):
    now = standing(pair, still, forces=np.ones((2, 7)), grips=np.array([(0, 1)]), selected=0)
    scene.overlays = {"forces", "circles", "trails"}
    scene.show(now)
    queue, messages = scene.api._queue_scene_message, []
    scene.api._queue_scene_message = lambda message: (messages.append(message), queue(message))[1]
    scene.show(now)
    scene.api._queue_scene_message = queue
    assert messages == []


@pytest.mark.parametrize("robot", [SBot(), Disc(0.08, 0.1, 0.1)])
def test_moving_parts_stay_within_the_robot_and_their_faces_are_whole(robot):
    looks = robot_meshes(robot)
    assert {"chassis", "left", "right"} <= set(looks.parts)
    for name, (mesh, _, _) in looks.parts.items():
        assert np.isfinite(mesh.vertices).all() and mesh.faces.max() < len(mesh.vertices)
        reach = robot.radius + getattr(robot, "grip_reach", 0.0)
        middle = np.array(looks.mounts.get(name, ("", (0.0, 0.0, 0.0)))[1])
        assert np.hypot(*(mesh.vertices + middle)[:, :2].T).max() <= 1.01 * reach


def test_the_gripper_reaches_as_far_as_the_element_says():
    robot = SBot(grip_reach=0.03)
    assert robot.arm_pivot[0] + robot_meshes(robot).parts["arm"].body.vertices[:, 0].max() == pytest.approx(robot.radius + 0.03)


# -- the ground -------------------------------------------------------------------------------------------------------
HILLS = Terrain(2.0, 1.0, amplitude=0.1, cells=40)


def test_a_terrain_is_as_high_as_the_engine_says_and_its_skirt_closes_it():
    from formiga.engine.ground import terrain_heights

    mesh, z = ground.hills(HILLS), terrain_heights(HILLS)
    top = mesh.vertices[: z.size]
    assert top[:, 2] == pytest.approx(z.ravel()) and top[:, 0].max() == 1.0 and top[:, 1].min() == -0.5
    up = normals(mesh)[: z.size, 2]
    assert up.min() > 0.0  # seen from above
    edges = np.sort(np.concatenate([mesh.faces[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))]), axis=1)
    assert np.unique(edges, axis=0, return_counts=True)[1].max() == 2


def test_a_large_terrain_is_drawn_with_fewer_points_than_it_has():
    mesh = ground.hills(Terrain(3.0, 3.0, cells=1000))
    assert len(mesh.vertices) < 70_000 and np.abs(mesh.vertices[:, :2]).max() == pytest.approx(1.5)


def test_high_ground_is_lighter_than_low_ground():
    shade, z = ground.shade(HILLS), ground.heights(HILLS)[2]
    assert shade.ravel()[z.argmax()] > 1.3 * shade.ravel()[z.argmin()]


def test_the_floor_has_holes_where_the_world_has_them_and_lines_leave_them_out():
    world = World(things=(Arena(2.0, 2.0), Hole(0.2, 0.0, 0.4, 0.6)))
    mesh = ground.floor(world, Region(-1.0, -1.0, 1.0, 1.0))
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    area = 0.5 * np.cross(b - a, c - a)[:, 2]
    assert (area > 0.0).all() and area.sum() == pytest.approx(4.0 - 0.24)
    lines = ground.lines(world, Region(-1.0, -1.0, 1.0, 1.0), 0.1)
    middle = lines.mean(axis=1)
    assert not ((np.abs(middle[:, 0] - 0.2) < 0.199) & (np.abs(middle[:, 1]) < 0.299)).any()


def test_a_pit_is_seen_from_inside():
    mesh = ground.pit(Hole(0.0, 0.0, 0.4, 0.6, deep=0.2), "#ffffff")
    for face in mesh.faces:
        a, b, c = mesh.vertices[face]
        assert np.cross(b - a, c - a) @ (np.array((0.0, 0.0, -0.1)) - a) > 0.0
    assert mesh.vertices[:, 2].min() == -0.2


def test_a_ramp_goes_up_along_its_own_x():
    for face in ground.WEDGE.faces:
        a, b, c = ground.WEDGE.vertices[face]
        assert np.cross(b - a, c - a) @ (a - (0.2, 0.0, 0.3)) > 0.0  # away from a point inside
    assert ground.WEDGE.vertices[ground.WEDGE.vertices[:, 2] == 1.0, 0].min() == 0.5


@pytest.mark.parametrize("shape, size, volume", [
    ("box", (0.1, 0.2, 0.3), 0.006), ("sphere", (0.2,), 4.0 / 3.0 * np.pi * 1e-3), ("cylinder", (0.2, 0.3), np.pi * 3e-3),
    ("capsule", (0.2, 0.5), np.pi * 3e-3 + 4.0 / 3.0 * np.pi * 1e-3)])
def test_solids_have_the_volume_of_their_shape(shape, size, volume):
    """By the divergence theorem; round ones are a little smaller, as they have corners."""
    mesh = bodies.solid(shape, size, "#336699")
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(volume, rel=0.03)


def test_everything_in_space_has_a_node_and_a_solid_is_where_its_body_is(scene, still):
    things = (Arena(2.0, 2.0), Hole(0.5, 0.5, 0.2, 0.2), Ramp(-0.5, 0.0, 0.4, 0.3, 0.1), Platform(-0.1, 0.0, 0.3, 0.3, 0.1),
              Solid((0.1, 0.1, 0.1), name="a"), Solid((0.1, 0.1, 0.1), x=-0.1, name="b", fixed=True),
              Trigger(0.0, 0.5, 0.2, 0.2))
    world = World(engine="spatial", things=things, groups=(Group(SBot(), 2),))
    now = standing(world, still, (*PARTS, Part(-1, 4, "body")))
    scene.show(now)
    assert {"floor", "lines", "hole/1", "ramps", "platforms", "solids/0", "trigger/6/zone",
            "trigger/6/edge"} <= set(scene._nodes.named)
    assert handle(scene, "solids/0").batched_positions[0] == pytest.approx((0.1, 0.2, 0.3))
    assert handle(scene, "solids/0").batched_wxyzs[0] == pytest.approx(TILTED)
    assert solid_pose(now, 5)[:3] == pytest.approx((-0.1, 0.0, 0.15))  # on the platform
    scene.show(replace(now, world=replace(world, things=(HILLS,)), version=2, bodies=now.bodies[:10], parts=PARTS))
    assert "terrain/0" in scene._nodes.named and not {"lines", "grid", "ramps"} & set(scene._nodes.named)


def test_the_whole_of_a_terrain_without_an_arena_is_in_sight():
    hills = replace(HILLS, x=5.0)
    arena = Arena(hills.width, hills.depth, x=5.0)
    assert overview(World(things=(hills,))).look_at[:2] == pytest.approx(overview(World(things=(arena,))).look_at[:2])


def test_one_clicks_through_a_zone_but_not_through_a_hill(scene, pair, still):
    scene.show(standing(replace(pair, things=(Arena(2.0, 2.0), Trigger(0.0, 0.0, 1.0, 1.0), HILLS)), still))
    shapes = [shape for part in scene._nodes.named.values() if (shape := part.instances())]
    found = [first_hit(shapes, (x, y, 3.0), (0.0, 0.0, -1.0)) for x, y in ((-0.3, 0.0), (0.0, 0.3), (0.3, 0.1))]
    assert found == [("robot", 0), ("thing", 2), ("robot", 1)]


# -- overlays ---------------------------------------------------------------------------------------------------------
def test_a_force_is_an_arrow_of_a_centimetre_for_each_newton(pair, still):
    pulls = np.array([(0.0, 0.0, 0.07, 3.0, 4.0, 0.0, 0), (0.1, 0.0, 0.07, 0.0, 0.0, 12.0, 1), (0.2, 0, 0, 1e-3, 0, 0, 1)])
    now = standing(pair, still, forces=pulls)
    arrows = overlays.forces(now)
    assert len(arrows) == 2  # what is next to nothing has none; the strongest comes first
    assert np.diff(arrows, axis=1)[:, 0] == pytest.approx(np.array([(0.0, 0.0, 0.12), (0.03, 0.04, 0.0)]), abs=1e-6)
    words, place = overlays.strongest(now)
    assert words == "12 N" and place[2] > arrows[0, 1, 2]
    assert overlays.strongest(standing(pair, still)) is None and len(overlays.forces(standing(pair, still))) == 0


def test_grips_are_short_links_from_who_holds_to_who_is_held(pair, still):
    now = standing(pair, still, grips=np.array([(0, 1), (1, 2 + 3)]))
    points = overlays.grips(now, np.full(2, 0.1), np.full(2, 0.058)).points
    assert points.shape == (2, 2, 3)
    assert np.linalg.norm(points[0, 1] - points[0, 0]) < np.linalg.norm(now.place[1] - now.place[0])
    assert points[1, 1, :2] == pytest.approx(now.bodies[3, :2])
    assert len(overlays.grips(standing(pair, still), np.full(2, 0.1), np.full(2, 0.058)).points) == 0


def test_trails_follow_the_hills(pair, still):
    trails, now = Trails(), standing(pair, still)
    for step in range(1, 4):
        trails.add(replace(now, step=step, place=now.place + (0.05 * step, 0.0, 0.02 * step)))
    segments = trails.segments(0).reshape(-1, 2, 2, 3)
    assert np.diff(segments[:, 1], axis=1)[..., 2].max() == pytest.approx(0.02, abs=1e-6)


# -- a robot's own camera ---------------------------------------------------------------------------------------------
def test_with_a_robots_eyes_one_leans_and_turns_as_its_turret_does(pair, still):
    now = standing(pair, still)
    turret, pose = now.bodies[PARTS.index(Part(1, -1, "turret"))], first_person(now, 1)
    ahead = rotate(turret[3:], np.array((1.0, 0.0, 0.0)))
    way = np.subtract(pose.look_at, pose.position)
    assert way @ ahead > 0.98 and np.array(pose.up) @ rotate(turret[3:], np.array((0.0, 0.0, 1.0))) > 0.98
    assert np.array(pose.up) @ way == pytest.approx(0.0, abs=1e-9)
    above = rotate_back(turret[3:], np.array(pose.position) - turret[:3])
    assert above[2] > SBot().height  # clear of its own body


# -- a picture from above -----------------------------------------------------------------------------------------------
def test_a_picture_from_above_has_hills_holes_and_solids():
    figure, axes = plt.subplots()
    solid = Solid((0.1, 0.1, 0.1))
    draw_world(axes, World(engine="spatial", things=(HILLS, Ramp(0.0, 0.0, 0.4, 0.3, 0.1), solid, Lamp(0.0, 0.0))))
    assert len(axes.images) == 1 and axes.images[0].get_extent() == [-1.0, 1.0, -0.5, 0.5]
    before = len(axes.patches)
    other = World(engine="spatial", things=(Hole(0.0, 0.0, 0.1, 0.1), Platform(0.0, 0.0, 0.1, 0.1, 0.1), solid))
    draw_world(axes, other, {2: np.array([0.7, 0.0, 0.0, *TILTED])})
    assert len(axes.patches) == before + 3
    assert axes.patches[-1].get_xy()[:, 0].mean() == pytest.approx(0.7, abs=0.02)
    plt.close(figure)


def test_a_frame_of_a_real_run_in_space_knows_every_part():
    from formiga.loop import Simulation

    world = World(engine="spatial", things=(Arena(2.0, 2.0),), groups=(Group(SBot(model="detailed"), 2, "swarm"),))
    lab = Simulation(world)
    lab.step()
    now = frame(world, lab.state, parts=lab.model.parts)
    assert {part.name for part in now.parts} == {"chassis", "turret", "arm"}
    np.testing.assert_allclose(now.place[:, :2], lab.state.position[0])
    for name in ("left", "right", "turret", "arm"):  # and they are where the scene would draw them at rest
        looks = robot_meshes(world.groups[0].robot)
        resting = posture(replace(now, bodies=None, parts=()), looks, slice(0, 2), name)
        np.testing.assert_allclose(posture(now, looks, slice(0, 2), name)[:, :3], resting[:, :3], atol=3e-3)


# -- a robot of the user's own ------------------------------------------------------------------------------------------
CART = """<mujoco><worldbody><body name="cart"><freejoint/>
  <geom type="box" size=".08 .05 .02" pos="0 0 .05" mass="0.5"/>
  <geom type="sphere" size=".3" group="3" mass="0"/>
  <body name="wheel" pos="0 .06 .03"><joint name="wheel" axis="0 1 0"/>
    <geom type="cylinder" size=".03 .008" euler="90 0 0" mass=".05" rgba=".2 .2 .2 1"/>
    <body pos="0 .02 0"><geom type="capsule" fromto="0 0 0 0 0 .1" size=".01" mass=".01" rgba="1 0 0 1"/></body>
  </body></body></worldbody></mujoco>"""


def test_a_machine_looks_as_its_file_says(tmp_path):
    from formiga.world.robots.machine import Machine

    (tmp_path / "cart.xml").write_text(CART)
    looks = robot_meshes(Machine(str(tmp_path / "cart.xml")))
    assert set(looks.parts) == {"chassis", "wheel"} and looks.mounts["wheel"] == ("chassis", pytest.approx((0.0, 0.06, 0.03)))
    box = looks.parts["chassis"].paint.vertices  # it has no colour of its own
    assert np.ptp(box, axis=0) == pytest.approx((0.16, 0.1, 0.04))
    pointer = looks.parts["chassis"].body.vertices  # it lies on the chassis, wherever the origin of the file is
    assert pointer[:, 2].min() == pytest.approx(0.07) and pointer[:, 0].max() == pytest.approx(0.08)
    wheel = looks.parts["wheel"].body.vertices
    assert wheel[:, 2].max() == pytest.approx(0.11)  # what has no name goes with it
    assert (looks.parts["wheel"].body.colours == (255, 0, 0)).all(axis=1).any()
