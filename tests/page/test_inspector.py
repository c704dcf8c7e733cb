"""One robot in words and pictures, without a browser."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from lxml import etree
from PIL import Image

from formiga.lab import shipped_worlds
from formiga.page.gallery import gallery
from formiga.page.inspector import HINT, Inspector
from formiga.page.panels import editable, short
from formiga.session import Session
from formiga.session.names import find
from formiga.session.watch import inspect


def shown(session, robot=0, inspector=None):
    text = (inspector or Inspector()).html(inspect(session, robot), session.time)
    return text, etree.fromstring(f"<div>{text}</div>".encode())


def test_nobody_selected_gives_a_hint():
    assert HINT in Inspector().html(None, 0.0)


def test_the_name_of_a_robot_has_the_colour_of_the_page_so_that_it_is_seen_on_a_dark_one():
    _, tree = shown(Session("corral", own_settings=False))
    name = next(each for each in tree.iter("div") if (each.text or "").startswith("swarm.0"))
    assert "color" not in name.get("style")


@pytest.mark.parametrize("name", shipped_worlds())
def test_every_shipped_world_can_be_inspected(name):
    session = Session(name, own_settings=False)
    session.step()
    for robot in {0, session.world.robots - 1} if session.world.robots else ():
        text, tree = shown(session, robot)
        facts = inspect(session, robot)
        assert tree.find(".//b[@id='formiga-x']").text == f"{facts['x']:.4f}"
        for sensor, values in facts["readings"].items():
            assert sensor in text
            first = np.asarray(values, float).ravel()[0]
            assert (f"{first:.3f}" if sensor in facts["located"] else f"{first:.3g}") in text


def test_a_wedge_is_as_long_as_its_reading():
    """Full reading: to the outer rim; none: no wedge; half: half way."""
    robot = {"name": "swarm.0", "robot": "sbot", "x": 0.0, "y": 0.0, "heading": 0.0, "crashes": 0,
             "channels": {"left": 0.0, "right": 0.0}, "rolls": (True, True),
             "crashed": False, "alive": True, "driven": False, "controller": "none", "memory": {}, "layers": {}, "inboxes": {},
             "located": {}, "readings": {"ring": np.array([1.0, 0.0, 0.5])},
             "sensors": {"ring": type("Ring", (), {"angles": (0.0, 1.0, 2.0), "full": 1.0})()}}
    tree = etree.fromstring(f"<div>{Inspector().html(robot, 0.0)}</div>".encode())
    wedges = [each for each in tree.iter("polygon") if each.get("fill") == "#d55e00"]
    lengths = [max(np.hypot(*map(float, point.split(","))) for point in each.get("points").split()) for each in wedges]
    assert lengths == pytest.approx([44.0, 15.0 + 0.5 * 29.0], abs=0.2)


def test_the_plots_remember_until_another_robot_or_another_run():
    session, inspector = Session("corral", own_settings=False), Inspector()
    for _ in range(5):
        session.step()
        _, tree = shown(session, 0, inspector)
    assert {len(each.get("points").split()) for each in tree.iter("polyline")} == {5}
    _, tree = shown(session, 1, inspector)
    assert not list(tree.iter("polyline"))
    session.step()
    shown(session, 1, inspector)
    session.reset()
    _, tree = shown(session, 1, inspector)
    assert not list(tree.iter("polyline"))


@pytest.mark.parametrize("name, rows", [("corral", ["wheels"]), ("omni", ["wheels"]), ("car", ["speed", "steering"])])
def test_a_drive_is_shown_under_names_that_it_gives_itself(name, rows):
    _, tree = shown(Session(name, own_settings=False))
    labels = [each.text for each in tree.iter("td") if each.text]
    assert labels[2:2 + len(rows)] == rows and labels[2 + len(rows)] == "crashes"


def test_a_networks_layers_are_shown_as_bars():
    session = Session("disperse", own_settings=False)
    session.step()
    text, tree = shown(session)
    layers = ["inputs", "hidden 1", "outputs"]
    assert [each.text for each in tree.iter("span") if each.text in layers] == layers
    outputs = inspect(session, 0)["layers"]["outputs"]
    assert re.search(rf"outputs 0: {outputs[0]:.3f}", text)


def test_the_image_of_a_camera_is_shown_as_a_picture():
    """A large one with every second pixel, as PNG, and not as numbers over time."""
    image = np.zeros((240, 640, 3), np.uint8)
    image[:, 320:] = (200, 30, 40)
    robot = inspect(Session("corral", own_settings=False), 0)
    text = Inspector().html(robot | {"readings": {"eye": image}, "sensors": {}}, 0.0)
    picture = etree.fromstring(f"<div>{text}</div>".encode()).find(".//img")
    seen = np.asarray(Image.open(BytesIO(b64decode(picture.get("src").removeprefix("data:image/png;base64,")))))
    assert np.array_equal(seen, image[::2, ::2]) and "640 x 240" in picture.get("alt") and "<polyline" not in text


def test_names_of_robots_and_things_cannot_bring_html_along():
    session = Session("corral", own_settings=False)
    robot = inspect(session, 0) | {"name": "<img onerror=alert(1)>", "controller": "<b>"}
    assert "<img" not in Inspector().html(robot, 0.0)


def test_the_gallery_has_every_shipped_world_once_with_a_line_a_topic_and_a_picture():
    listed = [world for topic in gallery() for world in topic["worlds"]]
    assert sorted(world["name"] for world in listed) == sorted(shipped_worlds())
    assert all(world["doc"] and world["picture"].startswith("data:image/webp;base64,") for world in listed)
    assert "Others" not in [topic["name"] for topic in gallery()]
    assert gallery()[0]["name"] == "First steps"


@pytest.mark.parametrize("name", shipped_worlds())
def test_everything_that_the_panel_offers_to_edit_can_be_found(name):
    world = Session(name, own_settings=False).world
    offered = editable(world)
    assert {"world", "contact", *(group.name for group in world.groups)} <= set(offered)
    assert [find(world, each).name for each in offered] == offered


@pytest.mark.parametrize("text, expected", [("0.057999999999999996", "0.058"), ("1 2.0 3", "1 2 3"), ("tr", "tr"), ("", "")])
def test_numbers_are_shortened_for_people(text, expected):
    assert short(text) == expected


def test_what_a_robot_sends_and_hears_is_a_table_with_the_names_of_the_senders():
    session = Session("spread", own_settings=False)
    for _ in range(3):
        session.step()
    facts = inspect(session, 3)["inboxes"]["range_and_bearing"]
    text, tree = shown(session, 3)
    rows = [["".join(cell.itertext()) for cell in row.iter("td")] for row in tree.iter("tr") if len(list(row.iter("td"))) == 3]
    assert len(rows) == len(facts["senders"]) > 2
    assert rows[0] == [facts["senders"][0], f"{facts['inbox'].range[0]:.2f} m, {np.degrees(facts['inbox'].bearing[0]):.0f}°",
                       f"{facts['inbox'].message[0, 0]:.3g}"]
    assert f"{facts['counts']['heard']:,} heard" in text


def test_a_belief_is_shown_beside_the_truth_with_how_far_it_is_off():
    session = Session("localization", own_settings=False)
    panel = Inspector()
    for _ in range(3):
        session.step()
        text, tree = shown(session, 0, panel)
    facts = inspect(session, 0)
    away, turned = facts["located"]["belief"]
    belief = facts["readings"]["belief"]
    assert away == pytest.approx(np.hypot(belief[0] - facts["x"], belief[1] - facts["y"]))
    assert tree.find(".//b[@id='formiga-error-belief']").text == f"{away:.3f}"
    for words in (f"{facts['x']:.3f}, {facts['y']:.3f} m", f"{belief[0]:.3f}, {belief[1]:.3f} m", "±",
                  f"{np.degrees(turned):.1f}°", 'aria-label="belief over time"'):
        assert words in text
    assert tree.find(".//b[@id='formiga-error-odometry']").text == "0.000"     # it was told the start
