"""What looking costs: steps a second of the laboratory with no window open, and with one.

The world is AVOID-24, played as fast as it goes by the session that `formiga view` runs. Windows are opened and closed while it
plays, and the figures are taken in turns (closed, open, closed, open ...), so that a machine that slows down meanwhile slows
both. A window is a real Chromium, if there is one, and `reader.py`, a program that takes what a window is sent.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Protocol

from formiga.benchmarks import avoid24, browser
from formiga.benchmarks.measure import show
from formiga.page.page import Page
from formiga.session import Session

ROBOTS = (128, 1_000)
BLOCK, ROUNDS = 1.0, 4    # s of each figure, and how many of each; the medians are shown
SETTLE = 0.5              # s after a window has opened or closed
ENOUGH = 25.0             # s after which no further round begins, for each number of robots
PATIENCE = 15.0           # s for a window to open
DISTURBED = 0.2           # cores that others may take before the figures say little
TARGET = 0.9              # of the speed without a window
COLUMNS = (
    ("robots", "robots", "{:,}"), ("client", "window", "{}"), ("steps_per_s_closed", "steps/s\nclosed", "{:,.0f}"),
    ("steps_per_s_open", "steps/s\nopen", "{:,.0f}"), ("ratio", "open/\nclosed", "{:.3f}"), ("target", "target", ">= {:g}"),
    ("sent_per_s", "sent\n/s", "{:.0f}"), ("painted_per_s", "painted\n/s", "{:.1f}"),
)
NOTES = [
    "chromium only gets processor time that is idle otherwise: without a graphics card it paints on the processor.",
    "reader is a program that takes what a window is sent, and paints nothing.",
    "sent, painted: pictures a second.",
]


def run(full: bool = False) -> dict[str, Any]:
    """The rows, printed as a table."""
    times = 4 if full else 1
    rows = [row for robots in ROBOTS for row in measure(robots, ROUNDS * times, BLOCK, ENOUGH * times)]
    notes = list(NOTES)
    if not any(row["client"] == "chromium" for row in rows):
        notes.append("No real window was measured: there is no Chromium here, or it did not open in time.")
    others = max(row["others"] or 0.0 for row in rows)
    if others > DISTURBED:
        notes.append(f"Other programs took {others:.1f} cores meanwhile, so these figures say little.")
    show("view: avoid24 in the laboratory at full speed, with a window and without", rows, notes, COLUMNS)
    return {"rows": rows}


def measure(robots: int, rounds: int, block: float, enough: float) -> list[dict[str, Any]]:
    """A row for each kind of window that opens."""
    end = time.monotonic() + enough
    with ExitStack() as open_things:
        lab = open_things.enter_context(Laboratory(robots))
        kinds: dict[str, Callable[[], Window]] = {"reader": partial(Reader, lab.page)}
        if (program := browser.find()) is not None:
            with suppress(browser.Late):
                chromium = open_things.enter_context(browser.Browser(program))
                kinds = {"chromium": partial(chromium.open, lab.page.url), **kinds}
        found: dict[str, list[tuple[Speed, Speed]]] = {kind: [] for kind in kinds}
        for number in range(rounds):
            for kind, opened in kinds.items():
                if not number or (found[kind] and time.monotonic() < end):
                    with suppress(browser.Late):
                        found[kind].append((lab.speed(block), lab.watched(opened, block)))
    return [row(robots, kind, pairs) for kind, pairs in found.items() if pairs]


class Speed(NamedTuple):
    """What happened in a second."""

    steps: float
    sent: float               # pictures that were made and sent
    painted: float            # pictures that the window painted, of whatever
    others: float             # s of processor time of other programs


def row(robots: int, kind: str, pairs: list[tuple[Speed, Speed]]) -> dict[str, Any]:
    """The medians of what was measured without and with one kind of window."""
    closed, opened = (Speed(*map(median, zip(*speeds, strict=True))) for speeds in zip(*pairs, strict=True))
    return {"robots": robots, "client": kind, "steps_per_s_closed": closed.steps, "steps_per_s_open": opened.steps,
            "ratio": opened.steps / closed.steps, "target": TARGET, "sent_per_s": opened.sent,
            "painted_per_s": opened.painted if kind == "chromium" else None, "others": closed.others, "rounds": len(pairs)}


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
    """A session that plays as fast as it goes, its page, and how many pictures that has made since the last call."""

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
                raise browser.Late(f"a window did not open or close within {PATIENCE:g} s; the machine is too busy.")
            time.sleep(0.02)

    def watched(self, opened: Callable[[], Window], seconds: float) -> Speed:
        """What happens while a window looks on; it is closed again."""
        window = opened()
        try:
            self.wait_for(lambda: self.windows and self.pictures)
            time.sleep(SETTLE)
            return self.speed(seconds, window)
        finally:
            window.close()
            self.wait_for(lambda: not self.windows)
            time.sleep(SETTLE)

    def speed(self, seconds: float, window: Window | None = None) -> Speed:
        """What happens in the next seconds. `others` counts the window as one of them."""
        painted, asked = window.pictures() if window else 0, time.perf_counter()
        steps, sent, others, began = self._steps(), self.pictures, _worked(), time.perf_counter()
        time.sleep(seconds)
        spent = time.perf_counter() - began
        steps, sent, others = self._steps() - steps, self.pictures - sent, _worked() - others
        painted = window.pictures() - painted if window else 0  # a busy browser takes its time to answer
        return Speed(steps / spent, sent / spent, painted / (time.perf_counter() - asked), others / spent)

    def _steps(self) -> int:
        return int(self.session.sim.state.step[0])


def _worked() -> float:
    """Seconds that the processors have worked for others than this process; 0 where the system does not tell."""
    try:
        user, nice, system, _, _, irq, soft = map(int, Path("/proc/stat").read_text().split()[1:8])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK") - time.process_time()


__all__ = ["Laboratory", "measure", "run"]
