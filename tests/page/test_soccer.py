"""Robot soccer as a person meets it: a scoreboard, a ball that can be taken, a match that can be seen again."""

from __future__ import annotations

import re
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from formiga.engine.flatten import flatten
from formiga.soccer import league
from formiga.supervisor import Note, Side
from formiga.view.ground import seen
from formiga.world.reader import read_text
from tests.page.conftest import until
from tests.page.test_browser import drag
from tests.page.test_comfort import PHONE

pytestmark = pytest.mark.xdist_group("browser")

FIELD = """<world name="final" dt="0.05" topic="x">
  <contact model="impulse"/>
  <field/>
  <ball x="0.3" y="0.2"/>
  <mirosot name="blue" colour="#1f6feb"><at x="-0.4" y="0" heading="0"/></mirosot>
  <mirosot name="yellow" colour="#f2c200"><at x="0.4" y="-0.3" heading="180deg"/></mirosot>
</world>"""


def standing(ours, others, clock, title, text):
    return Note(title, clock, text, (Side("blue", "ants", ours), Side("yellow", "<b>bees</b>", others)))


class Match:
    """A supervisor whose scoreboard is what a test says."""

    over, name = False, "match"

    def __init__(self):
        self.board = standing(0, 0, "0:00", "first half", "")
        self.steps = 0

    def before(self, sim):
        return {"blue": np.full((1, 1, 2), 0.1)}

    def after(self, sim):
        self.steps += 1

    def resume(self):
        pass

    def note(self):
        return self.board

    def close(self):
        pass


@pytest.fixture
def match():
    return Match()


@pytest.fixture
def lab(match, laboratory, folder, unharmed):
    laboratory.begin(read_text(FIELD), supervisor=match)
    return laboratory


def shown(window, name):
    return window.tab.locator(f"#formiga #{name}").inner_text()


def colour(window, name, what):
    """Red, green, blue of an element, as the window shows it."""
    css = window.tab.locator(f"#formiga #{name}").evaluate(f"(each) => getComputedStyle(each).{what}")
    return [float(number) for number in re.findall(r"[\d.]+", css)[:3]]


def test_the_scoreboard_shows_how_it_stands_and_changes_with_it(window, lab, match):
    board = window.tab.locator("#formiga #note")
    board.wait_for(state="visible")
    assert (shown(window, "side-0"), shown(window, "side-1")) == ("ants", "<b>bees</b>")  # a name is text, whatever it is
    assert (shown(window, "score-0"), shown(window, "score-1"), shown(window, "note-clock")) == ("0", "0", "0:00")
    assert colour(window, "side-0", "borderBottomColor") == [0x1F, 0x6F, 0xEB]
    assert colour(window, "side-1", "borderBottomColor") == [0xF2, 0xC2, 0x00]
    scene, box = window.tab.locator("canvas").first.bounding_box(), board.bounding_box()
    assert box["y"] < 30 and abs(box["x"] + box["width"] / 2 - scene["x"] - scene["width"] / 2) < 2  # at the top, in the middle

    call = window.tab.locator("#formiga #remark")
    assert call.evaluate("(each) => getComputedStyle(each).opacity") == "0"
    lab.do(lambda: setattr(match, "board", standing(2, 11, "4:59", "second half", "FREE BALL")))
    until(lambda: shown(window, "score-1") == "11" and shown(window, "score-0") == "2")
    assert [shown(window, name) for name in ("note-clock", "title", "remark")] == ["4:59", "second half", "FREE BALL"]
    until(lambda: call.evaluate("(each) => getComputedStyle(each).opacity") == "1")
    lab.do(lambda: setattr(match, "board", match.board._replace(text="")))
    until(lambda: call.evaluate("(each) => getComputedStyle(each).opacity") == "0")

    lab.run("load line")
    board.wait_for(state="hidden")


def test_a_note_without_sides_is_a_title_and_a_remark_and_one_with_three_is_a_row(window, lab, match):
    """A supervisor need not be a match."""
    lab.do(lambda: setattr(match, "board", Note("trial 3", "", "<i>go</i>")))
    until(lambda: shown(window, "title") == "trial 3" and shown(window, "remark") == "<i>go</i>")
    assert window.tab.locator("#formiga #sides").is_hidden() and window.tab.locator("#formiga #note-clock").is_hidden()
    three = tuple(Side(group, name, score) for group, name, score in (("blue", "a", 1), ("none", "b", 2), ("no", "c", 3)))
    lab.do(lambda: setattr(match, "board", Note(sides=three)))
    until(lambda: window.tab.locator("#formiga #sides").inner_text().split() == ["a", "1", "b", "2", "c", "3"])
    assert window.tab.locator("#formiga #when").is_hidden()
    assert colour(window, "side-0", "borderBottomColor") == [0x1F, 0x6F, 0xEB]


def test_the_scoreboard_holds_both_names_on_a_phone(open_window, lab):
    window = open_window(size=PHONE, has_touch=True, is_mobile=True)
    window.tab.locator("#formiga #note").wait_for(state="visible")
    around = window.tab.locator("#formiga #sides").bounding_box()
    assert around["x"] >= 0 and around["x"] + around["width"] <= PHONE["width"]
    for number in (0, 1):
        name = window.tab.locator(f"#formiga #side-{number}")
        each = name.bounding_box()
        assert around["x"] < each["x"] and each["x"] + each["width"] < around["x"] + around["width"]
        assert name.evaluate("(each) => each.scrollWidth <= each.clientWidth"), "cut short, though there is room"


def test_the_scoreboard_is_dark_where_it_is_dark(window, lab):
    window.tab.locator("#formiga #note").wait_for(state="visible")
    before, written = colour(window, "sides", "backgroundColor"), colour(window, "note-clock", "color")
    lab.page.panels._darken(True)
    until(lambda: window.tab.locator("#formiga").get_attribute("data-dark") == "true")
    after, then = colour(window, "sides", "backgroundColor"), colour(window, "note-clock", "color")
    assert sum(after) < 200 < 600 < sum(before) and sum(written) < 200 < 600 < sum(then)


def test_the_ball_is_taken_with_the_mouse_and_a_match_goes_on(window, lab, match):
    window.settle("top")
    drag(window, window.at(0.3, 0.2, 0.02), window.at(-0.2, -0.3, 0.02))
    until(lambda: np.allclose(lab.session.sim.state.movables[0, 0, :2], (-0.2, -0.3), atol=0.03),
          message=lambda: f"it is at {lab.session.sim.state.movables[0, 0, :2]}")
    drag(window, window.at(0.4, -0.3, 0.07), window.at(0.5, 0.3, 0.07))
    until(lambda: np.allclose(lab.poses()[0][1], (0.5, 0.3), atol=0.03), message=lambda: f"it is at {lab.poses()[0][1]}")
    window.type("set ball.mass 2")
    window.shows("the match is under way, so its world stays as it is.")
    lab.run("step 3")
    assert match.steps == 3


def pitch_is_free(window):
    """Whether every corner of the ground is in the scene, below the scoreboard and above the bar."""
    world = window.lab.session.world
    ground, scene = seen(world, flatten(world)), window.tab.locator("canvas").first.bounding_box()
    board, bar = (window.tab.locator(f"#formiga #{name}").bounding_box() for name in ("note", "bar"))
    corners = [window.at(x, y) for x in (ground.x0, ground.x1) for y in (ground.y0, ground.y1)]
    return all(scene["x"] < x < scene["x"] + scene["width"] and board["y"] + board["height"] < y < bar["y"] for x, y in corners)


def on_its_way(camera):
    """A window with another shape and a place where its camera was a moment ago. viser makes a window's camera anew with each
    report, so what a test writes into a real one is lost at the next; this one reports once."""
    return SimpleNamespace(atomic=nullcontext, camera=SimpleNamespace(
        position=np.array(camera.position) + (0.0, -0.3, 0.2), look_at=camera.look_at, up_direction=camera.up_direction,
        fov=camera.fov, image_width=camera.image_width - 100, image_height=camera.image_height))


@pytest.mark.parametrize("players", [3, 5])
def test_the_whole_pitch_is_seen_also_when_the_window_becomes_another(window, laboratory, lab, match, players, monkeypatch):
    """The scene becomes narrower when the panel comes, and the window may just then report a camera that is on its way."""
    laboratory.begin(league.world(players), supervisor=match)
    window.tab.set_viewport_size({"width": 1280, "height": 800})
    until(lambda: pitch_is_free(window))
    with monkeypatch.context() as patch:
        report = on_its_way(window.camera)
        patch.setattr(lab.page.server.viser, "get_clients", lambda: {window.client: report})
        until(lambda: np.allclose(report.camera.position, lab.page.known_cameras(window.client)["overview"].position))
    window.tab.set_viewport_size({"width": 900, "height": 800})
    until(lambda: lab.page._aspect(window.client) < 0.8)
    until(lambda: pitch_is_free(window))


def test_a_camera_that_was_turned_by_hand_stays_when_the_window_becomes_another(window, lab):
    window.settle("overview")
    scene, before = window.tab.locator("canvas").first.bounding_box(), np.array(window.camera.position)
    window.tab.mouse.move(scene["x"] + 0.5 * scene["width"], scene["y"] + 0.6 * scene["height"])
    window.tab.mouse.wheel(0, -400)
    until(lambda: window.client in lab.page._turned and np.linalg.norm(window.camera.position - before) > 0.05)
    window.tab.wait_for_timeout(500)
    turned = np.array(window.camera.position)
    window.tab.set_viewport_size({"width": 900, "height": 460})
    until(lambda: lab.page._aspect(window.client) > 1.15)
    lab.run("step 2")
    until(lambda: lab.page.drawn == lab.poses()[2])
    assert np.allclose(window.camera.position, turned, atol=0.02)


def test_a_recorded_match_is_seen_again_with_its_scoreboard(window, lab, match):
    lab.run("record match.parquet")
    for goals in range(4):
        lab.do(lambda goals=goals: setattr(match, "board", standing(goals, 0, f"0:0{goals}", "first half", "")))
        lab.run("step 10")
    lab.run("record off; load match.parquet")
    window.tab.locator("#formiga #timeline").wait_for(state="visible")
    for seconds, goals in ((2.0, 3), (0.7, 1), (0.0, 0), (1.3, 2)):
        lab.run(f"seek {seconds}")
        until(lambda goals=goals: shown(window, "score-0") == str(goals))
        assert shown(window, "note-clock") == f"0:0{goals}"
