"""What looking costs: steps a second of the laboratory with no window open, and with one.

The world is AVOID-24, played as fast as it goes by the session that `formiga view` runs. Windows are opened and closed while it
plays, and the figures are taken in turns (closed, open, closed, open ...), so that a machine that slows down meanwhile slows
both. A window is a real Chromium, if there is one, and `reader.py`, a program that takes what a window is sent.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import inf
from statistics import median
from typing import Any, NamedTuple, Protocol

from formiga.benchmarks import avoid24, browser
from formiga.benchmarks.measure import show
from formiga.errors import FormigaError
from formiga.page.page import Page
from formiga.session import Session

ROBOTS = (128, 1_000)
BLOCK, ROUNDS = 1.0, 4    # s of each figure, and how many of each; the medians are shown
SETTLE = 0.7              # s after a window has opened
ENOUGH = 25.0             # s after which no further round begins, for each number of robots
PATIENCE = 30.0           # s for a window to open
TARGET = 0.9              # of the speed without a window
COLUMNS = (
    ("robots", "robots", "{:,}"), ("client", "window", "{}"), ("steps_per_s_closed", "steps/s\nclosed", "{:,.0f}"),
    ("steps_per_s_open", "steps/s\nopen", "{:,.0f}"), ("ratio", "open/\nclosed", "{:.3f}"), ("target", "target", ">= {:g}"),
    ("sent_per_s", "pictures/s\nsent", "{:.0f}"), ("painted_per_s", "pictures/s\npainted", "{:.0f}"),
)
NOTES = [
    "chromium only gets the time that nobody else wants: without a graphics card it paints on the processor.",
    "reader is a program that takes what a window is sent, and paints nothing.",
]


def run(full: bool = False) -> dict[str, Any]:
    """The rows, printed as a table."""
    times = 4 if full else 1
    rows = [row for robots in ROBOTS for row in measure(robots, ROUNDS * times, BLOCK, ENOUGH * times)]
    notes = NOTES if browser.find() else [*NOTES, "There is no Chromium here, so no real window was measured."]
    show("view: avoid24 in the laboratory, as fast as it goes, with and without a window", rows, notes, COLUMNS)
    return {"rows": rows}


def measure(robots: int, rounds: int, block: float, enough: float) -> list[dict[str, Any]]:
    """A row for each kind of window."""
    end = time.monotonic() + enough
    with ExitStack() as open_things:
        lab = open_things.enter_context(Laboratory(robots))
        kinds: dict[str, Callable[[], Window]] = {"reader": partial(Reader, lab.page)}
        if (program := browser.find()) is not None:
            chromium = open_things.enter_context(browser.Browser(program))
            kinds = {"chromium": partial(chromium.open, lab.page.url), **kinds}
        found: dict[str, list[tuple[Speed, Speed]]] = {kind: [] for kind in kinds}
        for number in range(rounds):
            if number and time.monotonic() > end:
                break
            for kind, opened in kinds.items():
                closed = lab.speed(block)
                window = opened()
                try:
                    lab.wait_for(lambda: lab.windows and lab.pictures)
                    time.sleep(SETTLE)
                    found[kind].append((closed, lab.speed(block, window)))
                finally:
                    window.close()
                    lab.wait_for(lambda: not lab.windows)
    return [row(robots, kind, pairs) for kind, pairs in found.items()]


class Speed(NamedTuple):
    """What happened in a second."""

    steps: float
    sent: float               # pictures that were made and sent
    painted: float            # pictures that the window painted, of whatever


def row(robots: int, kind: str, pairs: list[tuple[Speed, Speed]]) -> dict[str, Any]:
    """The medians of what was measured without and with one kind of window."""
    closed = median(before.steps for before, _ in pairs)
    steps, sent, painted = (median(each) for each in zip(*(during for _, during in pairs), strict=True))
    return {"robots": robots, "client": kind, "steps_per_s_closed": closed, "steps_per_s_open": steps, "ratio": steps / closed,
            "target": TARGET, "sent_per_s": sent, "painted_per_s": painted or None, "rounds": len(pairs)}


class Window(Protocol):
    """What looks at the page: a `browser.Tab`, or a `Reader`."""

    def pictures(self) -> int:
        """How many it has painted."""

    def close(self) -> None:
        """Look no more."""


class Reader:
    """reader.py, in a process of its own."""

    def __init__(self, page: Page) -> None:
        address = page.url.replace("http", "ws", 1)
        self._process = subprocess.Popen([sys.executable, "-m", "formiga.benchmarks.reader", address], stdin=subprocess.PIPE)

    def pictures(self) -> int:
        """None: it only reads."""
        return 0

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


class Laboratory:
    """A session that plays as fast as it goes, its page, and how many pictures that has made since somebody last looked."""

    def __init__(self, robots: int) -> None:
        self._robots, self._over = robots, threading.Event()
        self.pictures = 0

    def __enter__(self) -> Laboratory:
        self.session = Session(avoid24.world(self._robots), own_settings=False)
        self.session.speed = inf
        self.session.play()
        self.page = Page(self.session, port=0)
        self._show, self.page.scene.show = self.page.scene.show, self._counted  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self.session.run, args=[self._over.is_set], daemon=True)
        self._thread.start()
        self.wait_for(lambda: self.session.sim.state.step[0] > 100)  # kernels may have to be compiled
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(10.0)
        self.page.close()

    def _counted(self, frame: Any) -> None:
        self.pictures += 1
        self._show(frame)

    @property
    def windows(self) -> int:
        """How many look on; those that left do not count."""
        found = len(self.page.server.viser.get_clients())
        if not found:
            self.pictures = 0
        return found

    def wait_for(self, true: Callable[[], object]) -> None:
        """Until it is."""
        end = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > end:
                raise FormigaError(f"a window did not open or close within {PATIENCE:g} s; the machine is too busy.")
            time.sleep(0.02)

    def speed(self, seconds: float, window: Window | None = None) -> Speed:
        """What happens in the next seconds."""
        painted, asked = window.pictures() if window else 0, time.perf_counter()
        steps, sent, began = int(self.session.sim.state.step[0]), self.pictures, time.perf_counter()
        time.sleep(seconds)
        spent = time.perf_counter() - began
        steps, sent = int(self.session.sim.state.step[0]) - steps, self.pictures - sent
        painted = window.pictures() - painted if window else 0  # a busy browser takes its time to answer
        return Speed(steps / spent, sent / spent, painted / (time.perf_counter() - asked))


__all__ = ["Laboratory", "measure", "run"]
