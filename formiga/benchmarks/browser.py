"""A real browser without a screen, for measurements: Chromium, with a profile that is gone afterwards.

It is driven through its own debugging port, so nothing has to be installed but Chromium. It only gets processor time that is
idle otherwise: without a graphics card it paints on the processor, and at a real screen that is not the simulator's machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from websockets.sync.client import connect

from formiga.errors import FormigaError

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ("--headless=new", "--remote-debugging-port=0", "--window-size=1280,800", "--enable-unsafe-swiftshader",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
         "--no-default-browser-check", "--mute-audio")
PATIENCE = 20.0        # s for the browser to start, or to answer
COUNT = """window.pictures ?? (function count() { window.pictures = (window.pictures ?? -1) + 1; requestAnimationFrame(count);
return window.pictures; })()"""


class Late(FormigaError):
    """A browser or a window takes too long."""


def find() -> str | None:
    """Where Chromium is: $CHROMIUM, or one of its usual names. None on Windows: its processes could not be ended as a group."""
    if sys.platform == "win32":
        return None
    names = (os.environ.get("CHROMIUM", ""), *NAMES)
    return next((found for name in names if name and (found := shutil.which(name))), None)


def stand_back(process: int) -> None:
    """Give a process, and those that it will start, only processor time that is idle otherwise.

    A nice value is not enough where Chromium runs as root: it then gives its painters a higher priority by itself.
    """
    with suppress(AttributeError, OSError):  # not every system can
        os.sched_setscheduler(process, os.SCHED_IDLE, os.sched_param(0))
        return
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, process, 19)


class Browser:
    """Started on entry; on exit it is gone, with all its processes and files, whatever happened in between."""

    def __init__(self, program: str) -> None:
        self._program = program

    def __enter__(self) -> Browser:
        self._profile = tempfile.mkdtemp(prefix="formiga-browser-")
        root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
        self._process = subprocess.Popen([self._program, *FLAGS, *root, f"--user-data-dir={self._profile}", "about:blank"],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         process_group=0)  # so that all of it can be ended, and Ctrl-C is ours alone
        stand_back(self._process.pid)
        try:
            self._port = self._wait_for_port()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for _ in range(20):  # its children may still be writing while they die
            shutil.rmtree(self._profile, ignore_errors=True)
            if not os.path.exists(self._profile):
                break
            time.sleep(0.05)

    def _wait_for_port(self) -> int:
        """Chromium writes the port it was given into its profile."""
        file, end = Path(self._profile) / "DevToolsActivePort", time.monotonic() + PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            with suppress(OSError, ValueError, IndexError):
                return int(file.read_text().splitlines()[0])
            time.sleep(0.05)
        raise Late(f"{self._program} did not start within {PATIENCE:g} s.")

    def open(self, url: str) -> Tab:
        """A window on a page."""
        return Tab(self, self._ask("PUT", f"/json/new?{quote(url, safe=':/')}"))

    def _ask(self, method: str, path: str) -> Any:
        with urlopen(Request(f"http://127.0.0.1:{self._port}{path}", method=method), timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text.startswith(b"{") else None


class Tab:
    """One page in the browser."""

    def __init__(self, browser: Browser, about: dict[str, Any]) -> None:
        self._browser, self._name = browser, about["id"]
        self._socket = connect(about["webSocketDebuggerUrl"], max_size=None)
        self._asked = 0

    def pictures(self) -> int:
        """How many it has painted since it was first asked."""
        return int(self._evaluate(COUNT))

    def close(self) -> None:
        """Close the window."""
        self._socket.close()
        with suppress(URLError):
            self._browser._ask("GET", f"/json/close/{self._name}")

    def _evaluate(self, expression: str) -> Any:
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": "Runtime.evaluate", "params": {"expression": expression}}))
        try:
            while (answer := json.loads(self._socket.recv(timeout=PATIENCE))).get("id") != self._asked:
                pass
        except TimeoutError as wrong:
            raise Late(f"the browser did not answer within {PATIENCE:g} s; the machine is too busy.") from wrong
        return answer.get("result", {}).get("result", {}).get("value")


__all__ = ["Browser", "Late", "Tab", "find"]
