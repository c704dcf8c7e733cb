"""What one makes in the page: walls and robots with the mouse, files, params, plots, films."""

from __future__ import annotations

import numpy as np
import pytest

from formiga.page.open import listing, recents
from formiga.page.params import range_of, split
from formiga.session import recent
from formiga.view.cameras import pinhole
from tests.page.conftest import until
from tests.page.test_comfort import PHONE, apart, box, inside

MINE = """<world name="room" dt="0.1">
  <!-- mine -->
  <param name="side" value="2"/>
  <param name="noise" value="0.1"/>
  <param name="robots" value="2"/>
  <arena width="${side}" depth="${side}"/>
  <sbot name="cars" count="${robots}"><grid spacing="30cm" x="-0.6" y="-0.6" heading="0"/><proximity noise="${noise}"/></sbot>
  <disc name="discs" radius="5cm" wheel_base="8cm" top_speed="10cm/s"><at x="-0.8" y="0.6" heading="0"/></disc>
</world>"""


@pytest.fixture
def room(lab, folder):
    """A laboratory with a world file of one's own."""
    (folder / "room.xml").write_text(MINE)
    lab.do(lambda: lab.session.open("room.xml"))
    return lab


def browser(test):
    return pytest.mark.xdist_group("browser")(test)


# -- in a window ------------------------------------------------------------------------------------------------------
def stroke(window, tool, start, end):
    """Draw with a tool from one place on the floor to another."""
    button = window.tab.locator(f"#formiga [data-tool={tool}]")
    if button.get_attribute("aria-pressed") != "true":
        button.dispatch_event("click")
    window.tab.mouse.move(*window.at(*start))
    window.tab.mouse.down()
    window.tab.mouse.move(*window.at(*end), steps=2)
    window.tab.wait_for_timeout(100)
    window.tab.mouse.up()


@browser
def test_walls_obstacles_lamps_and_robots_are_drawn_with_the_mouse(room, open_window):
    window, session = open_window(), room.session
    window.settle("top")
    things = lambda: session.world.things[1:]  # noqa: E731  without the arena
    stroke(window, "wall", (-0.5, 0.3), (0.5, 0.3))
    until(lambda: len(things()) == 1)
    np.testing.assert_allclose(things()[0].points, (-0.5, 0.3, 0.5, 0.3), atol=0.025)
    stroke(window, "box", (0.2, -0.2), (0.6, -0.4))
    until(lambda: len(things()) == 2)
    box = things()[1]
    np.testing.assert_allclose((box.x, box.y, box.width, box.depth), (0.4, -0.3, 0.4, 0.2), atol=0.03)
    stroke(window, "cylinder", (0.0, 0.0), (0.1, 0.0))
    until(lambda: len(things()) == 3)
    np.testing.assert_allclose((things()[2].x, things()[2].y, things()[2].radius), (0.0, 0.0, 0.1), atol=0.025)
    stroke(window, "lamp", (0.7, 0.0), (0.7, 0.0))
    until(lambda: len(things()) == 4)
    np.testing.assert_allclose((things()[3].x, things()[3].y), (0.7, 0.0), atol=0.02)
    window.tab.locator("#formiga [data-tool=robot]").click()
    window.tab.locator("#formiga #group").select_option("discs")
    stroke(window, "robot", (0.6, 0.6), (0.6, 0.8))
    until(lambda: session.world.groups[1].count == 2)
    position, heading, _ = room.poses()
    np.testing.assert_allclose(position[3], (0.6, 0.6), atol=0.02)
    assert abs(heading[3] - np.pi / 2) < 0.15
    window.tab.locator("#formiga #undo").click()
    until(lambda: session.world.groups[1].count == 1)
    stroke(window, "robot", (0.4, -0.3), (0.5, -0.3))
    room.heard("a wall or an obstacle is in the way", "error")
    window.tab.keyboard.press("Escape")
    assert window.tab.locator("#formiga #sheet").is_hidden()
    room.run("record tape.parquet; step; record off; load tape.parquet")
    window.tab.wait_for_selector("#formiga #tools", state="hidden")


@browser
def test_files_are_opened_and_saved_from_the_page(room, open_window, folder):
    tab = open_window().tab
    (folder / "runs").mkdir()
    room.run("record runs/tape.parquet; step 3; record off")
    recent.note(folder / "room.xml")
    tab.locator("#formiga #worlds").click()
    until(lambda: tab.locator("#formiga #recent .file b").all_inner_texts() == ["Open a file …", "room.xml"])
    tab.locator("#formiga #open-file").click()
    tab.locator("#formiga #entries .folder", has_text="runs").click()
    tab.locator("#formiga #entries .recording").click()
    until(lambda: room.session.replay is not None, message=lambda: f"not opened: {room.said[-3:]}")
    until(lambda: tab.locator("#formiga dialog[open]").count() == 0)
    tab.locator("#formiga #worlds").click()
    tab.locator("#formiga #recent .world").click()
    until(lambda: room.session.replay is None and room.session.world.name == "room")

    tab.get_by_role("tab", name="Files").click()
    tab.get_by_role("button", name="Save world as it stands").click()
    tab.get_by_role("button", name="Save as room-2.xml").click()
    until(lambda: (folder / "room-2.xml").exists())
    assert (folder / "room.xml").read_text() == MINE and "<!-- mine -->" in (folder / "room-2.xml").read_text()
    tab.get_by_role("button", name="Save world as it stands").click()
    tab.get_by_role("button", name="Replace room.xml").click()
    until(lambda: (folder / "room.xml").read_text() != MINE)
    assert 'width="${side}"' in (folder / "room.xml").read_text()


@browser
def test_the_open_dialog_stays_with_what_is_wrong_until_a_file_has_been_opened(room, open_window, folder):
    (folder / "wrong.xml").write_text("<world>\n  <sbott/>\n</world>")
    (folder / "other.xml").write_text('<world name="other"><arena width="2" depth="2"/></world>')
    tab = open_window(size=PHONE).tab
    tab.locator("#formiga #worlds").click()
    tab.locator("#formiga #open-file").click()
    names = tab.locator("#formiga #entries .file b")
    until(lambda: names.all_inner_texts() == ["other.xml", "room.xml", "wrong.xml"])
    for each in names.all():  # readable also on a phone: not cut short
        assert each.evaluate("(name) => name.scrollWidth <= name.clientWidth")
    error = tab.locator("#formiga #open-error")
    for typed, words in (("nothere.xml", "nothere.xml: no such file."), ("wrong.xml", "wrong.xml:2: <sbott> is unknown.")):
        tab.locator("#formiga #path-input").fill(typed)
        tab.keyboard.press("Enter")
        until(lambda words=words: words in error.inner_text())
        assert error.inner_text().startswith(typed)
        assert tab.locator("#formiga #open").is_visible() and tab.locator("#formiga #path-input").input_value() == typed
        assert room.session.world.name == "room"
    tab.locator("#formiga #entries .world", has_text="other.xml").click()
    until(lambda: room.session.world.name == "other")
    until(lambda: tab.locator("#formiga dialog[open]").count() == 0)


@browser
def test_names_that_occur_twice_leave_the_panel_alive(room, open_window, folder):
    """viser's lists end the whole page if two of their entries are the same."""
    (folder / "twice.xml").write_text("""<world name="twice"><arena width="2" depth="2"/><lamp x="0" y="0.5" name="cars"/>
        <lamp x="0" y="0" name="world"/><camera name="top" x="1" y="1" z="1"/>
        <sbot name="cars"><at x="0" y="-0.5"/></sbot></world>""")
    room.run("load twice.xml")
    window = open_window()
    window.tab.get_by_role("tab", name="Change").click()
    window.tab.locator("input[value=world]").first.click()
    offered = window.tab.locator("[role=option]:visible")
    until(lambda: offered.all_inner_texts() == ["world", "contact", "cars", "arena", "cars.lamp", "world.lamp"])
    offered.filter(has_text="cars.lamp").click()
    room.run("camera top")
    assert room.page.cameras() == ["overview", "top"]
    room.run("set cars.lamp.x 0.25")
    assert room.session.world.things[1].x == 0.25
    window.tab.get_by_role("tab", name="Look").click()
    assert window.tab.get_by_role("tab").count() == 4 and not window.errors


@browser
def test_params_have_sliders_and_quantities_of_ones_own_are_plotted(room, open_window):
    window = open_window()
    tab, session = window.tab, room.session
    tab.get_by_role("tab", name="Change").click()
    sliders = tab.get_by_role("slider")
    until(lambda: sliders.count() == 3)
    step = session.sim.state.step[0]
    sliders.nth(1).focus()
    for _ in range(5):
        sliders.nth(1).press("ArrowRight")
    until(lambda: session.world.groups[0].sensors[0].noise != (0.1,))
    room.heard("the run goes on")
    assert session.sim.state.step[0] >= step
    sliders.nth(2).focus()
    sliders.nth(2).press("ArrowRight")
    until(lambda: session.world.groups[0].count == 3)
    room.heard("robots is 3; the run starts again: there are other robots")
    tab.get_by_role("tab", name="Inspect").click()
    tab.locator("input.mantine-TextInput-input:visible").first.fill("cars.proximity")
    tab.wait_for_timeout(300)
    tab.get_by_role("button", name="plot", exact=True).click()
    until(lambda: session.plots == ["cars.proximity"])
    room.run("pause off")
    until(lambda: tab.locator(".uplot .u-title", has_text="cars.proximity").count() == 1)
    plot = next(iter(room.page.panels._own_plots._widgets.values()))
    until(lambda: len(plot.data) == 16 and len(plot.data[0]) > 5)
    tab.get_by_role("button", name="remove all").click()
    until(lambda: session.plots == [])


@browser
def test_a_film_shows_how_far_it_is_and_can_be_stopped(room, open_window, folder):
    window = open_window()
    room.run("record tape.parquet; step 200; record off; load tape.parquet; export film.gif")
    window.tab.wait_for_selector("#formiga #exporting", state="visible")
    assert window.tab.locator("#formiga #export-name").inner_text() == "film.gif"
    window.tab.locator("#formiga #shell").click()  # with the console open, too, it can be seen and stopped
    until(lambda: all(apart(box(window, "exporting"), box(window, other)) for other in ("console", "bar")))
    assert inside(box(window, "exporting"), window.tab.viewport_size)
    until(lambda: window.tab.locator("#formiga #export-done").evaluate("bar => bar.value") > 0)
    window.tab.locator("#formiga #export-stop").click()
    room.heard("the export was stopped; nothing was written", "error")
    window.tab.wait_for_selector("#formiga #exporting", state="hidden")
    assert not [path for path in folder.iterdir() if "film" in path.name]


# -- without one ------------------------------------------------------------------------------------------------------
def test_a_film_needs_no_window(room, folder):
    from PIL import Image

    room.run("record tape.parquet; step 20; record off; load tape.parquet; overlay trails on; export film.gif")
    room.heard("saved film.gif, 41 pictures, drawn from above: no window is open")
    with Image.open(folder / "film.gif") as film:
        assert film.size == (640, 640) and film.n_frames > 1
    room.run("export other.gif; export off")
    room.heard("the export was stopped; nothing was written", "error")
    assert not (folder / "other.gif").exists() and not list(folder.glob(".*.tmp"))


def test_a_folder_is_listed_and_nothing_outside_of_it(tmp_path):
    base = tmp_path / "base"
    (base / "runs" / "deep").mkdir(parents=True)
    for name in ("a.xml", "b.parquet", "c.txt", ".hidden.xml", "runs/d.xml"):
        (base / name).write_text("x")
    (tmp_path / "secret.xml").write_text("x")
    (base / "link.xml").symlink_to(tmp_path / "secret.xml")
    (base / "out").symlink_to(tmp_path)
    found = listing(str(base), "")
    assert [(entry["name"], entry["kind"]) for entry in found["entries"]] == [
        ("runs", "folder"), ("a.xml", "world"), ("b.parquet", "recording")]
    assert found["above"] is None and found["error"] == ""
    inner = listing(str(base), "runs")
    assert [entry["name"] for entry in inner["entries"]] == ["deep", "d.xml"] and inner["above"] == ""
    assert listing(str(base), "runs/deep")["above"] == "runs"
    for wrong in ("..", "/", "out", "runs/../..", "none", "a.xml", "\0"):
        assert listing(str(base), wrong)["entries"] == [] and "there is no folder" in listing(str(base), wrong)["error"]


def test_recent_files_are_shown_until_they_are_gone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for number in range(recent.MOST + 3):
        (tmp_path / f"{number}.xml").write_text("<world/>")
        recent.note(tmp_path / f"{number}.xml")
    recent.note(tmp_path / "5.xml")
    assert [entry["name"] for entry in recents()][:3] == ["5.xml", "14.xml", "13.xml"] and len(recents()) == recent.MOST
    (tmp_path / "14.xml").unlink()
    assert "14.xml" not in [entry["name"] for entry in recents()]
    recent.path().write_text('{"not": "a list"')
    assert recents() == []


def test_a_point_of_the_floor_is_found_from_its_pixel():
    eye = pinhole((1.0, -2.0, 1.5), (0.2, 0.1, 0.0), (0.0, 0.0, 1.0), 0.9, 1.6)
    for point in ((0.0, 0.0, 0.0), (0.4, -0.3, 0.0), (-1.0, 1.0, 0.0)):
        away = np.array(point) - eye["place"]
        u, v = (away @ eye[side] / (away @ eye["ahead"]) for side in ("right", "up"))
        ray = np.array(eye["ahead"]) + u * np.array(eye["right"]) + v * np.array(eye["up"])
        np.testing.assert_allclose(np.array(eye["place"]) - eye["place"][2] / ray[2] * ray, point, atol=1e-12)
    assert eye["wide"] == pytest.approx(1.6 * np.tan(0.45))


@pytest.mark.parametrize("text, ends, step", [
    ("20", (0, 40), 1), ("2.4", (0, 4.8), 0.05), ("30cm", (0, 60), 1), ("0.1", (0, 0.2), 0.002), ("-1.5", (-3, 0), 0.05),
    ("0", (0, 4), 1), ("1000", (0, 2000), 20), ("1", (0, 4), 1)])
def test_a_slider_goes_from_zero_to_twice_the_value(text, ends, step):
    found = range_of(text)
    assert (found.low, found.high) == pytest.approx(ends) and found.step == pytest.approx(step)
    assert found.low <= split(text)[0] <= found.high


def test_a_text_has_no_slider():
    assert range_of("braitenberg") is None
