"""Matches of a tournament, one after the other, as a process: python -m formiga.soccer.fixture DIR

It reads the numbers of matches from its standard input, a line each, and answers each with a line of JSON when that match has
ended: {"number": 7, "why": ""}, or why it came to no result. It ends, and its teams with it, when it is told to (SIGTERM), or
when its standard input ends: the process that started it is gone.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from contextlib import ExitStack
from math import inf
from pathlib import Path
from queue import SimpleQueue

from formiga.errors import FormigaError
from formiga.files import write_whole
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.soccer.arrange import arrange
from formiga.soccer.camera import Camera
from formiga.soccer.tournament import MATCHES, REPLAYS, Settings, read_settings

END = -1   # a number that no match has


def main(folder: str) -> None:
    """Play what is asked for, until the end."""
    stop, asked = threading.Event(), SimpleQueue[int]()

    def end(*_: object) -> None:
        stop.set()
        asked.put(END)

    def listen() -> None:
        for line in sys.stdin:
            asked.put(int(line))
        end()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=listen, daemon=True).start()
    settings = read_settings(folder)
    while (number := asked.get()) != END and not stop.is_set():
        why = ""
        try:
            play(Path(folder), settings, number, stop)
        except FormigaError as wrong:
            why = str(wrong)
        if not stop.is_set():
            print(json.dumps({"number": number, "why": why}), flush=True)


def play(folder: Path, settings: Settings, number: int, stop: threading.Event) -> None:
    """Play a match to its end, and write its result; or until `stop`, and write none."""
    fixture = settings.fixtures()[number]
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
            record = stack.enter_context(Recorder(folder / REPLAYS / f"{fixture.name}.parquet", match.world, fixture.seed))
        match.play(Simulation(match.world, fixture.seed), speed=speed, record=record, stop=stop.is_set)
        if match.interrupted:
            if record is not None:
                record.ending = "interrupted"
            return
        result = match.result()
    write_whole(folder / MATCHES / f"{fixture.name}.json", json.dumps({"round": fixture.round, **result}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
