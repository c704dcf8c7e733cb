"""The page fits its window, says what is wrong, and does only what it is told to."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.page.page import Page
from formiga.session import Session
from tests.page.conftest import Lab, Window, until

pytestmark = pytest.mark.xdist_group("browser")

PHONE = {"width": 390, "height": 844}


def box(window, name):
    return window.tab.locator(f"#formiga #{name}").bounding_box()


def apart(one, other):
    return (one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
            or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"])


def inside(each, size):
    return (each["x"] >= 0 and each["y"] >= 0 and each["x"] + each["width"] <= size["width"]
            and each["y"] + each["height"] <= size["height"])


def sideways(window):
    """Pixels by which the page, or the console in it, could be scrolled to the side."""
    return window.tab.evaluate("""() => {
        const log = document.getElementById("formiga").shadowRoot.getElementById("log"), page = document.documentElement;
        const over = (each) => each.scrollWidth - each.clientWidth;
        return Math.max(page.scrollWidth - window.innerWidth, over(log), ...[...log.querySelectorAll("pre, span")].map(over));
    }""")


# -- what fails is seen -------------------------------------------------------------------------------------------------
def test_a_picture_that_cannot_be_drawn_is_counted_shown_and_said_once_with_its_place(window, lab, monkeypatch):
    def broken(session):
        raise TypeError("no such thing")

    shown = window.tab.locator("#formiga #faults")
    assert shown.is_hidden()
    with monkeypatch.context() as patch:
        patch.setattr("formiga.session.watch.summary", broken)
        until(lambda: lab.page.faults.count > 3)
        until(lambda: "failures in the laboratory: a picture could not be drawn (TypeError at session/watch.py:"
              in shown.inner_text())
    said = [text for kind, text in lab.said if kind == "error"]
    assert len(said) == 1 and said[0].startswith("a picture could not be drawn (TypeError at session/watch.py:")
    step = lab.poses()[2]
    lab.run("step")
    assert lab.poses()[2] == step + 1
    assert lab.faults() == said
    shown.wait_for(state="hidden")


def test_an_action_of_the_panel_that_fails_is_shown_too(window, lab, monkeypatch):
    monkeypatch.setattr(lab.page.panels, "run", lambda *given: 1 / 0)
    window.tab.get_by_role("tab", name="Look").click()
    window.tab.get_by_label("trails").check()
    window.tab.locator("#formiga #faults").wait_for(state="visible")
    lab.heard("ZeroDivisionError", "error")
    assert ["the page failed (ZeroDivisionError at page/panels.py:" in text for text in lab.faults()] == [True]


def test_a_page_whose_server_has_ended_says_so_and_goes_on_when_it_is_back(browser, folder):
    lab = Lab("line")
    window = Window(browser, lab)
    try:
        ended = window.tab.locator("#formiga #ended")
        assert ended.is_hidden()
        port = lab.page.server.port
        lab.close()
        ended.wait_for(state="visible")
        heading = ended.locator("h1")
        assert heading.inner_text() == "The laboratory has ended" and f"127.0.0.1:{port}" in ended.inner_text()
        assert heading.evaluate("(each) => parseFloat(getComputedStyle(each).fontSize)") >= 28
        assert ended.bounding_box() == {"x": 0, "y": 0} | window.tab.viewport_size
        session = Session("line", own_settings=False)
        with Page(session, port=port) as page:
            assert page.server.port == port
            until(lambda: page.lines, 40)
            ended.wait_for(state="hidden")
    finally:
        window.close()


# -- keys ---------------------------------------------------------------------------------------------------------------
def test_typing_in_the_console_neither_moves_the_camera_nor_runs_what_a_key_is_bound_to(window, lab):
    lab.run("step 3; bind w 'select 3'; bind x 'select 4'")
    window.settle("overview")
    window.tab.locator("#formiga #shell").click()
    before = np.array(window.camera.position)
    for key in ("w", "a", "s", "d", "q", "e", "ArrowLeft", "Space", "r", "x"):
        window.tab.keyboard.down(key)
        window.tab.wait_for_timeout(120)
        window.tab.keyboard.up(key)
    assert window.tab.locator("#formiga #input").input_value() == "wasdq rxe"  # ArrowLeft went before the e
    window.tab.wait_for_timeout(300)
    assert np.allclose(window.camera.position, before, atol=1e-4)
    assert (lab.session.selected, lab.session.playing, lab.poses()[2]) == (-1, False, 3)
    window.tab.locator("#formiga #input").press("Escape")
    window.tab.keyboard.press("x")
    until(lambda: lab.session.selected == 4)
    window.tab.keyboard.down("a")  # nothing is bound to it: now it is the camera's
    until(lambda: not np.allclose(window.camera.position, before, atol=1e-3))
    window.tab.keyboard.up("a")


# -- room -----------------------------------------------------------------------------------------------------------------
def test_help_keeps_its_columns_and_completion_its_box(window, lab):
    lab.do(lambda: lab.session.open("swarmod"))
    window.type("help")
    window.shows("wait SECONDS")
    assert sideways(window) <= 0
    rows = window.tab.locator("#formiga #log pre.columns").evaluate_all(
        """(rows) => { const sides = (each) => { const box = each.getBoundingClientRect(); return [box.left, box.right]; };
                       return rows.map((row) => [...row.children].map(sides)); }""")
    assert len(rows) >= len(lab.session.console.commands)
    assert all(text[0] >= usage[1] for usage, text in rows) and len({text[0] for _, text in rows}) == 1
    entry = window.tab.locator("#formiga #input")
    entry.fill("set ")
    entry.press("Tab")
    offered = window.tab.locator("#formiga #completions")
    until(lambda: offered.locator("span").count() > 20)
    assert sideways(window) <= 0 and offered.bounding_box()["height"] < 100
    assert inside(box(window, "console"), window.tab.viewport_size) and inside(entry.bounding_box(), window.tab.viewport_size)


def test_the_console_leaves_the_tools_in_sight(open_window, lab):
    window = open_window(size={"width": 1280, "height": 800})
    window.type("help")
    window.shows("wait SECONDS")
    assert apart(box(window, "console"), box(window, "tools")) and inside(box(window, "console"), window.tab.viewport_size)


def test_a_phone_has_room_for_the_bar_the_console_the_panel_and_the_scene(open_window, lab):
    lab.run("help")
    window = open_window(size=PHONE, has_touch=True, is_mobile=True)
    panel = window.tab.locator(".formiga-sheet")
    until(lambda: panel.count() == 1 and panel.bounding_box()["height"] < 70)
    assert window.tab.locator("#formiga #flash").inner_text() == ""  # what was said before this window came is not news
    assert sideways(window) <= 0
    for each in (box(window, "bar"), panel.bounding_box(), box(window, "name")):
        assert inside(each, PHONE)
    assert apart(box(window, "bar"), panel.bounding_box())
    window.tab.locator("#root").get_by_text("formiga", exact=True).tap()
    until(lambda: panel.bounding_box()["height"] > 120)
    tabs = panel.get_by_role("tab")
    assert tabs.count() == 4
    until(lambda: len({tab.bounding_box()["y"] for tab in tabs.all()}) == 1)  # in one row, as soon as the panel has come up
    assert panel.bounding_box()["height"] < 0.5 * PHONE["height"] and apart(box(window, "bar"), panel.bounding_box())
    window.tab.locator("#root").get_by_text("formiga", exact=True).tap()
    window.type("help")
    window.shows("wait SECONDS")
    assert sideways(window) <= 0
    console = box(window, "console")
    assert inside(console, PHONE) and apart(console, box(window, "bar")) and console["height"] < 0.5 * PHONE["height"]
    lab.run("record run.parquet; step 20; record off; load run.parquet")
    window.tab.locator("#formiga #timeline").wait_for(state="visible")
    assert inside(box(window, "bar"), PHONE) and inside(box(window, "timeline"), PHONE)
    until(lambda: apart(box(window, "console"), box(window, "bar")))


def test_plots_of_all_robots_appear_when_there_is_something_to_plot(window, lab):
    plots = window.tab.get_by_text("All robots over time")
    assert window.tab.get_by_text("Everybody").count() == 0
    lab.page.panels._over_time.visible = False
    until(lambda: not plots.is_visible())
    for _ in range(4):
        lab.run("step")
        window.tab.wait_for_selector(f"#formiga[data-step='{lab.poses()[2]}']", state="attached")
    until(plots.is_visible)
    assert window.tab.locator(".uplot").first.is_visible()


def test_plots_invent_no_line_over_what_they_have_missed(window, lab, monkeypatch):
    """While no window was open, over a jump in a recording, and from one world to another."""
    page = lab.page
    (plot, *_), robot = page.panels._plots.values(), page.panels.inspector

    def moments(line):
        """What the plots show when the page is where `line` leads."""
        lab.run(line)
        until(lambda: len(plot.data[0]) and plot.data[0][-1] == pytest.approx(lab.session.time))
        return np.round(plot.data[0], 3).tolist()

    lab.run("select 0; plot swarm.speed")
    assert len([moments("step") for _ in range(3)][-1]) >= 3
    with monkeypatch.context() as away:
        away.setattr(page._browser, "get_clients", dict)
        until(lambda: not page.panels._past)
        lab.run("step 50")
    after = moments("step")
    assert after[0] > 5.0
    for past in (lambda: next(iter(page.panels._own_plots._past.values())), lambda: robot._past.get("proximity")):
        until(past)  # it is drawn a moment later
        assert past()[0][0] > 5.0

    lab.run("reset; record run.parquet; step 100; record off; load run.parquet; pause on; seek 0")
    assert moments("seek 1")[-1] == 1.0
    assert moments("seek 9") == [9.0]
    assert moments("load drive; pause on") == [0.0]
