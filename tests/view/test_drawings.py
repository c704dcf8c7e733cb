"""Marks as shapes, in a scene of the browser and in pictures from above."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread
from matplotlib.path import Path as Outline
from PIL import Image as Pixels

import formiga
from formiga.drawing import KINDS, Pen, Sheet
from formiga.geometry import about_z
from formiga.view.drawings import png
from formiga.view.overhead import Overhead
from formiga.view.shapes import CORNERS, settled, shapes
from formiga.world.model import Arena, World

NOWHERE = np.zeros((0, 3)), np.zeros((0, 4))


@pytest.fixture
def sheet():
    return Sheet()


@pytest.fixture
def pen(sheet):
    return Pen(sheet, "mine", range(0, 5), 0.05, 0.1)


def every_kind(pen: Pen) -> None:
    """One of each, in a layer of the kind's name."""
    pen.layer("points").points([(0.0, 0.0), (0.5, 0.5)])
    pen.layer("lines").lines((0.0, 0.0), [(1.0, 0.0)])
    pen.layer("polygon").polygon([(0.0, 0.0), (0.5, 0.0), (0.25, 0.1), (0.0, 0.5)])
    pen.layer("text").text((0.2, 0.3), "here")
    pen.layer("pose").pose((0.5, 0.5, 1.0), np.diag([0.01, 0.02, 0.1]))
    pen.layer("particles").particles(np.full((4, 3), 0.3), [1.0, 0.5, 0.2, 0.0])
    pen.layer("grid").grid(np.eye(4), 0.1, (-1.0, -1.0))
    pen.layer("path").path([(0.0, 0.0), (0.1, 0.2), (0.3, 0.2)])


# -- shapes -----------------------------------------------------------------------------------------------------------
def test_the_ellipse_of_a_pose_holds_95_percent_of_a_normal_distribution(pen, sheet, rng):
    covariance = np.array([[0.04, 0.015], [0.015, 0.01]])
    pen.pose((1.0, 2.0, 0.0), covariance, size=0.01)
    strokes = shapes(sheet.drawings["mine"], *NOWHERE).strokes[0].points[:, 0, :2]
    ellipse = strokes[CORNERS + 1:2 * CORNERS + 1]  # after the ring and the stroke ahead
    samples = rng.multivariate_normal((1.0, 2.0), covariance, 20_000)
    assert Outline(ellipse).contains_points(samples).mean() == pytest.approx(0.95, abs=0.006)


def test_strokes_to_both_sides_hold_95_percent_of_the_headings(pen, sheet, rng):
    pen.pose((0.0, 0.0, 0.4), np.diag([0.0, 0.0, 0.09]), size=1.0)
    thin = shapes(sheet.drawings["mine"], *NOWHERE).strokes[1].points
    low, high = np.sort(np.arctan2(thin[:, 1, 1], thin[:, 1, 0]))
    heading = rng.normal(0.4, 0.3, 20_000)
    assert ((heading > low) & (heading < high)).mean() == pytest.approx(0.95, abs=0.006)


def test_a_pose_on_a_robot_turns_with_it_and_so_does_its_covariance(pen, sheet, rng):
    """Drawn in the robot's frame, it is the pose that the world's frame would have."""
    place, heading = rng.uniform(-1, 1, (5, 3)) * (1, 1, 0), rng.uniform(-3, 3, 5)
    pen.on(2).pose((0.3, 0.1, 0.5), [[0.04, 0.01], [0.01, 0.02]])
    (mark,) = sheet.drawings["mine"]
    found = settled(mark, place, about_z(heading)).numbers[0]
    c, s = np.cos(heading[2]), np.sin(heading[2])
    turn = np.array([[c, -s], [s, c]])
    assert found[:2] == pytest.approx(place[2, :2] + turn @ (0.3, 0.1), abs=1e-6)
    assert found[3] == pytest.approx(0.5 + heading[2], abs=1e-6)
    expected = turn @ np.array([[0.04, 0.01], [0.01, 0.02]]) @ turn.T
    assert found[4:7] == pytest.approx([expected[0, 0], expected[0, 1], expected[1, 1]], abs=1e-6)


def test_every_kind_moves_with_its_robot_and_is_gone_without_it(sheet, rng):
    every_kind(Pen(sheet, "x", range(0, 5), 0.05, 0.1).on(3))
    place, turn = np.zeros((5, 3)), about_z(np.zeros(5))
    for kind in KINDS:
        (mark,) = sheet.drawings[kind]
        here, there = (settled(mark, place + shift, turn) for shift in (0.0, (1.0, 2.0, 0.0)))
        moved = np.subtract(there.at, here.at)[:2] if kind == "grid" else (there.numbers - here.numbers)[0, :2]
        assert moved.tolist() == [1.0, 2.0]
        assert len(settled(mark, place[:3], turn[:3]).numbers) == 0


def test_sizes_are_told_apart_and_not_too_many_of_them(pen, sheet):
    for k in range(40):
        pen.points([(0.0, 0.0)], size=0.01 * (1 + k))
    dots = shapes(sheet.drawings["mine"], *NOWHERE).dots
    assert len(dots) == 12 and sum(len(each.places) for each in dots) == 40


def test_a_grid_lies_with_its_first_cell_at_its_origin(pen, sheet):
    pen.grid([[1.0, 0.0, 0.0], [0.0, 0.0, 0.5]], 0.5, (1.0, 2.0))
    (image,) = shapes(sheet.drawings["mine"], *NOWHERE).images
    assert (image.wide, image.deep, image.middle.tolist()) == (1.5, 1.0, [1.75, 2.5, 0.0])
    assert image.shades.tolist() == [[0, 0, 128], [255, 0, 0]]  # the northern row first
    pixels = np.asarray(Pixels.open(io.BytesIO(png(image._replace(colour=np.array((1, 2, 3), np.uint8))))).convert("RGBA"))
    shown = pixels[::pixels.shape[0] // 2, ::pixels.shape[1] // 3]
    assert (shown[..., 3] == image.shades).all() and (shown[..., :3] == (1, 2, 3)).all()


# -- the scene of a browser -------------------------------------------------------------------------------------------
def drawn(scene) -> dict[str, object]:
    """Name -> handle of the nodes that are seen."""
    return {name: node.handle for name, node in scene._nodes.named.items()
            if name.startswith("drawings/") and node.handle.visible}


def test_every_kind_reaches_the_scene_under_the_name_of_its_layer(scene, frame, pen, sheet):
    every_kind(pen)
    scene.show(replace(frame, drawings=sheet.drawings))
    assert {name.split("/")[1] for name in drawn(scene)} == set(KINDS)
    kinds = {name: {each.split("/")[2].split()[0] for each in drawn(scene) if each.startswith(f"drawings/{name}/")}
             for name in KINDS}
    assert kinds == {"points": {"dots"}, "lines": {"lines"}, "polygon": {"area", "lines"}, "text": {"text"},
                     "pose": {"lines"}, "particles": {"dots", "lines"}, "grid": {"image"}, "path": {"lines"}}
    assert drawn(scene)["drawings/text/text 0"].text == "here"
    assert len(drawn(scene)["drawings/points/dots 0"].points) == 2


def test_what_changes_is_updated_in_place_and_what_is_gone_is_hidden(scene, frame, pen, sheet):
    every_kind(pen)
    scene.show(replace(frame, drawings=sheet.drawings))
    before = drawn(scene)
    sheet = Sheet()
    pen = Pen(sheet, "x", range(0, 5), 0.05, 0.1)
    pen.layer("points").points(np.ones((7, 2)), size=0.3)
    pen.layer("polygon").polygon([(0, 0), (0, 1), (1, 1), (1, 0), (0.5, -0.5)], colour="#123456")
    pen.layer("grid").grid(np.ones((3, 7)), 0.2)
    pen.layer("text").text((0, 0), "there")
    pen.layer("path").path([(0, 0), (1, 1)], width=0.2)
    scene.show(replace(frame, step=1, drawings=sheet.drawings))
    after = drawn(scene)
    assert all(after[name] is before[name] for name in after)
    assert {name.split("/")[1] for name in after} == {"points", "polygon", "grid", "text", "path"}
    assert len(after["drawings/points/dots 0"].points) == 7 and after["drawings/path/lines 0"].thickness == pytest.approx(0.2)
    area = after["drawings/polygon/area 0"]
    assert area.faces.shape == (3, 3) and tuple(area.color) == (0x12, 0x34, 0x56)
    assert after["drawings/grid/image 0"].render_width == pytest.approx(1.4)
    assert after["drawings/text/text 0"].text == "there"
    scene.show(replace(frame, step=2))
    assert drawn(scene) == {}


def test_another_world_leaves_no_nodes_behind(scene, frame, pen, sheet):
    every_kind(pen)
    scene.show(replace(frame, drawings=sheet.drawings))
    scene.show(replace(frame, version=frame.version + 1, drawings={"text": sheet.drawings["text"]}))
    assert {name.split("/")[1] for name in scene._nodes.named if name.startswith("drawings/")} == {"text"}


def test_layers_whose_names_are_alike_have_nodes_of_their_own(scene, frame, pen, sheet):
    for name in ("a/b", "a_b", "a?b"):
        pen.layer(name).points([(0.0, 0.0)])
    scene.show(replace(frame, drawings=sheet.drawings))
    assert len(drawn(scene)) == 3


def test_an_area_is_covered_whichever_way_round_it_goes(scene, frame, pen, sheet):
    corners = np.array([(0, 0), (2, 0), (2, 1), (1, 0.2), (0, 1)], float)
    for name, given in (("one", corners), ("other", corners[::-1])):
        pen.layer(name).polygon(given)
    scene.show(replace(frame, drawings=sheet.drawings))
    for name in ("one", "other"):
        handle = drawn(scene)[f"drawings/{name}/area 0"]
        a, b, c = (handle.vertices[handle.faces[:, k], :2] for k in range(3))
        (ux, uy), (vx, vy) = (b - a).T, (c - a).T
        covered = 0.5 * np.abs(ux * vy - uy * vx).sum()
        assert covered == pytest.approx(1.2)  # of 2, without the notch


# -- from above -------------------------------------------------------------------------------------------------------
@pytest.fixture
def empty(still):
    return still(World(things=(Arena(4.0, 3.0),)), np.zeros((0, 2)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_seen_from_above(empty, pen, sheet, kind):
    every_kind(pen)
    paint = Overhead(empty, longest=900)
    bare = paint.picture(empty)
    seen = paint.picture(replace(empty, drawings={kind: sheet.drawings[kind]}))
    assert (np.abs(seen.astype(int) - bare).max(axis=-1) > 60).sum() > 8
    assert np.array_equal(paint.picture(empty), bare)  # nothing stays behind


def test_a_grid_is_painted_where_it_is(empty, pen, sheet):
    """Its one full cell is 1 m wide, at x 0.5 .. 1.5 and y -1 .. 0."""
    pen.grid([[0.0, 1.0], [0.0, 0.0]], 1.0, (-0.5, -1.0), colour="#ff0000")
    paint = Overhead(empty, longest=400)
    picture = paint.picture(replace(empty, drawings=sheet.drawings))
    red = (picture[..., 0] > 230) & (picture[..., 1] < 40)
    rows, columns = np.nonzero(red)
    axes = paint._axes
    x, y = np.transpose(axes.transData.inverted().transform(np.column_stack([columns, picture.shape[0] - rows])))
    assert (x.min(), x.max(), y.min(), y.max()) == pytest.approx((0.5, 1.5, -1.0, 0.0), abs=0.05)


def test_the_picture_of_a_run_has_what_is_drawn_at_its_end(tmp_path):
    """A path in a colour that nothing else has."""
    from formiga.view.picture import Picture

    lab = formiga.Simulation("corral")
    lab.pen("plan").path([(-1.0, -1.0), (1.0, 1.0)], colour="#ff00ff", width=0.05)
    picture = Picture(lab.world, tmp_path / "corral.png")
    picture([lab])
    picture.save()
    image = imread(tmp_path / "corral.png")
    assert ((image[..., 0] > 0.95) & (image[..., 1] < 0.05) & (image[..., 2] > 0.95)).sum() > 500
