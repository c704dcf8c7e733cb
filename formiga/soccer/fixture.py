"""One match of a tournament, as a process: python -m formiga.soccer.fixture DIR NUMBER

It ends, and its teams with it, when it is told to (SIGTERM), or when its standard input ends: whoever started it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import ExitStack
from math import inf
from pathlib import Path

from formiga.errors import FormigaError
from formiga.files import write_whole
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.soccer.camera import Camera
from formiga.soccer.match import arrange
from formiga.soccer.tournament import MATCHES, REPLAYS, read_settings

STOPPED = 3   # exit code


def main(folder: str, number: str) -> int:
    """Play it, and write its result."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, args=[stop], daemon=True).start()
    settings = read_settings(folder)
    fixture = settings.fixtures()[int(number)]
    labels, options = settings.labels, dict(settings.match)
    camera = Camera(**options.pop("camera", {}))
    blue, yellow = (settings.teams[team] for team in (fixture.blue, fixture.yellow))
    online = settings.online[fixture.blue] or settings.online[fixture.yellow]
    speed = options.pop("speed", None) or (1.0 if online else inf)
    with ExitStack() as stack:
        match = stack.enter_context(arrange(blue, yellow, seed=fixture.seed, camera=camera,
                                            names=[labels[fixture.blue], labels[fixture.yellow]], **options))
        record = None
        if settings.replays:
            replay = Path(folder) / REPLAYS / f"{fixture.name}.parquet"
            record = stack.enter_context(Recorder(replay, match.world, fixture.seed))
        match.play(Simulation(match.world, fixture.seed), speed=speed, record=record, stop=stop.is_set)
        if match.interrupted:
            if record is not None:
                record.ending = "interrupted"
            return STOPPED
        result = match.result()
    write_whole(Path(folder) / MATCHES / f"{fixture.name}.json", json.dumps({"round": fixture.round, **result}) + "\n")
    return 0


def _watch_parent(stop: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    stop.set()


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:3]))
    except FormigaError as wrong:
        sys.exit(str(wrong))
