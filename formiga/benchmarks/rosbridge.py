"""What a rosbridge costs: robots with range scanners whose scans a client in another process takes, in real time.

It is the second table of the bench `remote`. The share of a core is that of this whole process, with the simulation, the
messages and the sockets in it; beside it stands the same run with a client that has subscribed nothing.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from formiga.benchmarks.measure import Columns
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.ros import Rosbridge
from formiga.runs import Paced, Together, Watch, simulate
from formiga.sense.scanner import Scanner
from formiga.units import CM
from formiga.world.model import Arena, Cylinders, Group, World
from formiga.world.robots.disc import Disc

ROBOTS, BEAMS, RATE = 10, 181, 20.0
TARGET = 0.2           # of a core
SECONDS = 6.0          # of each figure
WARM_UP = 1.0          # s after the client has subscribed, before the clock starts
PATIENCE = 20.0        # s for the client to come
COLUMNS: Columns = (
    ("transport", "transport", "{}"), ("robots", "robots", "{:,}"), ("beams", "beams", "{:,}"), ("rate", "Hz", "{:g}"),
    ("messages_per_s", "messages/s\nat the client", "{:,.0f}"), ("kilobytes_per_s", "kB/s", "{:,.0f}"),
    ("core", "of a\ncore", "{:.1%}"), ("core_idle", "without\nmessages", "{:.1%}"), ("target", "target", "< {:.0%}"),
)


def world(robots: int = ROBOTS, beams: int = BEAMS, rate: float = RATE) -> World:
    """Robots with scanners that stand among posts."""
    robot = Disc(radius=10.0 * CM, wheel_base=15.0 * CM, top_speed=0.3)
    group = Group(robot=robot, count=robots, name="carts", sensors=(Scanner(beams=beams, reach=8.0, noise=1.0 * CM),))
    return World(name="rosbridge", dt=1.0 / rate, things=(Arena(width=8.0, depth=8.0), Cylinders(count=12, radius=0.2)),
                 groups=(group,))


def rows(full: bool = False) -> list[dict[str, Any]]:
    """One row; with `full`, one for 100 robots as well."""
    return [measure(robots, SECONDS) for robots in ((ROBOTS, 100) if full else (ROBOTS,))]


def measure(robots: int, seconds: float) -> dict[str, Any]:
    """One row: the same run with a client that takes all scans, and with one that takes none."""
    given = world(robots)
    topics = [f"/carts_{number}/scan" for number in range(robots)]
    core, messages, size = measured(given, topics, seconds)
    idle, _, _ = measured(given, [], 0.5 * seconds)
    return {"transport": "rosbridge", "robots": robots, "beams": BEAMS, "rate": RATE, "messages_per_s": messages,
            "kilobytes_per_s": 1e-3 * size, "core": core, "core_idle": idle,
            "target": TARGET if robots == ROBOTS else None}


def measured(given: World, topics: list[str], seconds: float) -> tuple[float, float, float]:
    """The share of a core, messages a second and bytes a second that the client was sent; FormigaError without a client."""
    client: subprocess.Popen[str] | None = None
    try:
        with Rosbridge(("127.0.0.1", 0), lambda text: None) as bridge:
            command = [sys.executable, "-m", "formiga.benchmarks.rosbridge_client", bridge.server.url, *topics]
            client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            meter = Meter(bridge, len(topics), seconds)
            simulate(given, WARM_UP + seconds + PATIENCE, threads=1, watch=Together(Paced(1.0, given.dt), bridge, meter))
        told, _ = client.communicate(timeout=PATIENCE)   # the end of the server ends it
    finally:
        if client is not None:
            client.kill()
            client.wait()
    if not meter.began or client.returncode:
        raise FormigaError("the client of the rosbridge did not come, or ended too early, so nothing was measured.")
    span, count, size = map(float, told.split())
    return meter.core, count / span if span else 0.0, size / span if span else 0.0


class Meter(Watch):
    """The processor's time of this process, from a while after a client has subscribed so many topics."""

    every_step = True

    def __init__(self, bridge: Rosbridge, topics: int, seconds: float) -> None:
        self._bridge, self._topics, self._seconds = bridge, topics, seconds
        self._came = self._used = 0.0
        self.began = self.core = 0.0

    def after(self, shards: Sequence[Simulation]) -> None:
        """Look at the clocks."""
        now = time.perf_counter()
        if not self._came and self._bridge.clients and self._bridge.subscribed >= self._topics:
            self._came = now
        if self._came and not self.began and now - self._came >= WARM_UP:
            self.began, self._used = now, time.process_time()
        if self.began:
            self.core = (time.process_time() - self._used) / max(now - self.began, 1e-9)

    def progress(self, share: float) -> bool:
        """Whether it has measured for long enough."""
        return bool(self.began) and time.perf_counter() - self.began >= self._seconds


__all__ = ["COLUMNS", "measure", "rows", "world"]
