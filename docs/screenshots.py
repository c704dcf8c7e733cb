"""The pictures of the laboratory, taken by itself: those of this manual and those of the gallery.

    make pictures

Each is a real window of a real session, in a Chromium without a screen. Look at them before you commit them.
"""

from __future__ import annotations

import io
import re
import sys
import threading
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from formiga.benchmarks.browser import FLAGS, find
from formiga.errors import FormigaError
from formiga.lab import known_worlds, load_elements
from formiga.page.page import Page
from formiga.session import Session
from formiga.session.names import thing_names
from formiga.soccer.arrange import arrange

ROOT = Path(__file__).parents[1]
MANUAL, GALLERY = ROOT / "docs" / "pictures", "pictures"   # of the manual; of the gallery, beside the worlds
WINDOW, THUMBNAIL = (1280, 800), (480, 300)
QUIET = ".mantine-Notification-root { display: none !important }"  # viser's remark that there is no graphics card

PROGRAMS = {"remote": {"swarm": str(ROOT / "examples" / "programs" / "avoid.py")}}  # world -> group -> what drives it
SHOTS: dict[str, tuple[str, list[str], list[str]]] = {  # name -> world, console lines, then what is clicked or typed
    "corral": ("corral", ["overlay beams on", "step 60", "select 6", "step 60"], []),
    "phototaxis": ("phototaxis", ["overlay trails on", "select 0", "step 150"], []),
    "mixed": ("mixed", ["step 90", "overlay names on", "select none"], ["tab:Change", "choose:sun"]),
    "avoid24": ("avoid24", ["overlay trails on", "step 150", "camera top"],
                ["console:get robots.0.proximity", "console:help overlay"]),
    "packed": ("packed", ["overlay circles on", "overlay shifts on", "step 1", "camera top"], ["tab:Look"]),
    "drive": ("drive", ["step 60", "follow car behind"], []),
    "soccer": ("chaser against colony", ["overlay trails on", "step 420", "overlay contacts on"], []),
    "rough": ("rough amplitude=10cm", ["step 90", "select 4", "follow 4 behind", "step 2"], []),
    "assembly": ("assembly", ["overlay forces on", "step 600", "select none"], []),
    "solid_car": ("solid_car", ["overlay forces on", "plot car.hitch.force", "go 14; turn 0.3", "step 22", "camera beside",
                                "step 2"], ["console:get car.body.x"]),
    "quadruped": ("quadruped", ["overlay trails on", "select dog", "step 300", "camera side"], []),
    "spread": ("spread", ["overlay links on", "overlay trails on", "step 120", "select 7", "step 30", "camera top"], []),
    "office": ("office", ["overlay trails on", "step 300", "select 1", "overlay beams on", "camera top"], []),
    "filter": ("tutorials/filter.md:lost.xml", ["step 20", "select robot.0", "step 10", "camera top"], []),
    "localization": ("localization", ["step 135", "select 0", "move carts.0 4.2 -2.2 90deg", "step 31", "camera top"], []),
    "three_state": ("three_state", ["step 1200", "select 0", "step 60", "camera top"], []),
    "drawing": ("guides/drawing.md:cloud.xml", ["step 150", "select none", "camera top"], ["tab:Look"]),
    "gallery": ("corral", [], ["click:#worlds"]),
    "papers": ("corral", [], ["click:#worlds", "click:#tab-papers", "click:[data-paper=swarmod]"]),
}
BEFORE = {"packed": 0, "line": 150, "aggregate": 500, "phototaxis": 500, "lamps": 900, "disperse": 300, "phototaxis3d": 600,
          "assembly": 900, "rough": 150, "pulling": 120, "trough": 60, "quadruped": 420, "hexapod": 130,
          "spread": 200, "office": 300, "three_state": 1200, "signals": 300, "bootstrap": 50}  # steps; else 100


class Laboratory:
    """A session that is held still, its page, and one window."""

    def __init__(self, browser: Any, world: str, size: tuple[int, int]) -> None:
        world = from_page(*world.split(":")) if ".md:" in world else world
        match = arrange(*world.split(" against "), seed=7) if " against " in world else None  # two teams: a match
        name, *given = world.split()
        parameters = dict(each.split("=") for each in given if "=" in each)
        self.session = Session(match.world if match else name, parameters=parameters, own_settings=False, supervisor=match,
                               programs=PROGRAMS.get(name))
        self.page = Page(self.session, port=0)
        self._over = threading.Event()
        threading.Thread(target=self.session.run, args=[self._over.is_set], daemon=True).start()
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, device_scale_factor=1)
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(60_000)
        self.tab.goto(self.page.url)
        self.tab.wait_for_selector("#formiga[data-step]", state="attached")
        self.tab.add_style_tag(content=QUIET)
        self.settle()

    def run(self, line: str) -> None:
        """A console line, as if the window had typed it. Steps are taken a few at a time, so that trails are seen."""
        command, _, count = line.partition(" ")
        for part in [line] if command != "step" else [f"step {min(3, int(count) - k)}" for k in range(0, int(count), 3)]:
            self.page.run(part, next(iter(self.page.server.viser.get_clients())))
            frame = self.session.look()
            while command == "step" and frame is not None and self.page.drawn < frame.step:
                time.sleep(0.005)

    def settle(self) -> None:
        """Until two pictures in a row are the same: slow machines take their time to paint."""
        self.session.look()
        before = None
        for _ in range(40):
            time.sleep(0.7)
            now = self.picture()
            if before is not None and np.abs(now - before).max() < 8:
                return
            before = now

    def picture(self) -> Any:
        """What the window shows."""
        return np.asarray(Image.open(io.BytesIO(self.tab.screenshot())).convert("RGB")).astype(int)

    def do(self, action: str) -> None:
        """'tab:Look', 'click:#worlds', 'console:help', 'choose:sun'."""
        kind, _, what = action.partition(":")
        if kind == "tab":
            self.tab.get_by_role("tab", name=what).click()
        elif kind == "click":
            self.tab.locator(f"#formiga {what}").click()
        elif kind == "choose":
            self.page.panels.choose(thing_names(self.session.world).index(what))
        else:
            if self.tab.locator("#formiga #console").is_hidden():
                self.tab.locator("#formiga #shell").click()
            self.tab.locator("#formiga #input").fill(what)
            self.tab.locator("#formiga #input").press("Enter")
            time.sleep(1.5)

    def close(self) -> None:
        """End all of it."""
        self.context.close()
        self._over.set()
        self.page.close()


def from_page(page: str, file: str) -> str:
    """The path of a file that a page of the manual shows, beside its other files; elements in them are loaded."""
    folder, text = Path(mkdtemp()), (ROOT / "docs" / page).read_text(encoding="utf-8")
    for title, body in re.findall(r'^```\w+ title="(.*?)"\n(.*?)^```$', text, re.DOTALL | re.MULTILINE):
        (folder / title).write_text(body, encoding="utf-8")
        if title.endswith(".py"):
            load_elements(folder / title)
    return str(folder / file)


def manual(browser: Any, name: str) -> None:
    """One picture of the manual."""
    world, lines, actions = SHOTS[name]
    lab = Laboratory(browser, world, WINDOW)
    for line in lines:
        lab.run(line)
    for action in actions:
        lab.do(action)
    lab.settle()
    time.sleep(8.0)  # until what was said above the bar has gone
    Image.fromarray(lab.picture().astype(np.uint8)).save(MANUAL / f"lab-{name}.png", optimize=True)
    lab.close()
    print(f"docs/pictures/lab-{name}.png")


def thumbnail(browser: Any, name: str) -> None:
    """One world of the gallery: the scene alone."""
    lab = Laboratory(browser, name, (2 * THUMBNAIL[0] + 330, 2 * THUMBNAIL[1]))
    for line in ("overlay trails on", f"step {BEFORE.get(name, 100)}", "select none", "camera overview"):
        lab.run(line)
    lab.tab.evaluate("document.getElementById('formiga').style.display = 'none'")
    lab.settle()
    scene = lab.tab.locator("canvas").first.bounding_box()
    picture = Image.fromarray(lab.picture().astype(np.uint8))
    box = scene["x"], scene["y"], scene["x"] + scene["width"], scene["y"] + scene["height"]
    picture = picture.crop(box).resize(THUMBNAIL, Image.Resampling.LANCZOS)
    file = known_worlds()[name]
    target = file.parent / GALLERY / f"{file.stem}.webp"
    target.parent.mkdir(exist_ok=True)
    picture.save(target, quality=80, method=6)
    lab.close()
    print(target.relative_to(ROOT))


def main(wanted: list[str]) -> None:
    """All pictures, or those whose names are given: manual/corral, gallery/mixed, gallery/bootstrap."""
    program = find()
    if program is None:
        raise FormigaError("there is no Chromium; type: sudo apt-get install chromium")
    tasks = {f"gallery/{name}": (thumbnail, name) for name in known_worlds()}
    tasks |= {f"manual/{name}": (manual, name) for name in SHOTS}
    with sync_playwright() as playwright:
        flags = [*FLAGS[2:], "--no-sandbox", "--use-angle=swiftshader"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        for task, (take, name) in tasks.items():
            if not wanted or task in wanted:
                take(browser, name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
