"""One laboratory and one real Chromium that looks at it, for all tests of this folder; to each test they are as good as new."""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

from formiga.page.page import Page
from formiga.session import Session

FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-quic", "--no-first-run", "--mute-audio"]
SIZE = {"width": 760, "height": 460}
CALM = """(() => {  // software rendering takes 0.1 to 0.3 s of a core for a picture: few in a second, or none (asleep)
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (paint) => setTimeout(
        function ready() { if (window.asleep) setTimeout(ready, 100); else frame(paint); }, window.seen ? 400 : 60);
    window.cancelAnimationFrame = clearTimeout.bind(window);
})()"""
BLIND = """// draws nothing unless it is seen
for (const name of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced"]) {
    const draw = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...how) { if (window.seen) draw.apply(this, how); };
}"""
SLOW = 90_000  # ms; software rendering on a machine with ten other things to do
VISERS_OWN = "Unable to preventDefault inside passive event listener invocation."  # it says so when something is dragged


@pytest.fixture(scope="package")  # and not longer: playwright keeps a loop running, which disturbs tests of other folders
def browser(windows, chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        windows.close()
        opened.close()


class Anew(Session):
    """A session that can be made again in place. Its inbox stays the same one, because the page's thread waits at it."""

    inbox = property(lambda self: self._kept, lambda self, new: self.__dict__.setdefault("_kept", new))


class Lab:
    """A session that runs in a thread, its page, and what it said."""

    def __init__(self, world="corral", **settings):
        self.said: list[tuple[str, str]] = []
        self.session = Anew(world, hear=self._hear, own_settings=False, **settings)
        self.page = Page(self.session, port=0)
        self._run()

    def _hear(self, kind, text, window):
        self.said.append((kind, text))

    def _run(self):
        self._over = threading.Event()
        self._thread = threading.Thread(target=self.session.run, args=[self._over.is_set], daemon=True)
        self._thread.start()

    def _halt(self):
        self._over.set()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def begin(self, world="corral", **settings):
        """As if it had just been opened, but for the windows and the server, which stay."""
        session, page = self.session, self.page
        if page._job is not None:
            page._job.stop()
            page._job._thread.join(30)
        self._halt()
        session.inbox.answer(lambda: None, lambda wrong: None)
        version, self.said = session.version, []
        session.__init__(world, hear=self._hear, own_settings=False, **settings)
        session.version, session.windows = version + 1, page
        session.hearers.append(page._heard)
        page.folder = os.getcwd()
        page.saved.clear()
        page._followed.clear()
        page._framed.clear()
        page.panels._past.clear()
        if page.scene.dark:
            page.panels._darken(False)
        self.faults()
        self._run()

    def faults(self):
        """What failed in the page since it was last asked, in words. At the end of a test there must be none."""
        found = list(self.page.faults.counts)
        self.page.faults.counts.clear()
        return found

    def close(self):
        self._halt()
        self.page.close()

    def do(self, what, timeout=30.0):
        """Have a function called between two steps; its result."""
        done, result = threading.Event(), []

        def call():
            result.append(what())
            done.set()

        assert self.session.post(call)
        assert done.wait(timeout), "the session does not answer"
        return result[0]

    def run(self, text):
        return self.do(lambda: self.session.console.run(text))

    def poses(self):
        state = self.session.sim.state
        return self.do(lambda: (state.position[0].copy(), state.heading[0].copy(), int(state.step[0])))

    def heard(self, text, kind=None):
        until(lambda: any(text in each and kind in (None, how) for how, each in list(self.said)),
              message=lambda: f"nobody said {text!r}: {self.said[-5:]}")


def until(true, seconds=20.0, message=lambda: "it did not become true in time"):
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.02)
    pytest.fail(message() if callable(message) else message)


@pytest.fixture(scope="package")
def laboratory():
    """The one that all tests of this folder use, one after another."""
    opened = Lab()
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in, and no settings of the user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture
def lab(request, laboratory, folder, unharmed):
    """A laboratory in an empty folder; `@pytest.mark.parametrize("lab", ["phototaxis"], indirect=True)` chooses its world."""
    laboratory.begin(getattr(request, "param", "corral"))
    return laboratory


@pytest.fixture
def unharmed(laboratory, caplog, monkeypatch):
    """Nothing may fail in the laboratory itself: no picture, no action of a widget, nothing that the server would log."""
    printed = []
    monkeypatch.setattr(traceback, "print_exception", lambda kind, wrong, *more, **named: printed.append(repr(wrong)))
    yield
    assert not laboratory.faults()
    assert not printed, "viser printed a traceback"
    assert not [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]


class Window:
    """One browser window on a laboratory."""

    def __init__(self, browser, lab, size=SIZE, **how):
        self.lab, self.closed, self.asleep = lab, False, False
        before = set(lab.page.server.viser.get_clients())
        self.context = browser.new_context(viewport=size, accept_downloads=True, **how)
        self.context.add_init_script(CALM)
        self.tab = self.context.new_page()
        self.tab.add_init_script(BLIND)
        self.requests, self.errors = [], []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("websocket", lambda socket: self.requests.append(socket.url))
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("console", self._console)
        self.tab.set_default_timeout(SLOW)
        self.tab.goto(lab.page.url)
        self.tab.wait_for_selector("#formiga[data-line=open]", state="attached")
        self.tab.wait_for_selector("#formiga[data-step]", state="attached")
        self.client = (set(lab.page.server.viser.get_clients()) - before).pop()
        self.tab.locator(".mantine-Notification-closeButton").first.click()  # "software rendering": it lies over the scene

    def _console(self, said):
        if said.type == "error" and said.text != VISERS_OWN:
            self.errors.append(said.text)

    @property
    def camera(self):
        return self.lab.page.server.viser.get_clients()[self.client].camera

    def at(self, x, y, z=0.0):
        """Pixels of a point of the world: a pinhole camera, from what the window itself reports."""
        camera = self.camera
        forward = np.array(camera.look_at) - np.array(camera.position)
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, np.array(camera.up_direction))
        right /= np.linalg.norm(right)
        away = np.array([x, y, z]) - np.array(camera.position)
        depth = away @ forward
        scene = self.tab.locator("canvas").first.bounding_box()
        scale = 0.5 * scene["height"] / np.tan(0.5 * camera.fov)
        return (scene["x"] + 0.5 * scene["width"] + scale * (away @ right) / depth,
                scene["y"] + 0.5 * scene["height"] - scale * (away @ np.cross(right, forward)) / depth)

    def settle(self, name="top"):
        """Look from above, and wait until the window has arrived there."""

        def arrived():
            """Twice in a row, and the scene as wide as the window has told us: the panel beside it may still be on its way."""
            self.lab.do(lambda: self.lab.page.camera(name, self.client))
            for _ in range(2):
                self.tab.wait_for_timeout(300)
                box, known = self.tab.locator("canvas").first.bounding_box(), self.lab.page.known_cameras(self.client)[name]
                wide = abs(box["width"] / box["height"] - self.camera.image_width / self.camera.image_height) < 0.01
                if not wide or not np.allclose(self.camera.position, known.position, atol=1e-3):
                    return False
            return True

        until(arrived, 40, lambda: f"the camera is at {self.camera.position}, not at {name}")

    def resize(self, width, height):
        """Make the window so large, and wait until the laboratory knows. viser renders fewer pixels where painting is slow."""
        self.tab.set_viewport_size({"width": width, "height": height})

        def known():
            box, camera = self.tab.locator("canvas").first.bounding_box(), self.camera
            shape = box["width"] / box["height"] - camera.image_width / camera.image_height
            return abs(box["height"] - height) < 1 and abs(shape) < 0.01

        until(known)

    def type(self, text):
        """Type a line into the console and run it."""
        if self.tab.locator("#formiga #console").is_hidden():
            self.tab.locator("#formiga #shell").click()
        self.tab.locator("#formiga #input").fill(text)
        self.tab.locator("#formiga #input").press("Enter")

    def log(self):
        return self.tab.locator("#formiga #log").inner_text()

    def shows(self, text):
        until(lambda: text in self.log(), message=lambda: f"the console does not show {text!r}: {self.log()[-400:]}")

    def paint(self):
        """Paint the scene, too, which costs far more than all else, until the next test."""
        self.tab.evaluate("window.seen = true")

    def picture(self):
        """What is on the screen (height, width, 3)."""
        import imageio.v3 as iio

        self.paint()
        return iio.imread(self.tab.screenshot(), extension=".png")[..., :3]

    def begin(self):
        """As if it had just been opened: nothing typed, nothing open, the first tab of the panel."""
        self.asleep = False
        self.tab.set_viewport_size(SIZE)
        self.tab.evaluate("""() => {
            const root = document.getElementById("formiga").shadowRoot;
            for (const each of root.querySelectorAll("dialog[open]")) each.close();
            root.getElementById("tab-worlds").click();
            for (const each of root.querySelectorAll("[data-tool][aria-pressed=true]")) each.click();
            root.getElementById("console").hidden = true;
            root.getElementById("input").value = "";
            for (const each of ["log", "completions", "flash"]) root.getElementById(each).replaceChildren();
            if (root.activeElement) root.activeElement.blur();
            window.asleep = window.seen = false;
        }""")
        first = self.tab.get_by_role("tab", name="Inspect")
        if first.get_attribute("aria-selected") != "true":
            first.click()
        until(lambda: self.lab.page._version == self.lab.session.version and self.client in self.lab.page._framed
              and self.tab.evaluate("window.formiga.keys") == sorted(self.lab.session.console.binds))

    def sleep(self):
        """Paint no more, until it is looked at again."""
        if not self.asleep:
            self.tab.evaluate("window.asleep = true")
        self.asleep = True

    def close(self):
        self.closed = True
        self.context.close()


class Windows:
    """The windows on the laboratory. One stays from test to test."""

    def __init__(self):
        self.first = None

    def shared(self, browser, lab):
        if self.first is None or self.first.closed:
            self.first = Window(browser, lab)
        self.first.begin()
        return self.first

    def sleep(self):
        if self.first is not None and not self.first.closed:
            self.first.sleep()

    def close(self):
        if self.first is not None and not self.first.closed:
            self.first.close()
        self.first = None


@pytest.fixture(scope="package")
def windows():
    return Windows()


@pytest.fixture(autouse=True)
def close_windows_that_are_not_looked_at(request, windows):
    """A window costs a good part of a core while it paints, and ten times a picture to open."""
    used = set(request.fixturenames)
    if "browser" in used and not used & {"window", "open_window"}:
        windows.sleep()
    elif "browser" not in used and "laboratory" in used:  # there, no window is part of what is tested
        windows.close()
    elif "browser" not in used:
        windows.sleep()


@pytest.fixture
def open_window(browser, windows, lab):
    """Opens windows; the first is the one that all tests share. `own=True` or a device: one more, closed at the end."""
    used = []

    def another(own=False, size=SIZE, **device):
        if used or own or device:
            if windows.first not in used:
                windows.sleep()
            used.append(Window(browser, lab, size, **device))
        else:
            used.append(windows.shared(browser, lab))
            if size != SIZE:
                used[0].resize(**size)
        return used[-1]

    yield another
    errors = [error for each in used for error in each.errors]
    for each in used:
        each.errors.clear()
        if each is not windows.first:
            each.close()
    if errors:
        windows.close()
    assert not errors


@pytest.fixture
def window(open_window):
    return open_window()

