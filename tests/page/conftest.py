"""A laboratory in this process, and a real Chromium that looks at it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from formiga.benchmarks.browser import find
from formiga.page.page import Page
from formiga.session import Session

FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-quic", "--no-first-run", "--mute-audio"]
SIZE = {"width": 900, "height": 540}
SLOW = 30_000  # ms; software rendering on a loaded machine


@pytest.fixture(scope="module")  # playwright keeps a loop running, which other tests of this process could not bear
def browser():
    if (program := find()) is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium; `make test` installs it, or type: sudo apt-get install chromium")
        pytest.skip("there is no Chromium; type: sudo apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


class Lab:
    """A session that runs in a thread, its page, and what it said."""

    def __init__(self, world, **settings):
        self.said: list[tuple[str, str]] = []
        self.session = Session(world, hear=lambda kind, text, who: self.said.append((kind, text)), own_settings=False,
                               **settings)
        self.page = Page(self.session, port=0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self.session.run, args=[self._over.is_set], daemon=True)
        self._thread.start()

    def close(self):
        self._over.set()
        self._thread.join(10)
        self.page.close()
        assert not self._thread.is_alive()

    def do(self, what, timeout=10.0):
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


@pytest.fixture
def lab(request, tmp_path, monkeypatch):
    """A laboratory in an empty folder; `@pytest.mark.parametrize("lab", ["phototaxis"], indirect=True)` chooses its world."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    opened = Lab(getattr(request, "param", "corral"))
    yield opened
    opened.close()


class Window:
    """One browser window on a laboratory."""

    def __init__(self, browser, lab, size=SIZE):
        self.lab = lab
        before = set(lab.page.server.viser.get_clients())
        self.context = browser.new_context(viewport=size, accept_downloads=True)
        self.tab = self.context.new_page()
        self.requests, self.errors = [], []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("websocket", lambda socket: self.requests.append(socket.url))
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.set_default_timeout(SLOW)
        self.tab.goto(lab.page.url)
        self.tab.wait_for_selector("#formiga[data-line=open]", state="attached")
        self.tab.wait_for_selector("#formiga[data-step]", state="attached")
        self.client = (set(lab.page.server.viser.get_clients()) - before).pop()

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
        self.lab.do(lambda: self.lab.page.camera(name, self.client))

        def arrived():
            """Twice in a row, and the scene as wide as the window has told us: the panel beside it may still be on its way."""
            for _ in range(2):
                box, known = self.tab.locator("canvas").first.bounding_box(), self.lab.page.known_cameras(self.client)[name]
                wide = abs(box["width"] / box["height"] - self.camera.image_width / self.camera.image_height) < 0.01
                if not wide or not np.allclose(self.camera.position, known.position, atol=1e-3):
                    return False
                self.tab.wait_for_timeout(500)
            return True

        until(arrived, 40)

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

    def picture(self):
        """What is on the screen (height, width, 3)."""
        import imageio.v3 as iio

        return iio.imread(self.tab.screenshot(), extension=".png")[..., :3]

    def close(self):
        self.context.close()


@pytest.fixture
def open_window(browser, lab):
    """Opens windows, and closes them at the end whatever happened."""
    opened = []

    def another():
        opened.append(Window(browser, lab))
        return opened[-1]

    yield another
    for each in opened:
        each.close()
    assert not [error for each in opened for error in each.errors]


@pytest.fixture
def window(open_window):
    return open_window()


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path
