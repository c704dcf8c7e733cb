"""The looks of robots: closed solids of the size that the simulation knows, few triangles; and looks that users bring along."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi, tau

import numpy as np
import pytest

from formiga.engine.parts import Part
from formiga.errors import WorldError
from formiga.geometry import about_z
from formiga.view.frame import space_poses
from formiga.view.mesh import rgb
from formiga.view.nodes import as_light
from formiga.view.robots import SPOTS, robot_meshes
from formiga.world.elements import element, length
from formiga.world.looks import (
    ON_ITS_SIDE,
    PAINT,
    RUBBER,
    SPOT,
    WHITE,
    Box,
    Capsule,
    Cylinder,
    Drum,
    Ellipsoid,
    Lathe,
    Look,
    Mount,
    Prism,
    Triangles,
)
from formiga.world.model import Group, World
from formiga.world.robots import Disc, SBot
from formiga.world.robots.car import Car
from formiga.world.robots.omni import Omni
from tests.view.test_mesh import is_closed, volume

ROBOTS = [SBot(), SBot(leds=0), SBot(radius=0.2, height=0.05), Disc(0.085, 0.14, 0.1), Disc(0.085, 0.14, 0.1, leds=12),
          Disc(0.02, 0.5, 0.1, wheel_radius=0.3)]


@pytest.mark.parametrize("robot", ROBOTS, ids=str)
def test_a_robot_is_closed_and_cheap_to_draw(robot):
    looks = robot_meshes(robot).flat
    assert is_closed(looks.body) and is_closed(looks.paint)
    assert volume(looks.body) > 0.0 and volume(looks.paint) > 0.0
    assert len(looks.body.faces) + len(looks.paint.faces) < 600 + 6 * max(0, robot.leds - 8)


@pytest.mark.parametrize("robot", ROBOTS[:5], ids=str)
def test_a_robot_stands_on_the_floor_and_is_as_large_as_the_simulation_says(robot):
    """The painted part is the disc that others meet; only the gripper of an s-bot reaches out of it."""
    looks = robot_meshes(robot).flat
    assert np.linalg.norm(looks.paint.vertices[:, :2], axis=1).max() == pytest.approx(robot.radius)
    every = np.concatenate([looks.body.vertices, looks.paint.vertices])
    assert 0.0 <= every[:, 2].min() < 0.1 * robot.height
    assert every[:, 2].max() == pytest.approx(robot.height, rel=0.03)
    beside = looks.body.vertices[looks.body.vertices[:, 0] < 0.9 * robot.radius]
    assert np.linalg.norm(beside[:, :2], axis=1).max() <= 1.03 * robot.radius  # its lights stand out a little


@pytest.mark.parametrize("robot", ROBOTS[:5], ids=str)
def test_a_robot_shows_where_ahead_is(robot):
    """Its white mark, or its gripper, lies ahead of its middle, and it is the same on both sides."""
    body = robot_meshes(robot).flat.body
    white = body.vertices[(body.colours == 255).all(axis=1)]
    assert len(white) and white[:, 0].max() > -white[:, 0].min()
    assert white[:, 1].max() == pytest.approx(-white[:, 1].min())


def test_lights_sit_around_the_robot_evenly():
    lights = robot_meshes(SBot(leds=8)).lights
    assert len(lights) == 8
    angles = np.sort(np.arctan2(lights[:, 1], lights[:, 0]) % tau)
    assert np.diff(angles) == pytest.approx(np.full(7, tau / 8))
    assert len(robot_meshes(Disc(0.1, 0.1, 0.1)).lights) == 0


# -- a robot of the user's own ------------------------------------------------------------------------------------------
@pytest.fixture
def crane(own_registry):
    """A robot with a look of its own: a box, a mast that turns, a jib on the mast."""

    @element("crane", role="robot")
    @dataclass(frozen=True)
    class Crane:
        "A crane."
        radius: float = length(0.1)
        height: float = length(0.3)

        def look(self):
            jib = Box((0.2, 0.02, 0.02), part="jib", place=(0.1, 0.0, 0.0), colour="#ff0000")
            return Look((Box((0.2, 0.1, 0.05), place=(0.0, 0.0, 0.025)), Drum(0.01, 0.0, 0.25, part="mast", colour=WHITE),
                         Drum(0.02, 0.2, 0.22, part="mast"), jib, Drum(0.01, 0.0, 0.01, part="jib", colour=SPOT)),
                        {"mast": Mount("chassis", (0.0, 0.0, 0.05)), "jib": Mount("mast", (0.0, 0.0, 0.25))})

    return Crane()


def test_an_own_robot_brings_its_look_in_its_one_file(crane):
    """At rest every part is where its mounts put it, one on another."""
    body, paint, spot = robot_meshes(crane).flat
    red = body.vertices[(body.colours == rgb("#ff0000")).all(axis=1)]
    assert red.min(axis=0) == pytest.approx((0.0, -0.01, 0.29)) and red.max(axis=0) == pytest.approx((0.2, 0.01, 0.31))
    assert paint.vertices[:, 2].min() == 0.0 and paint.vertices[:, 2].max() == pytest.approx(0.27)
    assert spot.vertices[:, 2].min() == pytest.approx(0.3)
    assert is_closed(body) and is_closed(paint) and is_closed(spot)
    parts = robot_meshes(crane).parts
    assert [[mesh is not None for mesh in parts[part]] for part in ("chassis", "mast", "jib")] == [
        [False, True, False], [True, True, False], [True, False, True]]
    assert parts["jib"].body.vertices.min(axis=0) == pytest.approx((0.0, -0.01, -0.01))  # in its own frame


def test_an_own_look_is_drawn_in_the_plane_and_its_parts_where_their_bodies_are_in_space(crane, scene, still):
    world = World(groups=(Group(crane, 2, "cranes"),))
    flat = still(world, np.array([(0.0, 0.0), (1.0, 0.0)]))
    scene.show(flat)
    names = {name for name in scene._nodes.named if name.startswith("robots/")}
    assert names == {"robots/0/body", "robots/0/paint", "robots/0/spot"}
    assert scene._nodes.named["robots/0/body"].owner.mesh is robot_meshes(crane).flat.body
    parts = tuple(Part(robot, -1, name) for robot in range(2) for name in ("chassis", "mast", "jib"))
    poses = np.array([(robot, 0.0, 0.1 * row, *about_z(row)) for robot in range(2) for row in range(3)], float)
    scene.show(replace(flat, version=2, alive=np.array([True, False]), **space_poses(world, parts, poses)))
    names = {name.removeprefix("robots/0/") for name in scene._nodes.named if name.startswith("robots/")}
    assert names == {"painted/chassis", "part/mast", "painted/mast", "part/jib", "spotted/jib"}
    for name in names:
        rows = [row for row, part in enumerate(parts) if part.name == name.split("/")[1]]
        handle = scene._nodes.named[f"robots/0/{name}"].handle
        assert handle.batched_positions == pytest.approx(poses[rows, :3])
        assert handle.batched_wxyzs == pytest.approx(poses[rows, 3:])
    chassis, mast = (scene._nodes.named[f"robots/0/painted/{part}"].handle.batched_colors for part in ("chassis", "mast"))
    assert (chassis == mast).all() and chassis[0].tolist() == as_light(rgb(crane.colour)).tolist() != chassis[1].tolist()
    spots = scene._nodes.named["robots/0/spotted/jib"].handle.batched_colors
    assert spots.tolist() == as_light(np.array([rgb(SPOTS[0]), rgb(SPOTS[1])])).tolist()


@pytest.mark.parametrize("shape, size", [
    (Box((0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)), (Drum(0.1, 0.0, 0.3, 48), (0.2, 0.2, 0.3)), (Capsule(0.1, 0.5), (0.2, 0.2, 0.5)),
    (Cylinder(0.1, 0.5), (0.2, 0.2, 0.501)), (Ellipsoid((0.1, 0.2, 0.3)), (0.2, 0.4, 0.6)),
    (Prism([(0, 0), (0, 0.2), (0.1, 0)], 0.1, 0.3), (0.1, 0.2, 0.2)),
    (Lathe(((0.0, 0.0), (0.1, 0.0), (0.0, 0.2)), 48), (0.2, 0.2, 0.2)),
    (Triangles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), (1.0, 1.0, 1.0)),
], ids=lambda value: type(value).__name__)
def test_every_shape_has_its_size_and_looks_outwards_however_it_lies(own, shape, size):
    mesh = robot_meshes(own("robot", radius=0.1, look=lambda: Look((shape,)))).flat.paint
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx(size, abs=2e-3) and volume(mesh) > 0.0
    lying = replace(shape, turn=ON_ITS_SIDE).moved(x=1.0, z=2.0, yaw=0.5 * pi)
    side = robot_meshes(own("robot", radius=0.1, look=lambda: Look((lying,)))).flat.paint
    assert np.ptp(side.vertices, axis=0) == pytest.approx((size[2], size[0], size[1]), abs=2e-3)  # z to -x, x to y, y to -z
    assert volume(side) == pytest.approx(volume(mesh))
    origin = mesh.vertices.argmin(axis=0)[2]  # one corner of it, followed
    x, y, z = mesh.vertices[origin]
    assert side.vertices[origin] == pytest.approx((1.0 - z, x, 2.0 - y))


@pytest.mark.parametrize("outline", [None, ((0.1, 0.05), (-0.1, 0.05), (-0.1, -0.05), (0.1, -0.05))])
def test_a_robot_that_says_nothing_is_drawn_from_its_outline_or_radius(own, outline):
    robot = own("robot", radius=0.112, height=0.08, outline=outline)
    body, paint, spot = robot_meshes(robot).flat
    reach = (0.112, 0.112) if outline is None else (0.1, 0.05)
    assert np.abs(paint.vertices[:, :2]).max(axis=0) == pytest.approx(reach) and spot is None
    assert paint.vertices[:, 2].max() == pytest.approx(0.08) and is_closed(paint)
    white = body.vertices[(body.colours == 255).all(axis=1)]
    assert white[:, 0].max() > -white[:, 0].min() and (np.abs(white[:, :2]) <= np.array(reach)).all()


def test_wheels_turn_where_a_differential_drive_has_them(own):
    robot = own("robot", radius=0.1, wheel_base=0.15, wheel_radius=0.03, top_speed=0.1)
    meshes = robot_meshes(robot)
    assert meshes.mounts["left"] == ("chassis", (0.0, 0.075, 0.03)) and meshes.mounts["right"][1][1] == -0.075
    assert np.abs(meshes.parts["left"].body.vertices[:, [0, 2]]).max() == pytest.approx(0.03)
    assert meshes.parts["left"].body.vertices == pytest.approx(meshes.parts["right"].body.vertices * (-1, -1, 1), abs=1e-12)


@pytest.mark.parametrize("robot", [Car(), Car(leds=6), Car(shape="disc"), Omni(), Omni(wheels=4, leds=3)], ids=repr)
def test_cars_and_omnidirectional_robots_stand_on_wheels_inside_what_others_meet(robot):
    body, paint, _ = robot_meshes(robot).flat
    shell = paint.vertices[:, :2]
    assert is_closed(body) and is_closed(paint) and volume(body) > 0.0 and volume(paint) > 0.0
    rubber = body.vertices[(body.colours == rgb(RUBBER)).all(axis=1)]
    assert rubber[:, 2].min() == pytest.approx(0.0, abs=1e-9) and paint.vertices[:, 2].min() > 0.1 * robot.wheel_radius
    assert (np.abs(rubber[:, :2] - shell.mean(axis=0)).max(axis=0) <= 0.5 * np.ptp(shell, axis=0) + 0.02).all()
    edge = np.array(robot.outline or [(-robot.radius, -robot.radius), (robot.radius, robot.radius)])
    assert np.ptp(shell, axis=0) == pytest.approx(np.ptp(edge, axis=0), rel=0.02)
    white = body.vertices[(body.colours == 255).all(axis=1)]
    assert white[:, 0].max() > 0.5 * shell[:, 0].max()  # the arrow points ahead


@pytest.mark.parametrize("look, words", [
    (None, "returns a Look of formiga.world.looks, not NoneType"),
    (Look(()), "has no shapes"),
    (Look(("a box",)), "str is not a shape; there are: Box, Prism"),
    (Look((Drum(0.1, 0.0, 0.1, colour="red"),)), "the colour 'red' of a Drum is not #rrggbb, PAINT or SPOT"),
    (Look((Drum(0.1, 0.0, 0.1, part="turet"),), {"turret": Mount("chassis")}),
     "'turet' has no mount; there are: chassis, turret"),
    (Look((Drum(0.1, 0.0, 0.1),), {"arm": Mount("mast")}), "the part 'mast' has no mount"),
    (Look((Drum(0.1, 0.0, 0.1),), bearer="head"), "the part 'head' has no mount"),
    (Look((Drum(0.1, 0.0, 0.1),), {"a": Mount("b"), "b": Mount("a")}), "not carried by the chassis but by a ring: a on b on a"),
])
def test_a_look_that_cannot_be_drawn_is_refused(own, look, words):
    robot = own("robot", radius=0.1, look=lambda: look)
    with pytest.raises(WorldError, match=words) as refused:
        robot_meshes(robot)
    assert "look():" in str(refused.value) and PAINT not in str(refused.value)
