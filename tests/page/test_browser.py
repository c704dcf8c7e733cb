"""The laboratory as a person meets it: in a real browser, with a mouse and a keyboard."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from urllib.parse import urlsplit

import numpy as np
import pytest
import viser

from formiga.page.sockets import HELD, PICTURE
from tests.page.conftest import CALM, SLOW, until

pytestmark = pytest.mark.xdist_group("browser")  # one process: two browsers would only fight for the same cores

LAMP_WORLD = """<world name="dark" dt="0.1">
  <arena width="2" depth="2"/>
  <lamp x="0.5" y="0" name="lamp"/>
  <cylinder x="-0.5" y="0.3" radius="0.1" name="post"/>
  <sbot name="car"><at x="0" y="-0.5" heading="0"/><proximity/></sbot>
  <alias name="+forward" run="drive car 1 1"/>
  <alias name="-forward" run="drive car 0 0"/>
  <bind key="w" run="+forward"/>
  <camera name="corner" x="1.5" y="-1.5" z="1"/>
</world>"""


@pytest.fixture
def car(tmp_path):
    (tmp_path / "dark.xml").write_text(LAMP_WORLD)
    return str(tmp_path / "dark.xml")


def test_the_page_asks_nobody_but_this_machine(windows, open_window):
    windows.close()
    window = open_window()
    window.tab.wait_for_timeout(1000)
    hosts = {urlsplit(url).hostname for url in window.requests if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}


def test_a_world_plays_pause_holds_time_and_step_takes_one_step(window, lab):
    lab.run("reset; pause on")
    window.tab.locator("#formiga #play").click()
    until(lambda: lab.poses()[2] > 5)
    window.tab.wait_for_selector("#formiga[data-playing=true]", state="attached")
    window.tab.locator("#formiga #play").click()
    until(lambda: not lab.session.playing)
    held = lab.poses()[2]
    time.sleep(0.5)
    assert lab.poses()[2] == held
    window.tab.locator("#formiga #step").click()
    until(lambda: lab.poses()[2] == held + 1)
    time.sleep(0.3)
    assert lab.poses()[2] == held + 1
    window.tab.wait_for_selector(f"#formiga[data-step='{held + 1}']", state="attached")


def test_speed_is_chosen_and_the_achieved_factor_is_shown(window, lab):
    lab.run("pause off")
    window.tab.locator("#formiga #speed").select_option("5")
    until(lambda: lab.session.speed == 5.0)
    until(lambda: abs(lab.session.factor - 5.0) < 1.0, 30)
    until(lambda: re.fullmatch(r"[\d.]+× real time", window.tab.locator("#formiga #factor").inner_text()))
    window.tab.locator("#formiga #speed").select_option("max")
    until(lambda: lab.session.factor > 50, 30)


def test_the_console_has_history_completion_and_help(window):
    window.type("speed 2")
    window.type("speed")
    window.shows("\n2")
    entry = window.tab.locator("#formiga #input")
    entry.press("ArrowUp")
    assert entry.input_value() == "speed"
    entry.press("ArrowUp")
    assert entry.input_value() == "speed 2"
    entry.fill("scree")
    entry.press("Tab")
    until(lambda: entry.input_value() == "screenshot ")
    entry.fill("set swarm.prox")
    entry.press("Tab")
    until(lambda: entry.input_value() == "set swarm.proximity.")
    window.type("help drive")
    window.shows("drive ROBOT LEFT RIGHT")


def test_a_wrong_command_answers_with_help(window):
    window.type("speeed 3")
    window.shows("there is no command 'speeed'. Did you mean 'speed'? `help` lists all.")
    window.type("speed fast")
    window.shows("Usage: speed [FACTOR|max]")


EVERY_COMMAND = [  # typed line, what has to be true of the session afterwards
    ("help", None), ("echo hello $seed", None), ("var depth 3", lambda s: s.console.variables["depth"].text == "3"),
    ("alias twice 'step 2'", lambda s: "twice" in s.console.aliases),
    ("unalias twice", lambda s: "twice" not in s.console.aliases),
    ("bind F5 step", lambda s: "F5" in s.console.binds), ("unbind F5", lambda s: "F5" not in s.console.binds),
    ("pause on", lambda s: not s.playing), ("seed 5", lambda s: s.seed == 5), ("step 3", lambda s: s.sim.state.step[0] == 3),
    ("speed 2", lambda s: s.speed == 2), ("reset", lambda s: s.sim.state.step[0] == 0), ("bench 0.1", None),
    ("set tree.radius 0.1", lambda s: s.world.things[5].radius == 0.1), ("get tree.radius", None), ("info tree", None),
    ("list", None),
    ("spawn swarm", lambda s: s.world.robots == 21), ("remove swarm.20", lambda s: s.world.robots == 20),
    ("spawn lamp 0.6 -0.9 name=sun", lambda s: s.world.things[-1].name == "sun"),
    ("disable sun", lambda s: not s.world.things[-1].on),
    ("enable sun", lambda s: s.world.things[-1].on), ("toggle sun", lambda s: not s.world.things[-1].on),
    ("move sun 0.5 -0.5", lambda s: s.world.things[-1].x == 0.5), ("undo", lambda s: s.world.things[-1].x == 0.6),
    ("controller swarm turn_away", lambda s: type(s.world.groups[0].controller).__name__ == "TurnAway"),
    ("drive 0 1 0.5", lambda s: s.manual.drives[0] == (1.0, 0.5)), ("drive 0 off", lambda s: not s.manual.drives),
    ("out 0.wheel_l 1", lambda s: s.manual.drives[0][0] == 1.0), ("out 0.wheel_l off", None),
    ("drive 0 off", lambda s: not s.manual.drives),
    ("steer 0 ahead 0.5", lambda s: s.manual.drives[0] == (0.5, 0.5)), ("steer 0 off", lambda s: not s.manual.drives),
    ("set world.engine spatial", lambda s: s.world.engine == "spatial"), ("solver iterative", None), ("events", None),
    ("undo", None), ("undo", lambda s: s.world.engine == "planar"),
    ("select swarm.2", lambda s: s.selected == 2), ("overlay beams on", lambda s: "beams" in s.overlays),
    ("overlay none", lambda s: not s.overlays), ("layer none", lambda s: not any(s.layers.switches().values())),
    ("plot swarm.speed", lambda s: s.plots == ["swarm.speed"]), ("plot none", lambda s: not s.plots),
    ("param robots", None),
    ("camera top", None), ("follow 0", None), ("follow off", None), ("camera save mine", None),
    ("save here.xml", None), ("record run.parquet", lambda s: s.recorder is not None),
    ("record off", lambda s: s.recorder is None),
    ("screenshot here.png", None), ("settings", None), ("wait 0", None), ("exec script.fsh", lambda s: s.speed == 4),
    ("stop", None),
    ("load run.parquet", lambda s: s.replay is not None), ("seek 0", None), ("play", lambda s: True), ("export run.html", None),
    ("load line", lambda s: s.replay is None and s.world.name == "line"),
]


def holds(lab, true):
    """Whether something is true of the session; what cannot be asked yet is not."""

    def ask():
        with suppress(LookupError, AttributeError):
            return bool(true(lab.session))
        return False

    return lab.do(ask)


def test_the_console_runs_each_command(window, lab, folder):
    (folder / "script.fsh").write_text("speed 4\n")
    lab.run("pause on")
    named = {line.split()[0] for line, _ in EVERY_COMMAND} | {"quit"}
    assert named == set(lab.session.console.commands), "a command has no line here"
    for line, true in EVERY_COMMAND:
        window.type(line)
        if true is not None:
            until(lambda true=true: holds(lab, true), message=lambda line=line: f"{line!r} did nothing: {lab.said[-3:]}")
    for file in ("here.xml", "run.parquet", "here.png", "run.html"):
        until(lambda file=file: (folder / file).exists(), 60, f"there is no {file}: {lab.said[-5:]}")
    assert not [text for kind, text in lab.said if kind == "error"]
    window.type("quit")
    until(lambda: lab.session.ended)


def test_a_key_drives_a_robot_without_a_line_of_python(open_window, lab, car):
    lab.do(lambda: lab.session.open(car))
    window = open_window()
    lab.run("play")
    start = lab.poses()[0][0, 0]
    window.tab.locator("canvas").first.focus()
    window.tab.keyboard.down("w")
    until(lambda: lab.poses()[0][0, 0] > start + 0.02)
    window.tab.keyboard.up("w")
    until(lambda: lab.session.manual.drives.get(0) == (0.0, 0.0))
    lab.do(lambda: None)
    stopped = lab.poses()
    time.sleep(0.5)
    assert lab.poses()[2] > stopped[2]
    np.testing.assert_array_equal(lab.poses()[0], stopped[0])


def test_closing_a_window_lets_go_of_the_key_that_is_held_in_it_and_does_not_stop_the_run(open_window, lab, car):
    lab.do(lambda: lab.session.open(car))
    window = open_window()
    lab.run("play")
    window.tab.keyboard.down("w")
    until(lambda: lab.session.manual.drives.get(0) == (1.0, 1.0))
    window.close()
    until(lambda: lab.session.manual.drives.get(0) == (0.0, 0.0))
    until(lambda: not lab.page.server.viser.get_clients())
    step = lab.poses()[2]
    until(lambda: lab.poses()[2] > step + 5)


def drag(window, start, end):
    mouse = window.tab.mouse
    mouse.move(*start)
    window.tab.wait_for_timeout(300)
    mouse.down()
    for share in np.linspace(0.1, 1.0, 12):
        mouse.move(*(np.array(start) + share * (np.array(end) - np.array(start))))
        window.tab.wait_for_timeout(60)
    window.tab.wait_for_timeout(400)
    mouse.up()


def test_dragging_moves_a_robot_and_an_obstacle(open_window, lab, car):
    lab.do(lambda: lab.session.open(car))
    window = open_window()
    window.settle("top")
    drag(window, window.at(0.0, -0.5, 0.1), window.at(0.3, 0.2, 0.1))
    until(lambda: np.allclose(lab.poses()[0][0], (0.3, 0.2), atol=0.04), message=lambda: f"it is at {lab.poses()[0][0]}")
    drag(window, window.at(-0.5, 0.3, 0.1), window.at(-0.6, -0.4, 0.1))
    post = lambda: lab.session.world.things[2]  # noqa: E731
    until(lambda: np.allclose((post().x, post().y), (-0.6, -0.4), atol=0.04), message=lambda: f"it is at {post()}")
    lab.run("undo; undo")
    assert lab.poses()[0][0] == pytest.approx((0.0, -0.5))


def test_the_inspector_shows_the_numbers_of_the_state(open_window, lab, car):
    lab.do(lambda: lab.session.open(car))
    window = open_window()
    lab.run("move post 0.13 -0.4; step")
    window.settle("top")

    def clicked():
        window.tab.mouse.click(*window.at(0.0, -0.5, 0.1))
        window.tab.wait_for_timeout(1500)
        return lab.session.selected == 0

    until(clicked, 40)  # a window that has just opened may not listen yet
    shown = window.tab.locator(".formiga-inspector")
    until(lambda: shown.count() == 1)
    robot = lab.do(lambda: lab.session.frame(exact=True).extra["robot"])
    for name, text in (("x", f"{robot['x']:.4f}"), ("y", f"{robot['y']:.4f}"), ("crashes", str(robot["crashes"]))):
        until(lambda name=name, text=text: window.tab.locator(f"#formiga-{name}").inner_text() == text)
    numbers = " ".join(f"{value:.3g}" for value in robot["readings"]["proximity"].tolist())
    assert robot["readings"]["proximity"].max() > 0.0
    until(lambda: numbers in shown.inner_text())


def test_a_recording_replays_and_scrubs_to_the_same_poses(window, lab, folder):
    lab.run("pause on; record run.parquet")
    seen = {}
    for _ in range(8):
        lab.run("step 5")
        position, heading, step = lab.poses()
        seen[step] = (position, heading)
    lab.run("record off; load run.parquet")
    window.tab.locator("#formiga #timeline").wait_for(state="visible")
    for step in (40, 10, 25):
        window.tab.locator("#formiga #timeline").evaluate(
            "(slider, seconds) => { slider.value = seconds; slider.dispatchEvent(new Event('input'));"
            " slider.dispatchEvent(new Event('change')); }", step * 0.1)
        until(lambda step=step: lab.poses()[2] == step)
        np.testing.assert_array_equal(lab.poses()[0], seen[step][0])
        np.testing.assert_array_equal(lab.poses()[1], seen[step][1])
        until(lambda step=step: lab.page.drawn == step)
        np.testing.assert_array_equal(window.lab.page._drawn.place[:, :2], seen[step][0])
    window.tab.locator("#formiga #play").click()
    until(lambda: lab.poses()[2] == 40)


def test_the_exported_page_opens_by_itself_and_shows_the_scene(browser, lab, folder):
    lab.run("pause on; record run.parquet; step 30; record off; load run.parquet; export run.html")
    until(lambda: (folder / "run.html").exists(), 60, lambda: f"{lab.said[-3:]}")
    context = browser.new_context(viewport={"width": 800, "height": 500}, offline=True)
    context.add_init_script(CALM)
    tab = context.new_page()
    requests, errors = [], []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((folder / "run.html").as_uri(), timeout=SLOW)
    tab.wait_for_selector("canvas", timeout=SLOW)
    import imageio.v3 as iio

    def colours():
        picture = iio.imread(tab.screenshot(), extension=".png")[..., :3].astype(int)
        orange = (picture[..., 0] > 180) & (picture[..., 0] - picture[..., 2] > 90)
        return orange.sum()

    until(lambda: colours() > 200, 40, "no orange s-bot is in sight")
    assert not [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
    assert not errors and tab.title() == "corral - formiga"
    context.close()


@pytest.mark.parametrize("kind", ["gif", "mp4", "webm"])
def test_a_recording_becomes_a_film(window, lab, folder, kind):
    import imageio.v3 as iio

    window.paint()
    window.resize(900, 540)
    lab.run(f"pause on; record run.parquet; step 3; record off; load run.parquet; export run.{kind}")
    until(lambda: (folder / f"run.{kind}").exists(), 90, lambda: f"{lab.said[-3:]}")
    pictures = list(iio.imiter(folder / f"run.{kind}", plugin="pillow" if kind == "gif" else "FFMPEG"))
    assert 4 <= len(pictures) <= 8  # 0.3 s at 20 a second
    orange = [((each[..., 0].astype(int) > 170) & (each[..., 0].astype(int) - each[..., 2] > 80)).sum() for each in pictures]
    assert min(orange) > 100


def test_an_export_can_be_stopped_and_leaves_no_file(window, lab, folder):
    lab.run("pause on; record run.parquet; step 300; record off; load run.parquet; export run.gif")
    lab.run("export other.gif")
    lab.heard("another export is being made", "error")
    lab.run("export off")
    lab.heard("the export was stopped", "error")
    assert {each.name for each in folder.iterdir()} <= {"run.parquet", "config"}


def test_a_screenshot_shows_the_scene(window, lab, folder, monkeypatch):
    import imageio.v3 as iio

    window.paint()
    window.resize(1000, 640)
    mine = lab.page.server.viser._websock_server._live_connections[window.client]
    allowed, render = [], viser.ClientHandle.get_render
    monkeypatch.setattr(viser.ClientHandle, "get_render", lambda *given, **named: (
        allowed.append(mine.most), render(*given, **named))[1])
    lab.run("pause on; screenshot here.png")
    until(lambda: (folder / "here.png").exists(), 60)
    assert allowed == [PICTURE] and mine.most == HELD  # so much the window may send, as long as it was asked for a picture
    picture = iio.imread(folder / "here.png").astype(int)
    assert ((picture[..., 0] > 180) & (picture[..., 0] - picture[..., 2] > 90)).sum() > 200


def test_two_windows_see_the_same_and_have_cameras_of_their_own(open_window, window, lab):
    other = open_window()
    lab.run("pause on; step 4")
    step = lab.poses()[2]
    for each in (window, other):
        each.tab.wait_for_selector(f"#formiga[data-step='{step}']", state="attached")
    before = np.array(other.camera.position)
    window.type("camera top")
    top = lab.page.known_cameras(window.client)["top"].position
    until(lambda: np.allclose(window.camera.position, top, atol=1e-3))
    assert np.allclose(other.camera.position, before, atol=1e-3)
    other.close()
    window.type("step")
    until(lambda: lab.poses()[2] == step + 1)


def test_the_gallery_shows_every_shipped_world_and_opens_one(window, lab):
    from formiga.lab import shipped_worlds

    window.tab.locator("#formiga #worlds").click()
    cards = window.tab.locator("#formiga .card[data-world]")
    until(lambda: cards.count() == len(shipped_worlds()))
    assert {card.get_attribute("data-world") for card in cards.all()} == set(shipped_worlds())
    window.tab.locator("#formiga .card[data-world=mixed]").click()
    until(lambda: lab.session.world.name == "mixed" and lab.session.playing)


def test_overlays_and_cameras_change_the_picture(window, lab):
    lab.run("pause on")
    window.settle("top")
    plain = window.picture().astype(int)
    for name in ("beams", "circles", "contacts", "names", "links", "trails", "shifts"):
        lab.run(f"overlay {name} on")
    lab.run("step 30")
    until(lambda: (np.abs(window.picture().astype(int) - plain) > 40).any(axis=-1).sum() > 500, 30)
    lab.run("camera corner")
    lab.heard("there is no camera 'corner'", "error")


def test_the_panels_write_console_lines(window, lab):
    window.tab.get_by_role("tab", name="Look").click()
    until(lambda: not window.tab.get_by_label("trails").is_checked())  # as the test before may have left it
    window.tab.get_by_label("trails").check()
    until(lambda: "trails" in lab.session.overlays)
    lab.run("overlay trails off")
    until(lambda: not window.tab.get_by_label("trails").is_checked())
    chosen = window.tab.locator("input.mantine-Select-input:visible").first
    lab.run("camera overview")
    until(lambda: chosen.input_value() == "overview")
    lab.run("camera top")
    until(lambda: chosen.input_value() == "top")
    chosen.click()
    window.tab.get_by_role("option", name="overview").click()
    overview = lab.page.known_cameras(window.client)["overview"].position
    until(lambda: np.allclose(window.camera.position, overview, atol=1e-3))
