"""Pictures from above."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.image import imread

import formiga
from formiga import runs
from formiga.errors import FormigaError
from formiga.units import DEG
from formiga.view.picture import MOST_POINTS, Picture
from formiga.world.model import Arena, Cylinder, Group, Lamp, Rectangle, Wall, World, Zone
from formiga.world.placement import At
from formiga.world.robots import Disc

DRIVEN = Group(Disc(0.1, 0.1, 0.1, colour="#ff0000"), place=(At(-0.5, 0.0, 0.0),))


def test_a_robot_is_drawn_where_it_is(tmp_path):
    """The middle of all red pixels is the robot's place, in the coordinates of the arena's walls."""
    world = World(things=(Arena(2.0, 2.0),), groups=(DRIVEN,))
    file = tmp_path / "one.png"
    formiga.simulate(world, 0.1, picture=file)
    image = imread(file)
    red = (image[..., 0] > 0.9) & (image[..., 1] < 0.1) & (image[..., 2] < 0.1)
    wall = (np.abs(image[..., :3] - np.array([0x3B, 0x3A, 0x36]) / 255.0) < 0.02).all(-1)
    columns, rows = (np.flatnonzero(wall.sum(axis) > 300) for axis in (0, 1))  # long lines, not letters
    left, right, top, bottom = columns.min(), columns.max(), rows.min(), rows.max()
    y, x = (index.mean() for index in np.nonzero(red))
    assert (x - left) / (right - left) == pytest.approx(0.25, abs=0.01)  # x = -0.5 of -1 .. 1
    assert (y - top) / (bottom - top) == pytest.approx(0.5, abs=0.01)


def test_everything_that_can_stand_in_a_world_can_be_drawn(tmp_path):
    things = (Arena(2.0, 1.0), Rectangle(0.5, 0.0, 0.2, 0.1, 30.0 * DEG), Lamp(0.0, 0.4), Lamp(0.1, 0.4, on=False),
              Zone(0.0, 0.0, radius=0.1), Zone(0.0, 0.2, width=0.2, depth=0.1, heading=0.5))
    for suffix, begins in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        file = tmp_path / f"all{suffix}"
        formiga.simulate(World(things=things, groups=(DRIVEN,)), 0.2, picture=file)
        assert file.read_bytes().startswith(begins)


def test_what_is_off_is_not_drawn(tmp_path):
    def pixels(*things):
        formiga.simulate(World(things=(Arena(2.0, 1.0), *things), groups=(DRIVEN,)), 0.1, picture=tmp_path / "x.png")
        return imread(tmp_path / "x.png")

    hidden = (Rectangle(0.5, 0.0, 0.2, 0.1, on=False), Cylinder(0.5, 0.2, 0.1, on=False),
              Zone(0.0, 0.0, radius=0.1, on=False), Wall((0.0, 0.0, 0.5, 0.4), on=False))
    assert np.array_equal(pixels(*hidden), pixels())
    assert np.array_equal(pixels(Lamp(0.0, 0.4, switched=(0.05,))), pixels(Lamp(0.0, 0.4, on=False)))  # as at the end


def test_a_long_trail_keeps_its_memory_small():
    picture = Picture(World(groups=(DRIVEN,)), "long.png")
    runs.simulate(World(groups=(DRIVEN,)), 1000.0, record=picture)
    assert MOST_POINTS / 2 <= len(picture.trail) <= MOST_POINTS


def test_what_is_not_a_picture_is_refused_before_the_run(tmp_path):
    with pytest.raises(FormigaError, match=r"'\.jpeg2' is not a kind of picture"):
        formiga.simulate("corral", 1.0, picture=tmp_path / "x.jpeg2")


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FormigaError, match="cannot be written"):
        formiga.simulate("line", 1.0, picture=tmp_path / "file" / "x.png")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
