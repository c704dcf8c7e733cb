"""Programs for tests of <remote>: `python remote_drivers.py WHAT --memory Q A`, or `--udp HOST:PORT`."""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "formiga" / "link" / "clients"))

WHAT = sys.argv[1]
if WHAT == "plain":                    # as where numpy is not installed
    sys.modules["numpy"] = None
if WHAT == "never":
    time.sleep(3600.0)
if WHAT == "exit":
    sys.exit("no licence")

from formiga_remote import Robots  # noqa: E402

assert "formiga" not in sys.modules
with Robots.from_arguments() as robots:
    for _ in robots:
        near, drive = robots.readings["proximity"], robots.orders["drive"]
        for w in range(robots.worlds):
            for i in range(robots.count):
                drive[w, i, 0] = 0.02 + 0.001 * near[w, i, 0]
                drive[w, i, 1] = 0.03 - 0.001 * near[w, i, 1]
        if WHAT == "talk":
            heard = robots.readings["radio"]
            for w in range(robots.worlds):
                for i in range(robots.count):
                    robots.messages["radio"][w, i, 0] = 1.0 + robots.own["clock"][w]
                    drive[w, i, 0] = 0.01 * (heard[w, i, 0, 0] == heard[w, i, 0, 0])     # something was heard
            robots.orders["leds"][0, 0, 0, 0] = 200.0
        if robots.frame < 10:
            continue
        if WHAT.startswith("pid=") and robots.frame == 10:
            Path(WHAT.removeprefix("pid=")).write_text(f"{os.getpid()}\n")
        if WHAT == "nan":
            drive[0, 1, 0] = float("nan")
        elif WHAT == "huge":
            drive[0, 1, 0] = drive[0, 1, 1] = 1e300
        elif WHAT == "die":
            os.kill(os.getpid(), 9)
        elif WHAT in ("hang", "silent"):
            time.sleep(3600.0)
        elif WHAT == "raise":
            raise ValueError("bad idea")
        elif WHAT == "head":
            robots.link.answered[0:8] = b"garbage!"
        elif WHAT == "future":
            robots.frame = 10**9
        elif WHAT == "lights":
            robots.orders["leds"][0, 0, 0, 0] = 1e9
        elif WHAT == "leave":
            break
